"""APT as the paper defines it: pronouns of the source, their translations on both sides, the case of each triple."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.align.alignment import Alignment
from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import pronoun_lists
from anaphora.metrics.apt.metric import find_occurrences, paper_outcomes
from anaphora.metrics.apt.task import NONE, Outcome, Side, Task, Translation

FRENCH = pronoun_lists("en-fr")
SOURCE = "The system is so healthy that it purifies the water ."
REFERENCE = "Le système est si sain qu' il purifie l' eau ."
MISSED = tuple((k, k) for k in range(11) if k != 6)  # "it", the word 6, has no link
LINKED = tuple((k, k) for k in range(11))


def text(name: str, lines: Sequence[str], alignments: Sequence[Alignment], tags: Sequence[str] = ()) -> Translation:
    return Translation(name, [line.split() for line in lines], alignments, [t.split() for t in tags] or None)


def task(
    source: Sequence[str],
    reference: Translation,
    *systems: Translation,
    source_tags: Sequence[str] = (),
    **options: object,
) -> Task:
    tags = [t.split() for t in source_tags] or None
    return Task([s.split() for s in source], reference, systems, FRENCH, source_tags=tags, **options)  # type: ignore[arg-type]


def cases(outcome: Outcome) -> list[int]:
    return [triple.case for triple in outcome.triples]


def test_table_1_on_the_reference_and_on_the_candidate_side() -> None:
    reference = text("reference", [REFERENCE], [MISSED])
    same = text("same", [REFERENCE], [MISSED])
    other = text("other", [REFERENCE.replace("il", "elle")], [LINKED])
    outcomes = paper_outcomes(task([SOURCE], reference, same, other))
    assert [cases(outcome) for outcome in outcomes] == [[1], [3]]
    triple = outcomes[0].triples[0]
    assert triple.source == Side((6,), ("it",))
    assert triple.reference == triple.candidate == Side((6,), ("il",), rescued=True)
    assert outcomes[1].triples[0].candidate == Side((6,), ("elle",), rescued=False)
    assert [cases(outcome) for outcome in paper_outcomes(task([SOURCE], reference, same, other, rescue=False))] == [
        [6],
        [5],
    ]


@pytest.mark.parametrize(
    ("reference", "candidate", "case"),
    [
        ("Il dort", "il dort", 1),
        ("C' dort", "ce dort", 1),
        ("c&apos; dort", "c’ dort", 1),
        ("Il dort", "C' dort", 2),
        ("Il dort", "Elle dort", 3),
        ("dort-il bien", "Elle dort", 3),
        ("dort-il bien", "dort-t-il bien", 1),
        ("Il dort", "Paul dort", 4),
        ("Paul dort", "Il dort", 5),
        ("Paul dort", "Marie dort", 6),
        ("", "Il dort", 5),
        ("Il dort", "", 4),
        ("", "", 6),
    ],
)
def test_the_six_cases(reference: str, candidate: str, case: int) -> None:
    def aligned(name: str, line: str) -> Translation:
        return text(name, [line], [((0, 0),) if line else ()])

    (outcome,) = paper_outcomes(task(["It sleeps"], aligned("reference", reference), aligned("candidate", candidate)))
    assert cases(outcome) == [case]


def test_an_empty_source_line_has_no_pronouns() -> None:
    nothing = text("nothing", ["", "il dort"], [(), ((0, 0),)])
    (outcome,) = paper_outcomes(task(["", "it sleeps"], nothing, nothing))
    assert [triple.sentence for triple in outcome.triples] == [1]


def test_pronouns_of_the_source_are_found_by_the_list() -> None:
    where = task(["It and they , IT and he", "them"], text("r", ["a", "b"], [(), ()]))
    assert [tuple(one) for one in find_occurrences(where)] == [(0, 0, "it"), (0, 2, "they"), (0, 4, "it")]
    named = task(["It and they , IT and he", "them"], text("r", ["a", "b"], [(), ()]), pronouns=("he", "them"))
    assert [tuple(one) for one in find_occurrences(named)] == [(0, 6, "he"), (1, 0, "them")]


def test_pronouns_of_the_source_are_found_by_their_tags() -> None:
    source, tags = ["It rains on it , her dog"], ["PRON VERB ADP X , PRON NOUN"]
    nothing = text("r", ["a"], [()])
    tagged = task(source, nothing, source_tags=tags, pronoun_tags=frozenset({"PRON"}))
    assert [one.pronoun for one in find_occurrences(tagged)] == ["it", "her"]
    both = task(source, nothing, source_tags=tags, pronoun_tags=frozenset({"PRON"}), pronouns=("it",))
    assert [(one.position, one.pronoun) for one in find_occurrences(both)] == [(0, "it")]


def test_tags_tell_an_article_from_a_pronoun() -> None:
    """By the list l' is a likely translation of it; by its tag the one before "eau" is not."""
    line = "que l' eau purifie"
    links: Alignment = ((0, 0), (2, 3))
    by_list = text("x", [line], [links])
    assert paper_outcomes(task(["that it purifies"], by_list, by_list))[0].triples[0].candidate.words == ("l'",)
    tagged = text("x", [line], [links], ["SCONJ DET NOUN VERB"])
    (outcome,) = paper_outcomes(task(["that it purifies"], tagged, tagged, pronoun_tags=frozenset({"PRON"})))
    assert outcome.triples[0].case == 6
    other = text("x", [line], [((1, 2),)], ["SCONJ DET PRON VERB"])  # a pronoun that is in no list
    (outcome,) = paper_outcomes(task(["that it purifies"], other, other, pronoun_tags=frozenset({"PRON"})))
    assert (outcome.triples[0].case, outcome.triples[0].reference.words) == (1, ("eau",))


def test_without_likely_translations_any_pronoun_counts() -> None:
    missed = text("x", ["que lui dort"], [((0, 0), (2, 2))])
    (outcome,) = paper_outcomes(task(["that we sleep"], missed, missed, pronouns=("we",)))
    assert outcome.triples[0].candidate == Side((1,), ("lui",), rescued=True)


def test_the_confusion_matrix_merges_forms_and_ends_with_missing() -> None:
    pair: Alignment = ((0, 0),)
    reference = text("r", ["c'", "ce", "il", "il", "il", "Paul"], [pair] * 6)
    system = text("s", ["ce", "ce", "il", "elle", "Paul", "il"], [pair] * 6)
    (outcome,) = paper_outcomes(task(["it"] * 6, reference, system))
    confusion = outcome.confusion
    assert confusion.labels == ("ce", "il", "elle", NONE)
    assert confusion.counts == ((2, 0, 0, 0), (0, 1, 1, 1), (0, 0, 0, 0), (0, 1, 0, 0))
    assert cases(outcome) == [1, 1, 1, 3, 4, 5]
    assert outcome.groups == ["it"] * 6


def test_without_a_source_list_pronouns_must_be_named() -> None:
    nothing = text("r", ["a"], [()])
    unknown = Task([["er"]], nothing, [nothing], pronoun_lists("de-en"))
    with pytest.raises(AnaphoraError, match=r"no list of source pronouns for de-en: name them with --pronouns"):
        paper_outcomes(unknown)


WORDS = st.sampled_from(["it", "they", "il", "elle", "ce", "c'", "on", "l'", "maison", "dort"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=7)


@settings(derandomize=True)
@given(st.data())
def test_a_rescue_only_adds_translations(data: st.DataObject) -> None:
    """With it nothing is lost that a link to a pronoun gives; each pronoun is one triple."""
    source, reference, candidate = (data.draw(SENTENCES) for _ in range(3))

    def aligned(name: str, words: list[str]) -> Translation:
        points = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(words) - 1))
        return Translation(name, [words], [tuple(data.draw(st.lists(points, max_size=8)))])

    one, other = aligned("r", reference), aligned("s", candidate)
    plain, rescued = (
        paper_outcomes(Task([source], one, [other], FRENCH, rescue=rescue))[0] for rescue in (False, True)
    )
    assert len(plain.triples) == len(rescued.triples) == sum(word in ("it", "they") for word in source)
    for before, after in zip(plain.triples, rescued.triples, strict=True):
        assert not before.reference.rescued
        for side in ("reference", "candidate"):
            if getattr(before, side).positions:
                assert getattr(after, side) == getattr(before, side)
    assert sum(map(sum, rescued.confusion.counts)) == len(rescued.triples)
