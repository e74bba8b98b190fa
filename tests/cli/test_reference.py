"""The commands that need a reference: apt, autoprf, metrics and align."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from anaphora import __version__
from anaphora.align import backend
from anaphora.align.alignment import read_alignments
from anaphora.cli import main
from anaphora.core.registry import Registry

from .conftest import instead

# ------------------------------------------------------------------------------------------------------------------ apt
# `anaphora apt`: the contract of its options, its JSON, its files and its refusals.

Run = Callable[..., subprocess.CompletedProcess[str]]

SOURCE = "The system is so healthy that it purifies the water .\nThey sleep .\nIt rains .\n\n"
REFERENCE = "Le système est si sain qu' il purifie l' eau .\nIls dorment .\nIl pleut .\n\n"
FIRST = REFERENCE.replace("Il pleut", "C' est")  # equivalent in one
SECOND = REFERENCE.replace("qu' il", "qu' elle").replace("Ils dorment", "On dort")  # different in two
MISSED = "0-0 1-1 2-2 3-3 4-4 5-5 7-7 8-8 9-9 10-10\n0-0 1-1 2-2\n0-0 1-1 2-2\n\n"  # Table 1: "it" has no link


@pytest.fixture
def texts(tmp_path: Path) -> tuple[str, ...]:
    """Options for one system, whose files are in the current folder."""
    for name, text in {"s": SOURCE, "r": REFERENCE, "a": FIRST, "b": SECOND, "al": MISSED}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return (
        "-s",
        "s",
        "-r",
        "r",
        "-t",
        "a",
        "--ref-align",
        "al",
        "--hyp-align",
        "al",
        "-l",
        "en-fr",
        "--samples",
        "100",
    )


TWO = ("-t", "b", "--hyp-align", "al")


def test_the_json_of_the_contract(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    document = as_json("apt", *texts)
    assert document["apt"] == pytest.approx(2.5 / 3)
    assert document["cases"] == [2, 1, 0, 0, 0, 0]
    assert document["weights"] == [1, 0.5, 0, 0, 0, 0]
    assert document["discarded"] == []
    assert document["signature"].startswith("apt|l:en-fr|var:paper|")
    assert list(document["systems"]) == ["a"]
    assert document["rescued"] == {"reference": 1, "candidate": 1}


def test_apt_several_systems(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    document = as_json("apt", *texts, *TWO, "--name", "one", "--name", "two", "--by-pronoun")
    assert {name: system["cases"] for name, system in document["systems"].items()} == {
        "one": [2, 1, 0, 0, 0, 0],
        "two": [1, 0, 2, 0, 0, 0],
    }
    (pair,) = document["pairs"]
    assert pair["delta"] == pytest.approx(1 / 3 - 2.5 / 3)
    assert list(pair["breakdowns"]["pronoun"]) == ["it", "they"]


@pytest.mark.parametrize(
    ("options", "apt", "cases"),
    [
        (["--weights", "1,1,0,0,0,0"], 1.0, [2, 1, 0, 0, 0, 0]),
        (["--no-rescue"], 1.5 / 3, [1, 1, 0, 0, 0, 1]),
        (["--no-rescue", "--discard", "5,6"], 1.5 / 2, [1, 1, 0, 0, 0, 1]),
        (["--pronouns", "They"], 1.0, [1, 0, 0, 0, 0, 0]),
        (["--variant", "idiap"], 1.5 / 3, [1, 1, 0, 0, 0, 1]),
        (["--variant", "reference-side", "--pronouns", "il,ils"], 0.5, [1, 0, 1, 0, 0, 0]),
    ],
)
def test_apt_options(
    as_json: Callable[..., Any], texts: tuple[str, ...], options: list[str], apt: float, cases: list[int]
) -> None:
    document = as_json("apt", *texts, *options)
    assert (document["apt"], document["cases"]) == (pytest.approx(apt), cases)


def test_tables_and_the_confusion_matrix(anaphora: Run, texts: tuple[str, ...]) -> None:
    shown = anaphora("apt", *texts, *TWO, "--confusion").stdout
    assert shown.startswith("APT en→fr · paper\n")
    assert "a → b" in shown
    assert "a: reference (rows) and candidate (columns)" in shown
    assert "a: rescued 1 in the reference, 1 in the candidate" in shown
    markdown = anaphora("apt", *texts, "--format", "markdown").stdout
    assert "| a | 3 | 0.8333 |" in markdown


def test_apt_details_and_score_files(anaphora: Run, texts: tuple[str, ...], tmp_path: Path) -> None:
    anaphora(
        "apt",
        *texts,
        *TWO,
        "--details",
        "d.tsv",
        "--score-file",
        "a.score",
        "--score-file",
        "b.score",
        "--matrix-length",
        "1",
    )
    rows = [line.split("\t") for line in (tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 7
    assert dict(zip(rows[0], rows[1], strict=True))["reference_found"] == "rescued"
    assert [row[rows[0].index("case")] for row in rows[1:]] == ["1", "1", "2", "3", "3", "1"]
    assert (tmp_path / "b.score").read_text(encoding="utf-8").startswith("Score: 0.3333\nCases: 1,2,3,4,5,6\n")
    assert "\til\t...\t-sum-\n" in (tmp_path / "b.score").read_text(encoding="utf-8")


def test_apt_lists_of_ones_own(as_json: Callable[..., Any], texts: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "l.toml").write_text("equivalent = []\n", encoding="utf-8")
    assert as_json("apt", *texts, "--lists", "l.toml")["cases"] == [2, 0, 1, 0, 0, 0]


def test_apt_pronouns_by_tags(as_json: Callable[..., Any], texts: tuple[str, ...], tmp_path: Path) -> None:
    tags = "X X X X X X PRP X X X X\nPRP X X\nPRP X X\n\n"
    (tmp_path / "tags").write_text(tags, encoding="utf-8")
    options = ["--source-tags", "tags", "--ref-tags", "tags", "--hyp-tags", "tags"]
    assert as_json("apt", *texts, *options, "--pronoun-tags", "PRP")["cases"] == [2, 1, 0, 0, 0, 0]
    assert as_json("apt", *texts, *options)["cases"] == [0] * 6


def test_texts_without_alignments_are_aligned(as_json: Callable[..., Any], texts: tuple[str, ...]) -> None:
    files = ["-s", "s", "-r", "r", "-t", "a", "-t", "b", "-l", "en-fr", "--samples", "100"]
    document = as_json("apt", *files, "--align-backend", "builtin", "--corpus", "s", "r")
    assert "|align:builtin-" in document["signature"]
    assert all(sum(system["cases"]) == 3 for system in document["systems"].values())
    assert document["systems"]["a"]["apt"] > document["systems"]["b"]["apt"]


def test_a_config_of_the_original_program(
    anaphora: Run, data: Callable[[str], Path], tmp_path: Path, as_json: Callable[..., Any]
) -> None:
    published = data("apt-es-en") / "data_es-en"
    shutil.copytree(published, tmp_path / "data_es-en", ignore=shutil.ignore_patterns("output*"))
    done = anaphora("apt", "--config", "data_es-en/config_2", "--variant", "idiap", "--json", "--details", "d.tsv")
    assert done.stderr == "wrote data_es-en/output2.score and data_es-en/output2.detail\n"
    for name in ("output2.score", "output2.detail"):
        assert (tmp_path / "data_es-en" / name).read_bytes() == (published / name).read_bytes()
    document = json.loads(done.stdout)
    assert (f"{document['apt']:.4f}", document["cases"]) == ("0.6316", [60, 0, 20, 10, 2, 3])
    assert len((tmp_path / "d.tsv").read_text(encoding="utf-8").splitlines()) == 96


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-l", "en-ru"], "no pronoun lists for en-ru. There are lists for"),
        (["-l", "french"], "not a language pair: 'french'"),
        (["--weights", "1,0.5"], "not weights: 1,0.5. They are six numbers from 0 to 1"),
        (["--weights", "1,0.5,x,0,0,0"], "not weights: '1,0.5,x,0,0,0'"),
        (["--discard", "7"], "cannot discard 7: no case 7"),
        (["--hyp-align", "al"], "one alignment file (--translation-alignments) is needed for each translation"),
        (["-t", "a", "--hyp-align", "al"], "two translations have the same name"),
        (["--lists", "nowhere.toml"], "nowhere.toml: no such file"),
        (["-r", "short"], "short: 1 lines, but s has 3"),
        (["--ref-align", "outside"], "outside: line 2: point 3-0 is outside the sentences of 3 and 3 words"),
        (["--config", "c"], "--config runs a config of the original program. Add --variant idiap"),
        (["--config", "c", "--variant", "idiap"], "--source cannot be combined with --config"),
        (["--score-file", "x", "--score-file", "y"], "one score file (--score-file) is needed for each translation"),
        (["--variant", "idiap", "--tokenize", "moses"], "the variant idiap divides words at single spaces"),
    ],
)
def test_apt_what_is_refused(
    refused: Callable[..., str], texts: tuple[str, ...], tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "short").write_text("il\n", encoding="utf-8")
    (tmp_path / "outside").write_text("0-0\n3-0\n\n\n", encoding="utf-8")
    one_value = options[0] in ("-l", "-r", "--ref-align")
    assert message in refused("apt", *(instead(texts, *options) if one_value else [*texts, *options]))


def test_what_is_missing_is_named(refused: Callable[..., str], texts: tuple[str, ...]) -> None:
    assert refused("apt", "-s", "s", "-t", "a").startswith("missing -r, -l")
    assert "there is no list of source pronouns for de-en" in refused("apt", *instead(texts, "-l", "de-en"))


def test_a_config_that_is_none(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "c").write_text("[lang]\nsource: es\n", encoding="utf-8")
    message = refused("apt", "--config", "c", "--variant", "idiap")
    assert message.startswith("c: [cases] cases_to_use is missing")


# -------------------------------------------------------------------------------------------------------------- autoprf
# `anaphora autoprf`: the contract's JSON, the figures of the original program, several systems, refusals.

Refused = Callable[..., str]
AsJson = Callable[..., Any]


@pytest.fixture
def autoprf_texts(tmp_path: Path) -> list[str | Path]:
    """Three sentences; of the three words for pronouns two are the reference's. One alignment has a line more."""
    lines = {
        "src": "It works .\nthey know it .\nNo .\n",
        "ref": "Il marche .\nils le savent .\nNon .\n",
        "hyp": "Il marche .\nils la savent .\nNon .\n",
        "ref.align": "0-0 1-1\n0-0 1-2 2-1\n\n",
        "hyp.align": "0-0 1-1\n0-0 1-2 2-1\n\n\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return ["-s", "src", "-r", "ref", "-t", "hyp", "--ref-align", "ref.align", "--hyp-align", "hyp.align"]


def test_autoprf_the_contract(as_json: AsJson, autoprf_texts: list[str]) -> None:
    document = as_json("autoprf", *autoprf_texts, "--pronouns", "it,they")
    assert (document["precision"], document["recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert document["f"] == pytest.approx(2 / 3)
    assert document["by_pronoun"]["it"]["precision"] == 0.5
    assert document["by_pronoun"]["they"]["f"] == 1
    assert document["systems"] == {"hyp": {key: document[key] for key in document["systems"]["hyp"]}}
    assert (document["pairs"], document["outside"]) == ([], {})
    assert as_json("autoprf", *autoprf_texts)["signature"] == document["signature"]  # it and they are the default


def test_autoprf_table(anaphora: Run, autoprf_texts: list[str]) -> None:
    lines = anaphora("autoprf", *autoprf_texts, "--pronouns", "IT").stdout.splitlines()
    assert lines[0] == "AutoPRF"
    assert lines[2].split()[:6] == ["hyp", "2", "2", "2", "1", "0.5000"]
    assert lines[3].split()[0] == "it"
    assert lines[-1].startswith("signature autoprf|clip:occurrence|pron:IT|case:mixed|tok:none|norm:signs|align:given|")


def test_autoprf_options(as_json: AsJson, autoprf_texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "hyp").write_text("il marche .\nils la savent .\nNon .\n", encoding="utf-8")
    assert as_json("autoprf", *autoprf_texts)["matches"] == 1
    assert as_json("autoprf", *autoprf_texts, "--lowercase")["matches"] == 2
    (tmp_path / "hyp").write_text("le marche .\nils Il savent .\nNon .\n", encoding="utf-8")
    assert as_json("autoprf", *autoprf_texts)["matches"] == 1
    assert as_json("autoprf", *autoprf_texts, "--clip", "corpus")["matches"] == 3


def test_autoprf_several_systems_and_gzip(
    as_json: AsJson, anaphora: Run, autoprf_texts: list[str], tmp_path: Path
) -> None:
    (tmp_path / "other.gz").write_bytes(gzip.compress(b"Il marche .\nils le savent .\nNon .\n"))
    more = [*autoprf_texts, "-t", "other.gz", "--hyp-align", "ref.align", "--name", "one", "--name", "two"]
    document = as_json("autoprf", *more)
    assert document["system"] == "one"
    assert {name: system["matches"] for name, system in document["systems"].items()} == {"one": 2, "two": 3}
    assert [pair["figure"] for pair in document["pairs"]] == ["precision", "recall", "f"]
    text = anaphora("autoprf", *more, "--format", "markdown").stdout
    assert "*one → two*" in text
    assert "| +0.3333 |" in text


def test_points_past_the_source_are_noted(anaphora: Run, autoprf_texts: list[str], tmp_path: Path) -> None:
    (tmp_path / "hyp.align").write_text("0-0 1-1 3-2\n0-0\n\n", encoding="utf-8")
    done = anaphora("autoprf", *autoprf_texts, "--json")
    assert done.stderr == "hyp: 1 alignments have indices beyond the end of the source; these links are ignored\n"


def test_autoprf_refusals(refused: Refused, autoprf_texts: list[str], tmp_path: Path) -> None:
    assert "both --reference-alignments and --translation-alignments" in refused("autoprf", *autoprf_texts[:-2])
    assert "2 translations, but 1" in refused("autoprf", *autoprf_texts, "-t", "ref")
    assert "has none of the pronouns she" in refused("autoprf", *autoprf_texts, "--pronouns", "she")
    assert "'--clip'" in refused("autoprf", *autoprf_texts, "--clip", "sentence")
    assert "'-s'" in refused("autoprf", *autoprf_texts[2:])
    (tmp_path / "hyp.align").write_text("0-0\n0-9\n\n", encoding="utf-8")
    assert refused("autoprf", *autoprf_texts).startswith(
        "hyp.align: line 2: point 0-9 is outside the translation of 4 words"
    )
    (tmp_path / "hyp").write_text("Il .\n", encoding="utf-8")
    assert refused("autoprf", *autoprf_texts).startswith("hyp: 1 lines, but src has 3")


def test_the_original_program_on_its_data(as_json: AsJson, data: Callable[[str], Path]) -> None:
    folder = data("autoprf-en-fr") / "examples"
    names = {"-s": "pronoun-test.tok.en", "-r": "pronoun-test.tok.fr", "-t": "mt-output.fr"}
    names |= {"--ref-align": "pronoun-test.tok.en-fr.alig", "--hyp-align": "mt-output.en-fr.alig"}
    options = [part for option, name in names.items() for part in (option, folder / f"{name}.gz")]
    document = as_json("autoprf", *options, "--pronouns", "it")
    assert [round(document[key], 4) for key in ("precision", "recall", "f")] == [0.2973, 0.3108, 0.3039]
    assert list(document["outside"].values()) == [37]


# -------------------------------------------------------------------------------------------------------------- metrics
# `anaphora metrics`: scores, signatures, pairs of systems, what each metric needs.

needs_metrics = pytest.mark.skipif(not all(map(find_spec, ("sacrebleu",))), reason="not installed: sacrebleu")


@pytest.fixture
def _texts(tmp_path: Path) -> None:
    lines = {
        "src": "The apple is green.\nIt is good.\nThey know it.\n",
        "ref": "La pomme est verte.\nElle est bonne.\nIls le savent.\n",
        "a": "La pomme est verte.\nIl est bon.\nIls la savent.\n",
        "b": "La pomme est verte.\nElle est bonne.\nIls le savent.\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@needs_metrics
@pytest.mark.usefixtures("_texts")
def test_metrics_two_systems(as_json: AsJson) -> None:
    document = as_json("metrics", "-r", "ref", "-t", "a", "-t", "b", "-l", "en-fr")
    assert list(document["scores"]) == ["bleu", "chrf", "ter", "meteor"]
    assert document["systems"]["b"]["bleu"]["score"] == pytest.approx(100)
    assert document["systems"]["b"]["ter"]["score"] == 0
    assert document["systems"]["b"]["meteor"]["score"] == pytest.approx(1)
    assert document["scores"]["meteor"]["score"] < 1
    assert document["scores"]["bleu"]["signature"].startswith("BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|")
    assert [pair["metric"] for pair in document["pairs"]] == ["bleu", "chrf", "ter", "meteor"]
    assert document["sentences"] == 3


@needs_metrics
@pytest.mark.usefixtures("_texts")
def test_metrics_by_name(as_json: AsJson) -> None:
    options = ["-r", "ref", "-t", "a", "-l", "en-fr", "--metric", "chrf,meteor-pronouns", "--metric", "chrf++"]
    assert list(as_json("metrics", *options)["scores"]) == ["chrf", "meteor-pronouns", "chrf++"]
    il = as_json("metrics", *options, "--pronouns", "ils,la")["scores"]["meteor-pronouns"]
    assert "|fw:ils,la|" in il["signature"]


@needs_metrics
@pytest.mark.usefixtures("_texts")
def test_metrics_table(anaphora: Run) -> None:
    done = anaphora(
        "metrics",
        "-r",
        "ref",
        "-t",
        "a",
        "-t",
        "b",
        "-l",
        "en-fr",
        "--metric",
        "bleu,ter",
        "--name",
        "one",
        "--name",
        "two",
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "en→fr · 3 sentences"
    assert " ".join(lines[1].split()) == "bleu 95 % interval ter (lower is better) 95 % interval"
    assert lines[3].startswith("two  100.00")
    assert any(line.startswith("TER|nrefs:1|") for line in lines)
    assert "one → two" in lines
    assert done.stderr == ""


@needs_metrics
@pytest.mark.usefixtures("_texts")
def test_tokenized_texts_need_no_language(as_json: AsJson, refused: Refused) -> None:
    options = ["metrics", "-r", "ref", "-t", "a", "--metric", "meteor"]
    assert "depend on the language" in refused(*options)
    scores = as_json(*options, "--tokenised")["scores"]
    assert "|match:exact:1,stem:off,synonym:off|" in scores["meteor"]["signature"]


@needs_metrics
@pytest.mark.usefixtures("_texts")
def test_metrics_refusals(refused: Refused, tmp_path: Path) -> None:
    options = ["metrics", "-r", "ref", "-t", "a", "-l", "en-fr"]
    assert "unknown metric 'blue' (did you mean bleu" in refused(*options, "--metric", "blue")
    assert "Pass it with -s" in refused(*options, "--metric", "comet")
    assert "pip install unbabel-comet" in refused(*options, "--metric", "comet", "-s", "src")
    assert "the same name" in refused(*options, "-t", "a")
    assert "nowhere: no such directory" in refused(*options[:-1], "fr-en", "--metric", "meteor", "--wordnet", "nowhere")
    (tmp_path / "a").write_text("La pomme.\n", encoding="utf-8")
    assert refused(*options).startswith("a: 1 lines, but ref has 3")
    for name in ("a", "ref"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert "the texts are empty" in refused(*options)


# ---------------------------------------------------------------------------------------------------------------- align
# `anaphora align`: files in, a Pharaoh file out; what does not go together is refused in one line.

needs_align = pytest.mark.skipif(not all(map(find_spec, ("thot",))), reason="not installed: thot")

ENGLISH = "the house\nthe book\na house\na book is here\nthe house is here\n\nit is a book\n"
GERMAN = "das Haus\ndas Buch\nein Haus\nein Buch ist hier\ndas Haus ist hier\nnichts\nes ist ein Buch\n"
LINKS = ["0-0 1-1"] * 3 + ["0-0 1-1 2-2 3-3"] * 2 + ["", "0-0 1-1 2-2 3-3"]


@pytest.fixture
def align_texts(tmp_path: Path) -> tuple[Path, Path]:
    english, german = tmp_path / "text.en", tmp_path / "text.de"
    english.write_text(ENGLISH, encoding="utf-8")
    german.write_text(GERMAN, encoding="utf-8")
    return english, german


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command in this process; its JSON, or what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["align", *map(str, arguments)])
        printed = capsys.readouterr()
        assert stop.value.code == 0, printed.err
        return json.loads(printed.out) if "--json" in arguments else printed

    return run


@needs_align
def test_the_program_as_a_user_calls_it(anaphora: Run, align_texts: tuple[Path, Path], tmp_path: Path) -> None:
    done = anaphora("align", *align_texts, "-o", "out.align")
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "7 pairs, 18 links: out.align (thot eflomal, grow-diag-final)",
        "without links: 1 pairs with an empty side, 0 other pairs",
    ]
    assert (tmp_path / "out.align").read_text().splitlines() == LINKS
    again = anaphora("align", *align_texts, "-o", "again.align", "--json")
    assert (tmp_path / "again.align").read_bytes() == (tmp_path / "out.align").read_bytes()
    assert json.loads(again.stdout)["points"] == 18


@needs_align
def test_align_json(call: Callable[..., Any], align_texts: tuple[Path, Path]) -> None:
    document = call(*align_texts, "-o", "out.align", "--model", "fast_align", "--symmetrize", "union", "--json")
    assert document.pop("library").startswith("sil-thot 3.")
    assert document.pop("points") >= 18
    assert document == {
        "output": "out.align",
        "pairs": 7,
        "empty": 1,
        "unaligned": 0,
        "backend": "thot",
        "model": "fast_align",
        "symmetrize": "union",
        "tokenize": "none",
        "texts": {
            str(path): {"tokenize": "none", "words": words, "words_with_punctuation": 0, "normalized": {}}
            for path, words in zip(align_texts, (18, 19), strict=True)
        },
        "signature": "align|by:thot-fast_align-union|tok:none|norm:signs|case:lc|seed:12345|v:" + __version__,
        "lowercase": True,
        "seed": 12345,
        "trained_on": 6,
        "reproducible": True,
    }


@needs_align
def test_options_reach_the_aligner(call: Callable[..., Any], align_texts: tuple[Path, Path]) -> None:
    options = ("--cased", "--seed", "7", "--model", "fast_align", "--threads", "2")
    document = call(*align_texts, "-o", "out.align", *options, "--json")
    assert (document["lowercase"], document["seed"], document["reproducible"]) == (False, 7, False)
    assert "sil-thot 3." in call(*align_texts, "-o", "out.align", *options).err
    assert "is not deterministic: links may differ slightly" in call(*align_texts, "-o", "out.align", *options).err


@needs_align
def test_a_model_is_saved_and_applied(call: Callable[..., Any], align_texts: tuple[Path, Path], tmp_path: Path) -> None:
    call(*align_texts, "-o", "out.align", "--model", "ibm1", "--save", "model")
    (tmp_path / "new.en").write_text("it is the house\n")
    (tmp_path / "new.de").write_text("das Haus ist es\n", encoding="utf-8")
    document = call("new.en", "new.de", "-o", "new.align", "--load", "model", "--symmetrize", "intersection", "--json")
    assert (document["model"], document["symmetrize"], document["trained_on"]) == ("ibm1", "intersection", 6)
    (actual,) = read_alignments(tmp_path / "new.align")
    assert {(2, 0), (3, 1)} <= set(actual)


@needs_align
def test_a_corpus_is_learned_from(call: Callable[..., Any], align_texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "new.en").write_text("it is the house\n")
    (tmp_path / "new.de").write_text("das Haus ist es\n", encoding="utf-8")
    options = (
        "--corpus",
        *align_texts,
        "--corpus",
        *align_texts,
        "--model",
        "ibm1",
        "--symmetrize",
        "intersection",
        "--json",
    )
    document = call("new.en", "new.de", "-o", "new.align", *options)
    assert document["trained_on"] == 13
    (actual,) = read_alignments(tmp_path / "new.align")
    assert {(2, 0), (3, 1)} <= set(actual)


@needs_align
def test_files_of_another_program_are_merged_and_compared(
    call: Callable[..., Any], align_texts: tuple[Path, Path], tmp_path: Path
) -> None:
    lines = [*LINKS[:6], "0-0"]
    (tmp_path / "forward").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "backward").write_text("".join(f"{line}\n" for line in LINKS))
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in LINKS))
    options = ("--backend", "pharaoh", "--forward", "forward", "--backward", "backward", "--gold", "gold")
    printed = call(*align_texts, "-o", "out.align", *options, "--symmetrize", "intersection")
    assert (tmp_path / "out.align").read_text().splitlines() == lines
    assert printed.out == "against 18 gold links: precision 1.000, recall 0.833, F 0.909\n"
    document = call(*align_texts, "-o", "out.align", *options, "--json")
    assert document["agreement"] == {"found": 18, "given": 18, "both": 18, "precision": 1.0, "recall": 1.0, "f": 1.0}


@needs_align
def test_raw_text_is_tokenized_and_the_words_are_written(call: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    (tmp_path / "a").write_text("It's old.\n")
    (tmp_path / "b").write_text("C'est vieux.\n")
    options = ("--tokenize", "moses", "-l", "en-fr", "--tokens", "a.tok", "b.tok", "--model", "ibm1", "--save", "m")
    assert call("a", "b", "-o", "out", *options, "--json")["tokenize"] == "moses"
    assert [(tmp_path / name).read_text() for name in ("a.tok", "b.tok")] == ["It 's old .\n", "C' est vieux .\n"]
    call("a", "b", "-o", "out", "--load", "m", "--tokens", "a.2", "b.2")  # as it was when the model was trained
    assert (tmp_path / "b.2").read_text() == "C' est vieux .\n"


REFUSED = {
    "--backend thott": "unknown alignment backend 'thott'",
    "--symmetrize grow": "'grow' is not one of",
    "--model giza": "unknown model 'giza' of backend 'thot'",
    "--tokenize moses -l french": "-l french: two languages are needed, such as en-fr",
    "--backend pharaoh": "backend 'pharaoh' reads alignments: name the file",
    "--backend pharaoh --forward missing": "missing: no such file",
    "--backend pharaoh --forward text.en --save m": "has nothing to save",
    "--backend pharaoh --forward text.en --corpus text.en text.de": "is not trained and cannot use a corpus",
    "--forward text.en": "--forward and --backward name alignments to read and need --aligner pharaoh",
    "--load nowhere": "nowhere: no such folder. Create one with: anaphora align … --save FOLDER.",
    "--load nowhere --model hmm": "--aligner NAME:MODEL cannot be combined with --aligner-model",
    "--load nowhere --corpus text.en text.de": "--corpus cannot be combined with --aligner-model",
    "--load nowhere --tokenize none": "--tokenize cannot be combined with",
    "--load nowhere --no-normalize": "--no-normalize-text cannot be combined with",
    "--save .": ".: already exists and is not a saved alignment model. Choose another folder.",
    "--corpus text.en short": "short: 1 lines, but text.en has 7",
    "--gold text.en": "text.en: line 1: not an alignment point: 'the'",
}


@needs_align
@pytest.mark.usefixtures("align_texts")
@pytest.mark.parametrize("options", REFUSED)
def test_align_what_is_refused(refused: Callable[..., str], tmp_path: Path, options: str) -> None:
    (tmp_path / "short").write_text("one\n")
    assert REFUSED[options] in refused("align", "text.en", "text.de", "-o", "out.align", *options.split())
    assert not (tmp_path / "out.align").exists()


@needs_align
@pytest.mark.usefixtures("align_texts")
def test_files_that_do_not_belong_together(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "short").write_text("one\n")
    assert refused("align", "text.en", "short", "-o", "out").startswith(
        "short: 1 lines, but text.en has 7. They belong"
    )
    assert refused("align", "missing", "text.en", "-o", "out") == "missing: no such file"


@needs_align
@pytest.mark.usefixtures("align_texts")
def test_a_backend_that_is_not_installed(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "BACKENDS", Registry("alignment backend", {"thot": "no_such:X"}, {"thot": "align"}))
    message = refused("align", "text.en", "text.de", "-o", "out")
    assert message.endswith('which is not installed. Install it with: pip install "anaphora[align]"')


@needs_align
def test_a_model_of_another_backend(refused: Callable[..., str], call: Callable[..., Any], align_texts: object) -> None:
    call("text.en", "text.de", "-o", "out", "--model", "ibm1", "--save", "m")
    message = refused("align", "text.en", "text.de", "-o", "out", "--load", "m", "--backend", "builtin")
    assert message == "m: a model of backend 'thot', not 'builtin'. Apply it with --aligner thot."


@needs_align
def test_plain_text_is_tokenized_and_signs_are_one(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "raw.en").write_text("It’s the house.\nThe book, please!\n", encoding="utf-8")
    (tmp_path / "raw.de").write_text("Es ist das&#32;Haus.\nDas Buch, bitte!\n", encoding="utf-8")
    document = call("raw.en", "raw.de", "-o", "raw.align", "--tokens", "tok.en", "tok.de", "--json")
    assert (tmp_path / "tok.en").read_text() == "It 's the house .\nThe book , please !\n"
    assert (tmp_path / "tok.de").read_text() == "Es ist das Haus .\nDas Buch , bitte !\n"
    assert document["tokenize"] == "moses"
    assert document["texts"]["raw.en"]["normalized"] == {"’": 1}
    assert "|tok:moses|norm:signs|" in document["signature"]
    printed = call("raw.en", "raw.de", "-o", "raw.align").err
    assert "tokenized with Moses, and indices count its tokens. Write them with --tokens SRC TGT" in printed
    assert "normalized: raw.en 1 ’; raw.de 1 &#32;" in printed
    printed = call("raw.en", "raw.de", "-o", "raw.align", "--tokenize", "none").err
    assert "3 of 6 words of raw.de still carry punctuation" in printed


@needs_align
def test_given_links_count_the_words_of_the_files(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "raw.en").write_text("It’s the house.\n", encoding="utf-8")
    (tmp_path / "raw.de").write_text("Es ist das Haus.\n", encoding="utf-8")
    (tmp_path / "given").write_text("0-0 1-2 2-3\n")
    printed = call("raw.en", "raw.de", "-o", "out", "--backend", "pharaoh", "--forward", "given", "--gold", "given")
    assert (tmp_path / "out").read_text() == "0-0 1-2 2-3\n"
    assert "2 of 3 words of raw.en, 1 of 4 words of raw.de still carry punctuation" in printed.err
