"""Every published format is read by its name; a wrong name or an option that means nothing is said, not ignored."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.formats import FORMATS, read_suite
from anaphora.suites.suite import Header, suite_of

# the contract's list (INTERFACE), and our own file
NAMES = [
    "native",
    "contrapro",
    "contrapro-rebuilt",
    "contracat",
    "contracat-attack",
    "disceval",
    "lopes",
    "voita",
    "scat",
    "eval-anaphora",
    "text",
]


def test_the_formats_are_those_of_the_contract() -> None:
    assert sorted(FORMATS) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_name_leads_to_a_reader_that_says_what_it_misses(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="absent"):
        list(read_suite(tmp_path / "absent", name))


def test_native_is_what_is_read_unless_told_otherwise(tmp_path: Path) -> None:
    example = Example("a", ("It.",), (("Er.",), ("Sie.",)), 0)
    suite_of(Header("tiny", "en", "de"), lambda: [example]).write(tmp_path / "tiny.jsonl")
    assert list(read_suite(tmp_path / "tiny.jsonl")) == [example]


def test_a_wrong_name_is_met_with_a_near_one() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown format 'contrapo' \(did you mean contrapro"):
        read_suite(Path("x"), "contrapo")


def test_an_option_that_means_nothing_to_the_format_is_an_error_that_lists_its_own() -> None:
    with pytest.raises(AnaphoraError) as caught:
        read_suite(Path("x"), "contrapro", split="test")
    assert str(caught.value) == (
        "--split means nothing to the format 'contrapro', which takes --context-from, --context"
    )
    with pytest.raises(AnaphoraError, match="--context means nothing to the format 'native', which takes no options"):
        read_suite(Path("x"), context=1)


def test_an_option_reaches_the_reader(tmp_path: Path) -> None:
    (tmp_path / "set.json").write_text('{"1": {"examples": []}}', encoding="utf-8")
    assert read_suite(tmp_path / "set.json", "disceval", target_language="cs").header.target_language == "cs"


def test_the_command_line_tells_the_same(anaphora, tmp_path: Path) -> None:
    done = anaphora("suites", "convert", tmp_path, "--from", "lops", "-o", tmp_path / "out.jsonl", check=2)
    assert done.stderr.startswith("error: unknown format 'lops' (did you mean lopes")
