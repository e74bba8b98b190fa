"""systran-align, where it is installed: one symmetrisation, the same links every time."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("systran_align", reason="systran-align is not installed")

from anaphora.align import Aligner, Settings
from anaphora.align.alignment import agreement
from anaphora.core.errors import AnaphoraError

from .conftest import Toy, toy_text

SETTINGS = Settings(backend="systran")


def test_it_finds_most_links_and_the_same_every_time(toy: Toy) -> None:
    found = [Aligner(SETTINGS).train(toy.source, toy.target) for _ in range(3)]
    assert (agreement(found[0], toy.truth).f or 0) > 0.85
    assert found[1] == found[2] == found[0]


def test_it_has_one_symmetrisation() -> None:
    assert Aligner(SETTINGS).symmetrize == "grow-diag-final-and"
    with pytest.raises(AnaphoraError, match=r"merges both directions itself, by grow-diag-final-and\. Choose that, or"):
        Aligner(Settings(backend="systran", symmetrize="union"))


def test_a_saved_model_is_applied_to_new_sentences(toy: Toy, tmp_path: Path) -> None:
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    aligner.save(tmp_path / "model")
    new = toy_text(9, seed=2)
    assert Aligner.load(tmp_path / "model").align(new.source, new.target) == aligner.align(new.source, new.target)


@pytest.mark.parametrize("word", ["|||", "<eps>"])
def test_words_that_mean_something_to_the_library_are_words_like_others(word: str) -> None:
    settings = Settings(backend="systran", lowercase=False)

    def found(one: str) -> list[tuple[tuple[int, int], ...]]:
        source = [[one, w] for w in "abcdefgh"] + [[one]] * 5
        return Aligner(settings).train(source, [[w.upper(), one] for w in "abcdefgh"] + [[one]] * 5)

    assert found(word) == found("x")
    assert found(word)[-1] == ((0, 0),)


def test_several_threads_are_not_reproducible_and_say_so() -> None:
    assert Aligner(SETTINGS).backend.threads == 1
    assert not Aligner(Settings(backend="systran", threads=2)).backend.reproducible
