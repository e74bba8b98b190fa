"""CTranslate2's two kinds of models under one roof: tokens in, log-probabilities or text out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ctranslate2  # type: ignore[import-untyped]

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.tree import EncodedExample, Ids
from anaphora.systems.context import Options
from anaphora.systems.ctranslate2.model_file import ModelFile
from anaphora.systems.encoding import prompted, tokens

UNLIMITED = 1_000_000  # a tokeniser that says a model takes more than this does not know
WHOLE = {"max_input_length": 0}  # unless told otherwise, the library cuts at 1,024 tokens without a word

Row = tuple[EncodedExample, Ids]  # one candidate, and the question it belongs to


class TranslatorEngine:
    """An encoder–decoder. The library puts the first and the last token of the target there by itself."""

    MODEL = ctranslate2.Translator
    SETTINGS = tokens.SETTINGS

    def __init__(
        self, model: Any, file: ModelFile, tokenizer: Any, settings: Mapping[str, str], options: Options
    ) -> None:
        if getattr(tokenizer, "separate_vocabs", False):
            raise AnaphoraError(f"{file.folder}: source and target have vocabularies of their own. Score it with hf:")
        self.model, self.names = model, TokenNames(file, tokenizer)
        self.config = file.config
        start = self.config.get("decoder_start_token")
        self.given_start = start is None  # mBART starts from the language
        self.end = tokenizer.eos_token_id
        first = self.end if start is None else tokenizer.convert_tokens_to_ids(start)
        self.tokens = tokens.PairTokens(tokenizer, settings, options, start=first, limit=_limit(file, tokenizer))

    def score(self, rows: Sequence[Row]) -> list[list[float]]:
        """Log-probabilities of the tokens of every candidate."""
        sources = [self._source(encoded.source) for encoded, _ in rows]
        targets = [self._target(encoded.prompt, candidate) for encoded, candidate in rows]
        found = self.model.score_batch(sources, targets, **WHOLE)
        return [
            _of(candidate, result.log_probs[len(encoded.prompt) - 1 :][: len(candidate)])
            for (encoded, candidate), result in zip(rows, found, strict=True)
        ]

    def inputs(self, texts: Sequence[str]) -> list[Ids]:
        return self.tokens.sources(texts)

    def room(self, ids: Ids) -> int:
        """How many tokens an output may have."""
        return UNLIMITED if self.tokens.limit is None else self.tokens.limit - 2

    def translate(self, inputs: Sequence[Ids], beams: int | None, longest: int) -> list[str]:
        read = self._given(self.tokens.prompt())
        found = self.model.translate_batch(
            [self._source(ids) for ids in inputs],
            [self.names.target(read)] * len(inputs) if read else None,
            beam_size=beams or 4,
            max_decoding_length=longest,
            **WHOLE,
        )
        ids = [self.tokens.tokenizer.convert_tokens_to_ids(result.hypotheses[0]) for result in found]
        return [self.tokens.tokenizer.decode(tokens, skip_special_tokens=True) for tokens in ids]

    def _source(self, ids: Ids) -> list[str]:
        """A model of Marian's own format gets the end of the sentence from the library, which then is not given."""
        return self.names.source(ids[:-1] if self.config.get("add_source_eos") and ids[-1:] == (self.end,) else ids)

    def _target(self, prompt: Ids, candidate: Ids) -> list[str]:
        """Without the end of the sentence, which the library adds; one that was cut has none, and it is not counted."""
        return self.names.target(self._given(prompt) + (candidate[:-1] if candidate[-1:] == (self.end,) else candidate))

    def _given(self, prompt: Ids) -> Ids:
        """What of the prompt the library does not put there by itself."""
        return prompt if self.given_start else prompt[1:]


class GeneratorEngine:
    """A causal language model: prompt and candidate in one, of which only the candidate counts."""

    MODEL = ctranslate2.Generator
    SETTINGS = prompted.SETTINGS

    def __init__(
        self, model: Any, file: ModelFile, tokenizer: Any, settings: Mapping[str, str], options: Options
    ) -> None:
        self.model, self.names = model, TokenNames(file, tokenizer)
        name, limit = f"ct2:{file.folder}", _limit(file, tokenizer)
        self.tokens = prompted.PromptTokens(tokenizer, settings, options, name=name, limit=limit)

    def score(self, rows: Sequence[Row]) -> list[list[float]]:
        """Log-probabilities of the tokens of every candidate."""
        found = self.model.score_batch([self.names.target(e.prompt + candidate) for e, candidate in rows], **WHOLE)
        return [
            _of(candidate, result.log_probs[len(encoded.prompt) - 1 :])
            for (encoded, candidate), result in zip(rows, found, strict=True)
        ]

    def inputs(self, texts: Sequence[str]) -> list[Ids]:
        return self.tokens.prompts(texts)

    def room(self, ids: Ids) -> int:
        """How many tokens an output may have after this prompt."""
        return UNLIMITED if self.tokens.limit is None else self.tokens.limit - len(ids)

    def translate(self, inputs: Sequence[Ids], beams: int | None, longest: int) -> list[str]:
        prompts = [self.names.target(ids) for ids in inputs]
        found = self.model.generate_batch(
            prompts, beam_size=beams or 1, max_length=longest, include_prompt_in_result=False
        )
        return [self.tokens.answer(result.sequences_ids[0]) for result in found]


class TokenNames:
    """The library wants tokens by their names, and takes those it does not know for unknown words: we do not."""

    def __init__(self, file: ModelFile, tokenizer: Any) -> None:
        self._tokenizer, self._folder = tokenizer, file.folder
        self._source, self._target = file.vocabulary("source"), file.vocabulary("target")

    def source(self, ids: Ids) -> list[str]:
        return self._checked(ids, self._source)

    def target(self, ids: Sequence[int]) -> list[str]:
        return self._checked(ids, self._target)

    def _checked(self, ids: Sequence[int], known: frozenset[str]) -> list[str]:
        names: list[str] = self._tokenizer.convert_ids_to_tokens(list(ids))
        if known and not known.issuperset(names):
            name = next(name for name in names if name not in known)
            raise AnaphoraError(
                f"{self._folder}: the model does not know the token {name!r} of the tokeniser. "
                f"Name the one that belongs to it: ct2:{self._folder}?tokenizer=NAME_OR_PATH"
            )
        return names


def _of(candidate: Ids, found: list[float]) -> list[float]:
    """One for each token: a text that the library had cut or passed over would be a good one."""
    if len(found) != len(candidate):
        raise AnaphoraError(f"CTranslate2 gave {len(found):,} log-probabilities for {len(candidate):,} tokens")
    return found


def _limit(file: ModelFile, tokenizer: Any) -> int | None:
    """How many tokens the model takes: its table of positions says so; where it has none, the tokeniser may know."""
    if file.positions is not None or file.relative:
        return file.positions
    limit: int = tokenizer.model_max_length
    return limit if limit < UNLIMITED else None
