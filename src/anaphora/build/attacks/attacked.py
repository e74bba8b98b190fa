"""What all attacks share: a new suite whose examples name their originals, and a count of what was left alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of


class Left(NamedTuple):
    """An example that an attack leaves alone, and why; `kept`: it is in the new suite all the same."""

    why: str
    kept: bool = False


Change = Callable[[Example], Example | Left]
Tell = Callable[[str], None]  # hears why an example was left alone


def attacked_suite(suite: Suite, attacks: Iterable[tuple[str, Change]], tell: Tell | None = None) -> Suite:
    """The examples of a suite, changed by each attack in turn.

    Every example has the tags `attack` (which one) and `attacked` (the id of the original); its other tags are those of
    the original. The id is made of both, as `contracat-attack` makes it for the released attacks.
    """
    attacks = tuple(attacks)

    def examples() -> Iterator[Example]:
        for name, change in attacks:
            for example in suite:
                changed = change(example)
                if isinstance(changed, Left):
                    if tell is not None:
                        tell(changed.why)
                    if not changed.kept:
                        continue
                    changed = example
                tags = {**changed.tags, "attack": name, "attacked": example.id}
                yield replace(changed, id=f"{name}/{example.id}", tags=tags)

    return suite_of(replace(suite.header, name=suite_name(suite, [name for name, _ in attacks])), examples, suite.path)


def suite_name(suite: Suite, attacks: list[str]) -> str:
    """`contrapro-phrase-addition-he_said`; of several attacks of one kind only the kind is named."""
    kinds = list(dict.fromkeys(name.partition("/")[0] for name in attacks))
    words = attacks if len(attacks) == 1 else kinds
    return "-".join([suite.header.name, *(word.replace("/", "-") for word in words)])
