"""The eflomal program, where it is installed: both directions, and priors as its saved model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

eflomal = pytest.importorskip("eflomal", reason="eflomal is not installed")

from anaphora.align import Aligner, Settings
from anaphora.align.agreement import agreement
from anaphora.align.backend import load_backend
from anaphora.errors import AnaphoraError

from .conftest import Toy

SETTINGS = Settings(backend="eflomal", model="hmm")


def test_it_finds_most_links(toy: Toy) -> None:
    found = Aligner(Settings(backend="eflomal", symmetrize="intersection")).train(toy.source, toy.target)
    figures = agreement(found, toy.truth)
    assert (figures.f or 0) > 0.85


def test_a_saved_model_is_applied_to_new_sentences(toy: Toy, tmp_path: Path) -> None:
    """Its priors carry over what was learned: of four new words nothing could be known by themselves."""
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    aligner.save(tmp_path / "model")
    loaded = Aligner.load(tmp_path / "model")
    for one in (aligner, loaded):
        (found,) = one.align([["s1", "s2", "s3", "s4"]], [["t4", "T3", "t2", "t1"]])
        assert {(0, 3), (1, 2), (2, 1), (3, 0)} <= set(found)
    assert loaded.align([[]], [["t1"]]) == [()]


def test_the_corpus_is_learned_from_and_only_pairs_are_aligned(toy: Toy) -> None:
    pairs = list(zip(toy.source, toy.target, strict=True))
    found = load_backend(SETTINGS).train(pairs, [(["s1", "s2"], ["t2", "t1"])])
    assert len(found) == 1
    assert {(0, 1), (1, 0)} == set(found[0][0])


def test_it_says_that_it_is_not_reproducible() -> None:
    assert not load_backend(SETTINGS).reproducible


def test_a_failure_of_the_program_is_one_line(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(-11, ["eflomal"])

    monkeypatch.setattr(eflomal.Aligner, "align", fail)
    with pytest.raises(AnaphoraError, match="eflomal failed: .*SIGSEGV"):
        Aligner(SETTINGS).train(toy.source, toy.target)
