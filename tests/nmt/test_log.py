"""The log goes back to the last checkpoint, and survives a line that was cut; pictures are drawn from it."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import NotFinite
from anaphora.nmt.log import BOTTOM, HEIGHT, LINE, TOP, Log, Series, apart, read_log, series_of, training_curve


def test_what_came_after_the_checkpoint_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    for update in (5, 10, 15):
        log.write("training", update, loss=1 / update)
    Log(path, 10)
    assert [line["update"] for line in read_log(path)] == [5, 10]
    assert read_log(path)[1]["loss"] == 0.1


def test_the_report_at_the_end_goes_when_training_is_resumed(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    log.write("training", 5, loss=1.0)
    log.write("training", 7, loss=0.5, final=True)
    Log(path, 7)
    assert [line["update"] for line in read_log(path)] == [5]


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log(path, 0).write("training", 5, loss=1.0)
    with path.open("a") as out:
        out.write('{"kind": "trai')
    assert len(read_log(path)) == 1
    Log(path, 99).write("training", 10, loss=0.5)
    assert [line["update"] for line in read_log(path)] == [5, 10]


@pytest.mark.parametrize("line", ['{"update": 1}', '{"kind": "training"}', '{"kind": "training", "update": "x"}'])
def test_a_log_that_is_none_is_refused_and_stays(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(line + "\n" + "{}\n")
    with pytest.raises(BadInput, match=r"log\.jsonl: .*the log of a training.* Delete it: training does not need it\."):
        Log(path, 10)
    assert path.read_text() == line + "\n" + "{}\n"


def test_the_curve_is_drawn_as_suites_are_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "my-model" / "log.jsonl"
    path.parent.mkdir()
    log = Log(path, 0)
    log.write("training", 5, loss=1.0)
    log.write("validation", 5, perplexity=2.0, accuracy={})
    assert not (path.parent / "curve.svg").exists()
    log.write("validation", 10, perplexity=2.0, accuracy={"contrapro": 0.5})
    log.write("validation", 20, perplexity=2.0, accuracy={"contrapro": 0.75})
    picture = (path.parent / "curve.svg").read_text(encoding="utf-8")
    assert "my-model" in picture
    assert "contrapro: 0.750 after 20 updates" in picture
    Log(path, 10).write("validation", 20, accuracy={"contrapro": 0.875})
    assert "contrapro: 0.875 after 20 updates" in (path.parent / "curve.svg").read_text(encoding="utf-8")


def test_tensorboard_reads_the_same_figures(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed: pip install 'anaphora[tensorboard]'")
    pytest.importorskip("torch")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = Log(tmp_path / "log.jsonl", 0, tensorboard=True)
    log.write("training", 5, loss=1.5, tokens=100)
    log.write("validation", 5, perplexity=3.0, accuracy={"contrapro": 0.5})
    log.write("training", 10, loss=99.0, tokens=100)
    Log(tmp_path / "log.jsonl", 5, tensorboard=True).write("training", 10, loss=0.5, tokens=100)
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    assert [(event.step, event.value) for event in board.Scalars("training/loss")] == [(5, 1.5), (10, 0.5)]
    assert {"training/tokens", "validation/perplexity", "accuracy/contrapro"} <= set(board.Tags()["scalars"])


def test_without_tensorboard_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(AnaphoraError, match=r'pip install "anaphora\[tensorboard\]"') as error:
        Log(tmp_path / "log.jsonl", 0, tensorboard=True)
    assert "\n" not in str(error.value)


def test_missing_figures_are_null_and_nan_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    log.write("validation", 5, accuracy={"prior": None})
    assert '"accuracy": {"prior": null}' in path.read_text()
    with pytest.raises(NotFinite, match=r"^the training figures of update 6: a value is not a finite number"):
        log.write("training", 6, loss=float("nan"))
    assert len(read_log(path)) == 1


# The chart of a training: a line for each suite, named where it ends


SVG = "{http://www.w3.org/2000/svg}"


def test_the_lines_of_a_log() -> None:
    log = [
        {"kind": "training", "update": 5, "loss": 1.0},
        {"kind": "validation", "update": 10, "perplexity": 3.0, "accuracy": {"a": 0.5, "b": None}},
        {"kind": "validation", "update": 20, "accuracy": {"a": 0.75, "b": None}},
    ]
    assert series_of(log) == [Series("a", ((10, 0.5), (20, 0.75)))]
    assert series_of(log[:1]) == []


def test_higher_is_higher_and_later_is_further_right() -> None:
    series = [Series("runs/a & b.jsonl", ((10, 0.25), (20, 1.0))), Series("once", ((20, 0.5),))]
    root = ElementTree.fromstring(training_curve("my model", series))
    (drawn,) = root.iter(f"{SVG}polyline")
    (x1, y1), (x2, y2) = (map(float, point.split(",")) for point in drawn.attrib["points"].split())
    assert x1 < x2
    assert y1 > y2  # in pictures, down is positive
    (circle,) = root.iter(f"{SVG}circle")
    assert y2 < float(circle.attrib["cy"]) < y1
    texts = [t.text for t in root.iter(f"{SVG}text")]
    assert {"my model", "a & b 1.00", "once 0.50", "updates", "contrastive accuracy", "20"} <= set(texts)
    assert "runs/a & b.jsonl: 1.000 after 20 updates" in root.attrib["aria-label"]


@given(st.lists(st.floats(TOP, HEIGHT - BOTTOM), min_size=1, max_size=15))
def test_names_do_not_cover_each_other(heights: list[float]) -> None:
    actual = apart(heights)
    for one, other in pairwise(sorted(actual)):
        assert other - one > LINE - 1e-6
    assert min(actual) > TOP - 1e-6
    assert max(actual) < HEIGHT - BOTTOM + LINE + 1e-6
    for k in range(1, len(heights)):
        if heights[k - 1] < heights[k]:
            assert actual[k - 1] < actual[k]
