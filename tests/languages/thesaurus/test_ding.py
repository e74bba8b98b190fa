"""Ding's dictionary: parts of an entry side by side, marks of register, notes in brackets."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus.ding import Ding

SMALL = """# a comment :: {n}
Hocker {m}; Schemel {m} (klein); Bock {m} [ugs.] [möb.] | Hocker {pl} :: stool (low) [Br.]; the taboret | stools
Schemel {m}; Fußbank {f} /FB/ :: footstool; stool
hocken {vi} | der hohe Hocker :: to squat | the high stool
Kleine Bank {f}; Bänkchen {n} :: little bench
"""


@pytest.fixture
def ding(tmp_path: Path) -> Ding:
    path = tmp_path / "de-en.txt"
    path.write_text(SMALL, encoding="utf-8")
    return Ding(path)


def test_nouns_of_one_part_mean_the_same(ding: Ding) -> None:
    assert list(ding.senses("Schemel")) == [("Hocker",), ("Fußbank",)]
    assert list(ding.senses("Hocker")) == [("Schemel",)]


def test_marked_words_plurals_and_phrases_are_left_out(ding: Ding) -> None:
    assert not ding.senses("Bock")
    assert ding.translations("stools") == frozenset()
    assert ding.translations("little bench") == {"Bänkchen"}


def test_translations_both_ways_without_notes_and_articles(ding: Ding) -> None:
    assert ding.translations("Stool") == {"Hocker", "Schemel", "Fußbank"}
    assert ding.words("Hocker") == {"stool", "taboret"}
    assert ding.translations("unknown") == ding.words("Unbekannt") == frozenset()


def test_a_gzipped_file(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt.gz"
    path.write_bytes(gzip.compress(SMALL.encode()))
    assert Ding(path).words("Bänkchen") == {"little bench"}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("Hocker stool\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no entry of a noun"):
        Ding(path)
