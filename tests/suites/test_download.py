"""Downloads happen over bad lines: what a user gets under the final name is the right file, or nothing and a way out.

Everything here runs against a real HTTP server on this machine that misbehaves as told.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import random
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from email.message import Message
from http.client import HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites import download
from anaphora.suites import download as archive_module
from anaphora.suites.download import extract, fetch
from tests.memory import PRINT_PEAK

CONTENT = bytes(range(256)) * 40
SHA = hashlib.sha256(CONTENT).hexdigest()
OTHER = CONTENT[::-1]


class Handler(BaseHTTPRequestHandler):
    """Answers as the server's script says, and well when the script is over."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(dict(self.headers.items()) | {"path": self.path})
        step = self.server.script.popleft() if self.server.script else serve()
        step(self)

    def send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    """What was asked is in `asked`; what to answer next is in `script`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, str]] = []
        self.script: deque[Step] = deque()
        self.over = threading.Event()
        self.content, self.etag = CONTENT, '"one"'

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data.json"

    def handle_error(self, *args: Any) -> None:  # a client that hangs up is no news here
        pass


Step = Callable[[Handler], None]


def serve(cut: int | None = None, ranges: bool = True, has_length: bool = True) -> Step:
    """A good answer, but cut after N bytes, or without support for ranges, or without telling the length."""

    def step(handler: Handler) -> None:
        server = handler.server
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", "")) if ranges else None
        same = handler.headers.get("If-Range", server.etag) == server.etag
        start = int(asked[1]) if asked and same else 0
        body = server.content[start:]
        if asked and same and not body:
            handler.send(416)
            return
        handler.send_response(206 if asked and same else 200)
        if server.etag:
            handler.send_header("ETag", server.etag)
        if asked and same:
            handler.send_header("Content-Range", f"bytes {start}-{len(server.content) - 1}/{len(server.content)}")
        if has_length:
            handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[:cut])

    return step


def say(status: int, body: bytes = b"", **headers: str) -> Step:
    return lambda handler: handler.send(status, body, **headers)


def stall(handler: Handler) -> None:
    """Say nothing until the test is over."""
    handler.server.over.wait(10)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch, Server() as server:
        patch.setenv("no_proxy", "*")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


def reset(server: Server, *script: Step) -> Server:
    server.asked, server.script, server.content, server.etag = [], deque(script), CONTENT, '"one"'
    return server


@pytest.fixture
def server(running: Server) -> Server:
    return reset(running)


@pytest.fixture
def goal(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "data.json"


def get(server: Server, goal: Path, **options: Any) -> str:
    """Fetch without ever sleeping."""
    return fetch(server.url, goal, **{"sha256": SHA, "sleep": lambda _: None, **options})


def names(goal: Path) -> list[str]:
    return sorted(path.name for path in goal.parent.iterdir()) if goal.parent.is_dir() else []


# A file that arrives


def test_a_file_is_fetched_whole_and_nothing_else_is_left(server: Server, goal: Path) -> None:
    steps: list[tuple[int, int | None]] = []
    digest = get(server, goal, size=len(CONTENT), progress=lambda done, total: steps.append((done, total)))
    assert digest == SHA
    assert goal.read_bytes() == CONTENT
    assert names(goal) == ["data.json"]
    assert steps == sorted(steps)
    assert steps[-1] == (len(CONTENT), len(CONTENT))
    assert server.asked[0]["Accept-Encoding"] == "identity"


def test_a_correct_existing_file_is_not_requested(server: Server, goal: Path) -> None:
    get(server, goal)
    assert get(server, goal) == SHA
    assert get(server, goal, sha256=None) == SHA  # unknown: what has its final name was complete
    assert len(server.asked) == 1


@pytest.mark.parametrize("known", [{"sha256": SHA}, {"sha256": None, "size": len(CONTENT)}], ids=["hash", "size"])
def test_a_file_that_is_there_but_wrong_is_replaced(server: Server, goal: Path, known: dict[str, Any]) -> None:
    goal.parent.mkdir()
    goal.write_bytes(b"something else")
    get(server, goal, **known)
    assert goal.read_bytes() == CONTENT


def test_a_file_of_unknown_hash_and_length_is_accepted(server: Server, goal: Path) -> None:
    server.script.append(serve(has_length=False))
    assert get(server, goal, sha256=None) == SHA


# A connection that is cut


def test_a_cut_download_is_tried_again_and_leaves_nothing(server: Server, goal: Path) -> None:
    server.script.append(serve(cut=1000))
    with pytest.raises(AnaphoraError, match="the connection ended after 1,000 of 10,240 bytes"):
        get(server, goal, retries=0)
    assert names(goal) == []
    server.script.append(serve(cut=1000))
    assert get(server, goal) == SHA
    assert names(goal) == ["data.json"]
    assert not any("Range" in asked for asked in server.asked)


def test_an_answer_cut_in_its_headers_is_no_empty_file(server: Server, goal: Path) -> None:
    server.script.append(lambda handler: handler.wfile.write(b"HTTP/1.0 200 OK\r\nServer: x\r\n") and None)
    assert get(server, goal, sha256=None) == SHA
    assert len(server.asked) == 2


def test_cuts_without_end_are_given_up(server: Server, goal: Path) -> None:
    server.script.extend([serve(cut=100)] * 50)
    with pytest.raises(AnaphoraError, match="after 3 more attempts"):
        get(server, goal, retries=3)
    assert len(server.asked) == 4


def test_a_server_that_falls_silent_is_asked_again(server: Server, goal: Path) -> None:
    server.script.append(stall)
    assert get(server, goal, timeout=0.2) == SHA
    assert len(server.asked) == 2


def test_an_answer_shorter_than_the_known_size_is_cut(server: Server, goal: Path) -> None:
    server.script.append(serve(cut=10, has_length=False))
    get(server, goal, size=len(CONTENT))
    assert goal.read_bytes() == CONTENT
    assert len(server.asked) == 2


def test_a_cut_within_a_chunked_answer_is_noticed(server: Server, goal: Path) -> None:
    def chunked(handler: Handler) -> None:
        handler.protocol_version = "HTTP/1.1"
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"100\r\n" + CONTENT[:17])
        handler.close_connection = True

    server.script.append(chunked)
    assert get(server, goal) == SHA
    assert len(server.asked) == 2


@settings(max_examples=60)
@given(
    content=st.binary(max_size=400),
    cuts=st.lists(st.tuples(st.integers(0, 400), st.booleans(), st.booleans()), max_size=6),
    marked=st.booleans(),
    known=st.booleans(),
)
def test_any_sequence_of_cuts_ends_with_the_right_bytes(
    running: Server, content: bytes, cuts: list[tuple[int, bool, bool]], marked: bool, known: bool
) -> None:
    """Cuts at any positions, with and without support for ranges, told lengths, ETags and a known hash."""
    reset(running, *(serve(cut, ranges, has_length or not known) for cut, ranges, has_length in cuts))
    running.content, running.etag = content, '"one"' if marked else ""
    digest = hashlib.sha256(content).hexdigest()
    with tempfile.TemporaryDirectory() as folder:
        goal = Path(folder) / "data.json"
        options = {"sha256": digest, "size": len(content)} if known else {"sha256": None}
        assert get(running, goal, retries=len(cuts), **options) == digest
        assert goal.read_bytes() == content
        assert names(goal) == ["data.json"]


# A file that changed meanwhile


def test_a_new_version_is_not_mixed_with_the_old(server: Server, goal: Path) -> None:
    server.script.append(serve(cut=1000))
    with pytest.raises(AnaphoraError):
        get(server, goal, sha256=None, retries=0)
    server.content, server.etag = OTHER, '"two"'
    get(server, goal, sha256=None)
    assert goal.read_bytes() == OTHER


# A file that is wrong


def test_wrong_bytes_are_an_error_and_not_kept(server: Server, goal: Path) -> None:
    server.content = OTHER
    with pytest.raises(AnaphoraError) as error:
        get(server, goal)
    for part in (server.url, SHA, hashlib.sha256(OTHER).hexdigest(), "--from-path"):
        assert part in str(error.value)
    assert names(goal) == []
    assert len(server.asked) == 1  # nothing was resumed: asking again would bring the same


def test_a_wrong_length_is_an_error_before_anything_is_read(server: Server, goal: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"has 10,240 bytes, but 5 are expected.*--from-path"):
        get(server, goal, size=5)
    assert names(goal) == []


def test_a_wrong_length_is_an_error(server: Server, goal: Path) -> None:
    server.script.append(serve(has_length=False))
    with pytest.raises(AnaphoraError, match="it has more than 5 bytes, which is the limit"):
        get(server, goal, sha256=None, size=5)
    assert names(goal) == []


def test_bytes_beyond_the_given_length_are_not_taken(server: Server, goal: Path) -> None:
    begun = threading.Event()

    def chatter(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        handler.wfile.write(CONTENT[:1000])
        begun.wait(10)
        handler.wfile.write(CONTENT[1000:] + b"more")

    server.script.append(chatter)
    get(server, goal, progress=lambda *_: begun.set())
    assert goal.read_bytes() == CONTENT
    assert len(server.asked) == 1


# A server that says no


@pytest.mark.parametrize("status", [403, 404, 410, 451])
def test_a_refusal_is_final_and_names_the_way_out(server: Server, goal: Path, status: int) -> None:
    server.script.append(say(status, b"<html>no</html>"))
    with pytest.raises(AnaphoraError, match=rf"{status}.*anaphora suites get NAME --from-path PATH"):
        get(server, goal)
    assert len(server.asked) == 1
    assert names(goal) == []


def test_a_busy_server_is_asked_again_with_growing_waits(server: Server, goal: Path) -> None:
    waits: list[float] = []
    server.script.extend([say(500), say(502), say(429, Retry_After="7"), say(503, Retry_After="99999")])
    get(server, goal, sleep=waits.append)
    assert waits == [0.5, 1.0, 7.0, download.LONGEST_WAIT]
    assert goal.read_bytes() == CONTENT


def test_a_server_that_stays_busy_is_given_up(server: Server, goal: Path) -> None:
    server.script.extend([say(503)] * 9)
    with pytest.raises(AnaphoraError, match=r"503 Service Unavailable, even after 2 more attempts.*--from-path"):
        get(server, goal, retries=2)
    assert len(server.asked) == 3


def test_a_server_that_stays_silent_is_given_up(server: Server, goal: Path) -> None:
    server.script.extend([stall, stall])
    with pytest.raises(AnaphoraError, match="timed out, even after 1 more attempts"):
        get(server, goal, timeout=0.1, retries=1)


def test_no_network_is_an_error_at_once(goal: Path) -> None:
    with Server() as closed:
        url = closed.url
    with pytest.raises(AnaphoraError, match=r"cannot be reached \(connection refused\).*--from-path"):
        fetch(url, goal, sha256=SHA, sleep=lambda _: pytest.fail("it waited"))


# A server that means harm


def raw(start: bytes, piece: bytes, pause: float = 0.0) -> Step:
    """Says something, and then the same again and again until the client leaves or ten seconds are over."""

    def step(handler: Handler) -> None:
        handler.close_connection = True
        end = time.monotonic() + 10
        with contextlib.suppress(OSError):
            handler.wfile.write(start)
            while time.monotonic() < end:
                handler.wfile.write(piece)
                time.sleep(pause)

    return step


@pytest.mark.parametrize(
    ("start", "piece", "pause"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x", 0.02),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10240\r\n\r\n", b"x", 0.02),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n", 0.02),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0", 0.02),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x", 0.02),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n", 0.02),
        (b"HTTP/1.1 200 OK\r\n", b"X", 0.02),
        (b"HTTP/1.1 ", b"2", 0.02),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.0),
    ],
)
def test_a_drip_ends_by_the_deadline(server: Server, goal: Path, start: bytes, piece: bytes, pause: float) -> None:
    server.script.append(raw(start, piece, pause))
    begun = time.monotonic()
    with pytest.raises(AnaphoraError, match=r"not complete after 0\.5 seconds"):
        get(server, goal, timeout=0.4, deadline=0.5, retries=0)
    assert time.monotonic() - begun < 4
    assert names(goal) == []


def test_a_drip_after_a_redirect_ends_by_the_deadline(server: Server, goal: Path) -> None:
    """The first connection is ended by the deadline, with a whole address to go to."""
    server.script.append(raw(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nX: ", b"y", 0.02))
    server.script.append(raw(b"HTTP/1.1 200 OK\r\nX: ", b"y", 0.02))
    begun = time.monotonic()
    with pytest.raises(AnaphoraError, match=r"not complete after 0\.5 seconds"):
        get(server, goal, timeout=0.4, deadline=0.5, retries=0)
    assert time.monotonic() - begun < 4


def test_what_a_redirect_says_besides_is_not_read(server: Server, goal: Path) -> None:
    """It may have no end, and urllib would read it into memory."""
    server.script.append(raw(b"HTTP/1.1 302 Found\r\nLocation: /data.json\r\n\r\n", b"x", 0.02))
    begun = time.monotonic()
    assert get(server, goal) == SHA
    assert time.monotonic() - begun < 4


def test_a_file_of_unknown_size_is_limited(server: Server, goal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "MAX_SIZE", 1 << 20)
    for start in (b"", b"Content-Length: 99999999\r\n", b"Content-Length: 9" + b"9" * 30 + b"\r\n"):
        server.script.append(raw(b"HTTP/1.1 200 OK\r\n" + start + b"\r\n", b"x" * 65536))
        with pytest.raises(AnaphoraError, match="it has more than 1,048,576 bytes, which is the limit"):
            get(server, goal, sha256=None)
        assert names(goal) == []


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (b"200 OK\r\nContent-Length: 5\r\nContent-Length: 10240", "invalid length"),
        (b"200 OK\r\nContent-Length: 5, 10240", "invalid length"),
        (b"200 OK\r\nContent-Length: +5", "invalid length"),
        (b"200 OK\r\nContent-Length: 1_0", "invalid length"),
        (b"200 OK\r\nContent-Length: -1", "invalid length"),
        (b"200 OK\r\nContent-Encoding: gzip", "compressed .'gzip'., which was not requested"),
        (b"206 Partial Content\r\nContent-Length: 5", "does not send the file, but 206 Partial Content"),
        (b"204 No Content", "does not send the file, but 204 No Content"),
    ],
)
def test_a_part_of_a_file_is_refused(server: Server, goal: Path, head: bytes, problem: str) -> None:
    def step(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 " + head + b"\r\n\r\n" + CONTENT)

    server.script.append(step)
    with pytest.raises(AnaphoraError, match=problem):
        get(server, goal, sha256=None, retries=0)
    assert names(goal) == []


def test_a_length_next_to_chunks_is_ignored(server: Server, goal: Path) -> None:
    def step(handler: Handler) -> None:
        handler.close_connection = True
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        handler.wfile.write(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(CONTENT), CONTENT))

    server.script.append(step)
    assert get(server, goal, sha256=None) == SHA


@pytest.mark.parametrize("size", ["FFFFFFFFFFFFFFFF", "-1", "zz", "", "9" * 100_000])
def test_odd_chunk_sizes_are_one_line(server: Server, goal: Path, size: str) -> None:
    def step(handler: Handler) -> None:
        handler.close_connection = True
        handler.wfile.write(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\nxx\r\n".encode())

    server.script.append(step)
    with pytest.raises(AnaphoraError) as caught:
        get(server, goal, retries=0)
    assert "\n" not in str(caught.value)
    assert names(goal) == []


# Redirects


def test_redirects_are_followed(server: Server, goal: Path) -> None:
    server.script.append(say(302, Location="/elsewhere"))
    assert get(server, goal) == SHA
    assert server.asked[1]["path"] == "/elsewhere"


@pytest.mark.parametrize("status", [301, 308])
def test_a_circle_of_redirects_is_an_error(server: Server, goal: Path, status: int) -> None:
    server.script.extend([say(status, Location="/data.json")] * 50)
    with pytest.raises(AnaphoraError, match=r"redirected in a circle.*--from-path"):
        get(server, goal)
    assert len(server.asked) < 15


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x"])
def test_redirects_to_other_kinds_of_address_are_refused(server: Server, goal: Path, address: str) -> None:
    server.script.append(say(302, Location=address))
    with pytest.raises(AnaphoraError, match="not followed"):
        get(server, goal)
    assert names(goal) == []


def test_a_protected_address_never_leads_to_an_unprotected_one() -> None:
    def redirect(start: str, to: str) -> Request | None:
        handler = download._Redirects(start)
        return handler.redirect_request(Request(start), BytesIO(), 302, "Found", _headers(), to)

    with pytest.raises(HTTPError, match="not followed"):
        redirect("https://a.test/x", "http://a.test/x")
    assert redirect("https://a.test/x", "https://b.test/x") is not None
    assert redirect("http://a.test/x", "http://b.test/x") is not None  # it was not protected from the start


def _headers() -> HTTPMessage:
    headers: Message = HTTPMessage()
    assert isinstance(headers, HTTPMessage)
    return headers


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://127.0.0.1/x", "/etc/passwd", "data:,x"])
def test_only_http_addresses_are_fetched(goal: Path, url: str) -> None:
    with pytest.raises(AnaphoraError, match="only http and https"):
        fetch(url, goal)


# The disk


def test_a_path_that_cannot_be_written_is_reported(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(BadInput, match=r"file/data.json: cannot be written"):
        get(server, tmp_path / "file" / "data.json")


def test_a_folder_in_place_of_the_file_is_reported(server: Server, goal: Path) -> None:
    goal.mkdir(parents=True)
    with pytest.raises(BadInput, match="cannot be written"):
        get(server, goal)


# An archive from the network may be damaged or hostile: it is unpacked below one folder, whole, or not at all


FILES = {"repo-c8b/README": b"hello", "repo-c8b/data/a/en.txt": b"It rained.\n", "repo-c8b/data/b.txt": b""}


def make_tar(path: Path, files: dict[str, bytes], extra: list[tarfile.TarInfo] | None = None) -> Path:
    with tarfile.open(path, "w:gz") as tape:
        for info in extra or []:
            tape.addfile(info)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tape.addfile(info, io.BytesIO(content))
    return path


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in files.items():
            bundle.writestr(name, content)
    return path


MAKERS = pytest.mark.parametrize("make", [make_tar, make_zip])
Maker = Callable[[Path, dict[str, bytes]], Path]


def noise(size: int) -> bytes:
    """Bytes that do not compress, the same each time."""
    return random.Random(size).randbytes(size)


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(archive: Path, tmp_path: Path, message: str) -> None:
    """Unpacking fails with this message, and leaves everything as it was."""
    before = tree(tmp_path)
    with pytest.raises(BadInput, match=message) as error:
        extract(archive, tmp_path / "into")
    assert str(archive) in str(error.value)
    assert tree(tmp_path) == before
    assert not (tmp_path / "into").exists()


@MAKERS
def test_all_files_are_unpacked(tmp_path: Path, make: Maker) -> None:
    taken = extract(make(tmp_path / "x", FILES), tmp_path / "deep" / "into")
    assert tree(tmp_path / "deep" / "into") == FILES
    assert sorted(path.as_posix() for path in taken) == sorted(FILES)
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["into"]  # nothing temporary stays


@MAKERS
def test_leading_folders_are_dropped_and_members_chosen(tmp_path: Path, make: Maker) -> None:
    taken = extract(make(tmp_path / "x", FILES), tmp_path / "into", strip=2, members=["a/"])
    assert taken == [PurePosixPath("a/en.txt")]
    assert tree(tmp_path / "into") == {"a/en.txt": b"It rained.\n"}


def test_a_member_above_the_dropped_folders_is_left_out(tmp_path: Path) -> None:
    assert extract(make_tar(tmp_path / "x", {"README": b"", "a/b": b"1"}), tmp_path / "into", strip=1) == [
        PurePosixPath("b")
    ]


def test_a_folder_that_is_there_keeps_its_other_files(tmp_path: Path) -> None:
    (tmp_path / "into").mkdir()
    (tmp_path / "into" / "mine").write_bytes(b"mine")
    (tmp_path / "into" / "a").write_bytes(b"old")
    extract(make_tar(tmp_path / "x", {"a": b"new"}), tmp_path / "into")
    assert tree(tmp_path / "into") == {"mine": b"mine", "a": b"new"}


def test_a_new_folder_appears_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("the files were moved one by one"))
    extract(make_tar(tmp_path / "x", FILES), tmp_path / "into")
    assert tree(tmp_path / "into") == FILES


def test_unpacked_files_are_readable_by_others_as_new_files_are(tmp_path: Path) -> None:
    extract(make_tar(tmp_path / "x", {"a": b""}), tmp_path / "into")
    (tmp_path / "plain").touch()
    assert (tmp_path / "into" / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@MAKERS
@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/tmp/evil", "//evil", "C:/evil", "C:\\evil", "a\\..\\evil"]
)
def test_a_path_that_leads_outside_is_refused(tmp_path: Path, make: Maker, name: str) -> None:
    refused(make(tmp_path / "x", {"good": b"1", name: b"2"}), tmp_path, "leads outside")


def test_a_path_outside_is_refused_even_if_not_selected(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"a/good": b"1", "../evil": b"2"})
    with pytest.raises(BadInput, match="leads outside"):
        extract(archive, tmp_path / "into", members=["a/"])
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize("target", ["/etc", "..", "a"])
def test_a_symbolic_link_and_writing_through_it_are_refused(tmp_path: Path, target: str) -> None:
    archive = make_tar(tmp_path / "x", {"link/evil": b"2"}, [special("link", tarfile.SYMTYPE, target)])
    refused(archive, tmp_path, "link is a link")


def test_a_hard_link_is_refused(tmp_path: Path) -> None:
    refused(make_tar(tmp_path / "x", {}, [special("hard", tarfile.LNKTYPE, "/etc/passwd")]), tmp_path, "is a link")


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(tmp_path: Path, kind: bytes) -> None:
    refused(make_tar(tmp_path / "x", {}, [special("device", kind)]), tmp_path, "is a device")


def test_a_symbolic_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x", "w") as bundle:
        bundle.writestr(info, "/etc/passwd")
    refused(tmp_path / "x", tmp_path, "link is a link")


def test_a_link_among_unselected_members_is_harmless(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"a/good": b"1"}, [special("docs/link", tarfile.SYMTYPE, "../a")])
    assert extract(archive, tmp_path / "into", members=["a/"]) == [PurePosixPath("a/good")]


@pytest.mark.parametrize("again", ["a/b", "A/B", "./a/b", "a//b"])
def test_a_file_that_comes_twice_is_refused(tmp_path: Path, again: str) -> None:
    with tarfile.open(tmp_path / "x", "w:gz") as tape:
        tape.addfile(tarfile.TarInfo("a/b"))
        tape.addfile(tarfile.TarInfo(again))
    refused(tmp_path / "x", tmp_path, "comes twice")


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    refused(make_tar(tmp_path / "x", {"a": b"1", "a/b": b"2"}), tmp_path, "cannot be unpacked")


@MAKERS
def test_what_unpacks_to_more_than_allowed_is_refused(tmp_path: Path, make: Maker) -> None:
    archive = make(tmp_path / "x", {"one": b"0" * 60_000, "two": b"0" * 60_000})
    with pytest.raises(BadInput, match=r"unpacks to more than allowed \(at two\)"):
        extract(archive, tmp_path / "into", limit=100_000)
    assert not (tmp_path / "into").exists()
    assert len(extract(archive, tmp_path / "into", limit=120_000)) == 2


@MAKERS
@pytest.mark.parametrize("keep", [0.2, 0.6, 0.95])
def test_a_truncated_archive_is_an_error_and_leaves_nothing(tmp_path: Path, make: Maker, keep: float) -> None:
    archive = make(tmp_path / "x", {"one": noise(100_000), "two": noise(100_000)})
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * keep)])
    refused(archive, tmp_path, "not a whole tar or zip archive")


@MAKERS
def test_damaged_bytes_are_an_error_and_leave_nothing(tmp_path: Path, make: Maker) -> None:
    archive = make(tmp_path / "x", {"one": noise(100_000)})
    whole = bytearray(archive.read_bytes())
    whole[50_000] ^= 0xFF
    archive.write_bytes(whole)
    refused(archive, tmp_path, "not a whole tar or zip archive")


def test_what_is_not_an_archive_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"<html>404</html>")
    refused(tmp_path / "x", tmp_path, "not a whole tar or zip archive")


def test_an_archive_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        extract(tmp_path / "x", tmp_path / "into")


# Names and numbers that are none


def pax(name: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo("short")
    info.pax_headers = {"path": name}
    return info


@pytest.mark.parametrize("name", ["a\0b", "a\nb", "a\x1b[2Jb", "x" * 256, "d/" * 600 + "x", "\u202eevil"])
def test_invalid_names_are_refused(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.PAX_FORMAT) as tape:
        tape.addfile(pax(name))
    refused(tmp_path / "x", tmp_path, "is not a name for a file")


def test_names_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.GNU_FORMAT) as tape:
        tape.addfile(tarfile.TarInfo("a\udcffb"))
    refused(tmp_path / "x", tmp_path, "is not a name for a file")
    make_zip(tmp_path / "y", {"é.txt": b"1"})
    data = (tmp_path / "y").read_bytes()
    (tmp_path / "y").write_bytes(data.replace("é".encode(), b"\xff\xfe"))
    refused(tmp_path / "y", tmp_path, "not a whole tar or zip archive")


@pytest.mark.parametrize(("address", "size"), [(100, 8), (108, 8), (124, 12), (136, 12), (148, 8)])
@pytest.mark.parametrize("value", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"99999999999 ", b"-0000001    ", b"zz" * 6])
def test_odd_numbers_are_refused_or_harmless(tmp_path: Path, address: int, size: int, value: bytes) -> None:
    with tarfile.open(tmp_path / "x", "w", format=tarfile.GNU_FORMAT) as tape:
        tape.addfile(tarfile.TarInfo("a"))
    data = bytearray((tmp_path / "x").read_bytes())
    data[address : address + size] = value[:size]
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data[:512]) if address != 148 else value[:8]
    (tmp_path / "x").write_bytes(data)
    try:
        assert extract(tmp_path / "x", tmp_path / "into") in ([], [PurePosixPath("a")])
    except BadInput as error:
        assert "\n" not in str(error)  # noqa: PT017


@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_every_damage_is_a_refusal_or_harmless(tmp_path: Path, make: Maker) -> None:
    """Bytes of an archive are changed in turn; nothing is ever written outside."""
    good = make(tmp_path / "x", FILES).read_bytes()
    refusals = 0
    for position in range(0, len(good), 2):
        for change in (0x01, 0xFF):
            (tmp_path / "x").write_bytes(good[:position] + bytes([good[position] ^ change]) + good[position + 1 :])
            try:
                extract(tmp_path / "x", tmp_path / "into")
            except BadInput as error:
                refusals += "\n" not in str(error)
            shutil.rmtree(tmp_path / "into", ignore_errors=True)
            assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert refusals > len(good) / 4


# Limits


@MAKERS
def test_the_number_of_members_is_limited(tmp_path: Path, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_MEMBERS", 2)
    refused(make(tmp_path / "x", FILES), tmp_path, "has more than 2 members")


def test_what_is_passed_over_is_limited_too(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "x", {"docs/large": bytes(1_000_000), "a/b": b"1"})
    with pytest.raises(BadInput, match="is longer than"):
        extract(archive, tmp_path / "into", members=["a/"], limit=1000)


UNPACK = """
import resource, sys
from pathlib import Path
from anaphora.core.errors import BadInput
from anaphora.suites.download import extract
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    extract(Path(sys.argv[1]), Path(sys.argv[2]), limit=10_000_000)
except BadInput as error:
    print(error, file=sys.stderr)
"""
UNPACK += PRINT_PEAK


def tar_bomb(path: Path, kind: bytes, size: int, times: int = 1) -> None:
    """A tar archive with headers of a kind and a size."""
    info = tarfile.TarInfo("header")
    info.type, info.size = kind, size
    large, rest = (gzip.compress(b"1" * length, 1) for length in (1 << 20, size % (1 << 20)))
    header = gzip.compress(info.tobuf(tarfile.GNU_FORMAT), 1)
    path.write_bytes((header + large * (size >> 20) + rest) * times)  # a file of gzip may consist of several


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("bomb", ["pax", "long name", "many long names", "file", "zip names", "zip member"])
def test_bombs_stay_below_500_mb(tmp_path: Path, bomb: str) -> None:
    path = tmp_path / "x"
    if bomb == "pax":
        tar_bomb(path, tarfile.XHDTYPE, 700 << 20)
    elif bomb == "long name":
        tar_bomb(path, tarfile.GNUTYPE_LONGNAME, 700 << 20)
    elif bomb == "many long names":
        tar_bomb(path, tarfile.GNUTYPE_LONGNAME, 1 << 16, 2000)
    elif bomb == "file":
        tar_bomb(path, tarfile.REGTYPE, 700 << 20)
    elif bomb == "zip names":
        with zipfile.ZipFile(path, "w") as bundle:
            for n in range(66_000):
                bundle.writestr(f"{n}", b"")
    else:
        archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        with archive as bundle, bundle.open("a", "w") as member:
            for _ in range(700):
                member.write(bytes(1 << 20))
    command = [sys.executable, "-c", UNPACK, str(path), str(tmp_path / "into")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert done.stderr.count("\n") == 1
    assert int(done.stdout) < 500
    assert not (tmp_path / "into").exists()
