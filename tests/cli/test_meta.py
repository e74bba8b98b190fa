"""`anaphora meta`: metrics against human judgments."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scipy import stats

from anaphora.cli.app import app
from anaphora.languages.pronouns import pronoun_lists

# ----------------------------------------------------------------------------------------------------------------- meta
# `anaphora meta`: the commands under their names, and under those of 0.1.0.

NAMES = {
    "augment": ("build", "augment"),
    "apt-equivalences": ("meta", "equivalences"),
    "apt-judgements": ("meta", "cases"),
    "correlate": ("meta", "correlate"),
    "correlate-sweep": ("meta", "sweep"),
    "discomt": ("meta", "discomt"),
}


@pytest.mark.parametrize("old", NAMES)
def test_earlier_names_call_the_same_command(old: str) -> None:
    run = CliRunner()
    earlier, now = run.invoke(app, [old, "--help"]), run.invoke(app, [*NAMES[old], "--help"])
    assert earlier.exit_code == now.exit_code == 0
    assert earlier.output.partition("\n")[2] == now.output.partition("\n")[2]  # but for the usage line


def test_earlier_names_are_not_listed() -> None:
    listed = CliRunner().invoke(app, ["--help"]).output
    assert not [old for old in NAMES if f"\n  {old} " in listed]


def test_every_command_is_in_one_section() -> None:
    names = [name for section in app.sections.values() for name in section]  # type: ignore[attr-defined]
    assert sorted(names) == sorted(app.lazy)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------------------------------------ correlate
# `anaphora correlate`: from a table of scores to correlations, with and without outliers, and to a picture.

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]
HUMAN = (0.68, 0.66, 0.62, 0.64, 0.58, 0.42, 0.08)
APT = (0.61, 0.6, 0.55, 0.57, 0.5, 0.35, 0.1)
BLEU = (37.2, 36.4, 36.9, 32.6, 36.7, 20.9, 4.1)


@pytest.fixture
def correlate_scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.tsv"
    rows = zip(("a", "b", "c", "d", "e", "f", "far off"), HUMAN, APT, BLEU, strict=True)
    lines = ["system\thuman\tapt\tbleu", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_the_document_of_the_contract(as_json: AsJson, correlate_scores: Path) -> None:
    document = as_json("correlate", correlate_scores)
    assert document["systems"] == ["a", "b", "c", "d", "e", "f", "far off"]
    assert document["human"] == "human"
    assert list(document["metrics"]) == ["apt", "bleu"]
    for name, values in (("apt", APT), ("bleu", BLEU)):
        for coefficient, test in (
            ("pearson", stats.pearsonr),
            ("spearman", stats.spearmanr),
            ("kendall", stats.kendalltau),
        ):
            figure = document["metrics"][name][coefficient]
            assert figure["value"] == pytest.approx(test(HUMAN, values).statistic)
            low, high = figure["interval"]
            assert -1 <= low <= high <= 1
    assert document["without"] is None
    assert "far off" in document["outliers"]
    (test,) = document["williams"]
    assert (test["first"], test["second"]) == ("apt", "bleu")
    assert test["t"] > 0
    assert 0 < test["p_value"] < 1


def test_correlate_with_and_without_outliers(as_json: AsJson, correlate_scores: Path) -> None:
    document = as_json("correlate", correlate_scores, "--without", "far off", "--without", "f", "--samples", "200")
    assert document["without"]["removed"] == ["f", "far off"]
    assert document["without"]["systems"] == ["a", "b", "c", "d", "e"]
    message = document["without"]["metrics"]["bleu"]["pearson"]["value"]
    assert message == pytest.approx(stats.pearsonr(HUMAN[:5], BLEU[:5]).statistic)
    automatic = as_json("correlate", correlate_scores, "--without", "auto", "--samples", "200")
    assert automatic["without"]["removed"] == automatic["outliers"] == ["f", "far off"]
    assert automatic["without"] == document["without"]


def test_correlate_columns_and_settings(as_json: AsJson, correlate_scores: Path) -> None:
    packed = correlate_scores.with_suffix(".tsv.gz")
    packed.write_bytes(gzip.compress(correlate_scores.read_bytes()))
    options = (
        "--human",
        "apt",
        "--metric",
        "bleu",
        "--minimize",
        "bleu",
        "--interval",
        "fisher",
        "--confidence",
        "0.8",
    )
    document = as_json("correlate", packed, *options)
    assert list(document["metrics"]) == ["bleu"]
    assert document["minimized"] == ["bleu"]
    assert document["williams"] == []
    expected = stats.pearsonr(APT, [-value for value in BLEU])
    pearson = document["metrics"]["bleu"]["pearson"]
    assert pearson["value"] == pytest.approx(expected.statistic)
    assert pearson["interval"] == pytest.approx(list(expected.confidence_interval(0.8)))
    assert document["signature"].startswith("cor|n:7|human:apt|lower:bleu|ci:fisher|conf:0.8|v:")


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "tsv"])
def test_correlate_tables(anaphora: Run, correlate_scores: Path, format: str) -> None:
    done = anaphora("correlate", correlate_scores, "--without", "auto", "--samples", "200", "--format", format)
    assert f"{stats.pearsonr(HUMAN, BLEU).statistic:.3f}" in done.stdout
    assert f"{stats.pearsonr(HUMAN[:5], APT[:5]).statistic:.3f}" in done.stdout
    assert "without f, far off" in done.stdout
    assert done.stderr == ""


def test_correlate_writes_a_chart(anaphora: Run, as_json: AsJson, correlate_scores: Path, tmp_path: Path) -> None:
    done = anaphora("correlate", correlate_scores, "--plot", "figures/one.svg")
    assert done.stderr == "chart: figures/one.svg\n"
    text = (tmp_path / "figures" / "one.svg").read_text(encoding="utf-8")
    assert f"r = {stats.pearsonr(HUMAN, APT).statistic:.3f}, ρ = 1.000" in text
    assert as_json("correlate", correlate_scores, "--plot", "two.svg")["metrics"]
    assert (tmp_path / "two.svg").is_file()


def test_example_files_for_every_command(anaphora: Run, as_json: AsJson, tmp_path: Path) -> None:
    done = anaphora("correlate", "--example", "example")
    assert done.stdout == ""
    assert "example/scores.tsv" in done.stderr
    assert as_json("correlate", "--example", "example")["files"][0] == "example/scores.tsv"
    assert as_json("correlate", "example/scores.tsv", "--samples", "200")["outliers"] == ["broken"]
    cases = ("--cases", "basic=example/basic.json", "--cases", "example/rescued.json")
    assert as_json("correlate-sweep", "example/scores.tsv", *cases, "--samples", "200")["settings"]
    assert as_json("apt-judgements", "example/details.tsv", "example/judgments.tsv")["total"]["total"] == 7 * 210


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "SCORES.tsv"),
        (["nowhere.tsv"], "nowhere.tsv: no such file"),
        (["scores.tsv", "--human", "humans"], "did you mean human?"),
        (["scores.tsv", "--metric", "blue"], "did you mean bleu?"),
        (["scores.tsv", "--without", "g"], "no system 'g' to leave out"),
        (
            ["scores.tsv", "--without", "a", "--without", "b", "--without", "c", "--without", "d", "--without", "e"],
            "3 are",
        ),
        (["scores.tsv", "--interval", "wilson"], "fisher"),
        (["scores.tsv", "--confidence", "nan"], "--confidence"),
        (["scores.tsv", "--samples", "0"], "--samples"),
        (["scores.tsv", "--plot", "x.pdf"], "x.pdf: the name of a chart must end in .svg or .png"),
        (["bad.tsv"], "bad.tsv: line 3: not a number: 'n/a' in the column 'human'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_correlate_what_is_refused(
    refused: Refused, correlate_scores: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "bad.tsv").write_text("system\thuman\tapt\na\t1\t1\nb\tn/a\t2\nc\t1\t1\n")
    assert message in refused("correlate", *arguments)


# ------------------------------------------------------------------------------------------------------ correlate sweep
# `anaphora correlate-sweep`: Table 4 and Figure 2 of the paper from case counts and human scores.

SWEEP_HUMAN = {"a": 0.2, "b": 0.5, "c": 0.4, "d": 0.9}
BASIC = {"a": [10, 10, 10, 10, 5, 5], "b": [20, 0, 10, 10, 5, 5], "c": [15, 20, 5, 5, 0, 5], "d": [40, 2, 3, 0, 0, 5]}
RESCUED = {name: [n[0] + n[4], n[1], n[2], n[3], 0, n[5]] for name, n in BASIC.items()}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, ...]:
    (tmp_path / "human.tsv").write_text("system\thuman\n" + "".join(f"{k}\t{v}\n" for k, v in SWEEP_HUMAN.items()))
    for name, cases in (("basic", BASIC), ("rescued", RESCUED)):
        systems = {system: {"apt": 0.5, "cases": numbers, "discarded": []} for system, numbers in cases.items()}
        (tmp_path / f"{name}.json").write_text(json.dumps({"systems": systems}))
    return "human.tsv", "--cases", "basic.json", "--cases", "with heuristics=rescued.json", "--samples", "200"


def test_sweep_table_4(as_json: AsJson, files: tuple[str, ...]) -> None:
    document = as_json("correlate-sweep", *files)
    assert list(document["cases"]) == ["basic", "with heuristics"]
    weights = [(0, 0), (1, 0), (0.5, 0), (1, 1), (0.5, 0.5)]
    rows = document["settings"]
    assert [(row["alignment"], row["w2"], row["w6"]) for row in rows] == [
        (alignment, *pair) for alignment in ("basic", "with heuristics") for pair in weights
    ]
    for row, cases in zip(rows, [BASIC] * 5 + [RESCUED] * 5, strict=True):
        scores = [(n[0] + row["w2"] * n[1] + row["w6"] * n[5]) / 50 for n in cases.values()]
        assert row["pearson"]["value"] == pytest.approx(stats.pearsonr(list(SWEEP_HUMAN.values()), scores).statistic)
        assert row["kendall"]["value"] == pytest.approx(stats.kendalltau(list(SWEEP_HUMAN.values()), scores).statistic)


def test_every_weight_and_discarded_cases(as_json: AsJson, files: tuple[str, ...]) -> None:
    document = as_json("correlate-sweep", *files, "--weights", "all", "--discard", "none", "--discard", "5,6")
    assert len(document["settings"]) == 2 * (9 + 3)
    one = as_json("correlate-sweep", *files, "--weights", "0.25,0.75", "--discard", "4", "--without", "d")
    assert [(row["w2"], row["w6"], row["discarded"]) for row in one["settings"]] == [(0.25, 0.75, [4])] * 2
    assert one["removed"] == ["d"]
    assert one["settings"][0]["without"]["pearson"]["value"] is not None


def test_sweep_prints_a_table_and_writes_a_chart(anaphora: Run, files: tuple[str, ...], tmp_path: Path) -> None:
    done = anaphora("correlate-sweep", *files, "--plot", "cases.svg")
    assert "alignment with heuristics\n  w2 = 0, w6 = 0 " in done.stdout
    assert done.stderr == "chart: cases.svg\n"
    picture = (tmp_path / "cases.svg").read_text(encoding="utf-8")
    assert "basic: 42.5 %, 16.0 %, 14.0 %, 12.5 %, 5.0 %, 10.0 %; with heuristics: 47.5 %" in picture


def test_a_file_for_each_system(as_json: AsJson, files: tuple[str, ...], tmp_path: Path) -> None:
    options = []
    for name, numbers in BASIC.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"apt": 0.5, "cases": numbers}))
        options += ["--cases", f"basic={name}.json"]
    assert as_json("correlate-sweep", "human.tsv", *options)["cases"] == {"basic": BASIC}


# it is found twice; the second reference pronoun is not aligned, but its neighbors are
TEXTS = {
    "src": "it is late .\nso it works here .\n",
    "ref": "il est tard .\ndonc il marche ici .\n",
    "a": "il est tard .\ndonc il marche ici .\n",
    "b": "ce est tard .\ndonc il marche ici .\n",
    "c": "elle est tard .\ndonc elle marche ici .\n",
}
FULL, HOLE = "0-0 1-1 2-2 3-3\n0-0 1-1 2-2 3-3 4-4\n", "0-0 1-1 2-2 3-3\n0-0 2-2 3-3 4-4\n"


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    """Three translations, one pronoun of the reference unaligned."""
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text)
        (tmp_path / f"{name}.align").write_text(HOLE if name == "ref" else FULL)
    (tmp_path / "human.tsv").write_text("system\thuman\na\t0.9\nb\t0.6\nc\t0.1\n")
    options = ["-s", "src", "-r", "ref", "--ref-align", "ref.align", "-l", "en-fr"]
    for name in "abc":
        options += ["-t", name, "--name", name, "--hyp-align", f"{name}.align"]
    return options


def test_the_documents_of_apt_are_swept(anaphora: Run, as_json: AsJson, texts: list[str], tmp_path: Path) -> None:
    for name, more in (("basic", ["--no-rescue"]), ("heuristics", [])):
        done = anaphora("apt", *texts, *more, "--samples", "100", "--json")
        (tmp_path / f"{name}.json").write_text(done.stdout)
    documents = ("--cases", "basic.json", "--cases", "heuristics.json", "--samples", "200")
    document = as_json("correlate-sweep", "human.tsv", *documents)
    assert document["cases"] == {
        "basic": {"a": [1, 0, 0, 0, 1, 0], "b": [0, 1, 0, 0, 1, 0], "c": [0, 0, 1, 0, 1, 0]},
        "heuristics": {"a": [2, 0, 0, 0, 0, 0], "b": [1, 1, 0, 0, 0, 0], "c": [0, 0, 2, 0, 0, 0]},
    }
    (row,) = [s for s in document["settings"] if (s["alignment"], s["w2"], s["w6"]) == ("heuristics", 0.5, 0)]
    assert row["scores"] == {"a": 1.0, "b": 0.75, "c": 0.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["human.tsv"], "Missing option '--cases'"),
        (["human.tsv", "--cases", "=basic.json"], "'=basic.json' is not NAME=FILE"),
        (["human.tsv", "--cases", "nowhere.json"], "nowhere.json: no such file"),
        (["human.tsv", "--cases", "human.tsv"], "human.tsv: line 1: not JSON"),
        (["human.tsv", "--cases", "basic.json", "--weights", "0.5"], "'0.5' is not two numbers"),
        (["human.tsv", "--cases", "basic.json", "--weights", "2,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--weights=-1,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--weights", "nan,0"], "weights are numbers from 0 to 1"),
        (["human.tsv", "--cases", "basic.json", "--discard", "7"], "'7' is not a list of some of the cases"),
        (["human.tsv", "--cases", "basic.json", "--discard", "1,2,3,4,5,6"], "is not a list of some of the cases"),
        (["few.tsv", "--cases", "basic.json"], "basic: no human score for d"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_sweep_what_is_refused(
    refused: Refused, files: tuple[str, ...], tmp_path: Path, arguments: list[str], message: str
) -> None:
    (tmp_path / "few.tsv").write_text("system\thuman\na\t1\nb\t2\nc\t3\n")
    assert message in refused("correlate-sweep", *arguments)


# ----------------------------------------------------------------------------------------------------- apt equivalences
# `anaphora apt-equivalences`: judged samples in, a list for `anaphora apt --lists` out.

ROWS = ["il\til\t1"] * 12 + ["c'\til\t1"] * 3 + ["ce\til\t0"] * 2 + ["elle\til\t0"] * 3


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    path = tmp_path / "judged.tsv"
    path.write_text("\n".join(["candidate\treference\tcorrect", *ROWS]) + "\n", encoding="utf-8")
    return path


def test_a_list_is_learned_written_and_used(anaphora: Run, samples: Path, tmp_path: Path) -> None:
    done = anaphora("apt-equivalences", samples, "-l", "en-fr", "-o", "learned.toml")
    assert "ce for il" in done.stdout
    assert done.stderr == "wrote learned.toml\n"
    lists = pronoun_lists("en-fr", tmp_path / "learned.toml")
    assert lists.equivalent == (("ce", "il"),)
    assert lists.sources[0] == "learned from 20 samples in judged.tsv, as in APT §2.5"
    assert lists.identical == pronoun_lists("en-fr").identical


def test_equivalences_json_and_limits(as_json: Callable[..., Any], samples: Path) -> None:
    document = as_json("apt-equivalences", samples)
    assert document["samples"] == 20
    assert document["equivalent"] == [["c'", "il"]]
    assert as_json("apt-equivalences", samples, "--least-share", "0.2")["equivalent"] == []


def test_equivalences_what_is_refused(refused: Callable[..., str], samples: Path, tmp_path: Path) -> None:
    assert refused("apt-equivalences", samples, "--lists", "x.toml") == "--lists needs a language pair. Pass it with -l"
    (tmp_path / "no.tsv").write_text("candidate\treference\nil\tce\n", encoding="utf-8")
    assert "no.tsv: line 1: no column 'correct'" in refused("apt-equivalences", "no.tsv")


# ------------------------------------------------------------------------------------------------------- apt judgments
# `anaphora apt-judgments`: the cases of APT by what people said of the same pronouns.


@pytest.fixture
def details(tmp_path: Path) -> Path:
    path = tmp_path / "details.tsv"
    rows = ["system sentence position case candidate", "a 1 3 1 il", "a 2 1 1 c'", "a 2 7 3 elle", "b 1 3 4 "]
    path.write_text("".join(row.replace(" ", "\t") + "\n" for row in rows), encoding="utf-8")
    return path


def test_cases_by_judgments(as_json: AsJson, anaphora: Run, details: Path, tmp_path: Path) -> None:
    rows = ["system sentence position judgment", "a 1 3 correct", "a 2 1 incorrect", "b 1 3 bad", "c 1 1 bad"]
    (tmp_path / "j.tsv").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    document = as_json("apt-judgements", details, "j.tsv")
    one, four = document["cases"]["c1"], document["cases"]["c4"]
    assert {key: one[key] for key in ("correct", "incorrect", "bad", "total")} == {
        "correct": 1,
        "incorrect": 1,
        "bad": 0,
        "total": 2,
    }
    assert four["shares"] == {"correct": 0, "incorrect": 0, "bad": 1}
    assert (document["unjudged"], document["unmatched"]) == (1, 1)
    table = anaphora("apt-judgements", details, "j.tsv").stdout
    assert re.search(r"\nc1 \(same\) +2 +50 % +\[\d+, \d+\] +50 % +0 %\n", table)
    assert "judgments of pronouns that APT does not have: 1" in table


def test_judgments_gaps(as_json: AsJson, details: Path, tmp_path: Path) -> None:
    rows = ["system sentence position answers", "a 1 3 il|ce", "a 2 1 ce", "a 2 7 other", "b 1 3 elle"]
    (tmp_path / "gaps.tsv").write_text("".join(row.replace(" ", "\t") + "\n" for row in rows))
    plain = as_json("apt-judgements", details, "gaps.tsv")
    french = as_json("apt-judgements", details, "gaps.tsv", "-l", "en-fr")
    assert [actual["cases"]["c1"]["correct"] for actual in (plain, french)] == [1, 2]
    assert french["cases"]["c3"]["correct"] == 0, "elle was an option that was not chosen"
    named = as_json("apt-judgements", details, "gaps.tsv", "-l", "en-fr", "--options", "il, ce")
    assert named["cases"]["c3"]["correct"] == 1, "elle was no option"


def test_the_details_of_apt_are_taken_as_they_are(anaphora: Run, as_json: AsJson, tmp_path: Path) -> None:
    """Two pronouns of one system: il for il, elle for il."""
    for name, text in {
        "src": "it is late .\nit works .\n",
        "ref": "il est tard .\nil marche .\n",
        "hyp": "il est tard .\nelle marche .\n",
        "align": "0-0 1-1\n0-0 1-1\n",
    }.items():
        (tmp_path / name).write_text(text)
    texts = ("-s", "src", "-r", "ref", "-t", "hyp", "--ref-align", "align", "--hyp-align", "align", "-l", "en-fr")
    anaphora("apt", *texts, "--name", "mine", "--details", "details.tsv", "--samples", "100")
    header, *rows = (line.split("\t") for line in (tmp_path / "details.tsv").read_text().splitlines())
    places = [[row[header.index(name)] for name in ("system", "sentence", "position")] for row in rows]
    assert len(places) == 2
    lines = ["system\tsentence\tposition\tanswers", *("\t".join([*position, "elle|other"]) for position in places)]
    (tmp_path / "gaps.tsv").write_text("\n".join(lines))
    document = as_json("apt-judgements", "details.tsv", "gaps.tsv", "-l", "en-fr", "--options", "il,elle")
    assert [document["cases"][case]["correct"] for case in ("c1", "c3")] == [0, 1]
    assert [document["cases"][case]["incorrect"] for case in ("c1", "c3")] == [1, 0]


def test_judgments_what_is_refused(refused: Refused, details: Path, tmp_path: Path) -> None:
    (tmp_path / "j.tsv").write_text("system\tsentence\tposition\tjudgment\na\t1\t3\tgood\n")
    assert "j.tsv: line 2: unknown judgment 'good'" in refused("apt-judgements", details, "j.tsv")
    assert "JUDGMENTS" in refused("apt-judgements", details)
    assert "no pronoun lists for xx-yy" in refused("apt-judgements", details, "gaps.tsv", "-l", "xx-yy")


# -------------------------------------------------------------------------------------------------------------- discomt
# `anaphora discomt`: measures from a table of annotations.

DISCOMT_ROWS = [
    "a 1 il il,ce",
    "a 2 ça cela",
    "a 3 lui il",
    "a 4 il bad",
    "b 1 ce il,ce",
    "b 2 il cela",
    "b 3 il il",
    "b 4 il il",
]


@pytest.fixture
def annotations(tmp_path: Path) -> Path:
    lines = ["system item translation accepted", *DISCOMT_ROWS]
    path = tmp_path / "gaps.tsv"
    path.write_text("".join("\t".join(line.split(" ")) + "\n" for line in lines), encoding="utf-8")
    return path


def test_discomt_json(as_json: AsJson, annotations: Path) -> None:
    document = as_json("discomt", annotations, "-l", "en-fr")
    assert document["system"] == "a"
    assert document["accuracy"]["value"] == 0.5
    assert document["precision"]["value"] == pytest.approx(2 / 3)
    assert (document["items"], document["bad"]) == (4, 1)
    assert set(document["classes"]) == {"ce", "cela", "il", "other"}
    assert document["systems"]["b"]["accuracy"]["value"] == 0.75
    assert document["pairs"][0]["measure"] == "accuracy"
    assert document["pairs"][0]["delta"] == 0.25
    # without a language ça and cela are two classes, and `lui` is one
    assert set(as_json("discomt", annotations)["classes"]) == {"ce", "cela", "il", "lui", "other", "ça"}


def test_discomt_tables(anaphora: Run, annotations: Path) -> None:
    lines = anaphora("discomt", annotations, "-l", "en-fr", "--samples", "200").stdout.splitlines()
    assert lines[0] == "DiscoMT"
    assert lines[1].split() == ["a", "b"]
    assert any(line.startswith("accuracy without OTHER") for line in lines)
    assert "By class" in lines
    assert "a → b" in lines


def test_systems_with_other_items_are_not_compared(anaphora: Run, annotations: Path) -> None:
    text = annotations.read_text(encoding="utf-8")
    annotations.write_text(text.replace("b\t4", "b\t5"), encoding="utf-8")
    done = anaphora("discomt", annotations, "--json")
    assert done.stderr == "the systems do not have the same items: they are not compared\n"
    assert '"pairs": []' in done.stdout


def test_discomt_the_example(as_json: AsJson, tmp_path: Path) -> None:
    """Counted by hand: of ten pronouns six and eight are right; both have one that is not judged without OTHER."""
    assert as_json("discomt", "--example", "made-up.tsv") == {"files": ["made-up.tsv"]}
    document = as_json("discomt", "made-up.tsv", "-l", "en-fr")
    systems = document["systems"]
    assert {name: actual["accuracy"]["value"] for name, actual in systems.items()} == {
        "sentence-level": 0.6,
        "document-level": 0.8,
    }
    assert systems["sentence-level"]["accuracy_without_other"]["value"] == pytest.approx(5 / 9)
    assert systems["document-level"]["accuracy_without_other"]["value"] == pytest.approx(7 / 9)
    assert [systems[name]["bad"] for name in systems] == [1, 0]


def test_discomt_refusals(refused: Refused, annotations: Path) -> None:
    assert "no such file" in refused("discomt", "nowhere.tsv")
    annotations.write_text("item\ttranslation\n1\til\n", encoding="utf-8")
    assert "no column 'accepted'" in refused("discomt", annotations)
