"""Prompts of language models, and candidates after them as token ids."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import open_binary, text_lines
from anaphora.scoring.encoded import EncodedExample, Ids, common_prefix
from anaphora.systems.context import Options, ScoringInput, parse_bool
from anaphora.systems.encoding import english_name, too_long

# Prompts that ask for a translation: the two built-in ones, and a user's file

BASE_PROMPT = "{source_language}: {source}\n{target_language}:"
CHAT_PROMPT = (
    "Translate the following text from {source_language} into {target_language}. "
    "Answer with the translation only.\n\n{source}"
)
PLACES = ("source", "source_language", "target_language")


def read_prompt(path: str | None) -> str | None:
    """The prompt of a file, exactly as it is there, the last line break included; it must say where the source goes."""
    if path is None:
        return None
    prompt = "\n".join(text_lines(Path(path)))
    with open_binary(Path(path)) as stream:
        prompt += "\n" if stream.read().endswith(b"\n") else ""
    if "{source}" not in prompt:
        raise BadInput(
            path, "the prompt has no {source}", remedy=f"It may have {', '.join(f'{{{p}}}' for p in PLACES)}."
        )
    return prompt


def continued(prompt: str, target: str) -> str:
    """A prompt with the candidate after it, as a base model reads them: one line, which ends.

    One space stands between them, and none where the prompt ends in a space or a line break of its own.

    >>> continued("German:", "Es regnet."), continued("German:\\n", "Es regnet.")
    ('German: Es regnet.\\n', 'German:\\nEs regnet.\\n')
    """
    return f"{prompt}{'' if prompt[-1:].isspace() else ' '}{target}\n"


def fill(prompt: str, values: dict[str, str]) -> str:
    """Put values in their places; other braces stay as they are, and what is put in is not looked at again."""
    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda match: values[match[1]], prompt)


# Prompt and candidates as a causal language model reads them, base or chat

REMEDY = "Use less --context"  # a prompt that is cut asks something else: --truncate does not help


class CausalInputs:
    """The tokens of questions put to a language model, the same for every library that computes with them.

    name: the model's, for messages; limit: how many tokens the model takes, None where there is no end
    """

    def __init__(
        self, tokenizer: Any, settings: Mapping[str, str], options: Options, *, name: str, limit: int | None
    ) -> None:
        self.tokenizer, self.limit, self.languages = tokenizer, limit, options.languages
        has_template = getattr(tokenizer, "chat_template", None) is not None
        self.chat = parse_bool(settings["chat"]) if "chat" in settings else has_template
        if self.chat and not has_template:
            raise AnaphoraError(f"{name}: its tokenizer has no chat template. Score it as a base model: {name}?chat=no")
        self.prompt = read_prompt(settings.get("prompt")) or (CHAT_PROMPT if self.chat else BASE_PROMPT)

    def settings(self) -> dict[str, Any]:
        settings = {"prompt": self.prompt, "chat": self.chat}
        if not self.chat:
            return settings
        template = str(self.tokenizer.chat_template)
        return {**settings, "chat_template": hashlib.sha256(template.encode()).hexdigest()[:8]}

    def encode(self, questions: Sequence[ScoringInput]) -> list[EncodedExample]:
        """Token ids of questions; one that is too long is an error."""
        return [self._encoded(question) for question in questions]

    def prompts(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of what asks for the translation of each text; there is room for an answer of one token."""
        prompts = []
        for text in texts:
            ids = self.ids(self.text(text)) or self._first()
            if self.limit is not None and len(ids) >= self.limit:
                raise too_long(len(ids) + 1, self.limit, text, REMEDY)
            prompts.append(tuple(ids))
        return prompts

    def answer(self, ids: Sequence[int]) -> str:
        """What the model wrote after the prompt, up to the end of the line (base) or of its turn (chat)."""
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True).strip()
        return text if self.chat else text.partition("\n")[0]

    def text(self, source: str, target: str | None = None) -> str:
        """The prompt for a source, with or without what is to follow it."""
        languages = map(english_name, self.languages)
        prompt = fill(self.prompt, dict(zip(PLACES, (source, *languages), strict=True)))
        if not self.chat:
            return prompt if target is None else continued(prompt, target)
        messages = [{"role": "user", "content": prompt}]
        if target is not None:
            messages.append({"role": "assistant", "content": target})
        text: str = self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=target is None)
        return text

    def _encoded(self, question: ScoringInput) -> EncodedExample:
        """Tokens of prompt and candidate together, cut where the candidates begin.

        A tokenizer may merge across that place; what is read is then the longest beginning that all have in common
        with the prompt, so that every candidate is predicted whole.
        """
        prompt = self.ids(self.text(question.source))
        wholes = [self.ids(self.text(question.source, target)) for target in question.targets]
        shared = common_prefix([prompt, *(whole[:-1] for whole in wholes)])
        start = wholes[0][:shared] or self._first()
        encoded = EncodedExample((), tuple(start), tuple(tuple(whole[shared:]) for whole in wholes))
        if self.limit is not None and encoded.longest > self.limit:
            raise too_long(encoded.longest, self.limit, question.source, REMEDY)
        return encoded

    def ids(self, text: str) -> list[int]:
        """The token ids of a text that holds the prompt."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=not self.chat).input_ids  # a template writes its own
        return ids

    def _first(self) -> list[int]:
        """What a model reads that is given nothing."""
        first = self.tokenizer.bos_token_id
        return [self.tokenizer.eos_token_id if first is None else first]
