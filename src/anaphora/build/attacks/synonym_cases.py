"""The case of the target antecedents of a suite, as its tags have it and as an annotation has it."""

from __future__ import annotations

from collections.abc import Sequence

from anaphora.annotate import Annotator
from anaphora.annotate.document import Token
from anaphora.build.attacks.antecedent import Antecedent, find, from_tags, sentence_of
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

CASES = ("Nom", "Acc", "Dat", "Gen")
ROLES = {"nsubj": "Nom", "obj": "Acc"}


def case_by_tag(example: Example) -> list[str]:
    """As ContraPro's tag has it: Fem|Nom|Sg, or Fem|_|Sg."""
    fields = str(example.tags.get("target_antecedent_head_morpho", "")).split("|")
    return [case for case in fields[1:2] if case in CASES]


def cases_by_annotation(suite: Suite, annotator: Annotator) -> dict[str, Sequence[str]]:
    """What is known of the case of each antecedent, by the example's id: by tag, tagger, and role in the tree.

    Each is an opinion of its own; whoever asks may want them to agree.
    """
    rows: list[tuple[Example, Antecedent, str]] = []
    for example in suite:
        antecedent = from_tags(example)
        place = sentence_of(example.source, antecedent) if antecedent else None
        if antecedent is not None and place is not None:
            rows.append((example, antecedent, example.candidates[example.gold or 0][place]))
    found: dict[str, Sequence[str]] = {}
    documents = annotator.annotate([sentence] for _, _, sentence in rows)
    for (example, antecedent, _), document in zip(rows, documents, strict=True):
        sentence = document.sentences[0]
        match = find(antecedent.target, sentence.text)
        tokens = zip(sentence, sentence.offsets, strict=True)
        inside = [token for token, place in tokens if match and match.start() <= place < match.end()]
        head = example.tags.get("target_antecedent_head")
        nouns = [token for token in inside if (token.text == head if head else token.upos in ("NOUN", "PROPN"))]
        found[example.id] = [*case_by_tag(example), *(_cases(nouns[0]) if nouns else ())]
    return found


def _cases(token: Token) -> list[str]:
    tagged, role = token.features.get("Case", ""), ROLES.get(token.role, "")
    return [case for case in (tagged, role) if case in CASES]
