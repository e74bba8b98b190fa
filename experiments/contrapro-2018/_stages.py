"""The stages of training, and the command that runs one (train.py).

1. `stage1`: sentence by sentence, on everything.
2. `stage2` and `stage2-baseline`: from stage 1, on documents of several sentences, with and without context (concat22:
   the previous sentence is joined to the current one on both sides).
3. `concat22-SEED` and `baseline-SEED`: from stage 2, on passages with *it*, about as many of each gender, the pronouns
   weighted and the context half of the loss discounted; a part of the other text is mixed in. `counterfactual-SEED`
   is concat22 with weak supervision besides (_weak.py); it is the one that is kept.

The model of stages 1 and 2 is the mean of their last three checkpoints, that of stage 3 the mean that is best on
held-out passages (_choose.py). An ablation is stage 3 of concat22 without one of its ingredients, or with one more; it
is shorter, and the mean of the last three checkpoints.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

LAPTOP = Path(__file__).resolve().parent / "laptop.toml"
SEEDS = (1, 2, 3)
AVERAGED = 3  # checkpoints at the end of a stage
EVERY_MEAN = 200  # updates after which means of checkpoints are tried
MEANS = (4, 8)  # of so many checkpoints, 50 updates apart
PRONOUNS = ("er", "sie", "es", "ihn")
BALANCED = {"masculine": 4, "feminine": 4, "neuter": 1, "mixed": 1}


@dataclass(frozen=True)
class Stage:
    """A training. The settings are those of `[training]` that differ from laptop.toml.

    text: files of the text folder, and how often each is read in an epoch
    start: the model whose weights it starts from
    chosen: whether held-out passages tell which checkpoints are averaged; otherwise the last ones are
    preset: of the Transformers; concat22 by default, or baseline where there is no context; rnn-NAME: a recurrent one
    """

    name: str
    text: Mapping[str, int]
    updates: int
    rate: float
    warmup: int
    start: str = ""
    context: int = 0
    chosen: bool = False
    preset: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)

    def config(self) -> dict[str, object]:
        """What it adds to laptop.toml."""
        training = {"updates": self.updates, "learning_rate": self.rate, "warmup": self.warmup, **self.settings}
        if self.start:
            training["start_from"] = self.start
        return {
            "data.source": [f"text/{name}.en" for name in self.text],
            "data.target": [f"text/{name}.de" for name in self.text],
            "data.repeat": [] if set(self.text.values()) == {1} else list(self.text.values()),
            "data.validation_source": "text/validation.en",
            "data.validation_target": "text/validation.de",
            **{f"training.{key}": value for key, value in training.items()},
        }


WEIGHTED = {"weighted_words": PRONOUNS, "word_weight": 8.0}
HALF = {"batch_tokens": 750}  # a sentence without context has half the tokens: as many sentences in a batch
STAGE_1 = Stage("stage1", {"single": 1, "documents": 1}, 2000, 0.0012, 300)
STAGE_2 = Stage("stage2", {"documents": 1}, 900, 0.0008, 200, "stage1", 1)
STAGE_2_BASELINE = replace(STAGE_2, name="stage2-baseline", context=0, settings=HALF)
SAVED = {"save_every": 50, "keep": 0}  # all checkpoints, to choose from
DISCOUNTED = {"context_weight": 0.1}
STAGE_3 = Stage(
    "concat22", BALANCED, 1000, 0.0006, 300, "stage2", 1, chosen=True, settings={**WEIGHTED, **DISCOUNTED, **SAVED}
)
STAGE_3_BASELINE = replace(
    STAGE_3, name="baseline", start="stage2-baseline", context=0, settings={**WEIGHTED, **HALF, **SAVED}
)
COUNTERFACTUAL = replace(
    STAGE_3, name="counterfactual", text={**BALANCED, "weak": 1, "counterfactual": 1}, updates=1400
)  # weak supervision (_weak.py); longer, as there is more to read
SHORT = Stage("everything", BALANCED, 300, 0.0006, 100, "stage2", 1, settings={**WEIGHTED, **DISCOUNTED})
ABLATIONS = {
    "everything": SHORT,
    "no discounting of context": replace(SHORT, name="undiscounted", settings=WEIGHTED),
    "no weight of pronouns": replace(SHORT, name="unweighted", settings=DISCOUNTED),
    "genders as found": replace(SHORT, name="unbalanced", text=dict.fromkeys(BALANCED, 1)),
    "from stage 1 instead of 2": replace(SHORT, name="from-stage1", start="stage1"),
    "with weak supervision": replace(SHORT, name="weak", text={**BALANCED, "weak": 1}),
    "with weak supervision and counterfactual passages": replace(SHORT, name="both", text=COUNTERFACTUAL.text),
}


def seeded(stage: Stage, seed: int) -> Stage:
    return replace(stage, name=f"{stage.name}-{seed}", settings={**stage.settings, "seed": seed})


def tiny(stage: Stage) -> Stage:
    """A stage that shows that it runs, and no more: eight updates, a checkpoint after each second."""
    settings = {**stage.settings, "save_every": 2, "report_every": 4}
    return replace(stage, updates=8, warmup=4, settings=settings)


def train(stage: Stage, work: Path, *more: str, settings_file: Path = LAPTOP) -> Path:
    """Train a model, go on where an interrupted training was, or find it done; the folder of the model.

    more: further settings, as section.key=value
    settings_file: what all stages share; the stage's own settings go before it
    """
    folder = work / stage.name
    if finished(folder, stage):
        return folder
    preset = stage.preset or ("concat22" if stage.context else "baseline")
    config = work / f"{stage.name}.toml"
    base = preset if preset.startswith("rnn-") else f"transformer-{preset}"
    config.write_text(f'base = "{base}"\n' + settings_file.read_text("utf-8"), encoding="utf-8")
    given = [f"{key}={json.dumps(value)}" for key, value in stage.config().items()]
    settings = [word for setting in (*given, *more) for word in ("--set", setting)]
    command = [sys.executable, "-m", "anaphora", "train", config.name, "-o", stage.name, "--threads", "1", *settings]
    command += [] if stage.chosen else ["--average", str(AVERAGED)]
    command += ["--resume"] if folder.exists() else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    if subprocess.run(command, cwd=work, env=environment, check=False).returncode:
        raise SystemExit(f"{stage.name}: training failed; run the command again, it goes on where it was")
    return folder


def finished(folder: Path, stage: Stage) -> bool:
    """Whether a model has its final weights, after as many updates as the stage has now."""
    if not (folder / "model.safetensors").exists():  # written at the end
        return False
    updates: int = tomllib.loads((folder / "config.toml").read_text("utf-8"))["training"]["updates"]
    return updates == stage.updates
