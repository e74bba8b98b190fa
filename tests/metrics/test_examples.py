"""The example files: small, made up, and every command takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora import apt
from anaphora.metrics import write_example
from anaphora.metrics.judgments import judge_cases, learn_equivalents, read_samples
from anaphora.metrics.meta import outliers, read_cases, read_human, read_scores, sweep
from anaphora.stats.correlation import CorrelationSettings


def test_the_example_of_apt(tmp_path: Path) -> None:
    files = write_example("apt", tmp_path)
    assert all(path.is_file() for path in files)
    names = ("sentence-level", "document-level")
    options = {"reference_alignments": tmp_path / "reference.align", "samples": 100}
    result = apt(
        tmp_path / "source.en",
        tmp_path / "reference.fr",
        [tmp_path / f"{name}.fr" for name in names],
        "en-fr",
        translation_alignments=[tmp_path / f"{name}.align" for name in names],
        **options,
    )
    first, second = result.systems
    assert sum(first.score.cases) == sum(second.score.cases) == 60
    assert first.score.apt is not None
    assert second.score.apt is not None
    assert first.score.apt < second.score.apt
    assert min(*first.rescued, *second.rescued) > 0
    assert second.score.cases[3] > 0
    equivalent = learn_equivalents(read_samples(tmp_path / "judged.tsv")).equivalent
    assert equivalent == (("c'", "il"),)


def test_the_example_of_meta_evaluation_fits_together(tmp_path: Path) -> None:
    files = write_example("meta", tmp_path)
    scores_file, basic, rescued, details, judgments = files
    scores = read_scores(scores_file)
    assert scores.systems == (
        "baseline",
        "rnn",
        "rnn-context",
        "transformer",
        "transformer-context",
        "post-edited",
        "broken",
    )
    assert outliers(scores) == ("broken",)
    cases = read_cases([("basic", basic), ("rescued", rescued)])
    result = sweep(read_human(scores_file), cases, weights=[(0.5, 0)], settings=CorrelationSettings(samples=100))
    assert all(sum(counts) == 210 for systems in cases.values() for counts in systems.values())
    assert list(result.settings[1].scores.values()) == pytest.approx(scores.metrics["apt"].tolist(), abs=5e-5)
    table = judge_cases(details, judgments)
    assert [case.total for case in table.cases] == list(result.totals()["rescued"])
    assert table.total.correct / 210 == pytest.approx(scores.human_scores.sum(), abs=1e-3)
