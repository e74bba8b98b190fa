"""Other contexts: the current sentences stay, the context goes, is turned round, or comes from somewhere else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.suites.contexts import no_context, random_context, select, shuffled_context
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, read_native, suite_of


def made(n: int, size: int = 2) -> Suite:
    def examples() -> list[Example]:
        return [
            Example(
                id=str(i),
                source=(*(f"s{i}.{k}" for k in range(size)), f"now {i}"),
                candidates=tuple((*(f"t{i}.{k}" for k in range(size)), f"{word} {i}") for word in ("er", "sie")),
                gold=i % 2,
                tags={"k": i},
            )
            for i in range(n)
        ]

    return suite_of(Header("made", "en", "de", ("k",)), examples)


def current(suite: Suite) -> list[tuple[str, tuple[str, ...], int | None]]:
    return [(e.source[-1], tuple(c[-1] for c in e.candidates), e.gold) for e in suite]


def test_current_sentences_and_gold_stay_and_originals_are_named() -> None:
    suite = made(6)
    for changed in (no_context(suite), shuffled_context(suite, 1), random_context(suite, 1)):
        assert current(changed) == current(suite)
        assert [e.tags["attacked"] for e in changed] == [e.id for e in suite]
        assert [e.tags["k"] for e in changed] == list(range(6))
        assert len({e.id for e in changed}) == 6
        assert changed.header.breakdowns == ("k",)


def test_no_context_keeps_the_length_of_passages() -> None:
    first = next(iter(no_context(made(1))))
    assert first.source == ("", "", "now 0")
    assert first.candidates[0] == ("", "", "er 0")


def test_shuffled_sentences_keep_one_order_on_both_sides() -> None:
    for example in shuffled_context(made(20, 3), 5):
        i = example.tags["k"]
        order = [int(sentence.partition(".")[2]) for sentence in example.source[:-1]]
        assert sorted(order) == [0, 1, 2]
        assert order != [0, 1, 2]
        assert example.candidates[0][:-1] == tuple(f"t{i}.{k}" for k in order)


def test_random_context_is_another_examples_own_in_both_languages() -> None:
    for example in random_context(made(20), 5):
        source, target = example.source[:-1], example.candidates[1][:-1]
        other = source[0].partition(".")[0][1:]
        assert other != str(example.tags["k"])
        assert source == (f"s{other}.0", f"s{other}.1")
        assert target == (f"t{other}.0", f"t{other}.1")


def test_the_seed_decides() -> None:
    assert list(random_context(made(30), 1)) == list(random_context(made(30), 1))
    assert list(random_context(made(30), 1)) != list(random_context(made(30), 2))


def test_a_suite_without_context_has_nothing_to_draw_from() -> None:
    suite = made(3, size=0)
    assert list(random_context(suite, 1)) == list(suite)


# A part of a suite: the first examples or a random sample, with a hash and the blocks that were cut.


def made_selection(examples: int = 10, block: int = 4) -> Suite:
    def stream() -> list[Example]:
        tags = [{"block": n // block} for n in range(examples)]
        return [Example(f"e{n}", ("c", f"s{n}"), (("C", "a"), ("C", "b")), 0, tags[n]) for n in range(examples)]

    return suite_of(Header("made", "en", "de", blocks="block"), stream)


def names(selection: list[Example]) -> list[str]:
    return [example.id for example in selection]


def test_the_whole_suite_has_its_own_hash() -> None:
    selection = select(made_selection())
    assert (selection.sha256, selection.whole, selection.cut_blocks, selection.context) == (
        made_selection().sha256(),
        True,
        (),
        1,
    )
    assert names(selection.examples) == names(list(made_selection()))
    for settings in ({"limit": 10}, {"limit": 99}, {"sample": 10}):
        assert select(made_selection(), **settings)[:4] == selection[:4]


@pytest.mark.parametrize(("limit", "cut"), [(4, ()), (6, (1,)), (8, ()), (9, (2,)), (3, (0,))])
def test_a_limit_takes_the_first_and_names_the_cut_block(limit: int, cut: tuple[int, ...]) -> None:
    selection = select(made_selection(), limit=limit)
    assert names(selection.examples) == [f"e{n}" for n in range(limit)]
    assert (selection.cut_blocks, selection.whole) == (cut, False)
    assert selection.sha256 == suite_of(made_selection().header, lambda: list(made_selection())[:limit]).sha256()


@given(st.integers(1, 60), st.integers(0, 5))
def test_a_sample_is_ordered_and_part_of_a_larger_one(size: int, seed: int) -> None:
    suite = made_selection(60)
    actual = names(select(suite, sample=size, seed=seed).examples)
    assert len(actual) == size
    assert actual == sorted(actual, key=lambda name: int(name[1:]))
    assert set(actual) <= set(names(select(suite, sample=min(60, size + 7), seed=seed).examples))


def test_a_sample_depends_on_its_seed_only() -> None:
    suite = made_selection(200)
    one = select(suite, sample=20, seed=1)
    assert one == select(suite, sample=20, seed=1)
    assert one.sha256 != select(suite, sample=20, seed=2).sha256
    assert one.sha256 != select(suite, limit=20).sha256
    counted: dict[int, int] = {}
    for example in one.examples:
        counted[int(example.tags["block"])] = counted.get(int(example.tags["block"]), 0) + 1  # type: ignore[arg-type]
    assert set(one.cut_blocks) == {block for block, n in counted.items() if n < 4}


def test_attacked_examples_are_drawn_with_their_originals() -> None:
    suite = made_selection(50)
    attacked = suite_of(
        suite.header,
        lambda: [replace(e, id=f"x/{e.id}", tags={**e.tags, "attacked": e.id}) for e in suite],
    )
    actual = names(select(attacked, sample=9).examples)
    assert actual == [f"x/{name}" for name in names(select(suite, sample=9).examples)]


def test_the_hash_of_a_part_is_of_its_lines(tmp_path: Path) -> None:
    made_selection().write(tmp_path / "suite.jsonl")
    spaced = (tmp_path / "suite.jsonl").read_text().replace('"id":', '"id": ')  # another line for the same example
    (tmp_path / "spaced.jsonl").write_text(spaced)
    parts = [select(read_native(tmp_path / name), sample=3) for name in ("suite.jsonl", "spaced.jsonl")]
    assert parts[0].examples == parts[1].examples
    assert parts[0].sha256 != parts[1].sha256


def test_limit_and_sample_exclude_each_other() -> None:
    with pytest.raises(AnaphoraError, match="cannot be combined"):
        select(made_selection(), limit=2, sample=2)
