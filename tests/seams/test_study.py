"""What the study writes goes into the commands that read it, and what they write goes into the study."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from anaphora.cli.app import app
from anaphora.study.model import read_study
from anaphora.study.store import Answer, open_log

Command = Callable[..., str]
NOUNS = ("key", "coat", "ball", "spoon", "lamp", "door")
# French of six English sentences with "it", by three made-up systems; the reference first
FRENCH = {
    "ref": ("Elle", "Il", "Elle", "Il", "Elle", "Il"),
    "good": ("Elle", "Il", "Elle", "Il", "Elle", "Cela"),
    "fair": ("Elle", "Il", "Il", "Il", "Il", "Il"),
    "poor": ("Il", "Elle", "Il", "Elle", "Il", "Elle"),
}


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command of the program in this process; what it prints. Its files are in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, (result.exception, result.output)
        return result.stdout

    return run


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def answer(folder: Path, choose: Callable[[str, Any], tuple[str, ...]]) -> None:
    """Let every annotator answer every item; `choose` knows the annotator and the item."""
    study = read_study(folder)
    log = open_log(study, folder)
    for annotator in study.annotators:
        for number, one in enumerate(annotator.assignments):
            choice = choose(annotator.name, study.by_id[one.item])
            if choice in (("reference",), ("other",)):
                gold = study.by_id[one.item].gold
                choice = ("ab"[one.order.index(gold if choice == ("reference",) else 1 - gold)],)
            log.append(Answer(annotator.name, one.item, choice, one.order, f"request-{number:04d}"))
    log.close()


# -------------------------------------------------------------------------------------------- study → measure, and back


@pytest.fixture
def agreed(command: Command, tmp_path: Path) -> Path:
    """A study of pairs: everybody prefers "it" to "he", nobody agrees on "she" and "they"."""
    header = {"anaphora": 1, "name": "pairs", "source_language": "de", "target_language": "en"}
    rows = [
        {
            "id": f"{right}{k}",
            "source": [f"Das ist Satz {k}."],
            "candidates": [[f"Then {right} saw the {noun}."], [f"Then {wrong} saw the {noun}."]],
            "gold": 0,
            "tags": {},
        }
        for right, wrong in (("it", "he"), ("she", "they"))
        for k, noun in enumerate(NOUNS)
    ]
    write(tmp_path / "pairs.jsonl", [json.dumps(row) for row in (header, *rows)])
    command("study", "create", "pairs.jsonl", "-o", "study", "--annotators", "anna,ben")
    split = {"anna": "reference", "ben": "other"}
    answer(tmp_path / "study", lambda name, item: ("reference" if item.pair == ("it", "he") else split[name],))
    return tmp_path / "study"


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    """A reference and a translation: three times he for it, twice they for she."""
    reference = ["Then it fell .", "Then it rose .", "Then it broke .", "Then she sang .", "Then she left ."]
    swapped = [line.replace("it", "he").replace("she", "they") for line in reference]
    return write(tmp_path / "ref.en", reference), write(tmp_path / "system.en", swapped)


@pytest.mark.parametrize("name", ["agreed.tsv", "agreed.json"])
def test_exported_pairs_decide_what_measure_pairs_keeps(
    command: Command, agreed: Path, texts: tuple[Path, Path], name: str, tmp_path: Path
) -> None:
    command("study", "export", agreed, "--pairs", name)
    reference, system = texts
    made = command(
        *("measure", "pairs", "-r", reference, "-t", system, "-l", "de-en", "--kind", "noisy"),
        *("--pair-list", name, "-o", "out.jsonl", "--json"),
    )
    found = json.loads(made)
    assert found["pairs"] == {"noisy": 3}
    assert (found["differing_pronouns"], found["left_out_by_pair_list"]) == (5, 2)


def test_measure_pairs_become_a_study(command: Command, texts: tuple[Path, Path], tmp_path: Path) -> None:
    reference, system = texts
    command("measure", "pairs", "-r", reference, "-t", system, "-l", "de-en", "--kind", "noisy", "-o", "made.jsonl")
    command("study", "create", "made.jsonl", "-o", "again", "--annotators", "anna,ben")
    answer(tmp_path / "again", lambda name, item: ("reference",))
    found = json.loads(command("study", "agreement", "again", "--samples", "100", "--json"))
    assert found["preferred"] == 1
    counts = {pair: group["counts"]["reference"] for pair, group in found["pairs"].items()}
    assert counts == {"it:he": 6, "she:they": 4}


# ------------------------------------------------------------------------------------- apt → study → judgments, scores


@pytest.fixture
def apt(command: Command, tmp_path: Path) -> Mapping[str, Any]:
    """What `apt` says of the three systems; its details are in details.tsv."""
    write(tmp_path / "src.en", [f"It is the {noun} ." for noun in NOUNS])
    for name, pronouns in FRENCH.items():
        write(tmp_path / f"{name}.fr", [f"{word} est le {noun} ." for word, noun in zip(pronouns, NOUNS, strict=True)])
    write(tmp_path / "align", ["0-0 1-1 2-2 3-3 4-4"] * len(NOUNS))
    systems = [name for name in FRENCH if name != "ref"]
    given = [word for name in systems for word in ("-t", f"{name}.fr", "--hyp-align", "align", "--name", name)]
    result = command(
        *("apt", "-s", "src.en", "-r", "ref.fr", "--ref-align", "align", *given, "-l", "en-fr"),
        *("--details", "details.tsv", "--json"),
    )
    return dict(json.loads(result))


@pytest.fixture
def gaps(command: Command, apt: Mapping[str, Any], tmp_path: Path) -> Path:
    """The gaps of apt's details, filled: everybody chooses what the reference has."""
    systems = [name for name in FRENCH if name != "ref"]
    given = [word for name in systems for word in ("-t", f"{name}.fr", "--name", name)]
    command(
        *("study", "create", "details.tsv", "-o", "gaps", "--mode", "gaps", "-s", "src.en", *given),
        *("-l", "en-fr", "--annotators", "anna,ben"),
    )
    answer(tmp_path / "gaps", lambda name, item: (FRENCH["ref"][int(item.sentence)].lower(),))
    return tmp_path / "gaps"


def test_gaps_of_plain_text_are_shown_as_it_is(command: Command, tmp_path: Path) -> None:
    """apt tokenizes plain text and counts words; the study hides the same pronoun in the text itself."""
    write(tmp_path / "plain.en", ["Yes, it's here."])
    write(tmp_path / "plain.fr", ["Oui, elle est là, et qu'elle y reste !"])
    write(tmp_path / "plain.align", ["0-0 1-1 2-2 3-3 4-4 5-10"])
    command(
        *("apt", "-s", "plain.en", "-r", "plain.fr", "-t", "plain.fr", "--name", "a", "-l", "en-fr"),
        *("--ref-align", "plain.align", "--hyp-align", "plain.align", "--tokenize", "moses"),
        *("--details", "plain.tsv"),
    )
    command(
        *("study", "create", "plain.tsv", "-o", "plain", "--mode", "gaps", "-s", "plain.en", "-t", "plain.fr"),
        *("--name", "a", "-l", "en-fr"),
    )
    (item,) = read_study(tmp_path / "plain").items
    assert item.candidates[0][-1] == "Oui, elle est là, et qu'elle y reste !"
    assert item.marks == (((5, 9),),)  # the first "elle", not the second


def test_judgments_of_every_gap_join_the_details(command: Command, gaps: Path) -> None:
    command("study", "export", gaps, "--judgments", "judgments.tsv")
    found = json.loads(command("apt-judgements", "details.tsv", "judgments.tsv", "-l", "en-fr", "--json"))
    assert (found["unjudged"], found["unmatched"]) == (0, 0)
    assert found["cases"]["c1"]["correct"] == 2 * (5 + 4)  # two annotators; the reference's word is always right
    assert found["total"]["correct"] == 2 * (5 + 4 + 0)
    assert found["total"]["total"] == 2 * 18


def test_accepted_options_are_scored_by_discomt(command: Command, gaps: Path) -> None:
    command("study", "export", gaps, "--annotations", "gaps.tsv")
    found = json.loads(command("discomt", "gaps.tsv", "-l", "en-fr", "--samples", "100", "--json"))
    accuracy = {name: system["accuracy"]["value"] for name, system in found["systems"].items()}
    assert accuracy == {"good": pytest.approx(5 / 6), "fair": pytest.approx(4 / 6), "poor": 0}


def test_human_scores_correlate_with_apt(command: Command, gaps: Path, apt: Mapping[str, Any], tmp_path: Path) -> None:
    rows = [f"{name}\t{system['apt']}" for name, system in apt["systems"].items()]
    write(tmp_path / "metrics.tsv", ["system\tapt", *rows])
    command("study", "export", gaps, "--human", "scores.tsv", "--metrics", "metrics.tsv")
    found = json.loads(command("correlate", "scores.tsv", "--interval", "fisher", "--json"))
    assert found["systems"] == ["good", "fair", "poor"]
    assert found["metrics"]["apt"]["spearman"]["value"] == pytest.approx(1)
