"""Phenomena are found by name: ours, and those of other packages; options that one does not have are refused."""

from __future__ import annotations

import pytest

from anaphora.build.mine.phenomena import load_phenomenon, phenomena
from anaphora.core.errors import AnaphoraError

pytestmark = pytest.mark.usefixtures("toy")


def test_ours_and_those_of_other_packages() -> None:
    assert {"pronouns", "toy"} <= set(phenomena())
    found = load_phenomenon("toy", ("en", "de"), {"shortest": "4"})
    assert found.settings() == {"shortest": 4}


def test_what_is_not_known() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown phenomenon 'toys' \(did you mean toy\?\)"):
        load_phenomenon("toys", ("en", "de"), {})
    with pytest.raises(AnaphoraError, match=r"phenomenon 'toy': got an unexpected keyword argument 'size'"):
        load_phenomenon("toy", ("en", "de"), {"size": "4"})


def test_an_error_of_its_own_is_not_hidden() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        load_phenomenon("toy", ("en", "de"), {"shortest": "four"})
