"""From scores to accuracy, overall and by breakdown: figures counted by hand, in one pass that keeps no example."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation import contrastive
from anaphora.evaluation.contrastive import evaluate_items, evaluate_run, evaluate_scores, guessing
from anaphora.evaluation.result import Proportion, Result, Settings
from anaphora.runs import RunHeader, ScoredExample, open_run, write_run
from anaphora.stats.intervals import wilson
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, read_native, suite_of

ABOUT = RunHeader("made-up", "0" * 64, "en", "de", "scores:x", "1.2.3")
RIGHT, WRONG, TIED = [-1.0, -2.0, -3.0], [-2.0, -1.0, -3.0], [-1.0, -1.0, -3.0]


def item(number: int, scores: list[float], **tags: Any) -> ScoredExample:
    return ScoredExample(str(number), 0, tags, scores)


# er: 2 of 3 right; sie: 0 of 2; es: 1 of 2. One tie. Two have no distance.
ITEMS = (
    item(1, RIGHT, pronoun="er", distance=0),
    item(2, RIGHT, pronoun="er", distance=4),
    item(3, WRONG, pronoun="er", distance=10),
    item(4, TIED, pronoun="sie", distance=0),
    item(5, WRONG, pronoun="sie"),
    item(6, RIGHT, pronoun="es", distance=2),
    item(7, WRONG, pronoun="es"),
)


def counts(figures: Any) -> dict[str, tuple[int, int]]:
    return {group: (figure.correct, figure.total) for group, figure in figures.items()}


def test_figures_are_those_counted_by_hand() -> None:
    result = evaluate_items(ITEMS, about=ABOUT, breakdowns=["pronoun", "distance>3", "pronoun*distance>3"])
    assert (result.figure.correct, result.figure.total, result.ties) == (3, 7, 1)
    assert result.accuracy == pytest.approx(3 / 7)
    assert counts(result.breakdowns["pronoun"]) == {"er": (2, 3), "es": (1, 2), "sie": (0, 2)}
    assert counts(result.breakdowns["distance"]) == {"0": (1, 2), "2": (1, 1), ">3": (1, 2)}
    assert counts(result.breakdowns["pronoun×distance"]) == {
        "er×0": (1, 1),
        "er×>3": (1, 2),
        "es×2": (1, 1),
        "sie×0": (0, 1),
    }
    assert list(result.breakdowns["distance"]) == ["0", "2", ">3"]


def test_half_a_pair_of_a_prior_is_reported() -> None:
    tags = {"template": "prior/position", "choices": ["first", "second"]}
    items = [ScoredExample(str(n), None, {**tags, "pair": name}, [-1.0, -2.0]) for n, name in enumerate("aabcc")]
    result = evaluate_items(items, about=ABOUT)
    assert (result.unpaired, result.to_dict()["unpaired"]) == ({"prior/position": 1}, {"prior/position": 1})
    assert "prior/position: 1 without the other order of its nouns, not counted" in str(result)


def test_only_a_shared_best_score_is_counted_as_a_tie() -> None:
    items = [item(1, [-1.0, -1.0, -1.0]), item(2, [-2.0, -2.0, -1.0]), item(3, [-2.0, -1.0, -1.0])]
    assert evaluate_items(items, about=ABOUT).ties == 1


def test_examples_without_a_value_are_reported_and_in_no_group() -> None:
    result = evaluate_items(ITEMS, about=ABOUT, breakdowns=["pronoun", "distance>3"])
    assert result.untagged == {"distance": 2}


def test_whole_and_merged_distances_can_be_asked_for_together() -> None:
    result = evaluate_items(ITEMS, about=ABOUT, breakdowns=["distance", "distance>3", "distance"])
    assert counts(result.breakdowns["distance"]) == {"0": (1, 2), "2": (1, 1), "4": (1, 1), "10": (0, 1)}
    assert counts(result.breakdowns["distance>3"]) == {"0": (1, 2), "2": (1, 1), ">3": (1, 2)}
    assert result.untagged == {"distance": 2, "distance>3": 2}


def test_every_figure_has_its_wilson_interval() -> None:
    result = evaluate_items(ITEMS, about=ABOUT, breakdowns=["pronoun"], settings=Settings(confidence=0.9))
    assert result.figure.interval == wilson(3, 7, 0.9)
    assert result.breakdowns["pronoun"]["sie"].interval == wilson(0, 2, 0.9)


def test_lower_is_better_on_request() -> None:
    """Only examples in which the gold has the lowest score would count: none, as it is never the last."""
    assert evaluate_items(ITEMS, about=ABOUT, settings=Settings(minimize=True)).figure.correct == 0
    turned = [i._replace(scores=[-score for score in i.scores]) for i in ITEMS]
    result = evaluate_items(turned, about=ABOUT, settings=Settings(minimize=True))
    assert (result.figure.correct, result.ties) == (3, 1)


def test_scores_can_be_divided_by_length() -> None:
    longer = ScoredExample("1", 0, {}, [-6.0, -4.0], [6, 2])
    assert evaluate_items([longer], about=ABOUT).figure.correct == 0
    assert evaluate_items([longer], about=ABOUT, settings=Settings(normalize="mean")).figure.correct == 1


def test_breakdowns_of_the_suite_are_used_where_tags_exist() -> None:
    about = replace(ABOUT, breakdowns=("pronoun", "location", "pronoun×location"))
    result = evaluate_items(ITEMS, about=about)
    assert list(result.breakdowns) == ["pronoun"]
    assert result.untagged == {}


def test_a_breakdown_that_was_asked_for_must_exist() -> None:
    with pytest.raises(AnaphoraError, match=r"no example has the tag 'pronuon' \(did you mean pronoun\?\)"):
        evaluate_items(ITEMS, about=replace(ABOUT, breakdowns=("pronoun",)), breakdowns=["pronuon"])


def test_a_tag_with_several_values_cannot_be_a_breakdown() -> None:
    with pytest.raises(AnaphoraError, match="'spans' has several values"):
        evaluate_items([item(1, RIGHT, spans=[1, 2])], about=ABOUT, breakdowns=["spans"])


def test_a_block_is_right_if_all_in_it_are() -> None:
    """Bawden et al. 2018, §2.1: four pairs of a block, and only a system that disambiguates wins them all."""
    items = [item(k, scores, block=str(k // 2)) for k, scores in enumerate([RIGHT, RIGHT, RIGHT, WRONG, TIED, RIGHT])]
    result = evaluate_items(items, about=replace(ABOUT, blocks="block"))
    assert result.blocks == Proportion(3, 1, wilson(1, 3))
    assert evaluate_items(items, about=ABOUT).blocks is None


def test_the_examples_of_a_block_need_not_be_consecutive() -> None:
    items = [item(1, RIGHT, block="a"), item(2, WRONG, block="b"), item(3, RIGHT, block="a"), item(4, WRONG)]
    blocks = evaluate_items(items, about=replace(ABOUT, blocks="block")).blocks
    assert blocks is not None
    assert (blocks.correct, blocks.total) == (1, 2)


def test_priors_are_counted_apart_and_not_in_the_accuracy() -> None:
    prior = ScoredExample("p", None, {"template": "prior/verb", "choices": ["m", "f", "n"]}, [-3.0, -2.0, -1.0])
    result = evaluate_items([*ITEMS, prior, prior], about=ABOUT, breakdowns=["pronoun"])
    assert (result.figure.correct, result.figure.total, result.ties) == (3, 7, 1)
    assert counts(result.priors["prior/verb"]) == {"n": (2, 2)}
    assert result.untagged == {}


def test_a_suite_of_priors_alone_has_no_accuracy() -> None:
    prior = ScoredExample("p", None, {"template": "prior/verb"}, [-3.0, -2.0])
    result = evaluate_items([prior], about=ABOUT)
    assert result.accuracy is None
    assert result.figure == Proportion(0, 0, (0.0, 1.0))


def test_an_evaluation_without_examples() -> None:
    for settings in (Settings(), Settings(interval="bootstrap"), Settings(interval="bootstrap", resample="document")):
        assert evaluate_items([], about=ABOUT, settings=settings).figure == Proportion(0, 0, (0.0, 1.0))


def many(documents: int, size: int) -> Iterator[ScoredExample]:
    """Documents whose items are all right or all wrong, every second one right."""
    for k in range(documents * size):
        document = k // size
        yield item(k, RIGHT if document % 2 else WRONG, document=f"d{document}", half=k % 2)


def width(figure: Proportion) -> float:
    return figure.interval[1] - figure.interval[0]


def test_the_bootstrap_interval_is_about_wilsons_for_many_items() -> None:
    settings = Settings(interval="bootstrap", samples=20_000)
    actual = evaluate_items(many(200, 10), about=ABOUT, settings=settings).figure
    assert actual.interval == pytest.approx(wilson(1_000, 2_000), abs=0.003)
    assert actual.interval != wilson(1_000, 2_000)


def test_resampling_documents_widens_intervals_where_their_items_go_together() -> None:
    """Ten items that always agree are worth one: √10 times as wide, in breakdowns too."""
    settings = Settings(interval="bootstrap", samples=4_000)
    items = evaluate_items(many(200, 10), about=ABOUT, breakdowns=["half"], settings=settings)
    documents = evaluate_items(
        many(200, 10), about=ABOUT, breakdowns=["half"], settings=replace(settings, resample="document")
    )
    assert width(documents.figure) / width(items.figure) == pytest.approx(10**0.5, rel=0.1)
    one, other = documents.breakdowns["half"]["0"], items.breakdowns["half"]["0"]
    assert width(one) / width(other) == pytest.approx(5**0.5, rel=0.1)
    assert counts(documents.breakdowns["half"]) == counts(items.breakdowns["half"])


def test_resampled_documents_give_the_interval_of_a_plain_bootstrap() -> None:
    sizes = [1, 2, 3, 4, 5, 9, 2, 7, 1, 6, 3, 8]
    items, sums = [], []
    for document, size in enumerate(sizes):
        right = (document * 5) % (size + 1)
        sums.append((right, size))
        items += [item(0, RIGHT if k < right else WRONG, document=document) for k in range(size)]
    settings = Settings(interval="bootstrap", resample="document", samples=20_000)
    actual = evaluate_items(items, about=ABOUT, settings=settings).figure.interval
    rng = np.random.default_rng(77)
    drawn = np.array(sums)[rng.integers(0, len(sizes), (20_000, len(sizes)))].sum(axis=1)
    assert actual == pytest.approx(np.quantile(drawn[:, 0] / drawn[:, 1], [0.025, 0.975]), abs=0.01)


def test_a_document_that_is_missing_is_an_error() -> None:
    settings = Settings(interval="bootstrap", resample="document")
    with pytest.raises(AnaphoraError, match="example 7 has no single value of the tag 'document'"):
        evaluate_items([item(6, RIGHT, document="a"), item(7, RIGHT)], about=ABOUT, settings=settings)


def test_figures_do_not_depend_on_each_other() -> None:
    settings = Settings(interval="bootstrap", samples=500)
    alone = evaluate_items(many(50, 3), about=ABOUT, breakdowns=["half"], settings=settings)
    together = evaluate_items(many(50, 3), about=ABOUT, breakdowns=["document", "half"], settings=settings)
    assert alone.figure == together.figure
    assert alone.breakdowns["half"] == together.breakdowns["half"]
    other = evaluate_items(many(50, 3), about=ABOUT, settings=replace(settings, seed=1))
    assert other.figure.interval != alone.figure.interval


@pytest.mark.parametrize("resample", [None, "document"])
def test_counts_handed_on_early_are_the_same_counts(resample: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many values of the tags at once: the counts go to the groups as they grow, and nothing is lost or doubled."""
    settings = Settings(interval="bootstrap", samples=200, resample=resample)
    by = ["half", "document×half", "document"]
    whole = evaluate_items(many(40, 5), about=ABOUT, breakdowns=by, settings=settings)
    monkeypatch.setattr(contrastive, "MAX_PENDING", 3)
    assert evaluate_items(many(40, 5), about=ABOUT, breakdowns=by, settings=settings) == whole
    assert whole.figure.total == 200
    assert len(whole.breakdowns["document"]) == 40


class Tags(dict[str, Any]):
    """Tags that one can watch."""

    __slots__ = ("__weakref__",)


def test_examples_are_not_kept() -> None:
    """Whatever the settings, an example that was counted is gone before the next but one comes."""
    alive: weakref.WeakSet[Tags] = weakref.WeakSet()
    Tags.__hash__ = object.__hash__  # type: ignore[assignment, method-assign]
    most = 0

    def watched() -> Iterator[ScoredExample]:
        nonlocal most
        for k in range(300):
            tags = Tags(pronoun="er", block=str(k // 4), number=k)
            alive.add(tags)
            most = max(most, len(alive))
            yield ScoredExample(str(k), 0 if k % 3 else None, tags, [1.0, 2.0])

    gc.disable()
    try:
        settings = Settings(interval="bootstrap", samples=100, resample="block")
        result = evaluate_items(
            watched(), about=replace(ABOUT, blocks="block"), breakdowns=["pronoun", "number"], settings=settings
        )
    finally:
        gc.enable()
    assert result.figure.total == 200
    assert most <= 3


def test_memory_does_not_grow_with_the_suite() -> None:
    """Twenty times the examples, with tags that are different in nearly each: no more than a little more memory."""

    def items(count: int) -> Iterator[ScoredExample]:
        for k in range(count):
            tags = {"distance": k % 40, "pronoun": ("er", "sie", "es")[k % 3], "text": f"some words {k}"}
            yield ScoredExample(str(k), 0, tags, [float(k % 7), 3.0, 2.0])

    def peak(count: int) -> int:
        tracemalloc.start()
        evaluate_items(items(count), about=ABOUT, breakdowns=["distance>3", "pronoun", "distance×pronoun"])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(100)  # whatever is made once is made now
    assert peak(20_000) < 1.5 * peak(1_000)


def small_suite() -> Suite:
    examples = [
        Example(str(k), ("It is old.",), (("Er ist alt.",), ("Es ist alt.",)), k % 2, {"pronoun": "er" if k else "es"})
        for k in range(3)
    ]
    return suite_of(Header("small", "en", "de", ("pronoun",)), lambda: examples)


def test_a_score_file_is_evaluated_against_its_suite(tmp_path: Path) -> None:
    (tmp_path / "x.scores").write_text("-1\n-2\n-1\n-2\n-3.5\n-2.5\n")
    suite = small_suite()
    sha256 = suite.write(tmp_path / "suite.jsonl")
    for made in (suite, read_native(tmp_path / "suite.jsonl")):
        result = evaluate_scores(made, tmp_path / "x.scores")
        assert (result.figure.correct, result.figure.total) == (1, 3)
        assert counts(result.breakdowns["pronoun"]) == {"er": (0, 2), "es": (1, 1)}
        assert result.sha256 == sha256
        assert (result.suite, result.languages, result.system) == ("small", "en-de", f"scores:{tmp_path / 'x.scores'}")


def test_the_lines_of_a_suite_are_json_and_nothing_else(tmp_path: Path) -> None:
    """Spaces around a value are JSON; another value behind it is not, and is not passed over."""
    scores, file = tmp_path / "x.scores", tmp_path / "suite.jsonl"
    scores.write_text("-1\n-2\n" * 3)
    small_suite().write(file)
    header, *lines = file.read_text().splitlines()
    file.write_text("\n".join([header, *(f" {line}\t" for line in lines)]))
    assert evaluate_scores(read_native(file), scores).figure.total == 3
    for wrong in (f"{lines[1]} {lines[1]}", f"{lines[1]}x", f"{lines[1][:-1]}"):
        file.write_text("\n".join([header, lines[0], wrong, lines[2]]))
        with pytest.raises(BadInput, match="line 3: not JSON"):
            evaluate_scores(read_native(file), scores)


def test_a_run_gives_the_same_result_as_its_scores(tmp_path: Path) -> None:
    about = replace(ABOUT, breakdowns=("pronoun", "distance>3"), context="1+1")
    write_run(tmp_path / "run", about, ITEMS)
    settings = Settings(interval="bootstrap", samples=300)

    def of_run() -> Result:
        return evaluate_run(open_run(tmp_path / "run"), settings=settings)

    assert of_run() == evaluate_items(ITEMS, about=about, settings=settings)
    assert of_run().context == "1+1"
    assert of_run().version == "1.2.3"


def test_the_order_of_examples_does_not_matter() -> None:
    results = [
        evaluate_items(order, about=ABOUT, breakdowns=["pronoun", "distance>3"])
        for order in itertools.islice(itertools.permutations(ITEMS), 0, 5_040, 719)
    ]
    assert all(result == results[0] for result in results)
    assert all(list(result.breakdowns["pronoun"]) == ["er", "es", "sie"] for result in results)


def test_runs_in_different_modes_have_different_signatures(tmp_path: Path) -> None:
    """newcomer.md B9: the same suite and context, but log-probabilities, multiple choice and nearest translation."""
    plain = {"separator": " ", "margins_only": False, "truncate": False, "limit": None, "focus": "candidate"}
    ways: list[dict[str, Any]] = [
        *({"mode": mode, "prompt": "{source}", "url": "http://x"} for mode in ("score", "choose", "generate")),
        *({"margins_only": True}, {"separator": " <SEP> "}, {"truncate": True}, {"prompt": "{source}\n"}, {}),
    ]
    results = []
    for number, way in enumerate(ways):
        about = replace(ABOUT, system="openai:x", context="1+1", settings={**plain, **way})
        results.append(evaluate_run(open_run(write_run(tmp_path / str(number), about, ITEMS))))
    assert len({result.signature for result in results}) == len(ways)
    assert len({result.long_signature for result in results}) == len(ways)
    elsewhere = replace(ABOUT, system="y", context="1+1", settings={**plain, **ways[0], "url": "http://y", "limit": 7})
    other = evaluate_run(open_run(write_run(tmp_path / "other", elsewhere, ITEMS)))
    assert other.signature == results[0].signature


BLOCKS = tuple(ScoredExample(str(n), 0, {"block": n // 4}, RIGHT) for n in range(10))  # 4 + 4 + 2


def test_a_block_that_was_cut_is_not_counted() -> None:
    """newcomer.md B16: of ten items in blocks of four, two blocks are whole."""
    about = replace(ABOUT, blocks="block", cut_blocks=(2,), settings={"limit": 10})
    result = evaluate_items(BLOCKS, about=about)
    assert result.blocks == Proportion(2, 2, wilson(2, 2))
    assert (result.cut_blocks, result.to_dict()["cut_blocks"]) == (1, 1)
    assert "1 block is not counted" in str(result)
    complete = evaluate_items(BLOCKS, about=replace(about, cut_blocks=()))
    assert (complete.blocks, complete.cut_blocks) == (Proportion(3, 3, wilson(3, 3)), 0)
    assert evaluate_items(BLOCKS, about=replace(about, cut_blocks=(0, 1, 2))).blocks is None


def test_a_limited_run_without_cut_blocks_loses_its_last() -> None:
    old = replace(ABOUT, blocks="block", settings={"limit": 10})
    assert evaluate_items(BLOCKS, about=old).blocks == Proportion(2, 2, wilson(2, 2))
    assert evaluate_items(BLOCKS, about=replace(old, settings={})).blocks == Proportion(3, 3, wilson(3, 3))


def test_examples_without_an_answer_are_wrong_and_no_ties() -> None:
    """newcomer.md B10: a model that never answers with a letter."""
    silent = {"unanswered": 2, "answer": "Elles seront …"}
    items = [
        ScoredExample("1", 0, {}, [-0.7, -0.7], None, silent),
        ScoredExample("2", 0, {}, [-0.7, -0.7]),  # a tie
        ScoredExample(
            "3", 0, {}, [-0.3, -1.4], None, {"unanswered": 1, "answer": "Hm."}
        ),  # one of two answers is enough
        ScoredExample("4", None, {"template": "prior/verb"}, [-0.7, -0.7], None, silent),
    ]
    result = evaluate_items(items, about=ABOUT)
    assert (result.figure.correct, result.figure.total, result.ties, result.unanswered) == (1, 3, 1, 2)
    assert result.to_dict()["unanswered"] == 2
    assert "2 examples have no answer and count as wrong, e.g. 'Elles seront …'" in str(result)
    assert "no answer" not in str(evaluate_items(items[1:3], about=ABOUT))


# What is right without understanding, counted by hand.


def test_at_random() -> None:
    assert guessing([(2, {}), (3, {}), (2, {})]) == pytest.approx((1 / 2 + 1 / 3 + 1 / 2) / 3)


def test_always_the_most_frequent_answer() -> None:
    answers = ["es", "es", "er", "sie"]
    assert guessing((3, {"reference_pronoun": answer}) for answer in answers) == 0.5


def test_where_answers_are_balanced_it_is_chance() -> None:
    assert guessing((3, {"reference_gender": gender}) for gender in ("f", "m", "n")) == pytest.approx(1 / 3)


def test_nothing_is_asked() -> None:
    assert guessing([]) is None
