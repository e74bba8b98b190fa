"""Items of running English text: pronouns with the antecedents that the built-in linker finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from anaphora.annotate import load_annotator
from anaphora.coref import load_linker
from anaphora.suites.example import Example

MODEL = "en_ud_sm"  # a model of spaCy in the folder beside the data
PRONOUNS = ("it", "they", "them")
CONFIDENCE = 0.5  # of the linker; below, an antecedent is more often wrong than right
CONTEXT = 2


def linked(sentences: Sequence[str], models: Path) -> Iterator[tuple[int, Example]]:
    """Pronouns with a noun as their antecedent, each with the number of its sentence; the passage is the source only.

    Sentences with several such pronouns are left out, so that it is clear which one is meant.
    """
    annotator, linker = load_annotator(f"spacy:{models / MODEL}", "en"), load_linker("builtin", "en")
    (document,) = annotator.annotate([list(sentences)])
    for link in linker.links(document):
        here, noun = link.pronoun.sentence, link.antecedent
        words = [token.text.lower() for token in document.sentences[here].tokens]
        pronoun = words[link.pronoun.head]
        if noun is None or pronoun not in PRONOUNS or sum(word in PRONOUNS for word in words) > 1:
            continue
        back = here - noun.sentence
        if link.confidence < CONFIDENCE or back > CONTEXT:
            continue
        head = document.sentences[noun.sentence][noun.head].text
        tags = {"source_pronoun": pronoun, "source_antecedent": document.text(noun), "distance": back}
        source = tuple(sentences[here - back : here + 1])
        yield here, Example(str(here), source, (source,), None, {**tags, "source_antecedent_head": head})
