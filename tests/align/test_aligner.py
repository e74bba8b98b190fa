"""Sentences are aligned inside a larger corpus; each system for itself, whatever the others are."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.align import Aligner, Settings, align, align_systems
from anaphora.align.aligner import HEADER, align_files, open_model
from anaphora.align.alignment import Alignment, format_alignment, read_alignments
from anaphora.align.backend import Pair
from anaphora.core.errors import (
    AnaphoraError,
    BadInput,
)

from .conftest import Toy, toy_text

pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")


QUICK = Settings(model="fast_align")


def turned_round(text: Sequence[Sequence[str]]) -> list[list[str]]:
    return [list(reversed(sentence)) for sentence in text]


def test_sentences_are_aligned_better_inside_a_larger_corpus(toy: Toy) -> None:
    source, target, truth = [["s1", "s2", "s3"]], [["t3", "t2", "t1"]], {(0, 2), (1, 1), (2, 0)}
    (alone,) = align(source, target, settings=QUICK)
    (inside,) = align(source, target, corpus=list(zip(toy.source, toy.target, strict=True)), settings=QUICK)
    assert set(inside) == truth
    assert set(alone) != truth  # nothing but the order of words is known


def test_a_pair_with_an_empty_side_is_not_learned_from(toy: Toy) -> None:
    source, target = [[], *toy.source[:20], ["s1"], *toy.source[20:]], [["t1"], *toy.target[:20], [], *toy.target[20:]]
    aligner = Aligner(QUICK)
    trained = aligner.train(source, target, corpus=[([], ["t2"]), ([], [])])
    assert (trained[0], trained[21]) == ((), ())
    assert [*trained[1:21], *trained[22:]] == align(toy.source, toy.target, settings=QUICK)
    assert aligner.trained_on == len(toy.source)
    assert aligner.align(source[:3], target[:3]) == trained[:3]


def test_case_is_ignored_by_default(toy: Toy) -> None:
    """Words that were only seen in small letters are known in capitals, or are not."""
    known = {}
    for lowercase in (True, False):
        aligner = Aligner(Settings(model="fast_align", lowercase=lowercase))
        aligner.train(toy.source, toy.target)
        (alignments,) = aligner.align([["S1", "s2", "S3"]], [["T3", "t2", "T1"]])
        known[lowercase] = set(alignments) == {(0, 2), (1, 1), (2, 0)}
    assert known == {True: True, False: False}


def test_the_symmetrization_is_applied() -> None:
    """A word that is translated by two: only one direction can have both links."""
    source = [["no", w] for w in "abcdefgh"] + [[w] for w in "abcdefgh"]
    target = [["ne", w.upper(), "pas"] for w in "abcdefgh"] + [[w.upper()] for w in "abcdefgh"]
    actual = {
        name: set(align(source, target, settings=Settings(model="ibm1", symmetrize=name))[0])
        for name in ("intersection", "grow-diag-final-and", "union", "forward", "backward")
    }
    assert actual["union"] == actual["forward"] == {(0, 0), (0, 2), (1, 1)}
    assert actual["intersection"] == actual["backward"]
    assert len(actual["backward"]) == 2
    assert actual["grow-diag-final-and"] == actual["union"]  # next to 1-1 there is a word without a link


def test_a_system_is_aligned_the_same_whatever_the_others_are(toy: Toy) -> None:
    reference = toy.target
    systems = {"same": toy.target, "turned": turned_round(toy.target), "other": toy_text(40, seed=3).target}

    def aligned_systems(*names: str) -> dict[str, list[Alignment]]:
        chosen = {name: systems[name] for name in names}
        return align_systems(toy.source, reference, chosen, settings=QUICK).systems

    together = aligned_systems("same", "turned", "other")
    assert list(together) == ["same", "turned", "other"]
    assert aligned_systems("other", "turned", "same") == together
    assert aligned_systems("turned") == {"turned": together["turned"]}
    alone = align_systems(toy.source, reference, {}, settings=QUICK).reference
    assert align_systems(toy.source, reference, systems, settings=QUICK).reference == alone


def test_a_system_is_aligned_inside_corpus_and_reference() -> None:
    toy, more = toy_text(3), toy_text(6, seed=2)
    system = turned_round(toy.target)
    corpus, scored = (list(zip(text.source, text.target, strict=True)) for text in (more, toy))

    def aligned_systems(corpus: Sequence[Pair]) -> list[Alignment]:
        return align_systems(toy.source, toy.target, {"x": system}, corpus=corpus, settings=QUICK).systems["x"]

    assert aligned_systems(corpus) == align(toy.source, system, corpus=[*corpus, *scored], settings=QUICK)
    assert aligned_systems([]) == align(toy.source, system, corpus=scored, settings=QUICK)
    assert aligned_systems([]) != align(toy.source, system, settings=QUICK)
    assert aligned_systems(corpus) != aligned_systems([])


def test_a_trained_aligner_is_applied_to_all_systems(toy: Toy) -> None:
    trained = Aligner(QUICK)
    trained.train(toy.source, toy.target)
    new = toy_text(5, seed=4)
    alignments = align_systems(new.source, new.target, {"x": turned_round(new.target)}, aligner=trained)
    assert alignments.reference == trained.align(new.source, new.target)
    assert alignments.systems["x"] == trained.align(new.source, turned_round(new.target))
    assert trained.trained_on == len(toy.source)


def test_progress_runs_over_all_systems_once(toy: Toy) -> None:
    seen: list[tuple[int, int]] = []
    align_systems(
        toy.source,
        toy.target,
        {"a": toy.target, "b": toy.target},
        settings=QUICK,
        progress=lambda *at: seen.append(at),
    )
    assert seen == [(n, 30) for n in range(1, 31)]  # three trainings of two directions of five iterations


def test_a_reference_that_is_aligned_is_not_aligned_again(toy: Toy) -> None:
    seen: list[tuple[int, int]] = []
    whole = align_systems(toy.source, toy.target, {"a": turned_round(toy.target)}, settings=QUICK)
    part = align_systems(
        toy.source,
        toy.target,
        {"a": turned_round(toy.target)},
        settings=QUICK,
        given=whole.reference,
        progress=lambda *at: seen.append(at),
    )
    assert part.reference == whole.reference
    assert part.systems == whole.systems
    assert seen == [(n, 10) for n in range(1, 11)]


def test_what_cannot_be_aligned() -> None:
    with pytest.raises(AnaphoraError, match="2 source sentences, but 1 target sentences"):
        align([["a"], ["b"]], [["c"]])
    with pytest.raises(AnaphoraError, match="no training data: every sentence pair has an empty side"):
        align([["a"], []], [[], ["b"]])
    with pytest.raises(AnaphoraError, match="the aligner is not trained"):
        Aligner(QUICK).align([["a"]], [["b"]])
    for word in ("", "b c", "b\tc", "b\u00a0c"):
        with pytest.raises(AnaphoraError, match=r"^sentence 2: a word is empty or has a blank in it"):
            align([["a"], ["a", word]], [["x"], ["y"]], settings=QUICK)
    with pytest.raises(AnaphoraError, match=r"^sentence 1: a word"):
        align([["a b", ""]], [["x"]], settings=QUICK)  # as many words as there should be, but others
    with pytest.raises(AnaphoraError, match=r"^corpus sentence 1: a word"):
        align([["a"]], [["x"]], corpus=[(["a"], ["x y"])], settings=QUICK)


def test_sentences_that_would_fill_the_memory_are_refused() -> None:
    """3,000 words on each side took 500 MB, and 10,000 words would take 5 GB."""
    long = ["a"] * 2001
    with pytest.raises(AnaphoraError, match=r"^sentence 2: 2,001 and 2,001 words, too many to align\. Write one"):
        align([["a"], long], [["b"], long])


@pytest.mark.parametrize("backend", ["builtin", "thot"])
def test_sentences_equal_to_the_reference_have_its_links(backend: str) -> None:
    """Otherwise APT finds differences between a reference and its copy: the text is learned from twice as often."""
    drawn = random.Random(1)
    source, target = (
        [[f"{side}{drawn.randrange(15)}" for _ in range(drawn.randrange(2, 8))] for _ in range(12)] for side in "st"
    )
    shouted = [[word.upper() for word in words] for words in target]
    mixed = [*target[:6], *turned_round(target)[6:]]
    settings = Settings(backend=backend, model="fast_align")
    alignments = align_systems(source, target, {"copy": target, "case": shouted, "mixed": mixed}, settings=settings)
    assert alignments.systems["copy"] == alignments.systems["case"] == alignments.reference
    assert alignments.systems["mixed"][:6] == alignments.reference[:6]
    assert alignments.systems["mixed"] != alignments.reference
    given = [((0, 0),) for _ in source]
    known = align_systems(source, target, {"copy": target}, settings=settings, given=given)
    assert known.reference == known.systems["copy"] == given


# A saved model is whole, of this format, of its backend and of the library that reads it, or it is refused.

SETTINGS = Settings(
    model="ibm1", symmetrize="union", lowercase=False, seed=7, tokenize="moses", languages=("en", "fr"), threads=1
)


@pytest.fixture(scope="session")
def saved(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    folder = tmp_path_factory.mktemp("saved") / "model"
    aligner.save(folder)
    return folder


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def change(model: Path) -> Callable[..., None]:
    def write(**changes: Any) -> None:
        header = json.loads((model / HEADER).read_text())
        (model / HEADER).write_text(json.dumps({k: v for k, v in (header | changes).items() if v is not None}))

    return write


def test_the_header_says_how_it_was_made(model: Path) -> None:
    header = json.loads((model / HEADER).read_text())
    files = header.pop("files")
    assert set(files) == {path.name for path in model.iterdir()} - {HEADER}
    library = header.pop("library")
    assert library.startswith("sil-thot 3.")
    assert header == {
        "anaphora-alignment-model": 1,
        "backend": "thot",
        "model": "ibm1",
        "symmetrize": "union",
        "lowercase": False,
        "seed": 7,
        "tokenize": "moses",
        "normalize": True,
        "languages": ["en", "fr"],
        "trained_on": 40,
    }


def test_settings_come_back(model: Path) -> None:
    loaded = Aligner.load(model)
    assert loaded.settings == Settings(
        model="ibm1", symmetrize="union", lowercase=False, seed=7, tokenize="moses", languages=("en", "fr")
    )
    assert loaded.trained_on == 40
    assert Aligner.load(model, symmetrize="intersection").symmetrize == "intersection"


def test_the_same_training_gives_the_same_bytes(toy: Toy, model: Path, tmp_path: Path) -> None:
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    aligner.save(tmp_path / "again")
    for path in model.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_model_is_replaced_and_other_folders_are_not(model: Path, tmp_path: Path) -> None:
    loaded = Aligner.load(model)
    (model / "left-over").write_text("from an older one")
    loaded.save(model)
    assert not (model / "left-over").exists()
    Aligner.load(model)
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter").write_text("one")
    with pytest.raises(BadInput, match="thesis: already exists and is not a saved alignment model"):
        loaded.save(other)
    assert (other / "chapter").read_text() == "one"
    with pytest.raises(BadInput, match="cannot be written: "):
        loaded.save(other / "chapter" / "model")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failure_leaves_nothing_behind(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Aligner.load(model)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(loaded.backend, "save", fail)
    with pytest.raises(BadInput, match="new: cannot be written: no space left on device"):
        loaded.save(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_damaged_files_are_found_out_before_the_library_sees_them(model: Path) -> None:
    table = model / "forward.ibm_lexnd"
    content = table.read_bytes()
    table.write_bytes(content[:-1])
    with pytest.raises(BadInput, match=r"forward\.ibm_lexnd: the file is damaged: .* Train and save it again"):
        Aligner.load(model)
    table.unlink()
    with pytest.raises(BadInput, match=r"model: the file 'forward\.ibm_lexnd' of the model is missing"):
        Aligner.load(model)


def test_a_header_that_names_files_elsewhere(model: Path, change: Callable[..., None]) -> None:
    (model.parent / "secret").write_bytes(b"x")
    change(files={"../secret": hashlib.sha256(b"x").hexdigest()})
    with pytest.raises(BadInput, match=r"the file '\.\./secret' of the model is missing"):
        Aligner.load(model)


@pytest.mark.parametrize("name", ["backend", "model", "library", "symmetrize", "lowercase", "seed", "trained_on"])
def test_a_header_that_lacks_something(model: Path, change: Callable[..., None], name: str) -> None:
    change(**{name: None})
    with pytest.raises(BadInput, match=rf"alignment-model\.json: '{name}' is missing or invalid"):
        Aligner.load(model)


def test_a_header_of_another_kind(model: Path, change: Callable[..., None]) -> None:
    change(**{"anaphora-alignment-model": 2})
    with pytest.raises(BadInput, match="version 2 of saved models, but this program reads 1"):
        Aligner.load(model)
    (model / HEADER).write_text("[1, 2]")
    with pytest.raises(BadInput, match="version None of saved models"):
        Aligner.load(model)
    (model / HEADER).write_text('{"anaphora-')
    with pytest.raises(BadInput, match=r"alignment-model\.json: line 1: not JSON"):
        Aligner.load(model)


def test_a_model_of_another_backend_or_release(model: Path, change: Callable[..., None]) -> None:
    with pytest.raises(BadInput, match=r"a model of backend 'thot', not 'builtin'\. Apply it with --aligner thot"):
        Aligner.load(model, backend="builtin")
    change(library="sil-thot 3.1.9")
    with pytest.raises(BadInput, match=r"trained by sil-thot 3\.1\.9, but sil-thot .* install sil-thot==3\.1\.9"):
        Aligner.load(model)
    change(library=Aligner(SETTINGS).backend.version() + ".1")  # a later patch of the same release
    Aligner.load(model)
    change(backend="giza")
    with pytest.raises(AnaphoraError, match="unknown alignment backend 'giza'"):
        Aligner.load(model)


def test_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere: no such folder\. Create one with: anaphora align … --save FOLDER"):
        open_model(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no saved alignment model"):
        open_model(tmp_path)


# Two files in, one file of alignments out, with what is to be known of it


pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")


@pytest.fixture
def texts(toy: Toy, tmp_path: Path) -> tuple[Path, Path]:
    source, target = tmp_path / "text.s", tmp_path / "text.t.gz"
    source.write_text("".join(f"{' '.join(words)}\n" for words in toy.source))
    target.write_bytes(gzip.compress("".join(f"{' '.join(words)}\n" for words in toy.target).encode()))
    return source, target


def test_a_line_for_each_pair(toy: Toy, texts: tuple[Path, Path], tmp_path: Path) -> None:
    aligned = align_files(Aligner(QUICK), *texts, tmp_path / "out")
    expected = align(toy.source, toy.target, settings=QUICK)
    assert list(read_alignments(tmp_path / "out")) == expected
    assert (aligned.pairs, aligned.points) == (40, sum(map(len, expected)))
    assert aligned.agreement is None


def test_lines_without_links_are_counted(texts: tuple[Path, Path], tmp_path: Path) -> None:
    long = " ".join(f"w{n}" for n in range(201))  # more than the HMM takes
    for path, more in zip(texts, ("\ns1\n", "t1\n \n"), strict=True):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        path.write_text(f"{text}{more}{long}\n")
    aligned = align_files(Aligner(Settings(model="hmm")), *texts, tmp_path / "out")
    assert (aligned.pairs, aligned.empty, aligned.unaligned) == (43, 2, 1)
    assert (tmp_path / "out").read_text().splitlines()[40:] == ["", "", ""]


def test_a_corpus_is_learned_from(texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "s").write_text("s1 s2 s3\n")
    (tmp_path / "t").write_text("t3 t2 t1\n")
    aligned = align_files(Aligner(QUICK), tmp_path / "s", tmp_path / "t", tmp_path / "out", corpora=[texts, texts])
    assert (tmp_path / "out").read_text() == "0-2 1-1 2-0\n"
    assert aligned.aligner.trained_on == 81


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
    aligned = align_files(Aligner(QUICK), *texts, tmp_path / "out", gold=gold)
    assert aligned.agreement is not None
    assert aligned.agreement.given == sum(map(len, toy.truth))
    assert (aligned.agreement.f or 0) > 0.85
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
