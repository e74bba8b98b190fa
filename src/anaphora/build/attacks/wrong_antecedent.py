"""Wrong antecedents, beyond the paper: a noun of a competing gender right before the pronoun, which cannot be meant.

The noun is in a negated sentence of its own behind the context sentence: *there was no lamp.* A negated indefinite
cannot be taken up by a pronoun (data/distractor.toml says why), so the gold stays right. Only examples whose antecedent
is known are attacked, and only where the grammar is sure: the context sentence ends, and the noun is new.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.build.attacks.attack import (
    Left,
    Tell,
    attacked_suite,
    capitalised,
    check_tags,
    from_tags,
    is_truecased,
    sentence_of,
)
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_toml
from anaphora.languages.attack_presets import DATA, built_in
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

NAME = "wrong-antecedent"
ENDS = re.compile(r"(?<!\.)[.!?][\"'“”«»’)\]]*$")  # not with "...": a sentence that breaks off may go on


@dataclass(frozen=True, slots=True)
class Distractor:
    """A noun in a negated sentence, in both languages, and its gender in the target language."""

    noun: str
    gender: str
    source_word: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Distractors:
    """All that may be used for a pair of languages."""

    all: tuple[Distractor, ...]
    genders: tuple[str, ...]
    pronouns: Mapping[str, str]  # pronoun → gender

    def gold_gender(self, example: Example) -> str | None:
        """The gender of the right candidate's pronoun, from the tags."""
        gender, pronoun = example.tags.get("reference_gender"), example.tags.get("reference_pronoun")
        return str(gender) if gender in self.genders else self.pronouns.get(str(pronoun).lower())


def distractors_for(source: str, target: str, file: Path | None = None) -> Distractors:
    """The distractors of a language pair, from the built-in data or from a file of the same form."""
    data = read_toml(file) if file is not None else built_in("distractor")
    path = file or DATA / "distractor.toml"
    try:
        frames = data["frames"]
        for language in (source, target):
            if language not in frames:
                has = ", ".join(frames)
                raise AnaphoraError(
                    f"{path}: no frame for {language!r}, only for {has}. Write them: --distractors FILE"
                )
        if not isinstance(frames[source], str) or target not in data["genders"]:
            raise AnaphoraError(f"{path}: {source}-{target}: the target language needs genders, the source one frame")
        found = tuple(
            Distractor(word, gender, noun, frames[source].format(noun), frames[target][gender].format(word))
            for noun, forms in data["nouns"].items()
            if target in forms
            for word, gender in [forms[target]]
        )
        pronouns = {word: gender for gender, words in data["pronouns"][target].items() for word in words}
        return Distractors(found, tuple(data["genders"][target]), pronouns)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        remedy = "See the frames, pronouns, genders and nouns in docs/attacks.md."
        raise BadInput(path, f"not a file of distractors ({error!r})", remedy=remedy) from None


def wrong_antecedent(
    suite: Suite,
    distractors: Distractors,
    *,
    seed: int = 12345,
    truecased: bool | None = None,
    tell: Tell | None = None,
) -> Suite:
    """The examples with a distractor of another gender than the gold's between antecedent and pronoun.

    Which gender and which noun is drawn by the seed and the example's id. Tags: `distractor`, `distractor_gender`.
    """
    check_tags(suite, "Mine a suite (anaphora build mine), or add the tags.")
    small = is_truecased(suite) if truecased is None else truecased

    def change(example: Example) -> Example | Left:
        found = _drawn(example, distractors, seed)
        if isinstance(found, Left):
            return found
        tags: dict[str, Any] = {**example.tags, "distractor": found.noun, "distractor_gender": found.gender}
        source = _with(example.source, found.source, small)
        candidates = tuple(_with(candidate, found.target, small) for candidate in example.candidates)
        return replace(example, source=source, candidates=candidates, tags=tags)

    return attacked_suite(suite, [(NAME, change)], tell)


def _drawn(example: Example, distractors: Distractors, seed: int) -> Distractor | Left:
    antecedent = from_tags(example)
    if antecedent is None:
        return Left("no antecedent known")
    if sentence_of(example.source, antecedent) is None:
        return Left("the antecedent is before the context")
    if example.gold is None or (gold := distractors.gold_gender(example)) is None:
        return Left("the gender of the right answer is not known")
    passages = (example.source, *example.candidates)
    if any(len(passage) < 2 or not ENDS.search(passage[-2]) for passage in passages):
        return Left("the sentence before does not end")
    rng = random.Random(f"{seed}/{example.id}")
    others = [gender for gender in distractors.genders if gender != gold]
    if not others:
        return Left("there is no other gender")
    gender = rng.choice(others)
    text = " ".join(sentence for passage in passages for sentence in passage).lower()
    fitting = [
        d
        for d in distractors.all
        if d.gender == gender and d.noun.lower() not in text and d.source_word.lower() not in text
    ]
    return rng.choice(fitting) if fitting else Left("every distractor occurs in it")


def _with(passage: Passage, sentence: str, truecased: bool) -> Passage:
    return (*passage[:-2], f"{passage[-2]} {sentence if truecased else capitalised(sentence)}", passage[-1])
