"""What a system sees of an example and how it is scored: context, options, and what a figure depends on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.suites.example import Example, Passage

LABEL = re.compile(r"(\d+)\+(\d+)(p?)")  # 1+1, 3+0, 2+2p
TARGET_CONTEXTS = ("gold", "produced", "none")


class Question(NamedTuple):
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
        if self.target not in TARGET_CONTEXTS:
            raise AnaphoraError(f"unknown target context {self.target!r}. Known: {', '.join(TARGET_CONTEXTS)}")

    @property
    def label(self) -> str:
        """Sentences of source + target context, as in the signature: 1+1."""
        target = 0 if self.target == "none" else self.sentences
        return f"{self.sentences}+{target}{'p' if self.target == 'produced' and target else ''}"

    def join(self, passage: Passage) -> str:
        """A passage as one text; sentences that do not exist ("") leave no separator behind."""
        return self.separator.join(sentence for sentence in passage if sentence)

    def question(self, example: Example) -> Question:
        """The text of an example under this context. Produced context has been put into the candidates before."""
        cut = example.with_context(self.sentences)
        targets = (c if self.target != "none" else c[-1:] for c in cut.candidates)
        return Question(self.join(cut.source), tuple(map(self.join, targets)))


def within(label: str, most: int) -> str:
    """A label such as 3+3 where examples have fewer sentences: what was really given.

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
        there = f"at most {most} {sentences} of context" if most else "no context"
        raise AnaphoraError(f"{what} {there}, but --context {asked} asks for more. {remedy}")


def with_target_context(example: Example, before: Passage) -> Example:
    """The example with other target context: the same sentences before every candidate."""
    size = len(before)
    return replace(example, candidates=tuple((*c[: -1 - size], *before, c[-1]) for c in example.candidates))


# How a system was measured: which of a run's settings belong to the measurement, and a short hash of them.

# Which system it is. Settings of plug-ins under other names count as part of the measurement.
IDENTITY = frozenset(
    {
        *("architecture", "revision", "parameters", "weights", "tokenizer", "vocabulary", "dtype", "compute_type"),
        *("model", "url", "command", "spec", "arrangement", "setting", "plain_text", "encoder", "features"),
    }
)
# How it was computed. Which examples a limit leaves is in the hash of the suite.
COMPUTATION = frozenset({"plain", "ctranslate2", "device", "threads", "workers", "batch_tokens", "limit"})
# What a measurement is unless a run says otherwise
PLAIN: Mapping[str, Any] = {
    "separator": " ",
    "margins_only": False,
    "truncate": False,
    "focus": "candidate",
    "normalise": 1.0,
}
HASH_LENGTH = 6


@dataclass(frozen=True, slots=True)
class Measurement:
    """Context and settings under which a system was scored.

    context: sentences of source + target context, as in "1+1"; None where it is not known
    settings: what else the scores depend on besides the system, where it differs from plain scoring
    """

    context: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> str | None:
        """A short hash of the settings, the same for the same settings in any order; None for plain scoring."""
        if not self.settings:
            return None
        return hashlib.sha256(canonical(self.settings).encode()).hexdigest()[:HASH_LENGTH]


def measurement_of(context: str | None, settings: Mapping[str, Any]) -> Measurement:
    """The measurement that a run's header describes."""
    found = {name: value for name, value in settings.items() if name not in IDENTITY | COMPUTATION}
    kept = {name: value for name, value in sorted(found.items()) if not _is_plain(name, value)}
    return Measurement(context, kept)


def canonical(value: Any) -> str:
    """A setting as text that is the same on every machine and has no `|` in it."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("|", "\\u007c")


def _is_plain(name: str, value: Any) -> bool:
    """Whether it says nothing: the value of plain scoring, or none at all."""
    if name in PLAIN:
        return bool(value == PLAIN[name])
    return value is None or value == ""


# How systems are named and set up: specs such as `hf:NAME?dtype=bfloat16`, and the options all of them share.


@dataclass(frozen=True, slots=True)
class Options:
    """What is the same for every system.

    own_context: where no context is asked for, a system that was trained with context (`nmt:`) still reads it
    languages: source and target language of the suite, as in its header (ISO 639-1 where there is one)
    threads: for computation on this machine; None: the library's default
    batch_tokens: how many tokens are computed at a time
    plain: score every candidate by itself in padded batches, without the prefix tree
    margins_only: leave out of the scores what all candidates share
    truncate: cut what is longer than the model takes, and count it; else it is an error
    focus: what of a candidate is scored: all of it, the "current" sentence given the context before it, or the first
        token in which candidates differ, given what comes before it (the "pronoun")
    """

    context: Context = field(default_factory=Context)
    languages: tuple[str, str] = ("", "")
    threads: int | None = None
    batch_tokens: int = 2048
    plain: bool = False
    margins_only: bool = False
    truncate: bool = False
    focus: str = "candidate"
    own_context: bool = True


def split_spec(spec: str) -> tuple[str, str]:
    """KIND:WHAT → its two parts."""
    kind, colon, what = spec.partition(":")
    if not colon or not what:
        near = "" if colon or "/" not in spec else f" (did you mean hf:{spec} (a translation model) or lm:{spec}?)"
        raise AnaphoraError(
            f"not a system: {spec!r}{near}. Write KIND:WHAT, as in scores:my.scores; see: anaphora systems"
        )
    return kind, what


VOLATILE = ("concurrency", "timeout", "retries", "requests_per_minute")  # how a server is asked, not what


def stable_spec(spec: str) -> str:
    """A spec without the settings that do not change what a system answers."""
    name, mark, query = spec.partition("?")
    kept = [part for part in query.split("&") if part.partition("=")[0] not in VOLATILE]
    return f"{name}{mark}{'&'.join(kept)}".removesuffix("?")


def split_settings(what: str, known: Iterable[str]) -> tuple[str, Mapping[str, str]]:
    """WHAT?key=value&key=value → the name, and settings that only this kind of system has."""
    name, mark, query = what.partition("?")
    settings = dict(parse_qsl(query, keep_blank_values=True)) if mark else {}
    for key in settings:
        if key not in known:
            takes = ", ".join(known)
            raise AnaphoraError(f"unknown setting {key!r} in {what!r}{did_you_mean(key, known)}. Known: {takes}")
    return name, settings


def yes(value: str) -> bool:
    """A setting that is on or off."""
    if value.lower() in ("1", "yes", "true", "on", ""):
        return True
    if value.lower() in ("0", "no", "false", "off"):
        return False
    raise AnaphoraError(f"yes or no is expected, not {value!r}")
