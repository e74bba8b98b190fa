"""The eflomal program, where it is installed: both directions, and priors as its saved model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

eflomal = pytest.importorskip("eflomal", reason="eflomal is not installed")

from anaphora.align import Aligner, Settings
from anaphora.align.alignment import agreement
from anaphora.align.backend import load_backend
from anaphora.core.errors import AnaphoraError

from .conftest import Toy

SETTINGS = Settings(backend="eflomal", model="hmm")
# two words each, which change places
CROSSED = [[f"s{n}", f"s{n + 1}"] for n in range(0, 12, 2)], [[f"T{n + 1}", f"t{n}"] for n in range(0, 12, 2)]
CROSSING = [((0, 1), (1, 0))] * 6


def test_it_finds_most_links(toy: Toy) -> None:
    found = Aligner(Settings(backend="eflomal", symmetrize="intersection")).train(toy.source, toy.target)
    figures = agreement(found, toy.truth)
    assert (figures.f or 0) > 0.85


def test_a_saved_model_is_applied_to_new_sentences(toy: Toy, tmp_path: Path) -> None:
    """Its priors carry over what was learned. By themselves these words would be linked in their order."""
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    aligner.save(tmp_path / "model")
    loaded = Aligner.load(tmp_path / "model")
    for one in (aligner, loaded):
        assert (agreement(one.align(*CROSSED), CROSSING).f or 0) > 0.8
    assert (agreement(Aligner(SETTINGS).train(*CROSSED), CROSSING).f or 0) < 0.2
    assert loaded.align([[]], [["t1"]]) == [()]


def test_the_corpus_is_learned_from_and_only_pairs_are_aligned(toy: Toy) -> None:
    corpus = list(zip(toy.source, toy.target, strict=True))
    found = load_backend(SETTINGS).train(corpus, list(zip(*CROSSED, strict=True)))
    assert len(found) == len(CROSSING)
    for direction in (0, 1):
        assert (agreement([both[direction] for both in found], CROSSING).f or 0) > 0.7


def test_it_says_that_it_is_not_reproducible() -> None:
    assert not load_backend(SETTINGS).reproducible


def test_a_failure_of_the_program_is_one_line(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(-11, ["eflomal"])

    monkeypatch.setattr(eflomal.Aligner, "align", fail)
    with pytest.raises(AnaphoraError, match=r"eflomal failed: .*SIGSEGV"):
        Aligner(SETTINGS).train(toy.source, toy.target)
