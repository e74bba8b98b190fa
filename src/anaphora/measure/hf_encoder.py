"""The states of any Hugging Face encoder or causal language model, one per word, computed once and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch import Tensor, nn

from anaphora.core.errors import AnaphoraError
from anaphora.measure.model import Progress, Text
from anaphora.measure.store import Memory, Store, key_of, open_store
from anaphora.systems.context import split_settings
from anaphora.systems.huggingface import fingerprint, load_checkpoint

SETTINGS = ("layer", "words", "revision", "dtype", "device")
WORDS = ("mean", "first", "last")
BATCH_TOKENS = 4096


class HuggingFaceEncoder(nn.Module):
    """States of a layer, one per word: the mean of its pieces, or its first or last one.

    A text that is longer than the model takes loses words of its context, the oldest first, and then of its end; a
    word without a state has a state of zeros, and no word attends to it.
    """

    def __init__(self, what: str, *, cache: Path | None = None, tuned: bool = False) -> None:
        super().__init__()
        name, settings = split_settings(what, SETTINGS)
        self.spec, self.tuned, self.cut = what, tuned, 0
        self.words_by = settings.get("words", "mean")
        if self.words_by not in WORDS:
            raise AnaphoraError(f"unknown words={self.words_by!r} in {what!r}. Known: {', '.join(WORDS)}")
        try:
            self.layer = int(settings.get("layer", "-1"))
        except ValueError:
            raise AnaphoraError(f"layer={settings['layer']!r} in {what!r} is not a number") from None
        kept = {key: value for key, value in settings.items() if key not in ("layer", "words")}
        self.model, self.tokenizer = load_checkpoint(transformers.AutoModel, name, kept)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.width: int = self.model.config.hidden_size
        self._given = kept
        self._fingerprint = fingerprint(self.model, self.tokenizer, kept)
        layers = self.model.config.num_hidden_layers
        if not -layers - 1 <= self.layer <= layers:
            raise AnaphoraError(f"{what}: no layer {self.layer}: there are {layers}, and the embeddings (0)")
        self.requires_grad_(tuned)
        self._cache = cache
        self._store: Store | Memory | None = None

    def settings(self) -> dict[str, Any]:
        if self.tuned:  # its weights are others than when it was loaded
            self._fingerprint = fingerprint(self.model, self.tokenizer, self._given)
        return {"kind": "hf", "layer": self.layer, "words": self.words_by, **self._fingerprint}

    def train(self, mode: bool = True) -> HuggingFaceEncoder:
        """A frozen encoder stays as it is: dropout would change what is kept."""
        super().train(mode and self.tuned)
        return self

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """States of texts that are not kept yet, short ones first, in batches that can be interrupted.

        Batches are those of all texts, kept or not: the last digits of states depend on what is computed together, and
        must not depend on where a computation was interrupted.
        """
        if self.tuned:
            return
        store = self._kept()
        texts_by_key = {key_of(text.whole): text for text in texts}
        missing = {key for key in texts_by_key if key not in store}
        ordered = sorted(texts_by_key.items(), key=lambda item: len(item[1].words)) if missing else []
        start = done = 0
        while start < len(ordered):
            size = max(1, BATCH_TOKENS // max(1, len(ordered[min(start + 64, len(ordered)) - 1][1].words)))
            part = ordered[start : start + size]
            start += len(part)
            if not any(key in missing for key, _ in part):
                continue
            with torch.inference_mode():
                states, _ = self._states([text for _, text in part])
            rows = states.cpu().numpy().astype(np.float16)  # as a store on disk has them
            new = {key: rows[n, : len(text.words)] for n, (key, text) in enumerate(part) if key in missing}
            store.put(new)
            done += len(new)
            if progress is not None:
                progress(done, len(missing))

    def forward(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        if self.tuned:
            return self._states(texts)
        self.prepare(texts)
        rows = [self._kept().get(key_of(text.whole)) for text in texts]
        size = max(1, max(len(row) for row in rows))
        states = np.zeros((len(rows), size, self.width), np.float32)
        for n, row in enumerate(rows):
            states[n, : len(row)] = row
        found = torch.from_numpy(states)
        return found, found.abs().sum(-1) > 0

    def _kept(self) -> Store | Memory:
        if self._store is None:
            self._store = open_store(self._cache, self.width, self.settings())
        return self._store

    def _states(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        """States (b, n, d) in float32 and where they are (b, n)."""
        encoded = [self._pieces(text) for text in texts]
        longest = max(1, max(len(ids) for ids, _ in encoded))
        pad = self.tokenizer.pad_token_id or 0
        ids = torch.full((len(texts), longest), pad)
        mask = torch.zeros_like(ids)
        for n, (pieces, _) in enumerate(encoded):
            ids[n, : len(pieces)] = torch.tensor(pieces)
            mask[n, : len(pieces)] = 1
        mask[:, 0] = 1  # a text without a piece would attend to nothing
        device = self.model.device
        given = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        if self.layer in (-1, self.model.config.num_hidden_layers):
            hidden = self.model(**given).last_hidden_state
        else:
            hidden = self.model(**given, output_hidden_states=True).hidden_states[self.layer]
        gathering = torch.zeros(len(texts), max(1, max(len(t.words) for t in texts)), longest)
        for n, (_, owners) in enumerate(encoded):
            self._gather(owners, gathering[n])
        states = gathering.to(device) @ hidden.float()
        return states.cpu() if not self.tuned else states, (gathering.sum(-1) > 0).to(states.device)

    def _gather(self, owners: list[int | None], into: Tensor) -> None:
        """For each word how much of each piece is in its state, so that gathering is one product."""
        by_word: dict[int, list[int]] = {}
        for piece, word in enumerate(owners):
            if word is not None:
                by_word.setdefault(word, []).append(piece)
        for word, pieces in by_word.items():
            used = {"mean": pieces, "first": pieces[:1], "last": pieces[-1:]}[self.words_by]
            into[word, used] = 1 / len(used)

    def _pieces(self, text: Text) -> tuple[list[int], list[int | None]]:
        """The pieces of a text within what the model takes, and the word that each belongs to."""
        limit = min(self.tokenizer.model_max_length, self.model.config.max_position_embeddings)
        found = self.tokenizer(text.whole, return_offsets_mapping=True, truncation=False, verbose=False)
        ids, owners = list(found["input_ids"]), _owners(found["offset_mapping"], text)
        excess = len(ids) - limit
        if excess > 0:
            self.cut += 1
            removable = [n for n, word in enumerate(owners) if word is not None and word < text.begin][:excess]
            removable += [
                n for n, word in reversed(list(enumerate(owners))) if word is not None and word >= text.begin
            ][: excess - len(removable)]
            gone = set(removable)
            kept = [n for n in range(len(ids)) if n not in gone]
            ids, owners = [ids[n] for n in kept], [owners[n] for n in kept]
        return ids, owners


def _owners(offsets: Sequence[tuple[int, int]], text: Text) -> list[int | None]:
    """The word that holds the last character of each piece; None for pieces of no word."""
    at = {place: n for n, (start, end) in enumerate(text.spans) for place in range(start, end)}
    return [at.get(end - 1) if end > start else None for start, end in offsets]
