"""`hf:NAME_OR_PATH`: Hugging Face encoder–decoders (Marian/OPUS-MT, M2M-100, NLLB, mBART, T5, MADLAD)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from anaphora.scoring.tree import EncodedExample
from anaphora.systems.context import Question
from anaphora.systems.encoding import pairs
from anaphora.systems.huggingface import checkpoint
from anaphora.systems.huggingface.neural import NeuralSystem
from anaphora.systems.options import Options, split_settings


class HuggingFaceSeq2Seq(NeuralSystem):
    """An encoder–decoder that translates.

    Settings in the spec: revision, dtype, device; source and target, the model's own language codes where they cannot
    be told from the suite's languages; prefix, what stands before the source (`<2de> ` for MADLAD is found by itself).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, (*checkpoint.SETTINGS, *pairs.SETTINGS))
        model, self.tokenizer = checkpoint.load_checkpoint(AutoModelForSeq2SeqLM, name, settings)
        self._fingerprint = checkpoint.fingerprint(model, self.tokenizer, settings)
        # Learned and sinusoidal positions end somewhere; T5's relative ones do not.
        limit = getattr(model.config, "max_position_embeddings", None)
        self.tokens = pairs.PairTokens(self.tokenizer, settings, options, start=_start(model.config), limit=limit)
        super().__init__(model, options)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {**self._fingerprint, **self.tokens.settings()}

    def encode(self, questions: Sequence[Question]) -> list[EncodedExample]:
        return self.tokens.encode(questions)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Translations of texts, by beam search, in batches of like length."""
        found: list[str] = [""] * len(texts)
        sources = self.tokens.sources(texts)
        order = sorted(range(len(texts)), key=lambda i: (len(sources[i]), i))
        limit = self.tokens.limit
        arguments: dict[str, Any] = {
            "num_beams": beams or 4,
            "max_new_tokens": max_tokens if limit is None else min(max_tokens, limit - 2),
        }
        arguments["decoder_start_token_id"], *code = self.tokens.prompt()
        if code:
            arguments["forced_bos_token_id"] = code[0]
        size = max(1, self.options.batch_tokens // 64)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            inputs = self.tokenizer.pad({"input_ids": [list(sources[i]) for i in batch]}, return_tensors="pt")
            with torch.inference_mode():
                output = self.model.generate(**inputs.to(self.model.device), **arguments)
            decoded = self.tokenizer.batch_decode(output, skip_special_tokens=True)
            for i, text in zip(batch, decoded, strict=True):
                found[i] = text
        return found


def _start(config: Any) -> int:
    """The token that the decoder starts from."""
    start = config.decoder_start_token_id
    return int(config.bos_token_id if start is None else start)
