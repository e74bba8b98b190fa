"""`gguf:FILE`: a quantized language model, base or chat, computed by llama.cpp as it computes everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.workers import processor_count
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample, common_prefix
from anaphora.suites.example import Example
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings
from anaphora.systems.encoding import answer, encode_examples
from anaphora.systems.llamacpp import MAGIC, VERSION, LlamaCpp
from anaphora.systems.prompts import CausalInputs


class GGUFSystem:
    """A language model in a GGUF file that is asked to translate, as by `lm:`; what candidates share is read once.

    Settings in the spec: prompt and chat as in `lm:`.
    """

    traits = KINDS["gguf"].traits

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, KINDS["gguf"].settings)
        self.path, self.options = Path(name), options
        _check(self.path)
        self.model = LlamaCpp(self.path, options.threads or processor_count())
        tokenizer = Tokenizer(self.model, name)
        self.tokens = CausalInputs(tokenizer, settings, options, name=f"gguf:{name}", limit=self.model.limit)

    def settings(self) -> dict[str, Any]:
        with self.path.open("rb") as stream:
            weights = hashlib.file_digest(stream, "sha256").hexdigest()[:16]
        return {"weights": weights, "xllamacpp": VERSION, **self.tokens.settings()}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Each example's number with its scores, in order."""
        encoded = encode_examples(examples, self.options, self.tokens.encode)
        for number, question in enumerate(encoded):
            if number not in done:
                yield number, self._score(question)

    def close(self) -> None:
        """Free the memory of the model."""
        self.model.close()

    def _score(self, question: EncodedExample) -> CandidateScores:
        """The sums of the log-probabilities of the candidates' tokens. Equal candidates are computed once."""
        different = list(dict.fromkeys(question.candidates))
        groups = [[candidate] for candidate in different] if self.options.plain else [different]
        computed = (row for group in groups for row in self.model.log_probabilities(question.prompt, group))
        values = dict(zip(different, computed, strict=True))
        left_out = common_prefix(question.candidates) if self.options.margins_only else 0
        scores = [(sum(values[c][left_out:], 0.0), len(c)) for c in question.candidates]
        return answer(question.candidates, scores, question.truncated)


class Tokenizer:
    """The vocabulary of a GGUF file, with the interface of a Hugging Face tokenizer that `CausalInputs` uses."""

    def __init__(self, model: LlamaCpp, name: str) -> None:
        self._model, self._name = model, name
        self.chat_template = model.chat_template
        self.bos_token_id, self.eos_token_id = model.bos, model.eos
        if model.bos is None and model.eos is None:
            raise BadInput(name, "the vocabulary has no token for the beginning or end of a text")

    def __call__(self, text: str, add_special_tokens: bool) -> SimpleNamespace:
        return SimpleNamespace(input_ids=self._model.tokenize(text, add_special_tokens))

    def apply_chat_template(
        self, messages: Sequence[Mapping[str, str]], *, tokenize: bool, add_generation_prompt: bool
    ) -> str:
        """A chat as text. The file's template is rendered in a sandbox, with what templates of the hub expect."""
        tokens = {"bos_token": self.bos_token_id, "eos_token": self.eos_token_id}
        values: dict[str, Any] = {n: "" if t is None else self._model.text(t) for n, t in tokens.items()}
        values |= {"messages": messages, "add_generation_prompt": add_generation_prompt}
        try:
            template = _environment().from_string(self.chat_template or "")
            return template.render(tools=None, documents=None, **values)
        except (jinja2.TemplateError, TypeError, ValueError, RecursionError) as error:
            problem = " ".join(str(error).split())[:200]
            raise AnaphoraError(
                f"gguf:{self._name}: its chat template cannot be used ({problem}). Score it as a base model: ?chat=no"
            ) from None


def _environment() -> ImmutableSandboxedEnvironment:
    def raise_exception(message: str) -> None:
        raise jinja2.TemplateError(message)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.globals["raise_exception"] = raise_exception
    return environment


def _check(path: Path) -> None:
    if not path.is_file():
        raise BadInput(path, "no such file", remedy="Write gguf:FILE, the path of a GGUF file.")
    with path.open("rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise BadInput(path, "not a GGUF file", remedy="For a model of Hugging Face, use lm:NAME_OR_PATH.")
