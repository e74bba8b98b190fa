"""Own antecedents on the outputs of systems: what is read, and a control in which verdicts must turn round."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _verdicts import ALIGNER, Item, Lines, counts, judged, precision, read_by_hand, reasons

from anaphora.core.columns import read_columns
from anaphora.evaluation.own_antecedent import AGREES, DISAGREES, NOT_WRITTEN, PREDICATE, Verdict
from anaphora.languages.agreement import load_agreement, number_of
from anaphora.languages.pronouns import normalize_word, pronoun_forms
from anaphora.stats.intervals import wilson

SIZE, SEED = 50, 12345  # decided items that are read
DECIDED = (AGREES, DISAGREES)
SPANISH_ENDINGS = str.maketrans("oa", "ao")  # of predicates
CAUSES = ("antecedent", "pronoun", "noun")  # of verdicts that the reader does not share


def to_be_read(verdicts: Mapping[str, Verdict]) -> list[str]:
    """Decided items drawn at random."""
    decided = sorted(name for name, verdict in verdicts.items() if verdict.verdict in DECIDED)
    return random.Random(SEED).sample(decided, min(SIZE, len(decided)))


def figures(
    items: Mapping[str, Item],
    verdicts: Mapping[str, Verdict],
    answers: Path,
    names: Sequence[str],
    swapped: Mapping[str, Verdict],
    language: str,
) -> dict[str, Any]:
    """The verdicts, those read by hand, and the control. names: of the items read; swapped: see `other_genders`"""
    read = read_by_hand(answers)
    rows = {record.cells["id"]: record.cells for record in read_columns(answers).records}
    different = [name for name in names if verdicts[name].verdict in DECIDED and not same(verdicts, read, name)]
    return {
        "items": len(items),
        "verdicts": counts(verdicts.values()),
        "reasons": reasons(verdicts.values()),
        "without_pronoun": without_pronoun(items, verdicts, language),
        "read": len(names),
        "passages": len({items[name][0].source for name in names}),
        "decided": precision(verdicts, read, names, *DECIDED),
        AGREES: precision(verdicts, read, names, AGREES),
        DISAGREES: precision(verdicts, read, names, DISAGREES),
        "causes": {cause: sum(rows[name]["cause"] == cause for name in different) for cause in CAUSES},
        "control": {
            kind: turned([swapped[name] for name in swapped if verdicts[name].verdict == kind], other)
            for kind, other in zip(DECIDED, reversed(DECIDED), strict=True)
        },
        "aligner": ALIGNER,
        "seed": SEED,
    }


def same(verdicts: Mapping[str, Verdict], read: Mapping[str, tuple[str, str]], name: str) -> bool:
    return read[name][0] == verdicts[name].verdict


def without_pronoun(items: Mapping[str, Item], verdicts: Mapping[str, Verdict], language: str) -> int:
    """Items whose pronoun is not found because the sentence has none: no form but those that are articles as well."""
    forms = frozenset[str]().union(*pronoun_forms(language).values()) - load_agreement(language).determiners.keys()
    sentences = [items[name][1][-1] for name, verdict in verdicts.items() if verdict.reason == NOT_WRITTEN]
    return sum(not forms & set(re.findall(r"\w+'?", normalize_word(sentence))) for sentence in sentences)


# A control: with a pronoun of the other gender, a verdict must turn round.


def control(
    items: Mapping[str, Item],
    verdicts: Mapping[str, Verdict],
    forms: Mapping[str, str],
    languages: tuple[str, str],
    corpus: Lines,
) -> dict[str, Verdict]:
    """The verdicts on decided items with the other gender in place of the pronoun; forms: pronoun → the other one"""
    return judged(other_genders(items, verdicts, forms, languages[1]), languages, corpus)


def other_genders(
    items: Mapping[str, Item], verdicts: Mapping[str, Verdict], forms: Mapping[str, str], language: str
) -> dict[str, Item]:
    """Decided items with the other gender in place of the pronoun, where that must turn the verdict round.

    So it is if the noun has one gender only, and the number of the pronoun. The pronoun must be written once, so that
    it is clear which word it is. If a predicate decides, it gets the other gender.
    """
    found = {}
    for name, (example, passage) in items.items():
        verdict = verdicts[name]
        other, numbers = other_form(verdict, forms, language)
        if verdict.verdict not in DECIDED or len(verdict.classes) != 1 or numbers != {number_of(verdict.classes[0])}:
            continue
        places = list(re.finditer(rf"\b{re.escape(verdict.pronoun)}\b", passage[-1], re.IGNORECASE))
        if len(places) == 1:
            start, end = places[0].span()
            other = other.capitalize() if passage[-1][start].isupper() else other
            found[name] = example, (*passage[:-1], passage[-1][:start] + other + passage[-1][end:])
    return found


def other_form(verdict: Verdict, forms: Mapping[str, str], language: str) -> tuple[str, set[str]]:
    """What the word that decides is in the other gender, and its numbers; none if that is not known."""
    if verdict.reason == PREDICATE:
        stem, ending = re.fullmatch(r"(.*?)(os?|as?)", verdict.pronoun, re.DOTALL).groups()  # type: ignore[union-attr]
        return stem + ending.translate(SPANISH_ENDINGS), {"pl" if ending.endswith("s") else "sg"}
    classes = pronoun_forms(language)
    numbers = {number_of(name) for name, own in classes.items() if verdict.pronoun in own}
    return forms.get(verdict.pronoun, ""), numbers if verdict.pronoun in forms else set()


def turned(verdicts: Sequence[Verdict], wanted: str) -> dict[str, Any]:
    """How many verdicts are what they must be with the other gender, among those that are still decided."""
    numbers = Counter(verdict.verdict for verdict in verdicts)
    decided = sum(numbers[kind] for kind in DECIDED)
    return {
        "total": len(verdicts),
        "verdicts": counts(verdicts),
        "decided": decided,
        "right": numbers[wanted],
        "right_interval": wilson(numbers[wanted], decided),
    }
