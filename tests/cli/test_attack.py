"""`anaphora build attack`: new suites from a suite file, and what cannot be attacked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

# --------------------------------------------------------------------------------------------------------------- attack
# `anaphora build attack`: a new suite from a suite file, its originals named, and what cannot be attacked.

Run = Callable[..., subprocess.CompletedProcess[str]]
Refused = Callable[..., str]
AsJson = Callable[..., Any]

HEADER = {"anaphora": 1, "name": "hats", "source_language": "en", "target_language": "de"}
HEADER |= {"breakdowns": ["reference_pronoun"]}
TAGS = {"reference_pronoun": "er", "source_antecedent": "my hat", "target_antecedent": "mein Hut", "distance": 1}


def row(identifier: str, tags: dict[str, Any], context: int = 1) -> dict[str, Any]:
    source = ["Look at that.", "Here is my hat."][2 - context :]
    target = ["Sieh dir das an.", "Hier ist mein Hut."][2 - context :]
    candidates = [[*target, f"{word} ist alt."] for word in ("Er", "Sie", "Es")]
    return {"id": identifier, "source": [*source, "It is old."], "candidates": candidates, "gold": 0, "tags": tags}


def written(path: Path, *rows: dict[str, Any], **header: str) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in (HEADER | header, *rows)), encoding="utf-8")
    return path


@pytest.fixture
def hats(tmp_path: Path) -> Path:
    """Two examples with an antecedent, one without."""
    return written(tmp_path / "hats.jsonl", row("a", TAGS), row("b", TAGS), row("c", {}))


def examples(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[1:]]


def test_a_phrase_of_the_paper(as_json: AsJson, anaphora: Run, hats: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    document = as_json("build", "attack", "phrase", hats, "--preset", "but_sure", "-o", out)
    assert document["suite"] == "hats-phrase-addition-but_sure"
    assert (document["path"], document["examples"], document["left_alone"]) == (str(out), 3, {})
    first, *_ = rows = examples(out)
    assert [r["tags"]["attacked"] for r in rows] == ["a", "b", "c"]
    assert first["source"] == ["Here is my hat but he wasn't sure.", "It is old."]
    assert first["candidates"][2] == ["Hier ist mein Hut, aber er war sich nicht sicher.", "Es ist alt."]
    assert json.loads(anaphora("suites", "show", out, "--json").stdout)["sha256"] == document["sha256"]
    anaphora("suites", "validate", out)


def test_own_phrases(anaphora: Run, hats: Path, tmp_path: Path) -> None:
    done = anaphora(
        *("build", "attack", "phrase", hats, "--source", "so they say.", "--target", "so heißt es."),
        *("--place", "sentence", "--name", "hearsay", "-o", tmp_path / "out.jsonl"),
    )
    assert done.stdout == ""
    assert done.stderr.startswith("hats-phrase-addition-hearsay@")
    assert ": 3 examples: " in done.stderr
    first = examples(tmp_path / "out.jsonl")[0]
    assert (first["source"][0], first["candidates"][0][0]) == (
        "Here is my hat. So they say.",
        "Hier ist mein Hut. So heißt es.",
    )
    assert first["id"] == "phrase-addition/hearsay/a"


def test_quoted_and_small_letters(anaphora: Run, hats: Path, tmp_path: Path) -> None:
    words = ("--source", "we read:", "--target", "wir lasen:")
    anaphora("build", "attack", "phrase", hats, *words, "--quoted", "--truecased", "-o", tmp_path / "out.jsonl")
    assert examples(tmp_path / "out.jsonl")[0]["source"][0] == 'we read: "Here is my hat."'


def test_presets_of_a_file_and_several_at_once(as_json: AsJson, hats: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('[x]\nplace = "before"\nen = "well,"\nde = "nun,"\n', encoding="utf-8")
    names = ("--preset", "x", "--preset", "he_said", "--presets", tmp_path / "mine.toml")
    document = as_json("build", "attack", "phrase", hats, *names, "-o", tmp_path / "out.jsonl.gz")
    assert (document["suite"], document["examples"]) == ("hats-phrase-addition", 6)


def test_an_owner(as_json: AsJson, anaphora: Run, hats: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    document = as_json("build", "attack", "possessive", hats, "--preset", "woman", "-o", out)
    assert (document["examples"], document["left_alone"]) == (2, {"no antecedent known": 1})
    first = examples(out)[0]
    assert (first["source"][0], first["candidates"][0][0]) == (
        "Here is the woman's hat.",
        "Hier ist ein Hut von der Frau.",
    )
    done = anaphora(
        *("build", "attack", "possessive", hats, "--source", "the king's", "--target", "des Königs", "-o", out)
    )
    assert "left alone: 1, no antecedent known" in done.stderr
    assert examples(out)[0]["candidates"][0][0] == "Hier ist ein Hut des Königs."


def test_a_wrong_antecedent(as_json: AsJson, hats: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    document = as_json("build", "attack", "wrong-antecedent", hats, "--seed", "3", "-o", out)
    assert (document["suite"], document["examples"]) == ("hats-wrong-antecedent", 2)
    for example in examples(out):
        assert example["source"][0].startswith("Here is my hat. There was no ")
        assert example["tags"]["distractor_gender"] in ("feminine", "neuter")


def test_other_contexts(anaphora: Run, tmp_path: Path) -> None:
    long = written(tmp_path / "long.jsonl", row("a", TAGS, 2), row("b", TAGS, 2) | {"source": ["One.", "Two.", "It."]})
    first = {}
    for name in ("random-context", "shuffled-context", "no-context"):
        anaphora("build", "attack", name, long, "-o", tmp_path / f"{name}.jsonl")
        first[name] = examples(tmp_path / f"{name}.jsonl")[0]
        assert (first[name]["id"], first[name]["tags"]["attacked"]) == (f"{name}/a", "a")
    assert first["random-context"]["source"] == ["One.", "Two.", "It is old."]
    assert first["shuffled-context"]["source"] == ["Here is my hat.", "Look at that.", "It is old."]
    assert first["no-context"]["source"] == ["", "", "It is old."]


def test_presets_are_listed(anaphora: Run, as_json: AsJson) -> None:
    text = anaphora("build", "attack", "presets").stdout
    assert "true_colon" in text
    assert "it is true: C" in text
    document = as_json("build", "attack", "presets")
    assert document["phrase"]["he_said"]["de"] == "er sagte:"
    assert document["possessive"]["man"]["de"]["after"] == "vom Mann"
    assert anaphora("build", "attack", "presets", "--format", "markdown").stdout.count("|") > 50


def test_help_names_the_attacks(anaphora: Run) -> None:
    assert "attack" in anaphora("build", "--help").stdout
    text = anaphora("build", "attack", "--help").stdout
    for name in ("phrase", "possessive", "wrong-antecedent", "random-context", "shuffled-context", "no-context"):
        assert name in text


# ------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize("attack", ["phrase", "possessive"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--source", "hello:"),
            "--source-phrase without --target-phrase: the phrase is needed in both languages",
        ),
        (
            ("--target", "hallo:"),
            "--target-phrase without --source-phrase: the phrase is needed in both languages",
        ),
        (("--source", "hello:", "--target", " "), "--source-phrase without --target-phrase"),
        (
            (),
            "no phrase given. Pass --preset NAME (see: anaphora build attack presets)",
        ),
        (("--preset", "x", "--source", "a", "--target", "b"), "--preset cannot be combined with"),
        (("--preset", "he_sayd"), "unknown preset 'he_sayd'"),
    ],
)
def test_phrases_that_are_incomplete(
    refused: Refused, hats: Path, attack: str, options: tuple[str, ...], message: str
) -> None:
    assert refused("build", "attack", attack, hats, *options, "-o", "out.jsonl").startswith(message)


def test_a_suite_without_antecedents(refused: Refused, tmp_path: Path) -> None:
    bare = written(tmp_path / "bare.jsonl", row("a", {}))
    message = refused("build", "attack", "possessive", bare, "--preset", "maria", "-o", "out.jsonl")
    assert message.startswith(f"{bare}: no example has the tags source_antecedent, target_antecedent, distance")
    assert "--annotate-source" in message
    assert "no example has the tags" in refused("build", "attack", "wrong-antecedent", bare, "-o", "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_nothing_can_be_attacked(refused: Refused, tmp_path: Path) -> None:
    far = written(tmp_path / "far.jsonl", row("a", TAGS | {"distance": 5}), row("b", {}))
    message = refused("build", "attack", "possessive", far, "--preset", "maria", "-o", "out.jsonl")
    assert message.startswith(f"{far}: no example can be attacked (1: the antecedent is before the context; 1: no ant")
    assert not (tmp_path / "out.jsonl").exists()


def test_a_suite_without_context(refused: Refused, tmp_path: Path) -> None:
    alone = written(tmp_path / "alone.jsonl", row("a", TAGS, 0))
    assert "no example has a sentence before" in refused(
        "build", "attack", "phrase", alone, "--preset", "he_said", "-o", "out.jsonl"
    )
    for name in ("random-context", "shuffled-context", "no-context"):
        assert "there is nothing to change" in refused("build", "attack", name, alone, "-o", "out.jsonl")
    one = written(tmp_path / "one.jsonl", row("a", TAGS, 1))
    assert "no more than one sentence of context" in refused(
        "build", "attack", "shuffled-context", one, "-o", "out.jsonl"
    )


def test_a_language_without_phrases(refused: Refused, tmp_path: Path) -> None:
    czech = written(tmp_path / "czech.jsonl", row("a", TAGS), target_language="cs")
    message = refused("build", "attack", "phrase", czech, "--preset", "he_said", "-o", "out.jsonl")
    assert "no phrase for 'cs'" in message
    assert "--source-phrase TEXT --target-phrase TEXT" in message
    for attack in (("possessive", "--preset", "maria"), ("wrong-antecedent",)):
        refused("build", "attack", attack[0], czech, *attack[1:], "-o", "out.jsonl")


def test_an_unknown_attack(refused: Refused) -> None:
    assert "no such command 'phrases' (did you mean phrase" in refused("build", "attack", "phrases")


# ------------------------------------------------------------------------------------------------------- attack synonym
# `anaphora build attack synonym`, end to end with resources of a few lines.

needs_attack_synonym = pytest.mark.skipif(
    find_spec("german_nouns") is None, reason="german-nouns is not installed: pip install german-nouns"
)

SYNONYM_HEADER = {"anaphora": 1, "name": "stage", "source_language": "en", "target_language": "de", "breakdowns": []}
SYNONYM_TAGS = {
    "source_antecedent": "the curtain",
    "target_antecedent": "Der Vorhang",
    "distance": 1,
    "reference_pronoun": "er",
}
THESAURUS = "UTF-8\nvorhang|1\n-|Gardine|Vorhang\ngardine|1\n-|Gardine|Vorhang\n"


def synonym_row(identifier: str, tags: dict[str, Any]) -> dict[str, Any]:
    candidates = [["Der Vorhang ist alt.", f"{word} geht hoch."] for word in ("Er", "Sie", "Es")]
    source = ["The curtain is old.", "It rises."]
    return {"id": identifier, "source": source, "candidates": candidates, "gold": 0, "tags": tags}


@pytest.fixture
def stage(tmp_path: Path) -> Path:
    (tmp_path / "th.dat").write_text(THESAURUS, encoding="utf-8")
    (tmp_path / "agree.txt").write_text("Vorhang {m}; Gardine {f} :: curtain\n", encoding="utf-8")
    (tmp_path / "differ.txt").write_text("Vorhang {m} :: curtain\nGardine {f} :: net curtain\n", encoding="utf-8")
    path = tmp_path / "stage.jsonl"
    lines = [SYNONYM_HEADER, synonym_row("a", SYNONYM_TAGS), synonym_row("b", {})]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@needs_attack_synonym
@pytest.mark.parametrize("more", [(), ("--dictionary", "agree.txt", "--shared", "1")])
def test_a_suite_is_attacked(anaphora: Run, stage: Path, tmp_path: Path, more: tuple[str, ...]) -> None:
    command = ("build", "attack", "synonym", stage, "--thesaurus", "mythes:th.dat", *more, "-o", "out.jsonl", "--json")
    document = json.loads(anaphora(*command).stdout)
    assert (document["suite"], document["examples"]) == ("stage-synonym-replacement", 1)
    assert document["left_alone"] == {"no antecedent known": 1}
    example = json.loads((tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert example["gold"] == 1
    assert example["candidates"][1] == ["Die Gardine ist alt.", "Sie geht hoch."]
    assert example["tags"]["attacked"] == "a"
    anaphora("suites", "validate", "out.jsonl")


@needs_attack_synonym
@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (("--thesaurus", "mythes:th.dat", "--dictionary", "differ.txt"), "1: no synonym of another gender"),
        (("--thesaurus", "th.dat"), "is not a known resource. Write one of: mythes:PATH"),
        (("--thesaurus", "mythes:none.dat"), "none.dat: no such file"),
        (("--thesaurus", "mythes:th.dat", "--wordnet", "nowhere"), "nowhere"),
        (("--thesaurus", "mythes:th.dat", "--dictionary", "th.dat"), "th.dat: the file has no nouns"),
        (("--thesaurus", "mythes:th.dat", "--annotate-target", "nothing"), "not an annotator: 'nothing'"),
    ],
)
def test_errors_are_one_line(anaphora: Run, stage: Path, more: tuple[str, ...], problem: str) -> None:
    done = anaphora("build", "attack", "synonym", stage, *more, "-o", "out.jsonl", check=2)
    assert done.stdout == ""
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("error: ")]) == 1


@needs_attack_synonym
def test_the_default_is_that_of_the_library() -> None:
    from anaphora.build.attacks.synonym import SHARED
    from anaphora.cli.attack import synonym

    assert next(option.default for option in synonym.params if option.name == "shared") == SHARED
