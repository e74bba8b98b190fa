"""The pronouns of a language pair that are mined: the table [mining] of its data file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from anaphora.core.errors import AnaphoraError
from anaphora.languages import GENDERS, NUMBERS, names_with, table

Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class PairData:
    """The pronouns of a language pair.

    translations: for each source pronoun the target pronouns that are looked for; oblique: more of them, on request
    labels: the class of an item by the gender (and number) of its pronoun
    clausal: target pronouns that stand for no noun as often as for one
    source_only: target pronouns for which the source's antecedent is enough (§3.1: es)
    swap: what makes contrastive variants (`contrast.py`)
    """

    source: str
    target: str
    translations: Mapping[str, Words]
    oblique: Mapping[str, Words]
    labels: Mapping[str, str]
    clausal: Words
    source_only: Words
    swap: str

    def targets(self, pronoun: str, *, oblique: bool) -> Words:
        """The translations of a source pronoun; none where it is no pronoun that is looked for."""
        more = self.oblique.get(pronoun, frozenset()) if oblique else frozenset()
        return self.translations.get(pronoun, frozenset()) | more

    def label(self, gender: str, number: str) -> str:
        """The class of a pronoun of this gender and number."""
        return self.labels[f"{gender}.Plur" if number == "Plur" else gender]


@cache
def pair_data(source: str, target: str) -> PairData:
    """The data of a language pair."""
    name = f"{source}-{target}"
    data = table(name, "mining")
    if data is None:
        known = ", ".join(names_with("mining"))
        raise AnaphoraError(f"pronouns of {name} cannot be mined: there is no data file for it. Known: {known}")
    return PairData(
        source=source,
        target=target,
        translations={word: frozenset(forms) for word, forms in data["pronouns"].items()},
        oblique={word: frozenset(forms) for word, forms in data.get("oblique", {}).items()},
        labels={_features(name): label for name, label in data["labels"].items()},
        clausal=frozenset(data.get("clausal", ())),
        source_only=frozenset(data.get("source_only", ())),
        swap=data["swap"],
    )


def _features(name: str) -> str:
    """The key of a label in Universal Dependencies: Masc for m, Masc.Plur for m.pl."""
    gender, _, number = name.partition(".")
    return f"{GENDERS[gender]}.{NUMBERS[number]}" if number else GENDERS[gender]
