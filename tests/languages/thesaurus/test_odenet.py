"""OdeNet in WN-LMF, a made-up piece of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus.odenet import OdeNet

SMALL = """<LexicalResource><Lexicon id="x" language="de">
 <LexicalEntry id="w1"><Lemma writtenForm="Hocker" partOfSpeech="n"/>
  <Sense id="a" synset="s1"/><Sense id="b" synset="s2"/></LexicalEntry>
 <LexicalEntry id="w2"><Lemma writtenForm="Fußbank" partOfSpeech="n"/><Sense id="c" synset="s1"/></LexicalEntry>
 <LexicalEntry id="w3"><Lemma writtenForm="hocken" partOfSpeech="v"/><Sense id="d" synset="s1"/></LexicalEntry>
 <Synset id="s1" ili="i1" partOfSpeech="n"/>
</Lexicon></LexicalResource>
"""


def test_nouns_of_one_synset(tmp_path: Path) -> None:
    (tmp_path / "odenet.xml").write_text(SMALL, encoding="utf-8")
    net = OdeNet(tmp_path / "odenet.xml")
    assert net.senses("Hocker") == [("Fußbank",)]
    assert net.senses("Fußbank") == [("Hocker",)]
    assert net.senses("hocken") == []


def test_another_xml_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text("<a><b/></a>", encoding="utf-8")
    with pytest.raises(BadInput, match="no entry of a noun"):
        OdeNet(tmp_path / "x.xml")
