"""Annotators are found by their spec; what is wrong with a spec is said in one line."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from anaphora.annotate import ANNOTATORS, load_annotator
from anaphora.annotate.conllu import ConlluAnnotator
from anaphora.core.errors import AnaphoraError


def test_the_kinds_of_the_contract() -> None:
    assert list(ANNOTATORS) == ["spacy", "stanza", "conllu"]


def test_a_file_is_an_annotator() -> None:
    annotator = load_annotator("conllu:some/file.conllu", "fr")
    assert isinstance(annotator, ConlluAnnotator)
    assert annotator.language == "fr"


@pytest.mark.parametrize("spec", ["spacy", "spacy:", "", "file.conllu"])
def test_what_is_no_spec(spec: str) -> None:
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
