"""The web server of a study: pages, questions, answers. An answer is acknowledged once it is on disk.

Whoever has a link can answer in its annotator's name, and see and change only that annotator's answers. The server
knows links only by their hashes and writes none of them into a log.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, Literal, TypeVar
from urllib.parse import quote

from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import ClientDisconnect

from anaphora.core.errors import AnaphoraError
from anaphora.study.analysis import current_answers
from anaphora.study.export import answer_rows, as_jsonl, as_tsv
from anaphora.study.middleware import (
    ADMIN_BURST,
    ADMIN_RATE,
    MAX_BODY,
    UNKNOWN_BURST,
    UNKNOWN_RATE,
    RateLimit,
    SecureHeaders,
)
from anaphora.study.model import Annotator, Assignment, Study
from anaphora.study.pages import annotator_state, opaque_ids, study_overview
from anaphora.study.store import Answer, AnswerLog, Conflict

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
MOST_ENTRIES = 100  # of an annotator in the log, per item: answers, changes and undos
HTML = {"Content-Type": "text/html; charset=utf-8"}
NO_STUDY = "This link does not belong to a study. Check that it is complete."


class AnswerRequest(BaseModel):
    """The body of an answer. An empty choice takes the previous answer back."""

    model_config = ConfigDict(extra="forbid", strict=True)
    request: str = Field(pattern=r"^[A-Za-z0-9-]{8,64}$")
    item: str
    choice: list[str] = Field(max_length=200)
    seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)
    elapsed_seconds: float | None = Field(default=None, ge=0, le=1e9, allow_inf_nan=False)


ONE, SEVERAL = TypeAdapter(AnswerRequest), TypeAdapter(list[AnswerRequest])


class StudyService:
    """Requests by link: whose link it is, and what it may do. ids: annotator → item → the opaque id of their page."""

    def __init__(
        self, study: Study, admin: str, tokens: Mapping[str, str], log: AnswerLog, limit: RateLimit | None = None
    ) -> None:
        self.study, self.tokens, self.log = study, tokens, log
        self._writer = BatchWriter(log)
        self._shown: dict[Assignment, dict[str, Any]] = {}
        self._overview: dict[str, Any] | None = None
        self._overview_due = 0.0
        self._one_at_a_time = CapacityLimiter(1)
        self._limit, self._admin_limit = limit or RateLimit(), RateLimit(ADMIN_RATE, ADMIN_BURST)
        self._unknown_limit = RateLimit(UNKNOWN_RATE, UNKNOWN_BURST)
        self._annotators = {_hash(tokens[annotator.name]): annotator for annotator in study.annotators}
        self._admin = _hash(admin)
        self.ids = opaque_ids(study, admin)
        self._items = {name: {shown: item for item, shown in ids.items()} for name, ids in self.ids.items()}
        before = log.answers()
        current_answers(study, before, log.name)  # an error if they are answers to a study.json that was changed since
        self._entries = Counter(answer.annotator for answer in before)

    def knows(self, token: str) -> bool:
        return _hash(token) in self._annotators or self._is_unknown()

    def knows_admin(self, token: str) -> bool:
        """Return whether a link is the admin's, within the limit of requests."""
        if _hash(token) != self._admin:
            return self._is_unknown()
        if not self._admin_limit.allows("admin"):
            raise too_many()
        return True

    def annotator(self, token: str) -> Annotator:
        """Return the annotator of a link, within the limit of requests."""
        annotator = self._annotators.get(_hash(token))
        if annotator is None:
            self._is_unknown()
            raise HTTPException(404, NO_STUDY)
        if not self._limit.allows(annotator.name):
            raise too_many()
        return annotator

    def _is_unknown(self) -> Literal[False]:
        """Count an unknown link. All of them share one limit, so that known links are not affected."""
        if not self._unknown_limit.allows("unknown"):
            raise too_many()
        return False

    def entry(self, annotator: Annotator, answer: AnswerRequest) -> Answer:
        """Return the entry of the log for an answer that this annotator can give."""
        item = self._items[annotator.name].get(answer.item)
        if item is None and not self.study.blind:  # an answer that a page of 0.1.0 could not send
            item = answer.item
        order = None if item is None else self.study.orders.get((annotator.name, item))
        choice = tuple(answer.choice)
        problem = "This item is not assigned to you." if order is None else self.study.problem_with(choice)
        if self._entries[annotator.name] >= MOST_ENTRIES * len(annotator.assignments):
            problem = problem or "There are too many changes of answers."
        if item is None or order is None or problem:
            raise HTTPException(422, problem)
        seconds, elapsed = answer.seconds, answer.elapsed_seconds
        return Answer(annotator.name, item, choice, order, answer.request, seconds, elapsed=elapsed)

    async def keep(self, annotator: Annotator, answer: AnswerRequest) -> dict[str, Any]:
        """Append an answer to the log; it is on disk before this returns."""
        (kept,) = await self._writer.keep([self.entry(annotator, answer)])
        if isinstance(kept, Conflict):
            raise kept
        self._entries[annotator.name] += 1
        return {"stored": kept.request, "item": self.ids[annotator.name][kept.item], "number": kept.number}

    async def keep_all(self, annotator: Annotator, requests: list[AnswerRequest]) -> dict[str, Any]:
        """Append answers to the log in their order; one that cannot be kept does not affect the next."""
        refused, entries = {}, []
        for answer in requests:
            try:
                entries.append(self.entry(annotator, answer))
            except HTTPException as error:
                refused[answer.request] = str(error.detail)
        stored = []
        for entry, kept in zip(entries, await self._writer.keep(entries), strict=True):
            if isinstance(kept, Conflict):
                refused[entry.request] = str(kept)
            else:
                stored.append(kept.request)
        self._entries[annotator.name] += len(stored)
        return {"stored": stored, "refused": refused}

    def overview(self) -> Response:
        """Return the admin's overview. Where it takes long to compute, it is reused for ten times as long."""
        if self._overview is None or time.monotonic() >= self._overview_due:
            began = time.monotonic()
            self._overview = study_overview(self.study, self.log.answers(), self.tokens, self.log.name)
            seconds = time.monotonic() - began
            self._overview_due = began + (11 * seconds if seconds > 0.1 else 0.0)
        return JSONResponse(self._overview)

    async def slowly(self, make: Callable[..., Response], *arguments: Any) -> Response:
        """Make a slow reply in a thread, one at a time, so that answers do not wait for it."""
        return await to_thread.run_sync(make, *arguments, limiter=self._one_at_a_time)

    def state(self, annotator: Annotator) -> Response:
        log, ids = self.log.answers(annotator.name), self.ids[annotator.name]
        state = annotator_state(self.study, annotator, log, self.log.name, ids, self._shown)
        return JSONResponse(state)  # as it is: FastAPI would copy every value first

    def exported(self, kind: str) -> Response:
        name = f'attachment; filename="answers.{kind}"'
        headers = {"Content-Disposition": name, "Content-Type": "text/plain; charset=utf-8"}
        current = current_answers(self.study, self.log.answers(), self.log.name)
        rows = answer_rows(self.study, sorted(current.values(), key=lambda answer: answer.number))
        return Response(as_jsonl(rows) if kind == "jsonl" else as_tsv(rows), headers=headers)


def make_app(service: StudyService) -> FastAPI:
    """Return the application, without FastAPI's documentation pages, which load external scripts."""
    # no automatic redirects: their addresses come from the Host header, and are http:// behind a proxy that adds https
    app = FastAPI(title="Anaphora study", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    app.add_middleware(SecureHeaders)
    app.state.service = service

    @app.exception_handler(AnaphoraError)
    def refused(request: Request, error: AnaphoraError) -> JSONResponse:
        if isinstance(error, Conflict):
            return JSONResponse({"detail": str(error)}, status_code=409)
        LOGGER.error("%s", error)  # it may name paths of this machine, so that it goes to the log only
        return JSONResponse({"detail": "The database cannot be used right now."}, status_code=503)

    @app.get("/")
    def front() -> Response:
        return page("front.html")

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"study": service.study.id}

    @app.get("/static/{name}")
    def static(name: str) -> Response:
        if name not in FILES:
            raise HTTPException(404, "no such file")
        return page(name, headers={"Content-Type": FILES[name], "Cache-Control": "no-cache"})

    @app.get("/a/{token}")
    def annotator_page(token: str) -> Response:
        return page("study.html") if service.knows(token) else page("front.html", 404)

    @app.get("/a/{token}/")
    @app.get("/admin/{token}/")
    def without_slash(token: str) -> Response:
        return Response(status_code=307, headers={"Location": f"../{quote(token, safe='')}"})

    @app.get("/a/{token}/state")
    async def state(token: str) -> Response:
        return await service.slowly(service.state, service.annotator(token))

    @app.post("/a/{token}/answers")
    async def answer(token: str, request: Request) -> dict[str, Any]:
        annotator = service.annotator(token)
        return await service.keep(annotator, parse(ONE, await body_of(request)))

    @app.post("/a/{token}/outbox")
    async def outbox(token: str, request: Request) -> dict[str, Any]:
        """Keep all answers of a page that is being closed, in one request."""
        annotator = service.annotator(token)
        return await service.keep_all(annotator, parse(SEVERAL, await body_of(request)))

    @app.get("/admin/{token}")
    def admin_page(token: str) -> Response:
        return page("admin.html") if service.knows_admin(token) else page("front.html", 404)

    @app.get("/admin/{token}/overview")
    async def admin_overview(token: str) -> Response:
        if not service.knows_admin(token):
            raise HTTPException(404, NO_STUDY)
        return await service.slowly(service.overview)

    @app.get("/admin/{token}/answers.{kind}")
    async def admin_answers(token: str, kind: str) -> Response:
        if not service.knows_admin(token) or kind not in ("jsonl", "tsv"):
            raise HTTPException(404, NO_STUDY)
        return await service.slowly(service.exported, kind)

    return app


def too_many() -> HTTPException:
    return HTTPException(429, "Too many requests at once.", headers={"Retry-After": "1"})


def page(name: str, status: int = 200, headers: Mapping[str, str] = HTML) -> Response:
    return Response((resources.files("anaphora.study") / "page" / name).read_bytes(), status, headers=headers)


async def body_of(request: Request) -> bytes:
    """Return the body; one that is too long is not read to its end."""
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
    except ClientDisconnect:  # no one reads the reply, and no traceback belongs in the log
        raise HTTPException(408, "The request was not complete.") from None
    return body


def parse(kind: TypeAdapter[Body], body: bytes) -> Body:
    try:
        return kind.validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise HTTPException(422, f"{field}: {first['msg']}" if field else str(first["msg"])) from None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


# Writing: answers that arrive together share a transaction.

AT_ONCE = 200  # requests in one transaction
MOST_ANSWERS = 2_000  # in one transaction: databases bind a limited number of values (SQLite 32,766)


class BatchWriter:
    """Write answers that arrive together in one transaction, so that annotators do not queue for the disk."""

    def __init__(self, log: AnswerLog) -> None:
        self._log = log
        self._thread = CapacityLimiter(1)  # its own: those of other requests may all be taken
        self._waiting: list[tuple[Sequence[Answer], asyncio.Future[list[Answer | Conflict]]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def keep(self, answers: Sequence[Answer]) -> list[Answer | Conflict]:
        """Return the answers as they are in the log, or conflicts; they are on disk before this returns."""
        outcome: asyncio.Future[list[Answer | Conflict]] = asyncio.get_running_loop().create_future()
        self._waiting.append((answers, outcome))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await outcome

    def _next(self) -> list[tuple[Sequence[Answer], asyncio.Future[list[Answer | Conflict]]]]:
        """Take the requests that are written together: at least one, and no more answers than a database can bind."""
        number = answers = 0
        for some, _ in self._waiting[:AT_ONCE]:
            answers += len(some)
            if number and answers > MOST_ANSWERS:
                break
            number += 1
        batch, self._waiting = self._waiting[:number], self._waiting[number:]
        return batch

    async def _write(self) -> None:
        try:
            while self._waiting:
                batch = self._next()
                everything = [answer for answers, _ in batch for answer in answers]
                failure: Exception | None = None
                kept: Iterator[Answer | Conflict] = iter(())
                try:
                    kept = iter(await to_thread.run_sync(self._log.append_all, everything, limiter=self._thread))
                except Exception as error:  # raised for those who wait; the next batch may succeed
                    failure = error
                for answers, outcome in batch:
                    result = [next(kept) for _ in answers] if failure is None else []
                    if outcome.done():  # the request was canceled
                        continue
                    if failure is not None:
                        outcome.set_exception(failure)
                    else:
                        outcome.set_result(result)
        finally:
            self._writing = None
