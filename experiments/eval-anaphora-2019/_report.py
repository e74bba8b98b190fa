"""RESULT.md from the figures of an experiment."""

from __future__ import annotations

from typing import Any

from anaphora.languages.pronoun_files import pronoun_lists

NAMES = {"de": "German", "fr": "French", "ru": "Russian"}
PAPER = {"de": (81.6, 0.83), "fr": (82.0, 0.84), "ru": (79.4, 0.80)}  # Table 5: ELMo, CRC
PRONOUNS = {"he:it": "95", "his:its": "86", "that:it": "72", "it:she": "–"}  # §5.4


def report(results: dict[str, Any]) -> str:
    data, limits = results["data"], results["limits"]
    lines = [
        "# The learned pronoun measure on real output",
        "",
        "Written by `python experiments/run.py eval-anaphora-2019/measure` "
        f"(limits of this run: {limits['limit'] or 'all'} training pairs of each kind, {limits['dev_limit'] or 'all'} "
        f"development pairs of each kind in Table 4, {limits['test_limit'] or 'all'} annotated pairs per language, "
        f"{limits['lm_pairs']} pairs for the language model's weights).",
        "",
        f"Encoder: `{results['encoder']}`, frozen. Language model: `{results['lm']}`. Texts are lowercased and lose",
        "their punctuation, as the annotated pairs are. Held out of training in every language: newstest2014",
        "(development), newstest2017 and newsdiscusstest2015, from which the annotated pairs are, and every reference",
        "sentence of these.",
        "",
        "## Data (the paper's Table 3)",
        "",
        "| | reference–system pairs | noisy pairs |",
        "| :-- | --: | --: |",
        f"| training, 2011–2020 but 2014, 2017 | {data['train']['system']:,} | {data['train']['noisy']:,} |",
        f"| development, newstest2014 | {data['dev']['system']:,} | {data['dev']['noisy']:,} |",
        f"| drawn by the confusion in the training pairs | – | {data['drawn']:,} |",
        "",
        "The paper has 97,461 training pairs, of systems of 2011 to 2015; ours are of Google, Microsoft and Bergamot,",
        "which make fewer and other errors. The most frequent pairs:",
        "",
        f"- training: {pairs(data['train_pairs'])}",
        f"- annotated: {pairs(data['test_pairs'])}",
    ]
    if "table4" in results:
        lines += ["", "## Table 4: accuracy on newstest2014", "", *table4(results["table4"])]
    lines += ["", "## Table 5: accuracy on the annotated pairs", "", *table5(results["models"])]
    lines += ["", "## By pronoun pair (§5.4)", "", *by_pronoun(results["models"])]
    lines += ["", "## What limits it", "", *limits_of(results["models"])]
    return "\n".join([*lines, ""])


def pairs(found: list[list[Any]]) -> str:
    return ", ".join(f"{pair.replace(':', '–')} {n}" for pair, n in found)


def table4(rows: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| | setting | test | n | ours | paper (GloVe) | paper (ELMo) |",
        "| :-- | :-- | :-- | --: | --: | --: | --: |",
    ]
    for n, row in enumerate(rows, start=1):
        paper = [f"{100 * row['paper'][name]:.2f}" for name in ("glove", "elmo")]
        lines.append(
            f"| {n} | {row['context']} | {row['test']} | {row['total']:,} | {share(row)} | {' | '.join(paper)} |"
        )
    return lines


def table5(models: dict[str, Any]) -> list[str]:
    lines = [f"| | {' | '.join(NAMES.values())} | all | AC1 |", f"| :-- |{' --: |' * 5}"]
    lines.append(
        "| paper (ELMo, CRC) | " + " | ".join(f"{PAPER[code][0]:.1f}" for code in NAMES) + " | 81.35 | 0.80–0.84 |"
    )
    for name, found in models.items():
        cells = [share(found["languages"][code]) for code in NAMES]
        agreement = [found["languages"][code]["human"] for code in NAMES]
        values = [f"{human['ac1']:.2f}" for human in agreement if human and human["ac1"] is not None]
        lines.append(f"| {name} | {' | '.join(cells)} | {share(found['all'])} | {', '.join(values)} |")
    return [
        *lines,
        "",
        "AC1: with the answer that most people gave for the pronoun pair, where the published list has it.",
    ]


def by_pronoun(models: dict[str, Any]) -> list[str]:
    shown = dict.fromkeys([*PRONOUNS, *list(next(iter(models.values()))["pronoun_pairs"])[:10]])
    lines = [f"| reference–noisy | paper | {' | '.join(models)} |", f"| :-- |{' --: |' * (1 + len(models))}"]
    for pair in shown:
        cells = []
        for found in models.values():
            right, total = found["pronoun_pairs"].get(pair, (0, 0))
            cells.append(f"{100 * right / total:.0f} ({total})" if total else "–")
        lines.append(f"| {pair.replace(':', '–')} | {PRONOUNS.get(pair, '')} | {' | '.join(cells)} |")
    return lines


def limits_of(models: dict[str, Any]) -> list[str]:
    """Errors on pairs of pronouns that are mostly interchangeable, and accuracy without these pairs."""
    lists = pronoun_lists("de-en")  # into English they are the same from every language
    lines = [
        "Some pairs are no errors: *the house which/that they built*. Pairs that APT's lists call equivalent",
        "(this, that and it; who or which and that; who and whom; these and those) are few, but a large part of what",
        "is counted as wrong:",
        "",
        "| | errors | on equivalent pronouns | accuracy on these | accuracy on all others |",
        "| :-- | --: | --: | --: | --: |",
    ]
    for name, found in models.items():
        counts = {True: [0, 0], False: [0, 0]}
        for pair, (right, total) in found["pronoun_pairs"].items():
            of = counts[lists.are_equivalent(*pair.split(":"))]
            of[0] += right
            of[1] += total
        wrong = {kind: total - right for kind, (right, total) in counts.items()}
        same, other = (f"{100 * right / total:.1f} ({total})" for right, total in (counts[True], counts[False]))
        errors = wrong[True] + wrong[False]
        lines.append(f"| {name} | {errors} | {100 * wrong[True] / errors:.0f} % | {same} | {other} |")
    return lines


def share(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{100 * figure['accuracy']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
