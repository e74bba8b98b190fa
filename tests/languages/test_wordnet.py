"""WordNet's files: synsets of words in their base forms, irregular and regular; what is not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.languages import thesaurus
from anaphora.languages.thesaurus import PARTS, FirstSenses, WordNet, find_wordnet, read_wordnet

LICENSE = "  1 This line stands for the license in which every line begins with two spaces.  \n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A WordNet of a dozen words, in the format of wndb(5WN). The fields between count and offsets vary in number."""
    files = {
        "index.noun": "automobile n 1 3 @ ~ + 1 0 02958343\n"
        "car n 2 3 @ ~ + 2 1 02958343 02959942\n"
        "child n 1 0 1 1 09917593\nkid n 2 0 2 1 09917593 02415000\n"
        "box n 1 0 1 0 02883344\nberry n 1 0 1 0 07742704\nfly n 1 0 1 0 02190166\nsports_car n 1 0 1 0 04285008\n",
        "index.verb": "buy v 1 1 @ 1 0 02207206\npurchase v 1 0 1 0 02207206\nfly v 1 0 1 0 01940403\n",
        "index.adj": "fast a 1 0 1 0 00976508\nquick a 1 0 1 0 00976508\nlarge a 1 0 1 0 01382086\n",
        "index.adv": "fast r 1 0 1 0 00085811\nquickly r 1 0 1 0 00085811\n",
        "noun.exc": "axes axis\nchildren child\nkine cow\n",
        "verb.exc": "bought buy\nflew fly\n",
        "adj.exc": "",
        "adv.exc": "best well\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text((LICENSE if "index" in name else "") + text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("car", "automobile", True),
        ("cars", "automobiles", True),
        ("children", "kid", True),
        ("bought", "purchases", True),
        ("purchasing", "buying", True),
        ("quick", "fast", True),
        ("faster", "quickest", True),
        ("boxes", "box", True),
        ("berries", "berry", True),
        ("flies", "flew", True),
        ("car", "kid", False),
        ("fast", "car", False),
        ("best", "quickly", False),  # its base form is not in the index
        ("unheard", "of", False),
    ],
)
def test_synonyms(folder: Path, one: str, other: str, same: bool) -> None:
    synsets = read_wordnet(folder)
    assert bool(set(synsets.synsets_of(one)) & set(synsets.synsets_of(other))) is same


def test_synsets_are_distinguished_by_their_part_of_speech(folder: Path) -> None:
    synsets = read_wordnet(folder)
    assert set(synsets.synsets_of("fly")) == {("noun", 2190166), ("verb", 1940403)}
    assert set(synsets.synsets_of("cars")) == {("noun", 2958343), ("noun", 2959942)}
    assert "sports_car" not in synsets.synsets["noun"]


def test_an_irregular_form_has_no_regular_base() -> None:
    """Once the exceptions know a form, no ending is taken off: `axes` is not `axe`."""
    nouns = {"axe": (1,), "axis": (2,), "tax": (3,)}
    nothing: dict[str, dict[str, tuple[Any, ...]]] = {part: {} for part in PARTS}
    wordnet = WordNet(nothing | {"noun": nouns}, nothing | {"noun": {"axes": ("axis",)}})
    assert list(wordnet.synsets_of("axes")) == [("noun", 2)]
    assert list(wordnet.synsets_of("taxes")) == [("noun", 3)]


def test_a_damaged_index(folder: Path) -> None:
    (folder / "index.adv").write_text(LICENSE + "fast r many 0\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"index\.adv: line 2: not a line of a WordNet index"):
        read_wordnet(folder)


def test_a_folder_without_wordnet(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"index\.noun .*is missing here\. Name WordNet's folder dict"):
        read_wordnet(tmp_path)


def test_where_it_is_looked_for(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANAPHORA_WORDNET", raising=False)
    monkeypatch.setattr(thesaurus, "WORDNET_FOLDER", tmp_path / "nowhere")
    assert find_wordnet() is None
    monkeypatch.setattr(thesaurus, "WORDNET_FOLDER", folder)
    assert find_wordnet() is not None
    monkeypatch.setenv("ANAPHORA_WORDNET", str(tmp_path / "elsewhere"))
    with pytest.raises(BadInput, match="elsewhere: no such directory"):
        find_wordnet()
    assert find_wordnet(folder) is not None


def test_the_real_wordnet() -> None:
    try:
        actual = find_wordnet()
    except BadInput:
        actual = None
    if actual is None:
        pytest.skip("no WordNet here: install Debian's wordnet-base, or set ANAPHORA_WORDNET")
    synonyms: Callable[[str, str], bool] = lambda a, b: bool(  # noqa: E731
        set(actual.synsets_of(a)) & set(actual.synsets_of(b))
    )
    assert synonyms("cars", "automobiles")
    assert synonyms("was", "were")
    assert synonyms("mice", "mouse")
    assert not synonyms("cat", "automobile")


# The first sense of an English noun, from WordNet's own files.


INDEX = """  1 a license
stool n 2 3 @ ~ + 2 1 00000111 00000222
foot_stool n 1 1 @ 1 0 00000111
"""
DATA = """  1 a license
00000111 06 n 02 stool 0 Foot_stool 0 001 @ 00000333 n 0000 | a seat
00000222 06 n 01 stool 1 001 @ 00000333 n 0000 | something else
"""
REAL = Path("/usr/share/wordnet")


def test_the_words_of_the_most_frequent_sense(tmp_path: Path) -> None:
    (tmp_path / "index.noun").write_text(INDEX, encoding="utf-8")
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    net = FirstSenses(tmp_path)
    assert net.first_sense("stool") == ("stool", "foot stool")
    assert net.first_sense("Stools") == net.first_sense("foot stool") == ("stool", "foot stool")
    assert net.first_sense("table") == ()


def test_missing_and_damaged_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"index\.noun .* is missing here"):
        FirstSenses(tmp_path)
    (tmp_path / "index.noun").write_text("stool n many\n", encoding="utf-8")
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    with pytest.raises(BadInput, match=r"index\.noun: line 1: not a line of a WordNet index"):
        FirstSenses(tmp_path)


@pytest.mark.skipif(not REAL.is_dir(), reason="WordNet is not here: apt-get install wordnet-base")
def test_the_real_one() -> None:
    assert {"curtain", "drape"} <= set(FirstSenses(REAL).first_sense("curtains"))
