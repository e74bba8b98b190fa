"""Plain or tokenized, with whatever apostrophes: every command gives a text and its copy the same figures."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sacremoses")
pytest.importorskip("sacrebleu")
pytest.importorskip("anaphora.align.thot")

from anaphora.align import Settings
from anaphora.cli import main
from anaphora.cli.app import app
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

APOSTROPHES = ["'", "’", "ʼ", "＇", "&apos;", "&#39;", "&#x27;", "&rsquo;", "&amp;apos;"]
SPACES = [" ", "\u00a0", "\u202f", "\u2009", "&nbsp;"]
THINGS = {"clock": "l'horloge", "tree": "l'arbre", "river": "la rivière", "idea": "l'idée", "hotel": "l'hôtel"}
SOURCE = [
    line
    for thing in THINGS
    for line in (f"The {thing}, it's old.", f"They say it doesn't end: the {thing}!", f"It is the {thing}, isn't it?")
]
REFERENCE = [
    line
    for thing in THINGS.values()
    for line in (
        f"C'est vieux, {thing}.",
        f"Ils disent qu'elle n'a pas de fin : {thing} !",
        f"C'est {thing}, n'est-ce pas ?",
    )
]
SYSTEM = [line.replace("qu'elle", "qu'il").replace("C'est vieux", "Il est vieux") for line in REFERENCE]


def respelled(lines: list[str], seed: int) -> list[str]:
    """The lines with random choices among the ways to write an apostrophe and a space."""
    drawn = random.Random(seed)
    ways = {"'": APOSTROPHES, " ": SPACES}
    return ["".join(drawn.choice(ways[sign]) if sign in ways else sign for sign in line) for line in lines]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    texts = {"s.en": SOURCE, "r.fr": REFERENCE, "t.fr": SYSTEM}
    texts |= {f"t{seed}.fr": respelled(SYSTEM, seed) for seed in range(3)}
    texts |= {"odd.en": respelled(SOURCE, 7), "odd.fr": respelled(REFERENCE, 8), "copy.fr": REFERENCE}
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


Printed = Callable[..., Any]  # of a command: what it wrote to out and err


@pytest.fixture
def printed(files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run a command in this process: an aligner takes long to load."""
    monkeypatch.chdir(files)

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        actual = capsys.readouterr()
        assert stop.value.code == 0, actual.err
        return actual

    return run


@pytest.fixture
def as_json(printed: Printed) -> Callable[..., Any]:
    return lambda *arguments: json.loads(printed(*arguments, "--json").out)


@pytest.fixture
def figures(files: Path, as_json: Callable[..., Any]) -> Callable[..., list[Any]]:
    """The figures of the system and its respelled copies against both references, without signatures."""

    def run(command: str, *options: str) -> list[Any]:
        systems = [option for name in ("t", "t0", "t1", "t2") for option in ("-t", f"{name}.fr", "--name", name)]
        actual = []
        for source, reference in (("s.en", "r.fr"), ("odd.en", "odd.fr")):
            where = ["-r", reference, *systems] + ([] if command == "metrics" else ["-s", source])
            document = as_json(command, *where, "-l", "en-fr", "--samples", "100", *options)
            actual += [without_names(system) for system in document["systems"].values()]
        return actual

    return run


def without_names(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: without_names(value) for key, value in document.items() if key not in ("system", "signature")}
    return document


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("apt", ("--align-backend", "builtin")),
        ("apt", ("--align-model", "fast_align")),
        ("autoprf", ()),
        ("metrics", ("--metric", "meteor,meteor-pronouns")),
        ("metrics", ("--normalize",)),
    ],
)
def test_copies_with_other_signs_have_the_same_figures(
    figures: Callable[..., list[Any]], command: str, options: tuple[str, ...]
) -> None:
    first, *others = figures(command, *options)
    assert all(one == first for one in others)


def test_generative_figures_do_not_depend_on_signs(files: Path, as_json: Callable[..., Any]) -> None:
    wrong = [line.replace("qu'elle", "qu'il").replace("C'est", "Il est") for line in REFERENCE]
    for name, seed in (("suite", None), ("odd", 3)):
        spelled = [lines if seed is None else respelled(lines, seed) for lines in (SOURCE, REFERENCE, wrong)]
        examples = [
            Example(f"{k}", (source,), ((right,), (other,)), 0)
            for k, (source, right, other) in enumerate(zip(*spelled, strict=True))
        ]
        suite_of(Header("made-up", "en", "fr"), lambda made=examples: made).write(files / f"{name}.jsonl")
    actual = []
    for suite in ("suite.jsonl", "odd.jsonl"):
        for system in ("t", "t0", "t1"):
            document = as_json("generative", suite, "-t", f"{system}.fr", "--model", "fast_align")
            actual.append({key: document[key] for key in ("correct", "wrong", "not_found", "found_by", "references")})
    assert all(one == actual[0] for one in actual)
    assert actual[0]["correct"] < actual[0]["correct"] + actual[0]["wrong"]


@pytest.mark.parametrize("backend", ["builtin", "thot"])
def test_a_copy_of_the_reference_is_the_same_everywhere(files: Path, as_json: Callable[..., Any], backend: str) -> None:
    options = ("-l", "en-fr", "--align-backend", backend, "--samples", "100")
    document = as_json("apt", "-s", "s.en", "-r", "r.fr", "-t", "copy.fr", "-t", "odd.fr", *options)
    for system in document["systems"].values():
        same, _, _, _, _, neither = system["cases"]
        assert same > 0
        assert same + neither == sum(system["cases"])


def test_what_was_normalized_is_shown(files: Path, printed: Printed) -> None:
    texts = ("-s", "s.en", "-r", "r.fr", "-t", "curly.fr")
    (files / "curly.fr").write_text("\n".join(SYSTEM).replace("'", "’") + "\n", encoding="utf-8")
    count = sum(line.count("'") for line in SYSTEM)
    for command in ("apt", "autoprf"):
        done = printed(command, *texts, "-l", "en-fr")
        assert f"normalized: curly.fr {count} ’" in done.out
        assert "|tok:moses|norm:signs|" in done.out
        done = printed(command, *texts, "-l", "en-fr", "--no-normalize")
        assert "normalized" not in done.out
        assert "|tok:moses|norm:none|" in done.out
        document = json.loads(printed(command, *texts, "-l", "en-fr", "--json").out)
        assert document["texts"]["curly.fr"]["normalized"] == {"’": count}


def test_metrics_say_what_bleu_takes_for_errors(files: Path, printed: Printed) -> None:
    (files / "curly.fr").write_text("\n".join(SYSTEM).replace("'", "’") + "\n", encoding="utf-8")
    texts = ("metrics", "-r", "r.fr", "-t", "curly.fr", "-l", "en-fr", "--samples", "100")
    done = printed(*texts)
    assert "curly.fr: 32 ’, none in the reference. BLEU, chrF, TER compare text as it is" in done.err
    assert "normalized: curly.fr 32 ’" in done.out
    assert "compare text as it is" not in printed(*texts, "--normalize").err


def test_plain_text_taken_as_tokenized_is_warned_of(files: Path, printed: Printed) -> None:
    texts = ("-s", "s.en", "-r", "r.fr", "-t", "t.fr", "-l", "en-fr")
    for command in ("apt", "autoprf"):
        done = printed(command, *texts, "--tokenize", "none")
        assert "of source, " in done.err
        assert "still carry punctuation" in done.err
        assert "--tokenize moses" in done.err
        assert "|tok:none|" in done.out
        assert "carry punctuation" not in printed(command, *texts).err
    done = printed("metrics", *texts[2:], "--tokenize", "none", "--metric", "bleu,meteor")
    assert "words of t.fr still carry punctuation" in done.err


def test_tokenized_text_survives_the_default(files: Path, as_json: Callable[..., Any]) -> None:
    as_json("align", "s.en", "r.fr", "-o", "r.align", "--tokens", "s.tok.en", "r.tok.fr")
    as_json("align", "s.en", "t.fr", "-o", "t.align", "--tokens", "s.tok.en", "t.tok.fr")
    plain = as_json("apt", "-s", "s.en", "-r", "r.fr", "-t", "t.fr", "-l", "en-fr")
    tokenized = as_json("apt", "-s", "s.tok.en", "-r", "r.tok.fr", "-t", "t.tok.fr", "-l", "en-fr")
    assert plain["cases"] == tokenized["cases"]
    assert "|tok:moses|" in plain["signature"]
    assert "|tok:none|" in tokenized["signature"]
    given = ("--ref-align", "r.align", "--hyp-align", "t.align")
    for command in ("apt", "autoprf"):
        texts = ("-s", "s.tok.en", "-r", "r.tok.fr", "-t", "t.tok.fr", "-l", "en-fr")
        assert "|tok:none|" in as_json(command, *texts, *given)["signature"]
        moses = as_json(command, "-s", "s.en", "-r", "r.fr", "-t", "t.fr", "-l", "en-fr", "--tokenize", "moses", *given)
        key = "cases" if command == "apt" else "matches"
        assert moses[key] == as_json(command, *texts, *given)[key]


def test_alignments_that_count_other_words_are_refused(files: Path, refused: Callable[..., str]) -> None:
    long = " ".join(f"{k}-{k}" for k in range(6))
    (files / "al").write_text(f"{long}\n" * len(SOURCE))
    options = ("-s", "s.en", "-r", "r.fr", "-t", "t.fr", "-l", "en-fr", "--ref-align", "al", "--hyp-align", "al")
    for command in ("apt", "autoprf"):
        assert "is outside the" in refused(command, *options)


def test_the_default_is_the_same_in_every_command() -> None:
    actual = {name: option.default for name, option in tokenize_options()}
    assert actual == dict.fromkeys(("apt", "autoprf", "generative", "metrics", "align"), "auto")
    assert Settings().tokenize == "auto"


def tokenize_options(group: Any = app) -> Iterator[tuple[str, Any]]:
    context = group.make_context("anaphora", ["--help"], resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if hasattr(command, "list_commands"):
            yield from tokenize_options(command)
        for option in command.params:
            if option.name == "tokenize":
                yield name, option
