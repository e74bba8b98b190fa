"""What annotators read first, unless the study has instructions of its own. A paragraph is a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from anaphora.study.model import GAPS, PAIRS, Study

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


@dataclass(frozen=True, slots=True)
class Shown:
    """An example on the first page: a sentence before, and how the next one begins in each candidate and ends."""

    context: str
    words: tuple[str, ...]  # of a gap: the empty word
    rest: str
    verdict: str


KEY = "B is better: the pronoun stands for {}."
LETTERS = "“{}” fits: it stands for {}. Where several words fit, choose all of them."

EXAMPLES = {
    PAIRS: {
        "en": Shown(
            *("Where did you put the key?", ("He", "It"), " is on the shelf, next to the books."),
            KEY.format("the key"),
        ),
        "de": Shown(
            *("Wo hast du den Schlüssel hingelegt?", ("Es", "Er"), " liegt im Regal, neben den Büchern."),
            KEY.format("“den Schlüssel”"),
        ),
        "fr": Shown(
            *("Où as-tu mis la clé ?", ("Il", "Elle"), " est sur l’étagère, à côté des livres."),
            KEY.format("“la clé”"),
        ),
        "es": Shown(
            *("¿Dónde está la llave?", ("Lo", "La"), " puse en el estante, junto a los libros."),
            KEY.format("“la llave”"),
        ),
    },
    GAPS: {
        "en": Shown(
            *("I found the letters.", ("",), " were in the drawer."),
            "“they” fits, and “these” might do as well: choose both.",
        ),
        "de": Shown(
            *("Ich habe die Briefe gefunden.", ("",), " lagen in der Schublade."),
            LETTERS.format("sie", "“die Briefe”"),
        ),
        "fr": Shown(
            *("J’ai trouvé les lettres.", ("",), " étaient dans le tiroir."),
            LETTERS.format("elles", "“les lettres”"),
        ),
        "es": Shown(
            *("Encontré las cartas.", ("",), " estaban en el cajón."),
            LETTERS.format("ellas", "“las cartas”"),
        ),
    },
}


def welcome_example(study: Study) -> dict[str, Any] | None:
    """The example for the first page, in the language of the translations.

    None where there is none in it, and where the organizers have written the instructions: it might contradict them.
    """
    example = EXAMPLES[study.mode].get(study.target_language)
    if example is None or study.instructions != INSTRUCTIONS[study.mode]:
        return None
    return {
        "language": study.target_language,
        "context": [example.context],
        "candidates": [[(word, True), (example.rest, False)] for word in example.words],
        "verdict": example.verdict,
    }
