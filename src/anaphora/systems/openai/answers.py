"""Answers of a server with every field checked, and the scores of candidates that follow from them.

A score is the log-probability of a candidate after its prompt, the choice of a model among all candidates, or how
similar a candidate is to the model's own translation.
"""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from string import ascii_uppercase
from typing import Any, NamedTuple

from anaphora.align.tokenize import normalize
from anaphora.core.errors import AnaphoraError
from anaphora.core.parsing import are_strings
from anaphora.runs import CandidateScores, equal_pairs
from anaphora.suites.example import common_prefix, split_words
from anaphora.systems.openai.http import UnexpectedAnswer

IMPOSSIBLE = -9999.0  # what servers say for the logarithm of nothing
ROUNDING = 0.25  # how far a log-probability may be above 0: half of bfloat16's steps, twice, for logits around 32
MAX_CHOICES = 16  # one is asked for
MAX_TOKENS = 1 << 16  # of one answer, prompt included
MAX_TEXT = 1 << 20  # characters of one answer
BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")  # what SentencePiece calls a piece of a character
FIRST_TOKEN = 32  # characters that it may have
TOKEN_IDS = re.compile(r"(<[^>]*>)?token_id:\d")  # what vLLM can be told to call tokens


class TokenLogprobs(NamedTuple):
    """A token that a model wrote, with the likeliest tokens at its position and their log-probabilities."""

    token: str
    top: tuple[tuple[str, float], ...]


class PromptLogprobs(NamedTuple):
    """A prompt as a server's model reads it.

    tokens: names of its tokens, one name for one token; logprobs: of each, None for the first, which follows nothing
    """

    tokens: tuple[str, ...]
    logprobs: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """The first choice of an answer.

    text: what the model wrote; cut: whether it was cut at max_tokens
    written: the tokens of a chat's answer; echoed: the tokens of a completion; prompt: those of vLLM's own field.
        Each is None if the server does not give it, or gives values that are not numbers
    prompt_tokens: how many tokens the prompt has, if the server says so
    prompt_text: the text of the tokens of `prompt` but the first, if the server gives it
    """

    text: str
    cut: bool = False
    written: tuple[TokenLogprobs, ...] | None = None
    echoed: PromptLogprobs | None = None
    prompt: PromptLogprobs | None = None
    prompt_tokens: int | None = None
    prompt_text: str | None = None


def parse_completion(document: Any) -> Completion:
    """Return the answer in a JSON document; whatever has the wrong type or range raises UnexpectedAnswer."""
    answer = _object(document, "the answer")
    choices = _list(answer.get("choices"), "choices")
    if not 1 <= len(choices) <= MAX_CHOICES:
        raise UnexpectedAnswer(f"choices must have from 1 to {MAX_CHOICES} entries, not {len(choices):,}")
    choice = _object(choices[0], "choices[0]")
    message = _object(choice.get("message"), "message", optional=True)
    logprobs = _object(choice.get("logprobs"), "logprobs", optional=True)
    usage = _object(answer.get("usage"), "usage", optional=True)
    size = usage.get("prompt_tokens")
    if size is not None and (type(size) is not int or size < 0):
        raise UnexpectedAnswer(f"usage.prompt_tokens must be a count, not {_kind(size)}")
    finish = _text(choice.get("finish_reason"), "finish_reason")
    if finish == "error" or choice.get("error") or answer.get("error"):
        raise UnexpectedAnswer("it has an error besides the text")  # which is then what was written until it happened
    written = _list(logprobs.get("content"), "logprobs.content", optional=True)
    listed = _list(answer.get("prompt_logprobs") or choice.get("prompt_logprobs"), "prompt_logprobs", optional=True)
    return Completion(
        text=_text(message.get("content"), "message.content") or _text(choice.get("text"), "text"),
        cut=finish in ("length", "content_filter"),
        written=tuple(map(_token, written)) or None,
        echoed=_echoed(logprobs),
        prompt=_listed(listed),
        prompt_tokens=size,
        prompt_text=_listed_text(listed),
    )


def parse_echo(completion: Completion, sent: str, generated: int) -> PromptLogprobs | None:
    """Return the log-probabilities of a text that was sent to be echoed; None if the server does not give them.

    generated: how many tokens it was allowed to add, which are not part of the text
    """
    if completion.echoed is None:
        return None
    (tokens, logprobs), size = completion.echoed, completion.prompt_tokens
    spelled = [keep for keep in (len(tokens) - generated, len(tokens)) if _spelled(tokens[:keep], sent) is not None]
    if spelled:
        keep = spelled[0]
    elif size is not None:  # some servers give log-probabilities only of the tokens that they add
        keep = min(size, len(tokens))
        if len(tokens) < size - 1:
            return None
    elif sent.strip() in completion.text:
        keep = len(tokens) - generated
    else:
        return None
    if not spelled and not resembles("".join(tokens[:keep]), sent):
        return None
    return _complete(tokens[:keep], logprobs[:keep])


def is_of(completion: Completion, sent: str) -> bool:
    """Return whether vLLM's own field can be of a text that was sent: by the number of tokens, and by their text."""
    counted = completion.prompt is None or completion.prompt_tokens in (None, len(completion.prompt.tokens))
    return counted and (completion.prompt_text is None or resembles(completion.prompt_text, sent, FIRST_TOKEN))


def resembles(read: str, sent: str, missing: int = 0) -> bool:
    """Return whether tokens can be those of a text that was sent: whether they have its letters and digits in order.

    Servers have names of their own for spaces and pieces of characters, and add tokens before and after a text. If
    letters are missing, but for this many at the beginning, it was truncated, or the answer is to another request.

    >>> resembles("<s>▁Er▁kom<0x6D>t<0xE2>", "Er kommt…"), resembles("▁kommt", "Er kommt…")
    (True, False)
    """
    if TOKEN_IDS.match(read):  # numbers of tokens instead of names: nothing can be compared
        return True
    letters = reversed(BYTE.sub(lambda byte: chr(int(byte[1], 16)), read).lower())
    wanted = [
        sign.lower() for sign in reversed(unicodedata.normalize("NFC", sent)) if sign.isascii() and sign.isalnum()
    ]
    return sum(sign not in letters for sign in wanted) <= missing


def first_token(tokens: Sequence[str], sent: str, length: int) -> int | None:
    """Return the first token that reaches beyond this many characters; None if the tokens do not spell the text.

    They do not where a character is divided between tokens, or where a server has other names for them.
    """
    skip = _spelled(tokens, sent)
    if skip is None:
        return None
    ends = accumulate(map(len, tokens[skip:]))
    return skip + next((i for i, end in enumerate(ends) if end > length), len(tokens) - skip - 1)


def common_tokens(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many tokens two readings begin with in common; at least one of the second is left to predict."""
    return common_prefix([one, other[:-1]])


def add_up(readings: Sequence[PromptLogprobs], start: int, margins_only: bool = False) -> CandidateScores:
    """Return the answer to a question: readings of all candidates after the prompt, from the token where they begin.

    start: the first token of the candidates; it is moved to where the readings begin to differ if that is earlier (so
        that every candidate is predicted whole, from the same beginning), and also if it is later for margins only
    """
    differ = min(common_tokens(readings[0].tokens, reading.tokens) for reading in readings)
    start = differ if margins_only else min(start, differ)
    scores = []
    for reading in readings:
        values = [value for value in reading.logprobs[start:] if value is not None]
        if len(values) < len(reading.logprobs) - start:
            raise AnaphoraError("a candidate begins with the first token of the text, which has no log-probability")
        scores.append(math.fsum(values))
    return CandidateScores(scores, [len(reading.tokens) - start for reading in readings], equal_pairs(readings))


def _spelled(tokens: Sequence[str], sent: str) -> int | None:
    """Return how many tokens come before those that spell the text: none, or one that marks its beginning."""
    return next((skip for skip in (0, 1) if "".join(tokens[skip:]) == sent), None)


def _complete(tokens: Sequence[str], logprobs: Sequence[float | None]) -> PromptLogprobs | None:
    """Return the reading, unless a token after the first has no log-probability, or none is below 0 as they must be."""
    if len(tokens) < 2 or None in logprobs[1:] or not any(value < 0 for value in logprobs[1:] if value is not None):
        return None
    return PromptLogprobs(tuple(tokens), tuple(logprobs))


def _echoed(logprobs: Mapping[str, Any]) -> PromptLogprobs | None:
    """Return the tokens of a completion with their log-probabilities; None unless there is one for each."""
    tokens, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(values, list) or not len(tokens) == len(values) > 1:
        return None
    _list(tokens, "logprobs.tokens")
    if not all(isinstance(token, str) for token in tokens):
        raise UnexpectedAnswer("logprobs.tokens must be strings")
    return PromptLogprobs(tuple(tokens), tuple(map(_logprob, values)))


def _listed(entries: Sequence[Any]) -> PromptLogprobs | None:
    """vLLM's prompt_logprobs: for each token but the first {id: {"logprob": …}}, the prompt's own token first."""
    names, values = [], []
    for entry in entries:
        name, value = next(iter(_object(entry, "prompt_logprobs[…]", optional=True).items()), ("", None))
        names.append(name)
        values.append(_logprob(_object(value, "prompt_logprobs[…]", optional=True).get("logprob")))
    return _complete(names, values)


def _listed_text(entries: Sequence[Any]) -> str | None:
    """Return the text of vLLM's prompt_logprobs, if each token has one, without the first, which is not predicted."""
    tokens = [next(iter(entry.values()), None) for entry in entries if isinstance(entry, dict)]
    texts = [token["decoded_token"] for token in tokens if isinstance(token, dict) and "decoded_token" in token]
    return "".join(texts) if texts and len(texts) == len(tokens) and are_strings(texts) else None


def _token(entry: Any) -> TokenLogprobs:
    where = "logprobs.content[…]"
    token = _object(entry, where)
    top = []
    for other in _list(token.get("top_logprobs"), f"{where}.top_logprobs", optional=True):
        alternative = _object(other, f"{where}.top_logprobs[…]")
        value = _logprob(alternative.get("logprob"))
        if value is None and type(alternative.get("logprob")) not in (int, float):
            raise UnexpectedAnswer(f"{where}.top_logprobs[…].logprob must be a number")
        top.append((_text(alternative.get("token"), f"{where}.top_logprobs[…].token"), value))
    known = [(name, value) for name, value in top if value is not None]
    usable = len(known) == len(top)  # or they are no log-probabilities
    return TokenLogprobs(_text(token.get("token"), f"{where}.token"), tuple(known) if usable else ())


def _logprob(value: Any) -> float | None:
    """Return a log-probability; None for any other value."""
    if type(value) not in (int, float):
        return None
    try:
        number = float(value)
    except OverflowError:  # an integer beyond all floats
        return None
    return max(number, IMPOSSIBLE) if number <= ROUNDING else None  # NaN is not below anything


def _object(value: Any, name: str, optional: bool = False) -> Mapping[str, Any]:
    if value is None and optional:
        return {}
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{name} must be an object, not {_kind(value)}")
    return value


def _list(value: Any, name: str, optional: bool = False) -> Sequence[Any]:
    if value is None and optional:
        return ()
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"{name} must be a list, not {_kind(value)}")
    if len(value) > MAX_TOKENS:
        raise UnexpectedAnswer(f"{name} has {len(value):,} entries, but {MAX_TOKENS:,} is the limit")
    return value


def _text(value: Any, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UnexpectedAnswer(f"{name} must be a string, not {_kind(value)}")
    if len(value) > MAX_TEXT:
        raise UnexpectedAnswer(f"{name} has {len(value):,} characters, but {MAX_TEXT:,} is the limit")
    return value.encode("utf-8", "replace").decode("utf-8")  # lone surrogates, which no file can hold, become "?"


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


# A choice among candidates in every order, and the similarity of a candidate to a translation

CHOOSE_PROMPT = (
    "Which of these translations of a text from {source_language} into {target_language} is the best?\n\n"
    "{source_language}: {source}\n\n{candidates}\n\nAnswer with the letter only."
)
LETTERS = ascii_uppercase
AROUND = " \t\r\n*`\"'“”()[].,:>Ġ▁"  # what may stand around a letter in a token
THOUGHT = "</think>"  # what a reasoning model writes before its answer ends so
WORDS, CHARACTERS, BETA = 2, 6, 2.0  # longest n-grams, and how much recall counts: those of chrF++
SHARE = 0.1  # how much characters count
MOST = 2.0  # the sum of all probabilities, with a generous allowance for rounding
SHOWN = 100  # characters of an answer that is none, which the run keeps
MAX_UNANSWERED = 8  # examples without an answer after which a model that has given none is not asked any more


class Reply(NamedTuple):
    """An answer to one question: the letter that was chosen, and the log-probabilities of all, if there are any."""

    letter: str | None
    logprobs: Sequence[float] | None


class NoAnswerGuard:
    """Stops the requests to a model that never gives an answer of the expected form."""

    def __init__(self) -> None:
        self._examples, self._lock = 0, threading.Lock()  # how many examples had no answer; −1 once one had

    def gives_up(self, unanswered: bool) -> bool:
        """Count an example; return whether to give up."""
        with self._lock:
            if self._examples >= 0:
                self._examples = self._examples + 1 if unanswered else -1
            return self._examples >= MAX_UNANSWERED


def rotations(size: int) -> list[list[int]]:
    """Orders of candidates in which each of them stands at each place once."""
    return [[(start + position) % size for position in range(size)] for start in range(size)]


def lettered(texts: Sequence[str]) -> str:
    """Return the candidates as they are shown."""
    return "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, texts, strict=False))


def parse_reply(completion: Completion, size: int) -> Reply:
    """Return the answer in a chat completion to a question with this many candidates."""
    letters = LETTERS[:size]
    return Reply(_chosen(answer_text(completion), letters), _letter_logprobs(completion.written or (), letters))


def answer_text(completion: Completion) -> str:
    """Return what a model answered, without the thoughts before it."""
    return completion.text.rpartition(THOUGHT)[2].strip()


def combine(replies: Sequence[Reply]) -> list[float]:
    """Return the score of each candidate from the replies to all `rotations`.

    It is the mean log-probability of the candidate's letters; without log-probabilities, the logarithm of
    the share of times the candidate was chosen, each having one choice more so that none has a share of nothing.
    """
    size = len(replies)
    votes: list[list[float]] = [[] for _ in range(size)]
    known = all(reply.logprobs is not None for reply in replies)
    for order, reply in zip(rotations(size), replies, strict=True):
        for position, candidate in enumerate(order):
            if known and reply.logprobs is not None:
                votes[candidate].append(reply.logprobs[position])
            else:
                votes[candidate].append(float(reply.letter == LETTERS[position]))
    if known:
        return [math.fsum(values) / size for values in votes]  # exact sums: candidates that tie stay ties
    return [math.log((sum(values) + 1) / (2 * size)) for values in votes]


def _chosen(text: str, letters: str) -> str | None:
    """Return the letter an answer begins with, or else the last that stands alone ("A good one is B" means B)."""
    alone = rf"(?<!\w)([{letters}])(?!\w)"
    first = re.match(rf"\W*{alone}(?!\s+[a-z])", text)
    if first is not None:
        return first[1]
    letters_alone = re.findall(alone, text)
    return letters_alone[-1] if letters_alone else None


def _letter_logprobs(tokens: Sequence[TokenLogprobs], letters: str) -> list[float] | None:
    """Return the log-probability of each letter where the answer has its letter; None if there is none of any letter.

    tokens: the answer's, each with the likeliest alternatives. A letter that is not among them is less likely than
        all of them and gets the value of the least likely one.
    """
    after = [i for i, token in enumerate(tokens) if THOUGHT in token.token]
    rest = [token for token in tokens[after[-1] + 1 if after else 0 :] if _has_alternatives(token)]
    written = [token for token in rest if _bare(token.token) in letters]
    for token in (*written[:1], *rest[:1]):
        by_letter: dict[str, list[float]] = {letter: [] for letter in letters}
        for name, logprob in token.top:
            if _bare(name) in by_letter:
                by_letter[_bare(name)].append(logprob)
        if any(by_letter.values()):
            least = min(logprob for _, logprob in token.top)
            return [_log_sum(values) if values else least for values in by_letter.values()]
    return None


def _has_alternatives(token: TokenLogprobs) -> bool:
    """Return whether a token has at least two likely ones, whose values can be log-probabilities.

    One says nothing about other letters, and if the sum is far above 1, they are probabilities or placeholders.
    """
    return len(token.top) > 1 and math.fsum(math.exp(logprob) for _, logprob in token.top) < MOST


def _bare(token: str) -> str:
    """Return the token without what surrounds a letter; never empty, as the empty string is in every string."""
    return token.strip(AROUND) or " "


def _log_sum(values: Sequence[float]) -> float:
    most = max(values)
    return most + math.log(math.fsum(math.exp(value - most) for value in values))


def comparable(text: str) -> str:
    """What does not make a translation another one is left out: case, spaces, how signs are written, what ends it.

    >>> comparable("Sie  ist  GROSS!»") == comparable("sie ist groß.")
    True
    """
    words = " ".join(normalize(text).casefold().split())
    end = len(words)
    while end and (words[end - 1] == " " or unicodedata.category(words[end - 1])[0] == "P"):
        end -= 1
    return words[:end] or words  # a text that is punctuation only is not the same as any other such


def similarity(translation: str, candidate: str) -> float:
    """Return how much of a candidate is in a translation, and little else: from 0 to 1.

    It is made like chrF++ (Popović 2017), of F-scores of word and character n-grams, but words decide, and characters
    only where words do not: candidates differ in a pronoun, and the letters of *er* are in every *aber*.
    """
    words = _f_score(split_words(translation), split_words(candidate), WORDS)
    characters = _f_score("".join(translation.split()), "".join(candidate.split()), CHARACTERS)
    return (1 - SHARE) * words + SHARE * characters


def _f_score(translation: Sequence[str], candidate: Sequence[str], longest: int) -> float:
    """Return the F-score of precision and recall, each the mean over all lengths of n-grams that both texts have."""
    precisions, recalls = [], []
    for n in range(1, min(longest, len(translation), len(candidate)) + 1):
        one, other = _ngrams(translation, n), _ngrams(candidate, n)
        common = (one & other).total()
        precisions.append(common / one.total())
        recalls.append(common / other.total())
    if not any(precisions):
        return 0.0
    precision, recall = sum(precisions) / len(precisions), sum(recalls) / len(recalls)
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


def _ngrams(items: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(items[i : i + n]) for i in range(len(items) - n + 1))
