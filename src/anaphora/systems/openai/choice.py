"""Forced choice: candidates shown under letters, in every rotation of their order, and what the answers come to."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase
from typing import Any, NamedTuple

from anaphora.systems.openai.echo import IMPOSSIBLE

CHOOSE_PROMPT = (
    "Which of these translations of a text from {source_language} into {target_language} is the best?\n\n"
    "{source_language}: {source}\n\n{candidates}\n\nAnswer with the letter only."
)
LETTERS = ascii_uppercase
AROUND = " \t\r\n*`\"'“”()[].,:>Ġ▁"  # what may stand around a letter in a token
THOUGHT = "</think>"  # what a reasoning model writes before its answer ends so


class Reply(NamedTuple):
    """An answer to one question: the letter that was chosen, and the log-probability of each, where they are told."""

    letter: str | None
    logprobs: Sequence[float] | None


def rotations(size: int) -> list[list[int]]:
    """Orders of candidates in which each of them stands at each place once."""
    return [[(start + place) % size for place in range(size)] for start in range(size)]


def lettered(texts: Sequence[str]) -> str:
    """The candidates as they are shown."""
    return "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, texts, strict=False))


def read_reply(choice: Mapping[str, Any], size: int) -> Reply:
    """The answer in a chat completion to a question with so many candidates."""
    letters = LETTERS[:size]
    logprobs = choice.get("logprobs") or {}
    return Reply(_chosen(answer_text(choice), letters), _letter_logprobs(logprobs.get("content") or (), letters))


def answer_text(choice: Mapping[str, Any]) -> str:
    """What a model answered, without the thoughts before it."""
    text = (choice.get("message") or {}).get("content") or choice.get("text") or ""
    return str(text).rpartition(THOUGHT)[2].strip()


def combine(replies: Sequence[Reply]) -> list[float]:
    """The score of each candidate from the replies to all `rotations`.

    It is the mean log-probability of the candidate's letters; where the server does not tell them, the logarithm of
    the share of times the candidate was chosen, each having one choice more so that none has a share of nothing.
    """
    size = len(replies)
    votes: list[list[float]] = [[] for _ in range(size)]
    told = all(reply.logprobs is not None for reply in replies)
    for order, reply in zip(rotations(size), replies, strict=True):
        for place, candidate in enumerate(order):
            if told and reply.logprobs is not None:
                votes[candidate].append(reply.logprobs[place])
            else:
                votes[candidate].append(float(reply.letter == LETTERS[place]))
    if told:
        return [math.fsum(found) / size for found in votes]  # exact sums: candidates that tie stay ties
    return [math.log((sum(found) + 1) / (2 * size)) for found in votes]


def _chosen(text: str, letters: str) -> str | None:
    """The letter an answer begins with, or else the last that stands alone ("A good one is B" means B)."""
    alone = rf"(?<!\w)([{letters}])(?!\w)"
    first = re.match(rf"\W*{alone}(?!\s+[a-z])", text)
    if first is not None:
        return first[1]
    found = re.findall(alone, text)
    return found[-1] if found else None


def _letter_logprobs(tokens: Sequence[Mapping[str, Any]], letters: str) -> list[float] | None:
    """The log-probability of each letter where the answer has its letter; None where nothing is told of any.

    tokens: the answer's, each with the likeliest alternatives. A letter that is not among them is less likely than
        all of them and gets the value of the least likely one.
    """
    after = [i for i, token in enumerate(tokens) if THOUGHT in str(token.get("token"))]
    rest = [token for token in tokens[after[-1] + 1 if after else 0 :] if token.get("top_logprobs")]
    written = [token for token in rest if _bare(token) in letters]
    for token in (*written[:1], *rest[:1]):
        found: dict[str, list[float]] = {letter: [] for letter in letters}
        for other in token["top_logprobs"]:
            if _bare(other) in found:
                found[_bare(other)].append(_logprob(other))
        if any(found.values()):
            least = min(map(_logprob, token["top_logprobs"]))
            return [_log_sum(values) if values else least for values in found.values()]
    return None


def _bare(token: Mapping[str, Any]) -> str:
    """The token without what surrounds a letter; never empty, as the empty string is in every string."""
    return str(token.get("token")).strip(AROUND) or " "


def _logprob(token: Mapping[str, Any]) -> float:
    return max(float(token["logprob"]), IMPOSSIBLE)


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))
