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
        "# Firefox's English–Portuguese model, from source text to gender accuracy",
        "",
        *paragraph(
            "**Question.** Does a real translation engine run through `anaphora translate --system command:…` from",
            "text to figures, and does its Portuguese give a person the gender that the English pronoun tells?",
        ),
        "",
        "Command: `python experiments/run.py engines/bergamot` (written by it).",
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
    lines += ["", "## What it shows", "", *shown(differences), "", "## What it does not show", ""]
    lines += paragraph(
        "The paper has no Portuguese and finds genders with a morphological analyzer; an article that stands before",
        "another noun, or a noun that is aligned wrongly, is an error of ours,",
        "not of the engine. The sentences are made up.",
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


def shown(differences: dict[str, tuple[float, list[float]]]) -> list[str]:
    lines = []
    for label, (value, (low, high)) in differences.items():
        sure = "beyond chance" if low > 0 or high < 0 else "within chance"
        lines += paragraph(f"- {label.capitalize()}: a difference of {value:+.3f}, {sure}.".replace("-0", "−0"))
    return lines
