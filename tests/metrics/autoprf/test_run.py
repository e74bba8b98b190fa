"""AutoPRF of files: systems side by side, alignments given or made, what does not go together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anaphora.align import SystemAlignments
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.apt.input import Files
from anaphora.metrics.autoprf import run as autoprf_run
from anaphora.metrics.autoprf.run import autoprf_of_files
from anaphora.stats.intervals import Resampling

FEW = Resampling(200)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Twelve sentences; the first system is right in all, the second in the last two."""
    texts = {
        "src": ["it works"] * 12,
        "ref": ["il marche"] * 12,
        "good": ["il marche"] * 12,
        "poor": ["elle marche"] * 10 + ["il marche"] * 2,
        "align": ["0-0 1-1"] * 12,
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    systems = (tmp_path / "poor", tmp_path / "good")
    align = tmp_path / "align"
    return Files(tmp_path / "src", tmp_path / "ref", systems, align, (align, align), names=("poor", "good"))


def test_two_systems(files: Files) -> None:
    result = autoprf_of_files(files, resampling=Resampling(2_000))
    assert {name: system.score.precision for name, system in result.systems.items()} == {"poor": 2 / 12, "good": 1}
    document = result.to_dict()
    assert (document["system"], document["precision"]) == ("poor", 2 / 12)
    assert document["systems"]["good"]["f"] == 1
    assert [(pair["figure"], pair["systems"]) for pair in document["pairs"]] == [
        (figure, ["poor", "good"]) for figure in ("precision", "recall", "f")
    ]
    # ten sentences differ, all one way: two of 2¹⁰ exchanges are as extreme
    assert document["pairs"][0]["tests"]["randomisation"] == pytest.approx(2 / 1024, abs=0.003)
    assert document["pairs"][0]["delta"] == pytest.approx(10 / 12)


def test_over_the_corpus_systems_are_compared_too(files: Files) -> None:
    result = autoprf_of_files(files, clip="corpus", resampling=FEW)
    assert result.pairs["f"][0].delta == pytest.approx(10 / 12)
    assert "clip:corpus|pron:it,they|case:mixed|tok:none|norm:signs|align:given|" in result.signature


def test_texts_are_aligned_where_there_are_no_alignments(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `align_systems`, which gets the words of all texts; what it finds is used as files would be."""

    def fake(source: Any, reference: Any, systems: Any, progress: Any) -> SystemAlignments:
        assert (source[0], reference[0]) == (["it", "works"], ["il", "marche"])
        assert [text[0] for text in systems.values()] == [["elle", "marche"], ["il", "marche"]]
        return SystemAlignments([((0, 0),)] * 12, {name: [((0, 0),)] * 12 for name in systems})

    monkeypatch.setattr(autoprf_run, "align_systems", fake)
    made = autoprf_of_files(Files(files.source, files.reference, files.hypotheses), resampling=FEW)
    assert [system.score.f for system in made.systems.values()] == [2 / 12, 1]
    assert "|align:thot-eflomal-grow-diag-final|" in made.signature


def test_one_alignment_without_the_other(files: Files) -> None:
    with pytest.raises(AnaphoraError, match="both --ref-align and --hyp-align, or neither"):
        autoprf_of_files(Files(files.source, files.reference, files.hypotheses, files.reference_alignment))


def test_no_pronoun_at_all(files: Files) -> None:
    with pytest.raises(AnaphoraError, match="src: has none of the pronouns she"):
        autoprf_of_files(files, pronouns=["she"], resampling=FEW)


def test_files_out_of_step(files: Files) -> None:
    files.hypotheses[0].write_text("il marche\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"poor: 1 lines, but .*src has 12"):
        autoprf_of_files(files, resampling=FEW)
