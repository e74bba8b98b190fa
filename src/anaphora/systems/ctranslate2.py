"""`ct2:PATH`: models converted to CTranslate2, translators and generators (causal language models)."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

import ctranslate2  # type: ignore[import-untyped]

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import expecting, read_json, read_json_object, shown
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample, Ids
from anaphora.suites.example import Example
from anaphora.systems import KINDS, PAIR_SETTINGS, PROMPT_SETTINGS
from anaphora.systems.context import Options, split_settings
from anaphora.systems.encoding import (
    CausalInputs,
    Seq2SeqInputs,
    answer_by_tokens,
    describe_tokenizer,
    encode_examples,
    load_tokenizer,
    loaded,
    usable,
)

SETTINGS = ("compute_type", "device", "tokenizer")
FAILURES = (RuntimeError, ValueError, IndexError)  # what the library raises while it computes


class CTranslate2System:
    """A converted model; its Hugging Face tokenizer is in the same folder unless the spec names another.

    Settings in the spec: compute_type, device, tokenizer; for a translator source, target and prefix as in `hf:`, for
    a generator prompt and chat as in `lm:`.

    Scores are those of `hf:` and `lm:`, with one difference that is the converter's: a Marian model loses the <pad>
    that Transformers gave it, and with it the little probability that <pad> had.
    """

    traits = KINDS["ct2"].traits

    def __init__(self, what: str, options: Options) -> None:
        self.options = options
        self.file = read_model_file(Path(what.partition("?")[0]))
        engine = GeneratorEngine if self.file.generator else TranslatorEngine
        name, settings = split_settings(what, (*SETTINGS, *engine.SETTINGS))
        tokenizer = _load_tokenizer(name, settings.get("tokenizer"))
        self._tokenizer = describe_tokenizer(tokenizer)
        arguments: dict[str, Any] = {"compute_type": settings.get("compute_type", "default"), "inter_threads": 1}
        arguments |= {"device": settings.get("device", "auto"), "intra_threads": options.threads or 0}
        model = loaded(name, "model", lambda: engine.MODEL(name, **arguments))
        self.name = f"ct2:{name}"
        with usable(self.name):
            self.engine = engine(model, self.file, tokenizer, settings, options)

    def settings(self) -> dict[str, Any]:
        return {
            "weights": self.file.checksum(),
            "compute_type": self.engine.model.compute_type,
            "ctranslate2": ctranslate2.__version__,
            "tokenizer": self._tokenizer,
            **self.engine.tokens.settings(),
        }

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        with usable(self.name):
            encoded = encode_examples(examples, self.options, self.engine.tokens.encode)
            for batch in batches(encoded, self.options.batch_tokens):
                if any(number not in done for number in batch):
                    yield from self._batch(batch, encoded)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Translate texts by beam search (a generator: greedily, by default), in batches of similar length."""
        translations = [""] * len(texts)
        with usable(self.name):
            inputs = self.engine.inputs(texts)
        room = [min(max_tokens, self.engine.room(ids)) for ids in inputs]  # texts of one batch have the same
        order = sorted(range(len(texts)), key=lambda i: (-room[i], len(inputs[i]), i))
        size = max(1, self.options.batch_tokens // 64)
        for longest, group in groupby(order, key=room.__getitem__):
            numbers = list(group)
            for batch in (numbers[start : start + size] for start in range(0, len(numbers), size)):
                try:
                    with usable(self.name):
                        output = self.engine.translate([inputs[i] for i in batch], beams, longest)
                except FAILURES as error:
                    raise AnaphoraError(f"{self.name}: CTranslate2 cannot translate: {error}") from None
                for i, text in zip(batch, output, strict=True):
                    translations[i] = text
        return translations

    def _batch(self, batch: Sequence[int], encoded: Sequence[EncodedExample]) -> Iterator[tuple[int, CandidateScores]]:
        """Score a batch; where memory does not suffice, in two halves. Equal candidates are scored once."""
        rows = {(n, candidate): (encoded[n], candidate) for n in batch for candidate in encoded[n].candidates}
        try:
            scores = dict(zip(rows, self.engine.score(list(rows.values())), strict=True))
        except (MemoryError, *FAILURES) as error:
            if len(batch) == 1 or not (isinstance(error, MemoryError) or "out of memory" in str(error).lower()):
                tokens = f"{encoded[batch[0]].longest:,} tokens"
                raise AnaphoraError(f"{self.name}: CTranslate2 cannot score {tokens}: {error}") from None
            scores = None
        if scores is None:
            yield from self._batch(batch[: len(batch) // 2], encoded)
            yield from self._batch(batch[len(batch) // 2 :], encoded)
            return
        for n in batch:
            values = {candidate: scores[n, candidate] for candidate in encoded[n].candidates}
            yield n, answer_by_tokens(encoded[n], values, self.options.margins_only)


def _load_tokenizer(folder: str, name: str | None) -> Any:
    try:
        return load_tokenizer(name or folder)
    except AnaphoraError as error:
        if name is not None:
            raise
        raise AnaphoraError(
            f"{folder}: the folder has no tokenizer that can be loaded. Name the model's tokenizer: "
            f"ct2:{folder}?tokenizer=NAME_OR_PATH ({error})"
        ) from None


def batches(encoded: Sequence[EncodedExample], tokens: int) -> Iterator[list[int]]:
    """Yield the numbers of examples of similar length, each batch within a budget of padded tokens."""
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


# The two kinds of models behind one interface: tokens in, log-probabilities or text out

UNLIMITED = 1_000_000  # a tokenizer that says a model takes more than this does not know
WHOLE = {"max_input_length": 0}  # by default the library silently truncates at 1,024 tokens

Row = tuple[EncodedExample, Ids]  # one candidate, and the question it belongs to


class TranslatorEngine:
    """An encoder–decoder. The library puts the first and the last token of the target there by itself."""

    MODEL = ctranslate2.Translator
    SETTINGS = PAIR_SETTINGS

    def __init__(
        self, model: Any, file: ModelFile, tokenizer: Any, settings: Mapping[str, str], options: Options
    ) -> None:
        if getattr(tokenizer, "separate_vocabs", False):
            raise AnaphoraError(
                f"{file.folder}: source and target have separate vocabularies, which ct2: does not support. Use hf:"
            )
        self.model, self.names = model, TokenNames(file, tokenizer)
        self.config = file.config
        start = self.config.get("decoder_start_token")
        if not isinstance(start, str | None):
            raise BadInput(file.folder / "config.json", f"decoder_start_token is {shown(start)}, which is not a text")
        self.given_start = start is None  # mBART starts from the language
        self.end = tokenizer.eos_token_id
        first = self.end if start is None else tokenizer.convert_tokens_to_ids(start)
        self.tokens = Seq2SeqInputs(tokenizer, settings, options, start=first, limit=_limit(file, tokenizer))

    def score(self, rows: Sequence[Row]) -> list[list[float]]:
        """Log-probabilities of the tokens of every candidate."""
        sources = [self._source(encoded.source) for encoded, _ in rows]
        targets = [self._target(encoded.prompt, candidate) for encoded, candidate in rows]
        results = self.model.score_batch(sources, targets, **WHOLE)
        return [
            _of(candidate, result.log_probs[len(encoded.prompt) - 1 :][: len(candidate)])
            for (encoded, candidate), result in zip(rows, results, strict=True)
        ]

    def inputs(self, texts: Sequence[str]) -> list[Ids]:
        return self.tokens.sources(texts)

    def room(self, ids: Ids) -> int:
        """Return how many tokens an output may have."""
        return UNLIMITED if self.tokens.limit is None else self.tokens.limit - 2

    def translate(self, inputs: Sequence[Ids], beams: int | None, longest: int) -> list[str]:
        read = self._given(self.tokens.prompt())
        results = self.model.translate_batch(
            [self._source(ids) for ids in inputs],
            [self.names.target(read)] * len(inputs) if read else None,
            beam_size=beams or 4,
            max_decoding_length=longest,
            **WHOLE,
        )
        ids = [self.tokens.tokenizer.convert_tokens_to_ids(result.hypotheses[0]) for result in results]
        return [self.tokens.tokenizer.decode(tokens, skip_special_tokens=True) for tokens in ids]

    def _source(self, ids: Ids) -> list[str]:
        """A model of Marian's own format gets the end of the sentence from the library, which then is not given."""
        return self.names.source(ids[:-1] if self.config.get("add_source_eos") and ids[-1:] == (self.end,) else ids)

    def _target(self, prompt: Ids, candidate: Ids) -> list[str]:
        """Without the end of the sentence, which the library adds; one that was cut has none, and it is not counted."""
        return self.names.target(self._given(prompt) + (candidate[:-1] if candidate[-1:] == (self.end,) else candidate))

    def _given(self, prompt: Ids) -> Ids:
        """Return the part of the prompt that the library does not add itself."""
        return prompt if self.given_start else prompt[1:]


class GeneratorEngine:
    """A causal language model: prompt and candidate in one, of which only the candidate counts."""

    MODEL = ctranslate2.Generator
    SETTINGS = PROMPT_SETTINGS

    def __init__(
        self, model: Any, file: ModelFile, tokenizer: Any, settings: Mapping[str, str], options: Options
    ) -> None:
        self.model, self.names = model, TokenNames(file, tokenizer)
        name, limit = f"ct2:{file.folder}", _limit(file, tokenizer)
        self.tokens = CausalInputs(tokenizer, settings, options, name=name, limit=limit)

    def score(self, rows: Sequence[Row]) -> list[list[float]]:
        """Log-probabilities of the tokens of every candidate."""
        results = self.model.score_batch([self.names.target(e.prompt + candidate) for e, candidate in rows], **WHOLE)
        return [
            _of(candidate, result.log_probs[len(encoded.prompt) - 1 :])
            for (encoded, candidate), result in zip(rows, results, strict=True)
        ]

    def inputs(self, texts: Sequence[str]) -> list[Ids]:
        return self.tokens.prompts(texts)

    def room(self, ids: Ids) -> int:
        """Return how many tokens an output may have after this prompt."""
        return UNLIMITED if self.tokens.limit is None else self.tokens.limit - len(ids)

    def translate(self, inputs: Sequence[Ids], beams: int | None, longest: int) -> list[str]:
        prompts = [self.names.target(ids) for ids in inputs]
        results = self.model.generate_batch(
            prompts, beam_size=beams or 1, max_length=longest, include_prompt_in_result=False
        )
        return [self.tokens.answer(result.sequences_ids[0]) for result in results]


class TokenNames:
    """Tokens by their names, as the library takes them. Unknown ones, which it would replace, are an error."""

    def __init__(self, file: ModelFile, tokenizer: Any) -> None:
        self._tokenizer, self._folder = tokenizer, file.folder
        self._source, self._target = file.vocabulary("source"), file.vocabulary("target")

    def source(self, ids: Ids) -> list[str]:
        return self._named(ids, self._source)

    def target(self, ids: Sequence[int]) -> list[str]:
        return self._named(ids, self._target)

    def _named(self, ids: Sequence[int], known: frozenset[str] | None) -> list[str]:
        names: list[str] = self._tokenizer.convert_ids_to_tokens(list(ids))
        if known is not None and not known.issuperset(names):
            name = next(name for name in names if name not in known)
            raise AnaphoraError(
                f"{self._folder}: the token {name!r} of the tokenizer is not in the model's vocabulary. "
                f"Name the model's tokenizer: ct2:{self._folder}?tokenizer=NAME_OR_PATH"
            )
        return names


def _of(candidate: Ids, values: list[float]) -> list[float]:
    """Check that there is one log-probability per token: the library may cut a text without an error."""
    if len(values) != len(candidate):
        raise AnaphoraError(f"CTranslate2 gave {len(values):,} log-probabilities for {len(candidate):,} tokens")
    return values


def _limit(file: ModelFile, tokenizer: Any) -> int | None:
    """Return the maximum number of tokens: the size of the position table, or else what the tokenizer says."""
    if file.positions is not None or file.relative:
        return file.positions
    limit: int = tokenizer.model_max_length
    return limit if limit < UNLIMITED else None


# The files of a converted model, and what they say that the library does not

POSITIONS = "position_encodings/encodings"  # a table of vectors, one per position: where it ends, reading ends


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model as it lies on disk.

    generator: a decoder alone, which is a language model; else it is an encoder–decoder
    positions: how many tokens it takes, None where positions are not a table
    relative: only distances between positions count, so that there is no end to them
    """

    folder: Path
    generator: bool
    positions: int | None
    relative: bool
    config: dict[str, Any]

    def checksum(self) -> str:
        """Return a checksum of all weights: another model at the same path does not pass for this one."""
        with (self.folder / "model.bin").open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:16]

    def vocabulary(self, side: str) -> frozenset[str] | None:
        """The tokens of a side, "source" or "target" (a generator has one side); None if they are not listed."""
        for name in ("shared_vocabulary", f"{side}_vocabulary", "vocabulary"):
            path = self.folder / f"{name}.json"
            if path.is_file():
                with expecting(path, "a vocabulary"):
                    return frozenset(read_json(path))
            if path.with_suffix(".txt").is_file():  # as models were converted until 2023
                return frozenset(text_lines(path.with_suffix(".txt")))
        return None


def read_model_file(folder: Path) -> ModelFile:
    """Return the kind of a model, the shapes of its weights, and the configuration next to them."""
    path = folder / "model.bin"
    if not path.is_file():
        raise AnaphoraError(
            f"{folder}: not a CTranslate2 model: model.bin is missing. "
            "Convert one with: ct2-transformers-converter --model NAME --output_dir FOLDER"
        )
    try:
        with path.open("rb") as stream:
            kind, shapes = _contents(stream)
    except (struct.error, UnicodeDecodeError, ValueError, OverflowError, OSError):
        raise BadInput(path, "not the weights of a CTranslate2 model, or truncated") from None
    config = folder / "config.json"
    return ModelFile(
        folder=folder,
        generator=kind.startswith("TransformerDecoder"),
        positions=min((shape[0] for name, shape in shapes.items() if name.endswith(POSITIONS) and shape), default=None),
        relative=any("relative_" in name for name in shapes),
        config=read_json_object(config) if config.is_file() else {},
    )


def _contents(stream: BinaryIO) -> tuple[str, dict[str, tuple[int, ...]]]:
    """The kind of model and the names and shapes of its weights, as `ModelSpec.save` of the converters writes them."""

    def number(code: str) -> int:
        (value,) = struct.unpack(f"<{code}", stream.read(struct.calcsize(f"<{code}")))
        return int(value)

    def text() -> str:
        return stream.read(number("H")).rstrip(b"\0").decode()

    version = number("I")
    kind = text()
    number("I")  # revision of this kind
    shapes = {}
    for _ in range(number("I")):
        name = text()
        shape = tuple(number("I") for _ in range(number("B")))
        width = number("B")  # of an item; since version 4 the type of the items, and their size in bytes follows
        size = number("I") * (1 if version >= 4 else width)
        shapes[name] = shape
        stream.seek(size, 1)
    return kind, shapes
