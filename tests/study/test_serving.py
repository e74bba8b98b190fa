"""The real server in a process of its own: kill −9 loses no answer, fifty people at once do not collide."""

from __future__ import annotations

import asyncio
import random
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.study.model import Study, read_links, read_study, write_study
from anaphora.study.pages import opaque_ids
from anaphora.study.serving import Links, bound
from anaphora.study.store import read_answers

httpx = pytest.importorskip("httpx", reason="httpx is not installed")

Make = Callable[..., Study]


def answers(folder: Path, name: str, choice: str, count: int) -> list[dict[str, Any]]:
    """The bodies of answers to the first items, with the ids by which this person's page knows them."""
    study = read_study(folder)
    ids = opaque_ids(study, read_links(folder, study)[0])[name]
    return [{"request": f"request-{k}", "item": ids[f"p{k}"], "choice": [choice]} for k in range(count)]


def test_kill_9_loses_nothing(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    study = make(60)
    write_study(study, tmp_path / "study")
    acknowledged: list[str] = []
    todo = answers(tmp_path / "study", "anna", "a", 60)
    rng = random.Random(1)
    for _ in range(3):
        server = serve(tmp_path / "study")
        with httpx.Client() as client:
            for _ in range(rng.randint(5, 15)):
                reply = client.post(f"{server.links['anna']}/answers", json=todo[0])
                assert reply.status_code == 200
                acknowledged.append(todo.pop(0)["request"])
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        assert [one.request for one in read_answers(study, tmp_path / "study")] == acknowledged


def test_an_answer_in_flight_is_kept_once(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    """The server dies while answers come in. What got no reply is sent again to the next one, as the page does."""
    study = make(200)
    write_study(study, tmp_path / "study")
    bodies = answers(tmp_path / "study", "ben", "b", 200)

    async def until_it_dies(server: Any) -> set[str]:
        done: set[str] = set()

        async def send(client: Any, part: list[dict[str, Any]]) -> None:
            for body in part:
                reply = await client.post(f"{server.links['ben']}/answers", json=body)
                if reply.status_code == 200:
                    done.add(body["request"])
                if len(done) == 40:
                    server.process.send_signal(signal.SIGKILL)

        async with httpx.AsyncClient() as client:
            await asyncio.gather(*(send(client, bodies[k::8]) for k in range(8)), return_exceptions=True)
        return done

    server = serve(tmp_path / "study")
    done = asyncio.run(until_it_dies(server))
    server.stop()
    kept = {one.request for one in read_answers(study, tmp_path / "study")}
    assert 40 <= len(done) <= len(kept) < 200
    assert done <= kept
    server = serve(tmp_path / "study")
    with httpx.Client() as client:
        for body in bodies[:60]:
            while client.post(f"{server.links['ben']}/answers", json=body).status_code == 429:
                pass
    stored = [one.request for one in read_answers(study, tmp_path / "study")]
    assert len(stored) == len(set(stored))
    assert {body["request"] for body in bodies[:60]} <= set(stored)


def test_fifty_people_at_once(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    names = tuple(f"person {k}" for k in range(50))
    study = make(6, annotators=names)
    write_study(study, tmp_path / "study")
    server = serve(tmp_path / "study")

    async def person(client: Any, name: str) -> list[int]:
        state = (await client.get(f"{server.links[name]}/state")).json()
        codes = []
        for k, item in enumerate(state["items"]):
            choice = random.Random(name).choice(["a", "b", "equal"])
            body = {"request": f"request-{k}", "item": item["id"], "choice": [choice]}
            for _ in range(2 if k == 0 else 1):  # the first one comes twice
                codes.append((await client.post(f"{server.links[name]}/answers", json=body)).status_code)
        answered = (await client.get(f"{server.links[name]}/state")).json()["answers"]
        assert answered.keys() == {item["id"] for item in state["items"]}
        return codes

    async def everybody() -> list[list[int]]:
        limits = httpx.Limits(max_connections=50)
        async with httpx.AsyncClient(timeout=30, limits=limits) as client:
            people = [person(client, name) for name in names]
            return await asyncio.gather(*people, watch(client))

    async def watch(client: Any) -> list[int]:
        return [(await client.get(f"{server.admin}/overview")).status_code for _ in range(5)]

    codes = asyncio.run(everybody())
    assert {code for part in codes for code in part} == {200}
    stored = read_answers(study, tmp_path / "study")
    assert len(stored) == 50 * 6
    assert {(one.annotator, one.item) for one in stored} == {(name, item) for name in names for item in study.by_id}
    assert server.stop(signal.SIGINT) == 130


@pytest.mark.parametrize(("how", "code"), [(signal.SIGTERM, -signal.SIGTERM), (signal.SIGINT, 130)])
def test_a_stopped_server_leaves_one_file_with_all_answers(
    make: Make, serve: Callable[..., Any], tmp_path: Path, how: int, code: int
) -> None:
    """systemd, Docker and kill send SIGTERM: a copy of answers.sqlite alone must be complete afterwards."""
    study = make()
    write_study(study, tmp_path / "study")
    server = serve(tmp_path / "study")
    with httpx.Client() as client:  # a connection that is kept alive does not hold the server up
        for body in answers(tmp_path / "study", "anna", "a", 4):
            assert client.post(f"{server.links['anna']}/answers", json=body).status_code == 200
        assert server.stop(how) == code
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "study" / "answers.sqlite", tmp_path / "copy")
    assert len(read_answers(study, tmp_path / "copy")) == 4
    assert sorted(path.name for path in (tmp_path / "study").glob("answers*")) == ["answers.sqlite"]


def test_a_server_that_is_stopped_while_it_starts(make: Make, tmp_path: Path) -> None:
    """SIGTERM between opening the database and serving: the database is closed all the same."""
    write_study(make(), tmp_path / "study")
    program = (
        "import os, signal; from pathlib import Path; from anaphora.study.serving import serve\n"
        "serve(Path('study'), host='127.0.0.1', port=0, announce=lambda _: os.kill(os.getpid(), signal.SIGTERM))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-signal.SIGTERM, "")
    assert sorted(path.name for path in (tmp_path / "study").glob("answers*")) == ["answers.sqlite"]


def test_postgresql(make: Make, serve: Callable[..., Any], postgres: str, tmp_path: Path) -> None:
    study = make()
    write_study(study, tmp_path / "study")
    server = serve(tmp_path / "study", "--database", postgres)
    for name in ("anna", "ben"):
        [body] = answers(tmp_path / "study", name, "a", 1)
        assert httpx.post(f"{server.links[name]}/answers", json=body).status_code == 200
    server.stop(signal.SIGKILL)
    assert len(read_answers(study, tmp_path / "study", postgres)) == 2
    assert not (tmp_path / "study" / "answers.sqlite").exists()
    assert httpx.get(f"{serve(tmp_path / 'study', '--database', postgres).url}/health").status_code == 200


def test_a_port_that_is_taken() -> None:
    with bound("127.0.0.1", 0, socket.socket) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(AnaphoraError, match=f"127.0.0.1:{port} cannot be served: address already in use"):
            bound("127.0.0.1", port, socket.socket)


def test_links() -> None:
    links = Links.of("https://study.example.org/x/", "AAA", {"anna": "BBB"})
    assert links.admin == "https://study.example.org/x/admin/AAA"
    assert links.annotators == {"anna": "https://study.example.org/x/a/BBB"}


def test_ipv6(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    try:
        bound("::1", 0, socket.socket).close()
    except AnaphoraError:
        pytest.skip("there is no IPv6 here")
    assert socket.has_ipv6
    write_study(make(), tmp_path / "study")
    server = serve(tmp_path / "study", "--host", "::1")
    assert httpx.get(f"{server.url}/health").status_code == 200


def test_guessing_links_is_slow_and_hurts_nobody(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    """Unknown links of all kinds share one limit; those who have a link do not notice."""
    write_study(make(), tmp_path / "study")
    server = serve(tmp_path / "study")
    paths = ("/a/{}", "/a/{}/state", "/admin/{}", "/admin/{}/overview", "/admin/{}/answers.tsv")
    with httpx.Client(base_url=server.url) as client:
        codes = [client.get(paths[k % 5].format(f"guess-{k}")).status_code for k in range(200)]
        codes.append(client.post("/a/guess/answers", json={}).status_code)
        assert codes[:50] == [404] * 50
        assert codes.count(429) >= 50
        assert client.get(f"{server.links['anna']}/state").status_code == 200
        assert client.get(server.admin).status_code == 200
        [body] = answers(tmp_path / "study", "anna", "a", 1)
        assert client.post(f"{server.links['anna']}/answers", json=body).status_code == 200


def test_the_admin_is_limited_too(make: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    write_study(make(), tmp_path / "study")
    server = serve(tmp_path / "study")
    with httpx.Client() as client:
        replies = [client.get(f"{server.admin}/overview") for _ in range(60)]
        assert [reply.status_code for reply in replies[:20]] == [200] * 20
        assert sum(reply.status_code == 429 for reply in replies) >= 20
        assert {reply.headers["Retry-After"] for reply in replies if reply.status_code == 429} == {"1"}
        assert client.get(f"{server.links['anna']}/state").status_code == 200


def test_no_byte_for_annotators_reveals_the_system(make_gaps: Make, serve: Callable[..., Any], tmp_path: Path) -> None:
    """Ids as `apt --details` makes them, over a real socket: page, scripts, state, replies, errors and the log."""
    from dataclasses import replace

    made = make_gaps()
    names = {item.id: f"SYSTEM-{item.system}/{item.sentence}.{item.position}" for item in made.items}
    study = replace(
        made,
        items=tuple(replace(item, id=names[item.id], system=f"SYSTEM-{item.system}") for item in made.items),
        annotators=tuple(
            replace(a, assignments=tuple(replace(one, item=names[one.item]) for one in a.assignments))
            for a in made.annotators
        ),
    )
    write_study(study, tmp_path / "study")
    server = serve(tmp_path / "study")
    link = server.links["anna"]
    with httpx.Client() as client:
        got = [client.get(url) for url in (server.url, link, f"{link}/state", f"{server.url}/health")]
        got += [client.get(f"{server.url}/static/{name}") for name in ("study.js", "parts.js", "outbox.js")]
        shown = [item["id"] for item in got[2].json()["items"]]
        for k, item in enumerate(shown):
            body = {"request": f"request-{k}", "item": item, "choice": ["il"]}
            got.append(client.post(f"{link}/answers", json=body))
            got.append(client.post(f"{link}/answers", json={**body, "choice": ["elle"]}))  # a conflict
            got.append(client.post(f"{link}/answers", json={**body, "choice": ["SYS"]}))
            got.append(client.post(f"{link}/outbox", json=[{**body, "request": f"again-{k:04d}"}]))
        got.append(client.get(f"{link}/state"))
        assert {reply.status_code for reply in got} == {200, 409, 422}
        assert not any("SYSTEM-" in reply.text or "SYSTEM-" in str(reply.headers) for reply in got)
        exported = [row.split("\t") for row in client.get(f"{server.admin}/answers.tsv").text.splitlines()[1:]]
    assert server.stop_quietly() == ""
    mine = [one.item for one in study.annotators[0].assignments]
    assert [row[1] for row in exported] == mine  # the export has the items' own ids
    assert [row[6] for row in exported] == [study.by_id[item].system for item in mine]
