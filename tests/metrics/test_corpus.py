"""Corpus metrics: texts, BLEU, chrF and TER as sacreBLEU has them, COMET through its own package."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import NotFinite
from anaphora.metrics.corpus import METRICS, USUAL, Texts, measure, read_texts
from anaphora.metrics.external import MODEL, comet
from anaphora.stats.resampling import Resampling

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
    with pytest.raises(AnaphoraError, match="is needed for each translation"):
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


# BLEU, chrF and TER are sacreBLEU's: scores, signatures, intervals and p-values; and the published figures of TED.

sacrebleu = pytest.importorskip("sacrebleu", reason="the surface metrics need the extra metrics")

REFERENCE = [
    "The clock stopped at noon.",
    "She repaired it with a small spring.",
    "They said that it was too old, wasn't it?",
    "Nobody wants it any more.",
] * 6
FIRST = [
    "The clock has stopped at noon.",
    "She has repaired him with a spring.",
    "They said that he was too old, isn't it?",
    "Nobody wants him.",
] * 6
SECOND = [
    "The clock stopped at noon.",
    "She repaired it with small springs.",
    "They said it was very old, wasn't it?",
    "No one wants it any more.",
] * 6
ORIGINALS = {
    "bleu": lambda: sacrebleu.metrics.BLEU(),
    "chrf": lambda: sacrebleu.metrics.CHRF(),
    "chrf++": lambda: sacrebleu.metrics.CHRF(word_order=2),
    "ter": lambda: sacrebleu.metrics.TER(),
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_scores_and_signatures_are_sacrebleus(name: str) -> None:
    texts = Texts(REFERENCE, {"first": FIRST, "second": SECOND}, languages=("de", "en"))
    (result,) = measure(texts, [name], resampling=Resampling(200)).metrics
    original = ORIGINALS[name]()
    for system, text in texts.systems.items():
        score = original.corpus_score(text, [REFERENCE])
        assert result.scores[system] == pytest.approx(score.score, abs=1e-9)
    assert result.signature == f"{score.name}|{original.get_signature()}"
    assert result.lower_is_better is (name == "ter")


def corrupted(text: list[str], share: float, seed: int) -> list[str]:
    """The text with a share of its words replaced."""
    rng = random.Random(seed)
    return [" ".join("oops" if rng.random() < share else word for word in line.split()) for line in text]


@pytest.fixture(scope="module")
def noisy() -> tuple[list[str], list[tuple[str, list[str]]]]:
    """A reference of 60 sentences and two systems that differ in all of them, the second a little better."""
    rng = random.Random(5)
    words = ["the", "a", "cat", "dog", "saw", "ate", "it", "them", "and", "today"]
    reference = [" ".join(rng.choices(words, k=12)) for _ in range(60)]
    return reference, [("first", corrupted(reference, 0.33, 1)), ("second", corrupted(reference, 0.3, 2))]


Noisy = tuple[list[str], list[tuple[str, list[str]]]]


@pytest.mark.parametrize("name", ORIGINALS)
def test_intervals_are_as_wide_as_sacrebleus(name: str, noisy: Noisy) -> None:
    reference, systems = noisy
    (result,) = measure(Texts(reference, dict(systems)), [name], resampling=Resampling(3_000)).metrics
    expected = ORIGINALS[name]().corpus_score(systems[0][1], [reference], n_bootstrap=3_000)
    low, high = result.intervals["first"]
    half, middle = float(expected._ci), float(expected._mean)
    assert (high - low) / 2 == pytest.approx(half, rel=0.08)
    assert (high + low) / 2 == pytest.approx(middle, abs=0.15 * half)


@pytest.mark.parametrize("name", ORIGINALS)
def test_randomization_is_sacrebleus(name: str, noisy: Noisy) -> None:
    """With other random numbers, and but for ties: whole edits give equal differences, which it does not count.

    Its bootstrap is another one: it takes differences without their sign and then centers them, and so gives smaller
    p-values than the two-sided test here.
    """
    from sacrebleu.significance import PairedTest

    reference, systems = noisy
    (result,) = measure(Texts(reference, dict(systems)), [name], resampling=Resampling(3_000)).metrics
    p_values = {}
    for test in ("ar", "bs"):
        _, actual = PairedTest(systems, {name: ORIGINALS[name]()}, [reference], test_type=test, n_samples=3_000)()
        (_, second), *_ = [results for key, results in actual.items() if key != "System"]
        p_values[test] = second.p_value
    assert 0.05 < p_values["ar"] < 0.5
    ties = 0.06 if name == "ter" else 0.0
    assert -0.03 < result.pairs[0].tests["randomization"] - p_values["ar"] < 0.03 + ties
    assert p_values["bs"] < result.pairs[0].tests["bootstrap"]


def test_tokenized_texts_are_taken_as_they_are() -> None:
    text = ["It 's here ."] * 4
    (bleu,) = measure(Texts(text, {"a": text}, tokenize="none"), ["bleu"], resampling=Resampling(100)).metrics
    assert "|tok:none|" in bleu.signature
    (chinese,) = measure(Texts(["你好。"], {"a": ["你好。"]}, languages=("en", "zh")), ["bleu"]).metrics
    assert "|tok:zh|" in chinese.signature


def test_a_tokenizer_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    from anaphora.metrics import external

    def missing(**_: object) -> None:
        raise RuntimeError("Please install the extra")

    monkeypatch.setattr(external, "BLEU", missing)
    with pytest.raises(AnaphoraError, match="sacreBLEU: Please install the extra"):
        measure(Texts(["a"], {"x": ["a"]}), ["bleu"])


def test_the_published_figures_of_ted(data: Callable[[str], Path]) -> None:
    """The .bleu files next to the systems' outputs of Miculicich et al. 2018, by the Moses script, to two digits."""
    folder = data("han-apt") / "TED_es-en"
    systems = ("baseline", "HA-enc-dec")
    paths = [folder / f"TED_es-en_{name}.en.gz" for name in systems]
    reference, *outputs = read_parallel(folder / "IWSLT14.TED.tst.tc.en.gz", *paths)
    texts = Texts(reference, dict(zip(systems, outputs, strict=True)), tokenize="none")
    (bleu,) = measure(texts, ["bleu"], resampling=Resampling(100)).metrics
    for name in systems:
        published = (folder / f"TED_es-en_{name}.bleu").read_text(encoding="utf-8")
        assert published.startswith(f"BLEU = {bleu.scores[name]:.2f},")


@pytest.mark.parametrize("name", ORIGINALS)
def test_several_references_are_sacrebleus(name: str) -> None:
    texts = Texts(REFERENCE, {"first": FIRST}, languages=("de", "en"), more_references=(SECOND,))
    result = measure(texts, [name], resampling=Resampling(200))
    original = ORIGINALS[name]()
    score = original.corpus_score(FIRST, [REFERENCE, SECOND])
    assert result.metrics[0].scores["first"] == pytest.approx(score.score, abs=1e-9)
    assert result.metrics[0].signature == f"{score.name}|{original.get_signature()}"
    assert "|nrefs:2|" in result.metrics[0].signature
    assert result.to_dict()["references"] == 2


@pytest.mark.parametrize("name", ORIGINALS)
def test_text_is_compared_as_it_is_by_default(name: str) -> None:
    curly = [line.replace("'", "’") for line in FIRST]
    settings = {"languages": ("de", "en")}
    (plain,) = measure(Texts(REFERENCE, {"a": curly}, **settings), [name], resampling=Resampling(100)).metrics
    original = ORIGINALS[name]()
    assert plain.scores["a"] == pytest.approx(original.corpus_score(curly, [REFERENCE]).score, abs=1e-9)
    (made_one,) = measure(
        Texts(REFERENCE, {"a": curly}, normalize=True, **settings), [name], resampling=Resampling(100)
    ).metrics
    assert made_one.scores["a"] == pytest.approx(original.corpus_score(FIRST, [REFERENCE]).score, abs=1e-9)
    assert made_one.signature == f"{plain.signature}|norm:signs"


def test_signs_that_the_reference_writes_otherwise_are_warned_of() -> None:
    curly = [line.replace("'", "’") for line in FIRST]
    result = measure(Texts(REFERENCE, {"a": curly, "b": FIRST}), ["bleu", "chrf"], resampling=Resampling(100))
    (warning,) = result.warnings()
    assert warning.startswith("a: 6 ’, none in the reference. BLEU, chrF compare text as it is")
    assert "--normalize" in warning
    assert result.to_dict()["written_differently"] == {"a": {"’": {"system": 6, "reference": 0}}}
    backwards = measure(Texts(curly, {"a": FIRST}), ["ter"], resampling=Resampling(100)).warnings()
    assert backwards[0].startswith("a: no ’, 6 in the reference. TER compares text as it is, and counts")
    normalized = Texts(REFERENCE, {"a": curly}, normalize=True)
    assert measure(normalized, ["bleu"], resampling=Resampling(100)).warnings() == []


# COMET through its own package: a fake one here, as the real one needs models and another transformers.

TEXTS = Texts(["Il marche.", "Ils savent."], {"a": ["Il marche.", "Elles."], "b": ["Il.", "Non."]}, ["It.", "They."])


class FakeModel:
    """Scores a translation by the share of the reference's length that it has."""

    asked: list[dict[str, Any]]

    def predict(self, items: list[dict[str, str]], **options: Any) -> SimpleNamespace:
        print("Predicting DataLoader 0")  # noqa: T201  (the real one reports on stdout)
        self.asked = [{"items": items, **options}]
        return SimpleNamespace(scores=[len(item["mt"]) / len(item["ref"]) for item in items])


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A module `comet`, and what was asked of it."""
    seen = SimpleNamespace(model=FakeModel(), downloaded=[], loaded=[])
    module = ModuleType("comet")
    module.download_model = lambda name: seen.downloaded.append(name) or f"/cache/{name}.ckpt"  # type: ignore[attr-defined]
    module.load_from_checkpoint = lambda path: seen.loaded.append(path) or seen.model  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "comet", module)
    return seen


def test_the_mean_of_the_sentences(package: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    (result,) = measure(TEXTS, ["comet"], resampling=Resampling(200)).metrics
    assert result.scores == {"a": pytest.approx((1 + 6 / 11) / 2), "b": pytest.approx((3 / 10 + 4 / 11) / 2)}
    assert result.signature == f"COMET|model:{MODEL}|version:unknown"
    assert len(result.pairs) == 1
    assert package.downloaded == [MODEL]
    (asked,) = package.model.asked
    assert asked["items"][0] == {"src": "It.", "mt": "Il.", "ref": "Il marche."}
    assert asked["gpus"] == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "Predicting" in err


def test_a_checkpoint_on_this_machine(package: SimpleNamespace) -> None:
    scores = comet(TEXTS, comet_model="models/own.ckpt", comet_gpus=1)
    assert (package.downloaded, package.loaded) == ([], ["models/own.ckpt"])
    assert "model:models/own.ckpt" in scores.signature
    assert package.model.asked[0]["gpus"] == 1


def test_without_a_source() -> None:
    with pytest.raises(AnaphoraError, match="Pass it with -s"):
        comet(Texts(["a"], {"x": ["a"]}))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(AnaphoraError, match=r"not installed\. Install it with: pip install unbabel-comet"):
        comet(TEXTS)


def test_a_score_that_is_not_finite_is_an_error(package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package.model, "predict", lambda *_, **__: SimpleNamespace(scores=[0.5, float("nan")]))
    with pytest.raises(NotFinite, match=rf"^{MODEL}: COMET scores of a: 1 of 2 values is not a finite number \(nan\)"):
        comet(TEXTS)
