"""Shards on disk: pieces and annotation come back unchanged, and stages keep what is finished."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.mine.shards import (
    NOTE,
    Piece,
    digest,
    open_stage,
    pack_documents,
    pack_pieces,
    remove_stages,
    unpack_documents,
    unpack_pieces,
    unpack_words,
)
from anaphora.core.errors import BadInput

WORD = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
FEATURES = st.dictionaries(st.sampled_from(["Gender", "Number"]), st.sampled_from(["Masc", "Plur", "Fem,Masc"]))


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    size = draw(st.integers(0, 4))
    heads = st.none() | st.integers(0, max(0, size - 1))
    token = st.builds(Token, WORD, WORD, st.sampled_from(["NOUN", "X"]), FEATURES, heads, WORD, st.booleans(), WORD)
    return Sentence(tuple(draw(token) for _ in range(size)))


MENTIONS = st.builds(Mention, *[st.integers(0, 9)] * 4)
CHAINS = st.none() | st.lists(st.lists(MENTIONS, max_size=2).map(tuple), max_size=2).map(tuple)
DOCUMENTS = st.builds(Document, st.lists(sentences(), max_size=3).map(tuple), CHAINS)


@settings(max_examples=60)
@given(st.lists(DOCUMENTS, max_size=3))
def test_documents_come_back(documents: list[Document]) -> None:
    packed = pack_documents(documents)
    actual = list(unpack_documents(packed))
    assert actual == documents
    assert [[s.tokens for s in d.sentences] for d in actual] == [[s.tokens for s in d.sentences] for d in documents]
    assert [[[dict(t.features) for t in s] for s in d.sentences] for d in actual] == [
        [[dict(t.features) for t in s] for s in d.sentences] for d in documents
    ]
    assert pack_documents(actual) == packed
    words = [[(list(w.texts), [kind for kind, _ in w.kinds]) for w in document] for document in unpack_words(packed)]
    assert words == [[([t.text for t in s], [t.upos for t in s]) for s in d.sentences] for d in documents]


def test_pieces_come_back() -> None:
    pieces = [
        Piece("a\u2028b", 0, 0, 0, ("x\u2028", ""), ("\u0085", "y")),
        Piece("c", 7, 9, 1, ("x y",), ("X Y",), (((0, 1), (1, 0)),)),
        Piece("d", 0, 10, 0, ("x", "y"), ("X", "Y"), ((), ())),
    ]
    assert list(unpack_pieces(pack_pieces(pieces))) == pieces
    assert pieces[1].new == 0
    assert pieces[1].side("target") == ("X Y",)


# Stages.


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
        actual = [stage.finished(1) for stage in (first, second, third)]
        for stage in (first, second, third):
            stage.write(0, b"")
        return actual

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
    with pytest.raises(BadInput, match="already exists, and is not a work folder"):
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


def test_a_pipe_or_a_device_is_not_mined(tmp_path: Path) -> None:
    """/dev/zero has no end, and of a pipe that was hashed nothing would be left to read."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/null")):
        with pytest.raises(BadInput, match=r"not a regular file\. Mining reads it several times"):
            digest(path)


def test_a_name_that_is_not_utf8_is_a_setting(tmp_path: Path) -> None:
    settings = {"files": {"a\udce9": "0"}}
    assert open_stage(tmp_path, "text", settings).fingerprint == open_stage(tmp_path, "text", settings).fingerprint
