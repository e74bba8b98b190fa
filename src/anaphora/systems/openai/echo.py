"""Log-probabilities of a prompt as servers echo them, and where in them a candidate begins."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.systems.scored import Answer

IMPOSSIBLE = -9999.0  # what servers say for the logarithm of nothing


class Reading(NamedTuple):
    """A text as a server's model reads it.

    tokens: names of its tokens, one name for one token; logprobs: of each, None for the first, which follows nothing
    """

    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]


def read_echo(answer: Mapping[str, Any], sent: str, generated: int) -> Reading | None:
    """The reading of a text that was sent to be echoed; None if the server does not tell it.

    generated: how many tokens it was allowed to add, which are not part of the reading
    """
    choice = answer["choices"][0]
    given = choice.get("logprobs")
    if not isinstance(given, dict):
        return None
    tokens, logprobs = given.get("tokens"), given.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(logprobs, list) or not len(tokens) == len(logprobs) > 1:
        return None
    tokens = [str(token) for token in tokens]
    size = (answer.get("usage") or {}).get("prompt_tokens")
    spelt = [keep for keep in (len(tokens) - generated, len(tokens)) if _spelt(tokens[:keep], sent) is not None]
    if spelt:
        keep = spelt[0]
    elif isinstance(size, int):  # some servers give log-probabilities of what they add only, and say nothing
        keep = min(size, len(tokens))
        if len(tokens) < size - 1:
            return None
    elif sent.strip() in str(choice.get("text")):
        keep = len(tokens) - generated
    else:
        return None
    return _reading(tokens[:keep], logprobs[:keep])


def read_prompt_logprobs(answer: Mapping[str, Any]) -> Reading | None:
    """The reading of a prompt in vLLM's own field: for each token but the first {id: {"logprob": …}}."""
    listed = answer.get("prompt_logprobs") or answer["choices"][0].get("prompt_logprobs")
    if not isinstance(listed, list) or len(listed) < 2:
        return None
    entries = [next(iter(entry.items())) if isinstance(entry, dict) and entry else ("", {}) for entry in listed]
    return _reading([name for name, _ in entries], [dict(value).get("logprob") for _, value in entries])


def first_token(tokens: Sequence[str], sent: str, length: int) -> int | None:
    """Which token is the first to reach beyond so many characters; None if the tokens do not spell the text.

    They do not where a character is divided between tokens, or where a server has other names for them.
    """
    skip = _spelt(tokens, sent)
    if skip is None:
        return None
    ends = accumulate(map(len, tokens[skip:]))
    return skip + next((i for i, end in enumerate(ends) if end > length), len(tokens) - skip - 1)


def common_tokens(one: Sequence[str], other: Sequence[str]) -> int:
    """How many tokens two readings begin with in common; at least one of the second is left to predict."""
    n = 0
    while n < min(len(one), len(other) - 1) and one[n] == other[n]:
        n += 1
    return n


def add_up(readings: Sequence[Reading], start: int, margins_only: bool = False) -> Answer:
    """The answer to a question: readings of all candidates after the prompt, from the token where they begin.

    start: the first token of the candidates; it is moved to where the readings begin to differ if that is earlier (so
        that every candidate is predicted whole, from the same beginning), and also if it is later for margins only
    """
    differ = min(common_tokens(readings[0].tokens, reading.tokens) for reading in readings)
    start = differ if margins_only else min(start, differ)
    scores = []
    for reading in readings:
        values = [value for value in reading.logprobs[start:] if value is not None]
        if len(values) < len(reading.logprobs) - start:
            raise AnaphoraError("a candidate begins with the first token of all, which has no log-probability")
        scores.append(math.fsum(values))
    same = [(i, j) for j, reading in enumerate(readings) for i in range(j) if readings[i] == reading]
    return Answer(scores, [len(reading.tokens) - start for reading in readings], same)


def _spelt(tokens: Sequence[str], sent: str) -> int | None:
    """How many tokens come before those that spell the text: none, or one that marks its beginning."""
    return next((skip for skip in (0, 1) if "".join(tokens[skip:]) == sent), None)


def _reading(tokens: Sequence[Any], logprobs: Sequence[Any]) -> Reading | None:
    values = [max(float(v), IMPOSSIBLE) if type(v) in (int, float) and v == v else None for v in logprobs]
    return Reading(tuple(tokens), tuple(values)) if None not in values[1:] else None
