"""Signatures: one line that says how a figure was computed, in the style of sacreBLEU (Post 2018)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Self

from anaphora.stats.resampling import Resampling

HASH_LENGTH = 6


class Signature:
    """The settings of a figure in order: `str` gives the short form, `long` the form in words.

    >>> line = Signature("ctr", "contrastive").add("s", "a@1f3c9a", "suite", "a@1f3c9a…").add("norm", "sum")
    >>> str(line), line.long
    ('ctr|s:a@1f3c9a|norm:sum', 'contrastive|suite:a@1f3c9a…')
    """

    __slots__ = ("_long", "_short")

    def __init__(self, kind: str = "", long_kind: str = "") -> None:
        self._short, self._long = [kind] if kind else [], [long_kind or kind]

    def __str__(self) -> str:
        return "|".join(self._short)

    @property
    def long(self) -> str:
        return "|".join(self._long)

    def add(self, key: str, value: object, long_key: str = "", long_value: object = None) -> Self:
        """Add a setting to the short form and, with a long key, to the long form; a value of None is left out."""
        if value is not None:
            self._short.append(f"{key}:{value}")
        return self.spell(long_key, long_value) if long_key else self

    def spell(self, key: str, value: object) -> Self:
        """Add a setting to the long form only."""
        if value is not None:
            self._long.append(f"{key}:{value}")
        return self

    def extend(self, parts: Iterable[str]) -> Self:
        """Add settings that are written as key:value already."""
        self._short.extend(parts)
        return self

    def resampled(self, resampling: Resampling) -> Self:
        """Add the bootstrap: samples, an unusual confidence, the seed."""
        self.add("ci", f"bs{resampling.samples}").confidence(resampling)
        return self.add("seed", resampling.seed)

    def confidence(self, resampling: Resampling) -> Self:
        """Add the confidence where it is not the usual one."""
        unusual = resampling.confidence != Resampling().confidence
        return self.add("conf", f"{resampling.confidence:g}" if unusual else None)


def short_hash(lines: Iterable[str]) -> str:
    """The beginning of the SHA-256 of lines, as signatures name texts, lists and settings."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()[:HASH_LENGTH]


def with_hash(name: str, sha256: str) -> str:
    """A file as signatures name it: its name and the beginning of its hash."""
    return f"{name}@{sha256[:HASH_LENGTH]}"
