"""The original program's files: the layout is reckoned by hand here, and compared byte by byte where they are real."""

from __future__ import annotations

from anaphora.metrics.apt.score_file import ScoreFile, detail_file
from anaphora.metrics.apt.task import Confusion, Side, Triple

CONFUSION = Confusion(("il", "elle", "ce", "NONE"), ((3, 1, 0, 2), (0, 5, 1, 0), (1, 0, 0, 0), (0, 0, 0, 1)))


def test_a_matrix_that_is_not_too_long() -> None:
    text = str(ScoreFile(0.65, (1, 3, 4), (1.0, 0.25, 0.0), (9, 3, 2), CONFUSION, longest=4))
    assert text == (
        "Score: 0.6500\nCases: 1,3,4\nWeights: 1.0,0.25,0.0\nFindings per case: 9,3,2\nTotal findings: 14\n"
        "\telle\til\tNONE\tce\t-sum-\n"
        "elle\t5\t0\t0\t1\t6\n"
        "il\t1\t3\t2\t0\t6\n"
        "NONE\t0\t0\t1\t0\t1\n"
        "ce\t0\t1\t0\t0\t1\n"
        "-sum-\t6\t4\t3\t1\t14\n"
    )


def test_what_is_too_long_is_summed_up() -> None:
    lines = str(ScoreFile(0.65, (1,), (1.0,), (9,), CONFUSION, longest=2, unaligned=7)).splitlines()
    assert lines[3:6] == ["Findings per case: 9", "Not source: 7", "Total findings: 9"]
    assert lines[6:] == [
        "\telle\til\t...\t-sum-",
        "elle\t5\t0\t1\t6",
        "il\t1\t3\t2\t6",
        "...\t0\t1\t1\t2",
        "-sum-\t6\t4\t4\t14",
    ]


def test_numbers_are_written_as_python_2_did() -> None:
    weights = (1.0, 0.0, 1 / 3, 0.1 + 0.2, 1e-05, 0.5)
    line = str(ScoreFile(None, (1,), weights, (0,), Confusion((), ()), longest=3)).splitlines()
    assert line[0] == "Score: nan"
    assert line[2] == "Weights: 1.0,0.0,0.333333333333,0.3,1e-05,0.5"


def test_details() -> None:
    triples = [
        Triple(0, Side((7,), ("su",)), Side((3, 4), ("its", "OTHER")), Side(), 4),
        Triple(12, Side((0,), ("él",)), Side(), Side((2,), ("he",)), 5),
    ]
    assert detail_file(triples) == (
        "SENT.\tPOS. SOURCE\tSOURCE\tPOS. REF.\tREF.\tPOS. TARGET\tTARGET\tCASE\n"
        "0\t7\tsu\t3 4\tits OTHER\t-\t-\t4\n"
        "12\t0\tél\t-\t-\t2\the\t5\n"
    )
