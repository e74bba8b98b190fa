"""`anaphora train` in Python: context-aware translation models."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.api.inputs import File, load_suite
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_folder
from anaphora.core.parameters import named

if TYPE_CHECKING:
    from anaphora.nmt.config import Config

Report = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that `train` wrote, available as the system nmt:MODEL.

    examples: number of training examples; updates: number of updates; perplexity: on the validation text, if any
    """

    model: Path
    examples: int
    updates: int
    stopped_early: bool
    perplexity: float | None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"model": str(self.model)}


@named
def train(
    config: File | Mapping[str, Any],
    output: File,
    *,
    resume: bool = False,
    settings: Mapping[str, object] | None = None,
    sweep: str | None = None,
    average: int | None = None,
    tensorboard: bool = False,
    threads: int | None = None,
    report: Report | None = None,
) -> tuple[TrainedModel, ...]:
    """Train a context-aware translation model, which is then available as the system nmt:MODEL.

    Returns one model, or with a sweep one for each value.

    config: a TOML file, the name of a preset (see `list_presets`), or the content of a config
    output: Folder for the model.
    resume: resume the training of an interrupted model
    settings: keys of the config to override, as {"training.updates": 600}
    sweep: Train a model for each value, each in its own folder.
    average: Average the last N checkpoints when training ends (or the best N: training.average_of).
    tensorboard: Also write TensorBoard logs to MODEL/tensorboard.
    report: called with each record of the training log, with one about the data first (its kind is "data"), and with
        one about the model last ("end")
    """
    overrides = {key: str(value) for key, value in (settings or {}).items()}
    if tensorboard:
        overrides["log.tensorboard"] = "true"
    if average is not None:
        overrides["training.average"] = str(average)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    reported = report or (lambda record: None)
    return tuple(
        _train(_config(config, overrides | more), folder, resume, reported) for folder, more in _sweep(output, sweep)
    )


def list_presets() -> dict[str, str]:
    """List the presets of `train`, with what each is."""
    from anaphora.nmt.config import presets

    return {name: config.description for name, config in presets().items()}


def _train(config: Config, folder: Path, resume: bool, report: Report) -> TrainedModel:
    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.data import prepare
    from anaphora.nmt.training import Ranks, Trainer

    ranks = Ranks()
    suites = [(name, tuple(load_suite(name))) for name in config.validation.suites]
    with lock_folder(folder) if ranks.first else contextlib.nullcontext():  # the others write nothing
        if ranks.first:  # the others find the vocabulary that it learns
            open_folder(folder, config, resume)
            data = prepare(config, folder, suites)
            about = {"examples": len(data.training), "pieces": data.text.size, "left_out": data.training.dropped}
            report({"kind": "data", "model": folder, "updates": config.training.updates, **about})
        ranks.wait()
        if not ranks.first:
            data = prepare(config, folder, suites)
        trained = Trainer(config, data, folder, report, ranks).run()
        if ranks.first:
            ended = {"update": trained.updates, "stopped_early": trained.stopped_early}
            report({"kind": "end", "model": folder, **ended})
    return TrainedModel(folder, len(data.training), trained.updates, trained.stopped_early, trained.perplexity)


def _config(config: File | Mapping[str, Any], overrides: dict[str, str]) -> Config:
    """Read a config file, a preset by its name, or the content of a config."""
    from anaphora.nmt.config import parse_config, read_config

    if isinstance(config, Mapping):
        return parse_config(dict(config), Path("config"), overrides)
    path = Path(config)
    if path.suffix == ".toml" or path.exists():
        return read_config(path, overrides)
    return parse_config({"base": str(config)}, path, overrides)


def _sweep(output: File, sweep: str | None) -> list[tuple[Path, dict[str, str]]]:
    """Return the folders to train in, and the settings of each."""
    if sweep is None:
        return [(Path(output), {})]
    key, equals, values = sweep.partition("=")
    if not equals:
        raise AnaphoraError(
            f"--sweep {sweep}: write section.key=value,value, for example training.learning_rate=1e-4,1e-5"
        )
    last = key.strip().rpartition(".")[2]
    return [(Path(output) / f"{last}-{value.strip()}", {key.strip(): value.strip()}) for value in values.split(",")]
