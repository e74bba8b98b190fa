"""A loss of power after a command has ended, or has said that something is done, loses nothing: seen by strace.

Every file is synced after the last write to it and before it is renamed, and the folder after the rename, before
anything is said on stdout or stderr.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import warm

PRETRAINED = Path(sys.modules["anaphora"].__path__[0]) / "demo" / "pretrained"
CALLS = "fsync,fdatasync,rename,renameat,renameat2,write,pwrite64,writev,ftruncate,unlink,unlinkat"
FD = re.compile(r"(fsync|fdatasync|write|pwrite64|writev|ftruncate)\((\d+)<([^>]*)>")
NAMES = re.compile(r'(?:AT_FDCWD(?:<[^>]*>)?, )?"([^"]*)"')
Event = tuple[str, ...]


# the command stops until it is traced, which a kernel may allow its parents only (Yama)
STOPPED = """
import ctypes, os, signal
PR_SET_PTRACER, ANY = 0x59616D61, ctypes.c_ulong(-1)
ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANY, 0, 0, 0)
os.kill(os.getpid(), signal.SIGSTOP)
from anaphora.cli import main
main()
"""


def trace(folder: Path, *arguments: str | Path) -> list[Event]:
    """Run a command, warm; what it and its workers wrote, synced, renamed and said, in order."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    log = folder.with_name(f"{folder.name}.strace")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = warm.start("python", "-c", STOPPED, *map(str, arguments), cwd=folder, **pipes)
    pid = command.pid_of_command
    options = ["-f", "-y", "-qq", "-e", f"trace={CALLS}", "-o", str(log), "-p", str(pid)]
    try:
        wait_until(lambda: status(pid, "State").startswith("T"))
        with subprocess.Popen(["strace", *options], stderr=subprocess.PIPE, text=True) as strace:
            wait_until(lambda: strace.poll() is not None or status(pid, "TracerPid") != "0")
            if strace.returncode is not None:
                assert strace.stderr is not None
                assert "PTRACE" in (message := strace.stderr.read()), message
                pytest.skip("processes cannot be traced here")
            command.send_signal(signal.SIGCONT)
            output = command.communicate()
    finally:
        if command.poll() is None:
            command.send_signal(signal.SIGKILL)
            command.communicate()
    assert command.returncode == 0, output
    return list(events(log, folder))


def status(pid: int, name: str) -> str:
    """What the kernel says of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(value.strip() for key, _, value in (line.partition(":") for line in lines) if key == name)


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.005)


def events(log: Path, folder: Path) -> Iterator[Event]:
    begun: dict[str, str] = {}
    for line in log.read_text(errors="replace").splitlines():
        pid, _, call = line.partition(" ")
        call = call.strip()
        if call.endswith("<unfinished ...>"):
            begun[pid] = call.removesuffix("<unfinished ...>")
            continue
        if call.startswith("<..."):
            call = begun.pop(pid, "") + call.partition("resumed>")[2]
        if " = -1 " in call:
            continue
        if actual := FD.match(call):
            kind, handle, path = actual.groups()
            if kind in ("fsync", "fdatasync"):
                yield "sync", path
            elif handle in ("1", "2"):
                yield "say", path
            else:
                yield "write", path
        elif call.startswith(("rename", "unlink")):
            names = [str(folder / name) for name in NAMES.findall(call)]
            yield (call[:6], *names)


def check(seen: list[Event], folder: Path) -> tuple[list[str], list[str]]:
    """The files under the folder that were renamed, and what is wrong: nothing, if all goes well."""
    dirty: set[str] = set()  # written, and not synced
    unsynced: dict[str, str] = {}  # a folder with a name that is not synced → that name
    renamed, wrong = [], []
    inside = f"{folder}/"
    for kind, *names in seen:
        if kind == "write" and names[0].startswith(inside):
            dirty.add(names[0])
        elif kind == "sync":
            dirty.discard(names[0])
            unsynced.pop(names[0], None)
        elif kind == "unlink":
            dirty.discard(names[0])
        elif kind == "rename" and names[1].startswith(inside):
            source, target = names
            moved = {path for path in dirty if path == source or path.startswith(f"{source}/")}
            dirty = (dirty - moved) | {target + path.removeprefix(source) for path in moved}
            if not any(part.startswith(".") for part in Path(target).relative_to(folder).parts):  # nobody's name yet
                wrong += [f"{path} was renamed before it was synced" for path in sorted(moved)]
                unsynced[str(Path(target).parent)] = target
                renamed.append(target)
        elif kind == "say":
            wrong += [f"{path}: something was said before its folder was synced" for path in unsynced.values()]
    wrong += [f"{path}: the folder was not synced" for path in unsynced.values()]
    wrong += [f"{path}: the end was not synced" for path in dirty if Path(path).exists() and not path.endswith(".lock")]
    return renamed, wrong


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    """The check itself, on what a careless program does."""
    part, file, other = f"{tmp_path}/.x.part", f"{tmp_path}/x", f"{tmp_path}/other"
    good = [("write", part), ("sync", part), ("rename", part, file), ("sync", str(tmp_path)), ("say", "/dev/tty")]
    assert check(good, tmp_path) == ([file], [])
    assert check([good[0], *good[2:]], tmp_path)[1] == [f"{part} was renamed before it was synced"]
    assert check([*good[:2], good[0], *good[2:]], tmp_path)[1] == [f"{part} was renamed before it was synced"]
    assert check([*good[:3]], tmp_path)[1] == [f"{file}: the folder was not synced"]
    said_early = check([*good[:3], good[4], good[3]], tmp_path)[1]
    assert said_early == [f"{file}: something was said before its folder was synced"]
    Path(other).touch()
    assert check([("write", other)], tmp_path)[1] == [f"{other}: the end was not synced"]
    in_folder = [("write", f"{part}/a"), ("rename", part, file), ("sync", str(tmp_path))]
    assert check(in_folder, tmp_path)[1] == [f"{part}/a was renamed before it was synced"]


Anaphora = Callable[..., object]


def texts(folder: Path) -> None:
    for side in ("en", "de"):
        lines = [f"{word} {position} ." for word in ("one", "two", "three", "four") for position in range(30)]
        (folder / f"a.{side}").write_text("\n".join(lines) + "\n")
    (folder / "answer.py").write_text("import sys\nfor line in sys.stdin: print(-len(line), flush=True)")


def assert_synced(folder: Path, *arguments: str | Path, renamed: set[str]) -> None:
    actual, wrong = check(trace(folder, *arguments), folder)
    assert wrong == []
    assert renamed <= {str(Path(path).relative_to(folder)) for path in actual}


def test_score(suite: Path, scores: Path, tmp_path: Path) -> None:
    texts(tmp_path)
    system = f"command:{sys.executable} answer.py"
    assert_synced(tmp_path, "score", suite, "--system", system, "-o", "run", renamed={"run/run.jsonl"})
    assert_synced(tmp_path, "score", suite, "--system", f"scores:{scores}", "-o", "i", renamed={"i/run.jsonl"})


def test_convert_report_and_study(anaphora: Anaphora, suite: Path, scores: Path, tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    assert_synced(tmp_path, "suites", "convert", suite, "--from", "native", "-o", "s.jsonl", renamed={"s.jsonl"})
    anaphora("score", suite, "--system", f"scores:{scores}", "-o", "run")
    assert_synced(tmp_path, "report", "run", "-o", "page.html", renamed={"page.html"})
    assert_synced(tmp_path, "study", "create", suite, "-o", "study", "--annotators", "a,b", renamed={"study"})


def test_align_saved(tmp_path: Path) -> None:
    texts(tmp_path)
    files = ["a.en", "a.de", "-o", "a.align", "--save", "model"]
    assert_synced(tmp_path, "align", *files, renamed={"a.align", "model"})


def test_translate(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    (tmp_path / "in.en").write_text("The cat ate the egg .\nIt was hungry .\n")
    system = f"nmt:{PRETRAINED / 'sentence-level'}"
    command = ["translate", "--system", system, "-i", "in.en", "-o", "out.de", "--beams", "1"]
    assert_synced(tmp_path, *command, renamed={"out.de", "out.de.part"})


@pytest.mark.parametrize("preset", ["transformer-baseline-laptop", "rnn-baseline-laptop"])
def test_train(tmp_path: Path, preset: str) -> None:
    """One architecture that is written as Hugging Face does, one that is not."""
    pytest.importorskip("transformers")
    pytest.importorskip("sentencepiece")
    texts(tmp_path)
    values = {"data.source": "a.en", "data.target": "a.de", "vocabulary.size": 60}
    values |= {"training.save_every": 1, "training.report_every": 1, "training.updates": 2}
    more = [word for key, value in values.items() for word in ("--set", f"{key}={value}")]
    places = {"m/model.safetensors", "m/config.toml", *(f"m/checkpoints/update-0000000{n}" for n in (1, 2))}
    assert_synced(tmp_path, "train", preset, "-o", "m", *more, "--threads", "1", renamed=places)


def test_measure(anaphora: Anaphora, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    anaphora("measure", "example", "made-up")
    pairs = ["-r", "made-up/reference.en", "-t", "made-up/first.en", "-l", "de-en", "-o", "made-up/pairs.jsonl"]
    assert_synced(tmp_path, "measure", "pairs", *pairs, renamed={"made-up/pairs.jsonl"})
    few = ["--set", "training.epochs=1", "-o", "m", "--threads", "1"]
    assert_synced(tmp_path, "measure", "train", "made-up/measure.toml", *few, renamed={"m"})


def test_mine(pipeline: Callable[[str], str], tmp_path: Path) -> None:
    for side, text in (("en", "Where is the cup?\nIt is old.\n\n"), ("de", "Wo ist die Tasse?\nSie ist alt.\n\n")):
        (tmp_path / f"x.{side}").write_text(text * 5)
    (tmp_path / "x.align").write_text("0-0 1-1 2-2 3-3\n0-0 1-1 2-2\n\n" * 5)
    command = ["build", "mine", "--source", "x.en", "--target", "x.de", "-l", "en-de", "-o", "mined.jsonl"]
    specs = ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de"), "--alignments", "x.align"]
    places = {"mined.jsonl", "mined.jsonl.work/extract/000000.jsonl.gz", "mined.jsonl.work/read/index.json"}
    assert_synced(tmp_path, *command, *specs, "--workers", "1", renamed=places)
