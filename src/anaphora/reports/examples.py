"""The examples of a report: their texts, found in suites, and packed for the browser together with scores.

Runs hold no texts. The suite is looked for, and must be the one that was scored. Packed examples are columns instead
of records and small numbers instead of repeated words, compressed with gzip: 12,000 examples of three systems take
about two megabytes of the page.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.parsing import shown
from anaphora.evaluation.compare import zip_runs
from anaphora.evaluation.decision import decide
from anaphora.evaluation.result import Settings
from anaphora.languages.highlight import Span, differences, merged, occurrences
from anaphora.runs import Run, RunHeader
from anaphora.suites.catalog import catalog
from anaphora.suites.contexts import select
from anaphora.suites.example import Example
from anaphora.suites.get import resolve, suite_path
from anaphora.suites.suite import Suite, read_native

ANTECEDENTS = ("source_antecedent", "target_antecedent")  # tags whose words are marked in the texts
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Texts:
    """The examples of a suite by id. file: the name of the file they came from; None for a suite of the catalog."""

    languages: tuple[str, str]
    examples: dict[str, Example]
    file: str | None


@dataclass(frozen=True, slots=True)
class Missing:
    """A suite whose texts are not in the report. remedy: what to do about it, as a sentence."""

    suite: str
    remedy: str


class TextSources:
    """The suites that the texts of a report come from; each of them is read once.

    names: suite files, or names of the catalog
    """

    def __init__(self, names: Sequence[str | Path] = ()) -> None:
        self.names = names
        self._suites: dict[Path, Suite] = {}

    def texts_of(self, run: Run) -> Texts | Missing:
        """Return the texts of a run's suite: from a suite that is named, else from the catalog.

        A named suite that has the name of the run's suite but is another one is an error: its texts are not those
        that were scored.
        """
        header, other = run.header, None
        for name in self.names:
            suite = self._suite(resolve(name))
            examples = scored_part(suite, header)
            if examples is not None:
                return _texts(suite, examples, None if str(name) in catalog() else Path(name).name)
            if suite.header.name == header.suite:
                other = Path(name)
        if other is not None:
            problem = f"not the suite that was scored: {run.path} has {header.suite}@{header.sha256[:6]}"
            raise BadInput(other, problem, remedy="Name the file that was given to anaphora score.")
        known = suite_path(header.suite)
        if known.is_file():
            suite = self._suite(known)
            examples = scored_part(suite, header)
            if examples is not None:
                return _texts(suite, examples, None)
            remedy = (
                f"the {header.suite} of this machine is another one now: add --suite FILE, the file that was scored"
            )
            return Missing(header.suite, remedy)
        if header.suite in catalog():
            return Missing(header.suite, f"get them with anaphora suites get {header.suite}, or add --suite FILE")
        return Missing(header.suite, "add --suite FILE, the file that was scored")

    def file_of(self, run: Run) -> str | None:
        """Return the name of the file that a run has scored, where it is among those that are named."""
        for name in self.names:
            if str(name) not in catalog() and scored_part(self._suite(resolve(name)), run.header) is not None:
                return Path(name).name
        return None

    def _suite(self, path: Path) -> Suite:
        if path not in self._suites:
            self._suites[path] = read_native(path).load()
        return self._suites[path]


def scored_part(suite: Suite, header: RunHeader) -> list[Example] | None:
    """Return the examples that a run has scored; None if they are not in this suite.

    A run of a part (`score --limit`, `--sample`) has the hash of that part, and says how many examples it has.
    """
    sample, _, seed = str(header.settings.get("sample") or "").partition("@")
    chosen = {"sample": int(sample), "seed": int(seed)} if sample else {"limit": header.settings.get("limit")}
    selection = select(suite, **chosen)
    return selection.examples if selection.sha256 == header.sha256 else None


def _texts(suite: Suite, examples: Sequence[Example], file: str | None) -> Texts:
    header = suite.header
    return Texts((header.source_language, header.target_language), {e.id: e for e in examples}, file)


def packed(suites: Sequence[Columns]) -> str:
    """Return the examples of all suites as text that a script in the page unpacks."""
    data = json.dumps(suites, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def columns(runs: Mapping[str, Run], texts: Texts, filters: Sequence[str], settings: Settings) -> Columns:
    """Return the examples of one suite that every run has, as columns.

    runs: by the name of the system; filters: tags that the reader can choose by
    """
    first = next(iter(runs.values()))
    packed: Columns = {"suite": first.header.suite, "systems": list(runs), "languages": list(texts.languages)}
    packed |= {"ids": [], "gold": [], "scores": [], "chosen": [], "right": []}
    packed |= {"source": [], "target": [], "others": [], "differences": [], "pronoun": []}
    packed["antecedents"] = {name: [] for name in ANTECEDENTS}
    # the values of a tag as indices into a list of distinct values; −1 where there is none
    values: dict[str, dict[str, int]] = {name: {} for name in filters}
    codes: dict[str, list[int]] = {name: [] for name in filters}
    for row in zip_runs(list(runs.values())):
        item = row[0]
        packed["ids"].append(item.id)
        packed["gold"].append(item.gold)
        packed["scores"].append([[round(score, 2) for score in answer.scores] for answer in row])
        decisions = [decide(answer, minimize=settings.minimize, normalize=settings.normalize) for answer in row]
        packed["chosen"].append([decision.chosen for decision in decisions])
        packed["right"].append([int(decision.correct) for decision in decisions] if item.gold is not None else None)
        for name, known in values.items():
            value = item.tags.get(name)
            missing = value is None or isinstance(value, list | dict)
            codes[name].append(-1 if missing else known.setdefault(str(value), len(known)))
        example = texts.examples.get(item.id)
        if example is None or len(example.candidates) != len(item.scores):
            problem = f"the suite has no example {shown(item.id)} with {len(item.scores)} candidates"
            raise BadInput(first.path, problem, remedy="Score the suite again.")
        _add_text(packed, example)
    several = {name: known for name, known in values.items() if len(known) > 1}
    packed["tags"] = {name: {"values": list(known), "codes": codes[name]} for name, known in several.items()}
    return packed


def _add_text(packed: Columns, example: Example) -> None:
    """Add the texts: a passage is one string with a sentence per line, a candidate is what differs from the gold."""
    gold = example.gold or 0
    right = "\n".join(example.candidates[gold])
    packed["source"].append("\n".join(example.source))
    packed["target"].append(right)
    others = [candidate for k, candidate in enumerate(example.candidates) if k != gold]
    packed["others"].append([between(right, "\n".join(candidate)) for candidate in others])
    packed["differences"].append([list(itertools.chain.from_iterable(spans)) for spans in highlights(example)])
    packed["pronoun"].append(list(itertools.chain.from_iterable(source_pronouns(example))))
    for name, column in packed["antecedents"].items():
        value = example.tags.get(name)
        column.append(value if isinstance(value, str) else "")


def highlights(example: Example) -> list[list[Span]]:
    """Return the words of each candidate's current sentence that differ from the gold; the gold has all of them."""
    gold = example.gold or 0
    right = example.candidates[gold][-1]
    spans: list[list[Span]] = []
    in_gold: set[Span] = set()
    for k, candidate in enumerate(example.candidates):
        here, there = differences(right, candidate[-1]) if k != gold else ((), ())
        in_gold.update(here)
        spans.append(list(there))
    spans[gold] = merged(in_gold)
    return spans


def source_pronouns(example: Example) -> list[Span]:
    """Return where the tagged pronoun occurs in the current source sentence; the tag does not say which is meant."""
    pronoun = example.tags.get("source_pronoun")
    return occurrences(pronoun, example.source[-1]) if isinstance(pronoun, str) and pronoun else []


def between(text: str, other: str) -> list[Any]:
    """Return the lengths of the common beginning and end of two texts, and what the other one has in between."""
    short = min(len(text), len(other))
    start = next((k for k in range(short) if text[k] != other[k]), short)
    end = next((k for k in range(short - start) if text[-1 - k] != other[-1 - k]), short - start)
    return [start, end, other[start : len(other) - end]]
