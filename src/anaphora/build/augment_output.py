"""What an augmentation leaves: line files to fine-tune on, and everything that is known as JSON Lines."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anaphora.build.augment import Augmented, Statistics
from anaphora.core.files import atomic_writer
from anaphora.suites.example import Passage


def write_augmented(
    found: Iterable[Augmented],
    directory: Path,
    *,
    languages: tuple[str, str] = ("en", "de"),
    separator: str = " <SEP> ",
) -> list[Path]:
    """Write four line files and a JSON Lines file as the candidates come; returns their paths.

    candidates.*: the sentences as they are, the paper's baseline; augmented.*: each of them followed by its new
    versions. Sentences of a passage are joined with the separator.
    """
    names = [f"{name}.{code}" for name in ("candidates", "augmented") for code in languages] + ["augmented.jsonl"]
    paths = [directory / name for name in names]
    with contextlib.ExitStack() as stack:
        old_source, old_target, all_source, all_target, records = (
            stack.enter_context(atomic_writer(path)) for path in paths
        )

        def line(passage: Passage) -> bytes:
            return (separator.join(passage) + "\n").encode()

        for example in found:
            old_source.write(line(example.source))
            old_target.write(line(example.target))
            for target in (example.target, *dict.fromkeys(example.targets.values())):  # ihm is one for two genders
                all_source.write(line(example.source))
                all_target.write(line(target))
            records.write(json.dumps(record(example), ensure_ascii=False).encode() + b"\n")
    return paths


def record(example: Augmented) -> dict[str, Any]:
    """A candidate as JSON."""
    return {
        "document": example.document,
        "sentence": example.sentence,
        "line": example.line,
        "source": list(example.source),
        "target": list(example.target),
        "pronoun": example.pronoun,
        "case": example.case,
        "antecedent": example.antecedent,
        "distance": example.distance,
        "confidence": round(example.confidence, 4),
        "targets": {gender: list(passage) for gender, passage in example.targets.items()},
    }


def statistics_document(statistics: Statistics, **more: Any) -> Mapping[str, Any]:
    """The statistics as JSON."""
    return {
        "documents": statistics.documents,
        "sentences": statistics.sentences,
        "pronouns": statistics.outcomes.total(),
        "candidates": statistics.outcomes["candidate"],
        "new_examples": statistics.new,
        "outcomes": dict(statistics.outcomes.most_common()),
        "german_pronouns": dict(statistics.pronouns.most_common()),
        **more,
    }
