"""The German pronoun for *it*: the aligned one, or the only one that can be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Sentence
from anaphora.build.augment_pairs import aligned_pronoun, only_pronoun, translations
from anaphora.link.language import language

Parsed = Callable[[str], Sentence]

IT_IS_RED = "It/PRON/3/nsubj is/AUX/3/cop red/ADJ/0/root"
I_SAW_IT = "I/PRON/2/nsubj saw/VERB/0/root it/PRON/2/obj"
ES_IST_ROT = "Es/PRON/3/nsubj ist/AUX/3/cop rot/ADJ/0/root"
ICH_SAH_ES = "Ich/PRON/2/nsubj sah/VERB/0/root es/PRON/2/obj"


def test_german_candidates(parsed: Parsed) -> None:
    sentence = parsed(
        "Sie/PRON/2/nsubj sagt/VERB/0/root/VerbForm=Fin,Number=Sing ihm/PRON/2/obl:arg ,/PUNCT/2/punct "
        "Sie/PRON/6/nsubj kämen/VERB/2/ccomp/VerbForm=Fin,Number=Plur zu/ADP/9/case "
        "ihrem/DET/9/det:poss Haus/NOUN/6/obl"
    )
    assert translations(sentence, language("de")) == [0, 2]


@pytest.mark.parametrize(
    ("source", "it", "target", "candidates", "expected"),
    [
        (IT_IS_RED, 0, ES_IST_ROT, [0], 0),
        (I_SAW_IT, 2, ICH_SAH_ES, [2], 2),
        (I_SAW_IT, 2, ES_IST_ROT, [0], None),  # an object is no subject
        (IT_IS_RED, 0, ICH_SAH_ES, [2], None),
        (IT_IS_RED, 0, ES_IST_ROT, [], None),
        (IT_IS_RED, 0, ES_IST_ROT, [0, 1], None),
        ("It/PRON/2/nsubj saw/VERB/0/root it/PRON/2/obj", 0, ES_IST_ROT, [0], None),  # two it
        ("It/PRON/2/nsubj saw/VERB/0/root her/PRON/2/obj", 0, ES_IST_ROT, [0], None),  # sie may be her
    ],
)
def test_the_only_pronoun(
    parsed: Parsed, source: str, it: int, target: str, candidates: list[int], expected: int | None
) -> None:
    assert only_pronoun(parsed(source), it, parsed(target), candidates) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (((2, 2),), 2),
        (((2, 2), (2, 1), (0, 0)), 2),
        (((2, 1),), None),
        ((), None),
        (((0, 2),), None),
        (((2, 2), (2, 0)), None),  # two pronouns
    ],
)
def test_the_aligned_pronoun(parsed: Parsed, points: tuple[tuple[int, int], ...], expected: int | None) -> None:
    assert aligned_pronoun(parsed(I_SAW_IT), 2, parsed(ICH_SAH_ES), [0, 2], points) == expected
