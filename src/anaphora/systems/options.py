"""How systems are named and set up: specs such as `hf:NAME?dtype=bfloat16`, and the options all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.systems.context import Context


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
