"""`anaphora align`: files in, a Pharaoh file out; what does not go together is refused in one line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("anaphora.align.thot", reason="sil-thot is not installed")

from anaphora import __version__
from anaphora.align import backend
from anaphora.align.alignment import read_alignments
from anaphora.cli import main
from anaphora.core.registry import Registry

Run = Callable[..., subprocess.CompletedProcess[str]]
ENGLISH = "the house\nthe book\na house\na book is here\nthe house is here\n\nit is a book\n"
GERMAN = "das Haus\ndas Buch\nein Haus\nein Buch ist hier\ndas Haus ist hier\nnichts\nes ist ein Buch\n"
LINKS = ["0-0 1-1"] * 3 + ["0-0 1-1 2-2 3-3"] * 2 + ["", "0-0 1-1 2-2 3-3"]


@pytest.fixture
def texts(tmp_path: Path) -> tuple[Path, Path]:
    english, german = tmp_path / "text.en", tmp_path / "text.de"
    english.write_text(ENGLISH, encoding="utf-8")
    german.write_text(GERMAN, encoding="utf-8")
    return english, german


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command in this process; its JSON, or what it printed."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Any:
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["align", *map(str, arguments)])
        printed = capsys.readouterr()
        assert stop.value.code == 0, printed.err
        return json.loads(printed.out) if "--json" in arguments else printed

    return run


def test_the_program_as_a_user_calls_it(anaphora: Run, texts: tuple[Path, Path], tmp_path: Path) -> None:
    done = anaphora("align", *texts, "-o", "out.align")
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "7 pairs, 18 links: out.align (thot eflomal, grow-diag-final)",
        "without links: 1 pairs with an empty side, 0 other pairs",
    ]
    assert (tmp_path / "out.align").read_text().splitlines() == LINKS
    again = anaphora("align", *texts, "-o", "again.align", "--json")
    assert (tmp_path / "again.align").read_bytes() == (tmp_path / "out.align").read_bytes()
    assert json.loads(again.stdout)["points"] == 18


def test_json(call: Callable[..., Any], texts: tuple[Path, Path]) -> None:
    document = call(*texts, "-o", "out.align", "--model", "fast_align", "--symmetrize", "union", "--json")
    assert document.pop("library").startswith("sil-thot 3.")
    assert document.pop("points") >= 18
    assert document == {
        "output": "out.align",
        "pairs": 7,
        "empty": 1,
        "unaligned": 0,
        "backend": "thot",
        "model": "fast_align",
        "symmetrize": "union",
        "tokenize": "none",
        "texts": {
            str(path): {"tokenize": "none", "words": words, "words_with_punctuation": 0, "normalized": {}}
            for path, words in zip(texts, (18, 19), strict=True)
        },
        "signature": "align|by:thot-fast_align-union|tok:none|norm:signs|case:lc|seed:12345|v:" + __version__,
        "lowercase": True,
        "seed": 12345,
        "trained_on": 6,
        "reproducible": True,
    }


def test_options_reach_the_aligner(call: Callable[..., Any], texts: tuple[Path, Path]) -> None:
    options = ("--cased", "--seed", "7", "--model", "fast_align", "--threads", "2")
    document = call(*texts, "-o", "out.align", *options, "--json")
    assert (document["lowercase"], document["seed"], document["reproducible"]) == (False, 7, False)
    assert "sil-thot 3." in call(*texts, "-o", "out.align", *options).err
    assert "is not deterministic: links may differ slightly" in call(*texts, "-o", "out.align", *options).err


def test_a_model_is_saved_and_applied(call: Callable[..., Any], texts: tuple[Path, Path], tmp_path: Path) -> None:
    call(*texts, "-o", "out.align", "--model", "ibm1", "--save", "model")
    (tmp_path / "new.en").write_text("it is the house\n")
    (tmp_path / "new.de").write_text("das Haus ist es\n", encoding="utf-8")
    document = call("new.en", "new.de", "-o", "new.align", "--load", "model", "--symmetrize", "intersection", "--json")
    assert (document["model"], document["symmetrize"], document["trained_on"]) == ("ibm1", "intersection", 6)
    (found,) = read_alignments(tmp_path / "new.align")
    assert {(2, 0), (3, 1)} <= set(found)


def test_a_corpus_is_learned_from(call: Callable[..., Any], texts: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "new.en").write_text("it is the house\n")
    (tmp_path / "new.de").write_text("das Haus ist es\n", encoding="utf-8")
    options = ("--corpus", *texts, "--corpus", *texts, "--model", "ibm1", "--symmetrize", "intersection", "--json")
    document = call("new.en", "new.de", "-o", "new.align", *options)
    assert document["trained_on"] == 13
    (found,) = read_alignments(tmp_path / "new.align")
    assert {(2, 0), (3, 1)} <= set(found)


def test_files_of_another_program_are_merged_and_compared(
    call: Callable[..., Any], texts: tuple[Path, Path], tmp_path: Path
) -> None:
    lines = [*LINKS[:6], "0-0"]
    (tmp_path / "forward").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "backward").write_text("".join(f"{line}\n" for line in LINKS))
    (tmp_path / "gold").write_text("".join(f"{line}\n" for line in LINKS))
    options = ("--backend", "pharaoh", "--forward", "forward", "--backward", "backward", "--gold", "gold")
    printed = call(*texts, "-o", "out.align", *options, "--symmetrize", "intersection")
    assert (tmp_path / "out.align").read_text().splitlines() == lines
    assert printed.out == "against 18 gold links: precision 1.000, recall 0.833, F 0.909\n"
    document = call(*texts, "-o", "out.align", *options, "--json")
    assert document["agreement"] == {"found": 18, "given": 18, "both": 18, "precision": 1.0, "recall": 1.0, "f": 1.0}


def test_raw_text_is_tokenised_and_the_words_are_written(call: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    (tmp_path / "a").write_text("It's old.\n")
    (tmp_path / "b").write_text("C'est vieux.\n")
    options = ("--tokenize", "moses", "-l", "en-fr", "--tokens", "a.tok", "b.tok", "--model", "ibm1", "--save", "m")
    assert call("a", "b", "-o", "out", *options, "--json")["tokenize"] == "moses"
    assert [(tmp_path / name).read_text() for name in ("a.tok", "b.tok")] == ["It 's old .\n", "C' est vieux .\n"]
    call("a", "b", "-o", "out", "--load", "m", "--tokens", "a.2", "b.2")  # as it was when the model was trained
    assert (tmp_path / "b.2").read_text() == "C' est vieux .\n"


REFUSED = {
    "--backend thott": "unknown alignment backend 'thott'",
    "--symmetrize grow": "'grow' is not one of",
    "--model giza": "unknown model 'giza' of backend 'thot'",
    "--tokenize moses -l french": "-l french: two languages are needed, such as en-fr",
    "--backend pharaoh": "backend 'pharaoh' reads alignments: name the file",
    "--backend pharaoh --forward missing": "missing: no such file",
    "--backend pharaoh --forward text.en --save m": "has nothing to save",
    "--backend pharaoh --forward text.en --corpus text.en text.de": "learns nothing: it has no use for a corpus",
    "--forward text.en": "--forward and --backward name alignments to read and need --aligner pharaoh",
    "--load nowhere": "nowhere: no such folder. Create one with: anaphora align … --save FOLDER.",
    "--load nowhere --model hmm": "--model cannot be combined with --aligner-model",
    "--load nowhere --corpus text.en text.de": "--corpus cannot be combined with --aligner-model",
    "--load nowhere --tokenize none": "--tokenize cannot be combined with",
    "--load nowhere --no-normalize": "--no-normalize-text cannot be combined with",
    "--save .": ".: already exists and is not a saved alignment model. Choose another folder.",
    "--corpus text.en short": "short: 1 lines, but text.en has 7",
    "--gold text.en": "text.en: line 1: not an alignment point: 'the'",
}


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize("options", REFUSED)
def test_what_is_refused(refused: Callable[..., str], tmp_path: Path, options: str) -> None:
    (tmp_path / "short").write_text("one\n")
    assert REFUSED[options] in refused("align", "text.en", "text.de", "-o", "out.align", *options.split())
    assert not (tmp_path / "out.align").exists()


@pytest.mark.usefixtures("texts")
def test_files_that_do_not_belong_together(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "short").write_text("one\n")
    assert refused("align", "text.en", "short", "-o", "out").startswith(
        "short: 1 lines, but text.en has 7. They belong"
    )
    assert refused("align", "missing", "text.en", "-o", "out") == "missing: no such file"


@pytest.mark.usefixtures("texts")
def test_a_backend_that_is_not_installed(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend, "BACKENDS", Registry("alignment backend", {"thot": "no_such:X"}, {"thot": "align"}))
    message = refused("align", "text.en", "text.de", "-o", "out")
    assert message.endswith('which is not installed. Install it with: pip install "anaphora[align]"')


def test_a_model_of_another_backend(refused: Callable[..., str], call: Callable[..., Any], texts: object) -> None:
    call("text.en", "text.de", "-o", "out", "--model", "ibm1", "--save", "m")
    message = refused("align", "text.en", "text.de", "-o", "out", "--load", "m", "--backend", "builtin")
    assert message == "m: a model of backend 'thot', not 'builtin'. Apply it with --aligner thot."


def test_plain_text_is_tokenized_and_signs_are_one(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "raw.en").write_text("It’s the house.\nThe book, please!\n", encoding="utf-8")
    (tmp_path / "raw.de").write_text("Es ist das&#32;Haus.\nDas Buch, bitte!\n", encoding="utf-8")
    document = call("raw.en", "raw.de", "-o", "raw.align", "--tokens", "tok.en", "tok.de", "--json")
    assert (tmp_path / "tok.en").read_text() == "It 's the house .\nThe book , please !\n"
    assert (tmp_path / "tok.de").read_text() == "Es ist das Haus .\nDas Buch , bitte !\n"
    assert document["tokenize"] == "moses"
    assert document["texts"]["raw.en"]["normalized"] == {"’": 1}
    assert "|tok:moses|norm:signs|" in document["signature"]
    printed = call("raw.en", "raw.de", "-o", "raw.align").err
    assert "tokenized with Moses, and indices count its tokens. Write them with --tokens SRC TGT" in printed
    assert "normalized: raw.en 1 ’; raw.de 1 &#32;" in printed
    printed = call("raw.en", "raw.de", "-o", "raw.align", "--tokenize", "none").err
    assert "3 of 6 words of raw.de still carry punctuation" in printed


def test_given_links_count_the_words_of_the_files(call: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "raw.en").write_text("It’s the house.\n", encoding="utf-8")
    (tmp_path / "raw.de").write_text("Es ist das Haus.\n", encoding="utf-8")
    (tmp_path / "given").write_text("0-0 1-2 2-3\n")
    printed = call("raw.en", "raw.de", "-o", "out", "--backend", "pharaoh", "--forward", "given", "--gold", "given")
    assert (tmp_path / "out").read_text() == "0-0 1-2 2-3\n"
    assert "2 of 3 words of raw.en, 1 of 4 words of raw.de still carry punctuation" in printed.err
