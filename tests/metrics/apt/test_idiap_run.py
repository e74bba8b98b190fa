"""The original program's published files are reproduced byte for byte."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.metrics.apt.cases import DEFAULT_WEIGHTS
from anaphora.metrics.apt.idiap import IdiapSettings
from anaphora.metrics.apt.idiap_run import run_config, weighting_of
from anaphora.stats.intervals import Resampling

QUICK = Resampling(samples=100)


@pytest.fixture
def published(data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The published folder; the current directory has a copy of it without the outputs."""
    source = data("apt-es-en")
    shutil.copytree(source / "data_es-en", tmp_path / "data_es-en", ignore=shutil.ignore_patterns("output*"))
    monkeypatch.chdir(tmp_path)
    return source


@pytest.mark.parametrize(
    ("number", "score", "cases"), [(1, 0.4, (38, 0, 42, 10, 2, 3)), (2, 0.6316, (60, 0, 20, 10, 2, 3))]
)
def test_published_outputs(published: Path, number: int, score: float, cases: tuple[int, ...]) -> None:
    result, files = run_config(Path(f"data_es-en/config_{number}"), QUICK)
    assert [file.name for file in files] == [f"output{number}.score", f"output{number}.detail"]
    for file in files:
        assert file.read_bytes() == (published / file).read_bytes(), file
    assert result.apt == pytest.approx(score, abs=5e-5)
    assert result.systems[0].score.cases == cases
    assert "|config:" in result.signature


def test_other_is_not_equal_unless_told(published: Path) -> None:
    """Config 3 of the original repository, which is config 2 with count_OTHER_as_equal: false; its score is 0.2105."""
    text = Path("data_es-en/config_2").read_text(encoding="utf-8")
    Path("config_3").write_text(text.replace("count_OTHER_as_equal: true", "count_OTHER_as_equal: false"), "utf-8")
    result, (score, _) = run_config(Path("config_3"), QUICK)
    assert score.read_text(encoding="utf-8").startswith("Score: 0.2105\n")
    assert result.systems[0].score.cases == (20, 0, 60, 10, 2, 3)


def test_the_same_pronouns_by_their_places(published: Path) -> None:
    rows = (published / "data_es-en" / "output1.detail").read_text(encoding="utf-8").splitlines()[1:]
    Path("places").write_text("".join(" ".join(row.split("\t")[:2]) + "\n" for row in rows), encoding="utf-8")
    text = Path("data_es-en/config_1").read_text(encoding="utf-8")
    text = text.replace("input_type: word", "input_type: possition").replace("data_es-en/list_es", "places")
    Path("config").write_text(text, encoding="utf-8")
    _, files = run_config(Path("config"), QUICK)
    for file in files:
        assert file.read_bytes() == (published / file).read_bytes()


def test_a_place_outside_the_source_is_refused(published: Path) -> None:
    text = Path("data_es-en/config_1").read_text(encoding="utf-8")
    text = text.replace("input_type: word", "input_type: possition").replace("data_es-en/list_es", "places")
    Path("config").write_text(text, encoding="utf-8")
    for place in ("46 0", "0 999"):
        Path("places").write_text(f"0 1\n{place}\n", encoding="utf-8")
        with pytest.raises(BadInput, match=f"places: the place {place} is outside the source"):
            run_config(Path("config"), QUICK)
    assert not list(Path("data_es-en").glob("output*"))


def test_cases_that_are_not_in_use_are_discarded() -> None:
    weighting = weighting_of(IdiapSettings(cases=(4, 1, 2), weights=(0.25, 1.0, 0.5)))
    assert weighting.weights == (1.0, 0.5, 0.0, 0.25, 0.0, 0.0)
    assert weighting.discarded == (3, 5, 6)
    assert weighting_of(IdiapSettings()).weights == DEFAULT_WEIGHTS
