"""The study's server without a network: what each link may see and do, and how it answers what it must not accept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from anaphora.study.database import open_log
from anaphora.study.model import Study
from anaphora.study.store import AnswerLog

pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install 'anaphora[study]'")
pytest.importorskip("httpx", reason="httpx is not installed")

import asyncio

import httpx

from anaphora.study.guard import MAX_BODY, RateLimit
from anaphora.study.server import FILES, Desk, make_app

Make = Callable[..., Study]
ADMIN = "an-admin-token-for-the-tests-0123456789"
TOKENS = {name: f"a-token-of-{name}-for-the-tests-0123456789" for name in ("anna", "ben", "carla")}


class Client:
    """Calls the application in this process."""

    def __init__(self, study: Study, log: AnswerLog, limit: RateLimit | None = None) -> None:
        self.study, self.log = study, log
        tokens = {annotator.name: TOKENS[annotator.name] for annotator in study.annotators}
        self.app = make_app(Desk(study, ADMIN, tokens, log, limit))

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                return await client.request(method, path, **options)

        return asyncio.run(call())

    def get(self, path: str) -> httpx.Response:
        return self("GET", path)

    def say(self, name: str, item: str, *choice: str, request: str = "request-1", **more: Any) -> httpx.Response:
        body = {"request": request, "item": item, "choice": list(choice), **more}
        return self("POST", f"/a/{TOKENS[name]}/answers", json=body)


@pytest.fixture
def client(make: Make, tmp_path: Path) -> Iterator[Client]:
    study = make()
    log = open_log(study, tmp_path)
    yield Client(study, log)
    log.close()


def test_an_annotator_sees_the_questions_and_their_answers(client: Client) -> None:
    state = client.get(f"/a/{TOKENS['anna']}/state").json()
    assert state["name"] == "anna"
    assert [item["id"] for item in state["items"]] == [one.item for one in client.study.annotators[0].assignments]
    assert state["answers"] == {}
    assert client.say("anna", "p3", "a", seconds=2.5).json() == {"stored": "request-1", "item": "p3", "number": 1}
    state = client.get(f"/a/{TOKENS['anna']}/state").json()
    assert (state["answers"], state["order"]) == ({"p3": ["a"]}, ["p3"])
    assert client.log.answers()[0].seconds == 2.5


def test_candidates_come_in_the_assigned_order_without_their_origin(client: Client) -> None:
    state = client.get(f"/a/{TOKENS['anna']}/state").json()
    for item in state["items"]:
        known = client.study.by_id[item["id"]]
        order = client.study.orders["anna", item["id"]]
        shown = ["".join(text for text, _ in candidate["parts"]) for candidate in item["candidates"]]
        assert shown == [known.candidates[k][-1] for k in order]
        marked = [text for candidate in item["candidates"] for text, mark in candidate["parts"] if mark]
        assert set(marked) == set(known.pair or ())
        assert item["context"] == [known.candidates[0][1]]  # the empty sentence is not shown, the same context once
        assert set(item) == {"id", "source", "context", "candidates"}
    assert "online-B" not in json.dumps(state)
    assert "gold" not in json.dumps(state)


def test_contexts_that_differ_stand_with_their_candidates(make: Make, tmp_path: Path) -> None:
    from dataclasses import replace

    study = make(1)
    item = study.items[0]
    other = (*item.candidates[1][:1], "Something else came before.", item.candidates[1][-1])
    study = replace(study, items=(replace(item, candidates=(item.candidates[0], other)),))
    log = open_log(study, tmp_path)
    shown = Client(study, log).get(f"/a/{TOKENS['anna']}/state").json()["items"][0]
    log.close()
    assert shown["context"] == []
    assert sorted(candidate["context"][0] for candidate in shown["candidates"]) == [
        "Sentence 0 comes before.",
        "Something else came before.",
    ]


def test_the_source_can_be_hidden(make: Make, tmp_path: Path) -> None:
    study = make(show_source=False)
    log = open_log(study, tmp_path)
    state = Client(study, log).get(f"/a/{TOKENS['anna']}/state")
    log.close()
    assert all(item["source"] == [] for item in state.json()["items"])
    assert "Satz" not in state.text


def test_a_gap_hides_its_word(make_gaps: Make, tmp_path: Path) -> None:
    study = make_gaps()
    log = open_log(study, tmp_path)
    client = Client(study, log)
    state = client.get(f"/a/{TOKENS['anna']}/state").json()
    item = next(item for item in state["items"] if item["id"] == "a0")
    assert item["candidates"][0]["parts"] == [["", True], [" était là.", False]]
    assert "Elle" not in json.dumps(state)
    assert client.say("anna", "a0", "elle", "il").status_code == 200
    assert client.say("anna", "a0", "elle", "bad", request="request-2").status_code == 422
    log.close()


def test_an_answer_sent_twice_is_kept_once(client: Client) -> None:
    first, again = client.say("anna", "p0", "a"), client.say("anna", "p0", "a")
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json() == again.json()
    assert client.say("anna", "p0", "b").status_code == 409
    assert [answer.choice for answer in client.log.answers()] == [("a",)]


def test_undo_keeps_the_history(client: Client) -> None:
    client.say("anna", "p0", "a")
    client.say("anna", "p0", request="request-2")
    assert client.get(f"/a/{TOKENS['anna']}/state").json()["answers"] == {}
    assert [answer.choice for answer in client.log.answers()] == [("a",), ()]


def test_others_neither_see_nor_change_an_answer(client: Client) -> None:
    client.say("anna", "p0", "a")
    assert client.get(f"/a/{TOKENS['ben']}/state").json()["answers"] == {}
    client.say("ben", "p0", "equal")
    assert client.get(f"/a/{TOKENS['anna']}/state").json()["answers"] == {"p0": ["a"]}


def test_nobody_answers_what_they_were_not_asked(make: Make, tmp_path: Path) -> None:
    study = make(overlap=1)
    log = open_log(study, tmp_path)
    client = Client(study, log)
    other = study.annotators[1].assignments[0].item
    refused = client.say("anna", other, "a")
    assert (refused.status_code, refused.json()["detail"]) == (422, "You were not asked this item.")
    assert log.answers() == []
    log.close()


@pytest.mark.parametrize("path", ["/a/{}", "/a/{}/state", "/admin/{}", "/admin/{}/overview", "/admin/{}/answers.jsonl"])
def test_unknown_links(client: Client, path: str) -> None:
    for token in ("x", TOKENS["anna"][:-1], "%00", "anna", ADMIN if path.startswith("/a/") else TOKENS["anna"]):
        reply = client.get(path.format(token))
        assert reply.status_code == 404
        assert client.study.title not in reply.text
    assert client("POST", "/a/x/answers", json={}).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"request": "request-1", "item": "p0", "choice": ["c"]}',
        b'{"request": "request-1", "item": "p0", "choice": ["a", "b"]}',
        b'{"request": "request-1", "item": "p0", "choice": "a"}',
        b'{"request": "short", "item": "p0", "choice": ["a"]}',
        b'{"request": "request-1\'; --", "item": "p0", "choice": ["a"]}',
        b'{"request": "request-1", "item": "p0", "choice": ["a"], "annotator": "ben"}',
        b'{"request": "request-1", "item": "p0", "choice": ["a"], "seconds": -1}',
        b'{"request": "request-1", "item": "p0", "choice": ["a"], "seconds": NaN}',
        b'{"request": "request-1", "item": 5, "choice": ["a"]}',
        b'{"request": "request-1", "item": "\xff", "choice": ["a"]}',
    ],
)
def test_bodies_that_are_no_answers(client: Client, body: bytes) -> None:
    reply = client("POST", f"/a/{TOKENS['anna']}/answers", content=body)
    assert reply.status_code == 422
    assert isinstance(reply.json()["detail"], str)
    assert client.log.answers() == []


def test_large_requests_are_not_read(client: Client) -> None:
    assert client.say("anna", "p0", "a" * MAX_BODY).status_code == 413

    async def endless() -> Any:
        for _ in range(64):
            yield b" " * 4096

    reply = client("POST", f"/a/{TOKENS['anna']}/answers", content=endless())  # without a Content-Length
    assert reply.status_code == 413
    assert client.log.answers() == []


def test_too_many_requests(make: Make, tmp_path: Path) -> None:
    study = make()
    log = open_log(study, tmp_path)
    client = Client(study, log, RateLimit(rate=1, burst=2, clock=lambda: 0.0))
    codes = [client.say("anna", f"p{k}", "a", request=f"request-{k}").status_code for k in range(4)]
    assert codes == [200, 200, 429, 429]
    assert client.say("ben", "p0", "a").status_code == 200
    log.close()


def test_headers_of_every_answer(client: Client) -> None:
    paths = [
        "/",
        "/health",
        "/nothing",
        "/static/study.js",
        f"/a/{TOKENS['anna']}",
        f"/a/{TOKENS['anna']}/state",
        "/a/x",
    ]
    for path in paths:
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'self'"), path
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == ("no-cache" if "static" in path else "no-store")


def test_pages_load_nothing_from_elsewhere(client: Client) -> None:
    texts = [client.get(f"/static/{name}") for name in FILES]
    texts += [client.get(path) for path in ("/", f"/a/{TOKENS['anna']}", f"/admin/{ADMIN}")]
    for reply in texts:
        assert reply.status_code == 200
        assert "//" not in reply.text.replace("http://www.w3.org/2000/svg", "").replace("// ", ""), reply.url
        assert "style=" not in reply.text
        assert "innerHTML" not in reply.text
    for path in ("/docs", "/redoc", "/openapi.json", "/static/study.html", "/static/..%2fserver.py"):
        assert client.get(path).status_code == 404


def test_the_overview(client: Client) -> None:
    client.say("anna", "p0", "a")
    client.say("ben", "p0", "neither", request="request-2")
    found = client.get(f"/admin/{ADMIN}/overview").json()
    assert [(one["name"], one["done"], one["total"]) for one in found["annotators"]] == [
        ("anna", 1, 6),
        ("ben", 1, 6),
        ("carla", 0, 6),
    ]
    assert found["annotators"][0]["link"] == f"a/{TOKENS['anna']}"
    assert found["agreement"]["left_out"] == 1
    lines = client.get(f"/admin/{ADMIN}/answers.jsonl").text.splitlines()
    assert [json.loads(line)["annotator"] for line in lines] == ["anna", "ben"]
    table = client.get(f"/admin/{ADMIN}/answers.tsv")
    assert table.text.splitlines()[0].startswith("annotator\titem")
    assert "attachment" in table.headers["content-disposition"]
    assert client.get(f"/admin/{ADMIN}/answers.exe").status_code == 404


def test_a_database_that_fails_is_said_and_nothing_is_acknowledged(client: Client, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "answers.sqlite", isolation_level=None) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON anaphora_answers BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        reply = client.say("anna", "p0", "a")
        assert (reply.status_code, "stored" in reply.text) == (503, False)
        assert str(tmp_path) not in reply.text
        db.execute("DROP TRIGGER full")
    db.close()
    assert client.say("anna", "p0", "a").status_code == 200
