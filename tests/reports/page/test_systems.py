"""How systems are called and drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.reports.page.systems import COLOURS, SHAPES, looks, names_of
from anaphora.runs import Run


def named(run: Run, *systems: str | tuple[str, str]) -> list[Run]:
    pairs = [system if isinstance(system, tuple) else (system, "1+1") for system in systems]
    return [replace(run, header=replace(run.header, system=name, context=context)) for name, context in pairs]


@pytest.mark.parametrize(
    ("systems", "expected"),
    [
        (["hf:Helsinki-NLP/opus-mt-en-de"], ["opus-mt-en-de"]),
        (["nmt:models/a", "nmt:models/b"], ["a", "b"]),
        (["nmt:one/model", "nmt:two/model"], ["one/model", "two/model"]),
        (["hf:model", "ct2:model"], ["hf/model", "ct2/model"]),
        (["scores:x/base.scores", "scores:x/new.scores"], ["base", "new"]),
        (["nmt:a", "nmt:a"], ["a", "a"]),  # the same system on two suites
        ([("nmt:a", "0+0"), ("nmt:a", "1+1")], ["a (0+0 context)", "a (1+1 context)"]),
    ],
)
def test_a_name_is_as_long_as_it_must_be(runs: list[Run], systems: list[str], expected: list[str]) -> None:
    assert names_of(named(runs[0], *systems)) == expected


def test_names_can_be_given(runs: list[Run]) -> None:
    assert names_of(runs, ["old", "new"]) == ["old", "new"]
    with pytest.raises(AnaphoraError, match="1 names for 2 runs"):
        names_of(runs, ["old"])


def test_no_two_of_many_systems_look_alike() -> None:
    drawn = looks([str(k) for k in range(len(COLOURS) * len(SHAPES))])
    assert len({(look.colour, look.shape) for look in drawn.values()}) == len(drawn)
