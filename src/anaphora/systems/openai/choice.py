"""What a model's words say about candidates: a choice among them in every order, or how near its translation is."""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import NamedTuple

from anaphora.align.tokenize import normalize
from anaphora.systems.openai.logprobs import Completion, TokenLogprobs

CHOOSE_PROMPT = (
    "Which of these translations of a text from {source_language} into {target_language} is the best?\n\n"
    "{source_language}: {source}\n\n{candidates}\n\nAnswer with the letter only."
)
LETTERS = ascii_uppercase
AROUND = " \t\r\n*`\"'“”()[].,:>Ġ▁"  # what may stand around a letter in a token
THOUGHT = "</think>"  # what a reasoning model writes before its answer ends so
WORDS, CHARACTERS, BETA = 2, 6, 2.0  # longest n-grams, and how much recall counts: those of chrF++
SHARE = 0.1  # how much characters count
SHOWN = 100  # characters of an answer that is none, which the run keeps
PATIENCE = 8  # examples without an answer after which a model that has given none is not asked any more


class Reply(NamedTuple):
    """An answer to one question: the letter that was chosen, and the log-probability of each, where they are told."""

    letter: str | None
    logprobs: Sequence[float] | None


class Silence:
    """Notices a model that never answers as it is told to, so that it is not asked ten thousand times."""

    def __init__(self) -> None:
        self._examples, self._lock = 0, threading.Lock()  # how many examples had no answer; −1 once one had

    def note(self, silent: bool) -> bool:
        """Count an example; return whether to give up."""
        with self._lock:
            if self._examples >= 0:
                self._examples = self._examples + 1 if silent else -1
            return self._examples >= PATIENCE


def rotations(size: int) -> list[list[int]]:
    """Orders of candidates in which each of them stands at each place once."""
    return [[(start + position) % size for position in range(size)] for start in range(size)]


def lettered(texts: Sequence[str]) -> str:
    """The candidates as they are shown."""
    return "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, texts, strict=False))


def parse_reply(completion: Completion, size: int) -> Reply:
    """The answer in a chat completion to a question with this many candidates."""
    letters = LETTERS[:size]
    return Reply(_chosen(answer_text(completion), letters), _letter_logprobs(completion.written or (), letters))


def answer_text(completion: Completion) -> str:
    """What a model answered, without the thoughts before it."""
    return completion.text.rpartition(THOUGHT)[2].strip()


def combine(replies: Sequence[Reply]) -> list[float]:
    """The score of each candidate from the replies to all `rotations`.

    It is the mean log-probability of the candidate's letters; where the server does not tell them, the logarithm of
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
    """The letter an answer begins with, or else the last that stands alone ("A good one is B" means B)."""
    alone = rf"(?<!\w)([{letters}])(?!\w)"
    first = re.match(rf"\W*{alone}(?!\s+[a-z])", text)
    if first is not None:
        return first[1]
    letters_alone = re.findall(alone, text)
    return letters_alone[-1] if letters_alone else None


def _letter_logprobs(tokens: Sequence[TokenLogprobs], letters: str) -> list[float] | None:
    """The log-probability of each letter where the answer has its letter; None where nothing is told of any.

    tokens: the answer's, each with the likeliest alternatives. A letter that is not among them is less likely than
        all of them and gets the value of the least likely one.
    """
    after = [i for i, token in enumerate(tokens) if THOUGHT in token.token]
    rest = [token for token in tokens[after[-1] + 1 if after else 0 :] if token.top]
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


def _bare(token: str) -> str:
    """The token without what surrounds a letter; never empty, as the empty string is in every string."""
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
    """How much of a candidate is in a translation, and little else: from 0 to 1.

    It is made like chrF++ (Popović 2017), of F-scores of word and character n-grams, but words decide, and characters
    only where words do not: candidates differ in a pronoun, and the letters of *er* are in every *aber*.
    """
    words = _f_score(_words(translation), _words(candidate), WORDS)
    characters = _f_score("".join(translation.split()), "".join(candidate.split()), CHARACTERS)
    return (1 - SHARE) * words + SHARE * characters


def _words(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def _f_score(translation: Sequence[str], candidate: Sequence[str], longest: int) -> float:
    """The F-score of precision and recall, each the mean over all lengths of n-grams that both texts have."""
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
