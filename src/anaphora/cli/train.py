"""`anaphora train`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from anaphora import api
from anaphora.cli.options import command, json_option, option, parameters
from anaphora.cli.output import echo_json, note, progress_bar


@command("""
anaphora train --list
anaphora train my-model.toml -o models/mine
anaphora train transformer-concat22-laptop -o models/small --set data.source=train.en --set data.target=train.de
anaphora train my-model.toml -o models/mine --resume --set training.updates=20000
anaphora train fine-tune.toml -o models/tuned --sweep training.learning_rate=2e-6,2e-7,2e-8
""")
@parameters(
    api.train,
    arguments=["config=CONFIG.toml|PRESET"],
    config={"required": False},
    output={"required": False, "metavar": "MODEL"},
    sweep={"metavar": "SECTION.KEY=A,B,…"},
    average={"type": click.IntRange(2)},
)
@option("--list", "listing", is_flag=True, help="List the presets and exit.")
@json_option
def train(config: str | None, output: Path | None, listing: bool, as_json: bool, **settings: Any) -> None:
    """Train a context-aware translation model, which is then available as the system nmt:MODEL."""
    if listing:
        _list(as_json)
        return
    if config is None or output is None:
        raise click.UsageError("a config (or a preset, see --list) and -o MODEL are needed")
    with progress_bar("updates") as bar:
        updates = 0

        def report(record: Mapping[str, Any]) -> None:
            nonlocal updates
            if record["kind"] == "data":
                updates = record["updates"]
            elif bar is not None:
                bar(record["update"], updates)
            if bar is None or record["kind"] != "training" or record.get("final"):
                note(_describe(record))

        models = api.train(config, output, report=report, **settings)
    if as_json:
        documents = [model.to_dict() for model in models]
        echo_json(documents[0] if settings["sweep"] is None else {"models": documents})


def _describe(record: Mapping[str, Any]) -> str:
    """A record of the training log as a line."""
    if record["kind"] == "data":
        size = f"{record['examples']:,} examples, {record['pieces']:,} pieces"
        return f"{record['model']}: {size}; left out: {record['left_out']}"
    if record["kind"] == "end":
        ended = "stopped early" if record["stopped_early"] else "done"
        return f"{ended} after {record['update']:,} updates: nmt:{record['model']}"
    if record["kind"] == "training":
        return f"update {record['update']:,} · loss {record['loss']:.4f} · rate {record['rate']:.2g}"
    parts = [f"update {record['update']:,}"]
    if "perplexity" in record:
        parts.append(f"validation perplexity {_figure(record['perplexity'])}")
    parts += [f"{name} {_figure(accuracy)}" for name, accuracy in record.get("accuracy", {}).items()]
    return " · ".join(parts)


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _list(as_json: bool) -> None:
    presets = api.list_presets()
    if as_json:
        echo_json({"presets": presets})
        return
    width = max(map(len, presets))
    for name, description in presets.items():
        if not name.endswith("-laptop"):
            click.echo(f"{name:{width}}  {description}")
    click.echo("\nNAME-laptop is the same model at a size that learns on a laptop's processor.")
