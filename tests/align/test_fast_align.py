"""The arrays of fast_align do what the loops of its definition do."""

from __future__ import annotations

import hashlib
import json
import math
import tarfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from anaphora.align import Aligner, Settings, align, fast_align
from anaphora.align.aligner import HEADER
from anaphora.align.alignment import Alignment, agreement, read_alignments, symmetrize
from anaphora.align.backend import load_backend
from anaphora.align.fast_align import (
    LEAST,
    NONE,
    PRIOR,
    TENSION,
    TENSIONS,
    Builtin,
    Direction,
    SentencePair,
    blocks,
    exp_digamma,
)
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import text_lines
from anaphora.core.finite import NotFinite

from .conftest import Toy

SIZE = 5  # words of each language
sentences = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=5).map(
    lambda words: np.array(words, dtype=np.int64)
)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=6)


def trained(pairs: list[SentencePair], iterations: int) -> Direction:
    direction = Direction(SIZE)
    assert list(direction.train(pairs, iterations)) == list(range(1, iterations + 1))
    return direction


class Loops:
    """The definition, word by word, in double precision."""

    def __init__(self) -> None:
        self.tension = TENSION
        self.theta: dict[tuple[int | None, int], float] = defaultdict(lambda: 1.0)

    def prior(self, j: int, m: int, n: int) -> list[float]:
        weights = [math.exp(-self.tension * abs((i + 1) / m - (j + 1) / n)) for i in range(m)]
        return [(1 - NONE) * w / sum(weights) for w in weights]

    def iterate(self, pairs: list[SentencePair]) -> None:
        counts: dict[tuple[int | None, int], float] = defaultdict(float)
        slope = bend = 0.0
        for explaining, explained in pairs:
            m, n = len(explaining), len(explained)
            for j, f in enumerate(explained.tolist()):
                prior = self.prior(j, m, n)
                away = [abs((i + 1) / m - (j + 1) / n) for i in range(m)]
                scores = [p * self.theta[e, f] for p, e in zip(prior, explaining.tolist(), strict=True)]
                none = NONE * self.theta[None, f]
                total = sum(scores) + none
                for i, e in enumerate(explaining.tolist()):
                    counts[e, f] += scores[i] / total
                counts[None, f] += none / total
                mass = sum(scores) / total
                mean = sum(p * d for p, d in zip(prior, away, strict=True)) / (1 - NONE)
                square = sum(p * d * d for p, d in zip(prior, away, strict=True)) / (1 - NONE)
                slope += mass * mean - sum(s * d for s, d in zip(scores, away, strict=True)) / total
                bend += mass * (square - mean * mean)
        for f in range(SIZE):
            counts[None, f] += 0.0  # every word may stand alone
        for e in {e for e, _ in counts}:
            row = {f: count for (other, f), count in counts.items() if other == e}
            whole = sum(row.values()) + PRIOR * len(row)
            for f, count in row.items():
                self.theta[e, f] = math.exp(digamma(count + PRIOR) - digamma(whole))
        self.tension = min(max(self.tension + slope / max(bend, 1e-9), TENSIONS[0]), TENSIONS[1])


@given(corpora, st.integers(1, 8))
def test_em_is_that_of_the_definition(pairs: list[SentencePair], iterations: int) -> None:
    direction, loops = trained(pairs, iterations), Loops()
    for _ in range(iterations):
        loops.iterate(pairs)
    actual = {(int(k) // SIZE, int(k) % SIZE): float(v) for k, v in zip(direction.keys, direction.theta, strict=True)}
    for (e, f), theta in loops.theta.items():
        if e is None:
            assert direction.alone[f] == pytest.approx(max(theta, LEAST), rel=1e-2)
        else:
            assert actual.get((e, f), LEAST) == pytest.approx(max(theta, LEAST), rel=1e-2, abs=1e-6)
    assert direction.tension == pytest.approx(loops.tension, rel=1e-2, abs=1e-2)


@given(corpora, corpora)
def test_the_best_is_that_of_the_definition(pairs: list[SentencePair], others: list[SentencePair]) -> None:
    direction, loops = trained(pairs, 2), Loops()
    loops.tension = direction.tension
    known = {(int(k) // SIZE, int(k) % SIZE): float(v) for k, v in zip(direction.keys, direction.theta, strict=True)}
    for (explaining, explained), best in zip(others, direction.best(others), strict=True):
        for j, (f, position) in enumerate(zip(explained.tolist(), best.tolist(), strict=True)):
            prior = loops.prior(j, len(explaining), len(explained))
            scores = [p * known.get((e, f), LEAST) for p, e in zip(prior, explaining.tolist(), strict=True)]
            none = NONE * float(direction.alone[f])
            chosen = none if position < 0 else scores[position]
            assert chosen == pytest.approx(max(none, *scores), rel=1e-4)


@given(corpora, st.integers(1, 40))
def test_blocks_hold_every_cell_once(pairs: list[SentencePair], cells: int) -> None:
    expected = [
        (e * SIZE + f, abs((i + 1) / len(one) - (j + 1) / len(other)))
        for one, other in pairs
        for j, f in enumerate(other.tolist())
        for i, e in enumerate(one.tolist())
    ]
    actual = list(blocks(pairs, SIZE, cells))
    assert [int(c) for block in actual for c in block.cells] == [key for key, _ in expected]
    assert [float(d) for block in actual for d in block.away] == pytest.approx([d for _, d in expected], abs=1e-6)
    assert [int(w) for block in actual for w in block.words] == [f for _, other in pairs for f in other.tolist()]
    assert all(len(block.cells) >= cells for block in actual[:-1])
    for block in actual:
        assert (np.diff(np.append(block.starts, len(block.cells))) == block.widths).all()


@given(pairs=corpora)
def test_the_size_of_blocks_changes_nothing(pairs: list[SentencePair]) -> None:
    whole = trained(pairs, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fast_align, "CELLS", 1)
        parts = trained(pairs, 2)
        assert parts.keys.tolist() == whole.keys.tolist()
        assert parts.theta.tolist() == pytest.approx(whole.theta.tolist(), rel=1e-4)
        assert parts.alone.tolist() == pytest.approx(whole.alone.tolist(), rel=1e-4)
        small = [row.tolist() for row in whole.best(pairs)]
    assert [row.tolist() for row in whole.best(pairs)] == small


def test_words_that_were_never_seen_follow_the_diagonal() -> None:
    direction = trained([(np.array([0, 1]), np.array([0, 1]))] * 4, 3)
    unknown = np.array([-1] * 3)
    assert direction.best([(unknown, unknown)])[0].tolist() == [0, 1, 2]
    assert direction.best([]) == []


def test_e_to_the_digamma() -> None:
    x = np.array([PRIOR, 0.0101, 0.011, 0.02, 0.1, 0.5, 1, 1.5, 3, 10, 1e3, 1e6, 1e12])
    assert (1 / exp_digamma(x)).tolist() == pytest.approx(np.exp(-digamma(x)).tolist(), rel=1e-5)


# The backend that needs nothing: it finds what fast_align finds, saves it and applies it.


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
    trained = aligner.train(toy.source, toy.target)
    assert Aligner(BUILTIN).train(toy.source, toy.target) == trained
    assert aligner.align(toy.source, toy.target) == trained
    aligner.save(tmp_path / "model")
    assert Aligner.load(tmp_path / "model").align(toy.source, toy.target) == trained
    unknown = [["s1", "never-seen", "s2"]], [["t1", "nie-gesehen", "t2"]]
    assert Aligner.load(tmp_path / "model").align(*unknown) == aligner.align(*unknown) == [((0, 0), (1, 1), (2, 2))]


def model_of_version_0_1_0(folder: Path, theta: float, tension: str) -> Path:
    """Two words of each side, as version 0.1.0 wrote what it had learned of them: θ in single precision."""
    folder.mkdir()
    (folder / "source.words").write_text("the\nhouse\n")
    (folder / "target.words").write_text("das\nhaus\n")
    (folder / "tensions.json").write_text(f'{{"forward": 14.0, "backward": {tension}}}')
    for direction in ("forward", "backward"):
        np.save(folder / f"{direction}.keys.npy", np.array([0, 3], dtype=np.int64))
        np.save(folder / f"{direction}.theta.npy", np.array([0.95, theta], dtype=np.float32))
        np.save(folder / f"{direction}.alone.npy", np.array([1e-7, 1e-7], dtype=np.float32))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    header = {"anaphora-alignment-model": 1, "backend": "builtin", "model": "fast_align", "library": "builtin 1"}
    header |= {"symmetrize": "grow-diag-final", "lowercase": True, "seed": 12345, "tokenize": "none", "trained_on": 1}
    (folder / HEADER).write_text(json.dumps({**header, "languages": ["", ""], "files": files}))
    return folder


def test_models_of_version_0_1_0_are_read(tmp_path: Path) -> None:
    aligner = Aligner.load(model_of_version_0_1_0(tmp_path / "model", 0.95, "12.5"))
    assert aligner.align([["The", "house"]], [["das", "Haus"]]) == [((0, 0), (1, 1))]
    aligner.save(tmp_path / "again")
    assert Aligner.load(tmp_path / "again").align([["house"]], [["Haus"]]) == [((0, 0),)]


@pytest.mark.parametrize(("theta", "tension"), [(np.inf, "14.0"), (np.nan, "14.0"), (0.95, "NaN")])
def test_saved_models_that_overflowed_are_refused(tmp_path: Path, theta: float, tension: str) -> None:
    folder = model_of_version_0_1_0(tmp_path / "model", theta, tension)
    with pytest.raises(NotFinite, match=r"model: the .* direction.* finite number \((nan|inf)\)\. Train and save it"):
        Aligner.load(folder)


def test_words_may_hold_any_sign(tmp_path: Path) -> None:
    """What ends a line elsewhere is a part of a word here."""
    text = [["a\u2028b", "c\x85"], ["c\x85"]]
    aligner = Aligner(BUILTIN)
    pairs = [(one, one) for one in text]
    backend_ = aligner.backend
    trained = backend_.train((), pairs)
    backend_.save(tmp_path)
    other = backend()
    other.load(tmp_path)
    assert other.align(pairs) == trained


def test_a_one_word_line_does_not_spoil_the_others() -> None:
    """*Yeah* for three words: after a few iterations two of them explain nothing, and e^ψ of their counts is near 0."""
    source, target = ["one two three four", "yeah"], ["eins zwei drei vier", "ja , sicher"]
    alignments = align(
        [line.split() for line in source], [line.split() for line in target], settings=Settings("builtin")
    )
    assert alignments == [((0, 0), (1, 1), (2, 2), (3, 3)), ((0, 0), (0, 1), (0, 2))]


word_lists = st.lists(st.sampled_from("abcdefghijkl"), max_size=6)
long_sentences = st.integers(100, 300).map(lambda n: [f"w{k % 97}" for k in range(n)])
rare = st.integers(0, 10**9).map(lambda n: [f"rare{n}"])
lines = st.one_of(word_lists, st.lists(st.just("a"), max_size=40), rare, long_sentences)


@settings(max_examples=60)
@given(st.lists(st.tuples(lines, lines), min_size=1, max_size=8).filter(lambda text: any(a and b for a, b in text)))
def test_any_text_gives_finite_figures_and_links_within_it(text: list[tuple[list[str], list[str]]]) -> None:
    aligner = Aligner(Settings("builtin", symmetrize="union"))
    trained = aligner.train([one for one, _ in text], [other for _, other in text])
    assert isinstance(aligner.backend, Builtin)
    for direction in aligner.backend._directions:
        assert np.isfinite(direction.theta).all()
        assert np.isfinite(direction.alone).all()
        assert TENSIONS[0] <= direction.tension <= TENSIONS[1]
    for (one, other), links in zip(text, trained, strict=True):
        assert all(source < len(one) and target < len(other) for source, target in links)
        if not (one and other):
            assert links == ()


def test_both_directions_are_two_models() -> None:
    """One word for two: forward links both to it, backward only one of them."""
    pairs = [(["dont"], ["do", "not"]), (["dont", "go"], ["do", "not", "walk"]), (["go"], ["walk"])] * 5
    forward, backward = backend().train((), pairs)[0]
    assert forward == ((0, 0), (0, 1))
    assert len(backward) == 1


def test_pairs_are_learned_from_inside_a_corpus(toy: Toy) -> None:
    pairs = list(zip(toy.source, toy.target, strict=True))
    assert backend().train(pairs[:30], pairs[30:]) == backend().train((), pairs)[30:]


def test_progress_is_reported(toy: Toy) -> None:
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
        trained = load_backend(Settings(name, model="fast_align")).train((), pairs)
        f[name] = agreement([symmetrize(*both, "grow-diag-final-and") for both in trained], given).f or 0.0
    assert f["builtin"] > 0.7
    assert f["builtin"] == pytest.approx(f["thot"], abs=0.01)


def wmt(folder: Path, languages: str, source: str, target: str) -> tuple[list[str], list[str]]:
    """A source and its reference, of an archive of WMT's test sets."""
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed: pip install zstandard")
    reader = zstandard.ZstdDecompressor(max_window_size=1 << 27)
    actual: dict[str, list[str]] = {}
    with (
        (folder / f"{languages}.tar.zst").open("rb") as packed,
        tarfile.open(fileobj=reader.stream_reader(packed), mode="r|") as archive,
    ):
        for member in archive:
            name = Path(member.name).name
            if name in (source, target) and (content := archive.extractfile(member)) is not None:
                actual[name] = content.read().decode().split("\n")[:-1]
    return actual[source], actual[target]


def subtitles(folder: Path) -> tuple[list[str], list[str]]:
    """The sentences before those of Lopes et al. (2020), which are there twice, once for each candidate."""
    source, target = (list(text_lines(folder / f"OpenSubs.c1.context.{side}.gz"))[::2] for side in ("src", "trg"))
    return source, target


@pytest.mark.parametrize(
    ("name", "read", "near"),
    [
        ("wmt-outputs", lambda path: wmt(path, "en-fr", "wmt13.en", "newstest2013.ref.fr"), 0.97),
        ("wmt-outputs", lambda path: wmt(path, "en-de", "wmt17.en", "newstest2017.ref.de"), 0.97),
        ("wmt-outputs", lambda path: wmt(path, "en-de", "wmt19.en", "newstest2019.ref.de"), 0.97),
        ("lopes-en-fr", subtitles, 0.92),  # of a few words each, with many that are in one line only
    ],
    ids=["newstest2013", "newstest2017", "newstest2019", "lopes"],
)
def test_real_text_aligns_as_by_thot(
    name: str, read: Callable[[Path], tuple[list[str], list[str]]], near: float, data: Callable[[str], Path]
) -> None:
    """On these texts version 0.1.0 overflowed, and linked every other word to the first of the target."""
    pytest.importorskip("thot", reason="sil-thot is not installed")
    source, target = ([line.split() for line in side[:2_000]] for side in read(data(name)))
    actual, other = (align(source, target, settings=Settings(kind, "fast_align")) for kind in ("builtin", "thot"))
    assert first_words(actual) == pytest.approx(first_words(other), abs=0.003)
    assert (agreement(actual, other).f or 0.0) > near


def first_words(alignments: list[Alignment]) -> float:
    """The share of links to the first word of the target."""
    return sum(target == 0 for links in alignments for _, target in links) / sum(map(len, alignments))
