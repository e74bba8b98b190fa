"""Reference-based metrics: alignments, pronoun lists, details and JSON go from one command to the next."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.suite import read_native

Run = Callable[..., str]
Json = Callable[[str], Any]

EXAMPLE = "-s ex/source.en -r ex/reference.fr -l en-fr --tokenize none"
GIVEN = "--ref-align ex/reference.align --hyp-align ex/document-level.align --hyp-align ex/sentence-level.align"
SYSTEMS = "-t ex/document-level.fr -t ex/sentence-level.fr --name document --name sentence"


@pytest.fixture
def example(run: Run) -> None:
    """The made-up texts of `apt --example`: tokenized, with alignments."""
    run("apt --example ex")


@pytest.mark.usefixtures("example")
def test_apt_and_autoprf_read_what_align_writes(run: Run, run_json: Json) -> None:
    run("align ex/source.en ex/reference.fr -o ref.align --backend builtin --tokenize none")
    run("align ex/source.en ex/document-level.fr -o hyp.align --backend builtin --tokenize none")
    given = "-t ex/document-level.fr --ref-align ref.align --hyp-align hyp.align"
    (apt,) = run_json(f"apt {EXAMPLE} {given}")["systems"].values()
    assert sum(apt["cases"]) > 0
    (autoprf,) = run_json(f"autoprf -s ex/source.en -r ex/reference.fr {given} --pronouns it,they")["systems"].values()
    assert 0 < autoprf["f"] <= 1


@pytest.mark.usefixtures("example")
def test_learned_equivalences_are_pronoun_lists_of_apt(run: Run, run_json: Json) -> None:
    run("apt-equivalences ex/judged.tsv -l en-fr --least-share 0 --above 0.4 -o learned.toml")
    command = f"apt {EXAMPLE} {SYSTEMS} {GIVEN} --lists learned.toml"
    with_lists, plain = run_json(command), run_json(f"apt {EXAMPLE} {SYSTEMS} {GIVEN}")
    assert [sum(s["cases"]) for s in with_lists["systems"].values()] == [
        sum(s["cases"]) for s in plain["systems"].values()
    ]
    assert with_lists["systems"]["document"]["signature"] != plain["systems"]["document"]["signature"]


@pytest.mark.usefixtures("example")
def test_apt_json_goes_into_the_report_and_the_sweep(run: Run, run_json: Json, tmp_path: Path) -> None:
    (tmp_path / "apt.json").write_text(run(f"apt {EXAMPLE} {SYSTEMS} {GIVEN} --json"), encoding="utf-8")
    run("demo --stand-ins -o demo")
    run("report demo/runs/context-aware --suite demo/suite.jsonl --result apt.json -o page.html")
    assert "APT" in (tmp_path / "page.html").read_text(encoding="utf-8")
    run("correlate --example made-up")
    for kind in ("basic", "rescued"):
        assert json.loads((tmp_path / "made-up" / f"{kind}.json").read_text(encoding="utf-8"))
    (tmp_path / "scores.tsv").write_text("system\thuman\ndocument\t0.7\nsentence\t0.5\n", encoding="utf-8")
    run("correlate-sweep scores.tsv --cases apt.json", check=2)  # two systems are too few, and that is said
    (tmp_path / "ex" / "reference.copy.fr").write_bytes((tmp_path / "ex" / "reference.fr").read_bytes())
    third = f"{SYSTEMS} -t ex/reference.copy.fr --name copy {GIVEN} --hyp-align ex/reference.align"
    (tmp_path / "apt3.json").write_text(run(f"apt {EXAMPLE} {third} --json"), encoding="utf-8")
    with (tmp_path / "scores.tsv").open("a", encoding="utf-8") as file:
        file.write("copy\t0.9\n")
    swept = run_json("correlate-sweep scores.tsv --cases apt3.json --interval fisher --weights 0.5,0")
    assert "apt3" in json.dumps(swept)


@pytest.mark.usefixtures("example")
def test_apt_details_become_gaps_of_a_study(run: Run, run_json: Json, tmp_path: Path) -> None:
    run(f"apt {EXAMPLE} {SYSTEMS} {GIVEN} --details details.tsv")
    texts = "-s ex/source.en -t ex/document-level.fr -t ex/sentence-level.fr --name document --name sentence"
    created = run_json(f"study create details.tsv -o study --mode gaps {texts} -l en-fr --annotators anna,ben")
    rows = (tmp_path / "details.tsv").read_text(encoding="utf-8").splitlines()[1:]
    assert 0 < created["items"] <= len(rows)


@pytest.mark.usefixtures("example")
def test_saved_aligner_serves_generative(run: Run, run_json: Json, tmp_path: Path) -> None:
    run("demo --stand-ins -o demo")
    run("suites convert demo/suite.jsonl --to text -o lines")
    sources = next((tmp_path / "lines").glob("*.text.en"))
    targets = next((tmp_path / "lines").glob("*.text.de"))
    run(f"align {sources} {targets} -o x.align --backend builtin --tokenize moses -l en-de --save kept")
    gold = [example.candidates[example.gold or 0][-1] for example in read_native(tmp_path / "demo" / "suite.jsonl")]
    (tmp_path / "gold.de").write_text("\n".join(gold) + "\n", encoding="utf-8")
    (judged,) = run_json("generative demo/suite.jsonl -t gold.de --align kept")["systems"].values()
    assert judged["correct"] > judged["wrong"] + judged["not_found"]  # these are the right translations
