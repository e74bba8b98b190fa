"""Backends are found by name and imported when used; what they cannot do is said in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from anaphora.align.backend import BACKENDS, KINDS, Settings, choose_heuristic, load_backend
from anaphora.core.errors import AnaphoraError


def test_importing_the_package_imports_no_backend() -> None:
    program = (
        "import sys\nimport anaphora.align, anaphora.cli.align\n"
        "assert not {'thot', 'eflomal', 'systran_align', 'sacremoses', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_unknown_backend() -> None:
    with pytest.raises(
        AnaphoraError, match=r"unknown alignment backend 'thott' \(did you mean thot\?\)\. Known: thot, "
    ):
        load_backend(Settings(backend="thott"))


@pytest.mark.parametrize(
    ("backend", "module", "extra"),
    [("thot", "thot", "align"), ("eflomal", "eflomal", "eflomal"), ("systran", "systran_align", "systran")],
)
def test_a_backend_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, backend: str, module: str, extra: str
) -> None:
    """Python refuses to import a module whose place in sys.modules is None, as if it were not there."""
    monkeypatch.delitem(sys.modules, f"anaphora.align.{backend}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    message = rf"backend '{backend}' needs {module}, which is not installed\. .*pip install \"anaphora\[{extra}\]\""
    message += (
        r"\. Or use the built-in aligner, which needs nothing else: --backend builtin \(.*--align-backend builtin\)"
    )
    with pytest.raises(AnaphoraError, match=message):
        load_backend(Settings(backend=backend))


def test_an_unknown_model_or_symmetrisation() -> None:
    pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")
    with pytest.raises(
        AnaphoraError, match=r"unknown model 'fastalign' of backend 'thot' \(did you mean fast_align\?\)"
    ):
        load_backend(Settings(model="fastalign"))
    backend = load_backend(Settings())
    with pytest.raises(AnaphoraError, match=r"unknown symmetrisation 'gdfa'\. Known: intersection, "):
        choose_heuristic(Settings(symmetrize="gdfa"), backend)
    assert choose_heuristic(Settings(), backend) == "grow-diag-final"
    assert choose_heuristic(Settings(symmetrize="union"), backend) == "union"


def test_every_backend_is_registered_with_what_it_is() -> None:
    assert list(BACKENDS) == list(KINDS) == ["thot", "builtin", "eflomal", "systran", "pharaoh"]
    assert all(about for _, _, about in KINDS.values())
