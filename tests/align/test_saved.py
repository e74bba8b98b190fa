"""A saved model is whole, of this format, of its backend and of the library that reads it, or it is refused."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")

from anaphora.align import Aligner, Settings
from anaphora.align.saved import HEADER, open_model
from anaphora.core.errors import AnaphoraError, BadInput

from .conftest import Toy

SETTINGS = Settings(
    model="ibm1", symmetrize="union", lowercase=False, seed=7, tokenize="moses", languages=("en", "fr"), threads=1
)


@pytest.fixture(scope="session")
def saved(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    folder = tmp_path_factory.mktemp("saved") / "model"
    aligner.save(folder)
    return folder


@pytest.fixture
def model(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "model")


@pytest.fixture
def change(model: Path) -> Callable[..., None]:
    def write(**changes: Any) -> None:
        header = json.loads((model / HEADER).read_text())
        (model / HEADER).write_text(json.dumps({k: v for k, v in (header | changes).items() if v is not None}))

    return write


def test_the_header_says_how_it_was_made(model: Path) -> None:
    header = json.loads((model / HEADER).read_text())
    files = header.pop("files")
    assert set(files) == {path.name for path in model.iterdir()} - {HEADER}
    library = header.pop("library")
    assert library.startswith("sil-thot 3.")
    assert header == {
        "anaphora-alignment-model": 1,
        "backend": "thot",
        "model": "ibm1",
        "symmetrize": "union",
        "lowercase": False,
        "seed": 7,
        "tokenize": "moses",
        "normalize": True,
        "languages": ["en", "fr"],
        "trained_on": 40,
    }


def test_settings_come_back(model: Path) -> None:
    loaded = Aligner.load(model)
    assert loaded.settings == Settings(
        model="ibm1", symmetrize="union", lowercase=False, seed=7, tokenize="moses", languages=("en", "fr")
    )
    assert loaded.trained_on == 40
    assert Aligner.load(model, symmetrize="intersection").symmetrize == "intersection"


def test_the_same_training_gives_the_same_bytes(toy: Toy, model: Path, tmp_path: Path) -> None:
    aligner = Aligner(SETTINGS)
    aligner.train(toy.source, toy.target)
    aligner.save(tmp_path / "again")
    for path in model.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes(), path.name


def test_a_model_is_replaced_and_other_folders_are_not(model: Path, tmp_path: Path) -> None:
    loaded = Aligner.load(model)
    (model / "left-over").write_text("from an older one")
    loaded.save(model)
    assert not (model / "left-over").exists()
    Aligner.load(model)
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter").write_text("one")
    with pytest.raises(BadInput, match="thesis: exists already, and is no saved alignment model"):
        loaded.save(other)
    assert (other / "chapter").read_text() == "one"
    with pytest.raises(BadInput, match="cannot be written: "):
        loaded.save(other / "chapter" / "model")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_failure_leaves_nothing_behind(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = Aligner.load(model)

    def fail(folder: Path) -> None:
        (folder / "half").write_text("of it")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(loaded.backend, "save", fail)
    with pytest.raises(BadInput, match="new: cannot be written: no space left on device"):
        loaded.save(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_damaged_files_are_found_out_before_the_library_sees_them(model: Path) -> None:
    table = model / "forward.ibm_lexnd"
    content = table.read_bytes()
    table.write_bytes(content[:-1])
    with pytest.raises(BadInput, match=r"forward\.ibm_lexnd: the file is damaged: .* Train and save it again"):
        Aligner.load(model)
    table.unlink()
    with pytest.raises(BadInput, match=r"model: the file 'forward\.ibm_lexnd' of the model is missing"):
        Aligner.load(model)


def test_a_header_that_names_files_elsewhere(model: Path, change: Callable[..., None]) -> None:
    (model.parent / "secret").write_bytes(b"x")
    change(files={"../secret": hashlib.sha256(b"x").hexdigest()})
    with pytest.raises(BadInput, match=r"the file '\.\./secret' of the model is missing"):
        Aligner.load(model)


@pytest.mark.parametrize("name", ["backend", "model", "library", "symmetrize", "lowercase", "seed", "trained_on"])
def test_a_header_that_lacks_something(model: Path, change: Callable[..., None], name: str) -> None:
    change(**{name: None})
    with pytest.raises(BadInput, match=rf"alignment-model\.json: '{name}' is missing or not as it should be"):
        Aligner.load(model)


def test_a_header_of_another_kind(model: Path, change: Callable[..., None]) -> None:
    change(**{"anaphora-alignment-model": 2})
    with pytest.raises(BadInput, match="version 2 of saved models, but this program reads 1"):
        Aligner.load(model)
    (model / HEADER).write_text("[1, 2]")
    with pytest.raises(BadInput, match="version None of saved models"):
        Aligner.load(model)
    (model / HEADER).write_text('{"anaphora-')
    with pytest.raises(BadInput, match=r"alignment-model\.json: line 1: not JSON"):
        Aligner.load(model)


def test_a_model_of_another_backend_or_release(model: Path, change: Callable[..., None]) -> None:
    with pytest.raises(BadInput, match=r"a model of backend 'thot', not 'eflomal'\. Apply it with --backend thot"):
        Aligner.load(model, backend="eflomal")
    change(library="sil-thot 3.1.9")
    with pytest.raises(BadInput, match=r"trained by sil-thot 3\.1\.9, but sil-thot .* install sil-thot==3\.1\.9"):
        Aligner.load(model)
    change(library=Aligner(SETTINGS).backend.version() + ".1")  # a later patch of the same release
    Aligner.load(model)
    change(backend="giza")
    with pytest.raises(AnaphoraError, match="unknown alignment backend 'giza'"):
        Aligner.load(model)


def test_no_model_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere: no such folder\. Make one with: anaphora align … --save FOLDER"):
        open_model(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="no saved alignment model"):
        open_model(tmp_path)
