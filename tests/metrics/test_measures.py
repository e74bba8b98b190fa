"""Metrics side by side: files in step, names, the JSON, what is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.measures import METRICS, USUAL, Texts, measure, read_texts
from anaphora.stats.intervals import Resampling

pytest.importorskip("sacrebleu", reason="the surface metrics need the extra metrics")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {"src": "It works.\nThey know.\n", "ref": "Il marche.\nIls savent.\n", "a": "Il marche.\nElles savent.\n"}
    texts["b"] = "Elle marche.\nIls savent.\n"
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in texts}


def test_texts_are_read_in_step(files: dict[str, Path]) -> None:
    texts = read_texts(files["ref"], [files["a"], files["b"]], source=files["src"], languages="en-fr")
    assert texts.source == ["It works.", "They know."]
    assert list(texts.systems) == [str(files["a"]), str(files["b"])]
    assert texts.systems[str(files["b"])] == ["Elle marche.", "Ils savent."]
    assert (texts.languages, texts.tokenize) == (("en", "fr"), "auto")
    named = read_texts(files["ref"], [files["a"], files["b"]], names=["one", "two"])
    assert (list(named.systems), named.source, named.languages) == (["one", "two"], None, ("", ""))


def test_names_that_do_not_fit(files: dict[str, Path]) -> None:
    with pytest.raises(AnaphoraError, match="for each of the 2 translations"):
        read_texts(files["ref"], [files["a"], files["b"]], names=["one"])
    with pytest.raises(AnaphoraError, match="the same name"):
        read_texts(files["ref"], [files["a"], files["a"]])
    files["a"].write_text("Il marche.\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"/a: 1 lines, but .*ref has 2"):
        read_texts(files["ref"], [files["a"]])


def test_json(files: dict[str, Path]) -> None:
    texts = read_texts(files["ref"], [files["a"], files["b"]], names=["one", "two"], languages="en-fr")
    document = measure(texts, ["chrf", "ter"], resampling=Resampling(100)).to_dict()
    assert set(document) == {"system", "scores", "systems", "pairs", "languages", "sentences", "resampling"} | {
        "references",
        "texts",
        "written_differently",
    }
    assert document["system"] == "one"
    assert document["scores"] == document["systems"]["one"]
    assert set(document["systems"]["two"]) == {"chrf", "ter"}
    assert set(document["systems"]["two"]["ter"]) == {"score", "interval", "signature"}
    assert [(pair["metric"], pair["systems"]) for pair in document["pairs"]] == [
        ("chrf", ["one", "two"]),
        ("ter", ["one", "two"]),
    ]
    assert [pair["lower_is_better"] for pair in document["pairs"]] == [False, True]
    one, two = (document["systems"][name]["chrf"]["score"] for name in ("one", "two"))
    assert document["pairs"][0]["delta"] == pytest.approx(two - one)


def test_the_usual_metrics_are_known_and_each_is_measured_once() -> None:
    assert set(USUAL) < set(METRICS)
    result = measure(Texts(["a b"], {"x": ["a b"]}), ["bleu", "bleu"], resampling=Resampling(100))
    assert [metric.name for metric in result.metrics] == ["bleu"]


def test_what_cannot_be_measured() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown metric 'blue' \(did you mean bleu"):
        measure(Texts(["a"], {"x": ["a"]}), ["blue"])
    with pytest.raises(AnaphoraError, match="the texts are empty"):
        measure(Texts([], {"x": []}), ["bleu"])
