"""What the pages get: an annotator's questions and answers, the admin's overview."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from anaphora.languages.highlight import segments
from anaphora.study.analysis import current_answers, study_agreement, undoable
from anaphora.study.instructions import welcome_example
from anaphora.study.model import GAPS, Annotator, Assignment, Item, Study
from anaphora.study.store import Answer


def opaque_ids(study: Study, secret: str) -> dict[str, dict[str, str]]:
    """For each annotator the ids by which their page knows the items.

    An item's own id may say whose translation it is (apt's are SYSTEM/SENTENCE.POSITION), and anybody can look into
    what a page gets. secret: the same at every start, and unknown to annotators, who could otherwise try ids
    """

    def opaque(annotator: str, item: str) -> str:
        text = json.dumps([study.id, annotator, item]).encode()
        return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:24]

    return {a.name: {one.item: opaque(a.name, one.item) for one in a.assignments} for a in study.annotators}


def annotator_state(
    study: Study,
    annotator: Annotator,
    log: Sequence[Answer],
    place: str,
    ids: Mapping[str, str],
    shown: MutableMapping[Assignment, dict[str, Any]],
) -> dict[str, Any]:
    """All that somebody's page needs. It does not say which candidate is the reference, nor whose a translation is.

    ids: item → the id by which this annotator's page knows it
    shown: what was computed before for this study; it is filled
    """
    current = current_answers(study, log, place)
    for one in annotator.assignments:
        if one not in shown:
            shown[one] = _shown(study, study.by_id[one.item], one)
    return {
        "study": study.id,
        "title": study.title,
        "mode": study.mode,
        "name": annotator.name,
        "instructions": list(study.instructions),
        "source_language": study.source_language,
        "target_language": study.target_language,
        "options": list(study.options),
        "example": welcome_example(study),
        "items": [{"id": ids[one.item], **shown[one]} for one in annotator.assignments],
        "answers": {ids[item]: _given(answer) for (_, item), answer in current.items()},
        "undo": [{"item": ids[answer.item], **_given(answer)} for answer in undoable(log)],
    }


def _given(answer: Answer) -> dict[str, Any]:
    return {"choice": list(answer.choice), "seconds": answer.seconds, "elapsed_seconds": answer.elapsed}


def _shown(study: Study, item: Item, one: Assignment) -> dict[str, Any]:
    """An item in the order of its assignment; sentences that do not exist are not shown."""
    candidates = [item.candidates[k] for k in one.order]
    contexts = [[sentence for sentence in candidate[:-1] if sentence.strip()] for candidate in candidates]
    same = all(context == contexts[0] for context in contexts)
    source = [sentence for sentence in item.source if sentence.strip()] if study.show_source else []
    shown = []
    for k, candidate, context in zip(one.order, candidates, contexts, strict=True):
        parts = segments(candidate[-1], item.marks[k])
        if study.mode == GAPS:  # the word itself never leaves: it is what people are asked
            parts = [("", True) if marked else (text, marked) for text, marked in parts]
        shown.append({"context": [] if same else context, "parts": parts})
    return {"source": source, "context": contexts[0] if same else [], "candidates": shown}


def overview(study: Study, log: Sequence[Answer], tokens: Mapping[str, str], place: str) -> dict[str, Any]:
    """The admin's page: progress, links, and agreement as far as it is known."""
    current = current_answers(study, log, place)
    done: dict[str, int] = {}
    last: dict[str, str] = {}
    for annotator, _ in current:
        done[annotator] = done.get(annotator, 0) + 1
    for answer in log:
        last[answer.annotator] = answer.at
    found = study_agreement(study, current)
    return {
        "title": study.title,
        "mode": study.mode,
        "items": len(study.items),
        "overlap": study.overlap,
        "annotators": [
            {
                "name": a.name,
                "done": done.get(a.name, 0),
                "total": len(a.assignments),
                "last": last.get(a.name),
                "link": f"a/{tokens[a.name]}",
            }
            for a in study.annotators
        ],
        "agreement": found.to_dict(),
    }
