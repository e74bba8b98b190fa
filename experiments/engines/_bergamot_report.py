"""BERGAMOT.md, from the figures of bergamot.json."""

from __future__ import annotations

from typing import Any

from _markdown import paragraph

LABELS = {
    "all": "all",
    "male": "a man",
    "female": "a woman",
    "pro": "with the stereotype",
    "anti": "against the stereotype",
    "neither": "neither",
}


def report(found: dict[str, Any]) -> str:
    winomt = found["winomt"]
    groups = winomt["groups"]
    lines = [
        "# Firefox's English–Portuguese models, from source text to gender accuracy and APT",
        "",
        *paragraph(
            "**Question.** Does a real translation engine run through `anaphora translate --system command:…` from",
            "text to figures, and does its Portuguese give a person the gender that the English pronoun tells?",
        ),
        "",
        "```sh",
        "python experiments/run.py engines/bergamot                # download, translate, judge, write this page",
        "python experiments/run.py engines/bergamot --report-only  # this page from bergamot.json",
        "```",
        "",
        "## People (WinoMT)",
        "",
        *paragraph(
            f"The package {found['package']} (SHA-256 `{found['sha256'][:16]}…`) carries Firefox's tiny Bergamot",
            f"model; its raw engine translates {winomt['sentences']:,} sentences of",
            "WinoMT. The person is found by word",
            "alignment, its gender by the article before it; where no article is",
            "found, or the noun is not aligned, the answer counts as wrong.",
        ),
        "",
        "| the person is | n | accuracy | 95 % interval |",
        "| :-- | --: | --: | --: |",
    ]
    for name, label in LABELS.items():
        row = groups[name]
        low, high = row["interval"]
        lines.append(f"| {label} | {row['total']:,} | {row['accuracy']:.3f} | [{low:.3f}, {high:.3f}] |")
    differences = {
        "men less women": (groups["male"]["accuracy"] - groups["female"]["accuracy"], winomt["male_less_female"]),
        "with less against the stereotype": (
            groups["pro"]["accuracy"] - groups["anti"]["accuracy"],
            winomt["pro_less_anti"],
        ),
    }
    told = "; ".join(
        f"{label} {value:+.3f} [{low:+.3f}, {high:+.3f}]" for label, (value, (low, high)) in differences.items()
    )
    lines += [
        "",
        *paragraph(
            f"Differences: {told}. No article was found for {winomt['not_found']:,} persons.".replace("-0", "−0")
        ),
    ]
    lines += ["", "## News, to Portuguese and back", "", *round_trip(found["round_trip"])]
    lines += ["", "## What it shows", "", *shown(differences, found["round_trip"]["kept"])]
    lines += ["", "## What it does not show", ""]
    lines += paragraph(
        "The paper has no Portuguese and finds genders with a morphological analyzer; an article that stands before",
        "another noun, or a noun that is aligned wrongly, is an error of ours,",
        "not of the engine. The sentences are made up. On the way back the engine reads its own Portuguese, which is",
        "easier than what people write, and a pronoun that comes back may have been guessed: Portuguese leaves out",
        "most subject pronouns. No Portuguese reference is at hand (WMT has no Portuguese).",
    )
    if found["mt_geneval"] is None:
        lines += [
            "",
            *paragraph(
                "MT-GenEval's English–Portuguese files were not at hand (the data",
                "folder has German and French), so that",
                "`generative` and the report were not run on them; the script does so",
                "where `mt-geneval/data/context` has them.",
            ),
        ]
    return "\n".join(lines) + "\n"


def round_trip(found: dict[str, Any]) -> list[str]:
    """The metrics on the way back, and a line for each pronoun."""
    (name,) = found["apt"]
    apt, surface = found["apt"][name], found["surface"][name]
    low, high = apt["interval"]
    scores = []
    for metric, title in (("bleu", "BLEU"), ("chrf", "chrF")):
        figure = surface[metric]
        scores.append(f"{title} {figure['score']:.1f} [{figure['interval'][0]:.1f}, {figure['interval'][1]:.1f}]")
    lines = paragraph(
        f"{found['sentences']:,} of {found['news']:,} sentences of `{found['text']}` have *he*, *she*, *it* or *they*.",
        "They are translated to Portuguese and back, and compared with what they were. On the way back, APT of the",
        f"Portuguese pronouns {apt['apt']:.3f} [{low:.3f}, {high:.3f}] (n = {apt['total']:,}; cases 1–6:",
        f"{', '.join(f'{n:,}' for n in apt['cases'])}); {', '.join(scores)}. Signature: `{apt['signature']}`.",
    )
    lines += ["", "| the sentence's only pronoun | n | came back | as another | not at all | several |"]
    lines.append("| :-- | --: | --: | --: | --: | --: |")
    for word, counts in found["kept"].items():
        cells = " | ".join(f"{count:,}" for count in counts.values())
        lines.append(f"| {word} | {sum(counts.values()):,} | {cells} |")
    return lines


def shown(differences: dict[str, tuple[float, list[float]]], kept: dict[str, dict[str, int]]) -> list[str]:
    lines = []
    for label, (value, (low, high)) in differences.items():
        sure = "beyond chance" if low > 0 or high < 0 else "within chance"
        lines += paragraph(f"- {label.capitalize()}: a difference of {value:+.3f}, {sure}.".replace("-0", "−0"))
    shares = {word: counts["same"] / sum(counts.values()) for word, counts in kept.items()}
    told = ", ".join(f"*{word}* {share:.2f}" for word, share in sorted(shares.items(), key=lambda item: -item[1]))
    return lines + paragraph(f"- The share of pronouns that come back from Portuguese as they were: {told}.")
