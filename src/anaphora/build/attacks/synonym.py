"""Synonym replacement (ContraCAT §5.2.3): the German antecedent becomes a synonym of another gender."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from anaphora.align.tokenize import normalize
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
    find,
)
from anaphora.core.errors import AnaphoraError
from anaphora.languages import match_case
from anaphora.languages.german import (
    CONTRACTED,
    JOINED,
    PREPOSITIONS,
    PRONOUNS,
    Noun,
    NounTable,
    Word,
    case_in_clause,
    determiner,
    in_phrase,
    mentions,
    phrases,
    possessive,
    possessor_genders,
    pronoun,
    relatives,
    words_of,
)
from anaphora.languages.thesaurus import Ding, FirstSenses, Thesaurus
from anaphora.suites.example import Example
from anaphora.suites.readers.text import differing_words
from anaphora.suites.suite import Suite

FORMS = "der|die|das|den|dem|dessen|deren|welche[rsnm]?"
BEHIND = re.compile(rf"\s*,\s*(?:(?:{'|'.join(PREPOSITIONS)})\s+)?(?P<form>{FORMS})\b")
HE = frozenset({"he", "him", "his", "himself", "he's"})
SHE = frozenset({"she", "her", "hers", "herself", "she's", "they", "them", "their", "theirs", "they're", "they've"})
IT = frozenset({"it", "its", "itself", "it's", "it'll", "it'd"})
PEOPLE = {"Masc": HE, "Fem": SHE, "Neut": HE}  # whose pronouns have the same form in German
YOU = frozenset({"you", "your", "yours", "you're", "you've", "you'll", "you'd"})


class Unsure(Exception):  # noqa: N818
    """The reason why a sentence is not changed."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase in a sentence: the words from its determiner to its noun, with their positions."""

    words: tuple[Word, ...]
    before: str  # the word before it, if only a space is between
    noun: Noun

    @property
    def span(self) -> tuple[int, int]:
        return self.words[0].start, self.words[-1].end


def phrase_in(sentence: str, antecedent: str, nouns: NounTable, head: str | None = None) -> Phrase:
    """Return the noun phrase of an antecedent.

    head: its noun, if known; otherwise the first noun of the antecedent's words
    """
    match = find(antecedent, sentence)
    if match is None:
        raise Unsure("the antecedent's words are not in its sentence")
    if find(antecedent, sentence[match.end() :]):
        raise Unsure("the antecedent's words are there twice")
    words = words_of(sentence)
    inside = [k for k, word in enumerate(words) if match.start() <= word.start and word.end <= match.end()]
    index = next((k for k in inside if words[k].text == head or (head is None and words[k].text[0].isupper())), None)
    while head is None and index in inside[:-1] and determiner(words[index].text):  # Die at the beginning
        index = next((k for k in inside if k > index and words[k].text[0].isupper()), None)
    noun = nouns.of_form(words[index].text) if index is not None else None
    if index is None or noun is None:
        raise Unsure("the noun, or its gender, is not known")
    first = _first(sentence, words, index)
    before = words[first - 1] if first else None
    joined = before is not None and not sentence[before.end : words[first].start].strip()
    return Phrase(tuple(words[first : index + 1]), before.text if before and joined else "", noun)


def _first(sentence: str, words: Sequence[Word], index: int) -> int:
    """Return the index of the determiner with which the noun phrase of a noun begins."""
    for k in range(index - 1, -1, -1):
        if sentence[words[k].end : words[k + 1].start].strip():
            break
        if determiner(words[k].text) or words[k].text.lower() in CONTRACTED:
            return k
        if not words[k].text[0].islower():
            break
    raise Unsure("the antecedent has no determiner")


def replaced(sentence: str, phrase: Phrase, new: Noun, opinions: Sequence[str]) -> tuple[str, str, int]:
    """Return the sentence with another noun in a phrase, the new phrase, and the position of its end.

    opinions: cases proposed for it, which must agree, and are used only if the forms are ambiguous
    """
    start, end = phrase.span
    forms = dict(phrases([word.text for word in phrase.words], phrase.before, phrase.noun, new))
    if not forms:
        raise Unsure("determiner, adjectives and noun do not agree")
    if phrase.before.lower() not in PREPOSITIONS:
        clause = case_in_clause(sentence[:start], sentence[end:])
        opinions = [*opinions, *([clause] if clause else [])]
    if len(set(forms.values())) == 1:
        words = next(iter(forms.values()))
    elif len(stated := set(opinions)) == 1 and stated <= set(forms):
        words = forms[stated.pop()]
    else:
        raise Unsure("the case is not clear")
    text = " ".join(words)
    before, article = phrase.before.lower(), phrase.words[0].text.lower()
    whole = JOINED.get((before, words[0].lower()))
    if whole is not None and (before, article) not in JOINED:  # in der Tür, im Eingang; but in dem Brief, in dem Buch
        start -= len(phrase.before) + 1
        text = " ".join([match_case(whole, phrase.before), *words[1:]])
    tail = _relative(sentence, end, phrase.noun.gender, new.gender)
    return sentence[:start] + text + tail, " ".join(words), start + len(text)


def _relative(sentence: str, end: int, old: str, new: str) -> str:
    """Return the rest of a sentence after the noun, with the relative pronoun in the new gender."""
    match = BEHIND.match(sentence, end)
    if match is None:
        return sentence[end:]
    words = words_of(sentence)
    index = next(k for k, word in enumerate(words) if word.start == match.start("form"))
    forms = relatives(match["form"], old, new)
    if in_phrase(sentence, words, index) or len(forms) != 1:
        raise Unsure("a relative pronoun is not clear")
    return sentence[end : match.start("form")] + forms.pop() + sentence[match.end("form") :]


def followed(text: str, source: str, genders: tuple[str, str], start: int, *, alone: int) -> str:
    """Return a sentence in which pronouns that refer to the antecedent have the new gender.

    genders: the old and the new one; start: the position from which pronouns are considered
    source: the source sentence, which distinguishes he and she from it
    alone: the number of `it` in the source that are the pronoun under test
    """
    old, new = genders
    mentioned = mentions(text, old, start)
    relative = BEHIND.match(text, start) if start else None  # directly after the noun phrase: its gender is right
    if any(word.start > (relative.start("form") if relative else start - 1) for word in mentioned.others):
        raise Unsure("a demonstrative or relative pronoun may take it up")
    english = _english(source)
    polite = any(word in YOU for word in english)  # a sentence-initial Sie or Ihr may be
    pronouns = [w for w in mentioned.pronouns if not (polite and w.text.startswith(("Sie", "Ihr")))]
    people, things = (sum(word in known for word in english) for known in (PEOPLE[old], IT))
    if not pronouns or (people >= len(pronouns) and things <= alone):
        return text
    if people or things - alone != len(pronouns) or old == "Neut":
        raise Unsure("another pronoun may take it up")
    for word in reversed(pronouns):
        text = text[: word.start] + _changed(text, word, old, new) + text[word.end :]
    return text


def count_it(source: str) -> int:
    """Return the number of *it* and *its* in an English sentence."""
    return sum(word in IT for word in _english(source))


def _english(source: str) -> list[str]:
    return re.findall(r"[\w']+", normalize(source).lower())


def _changed(text: str, word: Word, old: str, new: str) -> str:
    form = word.text.lower()
    words = words_of(text)
    owning = in_phrase(text, words, next(k for k, w in enumerate(words) if w.start == word.start))
    if possessor_genders(form) and (owning or form not in PRONOUNS[old].values()):
        return possessive(word.text, new)
    forms = {pronoun(new, case, like=word.text) for case, own in PRONOUNS[old].items() if own == form}
    if len(forms) != 1:
        raise Unsure("another pronoun may take it up")
    return forms.pop()


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
    dictionary: Ding | None = None
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
