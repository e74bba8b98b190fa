"""The result of mining: a balanced sample that does not depend on shards, statistics, and the files written."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.build.mine.result import (
    Find,
    FindKey,
    Statistics,
    choose,
    draw,
    examples,
    parse_size,
    pronoun_table,
    record,
    translations,
    write_suite,
)
from anaphora.build.mine.shards import Piece, Stage, Words, open_stage, pack_pieces
from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.suites.readers import contrapro
from anaphora.suites.suite import Header, read_native


def finds(count: int) -> list[dict[str, Any]]:
    return [
        {
            "label": ("er", "sie", "es")[n % 7 % 3],
            "right": f"r{n}",
            "wrong": [f"w{n}"],
            "tags": {"document": str(n % 5), "sentence": n},
        }
        for n in range(count)
    ]


def sample(rows: list[dict[str, Any]], size: int | None, seed: int, shards: int = 1) -> list[str]:
    """The texts that are taken, where the rows are dealt out to N shards."""
    placed = [((n % shards, n // shards), row) for n, row in enumerate(rows)]
    chosen = choose(placed, size, seed)
    return sorted(row["right"] for position, row in placed if chosen is None or position in chosen)


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 3), st.integers(1, 4), st.randoms())
def test_the_sample_does_not_depend_on_order_and_shards(
    count: int, size: int, seed: int, shards: int, rng: random.Random
) -> None:
    rows = finds(count)
    taken = sample(rows, size, seed)
    shuffled = rng.sample(rows, count)
    assert sample(shuffled, size, seed, shards) == taken
    labels = Counter(row["label"] for row in rows)
    actual = Counter(row["label"] for row in rows if row["right"] in taken)
    assert actual == {label: min(size, n) for label, n in labels.items()}
    assert set(taken) <= set(sample(rows, size + 1, seed))


def test_seeds_give_other_samples_and_no_size_gives_all() -> None:
    rows = finds(300)
    assert sample(rows, 20, 1) != sample(rows, 20, 2)
    assert len(sample(rows, None, 1)) == 300


def test_each_find_has_the_same_chance() -> None:
    rows = [find for find in finds(42) if find["label"] == "sie"]
    counts = Counter(text for seed in range(600) for text in sample(rows, 4, seed))
    expected = 600 * 4 / len(rows)
    assert all(0.7 * expected < counts[row["right"]] < 1.3 * expected for row in rows)


def test_two_finds_that_are_alike_are_two() -> None:
    row = finds(1)[0]
    assert len(sample([row, row, row], 2, 1)) == 2


def test_sizes() -> None:
    assert (parse_size("7", {"er": 3}), parse_size("all", {"er": 3})) == (7, None)
    assert parse_size("even", Counter(er=3, sie=5)) == 3
    assert parse_size("even", Counter()) == 0
    for wrong in ("0", "-1", "many", "²", "9" * 5000):
        with pytest.raises(AnaphoraError, match="write a number, all, or even"):
            parse_size(wrong, {})


def test_a_draw_depends_on_the_seed_and_the_find() -> None:
    find: dict[str, Any] = {"label": "er", "right": "r", "wrong": ["w", "v"], "tags": {"document": "d", "sentence": 1}}
    others = [
        find | {"label": "es"},
        find | {"right": "s"},
        find | {"wrong": ["w", "u"]},
        find | {"tags": {"document": "e", "sentence": 1}},
        find | {"tags": {"document": "d", "sentence": 2}},
    ]
    assert len({draw(find, 2), *(draw(each, 1) for each in [find, *others])}) == 7
    assert draw(find | {"piece": 3, "tags": {**find["tags"], "distance": 3}}, 1) == draw(find, 1)


# Table 2 of ContraPro: which words a pronoun is aligned to, and in what share of its links.


def words(text: str) -> Words:
    """`It/PRON3`: a pronoun of the third person; without a sign, a noun."""
    kinds = {"PRON3": ("PRON", {"Person": "3"}), "PRON1": ("PRON", {"Person": "1"})}
    kinds["POSS"] = ("PRON", {"Person": "3", "Poss": "Yes"})
    parts = [(item.partition("/")[0], item.partition("/")[2] or "NOUN") for item in text.split()]
    return Words([word for word, _ in parts], [kinds.get(kind, (kind, {})) for _, kind in parts])


def test_links_of_pronouns_of_the_third_person() -> None:
    source = [words("It/PRON3 saw/VERB its/POSS cup"), words("I/PRON1 saw/VERB it/PRON3"), words("it/PRON3 !/PUNCT")]
    target = [words("Sie/PRON3 sah/VERB ihre/DET Tasse"), words("Ich/PRON1 sah/VERB Sie/PRON3"), words("Haus")]
    links = [((0, 0), (0, 1), (2, 2)), ((0, 0), (2, 2)), ()]
    counts: Counter[tuple[str, str]] = Counter()
    translations(source, target, links, counts)
    assert counts == {("it", "sie"): 1, ("it", "sah"): 1, ("it", "Sie"): 1, ("it", ""): 1}


def test_capitals_at_the_beginning_are_those_of_nouns_only() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    target = [
        words('"/PUNCT Er/PRON3'),
        words("Haus"),
        words('"/PUNCT da/ADV Er/PRON3'),
        words('Ja/X ./PUNCT "/PUNCT Es/X'),
    ]
    translations([words("it/PRON3")] * 4, target, [((0, 1),), ((0, 0),), ((0, 2),), ((0, 3),)], counts)
    assert counts == {("it", "er"): 1, ("it", "Haus"): 1, ("it", "Er"): 1, ("it", "es"): 1}


def test_the_table() -> None:
    table = pronoun_table([("it", "es", 5), ("he", "er", 2), ("it", "sie", 2), ("it", "es", 1), ("it", "", 4)])
    assert list(table) == ["it", "he"]
    assert table["it"] == {
        "links": 8,
        "without_link": 4,
        "translations": [
            {"word": "es", "frequency": 6, "probability": 0.75},
            {"word": "sie", "frequency": 2, "probability": 0.25},
        ],
    }


# The suite, and ContraPro's JSON.


@pytest.fixture
def text(tmp_path: Path) -> Stage:
    stage = open_stage(tmp_path, "read", {})
    source, target = tuple(f"s{k}" for k in range(6)), tuple(f"t{k}" for k in range(6))
    stage.write(0, pack_pieces([Piece("a", 0, 0, 0, source, target)]))
    stage.write(1, pack_pieces([Piece("b", 3, 6, 3, source, target), Piece("c", 0, 9, 0, ("x",), ("y",))]))
    return stage


def find(piece: int, sentence: int, number: int, document: str, **tags: Any) -> Find:
    about = {"document": document, "sentence": number, **tags}
    return {
        "piece": piece,
        "sentence": sentence,
        "label": "er",
        "number": 1,
        "right": "er!",
        "wrong": ["sie!", "es!"],
        "tags": about,
    }


def test_passages_and_names(text: Stage) -> None:
    finds: list[tuple[FindKey, Find]] = [
        ((0, 0), find(0, 1, 2, "a")),
        ((0, 1), {**find(0, 1, 2, "a"), "number": 3}),
        ((0, 2), find(0, 1, 2, "a")),
        ((1, 0), find(0, 4, 8, "b")),
        ((1, 1), find(1, 0, 1, "c")),
    ]
    first, third, other, late, alone = [example for _, example in examples(finds, text, 2)]
    assert [e.id for e in (first, third, late, alone)] == ["a:2:er", "a:2:er:3", "b:8:er", "c:1:er"]
    assert other.id == "a:2:er#2"  # of another document with this name
    assert first.source == ("s0", "s1")  # fewer, where a document begins
    assert first.candidates == (("t0", "er!"), ("t0", "sie!"), ("t0", "es!"))
    assert late.source == ("s2", "s3", "s4")
    assert late.candidates[0] == ("t2", "t3", "er!")
    assert alone.source == ("x",)
    assert first.gold == 0


TAGS: dict[str, Any] = {
    "source_pronoun": "it",
    "reference_pronoun": "er",
    "pronoun_pair": "it:er",
    "candidate_pronouns": ["er", "sie", "es"],
    "location": "external",
    "distance": 2,
    "source_antecedent": "the cup",
    "target_antecedent": "der Becher",
    "document": "d",
    "sentence": 7,
}


def test_contrapro_is_read_back(tmp_path: Path) -> None:
    made = [
        Example(f"d:{k}:er", ("before", f"It {k}."), (("davor", "Er."), ("davor", "Sie."), ("davor", "Es.")), 0, TAGS)
        for k in range(3)
    ]
    header = Header("mined", "en", "de", ("reference_pronoun",), licence="free")
    sha = write_suite(tmp_path / "s.jsonl", tmp_path / "c.json", header, made, {"seed": 1})
    suite = read_native(tmp_path / "s.jsonl")
    assert (list(suite), suite.sha256(), suite.header) == (made, sha, header)
    assert json.loads((tmp_path / "s.jsonl").read_text().splitlines()[0])["mined"] == {"seed": 1}
    read = list(contrapro.read(tmp_path / "c.json"))
    assert [(e.source, e.candidates, e.tags) for e in read] == [
        ((e.source[-1],), tuple((c[-1],) for c in e.candidates), TAGS) for e in made
    ]


def test_contrapro_of_nothing_and_of_what_it_cannot_hold(tmp_path: Path) -> None:
    write_suite(None, tmp_path / "c.json", Header("mined", "en", "de"), [], {})
    assert json.loads((tmp_path / "c.json").read_text()) == []
    with pytest.raises(AnaphoraError, match="example 'x' has no tag 'candidate_pronouns'"):
        record(Example("x", ("It.",), (("Er.",),), 0, {"source_pronoun": "it"}))


def test_classes_by_distance() -> None:
    statistics = Statistics()
    for label, distance in [("er", 0), ("er", 1), ("es", 1), ("er", 3), ("es", 4), ("es", 40), ("es", None)]:
        tags: dict[str, Any] = {"distance": distance, "source_pronoun": "it"}
        statistics.add(label, Example("x", ("s",), (("t",),), 0, tags))
    assert statistics.to_dict() == {
        "classes": {"er": 3, "es": 4},
        "distances": {
            "0": {"er": 1, "es": 0},
            "1": {"er": 1, "es": 1},
            "3": {"er": 1, "es": 0},
            ">3": {"er": 0, "es": 2},
        },
    }
    assert statistics.sources == {"it": 7}
