"""`anaphora measure train`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, json_option, note, progress_bar
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.measure.config import Config
    from anaphora.suites.example import Example


@click.command(
    epilog="""\b
Examples:
  anaphora measure train my-measure.toml -o models/measure
  anaphora measure train my-measure.toml --set model.context=NC --set training.epochs=5 -o models/no-context
  anaphora measure train my-measure.toml --set model.encoder=hf:bert-base-uncased --cache states -o models/bert
"""
)
@click.argument("config", type=PATH, metavar="CONFIG.toml")
@click.option("-o", "--output", type=PATH, required=True, metavar="MODEL", help="A new folder for the model.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="Set a key. Repeatable.")
@click.option("--cache", type=PATH, help="A folder in which states of encoders are cached for other trainings.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads.")
@json_option
def train(
    config: Path, output: Path, settings: tuple[str, ...], cache: Path | None, threads: int | None, as_json: bool
) -> None:
    """Train a measure on pairs of `measure pairs`. Paths in the config are relative to the current folder."""
    from anaphora.measure import check_installed
    from anaphora.measure.config import read_config

    chosen = read_config(config, dict(_setting(text) for text in settings))
    check_installed()
    from anaphora.measure.training import check_new, save_measure

    check_new(output)
    click.get_current_context().with_resource(lock_output(output))
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    trained = _trained(chosen, cache)
    save_measure(output, trained.measure, chosen, trained.results())
    best = trained.best
    note(f"{output}: {trained.pairs:,} pairs, best epoch {best['epoch']}, dev accuracy {best['dev_accuracy']:.3f}")
    if as_json:
        echo_json({"model": str(output), **trained.results(), "log": trained.log})


def _trained(config: Config, cache: Path | None) -> Any:
    from anaphora.measure.training import train_measure

    for name in ("train", "dev"):
        if not getattr(config.data, name):
            raise AnaphoraError(
                f"data.{name} names no pairs. Set it in the config, or pass --set data.{name}=PAIRS.jsonl"
            )
    with progress_bar("texts") as progress:
        return train_measure(
            config,
            _examples(config.data.train),
            _examples(config.data.dev),
            cache=cache,
            progress=progress,
            report=lambda record: note(_progress(record)),
        )


def _examples(names: tuple[str, ...]) -> list[Example]:
    from anaphora import api

    return [example for name in names for example in api.load_suite(name)]


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise AnaphoraError(f"--set {text}: write section.key=value, for example training.epochs=5")
    return key.strip(), value.strip()


def _progress(record: dict[str, Any]) -> str:
    return f"epoch {record['epoch']} · loss {record['loss']:.4f} · dev accuracy {record['dev_accuracy']:.3f}"
