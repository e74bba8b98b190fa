"""Features of pronouns by a causal language model: how probable it finds each pronoun and what follows it.

The features of a pronoun are log-probabilities: of the pronoun, of the word after it, of the next four words, and of
the rest up to the next pronoun or the end. Their sum is the log-probability of the sentence from its first pronoun on.
With the weights 1 that training starts from, a measure without other parameters prefers what the language model
prefers. The cache holds the log-probability of each word, so that other features need no new computation.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import transformers

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import text_lines
from anaphora.core.finite import all_finite
from anaphora.measure.encoders import Array, StateCache, text_key
from anaphora.measure.texts import Progress, Text
from anaphora.scoring.adapters import Adapter
from anaphora.scoring.batching import SourceGroup, group_by_source, split_on_oom, token_batches, token_log_probabilities
from anaphora.scoring.encoded import EncodedCandidate
from anaphora.scoring.packed import PackedModel, UnsupportedModel
from anaphora.systems.context import parse_bool, split_settings
from anaphora.systems.huggingface import fingerprint, load_checkpoint, tree_scorer

REACH = (0, 1, 5)  # the last word after the pronoun that each feature covers; one more feature covers the rest
WIDTH = len(REACH) + 1
BATCH_TOKENS = 4096
SETTINGS = ("restore", "names", "revision", "dtype", "device")


class Encoded(NamedTuple):
    """A text as pieces: the candidate to score, and the word that each predicted piece belongs to."""

    candidate: EncodedCandidate
    words: list[int]


class LanguageModelFeatures:
    """(pronouns, 4) numbers for each text, by a causal language model that reads the context first.

    With `restore=true` it reads recased text, with `names=FILE` also with names written as in that file: see `recase`.
    """

    def __init__(self, spec: str, *, cache: Path | None = None) -> None:
        name, given = split_settings(spec, SETTINGS)
        self.name = name
        self.adapter: Adapter | None = None  # what `adapt` has learned
        self.names = learn_names(text_lines(Path(given["names"]))) if given.get("names") else {}
        self.recasing = parse_bool(given.get("restore", "true" if self.names else "false"))
        settings = {key: value for key, value in given.items() if key not in ("restore", "names")}
        self.model, self.tokenizer = load_checkpoint(transformers.AutoModelForCausalLM, name, settings)
        self.model.requires_grad_(False)
        self._fingerprint = fingerprint(self.model, self.tokenizer, settings)
        begin = self.tokenizer.bos_token_id
        self.begin = begin if begin is not None else self.tokenizer.eos_token_id
        if self.begin is None:
            raise AnaphoraError(f"{spec}: the tokenizer has no token that begins or ends a text")
        self._folder = cache

    def settings(self) -> dict[str, Any]:
        """Return what the features depend on."""
        recasing: dict[str, Any] = {"restore": True} if self.recasing else {}
        if self.recasing and self.names:
            recasing["names"] = text_key(*(f"{word} {name}" for word, name in sorted(self.names.items())))
        return {"kind": "lm", **recasing, **self._fingerprint}

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Cache the log-probabilities of words, batch by batch."""
        self._cache.fill({text_key(text.context, text.sentence): text for text in texts}, self._by_word, progress)

    def __call__(self, text: Text) -> Array:
        """Return the features of the pronouns of a text: (pronouns, 4)."""
        self.prepare([text])
        words = self._cache.get(text_key(text.context, text.sentence), len(text.words) - text.begin)
        return by_pronoun(words[:, 0], text)

    def sentence_scores(self, texts: Sequence[Text]) -> list[float]:
        """Return the log-probability of the sentence of each text after its context, without the cache."""
        scores = {n: float(values.sum()) for batch in self._by_word(texts) for n, values in batch.items()}
        return [scores[n] for n in range(len(texts))]

    def encode(self, texts: Sequence[Text]) -> list[Encoded]:
        """Return the texts as pieces; texts with the same context have the same pieces of it."""
        sentences = [self._sentence(text) for text in texts]
        longest: dict[str, int] = {}
        for text, (pieces, _) in zip(texts, sentences, strict=True):
            longest[text.context] = max(longest.get(text.context, 0), len(pieces))
        given = {context: tuple(self._before(context, length)) for context, length in longest.items()}
        return [
            Encoded(EncodedCandidate((), given[text.context], tuple(pieces)), words)
            for text, (pieces, words) in zip(texts, sentences, strict=True)
        ]

    def recased(self, text: str) -> str:
        """Return a text as the language model reads it."""
        return recase(text, self.names)[0] if self.recasing else text

    @cached_property
    def _scorer(self) -> PackedModel | None:
        """Scores prefix trees; None where the model's attention cannot follow a tree."""
        try:
            return tree_scorer(self.model)
        except UnsupportedModel:
            return None

    @cached_property
    def _cache(self) -> StateCache:
        return StateCache(self._folder, 1, self.settings() | {"of": "words"}, "float32")

    def _by_word(self, texts: Sequence[Text], done: Container[int] = ()) -> Iterator[dict[int, Array]]:
        """Yield the log-probabilities of the words of sentences, (words, 1), by the number of their text."""
        encoded = self.encode(texts)
        groups = group_by_source([[one.candidate] for one in encoded], BATCH_TOKENS)
        for batch in token_batches(groups, BATCH_TOKENS, depth_first=False):
            if all(n in done for group in batch for n, _ in group.members):
                continue
            scored = split_on_oom(lambda part: self._score(part, encoded), batch, lambda group: group.size)
            yield {
                n: _sum_by_word(values, encoded[n].words, texts[n])
                for group, of_group in zip(batch, scored, strict=True)
                for (n, _), values in zip(group.members, of_group, strict=True)
            }

    def _score(self, batch: Sequence[SourceGroup], encoded: Sequence[Encoded]) -> list[list[Array]]:
        if self._scorer is not None:
            with self._scorer.attached():
                return self._scorer.token_log_probabilities([group.tree for group in batch])
        members = [[encoded[n].candidate for n, _ in group.members] for group in batch]
        return [[row.cpu().numpy() for row in token_log_probabilities(self.model, group)] for group in members]

    def _before(self, context: str, longest: int) -> list[int]:
        """Return the pieces of the context; the oldest are left out where there is no room for `longest` others."""
        pieces = self.tokenizer(self.recased(context), add_special_tokens=False)["input_ids"] if context else []
        room = max(0, self.model.config.max_position_embeddings - longest - 1)
        return [self.begin, *pieces[max(0, len(pieces) - room) :]]

    def _sentence(self, text: Text) -> tuple[list[int], list[int]]:
        """Return the pieces of the sentence, as many as the model takes, and the word of each.

        A piece without a word belongs to the word before it. Attention takes memory that grows with the square of the
        number of pieces, so that the length of what is read has to be limited.
        """
        lead = " " if text.context else ""
        read, positions = text.sentence, list(range(len(text.sentence)))
        if self.recasing:
            read, positions = recase(text.sentence, self.names)
        encoded = self.tokenizer(lead + read, add_special_tokens=False, return_offsets_mapping=True)
        shift = len(text.context) + 1 if text.context else 0
        word_at = text.word_at()
        words, last = [], text.begin
        for _, end in encoded["offset_mapping"]:
            inside = end - 1 - len(lead)  # negative: a piece of the space before the sentence
            last = word_at.get(positions[inside] + shift, last) if inside >= 0 else last
            words.append(last)
        room = max(1, self.model.config.max_position_embeddings - 1)
        return list(encoded["input_ids"])[:room] or [self.begin], words[:room] or [text.begin]


def _sum_by_word(values: Array, words: Sequence[int], text: Text) -> Array:
    """Add up the log-probabilities of the pieces of each word of the sentence: (words, 1)."""
    sums = np.zeros((len(text.words) - text.begin, 1), np.float32)
    for value, word in zip(values.tolist(), words, strict=True):
        if word < len(text.words):  # a sentence without words has a piece all the same
            sums[word - text.begin] += value
    return all_finite(sums, "log-probabilities by the language model", "Check the model's files.")


def by_pronoun(words: Array, text: Text) -> Array:
    """Return the log-probabilities of each pronoun and of what follows it, by distance: (pronouns, 4).

    words: (n,), the log-probabilities of the words of the current sentence
    """
    features = np.zeros((len(text.pronouns), WIDTH), np.float32)
    ends = [*text.pronouns, len(text.words)][1:]
    for number, (start, end) in enumerate(zip(text.pronouns, ends, strict=True)):
        for word in range(start, end):
            features[number, bisect_left(REACH, word - start)] += words[word - text.begin]
    return features


# Recasing: lowercased text without punctuation, as in the paper's annotated pairs, written as models have read text.

ENDS = frozenset(".?!")
CLITICS = frozenset(("s", "re", "ve", "ll", "m", "d"))  # what is left of 's, 're and so on; t is left of n't
NEGATED = re.compile("(ai|are|ca|could|did|does|do|had|has|have|is|must|need|should|was|were|wo|would)n")
WORD = re.compile(r"\w+|[.?!:\"“”„»«]")


def recase(text: str, names: Mapping[str, str] | None = None) -> tuple[str, list[int]]:
    """Return the text with capitals, apostrophes and a full stop, and for each character its position in `text`.

    names: words that are written otherwise inside a sentence (munich: Munich)
    """
    parts: list[str] = []
    positions: list[int] = []
    before, beginning = "", True
    for match in re.finditer(r"\S+", text):
        word, start = match[0], match.start()
        clitic = (
            bool(before) and before not in ENDS and (word in CLITICS or (word == "t" and NEGATED.fullmatch(before)))
        )
        lead = "'" if clitic else " " if before and word not in ENDS else ""
        spelled = "I" if word == "i" else word if clitic else (names or {}).get(word, word)
        if beginning:
            spelled = spelled[:1].upper() + spelled[1:]
        parts.append(lead + spelled)
        positions += [start] * len(lead) + [min(start + n, match.end() - 1) for n in range(len(spelled))]
        before, beginning = word, word in ENDS
    if before and before not in ENDS:
        parts.append(".")
        positions.append(positions[-1])
    return "".join(parts), positions


def learn_names(lines: Iterable[str]) -> dict[str, str]:
    """Return the words that are mostly capitalized inside sentences, with their most frequent spelling."""
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        beginning = True
        for word in WORD.findall(line):
            if not word[0].isalnum():
                beginning = True
                continue
            if not beginning:
                counts[word.lower()][word] += 1
            beginning = False
    usual = {word: spellings.most_common(1)[0][0] for word, spellings in counts.items()}
    return {word: spelling for word, spelling in usual.items() if spelling != word}
