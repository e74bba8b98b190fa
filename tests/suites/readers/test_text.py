"""Plain line files as a suite, and what the readers of line files share."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.text import differing_pronoun, differing_words, groups_of, read


def test_rows_come_in_groups_and_a_rest_is_an_error() -> None:
    rows = [(str(number),) for number in range(5)]
    assert list(groups_of(rows[:4], 2, Path("f"))) == [rows[:2], rows[2:4]]
    assert list(groups_of([], 3, Path("f"))) == []
    groups = groups_of(rows, 2, Path("f"))
    assert [next(groups), next(groups)] == [rows[:2], rows[2:4]]
    with pytest.raises(BadInput, match="f: line 5: 5 lines are not a multiple of 2"):
        next(groups)


def test_words_that_differ_are_found_lowercased_with_punctuation_as_words() -> None:
    assert differing_words("Sie ist weich.", "Er ist weich.") == [("sie", "er")]
    assert differing_words("Parce qu'il dort, il ronfle.", "Parce qu'elle dort, elle ronfle.") == [
        ("il", "elle"),
        ("il", "elle"),
    ]
    assert differing_words("Wohin?", "Wohin!") == [("?", "!")]


def test_equal_or_uneven_sentences_have_no_differing_words() -> None:
    assert differing_words("Es  regnet .", "es regnet.") == []
    assert differing_words("Es regnet.", "Es regnet sehr.") == []


def test_the_pronoun_is_found_among_words_that_agree_with_it() -> None:
    pronouns = ("il", "elle", "ils", "elles")
    assert differing_pronoun("Il est grand.", "Elle est grande.", pronouns) == "il"
    assert differing_pronoun("Fatiguées, elles dorment.", "Fatigués, ils dorment.", pronouns) == "elles"


def test_a_pronoun_replaced_by_another_word_is_not_meant() -> None:
    pronouns = ("il", "elle")
    assert differing_pronoun("Il voit qu'elle dort.", "On voit qu'il dort.", pronouns) == "elle"
    assert differing_pronoun("Il dort.", "Jean dort.", pronouns) is None
    assert differing_pronoun("Il dort.", "Il dort.", pronouns) is None


def test_pronouns_may_come_from_an_iterator() -> None:
    assert differing_pronoun("Tout va ; il dort.", "Tout va ; elle dort.", iter(["il", "elle"])) == "il"


# Plain line files

FILES = {
    "mine.groups": "a\na\nb\nb\nb\n",
    "mine.text.en": "It broke.\nIt broke.\nIt rains.\nIt rains.\nIt rains.\n",
    "mine.text.de": "Sie zerbrach.\nEr zerbrach.\nEs regnet.\nEr regnet.\nSie regnet.\n",
}


def folder(tmp_path: Path, **changes: str | None) -> Path:
    """The files above; a keyword changes, adds or (None) leaves out a file: context_en stands for mine.context.en."""
    files = FILES | {f"mine.{name.replace('_', '.')}": text for name, text in changes.items()}
    for name, text in files.items():
        if text is not None:
            (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_lines_with_one_id_are_candidates_with_the_right_first(tmp_path: Path) -> None:
    suite = read(folder(tmp_path))
    assert (suite.header.name, suite.header.languages) == ("mine", "en-de")
    assert list(suite) == [
        Example("a", ("It broke.",), (("Sie zerbrach.",), ("Er zerbrach.",)), 0),
        Example("b", ("It rains.",), (("Es regnet.",), ("Er regnet.",), ("Sie regnet.",)), 0),
    ]


@pytest.mark.parametrize("name", ["a**b", "[de"])
def test_names_of_files_are_no_patterns(tmp_path: Path, name: str) -> None:
    for file, text in FILES.items():
        (tmp_path / file.replace("mine", name)).write_text(text, encoding="utf-8")
    assert (read(tmp_path).header.name, len(list(read(tmp_path)))) == (name, 2)


def test_a_second_column_names_the_right_one_or_none(tmp_path: Path) -> None:
    suite = read(folder(tmp_path, groups="a\t0\na\t1\nb\t0\nb\t0\nb\t0\n"))
    assert [example.gold for example in suite] == [1, None]


def test_context_files_have_a_line_per_candidate_oldest_first(tmp_path: Path) -> None:
    english = ["A lamp.", "It fell."] * 2 + ["", ""] * 3
    german = ["Eine Lampe.", "Sie fiel."] * 2 + ["", ""] * 3
    suite = read(folder(tmp_path, context_en="\n".join(english) + "\n", context_de="\n".join(german) + "\n"))
    first, second = suite
    assert first.source == ("A lamp.", "It fell.", "It broke.")
    assert first.candidates[1] == ("Eine Lampe.", "Sie fiel.", "Er zerbrach.")
    assert second.source == ("", "", "It rains.")


def test_files_may_be_gzipped(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    assert [example.id for example in read(tmp_path)] == ["a", "b"]


def test_a_group_that_comes_back_is_another_example(tmp_path: Path) -> None:
    """Which `suites validate` finds; the order of the lines, and so of the scores, is never changed."""
    assert [example.id for example in read(folder(tmp_path, groups="a\na\nb\nb\na\n"))] == ["a", "b", "a"]


# which language is the source


def test_the_source_is_the_side_with_more_repeated_lines(tmp_path: Path) -> None:
    """Whatever the languages are called: here the alphabet would say otherwise."""
    for name, text in FILES.items():
        (tmp_path / name.replace(".en", ".zu")).write_text(text, encoding="utf-8")
    assert read(tmp_path).header.languages == "zu-de"


@pytest.mark.parametrize(
    "given",
    [
        {"source_language": "de"},
        {"target_language": "en"},
        {"source_language": "de", "target_language": "en"},
    ],
)
def test_what_is_given_counts_more(tmp_path: Path, given: dict[str, str]) -> None:
    same = "same\nsame\nother\nother\nother\n"
    suite = read(folder(tmp_path, text_de=same), **given)
    assert suite.header.languages == "de-en"
    assert [example.source for example in suite] == [("same",), ("other",)]


def test_with_more_than_two_languages_both_must_be_given(tmp_path: Path) -> None:
    folder(tmp_path, text_fr=FILES["mine.text.de"])
    with pytest.raises(BadInput, match="Pass --source-language and --target-language"):
        read(tmp_path)
    with pytest.raises(BadInput, match="Pass --source-language and --target-language"):
        read(tmp_path, source_language="en")
    assert read(tmp_path, source_language="en", target_language="fr").header.languages == "en-fr"


def test_a_language_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"mine\.text\.ru \(or mine\.text\.ru\.gz\) is missing here"):
        read(folder(tmp_path), source_language="en", target_language="ru")
    with pytest.raises(BadInput, match="Pass --source-language and --target-language"):
        read(tmp_path, source_language="ru")


# what does not fit together


def test_a_folder_without_groups_says_what_is_missing(tmp_path: Path) -> None:
    for path in (folder(tmp_path, groups=None), tmp_path / "mine.text.en"):
        with pytest.raises(BadInput, match=r"no folder with a NAME\.groups file"):
            read(path)


@pytest.mark.parametrize(
    ("name", "short"),
    [("groups", "a\na\n"), ("text_en", "It broke.\nIt broke.\n"), ("text_de", "Sie zerbrach.\nEr zerbrach.\n")],
)
def test_files_of_different_lengths_are_an_error(tmp_path: Path, name: str, short: str) -> None:
    suite = read(folder(tmp_path, **{name: short}), source_language="en", target_language="de")
    with pytest.raises(BadInput, match=rf"mine\.{name.replace('_', '.')}(: 2 lines, but | has 2)"):
        list(suite)


def test_context_lines_must_be_a_multiple_of_the_candidates(tmp_path: Path) -> None:
    suite = read(folder(tmp_path, context_en="x\n" * 7, context_de="x\n" * 7))
    with pytest.raises(BadInput, match=r"mine\.context\.en: 7 lines of context for 5 candidates"):
        list(suite)


@pytest.mark.parametrize("lines", [4, 6, 10])
def test_context_of_the_two_languages_must_have_as_many_lines(tmp_path: Path, lines: int) -> None:
    suite = read(folder(tmp_path, context_en="x\n" * 5, context_de="x\n" * lines))
    with pytest.raises(BadInput, match=rf"mine\.context\.de: {lines} lines of context, but mine\.context\.en has 5"):
        list(suite)


def test_context_for_one_language_only_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"mine\.context\.en: context is given for one language only"):
        read(folder(tmp_path, context_en="x\n" * 5))


@pytest.mark.parametrize(
    ("groups", "line"),
    [
        ("a\t1\na\t2\nb\t1\nb\t0\nb\t0\n", 2),
        ("a\t1\na\t0\nb\t1\nb\t0\t0\nb\t0\n", 4),
        ("a\t1\na\nb\t1\nb\t0\nb\t0\n", 2),
        ("a\na\t1\nb\nb\nb\n", 2),
    ],
    ids=["not 0 or 1", "three columns", "one line without", "one line with"],
)
def test_an_invalid_second_column_is_located_by_line(tmp_path: Path, groups: str, line: int) -> None:
    suite = read(folder(tmp_path, groups=groups))
    with pytest.raises(BadInput, match=rf"mine\.groups: line {line}: an id is expected, or an id, a tab and 0 or 1"):
        list(suite)


def test_two_right_candidates_are_one_too_many(tmp_path: Path) -> None:
    suite = read(folder(tmp_path, groups="a\t1\na\t0\nb\t1\nb\t0\nb\t1\n"))
    with pytest.raises(BadInput, match=r"mine\.groups: line 3: group 'b' has 2 right candidates"):
        list(suite)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"text_en": "It broke.\nIt broke.\nIt rains.\nIt rains.\nIt snows.\n"}, 3),
        ({"context_en": "x\ny\nx\nx\nx\n", "context_de": "x\n" * 5}, 1),
    ],
    ids=["sentence", "context"],
)
def test_the_candidates_of_a_group_share_their_source(tmp_path: Path, changes: dict[str, str], line: int) -> None:
    suite = read(folder(tmp_path, **changes), source_language="en", target_language="de")
    with pytest.raises(BadInput, match=rf"mine\.text\.en: line {line}: group '\w' has more than one source"):
        list(suite)


# the real thing: what the ContraCAT release has for ContraPro is such line files, but for the form of its groups


def test_contrapro_from_line_files(data, tmp_path: Path) -> None:
    """36,031 lines in 12,000 groups (data/contracat/README.md)."""
    attacks = data("contracat/attacks")

    def lines(name: str) -> list[str]:
        return gzip.decompress((attacks / f"{name}.gz").read_bytes()).decode().split("\n")[:-1]

    for language in ("en", "de"):
        halves = [line.partition("<SEP>") for line in lines(f"{language}.txt")]
        contexts, texts = [before.strip() for before, _, _ in halves], [text.strip() for _, _, text in halves]
        (tmp_path / f"cp.text.{language}").write_text("\n".join(texts) + "\n", encoding="utf-8")
        (tmp_path / f"cp.context.{language}").write_text("\n".join(contexts) + "\n", encoding="utf-8")
    starts = [*map(int, lines("sentence_groups.txt"))]
    sizes = [end - start for start, end in itertools.pairwise(starts)]
    groups = "".join(f"{number}\n" * size for number, size in enumerate(sizes))
    (tmp_path / "cp.groups").write_text(groups, encoding="utf-8")

    suite = read(tmp_path)
    assert suite.header.languages == "en-de"  # found by itself
    examples = list(suite)
    assert len(examples) == 12_000
    assert [len(example.candidates) for example in examples] == sizes
    assert all(example.context_size == 1 and example.gold == 0 for example in examples)
