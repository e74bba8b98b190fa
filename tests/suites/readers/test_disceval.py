"""Bawden et al. 2018, §2.1: hand-made blocks of contrastive pairs. The same source with two translations of its
context, so that a system that ignores context gets exactly half of a block right."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.example import Example
from anaphora.suites.readers.disceval import read


def pair(form: str, right: str = "correct", word: str = "Il") -> dict[str, Any]:
    return {right: ["Un sac.", f"{word} est là."], "incorrect": ["Un sac.", "Elle est là."], "type": form}


def coreference(*pairs: dict[str, Any]) -> dict[str, Any]:
    return {"inspired by": ["…"], "src": ["A bag.", "It is there."], "trg": list(pairs)}


def cohesion(**kind: str) -> dict[str, Any]:
    def example(source: str, right: str, wrong: str) -> dict[str, Any]:
        return {"src": [source, "A bat!"], "trg": {"correct": ["…", right], "incorrect": ["…", wrong]}}

    examples = [example("It flies.", "Une souris !", "Une batte !"), example("Hit.", "Une batte !", "Une souris !")]
    return {"examples": examples} | kind


def written(folder: Path, blocks: Any, name: str = "set.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(blocks), encoding="utf-8")
    return path


def test_a_coreference_block_shares_its_source(tmp_path: Path) -> None:
    suite = read(written(tmp_path, {"7": coreference(pair("m.sg"), pair("f.pl", "semi-correct", "Ils"))}))
    assert (suite.header.name, suite.header.languages) == ("bawden-coreference", "en-fr")
    assert suite.header.breakdowns == ("form", "correctness")
    assert suite.header.blocks == "block"
    assert list(suite) == [
        Example(
            "7.0",
            ("A bag.", "It is there."),
            (("Un sac.", "Il est là."), ("Un sac.", "Elle est là.")),
            0,
            {"phenomenon": "coreference", "form": "m.sg", "correctness": "correct", "block": "7"},
        ),
        Example(
            "7.1",
            ("A bag.", "It is there."),
            (("Un sac.", "Ils est là."), ("Un sac.", "Elle est là.")),
            0,
            {"phenomenon": "coreference", "form": "f.pl", "correctness": "semi-correct", "block": "7"},
        ),
    ]


def test_a_cohesion_block_has_a_source_for_each_example(tmp_path: Path) -> None:
    suite = read(written(tmp_path, {"3": cohesion(type="disambig")}))
    assert (suite.header.name, suite.header.breakdowns, suite.header.blocks) == ("bawden-cohesion", ("kind",), "block")
    first, second = suite
    assert (first.id, first.source, first.candidates) == (
        "3.0",
        ("It flies.", "A bat!"),
        (("…", "Une souris !"), ("…", "Une batte !")),
    )
    assert (second.id, second.source[0], second.candidates[0][1]) == ("3.1", "Hit.", "Une batte !")
    assert first.tags == {"phenomenon": "coherence/cohesion", "kind": "disambig", "block": "3"}


def test_a_block_without_a_kind_has_no_such_tag(tmp_path: Path) -> None:
    assert all("kind" not in example.tags for example in read(written(tmp_path, {"3": cohesion()})))


def test_blocks_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    """The original program sorts them so, whatever the order in the file; "10" comes behind "9"."""
    blocks = {number: coreference(pair("m.sg"), pair("f.sg")) for number in ("10", "2", "1", "9")}
    assert [example.id for example in read(written(tmp_path, blocks))] == [
        *("1.0", "1.1", "2.0", "2.1", "9.0", "9.1", "10.0", "10.1")
    ]


def test_the_czech_set_is_recognized_and_languages_can_be_set(tmp_path: Path) -> None:
    blocks = {"1": cohesion(type="disambig")}
    czech = read(written(tmp_path, blocks, "disambig.cs.json")).header
    assert (czech.name, czech.languages, czech.licence) == ("bawden-cohesion-cs", "en-cs", "not stated")
    german = read(written(tmp_path, blocks), target_language="de").header
    assert (german.name, german.languages) == ("bawden-cohesion-de", "en-de")
    assert read(written(tmp_path, blocks, "disambig.cs.json"), target_language="fr").header.languages == "en-fr"


def test_a_pair_without_right_answer_is_located_by_position(tmp_path: Path) -> None:
    suite = iter(read(written(tmp_path, {"1": coreference(pair("m.sg")), "4": coreference(pair("m.sg", "right"))})))
    assert next(suite).id == "1.0"
    with pytest.raises(
        BadInput,
        match=r"set\.json: block 4: not a block of .* \(pair 0 has neither 'correct' nor 'semi-correct'",
    ):
        next(suite)


@pytest.mark.parametrize("key", ["incorrect", "type"])
def test_a_pair_that_lacks_something_is_found_by_its_block(tmp_path: Path, key: str) -> None:
    poor = {name: value for name, value in pair("m.sg").items() if name != key}
    with pytest.raises(BadInput, match=rf"block 4: not a block of contrastive pairs .*{key}"):
        list(read(written(tmp_path, {"4": coreference(poor)})))


@pytest.mark.parametrize("blocks", [[], {"one": {}}, {"1": []}, "text", 5])
def test_another_json_document_is_not_taken_for_one(tmp_path: Path, blocks: Any) -> None:
    with pytest.raises(BadInput, match=r"an object of numbered blocks is expected\. Is this anaphora\.json"):
        read(written(tmp_path, blocks))


def test_a_file_with_both_kinds_of_blocks_is_neither(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"block 1: not a block of contrastive pairs .*examples"):
        list(read(written(tmp_path, {"1": coreference(pair("m.sg")), "2": cohesion()})))


# the real sets; the figures are those of the paper and of data/disceval-en-fr/README.md


@pytest.fixture(scope="module")
def coreference_set(data) -> list[Example]:
    return list(read(data("disceval-en-fr/anaphora.json")))


def test_the_coreference_set_has_50_blocks_of_four(coreference_set: list[Example]) -> None:
    assert Counter(example.tags["block"] for example in coreference_set) == {str(n): 4 for n in range(1, 51)}
    assert [example.id for example in coreference_set] == [f"{n}.{k}" for n in range(1, 51) for k in range(4)]


def test_each_form_has_25_correct_and_25_semi_correct_examples(coreference_set: list[Example]) -> None:
    """Bawden et al. 2018, §2.1; Table 2 has the columns M.SG., F.SG., M.PL., F.PL., CORR. and SEMI."""
    forms, kinds = ("m.sg", "f.sg", "m.pl", "f.pl"), ("correct", "semi-correct")
    actual = Counter((example.tags["form"], example.tags["correctness"]) for example in coreference_set)
    assert actual == {(form, kind): 25 for form in forms for kind in kinds}


def test_a_system_without_context_is_right_in_half(coreference_set: list[Example]) -> None:
    """§2.1: there are only two translations of the current sentence in a block, each as often right as wrong.

    But for block 17, which has two ways to say it.
    """
    odd = []
    for number in range(50):
        block = coreference_set[4 * number : 4 * number + 4]
        assert len({example.source for example in block}) == 1
        assert all(example.candidates[0][0] == example.candidates[1][0] for example in block)
        right = Counter(example.candidates[0][1] for example in block)
        wrong = Counter(example.candidates[1][1] for example in block)
        if right != wrong:
            odd.append(block[0].tags["block"])
    assert odd == ["17"]


def test_the_cohesion_set_has_100_blocks_of_two(data) -> None:
    examples = list(read(data("disceval-en-fr/lexical-choice.json")))
    assert [example.id for example in examples] == [f"{n}.{k}" for n in range(1, 101) for k in range(2)]
    assert all(example.context_size == 1 for example in examples)
    for one, other in zip(examples[::2], examples[1::2], strict=True):
        assert one.source[-1] == other.source[-1]  # the context alone tells which is right
        assert one.candidates[0][-1] == other.candidates[1][-1]


def test_the_czech_set(data) -> None:
    """Counted in the file: 75 block numbers with two examples each; block 50 has no type.

    Block 102 is in the file twice, the first time unfinished ("TODO"). JSON keeps the second, as the original
    program does.
    """
    path = data("disceval-en-cs/disambig.cs.json")
    numbers: list[str] = []

    def count(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if all(isinstance(value, dict) and "examples" in value for _, value in pairs):
            numbers.extend(key for key, _ in pairs)
        return dict(pairs)

    json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=count)
    assert (len(numbers), len(set(numbers))) == (76, 75)
    examples = list(read(path))
    assert [example.id for example in examples] == [f"{n}.{k}" for n in sorted(set(numbers), key=int) for k in (0, 1)]
    assert {example.tags["block"] for example in examples if "kind" not in example.tags} == {"50"}
    assert not any("TODO" in sentence for e in examples if e.tags["block"] == "102" for sentence in e.candidates[0])


@pytest.mark.parametrize("key", ["²", "٣", "-1", "1" * 5_000, "one"])
def test_keys_that_are_not_block_numbers_are_refused(tmp_path: Path, key: str) -> None:
    (tmp_path / "anaphora.json").write_text(json.dumps({key: {}}), encoding="utf-8")
    with pytest.raises(BadInput, match="an object of numbered blocks is expected"):
        read(tmp_path / "anaphora.json")
