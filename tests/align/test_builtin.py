"""The backend that needs nothing: it finds what fast_align finds, saves it and applies it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.align import Aligner, Settings, align
from anaphora.align.agreement import agreement
from anaphora.align.alignment import read_alignments
from anaphora.align.backend import load_backend
from anaphora.align.builtin import Builtin
from anaphora.align.symmetrize import symmetrize
from anaphora.errors import AnaphoraError
from anaphora.files import text_lines

from .conftest import Toy

BUILTIN = Settings("builtin", symmetrize="intersection")


def backend() -> Builtin:
    made = load_backend(BUILTIN)
    assert isinstance(made, Builtin)
    return made


def test_it_finds_most_links(toy: Toy) -> None:
    figures = agreement(align(toy.source, toy.target, settings=BUILTIN), toy.truth)
    assert figures.precision is not None
    assert figures.precision > 0.9
    assert figures.recall is not None
    assert figures.recall > 0.9


def test_the_same_every_time_and_when_saved(toy: Toy, tmp_path: Path) -> None:
    aligner = Aligner(BUILTIN)
    found = aligner.train(toy.source, toy.target)
    assert Aligner(BUILTIN).train(toy.source, toy.target) == found
    assert aligner.align(toy.source, toy.target) == found
    aligner.save(tmp_path / "model")
    assert Aligner.load(tmp_path / "model").align(toy.source, toy.target) == found
    unknown = [["s1", "never-seen", "s2"]], [["t1", "nie-gesehen", "t2"]]
    assert Aligner.load(tmp_path / "model").align(*unknown) == aligner.align(*unknown) == [((0, 0), (1, 1), (2, 2))]


def test_words_may_hold_any_sign(tmp_path: Path) -> None:
    """What ends a line elsewhere is a part of a word here."""
    text = [["a\u2028b", "c\x85"], ["c\x85"]]
    aligner = Aligner(BUILTIN)
    pairs = [(one, one) for one in text]
    backend_ = aligner.backend
    found = backend_.train((), pairs)
    backend_.save(tmp_path)
    other = backend()
    other.load(tmp_path)
    assert other.align(pairs) == found


def test_both_directions_are_two_models() -> None:
    """One word for two: forward links both to it, backward only one of them."""
    pairs = [(["dont"], ["do", "not"]), (["dont", "go"], ["do", "not", "walk"]), (["go"], ["walk"])] * 5
    forward, backward = backend().train((), pairs)[0]
    assert forward == ((0, 0), (0, 1))
    assert len(backward) == 1


def test_pairs_are_learned_from_inside_a_corpus(toy: Toy) -> None:
    pairs = list(zip(toy.source, toy.target, strict=True))
    assert backend().train(pairs[:30], pairs[30:]) == backend().train((), pairs)[30:]


def test_progress_is_told(toy: Toy) -> None:
    steps: list[tuple[int, int]] = []
    backend().train((), list(zip(toy.source, toy.target, strict=True)), lambda *step: steps.append(step))
    assert steps == [(k, 10) for k in range(1, 11)]


def test_another_model_is_an_error() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown model 'hmm' of backend 'builtin'"):
        load_backend(Settings("builtin", model="hmm"))


def test_ted_talks_as_well_as_other_fast_aligns(data: Callable[[str], Path]) -> None:
    """2,000 lines of Spanish and English, against links that another program found in a larger corpus."""
    folder = data("han-apt") / "TED_es-en"
    es, en = (list(text_lines(folder / f"IWSLT14.TED.tst.tc.{name}.gz"))[:2_000] for name in ("es", "en"))
    given = list(read_alignments(folder / "IWSLT14.TED.tst.tc.align.gz"))[:2_000]
    pairs = [(one.split(), other.split()) for one, other in zip(es, en, strict=True)]
    pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")
    f = {}
    for name in ("builtin", "thot"):
        found = load_backend(Settings(name, model="fast_align")).train((), pairs)
        f[name] = agreement([symmetrize(*both, "grow-diag-final-and") for both in found], given).f or 0.0
    assert f["builtin"] > 0.7
    assert f["builtin"] == pytest.approx(f["thot"], abs=0.01)
