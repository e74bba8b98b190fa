"""TRAIN.md of what train.py found."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from _markdown import paragraph

LAPTOP = Path(__file__).resolve().parent / "laptop.toml"
PRONOUNS = ("es", "er", "sie")
PLACES = ("intrasegmental", "external")
DISTANCES = ("0", "1")
# The Transformers of the paper. Table 6: total, es, er, sie; Table 7: intrasegmental, external; Table 8: distance 0, 1
TABLE_6 = {"baseline": (0.47, 0.81, 0.22, 0.38), "concat22": (0.49, 0.91, 0.20, 0.36)}
TABLE_7 = {"baseline": (0.70, 0.41), "concat22": (0.56, 0.47)}
TABLE_8 = {"baseline": (0.70, 0.38), "concat22": (0.56, 0.44)}


def report(found: Mapping[str, Any]) -> str:
    sizes = tomllib.loads(LAPTOP.read_text("utf-8"))
    counts, model, updates = found["pairs"], sizes["model"], sizes["training"]["updates"]
    trained_on = ", ".join(f"{name} {counts[name]:,}" for name in ("tatoeba", "multi30k", "docs-en-de", "ctxpro"))
    lines = [
        "# Sentence-level and concatenation models on ContraPro",
        "",
        *paragraph(
            "Written by `python experiments/run.py contrapro-2018/train` (with",
            "`--report-only` from train.json, without",
            f"training). Transformers with {model['layers']} layers on either side, of size",
            f"{model['embedding']}, {updates:,} updates on one",
            f"core each, one seed. Pairs: {trained_on}; {counts['left out: in ContraPro']:,}",
            "pairs were left out, with a",
            "sentence of ContraPro's in their passage.",
        ),
        "",
        *_by_pronoun(found["models"]),
        "",
        *_conclusion(found),
        "",
        "## Where the antecedent is (Tables 7 and 8)",
        "",
        *_where_known(found["models"]),
        "",
        *_table("location", PLACES, ("in the sentence", "outside"), found["models"], "Table 7", TABLE_7),
        "",
        *_table("distance", DISTANCES, ("distance 0", "distance 1"), found["models"], "Table 8", TABLE_8),
        "",
        "## Why it is far from the paper",
        "",
        *paragraph(
            "The paper's models saw millions of pairs; these saw a third of a million, most of them single sentences",
            "without context, for an hour of one core, and were still learning fast when",
            "they stopped (BLEU on talks says",
            "how little they know). Like the paper's, they say *es* wherever they can.",
        ),
    ]
    return "\n".join(lines) + "\n"


def _by_pronoun(models: Mapping[str, Any]) -> list[str]:
    lines = ["| model | total | es | er | sie | BLEU talks | BLEU captions | perplexity |"]
    lines.append("| :-- | --: | --: | --: | --: | --: | --: | --: |")
    for name, figures in models.items():
        ours = figures["contrapro"]
        accuracies = [ours["accuracy"], *_accuracies(figures, "reference_pronoun", PRONOUNS)]
        cells = [f"{value:.3f}" for value in accuracies]
        cells += [f"{figures['bleu'][part]['score']:.1f}" for part in ("talks", "flickr")]
        lines.append(f"| {name} | {' | '.join(cells)} | {figures['perplexity']:.1f} |")
        lines.append(f"| *paper, Table 6* | {_paper(TABLE_6[name])} | | | |")
    return lines


def _conclusion(found: Mapping[str, Any]) -> list[str]:
    """What the figures do and do not show; there is no control that could show an effect of context."""
    overall = found["compare"]["pairs"][0]
    low, high = overall["interval"]
    by = overall["breakdowns"]
    near, far, es = by["distance"]["0"], by["distance"]["1"], by["reference_pronoun"]["es"]
    same = "no larger" if far["delta"] <= near["delta"] else "larger"
    return paragraph(
        "**No context effect is shown.** The concatenation model differs by",
        f"{100 * overall['delta']:+.1f} points from the",
        f"sentence-level one ({100 * low:+.1f} to {100 * high:+.1f}, p =",
        f"{overall['p_adjusted']:.1g}), but nothing tells",
        f"this from a different prior over pronouns: it is {_change(near)} where the",
        "antecedent is in the sentence itself,",
        f"{same} where it is in the context, {_change(far)}, and *es* pays, {_change(es)}. Guessing gives {1 / 3:.3f}.",
        "There was no control with a random context, no measure of context usage, and one seed. An effect of context",
        "would be a gain of the right context over a random one at distance 1, and none",
        "at distance 0, over several seeds.",
    )


def _where_known(models: Mapping[str, Any]) -> list[str]:
    first = next(iter(models.values()))["contrapro"]["breakdowns"]["location"]
    known = sum(group["total"] for group in first.values())
    return paragraph(
        f"The rebuilt ContraPro knows the antecedent of {known:,} items, all of them *er* or *sie* and at most one",
        "sentence away. The paper's figures are over all pronouns, *es* included, so levels cannot be compared, only",
        "directions.",
    )


def _table(
    breakdown: str,
    groups: Sequence[str],
    heads: Sequence[str],
    models: Mapping[str, Any],
    title: str,
    paper: Mapping[str, Sequence[float]],
) -> list[str]:
    totals = next(iter(models.values()))["contrapro"]["breakdowns"][breakdown]
    columns = [f"{head} ({totals[group]['total']:,})" for head, group in zip(heads, groups, strict=True)]
    lines = [f"| model | {' | '.join(columns)} |", "| :-- | --: | --: |"]
    for name, figures in models.items():
        cells = [f"{value:.3f}" for value in _accuracies(figures, breakdown, groups)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
        lines.append(f"| *paper, {title}* | {_paper(paper[name])} |")
    return lines


def _accuracies(figures: Mapping[str, Any], breakdown: str, groups: Sequence[str]) -> list[float]:
    return [figures["contrapro"]["breakdowns"][breakdown][group]["accuracy"] for group in groups]


def _change(part: Mapping[str, float]) -> str:
    return f"{part['first']:.3f} → {part['second']:.3f} ({100 * part['delta']:+.1f})"


def _paper(values: Sequence[float]) -> str:
    return " | ".join(f"*{value:.2f}*" for value in values)
