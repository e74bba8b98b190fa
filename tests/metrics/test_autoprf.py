"""AutoPRF: the words aligned to source pronouns, then the figures and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.align import SystemAlignments
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.metrics.apt.task import Files
from anaphora.metrics.autoprf import Aligned, Occurrence, aligned_text, autoprf, autoprf_of_files, find_occurrences
from anaphora.stats.resampling import Resampling

PATH = Path("hyp.align")


def test_words_of_each_occurrence() -> None:
    source = ["It works , and they know it", "no pronoun here", "IT"]
    candidate = Aligned(["Cela marche et ils le savent", "rien", "Il"], [((0, 0), (4, 3), (5, 5), (5, 4)), (), ()])
    reference = Aligned(["Il marche , ils le savent", "rien", "Il"], [((0, 0), (4, 3), (4, 3)), (), ((0, 0),)])
    assert list(find_occurrences(source, candidate, reference, ["it", "They"])) == [
        Occurrence(0, "it", ("Cela",), ("Il",)),
        Occurrence(0, "they", ("ils",), ("ils",)),
        Occurrence(0, "it", (), ()),
        Occurrence(2, "it", (), ("Il",)),
    ]


def test_words_are_in_text_order_and_counted_once() -> None:
    text = Aligned(["a b c"], [((0, 2), (0, 0), (0, 2))])
    (occurrences,) = find_occurrences(["it"], text, text, ["it"])
    assert occurrences.candidate == ("a", "c")


def test_case_of_the_target_counts_by_default() -> None:
    candidate, reference = Aligned(["Il"], [((0, 0),)]), Aligned(["il"], [((0, 0),)])
    (strict,) = find_occurrences(["it"], candidate, reference, ["it"])
    (lenient,) = find_occurrences(["it"], candidate, reference, ["it"], lowercase=True)
    assert (strict.matches, lenient.matches) == (0, 1)


@pytest.mark.parametrize(
    ("candidate", "reference", "matches"),
    [("", "a", 0), ("a", "a", 1), ("a a a", "a a", 2), ("a b b", "b a b", 3), ("a b", "c", 0)],
)
def test_matches_are_clipped_counts(candidate: str, reference: str, matches: int) -> None:
    assert Occurrence(0, "it", tuple(candidate.split()), tuple(reference.split())).matches == matches


def test_points_past_the_source_are_passed_over_and_counted() -> None:
    aligned = aligned_text(["it is", "so"], ["il est", "ainsi"], ["0-0 1-1 2-1 7-0", "0-0"], PATH)
    assert aligned.outside == 1
    (one,) = find_occurrences(["it is", "so"], aligned, aligned, ["it"])
    assert one.candidate == ("il",)


def test_points_outside_the_translation_are_an_error() -> None:
    with pytest.raises(BadInput, match=r"hyp.align: line 2: point 0-3 is outside the translation of 1 words\. Align"):
        aligned_text(["it", "so"], ["il", "ainsi"], ["0-0", "0-3"], PATH)


def test_a_line_that_is_not_an_alignment() -> None:
    with pytest.raises(BadInput, match=r"hyp.align: line 1: not an alignment point: '0:0'"):
        aligned_text(["it"], ["il"], ["0:0"], PATH)


# AutoPRF: counted by hand, clipped where the original clips, with the figures of the original program on its data.

FEW = Resampling(200)
FOUND = [
    Occurrence(0, "it", ("il", "est"), ("il",)),  # one of two
    Occurrence(0, "they", ("elles",), ("ils",)),
    Occurrence(2, "it", ("ce",), ("il", "y")),
    Occurrence(3, "it", ("il",), ("ce",)),
    Occurrence(3, "it", (), ("cela",)),
]


def test_counted_by_hand() -> None:
    result = autoprf(FOUND, 5, resampling=FEW)
    assert (result.score.matches, result.score.candidate, result.score.reference) == (1, 5, 6)
    assert (result.score.precision, result.score.recall) == (1 / 5, 1 / 6)
    assert result.score.f == pytest.approx(2 / 11)
    it, they = result.by_pronoun["it"], result.by_pronoun["they"]
    assert (it.occurrences, it.precision, it.recall, it.f) == (4, 1 / 4, 1 / 5, pytest.approx(2 / 9))
    assert (they.occurrences, they.precision, they.recall, they.f) == (1, 0, 0, 0)
    assert result.sums.values() == pytest.approx({"precision": 1 / 5, "recall": 1 / 6, "f": 2 / 11})


def test_over_the_corpus_a_word_pays_for_another_sentence() -> None:
    """Among the words il ×2, est, ce, elles are the reference's il ×2 and ce: il once in each of two."""
    result = autoprf(FOUND, 5, clip="corpus", resampling=FEW)
    assert (result.score.matches, result.score.candidate, result.score.reference) == (3, 5, 6)
    assert result.sums.values() == pytest.approx({"precision": 3 / 5, "recall": 3 / 6, "f": 6 / 11})
    assert result.by_pronoun["it"].matches == 3


def test_what_there_is_not_has_no_figure() -> None:
    result = autoprf([Occurrence(0, "it", (), ("il",))], 1, resampling=FEW)
    assert (result.score.precision, result.score.recall, result.score.f) == (None, 0, None)
    nothing = autoprf([], 3, resampling=FEW)
    assert (nothing.score.precision, nothing.score.intervals, nothing.by_pronoun) == (None, {}, {})


def test_json_and_signature() -> None:
    document = autoprf(FOUND, 5, resampling=FEW, settings=["pron:it,they"]).to_dict()
    assert document["signature"] == "autoprf|clip:occurrence|pron:it,they|ci:bs200|seed:12345"
    assert {"precision", "recall", "f", "by_pronoun"} < set(document)
    assert set(document["by_pronoun"]) == {"it", "they"}
    assert set(document["intervals"]) == {"precision", "recall", "f"}
    low, high = document["intervals"]["precision"]
    assert low <= document["precision"] <= high


def test_an_unknown_clipping() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown clipping 'sentence'\. Known: occurrence, corpus"):
        autoprf(FOUND, 5, clip="sentence")


WORDS = st.lists(st.sampled_from("abc"), max_size=4).map(tuple)
OCCURRENCES = st.lists(
    st.builds(Occurrence, st.integers(0, 9), st.sampled_from(["it", "they"]), WORDS, WORDS), min_size=1, max_size=20
)


@settings(derandomize=True, max_examples=50)
@given(OCCURRENCES)
def test_clipping_by_occurrence_is_never_more_lenient(actual: list[Occurrence]) -> None:
    strict = autoprf(actual, 10, resampling=Resampling(100))
    lenient = autoprf(actual, 10, clip="corpus", resampling=Resampling(100))
    assert strict.score.matches <= lenient.score.matches
    assert sum(score.matches for score in strict.by_pronoun.values()) == strict.score.matches
    # the formula as it is printed: Σ_w min(count in C, count in R)
    c, r = (Counter(w for one in actual for w in getattr(one, side)) for side in ("candidate", "reference"))
    assert lenient.score.matches == sum(min(c[w], r[w]) for w in c)
    for result in (strict, lenient):
        for name, value in result.sums.values().items():
            expected = getattr(result.score, name)
            assert value == pytest.approx(expected or 0)


@settings(derandomize=True, max_examples=30)
@given(OCCURRENCES)
def test_a_translation_like_the_reference_is_perfect(actual: list[Occurrence]) -> None:
    same = [Occurrence(one.sentence, one.pronoun, one.reference, one.reference) for one in actual]
    for clip in ("occurrence", "corpus"):
        score = autoprf(same, 10, clip=clip, resampling=Resampling(100)).score
        assert score.f == (1 if score.reference else None)


def test_the_figures_of_the_original_program(data: Callable[[str], Path]) -> None:
    """The data's README: P .2973 R .3108 F .3039 for it; clipping by sentence or text would give .3031 or .6055."""
    folder = data("autoprf-en-fr") / "examples"
    names = ("pronoun-test.tok.en", "pronoun-test.tok.fr", "mt-output.fr")
    alignments = [folder / name for name in ("pronoun-test.tok.en-fr.alig.gz", "mt-output.en-fr.alig.gz")]
    source, reference, text, *lines = read_parallel(*(folder / f"{name}.gz" for name in names), *alignments)
    aligned = [aligned_text(source, *rest) for rest in zip((reference, text), lines, alignments, strict=True)]
    assert [one.outside for one in aligned] == [0, 37]
    occurrences = list(find_occurrences(source, aligned[1], aligned[0], ["it"]))
    score = autoprf(occurrences, len(source), resampling=FEW).score
    assert (score.matches, score.candidate, score.reference) == (410, 1379, 1319)
    assert [f"{score.precision:.4f}", f"{score.recall:.4f}", f"{score.f:.4f}"] == ["0.2973", "0.3108", "0.3039"]
    assert autoprf(occurrences, len(source), clip="corpus", resampling=FEW).score.matches == 835


# AutoPRF of files: systems side by side, alignments given or made, what does not go together.


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Twelve sentences; the first system is right in all, the second in the last two."""
    texts = {
        "src": ["it works"] * 12,
        "ref": ["il marche"] * 12,
        "good": ["il marche"] * 12,
        "poor": ["elle marche"] * 10 + ["il marche"] * 2,
        "align": ["0-0 1-1"] * 12,
    }
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    systems = (tmp_path / "poor", tmp_path / "good")
    align = tmp_path / "align"
    return Files(tmp_path / "src", tmp_path / "ref", systems, align, (align, align), names=("poor", "good"))


def test_two_systems(files: Files) -> None:
    result = autoprf_of_files(files, resampling=Resampling(2_000))
    assert {name: system.score.precision for name, system in result.systems.items()} == {"poor": 2 / 12, "good": 1}
    document = result.to_dict()
    assert (document["system"], document["precision"]) == ("poor", 2 / 12)
    assert document["systems"]["good"]["f"] == 1
    assert [(pair["figure"], pair["systems"]) for pair in document["pairs"]] == [
        (figure, ["poor", "good"]) for figure in ("precision", "recall", "f")
    ]
    # ten sentences differ, all one way: two of 2¹⁰ exchanges are as extreme
    assert document["pairs"][0]["tests"]["randomization"] == pytest.approx(2 / 1024, abs=0.003)
    assert document["pairs"][0]["delta"] == pytest.approx(10 / 12)


def test_over_the_corpus_systems_are_compared_too(files: Files) -> None:
    result = autoprf_of_files(files, clip="corpus", resampling=FEW)
    assert result.pairs["f"][0].delta == pytest.approx(10 / 12)
    assert "clip:corpus|pron:it,they|case:mixed|tok:none|norm:signs|align:given|" in result.signature


def test_texts_are_aligned_where_there_are_no_alignments(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """By `align_systems`, which gets the words of all texts; what it finds is used as files would be."""

    def fake(source: Any, reference: Any, systems: Any, progress: Any) -> SystemAlignments:
        assert (source[0], reference[0]) == (["it", "works"], ["il", "marche"])
        assert [text[0] for text in systems.values()] == [["elle", "marche"], ["il", "marche"]]
        return SystemAlignments([((0, 0),)] * 12, {name: [((0, 0),)] * 12 for name in systems})

    monkeypatch.setattr("anaphora.metrics.autoprf.align_systems", fake)
    made = autoprf_of_files(Files(files.source, files.reference, files.hypotheses), resampling=FEW)
    assert [system.score.f for system in made.systems.values()] == [2 / 12, 1]
    assert "|align:thot-eflomal-grow-diag-final|" in made.signature


def test_one_alignment_without_the_other(files: Files) -> None:
    with pytest.raises(AnaphoraError, match="both --reference-alignments and --translation-alignments, or neither"):
        autoprf_of_files(Files(files.source, files.reference, files.hypotheses, files.reference_alignment))


def test_no_pronoun_at_all(files: Files) -> None:
    with pytest.raises(AnaphoraError, match="src: has none of the pronouns she"):
        autoprf_of_files(files, pronouns=["she"], resampling=FEW)


def test_files_out_of_step(files: Files) -> None:
    files.hypotheses[0].write_text("il marche\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"poor: 1 lines, but .*src has 12"):
        autoprf_of_files(files, resampling=FEW)
