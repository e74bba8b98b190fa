"""`openai:URL?model=NAME` and `judge:URL?model=NAME`: OpenAI-compatible servers (vLLM, llama.cpp, hosted models)."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.parsing import check_text
from anaphora.runs import CandidateScores, equal_pairs
from anaphora.suites.example import Example
from anaphora.systems import KINDS, SERVER
from anaphora.systems.context import Options, ScoringInput, parse_bool, split_settings
from anaphora.systems.encoding import BASE_PROMPT, CHAT_PROMPT, PLACES, continued, english_name, fill, read_prompt
from anaphora.systems.openai.answers import (
    CHOOSE_PROMPT,
    LETTERS,
    SHOWN,
    Completion,
    NoAnswerGuard,
    PromptLogprobs,
    add_up,
    answer_text,
    combine,
    common_tokens,
    comparable,
    first_token,
    is_of,
    lettered,
    parse_completion,
    parse_echo,
    parse_reply,
    rotations,
    similarity,
)
from anaphora.systems.openai.concurrency import RateLimit
from anaphora.systems.openai.http import DEADLINE, Client, Rejected

KEY = "OPENAI_API_KEY"
OPTIONAL = ("top_logprobs", "logprobs", "max_tokens", "temperature")  # what a server may not accept in a chat
MODES = ("score", "choose", "generate")
REMEDY = "Use another mode: ?mode=choose or ?mode=generate"
OTHER_TEXT = " (those in its answer are not of the text that was sent: it may have been truncated)"
# Requests for the log-probabilities of a prompt, tried in turn until the server understands one
LOGPROB_REQUESTS: tuple[dict[str, Any], ...] = (
    {"echo": True, "logprobs": 1, "max_tokens": 0},
    {"echo": True, "logprobs": 1, "max_tokens": 1},
    {"prompt_logprobs": 0, "max_tokens": 1},
)


class OpenAISystem:
    """A model behind a server.

    Settings in the spec:
    model: its name at the server
    mode: score (log-probabilities of the candidates), choose (the model chooses among the candidates, in every
        rotation of their order) or generate (the model translates; the nearest candidate wins)
    prompt: a file with {source}, {source_language}, {target_language}, and in mode choose {candidates}
    chat: yes or no: through chat or through plain completions (no in mode score, else yes)
    max_tokens: maximum length of an answer (16 in mode choose, else 512); a reasoning model needs room to think
    timeout (120): seconds without a byte; deadline (5 × timeout): seconds for a whole request
    concurrency (8), retries (5), requests_per_minute (no limit): how the server is asked
    key_env: the name of the environment variable that holds the key (OPENAI_API_KEY)
    """

    traits = SERVER

    def __init__(self, what: str, options: Options) -> None:
        url, settings = read_spec(what)
        self.options, self.server, self.mode = options, Server(url, settings), settings.get("mode", "score")
        if self.mode not in MODES:
            raise AnaphoraError(
                f"unknown mode {self.mode!r}{did_you_mean(self.mode, MODES)}. Known: {', '.join(MODES)}"
            )
        self.chat = parse_bool(settings["chat"]) if "chat" in settings else self.mode != "score"
        if self.mode == "choose" and not self.chat:
            raise AnaphoraError("mode=choose needs a chat: leave out chat=no, or use mode=generate")
        own = CHOOSE_PROMPT if self.mode == "choose" else CHAT_PROMPT if self.chat else BASE_PROMPT
        self.prompt = read_prompt(settings.get("prompt")) or own
        if self.mode == "choose" and "{candidates}" not in self.prompt:
            raise BadInput(settings["prompt"], "the prompt has no {candidates}, which mode=choose needs")
        self.max_tokens = int(number(settings, "max_tokens", 16 if self.mode == "choose" else 512, least=1))
        self._request, self._request_known_good = 0, False
        self._guard = NoAnswerGuard()

    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = {"url": self.server.url, "model": self.server.model, "mode": self.mode}
        settings |= {"prompt": self.prompt, "chat": self.chat}
        return settings if self.mode == "score" else {**settings, "max_tokens": self.max_tokens}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Yield each example's number with its answer, as the server gives them."""
        ask = {"score": self._score, "choose": self._choose, "generate": self._generate}[self.mode]
        todo = (number for number in range(len(examples)) if number not in done)
        yield from self.server.each(lambda n: ask(self.options.context.scoring_input(examples[n])), todo)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Return what the model writes when it is asked to translate. Such servers have no beam search."""
        if beams not in (None, 1):
            raise AnaphoraError("openai: servers have no beam search. Leave out --beams")
        translations = dict(self.server.each(lambda n: self._translation(texts[n], max_tokens)[0], range(len(texts))))
        return [translations[n] for n in range(len(texts))]

    def _score(self, question: ScoringInput) -> CandidateScores:
        prompt = self._text(self.prompt, question.source)
        if self.chat:
            readings = [self._read_chat(prompt, target) for target in question.targets]
            starts: list[int | None] = [None]
        else:
            texts = [continued(prompt, target) for target in question.targets]
            readings = [self._read(text) for text in texts]
            starts = [first_token(r.tokens, text, len(prompt)) for r, text in zip(readings, texts, strict=True)]
        known = [start for start in starts if start is not None]
        if len(known) < len(starts):  # the tokens do not spell the text: compare with those of the prompt
            alone = self._read_chat(prompt, None) if self.chat else self._read(prompt)
            known = [common_tokens(alone.tokens, reading.tokens) for reading in readings]
        return add_up(readings, min(known), self.options.margins_only)

    def _read(self, text: str) -> PromptLogprobs:
        reason = ""
        for index in range(self._request, len(LOGPROB_REQUESTS)):
            request = LOGPROB_REQUESTS[index]
            try:
                answer = self.server.complete(text, request)
            except Rejected as error:
                if error.status == 404:
                    raise AnaphoraError(f"{error}. If the server has the model for chats only: {REMEDY}") from None
                if self._request_known_good and index == self._request:  # so this text is the problem
                    raise AnaphoraError(f"{error}: {text[:60]!r}…") from None
                reason = f" ({error.reason})"
                continue
            if "echo" in request:
                reading = parse_echo(answer, text, request["max_tokens"])
            else:
                reading = answer.prompt if is_of(answer, text) else None
            if reading is not None:
                self._request, self._request_known_good = index, True
                return reading
            reason = OTHER_TEXT if answer.echoed or answer.prompt else reason
        raise AnaphoraError(f"{self.server.url}: the server gives no log-probabilities of a prompt{reason}. {REMEDY}")

    def _read_chat(self, prompt: str, target: str | None) -> PromptLogprobs:
        """Return the tokens of a chat with their log-probabilities, which only vLLM gives."""
        messages = [{"role": "user", "content": prompt}]
        if target is not None:
            messages.append({"role": "assistant", "content": target})
        body = {"prompt_logprobs": 0, "max_tokens": 1, "add_generation_prompt": target is None}
        reason = ""
        try:
            answer = self.server.chat(messages, body)
            reading = answer.prompt if is_of(answer, prompt + (target or "")) else None
            reason = OTHER_TEXT if answer.prompt else ""
        except Rejected as error:
            reading, reason = None, f" ({error.reason})"
        if reading is None:
            raise AnaphoraError(
                f"{self.server.url}: the server gives no log-probabilities of a chat{reason}. {REMEDY}, or score "
                "without a chat: ?chat=no"
            )
        return reading

    def _choose(self, question: ScoringInput) -> CandidateScores:
        different = list(dict.fromkeys(question.targets))
        if len(different) > len(LETTERS):
            raise AnaphoraError(f"{len(different)} candidates are too many to choose from. Use ?mode=generate")
        replies, no_answer = [], []
        for order in rotations(len(different)) if len(different) > 1 else ():
            shown = lettered([different[candidate] for candidate in order])
            messages = [{"role": "user", "content": self._text(self.prompt, question.source, candidates=shown)}]
            body = {"max_tokens": self.max_tokens, "logprobs": True, "top_logprobs": 20}
            answer = self.server.chat(messages, body)
            replies.append(parse_reply(answer, len(different)))
            if replies[-1].letter is None and replies[-1].logprobs is None:
                no_answer.append(self.server.secret.stored(answer_text(answer))[:SHOWN])
        if self._guard.gives_up(bool(replies) and len(no_answer) == len(replies)):
            written = self.server.secret.message("".join(no_answer[-1:]))[:60]
            raise AnaphoraError(
                f"{self.server.url}: the model does not answer with a letter, but {written!r}. If it reasons "
                "before it answers, allow more tokens: ?max_tokens=4000; or use ?mode=generate"
            )
        scores = dict(zip(different, combine(replies) if replies else [0.0], strict=True))
        extra = {"unanswered": len(no_answer), "answer": no_answer[0]} if no_answer else {}
        return CandidateScores([scores[t] for t in question.targets], None, equal_pairs(question.targets), extra=extra)

    def _generate(self, question: ScoringInput) -> CandidateScores:
        """Score each candidate by its similarity to the model's own translation: 0 is the same text."""
        translation, cut = self._translation(question.source, self.max_tokens)
        own, targets = comparable(translation), [comparable(target) for target in question.targets]
        scores = [0.0 if target == own else similarity(own, target) - 1.0 for target in targets]
        extra = {"translation": translation} | ({} if translation else {"unanswered": 1})
        return CandidateScores(scores, None, equal_pairs(targets), int(cut), extra)

    def _translation(self, text: str, max_tokens: int) -> tuple[str, bool]:
        """Return the model's translation of a text, and whether it was truncated."""
        if not self.chat:
            body = {"max_tokens": max_tokens, "stop": ["\n"]}
            answer = self.server.complete(self._text(self.prompt, text), body)
            return self.server.secret.stored(answer_text(answer).partition("\n")[0]), answer.cut
        prompt = CHAT_PROMPT if self.mode == "choose" else self.prompt
        messages = [{"role": "user", "content": self._text(prompt, text)}]
        answer = self.server.chat(messages, {"max_tokens": max_tokens})
        return self.server.secret.stored(answer_text(answer)), answer.cut

    def _text(self, prompt: str, source: str, **more: str) -> str:
        languages = map(english_name, self.options.languages)
        return fill(prompt, dict(zip(PLACES, (source, *languages), strict=True)) | more)


class Server(Client[Completion]):
    """One model at one server."""

    def __init__(self, url: str, settings: Mapping[str, str]) -> None:
        self.model = settings["model"]
        concurrency = int(number(settings, "concurrency", 8, least=1))
        per_minute = number(settings, "requests_per_minute", 0)
        timeout = number(settings, "timeout", 120, least=0.001)
        key_name = settings.get("key_env", KEY)
        super().__init__(
            url,
            key=_key(key_name, required="key_env" in settings),
            key_name=key_name,
            timeout=timeout,
            deadline=number(settings, "deadline", DEADLINE * timeout, least=0.001),
            retries=int(number(settings, "retries", 5)),
            concurrency=concurrency,
            limit=RateLimit(per_minute or None, burst=concurrency),
            parse=parse_completion,
        )
        self._refused: frozenset[str] = frozenset()  # which of OPTIONAL this server does not take
        self._lock = threading.Lock()

    def complete(self, prompt: str, body: Mapping[str, Any]) -> Completion:
        """Return the completion of a prompt."""
        return self.post("completions", {"model": self.model, "prompt": prompt, "temperature": 0, **body})

    def chat(self, messages: Sequence[Mapping[str, str]], body: Mapping[str, Any]) -> Completion:
        """Return the answer in a chat, requested without the parameters that the server has refused."""
        while True:
            refused, fitted = self._refused, {"temperature": 0, **body}
            if "top_logprobs" in refused and "top_logprobs" in fitted:
                fitted["top_logprobs"] = 5  # fewer are taken by some
            if "logprobs" in refused:
                fitted = {key: value for key, value in fitted.items() if key not in ("logprobs", "top_logprobs")}
            if "temperature" in refused:
                del fitted["temperature"]
            if "max_tokens" in refused and "max_tokens" in fitted:
                fitted["max_completion_tokens"] = fitted.pop("max_tokens")
            try:
                return self.post("chat/completions", {"model": self.model, "messages": messages, **fitted})
            except Rejected as error:
                named = (name for name in OPTIONAL if name in fitted and error.names(name))
                newly_refused = next((name for name in named if name not in refused), None)
                if newly_refused is None or error.status == 404:
                    raise
                with self._lock:
                    self._refused |= {newly_refused}


def read_spec(what: str, kind: str = "openai") -> tuple[str, Mapping[str, str]]:
    """The server's address and the settings of a spec. A key that is written there is refused, and not repeated."""
    known = KINDS[kind].settings
    address, _, query = what.partition("?")
    check_text(address, "the address of the server")
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    if any("key" in name.lower() and name != "key_env" for name in names):
        raise AnaphoraError(f"a spec must not contain a key: put it into the environment variable {KEY}")
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # for example a port that is no number
        good = False
    if "@" in (parts.netloc if good else address):  # in a path it means nothing
        raise AnaphoraError(f"an address must not contain a user name or password: put the key into {KEY}")
    if not good:
        raise AnaphoraError(
            f"not an address: {address!r}. Write, for example, {kind}:http://127.0.0.1:8000/v1?model=NAME"
        )
    split_settings(f"{address}?{'&'.join(names)}", known)  # names only: no value comes into a message
    settings = split_settings(what, known)[1]
    path = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~") or "/v1"
    url = f"{parts.scheme}://{parts.netloc}{path}"
    if not settings.get("model"):
        raise AnaphoraError(
            f"the model is missing. Write {kind}:{address}?model=NAME; the server lists them at {url}/models"
        )
    return url, settings


def _key(name: str, required: bool) -> str | None:
    """The key from the environment. It is not in any message, and what is meant as its name may be the key itself."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise AnaphoraError("key_env is the NAME of an environment variable that holds the key, not the key")
    key = os.environ.get(name, "").strip()
    if not key and required:
        raise AnaphoraError("the environment variable that key_env names is not set, or is empty")
    if not (key.isascii() and key.isprintable()):
        raise AnaphoraError("the key in the environment has characters that no key can have, for example a line break")
    return key or None


def number(settings: Mapping[str, str], name: str, default: float, least: float = 0) -> float:
    try:
        value = float(settings.get(name, default))
    except ValueError:
        value = -1.0
    if not least <= value < 1e9:
        raise AnaphoraError(f"{name} must be a number{' above 0' if least else ''}, not {settings[name]!r}")
    return value


# `judge:URL?model=NAME`: a language model on a server rates each candidate by itself, from 0 to 100.

# The direct assessment of GEMBA (Kocmi and Federmann 2023, §2), with context and with a question about pronouns
JUDGE_PROMPT = (
    "Score the following translation from {source_language} to {target_language} on a scale from 0 to 100, where 0 "
    'means "no meaning preserved" and 100 means "perfect meaning and grammar". The texts may begin with context: score '
    "the translation of the last sentence in this context. Pay attention to pronouns: each of them must agree with "
    "what it refers to, which may be in the context.\n\n"
    "{source_language} source: {source}\n{target_language} translation: {translation}\n\n"
    "Answer with the number only."
)
BEST = 100.0
NUMBER = re.compile(r"[-−+]?[0-9]+(?:\.[0-9]+)?")
OUT_OF = re.compile(r"[ \t]*/[ \t]*100(?![0-9])")  # the end of 85/100
FIRST_LINE = re.compile(r"[^\w\n+−-]*(?:(?:score|rating)[^\w\n+−-]*)?([0-9]+(?:\.[0-9]+)?)[^\w\n]*\n", re.IGNORECASE)


class JudgeSystem:
    """A model that rates translations; the score of a candidate is its rating.

    Settings in the spec:
    model: its name at the server
    prompt: a file with {source}, {translation}, {source_language} and {target_language}
    max_tokens (16): maximum length of an answer; a reasoning model needs room to think
    timeout, deadline, concurrency, retries, requests_per_minute, key_env: as for `openai:`
    """

    traits = SERVER

    def __init__(self, what: str, options: Options) -> None:
        url, settings = read_spec(what, "judge")
        if options.margins_only:
            raise AnaphoraError("--margins-only is not supported by judge: systems. Leave it out")
        self.options, self.server = options, Server(url, settings)
        self.prompt = read_prompt(settings.get("prompt")) or JUDGE_PROMPT
        if "{translation}" not in self.prompt:
            raise BadInput(
                settings["prompt"],
                "the prompt has no {translation}",
                remedy="Write {translation} where the candidate to be rated belongs.",
            )
        self.max_tokens = int(number(settings, "max_tokens", 16, least=1))
        self._guard = NoAnswerGuard()

    def settings(self) -> dict[str, Any]:
        server = self.server
        return {"url": server.url, "model": server.model, "prompt": self.prompt, "max_tokens": self.max_tokens}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Yield each example's number with the ratings of its candidates, as the server gives them."""
        todo = (number for number in range(len(examples)) if number not in done)
        yield from self.server.each(lambda n: self._rate(self.options.context.scoring_input(examples[n])), todo)

    def _rate(self, question: ScoringInput) -> CandidateScores:
        """Rate all candidates. If one has no rating, none can be preferred: the example has no answer."""
        ratings: dict[str, float] = {}
        no_answer: list[str] = []
        for target in dict.fromkeys(question.targets):
            completion = self._ask(question.source, target)
            rating = parse_rating(completion)
            if rating is None:
                no_answer.append(self.server.secret.stored(answer_text(completion))[:SHOWN])
            else:
                ratings[target] = rating
        if self._guard.gives_up(not ratings):
            written = self.server.secret.message(no_answer[-1])[:60]
            raise AnaphoraError(
                f"{self.server.url}: the model does not answer with a number from 0 to {BEST:g}, but {written!r}. If "
                "it reasons before it answers, allow more tokens: ?max_tokens=4000; or change the prompt: ?prompt=FILE"
            )
        same = equal_pairs(question.targets)
        if no_answer:
            extra = {"unanswered": len(no_answer), "answer": no_answer[0]}
            return CandidateScores([0.0] * len(question.targets), None, same, extra=extra)
        return CandidateScores([ratings[target] for target in question.targets], None, same)

    def _ask(self, source: str, target: str) -> Completion:
        languages = map(english_name, self.options.languages)
        values = dict(zip(PLACES, (source, *languages), strict=True)) | {"translation": target}
        messages = [{"role": "user", "content": fill(self.prompt, values)}]
        return self.server.chat(messages, {"max_tokens": self.max_tokens})


def parse_rating(completion: Completion) -> float | None:
    """Return the rating in an answer, from 0 to 100: its first line if that is a number, or else the only number in it.

    None if there is none. Many models explain themselves after the first line, and are cut there; an answer that is
    cut elsewhere is not read.

    >>> [parse_rating(Completion(text)) for text in ("85", "**Score:** 85/100\\n2 errors", "8 or 9", "120", "good")]
    [85.0, 85.0, None, None, None]
    """
    text = OUT_OF.sub("", answer_text(completion))
    first = FIRST_LINE.match(text)
    numbers = [first[1]] if first is not None else NUMBER.findall(text)
    if len(numbers) != 1 or (completion.cut and first is None):
        return None
    rating = float(numbers[0].replace("−", "-"))
    return rating if 0 <= rating <= BEST else None
