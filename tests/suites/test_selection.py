"""A part of a suite: the first examples or a random sample, with a hash and the blocks that were cut."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.suites.selection import select
from anaphora.suites.suite import Header, Suite, read_native, suite_of


def made(examples: int = 10, block: int = 4) -> Suite:
    def stream() -> list[Example]:
        tags = [{"block": n // block} for n in range(examples)]
        return [Example(f"e{n}", ("c", f"s{n}"), (("C", "a"), ("C", "b")), 0, tags[n]) for n in range(examples)]

    return suite_of(Header("made", "en", "de", blocks="block"), stream)


def names(selection: list[Example]) -> list[str]:
    return [example.id for example in selection]


def test_the_whole_suite_has_its_own_hash() -> None:
    found = select(made())
    assert (found.sha256, found.whole, found.cut_blocks, found.context) == (made().sha256(), True, (), 1)
    assert names(found.examples) == names(list(made()))
    assert select(made(), limit=10) == select(made(), limit=99) == select(made(), sample=10) == found


@pytest.mark.parametrize(("limit", "cut"), [(4, ()), (6, (1,)), (8, ()), (9, (2,)), (3, (0,))])
def test_a_limit_takes_the_first_and_names_the_cut_block(limit: int, cut: tuple[int, ...]) -> None:
    found = select(made(), limit=limit)
    assert names(found.examples) == [f"e{n}" for n in range(limit)]
    assert (found.cut_blocks, found.whole) == (cut, False)
    assert found.sha256 == suite_of(made().header, lambda: list(made())[:limit]).sha256()


@given(st.integers(1, 60), st.integers(0, 5))
def test_a_sample_is_in_order_and_part_of_a_larger_one(size: int, seed: int) -> None:
    suite = made(60)
    found = names(select(suite, sample=size, seed=seed).examples)
    assert len(found) == size
    assert found == sorted(found, key=lambda name: int(name[1:]))
    assert set(found) <= set(names(select(suite, sample=min(60, size + 7), seed=seed).examples))


def test_a_sample_depends_on_its_seed_only() -> None:
    suite = made(200)
    one = select(suite, sample=20, seed=1)
    assert one == select(suite, sample=20, seed=1)
    assert one.sha256 != select(suite, sample=20, seed=2).sha256
    assert one.sha256 != select(suite, limit=20).sha256
    counted: dict[int, int] = {}
    for example in one.examples:
        counted[int(example.tags["block"])] = counted.get(int(example.tags["block"]), 0) + 1  # type: ignore[arg-type]
    assert set(one.cut_blocks) == {block for block, n in counted.items() if n < 4}


def test_attacked_examples_are_drawn_with_their_originals() -> None:
    suite = made(50)
    attacked = suite_of(
        suite.header,
        lambda: [replace(e, id=f"x/{e.id}", tags={**e.tags, "attacked": e.id}) for e in suite],
    )
    found = names(select(attacked, sample=9).examples)
    assert found == [f"x/{name}" for name in names(select(suite, sample=9).examples)]


def test_the_hash_of_a_part_is_of_the_lines_in_the_file(tmp_path: Path) -> None:
    made().write(tmp_path / "suite.jsonl")
    spaced = (tmp_path / "suite.jsonl").read_text().replace('"id":', '"id": ')  # another line for the same example
    (tmp_path / "spaced.jsonl").write_text(spaced)
    parts = [select(read_native(tmp_path / name), sample=3) for name in ("suite.jsonl", "spaced.jsonl")]
    assert parts[0].examples == parts[1].examples
    assert parts[0].sha256 != parts[1].sha256


def test_limit_and_sample_exclude_each_other() -> None:
    with pytest.raises(AnaphoraError, match="give one of the two"):
        select(made(), limit=2, sample=2)
