"""Commands in processes that start warm: a server imports everything once, and forks a process for each command.

Most of the time of a short command is the import of torch, transformers or spaCy. Tests that run many commands as a
user does, in a shell and in processes of their own, call them through this server:

    python tests/warm.py serve SOCKET PID                  forks for each call, until the process PID has ended
    python -I -S tests/warm.py SOCKET anaphora --version   calls: same folder, environment, streams and exit code

A test of the start itself (light imports, signals, a lack of memory) starts a process of its own instead.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from typing import Any

PID, SESSION = "WARM_PID", "WARM_SESSION"  # a file to write the process id to; whether to start a session
LONGEST = 1 << 24  # bytes of a call: its arguments and its environment


def client() -> list[str]:
    """The words to put before a command, such as `anaphora --version`, so that it runs warm.

    The server is started by the first that asks in a test run, whichever worker of pytest-xdist that is.
    """
    import fcntl
    import subprocess
    import tempfile
    from pathlib import Path

    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = Path(tempfile.gettempdir()) / f"warm-{run[:12] if run else os.getpid()}"  # sockets need short names
    folder.mkdir(mode=0o700, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = folder / "socket"
        if not path.exists():
            owner = os.getppid() if run else os.getpid()
            command = [sys.executable, __file__, "serve", str(path), str(owner)]
            with (folder / "log").open("wb") as log:
                server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, close_fds=True)
            while not path.exists():
                try:
                    server.wait(0.05)
                except subprocess.TimeoutExpired:
                    continue
                raise RuntimeError((folder / "log").read_text())
            server.returncode = 0  # it ends after this process, which need not wait for it
    return [sys.executable, "-I", "-S", __file__, str(path)]


def start(*command: str, new_session: bool = False, env: dict[str, str] | None = None, **options: Any) -> Any:
    """Start a command as `subprocess.Popen` does, but warm; `pid` and signals are those of the command itself.

    A command that a signal has ended has the return code that `subprocess` gives it: −9 after SIGKILL.
    """
    import contextlib
    import subprocess
    import tempfile
    import time
    from pathlib import Path

    class Warm(subprocess.Popen[Any]):
        def send_signal(self, sig: int) -> None:
            with contextlib.suppress(ProcessLookupError):  # as in `subprocess`: it has ended
                os.kill(self.pid_of_command, sig)

        @property
        def pid_of_command(self) -> int:
            return int(address.read_text())

    words = client()
    with tempfile.NamedTemporaryFile(dir=Path(words[-1]).parent, delete=False) as file:  # removed with the server
        address = Path(file.name)
    wishes = {PID: str(address), **({SESSION: "1"} if new_session else {})}
    actual = Warm([*words, *command], env={**(os.environ if env is None else env), **wishes}, **options)
    while not address.read_text().endswith("\n"):
        assert actual.poll() is None, "the server of warm processes does not answer"
        time.sleep(0.005)
    return actual


def call(path: str, arguments: list[str]) -> int:
    """Have a command run by the server, on the streams of this process; returns its exit code, −9 after SIGKILL."""
    call = ["\0".join(arguments), os.getcwd(), "\0".join(f"{key}={value}" for key, value in os.environ.items())]
    message = "\1".join(call).encode("utf-8", "surrogateescape")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        socket.send_fds(connection, [b"%16d" % len(message)], [0, 1, 2])
        connection.sendall(message)
        answer = connection.makefile("rb").read()
    return int(answer or 70)  # no answer: the process was killed


def serve(path: str, owner: int) -> None:
    """Import everything, then fork for each call as long as the owner lives."""
    import shutil

    preload()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that answer
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path + ".new")
        server.listen(64)
        server.settimeout(1)
        os.rename(path + ".new", path)  # from now on
        while alive(owner):
            try:
                connection, _ = server.accept()
            except TimeoutError:
                continue
            connection.settimeout(None)
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                signal.signal(signal.SIGINT, signal.default_int_handler)
                server.close()
                answer(connection)
            connection.close()
    shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def alive(owner: int) -> bool:
    try:
        os.kill(owner, 0)
    except OSError:
        return False
    return True


def answer(connection: socket.socket) -> None:
    """Run the command of a call in a child process, and say how it ended."""
    length, streams, _, _ = socket.recv_fds(connection, 16, 3)
    with connection.makefile("rb") as file:
        message = file.read(min(int(length), LONGEST)).decode("utf-8", "surrogateescape")
    command, folder, variables = (part.split("\0") for part in message.split("\1"))
    child = os.fork()
    if child == 0:
        connection.close()
        for position, stream in enumerate(streams):
            os.dup2(stream, position)
            os.close(stream)
        os.environ.clear()
        os.environ.update(variable.split("=", 1) for variable in variables)
        os.chdir(folder[0])
        if os.environ.pop(SESSION, ""):
            os.setsid()
        if address := os.environ.pop(PID, ""):
            with open(address, "w") as file:
                file.write(f"{os.getpid()}\n")
        leave(run(command))
    for stream in streams:
        os.close(stream)
    _, status = os.waitpid(child, 0)
    connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def run(command: list[str]) -> int:
    """Run `anaphora …`, or Python as `python -c …`, `python -m …` or `python FILE …`."""
    import runpy
    import traceback
    import types

    open_streams()
    program, *rest = command
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:0] = [os.getcwd(), *(part for part in paths if part and part not in sys.path)]
    try:
        if program == "anaphora":
            sys.argv = ["anaphora", *rest]
            runpy.run_module("anaphora", run_name="__main__", alter_sys=True)
        elif rest[0] == "-c":
            sys.argv = ["-c", *rest[2:]]
            main = sys.modules["__main__"] = types.ModuleType("__main__")
            exec(compile(rest[1], "<string>", "exec"), main.__dict__)
        elif rest[0] == "-m":
            sys.argv = rest[1:]
            runpy.run_module(rest[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = rest
            runpy.run_path(rest[0], run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else bool(end.code)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def open_streams() -> None:
    """Standard streams as Python opens them when it starts."""
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    for name, descriptor, errors in (("stdout", 1, "strict"), ("stderr", 2, "backslashreplace")):
        lines = descriptor == 2 or os.isatty(descriptor)
        stream = open(descriptor, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1 if lines else -1)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def leave(code: int) -> None:
    """End this process as Python does, but for the slow part: modules are not taken apart."""
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = code or 120
    os._exit(code & 255)


def preload() -> None:
    """Import all of the package, and what it imports only when it is used."""
    import importlib
    import pkgutil
    from contextlib import suppress

    import anaphora

    names = [actual.name for actual in pkgutil.walk_packages(anaphora.__path__, "anaphora.")]
    names = [name for name in names if not name.endswith("__main__")]
    extras = ("sacrebleu", "sacremoses", "sentencepiece", "spacy", "peft", "ray", "rich.progress", "rich.table")
    for name in (*names, *extras):
        with suppress(ImportError):  # an extra that is not installed
            importlib.import_module(name)
    with suppress(ImportError):
        import transformers

        for name in ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoTokenizer", "LlamaForCausalLM"):
            getattr(transformers, name)  # imports it
        _ = transformers.MarianMTModel, transformers.MarianTokenizer


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        code = call(sys.argv[1], sys.argv[2:])
        if code < 0:  # end as the command did
            if code != -signal.SIGKILL:
                signal.signal(-code, signal.SIG_DFL)
            os.kill(os.getpid(), -code)
        sys.exit(code)
