"""`anaphora.apt`: from files to a result, in three variants that differ where they should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import anaphora
from anaphora import AnaphoraError, apt
from anaphora.metrics.apt.metric import VARIANTS

# Table 1's problem twice: "it" without a link between linked neighbors, and a plain one
SOURCE = "that it sleeps\nit rains\n"
REFERENCE = "qu' il dort\nil pleut\n"
CANDIDATE = "qu' elle dort\nC' pleut\n"
MISSED = "0-0 2-2\n0-0 1-1\n"


@pytest.fixture
def run(tmp_path: Path) -> Any:
    texts = {"s": SOURCE, "r": REFERENCE, "t": CANDIDATE, "a": MISSED}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    def measure(**options: Any) -> anaphora.metrics.apt.result.AptResult:  # type: ignore[name-defined]
        s, r, t, a = (tmp_path / name for name in "srta")
        options = {"reference_alignments": a, "translation_alignments": a, "samples": 100, **options}
        return apt(str(s), r, t, options.pop("languages", "en-fr"), **options)

    return measure


def test_the_variants_differ(run: Any) -> None:
    """The paper finds both pronouns; the program has no word for the first; the reference's side leaves it out."""
    actual = {variant: run(variant=variant).systems[0].score.cases for variant in VARIANTS}
    assert actual == {"paper": (0, 1, 1, 0, 0, 0), "idiap": (0, 1, 0, 0, 0, 1), "reference-side": (0, 0, 1, 0, 0, 0)}
    assert run().apt == pytest.approx(0.25)
    assert run(rescue=False).systems[0].score.cases == (0, 1, 0, 0, 0, 1)


def test_weights_and_discarded_cases(run: Any) -> None:
    assert run(weights=(1, 1, 0, 0, 0, 0)).apt == pytest.approx(0.5)
    assert run(rescue=False, discard=[6]).apt == pytest.approx(0.5)


def test_every_setting_is_in_the_signature(run: Any, tmp_path: Path) -> None:
    usual = run().signature
    assert usual.startswith("apt|l:en-fr|var:paper|set:")
    assert usual.endswith(f"|ci:bs100:sentences|conf:0.95|seed:12345|v:{anaphora.__version__}")
    (tmp_path / "lists").write_text("equivalent = []\n", encoding="utf-8")
    (tmp_path / "tags").write_text("X PRON X\nPRON X\n", encoding="utf-8")
    tags = tmp_path / "tags"
    changes: list[dict[str, Any]] = [
        {"variant": "idiap"},
        {"pronouns": ["it"]},
        {"weights": (1, 0, 0, 0, 0, 0)},
        {"discard": (6,)},
        {"rescue": False},
        {"lists": tmp_path / "lists"},
        {"source_tags": tags},
        {"reference_tags": tags, "translation_tags": tags, "pronoun_tags": ["PRON", "DET"]},
        {"confidence": 0.9},
        {"samples": 101},
        {"seed": 1},
    ]
    signatures = [usual, *(run(**change).signature for change in changes)]
    assert len(set(signatures)) == len(signatures)
    (tmp_path / "r").write_text(REFERENCE.replace("pleut", "neige"), encoding="utf-8")
    assert run().signature != usual


def test_unknown_variants_and_languages_are_refused(run: Any) -> None:
    with pytest.raises(AnaphoraError, match=r"unknown variant 'papers' \(did you mean paper\?\)"):
        run(variant="papers")
    with pytest.raises(AnaphoraError, match="no pronoun lists for en-ru"):
        run(languages="en-ru")


def test_the_result_does_not_depend_on_the_other_systems(run: Any, tmp_path: Path) -> None:
    (tmp_path / "u").write_text("qu' il dort\nc' pleut\n", encoding="utf-8")
    s, r, t, u, a = (tmp_path / name for name in "srtua")
    options = {"reference_alignments": a, "samples": 100}
    both, turned = (
        apt(s, r, order, "en-fr", translation_alignments=[a, a], **options).to_dict()["systems"]
        for order in ([t, u], [u, t])
    )
    alone = run().to_dict()
    for actual in (both[str(t)], turned[str(t)]):
        assert {key: actual[key] for key in ("apt", "interval", "cases", "pronouns")} == {
            key: alone[key] for key in ("apt", "interval", "cases", "pronouns")
        }


NAMES = ("baseline", "HA-enc-dec")


def test_the_heuristics_find_more_of_five_hundred_pronouns(data: Callable[[str], Path]) -> None:
    """TED Spanish–English, without and with the heuristics of alignment."""
    folder = data("han-apt") / "TED_es-en"
    source, reference, alignment = (folder / f"IWSLT14.TED.tst.tc.{kind}.gz" for kind in ("es", "en", "align"))
    basic, heuristics = (
        apt(
            source,
            reference,
            [folder / f"TED_es-en_{name}.en.gz" for name in NAMES],
            "es-en",
            reference_alignments=alignment,
            translation_alignments=[folder / f"TED_es-en_{name}.align.gz" for name in NAMES],
            names=NAMES,
            rescue=rescue,
            samples=100,
        )
        for rescue in (False, True)
    )
    for one, other in zip(basic.systems, heuristics.systems, strict=True):
        assert sum(one.score.cases) == sum(other.score.cases) > 500
        assert sum(other.score.cases[3:]) <= sum(one.score.cases[3:]), "no pronoun is lost by looking (APT §4.3)"
    assert sum(heuristics.systems[1].score.cases[3:]) < sum(basic.systems[1].score.cases[3:])
