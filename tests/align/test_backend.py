"""Backends are found by name and imported when used; what they cannot do is said in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from anaphora.align import Aligner
from anaphora.align.backend import BACKENDS, KINDS, Settings, load_backend
from anaphora.core.errors import AnaphoraError, BadInput


def test_importing_the_package_imports_no_backend() -> None:
    program = (
        "import sys\nimport anaphora.align\nassert 'numpy' not in sys.modules\n"
        "import anaphora.cli.reference\nassert not {'thot', 'sacremoses'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_backend() -> None:
    with pytest.raises(
        AnaphoraError, match=r"unknown alignment backend 'thott' \(did you mean thot\?\)\. Known: thot, "
    ):
        load_backend(Settings(backend="thott"))
    with pytest.raises(AnaphoraError, match=r"unknown alignment backend 'eflomal'.* Known: thot, builtin, pharaoh$"):
        load_backend(Settings(backend="eflomal"))


def test_a_backend_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python refuses to import a module whose entry in sys.modules is None, as if it were not there."""
    monkeypatch.delitem(sys.modules, "anaphora.align.thot", raising=False)
    monkeypatch.setitem(sys.modules, "thot", None)
    message = r"backend 'thot' needs thot, which is not installed\. .*pip install \"anaphora\[align\]\""
    message += r"\. Or use the built-in aligner, which needs nothing else: --aligner builtin"
    with pytest.raises(AnaphoraError, match=message):
        load_backend(Settings(backend="thot"))


def test_an_unknown_model_or_symmetrization() -> None:
    pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")
    with pytest.raises(
        AnaphoraError, match=r"unknown model 'fastalign' of backend 'thot' \(did you mean fast_align\?\)"
    ):
        load_backend(Settings(model="fastalign"))
    with pytest.raises(AnaphoraError, match=r"unknown symmetrization 'gdfa'\. Known: intersection, "):
        Aligner(Settings("builtin", symmetrize="gdfa"))
    assert Aligner(Settings("builtin")).symmetrize == "grow-diag-final"
    assert Aligner(Settings("builtin", symmetrize="union")).symmetrize == "union"


def test_every_backend_is_registered_with_what_it_is() -> None:
    assert list(BACKENDS) == list(KINDS) == ["thot", "builtin", "pharaoh"]
    assert all(about for _, _, about in KINDS.values())


# Alignments that another program wrote are merged and checked like our own.

SOURCE, TARGET = [["a", "b"], [], ["c"]], [["A", "B", "C"], ["X"], ["C"]]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    one, other = tmp_path / "forward", tmp_path / "backward"
    one.write_text("0-0 1-1 1-2\n\n0-0\n\n")  # an empty line too many
    other.write_text("0-0 1-1\n\n\n")
    return one, other


def test_two_directions_are_merged(files: tuple[Path, Path]) -> None:
    def merged(heuristic: str) -> list[tuple[tuple[int, int], ...]]:
        settings = Settings(backend="pharaoh", forward=files[0], backward=files[1], symmetrize=heuristic)
        return Aligner(settings).train(SOURCE, TARGET)

    assert merged("intersection") == [((0, 0), (1, 1)), (), ()]
    assert merged("grow-diag") == [((0, 0), (1, 1), (1, 2)), (), ()]
    assert merged("grow-diag-final") == [((0, 0), (1, 1), (1, 2)), (), ((0, 0),)]


def test_one_file_is_taken_as_merged(files: tuple[Path, Path]) -> None:
    trained = Aligner(Settings(backend="pharaoh", forward=files[0])).train(SOURCE, TARGET)
    assert trained == [((0, 0), (1, 1), (1, 2)), (), ((0, 0),)]


def test_what_does_not_fit_the_sentences(files: tuple[Path, Path]) -> None:
    aligner = Aligner(Settings(backend="pharaoh", forward=files[0]))
    with pytest.raises(BadInput, match=r"forward: 3 lines, but there are 2 sentence pairs"):
        aligner.train(SOURCE[:2], TARGET[:2])
    with pytest.raises(BadInput, match=r"forward: 4 lines, but there are 5 sentence pairs"):
        aligner.train([["a"]] * 5, [["b"]] * 5)
    with pytest.raises(BadInput, match="forward: line 1: point 1-2 is outside the sentences of 2 and 2 words"):
        aligner.train([["a", "b"], [], ["c"]], [["A", "B"], [], ["C"]])
    with pytest.raises(BadInput, match="forward: line 3: point 0-0 is outside the sentences of 0 and 1 words"):
        aligner.train([*SOURCE[:2], []], TARGET)


def test_there_is_nothing_to_learn_or_save(files: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="name the file"):
        Aligner(Settings(backend="pharaoh"))
    aligner = Aligner(Settings(backend="pharaoh", forward=files[0]))
    aligner.train(SOURCE, TARGET)
    with pytest.raises(AnaphoraError, match="the aligner is not trained"):
        aligner.save(tmp_path / "model")
    with pytest.raises(AnaphoraError, match="cannot use a corpus"):
        aligner.train(SOURCE, TARGET, corpus=[(["a"], ["b"])])
