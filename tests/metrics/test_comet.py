"""COMET through its own package: a fake one here, as the real one needs models and another transformers."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.metrics.comet import MODEL, comet
from anaphora.metrics.measures import Texts, measure
from anaphora.stats.intervals import Resampling

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
    found = comet(TEXTS, comet_model="models/own.ckpt", comet_gpus=1)
    assert (package.downloaded, package.loaded) == ([], ["models/own.ckpt"])
    assert "model:models/own.ckpt" in found.signature
    assert package.model.asked[0]["gpus"] == 1


def test_without_a_source() -> None:
    with pytest.raises(AnaphoraError, match="give it with -s"):
        comet(Texts(["a"], {"x": ["a"]}))


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(AnaphoraError, match=r"not installed\. Install it with: pip install unbabel-comet"):
        comet(TEXTS)


def test_a_score_that_is_not_finite_is_an_error(package: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package.model, "predict", lambda *_, **__: SimpleNamespace(scores=[0.5, float("nan")]))
    with pytest.raises(NotFinite, match=rf"^{MODEL}: COMET scores of a: 1 of 2 values is not a finite number \(nan\)"):
        comet(TEXTS)
