"""`lm:NAME_OR_PATH`: causal language models, base or chat, with a prompt; GGUF files too."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from anaphora.errors import AnaphoraError, BadInput
from anaphora.files import text_lines
from anaphora.systems.checkpoint import SETTINGS, fingerprint, load_checkpoint
from anaphora.systems.context import Question
from anaphora.systems.language_codes import english_name
from anaphora.systems.neural import Encoded, NeuralSystem
from anaphora.systems.options import Options, split_settings, yes

BASE_PROMPT = "{source_language}: {source}\n{target_language}:"
CHAT_PROMPT = (
    "Translate the following text from {source_language} into {target_language}. "
    "Answer with the translation only.\n\n{source}"
)
PLACES = ("source", "source_language", "target_language")


class CausalLM(NeuralSystem):
    """A language model that is asked to translate: the prompt is what all candidates share.

    Settings in the spec: revision, dtype, device; prompt, a file with {source}, {source_language} and
    {target_language}; chat, yes or no (yes where the tokeniser has a chat template).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, (*SETTINGS, "prompt", "chat"))
        model, self.tokenizer = load_checkpoint(AutoModelForCausalLM, name, settings)
        has_template = getattr(self.tokenizer, "chat_template", None) is not None
        self.chat = yes(settings["chat"]) if "chat" in settings else has_template
        if self.chat and not has_template:
            raise AnaphoraError(
                f"{name}: its tokeniser has no chat template. Score it as a base model: lm:{name}?chat=no"
            )
        self.prompt = read_prompt(settings.get("prompt")) or (CHAT_PROMPT if self.chat else BASE_PROMPT)
        self._fingerprint = fingerprint(model, self.tokenizer, settings)
        super().__init__(model, options)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {**self._fingerprint, "prompt": self.prompt, "chat": self.chat}

    def encode(self, questions: Sequence[Question]) -> list[Encoded]:
        return [self._encoded(question) for question in questions]

    def translate(self, texts: Sequence[str], *, beams: int = 1, max_tokens: int = 256) -> list[str]:
        """What the model writes after the prompt, up to the end of the line (base) or of its turn (chat)."""
        found = []
        for text in texts:
            prompt = self._text(text, None)
            inputs = self.tokenizer(prompt, return_tensors="pt", add_special_tokens=not self.chat)
            with torch.inference_mode():
                output = self.model.generate(
                    **inputs.to(self.model.device),
                    num_beams=beams,
                    max_new_tokens=max_tokens,
                    do_sample=False,
                    pad_token_id=self.tokenizer.pad_token_id or self.tokenizer.eos_token_id,
                )
            answer = self.tokenizer.decode(output[0, inputs.input_ids.shape[1] :], skip_special_tokens=True).strip()
            found.append(answer if self.chat else answer.partition("\n")[0])
        return found

    def _encoded(self, question: Question) -> Encoded:
        """Tokens of prompt and candidate together, cut where the candidates begin.

        A tokeniser may merge across that place; what is read is then the longest beginning that all have in common
        with the prompt, so that every candidate is predicted whole.
        """
        special = not self.chat  # a chat template writes its own
        prompt = self.tokenizer(self._text(question.source, None), add_special_tokens=special).input_ids
        texts = [self._text(question.source, target) for target in question.targets]
        wholes = self.tokenizer(texts, add_special_tokens=special).input_ids
        shared = min(_common(prompt, whole) for whole in wholes)
        start = wholes[0][:shared]
        if not start:
            first = self.tokenizer.bos_token_id
            start = [self.tokenizer.eos_token_id if first is None else first]
        candidates = tuple(tuple(whole[shared:]) for whole in wholes)
        return self._limited(Encoded((), tuple(start), candidates), question)

    def _text(self, source: str, target: str | None) -> str:
        languages = map(english_name, self.options.languages)
        prompt = fill(self.prompt, dict(zip(PLACES, (source, *languages), strict=True)))
        if not self.chat:
            return prompt if target is None else f"{prompt} {target}\n"
        messages = [{"role": "user", "content": prompt}]
        if target is not None:
            messages.append({"role": "assistant", "content": target})
        text: str = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=target is None)
        return text

    def _limited(self, encoded: Encoded, question: Question) -> Encoded:
        limit = getattr(self.model.config, "max_position_embeddings", None)
        longest = len(encoded.prompt) + max(map(len, encoded.candidates))
        if limit is not None and longest > limit:
            raise AnaphoraError(
                f"{longest:,} tokens, but the model takes {limit:,}: {question.source[:60]!r}… Use less --context"
            )
        return encoded


def read_prompt(path: str | None) -> str | None:
    """The prompt of a file; it must say where the source goes."""
    if path is None:
        return None
    prompt = "\n".join(text_lines(Path(path)))
    if "{source}" not in prompt:
        raise BadInput(
            path, "the prompt has no {source}", remedy=f"It may have {', '.join(f'{{{p}}}' for p in PLACES)}."
        )
    return prompt


def fill(prompt: str, values: dict[str, str]) -> str:
    """Put values in their places; other braces stay as they are, and what is put in is not looked at again."""
    import re

    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda match: values[match[1]], prompt)


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences begin with in common; at least one of the second is left to predict."""
    n = 0
    while n < min(len(one), len(other) - 1) and one[n] == other[n]:
        n += 1
    return n
