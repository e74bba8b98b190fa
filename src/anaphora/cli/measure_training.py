"""`anaphora measure train`, `adapt` and `tune`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.options import PATH, json_option, option, options
from anaphora.cli.output import echo_json, note, progress_bar
from anaphora.core.errors import AnaphoraError
from anaphora.core.lock import lock_output

if TYPE_CHECKING:
    from anaphora.measure.config import Config
    from anaphora.measure.features import LanguageModelFeatures
    from anaphora.measure.texts import Pair
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
@option("-o", "--output", type=PATH, required=True, metavar="MODEL", help="Folder for the model.")
@options("set", "cache", "threads")
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


@click.command(
    epilog="""\b
Examples:
  anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en talks.en --dev dev.jsonl -o adapted
  anaphora measure adapt lm:HuggingFaceTB/SmolLM2-135M news.en --lowercase --steps 300 -o adapted
"""
)
@click.argument("lm", metavar="lm:NAME_OR_PATH")
@click.argument("texts", nargs=-1, required=True, type=PATH, metavar="TEXT...")
@option(
    "--dev", multiple=True, metavar="PAIRS", help="Pairs on which accuracy is reported before and after (repeatable)."
)
@option("-o", "--output", type=PATH, required=True, metavar="FOLDER", help="Folder for the model.")
@option(
    "--lowercase",
    "plain",
    is_flag=True,
    aliases=("--plain",),
    help="Lowercase the text and remove punctuation, as in the annotated pairs.",
)
@option("--steps", type=click.IntRange(1), default=150, metavar="N", help="Number of training steps.")
@option("--batch", type=click.IntRange(1), default=8, metavar="N", help="Passages per step.")
@option("--pieces", type=click.IntRange(2), default=160, metavar="N", help="Maximum number of subwords per passage.")
@option("--rank", type=click.IntRange(1), default=16, metavar="N", help="Rank of the LoRA matrices.")
@option("--rate", type=float, default=0.001, help="Peak learning rate.")
@option("--context", type=click.IntRange(0), default=2, metavar="N", help="Number of preceding sentences in --dev.")
@options("seed", "threads")
@json_option
def adapt(
    lm: str,
    texts: tuple[Path, ...],
    dev: tuple[str, ...],
    output: Path,
    plain: bool,
    context: int,
    threads: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Adapt a language model to in-domain text with LoRA; the result is used as lm:FOLDER.

    Each TEXT has one sentence per line; an empty line ends a document. Run the same command again to resume an
    interrupted run.
    """
    features = _language_model(lm, output, threads)
    from anaphora.measure.adapting import Adapting, documents, preference_accuracy, save_language_model
    from anaphora.measure.adapting import adapt as adapt_model

    settings = Adapting(**options)
    pairs = _pairs_in(dev, context, plain)
    in_domain = [document for path in texts for document in documents(path, plain=plain)]
    before = preference_accuracy(features, pairs)
    kept = kept_file(output)
    with progress_bar("steps") as progress:
        report = None if progress is None else lambda line: progress(line["step"], line["steps"])
        log = adapt_model(features, in_domain, settings, keep=kept, report=report)
    after = preference_accuracy(features, pairs)
    save_language_model(features, output)
    kept.unlink(missing_ok=True)
    pieces = sum(line["pieces"] for line in log)
    note(f"{output}: {pieces:,} pieces" + (f", dev accuracy {before:.3f} → {after:.3f}" if pairs else ""))
    if as_json:
        accuracy = {"before": before, "after": after} if pairs else None
        echo_json({"model": str(output), "pieces": pieces, "dev_pairs": len(pairs), "dev": accuracy, "log": log})


def kept_file(output: Path) -> Path:
    """Return the file that an interrupted run is resumed from."""
    return output.with_name(f"{output.name}.part")


def _language_model(lm: str, output: Path, threads: int | None) -> LanguageModelFeatures:
    """Load the language model, after checking that the adapted one can be written."""
    from anaphora.measure import check_installed

    check_installed("peft")
    import torch

    from anaphora.measure.features import LanguageModelFeatures
    from anaphora.measure.training import check_new

    kind, _, spec = lm.partition(":")
    if kind != "lm" or not spec:
        raise AnaphoraError(f"not a language model: {lm!r}. Write lm:NAME_OR_PATH")
    check_new(output)
    click.get_current_context().with_resource(lock_output(output))
    if threads is not None:
        torch.set_num_threads(threads)
    return LanguageModelFeatures(spec)


def _pairs_in(files: tuple[str, ...], context: int, plain: bool) -> list[Pair]:
    from anaphora import api
    from anaphora.languages.pronouns import load_readings
    from anaphora.measure.config import Model
    from anaphora.measure.texts import pairs_of

    pairs: list[Pair] = []
    for name in files:
        suite = api.load_suite(name)
        model = Model(plain=plain, sentences=context, language=suite.header.target_language)
        pairs += pairs_of(suite, model, load_readings(model.language))
    return pairs
