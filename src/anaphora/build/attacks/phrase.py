"""Phrase addition (ContraCAT §5.2.1, Table 4): words without a possible antecedent before or after the context.

C, the attacked sentence, is the one before the current sentence, in both languages. If there is none, nothing is added,
as in the release.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora.build.attacks.attack import OnSkip, Skipped, attacked_suite, capitalized, is_truecased
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.attack_presets import for_languages, preset, preset_file
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

PLACES = ("before", "after", "sentence")
FRENCH = re.compile(r"\s[?!;:»]$")
SETTINGS = ("table", "place", "quoted")  # keys of a preset other than its phrases


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase in each language, and its position.

    place: `before` C; `after` C, with the final punctuation of C moved to the end; or after C as a `sentence`
    quoted: whether C is put in quotation marks
    """

    name: str
    texts: Mapping[str, str]
    place: str
    quoted: bool = False

    def __post_init__(self) -> None:
        if self.place not in PLACES:
            raise AnaphoraError(f"{self.name}: unknown place {self.place!r}. Known: {', '.join(PLACES)}")

    def added_to(self, sentence: str, text: str, *, truecased: bool = True) -> str:
        """Return the sentence with the phrase added.

        >>> Phrase("but_sure", {}, "after").added_to("what's your plan?", "but he wasn't sure")
        "what's your plan but he wasn't sure?"
        """
        first = text if truecased else capitalized(text)
        if self.quoted:
            sentence = f'"{sentence}"'
        if self.place == "before":
            return f"{first} {sentence}"
        if self.place == "sentence":
            return f"{sentence} {first}"
        stem, end = (sentence, "") if self.quoted else without_end(sentence)
        return f"{stem}{'' if is_punctuation(text[0]) else ' '}{text}{end}"


def phrase_preset(name: str, file: Path | None = None) -> Phrase:
    """Return a row of Table 4, or a phrase of the user's file."""
    table = preset("phrase", name, file)
    texts = {key: value for key, value in table.items() if key not in SETTINGS}
    bad = [key for key, value in texts.items() if not (isinstance(value, str) and value.strip())]
    if bad or not texts or table.get("place") not in PLACES:
        problem = f"{name}: {bad[0]!r} is not a phrase" if bad else f"{name} needs phrases and a place"
        remedy = f'Write place = "{" | ".join(PLACES)}" and the phrase for each language: en = "…", de = "…".'
        raise BadInput(preset_file("phrase", name, file), problem, remedy=remedy)
    return Phrase(name, texts, table["place"], bool(table.get("quoted", False)))


def phrase_addition(
    suite: Suite, phrases: Sequence[Phrase], *, truecased: bool | None = None, on_skip: OnSkip | None = None
) -> Suite:
    """Return the suite with each phrase added to the previous sentence of every example.

    truecased: whether sentences begin with a lowercase letter; None: like most sentences of the suite
    """
    header = suite.header
    small = is_truecased(suite) if truecased is None else truecased
    if not any(any(e.source[:-1]) or any(e.candidates[0][:-1]) for e in suite):
        raise AnaphoraError(
            f"{suite.path or header.name}: no example has a sentence before the current one to attack. "
            "Convert the suite with context, for example: anaphora suites convert … --context 1"
        )
    changes = []
    for phrase in phrases:
        texts = for_languages(
            phrase.texts, header.source_language, header.target_language, f"the phrase {phrase.name!r}"
        )
        changes.append((f"phrase-addition/{phrase.name}", _change(phrase, *texts, small)))
    return attacked_suite(suite, changes, on_skip)


def _change(phrase: Phrase, source: str, target: str, truecased: bool) -> Callable[[Example], Example | Skipped]:
    def added(passage: Passage, text: str) -> Passage:
        if len(passage) < 2 or not passage[-2]:
            return passage
        return (*passage[:-2], phrase.added_to(passage[-2], text, truecased=truecased), passage[-1])

    def change(example: Example) -> Example | Skipped:
        candidates = tuple(added(candidate, target) for candidate in example.candidates)
        if added(example.source, source) == example.source and candidates == example.candidates:
            return Skipped("no sentence before the current one", kept=True)
        return replace(example, source=added(example.source, source), candidates=candidates)

    return change


def without_end(sentence: str) -> tuple[str, str]:
    """Return a sentence without its final punctuation mark, and that mark ("" if there is none).

    The mark is one character, as in the release: "merciful..." gives "merciful.. but he wasn't sure." A French space
    before it belongs to it.
    """
    if not sentence or not is_punctuation(sentence[-1]):
        return sentence, ""
    end = FRENCH.search(sentence)
    position = end.start() if end else len(sentence) - 1
    return sentence[:position], sentence[position:]


def is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
