"""A stage keeps what was made with the same settings, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.build.mine.stage import NOTE, digest, open_stage, remove_stages
from anaphora.core.errors import BadInput


def test_the_same_settings_keep_what_is_there(tmp_path: Path) -> None:
    stage = open_stage(tmp_path, "one", {"a": 1})
    stage.write(0, b"x")
    stage.write(2, b"z")
    again = open_stage(tmp_path, "one", {"a": 1})
    assert again == stage
    assert again.finished(4) == {0, 2}
    assert again.read(2) == b"z"


def test_another_setting_empties_the_stage_and_those_after_it(tmp_path: Path) -> None:
    def stages(a: int, b: int, c: int) -> list[set[int]]:
        first = open_stage(tmp_path, "first", {"a": a})
        second = open_stage(tmp_path, "second", {"b": b}, (first,))
        third = open_stage(tmp_path, "third", {"c": c}, (first, second))
        found = [stage.finished(1) for stage in (first, second, third)]
        for stage in (first, second, third):
            stage.write(0, b"")
        return found

    assert stages(1, 1, 1) == [set(), set(), set()]
    assert stages(1, 1, 1) == [{0}, {0}, {0}]
    assert stages(1, 1, 2) == [{0}, {0}, set()]
    assert stages(1, 2, 2) == [{0}, set(), set()]
    assert stages(2, 2, 2) == [set(), set(), set()]


def test_a_note_that_cannot_be_read_is_not_trusted(tmp_path: Path) -> None:
    stage = open_stage(tmp_path, "one", {})
    stage.write(0, b"x")
    (stage.folder / NOTE).write_text("{")
    assert not open_stage(tmp_path, "one", {}).finished(1)


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "thesis.tex").write_text("…")
    with pytest.raises(BadInput, match="exists already, and is not of a run before"):
        open_stage(tmp_path, "one", {})
    assert (tmp_path / "one" / "thesis.tex").exists()


def test_what_a_killed_run_was_writing_is_removed(tmp_path: Path) -> None:
    stage = open_stage(tmp_path, "one", {})
    stage.write(0, b"x")
    (stage.folder / ".000001.jsonl.gz.0123abcd.part").write_bytes(b"half")
    open_stage(tmp_path, "one", {})
    assert sorted(path.name for path in stage.folder.iterdir()) == ["000000.jsonl.gz", NOTE]


def test_a_run_killed_before_its_note_is_resumed(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / f".{NOTE}.0123abcd.part").write_bytes(b"{")
    assert not open_stage(tmp_path, "one", {}).finished(1)


def test_a_run_killed_while_it_removes_a_stage_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = open_stage(tmp_path, "one", {})
    for shard in range(3):
        stage.write(shard, b"x")

    def killed(path: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", killed)
        with pytest.raises(KeyboardInterrupt):
            open_stage(tmp_path, "one", {"new": 1})
    assert not open_stage(tmp_path, "one", {}).finished(3)  # what is left of the old stage is not trusted


def test_stages_are_removed_and_nothing_else(tmp_path: Path) -> None:
    open_stage(tmp_path, "one", {})
    (tmp_path / "thesis").mkdir()
    remove_stages(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis"]


def test_digests_tell_files_and_folders_apart(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"a")
    assert digest(tmp_path / "a") == digest(tmp_path / "b")
    (tmp_path / "b").write_bytes(b"b")
    assert digest(tmp_path / "a") != digest(tmp_path / "b")
    before = digest(tmp_path)
    (tmp_path / "c.xml").write_bytes(b"")
    assert digest(tmp_path) != before
    with pytest.raises(BadInput, match="no such file"):
        digest(tmp_path / "d")
