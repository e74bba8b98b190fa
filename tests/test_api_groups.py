"""What the functions for `suites`, `study`, `meta`, `build` and `measure` return and write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import anaphora
from anaphora.metrics import copy_example, write_example

ROWS = [
    {"source": ["The cup fell.", "It broke."], "candidates": ["Sie zerbrach.", "Er zerbrach."], "gold": 0},
    {"source": ["The spoon fell.", "It bent."], "candidates": ["Sie verbog sich.", "Er verbog sich."], "gold": 1},
]


@pytest.fixture
def cups() -> anaphora.Suite:
    return anaphora.load_suite(ROWS, name="cups", languages="en-de")


def test_rows_refuse_settings_of_formats() -> None:
    with pytest.raises(anaphora.AnaphoraError, match="rows take name, languages and breakdowns, not split"):
        anaphora.load_suite(ROWS, split="test")
    with pytest.raises(TypeError, match="has no parameter 'nam'"):
        anaphora.load_suite(ROWS, nam="cups")  # type: ignore[call-arg]


def test_suites_are_converted_validated_and_shown(cups: anaphora.Suite, tmp_path: Path) -> None:
    made = anaphora.convert_suite(cups, tmp_path / "one.jsonl", name="spoons", limit=1)
    assert (made.suite, made.files, made.lines) == ("spoons", (tmp_path / "one.jsonl",), None)
    assert made.sha256 == anaphora.load_suite(tmp_path / "one.jsonl").sha256()
    assert anaphora.validate_suite(tmp_path / "one.jsonl") == []
    assert anaphora.show_suite(tmp_path / "one.jsonl")["examples"] == 1
    lines = anaphora.convert_suite(tmp_path / "one.jsonl", tmp_path / "lines", to="text", separator=" ")
    assert lines.lines == 2
    assert all(file.is_file() for file in lines.files)
    sources = anaphora.convert_suite(cups, tmp_path / "sources.en", to="sources", context=0)
    assert sources.lines == 2
    assert (tmp_path / "sources.en").read_text().splitlines() == ["It broke.", "It bent."]
    with pytest.raises(anaphora.AnaphoraError, match="--documents can only be used with --to sources"):
        anaphora.convert_suite(cups, tmp_path / "x.jsonl", documents=True)


def test_problems_of_a_suite_are_returned() -> None:
    same = anaphora.load_suite([{**ROWS[0], "candidates": ["Sie.", "Sie."]}], name="same", languages="en-de")
    (problem,) = anaphora.validate_suite(same)
    assert "candidates" in problem.problem


def test_catalog_systems_and_installation_are_listed() -> None:
    assert {"contrapro", "bawden-coreference"} <= {suite["name"] for suite in anaphora.list_suites()}
    assert {"hf", "nmt", "lm"} <= {kind.kind for kind in anaphora.list_systems()}
    assert anaphora.check_installation()[0].name == "anaphora"


def test_a_study_is_created_and_exported(cups: anaphora.Suite, tmp_path: Path) -> None:
    made = anaphora.create_study(cups, tmp_path / "study", annotators=["anna", "ben"], context=1)
    assert [annotator.name for annotator in made.annotators] == ["anna", "ben"]
    assert len(anaphora.create_study(cups, tmp_path / "other", annotators=4, overlap=2).annotators) == 4
    exported = anaphora.export_study(tmp_path / "study", output=tmp_path / "answers.jsonl")
    assert (exported.answers, exported.current, exported.files) == ([], 0, (tmp_path / "answers.jsonl",))
    assert anaphora.study_agreement(tmp_path / "study", samples=100).to_dict()["mode"] == "pairs"


def test_orders_of_a_study_are_secret_without_a_seed(cups: anaphora.Suite, tmp_path: Path) -> None:
    def orders(name: str, seed: int | None) -> list[object]:
        study = anaphora.create_study(cups, tmp_path / name, annotators=20, seed=seed)
        return [annotator.assignments for annotator in study.annotators]

    assert orders("a", 3) == orders("b", 3) != orders("c", 4)
    assert orders("d", None) != orders("e", None)


def test_metrics_are_evaluated(tmp_path: Path) -> None:
    files = {path.name: path for path in write_example("meta", tmp_path)}
    scores = next(path for name, path in files.items() if "score" in name and path.suffix == ".tsv")
    result = anaphora.correlate(scores, samples=100, seed=3)
    assert result.everything.metrics
    assert result.settings.samples == 100
    copy_example("discomt/annotations.tsv", tmp_path / "annotations.tsv")
    assert anaphora.discomt(tmp_path / "annotations.tsv", languages="en-fr", samples=100).systems


def test_equivalences_are_learned_and_written(tmp_path: Path) -> None:
    rows = ["candidate\treference\tcorrect", *["il\tce\t1"] * 8, *["elle\tce\t0"] * 8]
    (tmp_path / "judged.tsv").write_text("\n".join(rows) + "\n")
    learned = anaphora.learn_equivalences(tmp_path / "judged.tsv", output=tmp_path / "french.toml", languages="en-fr")
    assert learned.samples == 16
    assert "learned from 16 samples in judged.tsv" in (tmp_path / "french.toml").read_text()
    with pytest.raises(anaphora.AnaphoraError, match="--lists needs a language pair"):
        anaphora.learn_equivalences(tmp_path / "judged.tsv", lists=tmp_path / "french.toml")


def test_weights_are_swept(tmp_path: Path) -> None:
    (tmp_path / "scores.tsv").write_text("system\thuman\na\t0.3\nb\t0.5\nc\t0.6\nd\t0.7\n")
    counts = {name: {"cases": [k + 3, 2, 6 - k, 1, 1, 1]} for k, name in enumerate("abcd")}
    (tmp_path / "basic.json").write_text(json.dumps({"systems": counts}))
    swept = anaphora.sweep_weights(
        tmp_path / "scores.tsv", [("basic", tmp_path / "basic.json")], weights="all", discard=[(), {5, 6}], samples=100
    )
    assert len(swept.settings) == 9 + 3  # without case 6 its weight does not matter
    assert {setting.discarded for setting in swept.settings} == {(), (5, 6)}


def test_templates_are_filled_and_attacked(tmp_path: Path) -> None:
    built = anaphora.build_templates(tmp_path / "overlap.jsonl", only=["overlap"])
    suite = anaphora.load_suite(tmp_path / "overlap.jsonl")
    assert built.examples == sum(built.templates.values()) == len(list(suite))
    small = anaphora.convert_suite(suite, tmp_path / "small.jsonl", limit=20).files[0]
    attacked = anaphora.attack_phrase(small, tmp_path / "attacked.jsonl", preset=["true_colon"])
    assert attacked.examples + sum(attacked.left_alone.values()) == 20
    assert attacked.sha256 == anaphora.load_suite(attacked.path).sha256()
    alone = anaphora.attack_no_context(small, tmp_path / "alone.jsonl")
    assert not any(example.source[0] for example in anaphora.load_suite(alone.path))
    with pytest.raises(anaphora.AnaphoraError, match="there is nothing to change"):
        anaphora.attack_random_context(alone.path, tmp_path / "none.jsonl")
    with pytest.raises(anaphora.AnaphoraError, match="no phrase given"):
        anaphora.attack_possessive(small, tmp_path / "none.jsonl")
    assert "true_colon" in anaphora.attack_presets()["phrase"]


def test_building_refuses_other_languages(tmp_path: Path) -> None:
    with pytest.raises(anaphora.AnaphoraError, match="supports en-de only, not en-fr"):
        anaphora.augment("a.en", "a.fr", tmp_path / "out", languages="en-fr")
    with pytest.raises(anaphora.AnaphoraError, match="expected SOURCE-TARGET"):
        anaphora.mine("a.en", "a.de", "german", tmp_path / "mined.jsonl")
