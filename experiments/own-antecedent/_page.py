"""SPANISH.md and FRENCH.md, from the figures of spanish.json and french.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _markdown import paragraph
from _verdicts import EXPECTED, PRECISION, expected_row, precision_rows

from anaphora.evaluation.own_antecedent import AGREES, DISAGREES, NOT_WRITTEN, PREDICATE, VERDICTS

WANTED = 0.95  # of decided verdicts; German has more on translations whose verdict is known
TITLES = {"decided": "decided", AGREES: AGREES, DISAGREES: DISAGREES}
LINKED = {"right_antecedent": "decided, with the right antecedent"}
COMMANDS = {
    "Spanish": "apt-get install apertium apertium-eng-spa\npython experiments/run.py own-antecedent/spanish",
    "French": "python experiments/run.py own-antecedent/french",
}
CAUSES = {
    "antecedent": "in {} the antecedent is not that of the pronoun, or the pronoun may have none",
    "pronoun": "in {} the word that was taken for the pronoun, or for its predicate, is another one",
    "noun": "in {} the word that was taken for the antecedent is another one, or its gender or number is wrong",
}
OUTPUTS = {
    "Spanish": "The items are {items:,} of ContraPro's passages whose records name an antecedent at most one sentence "
    "back, drawn at random (seed {seed}). Apertium, a system of rules, translated them. It needs no Spanish reference.",
    "French": "The items are pronouns (*it*, *they*, *them*) of WMT's news of 2013 with the antecedents that the "
    "built-in linker finds in English (confidence 0.5 or more), as the text has none annotated. The {items:,} passages "
    "are taken in turn from the outputs of Google, Microsoft and two Bergamot models.",
}
LIMITS = {
    "Spanish": "Verdicts on the output of neural systems in Spanish were not read; Apertium is a system of rules, and "
    "leaves some words in English. The rules for predicates and for nouns in *-o* and *-a* were made before these "
    "{read} items were drawn, but while looking at a third of the items of this set that predicates decide, some of "
    "which are among those read.",
    "French": "No output of a system on text with annotated antecedents is in the data at hand, so that the figures on "
    "outputs include the errors of the linker. The lists of nouns and endings were made longer before these {read} "
    "items were drawn, but after a look at the nouns of this set whose gender was not known.",
}


def report(found: Mapping[str, Any]) -> str:
    language = found["language"]
    lines = [
        f"# Agreement with the own antecedent in {language}",
        "",
        f"**Question.** Are the verdicts of `generative --antecedent own` right on {language}?",
        "",
        "```sh",
        COMMANDS[language],
        "```",
        "",
        "## Outputs of systems, read one by one",
        "",
        *paragraph(OUTPUTS[language].format(**found), f"Aligned by `{found['aligner']}` on these sentences alone."),
        "",
        "| " + " | ".join(VERDICTS) + " | decided |",
        "|" + "--:|" * (len(VERDICTS) + 1),
        "| " + " | ".join(f"{found['verdicts'][kind]:,}" for kind in VERDICTS) + f" | {share_decided(found)} |",
        "",
        *paragraph(*undecided(found)),
        "",
        *paragraph(
            f"{found['read']} decided items, from {found['passages']} different passages, were drawn at random "
            f"and read:"
        ),
        "",
        PRECISION,
        precision_rows(found, TITLES | ({k: v for k, v in LINKED.items() if k in found})),
        "",
        *paragraph(*reader(found)),
        "",
        "## A control: the other gender",
        "",
        *paragraph(*control(found)),
        "",
        "| as written | items | agrees | disagrees | not found | unclear | turned round | 95 % interval |",
        "|:--|--:|--:|--:|--:|--:|--:|--:|",
        *(control_row(kind, found["control"][kind]) for kind in (AGREES, DISAGREES)),
        "",
        *(annotated(found["known"]) if "known" in found else []),
        "## What it shows",
        "",
        *paragraph(*shown(found)),
        "",
        "## What it does not show",
        "",
        *paragraph(LIMITS[language].format(**found)),
    ]
    return "\n".join(lines) + "\n"


def share_decided(found: Mapping[str, Any]) -> str:
    decided = found["verdicts"][AGREES] + found["verdicts"][DISAGREES]
    return f"{100 * decided / found['items']:.1f} %"


def shown(found: Mapping[str, Any]) -> list[str]:
    """The result in short."""
    low, high = found["decided"]["interval"]
    where = "is below" if high < WANTED else "is above" if low > WANTED else "includes"
    sentences = [
        f"{share_decided(found)} of the items are decided. The reader shares {found['decided']['precision']:.3f} of",
        f"the verdicts on them that were read, with an interval of [{low:.3f}, {high:.3f}], which {where} {WANTED}.",
    ]
    if linked := found.get("right_antecedent"):
        sentences.append(f"Where the antecedent is right, it is {linked['right']} of {linked['items']}.")
    return sentences


def undecided(found: Mapping[str, Any]) -> list[str]:
    """Why items are not decided, and what decides those without a pronoun."""
    why = {reason: number for reason, number in found["reasons"].items() if reason != PREDICATE}
    sentences = [f"Why items are not decided: {', '.join(f'{reason} ({number})' for reason, number in why.items())}."]
    if not_written := why.get(NOT_WRITTEN):
        sentences.append(
            f"In {found['without_pronoun']} of the {not_written} whose pronoun is not found, the sentence has no "
            "third-person pronoun at all, forms that are also articles aside."
        )
    if by_predicate := found["reasons"].get(PREDICATE):
        sentences.append(
            f"{by_predicate} items have no pronoun and are decided by the predicate of the subject that is left out "
            "(*está roto*, *es nueva*)."
        )
    return sentences


def reader(found: Mapping[str, Any]) -> list[str]:
    """Who read, what was asked, and why the reader does not share some verdicts."""
    different = found["decided"]["items"] - found["decided"]["right"]
    causes = [CAUSES[cause].format(number) for cause, number in found["causes"].items() if number]
    file = "read-es.tsv" if found["language"] == "Spanish" else "read-fr.tsv"
    return [
        *([f"The reader does not share {different} of the verdicts: {'; '.join(causes)}."] if causes else []),
        "The reader is a language model that also wrote this experiment, not a human annotator, and saw the program's",
        "verdicts. The first question is that of the program: does the word that stands for the pronoun agree with the",
        "noun that the system wrote for its antecedent? The second is whether the pronoun is right as a whole.",
        f"`{file}` has the answers without text; `--read FILE` writes the items with their texts.",
    ]


def control(found: Mapping[str, Any]) -> list[str]:
    rows = found["control"].values()
    decided, right = (sum(row[key] for row in rows) for key in ("decided", "right"))
    total = sum(row["total"] for row in rows)
    result = f"{right} of the {decided} that are still decided do." if decided else "None is decided any more."
    return [
        "A verdict that depends on the pronoun must turn round if the pronoun, or the predicate that decides in",
        "its place,",
        "gets the other gender: *agrees* becomes *disagrees*, and the reverse. That holds where the noun has one",
        "gender and",
        "the number of the pronoun. All such items in which the word is written once in its sentence, and is one",
        "whose other",
        f"gender is known, were changed ({total}) and judged again. {result}",
    ]


def control_row(kind: str, row: Mapping[str, Any]) -> str:
    numbers = " | ".join(f"{row['verdicts'][name]:,}" for name in VERDICTS)
    low, high = row["right_interval"]
    share = f"{row['right']} of {row['decided']} | [{low:.3f}, {high:.3f}]" if row["decided"] else "– | –"
    return f"| {kind} | {row['total']} | {numbers} | {share} |"


def annotated(known: Mapping[str, Any]) -> list[str]:
    """Human translations whose verdict is known."""
    return [
        "## Annotated antecedents",
        "",
        *paragraph(
            "ParCorFull (talks of DiscoMT) has the antecedents of *it* annotated in both languages. Taken are",
            "the items that",
            "are translated as *il*, *elle*, *le* or *la*. The human translation, given as a system's output,",
            "should agree,",
            "and the same with the other gender should disagree.",
        ),
        "",
        EXPECTED,
        expected_row("human translations", known[AGREES]),
        expected_row("the other gender", known[DISAGREES]),
        "",
    ]
