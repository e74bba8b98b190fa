"""One option has one name, one meaning, one type and one default in all commands, and its help is a sentence."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Sequence  # noqa: F401  annotations that become options
from pathlib import Path
from typing import Literal

import click
import pytest
from click.testing import CliRunner

import anaphora
from anaphora.cli.app import main
from anaphora.cli.options import Choice, Option, WholeNumber, format_options, option_type, parameters
from anaphora.cli.output import show_all
from anaphora.suites.suite import Suite  # noqa: F401
from anaphora.table import Row, Table
from tests.cli.test_app import BY_NAME as COMMANDS

# -------------------------------------------------------------------------------------------------------------- options
# One option has one name, one meaning, one type and one default in all commands, and its help is a sentence.

SENTENCE = re.compile(r"(?!Of )[A-Z].*\.", re.DOTALL)
LEAVES = {path: command for path, command in COMMANDS.items() if not isinstance(command, click.Group)}
# Options that differ between commands, and why. Everything else is the same wherever it occurs.
EXCEPTIONS = {
    "--output": "every command writes something else",
    "--context": "a default suits its data: models bring their own, suites of pairs have two sentences, mining five",
    "--languages": "templates take a folder as well; augmentation knows en-de only",
    "--aligner": "mining aligns millions of sentences, for which the built-in aligner is faster",
    "--resume": "mining always resumes unless told otherwise",
    "--format": "a report is a page or files, not a table",
    "--input-format": "mining reads OPUS as well",
    "--interval": "Wilson's interval is of proportions, Fisher's of correlations",
    "--test": "McNemar's test is of right and wrong answers; BLEU's customary test is the bootstrap",
    "--target-context": "a translation has no gold context",
    "--separator": "augmented training data and line files need a visible separator, or none",
    "--to": "suites convert and build mine write different formats",
    "--reference": "BLEU takes several references",
    "--pronouns": "APT has lists of pronouns, AutoPRF and METEOR have none",
    "--weights": "a sweep tries several",
    "--discard": "a sweep tries several",
    "--metric": "a metric to compute, or a column of a table",
    "--name": "diagnose takes one name for all its runs",
    "--run": "generative takes one run per translation",
    "--example": "discomt and study create write to their argument",
    "--normalize-text": "BLEU and chrF have their own normalization: metrics normalizes for METEOR only by default",
    "--details": "generative writes the texts, too, if the name is FILE.jsonl",
    "--from": "study create reads details of other commands as well",
    "--only": "templates have ids, verdicts are asked on outcomes",
    "--symmetrize": "mining prefers precise links",
    "--seed": "the orders of a study are secret without one",
}


OTHERS = {"--help", "--head", "--install", "--no-deps", "--output_dir"}  # of click, pip and programs that messages name
CSS = {"--much"}  # properties of the style of a page, not options


def shown(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option) and not option.hidden]


def longest(option: click.Option) -> str:
    return max(option.opts, key=len)


def meaning(option: click.Option) -> tuple[object, ...]:
    """What must be the same wherever the option occurs."""
    kind = option.type
    limits = tuple(getattr(kind, name, None) for name in ("choices", "min", "max", "min_open", "max_open"))
    names = tuple(sorted([*option.opts, *option.secondary_opts]))
    return (names, type(kind), limits, repr(option.default), option.multiple, option.nargs, option.is_flag, option.help)


def test_one_option_has_one_meaning_type_and_default() -> None:
    seen: dict[str, dict[tuple[object, ...], list[str]]] = {}
    for path, command in LEAVES.items():
        for option in shown(command):
            seen.setdefault(longest(option), {}).setdefault(meaning(option), []).append(path)
    different = {name: list(actual.values()) for name, actual in seen.items() if len(actual) > 1}
    assert not {name: paths for name, paths in different.items() if name not in EXCEPTIONS}
    assert not EXCEPTIONS.keys() - different.keys(), "exceptions that are none"


def test_a_short_name_belongs_to_one_option() -> None:
    seen: dict[str, set[str]] = {}
    for command in LEAVES.values():
        for option in shown(command):
            for name in option.opts:
                if not name.startswith("--"):
                    seen.setdefault(name, set()).add(longest(option))
    assert not {name: actual for name, actual in seen.items() if len(actual) > 1}


@pytest.mark.parametrize("path", COMMANDS)
def test_help_texts_are_sentences(path: str) -> None:
    for option in COMMANDS[path].params:
        if isinstance(option, click.Option):
            text = option.help or ""
            assert SENTENCE.fullmatch(text), (option.opts, text)
    summary = (COMMANDS[path].help or "").split("\n\n")[0].strip()
    assert SENTENCE.fullmatch(summary) or summary.endswith(("?", ":")), summary


def test_earlier_names_work_and_are_not_listed() -> None:
    @click.command()
    @click.option("--new", cls=Option, aliases=("--old",), multiple=True)
    @click.option("--text/--no-text", cls=Option, aliases=("--t", "--no-t"), default=True)
    def command(new: tuple[str, ...], text: bool) -> None:
        click.echo(f"{new} {text}")

    run = CliRunner()
    assert run.invoke(command, ["--new", "a", "--old", "b", "--no-t"]).output == "('a', 'b') False\n"
    assert "--old" not in run.invoke(command, ["--help"]).output


def test_names_of_the_contract_are_still_understood() -> None:
    """../shared/INTERFACE.md and the names of 0.1.0."""
    earlier = {
        "apt": ["--hypothesis", "--ref-align", "--hyp-align", "--align-backend", "--ref-tags", "--no-normalize"],
        "autoprf": ["--ref-align", "--hyp-align", "--lowercase"],
        "align": ["--backend", "--load", "--cased"],
        "score": ["--plain"],
        "generative": ["--align", "--backend"],
        "build mine": ["--format", "--align-backend", "--confidence", "--name"],
        "build augment": ["--align", "--format", "--confidence"],
        "build attack phrase": ["--source", "--target", "--name"],
        "robustness": ["--figure"],
        "diagnose": ["--system"],
        "study create": ["--no-source", "--source-text"],
        "study export": ["--human", "--judgements"],
        "meta correlate": ["--minimize"],
    }
    for path, names in earlier.items():
        command = LEAVES[f"anaphora {path}"]
        known = {name for option in command.params for name in getattr(option, "aliases", ())}
        assert set(names) <= known, path


def test_every_command_takes_quiet_verbose_and_no_color() -> None:
    for path, command in COMMANDS.items():
        names = {name for option in command.params for name in option.opts}
        assert names >= {"-q", "--quiet", "-v", "--verbose", "--no-color"}, path


def test_quiet_prints_results_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANAPHORA_QUIET", "")
    for position, words in enumerate((["-q", "build", "templates"], ["build", "templates", "-q"])):
        with pytest.raises(SystemExit):
            main([*words, "--only", "gender", "-o", str(tmp_path / f"{position}.jsonl")])
        assert capsys.readouterr().err == ""


def test_no_color_and_verbose_reach_libraries_and_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "ANAPHORA_DEBUG", "ANAPHORA_QUIET"):
        monkeypatch.setenv(name, "")
    with pytest.raises(SystemExit):
        main(["systems", "--no-color", "-v", "--json"])
    assert (os.environ["NO_COLOR"], os.environ["ANAPHORA_DEBUG"]) == ("1", "1")


# ------------------------------------------------------------------------------------------------------------- sampling
# What commands that resample share: the same options, each with the defaults of its command.


def resample(
    *,
    test: Literal["bootstrap", "randomization"] = "bootstrap",
    confidence: float = 0.95,
    samples: int = 10_000,
    seed: int = 12345,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Resample something.

    test, confidence: as everywhere
    seed: Where the random numbers
        begin.
    """


def test_an_option_is_made_from_a_signature() -> None:
    assert command.help == "Resample something."
    made = {option.name: option for option in command.params if isinstance(option, click.Option)}
    assert [*made][:4] == ["test", "confidence", "samples", "seed"]
    assert made["seed"].help == "Where the random numbers begin."
    assert made["samples"].help == "Number of resamples."  # of all commands
    assert isinstance(made["test"].type, click.Choice)


@pytest.mark.parametrize(
    ("annotation", "settings"),
    [
        ("str | None", {"type": str}),
        ("bool", {"type": bool}),
        ("int | Literal['auto'] | None", {"type": WholeNumber, "metavar": "N"}),
        ("Literal['a', 'b']", {"type": Choice}),
        ("str | Path", {"type": click.Path, "metavar": "FILE"}),
        ("Suite | str | Path", {"type": str, "metavar": "SUITE"}),
        ("str | Path | Sequence[str | Path]", {"type": click.Path, "metavar": "FILE", "multiple": True}),
        ("Sequence[tuple[str | Path, str | Path]]", {"type": click.Path, "nargs": 2, "multiple": True}),
        ("tuple[str | Path, str | Path] | None", {"type": click.Path, "nargs": 2, "metavar": "FILE"}),
    ],
)
def test_types_of_the_api_are_types_of_options(annotation: str, settings: dict[str, object]) -> None:
    made = option_type(annotation, resample)
    kind, expected = made.pop("type"), settings.pop("type")
    assert kind is expected or type(kind) is expected
    assert made == settings


@click.command()
@parameters(resample)
@format_options
def command(format: str, as_json: bool, **sampling: object) -> None:
    tables = [Table(f"{name}={value}", ("", "x"), (Row(("a", "1")),)) for name, value in sorted(sampling.items())]
    show_all(tables, {"sampling": {key: str(value) for key, value in sampling.items()}}, format, as_json)


def test_defaults_and_tables_one_below_the_other() -> None:
    text = CliRunner().invoke(command, []).output
    assert [part.splitlines()[0] for part in text.split("\n\n")] == [
        "confidence=0.95",
        "samples=10000",
        "seed=12345",
        "test=bootstrap",
    ]


def test_json_is_one_document() -> None:
    for options in (["--json"], ["--format", "json"]):
        text = CliRunner().invoke(command, [*options, "--seed", "7"]).output
        assert text.startswith("{")
        assert '"seed": "7"' in text


@pytest.mark.parametrize(
    "wrong", [["--samples", "9"], ["--seed", "-1"], ["--confidence", "1"], ["--confidence", "nan"], ["--test", "t"]]
)
def test_what_is_refused(wrong: list[str]) -> None:
    assert CliRunner().invoke(command, wrong).exit_code == 2


def test_messages_name_options_that_are_listed() -> None:
    """The library's messages and docstrings tell the user what to pass: an option that `--help` shows."""
    listed = {name for command in LEAVES.values() for option in shown(command) for name in option.opts}
    listed |= {name for command in LEAVES.values() for option in shown(command) for name in option.secondary_opts}
    source = Path(anaphora.__file__).parent
    named = {
        (path.relative_to(source).as_posix(), option)
        for path in source.rglob("*.py")
        if path.relative_to(source).parts[0] != "cli"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]*\w", node.value)
    }
    assert ("runs.py", "--resume") in named
    assert not {(path, option) for path, option in named if option not in listed | OTHERS | CSS | {"--annotate"}}


@pytest.mark.parametrize("number", ["9223372036854775808", "9" * 5000])
def test_numbers_fit_64_bits(number: str) -> None:
    """A run with a larger seed or limit in its header could not be read again after it was scored."""
    done = CliRunner().invoke(command, ["--seed", number])
    assert done.exit_code == 2
    assert "is too large" in done.output
    assert len(done.output) < 500
    assert CliRunner().invoke(command, ["--seed", "9223372036854775807"]).exit_code == 0


@pytest.mark.parametrize("number", ["nan", "inf", "1e400"])
def test_numbers_are_finite(refused: Callable[..., str], number: str) -> None:
    assert refused("score", "suite", "--system", "x:y", "-o", "run", "--gpus", number).endswith(
        "is not a finite number."
    )
