"""Options that several commands share: one option has one name, one meaning and one default everywhere.

`options("source", "limit")` adds options of the table `SHARED` to a command; `options_from(dataclass, …)` takes their
defaults from a settings dataclass of the library, so that command line and library cannot drift apart.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from anaphora.align.tokenize import DEFAULT, TOKENIZERS

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]
PATH = click.Path(path_type=Path)
COUNT, SIZE = click.IntRange(1), click.IntRange(0)
FORMATS = ("table", "json", "markdown", "latex", "tsv")


class Share(click.FloatRange):
    """A number within 0 and 1. `nan` compares with neither end: it would pass the range and every gate."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


class Option(click.Option):
    """An option whose earlier names (`aliases`) keep working without being listed.

    aliases: earlier names; those of `--no-…` flags begin with `--no-`
    """

    def __init__(self, *args: Any, aliases: tuple[str, ...] = (), **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.aliases = aliases

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        shown = self.opts, self.secondary_opts
        negative = tuple(name for name in self.aliases if self.secondary_opts and name.startswith("--no-"))
        self.opts = [*shown[0], *(name for name in self.aliases if name not in negative)]
        self.secondary_opts = [*shown[1], *negative]
        super().add_to_parser(parser, ctx)
        self.opts, self.secondary_opts = shown


def option(*names: str, **settings: Any) -> Callable[[Command], Command]:
    """`click.option` with `aliases=`; defaults are shown in the help."""
    settings.setdefault("show_default", "default" in settings and settings["default"] not in (None, "", " ", False))
    return click.option(*names, cls=Option, **settings)


SHARED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    # texts
    "source": (("-s", "--source"), {"type": PATH, "help": "Source text, one sentence per line."}),
    "reference": (("-r", "--reference"), {"type": PATH, "help": "Reference translation, one sentence per line."}),
    "translation": (
        ("-t", "--translation", "translations"),
        {
            "type": PATH,
            "multiple": True,
            "aliases": ("--hypothesis",),
            "help": "Translations of a system, one sentence per line (repeatable).",
        },
    ),
    "languages": (("-l", "--languages"), {"metavar": "SRC-TGT", "help": "Language pair, for example en-fr."}),
    "name": (
        ("--name", "names"),
        {"multiple": True, "help": "Name of a system in tables: one per translation or run, in order (repeatable)."},
    ),
    "docids": (
        ("--docids",),
        {"is_flag": True, "help": "Each line is docid⇥sentence (default: blank lines separate documents)."},
    ),
    "tokenize": (
        ("--tokenize",),
        {
            "type": click.Choice(TOKENIZERS),
            "default": DEFAULT,
            "help": "Tokenization; auto: Moses, unless the text is tokenized or alignments or tags count its words.",
        },
    ),
    "normalize-text": (
        ("--normalize-text/--no-normalize-text", "normalize"),
        {
            "default": True,
            "aliases": ("--normalize", "--no-normalize"),
            "help": "Unify apostrophes (’ ' &apos; &#39;), spaces and full-width characters (the default), or do not.",
        },
    ),
    "from": (("--from", "format"), {"default": "native", "metavar": "FORMAT", "help": "Format of the input."}),
    # word alignment
    "reference-alignments": (
        ("--reference-alignments",),
        {
            "type": PATH,
            "metavar": "FILE",
            "aliases": ("--ref-align",),
            "help": "Word alignment of source and reference in Pharaoh format (0-0 1-2).",
        },
    ),
    "translation-alignments": (
        ("--translation-alignments",),
        {
            "type": PATH,
            "multiple": True,
            "metavar": "FILE",
            "aliases": ("--hyp-align",),
            "help": "Word alignment of source and translation, one per -t (repeatable).",
        },
    ),
    "alignments": (
        ("--alignments",),
        {"type": PATH, "metavar": "FILE", "help": "Word alignment of source and target in Pharaoh format (0-0 1-2)."},
    ),
    "aligner": (
        ("--aligner",),
        {
            "default": "thot",
            "metavar": "NAME[:MODEL]",
            "aliases": ("--align-backend", "--backend"),
            "help": "Word aligner: thot or builtin, and its model, for example thot:hmm (docs/alignment.md).",
        },
    ),
    "aligner-model": (
        ("--aligner-model",),
        {"type": PATH, "metavar": "FOLDER", "help": "Saved aligner to apply (from `anaphora align --save`)."},
    ),
    "corpus": (
        ("--corpus",),
        {
            "type": PATH,
            "nargs": 2,
            "multiple": True,
            "metavar": "SRC TGT",
            "help": "Extra parallel text for training the aligner (repeatable).",
        },
    ),
    # systems
    "system": (
        ("--system",),
        {"metavar": "SPEC", "help": "System to evaluate, as KIND:NAME (see `anaphora systems`)."},
    ),
    "context": (
        ("--context",),
        {
            "type": SIZE,
            "metavar": "N",
            "help": "Number of preceding sentences to include (default: what an nmt: model was trained with, "
            "otherwise 0).",
        },
    ),
    "separator": (
        ("--separator",),
        {"default": " ", "help": "Text between the sentences of a passage, exactly as given (default: one space)."},
    ),
    "target-context": (
        ("--target-context",),
        {
            "type": click.Choice(["gold", "produced", "none"]),
            "default": "gold",
            "help": "Context of the candidates: the suite's (gold), the system's own translation (produced), or none.",
        },
    ),
    "limit": (("--limit",), {"type": COUNT, "metavar": "N", "help": "Use only the first N examples."}),
    "sample": (("--sample",), {"type": COUNT, "metavar": "N", "help": "Use a random sample of N examples."}),
    "threads": (("--threads",), {"type": COUNT, "metavar": "N", "help": "CPU threads per worker."}),
    "workers": (
        ("--workers",),
        {
            "type": COUNT,
            "metavar": "N",
            "help": "Number of worker processes (default: as many as CPUs and memory allow).",
        },
    ),
    "cluster": (
        ("--cluster",),
        {
            "is_flag": False,
            "flag_value": "",
            "metavar": "[ADDRESS]",
            "help": "Run the workers on a Ray cluster at HOST:PORT (default: RAY_ADDRESS, or a new local cluster).",
        },
    ),
    "batch-tokens": (
        ("--batch-tokens",),
        {"type": COUNT, "default": 2048, "metavar": "N", "help": "Maximum number of tokens per batch."},
    ),
    "truncate": (
        ("--truncate",),
        {"is_flag": True, "help": "Truncate inputs that exceed the model's maximum length, and count them."},
    ),
    "resume": (("--resume",), {"is_flag": True, "help": "Resume an unfinished run."}),
    "overwrite": (("--overwrite",), {"is_flag": True, "help": "Replace an existing output."}),
    # annotation
    "annotate-source": (
        ("--annotate-source",),
        {"metavar": "SPEC", "help": "Annotator of the source: spacy:PIPELINE, stanza:LANGUAGE or conllu:FILE."},
    ),
    "annotate-target": (
        ("--annotate-target",),
        {"metavar": "SPEC", "help": "Annotator of the target: spacy:PIPELINE, stanza:LANGUAGE or conllu:FILE."},
    ),
    "link-confidence": (
        ("--link-confidence",),
        {
            "type": Share(0, 1),
            "aliases": ("--confidence",),
            "help": "Minimum confidence of an antecedent (default: the resolver's own).",
        },
    ),
    # statistics
    "by": (
        ("--by",),
        {
            "multiple": True,
            "metavar": "TAG",
            "help": "Break results down by a tag, a condition (tag>3) or a product (a×b, a*b) (repeatable).",
        },
    ),
    "minimize": (
        ("--minimize",),
        {"is_flag": True, "help": "Treat lower scores as better (losses, perplexities)."},
    ),
    "normalize": (
        ("--normalize",),
        {
            "type": click.Choice(["sum", "mean"]),
            "default": "sum",
            "help": "Compare sums of log-probabilities, or means per token.",
        },
    ),
    "confidence": (
        ("--confidence",),
        {"type": Share(0, 1, True, True), "default": 0.95, "help": "Confidence level of the intervals."},
    ),
    "resample": (
        ("--resample",),
        {"metavar": "TAG", "help": "Resample groups of examples that share a tag, for example documents."},
    ),
    "samples": (
        ("--samples",),
        {"type": click.IntRange(100), "default": 10_000, "metavar": "N", "help": "Number of resamples."},
    ),
    "seed": (("--seed",), {"type": SIZE, "default": 12345, "metavar": "N", "help": "Random seed."}),
    "paired-test": (
        ("--test",),
        {
            "type": click.Choice(["mcnemar", "randomisation", "bootstrap"]),
            "help": "Test whose p-value is reported (default: mcnemar, or randomisation with --resample).",
        },
    ),
    "test": (
        ("--test",),
        {
            "type": click.Choice(["bootstrap", "randomisation"]),
            "default": "randomisation",
            "help": "Test whose p-value is reported (JSON has both).",
        },
    ),
    # pronouns, measure, study
    "pronouns": (
        ("--pronouns",),
        {"metavar": "A,B,…", "help": "Source pronouns to evaluate (default: those of the pronoun lists)."},
    ),
    "lists": (
        ("--lists",),
        {"type": PATH, "metavar": "FILE", "help": "TOML file with pronoun lists that extend the built-in ones."},
    ),
    "details": (
        ("--details",),
        {"type": PATH, "metavar": "FILE", "help": "Write one row per evaluated item to this TSV file."},
    ),
    "pair-list": (
        ("--pair-list",),
        {
            "type": PATH,
            "metavar": "FILE",
            "help": "Human judgments of pronoun pairs (from `study export --pairs`).",
        },
    ),
    "encoder": (
        ("--encoder",),
        {"metavar": "SPEC", "help": "Location of the model's encoder, if the model has no copy of it."},
    ),
    "cache": (("--cache",), {"type": PATH, "metavar": "FOLDER", "help": "Folder that caches encoder states."}),
    "set": (
        ("--set", "settings"),
        {"multiple": True, "metavar": "SECTION.KEY=VALUE", "help": "Override a key of the config (repeatable)."},
    ),
    "common-context": (
        ("--common-context",),
        {"is_flag": True, "help": "Use the reference's context for the systems' sentences as well."},
    ),
    "database": (
        ("--database",),
        {
            "metavar": "URL",
            "envvar": "ANAPHORA_STUDY_DATABASE",
            "help": "Database of the answers: postgresql://… or sqlite:///FILE (default: ANAPHORA_STUDY_DATABASE, or "
            "a file in STUDY).",
        },
    ),
    "options": (
        ("--options",),
        {"metavar": "A,B,…", "help": "Pronouns that annotators choose from (default: those of the language)."},
    ),
    "wordnet": (
        ("--wordnet",),
        {"type": PATH, "metavar": "FOLDER", "help": "Folder of WordNet's database (default: the system's)."},
    ),
    "human": (
        ("--human",),
        {"default": "human", "metavar": "COLUMN", "help": "Column of the human scores."},
    ),
    "without": (
        ("--without",),
        {
            "multiple": True,
            "metavar": "SYSTEM",
            "help": "Also correlate without this system; auto: without outliers by human score (repeatable).",
        },
    ),
    "example": (
        ("--example",),
        {"type": PATH, "metavar": "FOLDER", "help": "Write invented example files to a folder and exit."},
    ),
    # output
    "plot": (
        ("--plot",),
        {"type": PATH, "metavar": "FILE", "help": "Write a chart to FILE (.svg, or .png with the extra png)."},
    ),
    "title": (("--title",), {"default": "", "help": "Title of the page."}),
    "format": (("--format",), {"type": click.Choice(FORMATS), "default": "table", "help": "Output format."}),
    "json": (("--json", "as_json"), {"is_flag": True, "help": "Print one JSON document on stdout, and nothing else."}),
}


def options(*keys: str, **changes: Any) -> Callable[[Command], Command]:
    """Add shared options to a command, in this order; `changes` (required=True …) hold for all of them."""

    def add(command: Command) -> Command:
        for key in reversed(keys):
            names, settings = SHARED[key]
            command = option(*names, **(settings | changes))(command)
        return command

    return add


def options_from(dataclass: Any, *keys: str) -> Callable[[Command], Command]:
    """Add shared options whose defaults are those of a settings dataclass."""
    defaults = {field.name: field.default for field in dataclasses.fields(dataclass)}

    def add(command: Command) -> Command:
        for key in reversed(keys):
            default = defaults[key.replace("-", "_")]
            command = options(key, **({} if default in (None, False) else {"default": default}))(command)
        return command

    return add


def json_option(command: Command) -> Command:
    return options("json")(command)


def format_options(command: Command) -> Command:
    return options("format", "json")(command)


def part_options(command: Command) -> Command:
    return options("limit", "sample", "seed")(command)


def text_options(command: Command) -> Command:
    return options("tokenize", "normalize-text")(command)


def setting_options(command: Command) -> Command:
    """--by, and how decisions, intervals and tests of `evaluate`, `compare` and `report` are made."""
    from anaphora.evaluation.result import Settings

    keys = ("minimize", "normalize", "confidence", "resample", "samples", "seed")
    return options("by")(options_from(Settings, *keys)(command))


def sampling_options(*, test: str) -> Callable[[Command], Command]:
    """--test, --confidence, --samples and --seed of the commands that compare translations."""
    from anaphora.stats.resampling import Resampling

    def add(command: Command) -> Command:
        return options("test", default=test)(options_from(Resampling, "confidence", "samples", "seed")(command))

    return add


def split_words(text: str | None) -> tuple[str, ...]:
    """The words of a list such as `it,they`."""
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def split_aligner(aligner: str, model: str | None = None) -> tuple[str, str | None]:
    """The backend and the model that `--aligner thot:hmm` names; `model` is that of the earlier option --model."""
    name, _, chosen = aligner.partition(":")
    return name, chosen or model


def given(name: str) -> bool:
    """Whether the running command was given this parameter, and did not take its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)
