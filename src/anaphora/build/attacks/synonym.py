"""Synonym replacement (ContraCAT §5.2.3): the German antecedent becomes a synonym of another gender."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from anaphora.annotate import Annotator
from anaphora.annotate.document import Token
from anaphora.build.attacks.attack import (
    Antecedent,
    OnSkip,
    Skipped,
    antecedent_of,
    antecedent_tokens,
    attacked_suite,
    begins_sentence,
    check_tags,
)
from anaphora.build.attacks.synonym_sentence import Phrase, Unsure, count_it, followed, phrase_in, replaced
from anaphora.core.errors import AnaphoraError
from anaphora.languages.german import PRONOUNS, Noun, NounTable, words_of
from anaphora.languages.thesaurus import Dictionary, Thesaurus
from anaphora.languages.wordnet import FirstSenses
from anaphora.suites.example import Example
from anaphora.suites.readers.text import differing_words
from anaphora.suites.suite import Suite

# The case of target antecedents, from the tags of a suite and from annotation.

CASES = ("Nom", "Acc", "Dat", "Gen")
ROLES = {"nsubj": "Nom", "obj": "Acc"}


def case_by_tag(example: Example) -> list[str]:
    """Return the case in ContraPro's tag, which is Fem|Nom|Sg or Fem|_|Sg."""
    fields = str(example.tags.get("target_antecedent_head_morpho", "")).split("|")
    return [case for case in fields[1:2] if case in CASES]


def cases_by_annotation(suite: Suite, annotator: Annotator) -> dict[str, Sequence[str]]:
    """Return the cases proposed for each antecedent, by example id: by tag, by tagger, and by syntactic role."""
    cases: dict[str, Sequence[str]] = {}
    for example, tokens in antecedent_tokens(suite, annotator, target=True):
        head = example.tags.get("target_antecedent_head")
        nouns = (token for token in tokens if (token.text == head if head else token.upos in ("NOUN", "PROPN")))
        noun = next(nouns, Token(""))
        proposed = noun.features.get("Case"), ROLES.get(noun.role)
        cases[example.id] = [*case_by_tag(example), *(case for case in proposed if case in CASES)]
    return cases


# Synonyms of another gender on which several resources agree.

# set on a manually checked sample of attacked ContraPro; docs/attacks.md has the precision on another sample
SHARED = 0.23  # least share of translations that two synonyms have in common
SHARED_IF_USED = 0.15  # … if the text uses the synonym for the same English noun
OFTEN = 4  # least number of sentences with a noun that show what it translates
USED = 0.08  # least share of these sentences that contain the English noun
SMALL = ("chen", "lein")  # Gässchen is a small Gasse


@dataclass(frozen=True)
class Usage:
    """How nouns are used in a suite: the words of the source sentences in which a noun occurs."""

    suite: Suite

    @cached_property
    def _sentences(self) -> dict[str, list[frozenset[str]]]:
        sentences: dict[str, list[frozenset[str]]] = defaultdict(list)
        pairs = {
            pair
            for example in self.suite
            if len(example.source) == len(example.candidates[example.gold or 0])
            for pair in zip(example.source, example.candidates[example.gold or 0], strict=True)
        }
        for source, target in sorted(pairs):
            words = frozenset(word.text.lower().removesuffix("'s") for word in words_of(source))
            nouns = (w.text for w in words_of(target) if w.text[0].isupper() and not begins_sentence(target, w.start))
            for form in set(nouns):
                sentences[form].append(words)
        return sentences

    def counts(self, noun: Noun, word: str) -> tuple[int, int]:
        """Return the number of sentences with a noun, and of those whose source contains the English word."""
        forms = {form for forms in noun.forms.values() for form in forms}
        sentences = [sentence for form in forms for sentence in self._sentences.get(form, ())]
        wanted = {word, f"{word}s", f"{word}es"}
        return len(sentences), sum(bool(wanted & sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Synonyms of nouns, from the available resources.

    least: the share of common translations that two nouns must have; a lower one gives more synonyms, and more errors
    """

    nouns: NounTable
    thesaurus: Thesaurus
    dictionary: Dictionary | None = None
    wordnet: FirstSenses | None = None
    usage: Usage | None = None
    least: float = SHARED

    def of(self, noun: Noun, source: str) -> list[Noun]:
        """Return the synonyms of another gender, sorted by use in the text, then by shared translations.

        source: the English noun that it translates
        """
        words = dict.fromkeys([source.lower(), *(self.wordnet.first_sense(source) if self.wordnet else ())])
        known = (self.nouns.noun(lemma) for sense in self.thesaurus.senses(noun.lemma) for lemma in sense)
        synonyms = list({other.lemma: other for other in known if other is not None and _fits(noun, other)}.values())
        used = {o.lemma: self.usage.counts(o, source.lower()) if self.usage else (0, 0) for o in synonyms}
        if self.dictionary is None:
            synonyms = [o for o in synonyms if all(len(self.thesaurus.senses(n.lemma)) == 1 for n in (noun, o))]
        else:
            translations = frozenset[str]().union(*map(self.dictionary.translations, words))
            synonyms = [other for other in synonyms if {noun.lemma, other.lemma} <= translations]
            own, shared = self.dictionary.words(noun.lemma), {}
            for other in synonyms:
                theirs = self.dictionary.words(other.lemma)
                shared[other.lemma] = len(own & theirs) / len(own | theirs) if own & theirs else 0.0
            least = {True: min(SHARED_IF_USED, self.least), False: self.least}
            synonyms = [o for o in synonyms if shared[o.lemma] >= least[used[o.lemma][1] > 0]]
            synonyms.sort(key=lambda other: -shared[other.lemma])
        # not nouns that are frequent, but rare for the English word: Bein can be a bone, but is mostly a leg
        rare = {lemma for lemma, (total, with_word) in used.items() if total >= OFTEN and with_word < USED * total}
        synonyms = [other for other in synonyms if other.lemma not in rare]
        return sorted(synonyms, key=lambda other: used[other.lemma][::-1], reverse=True)


def _fits(noun: Noun, other: Noun) -> bool:
    """Return whether two nouns differ in gender and neither is a diminutive or contains the other (Haus, Wohnhaus)."""
    one, two = noun.lemma.lower(), other.lemma.lower()
    return noun.gender != other.gender and one not in two and two not in one and not two.endswith(SMALL)


# The attack.

NAME = "synonym-replacement"
GENDER = {form: gender for gender, cases in PRONOUNS.items() for form in cases.values() if form != "ihm"}
Cases = Callable[[Example], Sequence[str]]  # the cases proposed for the target antecedent


def synonym_replacement(
    suite: Suite, synonyms: Synonyms, *, cases: Cases | None = None, on_skip: OnSkip | None = None
) -> Suite:
    """Return the examples whose antecedent has a reliable synonym of another gender, with it.

    cases: the case of an antecedent whose form is ambiguous (default: the suite's tag)
    """
    languages = suite.header.source_language, suite.header.target_language
    if languages != ("en", "de"):
        raise AnaphoraError(f"{suite.header.name}: {'-'.join(languages)}, but synonyms are replaced in en-de only")
    check_tags(suite, "Take ContraPro or a mined suite (anaphora build mine), or add the tags.")
    return attacked_suite(suite, [(NAME, _Replacer(synonyms, cases or case_by_tag))], on_skip)


@dataclass(frozen=True, slots=True)
class _Replacer:
    """Replaces the antecedent of an example, or returns why it cannot."""

    synonyms: Synonyms
    cases: Cases

    def __call__(self, example: Example) -> Example | Skipped:
        if isinstance(located := antecedent_of(example), Skipped):
            return located
        try:
            return self._attacked(example, *located)
        except Unsure as why:
            return Skipped(str(why))

    def _attacked(self, example: Example, antecedent: Antecedent, index: int) -> Example:
        genders = candidate_genders(example)
        gold = example.candidates[example.gold or 0]
        head = example.tags.get("target_antecedent_head")
        phrase = phrase_in(gold[index], antecedent.target, self.synonyms.nouns, str(head) if head else None)
        if example.gold is None or genders[example.gold] != phrase.noun.gender:
            raise Unsure("the right pronoun does not have the gender of the antecedent")
        forms = {form for forms in phrase.noun.forms.values() for form in forms}
        if sum(word.text in forms for sentence in gold for word in words_of(sentence)) > 1:
            raise Unsure("the noun is there again")  # and might have to be replaced, too
        source = str(example.tags.get("source_antecedent_head_lemma") or _head(antecedent.source))
        text = "\n".join(gold).lower()  # which may contain a synonym, possibly as part of another noun
        choice = [noun for noun in self.synonyms.of(phrase.noun, source) if noun.lemma.lower() not in text]
        if not choice:
            raise Unsure("no synonym of another gender")
        problems = []
        for noun in choice:
            if genders.count(noun.gender) != 1:
                problems.append("no candidate has the pronoun of the new gender")
                continue
            try:
                return self._with(example, index, antecedent, phrase, noun, genders.index(noun.gender))
            except Unsure as why:
                problems.append(str(why))
        raise Unsure(problems[0])

    def _with(
        self, example: Example, index: int, antecedent: Antecedent, phrase: Phrase, noun: Noun, gold: int
    ) -> Example:
        if any(len(candidate) != len(example.source) for candidate in example.candidates):
            raise Unsure("a candidate does not have as many sentences as its source")
        # the new right candidate must not change a pronoun with another antecedent, as some in ContraPro
        changes = len(differing_words(example.candidates[example.gold or 0][-1], example.candidates[gold][-1]))
        if not 1 <= changes <= max(1, count_it(example.source[-1])):
            raise Unsure("the candidates differ in more than what stands for it")
        opinions = self.cases(example)
        candidates, words = [], ""
        for k, candidate in enumerate(example.candidates):
            passage = list(candidate)
            here = phrase_in(passage[index], antecedent.target, self.synonyms.nouns, phrase.words[-1].text)
            passage[index], words, end = replaced(passage[index], here, noun, opinions)
            for i in range(index, len(passage)):
                if i < len(passage) - 1 or k == gold:  # in the last sentence the other pronouns are wrong anyway
                    last = i == len(passage) - 1
                    change = (phrase.noun.gender, noun.gender)
                    start = end if i == index else 0
                    passage[i] = followed(passage[i], example.source[i], change, start, alone=int(last))
            candidates.append(tuple(passage))
        tags = {**example.tags, **_tags(example, phrase, noun, words, gold)}
        tags.pop("target_antecedent_head_morpho", None)
        return replace(example, candidates=tuple(candidates), gold=gold, tags=tags)


def candidate_genders(example: Example) -> list[str | None]:
    """Return the gender of each candidate's pronoun, by the tag or by the words in which candidates differ."""
    pronouns = example.tags.get("candidate_pronouns")
    if isinstance(pronouns, list) and len(pronouns) == len(example.candidates):
        return [GENDER.get(str(word).lower()) for word in pronouns]
    last = [candidate[-1] for candidate in example.candidates]
    genders: list[str | None] = []
    for k, sentence in enumerate(last):
        words = [word for word, _ in differing_words(sentence, last[1 if k == 0 else 0])] if len(last) > 1 else []
        genders.append(next((GENDER[word] for word in words if word in GENDER), None))
    return genders


def _tags(example: Example, phrase: Phrase, noun: Noun, words: str, gold: int) -> Mapping[str, Any]:
    """Return the tags of the new antecedent, and the old antecedent and its pronoun under other names."""
    pronouns = example.tags.get("candidate_pronouns")
    new = str(pronouns[gold]) if isinstance(pronouns, list) else PRONOUNS[noun.gender]["Nom"]
    tags: dict[str, Any] = {
        "target_antecedent": words,
        "synonym": noun.lemma,
        "synonym_gender": noun.gender,
        "replaced": phrase.noun.lemma,
        "replaced_gender": phrase.noun.gender,
    }
    if "reference_pronoun" in example.tags:
        tags |= {"reference_pronoun": new, "replaced_pronoun": example.tags["reference_pronoun"]}
    if "pronoun_pair" in example.tags:
        tags["pronoun_pair"] = f"{example.tags.get('source_pronoun', 'it')}:{new}"
    known = {
        "target_antecedent_head": words.split()[-1],
        "target_antecedent_head_lemma": noun.lemma,
        "target_antecedent_head_gender": noun.gender,
    }
    return tags | {key: value for key, value in known.items() if key in example.tags}


def _head(source: str) -> str:
    """Return the head of an English noun phrase: its last word before a preposition."""
    words = source.lower().split()
    ends = [k for k, word in enumerate(words) if word in ("of", "in", "on", "at", "for", "with", "from", "that") and k]
    return words[(min(ends) if ends else len(words)) - 1] if words else ""
