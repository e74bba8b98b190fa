"""Prompts of language models, and candidates after them as token ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.tree import EncodedExample, Ids, common_prefix
from anaphora.systems.context import Options, Question, yes
from anaphora.systems.encoding.language_codes import english_name
from anaphora.systems.encoding.prompt import BASE_PROMPT, CHAT_PROMPT, PLACES, continued, fill, read_prompt
from anaphora.systems.encoding.tokens import too_long

# Prompt and candidates as a causal language model reads them, base or chat.

SETTINGS = ("prompt", "chat")  # what a spec may say of it
REMEDY = "Use less --context"  # a prompt that is cut asks something else: --truncate does not help


class PromptTokens:
    """The tokens of questions put to a language model, the same for every library that computes with them.

    name: the model's, for messages; limit: how many tokens the model takes, None where there is no end
    """

    def __init__(
        self, tokenizer: Any, settings: Mapping[str, str], options: Options, *, name: str, limit: int | None
    ) -> None:
        self.tokenizer, self.limit, self.languages = tokenizer, limit, options.languages
        has_template = getattr(tokenizer, "chat_template", None) is not None
        self.chat = yes(settings["chat"]) if "chat" in settings else has_template
        if self.chat and not has_template:
            raise AnaphoraError(f"{name}: its tokeniser has no chat template. Score it as a base model: {name}?chat=no")
        self.prompt = read_prompt(settings.get("prompt")) or (CHAT_PROMPT if self.chat else BASE_PROMPT)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        found = {"prompt": self.prompt, "chat": self.chat}
        if not self.chat:
            return found
        template = str(self.tokenizer.chat_template)
        return {**found, "chat_template": hashlib.sha256(template.encode()).hexdigest()[:8]}

    def encode(self, questions: Sequence[Question]) -> list[EncodedExample]:
        """Token ids of questions; one that is too long is an error."""
        return [self._encoded(question) for question in questions]

    def prompts(self, texts: Sequence[str]) -> list[Ids]:
        """Token ids of what asks for the translation of each text; there is room for an answer of one token."""
        found = []
        for text in texts:
            ids = self._ids(self.text(text)) or self._first()
            if self.limit is not None and len(ids) >= self.limit:
                raise too_long(len(ids) + 1, self.limit, text, REMEDY)
            found.append(tuple(ids))
        return found

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

    def _encoded(self, question: Question) -> EncodedExample:
        """Tokens of prompt and candidate together, cut where the candidates begin.

        A tokeniser may merge across that place; what is read is then the longest beginning that all have in common
        with the prompt, so that every candidate is predicted whole.
        """
        prompt = self._ids(self.text(question.source))
        wholes = [self._ids(self.text(question.source, target)) for target in question.targets]
        shared = common_prefix([prompt, *(whole[:-1] for whole in wholes)])
        start = wholes[0][:shared] or self._first()
        encoded = EncodedExample((), tuple(start), tuple(tuple(whole[shared:]) for whole in wholes))
        if self.limit is not None and encoded.longest > self.limit:
            raise too_long(encoded.longest, self.limit, question.source, REMEDY)
        return encoded

    def _ids(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=not self.chat).input_ids  # a template writes its own
        return ids

    def _first(self) -> list[int]:
        """What a model reads that is given nothing."""
        first = self.tokenizer.bos_token_id
        return [self.tokenizer.eos_token_id if first is None else first]


# Languages as models name them: de, de_DE, deu_Latn, and in words for prompts.

# ISO 639-1 → (ISO 639-3 as NLLB has it, script, English name)
