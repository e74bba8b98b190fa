"""What the study writes goes into the commands that read it, and what they write goes into the study."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import anaphora
from anaphora.cli.app import app
from anaphora.core.errors import AnaphoraError
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
    document = json.loads(made)
    assert document["pairs"] == {"noisy": 3}
    assert (document["differing_pronouns"], document["left_out_by_pair_list"]) == (5, 2)


def test_measure_pairs_become_a_study(command: Command, texts: tuple[Path, Path], tmp_path: Path) -> None:
    reference, system = texts
    command("measure", "pairs", "-r", reference, "-t", system, "-l", "de-en", "--kind", "noisy", "-o", "made.jsonl")
    command("study", "create", "made.jsonl", "-o", "again", "--annotators", "anna,ben")
    answer(tmp_path / "again", lambda name, item: ("reference",))
    document = json.loads(command("study", "agreement", "again", "--samples", "100", "--json"))
    assert document["preferred"] == 1
    counts = {pair: group["counts"]["reference"] for pair, group in document["pairs"].items()}
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
    document = json.loads(command("apt-judgements", "details.tsv", "judgments.tsv", "-l", "en-fr", "--json"))
    assert (document["unjudged"], document["unmatched"]) == (0, 0)
    assert document["cases"]["c1"]["correct"] == 2 * (5 + 4)  # two annotators; the reference's word is always right
    assert document["total"]["correct"] == 2 * (5 + 4 + 0)
    assert document["total"]["total"] == 2 * 18


def test_accepted_options_are_scored_by_discomt(command: Command, gaps: Path) -> None:
    command("study", "export", gaps, "--annotations", "gaps.tsv")
    document = json.loads(command("discomt", "gaps.tsv", "-l", "en-fr", "--samples", "100", "--json"))
    accuracy = {name: system["accuracy"]["value"] for name, system in document["systems"].items()}
    assert accuracy == {"good": pytest.approx(5 / 6), "fair": pytest.approx(4 / 6), "poor": 0}


def test_human_scores_correlate_with_apt(command: Command, gaps: Path, apt: Mapping[str, Any], tmp_path: Path) -> None:
    rows = [f"{name}\t{system['apt']}" for name, system in apt["systems"].items()]
    write(tmp_path / "metrics.tsv", ["system\tapt", *rows])
    command("study", "export", gaps, "--human", "scores.tsv", "--metrics", "metrics.tsv")
    document = json.loads(command("correlate", "scores.tsv", "--interval", "fisher", "--json"))
    assert document["systems"] == ["good", "fair", "poor"]
    assert document["metrics"]["apt"]["spearman"]["value"] == pytest.approx(1)


# --------------------------------------------------------------- generative → study → generative, apt → study → apt

GENERATIVE = ("generative", "suite.jsonl", "-t", "mine.de", "--aligner", "builtin")
# what the system wrote for *it*: wrong, correct, wrong by the reference but right, correct, not found
WRITTEN = ("Sie", "Er", "Er", "Es", "Das")


@pytest.fixture
def translated(tmp_path: Path) -> None:
    """Five examples, and translations of them with their context."""
    nouns = (("key", "der Schlüssel", "Er"), ("coat", "der Mantel", "Er"), ("bat", "die Fledermaus", "Sie"))
    nouns += (("book", "das Buch", "Es"), ("lamp", "die Lampe", "Sie"))
    header = {"anaphora": 1, "name": "small", "source_language": "en", "target_language": "de"}
    rows, lines = [], []
    for k, ((noun, german, right), written) in enumerate(zip(nouns, WRITTEN, strict=True)):
        before = f"Hier ist {german}."
        wrong = "Es" if right == "Sie" else "Sie"
        candidates = [[before, f"{word} war alt."] for word in (right, wrong, "Er" if right == "Sie" else "Ihn")]
        tags = {"source_pronoun": "it", "source_antecedent": f"the {noun}", "distance": 1}
        source = [f"Here is the {noun}.", "It was old."]
        rows.append({"id": f"e{k}", "source": source, "candidates": candidates, "gold": 0, "tags": tags})
        own = "Hier ist der Schläger." if noun == "bat" else before
        lines += [own, f"{written} war alt.", ""]
    write(tmp_path / "suite.jsonl", [json.dumps(row) for row in (header, *rows)])
    write(tmp_path / "mine.de", lines[:-1])


def by_hand(name: str, item: Any) -> tuple[str, ...]:
    """Both agree on the first and the third, and do not on the fifth."""
    return ({"e0": "wrong", "e2": "right"}.get(item.sentence, "right" if name == "anna" else "wrong"),)


@pytest.mark.usefixtures("translated")
def test_generative_asks_annotators_and_merges_their_answers(command: Command, tmp_path: Path) -> None:
    before = json.loads(command(*GENERATIVE, "--details", "generative.jsonl", "--json"))
    assert (before["correct"], before["wrong"], before["not_found"]) == (2, 2, 1)
    command(
        *("study", "create", "--from", "generative.jsonl", "--only", "wrong,not-found,unclear,3-6", "-o", "study"),
        *("--annotators", "anna,ben"),
    )
    study = read_study(tmp_path / "study")
    assert [item.id for item in study.items] == ["mine.de/e0", "mine.de/e2", "mine.de/e4"]
    nobody = json.loads(command(*GENERATIVE, "--answers", "study", "--json"))  # without answers nothing changes
    assert {key: nobody[key] for key in ("correct", "wrong", "not_found", "unclear")} == {
        **{"correct": 2, "wrong": 2, "not_found": 1, "unclear": 0}
    }
    assert (nobody["judged_by_machine"], nobody["judged_by_people"], nobody["not_judged"]) == (4, 0, 1)
    answer(tmp_path / "study", by_hand)
    after = json.loads(command(*GENERATIVE, "--answers", "study", "--json"))
    assert (after["correct"], after["wrong"], after["not_found"], after["unclear"]) == (3, 1, 0, 1)
    assert after["accuracy"] == pytest.approx(3 / 5)
    low, high = after["interval"]
    assert low < 0.6 < high
    assert (after["judged_by_machine"], after["judged_by_people"], after["not_judged"]) == (2, 2, 1)
    assert after["share_judged_by_people"] == pytest.approx(0.4)
    assert after["found_by"]["people"] == 3
    assert before["signature"] == re.sub(r"\|people:3@\w+", "", after["signature"]) != after["signature"]
    (result,) = anaphora.generative("suite.jsonl", "mine.de", aligner="builtin", answers="study")
    assert json.loads(json.dumps(result.to_dict())) == after["systems"]["mine.de"]
    table = command(*GENERATIVE, "--answers", "study")
    assert "judged by annotators 2 (40.0 %), by the program 2 (40.0 %), not judged 1 (20.0 %)" in table
    # the report states it, too
    write(tmp_path / "result.json", [json.dumps(after)])
    command("report", "--result", "result.json", "-o", "report.html")
    assert "judged by annotators 2 (40.0 %)" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("translated")
def test_own_antecedents_ask_annotators_too(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.languages.agreement.LEXICONS", {})  # the articles show the genders
    own = (*GENERATIVE, "--antecedent", "own")
    before = json.loads(command(*own, "--details", "own.jsonl", "--json"))
    assert before["agrees"] >= 1
    unsure = before["not_found"] + before["unclear"]
    made = anaphora.create_study("own.jsonl", "study", only=["not-found", "unclear"], annotators=["anna", "ben"])
    assert len(made.items) == unsure >= 1
    answer(tmp_path / "study", lambda name, item: ("right",))
    after = json.loads(command(*own, "--answers", "study", "--json"))
    assert after["agrees"] == before["agrees"] + unsure
    assert (after["not_found"], after["unclear"], after["not_judged"]) == (0, 0, 0)
    assert (after["judged_by_people"], after["judged_by_machine"]) == (unsure, 5 - unsure)
    assert after["reference"]["correct"] == before["reference"]["correct"]  # what the reference says stays
    assert "judged_by_people" not in after["reference"]


@pytest.mark.usefixtures("translated")
def test_answers_of_other_files_are_refused(command: Command, tmp_path: Path) -> None:
    command(*GENERATIVE, "--details", "generative.jsonl")
    command("study", "create", "--from", "generative.jsonl", "--only", "wrong", "-o", "study", "--annotators", "1")
    text = (tmp_path / "mine.de").read_text(encoding="utf-8")
    (tmp_path / "new.de").write_text(text.replace("Sie war alt.", "Sie war sehr alt."), encoding="utf-8")
    fewer = (tmp_path / "suite.jsonl").read_text(encoding="utf-8").splitlines()
    write(tmp_path / "fewer.jsonl", [fewer[0], *fewer[2:]])
    first = json.loads(fewer[1])
    changed = {**first, "source": ["Another context.", *first["source"][1:]]}
    write(tmp_path / "context.jsonl", [fewer[0], json.dumps(changed), *fewer[2:]])
    (tmp_path / "fewer.de").write_text(text.split("\n\n", 1)[1], encoding="utf-8")
    refused = {
        "about the system 'mine.de', which is not evaluated": ("suite.jsonl", "new.de", ()),
        "item mine.de/e0: the sentence, its context or its translation": ("suite.jsonl", "new.de", ["mine.de"]),
        "item mine.de/e0: .* is not the one that annotators saw": ("context.jsonl", "mine.de", ["mine.de"]),
        "about the item 'mine.de/e0', which is not evaluated": ("fewer.jsonl", "fewer.de", ["mine.de"]),
    }
    for message, (suite, file, names) in refused.items():
        with pytest.raises(AnaphoraError, match=message):
            anaphora.generative(suite, file, names=names, aligner="builtin", answers="study")


APT = ("apt", "-s", "src.en", "-r", "ref.fr", "--ref-align", "align", "-l", "en-fr")


def test_apt_asks_annotators_and_merges_their_answers(command: Command, apt: Mapping[str, Any], tmp_path: Path) -> None:
    systems = [name for name in FRENCH if name != "ref"]
    texts = [word for name in systems for word in ("-t", f"{name}.fr", "--name", name)]
    links = [word for _ in systems for word in ("--hyp-align", "align")]
    assert apt["systems"]["fair"]["cases"] == [4, 0, 2, 0, 0, 0]
    command(
        *("study", "create", "--from", "details.tsv", "--only", "3-6", "-s", "src.en", *texts, "-l", "en-fr"),
        *("-o", "study", "--annotators", "anna,ben"),
    )
    study = read_study(tmp_path / "study")
    assert {item.system: item.tags["case"] for item in study.items} == {"good": "3", "fair": "3", "poor": "3"}
    # the two of "fair" are right, those of the others are not, and nobody agrees on the first of "poor"
    split = {"anna": "right", "ben": "wrong"}

    def choose(name: str, item: Any) -> tuple[str, ...]:
        return (split[name] if item.id == "poor/0.0" else "right" if item.system == "fair" else "wrong",)

    answer(tmp_path / "study", choose)
    after = json.loads(command(*APT, *texts, *links, "--answers", "study", "--json"))
    fair, poor = after["systems"]["fair"], after["systems"]["poor"]
    assert (fair["apt"], fair["cases"]) == (1, [4, 0, 0, 0, 0, 0])
    assert fair["people"] == {"right": 2, "wrong": 0, "unclear": 0}
    assert (fair["judged_by_machine"], fair["judged_by_people"], fair["not_judged"]) == (4, 2, 0)
    assert (poor["apt"], poor["people"]) == (0, {"right": 0, "wrong": 5, "unclear": 1})
    assert poor["not_judged"] == 1
    assert fair["signature"] != apt["signature"]
    assert f"|people:{len(study.items)}@" in fair["signature"]
    links_of = ["align"] * len(systems)
    result = anaphora.apt(
        *("src.en", "ref.fr", [f"{name}.fr" for name in systems], "en-fr"),
        reference_alignments="align",
        translation_alignments=links_of,
        names=systems,
        answers="study",
    )
    assert json.loads(json.dumps(result.to_dict())) == after
    write(tmp_path / "result.json", [json.dumps(after)])
    command("report", "--result", "result.json", "-o", "report.html")
    assert "judged by annotators 2 (33.3 %)" in (tmp_path / "report.html").read_text(encoding="utf-8")
    with pytest.raises(AnaphoraError, match=r"about word 0 of sentence \d \(\w+\), which is not evaluated here"):
        anaphora.apt(
            *("src.en", "ref.fr", [f"{name}.fr" for name in systems], "en-fr"),
            reference_alignments="align",
            translation_alignments=links_of,
            names=systems,
            answers="study",
            pronouns=["they"],
        )


def test_answers_of_generative_are_none_of_apt(command: Command, apt: Mapping[str, Any], translated: None) -> None:
    command(*GENERATIVE, "--name", "good", "--details", "generative.jsonl")
    command("study", "create", "--from", "generative.jsonl", "-o", "study", "--annotators", "1")
    with pytest.raises(AnaphoraError, match="about the item 'good/e0', which is not evaluated here"):
        anaphora.apt("src.en", "ref.fr", "good.fr", "en-fr", names=["good"], answers="study")
