"""Training data: batches, their order, documents, weights of tokens."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from anaphora.core.errors import (
    BadInput,
)
from anaphora.nmt.config import DataConfig
from anaphora.nmt.data import (
    Corpus,
    Pair,
    Position,
    Sentences,
    TokenWeights,
    batches_of_epoch,
    in_order,
    make_batch,
    read_pairs,
    updates,
)
from anaphora.nmt.layout import ContextLayout, SpecialTokens
from anaphora.scoring.batching import pad

END, SEPARATOR = 0, 9


MARKS = SpecialTokens(separator=SEPARATOR, end=END, start=1, padding=2)
SOURCE = ([31, 32], [41], [51, 52])  # the current sentence is the last
TARGET = ([71], [81, 82])


# Padding on the right, and nothing lost.

rows = st.lists(st.lists(st.integers(3, 9), min_size=1, max_size=5).map(tuple), min_size=1, max_size=4)


@given(rows)
def test_padding(sequences: list[tuple[int, ...]]) -> None:
    padded = pad(sequences, 0)
    assert [tuple(row[:n].tolist()) for row, n in zip(padded.ids, padded.lengths, strict=True)] == sequences
    assert padded.mask.tolist() == (padded.ids != 0).tolist()


def test_a_batch() -> None:
    batch = make_batch([((5, 0), (0,)), ((6, 7, 0), (8, 0))], [(3, 0), (4, 4, 0)], start=1, padding=2)
    assert [x.ids.tolist() for x in batch.inputs] == [[[5, 0, 2], [6, 7, 0]], [[0, 2], [8, 0]]]
    assert batch.read.ids.tolist() == [[1, 3, 2], [1, 4, 4]]
    assert batch.predict.ids.tolist() == [[3, 0, 2], [4, 4, 0]]
    assert batch.tokens == 5
    assert batch.predict[torch.tensor([1])].ids.tolist() == [[4, 4, 0]]


# Every example once an epoch, within the budget, in an order that seed and epoch alone decide.

sizes = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), max_size=60)


def array(lengths: list[tuple[int, int]]) -> np.ndarray:
    return np.array(lengths, np.int64).reshape(-1, 2)


@given(sizes, st.integers(1, 100), st.integers(0, 3), st.integers(0, 3))
def test_every_example_once_within_the_budget(
    lengths: list[tuple[int, int]], tokens: int, seed: int, epoch: int
) -> None:
    for actual in (batches_of_epoch(array(lengths), tokens, seed, epoch), in_order(array(lengths), tokens)):
        assert sorted(int(n) for batch in actual for n in batch) == list(range(len(lengths)))
        for batch in actual:
            padded = max(max(lengths[n]) for n in batch) * len(batch)
            assert padded <= tokens or len(batch) == 1


@given(sizes, st.integers(1, 100), st.integers(1, 9))
def test_a_batch_has_at_most_its_number_of_sentences(
    lengths: list[tuple[int, int]], tokens: int, sentences: int
) -> None:
    batches = batches_of_epoch(array(lengths), tokens, 1, 0, sentences)
    assert sorted(int(n) for batch in batches for n in batch) == list(range(len(lengths)))
    assert all(len(batch) <= sentences for batch in batches)
    unlimited = batches_of_epoch(array(lengths), 10_000, 1, 0, sentences)  # 80 sentences, whatever their tokens
    assert sum(len(batch) < sentences for batch in unlimited) <= 1


def test_epochs_and_seeds_differ_and_repeat() -> None:
    lengths = array([(n % 7 + 1, n % 5 + 1) for n in range(200)])

    def order(seed: int, epoch: int) -> list[int]:
        return [int(n) for batch in batches_of_epoch(lengths, 40, seed, epoch) for n in batch]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1) != order(2, 1)


@given(sizes.filter(lambda s: len(s) > 0), st.integers(1, 4), st.integers(0, 40))
def test_from_any_position_it_goes_on_as_it_would_have(
    lengths: list[tuple[int, int]], together: int, stop: int
) -> None:
    def take(start: Position, number: int) -> list[tuple[list[list[int]], Position]]:
        stream = updates(array(lengths), 50, 3, together, start)
        return [([batch.tolist() for batch in part], position) for part, position in islice(stream, number)]

    whole = take(Position(), stop + 5)
    resumed = whole[stop - 1][1] if stop else Position()
    assert take(resumed, 5) == whole[stop:]


def test_bucketing_saves_padding() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 60, (3000, 1)).repeat(2, 1)
    batches = batches_of_epoch(lengths, 1000, 1, 0)
    padded = sum(int(lengths[batch].max()) * len(batch) for batch in batches)
    assert padded < 1.05 * int(lengths[:, 0].sum())


# Documents are respected, and what is dropped is counted.

MARKS_CORPUS = SpecialTokens(separator=9, end=0, start=99, padding=99)


class Numbers:
    """Text whose words are its ids."""

    special = MARKS_CORPUS

    @staticmethod
    def encode_source(sentence: str) -> list[int]:
        return [int(word) for word in sentence.split()]

    encode_target = encode_source


def pairs(tmp_path: Path, source: str, target: str, **settings: object) -> list[Pair]:
    (tmp_path / "s").write_text(source, encoding="utf-8")
    (tmp_path / "t").write_text(target, encoding="utf-8")
    return list(read_pairs(DataConfig(**settings), [tmp_path / "s"], [tmp_path / "t"]))  # type: ignore[arg-type]


def test_blank_lines_end_documents(tmp_path: Path) -> None:
    actual = pairs(tmp_path, "a\nb\n\n\nc\n", "A\nB\n\n\nC\n")
    assert [(pair.source, pair.target) for pair in actual] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert actual[0].document == actual[1].document != actual[2].document


def test_a_line_blank_on_one_side_is_an_empty_sentence(tmp_path: Path) -> None:
    actual = pairs(tmp_path, "a\n\nc\n", "A\nB\nC\n")
    assert actual == [Pair("a", "A", 1), Pair("", "B", 1), Pair("c", "C", 1)]


def test_a_line_of_ones_own_ends_documents(tmp_path: Path) -> None:
    actual = pairs(tmp_path, "<d>\na\n<d>\nb\n", "<d>\nA\n<d>\nB\n", boundary="<d>")
    assert [pair.source for pair in actual] == ["a", "b"]
    assert actual[0].document != actual[1].document


def test_docids(tmp_path: Path) -> None:
    actual = pairs(tmp_path, "x\ta\nx\t\ny\tc\n", "x\tA\nx\tB\ny\tC\n", docids=True)
    assert [(pair.source, pair.target) for pair in actual] == [("a", "A"), ("", "B"), ("c", "C")]
    assert actual[0].document == actual[1].document != actual[2].document
    assert pairs(tmp_path, "x\ta\n", "A\n", docids=True) == [Pair("a", "A", 1)]


def test_lines_with_separators_are_passages_of_their_own(tmp_path: Path) -> None:
    actual = pairs(tmp_path, "a <SEP> b\na <SEP> c\nd\n<SEP> e\n", "A <SEP> B\nA <SEP> C\nD\n<SEP> E\n")
    assert [(pair.source, pair.target, pair.context) for pair in actual] == [
        ("a", "A", True),
        ("b", "B", False),
        ("a", "A", True),
        ("c", "C", False),
        ("d", "D", False),
        ("e", "E", False),  # an empty context is none
    ]
    documents = [pair.document for pair in actual]
    assert documents[0] == documents[1] != documents[2] == documents[3]
    assert len(set(documents)) == 4


def test_context_of_a_passage_is_not_trained_on() -> None:
    actual = [Pair("31", "41", 1, context=True), Pair("32", "42", 1), Pair("33", "43", 2)]
    built = corpus(actual, ContextLayout(source_context=1, target_context=1))
    assert [built.example(position) for position in range(len(built))] == [
        (((31, 9, 32, 0),), (41, 9, 42, 0)),
        (((33, 0),), (43, 0)),
    ]


@pytest.mark.parametrize(
    ("source", "target", "settings", "problem"),
    [
        ("a <SEP> b\n", "A\n", {}, "s: line 1: 2 sentences joined with <SEP> here, 1 in the translation"),
        ("a\nb\n", "A\n", {}, "t: 1 lines, but .*s has 2"),
        ("a\n", "A\nB\n", {}, "t: 2 lines, but .*s has 1"),
        ("a\n<d>\nb\n", "A\nB\nC\n", {}, "s: line 2: a document boundary <d>, but not in .*t"),
        ("a\n", "A\n", {"docids": True}, "s: line 1: no tab"),
        ("x\ta\n", "y\tA\n", {"docids": True}, "t: line 1: docid 'y', but 'x'"),
    ],
)
def test_what_does_not_belong_together(
    tmp_path: Path, source: str, target: str, settings: dict[str, object], problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        pairs(tmp_path, source, target, **settings)


def corpus(actual: list[Pair], layout: ContextLayout, **settings: object) -> Corpus:
    return Corpus(actual, Numbers(), layout, DataConfig(**settings))  # type: ignore[arg-type]


def test_context_never_crosses_a_boundary() -> None:
    actual = [Pair("31", "41", 1), Pair("32", "42", 1), Pair("33", "43", 2), Pair("34", "44", 2)]
    built = corpus(actual, ContextLayout(source_context=1, target_context=1, context_encoders=("source", "target")))
    assert [built.example(n) for n in range(4)] == [
        (((31, 0), (0,), (0,)), (41, 0)),
        (((31, 9, 32, 0), (31, 0), (41, 0)), (41, 9, 42, 0)),
        (((33, 0), (0,), (0,)), (43, 0)),
        (((33, 9, 34, 0), (33, 0), (43, 0)), (43, 9, 44, 0)),
    ]
    assert built.lengths.tolist() == [[2, 2], [4, 4], [2, 2], [4, 4]]


def test_what_is_dropped_is_counted_and_still_is_context() -> None:
    unlike, kept, empty, long = (
        Pair("1 2 3 4", "5", 1),
        Pair("6", "7", 1),
        Pair("", "7", 1),
        Pair("1 " * 7, "2 " * 7, 2),
    )
    built = corpus([unlike, kept, empty, long], ContextLayout(source_context=1), max_length=6, max_ratio=3.0)
    assert (built.dropped.empty, built.dropped.long, built.dropped.unlike) == (1, 1, 1)
    assert len(built) == 1
    assert built.example(0) == (((1, 2, 3, 4, 9, 6, 0),), (7, 0))
    assert "1 with an empty side, 1 too long, 1 of unlike lengths" in str(built.dropped)


@pytest.mark.parametrize(("limit", "kept"), [(0, [1, 2, 3]), (3, [1, 2]), (2, [1])])
def test_the_current_sentence_has_a_limit_of_its_own(limit: int, kept: list[int]) -> None:
    """ContraCAT appendix A: dropped where the main sentence exceeds one limit or the joined sample another."""
    actual = [Pair("1 2 3 4 5", "1", 1), Pair("6 7", "7", 1), Pair("8", "1 2 3", 1), Pair("1 2 3 4", "5", 2)]
    built = corpus(actual, ContextLayout(source_context=1, target_context=1), max_length=9, max_sentence=limit)
    assert built.numbers.tolist() == ([0, *kept] if not limit else kept)
    assert built.dropped.long == 4 - len(built)


def test_a_limit_counts_separators_but_not_the_end() -> None:
    actual = [Pair("1 2 3", "1", 1), Pair("4 5 6", "1", 1)]
    assert len(corpus(actual, ContextLayout(source_context=1), max_length=7)) == 2
    assert len(corpus(actual, ContextLayout(source_context=1), max_length=6)) == 1


def test_sentences_are_kept_as_they_are() -> None:
    sentences = [[1, 2, 3], [], [70_000]]
    kept = Sentences(iter(sentences))
    assert len(kept) == 3
    assert [kept[n] for n in range(3)] == sentences
    assert len(Sentences(iter([]))) == 0


def test_a_batch_of_examples() -> None:
    built = corpus([Pair("31", "41 42", 1), Pair("32", "43", 1)], ContextLayout())
    batch = built.batch([1, 0])
    assert batch.inputs[0].ids.tolist() == [[32, 0], [31, 0]]
    assert batch.read.ids.tolist() == [[99, 43, 99], [99, 41, 42]]


# Weights of target tokens

PIECES = ["</s>", "<unk>", "<SEP>", "▁er", "▁sie", "▁Si", "e", ",", "▁", "er", "st", "▁ist", "s", "▁es", "'"]


def pieces(*names: str) -> list[int]:
    return [PIECES.index(name) for name in names]


@pytest.mark.parametrize(
    ("sentence", "chosen"),
    [
        (["▁er", "▁ist"], ["▁er"]),
        (["▁er", "st", "▁er", "er"], []),  # "erst", "erer": no whole words
        (["▁Si", "e", ",", "▁ist"], ["▁Si", "e"]),  # in two pieces and in another case
        (["▁", "er", ","], ["er"]),  # the beginning of the word is a piece of its own
        (["▁ist", "'", "er"], ["er"]),  # an apostrophe ends a word: French "qu'elle"
        (["▁ist", "▁es", "s"], []),
        (["▁es", "<unk>", "▁es"], ["▁es", "▁es"]),
    ],
)
def test_pieces_of_chosen_words(sentence: list[str], chosen: list[str]) -> None:
    marked = TokenWeights(PIECES, words=("er", "sie", "Es"), word=8.0).chosen(pieces(*sentence))
    assert [piece for piece, one in zip(sentence, marked, strict=True) if one] == chosen


@given(st.lists(st.integers(3, len(PIECES) - 1), max_size=12))
def test_pieces_of_chosen_words_against_splitting(sentence: list[int]) -> None:
    """Another way to the same: put characters into words one by one, each with its piece."""
    words, places = [""], [set[int]()]
    for position, number in enumerate(sentence):
        for character in PIECES[number]:
            if character in "▁,'":
                words.append("")
                places.append(set())
            else:
                words[-1] += character.lower()
                places[-1].add(position)
    expected = {p for word, actual in zip(words, places, strict=True) for p in actual if word in ("er", "sie", "es")}
    marked = TokenWeights(PIECES, words=("er", "sie", "es")).chosen(sentence)
    assert {position for position, one in enumerate(marked) if one} == expected


class Pieces:
    """Text whose words are pieces."""

    special = SpecialTokens(separator=2, end=0, start=len(PIECES), padding=len(PIECES))

    def encode_source(self, text: str) -> list[int]:
        return pieces(*text.split())

    encode_target = encode_source


def weighted(words: tuple[str, ...], target_context: int) -> Corpus:
    pairs = [Pair("▁ist", "▁er ▁ist", 1), Pair("▁ist", "▁sie , ▁ist", 1), Pair("▁es", "▁ist", 2, repeat=3)]
    weights = TokenWeights(PIECES, 0.25, words, 8.0)
    text: Any = Pieces()
    return Corpus(pairs, text, ContextLayout(target_context, target_context), DataConfig(), weights)


def test_weights_of_context_and_words() -> None:
    batch = weighted(("er", "sie"), 1).batch([0, 1, 2])
    assert batch.weights is not None
    assert batch.weights.tolist() == [
        [8.0, 1.0, 1.0, 0, 0, 0, 0],
        [0.25, 0.25, 0.25, 8.0, 1.0, 1.0, 1.0],  # er, ist and <SEP> are context
        [1.0, 1.0, 0, 0, 0, 0, 0],
    ]
    assert batch.to("cpu").weights is not None


def test_sums_of_weights_and_repetition() -> None:
    corpus = weighted(("sie",), 1)
    assert corpus.loss_weights.tolist() == [3.0, 11.75, 2.0, 2.0, 2.0]
    assert len(corpus) == 5
    assert [corpus.example(position) for position in (2, 3)] == [corpus.example(4)] * 2
    assert weighted(("sie",), 0).loss_weights.tolist() == [3.0, 11.0, 2.0, 2.0, 2.0]


def test_files_are_repeated_in_an_epoch(tmp_path: Path) -> None:
    for name in "abcd":
        (tmp_path / name).write_text(f"{name}1\n{name}2\n", encoding="utf-8")
    sources, targets = [tmp_path / "a", tmp_path / "b"], [tmp_path / "c", tmp_path / "d"]
    actual = list(read_pairs(DataConfig(), sources, targets, (1, 4)))
    assert [(pair.source, pair.repeat) for pair in actual] == [("a1", 1), ("a2", 1), ("b1", 4), ("b2", 4)]
    assert [pair.repeat for pair in read_pairs(DataConfig(), sources, targets)] == [1] * 4
