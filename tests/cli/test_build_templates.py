"""`anaphora build templates` from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.suite import read_native

AsJson = Callable[..., Any]
Refused = Callable[..., str]


def test_a_suite_of_all_templates_with_the_counts_of_table_8(as_json: AsJson, tmp_path: Path) -> None:
    """And 828 examples more: Table 8 counts the two orders of the position prior as one."""
    document = as_json("build", "templates", "-o", "contracat.jsonl")
    assert document["templates"]["overlap/object"] == 5_376
    assert document["templates"]["gender"] == 4_102
    assert len(document["templates"]) == 13
    assert document["examples"] == sum(document["templates"].values()) == 37_566 + 828
    assert (document["suite"], document["path"], document["edition"]) == ("contracat-en-de", "contracat.jsonl", "paper")
    suite = read_native(tmp_path / "contracat.jsonl")
    assert suite.sha256() == document["sha256"]
    assert suite.header.breakdowns == ("step", "template", "template×variant", "template×reference_gender")
    assert "contracat" in suite.header.citation.lower()
    assert sum(1 for _ in suite) == document["examples"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--only", "prior/role", "--only", "prior/verb"),
        ("--only", "prior/role", "prior/verb"),
    ],
)
def test_some_templates(as_json: AsJson, arguments: tuple[str, ...]) -> None:
    document = as_json("build", "templates", *arguments, "-o", "some.jsonl")
    assert document["templates"] == {"prior/role": 1_000, "prior/verb": 600}


def test_another_language_pair_and_what_is_printed(anaphora: Callable[..., Any], tmp_path: Path) -> None:
    done = anaphora("build", "templates", "-l", "en-fr", "--only", "gender", "-o", "fr.jsonl.gz")
    assert done.stdout == ""
    first, last = done.stderr.splitlines()
    count = int(first.split()[1])
    assert first.split()[0] == "gender"
    assert last.startswith("contracat-en-fr@")
    assert last.endswith(f": {count} examples: fr.jsonl.gz")
    assert sum(1 for _ in read_native(tmp_path / "fr.jsonl.gz")) == count


def test_the_release_from_its_vocabulary(as_json: AsJson, data: Callable[[str], Path]) -> None:
    vocabulary = data("contracat/templates/vocabulary")
    document = as_json("build", "templates", "--only", "prior", "--vocabulary", vocabulary, "-o", "x.jsonl")
    assert document["edition"] == "release"
    assert document["templates"] == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 700}
    document = as_json(
        "build", "templates", "--only", "prior", "--vocabulary", vocabulary, "--edition", "paper", "-o", "x.jsonl"
    )
    assert document["templates"] == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 600}


def test_a_suite_of_templates_is_evaluated_by_template(as_json: AsJson, tmp_path: Path) -> None:
    """The way of the data: templates, scores, accuracy; and what a system chooses where nothing is right."""
    as_json("build", "templates", "--only", "prior/verb", "markable", "-o", "suite.jsonl")
    with (tmp_path / "es.scores").open("w") as scores:
        for example in read_native(tmp_path / "suite.jsonl"):
            scores.writelines(f"{-abs(k - 2)}\n" for k in range(len(example.candidates)))  # always "es"
    result = as_json("evaluate", "suite.jsonl", "--scores", "es.scores")
    markable = result["breakdowns"]["template"]["markable"]
    assert (markable["total"], markable["correct"]) == (2_560, 7 * 20 * 4 * 2)  # the seven neuter animals
    assert json.dumps(result).count('"neuter"') >= 1


def test_table_11_is_computed_from_the_default_suite(as_json: AsJson, tmp_path: Path) -> None:
    """A system that takes the second noun of two, in both orders."""
    as_json("build", "templates", "--only", "prior/position", "-o", "suite.jsonl")
    with (tmp_path / "second.scores").open("w") as scores:
        for example in read_native(tmp_path / "suite.jsonl"):
            scores.writelines(f"{int(choice == 'second')}\n" for choice in example.tags["choices"])
    result = as_json("evaluate", "suite.jsonl", "--scores", "second.scores")
    (figure,) = result["priors"]["prior/position"].values()
    assert (list(result["priors"]["prior/position"]), figure["total"], figure["share"]) == (["second"], 828, 1.0)
    assert result["unpaired"] == {}


def test_a_template_that_finds_no_words_is_shown(anaphora: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "animal.tsv").write_text("en\tde\tgender\nfox\tFuchs\tm\ncat\tKatze\tf\n", encoding="utf-8")
    done = anaphora(
        "build", "templates", "--vocabulary", "words", "--only", "prior/role", "overlap/verb", "-o", "x.jsonl"
    )
    assert "overlap/verb              0  the vocabulary has too few words for it" in done.stderr
    assert "prior/role               80" in done.stderr


# bad input: one line with the file, the place and the way out


def test_a_word_without_gender(refused: Refused, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    (words / "animal.tsv").write_text("en\tde\tgender\ndog\tHund\tm\ncat\tKatze\n", encoding="utf-8")
    message = refused("build", "templates", "--vocabulary", words, "-o", "x.jsonl")
    assert message == f"{words}/animal.tsv: line 3: 'cat' has no gender. Give it one of m, f, n."
    assert not (tmp_path / "x.jsonl").exists()


def test_a_word_without_gender_in_the_format_of_the_release(refused: Refused, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    document = {"dog": {"de": "Hund", "gender": "m"}, "cat": {"de": "Katze"}}
    (words / "animal.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    message = refused("build", "templates", "--vocabulary", words, "-o", "x.jsonl")
    assert message == f"{words}/animal.json: line 6: 'cat' has no gender. Give it one of m, f, n."


def test_a_template_with_an_unknown_slot(refused: Refused, tmp_path: Path) -> None:
    pair = tmp_path / "en-de"
    pair.mkdir()
    (pair / "templates.toml").write_text(
        '[[template]]\nid = "mine"\nslots = { animal = "animal" }\nantecedent = "animal"\n'
        'source = ["{animal: the} came.", "It sat."]\ntarget = ["{animl: the} kam.", "{it} saß."]\n',
        encoding="utf-8",
    )
    message = refused("build", "templates", "-l", pair, "-o", "x.jsonl")
    assert message == (
        f"{pair}/templates.toml: line 6: template mine: unknown slot 'animl' (did you mean animal?). "
        'Add it under slots, as in animl = "animal"; there are animal.'
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-l", "en-xx"), "no templates for 'en-xx'"),
        (("--only", "gendr"), "no template 'gendr' (did you mean gender?)"),
        (("prior/role",), "unexpected argument 'prior/role'. Choose templates with --only prior/role"),
        (("--edition", "first"), "no edition 'first'"),
        (("--vocabulary", "nowhere"), "nowhere: no such folder"),
    ],
)
def test_other_refusals(refused: Refused, arguments: tuple[str, ...], message: str) -> None:
    assert refused("build", "templates", *arguments, "-o", "x.jsonl").startswith(message)
