"""Where no annotator is named, one that is here is taken, or it is said how to get one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from anaphora.annotate.defaults import default_annotator
from anaphora.core.errors import AnaphoraError

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


def test_what_to_do_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AnaphoraError, match=r"Install one: python -m spacy download en_core_web_sm\. Name another"):
        default_annotator("en", "--annotate-source")
    monkeypatch.setitem(sys.modules, "spacy.util", None)
    with pytest.raises(AnaphoraError, match=r"spaCy is not installed.*anaphora\[mine\].*download de_core_news_sm"):
        default_annotator("de", "--annotate-target")
