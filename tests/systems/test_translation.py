"""Translating documents: context given as asked, outputs cut at the separator, nothing lost in an interruption."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import translation
from anaphora.systems.context import Context
from anaphora.systems.translation import Sentence, last_sentence, read_documents, translate_file


class Shouting:
    """Translates by writing in capitals; keeps what it was given, and fails when told to."""

    def __init__(self, fail_after: int | None = None) -> None:
        self.given: list[str] = []
        self.fail_after = fail_after

    def settings(self) -> Mapping[str, Any]:
        return {"kind": "shouting"}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        raise NotImplementedError

    def translate(self, texts: Sequence[str], *, beams: int = 4, max_tokens: int = 256) -> list[str]:
        if self.fail_after is not None and len(self.given) >= self.fail_after:
            raise KeyboardInterrupt
        self.given += texts
        return [text.upper() for text in texts]


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    file = tmp_path / "talk.en"
    file.write_text("one\ntwo\nthree\n\nfour\n", encoding="utf-8")
    return file


def test_each_sentence_sees_those_before_it_in_its_document(talk: Path, tmp_path: Path) -> None:
    system = Shouting()
    context = Context(2, " ", "none")
    actual = translate_file(system, "x:y", talk, tmp_path / "out", context=context)
    assert system.given == ["one", "one two", "one two three", "four"]
    assert (actual.sentences, actual.missing, actual.surplus) == (4, 0, 0)
    assert (tmp_path / "out").read_text(encoding="utf-8") == "ONE\nONE TWO\nONE TWO THREE\n\nFOUR\n"
    assert not (tmp_path / "out.part").exists()


def test_output_that_holds_the_context_is_cut_at_the_separator(talk: Path, tmp_path: Path) -> None:
    context = Context(1, " <SEP> ", "produced")
    translate_file(Shouting(), "x:y", talk, tmp_path / "out", context=context)
    assert (tmp_path / "out").read_text(encoding="utf-8") == "ONE\nTWO\nTHREE\n\nFOUR\n"


@pytest.mark.parametrize(
    ("text", "sentences", "kept", "surplus"),
    [("A <SEP> B", 2, "B", 0), ("A B", 2, "A B", -1), ("A <SEP> B <SEP> C", 2, "C", 1), ("A<SEP>B", 2, "B", 0)],
)
def test_missing_and_surplus_separators(text: str, sentences: int, kept: str, surplus: int) -> None:
    assert last_sentence(text, Context(1, " <SEP> "), sentences) == (kept, surplus)


def test_a_space_cannot_be_cut_at(talk: Path, tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="--separator"):
        translate_file(Shouting(), "x:y", talk, tmp_path / "out", context=Context(1, " ", "produced"))


def test_an_interruption_loses_nothing(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "CHUNK", 2)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after=2), "x:y", talk, out, context=Context())
    assert not out.exists()
    with (tmp_path / "out.part").open("ab") as part:
        part.write(b'["half a li')  # as a kill in the middle of a line leaves it
    with pytest.raises(AnaphoraError, match="--resume"):
        translate_file(Shouting(), "x:y", talk, out, context=Context())
    system = Shouting()
    translate_file(system, "x:y", talk, out, context=Context(), resume=True)
    assert system.given == ["three", "four"]
    assert out.read_text(encoding="utf-8") == "ONE\nTWO\nTHREE\n\nFOUR\n"


def test_killed_when_all_was_written(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between writing the output and removing the unfinished one: resuming finds that nothing is left to do."""
    out, part = tmp_path / "out", tmp_path / "out.part"
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", lambda path, missing_ok=False: pytest.exit("killed") if path == part else None)
        with pytest.raises(pytest.exit.Exception):
            translate_file(Shouting(), "x:y", talk, out, context=Context())
    before = out.read_bytes()
    assert part.exists()
    system = Shouting()
    assert translate_file(system, "x:y", talk, out, context=Context(), resume=True).sentences == 4
    assert (system.given, part.exists(), out.read_bytes()) == ([], False, before)


def test_an_output_of_another_program_is_kept(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "CHUNK", 2)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after=2), "x:y", talk, out, context=Context())
    out.write_text("mine", encoding="utf-8")
    system = Shouting()
    with pytest.raises(AnaphoraError, match="already exists"):
        translate_file(system, "x:y", talk, out, context=Context(), resume=True)
    assert system.given == []
    assert out.read_text(encoding="utf-8") == "mine"


def test_another_system_is_not_mixed_in(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "CHUNK", 2)
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after=2), "x:y", talk, tmp_path / "out", context=Context())
    with pytest.raises(AnaphoraError, match="created with different settings"):
        translate_file(Shouting(), "x:z", talk, tmp_path / "out", context=Context(), resume=True)


def test_what_is_there_is_not_overwritten_unless_asked(talk: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    with pytest.raises(AnaphoraError, match="--overwrite"):
        translate_file(Shouting(), "x:y", talk, tmp_path / "out", context=Context())
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"
    translate_file(Shouting(), "x:y", talk, tmp_path / "out", context=Context(), overwrite=True)
    assert (tmp_path / "out").read_text(encoding="utf-8").startswith("ONE")


def test_every_chunk_is_synced(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loss of power costs the chunk that is being translated, and no other."""
    monkeypatch.setattr(translation, "CHUNK", 2)
    synced, fsync = [0], os.fsync

    class Synced(Shouting):
        def translate(self, texts: Sequence[str], *, beams: int = 4, max_tokens: int = 256) -> list[str]:
            assert synced[-1] == (tmp_path / "out.part").stat().st_size
            return super().translate(texts)

    def log_fsync(handle: int) -> None:
        if "out.part" in str(Path(f"/proc/self/fd/{handle}").readlink()):
            synced.append(os.fstat(handle).st_size)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", log_fsync)
    system = Synced()
    translate_file(system, "x:y", talk, tmp_path / "out", context=Context())
    assert system.given == ["one", "two", "three", "four"]
    assert len(set(synced)) == 4  # nothing, the header, and two chunks


@pytest.mark.parametrize("fail_after", [0, 2])
def test_an_overwritten_output_stays_until_the_new_one_is_complete(
    talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_after: int
) -> None:
    monkeypatch.setattr(translation, "CHUNK", 2)
    out, part = tmp_path / "out", tmp_path / "out.part"
    out.write_text("mine", encoding="utf-8")
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after), "x:y", talk, out, context=Context(), overwrite=True)
    assert out.read_text(encoding="utf-8") == "mine"
    system = Shouting()
    translate_file(system, "x:y", talk, out, context=Context(), resume=True)
    assert system.given == ["one", "two", "three", "four"][fail_after:]
    assert (out.read_text(encoding="utf-8"), part.exists()) == ("ONE\nTWO\nTHREE\n\nFOUR\n", False)


def test_only_the_output_that_was_there_is_replaced(talk: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("mine", encoding="utf-8")

    class Interfering(Shouting):
        def translate(self, texts: Sequence[str], *, beams: int = 4, max_tokens: int = 256) -> list[str]:
            out.write_text("of another", encoding="utf-8")
            return super().translate(texts)

    with pytest.raises(AnaphoraError, match="was written by another program meanwhile"):
        translate_file(Interfering(), "x:y", talk, out, context=Context(), overwrite=True)
    assert out.read_text(encoding="utf-8") == "of another"


def test_another_input_is_not_mixed_in(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "CHUNK", 2)
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after=2), "x:y", talk, tmp_path / "out", context=Context())
    talk.write_text(talk.read_text(encoding="utf-8").replace("one", "a"), encoding="utf-8")
    with pytest.raises(AnaphoraError, match=r"created with different settings \(input: "):
        translate_file(Shouting(), "x:y", talk, tmp_path / "out", context=Context(), resume=True)


def test_another_language_pair_is_not_mixed_in(talk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt names the languages, which are not part of the system's own settings."""
    monkeypatch.setattr(translation, "CHUNK", 2)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        translate_file(Shouting(fail_after=2), "x:y", talk, out, context=Context(), languages="en-de")
    with pytest.raises(AnaphoraError, match="languages: 'en-de', now 'en-fr'"):
        translate_file(Shouting(), "x:y", talk, out, context=Context(), languages="en-fr", resume=True)


# Documents: what comes before a sentence, and never across the end of a document.


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_blank_lines_end_documents(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "One.\nTwo.\n\nThree.\nFour.\n")
    assert list(read_documents(file)) == [
        Sentence("One.", ()),
        Sentence("Two.", ("One.",)),
        Sentence("Three.", (), "\n"),
        Sentence("Four.", ("Three.",)),
    ]


def test_several_blank_lines_are_kept_as_they_are(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "\nOne.\n\n\nTwo.\n")
    assert [s.lead for s in read_documents(file)] == ["\n", "\n\n"]


def test_a_column_of_docids(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "a\tOne.\na\tTwo.\nb\tThree.\n")
    actual = list(read_documents(file, docids=True))
    assert [s.before for s in actual] == [(), ("One.",), ()]
    assert [s.lead for s in actual] == ["a\t", "a\t", "b\t"]


def test_a_line_without_a_docid_is_an_error(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "a\tOne.\nTwo.\n")
    with pytest.raises(BadInput, match="line 2: no tab"):
        list(read_documents(file, docids=True))


def test_a_line_d_between_documents(tmp_path: Path) -> None:
    file = written(tmp_path / "talk", "One.\n<d>\nTwo.\n")
    assert list(read_documents(file)) == [Sentence("One.", ()), Sentence("Two.", (), "<d>\n")]
