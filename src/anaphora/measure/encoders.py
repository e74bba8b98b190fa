"""Encoders: from texts to a state per word. Static vectors with a BiLSTM, or the states of a Hugging Face model."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
import transformers
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.core.errors import AnaphoraError, BadInput, CannotWrite
from anaphora.core.files import make_folder, text_lines
from anaphora.measure.texts import Progress, Text
from anaphora.scoring.adapters import copy_adapter, is_adapter, save_adapter, trained_adapter
from anaphora.scoring.batching import padded_batches, split_on_oom
from anaphora.scoring.weights import save_pretrained, weights_checksum
from anaphora.systems.context import split_settings
from anaphora.systems.huggingface import fingerprint, load_checkpoint

UNKNOWN = "<unk>"
SETTINGS = ("layer", "words", "revision", "dtype", "device")
WORDS = ("mean", "first", "last")
BATCH_TOKENS = 4096
Array = npt.NDArray[Any]


class Encoder(Protocol):
    """Gives every word of a text a state. It is a module of the measure, which trains its parameters.

    width: the size of a state
    """

    width: int

    def settings(self) -> dict[str, Any]:
        """Return what the states depend on; stored in a checkpoint and compared when it is loaded."""
        ...

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute and cache what does not change during training."""
        ...

    def __call__(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        """Return states (b, n, d), and (b, n), true where a word has a state."""
        ...


class StaticEncoder(nn.Module):
    """A vector for each word of a vocabulary, read by a BiLSTM in both directions (§4): k = [→k; ←k], (b, n, d)."""

    def __init__(self, vocabulary: Sequence[str], width: int) -> None:
        super().__init__()
        self.width, self.vocabulary = 2 * ((width + 1) // 2), list(vocabulary)
        self.numbers = {word: n for n, word in enumerate(vocabulary)}
        self.vectors = nn.Embedding(len(vocabulary), width)
        self.lstm = nn.LSTM(width, self.width // 2, batch_first=True, bidirectional=True)

    def settings(self) -> dict[str, Any]:
        return {"kind": "static", "width": self.vectors.embedding_dim}

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Do nothing: all parameters are trained, so that nothing can be cached."""

    def forward(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        lengths = torch.tensor([len(text.words) for text in texts])
        size = max(1, int(lengths.max()))
        ids = torch.zeros(len(texts), size, dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text.words)] = torch.tensor([self.numbers.get(word, 0) for word in text.words])
        packed = pack_padded_sequence(self.vectors(ids), lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=size)
        return states, torch.arange(size) < lengths.unsqueeze(1)


def learn_vocabulary(texts: Iterable[Text], size: int) -> list[str]:
    """Return the most frequent words, after the token that stands for all others."""
    counts = Counter(word for text in texts for word in text.words)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return [UNKNOWN, *ordered[: max(0, size - 1)]]


def load_vectors(encoder: StaticEncoder, path: Path) -> int:
    """Load pre-trained vectors in GloVe's format for the words of the vocabulary; return their number."""
    loaded = 0
    width = encoder.vectors.embedding_dim
    with torch.no_grad():
        for number, line in enumerate(text_lines(path), start=1):
            word, _, rest = line.partition(" ")
            if word not in encoder.numbers:
                continue
            values = np.array(rest.split(), dtype=np.float32) if rest else np.zeros(0, np.float32)
            if len(values) != width:
                remedy = f"Set model.width = {len(values)}."
                raise BadInput(path, f"{len(values)} numbers, but vectors have {width}", line=number, remedy=remedy)
            encoder.vectors.weight[encoder.numbers[word]] = torch.from_numpy(values)
            loaded += 1
    return loaded


class HuggingFaceEncoder(nn.Module):
    """The states of a layer, one per word: the mean of its pieces, or its first or last one.

    Several layers (`layer=2,4,6`, or `layer=mix` for all of them) are added up with weights that are learned, as
    ELMo's are: γ Σ sⱼ hⱼ, s = softmax(w) (Peters et al. 2018, eq. 1).

    A text that is too long for the model loses words of its context, the oldest first, and then of its end. A word
    without a state has a state of zeros, and no word attends to it.
    """

    def __init__(self, spec: str, *, cache: Path | None = None, tuned: bool = False, lora_rank: int = 0) -> None:
        """tuned: whether its weights are trained; lora_rank: of low-rank updates, which are trained instead of them"""
        super().__init__()
        name, settings = split_settings(spec, SETTINGS)
        tuned = tuned or lora_rank > 0
        self.name, self.spec, self.tuned, self.truncated = name, spec, tuned, 0
        if lora_rank and is_adapter(name):
            raise AnaphoraError(f"{name} is an adapter. Set training.lora_rank = 0, or name its base model")
        self.words_by = settings.get("words", "mean")
        if self.words_by not in WORDS:
            raise AnaphoraError(f"unknown words={self.words_by!r} in {spec!r}. Known: {', '.join(WORDS)}")
        self._given = {key: value for key, value in settings.items() if key not in ("layer", "words")}
        self.model, self.tokenizer = load_checkpoint(transformers.AutoModel, name, self._given)
        if self.tokenizer.pad_token is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        self.width: int = self.model.config.hidden_size
        self._fingerprint = fingerprint(self.model, self.tokenizer, self._given)
        self._base_weights = str(self._fingerprint["weights"])
        if lora_rank and self.model.dtype != torch.float32:  # an adapter is merged into weights in float32
            whole, _ = load_checkpoint(transformers.AutoModel, name, {**self._given, "dtype": "float32"})
            self._base_weights = weights_checksum(whole)
        self.layers = self._parse_layers(settings.get("layer", "-1"))
        self.lora_rank = lora_rank
        self.requires_grad_(tuned and not lora_rank)
        if lora_rank:
            self.model = self._with_updates(lora_rank)
        mixed = len(self.layers) > 1
        self.mix = nn.Parameter(torch.zeros(len(self.layers))) if mixed else None
        self.gamma = nn.Parameter(torch.ones(())) if mixed else None
        self._folder = cache

    def _parse_layers(self, given: str) -> tuple[int, ...]:
        layers = self.model.config.num_hidden_layers
        try:
            parsed = tuple(range(layers + 1)) if given == "mix" else tuple(map(int, given.split(",")))
        except ValueError:
            problem = f"layer={given!r} in {self.spec!r} is not a number"
            raise AnaphoraError(f"{problem}, several of them with commas, or mix") from None
        for layer in parsed:
            if not -layers - 1 <= layer <= layers:
                raise AnaphoraError(
                    f"{self.spec}: no layer {layer}. The model has layers 1 to {layers}, and the embeddings (0)"
                )
        return parsed

    def _with_updates(self, rank: int) -> Any:
        """Return the model with low-rank updates of all linear layers but the pooler, which has no part in states."""
        from peft import LoraConfig, get_peft_model

        lora = LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", exclude_modules=r".*pooler.*")
        return get_peft_model(self.model, lora)

    def settings(self) -> dict[str, Any]:
        if self.tuned and not self.lora_rank:  # its weights have changed since it was loaded
            self._fingerprint = fingerprint(self.model, self.tokenizer, self._given)
        layer = self.layers[0] if len(self.layers) == 1 else ",".join(map(str, self.layers))
        return {"kind": "hf", "layer": layer, "words": self.words_by, **self._fingerprint}

    def save(self, folder: Path, name: Path) -> None:
        """Write the model and its tokenizer into a folder, or only its low-rank updates if it has any.

        name: what the folder is called in an error
        """
        if is_adapter(self.name) and not self.tuned:
            copy_adapter(Path(self.name), folder, name)
            return
        if not self.lora_rank:
            save_pretrained(self.model, folder, name)
            self.tokenizer.save_pretrained(folder)
            return
        adapter = trained_adapter(self.model, self.name, self._base_weights)
        save_adapter(adapter, folder, name)
        self._fingerprint = self._fingerprint | {"weights": adapter.checksum()}

    def train(self, mode: bool = True) -> HuggingFaceEncoder:
        """Keep a frozen encoder in evaluation mode: dropout would change what is cached."""
        super().train(mode and self.tuned)
        return self

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Cache the states of texts, short ones first, batch by batch."""
        if not self.tuned:
            self._cache.fill({text_key(text.whole): text for text in texts}, self._batches, progress)

    def forward(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        if self.tuned:
            tuned, words = self._states(texts)
            return self._mixed(tuned), words
        self.prepare(texts)
        size = self.width * len(self.layers)
        states = np.zeros((len(texts), max(1, max(len(text.words) for text in texts)), size), np.float32)
        for n, text in enumerate(texts):
            states[n, : len(text.words)] = self._cache.get(text_key(text.whole), len(text.words))
        tensor = torch.from_numpy(states)
        return self._mixed(tensor), tensor.abs().sum(-1) > 0

    def _mixed(self, states: Tensor) -> Tensor:
        """Add up the layers, which are one behind the other in the states: (b, n, layers · d) → (b, n, d)."""
        if self.mix is None or self.gamma is None:
            return states
        by_layer = states.unflatten(-1, (len(self.layers), self.width))
        return torch.einsum("bnld,l->bnd", by_layer, self.gamma * torch.softmax(self.mix, 0))

    @cached_property
    def _cache(self) -> StateCache:
        return StateCache(self._folder, self.width * len(self.layers), self.settings())

    def _batches(self, texts: Sequence[Text], done: Container[int]) -> Iterator[dict[int, Array]]:
        for numbers in padded_batches([max(1, len(text.words)) for text in texts], BATCH_TOKENS):
            if not all(n in done for n in numbers):
                arrays = split_on_oom(self._arrays, [texts[n] for n in numbers], lambda text: len(text.words))
                yield dict(zip(numbers, arrays, strict=True))

    @torch.inference_mode()
    def _arrays(self, texts: Sequence[Text]) -> list[Array]:
        states = self._states(texts)[0].cpu().numpy()
        return [states[n, : len(text.words)] for n, text in enumerate(texts)]

    def _states(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        """Return states of all layers (b, n, layers · d) in float32, and (b, n), true where a word has a state."""
        encoded = [self._pieces(text) for text in texts]
        longest = max(1, max(len(ids) for ids, _ in encoded))
        ids = torch.full((len(texts), longest), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for n, (pieces, _) in enumerate(encoded):
            ids[n, : len(pieces)] = torch.tensor(pieces)
            mask[n, : len(pieces)] = 1
        mask[:, 0] = 1  # a text without a piece would attend to nothing
        device = self.model.device
        given = {"input_ids": ids.to(device), "attention_mask": mask.to(device)}
        if self.layers[0] in (-1, self.model.config.num_hidden_layers) and len(self.layers) == 1:
            hidden = self.model(**given).last_hidden_state
        else:
            every = self.model(**given, output_hidden_states=True).hidden_states
            hidden = torch.cat([every[layer] for layer in self.layers], -1)
        # the weight of each piece in each word's state, so that gathering states is one matrix product
        gathering = torch.zeros(len(texts), max(1, max(len(t.words) for t in texts)), longest)
        for n, (_, owners) in enumerate(encoded):
            by_word: dict[int, list[int]] = {}
            for piece, word in enumerate(owners):
                if word is not None:
                    by_word.setdefault(word, []).append(piece)
            for word, of_word in by_word.items():
                used = {"mean": of_word, "first": of_word[:1], "last": of_word[-1:]}[self.words_by]
                gathering[n, word, used] = 1 / len(used)
        states = gathering.to(device) @ hidden.float()
        return states.cpu() if not self.tuned else states, (gathering.sum(-1) > 0).to(states.device)

    def _pieces(self, text: Text) -> tuple[list[int], list[int | None]]:
        """Return the pieces of a text, as many as the model takes, and the word with the last character of each."""
        limit = min(self.tokenizer.model_max_length, self.model.config.max_position_embeddings)
        encoded = self.tokenizer(text.whole, return_offsets_mapping=True, truncation=False, verbose=False)
        word_at, ids = text.word_at(), list(encoded["input_ids"])
        owners = [word_at.get(end - 1) if end > start else None for start, end in encoded["offset_mapping"]]
        excess = len(ids) - limit
        if excess > 0:
            self.truncated += 1
            context = [n for n, word in enumerate(owners) if word is not None and word < text.begin]
            sentence = [n for n, word in enumerate(owners) if word is not None and word >= text.begin]
            removed = {*[*context, *reversed(sentence)][:excess]}
            kept = [n for n in range(len(ids)) if n not in removed]
            ids, owners = [ids[n] for n in kept], [owners[n] for n in kept]
        return ids, owners


DAMAGED, DELETE = "not a cache of encoder states", "Delete the file; the states are computed again."


class StateCache:
    """Arrays that are expensive to compute, by the text they belong to: a table of blobs in an SQLite file.

    SQLite makes each `put` atomic and durable, and lets several processes share a file. What the arrays depend on is
    part of the file's name, so that arrays that were computed in different ways never meet.
    """

    def __init__(self, folder: Path | None, width: int, about: Mapping[str, Any], dtype: str = "float16") -> None:
        """folder: where the file is; None keeps the arrays in memory. about: what the arrays depend on."""
        self.width, self.dtype = width, np.dtype(dtype)
        self.path = Path(":memory:")
        if folder is not None:
            make_folder(folder)
            self.path = folder / f"{text_key(repr(sorted(about.items())))}.sqlite"
        with self._errors():
            self._connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
            self._connection.execute("CREATE TABLE IF NOT EXISTS arrays (key TEXT PRIMARY KEY, data BLOB NOT NULL)")
            self._connection.commit()

    def __contains__(self, key: str) -> bool:
        with self._errors():
            return self._connection.execute("SELECT 1 FROM arrays WHERE key = ?", (key,)).fetchone() is not None

    def fill(
        self,
        texts: Mapping[str, Text],
        compute: Callable[[Sequence[Text], Container[int]], Iterator[Mapping[int, Array]]],
        progress: Progress | None = None,
    ) -> None:
        """Compute and store the arrays of texts that are missing, batch by batch.

        Batches are made of all texts, cached or not: the last digits of states depend on what is computed together,
        and must not depend on where an earlier process was interrupted.

        compute: yields the arrays of each batch by the index of their text, without batches that are done
        """
        keys = list(texts)
        cached = {n for n, key in enumerate(keys) if key in self}
        done = 0
        if len(cached) == len(keys):
            return
        for batch in compute(list(texts.values()), cached):
            new = {keys[n]: array for n, array in batch.items() if n not in cached}
            self.put(new)
            done += len(new)
            if progress is not None:
                progress(done, len(keys) - len(cached))

    def put(self, arrays: Mapping[str, Array]) -> None:
        """Store arrays of (any number, width); all of them or, if the process is killed, none."""
        rows = [(key, np.ascontiguousarray(array, self.dtype).tobytes()) for key, array in arrays.items()]
        with self._errors(), self._connection:
            self._connection.executemany("INSERT OR IGNORE INTO arrays VALUES (?, ?)", rows)

    def get(self, key: str, length: int) -> Array:
        """Return the array of a key: (length, width)."""
        with self._errors():
            (data,) = self._connection.execute("SELECT data FROM arrays WHERE key = ?", (key,)).fetchone()
        if not isinstance(data, bytes) or len(data) != length * self.width * self.dtype.itemsize:
            raise BadInput(self.path, f"{DAMAGED} (a stored array has the wrong size)", remedy=DELETE)
        return np.frombuffer(data, self.dtype).reshape(length, self.width)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError) as error:
            name = getattr(error, "sqlite_errorname", "")
            if name.startswith(("SQLITE_FULL", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_BUSY")):
                raise CannotWrite(self.path, OSError(str(error))) from None
            raise BadInput(self.path, f"{DAMAGED} ({error})", remedy=DELETE) from None


def text_key(*parts: str) -> str:
    """Return a short key for texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
