"""APT from the reference's side reproduces the score files of the document-level work that reports it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora import apt
from anaphora.languages.pronouns import PronounLists
from anaphora.metrics.apt.idiap import split
from anaphora.metrics.apt.idiap_output import score_file
from anaphora.metrics.apt.metric import reference_side_outcomes
from anaphora.metrics.apt.result import AptResult
from anaphora.metrics.apt.task import Outcome, Task, Translation

SYSTEMS = ("baseline", "cache", "HA-enc", "HA-dec", "HA-enc-dec")
TEXTS = {
    "TED_es-en": ("IWSLT14.TED.tst.tc.es", "IWSLT14.TED.tst.tc.en", "IWSLT14.TED.tst.tc.align"),
    "sub_zh-en": ("test_src", "test_tgt_2", "test_tgt_2.align"),
}
Alignment = tuple[tuple[int, int], ...]


def run(reference: str, ref_links: Alignment, candidate: str, links: Alignment, source: str = "a b c") -> Outcome:
    lists = PronounLists("x-en", target=("he", "she", "it"))
    texts = [Translation(n, [split(t)], [a]) for n, t, a in (("r", reference, ref_links), ("s", candidate, links))]
    return reference_side_outcomes(Task([split(source)], texts[0], texts[1:], lists))[0]


def cell(outcome: Outcome, row: str, column: str) -> int:
    labels = outcome.confusion.labels
    return outcome.confusion.counts[labels.index(row)][labels.index(column)]


def test_a_reference_pronoun_is_traced_to_source_and_candidate() -> None:
    outcome = run("there He is", ((2, 1),), "is HE there", ((2, 1), (2, 2), (0, 0)))
    (triple,) = outcome.triples
    assert (triple.case, triple.source.positions, triple.reference.positions) == (1, (2,), (1,))
    assert triple.candidate.words == ("he", "there")
    assert (outcome.groups, outcome.unaligned) == (["he"], 0)
    assert cell(outcome, "he", "he") == 1


@pytest.mark.parametrize(
    ("candidate", "links", "case", "column"),
    [
        ("she", ((0, 0),), 3, "she"),
        ("dog", ((0, 0),), 3, "OTHER"),
        ("dog she", ((0, 0), (0, 1)), 3, "she"),
        ("she he", ((0, 0), (1, 1)), 1, "he"),
        ("he", ((2, 0),), 4, "NONE"),
    ],
)
def test_cases(candidate: str, links: Alignment, case: int, column: str) -> None:
    outcome = run("he", ((0, 0), (1, 0)), candidate, links)
    assert [triple.case for triple in outcome.triples] == [case]
    assert cell(outcome, "he", column) == 1


def test_what_is_aligned_to_nothing_is_left_out() -> None:
    outcome = run("he and it", ((0, 0),), "he", ((0, 0),))
    assert [triple.reference.words for triple in outcome.triples] == [("he",)]
    assert outcome.unaligned == 1


def test_two_spaces_make_an_empty_word() -> None:
    assert split("a  b") == ["a", "", "b"]
    assert run("a  it", ((0, 2),), "it", ((0, 0),)).unaligned == 0


# ------------------------------------------------------------------------------------------- the published files


@pytest.fixture(scope="module")
def published(data: Callable[[str], Path]) -> Callable[[str], tuple[Path, AptResult]]:
    """A set's folder, and the result for its five systems."""
    actual: dict[str, tuple[Path, AptResult]] = {}

    def of(name: str) -> tuple[Path, AptResult]:
        if name not in actual:
            folder = data("han-apt") / name
            source, reference, alignment = (folder / f"{file}.gz" for file in TEXTS[name])
            result = apt(
                source,
                reference,
                [folder / f"{name}_{system}.en.gz" for system in SYSTEMS],
                name[-5:],
                reference_alignments=alignment,
                translation_alignments=[folder / f"{name}_{system}.align.gz" for system in SYSTEMS],
                names=SYSTEMS,
                variant="reference-side",
                samples=100,
                trials=100,
            )
            actual[name] = folder, result
        return actual[name]

    return of


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("number", range(len(SYSTEMS)), ids=SYSTEMS)
def test_published_score_files_byte_for_byte(
    published: Callable[[str], tuple[Path, AptResult]], name: str, number: int
) -> None:
    folder, result = published(name)
    system = result.systems[number]
    expected = (folder / f"{name}_{system.name}.apt.score").read_text(encoding="utf-8")
    if (name, system.name) == ("sub_zh-en", "HA-enc-dec"):
        assert "Findings per case: 798,0,309,22,0\n" in expected, "five counts: a file of an older program"
        return
    written = score_file(result, system, longest=50 if name == "TED_es-en" else 10)
    if name == "sub_zh-en":  # written before the program had this line
        written = replace(written, unaligned=None)
    assert str(written) == expected
