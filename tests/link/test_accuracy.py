"""Links beside the truth."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.link import Link
from anaphora.link.accuracy import accuracy, judge, names, precision
from anaphora.link.parcorfull import GoldPronoun

DOG, OWNER, CAT = Mention(0, 0, 5, 1), Mention(0, 3, 5, 4), Mention(0, 6, 7, 6)
IT = Mention(1, 0, 1, 0)


@pytest.fixture
def document(parsed: Callable[[str], Sentence]) -> Document:
    return Document(
        (
            parsed(
                "The/DET/2/det dog/NOUN/6/nsubj of/ADP/5/case my/PRON/5/nmod:poss aunt/NOUN/2/nmod saw/VERB/0/root "
                "Tom/PROPN/6/obj"
            ),
            parsed("It/PRON/2/nsubj slept/VERB/0/root"),
        )
    )


@pytest.mark.parametrize(
    ("mention", "span", "expected"),
    [
        (DOG, (0, 0, 5), True),
        (DOG, (0, 0, 2), True),  # the same head
        (Mention(0, 0, 2, 1), (0, 0, 5), True),
        (OWNER, (0, 0, 5), False),  # within it, but not it
        (DOG, (0, 3, 5), False),
        (CAT, (0, 0, 5), False),
        (DOG, (1, 0, 5), False),
        (Mention(0, 0, 1, 0), (0, 0, 5), True),  # begins alike: the parser's head is wrong
        (DOG, (0, 0, 99), True),  # a span that crosses the end of the sentence
    ],
)
def test_a_phrase_and_an_annotated_span(
    document: Document, mention: Mention, span: tuple[int, int, int], expected: bool
) -> None:
    assert names(document, mention, [span]) is expected


TRUE = GoldPronoun(1, 0, "It", ((0, 0, 5),), ((0, 0, 5),))
NOTHING = GoldPronoun(1, 0, "It", (), ())


@pytest.mark.parametrize(
    ("link", "gold", "linked", "right", "best_right", "confidence"),
    [
        (Link(IT, DOG, 0.8, ((DOG, 0.8),)), TRUE, True, True, True, 0.8),
        (Link(IT, CAT, 0.8, ((CAT, 0.8), (DOG, 0.1))), TRUE, True, False, False, 0.8),
        (Link(IT, None, 0.6, ((DOG, 0.4),)), TRUE, False, False, True, 0.4),
        (Link(IT, None, 0.6, ((DOG, 0.4),)), NOTHING, False, True, False, 0.4),
        (Link(IT, DOG, 0.6, ((DOG, 0.6),)), NOTHING, True, False, False, 0.6),
        (Link(IT, DOG), TRUE, True, True, True, 1.0),
        (Link(IT, None), TRUE, False, False, False, 0.0),
        (None, TRUE, False, False, False, 0.0),
        (None, NOTHING, False, True, False, 0.0),
    ],
)
def test_a_link_is_judged(
    document: Document,
    link: Link | None,
    gold: GoldPronoun,
    linked: bool,
    right: bool,
    best_right: bool,
    confidence: float,
) -> None:
    (judged,) = judge(document, [link] if link else [], [gold])
    assert (judged.linked, judged.right, judged.best_right, judged.confidence) == (
        linked,
        right,
        best_right,
        confidence,
    )
    assert judged.noun is bool(gold.phrases)
    assert judged.word == "it"


def test_shares(document: Document) -> None:
    right = judge(document, [Link(IT, DOG, 0.9, ((DOG, 0.9),))], [TRUE])
    wrong = judge(document, [Link(IT, CAT, 0.4, ((CAT, 0.4),))], [TRUE])
    assert accuracy([*right, *right, *wrong]) == pytest.approx(2 / 3)
    assert precision([*right, *wrong], 0.3) == (2, 0.5)
    assert precision([*right, *wrong], 0.9) == (1, 1.0)
    assert precision(right, 0.95) == (0, 0.0)
