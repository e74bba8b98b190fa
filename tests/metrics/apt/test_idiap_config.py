"""Configs of the original program: every key as it is spelt there, and every mistake named."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.metrics.apt.idiap_config import read_config, read_groups, read_positions

CONFIG = """\
[lang]
source: es
target: en
# a comment
source_word_separator:
target_word_separator: -

[files]
source: ./s
reference: ./r
target: ./t
alignment_source_reference: ./ra
alignment_source_target: ./ta
list_source_pronouns: pronouns
input_type: word
list_target_pronouns:

[dictionary]
equal: equal
similar:
source_pronouns:
target_pronouns: pronouns

[cases]
cases_to_use: 1,3,4
weigths_per_case: 1, 0.5,0
count_OTHER_as_equal: True

[output]
output_file: out/put
counting_multiword_in_matrix: no
max_length_matrix = 12
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pronouns").write_text("Él\n\n ella \n", encoding="utf-8")
    (tmp_path / "places").write_text("0 3\n\n12  4\n", encoding="utf-8")
    (tmp_path / "equal").write_text("Ce, c'\nça,cela , ç'\n", encoding="utf-8")
    return tmp_path


def config(text: str) -> Path:
    Path("config").write_text(text, encoding="utf-8")
    return Path("config")


def test_a_config_is_read() -> None:
    found = read_config(config(CONFIG))
    assert found.languages == "es-en"
    assert [found.source, found.reference, found.target] == [Path("s"), Path("r"), Path("t")]
    assert [found.reference_alignment, found.target_alignment, found.output] == [
        Path("ra"),
        Path("ta"),
        Path("out/put"),
    ]
    settings = found.settings
    assert settings.source_pronouns == ("él", "ella")
    assert (settings.positions, settings.target_pronouns) == (None, ())
    assert (settings.source_separator, settings.target_separator) == (None, "-")
    assert settings.equal == (("ce", "c'"), ("ça", "cela", "ç'"))
    assert (settings.similar, settings.valid_source, settings.valid_target) == ((), frozenset(), {"él", "ella"})
    assert (settings.cases, settings.weights) == ((1, 3, 4), (1.0, 0.5, 0.0))
    assert (settings.count_other, settings.count_multiword, settings.longest) == (True, False, 12)


def test_pronouns_by_their_place() -> None:
    places = CONFIG.replace("input_type: word", "input_type: possition").replace(": pronouns\ninput", ": places\ninput")
    assert read_config(config(places)).settings.positions == ((0, 3), (12, 4))


def test_the_digest_is_of_the_settings() -> None:
    first = read_config(config(CONFIG)).digest
    assert read_config(config(CONFIG.replace("out/put", "elsewhere"))).digest == first
    assert read_config(config(CONFIG.replace("True", "False"))).digest != first


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("input_type: word\n", "", r"\[files\] input_type is missing.*Keys of \[files\]: source, reference"),
        ("[cases]", "[case]", r"\[cases\] cases_to_use is missing"),
        ("weigths_per", "weights_per", r"\[cases\] weigths_per_case is missing"),
        ("[output]", "[output]\nmax_lenght: 3", r"\[output\] max_lenght is not a key.*did you mean max_length_matrix"),
        ("input_type: word", "input_type: position", "'position' is not word or possition"),
        ("1,3,4", "1,3,9", "cases_to_use: '1,3,9' is not some of the cases 1 to 6"),
        ("1,3,4", "1,3,3", "cases_to_use: '1,3,3' is not some of the cases 1 to 6"),
        ("1,3,4", "all", "cases_to_use: 'all' is not numbers"),
        ("1, 0.5,0", "1,0.5", "weigths_per_case: '1,0.5' is not a number from 0 to 1 for each case in use"),
        ("1, 0.5,0", "1,2,0", "weigths_per_case"),
        ("1, 0.5,0", "", "weigths_per_case: '' is not numbers"),
        ("True", "perhaps", "count_other_as_equal: 'perhaps' is not true or false"),
        ("= 12", "= many", "max_length_matrix: 'many' is not a number from 1"),
        ("= 12", "= 0", "max_length_matrix: '0' is not a number from 1"),
        ("./ta", "", r"alignment_source_target: '' is not a file"),
        ("equal: equal", "equal: nowhere", "nowhere: no such file"),
        ("[lang]\n", "", "not a config of the original program: File contains no section headers"),
    ],
)
def test_mistakes_are_named(old: str, new: str, message: str) -> None:
    assert old in CONFIG
    with pytest.raises(BadInput, match=message):
        read_config(config(CONFIG.replace(old, new, 1)))


def test_a_list_without_pronouns_is_refused() -> None:
    Path("pronouns").write_text("\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"pronouns: no pronouns\. Write the source pronouns, one per line"):
        read_config(config(CONFIG))


@pytest.mark.parametrize("line", ["3", "1 2 3", "a 1", "1 -2"])
def test_what_is_no_place_is_refused(line: str) -> None:
    Path("places").write_text(f"0 1\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="places: line 2: not a place of a pronoun"):
        read_positions(Path("places"))


def test_groups_of_pronouns() -> None:
    assert read_groups(Path("equal")) == (("ce", "c'"), ("ça", "cela", "ç'"))
