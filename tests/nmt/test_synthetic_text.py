"""The synthetic corpus: what decides is where it should be and nowhere else, and suites ask for what was not seen."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.config import DataConfig
from anaphora.nmt.data import read_pairs
from anaphora.suites.example import Example
from anaphora.suites.suite import read_native
from anaphora.suites.validate import validate_file
from tests.nmt.synthetic_text import synthetic

ENGLISH = [noun.english for noun in synthetic.NOUNS] + [english for english, *_ in synthetic.TWOFOLD]


def nouns_of(sentence: str) -> frozenset[str]:
    words = {word.strip(".") for word in sentence.split()}
    return frozenset(noun for noun in ENGLISH if noun in words)


def test_a_document_as_it_is_written() -> None:
    document = next(synthetic.make_documents("source", 1, 1))
    assert len(document.source) == len(document.target) == 2
    pairs = {d.source[0]: d.target[0] for d in synthetic.make_documents("source", 20_000, 1)}
    assert pairs["I found the dress under the mirror."] == "Ich fand das Kleid unter dem Spiegel."
    assert pairs["Under the vase we found the chair."] == "Unter der Vase fanden wir den Stuhl."
    pairs = {d.source[1] + d.target[0]: d.target[1] for d in synthetic.make_documents("target", 20_000, 1)}
    assert pairs["It cost too much.Wir verloren den Becher hinter der Flasche."] == "Er hat zu viel gekostet."
    assert pairs["It cost too much.Ich fand die Tasse unter der Flasche."] == "Sie hat zu viel gekostet."


def test_the_same_seed_gives_the_same_text_and_another_another() -> None:
    first, again, other = (list(synthetic.make_documents("source", 50, seed)) for seed in (1, 1, 2))
    assert first == again != other
    assert (
        synthetic.make_suite("target").sha256()
        == synthetic.make_suite("target").sha256()
        != synthetic.make_suite("target", seed=2).sha256()
    )


@pytest.mark.parametrize("kind", synthetic.KINDS)
def test_suites_have_new_pairs_of_known_nouns(kind: str) -> None:
    seen = Counter(nouns_of(document.source[0]) for document in synthetic.make_documents(kind, 20_000, 1))
    asked = {nouns_of(example.source[0]) for example in synthetic.make_suite(kind)}
    assert all(len(pair) == 2 for pair in asked)
    assert not asked & seen.keys()
    assert {noun for pair in asked for noun in pair} <= {noun for pair in seen for noun in pair}
    assert len(asked) > 30


@pytest.mark.parametrize(("kind", "choices"), [("source", 3), ("target", 2)])
def test_the_current_sentence_tells_nothing(kind: str, choices: int) -> None:
    """Whatever a sentence-level model prefers for a sentence, it is right as often as by chance."""
    golds = defaultdict(Counter)
    for example in synthetic.make_suite(kind):
        golds[example.source[-1], tuple(c[-1] for c in example.candidates)][example.gold] += 1
    assert len(golds) == 6
    for counts in golds.values():
        assert len(counts) == choices
        assert len(set(counts.values())) == 1


def test_where_the_target_tells_the_source_does_not() -> None:
    golds = defaultdict(Counter)
    contexts = defaultdict(set)
    for example in synthetic.make_suite("target"):
        key = example.source, tuple(c[-1] for c in example.candidates)
        golds[key][example.gold] += 1
        contexts[key].add(example.candidates[0][0])
        assert len({c[0] for c in example.candidates}) == 1  # candidates differ in nothing but the pronoun
    for key, counts in golds.items():
        assert counts[0] == counts[1]
        assert len(contexts[key]) == 2


def test_two_examples_of_a_block_are_each_other_s_opposite() -> None:
    blocks: defaultdict[str, list[Example]] = defaultdict(list)
    for example in synthetic.make_suite("target", each=2):
        blocks[str(example.tags["block"])].append(example)
    for one, other in blocks.values():
        assert one.source == other.source
        assert (one.gold, other.gold) == (0, 1)
        assert one.candidates[0][0] != other.candidates[0][0]


def test_files(tmp_path: Path) -> None:
    files = synthetic.write_synthetic(tmp_path, documents=200)
    pairs = list(read_pairs(DataConfig(), files.train[:1], files.train[1:]))
    assert Counter(Counter(pair.document for pair in pairs).values()) == {2: 200}
    held_out = list(read_pairs(DataConfig(), files.validation[:1], files.validation[1:]))
    assert len(held_out) == 100
    assert {pair.source for pair in held_out} != {pair.source for pair in pairs}
    twofold = {english for english, *_ in synthetic.TWOFOLD}
    assert sum(bool(nouns_of(pair.source) & twofold) for pair in pairs) == 100  # half of them of either kind
    for kind in synthetic.KINDS:
        assert not list(validate_file(files.suites[kind]))
        assert read_native(files.suites[kind]).header.name == f"synthetic-{kind}"
    only = synthetic.write_synthetic(tmp_path / "one", documents=20, kinds=("target",))
    assert list(only.suites) == ["target"]


def test_things_are_named_before_and_after_the_other() -> None:
    assert {frame[0].index("{thing}") < frame[0].index("{other}") for frame in synthetic.FRAMES} == {True, False}


def test_an_unknown_kind() -> None:
    with pytest.raises(AnaphoraError, match="Known: source, target"):
        next(synthetic.make_documents("both", 1, 1))
