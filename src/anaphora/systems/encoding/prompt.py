"""Prompts that ask a language model for a translation: the two we have, and those of a user's file."""

from __future__ import annotations

import re
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary, text_lines

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
