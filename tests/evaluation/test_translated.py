"""A suite's translations, aligned and judged."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("sacremoses")
pytest.importorskip("anaphora.align.thot")

from anaphora.align import Aligner, Settings
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.stand_ins import demo_suite
from anaphora.evaluation.generative import CORRECT, NOT_FOUND, WRONG
from anaphora.evaluation.translated import (
    align_texts,
    alignment_label,
    evaluate_translations,
    gap_to,
    judge_texts,
    read_texts,
    read_translations,
)
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of
from anaphora.systems.run import describe, open_run, write_run
from anaphora.systems.scored import Scored

SUITE = suite_of(demo_suite().header, lambda: list(demo_suite())[:120])
TOTAL = 120
QUICK = Settings(model="fast_align")


def words(choice: int | None) -> list[list[str]]:
    """The right candidates, the ones so many places behind them, or nothing, as a system's translations."""
    texts = read_texts(SUITE)
    if choice is None:
        return [[] for _ in texts.examples]
    gold = [example.gold or 0 for example in texts.examples]
    return [c[(g + choice) % len(c)] for c, g in zip(texts.candidates, gold, strict=True)]


def test_right_wrong_and_empty_translations_are_told_apart() -> None:
    texts = read_texts(SUITE)
    systems = {"right": words(0), "wrong": words(1), "empty": words(None)}
    found = align_texts(texts, systems, settings=QUICK)
    results = {}
    references = judge_texts(texts, texts.gold, found.reference, found.reference)
    for name, translation in systems.items():
        outcomes = judge_texts(texts, translation, found.reference, found.systems[name])
        results[name] = evaluate_translations(texts, name, outcomes, "thot", references=references)
    assert results["right"].counts.accuracy == pytest.approx(1.0, abs=0.05)
    assert results["wrong"].counts.accuracy == 0.0
    assert results["wrong"].counts.wrong > 0.9 * TOTAL
    assert results["empty"].counts.not_found == results["empty"].counts.total == TOTAL
    assert results["right"].ceiling == results["right"].counts.accuracy
    assert results["right"].breakdowns
    document = results["wrong"].to_dict()
    assert document["correct"] + document["wrong"] + document["not_found"] == document["total"]
    start = f"gen|s:demo@{SUITE.sha256()[:6]}|tok:moses|norm:signs|align:thot|notfound:wrong|v:"
    assert document["signature"].startswith(start)


def test_corpus_and_saved_aligner_are_named_by_their_content(tmp_path: Path) -> None:
    one, other = [(["a"], ["b"])], [(["a"], ["c"])]
    labels = {alignment_label(QUICK, corpus) for corpus in ((), one, other)}
    assert "thot-fast_align-grow-diag-final" in labels
    assert len(labels) == 3
    for name, word in (("x", "haus"), ("y", "haus"), ("z", "buch")):
        aligner = Aligner(Settings(backend="builtin"))
        aligner.train([["the", "house"], ["a", "dog"]], [["das", word], ["ein", "hund"]])
        aligner.save(tmp_path / name)
    codes = [alignment_label(aligner.settings, (), tmp_path / name) for name in "xyz"]
    assert "@" in codes[0]
    assert codes[0] == codes[1] != codes[2]


def test_the_signature_of_a_gap_says_how_the_run_was_scored(tmp_path: Path) -> None:
    texts = read_texts(SUITE)
    found = align_texts(texts, {"x": words(0)}, settings=QUICK)
    outcomes = judge_texts(texts, words(0), found.reference, found.systems["x"])
    items = [Scored(e.id, e.gold, e.tags, [0.0, -1.0, -1.0]) for e in texts.examples]
    header = describe(SUITE, sha256="0" * 64, system="x", context="1+1", mode="choose")
    run = open_run(write_run(tmp_path / "run", header, items))
    signature = evaluate_translations(texts, "x", outcomes, "thot", run=run).signature
    assert f"|ctx:1+1|set:{run.header.measurement.code}|" in signature


def test_the_gap_to_contrastive_accuracy(tmp_path: Path) -> None:
    """A system that prefers the right candidate and writes another one."""
    texts = read_texts(SUITE)
    found = align_texts(texts, {"x": words(1)}, settings=QUICK)
    outcomes = judge_texts(texts, words(1), found.reference, found.systems["x"])
    items = [
        Scored(e.id, e.gold, e.tags, [0.0 if n == e.gold else -1.0 for n in range(len(e.candidates))])
        for e in texts.examples
    ]
    header = describe(SUITE, sha256="0" * 64, system="x", examples=len(items))
    run = open_run(write_run(tmp_path / "run", header, items))
    gap = gap_to(run, list(zip(texts.examples, outcomes, strict=True)))
    assert (gap.contrastive, gap.difference) == (1.0, 1.0)
    fewer = describe(SUITE, sha256="0" * 64, system="x", examples=60)
    half = open_run(write_run(tmp_path / "half", fewer, items[:60]))
    with pytest.raises(AnaphoraError, match="is not in the run"):
        gap_to(half, list(zip(texts.examples, outcomes, strict=True)))


def test_a_line_per_example(tmp_path: Path) -> None:
    texts = read_texts(SUITE)
    path = tmp_path / "short.de"
    path.write_text("eins\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"short\.de: 1 lines, but .* has 120 examples"):
        read_translations(path, texts, SUITE)


def test_examples_without_a_right_answer_are_left_out(tmp_path: Path) -> None:
    prior = Example("p", ("It was old.",), (("Er war alt.",), ("Sie war alt.",)), None)
    known = Example("k", ("It was big.",), (("Er war groß.",), ("Sie war groß.",)), 1)
    suite = suite_of(Header("s", "en", "de"), lambda: [prior, known])
    texts = read_texts(suite)
    assert texts.numbers == (1,)
    path = tmp_path / "t.de"
    path.write_text("Er war alt.\nSie war groß.\n", encoding="utf-8")
    assert read_translations(path, texts, suite).sentences == [["Sie", "war", "groß", "."]]
    with pytest.raises(AnaphoraError, match="no example has a right answer"):
        read_texts(suite_of(Header("s", "en", "de"), lambda: [prior]))


def test_an_unknown_language_is_said() -> None:
    example = Example("k", ("It was big.",), (("a",), ("b",)), 1)
    texts = read_texts(suite_of(Header("s", "en", "xx"), lambda: [example]), "none")
    with pytest.raises(AnaphoraError, match=r"pronouns of 'xx' are not known\. Known: de, en, es, fr"):
        judge_texts(texts, [["a"]], [()], [()])


def test_the_three_outcomes_by_given_alignments() -> None:
    example = Example("k", ("It broke.",), (("Er brach.",), ("Sie brach.",)), 1, {"source_pronoun": "It"})
    texts = read_texts(suite_of(Header("s", "en", "de"), lambda: [example]))
    diagonal = [((0, 0), (1, 1), (2, 2))]
    for sentence, expected in (("Sie brach .", CORRECT), ("Er brach .", WRONG), ("Das brach .", NOT_FOUND)):
        (outcome,) = judge_texts(texts, [sentence.split()], diagonal, diagonal)
        assert outcome.outcome == expected
