"""`lm:NAME_OR_PATH`: causal language models, base or chat, with a prompt; GGUF files too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from anaphora.scoring.tree import EncodedExample
from anaphora.systems.context import Question
from anaphora.systems.encoding import prompted
from anaphora.systems.huggingface import checkpoint
from anaphora.systems.huggingface.neural import NeuralSystem
from anaphora.systems.options import Options, split_settings


class CausalLM(NeuralSystem):
    """A language model that is asked to translate: the prompt is what all candidates share.

    Settings in the spec: revision, dtype, device; prompt, a file with {source}, {source_language} and
    {target_language}; chat, yes or no (yes where the tokeniser has a chat template).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, (*checkpoint.SETTINGS, *prompted.SETTINGS))
        model, self.tokenizer = checkpoint.load_checkpoint(AutoModelForCausalLM, name, settings)
        self._fingerprint = checkpoint.fingerprint(model, self.tokenizer, settings)
        limit = getattr(model.config, "max_position_embeddings", None)
        self.tokens = prompted.PromptTokens(self.tokenizer, settings, options, name=f"lm:{name}", limit=limit)
        super().__init__(model, options)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {**self._fingerprint, **self.tokens.settings()}

    def encode(self, questions: Sequence[Question]) -> list[EncodedExample]:
        return self.tokens.encode(questions)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """What the model writes after the prompt, up to the end of the line (base) or of its turn (chat)."""
        found = []
        limit = self.tokens.limit
        for prompt in self.tokens.prompts(texts):
            ids = torch.tensor([prompt], device=self.model.device)
            with torch.inference_mode():
                output = self.model.generate(
                    input_ids=ids,
                    attention_mask=torch.ones_like(ids),
                    num_beams=beams or 1,
                    max_new_tokens=max_tokens if limit is None else min(max_tokens, limit - len(prompt)),
                    do_sample=False,
                    pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                )
            found.append(self.tokens.answer(output[0, len(prompt) :]))
        return found
