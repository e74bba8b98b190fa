"""What a system sees of an example and how it is set up: context, options, specs such as `hf:NAME?dtype=float16`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import parse_qsl

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.core.openmp import check_threads
from anaphora.core.parsing import check_text
from anaphora.suites.example import Example, Passage

LABEL = re.compile(r"(\d{1,9})\+(\d{1,9})(p?)")  # 1+1, 3+0, 2+2p
TARGET_CONTEXTS = ("gold", "produced", "none")


class ScoringInput(NamedTuple):
    """An example as text: a source, and translations of which each gets a score."""

    source: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """What a system sees besides the current sentence.

    sentences: how many previous sentences
    separator: what stands between sentences, exactly as given
    target: "gold" (the candidates' own context), "produced" (the system translates the context first), or "none"
        (only the source has context)
    """

    sentences: int = 0
    separator: str = " "
    target: str = "gold"

    def __post_init__(self) -> None:
        if self.sentences < 0:
            raise AnaphoraError(f"context of {self.sentences} sentences: 0 or more are expected")
        check_text(self.separator, "the separator")
        if self.target not in TARGET_CONTEXTS:
            raise AnaphoraError(f"unknown target context {self.target!r}. Known: {', '.join(TARGET_CONTEXTS)}")

    @property
    def label(self) -> str:
        """Sentences of source + target context, as in the signature: 1+1."""
        target = 0 if self.target == "none" else self.sentences
        return f"{self.sentences}+{target}{'p' if self.target == 'produced' and target else ''}"

    def join(self, passage: Passage) -> str:
        """Return a passage as one text; sentences that do not exist ("") leave no separator behind."""
        return self.separator.join(sentence for sentence in passage if sentence)

    def scoring_input(self, example: Example) -> ScoringInput:
        """The text of an example under this context. Produced context has been put into the candidates before."""
        cut = example.with_context(self.sentences)
        targets = (c if self.target != "none" else c[-1:] for c in cut.candidates)
        return ScoringInput(self.join(cut.source), tuple(map(self.join, targets)))

    question = scoring_input  # its name in 0.1


def within(label: str, most: int) -> str:
    """Return a label such as 3+3 where examples have fewer sentences: what was really given.

    >>> within("3+3p", 1)
    '1+1p'
    """
    match = LABEL.fullmatch(label)
    if match is None:  # a plug-in's own words
        return label
    source, target = (min(int(match[part]), most) for part in (1, 2))
    return f"{source}+{target}{match[3] if target else ''}"


def check_asked(asked: int, most: int, what: str) -> None:
    """More context than there is, is an error: a figure would be taken for one that was never measured.

    what: the examples that are meant, as the subject of a sentence
    """
    if asked > most:
        sentences = "sentence" if most == 1 else "sentences"
        remedy = f"Use --context {most}" if most else "Leave --context out"
        available = f"at most {most} {sentences} of context" if most else "no context"
        raise AnaphoraError(f"{what} {available}, but --context {asked} asks for more. {remedy}")


def with_target_context(example: Example, before: Passage) -> Example:
    """Return the example with other target context: the same sentences before every candidate."""
    size = len(before)
    return replace(example, candidates=tuple((*c[: -1 - size], *before, c[-1]) for c in example.candidates))


# How systems are named and set up: specs such as `hf:NAME?dtype=bfloat16`, and the options all of them share.


@dataclass(frozen=True, slots=True)
class Options:
    """Options that are the same for every system.

    own_context: a system that was trained with context (`nmt:`) reads it even if no context is requested
    languages: source and target language of the suite, as in its header (ISO 639-1 where there is one)
    threads: for computation on this machine; None: the library's default
    batch_tokens: maximum number of tokens per batch
    plain: score every candidate separately in padded batches, without the prefix tree
    margins_only: exclude the prefix that all candidates share from the scores
    truncate: truncate inputs that exceed the model's maximum length, and count them; otherwise they are an error
    scope: what of a candidate is scored: all of it, the "current" sentence given the context before it, or the first
        token in which candidates differ, given what comes before it (the "pronoun")
    """

    context: Context = field(default_factory=Context)
    languages: tuple[str, str] = ("", "")
    threads: int | None = None
    batch_tokens: int = 2048
    plain: bool = False
    margins_only: bool = False
    truncate: bool = False
    scope: str = "candidate"
    own_context: bool = True

    def __post_init__(self) -> None:
        check_threads(self.threads)


def split_spec(spec: str) -> tuple[str, str]:
    """KIND:WHAT → its two parts."""
    kind, colon, what = spec.partition(":")
    if not colon or not what:
        near = "" if colon or "/" not in spec else f" (did you mean hf:{spec} (a translation model) or lm:{spec}?)"
        raise AnaphoraError(
            f"not a system: {spec!r}{near}. Write KIND:WHAT, as in scores:my.scores; see: anaphora systems"
        )
    return kind, what


EARLIER_SETTINGS = {"normalise": "normalize"}  # names of settings in version 0.1.0


def split_settings(what: str, known: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """WHAT?key=value&key=value → the name, and settings that only this kind of system has."""
    name, mark, query = what.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True) if mark else []
    settings = {EARLIER_SETTINGS.get(key, key): value for key, value in pairs}
    for key in settings:
        if key not in known:
            takes = ", ".join(known)
            raise AnaphoraError(f"unknown setting {key!r} in {what!r}{did_you_mean(key, known)}. Known: {takes}")
    return name, settings


def parse_bool(value: str) -> bool:
    """Return a setting that is on or off as a boolean."""
    if value.lower() in ("1", "yes", "true", "on", ""):
        return True
    if value.lower() in ("0", "no", "false", "off"):
        return False
    raise AnaphoraError(f"yes or no is expected, not {value!r}")
