"""Case counts from texts: the same as those of `apt`, without and with the heuristics of alignment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.apt.input import Files
from anaphora.metrics.apt.metric import apt
from anaphora.metrics.meta.sweep_texts import cases_of_texts

NAMES = ("baseline", "HA-enc-dec")


def test_five_hundred_pronouns_and_more(data: Callable[[str], Path]) -> None:
    """TED Spanish–English: both alignments count what `apt` counts; the heuristics find more pronouns."""
    folder = data("han-apt") / "TED_es-en"
    texts = [folder / f"IWSLT14.TED.tst.tc.{kind}.gz" for kind in ("es", "en", "align")]
    hypotheses = tuple(folder / f"TED_es-en_{name}.en.gz" for name in NAMES)
    alignments = tuple(folder / f"TED_es-en_{name}.align.gz" for name in NAMES)
    found = cases_of_texts(Files(texts[0], texts[1], hypotheses, texts[2], alignments, names=NAMES), "es-en")
    for alignment, rescue in (("basic", False), ("heuristics", True)):
        result = apt(
            texts[0],
            texts[1],
            hypotheses,
            "es-en",
            reference_alignment=texts[2],
            hypothesis_alignments=alignments,
            names=NAMES,
            rescue=rescue,
            samples=100,
        )
        assert found[alignment] == {system.name: system.score.cases for system in result.systems}
    for name in NAMES:
        basic, heuristics = found["basic"][name], found["heuristics"][name]
        assert sum(basic) == sum(heuristics) > 500
        assert sum(heuristics[3:]) <= sum(basic[3:]), "no pronoun is lost by looking for it (APT §4.3)"
    assert sum(found["heuristics"]["HA-enc-dec"][3:]) < sum(found["basic"]["HA-enc-dec"][3:])


def test_an_unknown_language_pair(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("it\n")
    path = tmp_path / "x"
    with pytest.raises(AnaphoraError, match="no pronoun lists for xx-yy"):
        cases_of_texts(Files(path, path, (path,), path, (path,)), "xx-yy")
