"""Examples to attack: one made by hand, and the real ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.example import Example
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, Suite, suite_of


@pytest.fixture
def example() -> Callable[..., Example]:
    """A hat that is old: the antecedent one sentence back, three candidates."""

    def make(id: str = "1", **changes: Any) -> Example:
        fields: dict[str, Any] = {
            "source": ("he wears the hat.", "it is old."),
            "contexts": ("er trägt den Hut.",) * 3,
            "targets": ("Er ist alt.", "Sie ist alt.", "Es ist alt."),
            "source_antecedent": "the hat",
            "target_antecedent": "den Hut",
            "distance": 1,
            "reference_pronoun": "er",
        } | changes
        contexts, targets, source = fields.pop("contexts"), fields.pop("targets"), fields.pop("source")
        candidates = tuple(zip(contexts, targets, strict=True))
        tags = {key: value for key, value in fields.items() if value is not None}
        return Example(id, source, candidates, 0, tags)

    return make


@pytest.fixture
def suite() -> Callable[..., Suite]:
    def make(*examples: Example, languages: tuple[str, str] = ("en", "de"), name: str = "small") -> Suite:
        header = Header(name, *languages, ("reference_pronoun",))
        return suite_of(header, lambda: iter(examples), Path("small.jsonl"))

    return make


@pytest.fixture(scope="session")
def contrapro(data: Callable[[str], Path]) -> Suite:
    """The rebuilt ContraPro, kept: it is read again and again."""
    whole = read_suite(data("contrapro"), "contrapro-rebuilt")
    kept = list(whole)
    return suite_of(whole.header, lambda: iter(kept), whole.path)


@pytest.fixture(scope="session")
def released(data: Callable[[str], Path]) -> Callable[[str], dict[str, Example]]:
    """A released attack: id of the original → attacked example."""

    def read(name: str) -> dict[str, Example]:
        folder = data("contracat/attacks") / name
        examples: Iterator[Example] = iter(read_suite(folder, "contracat-attack"))
        return {str(example.tags["attacked"]): example for example in examples}

    return read
