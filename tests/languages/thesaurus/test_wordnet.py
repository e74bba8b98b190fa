"""The first sense of an English noun, from WordNet's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus.wordnet import WordNet

INDEX = """  1 a licence
stool n 2 3 @ ~ + 2 1 00000111 00000222
foot_stool n 1 1 @ 1 0 00000111
"""
DATA = """  1 a licence
00000111 06 n 02 stool 0 Foot_stool 0 001 @ 00000333 n 0000 | a seat
00000222 06 n 01 stool 1 001 @ 00000333 n 0000 | something else
"""
REAL = Path("/usr/share/wordnet")


def test_the_words_of_the_most_frequent_sense(tmp_path: Path) -> None:
    (tmp_path / "index.noun").write_text(INDEX, encoding="utf-8")
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    net = WordNet(tmp_path)
    assert net.first_sense("stool") == ("stool", "foot stool")
    assert net.first_sense("Stools") == net.first_sense("foot stool") == ("stool", "foot stool")
    assert net.first_sense("table") == ()


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"index\.noun .* is missing here"):
        WordNet(tmp_path)
    (tmp_path / "index.noun").write_text("stool n many\n", encoding="utf-8")
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    with pytest.raises(BadInput, match=r"index\.noun: line 1: not a line of WordNet's index"):
        WordNet(tmp_path)


@pytest.mark.skipif(not REAL.is_dir(), reason="WordNet is not here: apt-get install wordnet-base")
def test_the_real_one() -> None:
    assert {"curtain", "drape"} <= set(WordNet(REAL).first_sense("curtains"))
