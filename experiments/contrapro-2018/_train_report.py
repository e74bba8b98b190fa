"""TRAIN.md of what train.py found."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from _markdown import bullet, p_value, paragraph
from _stages import SHORT
from _train_cells import (
    STAGES,
    Figures,
    accuracy,
    gain,
    group,
    interval,
    mean,
    paper,
    row,
    table,
    title,
)
from _train_notes import choice, limits

from anaphora.stats.paired import holm

PRONOUNS = ("es", "er", "sie")
# Of the paper. Table 6: total, es, er, sie
TABLE_6 = {
    "Transformer baseline": (0.47, 0.81, 0.22, 0.38),
    "Transformer concat22": (0.49, 0.91, 0.20, 0.36),
    "s-hier-to-2.tied, the best": (0.60, 0.87, 0.45, 0.48),
}
# Tables 7 and 8: in the sentence (distance 0), outside, distance 1. Table 5: BLEU without regard to case, pronoun set
TABLES_7_8 = {
    "Transformer baseline": (0.70, 0.41, 0.38),
    "Transformer concat22": (0.56, 0.47, 0.44),
    "s-hier-to-2.tied, the best": (0.65, 0.58, 0.58),
}
TABLE_5 = {"Transformer baseline": 21.1, "Transformer concat22": 21.3}
NOT_RUN = "not run"
CHANCE = 0.05


def report(found: Figures) -> str:
    models = found["models"]
    seeds = {stage: [n for n in models if n.startswith(f"{stage}-") and n[-1].isdigit()] for stage in STAGES}
    best = found["detailed"]  # the one that was asked everything
    parts = [
        ["# Does context help on ContraPro? Small models trained on real text"],
        question(found, seeds),
        ["## ContraPro in several contexts"],
        contexts(models, found["bayes"], seeds),
        ["## What it shows"],
        shown(models, best),
        ["## By pronoun (Table 6)"],
        by_pronoun(models, found["bayes"]),
        ["## Where the antecedent is (Tables 7 and 8)"],
        places(models, found["bayes"]),
        ["## Target context: the reference's, the model's own, none"],
        target_contexts(best, models[best]),
        ["## BLEU (Table 5)"],
        bleu(models, best),
        ["## Which checkpoints (development set)"],
        choice(found),
        ["## What each ingredient of the last stage brings"],
        ablation(found.get("ablation", {}), found.get("counterfactual", {})),
        ["## Limitations"],
        limits(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def question(found: Figures, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    return [
        *paragraph(
            "**Question.** Can a small concatenation model choose German pronouns from the previous sentence, and is",
            "it really that sentence that helps?",
        ),
        "",
        "```sh",
        "python experiments/run.py contrapro-2018/train                # train, evaluate, write this page",
        "python experiments/run.py contrapro-2018/train --report-only  # write this page from train.json",
        "anaphora score contrapro.jsonl --system nmt:experiments/contrapro-2018/concat22 --context 1 -o RUN",
        "```",
        "",
        *stages(found),
        "",
        *paragraph(
            "The baseline goes through the same three stages without context. It does not read the counterfactual",
            "passages: without their context every pronoun in them is equally right, so they cannot teach it anything.",
            f"Seeds of stage 3: {', '.join(f'{len(names)} of {STAGES[stage]}' for stage, names in seeds.items())}.",
            "No sentence of three or more words of ContraPro, contexts included, is in the training text.",
        ),
    ]


def stages(found: Figures) -> list[str]:
    """The training, one list item for each stage."""
    counts, updates = found["pairs"], found["updates"]
    corpora = ", ".join(f"{name} {counts[name]:,}" for name in ("tatoeba", "multi30k", "docs-en-de", "ctxpro"))
    passages = ", ".join(f"{counts[name]:,} {name}" for name in ("masculine", "feminine", "neuter"))
    items = [
        [
            f"**Stage 1** ({updates['stage1']:,} updates): single sentences from all corpora (pairs: {corpora}).",
        ],
        [
            f"**Stage 2** ({updates['stage2']:,} updates): documents of several sentences ({counts['documents']:,}",
            "pairs). concat22 reads the previous sentence joined to the current one on both sides. The baseline reads",
            "single sentences, in batches of half the tokens, so that both see about the same number of sentences.",
        ],
        [
            f"**Stage 3** ({updates['concat22']:,} updates): passages of two sentences, the second with one *it*",
            f"translated as *er*, *ihn*, *sie* or *es* ({passages}; masculine and feminine passages are repeated four",
            f"times in an epoch), and {counts['mixed']:,} pairs of general text. In the loss, pronouns weigh 8 and the",
            "context half of the target 0.1.",
        ],
    ]
    if more := found.get("counterfactual"):
        pairs = more["pairs"]
        items.append(
            [
                f"**Stage 3 with counterfactual passages** ({more['updates']:,} updates; the kept model): the same and",
                "two kinds of weakly supervised passages. Each begins with a real sentence whose nouns all have the",
                f"same gender according to a tagger. In {pairs['weak']:,} passages it is followed by one of ten short",
                f"sentences with the agreeing pronoun, in {pairs['counterfactual']:,} by a real sentence with *er* or",
                "*ihn*, given in all three genders, each after two contexts of that gender: only the context",
                "determines the pronoun.",
            ]
        )
    lines = paragraph(
        "**Training.** Transformers with 2 + 2 layers of size 192 and 4,000 lowercased subwords, 1,500 tokens a batch,",
        "trained on one core:",
    )
    return [*lines, "", *(line for item in items for line in bullet(item))]


# Tables


def contexts(models: Figures, bayes: Figures, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    lines = table(
        "model", "items", "right", "random", "none", "distance 1: right", "random", "distance 0: right", "random"
    )
    for name, figures in (*asked(models).items(), ("naive Bayes, previous German sentence", bayes)):
        right, random = figures["right"], figures.get("random")
        cells = [f"{right['total']:,}", accuracy(right), accuracy(random), accuracy(figures.get("none"))]
        for distance in ("1", "0"):
            cells += [accuracy(group(part, "distance", distance)) for part in (right, random)]
        lines.append(row(title(name), *cells))
    lines.append(row("always *es* (or *er*, or *sie*)", "12,000", "0.333", "0.333", "0.333", "", "", "", ""))
    for stage, names in seeds.items():
        judged = [models[name] for name in names if "right" in models[name]]
        if len(judged) > 1:
            with_all = [[m[c] for m in judged if c in m] for c in ("right", "random")]
            cells = [*(mean(part["accuracy"] for part in parts) for parts in with_all), ""]
            for distance in ("1", "0"):
                places = [[group(part, "distance", distance) for part in parts] for parts in with_all]
                cells += [mean(part["accuracy"] for part in parts) for parts in places]
            lines.append(row(f"**{STAGES[stage]}: mean of {len(judged)} seeds ± standard deviation**", "", *cells))
    return lines


def asked(models: Figures) -> dict[str, Any]:
    """The models that were asked ContraPro."""
    return {name: figures for name, figures in models.items() if "right" in figures}


def shown(models: Figures, best: str) -> list[str]:
    """What the figures show; context is claimed only where right minus random is beyond chance."""
    names = [name for name in asked(models) if "difference" in models[name]]
    totals = [models[name]["difference"] for name in names]
    near = [total["distance"]["1"] for total in totals]
    ps = [holm([part["p_adjusted"] for part in parts]) for parts in (totals, near)]
    lines = table("right minus random context, in points", "all items", "p", "distance 1", "p", "context is used")
    for name, total, close, p, p_close in zip(names, totals, near, *ps, strict=True):
        verdict = "beyond chance" if p_close < CHANCE and close["delta"] < 0 else "not beyond chance"
        lines.append(row(title(name), gain(total), p_value(p), gain(close), p_value(p_close), verdict))
    lines = [
        *headline(models, best),
        "",
        *lines,
        "",
        *paragraph(
            "Same items in both contexts; McNemar's test, with Holm's correction over the models of a column and, at",
            "distance 1, over the distances of a model. The last column is about distance 1.",
        ),
    ]
    if "cxmi" not in models[best]:
        return [*lines, "", "CXMI at the pronoun: not run."]
    conditions = models[best]["cxmi"]["conditions"]
    right, random = (conditions[name]["cxmi_pronoun"] for name in ("1 sentence", "random"))
    return [
        *lines,
        "",
        *paragraph(
            f"**CXMI at the pronoun** (nats, {conditions['random']['total']:,} random items, {title(best)}): right",
            f"context {interval(right)}, random context {interval(random)}.",
        ),
    ]


def headline(models: Figures, best: str) -> list[str]:
    """The mean of the seeds next to the kept model."""
    stage = best.rpartition("-")[0]
    seeds, baselines = (
        [models[name] for name in asked(models) if name.startswith(f"{start}-") and name[-1].isdigit()]
        for start in (stage, "baseline")
    )
    kept = models[best]["all"]
    without = mean(figures["all"]["accuracy"] for figures in baselines)
    lines = paragraph(
        f"On all {kept['total']:,} items, the kept model ({title(best)}) has {accuracy(kept)} and the baseline",
        f"{without} ({len(baselines)} seeds).",
    )
    if len(seeds) < 2:
        return lines
    items = "all" if all("all" in figures for figures in seeds) else "right"
    total = seeds[0][items]["total"]
    return [
        *paragraph(
            f"**{STAGES[stage]}: {mean(figures[items]['accuracy'] for figures in seeds)}** on {total:,} items (mean of",
            f"{len(seeds)} seeds ± standard deviation).",
        ),
        "",
        *lines,
    ]


def by_pronoun(models: Figures, bayes: Figures) -> list[str]:
    lines = table("model", "items", "total", *PRONOUNS)
    for name, figures in (*asked(models).items(), ("naive Bayes", bayes)):
        every = figures.get("all") or figures["right"]
        groups = [group(every, "reference_pronoun", pronoun) for pronoun in PRONOUNS]
        lines.append(row(title(name), f"{every['total']:,}", *map(accuracy, (every, *groups))))
    return [*lines, *(row(f"*paper: {name}*", "*12,000*", *paper(values)) for name, values in TABLE_6.items())]


def places(models: Figures, bayes: Figures) -> list[str]:
    lines = table("model", "in the sentence (distance 0)", "outside, any distance", "distance 1")
    for name, figures in (*asked(models).items(), ("naive Bayes", bayes)):
        cells = [
            group(figures.get("all") or figures["right"], *place)
            for place in (("distance", "0"), ("location", "external"), ("distance", "1"))
        ]
        lines.append(row(title(name), *map(accuracy, cells)))
    lines += [row(f"*paper: {name}*", *paper(values)) for name, values in TABLES_7_8.items()]
    return [
        *lines,
        "",
        *paragraph(
            "The rebuilt ContraPro has the antecedents of 4,272 items, all with *er* or *sie* and at most one sentence",
            "away, so *outside* equals *distance 1* here. The paper's figures include *es*: compare directions, not",
            "levels.",
        ),
    ]


def target_contexts(best: str, figures: Figures) -> list[str]:
    lines = table(f"{title(best)}: previous sentence of the target", "items", "total", "distance 1", "distance 0")
    names = {
        "right": "the reference's (gold)",
        "produced": "the model's own translation",
        "source only": "none, source only",
    }
    for condition, name in {**names, "none": "none, and none of the source"}.items():
        if condition in figures:
            part = figures[condition]
            cells = [accuracy(p) for p in (part, group(part, "distance", "1"), group(part, "distance", "0"))]
            lines.append(row(name, f"{part['total']:,}", *cells))
    return lines


def bleu(models: Figures, best: str) -> list[str]:
    if not all("bleu" in models[name] for name in (best, "stage2")):
        return ["Not run."]
    lines = table("model", "talks", "captions", "pronoun set")
    for name, figures in models.items():
        if "bleu" in figures:
            scores = [figures["bleu"][part] for part in ("talks", "captions", "pronouns")]
            cells = [f"{s['score']:.1f} [{s['interval'][0]:.1f}, {s['interval'][1]:.1f}]" for s in scores]
            lines.append(row(title(name), *cells))
    lines += [row(f"*paper, Table 5: {name}*", "", "", f"*{value:.1f}*") for name, value in TABLE_5.items()]
    changes = []
    for part, name in (("talks", "talks"), ("captions", "captions"), ("pronouns", "the pronoun set")):
        change = models[best]["bleu"][part]["score"] - models["stage2"]["bleu"][part]["score"]
        changes.append(f"{change:+.1f} on {name}")
    return [
        *lines,
        "",
        *paragraph(
            "Lowercased, tokenized as sacreBLEU's 13a, at least 600 sentences in each set. The pronoun set consists of",
            "sentences of ContraPro, translated with the sentence before them. The last stage changes the BLEU of",
            f"concat22 by {', '.join(changes)}.",
        ),
    ]


def ablation(found: Figures, training: Figures) -> list[str]:
    if not found:
        return paragraph("Not run. `--ablation` trains it from the kept stage 2, three seeds each.")
    seeds = sorted({seed for runs in found.values() for seed in runs})
    lines = table("last stage", "seeds", "total", "random", "distance 1", "random", "right − random at distance 1")
    for name, runs in found.items():
        total, random = ([run[c]["accuracy"] for run in runs.values()] for c in ("right", "random"))
        near = [[group(run[c], "distance", "1")["accuracy"] for run in runs.values()] for c in ("right", "random")]
        gap = [100 * (one - other) for one, other in zip(*near, strict=True)]
        cells = [mean(total), mean(random), *map(mean, near), mean(gap, 1)] if runs else [NOT_RUN, *[""] * 4]
        lines.append(row(name, str(len(runs)), *cells))
    items = next(run["right"]["total"] for runs in found.values() for run in runs.values())
    return [
        *lines,
        "",
        *paragraph(
            f"Means ± standard deviation over seeds ({', '.join(seeds)}), on {items:,} random items of ContraPro.",
            f"Every row has {SHORT.updates:,} updates.",
            *uneven(found),
        ),
        *equal_lengths(found, training),
    ]


def uneven(found: Figures) -> list[str]:
    """Rows with fewer seeds than others."""
    most = max(map(len, found.values()))
    short = [f"*{name}* ({len(runs)})" for name, runs in found.items() if len(runs) < most]
    return [f"Rows with fewer than {most} seeds: {', '.join(short)}; the others were not run."] if short else []


def equal_lengths(found: Figures, training: Figures) -> list[str]:
    """What each kind of weak supervision adds, seed by seed."""
    names = ("everything", "with weak supervision", "with weak supervision and counterfactual passages")
    seeds = sorted(set.intersection(*(set(found.get(name, {})) for name in names)))
    if not seeds:
        return []
    totals = [[found[name][seed]["right"]["accuracy"] for seed in seeds] for name in names]
    gains = [[100 * (b - a) for a, b in zip(*pair, strict=True)] for pair in (totals[:2], totals[1:])]
    added = [mean(gain, 1) for gain in gains]
    spread = len(seeds) > 1 and abs(statistics.mean(gains[1])) < 2 * statistics.stdev(gains[1])
    later = training.get("pairs_of_seeds", {}) if training else {}
    other = {pairs["weak"] for pairs in later.values()} - {training["pairs"]["weak"]} if later else set()
    return [
        "",
        *paragraph(
            f"On the same seeds ({', '.join(seeds)}), the short weakly supervised sentences add {added[0]} points of",
            f"accuracy, and the counterfactual passages another {added[1]}"
            + (" (less than two standard deviations)." if spread else "."),
            *(f"Seeds 2 and 3 of the last row read {weak:,} short passages (see Limitations)." for weak in other),
        ),
    ]
