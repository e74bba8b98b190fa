"""No input ends in a traceback: what the fuzzer has found is tried again, and some new damage to every valid input.

And no command is left out: every file that a command reads is damaged by a target.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from anaphora.cli.app import app
from tests.fuzz.mutate import mutate
from tests.fuzz.run import ACCEPTED, CORPUS, OTHER, Ground, Outcome, Record, Tally, attempt, fuzz
from tests.fuzz.targets import ARGUMENTS, TARGETS, Target

CASES = 15  # of each target, drawn by the seed; `make fuzz` searches with a thousand
SEED = 16


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_is_read_or_refused(name: str, tmp_path: Path) -> None:
    ground = Ground(TARGETS[name], tmp_path / "case")
    assert ground.run({}).kind == ACCEPTED, "the valid input must be accepted"
    for finding in sorted((CORPUS / name).glob("*")):
        files = {str(path.relative_to(finding)): path.read_bytes() for path in finding.rglob("*") if path.is_file()}
        outcome = ground.run(files)
        assert outcome.kind != OTHER, f"{finding}: {outcome.what}\n{outcome.trace}"
    for number in range(CASES):
        outcome = ground.run(ground.case(number, SEED))
        assert outcome.kind != OTHER, f"case {number} of seed {SEED}: {outcome.what}\n{outcome.trace}"


def test_every_finding_belongs_to_a_target() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} <= set(TARGETS)


def test_a_traceback_is_a_finding(tmp_path: Path) -> None:
    def broken(folder: Path) -> None:
        int((folder / "x").read_text())

    target = Target("broken", lambda folder: (folder / "x").write_text("1"), broken)
    ground = Ground(target, tmp_path)
    assert ground.run({}) == Outcome(ACCEPTED)
    assert ground.run({"x": b"a"}).what == "ValueError at no line of ours"
    assert ground.run({}) == Outcome(ACCEPTED), "the folder is as it was"
    assert attempt(lambda folder: exit(70), tmp_path).kind == OTHER


def test_the_same_seed_gives_the_same_damage(tmp_path: Path) -> None:
    import random

    data = b'{"a": [1, 2, {"b": "c"}]}\n' * 3
    for name in ("x.json", "x.jsonl", "x.toml", "x.xml", "x.txt", "x.gz", "x.zip", "x.tar", "x.safetensors", "x.bin"):
        drawn = [mutate(data, name, random.Random(f"{name}{k}")) for k in range(40)]
        assert drawn == [mutate(data, name, random.Random(f"{name}{k}")) for k in range(40)]
        assert len(set(drawn)) > 20


# Parameters that name what a command writes, or that name no file at all.
OUTPUTS = {"output", "details", "plot", "items", "save", "tokens", "score_file", "example", "metrics"}
OUTPUTS |= {"study export --pairs", "study export --judgments", "study export --annotations"}
OUTPUTS |= {"study export --human-scores", "study export --metrics"}
NAMES = {"suites get name", "build templates more", "measure score sentences", "measure adapt lm"}
CACHES = {"measure score --cache", "measure evaluate --cache", "measure train --cache"}  # model.states
SPECS = {"system", "thesaurus", "dictionary", "cases", "draw_from", "annotate_source", "annotate_target", "dev"}
# Texts that name a model, or files of their own kind, where other targets read the same kind.
ELSEWHERE = {
    "build attack possessive --annotate-source": "conllu",
    "build attack possessive --annotate-target": "conllu",
    "build attack synonym --annotate-target": "conllu",
    "build attack synonym --wordnet": "thesaurus.wordnet",
    "attribute --system": "cli.score",
    "context-usage --system": "cli.score",
    "measure evaluate --system": "cli.score",
    "build mine --work": "mine.work",
    "translate --system": "folder.nmt",
}


def commands(group: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """All commands that are listed, by their names."""
    if not isinstance(group, click.Group):
        yield " ".join(path), group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, (*path, name))


def read_by(name: str, command: click.Command) -> set[str]:
    """The parameters of a command that name files which it reads."""
    actual = set()
    for parameter in command.params:
        shown = parameter.opts[-1] if isinstance(parameter, click.Option) else str(parameter.name)
        key = f"{name} {shown}"
        names_a_file = isinstance(parameter.type, click.Path) or parameter.name in SPECS
        positional = isinstance(parameter, click.Argument) and parameter.type is click.STRING
        if parameter.name in OUTPUTS or key in OUTPUTS | NAMES | CACHES:
            continue
        if names_a_file or positional:
            actual.add(key)
    return actual


def damaged_by(target: str, known: dict[int, str]) -> set[str]:
    """The parameters of a target's command whose files it damages."""
    words = ARGUMENTS[target].split()
    group: click.Command = app
    context = click.Context(app)
    while isinstance(group, click.Group):
        _, actual, words = group.resolve_command(context, words)
        assert actual is not None
        group, context = actual, click.Context(actual)
    values, _, _ = group.make_parser(context).parse_args(list(words))
    damaged = set()
    for parameter in group.params:
        files = re.findall(r"\{\}/([\w./-]+)|(\{\})", str(values.get(str(parameter.name), "")))
        shown = parameter.opts[-1] if isinstance(parameter, click.Option) else str(parameter.name)
        only = TARGETS[target].only
        if id(group.callback) not in known:  # an earlier command, which is not listed
            continue
        if any(TARGETS[target].damaged(file) or any(p.startswith(f"{file}/") for p in only) for file, _ in files):
            damaged.add(f"{known[id(group.callback)]} {shown}")
    return damaged


def test_every_input_file_of_a_command_is_damaged() -> None:
    listed = dict(commands(app))
    known = {id(command.callback): name for name, command in listed.items()}
    wanted = {key for name, command in listed.items() for key in read_by(name, command)}
    damaged = {key for target in ARGUMENTS for key in damaged_by(target, known)}
    missing = sorted(wanted - damaged - set(ELSEWHERE))
    assert not missing, f"no fuzz target damages: {', '.join(missing)}. Add a `command(…)` to tests/fuzz/inputs.py"
    assert set(ELSEWHERE.values()) <= set(TARGETS)


def test_a_run_that_was_cut_goes_on_from_its_record(tmp_path: Path) -> None:
    settings, job = {"seed": 1}, ("conllu", 0, 5)
    tally = Tally(Counter(accepted=3, other=2), 0.5, 30.0, 4, 1.5, {"Hang": "case 4"})
    Record(tmp_path / "r.jsonl", settings).add(job, tally)
    assert Record(tmp_path / "r.jsonl", settings).ended == {job: tally}
    again = fuzz({"conllu": 5}, 1, 1, record=Record(tmp_path / "r.jsonl", settings))
    assert again == {"conllu": tally}
    with pytest.raises(SystemExit, match="another run"):
        Record(tmp_path / "r.jsonl", {"seed": 2})
