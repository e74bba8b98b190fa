"""Possessive extension (ContraCAT §5.2.2, Table 5): the antecedent gets an owner, *the hat* becomes *Maria's hat*.

The sentence with the antecedent is changed in the source and in every candidate; an example is attacked only if all of
them can be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora.build.attacks.attack import (
    Antecedent,
    Left,
    Tags,
    Tell,
    attacked_suite,
    begins_sentence,
    by_closed_classes,
    capitalised,
    check_tags,
    find,
    fits,
    from_tags,
    is_truecased,
    lowered,
    sentence_of,
)
from anaphora.build.attacks.determiners import Determiners, determiners_of
from anaphora.core.errors import BadInput
from anaphora.languages.attack_presets import for_languages, place_of, preset
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

PLACES = ("before", "after")
Finder = Callable[[Example], Antecedent | None]
Tagger = Callable[[Example, Antecedent], Sequence[Tags] | None]  # the tags that the source antecedent's words may have


@dataclass(frozen=True, slots=True)
class Owner:
    """The words of an owner in one language: in the place of the determiner, or behind the noun phrase."""

    words: str
    place: str


@dataclass(frozen=True, slots=True)
class Possessive:
    """An owner in each language."""

    name: str
    owners: Mapping[str, Owner]


def possessive_preset(name: str, file: Path | None = None) -> Possessive:
    """A row of Table 5, or an owner of the user's file."""
    owners = {}
    for language, value in preset("possessive", name, file).items():
        if language == "table":
            continue
        places = list(value) if isinstance(value, dict) else []
        if len(places) != 1 or places[0] not in PLACES or not isinstance(value[places[0]], str):
            remedy = f'Write for each language where its words go: {language}.before = "…" or {language}.after = "…".'
            raise BadInput(place_of("possessive", name, file), f"{name}.{language} is not an owner", remedy=remedy)
        owners[language] = Owner(value[places[0]], places[0])
    return Possessive(name, owners)


def own_possessive(name: str, languages: tuple[str, str], phrases: tuple[str, str]) -> Possessive:
    """An owner of the user's: *of …* and German *von …*, *des …* go behind the noun, all others before it."""
    owners = {language: Owner(words, _place(words)) for language, words in zip(languages, phrases, strict=True)}
    return Possessive(name, owners)


def possessive_extension(
    suite: Suite,
    possessives: Sequence[Possessive],
    *,
    truecased: bool | None = None,
    antecedents: Finder | None = None,
    tagger: Tagger | None = None,
    tell: Tell | None = None,
) -> Suite:
    """The examples whose antecedent can be extended, with each of the owners.

    truecased: whether sentences begin with a small letter; None: as most of the suite's do
    antecedents: finds them, if not from the tags; tagger: tags their words, if not by closed classes
    """
    header = suite.header
    if antecedents is None:
        check_tags(suite, "Find the antecedents with --annotate-source and --annotate-target, or take a mined suite.")
    languages = header.source_language, header.target_language
    source, target = map(determiners_of, languages)
    small = is_truecased(suite) if truecased is None else truecased
    changes = []
    for possessive in possessives:
        owners = for_languages(possessive.owners, *languages, f"the owner {possessive.name!r}")
        extender = _Extender(owners[0], owners[1], source, target, small, antecedents or from_tags, tagger)
        changes.append((f"possessive-extension/{possessive.name}", extender))
    return attacked_suite(suite, changes, tell)


@dataclass(frozen=True, slots=True)
class _Extender:
    """Extends the antecedent of an example, or says why not."""

    source_owner: Owner
    target_owner: Owner
    source: Determiners
    target: Determiners
    truecased: bool
    antecedents: Finder
    tagger: Tagger | None

    def __call__(self, example: Example) -> Example | Left:
        antecedent = self.antecedents(example)
        if antecedent is None:
            return Left("no antecedent known")
        place = sentence_of(example.source, antecedent)
        if place is None:
            return Left("the antecedent is before the context")
        if why := self._unfit(example, antecedent):
            return Left(why)
        source = self._extended(example.source, place, antecedent.source, self.source_owner, self.source)
        targets = [
            self._extended(candidate, place, antecedent.target, self.target_owner, self.target)
            for candidate in example.candidates
        ]
        changed = tuple(target for target in targets if target is not None)
        if source is None or len(changed) < len(targets):
            return Left("the antecedent's words are not in its sentence")
        return replace(example, source=source, candidates=changed)

    def _unfit(self, example: Example, antecedent: Antecedent) -> str | None:
        source, target = antecedent.source.split(), antecedent.target.split()
        if len(source) != len(target):
            return "antecedents of different length in the two languages"
        if not target or target[0] not in self.target:
            return "the target antecedent has no determiner"
        tags = self.tagger(example, antecedent) if self.tagger is not None else None
        if tags is None:
            tags = by_closed_classes(source, self.source, antecedent.head_tag)
        return None if fits(tags) else "the source antecedent is not determiner (adjective) noun"

    def _extended(
        self, passage: Passage, place: int, words: str, owner: Owner, determiners: Determiners
    ) -> Passage | None:
        sentence = passage[place] if place < len(passage) else ""  # a candidate may lack sentences of its source
        found = find(words, sentence)
        if found is None:
            return None
        phrase = extended(found.group(), owner, determiners)
        capital = not self.truecased and found.group()[0].isupper() and begins_sentence(sentence, found.start())
        phrase = capitalised(phrase) if capital else phrase
        return (*passage[:place], sentence[: found.start()] + phrase + sentence[found.end() :], *passage[place + 1 :])


def extended(phrase: str, owner: Owner, determiners: Determiners) -> str:
    """A noun phrase with an owner; it begins with a small letter, unless a name does.

    >>> extended("Dein alter Hut", Owner("von der Frau", "after"), determiners_of("de"))
    'ein alter Hut von der Frau'
    """
    determiner, *words = phrase.split()
    rest = phrase[len(determiner) :]
    if owner.place == "after":
        return f"{lowered(determiners.article(determiner))}{rest} {owner.words}"
    for word in words:
        rest = rest.replace(f" {word} ", f" {determiners.strong(determiner, word)} ", 1)
    return owner.words + rest


def _place(words: str) -> str:
    first = words.split()[0].lower()
    behind = first in ("of", "von", "vom", "des", "der", "meines", "meiner", "eines", "einer")
    return "after" if behind else "before"
