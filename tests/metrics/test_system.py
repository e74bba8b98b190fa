"""Metrics as systems: candidates are scored as sentences, against a reference that is not the right candidate."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

sacrebleu = pytest.importorskip("sacrebleu", reason="metric: needs the extra metrics")

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.metrics import system as module
from anaphora.runs import Run
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of
from anaphora.systems import SuiteReader, load_system

CUP = ("Ich sehe die Tasse.", "Sie ist schon alt.")
BEDS = ("Ich sehe das Bett.", "Es ist alt.")
EXAMPLES = (
    Example("cup", ("I see the cup.", "It is old."), (CUP, (CUP[0], "Es ist schon alt."), (CUP[0], "Er ist alt.")), 0),
    Example("bed", ("I see the bed.", "It is old."), ((BEDS[0], "Sie ist alt."), BEDS), 1),
)
REFERENCE = ("Sie ist sehr alt.", "Es ist sehr alt geworden.")


def suite(*examples: Example) -> Suite:
    return suite_of(demo_suite().header, lambda: iter(examples or EXAMPLES))


@pytest.fixture
def reference(tmp_path: Path) -> Path:
    path = tmp_path / "other.de"
    path.write_text("".join(f"{line}\n" for line in REFERENCE), encoding="utf-8")
    return path


def scored(spec: str, output: Path, of: Suite | None = None, **settings: Any) -> Run:
    return api.score(of or suite(), spec, output, **settings)


def scores(run: Run) -> list[list[float]]:
    return [list(item.scores) for item in run]


SENTENCES = [[candidate[-1] for candidate in example.candidates] for example in EXAMPLES]
SACREBLEU = {
    "bleu": lambda text, reference: sacrebleu.sentence_bleu(text, [reference], use_effective_order=True).score,
    "chrf": lambda text, reference: sacrebleu.sentence_chrf(text, [reference]).score,
    "chrf++": lambda text, reference: sacrebleu.sentence_chrf(text, [reference], word_order=2).score,
    "ter": lambda text, reference: -sacrebleu.sentence_ter(text, [reference]).score,
}


@pytest.mark.parametrize("name", SACREBLEU)
def test_scores_are_those_of_sacrebleu_for_sentences(name: str, reference: Path, tmp_path: Path) -> None:
    run = scored(f"metric:{name}?reference={reference}", tmp_path / "run")
    expected = [[SACREBLEU[name](t, r) for t in ts] for ts, r in zip(SENTENCES, REFERENCE, strict=True)]
    assert scores(run) == [pytest.approx(row, abs=1e-6) for row in expected]
    result = api.evaluate(run)
    assert (result.figure.correct, result.ties) == (2, 0)


def test_meteor_by_hand(tmp_path: Path, reference: Path) -> None:
    pytest.importorskip("snowballstemmer")
    run = scored(f"metric:meteor?reference={reference}", tmp_path / "run")
    # every word of so short a reference is frequent, so that all weigh the same. "Es ist alt ." and "Es ist sehr alt
    # geworden .": 4 matches of 4 and of 6 words, in 3 chunks, precision 1, recall 2/3
    mean = 1 * (2 / 3) / (0.7 * 1 + 0.3 * (2 / 3))
    assert scores(run)[1][1] == pytest.approx((1 - 0.3 * (3 / 4) ** 1.4) * mean, abs=1e-6)
    assert scores(run)[0][0] > max(scores(run)[0][1:])
    assert "fw:other.de" in run.header.settings["metric"]


def test_the_header_has_signature_and_reference_hash(reference: Path, tmp_path: Path) -> None:
    settings = scored(f"metric:ter?reference={reference}", tmp_path / "run").header.settings
    assert settings["metric"].startswith("TER|nrefs:1|case:lc")
    assert settings["negated"] is True
    assert settings["reference"] == hashlib.sha256(reference.read_bytes()).hexdigest()
    settings = scored(f"metric:bleu?reference={reference}", tmp_path / "bleu").header.settings
    assert "eff:yes" in settings["metric"]
    assert "negated" not in settings


def test_documents_give_the_candidates_their_context(tmp_path: Path) -> None:
    path = tmp_path / "documents.de"
    path.write_text(f"Da ist die Tasse.\n{REFERENCE[0]}\n\nDa ist das Bett.\n{REFERENCE[1]}\n", encoding="utf-8")
    run = scored(f"metric:chrf?reference={path}", tmp_path / "run", context=1)
    wanted = SACREBLEU["chrf"]("Ich sehe das Bett. Es ist alt.", f"Da ist das Bett. {REFERENCE[1]}")
    assert scores(run)[1][1] == pytest.approx(wanted, abs=1e-6)
    current = scored(f"metric:chrf?reference={path}", tmp_path / "current")
    alone = scored(f"metric:chrf?reference={path}", tmp_path / "alone", context=1, target_context="none")
    assert scores(current)[1][1] == scores(alone)[1][1] == pytest.approx(SACREBLEU["chrf"]("Es ist alt.", REFERENCE[1]))


def test_context_that_the_reference_does_not_have_is_an_error(reference: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"other\.de: --context 1 needs references with context.*--documents"):
        scored(f"metric:chrf?reference={reference}", tmp_path / "run", context=1)


def test_references_belong_to_the_examples_of_the_whole_suite(reference: Path, tmp_path: Path) -> None:
    whole = scored(f"metric:chrf?reference={reference}", tmp_path / "whole")
    for part, seed in ((0, 1), (1, 2)):
        run = scored(f"metric:chrf?reference={reference}", tmp_path / f"{part}", sample=1, seed=seed)
        (item,) = run
        assert list(item.scores) == {one.id: list(one.scores) for one in whole}[item.id]


def test_an_interrupted_run_is_resumed(reference: Path, tmp_path: Path) -> None:
    spec = f"metric:chrf++?reference={reference}"
    whole = scored(spec, tmp_path / "whole.jsonl").path.read_bytes()
    header, first, _ = whole.splitlines(keepends=True)
    (tmp_path / "run.jsonl.part").write_bytes(header + b'{"n":0,' + first[1:])
    assert scored(spec, tmp_path / "run.jsonl", resume=True).path.read_bytes() == whole


def test_a_changed_reference_is_not_resumed(reference: Path, tmp_path: Path) -> None:
    spec = f"metric:chrf?reference={reference}"
    whole = scored(spec, tmp_path / "whole.jsonl").path.read_bytes()
    (tmp_path / "run.jsonl.part").write_bytes(whole.splitlines(keepends=True)[0])
    reference.write_text("Sie ist alt.\nEs war alt.\n", encoding="utf-8")
    with pytest.raises(AnaphoraError, match="reference"):
        scored(spec, tmp_path / "run.jsonl", resume=True)


class TestReference:
    def test_is_needed_and_the_error_says_why(self) -> None:
        for spec in ("metric:chrf", "metric:chrf?reference=", "metric:comet"):
            with pytest.raises(AnaphoraError, match=r"\?reference=FILE.*The right candidate cannot be the reference"):
                load_system(spec)

    def test_must_not_be_the_right_candidates(self, tmp_path: Path) -> None:
        path = tmp_path / "gold.de"
        path.write_text(f"{CUP[1]}\n{BEDS[1]}\n", encoding="utf-8")
        with pytest.raises(BadInput, match=r"the reference of every example is its right candidate.*another"):
            scored(f"metric:chrf?reference={path}", tmp_path / "run")

    def test_may_be_the_right_candidate_of_some(self, tmp_path: Path) -> None:
        path = tmp_path / "near.de"
        path.write_text(f"{CUP[1]}\nEs war alt.\n", encoding="utf-8")
        assert scores(scored(f"metric:chrf?reference={path}", tmp_path / "run"))[0][0] == pytest.approx(100)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("Sie ist alt.\n\n", r"the reference of example 'bed' is empty\. Every example needs one"),
            ("Sie ist alt.\n", r"1 lines, but demo has 2 examples"),
            ("", r"0 lines, but demo has 2 examples"),
        ],
    )
    def test_has_a_line_for_every_example(self, tmp_path: Path, text: str, message: str) -> None:
        path = tmp_path / "short.de"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=message):
            scored(f"metric:chrf?reference={path}", tmp_path / "run")

    def test_of_an_example_that_was_not_read(self, reference: Path) -> None:
        system = load_system(f"metric:chrf?reference={reference}")
        assert isinstance(system, SuiteReader)
        system.read_suite(suite())
        with pytest.raises(AnaphoraError, match="no reference is known for example 'other'"):
            list(system.score([replace(EXAMPLES[0], id="other")]))


@pytest.mark.parametrize(
    ("spec", "settings", "message"),
    [
        ("metric:chrff?reference=x", {}, r"unknown metric 'chrff' \(did you mean chrf"),
        ("metric:chrf?reference=x&tokenize=13a", {}, "unknown setting 'tokenize'"),
        ("metric:chrf?reference=x&model=y", {}, "chrf has no model"),
        ("metric:comet?reference=x&model=wmt20-comet-qe-da", {}, "reads no reference"),
        ("metric:chrf?reference=x", {"margins_only": True}, "--margins-only is not supported"),
        ("metric:chrf?reference=x", {"workers": 2}, "leave --workers and --cluster out"),
    ],
)
def test_what_is_wrong_is_reported_in_one_line(spec: str, settings: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=message) as caught:
        scored(spec, tmp_path / "run", **settings)
    assert "\n" not in str(caught.value)


# COMET, whose package is not installed next to this one


@pytest.fixture
def items(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """A stand-in for the package; the items that its model was asked to score, by their length."""
    asked: list[dict[str, str]] = []

    class Model:
        def predict(self, items: list[dict[str, str]], **options: Any) -> SimpleNamespace:
            asked.extend(items)
            return SimpleNamespace(scores=[1 / len(item["mt"]) for item in items])

    package: Any = ModuleType("comet")
    package.download_model = str
    package.load_from_checkpoint = lambda path: Model()
    monkeypatch.setitem(sys.modules, "comet", package)
    return asked


def test_comet_reads_source_and_reference(items: list[dict[str, str]], reference: Path, tmp_path: Path) -> None:
    run = scored(f"metric:comet?reference={reference}", tmp_path / "run")
    assert {"src": "It is old.", "mt": "Es ist alt.", "ref": REFERENCE[1]} in items
    assert scores(run)[1] == pytest.approx([1 / 12, 1 / 11], abs=1e-6)
    assert run.header.settings["metric"].startswith("COMET|model:Unbabel/wmt22-comet-da|")


@pytest.mark.parametrize("model", ["Unbabel/wmt20-comet-qe-da", "Unbabel/wmt22-cometkiwi-da"])
def test_reference_free_comet_reads_the_source_only(items: list[dict[str, str]], model: str, tmp_path: Path) -> None:
    run = scored(f"metric:comet?model={model}", tmp_path / "run", context=1)
    assert {"src": "I see the bed. It is old.", "mt": "Ich sehe das Bett. Es ist alt."} in items
    assert not any("ref" in item for item in items)
    assert f"model:{model}" in run.header.settings["metric"]
    assert "reference" not in run.header.settings


def test_comet_scores_a_few_at_a_time(
    items: list[dict[str, str]], reference: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AT_A_TIME", 1)
    system = load_system(f"metric:comet?reference={reference}")
    assert isinstance(system, SuiteReader)
    system.read_suite(suite())
    items.clear()
    assert [number for number, _ in system.score(EXAMPLES, {0})] == [1]
    assert [item["mt"] for item in items] == SENTENCES[1]  # what is done is not computed again


def test_comet_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, reference: Path) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(AnaphoraError, match="pip install unbabel-comet"):
        load_system(f"metric:comet?reference={reference}")
