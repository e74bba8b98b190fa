"""Resources are named by specs; what cannot be named says what can."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.languages import thesaurus
from anaphora.languages.thesaurus import default_thesaurus, load_dictionary, load_thesaurus

DING = "Hocker {m}; Fußbank {f} :: stool\n"


def test_one_file_as_thesaurus_and_as_dictionary(tmp_path: Path) -> None:
    path = tmp_path / "de-en.txt"
    path.write_text(DING, encoding="utf-8")
    assert load_thesaurus(f"ding:{path}").senses("Hocker") == [("Fußbank",)]
    for spec in (f"ding:{path}", str(path)):
        assert load_dictionary(spec).translations("stool") == {"Hocker", "Fußbank"}


@pytest.mark.parametrize("spec", ["duden:x", "mythes:", "x.dat"])
def test_an_unknown_spec_names_the_known_ones(spec: str) -> None:
    with pytest.raises(AnaphoraError, match="Write one of: mythes:PATH, ding:PATH, germanet:PATH, odenet:PATH"):
        load_thesaurus(spec)


def test_a_thesaurus_is_no_dictionary() -> None:
    with pytest.raises(AnaphoraError, match="Write one of: ding:PATH, germanet:PATH"):
        load_dictionary("mythes:x")


def test_the_default_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thesaurus, "OPENTHESAURUS", tmp_path / "th.dat")
    with pytest.raises(AnaphoraError, match="apt-get install mythes-de"):
        default_thesaurus()
    (tmp_path / "th.dat").touch()
    assert default_thesaurus() == f"mythes:{tmp_path / 'th.dat'}"
