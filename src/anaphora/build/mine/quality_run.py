"""Evaluating mining on a file of gold documents: read, annotate, mine, judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.annotate import Annotator, Document, load_annotator
from anaphora.annotate.defaults import default_annotator
from anaphora.build.mine.evaluate import Evaluation, evaluate, with_gold_chains
from anaphora.build.mine.gold import GoldPair, languages_of, read_gold
from anaphora.build.mine.pair import AnnotatedPair
from anaphora.build.mine.pronouns import Pronouns
from anaphora.build.mine.quality import document_of
from anaphora.core.errors import AnaphoraError

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: annotators and languages that are not given are found; confidence None: the phenomenon's own."""

    gold: Path
    chains: str = "builtin"
    languages: str | None = None
    annotate: tuple[str | None, str | None] = (None, None)
    confidence: float | None = None
    oblique: bool = False
    neuter: str = "both"


def run(request: Request, progress: Progress | None = None) -> dict[str, Any]:
    """The figures as one JSON document; counts of rejections are those at the confidence that is asked for."""
    source, target = _languages(request)
    linkers = {"link_source": "chains", "link_target": "chains"} if request.chains == "gold" else {}
    options: dict[str, Any] = {**linkers, "oblique": request.oblique, "neuter": request.neuter}
    phenomenon = Pronouns(source, target, confidence=request.confidence, **options)
    everything = Pronouns(source, target, confidence=0, **options)  # for the curve
    gold = list(read_gold(request.gold, source, target))
    annotators = tuple(
        load_annotator(spec or default_annotator(code, f"--annotate-{side}"), code)
        for spec, code, side in zip(request.annotate, (source, target), ("source", "target"), strict=True)
    )
    result = Evaluation()
    for done, (truth, pair) in enumerate(annotated(gold, *annotators), start=1):
        found = with_gold_chains(truth, pair) if request.chains == "gold" else pair
        part = evaluate([(truth, found)], everything)
        part.counts.clear()
        for _ in phenomenon.find(found, part.counts):
            pass
        result.add(part)
        if progress is not None:
            progress(done, len(gold))
    settings = phenomenon.settings()
    about = {
        "languages": f"{source}-{target}",
        "chains": request.chains,
        "settings": dict(settings),
        "annotation": {side: dict(a.settings()) for side, a in zip(("source", "target"), annotators, strict=True)},
    }
    return document_of(result, float(settings["confidence"]), about)


def annotated(gold: list[GoldPair], source: Annotator, target: Annotator) -> Iterator[tuple[GoldPair, AnnotatedPair]]:
    """The documents with both sides annotated; the tokens are those of the records."""
    ours: Iterator[Document] = source.annotate(pair.source.lines for pair in gold)
    theirs: Iterator[Document] = target.annotate(pair.target.lines for pair in gold)
    for pair, first, second in zip(gold, ours, theirs, strict=True):
        yield pair, AnnotatedPair(pair.name, first, second, pair.alignments)


def _languages(request: Request) -> tuple[str, str]:
    if request.languages is None:
        return languages_of(request.gold)
    source, dash, target = request.languages.partition("-")
    if not (source and dash and target):
        raise AnaphoraError(f"not a language pair: {request.languages!r}. Write: en-de")
    return source, target
