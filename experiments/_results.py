"""docs/results.md: systems × suites, from the files that the experiments leave.

    python experiments/run.py results

A system is added with one line in SYSTEMS, or in TRANSLATORS if it is judged by its translations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from _markdown import paragraph

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "results.md"
SUITES = {
    "contrapro": "ContraPro, EN–DE",
    "bawden-coreference": "Bawden, coreference, EN–FR",
    "bawden-cohesion": "Bawden, coherence and cohesion, EN–FR",
    "lopes": "Lopes, EN–FR",
}
# How context is given, in the order of the tables; "all" is the right context on all items instead of a sample
CONDITIONS = {
    "none": "none",
    "right": "right",
    "all": "right",
    "random": "random",
    "produced": "right, target produced",
    "source only": "right, source only",
}


@dataclass(frozen=True, slots=True)
class System:
    """A system that chooses among candidates.

    file: that has its figures; path: where they are in it, {suite} being the name of the suite. There is a figure with
        `accuracy`, or one for each of CONDITIONS. A suite that the file does not have is left out.
    suites: those the path is about, if it does not say {suite}
    context: what the figure itself does not tell
    """

    name: str
    file: str
    path: str
    suites: tuple[str, ...] = tuple(SUITES)
    context: str = ""


BASELINES, TRAINED, REAL = "baselines/suites.json", "contrapro-2018/train.json", "discourse-2018/real.json"
CONTRAPRO = ("contrapro",)
SYSTEMS = (
    System("majority", BASELINES, "{suite}/majority", context="none"),
    System("bag of words, current sentence", BASELINES, "{suite}/bag_of_words/current", context="none"),
    System("bag of words, source context", BASELINES, "{suite}/bag_of_words/source_context", context="right"),
    System("bag of words, target context", BASELINES, "{suite}/bag_of_words/target_context", context="right"),
    System("naive Bayes, target context", TRAINED, "bayes", CONTRAPRO),
    System("our baseline (sentence level), seed 1 (kept)", TRAINED, "models/baseline-1", CONTRAPRO, "none"),
    System("our baseline (sentence level), seed 2", TRAINED, "models/baseline-2", CONTRAPRO, "none"),
    System("our baseline (sentence level), seed 3", TRAINED, "models/baseline-3", CONTRAPRO, "none"),
    System("our concat22, stage 2", TRAINED, "models/stage2", CONTRAPRO),
    System("our concat22, seed 1", TRAINED, "models/concat22-1", CONTRAPRO),
    System("our concat22, seed 2", TRAINED, "models/concat22-2", CONTRAPRO),
    System("our concat22, seed 3", TRAINED, "models/concat22-3", CONTRAPRO),
    System("our concat22, mean of the seeds' weights", TRAINED, "models/concat22-mean", CONTRAPRO),
    System("our concat22, counterfactual passages, seed 1 (kept)", TRAINED, "models/counterfactual-1", CONTRAPRO),
    System("our concat22, counterfactual passages, seed 2", TRAINED, "models/counterfactual-2", CONTRAPRO),
    System("our concat22, counterfactual passages, seed 3", TRAINED, "models/counterfactual-3", CONTRAPRO),
    System("our baseline, EN–FR", REAL, "models/baseline-1/{suite}", context="none"),
    System("our 2-to-2, EN–FR, stages 1–2", REAL, "models/stage2/{suite}"),
    *(System(f"our 2-to-2, EN–FR, seed {seed}", REAL, f"models/2-to-2-{seed}/{{suite}}") for seed in (1, 2)),
    System("our recurrent baseline, EN–FR", REAL, "models/rnn-baseline-1/{suite}", context="none"),
    System("our s-hier, EN–FR", REAL, "models/s-hier-1/{suite}"),
    System("our t-hier, EN–FR", REAL, "models/t-hier-1/{suite}"),
    System("our s-hier-to-2, EN–FR", REAL, "models/s-hier-to-2-1/{suite}"),
    System("our s-hier-to-2-tied, EN–FR", REAL, "models/s-hier-to-2-tied-1/{suite}"),
    System("SmolLM2-135M-Instruct", "language-models/context.json", "models/smollm2/document/{suite}"),
    System("Gemma 3 270M", "language-models/context.json", "models/gemma/document/{suite}"),
    System("Qwen2.5-Coder-1.5B-Instruct", "language-models/context.json", "models/qwen/document/{suite}"),
)


@dataclass(frozen=True, slots=True)
class Translators:
    """Systems that are judged by their translations: everything that a file has of one text.

    path: where `apt` and `surface` are in the file, each by system
    """

    text: str
    file: str
    path: str = ""


METRICS = ("bleu", "chrf")
CHANCE = 0.05
TRANSLATORS = (
    Translators("EN–DE, WMT news 2018 and 2019", "apt-2017/wmt.json", "en-de"),
    Translators("EN–FR, WMT news 2013 and 2014", "apt-2017/wmt.json", "en-fr"),
    Translators("DE–EN, WMT news 2018 and 2019", "apt-2017/wmt.json", "de-en"),
    Translators("FR–EN, WMT news 2013 and 2014", "apt-2017/wmt.json", "fr-en"),
    Translators("EN–ES, TED talks (IWSLT 2014)", "apt-2017/apertium.json"),
    Translators("PT–EN, WMT news 2019, to Portuguese and back", "engines/bergamot.json", "round_trip"),
    Translators("ZH–EN, WMT news 2021, sentences with a pronoun", "engines/opus.json"),
)


@dataclass(frozen=True, slots=True)
class Row:
    """A figure of a system on a suite."""

    system: str
    context: str
    figure: Mapping[str, Any]
    signature: str
    difference: Mapping[str, Any]  # right against random context on the same items; empty: not measured

    @property
    def condition(self) -> str:
        """Whether the context is the right one, a random one, or none."""
        return self.context.partition(" (")[0]


def page() -> str:
    tables = {suite: list(rows(suite)) for suite in SUITES}
    return "\n".join([*HEAD, *overview(tables), *details(tables), *translations()]) + "\n"


HEAD = (
    "# Results",
    "",
    *paragraph(
        "What systems reach on the suites, with everything that makes the figures comparable. This page is written by",
        "`python experiments/run.py results` from the files that the [experiments](../experiments/README.md) leave. To",
        "add a system, add a line to `experiments/_results.py`.",
    ),
    "",
    *paragraph(
        "All intervals are 95 % intervals. *Context* is what the system is given besides the current sentence: the",
        "right previous sentence, that of another item (random), or none; in parentheses the number of sentences of",
        "source and target context, as in the [signature](evaluation.md#signatures). A system uses context only if the",
        "right one helps more than a random one. [Baselines](baselines.md) need no understanding; the bags of words",
        "are cross-validated on the suite itself.",
    ),
)


def rows(suite: str) -> Iterator[Row]:
    """All figures on a suite, in the order of SYSTEMS."""
    for system in SYSTEMS:
        if suite not in system.suites:
            continue
        node, signature = look_up(system.file, system.path.format(suite=suite))
        if node is None:
            continue
        found = {"": node} if "accuracy" in node else {c: node[c] for c in CONDITIONS if c in node}
        for condition, figure in found.items():
            if condition == "right" and "all" in found and found["all"]["total"] > figure["total"]:
                continue  # the same on a sample
            signed = figure.get("signature", signature)
            given = re.search(r"\|ctx:([^|]+)", signed)
            context = (system.context or CONDITIONS[condition]) + (f" ({given[1]})" if given else "")
            yield Row(system.name, context, figure, signed, node.get("difference", {}))


@cache
def figures(file: str) -> dict[str, Any]:
    path = HERE / file
    found: dict[str, Any] = json.loads(path.read_bytes()) if path.exists() else {}
    return found


def look_up(file: str, path: str) -> tuple[dict[str, Any] | None, str]:
    """What a file has at a path, and the signature that stands nearest above it; None if the file does not have it."""
    node, signature = figures(file), ""
    for key in path.split("/") if path else ():
        signature = node.get("signature", signature)
        if key not in node:
            return None, ""
        node = node[key]
    return node, node.get("signature", signature)


def overview(tables: dict[str, list[Row]]) -> list[str]:
    """A line per system: accuracy with the right context on each suite, and what it is above a random one."""
    names = [system.name for system in SYSTEMS if any(row.system == system.name for t in tables.values() for row in t)]
    lines = [
        "",
        "## Overview",
        "",
        *paragraph(
            "Accuracy with the right context (without any, if a system reads none). In parentheses: how many",
            "points it is",
            "above that with a random context on the same items, where this was measured; * is beyond chance",
            "(McNemar's",
            "test, corrected by Holm's method within the experiment, p < 0.05). Guessing has 0.50, on ContraPro 0.33.",
        ),
        "",
        f"| system | {' | '.join(SUITES.values())} |",
        f"|---|{'--:|' * len(SUITES)}",
    ]
    return [*lines, *(f"| {name} | {' | '.join(cell(tables[suite], name) for suite in SUITES)} |" for name in names)]


def cell(table: list[Row], system: str) -> str:
    found = {row.condition: row for row in table if row.system == system}
    best = found.get("right") or found.get("none")
    if best is None:
        return ""
    text = f"{best.figure['accuracy']:.3f}"
    if best.difference:
        points = f"{-100 * best.difference['delta'] + 0.0:+.1f}".replace("-", "−")
        text += f" ({points}{'*' if best.difference['p_adjusted'] < CHANCE else ''})"
    return text


def details(tables: dict[str, list[Row]]) -> list[str]:
    lines = []
    for suite, table in tables.items():
        lines += ["", f"## {SUITES[suite]}", "", "| system | context | n | accuracy | 95 % interval | signature |"]
        lines += ["|---|---|--:|--:|:-:|---|"]
        for found in table:
            figure = found.figure
            low, high = figure["interval"]
            numbers = f"{figure['total']:,} | {figure['accuracy']:.3f} | [{low:.3f}, {high:.3f}]"
            lines.append(f"| {found.system} | {found.context} | {numbers} | `{found.signature.replace('|', '·')}` |")
    return [*lines, "", "In the signatures `|` is written `·`, as a table cannot hold it."]


def translations() -> list[str]:
    """APT, BLEU and chrF of translations, a table for each text."""
    lines = [
        "",
        "## Translations",
        "",
        "[APT](apt.md), the accuracy of pronoun translation against a reference, next to BLEU and chrF. Signatures are",
        "those of all systems of a table.",
    ]
    for source in TRANSLATORS:
        node, _ = look_up(source.file, source.path)
        if node is None or "apt" not in node:
            continue
        lines += ["", f"### {source.text}", "", "| system | pronouns | APT | BLEU | chrF |", "|---|--:|--:|--:|--:|"]
        for name, apt in sorted(node["apt"].items(), key=lambda item: -item[1]["apt"]):
            surface = node["surface"][name]
            scores = (with_interval(surface[metric]["score"], surface[metric]["interval"], 1) for metric in METRICS)
            apt_score = with_interval(apt["apt"], apt["interval"], 3)
            lines.append(f"| {name} | {apt['total']:,} | {apt_score} | {' | '.join(scores)} |")
        kinds = [[apt["signature"] for apt in node["apt"].values()]]
        kinds += [[surface[metric]["signature"] for surface in node["surface"].values()] for metric in METRICS]
        lines += ["", *(f"- `{signature}`" for kind in kinds for signature in dict.fromkeys(kind))]
    return lines


def with_interval(value: float, interval: list[float], digits: int) -> str:
    return f"{value:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"


def write() -> None:
    PAGE.write_text(page(), encoding="utf-8")
