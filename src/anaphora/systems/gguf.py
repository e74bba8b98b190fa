"""`gguf:FILE`: a quantized language model, base or chat, computed by llama.cpp as it computes everywhere.

The Python interface of the package xllamacpp is a server, which gives no log-probabilities of a given text. Its shared
library has all functions of `llama.h`, so they are called here with ctypes: token ids in, log-probabilities out. Their
structures change from one version to the next: those below are the ones of VERSION, and no other version is loaded.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import weakref
from collections.abc import Container, Iterator, Mapping, Sequence
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int8, c_int32, c_size_t, c_uint32, c_void_p
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jinja2
import numpy as np
from jinja2.sandbox import ImmutableSandboxedEnvironment

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.openmp import sleeping_threads
from anaphora.core.workers import processor_count
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.suites.example import Example, common_prefix
from anaphora.systems import KINDS
from anaphora.systems.context import Options, split_settings
from anaphora.systems.encoding import CausalInputs, answer_by_tokens, encode_examples


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
        """Yield each example's number with its scores, in order."""
        encoded = encode_examples(examples, self.options, self.tokens.encode)
        for number, question in enumerate(encoded):
            if number not in done:
                yield number, self._score(question)

    def close(self) -> None:
        """Free the memory of the model."""
        self.model.close()

    def _score(self, question: EncodedExample) -> CandidateScores:
        """Return the sums of the log-probabilities of the candidates' tokens. Equal candidates are computed once."""
        different = list(dict.fromkeys(question.candidates))
        groups = [[candidate] for candidate in different] if self.options.plain else [different]
        computed = (row for group in groups for row in self.model.log_probabilities(question.prompt, group))
        values = dict(zip(different, computed, strict=True))
        return answer_by_tokens(question, values, self.options.margins_only)


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


# llama.cpp by its C functions

VERSION = "2026.10.11549"
INSTALL = 'Install it with: pip install "anaphora[llamacpp]"'
MAGIC = b"GGUF"
LOGITS = 1 << 24  # at most this many numbers in memory: 64 MB
LEAST_TOKENS, MOST_TOKENS = 32, 512  # computed at a time
ERROR = 4  # GGML_LOG_LEVEL_ERROR
FLOAT32 = 0  # GGML_TYPE_F32
NEVER = 0  # LLAMA_FLASH_ATTN_TYPE_DISABLED


class ModelParams(ctypes.Structure):
    """`struct llama_model_params`."""

    _fields_ = (
        *((name, c_void_p) for name in ("devices", "tensor_buft_overrides")),
        *((name, c_int32) for name in ("n_gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")),
        *((name, c_void_p) for name in ("tensor_split", "progress_callback", "user_data", "kv_overrides")),
        *((name, c_bool) for name in ("vocab_only", "check_tensors", "use_extra_bufts", "no_host", "no_alloc")),
        ("load_mtp", c_bool),
    )


class ContextParams(ctypes.Structure):
    """`struct llama_context_params`."""

    _fields_ = (
        *((name, c_uint32) for name in ("n_ctx", "n_batch", "n_ubatch", "n_seq_max", "n_rs_seq", "n_outputs_max")),
        ("n_outputs_max_per_seq", c_uint32),
        *((name, c_int32) for name in ("n_threads", "n_threads_batch", "ctx_type", "rope_scaling_type")),
        *((name, c_int32) for name in ("pooling_type", "attention_type", "flash_attn_type")),
        *((name, c_float) for name in ("rope_freq_base", "rope_freq_scale", "yarn_ext_factor", "yarn_attn_factor")),
        *((name, c_float) for name in ("yarn_beta_fast", "yarn_beta_slow")),
        *(("yarn_orig_ctx", c_uint32), ("defrag_thold", c_float), ("cb_eval", c_void_p), ("cb_eval_data", c_void_p)),
        *(("type_k", c_int32), ("type_v", c_int32), ("moe_cache_size", c_size_t)),
        *((name, c_void_p) for name in ("abort_callback", "abort_callback_data")),
        *((name, c_bool) for name in ("embeddings", "offload_kqv", "no_perf", "op_offload", "swa_full", "kv_unified")),
        *(("samplers", c_void_p), ("n_samplers", c_size_t), ("ctx_other", c_void_p)),
    )


class Batch(ctypes.Structure):
    """`struct llama_batch`. Without `n_seq_id` and `seq_id`, all tokens belong to sequence 0."""

    _fields_ = (
        ("n_tokens", c_int32),
        *(("token", POINTER(c_int32)), ("embd", c_void_p), ("pos", POINTER(c_int32))),
        *(("n_seq_id", c_void_p), ("seq_id", c_void_p), ("logits", POINTER(c_int8))),
    )


LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, c_char_p, c_void_p)
FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {  # what they return, and what they take
    "llama_log_set": (None, (LogCallback, c_void_p)),
    "llama_backend_init": (None, ()),
    "llama_model_default_params": (ModelParams, ()),
    "llama_model_load_from_file": (c_void_p, (c_char_p, ModelParams)),
    "llama_model_free": (None, (c_void_p,)),
    "llama_model_get_vocab": (c_void_p, (c_void_p,)),
    "llama_model_n_ctx_train": (c_int32, (c_void_p,)),
    "llama_model_has_encoder": (c_bool, (c_void_p,)),
    "llama_model_chat_template": (c_char_p, (c_void_p, c_char_p)),
    "llama_vocab_n_tokens": (c_int32, (c_void_p,)),
    "llama_vocab_bos": (c_int32, (c_void_p,)),
    "llama_vocab_eos": (c_int32, (c_void_p,)),
    "llama_vocab_get_text": (c_char_p, (c_void_p, c_int32)),
    "llama_tokenize": (c_int32, (c_void_p, c_char_p, c_int32, POINTER(c_int32), c_int32, c_bool, c_bool)),
    "llama_context_default_params": (ContextParams, ()),
    "llama_init_from_model": (c_void_p, (c_void_p, ContextParams)),
    "llama_free": (None, (c_void_p,)),
    "llama_n_ctx": (c_uint32, (c_void_p,)),
    "llama_n_batch": (c_uint32, (c_void_p,)),
    "llama_get_memory": (c_void_p, (c_void_p,)),
    "llama_memory_clear": (None, (c_void_p, c_bool)),
    "llama_memory_seq_rm": (c_bool, (c_void_p, c_int32, c_int32, c_int32)),
    "llama_decode": (c_int32, (c_void_p, Batch)),
    "llama_get_logits_ith": (POINTER(c_float), (c_void_p, c_int32)),
}
_last_error = [""]
_computes_in: dict[str, int] = {}  # the first process that computes with several threads; forks of it have lost them


def _listen(level: int, text: bytes | None, _: object) -> None:
    """Keep the last error for a message; the library would write pages to stderr."""
    if level == ERROR and text and text.strip():
        _last_error[0] = " ".join(text.decode("utf-8", "replace").split())


_listener = LogCallback(_listen)  # kept here: the library calls it until the end


@cache
def library() -> ctypes.CDLL:
    """Return the shared library of llama.cpp; an error if it is not exactly the one whose structures are above."""
    try:
        installed = version("xllamacpp")
    except PackageNotFoundError:
        raise AnaphoraError(f"gguf: needs xllamacpp, which is not installed. {INSTALL}") from None
    if installed != VERSION:
        raise AnaphoraError(f"gguf: needs xllamacpp {VERSION}, but {installed} is installed. {INSTALL}")
    package = find_spec("xllamacpp")
    folders = package.submodule_search_locations if package is not None else None
    files = [file for folder in folders or () for file in Path(folder).glob("xllamacpp*.so")]
    try:
        with sleeping_threads():
            loaded = ctypes.CDLL(str(files[0]))
        for name, (result, arguments) in FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
    except (IndexError, OSError, AttributeError):
        raise AnaphoraError(
            "gguf: the xllamacpp of this platform does not give access to llama.cpp. Use lm:FILE.gguf instead"
        ) from None
    defaults = loaded.llama_context_default_params()
    if (defaults.n_ctx, defaults.n_batch, defaults.n_ubatch, defaults.n_seq_max) != (512, 2048, 512, 1):
        raise AnaphoraError(f"gguf: the llama.cpp in xllamacpp {VERSION} is not the one that was tested. {INSTALL}")
    loaded.llama_log_set(_listener, None)
    loaded.llama_backend_init()
    return loaded


@dataclass
class Handles:
    """What the library has allocated."""

    model: int | None = None
    context: int | None = None

    def free(self) -> None:
        if self.context:
            library().llama_free(self.context)
        if self.model:
            library().llama_model_free(self.model)
        self.model = self.context = None


class LlamaCpp:
    """A causal model that llama.cpp computes on the CPU.

    What it has read is kept in float32 and flash attention is off, so that weights which are not quantized have the
    scores of `lm:` within 1e-4. Quantized kernels also round what is multiplied with the weights.

    size: of the vocabulary; limit: how many tokens it takes; chat_template: that of the file, None if it has none
    """

    def __init__(self, path: Path, threads: int) -> None:
        self._lib, self._threads, self._handles = library(), threads, Handles()
        self.close = weakref.finalize(self, self._handles.free)
        params = self._lib.llama_model_default_params()
        params.n_gpu_layers = 0
        _last_error[0] = ""
        self._handles.model = self._lib.llama_model_load_from_file(str(path).encode(), params)
        if not self._handles.model:
            why = f" ({_last_error[0][:200]})" if _last_error[0] else ""
            raise BadInput(path, f"llama.cpp cannot load the model{why}", remedy="Check the file.")
        if self._lib.llama_model_has_encoder(self._handles.model):
            raise BadInput(path, "a model with an encoder", remedy="gguf: scores causal language models only.")
        self._vocabulary = self._lib.llama_model_get_vocab(self._handles.model)
        self.size: int = self._lib.llama_vocab_n_tokens(self._vocabulary)
        self.limit: int = self._lib.llama_model_n_ctx_train(self._handles.model)
        template = self._lib.llama_model_chat_template(self._handles.model, None)
        self.chat_template = None if template is None else template.decode("utf-8", "replace")
        self.bos = _token(self._lib.llama_vocab_bos(self._vocabulary))
        self.eos = _token(self._lib.llama_vocab_eos(self._vocabulary))
        self._at_once = max(LEAST_TOKENS, min(MOST_TOKENS, LOGITS // self.size))
        self._room = 0

    def tokenize(self, text: str, special: bool) -> list[int]:
        """Return token ids of a text. special: whether the model's first (and last) tokens are added"""
        data = text.encode()
        size = len(data) + 8
        ids = (c_int32 * size)()
        count = self._lib.llama_tokenize(self._vocabulary, data, len(data), ids, size, special, True)
        if count < 0:
            raise AnaphoraError(f"llama.cpp cannot tokenize {text[:60]!r}")
        return ids[:count]

    def text(self, token: int) -> str:
        """Return how a token is written in the vocabulary."""
        written: bytes | None = self._lib.llama_vocab_get_text(self._vocabulary, token)
        return (written or b"").decode("utf-8", "replace")

    def log_probabilities(self, prompt: Sequence[int], candidates: Sequence[Sequence[int]]) -> Iterator[list[float]]:
        """Yield the log-probability of each token of each candidate after the prompt. What they share is computed once.

        prompt and candidates: at least one token each
        """
        if not self.close.alive:
            raise AnaphoraError("the model was closed")
        if self._threads > 1 and _computes_in.setdefault("process", os.getpid()) != os.getpid():
            raise AnaphoraError(
                "llama.cpp has computed with several threads before this process was forked, and would wait for them "
                "forever. Start processes with multiprocessing's method 'spawn', or use 1 thread"
            )
        self._make_room(len(prompt) + max(map(len, candidates)))
        memory = self._lib.llama_get_memory(self._handles.context)
        self._lib.llama_memory_clear(memory, True)
        common = common_prefix([candidate[:-1] for candidate in candidates])
        shared = [*prompt, *candidates[0][:common]]
        asked = [*[()] * (len(prompt) - 1), *((token,) for token in candidates[0][:common])]
        *read, firsts = self._decode(shared, 0, [*asked, tuple(candidate[common] for candidate in candidates)])
        before = [values[0] for values in read if values]
        at_end = True  # of what is shared
        for first, candidate in zip(firsts, candidates, strict=True):
            rest = candidate[common:]
            if not at_end and not self._lib.llama_memory_seq_rm(memory, 0, len(shared), -1):
                self._lib.llama_memory_clear(memory, True)  # a recurrent model, which cannot go back
                self._decode(shared, 0, [()] * len(shared))
            after = self._decode(rest[:-1], len(shared), [(token,) for token in rest[1:]])
            at_end = len(rest) == 1
            yield [*before, first, *(values[0] for values in after)]

    def _decode(self, tokens: Sequence[int], start: int, asked: Sequence[tuple[int, ...]]) -> list[list[float]]:
        """Compute tokens from a position on; returns the log-probabilities of what is asked for after each of them."""
        values = []
        for begin in range(0, len(tokens), self._at_once):
            part = tokens[begin : begin + self._at_once]
            wanted, size = asked[begin : begin + self._at_once], len(part)
            positions = range(start + begin, start + begin + size)
            batch = Batch(size, (c_int32 * size)(*part), None, (c_int32 * size)(*positions), None, None)
            batch.logits = (c_int8 * size)(*(bool(some) for some in wanted))
            code = self._lib.llama_decode(self._handles.context, batch)
            if code:
                raise AnaphoraError(f"llama.cpp cannot compute {size:,} tokens (code {code}). Use less --context")
            values += [self._after(index, some) if some else [] for index, some in enumerate(wanted)]
        return values

    def _after(self, index: int, tokens: tuple[int, ...]) -> list[float]:
        """Log-softmax in double precision."""
        row = self._lib.llama_get_logits_ith(self._handles.context, index)
        logits = np.ctypeslib.as_array(row, (self.size,)).astype(np.float64)
        most = logits.max()
        total = most + np.log(np.exp(logits - most).sum())
        return [float(logits[token] - total) for token in tokens]

    def _make_room(self, tokens: int) -> None:
        """Have a context of at least this many tokens."""
        if tokens <= self._room:
            return
        if self._handles.context:
            self._lib.llama_free(self._handles.context)
        params = self._lib.llama_context_default_params()
        params.n_ctx = max(512, 1 << (tokens - 1).bit_length())
        params.n_batch = params.n_ubatch = self._at_once
        params.n_threads = params.n_threads_batch = self._threads
        params.type_k = params.type_v = FLOAT32
        params.flash_attn_type = NEVER
        self._handles.context = self._lib.llama_init_from_model(self._handles.model, params)
        if not self._handles.context or self._lib.llama_n_ctx(self._handles.context) < tokens:
            raise AnaphoraError(f"llama.cpp cannot hold {tokens:,} tokens in memory. Use less --context")
        self._room = params.n_ctx


def _token(number: int) -> int | None:
    """Return a special token; None if the vocabulary has none."""
    return number if number >= 0 else None
