"""Synonym replacement (ContraCAT §5.2.3): the German antecedent becomes a synonym of another gender.

*Der Vorhang geht hoch. Er …* becomes *Die Gardine geht hoch. Sie …*: the source stays; with the noun its determiner
changes, adjectives and whatever takes it up. The right candidate is then that with the new pronoun: gold moves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anaphora.build.attacks.antecedent import Antecedent, check_tags, from_tags, sentence_of
from anaphora.build.attacks.attacked import Left, Tell, attacked_suite
from anaphora.build.attacks.synonym_cases import case_by_tag
from anaphora.build.attacks.synonym_choice import Synonyms
from anaphora.build.attacks.synonym_sentence import Phrase, Unsure, count_it, followed, phrase_in, replaced
from anaphora.core.errors import AnaphoraError
from anaphora.languages.german import PRONOUNS
from anaphora.languages.german_mentions import words_of
from anaphora.languages.german_noun_forms import Noun
from anaphora.suites.example import Example, Passage
from anaphora.suites.readers.lines import differing_words
from anaphora.suites.suite import Suite

NAME = "synonym-replacement"
GENDER = {form: gender for gender, cases in PRONOUNS.items() for form in cases.values() if form != "ihm"}
Cases = Callable[[Example], Sequence[str]]  # what is known of the case of the target antecedent


def synonym_replacement(
    suite: Suite, synonyms: Synonyms, *, cases: Cases | None = None, tell: Tell | None = None
) -> Suite:
    """The examples whose antecedent has a synonym of another gender that surely fits.

    cases: finds the case of an antecedent, where its forms do not tell; if not given, the suite's tag of it
    """
    languages = suite.header.source_language, suite.header.target_language
    if languages != ("en", "de"):
        raise AnaphoraError(f"{suite.header.name}: {'-'.join(languages)}, but synonyms are replaced in en-de only")
    check_tags(suite, "Take ContraPro or a mined suite (anaphora build mine), or add the tags.")
    return attacked_suite(suite, [(NAME, _Replacer(synonyms, cases or case_by_tag))], tell)


@dataclass(frozen=True, slots=True)
class _Replacer:
    """Replaces the antecedent of an example, or says why not."""

    synonyms: Synonyms
    cases: Cases

    def __call__(self, example: Example) -> Example | Left:
        antecedent = from_tags(example)
        if antecedent is None:
            return Left("no antecedent known")
        place = sentence_of(example.source, antecedent)
        if place is None:
            return Left("the antecedent is before the context")
        try:
            return self._attacked(example, antecedent, place)
        except Unsure as why:
            return Left(str(why))

    def _attacked(self, example: Example, antecedent: Antecedent, place: int) -> Example:
        genders = candidate_genders(example)
        gold = example.candidates[example.gold or 0]
        head = example.tags.get("target_antecedent_head")
        phrase = phrase_in(gold[place], antecedent.target, self.synonyms.nouns, str(head) if head else None)
        if example.gold is None or genders[example.gold] != phrase.noun.gender:
            raise Unsure("the right pronoun does not have the gender of the antecedent")
        _only_once(gold, phrase)
        source = str(example.tags.get("source_antecedent_head_lemma") or _head(antecedent.source))
        choice = [noun for noun in self.synonyms.of(phrase.noun, source) if not _in(noun, gold)]
        if not choice:
            raise Unsure("no synonym of another gender")
        problems = []
        for noun in choice:
            if genders.count(noun.gender) != 1:
                problems.append("no candidate has the pronoun of the new gender")
                continue
            try:
                return self._with(example, place, antecedent, phrase, noun, genders.index(noun.gender))
            except Unsure as why:
                problems.append(str(why))
        raise Unsure(problems[0])

    def _with(
        self, example: Example, place: int, antecedent: Antecedent, phrase: Phrase, noun: Noun, gold: int
    ) -> Example:
        _nothing_else(example, gold)
        opinions = self.cases(example)
        candidates, words = [], ""
        for k, candidate in enumerate(example.candidates):
            passage = list(candidate)
            here = phrase_in(passage[place], antecedent.target, self.synonyms.nouns, phrase.words[-1].text)
            passage[place], words, end = replaced(passage[place], here, noun, opinions)
            for i in range(place, len(passage)):
                if i < len(passage) - 1 or k == gold:  # in the last sentence the other pronouns are wrong anyway
                    last = i == len(passage) - 1
                    change = (phrase.noun.gender, noun.gender)
                    start = end if i == place else 0
                    passage[i] = followed(passage[i], example.source[i], change, start, alone=int(last))
            candidates.append(tuple(passage))
        tags = {**example.tags, **_tags(example, phrase, noun, words, gold)}
        tags.pop("target_antecedent_head_morpho", None)
        return replace(example, candidates=tuple(candidates), gold=gold, tags=tags)


def candidate_genders(example: Example) -> list[str | None]:
    """The gender of each candidate's pronoun, by the tag or by the words in which the candidates differ."""
    pronouns = example.tags.get("candidate_pronouns")
    if isinstance(pronouns, list) and len(pronouns) == len(example.candidates):
        return [GENDER.get(str(word).lower()) for word in pronouns]
    last = [candidate[-1] for candidate in example.candidates]
    found: list[str | None] = []
    for k, sentence in enumerate(last):
        words = [word for word, _ in differing_words(sentence, last[1 if k == 0 else 0])] if len(last) > 1 else []
        found.append(next((GENDER[word] for word in words if word in GENDER), None))
    return found


def _tags(example: Example, phrase: Phrase, noun: Noun, words: str, gold: int) -> Mapping[str, Any]:
    """What is true of the new antecedent; the old one and its pronoun are kept under other names."""
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


def _nothing_else(example: Example, new: int) -> None:
    """The new right candidate must not change the pronoun of another thing, too, as some of ContraPro's do."""
    last = example.candidates[example.gold or 0][-1], example.candidates[new][-1]
    changes = len(differing_words(*last))
    if not 1 <= changes <= max(1, count_it(example.source[-1])):
        raise Unsure("the candidates differ in more than what stands for it")


def _only_once(passage: Passage, phrase: Phrase) -> None:
    """A noun that is there again would have to be replaced again, if the same thing is meant."""
    forms = {form for found in phrase.noun.forms.values() for form in found}
    if sum(word.text in forms for sentence in passage for word in words_of(sentence)) > 1:
        raise Unsure("the noun is there again")


def _in(noun: Noun, passage: Passage) -> bool:
    """Whether a noun is in a passage already, perhaps as a part of another one."""
    return any(noun.lemma.lower() in sentence.lower() for sentence in passage)


def _head(source: str) -> str:
    """The noun of an English noun phrase: its last word before *of* and the like."""
    words = source.lower().split()
    ends = [k for k, word in enumerate(words) if word in ("of", "in", "on", "at", "for", "with", "from", "that") and k]
    return words[(min(ends) if ends else len(words)) - 1] if words else ""
