"""`anaphora measure train` and `anaphora measure table`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.output import PATH, echo_json, format_options, json_option, note, progress_bar, show
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.measure.config import Config
    from anaphora.suites.example import Example


@click.command(
    epilog="""\b
Examples:
  anaphora measure train my-measure.toml -o models/measure
  anaphora measure train table4-7 --set data.train=train.jsonl --set data.dev=dev.jsonl -o models/crc
  anaphora measure train my-measure.toml --set model.encoder=hf:bert-base-uncased --cache states -o models/bert
"""
)
@click.argument("config", metavar="CONFIG.toml|PRESET")
@click.option("-o", "--output", type=PATH, required=True, metavar="MODEL", help="A new folder for the model.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="Set a key. Repeatable.")
@click.option("--cache", type=PATH, help="A folder that keeps states of encoders for other trainings.")
@click.option("--threads", type=click.IntRange(1))
@json_option
def train(
    config: str, output: Path, settings: tuple[str, ...], cache: Path | None, threads: int | None, as_json: bool
) -> None:
    """Learn a measure from pairs of `measure pairs`; presets are table4-1 to table4-8."""
    from anaphora.measure import check_installed

    chosen = _config(config, settings)
    check_installed()
    from anaphora.measure.checkpoint import check_new, save_measure

    check_new(output)
    click.get_current_context().with_resource(lock_output(output))
    _threads(threads)
    trained = _trained(chosen, cache)
    save_measure(output, trained.measure, chosen, trained.results())
    best = trained.best
    note(f"{output}: {trained.pairs:,} pairs, best epoch {best['epoch']}, dev accuracy {best['dev_accuracy']:.3f}")
    if as_json:
        echo_json({"model": str(output), **trained.results(), "log": trained.log})


@click.command(
    epilog="""\b
Examples:
  anaphora measure table --train train.jsonl --dev dev.jsonl --set model.encoder=hf:bert-base-uncased --cache states
"""
)
@click.option("--train", "train_files", multiple=True, required=True, metavar="PAIRS", help="Repeatable.")
@click.option("--dev", "dev_files", multiple=True, required=True, metavar="PAIRS", help="Repeatable.")
@click.option("--set", "settings", multiple=True, metavar="SECTION.KEY=VALUE", help="Of every setting. Repeatable.")
@click.option("--cache", type=PATH, help="A folder that keeps states of encoders.")
@click.option("--threads", type=click.IntRange(1))
@format_options
def table(
    train_files: tuple[str, ...],
    dev_files: tuple[str, ...],
    settings: tuple[str, ...],
    cache: Path | None,
    threads: int | None,
    format: str,
    as_json: bool,
) -> None:
    """The eight experiments of Table 4, each a preset: with and without context, baseline or attention."""
    from anaphora.measure import check_installed

    check_installed()
    from anaphora.measure.table4 import run_table, table4

    _threads(threads)
    overrides = dict(_setting(text) for text in settings)
    train_pairs, dev_pairs = _examples(train_files), _examples(dev_files)
    with progress_bar("texts") as progress:
        rows = run_table(train_pairs, dev_pairs, overrides, cache=cache, progress=progress, report=note)
    show(table4(rows), {"experiments": [row.to_dict() for row in rows]}, format, as_json)


def _trained(config: Config, cache: Path | None) -> Any:
    from anaphora.measure.training import train_measure

    for name in ("train", "dev"):
        if not getattr(config.data, name):
            raise AnaphoraError(f"data.{name} names no pairs: write it in the config, or --set data.{name}=PAIRS.jsonl")
    with progress_bar("texts") as progress:
        return train_measure(
            config,
            _examples(config.data.train),
            _examples(config.data.dev),
            cache=cache,
            progress=progress,
            report=lambda line: note(_told(line)),
        )


def _examples(names: tuple[str, ...]) -> list[Example]:
    from anaphora import api

    return [example for name in names for example in api.load_suite(name)]


def _config(name: str, settings: tuple[str, ...]) -> Config:
    """A config file, or a preset by its name. Paths in a file are relative to the current folder."""
    from anaphora.core.errors import did_you_mean
    from anaphora.measure.config_file import as_document, parse_config, presets, read_config

    overrides = dict(_setting(text) for text in settings)
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return read_config(path, overrides)
    known = presets()
    if name not in known:
        raise AnaphoraError(f"no config {name!r}{did_you_mean(name, known)}. Presets: {', '.join(known)}")
    parsed = parse_config(as_document(known[name]), path, overrides)
    return replace(parsed, description=known[name].description)


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise AnaphoraError(f"--set {text}: write section.key=value, for example training.epochs=5")
    return key.strip(), value.strip()


def _told(line: dict[str, Any]) -> str:
    return f"epoch {line['epoch']} · loss {line['loss']:.4f} · dev accuracy {line['dev_accuracy']:.3f}"


def _threads(threads: int | None) -> None:
    if threads is not None:
        import torch

        torch.set_num_threads(threads)
