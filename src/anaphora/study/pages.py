"""What the pages get: an annotator's questions and answers, the admin's overview."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections import Counter
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from anaphora.languages.highlight import segments
from anaphora.study.analysis import current_answers, study_agreement, undoable
from anaphora.study.model import GAPS, Annotator, Assignment, Item, Study, default_texts
from anaphora.study.store import Answer


def opaque_ids(study: Study, secret: str) -> dict[str, dict[str, str]]:
    """Return the ids by which each annotator's page knows the items.

    An item's own id may reveal whose translation it is (apt's are SYSTEM/SENTENCE.POSITION), and annotators can inspect
    what a page gets. secret: the same at every start and unknown to annotators, who could otherwise guess ids
    """

    def opaque(annotator: str, item: str) -> str:
        text = json.dumps([study.id, annotator, item]).encode()
        return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:24]

    return {a.name: {one.item: opaque(a.name, one.item) for one in a.assignments} for a in study.annotators}


def annotator_state(
    study: Study,
    annotator: Annotator,
    log: Sequence[Answer],
    name: str,
    ids: Mapping[str, str],
    shown: MutableMapping[Assignment, dict[str, Any]],
) -> dict[str, Any]:
    """Return what an annotator's page needs, without telling which candidate is the reference or whose it is.

    ids: the opaque ids of this annotator's items
    shown: a cache of items as they are shown; it is filled
    """
    current = current_answers(study, log, name)

    def given(answer: Answer) -> dict[str, Any]:
        return {"choice": list(answer.choice), "seconds": answer.seconds, "elapsed_seconds": answer.elapsed}

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
        "answers": {ids[item]: given(answer) for (_, item), answer in current.items()},
        "undo": [{"item": ids[answer.item], **given(answer)} for answer in undoable(log)],
    }


def _shown(study: Study, item: Item, one: Assignment) -> dict[str, Any]:
    """Return an item in the order of its assignment, without empty sentences."""
    candidates = [item.candidates[k] for k in one.order]
    contexts = [[sentence for sentence in candidate[:-1] if sentence.strip()] for candidate in candidates]
    same = all(context == contexts[0] for context in contexts)
    source = [sentence for sentence in item.source if sentence.strip()] if study.show_source else []
    shown = []
    for k, candidate, context in zip(one.order, candidates, contexts, strict=True):
        parts = segments(candidate[-1], item.marks[k])
        if study.mode == GAPS:  # the word itself is never sent: it is the question
            parts = [("", True) if marked else (text, marked) for text, marked in parts]
        shown.append({"context": [] if same else context, "parts": parts})
    page = {"source": source, "context": contexts[0] if same else [], "candidates": shown}
    if source and item.source_marks:
        page["source_parts"] = segments(item.source[-1], item.source_marks)  # of its current sentence
    return page


def study_overview(study: Study, log: Sequence[Answer], tokens: Mapping[str, str], name: str) -> dict[str, Any]:
    """Return the data of the admin's page: progress, links, and agreement so far."""
    current = current_answers(study, log, name)
    done = Counter(annotator for annotator, _ in current)
    last = {answer.annotator: answer.at for answer in log}
    return {
        "title": study.title,
        "mode": study.mode,
        "items": len(study.items),
        "overlap": study.overlap,
        "annotators": [
            {
                "name": a.name,
                "done": done[a.name],
                "total": len(a.assignments),
                "last": last.get(a.name),
                "link": f"a/{tokens[a.name]}",
            }
            for a in study.annotators
        ],
        "agreement": study_agreement(study, current).to_dict(),
    }


def welcome_example(study: Study) -> dict[str, Any] | None:
    """Return the example for the first page, in the language of the translations.

    None where there is none in that language, and where a study has its own instructions, which it might contradict.
    """
    texts = default_texts(study.mode)
    example = texts["examples"].get(study.target_language)
    if example is None or study.instructions != texts["instructions"]:
        return None
    return {
        "language": study.target_language,
        "context": [example["context"]],
        "candidates": [[(word, True), (example["rest"], False)] for word in example["words"]],
        "verdict": example["verdict"],
    }
