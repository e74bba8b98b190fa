"""Wrong antecedents (not in the paper): a noun of a competing gender before the pronoun that cannot be its antecedent.

The noun is in a negated sentence of its own after the context sentence: *there was no lamp.* A negated indefinite
cannot be the antecedent of a pronoun (data/distractor.toml says why), so the gold stays right. Only examples with a
known antecedent are attacked, and only if the context sentence is complete and the noun is new.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.build.attacks.attack import (
    OnSkip,
    Skipped,
    antecedent_of,
    attacked_suite,
    capitalized,
    check_tags,
    is_truecased,
)
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import UNEXPECTED, read_toml
from anaphora.languages.attack_presets import DATA, built_in
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

NAME = "wrong-antecedent"
ENDS = re.compile(r"(?<!\.)[.!?][\"'“”«»’)\]]*$")  # not "...": the sentence may be continued


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
    """The distractors of a language pair."""

    all: tuple[Distractor, ...]
    genders: tuple[str, ...]
    pronouns: Mapping[str, str]  # pronoun → gender

    def gold_gender(self, example: Example) -> str | None:
        """Return the gender of the right candidate's pronoun, from the tags."""
        gender, pronoun = example.tags.get("reference_gender"), example.tags.get("reference_pronoun")
        return str(gender) if gender in self.genders else self.pronouns.get(str(pronoun).lower())


def distractors_for(source: str, target: str, file: Path | None = None) -> Distractors:
    """Return the distractors of a language pair, from the built-in data or from a file in the same format."""
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
        distractors = tuple(
            Distractor(word, gender, noun, _filled(frames[source], noun), _filled(frames[target][gender], word))
            for noun, forms in data["nouns"].items()
            if target in forms
            for word, gender in [forms[target]]
        )
        pronouns = {word: gender for gender, words in data["pronouns"][target].items() for word in words}
        return Distractors(distractors, tuple(data["genders"][target]), pronouns)
    except UNEXPECTED as error:
        remedy = "See the frames, pronouns, genders and nouns in docs/attacks.md."
        raise BadInput(path, f"not a file of distractors ({error!r})", remedy=remedy) from None


def _filled(frame: str, noun: str) -> str:
    if frame.count("{}") != 1:
        raise ValueError(f"not one {{}} in the frame {frame!r}")
    return frame.replace("{}", noun)


def wrong_antecedent(
    suite: Suite,
    distractors: Distractors,
    *,
    seed: int = 12345,
    truecased: bool | None = None,
    on_skip: OnSkip | None = None,
) -> Suite:
    """Return the examples with a distractor of another gender than the gold's between antecedent and pronoun.

    Gender and noun are drawn by the seed and the example's id. Tags: `distractor`, `distractor_gender`.
    """
    check_tags(suite, "Mine a suite (anaphora build mine), or add the tags.")
    small = is_truecased(suite) if truecased is None else truecased

    def change(example: Example) -> Example | Skipped:
        distractor = _drawn(example, distractors, seed)
        if isinstance(distractor, Skipped):
            return distractor
        tags: dict[str, Any] = {**example.tags, "distractor": distractor.noun, "distractor_gender": distractor.gender}
        source = _with(example.source, distractor.source, small)
        candidates = tuple(_with(candidate, distractor.target, small) for candidate in example.candidates)
        return replace(example, source=source, candidates=candidates, tags=tags)

    return attacked_suite(suite, [(NAME, change)], on_skip)


def _drawn(example: Example, distractors: Distractors, seed: int) -> Distractor | Skipped:
    if isinstance(located := antecedent_of(example), Skipped):
        return located
    if example.gold is None or (gold := distractors.gold_gender(example)) is None:
        return Skipped("the gender of the right answer is not known")
    passages = (example.source, *example.candidates)
    if any(len(passage) < 2 or not ENDS.search(passage[-2]) for passage in passages):
        return Skipped("the sentence before does not end")
    rng = random.Random(f"{seed}/{example.id}")
    others = [gender for gender in distractors.genders if gender != gold]
    if not others:
        return Skipped("there is no other gender")
    gender = rng.choice(others)
    text = " ".join(sentence for passage in passages for sentence in passage).lower()
    fitting = [
        d
        for d in distractors.all
        if d.gender == gender and d.noun.lower() not in text and d.source_word.lower() not in text
    ]
    return rng.choice(fitting) if fitting else Skipped("every distractor occurs in it")


def _with(passage: Passage, sentence: str, truecased: bool) -> Passage:
    return (*passage[:-2], f"{passage[-2]} {sentence if truecased else capitalized(sentence)}", passage[-1])
