"""OPUS.md, from the figures of opus.json."""

from __future__ import annotations

from typing import Any

from _markdown import paragraph

ENGINE = "OPUS-MT"


def report(found: dict[str, Any]) -> str:
    scored = found["contrastive"]
    lines = [
        "# OPUS-MT Chinese–English, from source text to APT and the report",
        "",
        *paragraph(
            "**Question.** Does a real translation model run through `ct2:` from text to figures and to the",
            "report, and how",
            "are its pronouns next to those of systems of WMT 2021?",
        ),
        "",
        "```sh",
        "python experiments/run.py engines/opus                # download, translate, judge, write this page",
        "python experiments/run.py engines/opus --report-only  # this page from opus.json",
        "```",
        "",
        *paragraph(
            f"**The model** is OPUS-MT Chinese–English for CTranslate2, as the sdist of {found['package']} has it",
            "(SHA-256",
            f"`{found['sha256'][:16]}…`); it is unpacked and not installed. **The text** is WMT's news of 2021,",
            f"the {found['sentences']:,} of {found['news']:,} sentences that have a pronoun of the third person, with",
            "reference A and the outputs of other systems that WMT published.",
            "Chinese is split into characters, pronouns into words (他, 她, 它 and their plurals).",
        ),
        "",
        "| system | APT | cases 1–6 | AutoF | BLEU | chrF |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name in sorted(found["apt"], key=lambda name: -found["apt"][name]["apt"]):
        apt, surface = found["apt"][name], found["surface"][name]
        cells = [with_interval(apt["apt"], apt["interval"], 3), " ".join(f"{n:,}" for n in apt["cases"])]
        cells += [f"{found['autoprf'][name]['f']:.3f}"]
        cells += [with_interval(surface[m]["score"], surface[m]["interval"], 1) for m in ("bleu", "chrf")]
        lines.append(f"| {bold(name)} | {' | '.join(cells)} |")
    total = scored["total"]
    groups = scored["breakdowns"]["reference_pronoun"]
    lines += [
        "",
        *paragraph(
            f"**Sentences with one pronoun.** {total} sentences have one of 他, 她, 它 in the source and one of",
            "*he*, *she*,",
            "*it* in the reference; the wrong candidates have another of the three. *Generated* is the share of the",
            "system's own translations with the right pronoun (`generative`); *preferred* how often the engine gives",
            "the reference a higher probability than the wrong candidates (`score`, `evaluate`).",
        ),
        "",
        "| system | n | generated: right | wrong | not found | share right | preferred |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, counts in found["generative"].items():
        share = with_interval(counts["accuracy"], counts["interval"], 3)
        chosen = with_interval(scored["accuracy"], scored["interval"], 3) if name == ENGINE else "–"
        cells = [f"{counts[key]}" for key in ("total", "correct", "wrong", "not_found")]
        lines.append(f"| {bold(name)} | {' | '.join(cells)} | {share} | {chosen} |")
    by = ", ".join(f"*{key}* {value['correct']} of {value['total']}" for key, value in sorted(groups.items()))
    lines += ["", *paragraph(f"Preferred, by pronoun: {by}. Signature: `{scored['signature']}`.")]
    lines += ["", "## What it shows", "", *shown(found), "", "## What it does not show", ""]
    lines += paragraph(
        f"{found['sentences']:,} sentences, {total} of them with one pronoun, are few: the intervals are wide, and no",
        "order of the systems by their pronouns follows.",
        "Chinese writes the gender of *he*, *she* and *it*, so that no context is needed; nothing here tells",
        "whether the",
        "model resolves pronouns. Chinese often leaves a pronoun out: what the reference adds has no source word",
        "and is",
        "not judged. Characters are aligned one by one, without a Chinese tokenizer. MT-GenEval, which the",
        "data folder has for German and French only, has no Chinese.",
    )
    return "\n".join(lines) + "\n"


def shown(found: dict[str, Any]) -> list[str]:
    ours, others = found["apt"][ENGINE], {n: a for n, a in found["apt"].items() if n != ENGINE}
    apart = sorted(n for n, a in others.items() if a["interval"][0] > ours["interval"][1])
    surface = found["surface"]
    bleu = sorted(n for n in others if surface[n]["bleu"]["interval"][0] > surface[ENGINE]["bleu"]["interval"][1])
    above = f"these are above {ENGINE}, with intervals that do not touch: {', '.join(apart)}."
    return [
        *paragraph(f"- By APT, {above if apart else f'no interval of the others is wholly above that of {ENGINE}.'}"),
        *paragraph(f"- By BLEU, {len(bleu)} of {len(others)} are: {', '.join(bleu) or 'none'}."),
        *paragraph(
            "- The whole way, from Chinese text to translations, APT, contrastive scores, `generative` and one",
            "HTML report",
            f"({found['report_bytes'] // 1000:,} kB), takes the commands of this repository only.",
        ),
    ]


def bold(name: str) -> str:
    return f"**{name}**" if name == ENGINE else name


def with_interval(value: float, interval: list[float], digits: int) -> str:
    return f"{value:.{digits}f} [{interval[0]:.{digits}f}, {interval[1]:.{digits}f}]"
