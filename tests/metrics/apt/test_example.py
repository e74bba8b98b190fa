"""The example is small, made up, and shows what the metric does: rescued pronouns, equivalents, a missing one."""

from __future__ import annotations

from pathlib import Path

from anaphora.metrics.apt.equivalence import learn_equivalents, read_samples
from anaphora.metrics.apt.example import SENTENCES, write_example
from anaphora.metrics.apt.metric import apt


def test_the_example(tmp_path: Path) -> None:
    files = write_example(tmp_path)
    assert all(path.is_file() for path in files)
    names = ("sentence-level", "document-level")
    options = {"reference_alignment": tmp_path / "reference.align", "samples": 100}
    result = apt(
        tmp_path / "source.en",
        tmp_path / "reference.fr",
        [tmp_path / f"{name}.fr" for name in names],
        "en-fr",
        hypothesis_alignments=[tmp_path / f"{name}.align" for name in names],
        **options,
    )
    first, second = result.systems
    assert sum(first.score.cases) == sum(second.score.cases) == SENTENCES
    assert first.score.apt is not None
    assert second.score.apt is not None
    assert first.score.apt < second.score.apt
    assert min(*first.rescued, *second.rescued) > 0
    assert second.score.cases[3] > 0
    equivalent = learn_equivalents(read_samples(tmp_path / "judged.tsv")).equivalent
    assert equivalent == (("c'", "il"),)


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    one, other = write_example(tmp_path / "a"), write_example(tmp_path / "b")
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in other]
