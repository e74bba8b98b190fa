"""What else is known of each pronoun: how well a language model likes it, and what follows it, in its context.

The features of a pronoun are log-probabilities: of the pronoun, of the word behind it, of the next four, and of the
rest up to the next pronoun or the end. All of them together are the log-probability of the sentence from its first
pronoun on: with the weights 1 that they begin with, a measure that knows nothing else prefers what the language model
prefers. What is kept is the log-probability of each word, so that other features cost no new computation.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from anaphora.errors import AnaphoraError
from anaphora.measure.encoder import Progress
from anaphora.measure.items import Text
from anaphora.measure.store import Array, Memory, Store, key_of, open_store
from anaphora.systems.huggingface.checkpoint import fingerprint, load_checkpoint
from anaphora.systems.options import split_settings

REACH = (0, 1, 5)  # the last word behind the pronoun that a feature is about; one more has all others
WIDTH = len(REACH) + 1
SETTINGS = ("revision", "dtype", "device")


class LanguageModelFeatures:
    """(pronouns, 4) numbers of each text, by a causal language model that reads the context first."""

    def __init__(self, what: str, *, cache: Path | None = None) -> None:
        name, settings = split_settings(what, SETTINGS)
        self.model, self.tokenizer = load_checkpoint(transformers.AutoModelForCausalLM, name, settings)
        self._fingerprint = fingerprint(self.model, self.tokenizer, settings)
        begin = self.tokenizer.bos_token_id
        self._begin = begin if begin is not None else self.tokenizer.eos_token_id
        if self._begin is None:
            raise AnaphoraError(f"{what}: the tokeniser has no token that begins or ends a text")
        self._cache = cache
        self._store: Store | Memory | None = None

    def settings(self) -> dict[str, Any]:
        return {"kind": "lm", **self._fingerprint}

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Features of texts that are not kept yet; those with one context are computed together."""
        store = self._kept()
        groups: dict[str, dict[str, Text]] = {}
        for text in texts:
            if _key(text) not in store:
                groups.setdefault(text.context, {})[_key(text)] = text
        total, done = sum(map(len, groups.values())), 0
        for context, group in groups.items():
            found = self._by_word(context, list(group.values()))
            store.put(dict(zip(group, found, strict=True)))
            done += len(group)
            if progress is not None:
                progress(done, total)

    def __call__(self, text: Text) -> Array:
        if _key(text) not in self._kept():
            self.prepare([text])
        return by_pronoun(self._kept().get(_key(text))[:, 0], text)

    def _kept(self) -> Store | Memory:
        if self._store is None:
            self._store = open_store(self._cache, 1, self.settings() | {"of": "words"}, "float32")
        return self._store

    @torch.inference_mode()
    def _by_word(self, context: str, texts: Sequence[Text]) -> list[Array]:
        """Log-probabilities of the words of each sentence: (words, 1). The context is read once for all of them."""
        spelled = [self._sentence(text) for text in texts]
        longest = max(len(ids) for ids, _ in spelled)
        room = self.model.config.max_position_embeddings - longest
        before = (
            [self._begin, *self.tokenizer(context, add_special_tokens=False)["input_ids"]] if context else [self._begin]
        )
        before = [self._begin, *before[1:][-max(0, room - 1) :]] if len(before) > room > 1 else before[: max(1, room)]
        first = torch.tensor([before], device=self.model.device)
        read = self.model(input_ids=first, use_cache=True, logits_to_keep=1)
        past = read.past_key_values
        past.batch_repeat_interleave(len(texts))
        ids = torch.full((len(texts), longest), self._begin, device=self.model.device)
        for n, (pieces, _) in enumerate(spelled):
            ids[n, : len(pieces)] = torch.tensor(pieces)
        logits = self.model(input_ids=ids, past_key_values=past, use_cache=True).logits
        every = torch.cat([read.logits[:, -1:].expand(len(texts), -1, -1), logits[:, :-1]], 1).float()
        chosen = torch.log_softmax(every, -1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)  # (b, pieces)
        found = []
        for n, ((pieces, owners), text) in enumerate(zip(spelled, texts, strict=True)):
            sums = np.zeros((len(text.words) - text.begin, 1), np.float32)
            for value, word in zip(chosen[n, : len(pieces)].tolist(), owners, strict=True):
                if word < len(text.words):  # a sentence without words has a piece all the same
                    sums[word - text.begin] += value
            found.append(sums)
        return found

    def _sentence(self, text: Text) -> tuple[list[int], list[int]]:
        """Pieces of the sentence, and for each the word that it belongs to (the one before it, where it has none)."""
        lead = " " if text.context else ""
        found = self.tokenizer(lead + text.sentence, add_special_tokens=False, return_offsets_mapping=True)
        shift = len(text.context) + 1 - len(lead) if text.context else 0
        at = {place: n for n, (start, end) in enumerate(text.spans) for place in range(start, end)}
        owners, last = [], text.begin
        for _, end in found["offset_mapping"]:
            last = at.get(end - 1 + shift, last)
            owners.append(last)
        return list(found["input_ids"]) or [self._begin], owners or [text.begin]


def by_pronoun(words: Array, text: Text) -> Array:
    """Log-probabilities of each pronoun and of what follows it up to the next one, by distance: (pronouns, 4).

    words: (n,), of the words of the current sentence
    """
    found = np.zeros((len(text.pronouns), WIDTH), np.float32)
    ends = [*text.pronouns, len(text.words)][1:]
    for number, (place, end) in enumerate(zip(text.pronouns, ends, strict=True)):
        for word in range(place, end):
            found[number, bisect_left(REACH, word - place)] += words[word - text.begin]
    return found


def _key(text: Text) -> str:
    return key_of(text.context, text.sentence)
