"""sil-thot: every model finds the links of a language pair that is known, and the same ones every time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")

from anaphora.align import Settings, align
from anaphora.align.alignment import HEURISTICS, agreement, read_alignments, symmetrize
from anaphora.align.backend import Directions, load_backend
from anaphora.align.thot import SCHEDULES, Thot, thot
from anaphora.core.files import text_lines
from anaphora.core.openmp import openmp_threads

from .conftest import Toy, toy_text

MODELS = sorted(SCHEDULES)


@pytest.fixture(scope="session")
def few() -> Toy:
    return toy_text(12)


def backend(model: str, **settings: object) -> Thot:
    made = load_backend(Settings(model=model, **settings))  # type: ignore[arg-type]
    assert isinstance(made, Thot)
    return made


@pytest.mark.parametrize("model", MODELS)
def test_every_model_finds_most_links(toy: Toy, model: str) -> None:
    alignments = align(toy.source, toy.target, settings=Settings(model=model, symmetrize="intersection"))
    figures = agreement(alignments, toy.truth)
    assert figures.precision is not None
    assert figures.precision > 0.85
    assert figures.recall is not None
    assert figures.recall > 0.85


@pytest.mark.parametrize("model", MODELS)
def test_the_same_links_every_time_with_any_number_of_threads(few: Toy, model: str) -> None:
    pairs = list(zip(few.source, few.target, strict=True))
    first = backend(model, threads=1).train((), pairs)
    assert backend(model).train((), pairs) == first
    assert backend(model, threads=3).train((), pairs) == first or model == "fast_align"


def test_what_may_differ_says_so() -> None:
    assert all(backend(model).reproducible for model in MODELS)
    assert not backend("fast_align", threads=2).reproducible
    assert backend("eflomal", threads=2).reproducible


def test_the_seed_is_that_of_the_sampling() -> None:
    """Four sentences of words that are all alike: which links are sampled is chance."""
    pairs = [([f"a{n}", f"b{n}", f"c{n}"], [f"x{n}", f"y{n}", f"z{n}"]) for n in range(4)]
    actual = [backend("eflomal", seed=seed).train((), pairs) for seed in (1, 1, 2, 3)]
    assert actual[0] == actual[1]
    assert any(other != actual[0] for other in actual[2:])


def test_directions_are_what_they_are_called() -> None:
    """One source word that is translated by two: forward can link both to it, backward only one of them."""
    pairs = [(["no", w], ["ne", w.upper(), "pas"]) for w in "abcdefgh"] + [([w], [w.upper()]) for w in "abcdefgh"]
    for forward, backward in backend("ibm1").train((), pairs)[:8]:
        assert {(0, 0), (1, 1), (0, 2)} == set(forward)
        assert len({s for s, _ in backward}) == len(backward) == 2


def test_the_corpus_is_learned_from_and_only_pairs_are_aligned(few: Toy) -> None:
    pairs = list(zip(few.source, few.target, strict=True))
    for model in ("ibm1", "eflomal"):
        whole = backend(model).train((), pairs)
        assert backend(model).train(pairs[:-3], pairs[-3:]) == whole[-3:]
    assert backend("ibm1").train((), pairs[-3:]) != backend("ibm1").train(pairs[:-3], pairs[-3:])


@pytest.mark.parametrize("model", MODELS)
def test_a_saved_model_aligns_as_the_trained_one(few: Toy, model: str, tmp_path: Path) -> None:
    trained = backend(model)
    trained.train((), list(zip(few.source, few.target, strict=True)))
    trained.save(tmp_path)
    loaded = backend(model)
    loaded.load(tmp_path)
    new = [(["s1", "s5", "s7"], ["t5", "t1", "t7"]), (["s2", "unheard-of"], ["unerhört", "t2"])]
    assert loaded.align(new) == trained.align(new)
    assert loaded.align(new[1:]) == trained.align(new)[1:]  # whatever the others are
    if model != "eflomal":  # eflomal's links for its own corpus are a sample of their own
        pairs = list(zip(few.source, few.target, strict=True))
        assert loaded.align(pairs) == backend(model).train((), pairs)


def test_a_saved_model_does_not_hold_the_corpus(toy: Toy, tmp_path: Path) -> None:
    trained = backend("ibm1")
    trained.train((), list(zip(toy.source, toy.target, strict=True)))
    trained.save(tmp_path)
    sentence = " ".join(toy.source[0]).encode()
    assert list(tmp_path.iterdir())
    assert all(sentence not in path.read_bytes() for path in tmp_path.iterdir())


def test_the_word_null_is_a_word_like_others() -> None:
    """To the library it is the empty word, to which words without a link belong."""

    def learned(word: str) -> list[Directions]:
        pairs = [([word, w], [w.upper(), "zero"]) for w in "abcdefgh"] + [([w], [w.upper()]) for w in "abcdefgh"]
        return backend("ibm1").train((), [*pairs, *((target, source) for source, target in pairs)])

    assert learned("NULL") == learned("x")
    assert (0, 1) in learned("NULL")[0][0]


def test_progress_counts_the_iterations_of_both_directions(few: Toy) -> None:
    for model, steps in (("ibm4", 32), ("fast_align", 10)):
        seen: list[tuple[int, int]] = []
        align(few.source, few.target, settings=Settings(model=model), progress=lambda *at, seen=seen: seen.append(at))
        assert seen == [(n, steps) for n in range(1, steps + 1)]
    seen = []
    align(few.source, few.target, progress=lambda *at: seen.append(at))
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert {total for _, total in seen} == {len(seen)}


def test_a_sentence_too_long_for_a_model_has_no_links() -> None:
    """The HMM stops at 200 words. The others are aligned as if it were not there."""
    long = [[f"w{n}" for n in range(201)]]
    short = [["a", "b"], ["a"], ["b"]]
    alignments = align(short + long, short + long, settings=Settings(model="hmm"))
    assert alignments[3] == ()
    assert alignments[1:3] == [((0, 0),), ((0, 0),)]


def test_ted_talks_against_the_alignments_that_came_with_them(data: Callable[[str], Path]) -> None:
    """2,000 lines of Spanish and English. The given links are a program's, too, from a larger corpus."""
    folder = data("han-apt") / "TED_es-en"
    es, en = (list(text_lines(folder / f"IWSLT14.TED.tst.tc.{name}.gz"))[:2_000] for name in ("es", "en"))
    given = list(read_alignments(folder / "IWSLT14.TED.tst.tc.align.gz"))[:2_000]
    trained = backend("fast_align").train((), [(one.split(), other.split()) for one, other in zip(es, en, strict=True)])
    figures = {name: agreement([symmetrize(*both, name) for both in trained], given) for name in HEURISTICS}
    f = {name: figure.f or 0.0 for name, figure in figures.items()}
    assert 0.65 < f["grow-diag-final"] < f["grow-diag-final-and"] < 0.95
    assert (figures["intersection"].precision or 0) > 0.85
    assert (figures["union"].recall or 0) > (figures["grow-diag-final"].recall or 0) > 0.7


def test_the_number_of_threads_is_set_and_set_back() -> None:
    library = ctypes.CDLL(thot.__file__)
    before = library.omp_get_max_threads()
    with openmp_threads(thot, before + 2):
        assert library.omp_get_max_threads() == before + 2
    assert library.omp_get_max_threads() == before
    with pytest.raises(ZeroDivisionError), openmp_threads(thot, before + 2):
        1 / 0  # noqa: B018
    assert library.omp_get_max_threads() == before
    with openmp_threads(thot, None):
        assert library.omp_get_max_threads() == before
