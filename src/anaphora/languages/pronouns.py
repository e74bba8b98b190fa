"""The pronouns of a language pair: which to look at, what they become, which are the same or nearly so (APT §2.5)."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache

from anaphora.normalization import normalize

Words = tuple[str, ...]


@lru_cache(maxsize=1 << 17)
def normalise(word: str) -> str:
    """A word as the lists have it: in lower case, and with one way to write each sign."""
    return normalize(word).lower()


@dataclass(frozen=True)
class PronounLists:
    """What APT needs to know of a language pair.

    pronouns: the source pronouns that are evaluated unless others are named
    target: the pronouns of the target language: what a source pronoun may be aligned to
    identical: forms of one pronoun (c' and ce); equivalent: pronouns that can mostly be exchanged
    translations: the likely translations of a source pronoun; where it has none, every target pronoun is likely
    separators, source_separators: characters that divide a word, such as the hyphen of "purifie-t-il"
    reference_side: the reference's pronouns of the reference-side variant, where they differ from `target`
    """

    pair: str
    pronouns: Words = ()
    target: Words = ()
    identical: tuple[Words, ...] = ()
    equivalent: tuple[Words, ...] = ()
    translations: Mapping[str, Words] = field(default_factory=dict)
    separators: str = ""
    source_separators: str = ""
    reference_side: Words = ()
    sources: Words = ()

    def canonical(self, word: str) -> str:
        """The first of the identical forms of a pronoun: ce for c'."""
        return self._canonical.get(word, word)

    def are_equivalent(self, one: str, other: str) -> bool:
        """Whether two pronouns are in one list of equivalents, in any of their forms."""
        return frozenset((self.canonical(one), self.canonical(other))) in self._equivalent

    def likely(self, pronoun: str) -> frozenset[str] | None:
        """The likely translations of a source pronoun in all their forms (APT §2.3, third step); None: any pronoun."""
        return self._likely.get(pronoun)

    @cached_property
    def target_pronouns(self) -> frozenset[str]:
        return frozenset(self.target).union(*self._likely.values())

    @cached_property
    def digest(self) -> str:
        """Names the content of the lists in a signature; where they come from does not matter."""
        content = {key: value for key, value in asdict(self).items() if key not in ("pair", "sources")}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @cached_property
    def _canonical(self) -> dict[str, str]:
        return {form: group[0] for group in self.identical for form in group}

    @cached_property
    def _likely(self) -> dict[str, frozenset[str]]:
        forms = {form: frozenset(group) for group in self.identical for form in group}
        return {
            pronoun: frozenset(form for word in words for form in forms.get(word, {word}))
            for pronoun, words in self.translations.items()
        }

    @cached_property
    def _equivalent(self) -> frozenset[frozenset[str]]:
        groups = [[self.canonical(word) for word in group] for group in self.equivalent]
        return frozenset(frozenset((a, b)) for group in groups for a in group for b in group if a != b)


def pronoun_in(word: str, pronouns: frozenset[str], separators: str = "") -> str | None:
    """The pronoun that a word is, or has as a part; None where it has none."""
    if word in pronouns:
        return word
    if not separators:
        return None
    parts = re.split(f"[{re.escape(separators)}]", word)
    return next((part for part in parts if part in pronouns), None) if len(parts) > 1 else None
