"""How often agreement with the own antecedent is decided, and decided rightly, on ContraPro.

    python benchmarks/own_antecedent.py data/contrapro [--aligner-model FOLDER] [--limit N]

ContraPro's references are given as a system's output, context and sentence, and must agree; its contrastive
translations, with the context of the reference, must disagree. Only the items whose record names an antecedent are
judged (4,272).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from anaphora import api
from anaphora.evaluation.generative import Generative
from anaphora.suites.example import Example
from anaphora.suites.readers.contrapro import read_rebuilt
from anaphora.suites.suite import Suite, suite_of

EXPECTED = {"references": "agrees", "contrastive": "disagrees"}


def with_records(suite: Suite, limit: int | None = None) -> Suite:
    """The items whose antecedent is known, every n-th of them if there is a limit."""
    examples = [example for example in suite if "source_antecedent" in example.tags]
    if limit is not None and limit < len(examples):
        examples = [examples[k * len(examples) // limit] for k in range(limit)]
    return suite_of(suite.header, lambda: examples)


def documents(examples: Sequence[Example], candidate: int) -> Iterator[str]:
    """A candidate of each example as a translated document."""
    for number, example in enumerate(examples):
        if number:
            yield ""
        yield from (t for s, t in zip(example.source, example.candidates[candidate], strict=True) if s.strip())


def validate(suite: Suite, folder: Path, **settings: object) -> dict[str, Generative]:
    """The results of references and of the first contrastive translations."""
    results = {}
    for candidate, name in enumerate(EXPECTED):
        path = folder / f"{name}.de"
        path.write_text("".join(f"{line}\n" for line in documents(list(suite), candidate)), encoding="utf-8")
        # each alone, so that the verdicts on contrastive translations do not depend on the references' text
        (results[name],) = api.generative(suite, path, antecedent="own", **settings)  # type: ignore[arg-type]
    return results


def figures(results: dict[str, Generative]) -> dict[str, object]:
    """The share of decided items, and of right verdicts among them."""
    rows: dict[str, object] = {}
    total = decided = right = 0
    for name, result in results.items():
        own = result.own
        assert own is not None
        correct = own.counts.agrees if EXPECTED[name] == "agrees" else own.counts.disagrees
        rows[name] = {
            **{key: value for key, value in own.counts.to_dict().items() if key not in ("agreement", "interval")},
            "decided_share": own.counts.decided / own.counts.total,
            "right_share": correct / own.counts.decided if own.counts.decided else None,
            "reasons": dict(own.reasons),
        }
        total, decided, right = total + own.counts.total, decided + own.counts.decided, right + correct
    return {**rows, "decided_share": decided / total, "right_share": right / decided if decided else None}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--aligner-model", type=Path)
    parser.add_argument("--aligner", default="thot")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--details", type=Path)
    given = parser.parse_args(arguments)
    suite = with_records(read_rebuilt(given.data / "contrapro_reconstructed.jsonl.gz"), given.limit)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        model = {"aligner_model": given.aligner_model} if given.aligner_model else {"aligner": given.aligner}
        results = validate(suite, Path(folder), **model)
    document = {**figures(results), "seconds": round(time.perf_counter() - start, 1)}
    print(json.dumps(document, indent=2, ensure_ascii=False))
    if given.details is not None:
        wrong = [
            "\t".join((name, v.id, v.verdict, v.reason, v.antecedent, v.noun, " ".join(v.classes), v.pronoun))
            for name, result in results.items()
            for v in (result.own.verdicts if result.own else ())
            if v.verdict != EXPECTED[name]
        ]
        given.details.write_text("\n".join(wrong) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
