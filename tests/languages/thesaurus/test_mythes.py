"""OpenThesaurus in the format of MyThes: plain nouns of each sense, no marks, no hypernyms."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import BadInput
from anaphora.languages.thesaurus import OPENTHESAURUS
from anaphora.languages.thesaurus.mythes import MyThes

SMALL = """UTF-8
hocker|2
-|Hocker (Hauptform)|Schemel|Sitz (ugs.)|Möbel (Oberbegriff)|kleiner Stuhl
-|Faulpelz|Hocker (ugs.)
hocken|1
-|hocken|kauern|Hock
"""


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "th.dat"
    path.write_text(text, encoding=encoding)
    return path


def test_only_plain_nouns_and_only_senses_in_which_the_noun_is_plain_itself(tmp_path: Path) -> None:
    thesaurus = MyThes(written(tmp_path, SMALL))
    assert thesaurus.senses("Hocker") == [("Schemel",)]
    assert thesaurus.senses("Schemel") == []
    assert thesaurus.senses("hocken") == []


def test_the_first_line_names_the_encoding(tmp_path: Path) -> None:
    text = "ISO8859-1\nköder|1\n-|Köder|Lockmittel\n"
    assert MyThes(written(tmp_path, text, "latin-1")).senses("Köder") == [("Lockmittel",)]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("klingonisch\nx|1\n-|X\n", "line 1: not an encoding: 'klingonisch'"),
        ("UTF-8\nx\n", "line 2: a word and the number of its senses are expected: 'x'"),
        ("UTF-8\nx|2\n-|X\n", "line 4: ends within the senses of 'x'"),
    ],
)
def test_what_is_no_thesaurus_says_where(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        MyThes(written(tmp_path, text))


nouns = st.from_regex(r"[A-Z][a-z]{2,8}", fullmatch=True)


@given(st.lists(st.lists(nouns, min_size=2, max_size=5, unique=True), min_size=1, max_size=4))
def test_every_sense_is_read_back(tmp_path_factory: pytest.TempPathFactory, senses: list[list[str]]) -> None:
    head = senses[0][0]
    rows = [[head, *(word for word in sense if word != head)] for sense in senses]
    text = f"UTF-8\n{head.lower()}|{len(rows)}\n" + "".join(f"-|{'|'.join(row)}\n" for row in rows)
    path = tmp_path_factory.mktemp("mythes") / "th.dat"
    path.write_text(text, encoding="utf-8")
    assert MyThes(path).senses(head) == [tuple(row[1:]) for row in rows]


@pytest.mark.skipif(not OPENTHESAURUS.is_file(), reason="OpenThesaurus is not here: apt-get install mythes-de")
def test_the_example_of_the_paper_is_in_the_real_one() -> None:
    assert ("Gardine",) in MyThes(OPENTHESAURUS).senses("Vorhang")
