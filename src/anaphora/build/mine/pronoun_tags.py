"""What is kept of a mined pronoun, under the names that our ContraPro suites have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anaphora.annotate.document import Document, Mention
from anaphora.build.mine.pair import AnnotatedPair

if TYPE_CHECKING:
    from anaphora.build.mine.pronouns import Found


def tags_of(pair: AnnotatedPair, found: Found) -> dict[str, Any]:
    """As ContraPro's records have them (`suites/readers/contrapro.py`), and what else is known."""
    source = pair.source.sentences[found.sentence][found.source]
    target = pair.target.sentences[found.sentence][found.target]
    both = found.antecedents
    distance = found.sentence - both.source.sentence
    pronoun, reference = source.text.lower(), target.text.lower()
    return {
        "document": pair.name,
        "sentence": found.sentence,
        "source_pronoun": pronoun,
        "reference_pronoun": reference,
        "pronoun_pair": f"{pronoun}:{reference}",
        "candidate_pronouns": [reference, *(v.pronoun.lower() for v in found.contrast.variants.values())],
        "source_antecedent": pair.source.text(both.source),
        "target_antecedent": pair.target.text(both.target),
        "distance": distance,
        "location": "external" if distance else "intrasegmental",
        **_head_tags("source", pair.source, both.source),
        **_head_tags("target", pair.target, both.target),
        "source_relation": source.relation,
        "target_relation": target.relation,
        "case": found.contrast.case,
        "confidence": round(both.confidence, 3),
    }


def _head_tags(side: str, document: Document, mention: Mention) -> dict[str, Any]:
    head = document.sentences[mention.sentence][mention.head]
    morphology = "|".join(f"{name}={value}" for name, value in sorted(head.features.items()))
    tags = {
        "": head.text,
        "_lemma": head.lemma,
        "_pos": head.upos,
        "_gender": head.features.get("Gender", ""),
        "_number": head.features.get("Number", ""),
        "_morpho": morphology,
    }
    return {f"{side}_antecedent_head{key}": value for key, value in tags.items() if value}
