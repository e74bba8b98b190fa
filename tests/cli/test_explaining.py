"""The commands that explain a result: context-usage, generative, robustness and diagnose."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from anaphora.api import import_scores
from anaphora.build.templates.suite import template_suite
from anaphora.cli import main
from anaphora.cli.app import app
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.evaluation.diagnosis_evidence import load_rules
from anaphora.runs import ScoredExample, describe, write_run
from anaphora.suites.suite import suite_of
from tests.tiny_models import demo_sentences, make_marian

# -------------------------------------------------------------------------------------------------------- context usage
# `anaphora context-usage` where texts are longer than the model takes.

needs_context_usage = pytest.mark.skipif(
    not all(map(find_spec, ("torch", "sentencepiece"))), reason="not installed: torch, sentencepiece"
)


@pytest.fixture
def usage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The command for two examples, one of them with a context that is too long for the model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model").mkdir()
    make_marian(tmp_path / "model", demo_sentences())
    header = {"anaphora": 1, "name": "long", "source_language": "en", "target_language": "de", "breakdowns": []}
    rows = [
        {
            "id": str(k),
            "source": ["I found the lamp. " * repeat, "It works."],
            "candidates": [["Ich fand die Lampe.", f"{pronoun} geht."] for pronoun in ("Sie", "Er")],
            "gold": 0,
        }
        for k, repeat in enumerate((1, 100))
    ]
    lines = "".join(json.dumps(row) + "\n" for row in (header, *rows))
    (tmp_path / "suite.jsonl").write_text(lines, encoding="utf-8")
    return ["context-usage", "suite.jsonl", "--system", "hf:model", "--context", "1", "--threads", "1", "-o"]


def run(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capfd.readouterr()
    with pytest.raises(SystemExit) as end:
        main(arguments)
    printed = capfd.readouterr()
    return int(end.value.code or 0), printed.out, printed.err


@needs_context_usage
def test_the_remedy_for_long_texts_is_an_option(usage: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    code, _, message = run([*usage, "whole"], capfd)
    assert (code, "--truncate" in message) == (2, True)
    code, _, message = run([*usage, "cut", "--truncate"], capfd)
    assert code == 0, message
    assert "up to 1 inputs per run exceeded" in message


@needs_context_usage
def test_truncated_texts_are_counted_in_json(usage: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    code, out, message = run([*usage, "cut", "--truncate", "--json"], capfd)
    assert code == 0, message
    assert json.loads(out)["truncated"] == 1


# ----------------------------------------------------------------------------------------------------------- generative
# `anaphora generative`, end to end.

needs_generative = pytest.mark.skipif(
    not all(map(find_spec, ("sacremoses", "thot"))), reason="not installed: sacremoses, thot"
)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    examples = list(demo_suite())[:90]
    suite_of(demo_suite().header, lambda: examples).write(tmp_path / "suite.jsonl")
    right = [e.candidates[e.gold or 0][-1] for e in examples]
    (tmp_path / "right.de").write_text("\n".join(right) + "\n", encoding="utf-8")
    (tmp_path / "same.de").write_text("Es war alt.\n" * len(examples), encoding="utf-8")
    return {name: str(tmp_path / name) for name in ("suite.jsonl", "right.de", "same.de", "details.tsv")}


def generative_run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["generative", *arguments, "--model", "fast_align"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_generative_refuses_a_run_of_another_suite_before_it_aligns(
    files: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = [replace(example, tags={**example.tags, "reference_pronoun": "x"}) for example in demo_suite()][:90]
    scored = [ScoredExample(e.id, e.gold, e.tags, [-1.0] * len(e.candidates)) for e in examples]
    other = suite_of(replace(demo_suite().header, name="other"), lambda: examples)
    write_run(tmp_path / "run", describe(other, sha256="0" * 64, system="x"), scored)
    monkeypatch.setattr("anaphora.align.align_systems", None)
    arguments = ["generative", files["suite.jsonl"], "-t", files["right.de"], "--run", str(tmp_path / "run")]
    code, _, message = run(arguments, capfd)
    assert code == 2
    assert "a run of another suite (other), in which example" in message
    assert message.rstrip().endswith("has other tags. Score the suite that was translated.")
    assert message.count("\n") == 1


@needs_generative
def test_generative_a_table_and_details(files: dict[str, str]) -> None:
    output = generative_run(files["suite.jsonl"], "-t", files["right.de"], "--details", files["details.tsv"])
    assert "not found" in output
    assert "the references themselves" in output
    rows = [line.split("\t") for line in Path(files["details.tsv"]).read_text(encoding="utf-8").splitlines()]
    assert rows[0][:3] == ["system", "id", "outcome"]
    assert len(rows) == 91
    assert {row[0] for row in rows[1:]} == {"right.de"}


@needs_generative
def test_generative_several_systems_as_json(files: dict[str, str]) -> None:
    document = json.loads(
        generative_run(files["suite.jsonl"], "-t", files["right.de"], "-t", files["same.de"], "--json")
    )
    right, same = (document["systems"][name] for name in ("right.de", "same.de"))
    assert right["accuracy"] > 0.9 > 0.5 > same["accuracy"]
    for figures in (right, same):
        assert figures["correct"] + figures["wrong"] + figures["not_found"] == figures["total"] == 90


@needs_generative
def test_the_result_does_not_depend_on_other_systems(files: dict[str, str]) -> None:
    alone = json.loads(generative_run(files["suite.jsonl"], "-t", files["right.de"], "--json"))
    both = json.loads(generative_run(files["suite.jsonl"], "-t", files["same.de"], "-t", files["right.de"], "--json"))
    assert alone["systems"]["right.de"] == both["systems"]["right.de"]
    assert alone["accuracy"] == alone["systems"]["right.de"]["accuracy"]


@needs_generative
@pytest.mark.parametrize("layout", [(), ("--documents",), ("--documents", "--context", "1")])
def test_translated_sources_are_judged_line_by_line(
    files: dict[str, str], tmp_path: Path, layout: tuple[str, ...]
) -> None:
    """The recipe of docs/evaluation.md: sources out, translations back, one per example in either layout."""
    sources = tmp_path / "sources.en"
    arguments = ["suites", "convert", files["suite.jsonl"], "--to", "sources", *layout, "-o", str(sources)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    translations = {
        source: target
        for example in list(demo_suite())[:90]
        for source, target in zip(example.source, example.candidates[example.gold or 0], strict=True)
    }
    lines, current = [], iter(Path(files["right.de"]).read_text(encoding="utf-8").splitlines())
    for line in sources.read_text(encoding="utf-8").splitlines():
        lines.append(next(current) if line in {example.source[-1] for example in demo_suite()} else translations[line])
    (tmp_path / "mine.de").write_text("\n".join(lines) + "\n", encoding="utf-8")
    document = json.loads(generative_run(files["suite.jsonl"], "-t", str(tmp_path / "mine.de"), "--json"))
    by_line = json.loads(generative_run(files["suite.jsonl"], "-t", files["right.de"], "--json"))
    assert (document["correct"], document["total"]) == (by_line["correct"], 90)


@pytest.fixture
def documents(files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A suite that names antecedents, and translations with their context: the references, and es everywhere."""
    monkeypatch.setattr("anaphora.languages.agreement.LEXICONS", {})  # the articles of the demo show the genders
    examples = [
        replace(e, tags={**e.tags, "source_antecedent": e.id.partition(".")[0]}) for e in list(demo_suite())[:90]
    ]
    suite_of(demo_suite().header, lambda: examples).write(tmp_path / "tagged.jsonl")
    right = ["\n".join(filter(None, e.candidates[e.gold or 0])) for e in examples]
    same = ["\n".join([*filter(None, e.candidates[0][:-1]), "Es war alt."]) for e in examples]
    (tmp_path / "right-documents.de").write_text("\n\n".join(right) + "\n", encoding="utf-8")
    (tmp_path / "same-documents.de").write_text("\n\n".join(same) + "\n", encoding="utf-8")
    return {name: str(tmp_path / name) for name in ("tagged.jsonl", "right-documents.de", "same-documents.de")}


@needs_generative
def test_agreement_with_the_own_antecedent_as_json(files: dict[str, str], documents: dict[str, str]) -> None:
    suite, right, same = documents.values()
    arguments = ("-t", right, "-t", same, "--antecedent", "own")
    systems = json.loads(generative_run(suite, *arguments, "--json"))["systems"]
    good, bad = systems["right-documents.de"], systems["same-documents.de"]
    for figures in (good, bad):
        keys = ("agrees", "disagrees", "not_found", "unclear")
        assert sum(figures[key] for key in keys) == figures["total"] == 90
        assert figures["decided"] >= 60
    assert good["agreement"] > 0.9 > 0.6 > bad["agreement"]
    plain = json.loads(generative_run(suite, "-t", right, "--json"))  # the figures by the reference are the usual ones
    assert good["reference"]["correct"] == plain["correct"]
    assert good["signature"] == plain["signature"].replace("|v:", "|ante:own|v:")


@needs_generative
def test_a_table_and_details_of_own_antecedents(files: dict[str, str], documents: dict[str, str]) -> None:
    suite, right, _ = documents.values()
    output = generative_run(suite, "-t", right, "--antecedent", "own", "--details", files["details.tsv"])
    assert "agreement with the own antecedent" in output
    assert "by the reference" in output
    rows = [line.split("\t") for line in Path(files["details.tsv"]).read_text(encoding="utf-8").splitlines()]
    assert rows[0][7:] == ["verdict", "reason", "antecedent", "noun", "classes", "pronoun"]
    assert {len(row) for row in rows} == {13}
    spoon = next(row for row in rows if row[1] == "spoon.0.0.1")
    assert spoon[7:] == ["agrees", "", "spoon", "löffel", "m.sg pl", "er"]


@needs_generative
def test_own_antecedents_need_context_and_tags(files: dict[str, str], documents: dict[str, str]) -> None:
    suite = documents["tagged.jsonl"]
    for arguments, message in (
        ((suite, "-t", files["right.de"]), "which are not translated. Translate documents"),
        ((files["suite.jsonl"], "-t", files["right.de"]), "no example has the tag 'source_antecedent'"),
    ):
        given = ["generative", *arguments, "--antecedent", "own", "--aligner", "builtin"]
        with pytest.raises(AnaphoraError, match=message):
            CliRunner().invoke(app, given, catch_exceptions=False, standalone_mode=False)


@needs_generative
def test_own_antecedents_need_no_reference(documents: dict[str, str], tmp_path: Path) -> None:
    suite, right, _ = documents.values()
    lines = Path(suite).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines[1:]]
    bare = [json.dumps(row | {"gold": None, "candidates": [row["source"]]}) for row in rows]
    Path(suite).write_text("\n".join([lines[0], *bare]) + "\n", encoding="utf-8")
    document = json.loads(generative_run(suite, "-t", right, "--antecedent", "own", "--json"))
    assert (document["total"], document["reference"], document["correct"]) == (90, None, None)
    assert document["decided"] >= 60
    assert document["agreement"] > 0.9
    assert "|tok:moses|" in document["signature"], "as the text is divided, though no reference is"


# ----------------------------------------------------------------------------------------------------------- robustness
# `anaphora robustness` and `compare`: a suite, an attack on it, and what the attack costs, from end to end.

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture
def runs(anaphora: Run, make_run: Callable[..., Path], suite: Path, scores: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The six examples, of which a, b and e are right; attacked, only b and c are."""
    attacked = tmp_path / "attacked.jsonl"
    anaphora("build", "attack", "phrase", suite, "--preset", "true_colon", "-o", attacked)
    after = tmp_path / "after.scores"
    after.write_text("".join(f"{n}\n" for n in (-2, -1, -3, -1, -2, -1, -2, -1, -1, -5, -1, -5, -1)), encoding="utf-8")
    return make_run(suite, scores, "before"), make_run(attacked, after, "after")


def test_robustness_what_an_attack_costs(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("robustness", *runs)
    assert (document["suite"], document["before"]["correct"], document["test"]) == ("small", 3, "mcnemar")
    (attack,) = document["attacks"]
    assert attack["attack"] == "phrase-addition/true_colon"
    assert [attack["total"], attack["before"], attack["after"], attack["delta"]] == pytest.approx(
        [6, 3 / 6, 2 / 6, -1 / 6]
    )
    assert (attack["lost"], attack["gained"]) == (["a", "e"], ["c"])
    assert attack["p_value"] == 1.0  # one coin of three


def test_robustness_compare_shows_the_same(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("compare", *runs)
    (pair,) = document["pairs"]
    assert [pair["total"], pair["first"], pair["second"]] == pytest.approx([6, 3 / 6, 2 / 6])
    assert pair["lost"] == ["a", "e"]
    assert "|vs:small-phrase-addition-true_colon@" in document["signature"]


def test_robustness_table_and_chart(anaphora: Run, runs: tuple[Path, Path], tmp_path: Path) -> None:
    done = anaphora("robustness", *runs, "--by", "pronoun", "--figure", tmp_path / "drop.svg")
    lines = done.stdout.splitlines()
    assert lines[2].split() == ["not", "attacked", "6", "0.500"]
    assert lines[4].split()[:7] == ["true_colon", "it", "is", "true:", "C", "6", "0.500"]
    assert lines[5].split()[:3] == ["pronoun:", "er", "2"]
    assert done.stderr == f"chart: {tmp_path / 'drop.svg'}\n"
    assert (tmp_path / "drop.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "| --: |" in anaphora("robustness", *runs, "--format", "markdown").stdout
    assert "\\toprule" in anaphora("robustness", *runs, "--format", "latex").stdout


def test_robustness_settings_are_passed_on(as_json: AsJson, runs: tuple[Path, Path]) -> None:
    document = as_json("robustness", *runs, "--resample", "document", "--by", "pronoun", "--samples", "500")
    assert document["test"] == "randomization"
    assert "|by:document|n:500|" in document["signature"]
    assert set(document["attacks"][0]["breakdowns"]) == {"pronoun"}


def test_robustness_bad_input(refused: Refused, runs: tuple[Path, Path]) -> None:
    assert "does not name its original" in refused("robustness", runs[0], runs[0])
    assert "no such file" in refused("robustness", runs[0], "nowhere")
    assert "ATTACKED_RUN" in refused("robustness", runs[0])
    assert "McNemar" in refused("robustness", *runs, "--resample", "document", "--test", "mcnemar")
    assert "no example has the tag 'pronon'" in refused("robustness", *runs, "--by", "pronon")


# ------------------------------------------------------------------------------------------------------------- diagnose
# `anaphora diagnose`: templates, scored by a system that always says es, and what is said of it, from end to end.


@pytest.fixture(scope="module")
def always_es(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a system that says es whatever comes."""
    folder = tmp_path_factory.mktemp("always-es")
    suite = template_suite(only=("markable", "event", "prior/verb")).suite
    genders = [gender for example in suite for gender in example.tags["candidate_genders"]]  # type: ignore[union-attr]
    scores = folder / "es.scores"
    scores.write_text("".join("-1\n" if gender == "n" else "-2\n" for gender in genders), encoding="utf-8")
    return import_scores(suite, scores, folder / "run").path


def test_diagnose_words_and_table(anaphora: Run, always_es: Path, tmp_path: Path) -> None:
    done = anaphora("diagnose", always_es, "--system", "mine", "--items", tmp_path / "items")
    lines = done.stdout.splitlines()
    assert lines[0] == "mine · en→de"
    assert lines[1].startswith("✗ The first step to fail is markable detection: animal or person 0.4")
    assert "→ what to try: anaphora build augment" in done.stdout
    assert "which step fails, and why" in lines
    row = next(line for line in lines if line.startswith("  gender with only a verb given"))
    assert row.split()[-5:] == ["1.000", "[0.994,", "1.000]", "prefers", "neuter"]
    assert done.stderr == f"the items behind 6 statements: {tmp_path / 'items'}\n"
    fallback = (tmp_path / "items" / "fallback.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(fallback[0])["id"].startswith("markable/")


def test_diagnose_json(as_json: AsJson, always_es: Path) -> None:
    (document,) = as_json("diagnose", always_es, "--max-items", "2")["systems"]
    verdicts = {statement["rule"]: statement["verdict"] for statement in document["statements"]}
    assert verdicts == {
        "first-failure": "fails",
        "by-default": "default",
        "markable": "fails",
        "event": "known",
        "fallback": "prefers",
        "prior/verb": "prefers",
    }
    assert {len(statement["items"]) for statement in document["statements"]} == {2}
    (prior,) = [check for check in document["checks"] if check["rule"] == "prior/verb"]
    assert (prior["total"], prior["figure"], prior["what"]) == (600, 1.0, ["neuter"])
    assert document["thresholds"]["minimum"] == load_rules().thresholds.minimum
    assert document["signature"].startswith("dia|s:contracat-en-de@")


def test_lower_is_better_and_confidence(as_json: AsJson, always_es: Path) -> None:
    (document,) = as_json("diagnose", always_es, "--minimize", "--confidence", "0.99")["systems"]
    assert "event" not in {statement["rule"] for statement in document["statements"] if statement["verdict"] == "known"}
    assert "99" in document["signature"]


def test_diagnose_formats(anaphora: Run, always_es: Path) -> None:
    assert anaphora("diagnose", always_es, "--format", "markdown").stdout.startswith("**scores:")
    tsv = anaphora("diagnose", always_es, "--format", "tsv").stdout.splitlines()
    assert tsv[0] == "section\t\tn\tfigure\t95 % interval\tverdict"
    assert tsv[1].startswith("markable detection\tanimal or person\t2,560\t")
    assert "\\toprule" in anaphora("diagnose", always_es, "--format", "latex").stdout


def test_diagnose_bad_input(refused: Refused, always_es: Path) -> None:
    assert "no such file" in refused("diagnose", "nowhere")
    assert "RUN…" in refused("diagnose")
    assert "a second run of contracat-en-de" in refused("diagnose", always_es, always_es)


def test_diagnose_released_templates(
    anaphora: Run, data: Callable[[str], Path], as_json: AsJson, tmp_path: Path
) -> None:
    """The release, by a system that always says es: right where genders.txt says n, on no other item."""
    folder = data("contracat") / "templates"
    suite, scores = tmp_path / "release.jsonl", tmp_path / "es.scores"
    anaphora("suites", "convert", folder, "--from", "contracat", "-o", suite)
    examples = [json.loads(line) for line in suite.read_text(encoding="utf-8").splitlines()[1:]]
    scores.write_text("-2\n-2\n-1\n" * len(examples), encoding="utf-8")
    anaphora("score", suite, "--system", f"scores:{scores}", "-o", tmp_path / "run")
    (document,) = as_json("diagnose", tmp_path / "run")["systems"]
    figures = {check["name"]: check for check in document["checks"]}
    for name, template in (("animal or person", "markable"), ("world knowledge", "world-knowledge")):
        golds = [e["gold"] for e in examples if e["tags"]["template"] == template]
        assert figures[name]["total"] == len(golds)
        assert figures[name]["figure"] == pytest.approx(golds.count(2) / len(golds))
    competing = ("markable", "overlap", "world-knowledge")
    wrong = [e for e in examples if e["tags"]["template"].split("/")[0] in competing and e["gold"] != 2]
    (fallback,) = [statement for statement in document["statements"] if statement["rule"] == "fallback"]
    assert (fallback["verdict"], fallback["item_count"]) == ("prefers", len(wrong))
