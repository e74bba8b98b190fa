"""The annotated pairs of Jwalapuram et al. 2019: an English reference, and the same with a pronoun as some system put
it. There is no source text: a measure reads the translations alone."""

from __future__ import annotations

import gzip
import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.eval_anaphora import read

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
BEFORE = ["the", "lamp", "fell", ".", "what", "now", "?"]
RIGHT = ["then", "it", "broke", "."]
WRONG = ["then", "he", "broke", "."]


def pair(**changes: Any) -> dict[str, Any]:
    """A context holds the previous sentences and, at its end, the current one."""
    row = {"before": BEFORE, "reference_sentence": RIGHT, "noisy_sentence": WRONG} | changes
    before = row.pop("before")
    return {
        "reference_context": before + row["reference_sentence"],
        "noisy_context": before + row["noisy_sentence"],
        "origin": "/home/somebody/WMT/newstest2017/de-en/newstest2017.KIT.4951.de-en.sgm.clean_2499",
        "sample_id": 12,
    } | row


def written(folder: Path, *rows: Any, name: str = "test_data_german.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_pair_with_its_context_in_sentences(tmp_path: Path) -> None:
    suite = read(written(tmp_path, pair()))
    assert (suite.header.name, suite.header.languages) == ("eval-anaphora-de", "de-en")
    assert list(suite) == [
        Example(
            id="de/12",
            source=("", "", ""),
            candidates=(
                ("the lamp fell .", "what now ?", "then it broke ."),
                ("the lamp fell .", "what now ?", "then he broke ."),
            ),
            gold=0,
            tags={
                "origin": "newstest2017.KIT.4951.de-en.sgm.clean_2499",
                "testset": "newstest2017",
                "system": "KIT.4951",
                "sentence": 2499,
                "reference_pronoun": "it",
                "system_pronoun": "he",
                "pronoun_pair": "it:he",
            },
        )
    ]


@pytest.mark.parametrize(
    ("name", "language"),
    [("german", "de"), ("french", "fr"), ("russian", "ru"), ("chinese", "zh")],
)
def test_the_language_is_in_the_name_of_the_file(tmp_path: Path, name: str, language: str) -> None:
    suite = read(written(tmp_path, pair(), name=f"test_data_{name}.jsonl"))
    assert suite.header.languages == f"{language}-en"
    assert [example.id for example in suite] == [f"{language}/12"]


def test_another_name_does_not_say_the_language(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput,
        match=r"the file name does not contain the language\. Names are such as test_data_german ",
    ):
        read(written(tmp_path, pair(), name="pairs.jsonl"))


@pytest.mark.parametrize(
    ("before", "sentences"),
    [
        ([], []),
        (["yes", "."], ["yes ."]),
        (["a", ".", "b", "!", "c", "?"], ["a .", "b !", "c ?"]),
        # more than one mark
        (["so", ".", ".", ".", "well", "."], ["so . . .", "well ."]),
        # a headline has no end
        (["big", "news", "the", "lamp", "fell", "."], ["big news the lamp fell ."]),
        (["the", "lamp", "fell"], ["the lamp fell"]),
        # a mark at the very start belongs to nothing
        ([".", "yes", "."], [". yes ."]),
    ],
)
def test_context_is_cut_at_the_ends_of_sentences(tmp_path: Path, before: list[str], sentences: list[str]) -> None:
    (example,) = read(written(tmp_path, pair(before=before)))
    for candidate in example.candidates:
        assert list(candidate[:-1]) == sentences
    assert example.source == ("",) * (len(sentences) + 1)


def test_where_more_than_a_pronoun_differs_no_pronoun_is_named(tmp_path: Path) -> None:
    longer = ["then", "he", "himself", "broke", "."]
    two = ["now", "he", "broke", "."]
    for noisy in (longer, two):
        (example,) = read(written(tmp_path, pair(noisy_sentence=noisy)))
        assert example.candidates[1][-1] == " ".join(noisy)
        assert not {"reference_pronoun", "system_pronoun", "pronoun_pair"} & set(example.tags)


def test_an_origin_of_another_form_is_kept_as_it_is(tmp_path: Path) -> None:
    (example,) = read(written(tmp_path, pair(origin="/a/b/my system")))
    assert example.tags["origin"] == "my system"
    assert not {"testset", "system", "sentence"} & set(example.tags)


@pytest.mark.parametrize("side", ["reference_context", "noisy_context"])
def test_a_context_must_end_with_its_sentence(tmp_path: Path, side: str) -> None:
    with pytest.raises(BadInput, match=r"line 2: not an annotated pair .*does not end with the current sentence"):
        list(read(written(tmp_path, pair(), pair(**{side: [*BEFORE, "something", "else"]}))))


def test_contexts_that_differ_before_the_sentence_are_an_error(tmp_path: Path) -> None:
    """A context of one length for both is what the format means."""
    with pytest.raises(BadInput, match="line 1: not an annotated pair"):
        list(read(written(tmp_path, pair(noisy_context=["another", *BEFORE[1:], *WRONG]))))


@pytest.mark.parametrize("bad", [{}, [], "text", None, pair(origin=None), pair(reference_context=None)])
def test_a_line_of_another_shape_is_found_by_its_number(tmp_path: Path, bad: Any) -> None:
    suite = iter(read(written(tmp_path, pair(), bad)))
    assert next(suite).id == "de/12"
    with pytest.raises(BadInput, match=r"test_data_german\.jsonl: line 2: not an annotated pair"):
        next(suite)


def test_a_line_that_is_no_json_is_located_by_number(tmp_path: Path) -> None:
    path = written(tmp_path, pair())
    path.write_text(path.read_text(encoding="utf-8") + "{oops\n", encoding="utf-8")
    with pytest.raises(BadInput, match="line 2: not an annotated pair"):
        list(read(path))


# the pickles as released


def pickled(folder: Path, data: bytes, name: str = "test_data_german") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_gives_what_its_lines_give(tmp_path: Path, protocol: int) -> None:
    rows = [pair(), pair(before=[], sample_id=13), pair(noisy_sentence=["thén", "he", "broke", "."], sample_id=14)]
    expected = list(read(written(tmp_path, *rows)))
    whole = pickle.dumps(rows, protocol)
    one_by_one = b"".join(pickle.dumps(row, protocol) for row in rows)  # as the released train.py reads them
    for data in (whole, one_by_one, gzip.compress(whole), pickle.dumps(tuple(rows), protocol)):
        suite = read(pickled(tmp_path, data))
        assert list(suite) == list(suite) == expected
        assert suite.header.name == "eval-anaphora-de"


def test_lines_are_known_without_their_extension(tmp_path: Path) -> None:
    path = written(tmp_path, pair())
    for content in (path.read_bytes(), b"\xef\xbb\xbf" + path.read_bytes(), gzip.compress(path.read_bytes())):
        assert [example.id for example in read(pickled(tmp_path, content))] == ["de/12"]


WORDS = st.lists(st.text(st.characters(categories=["L"]), min_size=1, max_size=8), min_size=1, max_size=6)


@settings(derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=4), st.sampled_from(PROTOCOLS))
def test_any_pairs_survive_the_pickle(tmp_path: Path, texts: list[Any], protocol: int) -> None:
    rows = [
        pair(before=before, reference_sentence=right, noisy_sentence=wrong, sample_id=n)
        for n, (before, right, wrong) in enumerate(texts)
    ]
    assert list(read(pickled(tmp_path, pickle.dumps(rows, protocol)))) == list(read(written(tmp_path, *rows)))


class Runs:
    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.proof}",)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_in_a_pickle_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    for value in (Runs(tmp_path / "proof"), [pair(origin=Runs(tmp_path / "proof"))]):
        path = pickled(tmp_path, pickle.dumps(value, protocol))
        with pytest.raises(BadInput, match=r"test_data_german: not a pickle of plain data: .*names code to import"):
            list(read(path))
        assert not (tmp_path / "proof").exists()


def test_a_pair_of_another_shape_is_found_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="test_data_german: pair 2: not an annotated pair"):
        list(read(pickled(tmp_path, pickle.dumps([pair(), {"origin": "x"}]))))
    for data in (pickle.dumps("text"), pickle.dumps(7), b"no pickle", pickle.dumps([pair()])[:-9]):
        with pytest.raises(BadInput):
            list(read(pickled(tmp_path, data)))


# the real pairs: 500 for each language (data/eval-anaphora/README.md)


@pytest.mark.parametrize("language", ["french", "german", "russian"])
def test_the_real_pairs(data, language: str) -> None:
    path = data("eval-anaphora") / f"test_data_{language}.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    examples = list(read(path))
    assert len(examples) == len(rows) == 500
    assert len({example.id for example in examples}) == 500
    for row, example in zip(rows, examples, strict=True):
        assert example.gold == 0
        assert example.source == ("",) * len(example.candidates[0])
        right, wrong = example.candidates
        assert " ".join(right) == " ".join(row["reference_context"])
        assert " ".join(wrong) == " ".join(row["noisy_context"])
        assert right[:-1] == wrong[:-1]
        assert right[-1] == " ".join(row["reference_sentence"])
        assert right[-1] != wrong[-1]


@pytest.mark.parametrize("language", ["french", "german", "russian"])
def test_the_pronouns_are_where_the_sentences_differ(data, language: str) -> None:
    path = data("eval-anaphora") / f"test_data_{language}.jsonl.gz"
    known = set(json.loads((data("eval-anaphora") / "pronoun_idx.json").read_text(encoding="utf-8")))
    assert len(known) == 42
    named = 0
    for line, example in zip(gzip.decompress(path.read_bytes()).decode().splitlines(), read(path), strict=True):
        row = json.loads(line)
        one, other = row["reference_sentence"], row["noisy_sentence"]
        different = [words for words in zip(one, other, strict=False) if words[0] != words[1]]
        if len(one) == len(other) and len(different) == 1:
            named += 1
            assert (example.tags["reference_pronoun"], example.tags["system_pronoun"]) == different[0]
            assert {*different[0]} <= known
        else:
            assert "reference_pronoun" not in example.tags
    assert named >= 490  # in about one item in a hundred the number of words changes
