"""Attributions in a report: the chart, the table, and passages with each word shaded."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.reports.charts import assign_styles
from anaphora.reports.page import make_report, page
from anaphora.reports.results import other_chapters, read_results
from tests.evaluation.test_attribution_result import record, written
from tests.reports.conftest import NASTY


def made(folder: Path, records: list[Any], **settings: Any) -> str:
    return page(make_report([], results=[written(folder, records, **settings)]))


def test_a_chapter_with_chart_table_and_passages(tmp_path: Path) -> None:
    path = written(tmp_path, [record(0.75), record(0.25, right=False)])
    (chapter,) = other_chapters(read_results([path]), {"x:y": "mine"}, assign_styles(["mine"]))
    assert chapter.title == "Attribution"
    assert [bool(part.svg) for part in chapter.parts] == [True, False, False]
    assert chapter.summary == (
        "mine puts 50.0 % of its attribution (gradient) on the antecedent in made; "
        "if every token had the same, it would be 50.0 %.",
    )


def test_words_are_shaded_by_their_value(tmp_path: Path) -> None:
    words = {"source": [[["lamp", 0.5], [",", 0.0], ["it", -1.0]]], "target": [[["Ja", 0.25]]]}
    html = made(tmp_path, [record(0.5, words=words)])
    shaded = re.findall(r'<span class="([a-z ]+)" style="--much:([\d.]+)"[^>]*>([^<]+)</span>', html)
    assert shaded == [
        ("for found", "0.50", "lamp"),
        ("for", "0.00", ","),
        ("against", "1.00", "it"),
        ("for", "0.25", "Ja"),
    ]
    assert "lamp</span><span" in html, "no space before a comma"
    assert "<b>sie</b>" in html
    assert "right answer: log p(sie) − log p(er) = +1.00 · 50 % on the antecedent (uniform 50 %)" in html


def test_the_most_certain_answers_of_both_kinds_are_shown(tmp_path: Path) -> None:
    records = [record(0.5, contrast=float(k)) for k in range(1, 9)]
    records += [record(0.5, right=False, contrast=-float(k)) for k in range(1, 3)]
    html = made(tmp_path, records)
    assert re.findall(r'class="mark">(\d+) · (right|wrong)', html) == [
        *((str(k - 1), "right") for k in (8, 7, 6, 5, 4)),
        *((str(k), "wrong") for k in (9, 8)),
    ]


def test_texts_are_escaped(tmp_path: Path) -> None:
    words = {"source": [[[NASTY, 0.5]]], "target": [[]]}
    html = made(tmp_path, [record(0.5, words=words, choice=[NASTY, "er"])])
    assert NASTY not in html


def test_occlusion_has_no_chart_but_an_effect(tmp_path: Path) -> None:
    html = made(tmp_path, [record(1.0)], attribution="occlusion")
    assert "loses +1.000 [+1.000, +1.000] nats" in html
    assert "<svg" not in html
    assert "depend on (occlusion)" in html
    assert "The stronger the color of a sentence" in html
    assert "+1.00 lost without the sentences of the antecedent, one at a time" in html


def test_highlights_without_antecedents(tmp_path: Path) -> None:
    only = {key: value for key, value in record(0.5).items() if key != "antecedent"}
    html = made(tmp_path, [{**only, "highlights": record(0.5)["antecedent"]}])
    assert "50 % on highlighted words" in html


def test_other_files_are_errors(tmp_path: Path) -> None:
    printed = tmp_path / "a.json"
    printed.write_text('{"antecedent_share": 0.5}')
    with pytest.raises(BadInput, match=r"figures without passages. Pass the file that `attribute -o` has written"):
        read_results([printed])
    with pytest.raises(BadInput, match="a run without attributions"):
        read_results([written(tmp_path, [record(0.5)], attribution=None)])
