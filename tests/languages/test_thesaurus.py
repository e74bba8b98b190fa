"""Resources are named by specs; what cannot be named says what can."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import thesaurus
from anaphora.languages.thesaurus import OPENTHESAURUS, Ding, MyThes, default_thesaurus, load_dictionary, load_thesaurus

DING = "Hocker {m}; Fußbank {f} :: stool\n"


def test_one_file_as_thesaurus_and_as_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt"
    path.write_text(DING, encoding="utf-8")
    assert load_thesaurus(f"ding:{path}").senses("Hocker") == [("Fußbank",)]
    for spec in (f"ding:{path}", str(path)):
        assert load_dictionary(spec).translations("stool") == {"Hocker", "Fußbank"}


@pytest.mark.parametrize("spec", ["duden:x", "mythes:", "x.dat"])
def test_an_unknown_spec_names_the_known_ones(spec: str) -> None:
    with pytest.raises(AnaphoraError, match=r"Write one of: mythes:PATH, ding:PATH$"):
        load_thesaurus(spec)


def test_a_thesaurus_is_not_a_dictionary() -> None:
    with pytest.raises(AnaphoraError, match=r"Write one of: ding:PATH$"):
        load_dictionary("mythes:x")


def test_the_default_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesaurus, "OPENTHESAURUS", tmp_path / "th.dat")
    with pytest.raises(AnaphoraError, match="apt-get install mythes-de"):
        default_thesaurus()
    (tmp_path / "th.dat").touch()
    assert default_thesaurus() == f"mythes:{tmp_path / 'th.dat'}"


# OpenThesaurus in the format of MyThes: plain nouns of each sense, no marks, no hypernyms.


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


def test_only_plain_nouns_and_senses_are_kept(tmp_path: Path) -> None:
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
def test_what_is_not_a_thesaurus_says_where(tmp_path: Path, text: str, problem: str) -> None:
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


# Ding's dictionary: parts of an entry side by side, marks of register, notes in brackets.


SMALL_DING = """# a comment :: {n}
Hocker {m}; Schemel {m} (klein); Bock {m} [ugs.] [möb.] | Hocker {pl} :: stool (low) [Br.]; the taboret | stools
Schemel {m}; Fußbank {f} /FB/ :: footstool; stool
hocken {vi} | der hohe Hocker :: to squat | the high stool
Kleine Bank {f}; Bänkchen {n} :: little bench
"""


@pytest.fixture
def ding(tmp_path: Path) -> Ding:
    path = tmp_path / "de-en.txt"
    path.write_text(SMALL_DING, encoding="utf-8")
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
    path.write_bytes(gzip.compress(SMALL_DING.encode()))
    assert Ding(path).words("Bänkchen") == {"little bench"}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("Hocker stool\n", encoding="utf-8")
    with pytest.raises(BadInput, match="has no nouns"):
        Ding(path)
