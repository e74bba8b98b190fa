"""The demo: its models, what it leaves, and how models are kept."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from anaphora.build.templates.suite import template_suite
from anaphora.cli.app import app
from anaphora.demo import corpus
from anaphora.demo.story import MODELS, keep
from anaphora.suites.suite import suite_of

# The demo with models: what it leaves behind, and that its story is the one it was written for.

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.core.errors import AnaphoraError
from anaphora.demo import story

NAMES = ["sentence-level", "context-aware"]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, story.Story]:
    """`anaphora demo --pretrained --json`: how it ended, and the story that it told."""
    stories: list[story.Story] = []
    run_story = story.run_story

    def recorded(*arguments: Any, **options: Any) -> story.Story:
        stories.append(run_story(*arguments, **options))
        return stories[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(story, "run_story", recorded)
        folder = tmp_path_factory.mktemp("demo")
        done = CliRunner().invoke(app, ["demo", "--pretrained", "--output", str(folder), "--json"])
    assert done.exit_code == 0, done.output
    return done, stories[0]


@pytest.fixture(scope="module")
def demo_story(command: tuple[Result, story.Story]) -> story.Story:
    return command[1]


def test_the_command_with_the_models_that_come_with_the_package(command: tuple[Result, story.Story]) -> None:
    done, shown = command
    document = json.loads(done.stdout)
    assert document["report"] == str(shown.report)
    assert shown.report.is_file()
    accuracies = [figures["accuracy"] for figures in document["systems"].values()]
    assert accuracies == [shown.results[name].accuracy for name in NAMES]
    assert accuracies[0] < 0.5 < 0.8 < accuracies[1]
    assert "Asking the context-aware model" in done.stderr


def test_context_helps_and_a_phrase_hurts(demo_story: story.Story) -> None:
    """The shipped weights: figures of `anaphora demo`, which may differ in the third digit on other processors."""
    sentence, context = (demo_story.results[name] for name in NAMES)
    assert sentence.accuracy == pytest.approx(0.395, abs=0.01)
    assert context.accuracy == pytest.approx(0.839, abs=0.01)
    overlap = context.breakdowns["template"]
    assert (overlap["overlap/object"].accuracy or 0) > 0.98
    assert (overlap["overlap/subject"].accuracy or 1) < 0.6
    assert any("context-aware loses 36" in line and "p < 0.001" in line for line in demo_story.summary)


def test_everything_is_left_behind(demo_story: story.Story) -> None:
    figures = json.loads((demo_story.folder / "results.json").read_text("utf-8"))
    assert list(figures["systems"]) == NAMES
    assert figures["systems"]["context-aware"] == demo_story.results["context-aware"].to_dict()
    page = demo_story.report.read_text("utf-8")
    assert demo_story.report == demo_story.folder / "report.html"
    assert "Attacks" in page
    assert "Diagnosis" in page
    assert sorted(path.name for path in (demo_story.folder / "runs").iterdir()) == [
        "context-aware-attacked",
        "context-aware-templates",
        "sentence-level-attacked",
        "sentence-level-templates",
    ]


def few_templates(languages: str) -> Any:
    """One of forty items of the templates, which train and test a model in a second."""
    whole = template_suite(languages)
    items = list(islice(whole.suite, 0, None, 40))
    return replace(whole, suite=suite_of(whole.suite.header, lambda: items))


def test_models_are_trained_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few updates teach nothing, but go all the way; a second demo in the folder takes the models as they are."""
    monkeypatch.setattr(story, "ATTACKS", ("he_said",))
    monkeypatch.setattr(corpus, "template_suite", cache(few_templates))
    monkeypatch.setattr(corpus, "VALIDATION", 40)
    messages: list[str] = []
    first = story.run_story(tmp_path / "demo", updates=4, say=messages.append)
    assert [line for line in messages if "Training" in line] == [f"Training the {name} model" for name in NAMES]
    weights = tmp_path / "demo/models/context-aware/model.safetensors"
    before = weights.read_bytes()
    again = story.run_story(tmp_path / "demo", updates=4)
    assert weights.read_bytes() == before
    assert again.results == first.results


def test_without_torch_the_error_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "missing_packages", lambda module: ("safetensors", "torch"))
    with pytest.raises(AnaphoraError, match=r'needs torch, safetensors: .*pip install "anaphora\[nmt\]".*--stand-ins'):
        story.run_story(tmp_path)


def test_pretrained_models_are_not_reported_as_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(story, "missing_packages", lambda module: ("safetensors", "torch"))
    with pytest.raises(AnaphoraError, match="the demo runs two small models, which needs torch, safetensors"):
        story.run_story(tmp_path, pretrained=True)


def test_the_first_table_has_short_names(demo_story: story.Story) -> None:
    """newcomer.md, diary: it was 175 columns wide."""
    assert list(demo_story.comparison.systems) == NAMES
    assert "sentence-level → context-aware" in str(demo_story.comparison)
    assert max(len(line) for line in str(demo_story.comparison).splitlines() if not line.startswith("signature")) <= 100


# Models of a demo that are kept.


def test_only_what_asking_needs_is_kept(tmp_path: Path) -> None:
    demo = tmp_path / "demo"
    for name in MODELS:
        folder = demo / "models" / name
        (folder / "checkpoints").mkdir(parents=True)
        (folder / "log.jsonl").write_text("{}")
        (folder / "model.safetensors").write_bytes(b"weights")
        (folder / "config.toml").write_text(f'source = ["{demo}/text/train.en"]')
    (tmp_path / "kept" / next(iter(MODELS))).mkdir(parents=True)
    keep(demo, tmp_path / "kept")
    for name in MODELS:
        folder = tmp_path / "kept" / name
        assert {file.name for file in folder.iterdir()} == {"model.safetensors", "config.toml"}
        assert (folder / "config.toml").read_text() == 'source = ["text/train.en"]'
        assert (folder / "model.safetensors").read_bytes() == b"weights"
