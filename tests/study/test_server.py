"""The study's server without a network: what each link may see and do, and how it answers what it must not accept."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.study.create import Design, make_study
from anaphora.study.model import Study
from anaphora.study.store import AnswerLog, open_log
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

pytest.importorskip("fastapi", reason="FastAPI is not installed: pip install 'anaphora[study]'")
pytest.importorskip("httpx", reason="httpx is not installed")

import asyncio

import httpx

from anaphora.study import server
from anaphora.study.middleware import MAX_BODY, RateLimit
from anaphora.study.server import FILES, StudyService, make_app

Make = Callable[..., Study]
ADMIN = "an-admin-token-for-the-tests-0123456789"
TOKENS = {name: f"a-token-of-{name}-for-the-tests-0123456789" for name in ("anna", "ben", "carla")}


class Client:
    """Calls the application in this process."""

    def __init__(self, study: Study, log: AnswerLog, limit: RateLimit | None = None) -> None:
        self.study, self.log = study, log
        tokens = {annotator.name: TOKENS[annotator.name] for annotator in study.annotators}
        self.app = make_app(StudyService(study, ADMIN, tokens, log, limit))

    def __call__(self, method: str, path: str, **options: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://study") as client:
                return await client.request(method, path, **options)

        return asyncio.run(call())

    def get(self, path: str) -> httpx.Response:
        return self("GET", path)

    def shown(self, name: str, item: str) -> str:
        """The id by which somebody's page knows an item; one that they were not asked stays what it is."""
        return self.app.state.service.ids[name].get(item, item)

    def say(self, name: str, item: str, *choice: str, request: str = "request-1", **more: Any) -> httpx.Response:
        body = {"request": request, "item": self.shown(name, item), "choice": list(choice), **more}
        return self("POST", f"/a/{TOKENS[name]}/answers", json=body)

    def state(self, name: str = "anna") -> dict[str, Any]:
        return dict(self.get(f"/a/{TOKENS[name]}/state").json())

    def answers(self, name: str = "anna") -> dict[str, list[str]]:
        """What somebody's page shows as answered, under the items' own ids."""
        known = {shown: item for item, shown in self.app.state.service.ids[name].items()}
        return {known[shown]: answer["choice"] for shown, answer in self.state(name)["answers"].items()}


@pytest.fixture
def client(make: Make, tmp_path: Path) -> Iterator[Client]:
    study = make()
    log = open_log(study, tmp_path)
    yield Client(study, log)
    log.close()


def test_an_annotator_sees_the_questions_and_their_answers(client: Client) -> None:
    state = client.state()
    assert state["name"] == "anna"
    asked = [client.shown("anna", one.item) for one in client.study.annotators[0].assignments]
    assert [item["id"] for item in state["items"]] == asked
    assert (state["answers"], state["undo"]) == ({}, [])
    stored = client.say("anna", "p3", "a", seconds=2.5, elapsed_seconds=30.0).json()
    shown = client.shown("anna", "p3")
    assert stored == {"stored": "request-1", "item": shown, "number": 1}
    assert client.state()["answers"] == {shown: {"choice": ["a"], "seconds": 2.5, "elapsed_seconds": 30.0}}
    (kept,) = client.log.answers()
    assert (kept.item, kept.seconds, kept.elapsed) == ("p3", 2.5, 30.0)


def test_candidates_come_in_the_assigned_order_without_their_origin(client: Client) -> None:
    state = client.state()
    known = {client.shown("anna", item.id): item for item in client.study.items}
    for item in state["items"]:
        asked = known[item["id"]]
        order = client.study.orders["anna", asked.id]
        shown = ["".join(text for text, _ in candidate["parts"]) for candidate in item["candidates"]]
        assert shown == [asked.candidates[k][-1] for k in order]
        marked = [text for candidate in item["candidates"] for text, mark in candidate["parts"] if mark]
        assert set(marked) == set(asked.pair or ())
        assert item["context"] == [asked.candidates[0][1]]  # the empty sentence is not shown, the same context once
        assert set(item) == {"id", "source", "context", "candidates"}
    assert "online-B" not in json.dumps(state)
    assert "gold" not in json.dumps(state)


@pytest.mark.parametrize("mode", ["pairs", "gaps"])
def test_no_id_says_whose_translation_it_is(mode: str, tmp_path: Path) -> None:
    """Ids of `apt --details` are SYSTEM/SENTENCE.POSITION; annotators see other ones, and each sees their own."""
    examples = [
        Example(f"online-B/{k}.0", ("It.",), (("Il est.",), ("Elle est.",))[: 2 if mode == "pairs" else 1], 0, tags)
        for k, tags in enumerate([{"pronoun": "Il", "system": "online-B", "sentence": k} for k in range(5)])
    ]
    design = Design(annotators=("anna", "ben"), mode=mode)
    study = make_study(suite_of(Header("x", "en", "fr"), lambda: examples), design)
    log = open_log(study, tmp_path)
    client = Client(study, log)
    states = [client.state(name) for name in ("anna", "ben")]
    assert "online-B" not in json.dumps(states)
    ids = [{item["id"] for item in state["items"]} for state in states]
    assert (len(ids[0]), ids[0] & ids[1]) == (5, set())
    assert Client(study, log).state()["items"] == states[0]["items"]  # the same after a restart
    choice = "a" if mode == "pairs" else "il"
    shown = states[0]["items"][0]["id"]
    reply = client("POST", f"/a/{TOKENS['anna']}/answers", json=body(shown, choice))
    assert reply.json()["item"] == shown
    (row,) = map(json.loads, client.get(f"/admin/{ADMIN}/answers.jsonl").text.splitlines())
    assert row["item"] == study.annotators[0].assignments[0].item  # exports keep the ids of the suite
    assert client("POST", f"/a/{TOKENS['ben']}/answers", json=body(shown, choice)).status_code == 422
    assert client("POST", f"/a/{TOKENS['anna']}/answers", json=body("online-B/1.0", choice)).status_code == 422
    log.close()


def body(item: str, *choice: str, request: str = "request-1") -> dict[str, Any]:
    return {"request": request, "item": item, "choice": list(choice)}


def test_a_study_of_the_first_version_is_served(make: Make, tmp_path: Path) -> None:
    """A page of 0.1.0 may still hold answers under the items' own ids: they are taken, and nothing else changes."""
    from dataclasses import replace

    study = replace(make(), blind=False)
    log = open_log(study, tmp_path)
    client = Client(study, log)
    assert client("POST", f"/a/{TOKENS['anna']}/answers", json=body("p2", "b")).status_code == 200
    assert client.say("anna", "p3", "a", request="request-2").status_code == 200
    assert client.answers() == {"p2": ["b"], "p3": ["a"]}
    assert all(item["id"] not in study.by_id for item in client.state()["items"])
    log.close()


def test_items_with_very_long_ids_can_be_answered(make: Make, tmp_path: Path) -> None:
    examples = [Example("x" * 5000, ("Da.",), (("He is.",), ("It is.",)), 0)]
    study = make_study(suite_of(Header("x", "de", "en"), lambda: examples), Design(annotators=("anna",)))
    log = open_log(study, tmp_path)
    assert Client(study, log).say("anna", "x" * 5000, "a").status_code == 200
    log.close()


def test_answers_that_were_waiting_come_together_in_order(client: Client) -> None:
    """What a page sends when it is closed: one request, answered in the order of its answers."""
    item, other = client.shown("anna", "p0"), client.shown("anna", "p1")
    client.say("anna", "p0", "equal", request="request-0")
    waiting = [
        body(item, "equal", request="request-0"),  # was on its way already
        body(item, "a", request="request-1"),
        body(item, "b", request="request-2"),
        body("p5", "a", request="request-3"),  # refused, and not in the way of the next
        body(other, "neither", request="request-4"),
    ]
    reply = client("POST", f"/a/{TOKENS['anna']}/outbox", json=waiting)
    assert reply.status_code == 200
    assert reply.json()["stored"] == ["request-0", "request-1", "request-2", "request-4"]
    assert reply.json()["refused"] == {"request-3": "This item is not assigned to you."}
    assert client.answers() == {"p0": ["b"], "p1": ["neither"]}
    assert len(client.log.answers()) == 4
    assert client("POST", f"/a/{TOKENS['anna']}/outbox", json=[*waiting, {"request": 1}]).status_code == 422
    assert client("POST", "/a/x/outbox", json=waiting).status_code == 404


def test_what_undo_brings_back(client: Client) -> None:
    """A corrected answer gets its value before, with the time it took; the first answer is taken back."""
    p0, p1 = client.shown("anna", "p0"), client.shown("anna", "p1")
    client.say("anna", "p0", "a", request="request-1", seconds=3.0, elapsed_seconds=4.0)
    client.say("anna", "p1", "b", request="request-2")
    client.say("anna", "p0", "b", request="request-3")
    nothing: dict[str, Any] = {"choice": [], "seconds": None, "elapsed_seconds": None}
    first = {"item": p0, "choice": ["a"], "seconds": 3.0, "elapsed_seconds": 4.0}
    assert client.state()["undo"] == [{"item": p0, **nothing}, {"item": p1, **nothing}, first]
    client.say("anna", "p0", "a", request="undo-0001", seconds=3.0, elapsed_seconds=4.0)
    assert client.answers() == {"p0": ["a"], "p1": ["b"]}
    assert client.state()["undo"] == [{"item": p0, **nothing}, {"item": p1, **nothing}]
    client.say("anna", "p1", request="undo-0002")
    assert client.state()["undo"] == [{"item": p0, **nothing}]


def test_undo_of_the_first_version_took_answers_away(client: Client) -> None:
    client.say("anna", "p0", "a", request="request-1")
    client.say("anna", "p0", "b", request="request-2")
    client.say("anna", "p0", request="request-3")
    assert (client.state()["undo"], client.answers()) == ([], {})


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@pytest.mark.parametrize("mode", ["pairs", "gaps"])
def test_the_example_is_in_the_language_of_the_study(mode: str, language: str, tmp_path: Path) -> None:
    example = shown_example(Design(annotators=("anna",), mode=mode), language, tmp_path)
    assert example["language"] == language
    assert len(example["candidates"]) == (2 if mode == "pairs" else 1)
    assert sum(marked for _, marked in example["candidates"][0]) == 1
    assert example["verdict"]


def test_no_example_contradicts_the_organizer(tmp_path: Path) -> None:
    own = Design(annotators=("anna",), instructions=("Choose what sounds best.",))
    assert shown_example(own, "en", tmp_path / "own") is None
    assert shown_example(Design(annotators=("anna",)), "ru", tmp_path / "ru") is None  # none in English instead


def shown_example(design: Design, language: str, folder: Path) -> Any:
    example = Example("x", ("It.",), (("il est.",), ("elle est.",))[: 2 if design.mode == "pairs" else 1], 0, TAG)
    options = Design(**{**{n: getattr(design, n) for n in Design.__slots__}, "options": ("il", "elle")})
    study = make_study(suite_of(Header("x", "en", language), lambda: [example]), options)
    folder.mkdir(exist_ok=True)
    log = open_log(study, folder)
    state = Client(study, log).state()
    log.close()
    return state["example"]


TAG = {"pronoun": "il"}


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
    state = client.state()
    item = next(item for item in state["items"] if item["id"] == client.shown("anna", "a0"))
    assert item["candidates"][0]["parts"] == [["", True], [" était là.", False]]
    assert "Elle" not in json.dumps(state)
    assert client.say("anna", "a0", "elle", "il").status_code == 200
    assert client.say("anna", "a0", "elle", "bad", request="request-2").status_code == 422
    log.close()


def test_a_verdict_shows_both_pronouns_without_the_program_s_opinion(make_verdicts: Make, tmp_path: Path) -> None:
    study = make_verdicts()
    log = open_log(study, tmp_path)
    client = Client(study, log)
    state = client.state()
    by_id = {item["id"]: item for item in state["items"]}
    first, third = (by_id[client.shown("anna", name)] for name in ("a/1", "a/3"))
    assert first["source"] == ["Here is a bat.", "It is old."]
    assert first["source_parts"] == [["It", True], [" is old.", False]]
    assert first["context"] == ["Hier ist ein Schläger."]
    assert first["candidates"][0]["parts"] == [["Sie", True], [" ist alt.", False]]
    assert third["candidates"][0]["parts"] == [["Rot.", False]]
    for secret in ('correct"', "not found", "outcome", '"a"', "a/1", "digest"):
        assert secret not in json.dumps(state["items"])
    assert state["example"]["verdict"].startswith("Wrong")
    assert client.say("anna", "a/1", "right").status_code == 200
    assert client.say("anna", "a/1", "right", "wrong", request="request-2").status_code == 422
    assert client.say("anna", "a/2", "a", request="request-3").status_code == 422
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
    assert client.answers() == {}
    assert [answer.choice for answer in client.log.answers()] == [("a",), ()]


def test_others_neither_see_nor_change_an_answer(client: Client) -> None:
    client.say("anna", "p0", "a")
    assert client.answers("ben") == {}
    client.say("ben", "p0", "equal")
    assert client.answers() == {"p0": ["a"]}


def test_nobody_answers_what_they_were_not_asked(make: Make, tmp_path: Path) -> None:
    study = make(overlap=1)
    log = open_log(study, tmp_path)
    client = Client(study, log)
    other = study.annotators[1].assignments[0].item
    refused = client.say("anna", client.shown("ben", other), "a")
    assert (refused.status_code, refused.json()["detail"]) == (422, "This item is not assigned to you.")
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
        b'{"request": "request-1", "item": "p0", "choice": ["a"], "elapsed_seconds": -1}',
        b'{"request": "request-1", "item": "p0", "choice": ["a"], "seconds": NaN}',
        b'{"request": "request-1", "item": 5, "choice": ["a"]}',
        b'{"request": "request-1", "item": "\xff", "choice": ["a"]}',
    ],
)
def test_bodies_that_are_no_answers(client: Client, body: bytes) -> None:
    known = body.replace(b'"p0"', json.dumps(client.shown("anna", "p0")).encode())
    reply = client("POST", f"/a/{TOKENS['anna']}/answers", content=known)
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


def test_nobody_fills_the_log(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers and changes per item are limited, also over restarts; an answer that comes twice is no change."""
    monkeypatch.setattr(server, "MOST_ENTRIES", 2)
    study = make(3)
    with contextlib.closing(open_log(study, tmp_path)) as log:
        client = Client(study, log)
        for k in range(5):
            assert client.say("anna", "p0", "ab"[k % 2], request=f"request-{k}").status_code == 200
        for _ in range(2):
            client = Client(study, log)  # a restart
            bodies = [{"request": f"outbox-{k}", "item": client.shown("anna", "p1"), "choice": ["a"]} for k in range(1)]
            client("POST", f"/a/{TOKENS['anna']}/outbox", json=bodies)
            reply = client.say("anna", "p2", "a", request="request-9")
            assert (reply.status_code, reply.json()["detail"]) == (422, "There are too many changes of answers.")
        assert client.say("ben", "p0", "a").status_code == 200
        assert len(log.answers()) == 7


def test_a_study_that_was_edited_is_not_served(make: Make, tmp_path: Path) -> None:
    """Its pages would fail, and answers that mean something else would be acknowledged."""
    study = make()
    with contextlib.closing(open_log(study, tmp_path)) as log:
        Client(study, log).say("anna", "p0", "a")
        flipped = [
            replace(a, assignments=tuple(replace(one, order=one.order[::-1]) for one in a.assignments))
            for a in study.annotators
        ]
        with pytest.raises(BadInput, match=r"were shown in another order .* restore the one they were collected with"):
            Client(replace(study, annotators=tuple(flipped)), log)


@pytest.mark.parametrize("path", [f"/a/{TOKENS['anna']}", f"/admin/{ADMIN}", "/a/unknown"])
def test_a_slash_at_the_end_leads_back_to_this_server(client: Client, path: str) -> None:
    """A full address would be the client's own Host, and http:// behind a proxy: the link would travel in the clear."""
    reply = client("GET", f"{path}/", headers={"Host": "evil.example"})
    assert reply.status_code == 307
    assert reply.headers["location"] == f"../{path.rpartition('/')[2]}"
    assert httpx.URL("https://study.example.org/x" + path + "/").join(reply.headers["location"]).path == f"/x{path}"
    assert client("GET", "/health/", headers={"Host": "evil.example"}).status_code == 404


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
    document = client.get(f"/admin/{ADMIN}/overview").json()
    assert [(one["name"], one["done"], one["total"]) for one in document["annotators"]] == [
        ("anna", 1, 6),
        ("ben", 1, 6),
        ("carla", 0, 6),
    ]
    assert document["annotators"][0]["link"] == f"a/{TOKENS['anna']}"
    assert document["agreement"]["left_out"] == 1
    lines = client.get(f"/admin/{ADMIN}/answers.jsonl").text.splitlines()
    assert [json.loads(line)["annotator"] for line in lines] == ["anna", "ben"]
    table = client.get(f"/admin/{ADMIN}/answers.tsv")
    assert table.text.splitlines()[0].startswith("annotator\titem")
    assert "attachment" in table.headers["content-disposition"]
    assert client.get(f"/admin/{ADMIN}/answers.exe").status_code == 404


def test_a_failing_database_is_reported_and_nothing_is_acknowledged(client: Client, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "answers.sqlite", isolation_level=None) as db:
        db.execute("CREATE TRIGGER full BEFORE INSERT ON anaphora_answers BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        reply = client.say("anna", "p0", "a")
        assert (reply.status_code, "stored" in reply.text) == (503, False)
        assert str(tmp_path) not in reply.text
        db.execute("DROP TRIGGER full")
    db.close()
    assert client.say("anna", "p0", "a").status_code == 200
