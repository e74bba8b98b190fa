"""Context usage: accuracy and CXMI from runs, for a system whose answers are known by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.context_usage import context_usage
from anaphora.evaluation.result import Settings
from anaphora.reports.charts import usage_curve
from anaphora.reports.tables import usage_table
from anaphora.runs import Run, ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems.context import Context, Options


def made(sentences: int = 1) -> Suite:
    def examples() -> list[Example]:
        before = range(sentences)
        return [
            Example(
                str(i),
                (*(f"c{i}" for _ in before), "x"),
                ((*(f"C{i}" for _ in before), "er"), (*(f"C{i}" for _ in before), "sie")),
                0,
            )
            for i in range(40)
        ]

    return suite_of(Header("made", "en", "de"), examples)


def knowing(suite: Suite, options: Options, folder: Path) -> Run:
    """A system that needs its own context: +2 nats for the sentence, +1 of them on the pronoun; −2 if it is wrong."""

    def item(example: Example) -> ScoredExample:
        helped = 0.0
        if options.context.sentences:
            own = example.source[0] == f"c{example.tags.get('attacked', example.id)}"
            helped = 1.0 if own else -1.0
        first = -1.0 + helped
        sentence = 0.0 if options.scope == "pronoun" else -5.0 + helped
        return ScoredExample(
            example.id, example.gold, example.tags, [first + sentence, -1.2 + min(sentence, -0.0)], [1, 1]
        )

    header = describe(suite, sha256=suite.sha256(), system="x:y")
    return open_run(write_run(folder, replace(header, context=options.context.label), map(item, suite)))


def test_figures_are_those_of_the_system(tmp_path: Path) -> None:
    usage = context_usage(made(), "x:y", Options(Context(1)), tmp_path, knowing, Settings(samples=200))
    none, one, other = usage.conditions
    assert [c.name for c in usage.conditions] == ["none", "1 sentence", "random"]
    assert none.cxmi == {}
    assert one.cxmi["current"].mean == pytest.approx(2.0)
    assert one.cxmi["pronoun"].mean == pytest.approx(1.0)
    assert one.cxmi["pronoun"].interval == pytest.approx((1.0, 1.0))
    assert one.cxmi["current"].positive == 1.0
    assert other.cxmi["current"].mean == pytest.approx(-2.0)
    assert other.cxmi["current"].positive == 0.0
    assert [c.figure.accuracy for c in usage.conditions] == [1.0, 1.0, 0.0]
    assert [c.name for c in usage.conditions] == ["none", "1 sentence", "random"]


def test_shuffled_context_needs_two_sentences(tmp_path: Path) -> None:
    usage = context_usage(made(2), "x:y", Options(Context(2)), tmp_path, knowing, Settings(samples=200))
    assert [c.name for c in usage.conditions] == ["none", "1 sentence", "2 sentences", "random", "shuffled"]
    assert usage.reads is None
    sha = made(2).sha256()[:6]
    assert usage.signature.startswith(f"cxmi|s:made@{sha}|ctx:2+2|norm:sum|tie:wrong|n:200|seed:12345|v:")


def test_more_context_than_the_examples_have_is_refused(tmp_path: Path) -> None:
    """newcomer.md B5: rows for sentences that do not exist were never measured."""
    with pytest.raises(AnaphoraError, match=r"at most 1 sentence of context, but --context 3 .* Use --context 1"):
        context_usage(made(), "x:y", Options(Context(3)), tmp_path, knowing)
    with pytest.raises(AnaphoraError, match=r"at most 1 sentence of context, but --context 2 .* Use --context 1"):
        context_usage(made(2), "x:y", Options(Context(2)), tmp_path, knowing, most=1)


def test_rows_end_with_what_a_model_reads(tmp_path: Path) -> None:
    """A model that was trained with one sentence sees one, whatever is asked for."""

    def short(suite: Suite, options: Options, folder: Path) -> Run:
        context = replace(options.context, sentences=min(options.context.sentences, 1))
        return knowing(suite, replace(options, context=context), folder)

    usage = context_usage(made(3), "x:y", Options(Context(3)), tmp_path, short, Settings(samples=200))
    assert [c.name for c in usage.conditions] == ["none", "1 sentence", "random"]
    assert usage.to_dict()["reads"] == 1
    assert "|ctx:1+1|" in usage.signature
    assert "reads at most 1 of the sentences" in usage_table(usage).render("table")


def test_a_model_that_reads_no_context_has_no_usage(tmp_path: Path) -> None:
    def deaf(suite: Suite, options: Options, folder: Path) -> Run:
        return knowing(suite, replace(options, context=replace(options.context, sentences=0)), folder)

    with pytest.raises(AnaphoraError, match="x:y reads no context"):
        context_usage(made(2), "x:y", Options(Context(2)), tmp_path, deaf, Settings(samples=200))


def test_no_context_is_not_a_question(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="--context"):
        context_usage(made(), "x:y", Options(Context(0)), tmp_path, knowing)


def test_a_table_a_document_and_a_curve(tmp_path: Path) -> None:
    usage = context_usage(made(), "x:<y>", Options(Context(1)), tmp_path, knowing, Settings(samples=200))
    text = usage_table(usage).render("table")
    assert "+2.000" in text
    assert "random" in text
    assert usage.to_dict()["conditions"]["1 sentence"]["cxmi_pronoun"]["mean"] == pytest.approx(1.0)
    picture = usage_curve(usage)
    assert picture.count("<circle") == 2
    assert "&lt;y&gt;" in picture  # the system, at the end of its line
    assert "random context" in picture


def test_a_suite_without_right_answers_has_no_context_usage(tmp_path: Path) -> None:
    priors = [Example(str(i), ("c", "x"), (("C", "er"), ("C", "sie")), None) for i in range(3)]
    suite = suite_of(Header("priors", "en", "de"), lambda: priors)
    with pytest.raises(AnaphoraError, match=r"^priors: no example has a correct answer, so CXMI cannot be measured"):
        context_usage(suite, "x:y", Options(Context(1)), tmp_path, knowing, Settings(samples=200))
