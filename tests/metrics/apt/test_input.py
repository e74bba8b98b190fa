"""The files of an evaluation are in step, and every mistake names its file and line."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.metrics.apt.input import Aligning, Files, read_task

FRENCH = pronoun_lists("en-fr")
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
        ({"hypothesis_alignments": ("ta", "ta")}, r"alignment file \(--hyp-align\).*1 translations, but 2 given"),
        ({"names": ("a", "b")}, r"one name \(--name\).*1 translations, but 2 given"),
        ({"reference_tags": "tags"}, "tags are needed for the reference .* and every translation"),
        ({"hypothesis_tags": ("tags",)}, "tags are needed for the reference .* and every translation"),
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
    import anaphora.align

    calls: list[dict[str, Any]] = []

    def diagonal(one: list[list[str]], other: list[list[str]]) -> list[Any]:
        return [tuple((k, k) for k in range(min(len(a), len(b)))) for a, b in zip(one, other, strict=True)]

    def align_systems(source: Any, reference: Any, systems: Any, **options: Any) -> Any:
        calls.append({"systems": list(systems), **options})
        found = {name: diagonal(source, text) for name, text in systems.items()}
        return anaphora.align.SystemAlignments(diagonal(source, reference), found)

    class FakeAligner:
        def __init__(self, settings: anaphora.align.Settings) -> None:
            self.name = f"{settings.backend}-hmm-grow-diag-final"

    monkeypatch.setattr(anaphora.align, "align_systems", align_systems)
    monkeypatch.setattr(anaphora.align, "Aligner", FakeAligner)
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
    aligning = Aligning("systran", None, ((tmp_path / "s", tmp_path / "r"),))
    (tmp_path / "ta").write_text("0-0\n\n\n", encoding="utf-8")
    task = read_task(files(reference_alignment=None), str.split, FRENCH, aligning=aligning)
    corpus = [(["it", "sleeps"], ["il", "dort"]), ([], []), (["they", "sleep"], ["ils", "dorment"])]
    assert aligned[0]["corpus"] == corpus
    assert task.aligned_by.startswith("given+systran-hmm-grow-diag-final+3@")
