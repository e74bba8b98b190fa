"""What annotators read first, unless the study has instructions of its own. A paragraph is a line."""

from __future__ import annotations

from anaphora.study.model import GAPS, PAIRS

TITLES = {PAIRS: "Which pronoun fits?", GAPS: "Which word fits the gap?"}

INSTRUCTIONS = {
    PAIRS: (
        "You will see a passage and two ways to say its last sentence. They differ in the highlighted words, most "
        "often one pronoun. Choose the one whose pronoun fits better.",
        "Read the sentences before it: they often tell who or what the pronoun stands for. Judge the highlighted words "
        "only, and let other mistakes pass.",
        "If both fit equally well, say so. If both are wrong, choose “neither”. If the highlighted words are no "
        "pronouns, or cannot be compared, choose “invalid”.",
    ),
    GAPS: (
        "You will see a passage and its translation, in which one word is hidden. Choose every word that can stand in "
        "the gap; more than one may be right.",
        "Read the sentences before it: they often tell who or what the pronoun stands for. Do not guess what the "
        "translation had there.",
        "If some other word is needed, choose “other”. If the translation is so bad that nothing would fit, choose "
        "“bad translation”.",
    ),
}
