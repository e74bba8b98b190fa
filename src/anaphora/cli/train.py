"""`anaphora train`."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.options import PATH, json_option, option, options
from anaphora.cli.output import echo_json, note, progress_bar
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_folder

if TYPE_CHECKING:
    from anaphora.nmt.config import Config
    from anaphora.nmt.training import Ranks
    from anaphora.suites.example import Example


@click.command(
    epilog="""\b
Examples:
  anaphora train --list
  anaphora train my-model.toml -o models/mine
  anaphora train transformer-concat22-laptop -o models/small --set data.source=train.en --set data.target=train.de
  anaphora train my-model.toml -o models/mine --resume --set training.updates=20000
  anaphora train fine-tune.toml -o models/tuned --sweep training.learning_rate=2e-6,2e-7,2e-8
"""
)
@click.argument("config", metavar="CONFIG.toml|PRESET", required=False)
@option("-o", "--output", type=PATH, metavar="MODEL", help="Folder for the model.")
@option("--list", "listing", is_flag=True, help="List the presets and exit.")
@options("resume", "set")
@option("--sweep", metavar="SECTION.KEY=A,B,…", help="Train a model for each value, each in its own folder.")
@option(
    "--average",
    type=click.IntRange(2),
    metavar="N",
    help="Average the last N checkpoints when training ends (or the best N: training.average_of).",
)
@option("--tensorboard", is_flag=True, help="Also write TensorBoard logs to MODEL/tensorboard.")
@options("threads")
@json_option
def train(
    config: str | None,
    output: Path | None,
    listing: bool,
    resume: bool,
    settings: tuple[str, ...],
    sweep: str | None,
    average: int | None,
    tensorboard: bool,
    threads: int | None,
    as_json: bool,
) -> None:
    """Train a context-aware translation model, which is then available as the system nmt:MODEL."""
    if listing:
        _list(as_json)
        return
    if config is None or output is None:
        raise click.UsageError("a config (or a preset, see --list) and -o MODEL are needed")
    overrides = dict(_setting(text) for text in settings)
    if tensorboard:
        overrides["log.tensorboard"] = "true"
    if average is not None:
        overrides["training.average"] = str(average)
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    found = []
    for folder, more in _sweep(output, sweep):
        found.append(_train(_config(config, overrides | more), folder, resume))
    if as_json:
        echo_json(found[0] if sweep is None else {"models": found})


def _train(config: Config, folder: Path, resume: bool) -> dict[str, Any]:
    from anaphora import api
    from anaphora.nmt.training import Ranks

    ranks = Ranks()
    suites = [(name, tuple(api.load_suite(name))) for name in config.validation.suites]
    with lock_folder(folder) if ranks.first else contextlib.nullcontext():  # the others write nothing
        return _trained(config, folder, resume, ranks, suites)


def _trained(
    config: Config, folder: Path, resume: bool, ranks: Ranks, suites: list[tuple[str, tuple[Example, ...]]]
) -> dict[str, Any]:
    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.data import prepare
    from anaphora.nmt.training import Trainer

    if ranks.first:  # the others find the vocabulary that it learns
        open_folder(folder, config, resume)
        data = prepare(config, folder, suites)
        size = data.text.size
        note(f"{folder}: {len(data.training):,} examples, {size:,} pieces; left out: {data.training.dropped}")
    ranks.wait()
    if not ranks.first:
        data = prepare(config, folder, suites)
    with progress_bar("updates") as bar:

        def report(line: dict[str, Any]) -> None:
            if bar is not None:
                bar(line["update"], config.training.updates)
            if bar is None or line["kind"] == "validation" or line.get("final"):
                note(_told(line))

        trained = Trainer(config, data, folder, report, ranks).run()
    if ranks.first:
        ended = "stopped early" if trained.stopped_early else "done"
        note(f"{ended} after {trained.updates:,} updates: nmt:{folder}")
    return {
        "model": str(folder),
        "examples": len(data.training),
        "updates": trained.updates,
        "stopped_early": trained.stopped_early,
        "perplexity": trained.perplexity,
    }


def _told(line: dict[str, Any]) -> str:
    """Describe a line of the log."""
    if line["kind"] == "training":
        return f"update {line['update']:,} · loss {line['loss']:.4f} · rate {line['rate']:.2g}"
    parts = [f"update {line['update']:,}"]
    if "perplexity" in line:
        parts.append(f"validation perplexity {_figure(line['perplexity'])}")
    parts += [f"{name} {_figure(accuracy)}" for name, accuracy in line.get("accuracy", {}).items()]
    return " · ".join(parts)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _config(name: str, overrides: dict[str, str]) -> Config:
    """Read a config file, or a preset by its name."""
    from anaphora.nmt.config import parse_config, read_config

    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return read_config(path, overrides)
    return parse_config({"base": name}, path, overrides)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise AnaphoraError(f"--set {text}: write section.key=value, for example training.updates=600")
    return key.strip(), value.strip()


def _sweep(output: Path, sweep: str | None) -> list[tuple[Path, dict[str, str]]]:
    """Return the folders to train in, and the settings of each."""
    if sweep is None:
        return [(output, {})]
    key, values = _setting(sweep)
    return [(output / f"{key.rpartition('.')[2]}-{value.strip()}", {key: value.strip()}) for value in values.split(",")]


def _list(as_json: bool) -> None:
    from anaphora.nmt.config import presets

    found = {name: config.description for name, config in presets().items()}
    if as_json:
        echo_json({"presets": found})
        return
    width = max(map(len, found))
    for name, description in found.items():
        if not name.endswith("-laptop"):
            click.echo(f"{name:{width}}  {description}")
    click.echo("\nNAME-laptop is the same model at a size that learns on a laptop's processor.")
