"""Number of a subject, as its verb has it: taggers guess, verbs know."""

from __future__ import annotations

from anaphora.annotate.document import Sentence


def finite_verb(sentence: Sentence, index: int) -> int | None:
    """The finite verb of the clause that a word is an argument of: the predicate, its auxiliary or its copula."""
    head = sentence[index].head
    if head is None:
        return None
    verbs = [head, *(child for child in sentence.children[head] if sentence[child].role in ("aux", "cop"))]
    return next((verb for verb in verbs if sentence[verb].features.get("VerbForm") == "Fin"), None)


def is_plural(sentence: Sentence, index: int) -> bool:
    """By the finite verb where the word is a subject, else by the tagger."""
    token = sentence[index]
    if token.role in ("nsubj", "expl"):
        verb = finite_verb(sentence, index)
        if verb is not None and (number := sentence[verb].features.get("Number")):
            return number == "Plur"
    return token.features.get("Number") == "Plur"
