"""The web server of a study: pages, questions, answers. An answer is acknowledged when it is on the disk, not before.

Whoever has a link can answer in its annotator's name, and see and change only that annotator's answers. The server
knows links by their hashes only and writes none of them into a log.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, Literal, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect

from anaphora.core.errors import AnaphoraError
from anaphora.study.analysis import answer_rows, as_jsonl, as_tsv, current_answers
from anaphora.study.guard import (
    ADMIN_BURST,
    ADMIN_RATE,
    MAX_BODY,
    UNKNOWN_BURST,
    UNKNOWN_RATE,
    RateLimit,
    SecureHeaders,
)
from anaphora.study.model import Annotator, Assignment, Study
from anaphora.study.store import Answer, AnswerLog, Conflict
from anaphora.study.view import annotator_state, opaque_ids, overview
from anaphora.study.writer import Writer

FILES = {
    "study.css": "text/css; charset=utf-8",
    "study.js": "text/javascript; charset=utf-8",
    "admin.js": "text/javascript; charset=utf-8",
    "parts.js": "text/javascript; charset=utf-8",
    "outbox.js": "text/javascript; charset=utf-8",
    "clock.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
LOGGER = logging.getLogger("uvicorn.error")
Body = TypeVar("Body")
NO_STUDY = "This link leads to no study. Is it complete?"


class Said(BaseModel):
    """The body of an answer. An empty choice takes the answer before back."""

    model_config = ConfigDict(extra="forbid", strict=True)
    request: str = Field(pattern=r"^[A-Za-z0-9-]{8,64}$")
    item: str
    choice: list[str] = Field(max_length=200)
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    elapsed_seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)


ONE, SEVERAL = TypeAdapter(Said), TypeAdapter(list[Said])


class Desk:
    """Who is behind a link, and what they may do. ids: annotator → item → the id by which their page knows it."""

    def __init__(
        self, study: Study, admin: str, tokens: Mapping[str, str], log: AnswerLog, limit: RateLimit | None = None
    ) -> None:
        self.study, self.tokens, self.log = study, tokens, log
        self._writer = Writer(log)
        self._shown: dict[Assignment, dict[str, Any]] = {}
        self._overview: dict[str, Any] | None = None
        self._overview_due = 0.0
        self._one_at_a_time = CapacityLimiter(1)
        self._limit, self._admin_limit = limit or RateLimit(), RateLimit(ADMIN_RATE, ADMIN_BURST)
        self._unknown_limit = RateLimit(UNKNOWN_RATE, UNKNOWN_BURST)
        self._people = {_hash(tokens[annotator.name]): annotator for annotator in study.annotators}
        self._admin = _hash(admin)
        self.ids = opaque_ids(study, admin)
        self._items = {name: {shown: item for item, shown in ids.items()} for name, ids in self.ids.items()}

    def knows(self, token: str) -> bool:
        return _hash(token) in self._people or self._is_unknown()

    def knows_admin(self, token: str) -> bool:
        """Whether a link is the admin's, who may not ask too often either."""
        if _hash(token) != self._admin:
            return self._is_unknown()
        if not self._admin_limit.allows("admin"):
            raise too_many()
        return True

    def annotator(self, token: str) -> Annotator:
        """The person of a link, who may not ask too often."""
        found = self._people.get(_hash(token))
        if found is None:
            self._is_unknown()
            raise HTTPException(404, NO_STUDY)
        if not self._limit.allows(found.name):
            raise too_many()
        return found

    def _is_unknown(self) -> Literal[False]:
        """Count a link that leads nowhere. All of them share one limit: known links are not affected."""
        if not self._unknown_limit.allows("unknown"):
            raise too_many()
        return False

    def entry(self, annotator: Annotator, said: Said) -> Answer:
        """An answer that this person can give."""
        item = self._items[annotator.name].get(said.item)
        if item is None and not self.study.blind:  # an answer that a page of 0.1.0 could not send
            item = said.item
        order = None if item is None else self.study.orders.get((annotator.name, item))
        choice = tuple(said.choice)
        problem = "You were not asked this item." if order is None else self.study.problem_with(choice)
        if item is None or order is None or problem:
            raise HTTPException(422, problem)
        seconds, elapsed = said.seconds, said.elapsed_seconds
        return Answer(annotator.name, item, choice, order, said.request, seconds, elapsed=elapsed)

    async def keep(self, annotator: Annotator, said: Said) -> dict[str, Any]:
        """Put an answer into the log; it is on the disk before this returns."""
        (kept,) = await self._writer.keep([self.entry(annotator, said)])
        if isinstance(kept, Conflict):
            raise kept
        return {"stored": kept.request, "item": self.ids[annotator.name][kept.item], "number": kept.number}

    async def keep_all(self, annotator: Annotator, waiting: list[Said]) -> dict[str, Any]:
        """Put answers into the log in their order; one that cannot be kept is not in the way of the next."""
        refused, entries = {}, []
        for said in waiting:
            try:
                entries.append(self.entry(annotator, said))
            except HTTPException as error:
                refused[said.request] = str(error.detail)
        stored = []
        for entry, kept in zip(entries, await self._writer.keep(entries), strict=True):
            if isinstance(kept, Conflict):
                refused[entry.request] = str(kept)
            else:
                stored.append(kept.request)
        return {"stored": stored, "refused": refused}

    def overview(self) -> Response:
        """The admin's overview. Where it takes long to compute, the last one is shown for ten times as long."""
        if self._overview is None or time.monotonic() >= self._overview_due:
            began = time.monotonic()
            self._overview = overview(self.study, self.log.answers(), self.tokens, self.log.name)
            seconds = time.monotonic() - began
            self._overview_due = began + (11 * seconds if seconds > 0.1 else 0.0)
        return JSONResponse(self._overview)

    async def slowly(self, make: Callable[..., Response], *arguments: Any) -> Response:
        """Make a reply that takes a while in a thread, one after the other, so that answers need not wait for them."""
        return await to_thread.run_sync(make, *arguments, limiter=self._one_at_a_time)

    def state(self, annotator: Annotator) -> Response:
        log, ids = self.log.answers(annotator.name), self.ids[annotator.name]
        state = annotator_state(self.study, annotator, log, self.log.name, ids, self._shown)
        return JSONResponse(state)  # as it is: FastAPI would copy every value first

    def exported(self, kind: str, headers: Mapping[str, str]) -> Response:
        current = current_answers(self.study, self.log.answers(), self.log.name)
        rows = answer_rows(self.study, sorted(current.values(), key=lambda answer: answer.number))
        return Response(as_jsonl(rows) if kind == "jsonl" else as_tsv(rows), headers=headers)


def make_app(desk: Desk) -> FastAPI:
    """The application; its documentation pages are off, as they would load scripts from elsewhere."""
    app = FastAPI(title="Anaphora study", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_middleware(SecureHeaders)
    app.state.desk = desk

    @app.exception_handler(AnaphoraError)
    def refused(request: Request, error: AnaphoraError) -> JSONResponse:
        if isinstance(error, Conflict):
            return JSONResponse({"detail": str(error)}, status_code=409)
        LOGGER.error("%s", error)  # of the machine, for whoever serves the study; others need not know its paths
        return JSONResponse({"detail": "The database cannot be used right now."}, status_code=503)

    @app.get("/")
    def front() -> Response:
        return page("front.html")

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"study": desk.study.id}

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in FILES:
            raise HTTPException(404, "no such file")
        return Response(page_file(name), headers={"Content-Type": FILES[name], "Cache-Control": "no-cache"})

    add_annotator_routes(app, desk)
    add_admin_routes(app, desk)
    return app


def add_annotator_routes(app: FastAPI, desk: Desk) -> None:
    @app.get("/a/{token}")
    def annotator_page(token: str) -> Response:
        return page("study.html") if desk.knows(token) else page("front.html", 404)

    @app.get("/a/{token}/state")
    async def state(token: str) -> Response:
        return await desk.slowly(desk.state, desk.annotator(token))

    @app.post("/a/{token}/answers")
    async def answer(token: str, request: Request) -> dict[str, Any]:
        annotator = desk.annotator(token)
        return await desk.keep(annotator, parse(ONE, await body_of(request)))

    @app.post("/a/{token}/outbox")
    async def outbox(token: str, request: Request) -> dict[str, Any]:
        """All answers that wait on a page which is being closed: one request, as it cannot wait for replies."""
        annotator = desk.annotator(token)
        return await desk.keep_all(annotator, parse(SEVERAL, await body_of(request)))


def add_admin_routes(app: FastAPI, desk: Desk) -> None:
    @app.get("/admin/{token}")
    def admin_page(token: str) -> Response:
        return page("admin.html") if desk.knows_admin(token) else page("front.html", 404)

    @app.get("/admin/{token}/overview")
    async def admin_overview(token: str) -> Response:
        if not desk.knows_admin(token):
            raise HTTPException(404, NO_STUDY)
        return await desk.slowly(desk.overview)

    @app.get("/admin/{token}/answers.{kind}")
    async def admin_answers(token: str, kind: str) -> Response:
        if not desk.knows_admin(token) or kind not in ("jsonl", "tsv"):
            raise HTTPException(404, NO_STUDY)
        name = f'attachment; filename="answers.{kind}"'
        headers = {"Content-Disposition": name, "Content-Type": "text/plain; charset=utf-8"}
        return await desk.slowly(desk.exported, kind, headers)


def too_many() -> HTTPException:
    return HTTPException(429, "Too many requests at once.", headers={"Retry-After": "1"})


def page(name: str, status: int = 200) -> Response:
    return Response(page_file(name), status, headers={"Content-Type": "text/html; charset=utf-8"})


async def body_of(request: Request) -> bytes:
    """The body, unless it is too long: then it is not read to its end."""
    too_long = HTTPException(413, f"A request has at most {MAX_BODY:,} bytes.")
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length[:30]) > MAX_BODY:
        raise too_long
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > MAX_BODY:
                raise too_long
    except ClientDisconnect:  # nobody is left to read the reply, and no traceback belongs into the log
        raise HTTPException(408, "The request was not complete.") from None
    return body


def parse(kind: TypeAdapter[Body], body: bytes) -> Body:
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise HTTPException(422, f"{place}: {first['msg']}" if place else str(first["msg"])) from None


def page_file(name: str) -> bytes:
    return (resources.files("anaphora.study") / "page" / name).read_bytes()


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
