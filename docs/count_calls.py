"""Count the source files and functions that a command enters: `python docs/count_calls.py` prints the table.

The table is part of docs/architecture.md. Imports and class bodies do not count, nor does what other processes do.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

import anaphora
from anaphora.cli import main

ROOT = Path(__file__).resolve().parents[1]
SOURCE = str(Path(anaphora.__file__).parent) + os.sep
sys.path.insert(0, str(ROOT))

SENTENCES = {
    "en": ("I saw the cup/NOUN .", "It/PRON broke ."),
    "de": ("Ich sah die/DET/Fem Tasse/NOUN/Fem .", "Sie/PRON/Fem zerbrach ."),
}


def counted(arguments: list[str]) -> tuple[int, int]:
    """The number of files and of functions of the package that a command enters."""
    entered: set[tuple[str, str, int]] = set()

    def enter(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_flags & CO_OPTIMIZED
            and code.co_filename.startswith(SOURCE)
            and not code.co_name.startswith("<")
        ):
            entered.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            main(arguments)
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"anaphora {' '.join(arguments)}: {errors.getvalue()}") from end
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len({file for file, *_ in entered}), len(entered)


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands that are counted, on inputs made in a folder."""
    from tests.tiny_models import demo_sentences, make_marian

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(["demo", "--stand-ins", "-o", str(folder / "demo")])
    (folder / "marian").mkdir()
    make_marian(folder / "marian", demo_sentences())
    suite, runs = folder / "demo/suite.jsonl", [str(path) for path in sorted((folder / "demo/runs").iterdir())]
    texts = {"s": "It is here .\n", "r": "Il est là .\n", "t": "Elle est là .\n", "a": "0-0 1-1 2-2 3-3\n"}
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    mining, training = corpus(folder), parallel(folder)
    score = ["score", str(suite), "--limit", "20"]
    return {
        "score --system scores:": ["score", str(suite), "--system", f"scores:{folder}/demo/context-aware.scores"],
        "score --system hf:": [*score, "--system", f"hf:{folder}/marian", "--workers", "1"],
        "evaluate RUN": ["evaluate", runs[0]],
        "compare RUN RUN": ["compare", *runs],
        "report RUN RUN": ["report", *runs, "-o", str(folder / "report.html")],
        "apt": [
            *("apt", "-l", "en-fr", "-s", str(folder / "s"), "-r", str(folder / "r"), "-t", str(folder / "t")),
            *("--ref-align", str(folder / "a"), "--hyp-align", str(folder / "a")),
        ],
        "build mine": ["build", "mine", *mining, "--workers", "1"],
        "train": ["train", *training, "--threads", "1"],
    }


def corpus(folder: Path) -> list[str]:
    """Two sentence pairs, annotated and aligned by hand."""
    options = ["-l", "en-de", "--alignments", str(folder / "mine.align")]
    (folder / "mine.align").write_text("0-0 1-1 2-2 3-3 4-4\n0-0 1-1 2-2\n", encoding="utf-8")
    for side, (code, sentences) in zip(("source", "target"), SENTENCES.items(), strict=True):
        rows = [[word.split("/") for word in sentence.split()] for sentence in sentences]
        text = "".join(" ".join(word[0] for word in row) + "\n" for row in rows)
        (folder / f"mine.{code}").write_text(text, encoding="utf-8")
        annotated = "\n".join("".join(token(n, word) for n, word in enumerate(row, 1)) for row in rows)
        (folder / f"mine.{code}.conllu").write_text(annotated, encoding="utf-8")
        options += [f"--{side}", str(folder / f"mine.{code}")]
        options += [f"--annotate-{side}", f"conllu:{folder}/mine.{code}.conllu"]
    return options


def token(number: int, word: list[str]) -> str:
    form, upos, gender = (*word, "X", "")[:3] if len(word) < 3 else word
    features = f"Gender={gender}|Number=Sing" if gender else "Number=Sing" if upos == "NOUN" else "_"
    head, relation = (0, "root") if number == 2 else (2, "nsubj" if upos == "PRON" else "obj")
    return f"{number}\t{form}\t{form.lower()}\t{upos}\t_\t{features}\t{head}\t{relation}\t_\t_\n"


def parallel(folder: Path) -> list[str]:
    from tests.tiny_models import demo_sentences

    lines = demo_sentences()[:40]
    for code in SENTENCES:
        (folder / f"train.{code}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    settings = {"data.source": folder / "train.en", "data.target": folder / "train.de", "vocabulary.size": 120}
    settings |= {"training.updates": 2}
    return [
        "transformer-concat22-laptop",
        *(word for key, value in settings.items() for word in ("--set", f"{key}={value}")),
    ]


def table(count: Callable[[list[str]], tuple[int, int]] = counted) -> str:
    lines = ["| command | files | functions |", "|---|--:|--:|"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, (label, arguments) in enumerate(commands(folder).items()):
            output = [] if "-o" in arguments or arguments[0] in ("evaluate", "compare", "apt") else ["-o"]
            files, functions = count([*arguments, *output, *([str(folder / f"output-{number}")] if output else [])])
            lines.append(f"| `{label}` | {files} | {functions} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())  # noqa: T201
