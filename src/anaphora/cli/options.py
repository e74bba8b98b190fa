"""Options of commands, made from the signatures of the API, so that command line and API cannot drift apart.

`@parameters(api.score, …)` adds an option for each parameter of a function: its name, type, choices and default are
those of the signature. Its help is a line of the function's docstring (`gpus: Number of GPUs per worker.`) or, for
parameters that several functions share, in the table `SHARED`: one option has one name and one meaning everywhere.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import click

from anaphora.align.tokenize import TOKENIZERS
from anaphora.cli import overwriting
from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import LONGEST, MAX_INTEGER, shown
from anaphora.stats.resampling import EARLIER_NAMES
from anaphora.suites.suite import Suite

Command = TypeVar("Command", bound=Callable[..., Any])
Settings = dict[str, Any]
PATH = click.Path(path_type=Path)
FORMATS = ("table", "json", "markdown", "latex", "tsv")
CALLBACKS = ("progress", "started", "watch", "announce", "say", "report")  # parameters that only Python can give
ATTRIBUTE = re.compile(r"(\w+): ([A-Z].*)")  # a line of a docstring that is the help of an option


class Number(click.FloatRange):
    """A finite number. `nan` compares with neither end of a range: it would pass the range and every gate."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Share(Number):
    """A number within 0 and 1."""

    name = "share"


class WholeNumber(click.IntRange):
    """A whole number that fits 64 bits: what is computed with, and what runs and studies record, is no larger."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, str) and len(value) > LONGEST:
            self.fail(f"{shown(value)} is too large.", param, ctx)
        number: int = super().convert(value, param, ctx)
        if number > MAX_INTEGER:
            self.fail(f"{number} is too large.", param, ctx)
        return number


COUNT, SIZE = WholeNumber(1), WholeNumber(0)


class Choice(click.Choice[str]):
    """One of several words; the names that tests had in version 0.1.0 keep working without being listed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(EARLIER_NAMES.get(value, value), param, ctx)


class Parsed(click.ParamType[Any]):
    """A value that a function parses, for example a list separated by commas."""

    name = "text"

    def __init__(self, parse: Callable[[str], Any]) -> None:
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self.parse(value) if isinstance(value, str) else value


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


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a list such as `it,they`."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def key_values(_: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """Values of an option that is written KEY=VALUE."""
    pairs = [value.partition("=") for value in values]
    for key, equals, value in pairs:
        if not equals or not key.strip().replace(".", "").isidentifier():
            set_key = "write section.key=value, for example training.epochs=5"
            expected = set_key if parameter.name == "settings" else f"expected {parameter.metavar}"
            raise AnaphoraError(f"{parameter.opts[0]} {key}{equals}{value}: {expected}")
    return {key.strip(): value.strip() for key, _, value in pairs}


def shared(help: str = "", *flags: str, **settings: Any) -> Settings:
    return {"help": help, **({"flags": flags} if flags else {}), **settings}


WORDS = {"type": Parsed(split_words), "multiple": False, "metavar": "A,B,…"}
ALIGNER = "Word aligner: thot or builtin, and its model, for example thot:hmm (docs/alignment.md)."
ANNOTATOR = "Annotator of the {}: spacy:PIPELINE, stanza:LANGUAGE or conllu:FILE."
SHARED: dict[str, Settings] = {
    # texts
    "source": shared("Source text, one sentence per line.", "-s", "--source"),
    "reference": shared("Reference translation, one sentence per line.", "-r", "--reference"),
    "translations": shared(
        "Translations of a system, one sentence per line (repeatable).",
        *("-t", "--translation"),
        aliases=("--hypothesis",),
    ),
    "output": shared("", "-o", "--output"),
    "languages": shared("Language pair, for example en-fr.", "-l", "--languages", metavar="SRC-TGT"),
    "names": shared("Name of a system in tables: one per translation or run, in order (repeatable).", "--name"),
    "name": shared("Name of the suite (default: from the format or file).", "--suite-name", aliases=("--name",)),
    "suite_name": shared("Name of the suite (default: from the format or file).", aliases=("--name",)),
    "docids": shared("Each line is docid⇥sentence (default: blank lines separate documents)."),
    "tokenize": shared(
        "Tokenization; auto: Moses, unless the text is already tokenized or has alignments or tags.",
        type=click.Choice(TOKENIZERS),
    ),
    "normalize": shared("Compare sums of log-probabilities, or means per token."),
    "format": shared("Format of the input.", "--from", metavar="FORMAT"),
    # word alignment
    "reference_alignments": shared(
        "Word alignment of source and reference in Pharaoh format (0-0 1-2).", aliases=("--ref-align",)
    ),
    "translation_alignments": shared(
        "Word alignment of source and translation, one per -t (repeatable).", aliases=("--hyp-align",)
    ),
    "alignments": shared("Word alignment of source and target in Pharaoh format (0-0 1-2)."),
    "aligner": shared(ALIGNER, metavar="NAME[:MODEL]", aliases=("--align-backend", "--backend")),
    "aligner_model": shared("Saved aligner to apply (from `anaphora align --save`).", metavar="FOLDER"),
    "corpus": shared("Extra parallel text for training the aligner (repeatable).", metavar="SRC TGT"),
    # systems
    "system": shared("System, as KIND:NAME (see `anaphora systems`).", metavar="SPEC"),
    "context": shared(
        "Number of preceding sentences to include (default: as in the training of an nmt: model, otherwise 0)."
    ),
    "separator": shared("Text between the sentences of a passage, exactly as given (default: one space)."),
    "target_context": shared(
        "Context of the candidates: the suite's (gold), the system's own translation (produced), or none."
    ),
    "limit": shared("Use only the first N examples.", type=COUNT),
    "sample": shared("Use a random sample of N examples.", type=COUNT),
    "threads": shared("CPU threads per worker.", type=COUNT),
    "workers": shared("Number of worker processes (default: as many as CPUs and memory allow).", type=COUNT),
    "cluster": shared(
        "Run the workers on a Ray cluster at HOST:PORT (default: RAY_ADDRESS, or a new local cluster).",
        **{"is_flag": False, "flag_value": "", "metavar": "[ADDRESS]"},
    ),
    "batch_tokens": shared("Maximum number of tokens per batch.", type=COUNT),
    "plain": shared(
        "Score every candidate separately, without the prefix tree.", "--no-prefix-tree", aliases=("--plain",)
    ),
    "truncate": shared("Truncate inputs that exceed the model's maximum length, and count them."),
    "resume": shared("Resume an unfinished run."),
    "overwrite": shared("Replace an existing output."),
    # annotation
    "annotate_source": shared(ANNOTATOR.format("source"), metavar="SPEC"),
    "annotate_target": shared(ANNOTATOR.format("target"), metavar="SPEC"),
    "link_confidence": shared(
        "Minimum confidence of an antecedent (default: the resolver's own).",
        type=Share(0, 1),
        aliases=("--confidence",),
    ),
    # statistics
    "by": shared(
        "Break results down by a tag, a condition (tag>3) or a product (a×b, a*b) (repeatable).",
        **{"multiple": True, "metavar": "TAG"},
    ),
    "minimize": shared("Treat lower scores as better (losses, perplexities)."),
    "confidence": shared("Confidence level of the intervals.", type=Share(0, 1, True, True), metavar="SHARE"),
    "resample": shared("Resample groups of examples that share a tag, for example documents.", metavar="TAG"),
    "samples": shared("Number of resamples.", type=WholeNumber(100)),
    "seed": shared("Random seed."),
    "interval": shared("Kind of interval."),
    "test": shared("Test whose p-value is reported (JSON has both)."),
    # pronouns, measure, study
    "pronouns": shared("Source pronouns to evaluate (default: those of the pronoun lists).", **WORDS),
    "lists": shared("TOML file with pronoun lists that extend the built-in ones."),
    "pair_list": shared("Human judgments of pronoun pairs (from `study export --pairs`)."),
    "encoder": shared("Location of the model's encoder, if the model does not contain it.", metavar="SPEC"),
    "cache": shared("Folder that caches encoder states.", metavar="FOLDER"),
    "settings": shared(
        "Override a key of the config (repeatable).",
        "--set",
        **{"type": str, "multiple": True, "default": (), "callback": key_values, "metavar": "SECTION.KEY=VALUE"},
    ),
    "common_context": shared("Use the reference's context for the systems' sentences as well."),
    "database": shared(
        "Database of the answers: postgresql://… or sqlite:///FILE (default: ANAPHORA_STUDY_DATABASE, or a file in "
        "STUDY).",
        **{"metavar": "URL", "envvar": "ANAPHORA_STUDY_DATABASE"},
    ),
    "answers": shared(
        "Study with verdicts on these translations; the annotators' majority replaces the program's verdict.",
        metavar="STUDY",
    ),
    "options": shared("Pronouns that annotators choose from (default: those of the language).", **WORDS),
    "wordnet": shared("Folder of WordNet's database (default: the system's).", metavar="FOLDER"),
    "human": shared("Column of the human scores.", metavar="COLUMN"),
    "without": shared(
        "Also correlate without this system; auto: without outliers by human score (repeatable).", metavar="SYSTEM"
    ),
    "title": shared("Title of the page."),
}
NORMALIZE_TEXT: Settings = {  # `normalize` of the commands that read texts, where it is not how scores are compared
    "flags": ("--normalize-text/--no-normalize-text",),
    "help": "Unify apostrophes (’ ' &apos; &#39;), spaces and full-width characters (the default), or leave them.",
    "aliases": ("--normalize", "--no-normalize"),
    "default": True,
}
PAIRED_TEST = "Test whose p-value is reported (default: mcnemar, or randomization with --resample)."


def parameters(
    function: Callable[..., Any], *, skip: Sequence[str] = (), arguments: Sequence[str] = (), **changes: Any
) -> Callable[[Command], Command]:
    """Add an option for each parameter of a function of the API; the command's help is the function's, if it has none.

    arguments: parameters that are arguments of the command instead, in this order, as "name" or "name=METAVAR"
    skip: parameters that are no options of the command
    changes: help texts, or settings of click and `flags=`, for single options
    """
    signature, texts = inspect.signature(function), help_texts(function)
    positional = {name: metavar for name, _, metavar in (text.partition("=") for text in arguments)}
    left_out = {*skip, *CALLBACKS, *positional}

    def add(command: Command) -> Command:
        if not command.__doc__:
            command.__doc__ = texts[""]
        for name in reversed(signature.parameters):
            if name not in left_out:
                parameter, change = signature.parameters[name], changes.get(name, {})
                change = {"help": change} if isinstance(change, str) else change
                own = {"help": texts[name]} if name in texts else {}
                command = _option(function, parameter, SHARED.get(name, {}) | own | change)(command)
        for name in reversed(positional):
            parameter = signature.parameters[name]
            several = parameter.kind is parameter.VAR_POSITIONAL
            settings: Settings = {"nargs": -1} if several else {}
            settings |= {"metavar": positional[name]} if positional[name] else {}
            kind = option_type(parameter.annotation, function)["type"]
            needed = changes.get(name, {}).get("required", parameter.default is parameter.empty)
            command = click.argument(name, type=kind, required=needed, **settings)(command)
        return command

    return add


def _option(function: Callable[..., Any], parameter: inspect.Parameter, own: Settings) -> Callable[[Command], Command]:
    """Return the option of a parameter; what is not among its own settings comes from the signature."""
    word, default = f"--{parameter.name.replace('_', '-')}", parameter.default
    settings = option_type(parameter.annotation, function) | {"default": default}
    flag = settings["type"] is bool
    if flag:
        del settings["type"]
        word = f"{word}/--no-{word[2:]}" if default is not False else word
        settings |= {"is_flag": True} if default is False else {}
    settings |= own
    if settings["default"] is parameter.empty:
        settings.setdefault("required", True)
        del settings["default"]
    elif (settings["default"] is None and not flag) or (settings["default"] == () and settings.get("multiple")):
        del settings["default"]  # but for flags: without a default, click takes one that is not given for False
    elif isinstance(settings["default"], tuple) and settings["default"] and not settings.get("multiple"):
        settings["default"] = ",".join(map(str, settings["default"]))  # as it is written, and shown in the help
    return option(*settings.pop("flags", (word,)), parameter.name, **settings)


def option_type(annotation: str, function: Callable[..., Any]) -> Settings:
    """Return the type, repetition and metavar of an option, from an annotation of the API.

    A suite may be named by its file or by the catalog, so it is a text; None stands for an option that is not given.
    """
    kind = eval(annotation, inspect.unwrap(function).__globals__)
    members = [member for member in _members(kind) if member is not type(None)]
    repeated = next((member for member in members if get_origin(member) in (Sequence, tuple)), None)
    if repeated is not None and get_origin(repeated) is tuple:
        return {"type": PATH, "nargs": len(get_args(repeated)), "metavar": "FILE"}
    if repeated is not None:
        (item,) = get_args(repeated)
        if get_origin(item) is tuple:
            return {"type": PATH, "nargs": len(get_args(item)), "multiple": True}
        members, several = list(_members(item)), {"multiple": True}
    else:
        several = {}
    literal = next((member for member in members if get_origin(member) is Literal), None)
    if literal is not None and int not in members:
        return {"type": Choice(get_args(literal)), **several}
    for known, settings in (
        (bool, {"type": bool}),
        (int, {"type": SIZE, "metavar": "N"}),
        (float, {"type": Number()}),
        (Suite, {"type": str, "metavar": "SUITE"}),
        (Path, {"type": PATH, "metavar": "FILE"}),
    ):
        if known in members:
            return {**settings, **several}
    return {"type": str, **several}


def _members(kind: Any) -> Iterable[Any]:
    return get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)


@functools.cache
def help_texts(function: Callable[..., Any]) -> dict[str, str]:
    """The help of options that a function's docstring has, by parameter; "" is what the function does."""
    lines = inspect.getdoc(function)
    paragraphs = (lines or "").split("\n\n")
    names = inspect.signature(function).parameters
    described = re.match(r"([\w, ]+): ", paragraphs[-1])
    has_parameters = described is not None and set(re.findall(r"\w+", described[1])) <= set(names)
    texts = {"": "\n\n".join(paragraphs[:-1] if has_parameters else paragraphs)}
    last = None
    for line in paragraphs[-1].splitlines() if has_parameters else ():
        if line.startswith("    "):
            if last is not None:
                texts[last] += f" {line.strip()}"
        elif (match := ATTRIBUTE.fullmatch(line)) and match[1] in names:
            last = match[1]
            texts[last] = match[2]
        else:
            last = None
    return texts


def command(examples: str, name: str | None = None, *, note: str = "") -> Callable[[Callable[..., Any]], click.Command]:
    """Return a command with examples, one per line, at the end of its help; note: a sentence before them."""
    return click.command(name, cls=overwriting.Command, epilog=epilog(examples, note))


def epilog(examples: str, note: str = "") -> str:
    lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    return f"{note}\n\n\b\nExamples:\n{lines}\n" if note else f"\b\nExamples:\n{lines}\n"


def json_option(command: Command) -> Command:
    return option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout, and nothing else.")(
        command
    )


def format_options(command: Command) -> Command:
    choice = option("--format", type=click.Choice(FORMATS), default="table", help="Output format.")
    return choice(json_option(command))


def plot_option(*, aliases: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    text = "Write a chart to FILE (.svg, or .png with the extra png)."
    return option("--plot", type=PATH, metavar="FILE", aliases=aliases, help=text)


def details_option(command: Command) -> Command:
    text = "Write one row per evaluated item to this TSV file."
    return option("--details", type=PATH, metavar="FILE", help=text)(command)


def example_option(command: Command) -> Command:
    text = "Write invented example files to a folder and exit."
    return option("--example", type=PATH, metavar="FOLDER", help=text)(command)


def aligner_spec(aligner: str, model: str | None) -> str:
    """Return the aligner with the model that an earlier option, --model, names."""
    return f"{aligner}:{model}" if model and ":" not in aligner else aligner


def given(name: str) -> bool:
    """Return whether the running command was given this parameter, and did not take its default."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)
