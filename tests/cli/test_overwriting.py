"""A command does not replace the files that it reads, whatever the option is called."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

Refused = Callable[..., str]
INPUT = " is an input of this command. Choose another file to write"


def test_an_attack_does_not_replace_its_suite(refused: Refused, suite: Path) -> None:
    before = suite.read_bytes()
    assert refused("build", "attack", "phrase", suite, "--preset", "he_said", "-o", suite) == f"{suite}{INPUT}"
    assert suite.read_bytes() == before


def test_another_name_of_the_same_file_is_noticed(refused: Refused, suite: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(suite)
    assert refused("suites", "convert", suite, "-o", tmp_path / "link.jsonl").endswith(INPUT)
    assert refused("suites", "convert", suite, "-o", tmp_path / "." / suite.name).endswith(INPUT)


@pytest.mark.parametrize("option", ["-o", "--tokens"])
def test_texts_are_not_replaced_by_what_is_made_of_them(refused: Refused, tmp_path: Path, option: str) -> None:
    text, other = tmp_path / "a.en", tmp_path / "a.de"
    text.write_text("one two\n", encoding="utf-8")
    shutil.copy(text, other)
    options = {"-o": ["-o", text], "--tokens": ["-o", tmp_path / "links", "--tokens", tmp_path / "t", text]}[option]
    assert refused("align", text, other, *options) == f"{text}{INPUT}"
    assert text.read_text(encoding="utf-8") == "one two\n"


def test_a_report_replaces_an_earlier_report_and_nothing_else(refused: Refused, suite: Path, tmp_path: Path) -> None:
    before = suite.read_bytes()
    problem = f"{suite} exists and is no HTML page. Choose another file to write"
    assert refused("report", tmp_path / "run", "-o", suite) == problem
    assert suite.read_bytes() == before
    (tmp_path / "report.html").write_text("<!DOCTYPE html>\n", encoding="utf-8")
    assert "no such file" in refused("report", tmp_path / "run", "-o", tmp_path / "report.html")  # the run


def test_two_outputs_are_not_written_into_one_file(refused: Refused, tmp_path: Path) -> None:
    for name in ("a.en", "a.de"):
        (tmp_path / name).write_text("one two\n", encoding="utf-8")
    texts = (tmp_path / "a.en", tmp_path / "a.de")
    for tokens in (("links", "t"), ("t", "./t")):
        message = refused("align", *texts, "-o", "links", "--tokens", *tokens)
        assert message.endswith("is named twice. Choose a file of its own for each output")
    assert sorted(path.name for path in tmp_path.glob("*")) == ["a.de", "a.en"]


@pytest.mark.parametrize("option", ["-o", "--pairs"])
@pytest.mark.parametrize("name", ["study.json", "links.json"])
def test_a_study_is_not_replaced_by_its_export(refused: Refused, tmp_path: Path, option: str, name: str) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / name).write_text("{}", encoding="utf-8")
    assert refused("study", "export", study, option, study / name) == f"{study / name}{INPUT}"


def test_a_run_in_a_folder_is_not_replaced(refused: Refused, suite: Path, tmp_path: Path) -> None:
    run = tmp_path / "runs" / "run.jsonl"
    run.parent.mkdir()
    run.write_text("{}", encoding="utf-8")
    assert refused("generative", suite, "-t", "t.de", "--run", run.parent, "--details", run) == f"{run}{INPUT}"


def test_a_file_inside_a_specification_is_an_input(refused: Refused, suite: Path, tmp_path: Path) -> None:
    annotation = tmp_path / "de.conllu"
    annotation.write_text("", encoding="utf-8")
    options = ("--preset", "maria", "--annotate-source", f"conllu:{annotation}", "-o", annotation)
    assert refused("build", "attack", "possessive", suite, *options) == f"{annotation}{INPUT}"


@pytest.mark.parametrize(("command", "file"), [("meta discomt --example", "a.tsv"), ("apt --example", "source.en")])
def test_an_example_does_not_replace_a_file(refused: Refused, tmp_path: Path, command: str, file: str) -> None:
    (tmp_path / file).write_text("mine\n", encoding="utf-8")
    place = file if "discomt" in command else "."
    assert refused(*command.split(), place) == f"{file} already exists. Choose another place for the example"
    assert (tmp_path / file).read_text(encoding="utf-8") == "mine\n"
