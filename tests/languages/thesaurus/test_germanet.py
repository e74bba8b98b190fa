"""GermaNet's XML, in a made-up release: synsets, units to leave out, links to WordNet."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus.germanet import GermaNet

SYNSETS = """<?xml version="1.0" encoding="UTF-8"?>
<synsets>
 <synset id="s1" category="nomen">
  <lexUnit id="l1" styleMarking="no" namedEntity="no"><orthForm>Hocker</orthForm></lexUnit>
  <lexUnit id="l2" styleMarking="no" namedEntity="no"><orthForm>Fußbank</orthForm></lexUnit>
  <lexUnit id="l3" styleMarking="yes" namedEntity="no"><orthForm>Bock</orthForm></lexUnit>
  <lexUnit id="l4" artificial="yes"><orthForm>Sitzding</orthForm></lexUnit>
 </synset>
 <synset id="s2"><lexUnit id="l5"><orthForm>Hocker</orthForm></lexUnit></synset>
</synsets>
"""
LINKS = """<interLingualIndex>
 <iliRecord lexUnitId="l1" ewnRelation="synonym" pwnWord="foot_stool"/>
 <iliRecord lexUnitId="l5" ewnRelation="hypernym" pwnWord="person"/>
</interLingualIndex>
"""


def test_synonyms_and_translations(tmp_path: Path) -> None:
    (tmp_path / "nomen.Artefakt.xml").write_text(SYNSETS, encoding="utf-8")
    (tmp_path / "interLingualIndex_DE-EN.xml").write_text(LINKS, encoding="utf-8")
    net = GermaNet(tmp_path)
    assert net.senses("Hocker") == [("Fußbank",)]
    assert net.senses("Bock") == net.senses("Sitzding") == []
    assert net.translations("foot stool") == {"Hocker", "Fußbank"}
    assert net.translations("person") == frozenset()
    assert net.words("Fußbank") == {"foot stool"}


def test_without_links_there_are_no_translations(tmp_path: Path) -> None:
    (tmp_path / "nomen.Artefakt.xml").write_text(SYNSETS, encoding="utf-8")
    assert GermaNet(tmp_path).translations("foot stool") == frozenset()


def test_other_folders_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no files nomen"):
        GermaNet(tmp_path)
    (tmp_path / "nomen.x.xml").write_text(SYNSETS[:300], encoding="utf-8")
    with pytest.raises(BadInput, match=r"nomen\.x\.xml: line \d+: not XML"):
        GermaNet(tmp_path)
