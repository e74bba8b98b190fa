"""`attribute` compared with `score`: the same examples of ContraPro by the same model, on one thread, in one process.

The model is the concatenation model of experiments/contrapro-2018, which is small: what Python does for each example
counts as much as it can.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

from timing import Row, side_by_side

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
MODEL = Path(__file__).resolve().parents[1] / "experiments" / "contrapro-2018" / "concat22"
EXAMPLES = 200
AT_MOST = 4.0  # times what scoring takes


def run(rounds: int = 3, examples: int = EXAMPLES) -> list[Row]:
    """A ratio for each method, from rounds in which all of them take turns with scoring."""
    if not (DATA / "contrapro").is_dir():
        print(f"attribution: skipped, as ContraPro is not under {DATA}: set ANAPHORA_DATA", file=sys.stderr)
        return []
    import torch

    from anaphora.evaluation.attribution import METHODS, AttributingSystem
    from anaphora.suites.readers.contrapro import read_rebuilt
    from anaphora.systems.context import Options
    from anaphora.systems.nmt import TrainedSystem

    torch.set_num_threads(1)
    tagged = (example for example in read_rebuilt(DATA / "contrapro") if "source_antecedent" in example.tags)
    items = list(islice(tagged, examples))
    system = TrainedSystem(str(MODEL), Options())

    def scored() -> None:
        system.options = Options()
        list(system.score(items))

    def attributed(method: str) -> None:
        system.options = replace(Options(), scope="pronoun")
        list(AttributingSystem(system, method, system.options).score(items))

    functions = {"score": scored} | {method: lambda method=method: attributed(method) for method in METHODS}
    times = side_by_side(functions, rounds)
    return [
        Row(f"attribute --method {method} / score", times.ratio(method, "score"), "×", AT_MOST, times.note)
        for method in METHODS
    ]


if __name__ == "__main__":
    for row in run():
        print(f"{row.name}: {row.figure:.2f} {row.unit} ({row.note})")
