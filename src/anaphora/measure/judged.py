"""Runs of any judge on pairs: a language model's preference, a metric, an LLM. No torch is needed for these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anaphora.core.errors import BadInput
from anaphora.evaluation.contrastive import evaluate_items
from anaphora.evaluation.result import Result, Settings
from anaphora.measure.human import Human, human_agreement
from anaphora.measure.pair_list import read_pair_list
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems.run import Run, RunHeader
from anaphora.systems.scored import Scored

if TYPE_CHECKING:
    from collections.abc import Mapping

BREAKDOWNS = ("pronoun_pair", "error", "kind")


def judge(
    items: Sequence[Scored], about: RunHeader, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """The result of scored pairs; without breakdowns of one's own, those that the pairs have tags for."""
    if not breakdowns:
        known = {tag for item in items for tag in item.tags}
        listed = tuple(dict.fromkeys((*about.breakdowns, *BREAKDOWNS)))
        about = replace(about, breakdowns=tuple(name for name in listed if name in known))
    result = evaluate_items(items, about=about, breakdowns=breakdowns, settings=settings)
    return result, human_agreement(items, minimize=result.settings.minimize)


def judge_run(
    run: Run, suite: Suite, breakdowns: Sequence[str] = (), settings: Settings | None = None
) -> tuple[Result, Human | None]:
    """The result of a run on a suite of pairs; tags are those of the suite, which may know more than the run."""
    tags: Mapping[str, Mapping[str, Tag]] = {example.id: example.tags for example in suite}
    items = []
    for item in run:
        if item.id not in tags:
            problem = f"the run has {item.id!r}, which is not in {suite.header.name}"
            raise BadInput(run.path, problem, remedy="Name the pairs that the run was made on.")
        items.append(item._replace(tags=tags[item.id]))
    return judge(items, run.header, breakdowns, settings)


def with_people(suite: Suite, path: Path) -> Suite:
    """The suite, with what people said of the pronoun pair of each example as tags."""
    judged = read_pair_list(path)

    def examples() -> Iterator[Example]:
        for example in suite:
            found = judged.get(str(example.tags.get("pronoun_pair")))
            if found is None:
                yield example
                continue
            more: dict[str, Tag] = {"human_agreement": round(found.agreement, 4), "human_reference": found.reference}
            more |= {"human_system": found.system, "human_ties": found.ties}
            yield replace(example, tags={**example.tags, **more})

    return suite_of(suite.header, examples, suite.path)
