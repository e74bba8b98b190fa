"""`anaphora build mine` as a user calls it: with real pipelines, with files that do not fit, stopped and run again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.cli import main
from anaphora.suites.readers import contrapro
from anaphora.suites.suite import read_native

from .conftest import instead

ENGLISH = [
    ["Where is the cup?", "It is in the kitchen.", "I bought it in Rome."],
    ["The car is old.", "It does not start any more.", "We sold it yesterday."],
    ["I like this book.", "It is very good."],
]
GERMAN = [
    ["Wo ist die Tasse?", "Sie ist in der Küche.", "Ich habe sie in Rom gekauft."],
    ["Der Wagen ist alt.", "Er springt nicht mehr an.", "Wir haben ihn gestern verkauft."],
    ["Ich mag dieses Buch.", "Es ist sehr gut."],
]
ALIGNED = [
    ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2 3-3 4-4 1-5"],
    ["0-0 1-1 2-2 3-3", "0-0 3-1 2-2 4-3 5-3", "0-0 1-1 2-2 3-3 1-4"],
    ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3"],
]
Run = Callable[..., Any]


@pytest.fixture
def anaphora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The program in this process, which loads a pipeline once for all tests."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, check: int = 0) -> Any:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        printed = capfd.readouterr()
        assert end.value.code == check, f"exit {end.value.code}\n{printed.out}\n{printed.err}"
        return SimpleNamespace(stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    for name, documents in (("x.en", ENGLISH), ("x.de", GERMAN), ("x.align", ALIGNED)):
        text = "\n\n".join("\n".join(lines) for lines in documents)
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    return ["build", "mine", "--source", "x.en", "--target", "x.de", "-l", "en-de", "--workers", "1"]


@pytest.fixture
def specs(pipeline: Callable[[str], str]) -> list[str]:
    return ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de")]


def test_from_lines_to_a_suite(anaphora: Run, files: list[Any], specs: list[str], tmp_path: Path) -> None:
    options = ["--alignments", "x.align", "--option", "distance=5", "--confidence", "0.1", "--context", "1"]
    done = anaphora(*files, *specs, *options, "--to", "both", "-o", "mined.jsonl", "--json")
    found = json.loads(done.stdout)
    suite = read_native(tmp_path / "mined.jsonl")
    items = list(suite)
    assert items
    assert found["examples"] == len(items) == sum(found["classes"].values())
    assert (found["documents"], found["pairs"], found["candidates"]["pronouns"]) == (3, 8, 5)
    assert suite.header.languages == "en-de"
    for item in items:
        document, sentence = int(str(item.tags["document"])), int(str(item.tags["sentence"]))
        before = slice(max(0, sentence - 2), sentence)
        assert item.source == tuple(ENGLISH[document - 1][before])
        assert item.candidates[0] == tuple(GERMAN[document - 1][before])
        assert len({candidate[-1] for candidate in item.candidates}) == len(item.candidates) >= 2
        assert item.tags["source_pronoun"] == "it"
        assert {"reference_pronoun", "source_antecedent", "target_antecedent", "distance", "location"} <= set(item.tags)
    again = list(contrapro.read(tmp_path / "mined.contrapro.json"))
    assert [(e.source[-1], [c[-1] for c in e.candidates]) for e in again] == [
        (e.source[-1], [c[-1] for c in e.candidates]) for e in items
    ]
    assert (tmp_path / "mined.jsonl.work" / "pronouns.tsv").read_text(encoding="utf-8").startswith("pronoun\tword\t")


def test_tables_on_stdout_and_notes_on_stderr(anaphora: Run, files: list[Any], specs: list[str]) -> None:
    options = ["--alignments", "x.align", "--confidence", "0.1"]
    done = anaphora(*files, *specs, *options, "-o", "mined.jsonl")
    assert done.stdout.startswith("8 sentence pairs in 3 documents\ncandidates")
    assert "Translations of it in the corpus" in done.stdout
    assert "Examples by distance" in done.stdout
    assert "annotate-source: " in done.stderr
    again = anaphora(*files, *specs, *options, "-o", "mined.jsonl")
    assert again.stdout == done.stdout
    assert "extract: nothing to do, 1 of 1 shards reused" in again.stderr
    anew = anaphora(*files, *specs, *options, "--no-resume", "-o", "mined.jsonl")
    assert "shards reused" not in anew.stderr


def test_an_aligner_is_trained_on_the_corpus(anaphora: Run, files: list[Any], specs: list[str]) -> None:
    found = json.loads(anaphora(*files, *specs, "--align-train", "6", "-o", "mined.jsonl", "--json").stdout)
    assert found["settings"]["align-model"]["model"] == "fast_align"
    assert found["settings"]["align-sample"]["most_pairs"] == 6
    assert found["pronoun_table"]["it"]["links"] > 0


WRONG = [
    ("x.de", b"A\n", [], "x.de: 1 lines, but x.en has 10"),
    ("x.de", b"A\nB\nC\n<d>\n" + b"D\n" * 7, [], "x.de: line 4: a document boundary <d>, but not in x.en"),
    ("y", b"\n\n", ["--source", "y", "--target", "y"], "y: no sentences"),
    ("x.en", b"a\nb\nc\n\nd\ncaf\xe9\n", [], "x.en: line 6: not UTF-8 at byte 4 of the line (0xe9)"),
    ("x.align", b"0-0\n0-9\n", ["--alignments", "x.align"], "x.align: line 2: point 0-9 is outside"),
    ("x.align", b"0-0\n", ["--alignments", "x.align"], "x.align: 1 lines, but x.en has 10"),
    ("x.align", b"0:0\n", ["--alignments", "x.align"], "x.align: line 1: not an alignment point: '0:0'"),
    ("y", b"", ["--source", "nowhere"], "nowhere: no such file"),
    ("y", b"", ["--clean", "subtitles", "--alignments", "x.align"], "--clean changes words"),
    ("y", b"", ["--per-class", "some"], "--per-class some: write a number, all, or even"),
    ("y", b"", ["--phenomenon", "pronuns"], "unknown phenomenon 'pronuns' (did you mean pronouns?)"),
    ("y", b"", ["--option", "colour=red"], "phenomenon 'pronouns': got an unexpected keyword argument 'colour'"),
    ("y", b"", ["--option", "x"], "--option x: expected KEY=VALUE"),
    ("y", b"", ["--align-backend", "thor"], "unknown alignment backend 'thor'"),
    ("y", b"", ["-l", "en"], "-l en: expected SOURCE-TARGET"),
]


@pytest.mark.parametrize(("name", "content", "options", "problem"), WRONG)
def test_what_does_not_fit(
    anaphora: Run, files: list[Any], tmp_path: Path, name: str, content: bytes, options: list[str], problem: str
) -> None:
    for code in ("en", "de"):
        (tmp_path / f"{code}.conllu").write_text("", encoding="utf-8")
    (tmp_path / name).write_bytes(content)
    specs = ["--annotate-source", "conllu:en.conllu", "--annotate-target", "conllu:de.conllu"]
    done = anaphora(*instead(files, *options), *specs, "-o", "mined.jsonl", check=2)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(f"error: {problem}")
    assert not (tmp_path / "mined.jsonl").exists()


def test_missing_pipelines_say_how_to_get_them(anaphora: Run, files: list[Any]) -> None:
    pytest.importorskip("spacy")
    done = anaphora(*files, "--annotate-source", "spacy:en_core_web_xy", "-o", "m.jsonl", check=2)
    assert "python -m spacy download" in done.stderr
    done = anaphora(*files[:6], "-l", "xx-de", "-o", "m.jsonl", check=2)
    assert "Install one: python -m spacy download xx_core_news_sm" in done.stderr
    assert "--annotate-source spacy:PIPELINE_OR_FOLDER, stanza:xx or conllu:FILE" in done.stderr


def test_what_is_finished_stays_when_a_later_stage_fails(
    anaphora: Run, files: list[Any], specs: list[str], tmp_path: Path
) -> None:
    (tmp_path / "de.conllu").write_text("1\tNein\tnein\tX\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    wrong = [*specs[:2], "--annotate-target", "conllu:de.conllu", "--alignments", "x.align"]
    done = anaphora(*files, *wrong, "-o", "mined.jsonl", check=2)
    assert "de.conllu: line 1: not sentence 1 of document 1 of the corpus" in done.stderr
    found = json.loads(anaphora(*files, *specs, "--alignments", "x.align", "-o", "mined.jsonl", "--json").stdout)
    assert {stage["name"]: stage["reused"] for stage in found["stages"]} == {
        "read": 1,
        "annotate-source": 1,
        "annotate-target": 0,
        "align": 0,
        "extract": 0,
    }
