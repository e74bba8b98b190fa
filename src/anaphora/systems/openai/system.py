"""`openai:URL?model=NAME`: any OpenAI-compatible server: vLLM, llama.cpp, hosted models."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator, Sequence
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.suites.example import Example
from anaphora.systems.context import Question
from anaphora.systems.encoding.language_codes import english_name
from anaphora.systems.encoding.prompt import BASE_PROMPT, CHAT_PROMPT, PLACES, continued, fill, read_prompt
from anaphora.systems.openai.choice import CHOOSE_PROMPT, LETTERS, answer_text, combine, lettered, read_reply, rotations
from anaphora.systems.openai.echo import Reading, add_up, common_tokens, first_token, read_echo, read_prompt_logprobs
from anaphora.systems.openai.http_client import Rejected
from anaphora.systems.openai.server import SETTINGS, Server, number, read_spec
from anaphora.systems.openai.similarity import normalise, similarity
from anaphora.systems.options import Options, yes
from anaphora.systems.scored import Answer

MODES = ("score", "choose", "generate")
SHOWN = 100  # characters of an answer that is none, which the run keeps
REMEDY = "Ask it in another way: ?mode=choose or ?mode=generate"
# How servers are asked for the log-probabilities of a prompt, in turn until one is understood
WAYS: tuple[dict[str, Any], ...] = (
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
    max_tokens: how long answers may be (16 in mode choose, else 512); a reasoning model needs room to think
    concurrency (8), timeout (120 seconds), retries (5), requests_per_minute (no limit): how the server is asked
    key_env: the name of the environment variable that holds the key (OPENAI_API_KEY)
    """

    def __init__(self, what: str, options: Options) -> None:
        url, settings = read_spec(what, (*SETTINGS, "mode", "prompt", "chat", "max_tokens"))
        self.options, self.server, self.mode = options, Server(url, settings), settings.get("mode", "score")
        if self.mode not in MODES:
            raise AnaphoraError(
                f"unknown mode {self.mode!r}{did_you_mean(self.mode, MODES)}. Known: {', '.join(MODES)}"
            )
        self.chat = yes(settings["chat"]) if "chat" in settings else self.mode != "score"
        if self.mode == "choose" and not self.chat:
            raise AnaphoraError("mode=choose asks in a chat: leave chat=no out, or use mode=generate")
        own = CHOOSE_PROMPT if self.mode == "choose" else CHAT_PROMPT if self.chat else BASE_PROMPT
        self.prompt = read_prompt(settings.get("prompt")) or own
        if self.mode == "choose" and "{candidates}" not in self.prompt:
            raise BadInput(settings["prompt"], "the prompt has no {candidates}, which mode=choose needs")
        self.max_tokens = int(number(settings, "max_tokens", 16 if self.mode == "choose" else 512, least=1))
        self._way, self._way_is_good = 0, False
        self._mute, self._lock = 0, threading.Lock()  # how many examples had no answer; −1 once one had

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        shown = {
            "url": self.server.url,
            "model": self.server.model,
            "mode": self.mode,
            "prompt": self.prompt,
            "chat": self.chat,
        }
        return shown if self.mode == "score" else {**shown, "max_tokens": self.max_tokens}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """Each example's number with its answer, as the server gives them."""
        ask = {"score": self._score, "choose": self._choose, "generate": self._generate}[self.mode]
        todo = (number for number in range(len(examples)) if number not in done)
        yield from self.server.each(lambda n: ask(self.options.context.question(examples[n])), todo)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """What the model writes when it is asked to translate. Such servers have no beam search."""
        if beams not in (None, 1):
            raise AnaphoraError(
                f"an openai: server has no beam search, and was asked for {beams} beams. Leave --beams out"
            )
        found = dict(self.server.each(lambda n: self._translation(texts[n], max_tokens)[0], range(len(texts))))
        return [found[n] for n in range(len(texts))]

    def _score(self, question: Question) -> Answer:
        """Log-probabilities of the candidates' tokens after the prompt."""
        prompt = self._text(self.prompt, question.source)
        if self.chat:
            readings = [self._read_chat(prompt, target) for target in question.targets]
            starts: list[int | None] = [None]
        else:
            texts = [continued(prompt, target) for target in question.targets]
            readings = [self._read(text) for text in texts]
            starts = [first_token(r.tokens, text, len(prompt)) for r, text in zip(readings, texts, strict=True)]
        known = [start for start in starts if start is not None]
        if len(known) < len(starts):  # characters do not tell where candidates begin: the prompt's own tokens do
            alone = self._read_chat(prompt, None) if self.chat else self._read(prompt)
            known = [common_tokens(alone.tokens, reading.tokens) for reading in readings]
        return add_up(readings, min(known), self.options.margins_only)

    def _read(self, text: str) -> Reading:
        """The tokens of a text with their log-probabilities."""
        said = ""
        for index in range(self._way, len(WAYS)):
            way = WAYS[index]
            try:
                answer = self.server.complete(text, way)
            except Rejected as error:
                if error.status == 404:
                    raise AnaphoraError(f"{error}. If it has the model, but only to chat with: {REMEDY}") from None
                if self._way_is_good and index == self._way:  # then it is not the way that is wrong, but this text
                    raise AnaphoraError(f"{error}: {text[:60]!r}…") from None
                said = f" ({error.said})"
                continue
            reading = read_echo(answer, text, way["max_tokens"]) if "echo" in way else read_prompt_logprobs(answer)
            if reading is not None:
                self._way, self._way_is_good = index, True
                return reading
        raise AnaphoraError(f"{self.server.url}: the server gives no log-probabilities of a prompt{said}. {REMEDY}")

    def _read_chat(self, prompt: str, target: str | None) -> Reading:
        """The tokens of a chat; only vLLM tells them."""
        messages = [{"role": "user", "content": prompt}]
        if target is not None:
            messages.append({"role": "assistant", "content": target})
        body = {"prompt_logprobs": 0, "max_tokens": 1, "add_generation_prompt": target is None}
        said = ""
        try:
            reading = read_prompt_logprobs(self.server.chat(messages, body))
        except Rejected as error:
            reading, said = None, f" ({error.said})"
        if reading is None:
            raise AnaphoraError(
                f"{self.server.url}: the server gives no log-probabilities of a chat{said}. {REMEDY}, or score "
                "without a chat: ?chat=no"
            )
        return reading

    def _choose(self, question: Question) -> Answer:
        """The model's choice among the candidates."""
        different = list(dict.fromkeys(question.targets))
        if len(different) > len(LETTERS):
            raise AnaphoraError(f"{len(different)} candidates are too many to choose from. Use ?mode=generate")
        replies, no_answer = [], []
        for order in rotations(len(different)) if len(different) > 1 else ():
            shown = lettered([different[candidate] for candidate in order])
            messages = [{"role": "user", "content": self._text(self.prompt, question.source, candidates=shown)}]
            body = {"max_tokens": self.max_tokens, "logprobs": True, "top_logprobs": 20}
            choice = self.server.chat(messages, body)["choices"][0]
            replies.append(read_reply(choice, len(different)))
            if replies[-1].letter is None and replies[-1].logprobs is None:
                no_answer.append(answer_text(choice))
        self._note_silence(bool(replies) and len(no_answer) == len(replies), "".join(no_answer[-1:]))
        scores = dict(zip(different, combine(replies) if replies else [0.0], strict=True))
        extra = {"unanswered": len(no_answer), "answer": no_answer[0][:SHOWN]} if no_answer else {}
        return Answer([scores[t] for t in question.targets], None, _same(question.targets), extra=extra)

    def _note_silence(self, silent: bool, written: str) -> None:
        """A model that never answers with a letter is not asked ten thousand times."""
        with self._lock:
            if self._mute >= 0:
                self._mute = self._mute + 1 if silent else -1
            if self._mute >= 8:
                raise AnaphoraError(
                    f"{self.server.url}: the model does not answer with a letter, but {written[:60]!r}. If it thinks "
                    "before it answers, give it room: ?max_tokens=4000; or use ?mode=generate"
                )

    def _generate(self, question: Question) -> Answer:
        """How near each candidate is to the model's own translation: 0 for the same text, less the further away."""
        translation, cut = self._translation(question.source, self.max_tokens)
        own, targets = normalise(translation), [normalise(target) for target in question.targets]
        scores = [0.0 if target == own else similarity(own, target) - 1.0 for target in targets]
        extra = {"translation": translation} | ({} if translation else {"unanswered": 1})
        return Answer(scores, None, _same(targets), int(cut), extra)

    def _translation(self, text: str, max_tokens: int) -> tuple[str, bool]:
        """The model's translation of a text, and whether it was cut for its length."""
        if not self.chat:
            body = {"max_tokens": max_tokens, "stop": ["\n"]}
            choice = self.server.complete(self._text(self.prompt, text), body)["choices"][0]
            return answer_text(choice).partition("\n")[0], choice.get("finish_reason") == "length"
        prompt = CHAT_PROMPT if self.mode == "choose" else self.prompt
        messages = [{"role": "user", "content": self._text(prompt, text)}]
        choice = self.server.chat(messages, {"max_tokens": max_tokens})["choices"][0]
        return answer_text(choice), choice.get("finish_reason") == "length"

    def _text(self, prompt: str, source: str, **more: str) -> str:
        languages = map(english_name, self.options.languages)
        return fill(prompt, dict(zip(PLACES, (source, *languages), strict=True)) | more)


def _same(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of candidates that are the same to the system."""
    return [(i, j) for j, text in enumerate(texts) for i in range(j) if texts[i] == text]
