"""Measurements: the context and the settings under which a system was scored, and a short hash of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Which system it is. Settings of plug-ins under other names count as part of the measurement.
IDENTITY = frozenset(
    {
        *("architecture", "revision", "parameters", "weights", "tokenizer", "vocabulary", "dtype", "compute_type"),
        *("model", "url", "command", "spec", "arrangement", "setting", "plain_text", "encoder", "features"),
    }
)
# How it was computed. Which examples a limit leaves is in the hash of the suite.
COMPUTATION = frozenset({"plain", "ctranslate2", "xllamacpp", "device", "threads", "workers", "batch_tokens", "limit"})
# What a measurement is unless a run says otherwise
PLAIN: Mapping[str, Any] = {
    "separator": " ",
    "margins_only": False,
    "truncate": False,
    "focus": "candidate",
    "normalise": 1.0,  # the name in headers since version 0.1.0
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
    others = {name: value for name, value in settings.items() if name not in IDENTITY | COMPUTATION}
    different = {name: value for name, value in sorted(others.items()) if not _is_plain(name, value)}
    return Measurement(context, different)


def canonical(value: Any) -> str:
    """A setting as text that is the same on every machine and has no `|` in it."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("|", "\\u007c")


def _is_plain(name: str, value: Any) -> bool:
    """Whether a setting has the value of plain scoring, or none."""
    if name in PLAIN:
        return bool(value == PLAIN[name])
    return value is None or value == ""


VOLATILE = ("concurrency", "timeout", "retries", "requests_per_minute")  # how requests are sent, not what they ask


def stable_spec(spec: str) -> str:
    """A spec without the settings that do not change what a system answers."""
    name, mark, query = spec.partition("?")
    parts = [part for part in query.split("&") if part.partition("=")[0] not in VOLATILE]
    return f"{name}{mark}{'&'.join(parts)}".removesuffix("?")
