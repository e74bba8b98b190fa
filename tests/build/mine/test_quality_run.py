"""Mining ParCorFull's English–German documents with the pipelines of the tests: the targets of the project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Sentence, Token
from anaphora.build.mine.evaluate import evaluate, with_gold_chains
from anaphora.build.mine.gold import GoldPair, read_gold
from anaphora.build.mine.pair import AnnotatedPair
from anaphora.build.mine.pronouns import CONFIDENCE, Pronouns
from anaphora.build.mine.quality import share
from anaphora.build.mine.quality_run import Request, annotated, run

Pairs = list[tuple[GoldPair, AnnotatedPair]]


@pytest.fixture(scope="module")
def pairs(data: Callable[[str], Path], annotator: Callable[[str], Any]) -> Pairs:
    gold = list(read_gold(data("parcorfull") / "parcorfull.en-de.jsonl.gz", "en", "de"))
    return list(annotated(gold, annotator("en"), annotator("de")))


def test_with_the_chains_of_people(pairs: Pairs) -> None:
    """The upper bound: what alignment, tagging and the rules of the language leave to be found."""
    chains = {"link_source": "chains", "link_target": "chains", "neuter": "both"}
    result = evaluate([(gold, with_gold_chains(gold, pair)) for gold, pair in pairs], Pronouns("en", "de", **chains))
    found = share(result.items, result.gold)
    assert found.precision >= 0.95
    assert found.recall >= 0.35
    assert all(found.labels[label] >= least for label, least in (("er", 7), ("sie", 25), ("es", 35)))


def test_with_the_built_in_resolver(pairs: Pairs) -> None:
    """It was fitted on these documents; cross-validated figures are in docs/mining-quality.md."""
    result = evaluate(pairs, Pronouns("en", "de"))
    found = share(result.items, result.gold)
    assert found.precision >= 0.8
    assert found.items >= 40
    assert all(item.confidence >= CONFIDENCE for item in result.items)


class Words:
    """An annotator that knows nothing but the tokens."""

    language, needs_all = "", False

    def settings(self) -> dict[str, str]:
        return {"annotator": "words"}

    def annotate(self, documents: Any) -> Any:
        for lines in documents:
            yield Document(tuple(Sentence(tuple(Token(word) for word in line)) for line in lines))


def test_progress_and_what_it_was_made_with(data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.build.mine.quality_run.load_annotator", lambda spec, language: Words())
    path = data("parcorfull") / "parcorfull.en-de.jsonl.gz"
    steps: list[tuple[int, int]] = []
    document = run(Request(path, "gold", annotate=("a", "b")), lambda done, total: steps.append((done, total)))
    assert steps == [(n, 29) for n in range(1, 30)]
    assert document["annotation"] == {"source": {"annotator": "words"}, "target": {"annotator": "words"}}
    assert (document["languages"], document["chains"], document["items"]) == ("en-de", "gold", 0)
    assert document["settings"]["link_source"] == {"linker": "chains"}
