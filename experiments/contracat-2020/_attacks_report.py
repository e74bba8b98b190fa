"""ATTACKS.md of what attacks.py found."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from _augment_report import augmentation, augmentation_limits
from _cells import CHANCE, italic, percent, row, table
from _markdown import bullet, p_value, paragraph
from _paper import (
    FIGURE_2,
    NAMES,
    OWNED,
    SYNONYMS,
    TABLE_4,
    TABLE_5,
    TABLE_10,
    TABLE_11,
    TABLE_12,
    WHOLE,
)

OVERLAP = "overlap/"
Figures = Mapping[str, Any]


def report(found: Figures) -> str:
    parts = [
        ["# Is a context-aware model robust? ContraCAT's attacks and templates"],
        question(found),
        ["## Three attacks (Figure 1)"],
        three(found),
        ["## Every phrase (Table 4)"],
        [*variants(found["attacks"], "phrase-addition", TABLE_4, WHOLE), "", *followed(found["chosen"])],
        ["## Every owner (Table 5)"],
        [*variants(found["attacks"], "possessive-extension", TABLE_5, OWNED), "", *owners(found["attacks"])],
        ["## Templates (Figure 2)"],
        templates(found),
        ["## Priors (Tables 10 to 12)"],
        priors(found),
        ["## Antecedent-free augmentation (Table 13, Figures 3 and 4)"],
        augmentation(found),
        ["## Limitations"],
        limits(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def question(found: Figures) -> list[str]:
    model, baseline = (found["contrapro"][name] for name in ("concat22", "baseline"))
    return [
        *paragraph(
            "**Question.** Does the concatenation model of [contrapro-2018](../contrapro-2018/TRAIN.md) resolve *it*,",
            "or does it pick up the gender of some noun in the previous sentence?",
        ),
        "",
        "```sh",
        "python experiments/run.py contracat-2020/attacks                # with the models kept in contrapro-2018",
        "python experiments/run.py contracat-2020/attacks --report-only  # this page from attacks.json",
        "```",
        "",
        *paragraph(
            "An attack changes the previous sentence so that the right answer stays the same (phrases, owners) or",
            "changes with the noun (synonyms). A template tests one step of coreference resolution at a time.",
        ),
        "",
        *paragraph(
            f"On all {model['total']:,} items of ContraPro with gold target context, the model has {percent(model)}",
            f"and the sentence-level baseline {percent(baseline)}; the paper's concat has {WHOLE}. Each phrase is",
            f"added to {total(found, 'phrase-addition'):,} items, each owner to the",
            f"{total(found, 'possessive-extension'):,} whose antecedent takes one (the paper's 3,838). All figures are",
            "percentages, brackets are 95 % intervals, and p is McNemar's test on the same items, with Holm's",
            "correction over all attacks.",
        ),
    ]


# Attacks


def three(found: Figures) -> list[str]:
    of = {attack["attack"]: attack for attack in found["attacks"]}
    rows = [
        ("“it is true: C”", of["phrase-addition/true_colon"], (WHOLE, TABLE_4["true_colon"][1])),
        ("“Maria's A”", of["possessive-extension/maria"], (OWNED, TABLE_5["maria"][1])),
        ("synonyms of another gender, the paper's", of["synonyms"], SYNONYMS),
    ]
    if "synonym-replacement" in of:
        rows.append(("synonyms of another gender, ours", of["synonym-replacement"], None))
    lines = table("attack", "items", "before", "attacked", "difference", "p", "paper: before", "attacked", "difference")
    for name, attack, paper in rows:
        stated = ["", "", ""] if paper is None else [*map(italic, paper), f"*{paper[1] - paper[0]:+.1f}*"]
        lines.append(row(name, f"{attack['total']:,}", *drop(attack), *stated))
    return [*lines, "", *paragraph(*verdict(of["possessive-extension/maria"], of["synonyms"]))]


def verdict(owner: Figures, synonyms: Figures) -> list[str]:
    """Brittle is said only where both attacks lower the accuracy beyond chance."""
    both = all(attack["delta"] < 0 and attack["p_adjusted"] < CHANCE for attack in (owner, synonyms))
    return [
        "The model does well on ContraPro but is brittle under attack."
        if both
        else "Not every attack lowers the accuracy beyond chance.",
        "“Maria's” in front of the antecedent, which does not change its gender, changes the accuracy",
        f"by {100 * owner['delta']:+.0f} points (the paper: {TABLE_5['maria'][1] - OWNED:+.0f}), synonyms by",
        f"{100 * synonyms['delta']:+.0f} (the paper: {SYNONYMS[1] - SYNONYMS[0]:+.0f}).",
    ]


def variants(
    attacks: Iterable[Figures], kind: str, stated: Mapping[str, tuple[str, float]], before: float
) -> list[str]:
    """A row for each phrase or owner, and how alike the two orders are."""
    of = {attack["attack"].partition("/")[2]: attack for attack in attacks if attack["attack"].startswith(kind)}
    lines = table(
        "C: the sentence before, A: the antecedent", "before", "attacked", "difference", "p", "paper", "difference"
    )
    for name, (text, after) in stated.items():
        lines.append(row(text, *drop(of[name]), italic(after), f"*{after - before:+.1f}*"))
    ours, theirs = [of[name]["delta"] for name in stated], [after for _, after in stated.values()]
    worst, best = (choose(stated, key=lambda name: of[name]["delta"]) for choose in (min, max))
    hurt = sum(of[name]["p_adjusted"] < CHANCE and of[name]["delta"] < 0 for name in stated)
    return [
        *lines,
        "",
        *paragraph(
            f"{hurt} of {len(stated)} lower the accuracy beyond chance. The mean difference is",
            f"{100 * statistics.mean(ours):+.1f} points; in the paper, where each lowers it, it is",
            f"{statistics.mean(theirs) - before:+.1f}. The most harmful is “{stated[worst][0]}”",
            f"({100 * of[worst]['delta']:+.1f}), the least harmful “{stated[best][0]}”",
            f"({100 * of[best]['delta']:+.1f}). Spearman's correlation with the paper's differences is",
            f"{spearman(ours, theirs):+.2f}.",
        ),
    ]


def followed(chosen: Figures) -> list[str]:
    """Whether the pronoun of a phrase, or that of its noun, is preferred more often after it."""
    added = {
        "*there is a catch* (*einen Haken*, masculine)": ("er", "but_catch", "but_catch_sep"),
        "*he said*": ("er", "he_said"),
        "*she said*": ("sie", "she_said"),
        "*it is true* (*es ist wahr*)": ("es", "true_colon", "true_colon_quot", "true_separate", "and_it_true"),
    }
    more, less = [], []
    for text, (pronoun, *names) in added.items():
        before = 100 * chosen["before"].get(pronoun, 0.0)
        after = statistics.mean(100 * chosen[f"phrase-addition/{name}"].get(pronoun, 0.0) for name in names)
        (more if after > before else less).append(f"*{pronoun}* from {before:.1f} to {after:.1f} after {text}")
    return paragraph(
        "The share of each pronoun among the model's choices, before and after phrases with certain words (means over",
        "phrases, not tested):",
        *([f"more often {'; '.join(more)}."] if more else []),
        *([f"{'Less' if more else 'less'} often {'; '.join(less)}."] if less else []),
        *(
            ["Where a share rises, the model follows a nearby pronoun or noun instead of the antecedent."]
            if more
            else []
        ),
    )


def owners(attacks: Iterable[Figures]) -> list[str]:
    of = {a["attack"].partition("/")[2]: 100 * a["delta"] for a in attacks if a["attack"].startswith("possessive")}
    names = statistics.mean(of[name] for name in NAMES)
    others = statistics.mean(value for name, value in of.items() if name not in NAMES)
    paper = [
        statistics.mean(TABLE_5[n][1] - OWNED for n in TABLE_5 if (n in NAMES) == given) for given in (True, False)
    ]
    return paragraph(
        f"Names replace the article (*Marias Katze*) and change the accuracy by {names:+.1f} on average. Other owners",
        f"follow the noun and leave its article (*die Katze vom Mann*): {others:+.1f}. In the paper the means are",
        f"{paper[0]:+.1f} and {paper[1]:+.1f}. Without the article, only the noun itself shows its gender, so the size",
        "of this gap shows how much a model relies on articles.",
    )


# Templates


def templates(found: Figures) -> list[str]:
    whole, baseline = (found["templates"][name] for name in ("concat22", "baseline"))
    lines = table("template", "items", "concat22", "baseline", "paper: concat")
    for name, figures in whole["template"].items():
        cells = [f"{figures['total']:,}", percent(figures), percent(baseline["template"][name])]
        stated = FIGURE_2.get("overlap, all" if name.startswith(OVERLAP) else name, "")
        lines.append(row(name, *cells, f"*{stated}*" if stated else ""))
    overlap = [figures for name, figures in whole["template"].items() if name.startswith(OVERLAP)]
    mean = sum(f["accuracy"] * f["total"] for f in overlap) / sum(f["total"] for f in overlap)
    verbs = {n.partition("×")[2]: f for n, f in whole["template×variant"].items() if n.startswith("overlap/verb×")}
    first, second = (
        statistics.mean(
            f["accuracy"] for name, f in verbs.items() if (name.split("_")[0] == name.split("_")[2]) == same
        )
        for same in (True, False)
    )
    of = {name: 100 * figures["accuracy"] for name, figures in whole["template"].items()}
    attacked = next(a["after"] for a in found["attacks"] if a["attack"] == "possessive-extension/maria")
    return [
        *lines,
        "",
        *paragraph(
            "**Gender comes from articles.** In the gender template, where the noun has its article,",
            f"{of['gender']:.0f} are right; under “Maria's”, where the article is gone, {100 * attacked:.0f}.",
        ),
        "",
        *paragraph(
            "**The other mistakes are made in coreference:** which of two nouns *it* can refer to",
            f"(markable, {of['markable']:.0f}) and which it does refer to (overlap, {100 * mean:.1f} together; the",
            f"paper: 47.2). Its accuracy is {100 * first:.1f} if the verb of the first clause is repeated and",
            f"{100 * second:.1f} if that of the second is (the paper: 64.1 and 39.0): it prefers one clause rather",
            f"than reading the overlap. On world knowledge it has {of['world-knowledge']:.1f} (55.7).",
        ),
        "",
        *paragraph(
            f"**Event and pleonastic *it*:** {of['event']:.1f} and {of['pleonastic']:.1f}, where the paper's model has",
            f"96.2 and our sentence-level model {100 * baseline['template']['event']['accuracy']:.1f} and",
            f"{100 * baseline['template']['pleonastic']['accuracy']:.1f}. The paper's model falls back to *es*, which",
            f"is right there; ours takes a noun: {found['misled']['near']} of its {found['misled']['wrong']} wrong",
            "choices have the gender of a noun in the context.",
        ),
    ]


def priors(found: Figures) -> list[str]:
    ours = found["templates"]["concat22"]["priors"]
    lines = table("prior", "chosen", "concat22", "paper: concat", "paper: AFA")
    for kind, stated in (("role", TABLE_10), ("position", TABLE_11), ("verb", TABLE_12)):
        shares = ours[f"prior/{kind}"]
        for name, paper in stated.items():
            share = next((part["share"] for key, part in shares.items() if name.startswith(key)), 0.0)
            lines.append(row(kind, name, f"{100 * share:.1f}", *map(italic, paper)))
    role, verb = ours["prior/role"], ours["prior/verb"]
    neuter = 100 * verb.get("neuter", {"share": 0.0})["share"]
    subject, object_ = (100 * role.get(name, {"share": 0.0})["share"] for name in ("subject", "object"))
    return [
        *lines,
        "",
        *paragraph(
            f"If only a verb is given, the model chooses *es* in {neuter:.1f} %; the paper's concat in 91.5 % and its",
            f"augmented model in 28.8 %. Between subject and object, it chooses the subject in {subject:.1f} % and the",
            f"object in {object_:.1f} % (the paper's concat: 20.7 and 72.3).",
        ),
    ]


def limits(found: Figures) -> list[str]:
    items = [
        ["One small model, one seed. The intervals are those of the items; another seed may differ by more."],
        ["The target context is the reference's, with the attack applied to it."],
        ["The rebuilt ContraPro has antecedents of *er* and *sie* only, so owners are added to those only."],
        ["The paper's model has seen some fifty times as much text, all subtitles: compare directions, not levels."],
        *augmentation_limits(found),
    ]
    return [line for item in items for line in bullet(item)]


# Cells


def drop(attack: Figures) -> list[str]:
    low, high = (100 * bound for bound in attack["interval"])
    figures = [f"{100 * attack['before']:.1f}", f"{100 * attack['after']:.1f}"]
    return [*figures, f"{100 * attack['delta']:+.1f} [{low:+.1f}, {high:+.1f}]", p_value(attack["p_adjusted"])]


def total(found: Figures, kind: str) -> int:
    return max(attack["total"] for attack in found["attacks"] if attack["attack"].startswith(kind))


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    return statistics.correlation(ranks(one), ranks(other))


def ranks(values: Sequence[float]) -> list[float]:
    """The mean rank of equal values."""
    order = sorted(values)
    first: Callable[[float], int] = order.index
    return [first(value) + (order.count(value) - 1) / 2 for value in values]
