"""No input ends in a traceback: what the fuzzer has found is tried again, and some new damage to every valid input."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.mutate import mutate
from tests.fuzz.run import ACCEPTED, CORPUS, OTHER, Ground, Outcome, attempt
from tests.fuzz.targets import TARGETS, Target

CASES = 50
FEWER = {  # targets of which a case takes long
    **dict.fromkeys(("cli.attack-synonym", "cli.measure-score", "cli.templates"), 15),
    **dict.fromkeys(("cli.mine-evaluate", "cli.mine-evaluate-gold"), 15),
}
SEED = 16  # of the damage in this test; `make fuzz` draws more


@pytest.mark.parametrize("name", TARGETS)
def test_an_input_is_read_or_refused(name: str, tmp_path: Path) -> None:
    ground = Ground(TARGETS[name], tmp_path / "case")
    assert ground.run({}).kind == ACCEPTED, "the valid input must be accepted"
    for finding in sorted((CORPUS / name).glob("*")):
        files = {str(path.relative_to(finding)): path.read_bytes() for path in finding.rglob("*") if path.is_file()}
        outcome = ground.run(files)
        assert outcome.kind != OTHER, f"{finding}: {outcome.what}\n{outcome.trace}"
    for number in range(FEWER.get(name, CASES)):
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
