"""Two files in, one file of alignments out, with what is to be known of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")

from anaphora.align import Aligner, Settings, align
from anaphora.align.alignment import format_alignment, read_alignments
from anaphora.align.files import align_files
from anaphora.core.errors import BadInput

from .conftest import Toy

QUICK = Settings(model="fast_align")


@pytest.fixture
def texts(toy: Toy, tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "text.s", tmp_path / "text.t.gz"
    source.write_text("".join(f"{' '.join(words)}\n" for words in toy.source))
    target.write_bytes(gzip.compress("".join(f"{' '.join(words)}\n" for words in toy.target).encode()))
    return source, target


def test_a_line_for_each_pair(toy: Toy, texts: tuple[Path, Path], tmp_path: Path) -> None:
    found = align_files(Aligner(QUICK), *texts, tmp_path / "out")
    expected = align(toy.source, toy.target, settings=QUICK)
    assert list(read_alignments(tmp_path / "out")) == expected
    assert (found.pairs, found.points) == (40, sum(map(len, expected)))
    assert found.agreement is None


def test_lines_without_links_are_counted(texts: tuple[Path, Path], tmp_path: Path) -> None:
    long = " ".join(f"w{n}" for n in range(201))  # more than the HMM takes
    for path, more in zip(texts, ("\ns1\n", "t1\n \n"), strict=True):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        path.write_text(f"{text}{more}{long}\n")
    found = align_files(Aligner(Settings(model="hmm")), *texts, tmp_path / "out")
    assert (found.pairs, found.empty, found.unaligned) == (43, 2, 1)
    assert (tmp_path / "out").read_text().splitlines()[40:] == ["", "", ""]


def test_a_corpus_is_learned_from(texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "s").write_text("s1 s2 s3\n")
    (tmp_path / "t").write_text("t3 t2 t1\n")
    found = align_files(Aligner(QUICK), tmp_path / "s", tmp_path / "t", tmp_path / "out", corpora=[texts, texts])
    assert (tmp_path / "out").read_text() == "0-2 1-1 2-0\n"
    assert found.aligner.trained_on == 81


def test_a_trained_aligner_is_applied(toy: Toy, texts: tuple[Path, Path], tmp_path: Path) -> None:
    aligner = Aligner(QUICK)
    aligner.train(toy.source, toy.target)
    (tmp_path / "s").write_text("s1 s2 s3\n")
    (tmp_path / "t").write_text("t3 t2 t1\n")
    align_files(aligner, tmp_path / "s", tmp_path / "t", tmp_path / "out")
    assert (tmp_path / "out").read_text() == "0-2 1-1 2-0\n"
    assert aligner.trained_on == 40


def test_words_are_written_as_they_were_counted(tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    (tmp_path / "s").write_text("It's here.\n\n")
    (tmp_path / "t").write_text("C'est là.\n\n")
    aligner = Aligner(Settings(model="ibm1", tokenize="moses", languages=("en", "fr")))
    tokens = tmp_path / "tok.en", tmp_path / "tok.fr"
    align_files(aligner, tmp_path / "s", tmp_path / "t", tmp_path / "out", tokens=tokens)
    assert [path.read_text() for path in tokens] == ["It 's here .\n\n", "C' est là .\n\n"]


def test_given_alignments_are_compared_with(toy: Toy, texts: tuple[Path, Path], tmp_path: Path) -> None:
    gold = tmp_path / "gold"
    gold.write_text("".join(f"{format_alignment(points)}\n" for points in toy.truth))
    found = align_files(Aligner(QUICK), *texts, tmp_path / "out", gold=gold)
    assert found.agreement is not None
    assert found.agreement.given == sum(map(len, toy.truth))
    assert (found.agreement.f or 0) > 0.85
    gold.write_text("0-0\n" * 39 + "0-9\n")
    with pytest.raises(BadInput, match="gold: line 40: point 0-9 is outside"):
        align_files(Aligner(QUICK), *texts, tmp_path / "other", gold=gold)
    gold.write_text("0-0\n")
    with pytest.raises(BadInput, match=r"gold: 1 lines, but .* has 40"):
        align_files(Aligner(QUICK), *texts, tmp_path / "other", gold=gold)
    assert not (tmp_path / "other").exists()


def test_files_of_different_lengths(texts: tuple[Path, Path], tmp_path: Path) -> None:
    texts[0].write_text("one line\n")
    with pytest.raises(BadInput, match=r"text\.t\.gz: 40 lines, but .*text\.s has 1"):
        align_files(Aligner(QUICK), *texts, tmp_path / "out")


def test_what_cannot_be_written_is_known_before_the_training(
    texts: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aligner = Aligner(QUICK)
    monkeypatch.setattr(aligner.backend, "train", lambda *_: pytest.fail("it was trained"))
    with pytest.raises(BadInput, match="cannot be written: a folder"):
        align_files(aligner, *texts, tmp_path)
