"""TRAIN.md of what train.py found."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from _markdown import paragraph

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
SEEDS = (1, 2, 3)  # as in _stages.py
GOAL = 0.70
# Last stages with context: the name of their models without the seed, and in tables
STAGES = {"concat22": "concat22", "counterfactual": "concat22 with counterfactual passages"}
Figures = Mapping[str, Any]


def report(found: Figures) -> str:
    models = found["models"]
    seeds = {stage: [n for n in models if n.startswith(f"{stage}-") and n[-1].isdigit()] for stage in STAGES}
    best = found["detailed"]  # the one that was asked everything
    parts = [
        ["# Does context help on ContraPro? Small models, real text"],
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
        ablation(found.get("ablation", {})),
        ["## What this does not show"],
        limits(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def question(found: Figures, seeds: Mapping[str, Sequence[str]]) -> list[str]:
    counts, updates = found["pairs"], found["updates"]
    run = [f"{len(names)} of {STAGES[stage]}{missing(names)}" for stage, names in seeds.items() if names]
    trained_on = ", ".join(f"{name} {counts[name]:,}" for name in ("tatoeba", "multi30k", "docs-en-de", "ctxpro"))
    passages = ", ".join(f"{counts[name]:,} {name}" for name in ("masculine", "feminine", "neuter"))
    return [
        *paragraph(
            "**Question.** Does a concatenation model that an ordinary processor trains in an hour choose German",
            "pronouns by what the previous sentence says, and does it do so because of that sentence?",
        ),
        "",
        "```sh",
        "python experiments/run.py contrapro-2018/train              # train, judge, write this page",
        "python experiments/run.py contrapro-2018/train --report-only  # this page from train.json",
        "anaphora score contrapro.jsonl --system nmt:experiments/contrapro-2018/concat22 --context 1 -o RUN",
        "```",
        "",
        *paragraph(
            "**Training.** Transformers with 2 + 2 layers of size 192 and 4,000 subwords, lowercased, 1,500",
            "tokens a batch.",
            f"Stage 1: sentence by sentence on everything ({updates['stage1']:,} updates; pairs: {trained_on}).",
            f"Stage 2: on documents of several sentences only ({counts['documents']:,} pairs), with the",
            "previous sentence",
            "joined on both sides (concat22) or without (baseline; batches of half the tokens, so of as",
            "many sentences),",
            f"{updates['stage2']:,} updates. Stage 3: passages of two sentences, the second with one *it* and one of",
            f"*er*, *ihn*, *sie*, *es* ({passages}; the first two four times in an epoch), with",
            f"{counts['mixed']:,} pairs of other text, {updates['concat22']:,} updates; pronouns weigh 8,",
            "the context half of",
            "the target 0.1. The baseline has the same stages without context. Seeds of stage 3:",
            f"{', '.join(run)}, one of the baseline. No sentence of three or more words of ContraPro, contexts",
            "included, is in the training text.",
        ),
        *more_text(found.get("counterfactual")),
    ]


def missing(names: Sequence[str]) -> str:
    return "" if len(names) == len(SEEDS) else f" (of {len(SEEDS)}; the others were not run)"


def more_text(found: Figures | None) -> list[str]:
    """What counterfactual passages are."""
    if not found:
        return []
    pairs = found["pairs"]
    return [
        "",
        *paragraph(
            "**Counterfactual passages.** The last stage of the model that is kept reads two kinds of weak supervision",
            "besides, each once in an epoch. Both begin with a real sentence of the training documents whose nouns,",
            f"by a tagger, all have one gender. In {pairs['weak']:,} passages one of ten short sentences with the",
            f"pronoun of that gender follows; in {pairs['counterfactual']:,} a real sentence with *er* or *ihn* for",
            "*it*, given in all three genders, each after two sentences of that gender. The sentence itself tells",
            f"nothing about the pronoun; only what is before it does. It is {found['updates']:,} updates long, as it",
            "has more to read, and starts from stage 2 in half precision, as it is kept. Without context these",
            "passages would say that any pronoun fits, so the baseline does not have them; it is the baseline of",
            "concat22.",
        ),
    ]


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
            cells = [mean(m[c]["accuracy"] for m in judged) for c in ("right", "random")] + [""]
            for distance in ("1", "0"):
                places = [[group(m[c], "distance", distance) for m in judged] for c in ("right", "random")]
                cells += [mean(part["accuracy"] for part in parts) for parts in places]
            lines.append(row(f"**{STAGES[stage]}: mean of {len(judged)} seeds ± standard deviation**", "", *cells))
    return lines


def asked(models: Figures) -> dict[str, Any]:
    """The models that were asked ContraPro."""
    return {name: figures for name, figures in models.items() if "right" in figures}


def shown(models: Figures, best: str) -> list[str]:
    """What the figures show; context is claimed only where right minus random is beyond chance."""
    sentences = []
    for name in (name for name in asked(models) if name.partition("-")[0] in STAGES):
        near = models[name]["difference"]["distance"]["1"]
        certain = near["p_adjusted"] < 0.05 and near["delta"] < 0
        verdict = "beyond chance" if certain else "not beyond chance"
        low, high = sorted(-100 * bound for bound in near["interval"])
        sentences.append(f"{title(name)}: {-100 * near['delta']:+.1f} points ({low:.1f} to {high:.1f}), {verdict}.")
    lines = paragraph("**Right minus random context at distance 1** (same items, McNemar's test, Holm):", *sentences)
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
            "The rebuilt ContraPro knows the antecedent of 4,272 items, all of them *er* or *sie* and at",
            "most one sentence",
            "away, so *outside* is *distance 1* here. The paper's figures are over all pronouns, *es*",
            "included: directions",
            "can be compared, levels cannot.",
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
            "Lowercased, sacreBLEU's 13a; at least 600 sentences each, so the intervals are wide. The pronoun set are",
            "sentences of ContraPro, translated with the sentence",
            f"before them, against its references. The last stage changes BLEU of concat22 by {', '.join(changes)}.",
        ),
    ]


def ablation(found: Figures) -> list[str]:
    if not found:
        return paragraph("Not run. `--ablation` trains it from stage 2, which is kept here, three seeds each.")
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
            f"Means over seeds ± standard deviation (seeds {', '.join(seeds)}), on {items:,} random items of",
            "ContraPro. Rows of",
            "fewer seeds than others, and rows that were not run, are so for want of time.",
        ),
    ]


def limits(found: Figures) -> list[str]:
    models = found["models"]
    total = found["kept"]["concat22"]["accuracy"] if "kept" in found else models[found["detailed"]]["all"]["accuracy"]
    goal = "reached" if total >= GOAL else "not reached"
    return paragraph(
        f"The goal of {GOAL:.2f} in total is {goal} ({total:.3f}), with one seed on all items.",
        *longer_too(found),
        "These models translate badly: they saw a third of a million pairs for minutes. The figure with gold target",
        "context says that a model reads the gender of a noun in a *given* German sentence; a bag of words goes most",
        f"of that way (naive Bayes, {found['bayes']['right']['accuracy']:.3f}), and it does not mean that the model",
        "resolves *it*. ContraPro's",
        "antecedents are known",
        "for *er* and *sie* only, so distances say nothing of *es*. The training passages are subtitles that DeepL",
        "translated with context, of the genre of ContraPro, and the last stage asks what the test asks.",
        "Robustness to attacks is another question: see [contracat-2020](../contracat-2020/ATTACKS.md).",
    )


def longer_too(found: Figures) -> list[str]:
    """What differs besides the text between the two last stages, and what is known at equal lengths."""
    if "counterfactual" not in found:
        return []
    updates = (found["counterfactual"]["updates"], found["updates"]["concat22"])
    return [
        f"The last stage with counterfactual passages is also longer ({updates[0]:,} updates instead of",
        f"{updates[1]:,}): not all of its gain is shown to come from these passages.",
        *equal_lengths(found.get("ablation", {})),
        "Their genders are a tagger's, and sentences with the changed pronoun do not always make sense.",
    ]


def equal_lengths(found: Figures) -> list[str]:
    """The two kinds of weak supervision in the ablation, with the seeds that all rows have."""
    names = ("everything", "with weak supervision", "with weak supervision and counterfactual passages")
    seeds = sorted(set.intersection(*(set(found.get(name, {})) for name in names)))
    if not seeds:
        return ["At equal lengths they were not compared."]
    spread = statistics.stdev(run["right"]["accuracy"] for run in found[names[1]].values())  # between seeds
    without, weak, both = (statistics.mean(found[n][s]["right"]["accuracy"] for s in seeds) for n in names)
    return [
        f"At equal lengths (the ablation above; seed{'s' if len(seeds) > 1 else ''} {', '.join(seeds)}) the last stage",
        f"has {without:.3f} without weak supervision, {weak:.3f} with the short sentences, and {both:.3f} with",
        "counterfactual passages too.",
        *(["What these add to the short sentences is within the spread of seeds."] * (both - weak < 2 * spread)),
    ]


def choice(found: Figures) -> list[str]:
    """How length and checkpoints were chosen: a row for each length, a column for each model."""
    every = {name: figures["chosen"] for name, figures in found["models"].items() if "chosen" in figures}
    chosen = {name: best for name, best in every.items() if "tried" in best}
    items = max(best["items"] for best in chosen.values())
    tried = sorted({(t["updates"], t["mean"]) for best in chosen.values() for t in best["tried"]})
    lines = table("updates", "mean of", *map(title, chosen))
    for updates, number in tried:
        cells = []
        for best in chosen.values():
            here = [t["accuracy"] for t in best["tried"] if (t["updates"], t["mean"]) == (updates, number)]
            mark = "**" if (best["updates"], best["mean"]) == (updates, number) else ""
            cells.append("".join(f"{mark}{accuracy:.3f}{mark}" for accuracy in here))
        lines.append(row(f"{updates:,}", f"{number} checkpoints", *cells))
    return [
        *lines,
        "",
        *paragraph(
            f"Accuracy on {items:,} passages with *it* that are held out of the last stage, as many of each gender,",
            "never on ContraPro.",
            *slips(found),
            "The best mean of checkpoints (bold) is the model; checkpoints are 50 updates apart.",
            "Stages 1 and 2 had read these passages as text, so that the level means little; of two models that differ",
            f"by less than {196 * math.sqrt(0.25 / items):.0f} points it does not tell the better one.",
            *(f"{title(name)}: {best['accuracy']:.3f}." for name, best in every.items() if name not in chosen),
            *longer(found.get("longer", [])),
            *kept(found),
        ),
    ]


def slips(found: Figures) -> list[str]:
    """Items of a development set that asked for another word."""
    if not found.get("slips"):
        return []
    again = found["models"]["concat22-1"].get("development")
    later = "the columns with counterfactual passages are without such items, and"
    return [
        f"In {found['slips']} of them the word that was exchanged is a polite *Sie* and not the pronoun for *it*: a",
        "slip that was found after the training of the baseline and of concat22; the script makes no such items any",
        *("more.",) * (again is None),
        *(
            f"more: {later} concat22, seed 1, as it was kept has {again:.3f} on these."
            for _ in range(again is not None)
        ),
    ]


def kept(found: Figures) -> list[str]:
    """Which model is kept, and why."""
    best = found["detailed"]
    if not best.startswith("counterfactual"):
        return [f"The model that is kept and asked everything is the best one here: {title(best)}."]
    return [
        f"The model that is kept and asked everything is {title(best)}. The rule was fixed before ContraPro was asked:",
        "if seed 1 with these passages is not worse here than seed 1 without, it is judged, and then the other seeds.",
        "That seed 1 is kept was fixed when its accuracy on 3,000 items of ContraPro was known and before the other",
        "seeds were trained.",
    ]


def longer(tried: Sequence[Figures]) -> list[str]:
    """What more updates gave in a trial of seed 1, which set the length."""
    told = ", ".join(f"{t['accuracy']:.3f} ({t['mean']} checkpoints)" for t in tried)
    return [f"A trial of seed 1 went on to {tried[-1]['updates']:,} updates: {told}, no gain."] if tried else []


# Cells


def table(*heads: str) -> list[str]:
    return [row(*heads), row(":--", *["--:"] * (len(heads) - 1))]


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def title(name: str) -> str:
    stem, _, seed = name.rpartition("-")
    names = {
        "stage2-baseline": "baseline, stages 1–2",
        "stage2": "concat22, stages 1–2",
    }
    ending = {"mean": "mean of the seeds' weights"}.get(seed, f"seed {seed}")
    return names.get(name) or (f"{STAGES.get(stem, stem)}, {ending}" if stem else name)


def accuracy(part: Figures | None) -> str:
    if not part:
        return ""
    low, high = part["interval"]
    return f"{part['accuracy']:.3f} [{low:.3f}, {high:.3f}]"


def group(part: Figures | None, breakdown: str, name: str) -> Any:
    return part["breakdowns"][breakdown].get(name) if part else None


def mean(values: Iterable[float], digits: int = 3) -> str:
    numbers = list(values)
    spread = f" ± {statistics.stdev(numbers):.{digits}f}" if len(numbers) > 1 else ""
    return f"{statistics.mean(numbers):.{digits}f}{spread}"


def interval(figure: Figures) -> str:
    low, high = figure["interval"]
    return f"{figure['mean']:+.3f} [{low:.3f}, {high:.3f}]"


def paper(values: Sequence[float]) -> list[str]:
    return [f"*{value:.2f}*" for value in values]
