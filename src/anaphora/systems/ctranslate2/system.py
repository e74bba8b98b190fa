"""`ct2:PATH`: models converted to CTranslate2, translators and generators (causal language models)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import ctranslate2  # type: ignore[import-untyped]

from anaphora.core.errors import AnaphoraError
from anaphora.runs import Answer
from anaphora.scoring.tree import EncodedExample, common_prefix
from anaphora.suites.example import Example
from anaphora.systems.context import Options, split_settings
from anaphora.systems.ctranslate2.engines import GeneratorEngine, TranslatorEngine
from anaphora.systems.ctranslate2.model_file import read_model_file
from anaphora.systems.encoding.tokens import answer, encode_examples, load_tokenizer, loaded

SETTINGS = ("compute_type", "device", "tokenizer")


class CTranslate2System:
    """A converted model; its Hugging Face tokeniser is in the same folder unless the spec names another.

    Settings in the spec: compute_type, device, tokenizer; for a translator source, target and prefix as in `hf:`, for
    a generator prompt and chat as in `lm:`.

    Scores are those of `hf:` and `lm:`, with one difference that is the converter's: a Marian model loses the <pad>
    that Transformers gave it, and with it the little probability that <pad> had.
    """

    has_focus = True  # may score a part of a candidate

    def __init__(self, what: str, options: Options) -> None:
        self.options = options
        self.file = read_model_file(Path(what.partition("?")[0]))
        engine = GeneratorEngine if self.file.generator else TranslatorEngine
        name, settings = split_settings(what, (*SETTINGS, *engine.SETTINGS))
        tokenizer = _tokenizer(name, settings.get("tokenizer"))
        self._tokenizer = f"{type(tokenizer).__name__}/{len(tokenizer)}"
        arguments: dict[str, Any] = {"compute_type": settings.get("compute_type", "default"), "inter_threads": 1}
        arguments |= {"device": settings.get("device", "auto"), "intra_threads": options.threads or 0}
        model = loaded(name, "model", lambda: engine.MODEL(name, **arguments))
        self.engine = engine(model, self.file, tokenizer, settings, options)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {
            "weights": self.file.checksum(),
            "compute_type": self.engine.model.compute_type,
            "ctranslate2": ctranslate2.__version__,
            "tokenizer": self._tokenizer,
            **self.engine.tokens.settings(),
        }

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """Each example's number with its answer, as they are computed, short ones first.

        Batches are made as if nothing were done, and those with nothing left to do are passed over: so that scores
        do not depend on where an earlier process was interrupted, to the last digit.
        """
        encoded = encode_examples(examples, self.options, self.engine.tokens.encode)
        for batch in batches(encoded, self.options.batch_tokens):
            if any(number not in done for number in batch):
                yield from self._batch(batch, encoded)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Translations of texts in batches of like length, by beam search (a generator: greedy, unless told)."""
        found = [""] * len(texts)
        inputs = self.engine.inputs(texts)
        room = [min(max_tokens, self.engine.room(ids)) for ids in inputs]  # texts of one batch have the same
        order = sorted(range(len(texts)), key=lambda i: (-room[i], len(inputs[i]), i))
        size = max(1, self.options.batch_tokens // 64)
        for longest, group in groupby(order, key=room.__getitem__):
            numbers = list(group)
            for batch in (numbers[start : start + size] for start in range(0, len(numbers), size)):
                try:
                    output = self.engine.translate([inputs[i] for i in batch], beams, longest)
                except RuntimeError as error:
                    raise AnaphoraError(f"CTranslate2 cannot translate: {error}") from None
                for i, text in zip(batch, output, strict=True):
                    found[i] = text
        return found

    def _batch(self, batch: Sequence[int], encoded: Sequence[EncodedExample]) -> Iterator[tuple[int, Answer]]:
        """Score a batch; where memory does not suffice, in two halves. Equal candidates are scored once."""
        rows = {(n, candidate): (encoded[n], candidate) for n in batch for candidate in encoded[n].candidates}
        try:
            scores = dict(zip(rows, self.engine.score(list(rows.values())), strict=True))
        except (MemoryError, RuntimeError) as error:
            if len(batch) == 1 or not (isinstance(error, MemoryError) or "out of memory" in str(error).lower()):
                raise AnaphoraError(f"CTranslate2 cannot score {encoded[batch[0]].longest:,} tokens: {error}") from None
            scores = None
        if scores is None:
            yield from self._batch(batch[: len(batch) // 2], encoded)
            yield from self._batch(batch[len(batch) // 2 :], encoded)
            return
        for n in batch:
            candidates = encoded[n].candidates
            left_out = common_prefix(candidates) if self.options.margins_only else 0
            yield (
                n,
                answer(
                    candidates, [(sum(scores[n, c][left_out:], 0.0), len(c)) for c in candidates], encoded[n].truncated
                ),
            )


def _tokenizer(folder: str, name: str | None) -> Any:
    """The tokenizer that is named, or the one in the model's folder."""
    if name is not None:
        return load_tokenizer(name)
    try:
        return load_tokenizer(folder)
    except AnaphoraError as error:
        raise AnaphoraError(
            f"{folder}: no tokenizer that can be loaded is next to the model. Name the one that belongs to it: "
            f"ct2:{folder}?tokenizer=NAME_OR_PATH ({error})"
        ) from None


def batches(encoded: Sequence[EncodedExample], tokens: int) -> Iterator[list[int]]:
    """Numbers of questions of like length, each batch within a budget of padded tokens (one may exceed it)."""
    batch: list[int] = []
    rows = 0
    for number in sorted(range(len(encoded)), key=lambda n: (encoded[n].longest, n)):
        more = len(encoded[number].candidates)
        if batch and (rows + more) * encoded[number].longest > tokens:
            yield batch
            batch, rows = [], 0
        batch.append(number)
        rows += more
    if batch:
        yield batch
