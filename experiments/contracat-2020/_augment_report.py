"""The section of ATTACKS.md on antecedent-free augmentation (Table 13, Figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _cells import CHANCE, italic, percent, points, row, table
from _markdown import paragraph
from _paper import CANDIDATES_ONLY, FIGURE_4, TABLE_12, TABLE_13, WHOLE

PRONOUNS = ("er", "sie", "es")
CANDIDATES = "candidates only"  # as in _augment.py
Figures = Mapping[str, Any]


def augmentation(found: Figures) -> list[str]:
    if "tuned" not in found:
        return ["Not run on this model."]
    parts = [
        made(found),
        by_pronoun(found["tuned"]),
        gained(found),
        attacked(found),
        lost(found),
        templates(found),
        shape(found),
    ]
    return [line for number, part in enumerate(parts) for line in (*([""] if number else []), *part)]


def made(found: Figures) -> list[str]:
    """How candidates were found, and how models were tuned on them."""
    counts = found["augmentation"]
    linked, dropped, free = (counts[name] for name in ("linked", "dropped", "free"))
    return paragraph(
        f"With its linker, `anaphora build augment` finds {linked['candidates']:,} candidates among",
        f"{linked['pronouns']:,} *it* in {linked['documents']:,} training documents and makes",
        f"{linked['new_examples']:,} new examples; with `--drop event --drop pleonastic`, {dropped['candidates']:,}",
        f"and {dropped['new_examples']:,}. Without a linker, an *it* that is *er* or *sie* with no noun of that gender",
        f"near is a candidate: {free['candidates']:,} of {free['passages']:,} passages of the last stage,",
        f"{free['new_examples']:,} new examples (the paper: 207,000 in all). The kept model is trained on for",
        f"{counts['updates']} updates at a fixed rate, with the weights of its last stage (pronouns 8, context 0.1).",
        "*Candidates only* is the control: the same passages without new versions. The rate of the rows below the",
        f"three pairs, {found['rate']}, is the one whose AFA is best on the development set of",
        "[contrapro-2018](../contrapro-2018/TRAIN.md), none of whose passages is a candidate of the linker; ContraPro",
        "chose nothing. Stage 2 is the model before genders were balanced.",
    )


def by_pronoun(tuned: Figures) -> list[str]:
    items = tuned["concat22"]["contrapro"]["total"]
    lines = table("model, rate", "development set", f"ContraPro ({items:,} random items)", *PRONOUNS)
    for name, figures in tuned.items():
        pronouns = figures["contrapro"]["pronouns"]
        held = f"{100 * figures['development']:.1f}" if "development" in figures else ""
        lines.append(row(name, held, percent(figures["contrapro"]), *(f"{100 * pronouns[p]:.1f}" for p in PRONOUNS)))
    lines += [row(f"*paper: {name}*", "", *map(italic, figures)) for name, figures in TABLE_13.items()]
    lines.append(row("*paper: candidates only*", "", italic(WHOLE + CANDIDATES_ONLY), "", "", ""))
    return lines


def gained(found: Figures) -> list[str]:
    """AFA against its control, with the same rate."""
    gains = found["gains"]
    told = [f"{name}: {points(gain)}" for name, gain in gains.items()]
    better = [name for name, gain in gains.items() if gain["delta"] > 0 and gain["p_adjusted"] < CHANCE]
    worse = [name for name, gain in gains.items() if gain["delta"] < 0 and gain["p_adjusted"] < CHANCE]
    return paragraph(
        "**AFA minus candidates only**, same rate, same items (points, 95 % interval, McNemar's p, Holm's over the",
        f"{len(gains)} pairs): {'; '.join(told)}. Beyond chance, {len(better)} of them gain and {len(worse)} lose.",
    )


def attacked(found: Figures) -> list[str]:
    """Figure 3."""
    models = {"concat22": found["attacks"], **found["tuned_attacks"]}
    lines = table("attack (Figure 3)", "items", *(f"{name}: {c}" for name in models for c in ("before", "attacked")))
    of = {name: {attack["attack"]: attack for attack in attacks} for name, attacks in models.items()}
    for attack in next(iter(found["tuned_attacks"].values())):
        key = attack["attack"]
        both = [figure for name in models for figure in (of[name][key]["before"], of[name][key]["after"])]
        lines.append(row(key, f"{attack['total']:,}", *(f"{100 * figure:.1f}" for figure in both)))
    return lines


def lost(found: Figures) -> list[str]:
    """What the attacks cost each model."""
    models = {"concat22": found["attacks"], **found["tuned_attacks"]}
    names = {
        "phrase-addition/true_colon": "“it is true: C”",
        "possessive-extension/maria": "“Maria's A”",
        "synonyms": "the paper's synonyms",
    }
    told = []
    for key, text in names.items():
        costs = [next(a["delta"] for a in attacks if a["attack"] == key) for attacks in models.values()]
        told.append(f"{text} {', '.join(f'{100 * cost:+.1f}' for cost in costs)}")
    return paragraph(
        f"The attacks change accuracy by ({', '.join(models)}, in this order): {'; '.join(told)}.",
        "In the paper AFA loses much less than concat, but for synonyms.",
    )


def templates(found: Figures) -> list[str]:
    """Figure 4, and the prior of Table 12."""
    tuned = {name: figures["templates"] for name, figures in found["tuned"].items() if "templates" in figures}
    lines = table("template (Figure 4)", *tuned)
    for name in tuned["concat22"]["template"]:
        cells = (f"{100 * figures['template'][name]['accuracy']:.1f}" for figures in tuned.values())
        lines.append(row(name, *cells))
    for gender in TABLE_12:
        lines.append(row(f"prior/verb: {gender}", *(f"{prior(figures, gender):.1f}" for figures in tuned.values())))
    return lines


def shape(found: Figures) -> list[str]:
    """A sentence on each difference of shape, with words that follow the figures."""
    rate, tuned, changes = found["rate"], found["tuned"], found["changes"]
    afa = f"AFA, {rate}"
    es = {name: tuned[name]["contrapro"]["pronouns"]["es"] for name in ("concat22", afa)}
    neuter = {name: prior(tuned[name]["templates"], "neuter") for name in ("concat22", afa, "stage 2")}
    later = next(name for name in tuned if name.startswith("stage 2, AFA"))
    control = later.replace("AFA", CANDIDATES)
    gain = found["gains"][later]
    sentences = [
        f"*The prior.* Without an antecedent the paper's concat chooses *es* in {TABLE_12['neuter'][0]} per cent and",
        f"its AFA in {TABLE_12['neuter'][1]}; ours goes from {neuter['concat22']:.1f} to {neuter[afa]:.1f}: our last",
        "stage has balanced the genders already, and there is little left to remove.",
        f"*es* on ContraPro goes from {100 * es['concat22']:.1f} to {100 * es[afa]:.1f}; in the paper from",
        f"{TABLE_13['concat'][3]} to {TABLE_13['AFA, 2e-7'][3]}.",
        f"*Stage 2*, which has such a prior ({neuter['stage 2']:.1f} per cent *es*), is the fairer comparison:",
        f"candidates only give {prior(tuned[control]['templates'], 'neuter'):.1f} per cent *es*, AFA",
        f"{prior(tuned[later]['templates'], 'neuter'):.1f}, and AFA changes accuracy on ContraPro by {points(gain)}",
        f"against them ({TABLE_13['AFA, 2e-7'][0] - WHOLE - CANDIDATES_ONLY:+.1f} in the paper).",
    ]
    for name, (text, stated) in FIGURE_4.items():
        sentences.append(f"*{text}*: {changed(changes, name)} against concat22; the paper: {stated}.")
    return paragraph("**Differences of shape.**", *sentences)


def changed(changes: Figures, name: str) -> str:
    """A template's change; of several, the range."""
    if name in changes:
        return points(changes[name])
    group = [change["delta"] for key, change in changes.items() if key.startswith(f"{name}/")]
    return f"{100 * min(group):+.1f} to {100 * max(group):+.1f} points on its {len(group)} kinds"


def prior(figures: Figures, gender: str) -> float:
    """How often a gender is chosen where only a verb is given, in per cent."""
    return float(100 * figures["priors"]["prior/verb"].get(gender, {"share": 0.0})["share"])
