"""`judge:URL?model=NAME`: a language model on a server rates each candidate by itself, from 0 to 100."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.runs import CandidateScores, equal_pairs
from anaphora.suites.example import Example
from anaphora.systems import SERVER
from anaphora.systems.context import Options, ScoringInput
from anaphora.systems.encoding import english_name
from anaphora.systems.openai.choice import SHOWN, Silence, answer_text
from anaphora.systems.openai.logprobs import Completion
from anaphora.systems.openai.system import Server, number, read_spec
from anaphora.systems.prompts import PLACES, fill, read_prompt

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
        self._silence = Silence()

    def settings(self) -> dict[str, Any]:
        server = self.server
        return {"url": server.url, "model": server.model, "prompt": self.prompt, "max_tokens": self.max_tokens}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Each example's number with the ratings of its candidates, as the server gives them."""
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
                no_answer.append(self.server.mask(answer_text(completion))[:SHOWN])
            else:
                ratings[target] = rating
        if self._silence.note(not ratings):
            written = self.server.safe(no_answer[-1])[:60]
            raise AnaphoraError(
                f"{self.server.url}: the model does not answer with a number from 0 to {BEST:g}, but {written!r}. If "
                "it thinks before it answers, give it room: ?max_tokens=4000; or change the prompt: ?prompt=FILE"
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
    """The rating in an answer, from 0 to 100: its first line if that is a number, or else the only number in it.

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
