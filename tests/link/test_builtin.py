"""The built-in resolver as a linker, and a floor for how good it is on ParCorFull."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.link import load_linker
from anaphora.link.accuracy import Judged, accuracy, judge, precision
from anaphora.link.builtin import BuiltinLinker
from anaphora.link.parcorfull import read_parcorfull


def test_a_link_has_all_candidates_the_best_first(parsed: Callable[[str], Sentence]) -> None:
    document = Document(
        (
            parsed("The/DET/2/det/Definite=Def dog/NOUN/3/nsubj saw/VERB/0/root Kim/PROPN/3/obj"),
            parsed("It/PRON/2/nsubj barked/VERB/0/root"),
        )
    )
    (link,) = BuiltinLinker("", "en").links(document)
    assert link.pronoun == Mention(1, 0, 1, 0)
    assert link.antecedent == Mention(0, 0, 2, 1)
    assert link.distance == 1
    assert [mention.head for mention, _ in link.candidates] == [1, 3]
    assert link.confidence == link.candidates[0][1] > link.candidates[1][1]
    assert link.nothing == pytest.approx(1 - sum(p for _, p in link.candidates))


def test_nothing_is_an_answer(parsed: Callable[[str], Sentence]) -> None:
    document = Document((parsed("It/PRON/2/expl rained/VERB/0/root/Lemma=rain"),))
    (link,) = BuiltinLinker("", "en").links(document)
    assert (link.antecedent, link.distance, link.confidence, link.nothing) == (None, None, 1.0, 1.0)


def test_loaded_by_its_spec() -> None:
    linker = load_linker("builtin", "de")
    assert linker.settings() == {"linker": "builtin", "language": "de"}
    with pytest.raises(AnaphoraError, match="takes no settings"):
        load_linker("builtin:x", "de")


def test_other_weights(parsed: Callable[[str], Any]) -> None:
    text = Document(
        (parsed("Dogs/NOUN/2/nsubj/Number=Sing bark/VERB/0/root"), parsed("It/PRON/2/nsubj woke/VERB/0/root"))
    )
    (usual,), (none,) = (BuiltinLinker("", "en", by).links(text) for by in (None, {"nothing": 20.0}))
    assert usual.candidates[0][1] > 0.1
    assert none.nothing == pytest.approx(1)


# The weights have seen these documents: the floors only tell a change for the worse. How good the resolver is on new
# documents is in docs/annotation.md, cross-validated.
FLOORS = [("en", {"it"}, 0.50, 0.60), ("de", {"er", "ihn", "ihm", "sie", "ihr", "es"}, 0.46, 0.67)]


@pytest.mark.parametrize(("code", "words", "all_right", "sure_right"), FLOORS)
def test_accuracy_on_parcorfull(
    data: Callable[[str], Path],
    annotator: Callable[[str], Any],
    code: str,
    words: set[str],
    all_right: float,
    sure_right: float,
) -> None:
    gold = sorted(read_parcorfull(data("parcorfull") / "parcorfull.en-de.jsonl.gz"), key=lambda d: d.name)[1::2]
    linker = BuiltinLinker("", code)
    judged: list[Judged] = []
    annotated = annotator(code).annotate(document.sides[code].sentences for document in gold)
    for truth, document in zip(gold, annotated, strict=True):
        pronouns = [p for p in truth.sides[code].pronouns if p.text.lower() in words]
        judged += judge(document, linker.links(document), pronouns)
    count, share = precision(judged, 0.5)
    assert accuracy(judged) >= all_right
    assert share >= sure_right
    assert count > 60
