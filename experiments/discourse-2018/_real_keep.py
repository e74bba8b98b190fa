"""The model card of the 2-to-2 model that is kept in the repository."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from _markdown import paragraph


def card(model: str, right: Mapping[str, Any]) -> str:
    """right: the accuracy of the kept weights on the coreference set"""
    low, high = right["interval"]
    lines = [
        "# discourse-2018/2-to-2",
        "",
        *paragraph(
            "A small English–French Transformer that reads and writes the previous sentence together with the current",
            "one: 2 + 2 layers of size 192, 4,000 lowercased subwords, weights in half precision. This is seed",
            f"{model[-1:]}, which has the best development accuracy of the trained seeds. The training and all figures",
            "are in [REAL.md](../REAL.md), the settings in `config.toml`.",
        ),
        "",
        "```sh",
        "anaphora suites convert anaphora.json --from disceval -o bawden-coreference.jsonl",
        "anaphora score bawden-coreference.jsonl --system nmt:experiments/discourse-2018/2-to-2 --context 1 -o RUN",
        "```",
        "",
        *paragraph(
            f"**Accuracy on Bawden's coreference set** ({right['total']} items), given the previous sentence of the",
            f"test set in both languages: {right['accuracy']:.3f} [{low:.3f}, {high:.3f}]; chance is 0.500.",
        ),
        "",
        *paragraph(
            "**Data and licenses.** Tatoeba (CC BY 2.0 FR), the English turns of DiaBLa with their human translations",
            "(CC BY-SA 4.0), and passages of OpenSubtitles from Lopes et al. 2020 (MIT). Genders come from spaCy's",
            "fr_core_news_md 3.8. No sentence of three or more words of Bawden's sets was used.",
        ),
        "",
        *paragraph(
            "**Intended use.** Research on the evaluation of context-aware translation: trying test suites, attacks",
            "and analyses.",
        ),
        "",
        "**Limits.**",
        "",
        "- Its translations are poor, lowercased, and limited to a small vocabulary.",
        "- Its last stage was trained on passages made for the question of the coreference set. The figure says that",
        "  it reads the gender of a noun in a given French sentence, and little about other pronouns or texts.",
        "- It may take any noun of the previous sentence for the antecedent.",
        "- It has the biases of subtitles.",
    ]
    return "\n".join(lines) + "\n"
