"""The log goes back to the last checkpoint, and survives a line that was cut."""

from __future__ import annotations

from pathlib import Path

from anaphora.nmt.log import Log, read_log


def test_what_came_after_the_checkpoint_is_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    log = Log(path, 0)
    for update in (5, 10, 15):
        log.write("training", update, loss=1 / update)
    Log(path, 10)
    assert [line["update"] for line in read_log(path)] == [5, 10]
    assert read_log(path)[1]["loss"] == 0.1


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    Log(path, 0).write("training", 5, loss=1.0)
    with path.open("a") as out:
        out.write('{"kind": "trai')
    assert len(read_log(path)) == 1
    Log(path, 99).write("training", 10, loss=0.5)
    assert [line["update"] for line in read_log(path)] == [5, 10]
