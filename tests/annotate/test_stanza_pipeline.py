"""Stanza through the protocol. Its models cannot be had here: pipelines are played by documents made from CoNLL-U."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.annotate.document import Mention
from anaphora.core.errors import AnaphoraError

pytest.importorskip("stanza", reason="Stanza is not installed: pip install 'anaphora[stanza]'")

from stanza.utils.conll import CoNLL

from anaphora.annotate import stanza_pipeline
from anaphora.annotate.stanza_pipeline import StanzaAnnotator, document_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

HOUSE = """\
1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_
1\tIn\tin\tADP\tAPPR\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\tART\tCase=Dat|Definite=Def\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\tNN\tCase=Dat|Gender=Neut\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t$.\t_\t3\tpunct\t_\t_

"""
IT = """\
1\tEs\tes\tPRON\tPPER\tGender=Neut\t2\tnsubj\t_\t_
2\tbrennt\tbrennen\tVERB\tVVFIN\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t$.\t_\t2\tpunct\t_\t_

"""


def chain(*mentions: tuple[int, Any, Any]) -> SimpleNamespace:
    return SimpleNamespace(mentions=[SimpleNamespace(sentence=s, start_word=a, end_word=b) for s, a, b in mentions])


class FakePipeline:
    """Answers any text with the two sentences above, and notes what it was asked."""

    asked: list[Any]

    def __init__(self, language: str, **settings: Any) -> None:
        self.settings = {"language": language, **settings}
        FakePipeline.asked = []

    def __call__(self, text: Any) -> Any:
        FakePipeline.asked.append((text, self.settings))
        document = CoNLL.conll2doc(input_str=HOUSE + IT)
        document._coref = [chain((0, 1, 3), (1, 0, 1)), chain((0, (0, 1), (0, 1)), (1, 0, 1))]
        return document


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stanza_pipeline.stanza, "Pipeline", FakePipeline)


def test_a_document_in_one_representation() -> None:
    document = document_of(CoNLL.conll2doc(input_str=HOUSE + IT), with_chains=False)
    house, it = document.sentences
    assert house.text == "Im Haus."
    assert it.text == "Es brennt."
    assert house[0].upos == "ADP"
    assert house[0].features == {"Case": "Dat", "Definite": "Def"}
    assert [t.head for t in house] == [1, None, 1]
    assert [t.relation for t in it] == ["nsubj", "root", "punct"]
    assert it[0].xpos == "PPER"
    assert document.chains is None


def test_lines_stay_sentences(fake: None) -> None:
    annotator = StanzaAnnotator("de")
    (document,) = annotator.annotate([["Im  Haus.", "", "Es brennt."]])
    assert [s.text for s in document.sentences] == ["Im Haus.", "", "Es brennt."]
    ((text, settings),) = FakePipeline.asked
    assert text == "Im Haus.\n\nEs brennt."
    assert settings["tokenize_no_ssplit"] is True
    assert "coref" not in settings["processors"]
    assert document.chains is None
    assert (annotator.language, annotator.needs_all) == ("de", False)


def test_tokens_are_kept_where_they_are_given(fake: None) -> None:
    (document,) = StanzaAnnotator("de").annotate([[["Im", "Haus", "."], ["Es", "brennt", "."]]])
    ((text, settings),) = FakePipeline.asked
    assert text == [["Im", "Haus", "."], ["Es", "brennt", "."]]
    assert settings["tokenize_pretokenized"] is True
    assert len(document.sentences) == 2


def test_chains_count_tokens_and_lines(fake: None) -> None:
    (document,) = StanzaAnnotator("de+coref").annotate([["", "Im Haus.", "Es brennt."]])
    assert FakePipeline.asked[0][1]["processors"].endswith(",coref")
    assert document.chains == ((Mention(1, 0, 2, 1), Mention(2, 0, 1, 0)),)  # the dropped pronoun is no mention


def test_documents_without_text(fake: None) -> None:
    (document,) = StanzaAnnotator("de").annotate([["", " "]])
    assert [len(s) for s in document.sentences] == [0, 0]
    assert FakePipeline.asked == []


def test_sentences_that_are_not_the_lines(fake: None) -> None:
    with pytest.raises(AnaphoraError, match="Stanza split 1 lines into 2 sentences"):
        list(StanzaAnnotator("de").annotate([["Im Haus."]]))


@pytest.mark.parametrize(("what", "problem"), [("de+ner", "Write stanza:LANGUAGE"), ("en", "annotates en, not de")])
def test_wrong_specs(fake: None, what: str, problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        StanzaAnnotator(what, "de")


def test_models_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*args: Any, **kwargs: Any) -> None:
        raise FileNotFoundError("no resources.json.")

    monkeypatch.setattr(stanza_pipeline.stanza, "Pipeline", missing)
    with pytest.raises(AnaphoraError) as error:
        StanzaAnnotator("de")
    assert str(error.value) == (
        "stanza:de cannot be loaded: no resources.json. "
        "Get the models with: python -c \"import stanza; stanza.download('de')\""
    )
