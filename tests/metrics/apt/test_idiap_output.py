"""The files of the original APT program: configs, score and detail files, byte for byte."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.apt.idiap import IdiapSettings
from anaphora.metrics.apt.idiap_output import (
    read_config,
    read_positions,
    run_config,
    weighting_of,
    write_score_files,
)
from anaphora.metrics.apt.result import DETAILS, AptResult, make_result, write_details
from anaphora.metrics.apt.task import DEFAULT_WEIGHTS, Confusion, Files, Outcome, Side, Triple, Weighting
from anaphora.stats.resampling import Resampling

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
    actual = read_config(config(CONFIG))
    assert actual.languages == "es-en"
    assert actual.files == Files(Path("s"), Path("r"), (Path("t"),), Path("ra"), (Path("ta"),))
    assert actual.output == Path("out/put")
    settings = actual.settings
    assert settings.source_pronouns == ("él", "ella")
    assert (settings.positions, settings.target_pronouns) == (None, ())
    assert (settings.source_separator, settings.target_separator) == (None, "-")
    assert settings.equal == (("ce", "c'"), ("ça", "cela", "ç'"))
    assert (settings.similar, settings.valid_source, settings.valid_target) == ((), frozenset(), {"él", "ella"})
    assert (settings.cases, settings.weights) == ((1, 3, 4), (1.0, 0.5, 0.0))
    assert (settings.count_other, settings.count_multiword, settings.longest) == (True, False, 12)


def test_pronouns_by_their_position() -> None:
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
        ("= 12", f"= {'9' * 5000}", "max_length_matrix: '9+.* is not a number from 1"),
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


@pytest.mark.parametrize("line", ["3", "1 2 3", "a 1", "1 -2", "9" * 5000 + " 1"])
def test_what_is_not_a_position_is_refused(line: str) -> None:
    Path("places").write_text(f"0 1\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput, match="places: line 2: not the position of a pronoun"):
        read_positions(Path("places"))


# The original program's published files are reproduced byte for byte.

QUICK = Resampling(samples=100)


@pytest.fixture
def published(data: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The published folder; the current directory has a copy of it without the outputs."""
    source = data("apt-es-en")
    shutil.copytree(source / "data_es-en", tmp_path / "data_es-en", ignore=shutil.ignore_patterns("output*"))
    monkeypatch.chdir(tmp_path)
    return source


@pytest.mark.parametrize(
    ("number", "score", "cases"), [(1, 0.4, (38, 0, 42, 10, 2, 3)), (2, 0.6316, (60, 0, 20, 10, 2, 3))]
)
def test_published_outputs(published: Path, number: int, score: float, cases: tuple[int, ...]) -> None:
    result, files = run_config(Path(f"data_es-en/config_{number}"), QUICK)
    assert [file.name for file in files] == [f"output{number}.score", f"output{number}.detail"]
    for file in files:
        assert file.read_bytes() == (published / file).read_bytes(), file
    assert result.apt == pytest.approx(score, abs=5e-5)
    assert result.systems[0].score.cases == cases
    assert "|config:" in result.signature


def test_other_is_not_equal_by_default(published: Path) -> None:
    """Config 3 of the original repository, which is config 2 with count_OTHER_as_equal: false; its score is 0.2105."""
    text = Path("data_es-en/config_2").read_text(encoding="utf-8")
    Path("config_3").write_text(text.replace("count_OTHER_as_equal: true", "count_OTHER_as_equal: false"), "utf-8")
    result, (score, _) = run_config(Path("config_3"), QUICK)
    assert score.read_text(encoding="utf-8").startswith("Score: 0.2105\n")
    assert result.systems[0].score.cases == (20, 0, 60, 10, 2, 3)


def test_the_same_pronouns_by_their_position(published: Path) -> None:
    rows = (published / "data_es-en" / "output1.detail").read_text(encoding="utf-8").splitlines()[1:]
    Path("places").write_text("".join(" ".join(row.split("\t")[:2]) + "\n" for row in rows), encoding="utf-8")
    text = Path("data_es-en/config_1").read_text(encoding="utf-8")
    text = text.replace("input_type: word", "input_type: possition").replace("data_es-en/list_es", "places")
    Path("config").write_text(text, encoding="utf-8")
    _, files = run_config(Path("config"), QUICK)
    for file in files:
        assert file.read_bytes() == (published / file).read_bytes()


def test_a_position_outside_the_source_is_refused(published: Path) -> None:
    text = Path("data_es-en/config_1").read_text(encoding="utf-8")
    text = text.replace("input_type: word", "input_type: possition").replace("data_es-en/list_es", "places")
    Path("config").write_text(text, encoding="utf-8")
    for sentence, word in ((46, 0), (0, 999)):
        Path("places").write_text(f"0 1\n{sentence} {word}\n", encoding="utf-8")
        with pytest.raises(BadInput, match=f"places: word {word} of sentence {sentence} is outside the source"):
            run_config(Path("config"), QUICK)
    assert not list(Path("data_es-en").glob("output*"))


def test_cases_that_are_not_in_use_are_discarded() -> None:
    weighting = weighting_of(IdiapSettings(cases=(4, 1, 2), weights=(0.25, 1.0, 0.5)))
    assert weighting.weights == (1.0, 0.5, 0.0, 0.25, 0.0, 0.0)
    assert weighting.discarded == (3, 5, 6)
    assert weighting_of(IdiapSettings()).weights == DEFAULT_WEIGHTS


# Beside a result: a row per pronoun, and score files of the original program's layout.

TRIPLES = [
    Triple(3, Side((1,), ("it",)), Side((0,), ("il",)), Side(), 4),
    Triple(3, Side((2,), ("it",)), Side(), Side(), 6),
]


@pytest.fixture
def result() -> AptResult:
    outcome = Outcome("a", TRIPLES, ["it", "it"], Confusion(("il", "NONE"), ((0, 1), (0, 1))), 5)
    return make_result(
        [outcome],
        languages="en-fr",
        variant="paper",
        weighting=Weighting(discarded=(6,)),
        sampling=Resampling(samples=100),
        signature="apt",
    )


def test_details(result: AptResult, tmp_path: Path) -> None:
    path = tmp_path / "details.tsv.gz"
    write_details(result, path)
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert lines[0].split("\t") == list(DETAILS)
    assert lines[1].split("\t") == ["a", "3", "1", "it", "0", "il", "aligned", "", "", "", "4"]
    assert lines[2].split("\t") == ["a", "3", "2", "it", "", "", "", "", "", "", "6"]


def test_score_files_have_the_cases_that_count(result: AptResult, tmp_path: Path) -> None:
    write_score_files(result, [tmp_path / "a.score"], longest=9)
    lines = (tmp_path / "a.score").read_text(encoding="utf-8").splitlines()
    assert lines[:6] == [
        "Score: 0.0000",
        "Cases: 1,2,3,4,5",
        "Weights: 1.0,0.5,0.0,0.0,0.0",
        "Findings per case: 0,0,0,1,0",
        "Not source: 5",
        "Total findings: 1",
    ]
    with pytest.raises(AnaphoraError, match=r"one score file .* is needed for each translation: 1 translations, but 2"):
        write_score_files(result, [tmp_path / "a", tmp_path / "b"], longest=9)
