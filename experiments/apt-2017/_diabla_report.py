"""DIABLA.md, from the figures of diabla.json."""

from __future__ import annotations

from typing import Any

from _markdown import paragraph

CASES = ("c1 same", "c2 equivalent", "c3 different", "c4 no candidate", "c5 no reference", "c6 neither", "total")
# Table 5 of the APT paper: pronouns judged correct by annotators who filled gaps
PAPER = {"c1": "84", "c2": "43", "c3": "26", "c4": "0", "c5": "53", "c6": "0", "total": "47"}
METRICS = {"apt": "APT", "bleu": "BLEU", "chrf": "chrF", "meteor": "METEOR"}
DIGITS = {"apt": 3, "bleu": 1, "chrf": 1, "meteor": 3}
ARROW = {"en-fr": "EN→FR", "fr-en": "FR→EN"}


def report(found: dict[str, Any]) -> str:
    lines = [
        "# APT against people: the judgments of DiaBLa",
        "",
        *paragraph(
            "**Question.** Do people judge a translation better where APT finds the reference's pronoun, does APT "
            "agree with them sentence by sentence, and does it order two real systems as they do?"
        ),
        "",
        "Command: `python experiments/run.py apt-2017/diabla` (written by it).",
        "",
        *paragraph(
            "DiaBLa (Bawden et al. 2021): 144 dialogues between an English and a French speaker, 72 through BASELINE",
            "and 72 through 2-TO-2 of Bawden et al. 2018. The reader of each translated sentence judged it perfect,",
            "medium or poor. A judgment is of the sentence, not of its pronoun; the two systems share no sentence.",
            "Intervals are 95 % percentile intervals of 1,000 bootstrap samples of dialogues.",
        ),
    ]
    for direction, figures in found.items():
        lines += ["", *direction_lines(direction, figures)]
    lines += ["", "## What it shows", "", *shown(found), "", "## What it does not show", "", *not_shown()]
    return "\n".join(lines) + "\n"


def direction_lines(direction: str, figures: dict[str, Any]) -> list[str]:
    judged = ", ".join(f"{count:,} {name}" for name, count in figures["judgments"].items())
    dialogues = figures["dialogue_level"]["systems"]
    return [
        f"## {ARROW[direction]}: {figures['sentences']:,} judged sentences ({judged})",
        "",
        *paragraph(
            f"Pronouns: {figures['pronouns'].replace(',', ', ')}; they are in {figures['with_pronoun']:,} sentences.",
        ),
        "",
        "Share of pronouns whose sentence was judged perfect, by APT's case:",
        "",
        *case_table(figures["cases"], with_paper=direction == "en-fr"),
        "",
        *same_line(figures["cases"]["same_less_other"]),
        "",
        f"Correlation with the judgments of {figures['segments']['sentences']:,} sentences with a pronoun, and of the",
        f"{dialogues:,} dialogues that have one (`meta correlate`, share of perfect sentences):",
        "",
        *correlation_table(figures),
        "",
        "The two systems:",
        "",
        *system_table(figures["systems"]),
    ]


def case_table(cases: dict[str, Any], *, with_paper: bool) -> list[str]:
    head = ["case", "n", "perfect %", "medium %", "poor %", "grammar or coherence marked %"]
    head += ["*paper: correct %*"] if with_paper else []
    lines = [f"| {' | '.join(head)} |", f"| :-- |{' --: |' * (len(head) - 1)}"]
    table = {**cases["table"]["cases"], "total": cases["table"]["total"]}
    for label, (name, row) in zip(CASES, table.items(), strict=True):
        if not row["total"]:
            cells = [label, "0", "–", "–", "–", "–"]
        else:
            own, shares = cases["shares"][name], row["shares"]
            cells = [label, f"{row['total']:,}", percent(own["perfect"])]
            cells += [f"{100 * shares['incorrect']:.0f}", f"{100 * shares['bad']:.0f}"]
            cells += [percent(own["grammar_or_coherence"])]
        cells += [f"*{PAPER[name]}*"] if with_paper else []
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def same_line(found: dict[str, Any]) -> list[str]:
    plain, adjusted = (points(found[key]) for key in ("plain", "same_length"))
    return paragraph(
        f"Case 1 less the other cases: {plain} points of *perfect*; within fifths of sentences by length, {adjusted}."
    )


def correlation_table(figures: dict[str, Any]) -> list[str]:
    lines = [
        "| metric | sentences: Kendall τ-b | Pearson | APT's τ-b less this | dialogues: Kendall τ-b | Pearson |",
        "| :-- | --: | --: | --: | --: | --: |",
    ]
    for name, label in METRICS.items():
        segment, dialogue = figures["segments"][name], figures["dialogue_level"]["metrics"][name]
        less = segment.get("apt_less_this")
        cells = [label, interval(segment["kendall"], 2), interval(segment["pearson"], 2)]
        cells += [interval(less, 2) if less else "–"]
        cells += [interval(dialogue["kendall"], 2), interval(dialogue["pearson"], 2)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def system_table(systems: dict[str, Any]) -> list[str]:
    lines = [
        f"| | BASELINE ({systems['sentences']['BASELINE']:,}) | 2-TO-2 ({systems['sentences']['2-TO-2']:,}) "
        "| difference | samples above 0 |",
        "| :-- | --: | --: | --: | --: |",
    ]
    labels = {"human": "judged perfect %", "human_with_pronoun": "the same, sentences with a pronoun %", **METRICS}
    for name, label in labels.items():
        row, digits = systems[name], DIGITS.get(name, 1)
        cells = [label, *(interval(row[key], digits) for key in ("BASELINE", "2-TO-2", "difference"))]
        lines.append(f"| {' | '.join(cells)} | {100 * row['share_of_samples_above_0']:.0f} % |")
    return lines


def shown(found: dict[str, Any]) -> list[str]:
    lines = []
    for direction, figures in found.items():
        segment, systems = figures["segments"], figures["systems"]
        tau, best = segment["apt"]["kendall"], max(METRICS, key=lambda name: segment[name]["kendall"]["value"])
        same, with_pronoun = figures["cases"]["same_less_other"], systems["human_with_pronoun"]
        lines += paragraph(
            f"- {ARROW[direction]}: sentences in which APT finds the reference's pronoun are judged perfect more often"
            f" ({points(same['plain'])} points, {chance(same['plain'])}; among sentences of about one length"
            f" {points(same['same_length'])}, {chance(same['same_length'])}). APT's correlation with the judgments of"
            f" sentences is {interval(tau, 2)}, {chance(tau)}; the highest is {METRICS[best]}'s"
            f" ({interval(segment[best]['kendall'], 2)}).",
            f"People put {first(systems, 'human')} first ({chance(systems['human']['difference'])}), on sentences with"
            f" a pronoun {first(systems, 'human_with_pronoun')} ({chance(with_pronoun['difference'])});",
            "; ".join(f"{METRICS[n]} {first(systems, n)} ({chance(systems[n]['difference'])})" for n in METRICS) + ".",
        )
    return lines


def not_shown() -> list[str]:
    return [
        *paragraph(
            "- Whether a pronoun is right: readers judged sentences, and a sentence with a wrong pronoun has other",
            "faults, too. The paper's annotators filled in the pronoun, so that its shares of *correct* are of another",
            "thing, and its correlation (Pearson 0.999 over seven systems) is of systems, not of sentences.",
        ),
        *paragraph(
            "- A ranking of metrics: two systems are one comparison, and they translated different dialogues.",
        ),
        *paragraph(
            "- Independent readers: each sentence has one judge, and 537 of the 3,764 *perfect* were recorded without",
            "a click, which may be the form's default.",
        ),
    ]


def first(systems: dict[str, Any], figure: str) -> str:
    """The system that a figure puts first."""
    return "2-TO-2" if systems[figure]["difference"]["value"] > 0 else "BASELINE"


def chance(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return "beyond chance" if low > 0 or high < 0 else "within chance"


def percent(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{100 * figure['value']:.0f} [{100 * low:.0f}, {100 * high:.0f}]"


def points(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return signed(f"{100 * figure['value']:+.0f} [{100 * low:+.0f}, {100 * high:+.0f}]")


def interval(figure: dict[str, Any], digits: int) -> str:
    if figure["value"] is None:
        return "–"
    low, high = figure["interval"]
    return signed(f"{figure['value']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]")


def signed(text: str) -> str:
    return text.replace("-", "−")
