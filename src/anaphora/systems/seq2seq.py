"""`hf:NAME_OR_PATH`: Hugging Face encoder–decoders (Marian/OPUS-MT, M2M-100, NLLB, mBART, T5, MADLAD)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM

from anaphora.errors import AnaphoraError
from anaphora.systems.checkpoint import SETTINGS, fingerprint, load_checkpoint
from anaphora.systems.context import Question
from anaphora.systems.language_codes import find_code
from anaphora.systems.neural import Encoded, NeuralSystem
from anaphora.systems.options import Options, split_settings


class HuggingFaceSeq2Seq(NeuralSystem):
    """An encoder–decoder that translates.

    Settings in the spec: revision, dtype, device; source and target, the model's own language codes where they cannot
    be told from the suite's languages; prefix, what stands before the source (`<2de> ` for MADLAD is found by itself).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, (*SETTINGS, "source", "target", "prefix"))
        model, self.tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, name, settings)
        self._fingerprint = fingerprint(model, self.tokenizer, settings)
        self._set_languages(settings.get("source"), settings.get("target"), options.languages)
        self.prefix = settings.get("prefix", self._madlad_prefix(options.languages[1]))
        super().__init__(model, options)

    def settings(self) -> dict[str, Any]:
        """What the scores depend on, for the header of a run."""
        return {
            **self._fingerprint,
            "source_code": self.source_code,
            "target_code": self.target_code,
            "prefix": self.prefix,
        }

    def encode(self, questions: Sequence[Question]) -> list[Encoded]:
        sources = self.tokenizer([self.prefix + question.source for question in questions]).input_ids
        targets = self.tokenizer(text_target=[t for question in questions for t in question.targets]).input_ids
        encoded, place = [], 0
        for question, source in zip(questions, sources, strict=True):
            labels = targets[place : place + len(question.targets)]
            place += len(question.targets)
            encoded.append(self._limited(self._encoded(source, labels), question))
        return encoded

    def translate(self, texts: Sequence[str], *, beams: int = 4, max_tokens: int = 256) -> list[str]:
        """Translations of texts, by beam search, in batches of like length."""
        found: list[str] = [""] * len(texts)
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
        longest = max_tokens if self._limit is None else min(max_tokens, self._limit - 2)
        arguments: dict[str, Any] = {"num_beams": beams, "max_new_tokens": longest}
        if self._target_id is not None:
            arguments["forced_bos_token_id"] = self._target_id
        size = max(1, self.options.batch_tokens // 64)
        for start in range(0, len(order), size):
            batch = order[start : start + size]
            inputs = self.tokenizer([self.prefix + texts[i] for i in batch], return_tensors="pt", padding=True)
            with torch.inference_mode():
                output = self.model.generate(**inputs.to(self.model.device), **arguments)
            decoded = self.tokenizer.batch_decode(output, skip_special_tokens=True)
            for i, text in zip(batch, decoded, strict=True):
                found[i] = text
        return found

    def _encoded(self, source: Sequence[int], labels: Sequence[Sequence[int]]) -> Encoded:
        """What the decoder is given to start with is read; the rest of the labels is predicted.

        A language code at the beginning (NLLB, M2M-100, mBART-50) is forced in translation and so not predicted;
        mBART has it behind the end of the sentence and starts the decoder from it.
        """
        prompt = [self._start]
        candidates = [list(label) for label in labels]
        code = self._target_id
        if code is not None and all(c[0] == code for c in candidates):
            prompt, candidates = [self._start, code], [c[1:] for c in candidates]
        elif code is not None and all(c[-1] == code for c in candidates):
            prompt, candidates = [code], [c[:-1] for c in candidates]
        return Encoded(tuple(source), tuple(prompt), tuple(map(tuple, candidates)))

    @property
    def _start(self) -> int:
        start = self.model.config.decoder_start_token_id
        if start is None:
            start = self.model.config.bos_token_id
        return int(start)

    def _limited(self, encoded: Encoded, question: Question) -> Encoded:
        """Within what the model takes, or an error that names the text."""
        limit = self._limit
        longest = max(len(encoded.source), *(len(encoded.prompt) + len(c) for c in encoded.candidates))
        if limit is None or longest <= limit:
            return encoded
        if not self.options.truncate:
            raise AnaphoraError(
                f"{longest:,} tokens, but the model takes {limit:,}: {question.source[:60]!r}… "
                "Use less --context, or cut such texts with --truncate"
            )
        source, last = encoded.source, encoded.source[-1:]
        cut_source = source if len(source) <= limit else (*source[: limit - 1], *last)
        room = limit - len(encoded.prompt)
        candidates = tuple(c[:room] for c in encoded.candidates)
        cut = (cut_source != source) + sum(len(c) > room for c in encoded.candidates)
        return Encoded(cut_source, encoded.prompt, candidates, cut)

    @property
    def _limit(self) -> int | None:
        """Learned and sinusoidal positions end somewhere; T5's relative ones do not."""
        limit: int | None = getattr(self.model.config, "max_position_embeddings", None)
        return limit

    def _set_languages(self, source: str | None, target: str | None, languages: tuple[str, str]) -> None:
        """Tell a multilingual tokeniser its languages; their codes differ from model to model."""
        self.source_code = self.target_code = None
        self._target_id: int | None = None
        codes = _codes(self.tokenizer)
        if not codes:
            return
        self.source_code = source or find_code(languages[0], codes)
        self.target_code = target or find_code(languages[1], codes)
        for given, language in ((self.source_code, languages[0]), (self.target_code, languages[1])):
            if given is None or given not in codes:
                some = ", ".join(sorted(codes)[:8])
                raise AnaphoraError(
                    f"the model has no language code {given or language!r} (it has {some}, …). "
                    "Name them in the spec: hf:NAME?source=CODE&target=CODE"
                )
        self.tokenizer.src_lang, self.tokenizer.tgt_lang = self.source_code, self.target_code
        self._target_id = codes[self.target_code or ""]

    def _madlad_prefix(self, language: str) -> str:
        tag = f"<2{language}>"
        return f"{tag} " if language and tag in self.tokenizer.get_vocab() else ""


def _codes(tokenizer: Any) -> dict[str, int]:
    """Language codes of a multilingual tokeniser and their token ids."""
    if not hasattr(tokenizer, "src_lang"):
        return {}
    known = getattr(tokenizer, "lang_code_to_id", None) or {}
    if not known:
        names = getattr(tokenizer, "additional_special_tokens", None) or getattr(tokenizer, "extra_special_tokens", [])
        known = {name: tokenizer.convert_tokens_to_ids(name) for name in names}
    to_token = getattr(tokenizer, "lang_code_to_token", None)
    if to_token:  # M2M-100: de ↔ __de__
        return {code: tokenizer.convert_tokens_to_ids(token) for code, token in to_token.items()}
    return dict(known)
