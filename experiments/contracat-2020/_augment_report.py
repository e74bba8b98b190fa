"""The section of ATTACKS.md on antecedent-free augmentation (Table 13, Figures 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _cells import CHANCE, italic, percent, points, row, table
from _markdown import bullet, paragraph
from _paper import CANDIDATES_ONLY, FIGURE_4, TABLE_12, TABLE_13, WHOLE

PRONOUNS = ("er", "sie", "es")
CANDIDATES = "candidates only"  # as in _augment.py
EVERY = 12_000  # items of ContraPro
EVEN = 100 / 3 + 5  # per cent of *es* up to which there is no prior for it to speak of
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
    ways = [
        [
            f"**Linker** (as in the paper): `anaphora build augment` finds {linked['candidates']:,} candidates among",
            f"{linked['pronouns']:,} *it* in {linked['documents']:,} training documents and makes",
            f"{linked['new_examples']:,} new examples; with `--drop event --drop pleonastic`,",
            f"{dropped['candidates']:,} and {dropped['new_examples']:,}.",
        ],
        [
            "**Without a linker:** an *it* translated as *er* or *sie* with no noun of that gender nearby is a",
            f"candidate: {free['candidates']:,} of {free['passages']:,} passages of the last stage,",
            f"{free['new_examples']:,} new examples.",
        ],
    ]
    return [
        *paragraph(
            "Does augmentation with pronouns of every gender (AFA) make the model more robust? Candidates are found in",
            "two ways (the paper has 207,000 new examples):",
        ),
        "",
        *(line for way in ways for line in bullet(way)),
        "",
        *paragraph(
            f"The kept model is fine-tuned for {counts['updates']} updates at a fixed rate, with the loss weights of",
            "its last stage (pronouns 8, context 0.1). The control, *candidates only*, is tuned on the same passages",
            "without new versions. The rate is the one at which AFA is best on the development set of",
            f"[contrapro-2018](../contrapro-2018/TRAIN.md), never on ContraPro: {found['rate']} for concat22 and",
            f"{found['second_rate']} for stage 2, the model before genders were balanced. None of the linker's",
            "documents contains a development passage.",
        ),
    ]


def augmentation_limits(found: Figures) -> list[list[str]]:
    if "tuned" not in found:
        return []
    attacked = min(attack["total"] for attacks in found["tuned_attacks"].values() for attack in attacks)
    templates = [part["total"] for part in found["tuned"]["concat22"]["templates"]["template"].values()]
    items = [
        [
            f"Augmentation: one seed of each model. They are compared on {attacked:,} items or more under each attack",
            f"and {min(templates):,} or more of each template, so small differences cannot be distinguished from",
            "chance.",
        ]
    ]
    if smallest(found):
        items.append(["Augmentation: the chosen rate is the smallest one tried, so a smaller one may be better."])
    return items


def smallest(found: Figures) -> bool:
    """Whether a rate was chosen at the edge."""
    tried = [name.rpartition(", ")[2] for name in found["tuned"] if "AFA" in name]
    return min(map(float, tried)) in (float(found["rate"]), float(found["second_rate"]))


def by_pronoun(tuned: Figures) -> list[str]:
    items = tuned["concat22"]["contrapro"]["total"]
    some = "" if items == EVERY else " random"
    lines = table("model, rate", "development set", f"ContraPro ({items:,}{some} items)", *PRONOUNS)
    for name, figures in sorted(tuned.items(), key=lambda item: item[0].startswith("stage 2")):
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
    untuned = found["tuned"]["concat22"]["contrapro"]["accuracy"]
    whole = [f for n, f in found["tuned"].items() if ("AFA" in n or CANDIDATES in n) and not n.startswith("stage 2")]
    above = sum(figures["contrapro"]["accuracy"] > untuned for figures in whole)
    return paragraph(
        "**AFA minus candidates only** at the same rate on the same items (points, 95 % interval, McNemar's test with",
        f"Holm's correction over the {len(gains)} pairs): {'; '.join(told)}. Beyond chance, {len(better)} of them gain",
        f"and {len(worse)} lose. {above or 'None'} of the {len(whole)} models tuned from concat22",
        f"{'is' if above < 2 else 'are'} above the untuned concat22 in total: the gain is over the control only.",
    )


def attacked(found: Figures) -> list[str]:
    """Figure 3."""
    models = found["tuned_attacks"]
    lines = table("attack (Figure 3)", "items", *(f"{name}: {c}" for name in models for c in ("before", "attacked")))
    of = {name: {attack["attack"]: attack for attack in attacks} for name, attacks in models.items()}
    for attack in models["concat22"]:
        key = attack["attack"]
        both = [figure for name in models for figure in (of[name][key]["before"], of[name][key]["after"])]
        lines.append(row(key, f"{attack['total']:,}", *(f"{100 * figure:.1f}" for figure in both)))
    return lines


def lost(found: Figures) -> list[str]:
    """What the attacks cost each model."""
    models = found["tuned_attacks"]
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
        f"Differences under attack ({'; '.join(models)}, in this order): {'; '.join(told)}.",
        "In the paper AFA loses much less than concat, except under synonyms.",
    )


def templates(found: Figures) -> list[str]:
    """Figure 4, and the prior of Table 12."""
    order = sorted(found["tuned"].items(), key=lambda item: item[0].startswith("stage 2"))
    tuned = {name: figures["templates"] for name, figures in order if "templates" in figures}
    lines = table("template (Figure 4)", *tuned)
    for name in tuned["concat22"]["template"]:
        cells = (f"{100 * figures['template'][name]['accuracy']:.1f}" for figures in tuned.values())
        lines.append(row(name, *cells))
    for gender in TABLE_12:
        lines.append(row(f"prior/verb: {gender}", *(f"{prior(figures, gender):.1f}" for figures in tuned.values())))
    return lines


def shape(found: Figures) -> list[str]:
    """A sentence on each difference of shape, with words that follow the figures."""
    items = [rates(found), no_prior(found), a_prior(found)]
    for name, (text, stated) in FIGURE_4.items():
        items.append([f"**{text}**: {changed(found['changes'], name)}; the paper: {stated}."])
    head = paragraph(
        f"How this differs from the paper (templates: “AFA, {found['rate']}” minus concat22, in points, Holm's",
        "correction over the templates):",
    )
    return [*head, "", *(line for item in items for line in bullet(item))]


def rates(found: Figures) -> list[str]:
    """Table 13: what the rate does."""
    tuned = found["tuned"]
    names = [name for name in tuned if name.startswith("AFA, ") and name.count(",") == 1]
    totals = {name: tuned[name]["contrapro"]["accuracy"] for name in names}
    told = ", ".join(f"{100 * total:.1f} ({name.removeprefix('AFA, ')})" for name, total in totals.items())
    before = tuned["concat22"]["contrapro"]["accuracy"]
    better = sum(total > before for total in totals.values())
    return [
        f"**Rates.** In the paper every rate improves on concat, the middle one most. Here {better} of {len(totals)}",
        f"are above concat22 ({100 * before:.1f}): {told}.",
    ]


def no_prior(found: Figures) -> list[str]:
    """Table 12: what there was to remove."""
    tuned, afa = found["tuned"], f"AFA, {found['rate']}"
    neuter = {name: prior(tuned[name]["templates"], "neuter") for name in ("concat22", afa)}
    es = {name: 100 * tuned[name]["contrapro"]["pronouns"]["es"] for name in ("concat22", afa)}
    reason = "one third would be uniform, so there is no prior for *es* to remove"
    return [
        f"**The prior.** If only a verb is given, the paper's concat chooses *es* in {TABLE_12['neuter'][0]} % and its",
        f"AFA in {TABLE_12['neuter'][1]} %; concat22 in {neuter['concat22']:.1f} % and its AFA in",
        f"{neuter[afa]:.1f} %{f': {reason}' if neuter['concat22'] < EVEN else ''}. Accuracy on *es* of ContraPro goes",
        f"from {es['concat22']:.1f} to {es[afa]:.1f}; in the paper from {TABLE_13['concat'][3]} to",
        f"{TABLE_13['AFA, 2e-7'][3]}.",
    ]


def a_prior(found: Figures) -> list[str]:
    """The same method on a model that prefers *es*."""
    tuned, rate = found["tuned"], found["second_rate"]
    afa, control = (f"stage 2, {kind}, {rate}" for kind in ("AFA", CANDIDATES))
    shares = [prior(tuned[name]["templates"], "neuter") for name in ("stage 2", control, afa)]
    pronouns = [tuned[name]["contrapro"]["pronouns"] for name in ("stage 2", control, afa)]
    told = "; ".join(f"*{p}* {', '.join(f'{100 * part[p]:.1f}' for part in pronouns)}" for p in PRONOUNS)
    return [
        f"**A model with the prior.** Stage 2 chooses *es* in {shares[0]:.1f} %, after tuning on candidates only in",
        f"{shares[1]:.1f} %, after AFA in {shares[2]:.1f} %. Accuracy on ContraPro in the same order: {told}. AFA",
        f"minus candidates only: {points(found['gains'][afa])}; in the paper",
        f"{TABLE_13['AFA, 2e-7'][0] - WHOLE - CANDIDATES_ONLY:+.1f}.",
    ]


def changed(changes: Figures, name: str) -> str:
    """A template's change; of several, the range."""
    if name in changes:
        return points(changes[name])
    group = [change["delta"] for key, change in changes.items() if key.startswith(f"{name}/")]
    return f"{100 * min(group):+.1f} to {100 * max(group):+.1f} points on its {len(group)} kinds"


def prior(figures: Figures, gender: str) -> float:
    """How often a gender is chosen where only a verb is given, as a percentage."""
    return float(100 * figures["priors"]["prior/verb"].get(gender, {"share": 0.0})["share"])
