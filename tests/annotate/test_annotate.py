"""Annotators are found by their spec; what is wrong with a spec is said in one line."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate import ANNOTATORS, default_annotator, load_annotator
from anaphora.annotate.conllu import ConlluAnnotator
from anaphora.core.errors import AnaphoraError


def test_the_kinds_of_the_contract() -> None:
    assert list(ANNOTATORS) == ["spacy", "stanza", "conllu"]


def test_a_file_is_an_annotator() -> None:
    annotator = load_annotator("conllu:some/file.conllu", "fr")
    assert isinstance(annotator, ConlluAnnotator)
    assert annotator.language == "fr"


@pytest.mark.parametrize("spec", ["spacy", "spacy:", "", "file.conllu"])
def test_what_is_not_a_spec(spec: str) -> None:
    with pytest.raises(AnaphoraError, match="Write spacy:NAME_OR_PATH, stanza:LANGUAGE or conllu:FILE"):
        load_annotator(spec)


def test_an_unknown_kind() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown annotator 'spacey'.*did you mean spacy"):
        load_annotator("spacey:en")


@pytest.mark.parametrize(("kind", "extra"), [("spacy", "mine"), ("stanza", "stanza")])
def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, kind: str, extra: str) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.partition(".")[0] == kind:
            raise ModuleNotFoundError(f"No module named {kind!r}", name=kind)
        return real(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, f"anaphora.annotate.{kind}_pipeline", raising=False)
    monkeypatch.setitem(sys.modules, kind, None)
    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(AnaphoraError, match=rf'needs {kind}.*pip install "anaphora\[{extra}\]"'):
        load_annotator(f"{kind}:en")


# Where no annotator is named, one that is here is taken, or it is said how to get one.


pytest.importorskip("spacy")


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    names: list[str] = []
    monkeypatch.setattr("spacy.util.get_installed_models", lambda: names)
    monkeypatch.delenv("ANAPHORA_MODELS", raising=False)
    return names


def test_the_smallest_pipeline_of_the_language(installed: list[str]) -> None:
    installed += ["de_core_news_lg", "en_core_web_trf", "de_core_news_md", "den_x_sm", "en_core_web_lg"]
    assert default_annotator("de", "--annotate-target") == "spacy:de_core_news_md"
    assert default_annotator("en", "--annotate-source") == "spacy:en_core_web_lg"


def test_a_folder_of_pipelines(installed: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("de_ud_sm", "de_ud_lg", "en_ud_sm"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta.json").write_text("{}")
    (tmp_path / "de_notes").mkdir()
    monkeypatch.setenv("ANAPHORA_MODELS", str(tmp_path))
    assert default_annotator("de", "") == f"spacy:{tmp_path / 'de_ud_sm'}"
    installed.append("de_core_news_md")
    assert default_annotator("de", "") == "spacy:de_core_news_md"
    with pytest.raises(AnaphoraError, match=r"no spaCy pipeline for 'd\*\*e'"):
        default_annotator("d**e", "")


def test_what_to_do_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnaphoraError, match=r"Install one: python -m spacy download en_core_web_sm\. Name another"):
        default_annotator("en", "--annotate-source")
    monkeypatch.setitem(sys.modules, "spacy.util", None)
    with pytest.raises(AnaphoraError, match=r"spaCy is not installed.*anaphora\[mine\].*download de_core_news_sm"):
        default_annotator("de", "--annotate-target")
