"""What else is known of each pronoun: how well a language model likes it, and what follows it, in its context.

The features of a pronoun are log-probabilities: of the pronoun, of the word behind it, of the next four, and of the
rest up to the next pronoun or the end. All of them together are the log-probability of the sentence from its first
pronoun on: with the weights 1 that they begin with, a measure that knows nothing else prefers what the language model
prefers. What is kept is the log-probability of each word, so that other features cost no new computation.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import text_lines
from anaphora.core.finite import all_finite
from anaphora.measure.model import Progress, Text
from anaphora.measure.store import Array, Memory, Store, key_of, open_store
from anaphora.systems.context import parse_bool, split_settings
from anaphora.systems.huggingface import fingerprint, load_checkpoint

REACH = (0, 1, 5)  # the last word behind the pronoun that a feature is about; one more has all others
WIDTH = len(REACH) + 1
KEEP_EVERY = 1.0  # seconds; what is computed between two writes is lost when the process is killed
SETTINGS = ("restore", "names", "revision", "dtype", "device")


class LanguageModelFeatures:
    """(pronouns, 4) numbers of each text, by a causal language model that reads the context first.

    With `restore=true` it is shown the text with capitals and apostrophes where they are missing, with `names=FILE`
    also with names as they are written in that text: see `restoring`.
    """

    def __init__(self, what: str, *, cache: Path | None = None) -> None:
        name, given = split_settings(what, SETTINGS)
        self.names = learn_names(text_lines(Path(given["names"]))) if given.get("names") else {}
        self.restore = parse_bool(given.get("restore", "true" if self.names else "false"))
        settings = {key: value for key, value in given.items() if key not in ("restore", "names")}
        self.model, self.tokenizer = load_checkpoint(transformers.AutoModelForCausalLM, name, settings)
        self.model.requires_grad_(False)  # `tuning` says what learns
        self._fingerprint = fingerprint(self.model, self.tokenizer, settings)
        begin = self.tokenizer.bos_token_id
        self.begin = begin if begin is not None else self.tokenizer.eos_token_id
        if self.begin is None:
            raise AnaphoraError(f"{what}: the tokeniser has no token that begins or ends a text")
        self._cache = cache
        self._store: Store | Memory | None = None

    def settings(self) -> dict[str, Any]:
        shown: dict[str, Any] = {"restore": True} if self.restore else {}
        if self.restore and self.names:
            shown["names"] = key_of(*(f"{word} {name}" for word, name in sorted(self.names.items())))
        return {"kind": "lm", **shown, **self._fingerprint}

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Features of texts that are not kept yet; those with one context are computed together."""
        store = self._kept()
        groups: dict[str, dict[str, Text]] = {}
        for text in texts:
            if _key(text) not in store:
                groups.setdefault(text.context, {})[_key(text)] = text
        total, done = sum(map(len, groups.values())), 0
        found: dict[str, Array] = {}
        kept = time.monotonic()
        for context, group in groups.items():
            found |= zip(group, self._by_word(context, list(group.values())), strict=True)
            done += len(group)
            if done == total or time.monotonic() - kept > KEEP_EVERY:
                store.put(found)
                found, kept = {}, time.monotonic()
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

    def _by_word(self, context: str, texts: Sequence[Text]) -> list[Array]:
        """Log-probabilities of the words of each sentence: (words, 1)."""
        spelled = [self._sentence(text) for text in texts]
        found = []
        with torch.inference_mode():
            chosen = self._by_piece(context, [pieces for pieces, _ in spelled])
        for values, (_, owners), text in zip(chosen, spelled, texts, strict=True):
            sums = np.zeros((len(text.words) - text.begin, 1), np.float32)
            for value, word in zip(values.tolist(), owners, strict=True):
                if word < len(text.words):  # a sentence without words has a piece all the same
                    sums[word - text.begin] += value
            found.append(all_finite(sums, "log-probabilities by the language model", "Check the model's files."))
        return found

    def log_probabilities(self, texts: Sequence[Text]) -> Tensor:
        """Of the sentences of texts that have one context: (texts,). Weights that are not frozen can learn from it."""
        [context] = {text.context for text in texts}
        return torch.stack([row.sum() for row in self._by_piece(context, [self._sentence(text)[0] for text in texts])])

    def shown(self, text: str) -> str:
        """A text as the language model is shown it."""
        return restored(text, self.names)[0] if self.restore else text

    def _by_piece(self, context: str, sentences: Sequence[list[int]]) -> list[Tensor]:
        """Log-probabilities of the pieces of sentences; the context, and how all of them begin, are read once."""
        before = self._before(context, max(map(len, sentences)))
        shared = 0
        while shared < min(map(len, sentences)) - 1 and len({pieces[shared] for pieces in sentences}) == 1:
            shared += 1
        device = self.model.device
        first = torch.tensor([[*before, *sentences[0][:shared]]], device=device)
        read = self.model(input_ids=first, use_cache=True, logits_to_keep=shared + 1)
        begun = _chosen(read.logits[:, :-1], first[:, first.shape[1] - shared :])[0]
        past = read.past_key_values
        past.batch_repeat_interleave(len(sentences))
        ids = torch.full((len(sentences), max(map(len, sentences)) - shared), self.begin, device=device)
        for n, pieces in enumerate(sentences):
            ids[n, : len(pieces) - shared] = torch.tensor(pieces[shared:])
        logits = self.model(input_ids=ids, past_key_values=past, use_cache=True).logits
        rest = _chosen(torch.cat([read.logits[:, -1:].expand(len(sentences), -1, -1), logits[:, :-1]], 1), ids)
        return [torch.cat([begun, row[: len(pieces) - shared]]) for row, pieces in zip(rest, sentences, strict=True)]

    def _before(self, context: str, longest: int) -> list[int]:
        """Pieces of the context, without its oldest ones where there is no room for them before so many others."""
        pieces = self.tokenizer(self.shown(context), add_special_tokens=False)["input_ids"] if context else []
        room = max(0, self.model.config.max_position_embeddings - longest - 1)
        return [self.begin, *pieces[max(0, len(pieces) - room) :]]

    def _sentence(self, text: Text) -> tuple[list[int], list[int]]:
        """Pieces of the sentence, and for each the word that it belongs to (the one before it, where it has none)."""
        lead = " " if text.context else ""
        shown, places = text.sentence, list(range(len(text.sentence)))
        if self.restore:
            shown, places = restored(text.sentence, self.names)
        found = self.tokenizer(lead + shown, add_special_tokens=False, return_offsets_mapping=True)
        shift = len(text.context) + 1 if text.context else 0
        at = {place: n for n, (start, end) in enumerate(text.spans) for place in range(start, end)}
        owners, last = [], text.begin
        for _, end in found["offset_mapping"]:
            inside = end - 1 - len(lead)  # negative: a piece of the space before the sentence
            last = at.get(places[inside] + shift, last) if inside >= 0 else last
            owners.append(last)
        return list(found["input_ids"]) or [self.begin], owners or [text.begin]


def _chosen(logits: Tensor, ids: Tensor) -> Tensor:
    """Log-probabilities of pieces by the logits for their places: (b, n, v) and (b, n) → (b, n)."""
    return torch.log_softmax(logits.float(), -1).gather(-1, ids.unsqueeze(-1)).squeeze(-1)


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


# Text without case and signs, as the annotated pairs of the paper are, made a little more like what models have read.

ENDS = frozenset(".?!")
CLITICS = frozenset(("s", "re", "ve", "ll", "m", "d"))
NEGATED = re.compile("(ai|are|ca|could|did|does|do|had|has|have|is|must|need|should|was|were|wo|would)n")
WORD = re.compile(r"\w+|[.?!:\"“”„»«]")


def restored(text: str, names: Mapping[str, str] | None = None, *, close: bool = True) -> tuple[str, list[int]]:
    """The text as one would write it, and for each of its characters the place in `text` that it stands for.

    names: words that are written otherwise inside of a sentence (munich: Munich)
    close: put a full stop at the end, if there is no sign
    """
    found: list[str] = []
    places: list[int] = []
    before, beginning = "", True
    for match in re.finditer(r"\S+", text):
        word, start = match[0], match.start()
        clitic = _is_clitic(word, before)
        lead = "'" if clitic else " " if before and word not in ENDS else ""
        spelled = "I" if word == "i" else word if clitic else (names or {}).get(word, word)
        if beginning:
            spelled = spelled[:1].upper() + spelled[1:]
        found.append(lead + spelled)
        places += [start] * len(lead) + [min(start + n, match.end() - 1) for n in range(len(spelled))]
        before, beginning = word, word in ENDS
    if close and before and before not in ENDS:
        found.append(".")
        places.append(places[-1])
    return "".join(found), places


def _is_clitic(word: str, before: str) -> bool:
    """Whether it belongs to the word before it: what is left of 's, 're and n't."""
    if not before or before in ENDS:
        return False
    return word in CLITICS or (word == "t" and NEGATED.fullmatch(before) is not None)


def learn_names(lines: Iterable[str]) -> dict[str, str]:
    """Words that are mostly not in lower case where no sentence begins, as they are mostly written there."""
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
    usual = {word: found.most_common(1)[0][0] for word, found in counts.items()}
    return {word: written for word, written in usual.items() if written != word}
