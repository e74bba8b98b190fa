"""`measure:MODEL`: a trained measure as a system, so that `anaphora score` puts it beside language models and judges.

It reads the target side only. Which context it reads is part of it (its setting NC, RC or CRC), whatever is asked for.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from anaphora.core.errors import AnaphoraError
from anaphora.measure.checkpoint import load_measure, read_about
from anaphora.measure.model import candidate_texts
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings


class MeasureSystem:
    """A measure. Settings in the spec: encoder, where it is now; cache, a folder that keeps its states."""

    traits = KINDS["measure"].traits

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, KINDS["measure"].settings)
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        if options.context.target == "produced":
            raise AnaphoraError("--target-context produced needs a system that translates; a measure only scores")
        self.options = options
        cache = settings.get("cache")
        self.measure = load_measure(
            Path(name), cache=Path(cache) if cache else None, fallback=settings.get("encoder") or None
        )
        language, target = self.measure.readings.language, options.languages[1]
        if target and target != language:
            raise AnaphoraError(f"{name}: a measure of {language}, but the target language of the suite is {target}")
        self._about = read_about(Path(name))

    def settings(self) -> dict[str, Any]:
        """What the scores depend on: how the measure was trained, with which weights; no path but that of the spec."""
        about, config = self._about, self.measure.config
        found = {
            "kind": "measure",
            "setting": config.context,
            "plain_text": config.plain,
            "weights": _digest(self.measure),
            "encoder": dict(about["encoder"]),
            "features": list(about["features"]),
        }
        return found | {"context": f"0+{0 if config.context == 'NC' else config.sentences}"}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Each example's number with the measure's scores of its candidates."""
        measure = self.measure
        texts = {
            n: candidate_texts(example, measure.config, measure.readings)
            for n, example in enumerate(examples)
            if n not in done
        }
        for number, candidates in texts.items():
            measure.prepare(candidates)
            yield number, CandidateScores([found.score for found in measure.score(candidates)])


def _digest(measure: Any) -> str:
    from hashlib import sha256

    from anaphora.measure.checkpoint import own_weights

    digest = sha256()
    for name, tensor in sorted(own_weights(measure).items()):
        digest.update(name.encode())
        digest.update(tensor.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]
