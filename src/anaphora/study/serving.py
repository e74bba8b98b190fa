"""Run the server of a study: bind the port, announce the links, serve until stopped, close the database."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TypeVar

from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import shown
from anaphora.study.model import read_links, read_study
from anaphora.study.store import open_log

BACKLOG = 256  # connections that wait to be accepted
Listener = TypeVar("Listener", bound=socket.socket)


@dataclass(frozen=True, slots=True)
class Links:
    """The addresses of the pages."""

    url: str
    admin: str
    annotators: Mapping[str, str]

    @classmethod
    def of(cls, base: str, admin: str, tokens: Mapping[str, str]) -> Links:
        base = base.rstrip("/")
        return cls(base, f"{base}/admin/{admin}", {name: f"{base}/a/{token}" for name, token in tokens.items()})

    def to_dict(self) -> dict[str, Any]:
        return {"url": self.url, "admin": self.admin, "annotators": dict(self.annotators)}


def serve(
    folder: Path,
    *,
    host: str,
    port: int,
    database: str | None = None,
    base_url: str | None = None,
    announce: Callable[[Links], None] = lambda links: None,
) -> None:
    """Serve a study until the process is stopped. Port 0 takes a free port; `announce` is called once it is open.

    SIGTERM, which systemd, Docker and `kill` send, ends the process as Ctrl-C does: requests are answered and the
    database is closed.
    """
    try:
        import uvicorn

        from anaphora.study.middleware import LimitedListener, TimedProtocol, connection_limit
        from anaphora.study.server import StudyService, make_app
    except ModuleNotFoundError as error:
        problem = f"the study server needs {error.name}, which is not installed"
        raise AnaphoraError(f'{problem}. Install it with: pip install "anaphora[study]"') from None
    study = read_study(folder)
    admin, tokens = read_links(folder, study)
    with (
        terminated_at_the_end(),
        contextlib.closing(open_log(study, folder, database)) as log,
        bound(host, port, LimitedListener) as listening,
    ):
        shown = f"[{host}]" if ":" in host else host
        base = base_url or f"http://{shown}:{listening.getsockname()[1]}"
        app = make_app(StudyService(study, admin, tokens, log))
        # no access log, which would contain the links; no warnings, with which any client could fill the disk;
        # one process, whose threads share one connection
        config = uvicorn.Config(
            app,
            http=TimedProtocol,
            ws="none",
            loop="asyncio",
            lifespan="off",
            backlog=BACKLOG,
            log_level="error",
            access_log=False,
            server_header=False,
        )

        class Server(uvicorn.Server):
            async def startup(self, sockets: list[socket.socket] | None = None) -> None:
                """Announce the study once signals are handled, so that Ctrl-C ends it as it should from then on."""
                await super().startup(sockets)
                announce(Links.of(base, admin, tokens))

        server = Server(config)
        listening.limit, listening.connections = connection_limit(), server.server_state.connections
        server.run(sockets=[listening])


class _Terminated(BaseException):
    """SIGTERM was received. Like KeyboardInterrupt it is not an error to handle."""


@contextlib.contextmanager
def terminated_at_the_end() -> Iterator[None]:
    """Let SIGTERM unwind the block, so that everything in it is closed, before it ends the process.

    By default it ends the process at once; uvicorn handles it while it serves, and then raises it again.
    """
    if threading.current_thread() is not threading.main_thread():  # signals come to the main thread only
        yield
        return

    def unwind(number: int, frame: FrameType | None) -> NoReturn:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb the closing
        raise _Terminated

    before = signal.signal(signal.SIGTERM, unwind) or signal.SIG_DFL
    try:
        yield
    except _Terminated:
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def bound(host: str, port: int, kind: Callable[[int], Listener]) -> Listener:
    """Return a listening socket, or raise an error that says why there is none."""
    if not host.strip():  # a socket would listen on all addresses
        raise AnaphoraError("--host is empty. Name an address, for example 127.0.0.1, or 0.0.0.0 for all")
    listening = kind(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL byte or an empty part
        listening.close()
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "not an address"
        raise AnaphoraError(
            f"{shown(host)[1:-1]}:{port} cannot be served: {why}. Choose another with --port or --host"
        ) from None
    return listening
