"""RESULT.md from the figures of an experiment."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from _markdown import paragraph

from anaphora.languages.pronouns import pronoun_lists
from anaphora.stats.intervals import wilson
from anaphora.stats.paired import mcnemar

NAMES = {"de": "German", "fr": "French", "ru": "Russian", "zh": "Chinese"}
PAPER = {"de": (81.6, 0.83), "fr": (82.0, 0.84), "ru": (79.4, 0.80), "zh": (82.4, 0.83)}  # Table 5: ELMo, CRC
KEPT = "†"  # a row that this run has not computed
PRONOUNS = {"he:it": "95", "his:its": "86", "that:it": "72", "it:she": "–"}  # §5.4

GOAL = 0.82  # of the measure alone, on the annotated pairs
LM, ADAPTED, LEARNING = "language model", "language model, adapted", "the same, the encoder learns"
BALANCED, DEEP = "hidden layer, balanced drawn pairs", "the same, SmolLM2 as the encoder"
CHANCE = 0.05
TOGETHER = ("language model and measure", "adapted language model and measure")


def report(results: dict[str, Any]) -> str:
    models, limits = results["models"], results["limits"]
    sections = (
        ("Accuracy on the annotated pairs (the paper's Table 5)", table5(models, limits)),
        ("What it shows", [*verdict(models, LM), "", *against(models)]),
        ("By pronoun pair (§5.4)", by_pronoun(models)),
        ("Pronouns that can replace each other", [*limits_of(models), *by_people(models)]),
        ("Development pairs", choices(models)),
        ("Table 4: accuracy on newstest2014", table4(results)),
        ("Data (the paper's Table 3)", data_table(results["data"])),
        ("Models and training", training(results)),
        ("What is kept", kept_models(results)),
        ("What it does not show", NOT_SHOWN),
    )
    lines = [
        "# The learned pronoun measure on real output",
        "",
        *paragraph(
            "**Question.** How well does a measure that is trained on the output of today's systems judge the paper's",
            "annotated pairs, how does it compare with the preference of a language model, and do the two together",
            "judge better than either?",
        ),
        "",
        "```sh",
        f"python experiments/run.py eval-anaphora-2019/measure{command_of(results)}",
        "python experiments/run.py eval-anaphora-2019/measure --report-only  # write this page from results.json",
        "anaphora measure evaluate PAIRS --model experiments/eval-anaphora-2019/best",
        "```",
    ]
    for title, section in sections:
        lines += ["", f"## {title}", "", *section] if section else []
    return "\n".join([*lines, ""])


def bullets(*texts: str) -> list[str]:
    lines = []
    for text in texts:
        first, *rest = paragraph(f"- {text}")
        lines += [first, *(f"  {line}" for line in rest)]
    return lines


NOT_SHOWN = bullets(
    "One seed of everything.",
    "The budget was about two hours of one core of a shared machine. The rank, the rates, the number of epochs and the "
    "steps of the adaptation were not varied.",
    "The rows were computed in two sessions on two machines, with the same data, settings and seeds.",
    "The annotated pairs are news, and each differs in one pronoun. How well a judge ranks whole systems was not "
    "tested.",
)


def training(results: dict[str, Any]) -> list[str]:
    """The models, and how the measure whose encoder learns was trained and chosen."""
    found, limits = results.get("training"), results["limits"]
    if found:
        best = found["best"]
        learned = (
            f"It was trained on {found['pairs']:,} balanced drawn pairs in {found['epochs']} epochs, its own weights "
            f"in bfloat16. Epoch {best['epoch']} is the best on the {found['dev_pairs']} noisy pairs of newstest2014 "
            f"whose pronouns are not equivalent ({100 * best['dev_accuracy']:.1f} %). Settings and development pairs "
            "were fixed before the annotated pairs were scored."
        )
    else:
        learned = (
            f"The figure of this page is that of one epoch over {limits['learn_limit']:,} balanced drawn pairs, in "
            "float32; its rates were laid out for two epochs, and the run was cut short. The script now trains two "
            "epochs on all of these pairs, in bfloat16. That run was not finished, and no figure of this page comes "
            "from it."
        )
    earlier = results.get("earlier")
    if found and earlier:
        learned += (
            f" An earlier run, cut short after one epoch of {earlier['pairs']:,} pairs in float32, had "
            f"{share(earlier['all'])} %."
        )
    precision = "computed in bfloat16"
    if results["models"].get(LM, {}).get("options") != limits or not found:
        precision = "computed in float32, and in bfloat16 where it is adapted (the script now uses bfloat16 for both)"
    return bullets(
        "**Encoder:** all-MiniLM-L6-v2 (22 million parameters). Where it learns, it learns low-rank updates (rank 16). "
        f"{learned}",
        *deep_encoder(results["models"]),
        f"**Language model:** SmolLM2-135M-Instruct in 4 bits, {precision}. *Adapted* has learned low-rank updates in "
        f"{limits['steps']} steps from news without capitals and punctuation.",
        "**Static vectors** of Table 4: GloVe, 50 dimensions.",
        "**Combination:** log-probability and score, each with a weight from logistic regression on development pairs.",
        "**Text** is lowercased and loses its punctuation, as in the annotated pairs.",
        "**Held out** of training in every language: newstest2014 (development), newstest2017 and newsdiscusstest2015, "
        "from which the annotated pairs come, and every reference sentence of these.",
    )


def deep_encoder(models: dict[str, Any]) -> list[str]:
    if DEEP not in models:
        return []
    return [
        "**SmolLM2 as the encoder:** the lower 20 of its 30 layers, with low-rank updates (rank 8), one sentence of "
        f"context, and one epoch of {models[DEEP]['pairs']:,} balanced drawn pairs. Depth, context and epochs were "
        "set by the budget, before any annotated pair was scored."
    ]


def command_of(results: dict[str, Any]) -> str:
    """The options of the run that are not the default."""
    limits = results["limits"]
    names = ("learn_limit", "table_limit", "adapted_limit", "test_limit", "limit")
    named = [name for name in names if limits.get(name)]
    return "".join(f" --{name.replace('_', '-')} {limits[name]}" for name in named)


def data_table(data: dict[str, Any]) -> list[str]:
    return [
        "| | reference–system pairs | noisy pairs |",
        "| :-- | --: | --: |",
        f"| training, 2011–2021 but 2014, 2017 | {data['train']['system']:,} | {data['train']['noisy']:,} |",
        f"| development, newstest2014 | {data['dev']['system']:,} | {data['dev']['noisy']:,} |",
        f"| drawn by the confusion in the training pairs | – | {data['drawn']:,} |",
        f"| the same, balanced (to train on, to stop by) | – | {data['balanced'][0]:,}, {data['balanced'][1]:,} |",
        "",
        *paragraph(
            "The paper has 97,461 training pairs, of systems of 2011 to 2015. Ours are of Google, Microsoft, Bergamot",
            "and the systems of WMT 2021, which make fewer and different errors. A drawn pair is a reference sentence",
            "with one pronoun replaced as systems confuse them. Balanced pairs have each confusion as often in one",
            "direction as in the other. The most frequent pairs:",
        ),
        "",
        f"- training: {pairs(data['train_pairs'])}",
        f"- annotated: {pairs(data['test_pairs'])}",
    ]


def pairs(found: list[list[Any]]) -> str:
    return ", ".join(f"{pair.replace(':', '–')} {n}" for pair, n in found)


def table4(results: dict[str, Any]) -> list[str]:
    """The eight experiments with static vectors and with the encoder, each next to the paper's, and how they differ."""
    static, encoder = results.get("table4-glove"), results.get("table4")
    marks = [mark(found, results) for found in (static, encoder)]
    lines = [
        f"| | setting | test | n | GloVe, ours{marks[0]} | GloVe, paper | MiniLM, ours{marks[1]} | ELMo, paper |",
        "| :-- | :-- | :-- | --: | --: | --: | --: | --: |",
    ]
    listed = (static or encoder or {"rows": []})["rows"]
    for n, row in enumerate(listed, start=1):
        ours = [share(found["rows"][n - 1]) if found else "–" for found in (static, encoder)]
        paper = [f"{100 * row['paper'][name]:.2f}" for name in ("glove", "elmo")]
        figures = f"{ours[0]} | {paper[0]} | {ours[1]} | {paper[1]}"
        lines.append(f"| {n} | {row['context']} | {row['test']} | {row['total']:,} | {figures} |")
    return [*lines, "", *shape(results)]


def mark(found: dict[str, Any] | None, results: dict[str, Any]) -> str:
    return f" {KEPT}" if found and found.get("options") != results["limits"] else ""


def shape(results: dict[str, Any]) -> list[str]:
    """On how many pairs each was trained, how the shape differs from the paper's, and the language model on R vs. S."""
    said = []
    for name, what in (("table4-glove", "Static vectors"), ("table4", "The encoder")):
        found = results.get(name)
        if found is None:
            said.append(f"{what}: not run.")
            continue
        noisy, system = (100 * found["rows"][n]["accuracy"] for n in (6, 7))
        (low, high), (lowest, highest) = (found["rows"][n]["interval"] for n in (6, 7))
        harder = "does not differ from R vs. R′ beyond the intervals"
        if high < lowest or highest < low:
            harder = "is the harder test" if system < noisy else "is the easier test"
        said.append(
            f"{what}, trained on {found['pairs']:,} reference–system pairs (the paper: 97,461): with CRC, R vs. S "
            f"{harder} ({system:.1f} against {noisy:.1f})."
        )
    said.append("In the paper, R vs. S is the easier test (GloVe: 77.9 against 68.9; ELMo: 90.7 against 89.1).")
    systems = results["models"].get(LM, {}).get("systems")
    if systems:
        whole, by_word = (interval(*systems[name]) for name in ("sum", "mean"))
        said.append(
            f"The language model prefers the reference in {whole} % of {systems['sum'][1]} random reference–system "
            f"pairs by the log-probability from the first pronoun on, and in {by_word} % by the mean of a word."
        )
    said.append("As in the paper, a model is chosen and tested on the same pairs, by R vs. R′ for both tests.")
    return bullets(*said)


def table5(models: dict[str, Any], limits: dict[str, Any]) -> list[str]:
    shown = [code for code in NAMES if all(code in found["languages"] for found in models.values())]
    lines = [f"| | pairs | {' | '.join(NAMES[code] for code in shown)} | all | AC1 |"]
    lines.append(f"| :-- |{' --: |' * (len(shown) + 3)}")
    lines.append(paper_row(shown))
    for name, found in models.items():
        cells = [share(found["languages"][code]) for code in shown]
        agreement = [found["languages"][code]["human"] for code in shown]
        values = [f"{human['ac1']:.2f}" for human in agreement if human and human["ac1"] is not None]
        total = f"{found['all']['total']:,}"
        shown_name = marked(name, found, limits)
        lines.append(f"| {shown_name} | {total} | {' | '.join(cells)} | {share(found['all'])} | {', '.join(values)} |")
    lines += ["", "AC1: with the answer that most people gave for the pronoun pair, where the published list has it."]
    missing = [NAMES[code] for code in NAMES if code not in shown]
    if missing:
        lines += [
            "The paper's figure in all is the mean of the languages shown here. The paper itself gives the mean of",
            f"four languages, 2,000 pairs: {mean(NAMES):.2f}. The pairs from {', '.join(missing)} were not at hand",
            "(`anaphora suites get eval-anaphora-zh` fetches them).",
        ]
    return lines + kept_note(models, limits)


def mean(languages: Iterable[str]) -> float:
    """The paper's accuracy over languages: each has 500 pairs."""
    figures = [PAPER[code][0] for code in languages]
    return sum(figures) / len(figures)


def paper_row(languages: Sequence[str]) -> str:
    """What the paper has for these languages, and over all of them."""
    cells = [f"{PAPER[code][0]:.1f}" for code in languages]
    agreement = [f"{PAPER[code][1]:.2f}" for code in languages]
    total = f"{mean(languages):.2f}"
    return f"| paper (ELMo, CRC) | {500 * len(languages):,} | {' | '.join(cells)} | {total} | {', '.join(agreement)} |"


def marked(name: str, found: dict[str, Any], limits: dict[str, Any]) -> str:
    """The name of a row, with a mark if this run has not computed it."""
    return name if found.get("options") == limits else f"{name} {KEPT}"


def kept_note(models: dict[str, Any], limits: dict[str, Any]) -> list[str]:
    """How the rows of an earlier run differ from the others."""
    earlier = [name for name, found in models.items() if found.get("options") != limits]
    if not earlier:
        return []
    said = [f"{KEPT} Kept from an earlier run of this version."]
    if any(name not in (LM, ADAPTED, LEARNING, DEEP, *TOGETHER) for name in earlier):
        said.append(
            "The measures: a frozen encoder, its last layer alone, 3,000 pairs of the kind (of the drawn pairs, before "
            "they were balanced)."
        )
    if LEARNING not in earlier and any(name in TOGETHER for name in earlier):
        said.append("The combinations: with the measure of that run, which learned from 6,000 pairs in one epoch.")
    return ["", *paragraph(*said)]


def choices(models: dict[str, Any]) -> list[str]:
    """Accuracy on development pairs, by which the kept measure is chosen."""
    lines = [
        *paragraph(
            "Noisy pairs of newstest2014. The last column, pairs whose pronouns APT's lists do not call equivalent,",
            "decides which measure is kept. The weights of a combination and the epoch of the measure come from such",
            "pairs too, so these figures are optimistic.",
        ),
        "",
        "| | all | equivalent | others |",
        "| :-- | --: | --: | --: |",
    ]
    for name, found in models.items():
        if "choice" in found:
            parts = found["choice"].values()
            cells = [f"{100 * right / total:.1f} ({total})" for right, total in parts]
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def kept_models(results: dict[str, Any]) -> list[str]:
    """What is in this folder, and how large it is."""
    found = results.get("kept")
    if not found:
        return []
    best, adapter = (f"{found[name] / 10**6:.1f} MB" for name in ("best_bytes", "adapter_bytes"))
    folders = (
        f"[best](best/README.md): *{found['best']}*, the best on development pairs ({best} of weights).",
        f"[adapter](adapter/README.md): what the language model learned ({adapter}).",
    )
    return [*bullets(*folders), "", "Both hold low-rank updates and name their base models."]


def against(models: dict[str, Any]) -> list[str]:
    """Each model next to the plain preference of the language model, pair by pair."""
    first = LM
    if first not in models:
        return ["The language model was left out."]
    lines = [
        *paragraph(
            f"Pairs on which only the {first} or only the other judge is right, and McNemar's exact test (two-sided):",
        ),
        "",
        f"| | pairs | only the {first} | only this | neither | difference | p |",
        "| :-- | --: | --: | --: | --: | --: | --: |",
    ]
    for name, found in models.items():
        if name == first or "right" not in found or "right" not in models[first]:
            continue
        old, new = common(models[first]["right"], found["right"])
        lost, gained = (sum(a > b for a, b in zip(x, y, strict=True)) for x, y in ((old, new), (new, old)))
        neither = sum(a == b == "0" for a, b in zip(old, new, strict=True))
        p = mcnemar(lost, gained)
        shown = "<0.001" if p < 0.001 else f"{p:.3f}"
        delta = f"{100 * (gained - lost) / len(new):+.1f}".replace("-", "−")
        lines.append(f"| {name} | {len(new):,} | {lost} | {gained} | {neither} | {delta} | {shown} |")
    return lines


def verdict(models: dict[str, Any], first: str) -> list[str]:
    """Whether the goals are reached, said in words: of the measure alone, and of the combination."""
    said, best = [], ""
    alone = [name for name in (LEARNING, DEEP) if name in models]
    if alone:
        best = max(alone, key=lambda name: on_others(models[name])) if len(alone) > 1 else alone[0]
        figure = models[best]["all"]
        reached = "reached" if figure["accuracy"] > GOAL else "not reached"
        others = "".join(f", which is better on development pairs than *{name}*" for name in alone if name != best)
        goal = f"The goal of the measure alone, above {100 * GOAL:.0f} %, is {reached}"
        said.append(f"{goal}: {share(figure)} (*{best}*{others}).")
    measures = [name for name in models if name not in (LM, ADAPTED, *TOGETHER) and "choice" in models[name]]
    chosen = max(measures, key=lambda name: on_others(models[name]), default=best)
    if chosen != best:
        said.append(
            f"Among all measures, development pairs prefer *{chosen}* ({100 * on_others(models[chosen]):.1f} %), which "
            f"has {share(models[chosen]['all'])} here: it was trained on pairs of the same kind as these. Development "
            "pairs compare only measures that were trained on the same pairs."
        )
    if {BALANCED, LEARNING} <= models.keys():
        gained, lost, _ = gained_and_lost(models, BALANCED, LEARNING)
        sure = "" if mcnemar(lost, gained) < CHANCE else ", a difference that may be chance"
        said.append(
            f"With the same pairs, MiniLM has {share(models[BALANCED]['all'])} where it stays as it is, and "
            f"{share(models[LEARNING]['all'])} where it learns{sure}."
        )
    for name in (name for name in (ADAPTED, *TOGETHER) if name in models):
        gained, lost, total = gained_and_lost(models, first, name)
        compared = "is not above the plain language model"
        if gained > lost:
            compared = "is above the plain language model, by a difference that may be chance"
        if gained > lost and mcnemar(lost, gained) < CHANCE:
            compared = "is above the plain language model, by a difference that is not chance"
        difference = f"{gained - lost:+d}".replace("-", "−")
        said.append(f"*{name.capitalize()}* {compared} ({difference} pairs of {total:,}).")
    return bullets(*said)


def gained_and_lost(models: dict[str, Any], first: str, second: str) -> tuple[int, int, int]:
    """On how many pairs only the second model is right, and only the first one, of how many."""
    old, new = common(models[first]["right"], models[second]["right"])
    pairs = list(zip(old, new, strict=True))
    return sum(b > a for a, b in pairs), sum(a > b for a, b in pairs), len(pairs)


def on_others(found: dict[str, Any]) -> float:
    """Accuracy on the development pairs whose pronouns are not equivalent."""
    right, total = found["choice"]["others"]
    return float(right / total)


def common(first: dict[str, str], second: dict[str, str]) -> tuple[str, str]:
    """Two models pair by pair, on the pairs of each language that both were tested on (the first ones)."""
    sizes = {language: min(len(first[language]), len(second[language])) for language in first}
    return tuple("".join(right[k][:n] for k, n in sizes.items()) for right in (first, second))  # type: ignore[return-value]


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
        *paragraph(
            "Some pairs are not errors: *the house which/that they built*. APT's lists call some pronouns equivalent",
            "(this, that and it; who or which and that; who and whom; these and those). Pairs of these are a large",
            "part of the errors:",
        ),
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


def by_people(models: dict[str, Any]) -> list[str]:
    """Accuracy by how many of the answers of people were for the reference's pronoun."""
    known = {name: found["people"] for name, found in models.items() if "people" in found}
    if not known:
        return []
    groups = list(next(iter(known.values())))
    lines = [
        "",
        "By how many of the answers that people gave for the pronoun pair in the study were for the reference:",
        "",
    ]
    lines += [f"| | {' | '.join(groups)} |", f"| :-- |{' --: |' * len(groups)}"]
    for name, found in known.items():
        cells = [f"{100 * right / total:.1f} ({total})" if total else "–" for right, total in found.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def interval(right: int, total: int) -> str:
    low, high = wilson(right, total)
    return f"{100 * right / total:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def share(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{100 * figure['accuracy']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
