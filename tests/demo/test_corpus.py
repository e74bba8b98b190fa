"""What the demo learns from and what it asks."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora import api
from anaphora.demo.corpus import EACH, EACH_EASY, EASY, Demo, Files, demo_suite, run_demo, write_corpus
from anaphora.suites.suite import read_native
from anaphora.suites.validate import validate_file


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def documents(path: Path) -> list[tuple[str, ...]]:
    return [tuple(text.split("\n")) for text in path.read_text("utf-8").strip().split("\n\n")]


def test_both_sides_have_the_same_documents_of_two_sentences(files: Files) -> None:
    for source, target in (files.train, files.validation):
        english, german = documents(source), documents(target)
        assert len(english) == len(german)
        assert {len(document) for document in (*english, *german)} == {2}
    assert len(documents(files.train[0])) > 20_000


def test_tested_first_sentences_were_never_trained_on(files: Files) -> None:
    shown = {document[0] for document in documents(files.train[0])}
    asked = [example for example in read_native(files.suite) if example.tags["template"] != "gender"]
    assert asked
    assert not [example.id for example in asked if example.source[0] in shown]


def test_nouns_whose_gender_is_asked_were_shown(files: Files) -> None:
    shown = {word for document in documents(files.train[0]) for word in document[0].lower().rstrip(".").split()}
    asked = [example for example in read_native(files.suite) if example.tags["template"] == "gender"]
    assert asked
    assert all(set(example.source[0].lower().rstrip(".").split()) <= shown for example in asked)


def test_every_template_is_asked_about_as_often(files: Files) -> None:
    counts = Counter(str(example.tags["template"]) for example in read_native(files.suite))
    assert len(counts) >= 12
    assert all(counts[template] == EACH_EASY for template in EASY)
    assert max(counts.values()) == EACH


def test_nouns_are_asked_about_in_both_orders(files: Files) -> None:
    pairs = Counter(str(e.tags["pair"]) for e in read_native(files.suite) if e.tags["template"] == "prior/position")
    assert len(pairs) >= EACH // 4
    assert set(pairs.values()) == {2}


def test_it_is_the_same_every_time(files: Files, tmp_path: Path) -> None:
    again = write_corpus(tmp_path)
    assert again.suite.read_bytes() == files.suite.read_bytes()
    assert again.train[1].read_bytes() == files.train[1].read_bytes()


# The demo is what a newcomer sees first: it must run anywhere, always say the same, and be sound German


ARTICLES = {"er": "den", "sie": "die", "es": "das"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    return run_demo(tmp_path_factory.mktemp("demo"))


def test_the_suite_is_balanced() -> None:
    """24 nouns, eight of each gender, in 3 frames, followed by 3 sentences, 1 or 2 sentences back."""
    examples = list(demo_suite())
    assert len(examples) == 24 * 3 * 3 * 2
    assert Counter((e.tags["reference_pronoun"], e.tags["distance"]) for e in examples) == {
        (pronoun, distance): 72 for pronoun in ARTICLES for distance in (1, 2)
    }
    assert len({e.id for e in examples}) == len(examples)


def test_the_suite_is_sound() -> None:
    for e in demo_suite():
        assert e.gold is not None
        pronoun = str(e.tags["reference_pronoun"])
        words = e.candidates[e.gold][-1].lower().replace(".", "").split()
        assert pronoun in words
        others = {c[-1] for k, c in enumerate(e.candidates) if k != e.gold}
        assert len(others) == 2
        assert e.candidates[e.gold][-1] not in others
        assert f"{ARTICLES[pronoun]} {e.tags['noun']}" in " ".join(e.candidates[0][:-1])
        antecedent = len(e.source) - 1 - int(str(e.tags["distance"]))
        assert str(e.tags["noun"]) in e.candidates[0][antecedent]
        for sentence in (*e.source, *(s for c in e.candidates for s in c)):
            assert sentence == "" or (sentence[0].isupper() and sentence.endswith("."))


def test_everything_it_speaks_of_is_left_behind(demo: Demo) -> None:
    assert demo.suite.is_file()
    assert list(validate_file(demo.suite)) == []
    assert [file.name for file in demo.scores] == ["sentence-level.scores", "context-aware.scores"]
    for file, result in zip(demo.scores, demo.results, strict=True):
        assert api.evaluate(demo.suite, scores=file) == result
        assert api.evaluate(demo.folder / "runs" / file.stem) == result


def test_its_figures_are_in_results_json_as_the_contract_says(demo: Demo) -> None:
    document = json.loads((demo.folder / "results.json").read_text(encoding="utf-8"))
    assert list(document["systems"]) == ["sentence-level", "context-aware"]
    for figures, result in zip(document["systems"].values(), demo.results, strict=True):
        assert figures["accuracy"] == result.accuracy
        assert figures["total"] == 432


def test_it_tells_the_story_it_is_there_for(demo: Demo) -> None:
    """Without context a system guesses, mostly the neuter; with context it is better, surely, and less far back."""
    sentence_level, context_aware = demo.results
    assert sentence_level.accuracy == pytest.approx(1 / 3, abs=0.07)
    assert sentence_level.breakdowns["reference_pronoun"]["es"].accuracy > 0.6
    near, far = (context_aware.breakdowns["distance"][d].accuracy for d in ("1", "2"))
    assert near > far > sentence_level.accuracy
    overall = demo.comparison.pairs[0].overall
    assert overall.delta > 0.2
    assert overall.p_value < 0.001


def test_it_says_the_same_every_time(demo: Demo, tmp_path: Path) -> None:
    again = run_demo(tmp_path)
    for name in ("suite.jsonl", "sentence-level.scores", "context-aware.scores"):
        assert (tmp_path / name).read_bytes() == (demo.folder / name).read_bytes()
    assert [r.figure for r in again.results] == [r.figure for r in demo.results]
    assert [p.overall for p in again.comparison.pairs] == [p.overall for p in demo.comparison.pairs]
    other = run_demo(tmp_path / "other", seed=8)
    assert other.results[0].figure != demo.results[0].figure


def test_the_command_prints_its_tables_and_their_commands(
    anaphora: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    done = anaphora("demo", "--stand-ins", "-o", "shown")
    assert done.stdout.count("reference pronoun\n") == 2
    assert "scores:shown/sentence-level.scores → scores:shown/context-aware.scores" in done.stdout
    commands = [line.removeprefix("$ anaphora ") for line in done.stdout.splitlines() if line.startswith("$ ")]
    assert len(commands) == 3
    for command in commands:  # what it says one can type, one can type
        table = anaphora(*command.split()).stdout
        assert table in done.stdout
    assert (tmp_path / "shown" / "results.json").is_file()
