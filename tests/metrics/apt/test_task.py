"""A confusion matrix is put in an order that a reader can follow."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anaphora.align
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronouns import pronoun_lists
from anaphora.metrics.apt.task import (
    NONE,
    Files,
    Weighting,
    case_of,
    confusion_of,
    count_cases,
    parse_cases,
    parse_weights,
    read_task,
)


def test_labels_are_ordered_by_matches_frequency_and_alphabet() -> None:
    pairs = Counter({("b", "b"): 2, ("a", "a"): 2, ("a", "c"): 1, ("z", NONE): 5, (NONE, "d"): 1, (NONE, NONE): 9})
    confusion = confusion_of(pairs)
    assert confusion.labels == ("a", "b", "z", "c", "d", NONE)
    assert confusion.counts[0] == (2, 0, 0, 1, 0, 0)
    assert confusion.counts[2] == (0, 0, 0, 0, 0, 5)
    assert confusion.counts[5] == (0, 0, 0, 0, 1, 9)


def test_nothing_is_an_empty_matrix() -> None:
    assert confusion_of(Counter()).labels == ()


# The six cases and the score: by hand, by the formula of §2.4, and with what is refused.

FRENCH = pronoun_lists("en-fr")


@pytest.mark.parametrize(
    ("reference", "candidate", "case"),
    [
        ("il", "il", 1),
        ("ce", "c'", 1),
        ("cela", "ç'", 1),
        ("il", "ce", 2),
        ("c'", "il", 2),
        ("cela", "c'", 2),
        ("il", "ça", 3),  # Table 2 has ce with both, not the two with each other
        ("il", "elle", 3),
        ("il", None, 4),
        (None, "il", 5),
        (None, None, 6),
    ],
)
def test_cases(reference: str | None, candidate: str | None, case: int) -> None:
    assert case_of(reference, candidate, FRENCH) == case


def test_the_score_is_reckoned_by_hand() -> None:
    counts = (5, 2, 4, 1, 3, 1)  # 16 pronouns
    assert Weighting().score(counts) == pytest.approx((5 + 0.5 * 2) / 16)
    assert Weighting((1, 1, 0, 0, 0, 1)).score(counts) == pytest.approx((5 + 2 + 1) / 16)
    assert Weighting(discarded=(5, 6)).score(counts) == pytest.approx(6 / 12)
    assert Weighting((1, 0, 0, 0, 0, 0.5), (2, 4)).score(counts) == pytest.approx(5.5 / 13)


def test_without_pronouns_there_is_no_score() -> None:
    assert Weighting().score((0,) * 6) is None
    assert Weighting(discarded=(1, 2, 3, 4)).score((3, 1, 2, 4, 0, 0)) is None


@settings(derandomize=True)
@given(
    st.lists(st.integers(0, 500), min_size=6, max_size=6),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.sets(st.integers(1, 6), max_size=5),
)
def test_the_formula(counts: list[int], weights: list[float], discarded: set[int]) -> None:
    weighting = Weighting(tuple(weights), tuple(discarded))
    kept = [(w, n) for case, (w, n) in enumerate(zip(weights, counts, strict=True), start=1) if case not in discarded]
    total = sum(n for _, n in kept)
    score = weighting.score(counts)
    if not total:
        assert score is None
        return
    assert score == pytest.approx(sum(w * n for w, n in kept) / total)
    assert 0 <= score <= 1
    credits = [weighting.credit(case) for case in range(1, 7)]
    assert [credit is None for credit in credits] == [case in discarded for case in range(1, 7)]
    assert score == pytest.approx(sum((credit or 0) * n for credit, n in zip(credits, counts, strict=True)) / total)


@pytest.mark.parametrize("weights", ["1,0.5,0,0,0", "1,1,1,1,1,1,1", "1,2,0,0,0,0", "-0.1,0,0,0,0,0", "nan,0,0,0,0,0"])
def test_weights_are_six_numbers_between_0_and_1(weights: str) -> None:
    with pytest.raises(AnaphoraError, match=r"six numbers from 0 to 1, one per case, such as 1,0\.5,0,0,0,0"):
        Weighting(parse_weights(weights))


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(AnaphoraError, match="not weights: '1,x,0,0,0,0'"):
        parse_weights("1,x,0,0,0,0")
    with pytest.raises(AnaphoraError, match="not cases: 'five'"):
        parse_cases("five")


def test_cases_to_discard() -> None:
    assert parse_cases("6, 5") == (6, 5)
    assert parse_cases("") == ()
    assert Weighting(discarded=(6, 5, 6)).discarded == (5, 6)
    with pytest.raises(AnaphoraError, match=r"cannot discard 0,7: no case 0\. The cases are 1 to 6"):
        Weighting(discarded=(0, 7))
    with pytest.raises(AnaphoraError, match="nothing would be left"):
        Weighting(discarded=(1, 2, 3, 4, 5, 6))


def test_cases_are_counted_from_the_first_to_the_sixth() -> None:
    assert count_cases([1, 3, 1, 6, 4, 1]) == (3, 0, 1, 1, 0, 1)


# The files of an evaluation are in step, and every mistake names its file and line.

TEXTS = {
    "s": "it sleeps\n\nthey sleep\n",
    "r": "il dort\n\nils dorment\n",
    "t": "elle dort\n\nelles dorment\n",
    "ra": "0-0 1-1\n\n0-0 1-1\n",
    "ta": "0-0 1-1\n\n1-1\n",
    "tags": "PRON VERB\n\nPRON VERB\n",
}


@pytest.fixture
def files(tmp_path: Path) -> Callable[..., Files]:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def make(**other: Any) -> Files:
        given = {"reference_alignment": "ra", "hypothesis_alignments": ("ta",), **other}
        paths = {
            key: tuple(tmp_path / v for v in value) if isinstance(value, tuple) and key != "names" else value
            for key, value in given.items()
        }
        paths = {key: tmp_path / value if isinstance(value, str) else value for key, value in paths.items()}
        return Files(tmp_path / "s", tmp_path / "r", paths.pop("hypotheses", (tmp_path / "t",)), **paths)

    return make


def test_a_task_is_read(files: Callable[..., Files], tmp_path: Path) -> None:
    task = read_task(files(), str.split, FRENCH, pronouns=("it",))
    assert task.source == [["it", "sleeps"], [], ["they", "sleep"]]
    assert task.reference.alignments == [((0, 0), (1, 1)), (), ((0, 0), (1, 1))]
    assert [system.name for system in task.systems] == [str(tmp_path / "t")]
    assert task.systems[0].alignments[2] == ((1, 1),)
    assert task.pronouns == ("it",)
    assert task.source_tags is None
    assert task.aligned_by == "given"


def test_tags_belong_to_words(files: Callable[..., Files], tmp_path: Path) -> None:
    tagged = files(source_tags="tags", reference_tags="tags", hypothesis_tags=("tags",))
    task = read_task(tagged, str.split, FRENCH)
    assert task.source_tags == task.reference.tags == task.systems[0].tags == [["PRON", "VERB"], [], ["PRON", "VERB"]]
    (tmp_path / "tags").write_text("PRON VERB\n\nPRON\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"tags: line 3: 1 tags for 2 words"):
        read_task(tagged, str.split, FRENCH)


def test_gzip_and_empty_lines_too_many_at_the_end(files: Callable[..., Files], tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(gzip.compress(TEXTS["t"].encode() + b"\n\n"))
    assert len(read_task(files(), str.split, FRENCH).systems[0].sentences) == 3


@pytest.mark.parametrize("name", ["r", "t", "ra", "ta"])
def test_files_of_different_lengths_are_refused(files: Callable[..., Files], tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("a") as out:
        out.write("0-0\n")
    with pytest.raises(BadInput, match=rf"{name}: 4 lines, but .*s has 3"):
        read_task(files(), str.split, FRENCH)


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("ra", "0-0 1-2", "line 1: point 1-2 is outside the sentences of 2 and 2 words"),
        ("ta", "2-0", "line 1: point 2-0 is outside the sentences of 2 and 2 words"),
        ("ta", "0:0", "line 1: not an alignment point: '0:0'"),
    ],
)
def test_points_outside_the_sentences_are_refused(
    files: Callable[..., Files], tmp_path: Path, name: str, line: str, problem: str
) -> None:
    (tmp_path / name).write_text(f"{line}\n\n\n", encoding="utf-8")
    with pytest.raises(BadInput, match=f"{name}: {problem}"):
        read_task(files(), str.split, FRENCH)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"hypotheses": ()}, "no translation to evaluate"),
        ({"hypothesis_alignments": ("ta", "ta")}, r"\(--translation-alignments\).*1 translations, but 2 given"),
        ({"names": ("a", "b")}, r"one name \(--name\).*1 translations, but 2 given"),
        ({"reference_tags": "tags"}, "tags must be given for the reference and every translation"),
        ({"hypothesis_tags": ("tags",)}, "tags must be given for the reference and every translation"),
        ({"hypotheses": ("t", "t"), "hypothesis_alignments": ("ta", "ta")}, "two translations have the same name"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    files: Callable[..., Files], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(AnaphoraError, match=message):
        files(**given)


def test_systems_can_be_named(files: Callable[..., Files]) -> None:
    twice = files(hypotheses=("t", "t"), hypothesis_alignments=("ta", "ta"), names=("one", "two"))
    assert [system.name for system in read_task(twice, str.split, FRENCH).systems] == ["one", "two"]


# ------------------------------------------------------------------------------------- alignments that no file gives


@pytest.fixture
def aligned(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The aligner, replaced by one that links words of the same place and notes what it was given."""
    calls: list[dict[str, Any]] = []

    def diagonal(one: list[list[str]], other: list[list[str]]) -> list[Any]:
        return [tuple((k, k) for k in range(min(len(a), len(b)))) for a, b in zip(one, other, strict=True)]

    def align_systems(source: Any, reference: Any, systems: Any, **options: Any) -> Any:
        calls.append({"systems": list(systems), **options})
        actual = {name: diagonal(source, text) for name, text in systems.items()}
        return anaphora.align.SystemAlignments(diagonal(source, reference), actual)

    class FakeAligner:
        def __init__(self, settings: anaphora.align.Settings) -> None:
            self.name = f"{settings.backend}-hmm-grow-diag-final"

    monkeypatch.setattr("anaphora.metrics.apt.task.align_systems", align_systems)
    monkeypatch.setattr("anaphora.evaluation.generative.Aligner", FakeAligner)
    return calls


def test_texts_without_alignments_are_aligned(files: Callable[..., Files], aligned: list[dict[str, Any]]) -> None:
    task = read_task(files(reference_alignment=None, hypothesis_alignments=(), names=("reference",)), str.split, FRENCH)
    assert task.reference.alignments == task.systems[0].alignments == [((0, 0), (1, 1)), (), ((0, 0), (1, 1))]
    assert task.aligned_by == "thot-hmm-grow-diag-final"
    assert len(aligned[0]["systems"]) == 1
    assert aligned[0]["settings"].backend == "thot"


def test_only_what_is_missing_is_aligned(files: Callable[..., Files], aligned: list[dict[str, Any]]) -> None:
    """The paper: the candidate's alignment may come from the translation system, the reference's cannot."""
    task = read_task(files(reference_alignment=None), str.split, FRENCH)
    assert task.systems[0].alignments[2] == ((1, 1),)
    assert (task.aligned_by, aligned[0]["systems"]) == ("given+thot-hmm-grow-diag-final", [])
    assert aligned[0]["given"] is None


def test_a_reference_that_is_aligned_is_not_aligned_again(
    files: Callable[..., Files], aligned: list[dict[str, Any]]
) -> None:
    task = read_task(files(hypothesis_alignments=()), str.split, FRENCH)
    assert aligned[0]["given"] == [((0, 0), (1, 1)), (), ((0, 0), (1, 1))]
    assert task.reference.alignments == [((0, 0), (1, 1)), (), ((0, 0), (1, 1))]


def test_a_corpus_goes_with_the_texts(
    files: Callable[..., Files], aligned: list[dict[str, Any]], tmp_path: Path
) -> None:
    (tmp_path / "ta").write_text("0-0\n\n\n", encoding="utf-8")
    corpora = [(tmp_path / "s", tmp_path / "r")]
    aligner = anaphora.align.Settings("builtin")
    task = read_task(files(reference_alignment=None), str.split, FRENCH, aligner=aligner, corpora=corpora)
    corpus = [(["it", "sleeps"], ["il", "dort"]), ([], []), (["they", "sleep"], ["ils", "dorment"])]
    assert aligned[0]["corpus"] == corpus
    assert task.aligned_by.startswith("given+builtin-hmm-grow-diag-final+3@")
