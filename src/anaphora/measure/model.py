"""The learned pairwise measure (eval-anaphora §4): encoder interface, attention head, items, and scoring."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import text_lines
from anaphora.core.finite import all_finite
from anaphora.languages.pronouns import Readings
from anaphora.measure.config import Model
from anaphora.measure.words import places, words_of
from anaphora.normalization import normalize
from anaphora.suites.example import Example, Passage

if TYPE_CHECKING:
    from anaphora.measure.features import LanguageModelFeatures


@dataclass(frozen=True, slots=True)
class Batch:
    """Texts in a batch of b, padded to n words and m pronouns.

    states: (b, n, d), K of the paper, a row per word; words: (b, n), true where a word is
    places: (b, m), numbers of the pronouns' words; pronouns: (b, m), true where a pronoun is
    features: (b, m, f), more about each pronoun
    identities: (b, m), each pronoun by its number in the list
    """

    states: Tensor
    words: Tensor
    places: Tensor
    pronouns: Tensor
    features: Tensor
    identities: Tensor


@dataclass(frozen=True, slots=True)
class Output:
    """scores: (b,), y of eq. 4; pronouns: (b, m), the share of each pronoun in it; attention: (b, m, n)"""

    scores: Tensor
    pronouns: Tensor
    attention: Tensor


class PronounHead(nn.Module):
    """Scores a text by its pronouns.

    kind: "attention" (eqs. 1–4), or "average", the baseline of §5.2: the mean of the pronouns through linear layers
    length: of w, the number of pronouns that training sentences are padded to
    hidden: a layer of this width before z; 0: none, as printed
    features: numbers per pronoun that enter its score linearly; identities: pronouns with a score of their own
    divisor: of the attention's logits, in units of √d; 1 is eq. 1, and version 0.1.0 trained its measures with 2
    """

    def __init__(
        self,
        width: int,
        length: int,
        *,
        kind: str,
        hidden: int = 0,
        features: int = 0,
        identities: int = 0,
        dropout: float = 0.0,
        divisor: float = 1.0,
    ) -> None:
        super().__init__()
        self.kind, self.width, self.length, self.divisor = kind, width, length, divisor
        self.normal = nn.LayerNorm(width) if kind == "attention" else None
        self.dropout = nn.Dropout(dropout)
        self.inner = nn.Linear(width, hidden) if hidden else None
        self.z = nn.Parameter(torch.randn(hidden or width) / math.sqrt(hidden or width))
        self.w = nn.Parameter(torch.ones(length))
        self.of_features = nn.Parameter(torch.ones(features)) if features else None
        self.scale = nn.Parameter(torch.ones(())) if features else None  # of the rest, against the features
        self.of_identities = nn.Parameter(torch.zeros(identities)) if identities else None

    def forward(self, batch: Batch) -> Output:
        mask = batch.pronouns.to(batch.states.dtype)
        queries = _rows(batch.states, batch.places) * mask.unsqueeze(-1)  # P: (b, m, d), zero rows where none is
        attention = self._attention(queries, batch)
        if self.kind == "average":
            return self._average(queries, mask, attention, batch)
        mixed = attention @ batch.states  # B′ of eq. 1: (b, m, d)
        assert self.normal is not None
        found = self.normal(queries + mixed) * mask.unsqueeze(-1)  # B of eq. 2; padding stays zero
        shares = (self._linear(found) + self._more(batch)) * mask * self._weights(mask.shape[1])  # u of eq. 3, times w
        return Output(shares.sum(-1), shares, attention)  # eq. 4

    def _attention(self, queries: Tensor, batch: Batch) -> Tensor:
        """S(P Kᵀ / √d) over the words of the passage: (b, m, n), eq. 1.

        The small 2 before the radical in print is its index (²√d), as the released program has it, and no factor.
        """
        scaled = queries @ batch.states.transpose(1, 2) / (self.divisor * math.sqrt(self.width))
        hidden = scaled.masked_fill(~batch.words.unsqueeze(1), float("-inf"))
        return torch.softmax(hidden, -1).nan_to_num(0.0)  # a text without words has none to attend to

    def _average(self, queries: Tensor, mask: Tensor, attention: Tensor, batch: Batch) -> Output:
        """The mean of P through z and the first of w; a pronoun's share is its part of the mean."""
        count = mask.sum(-1, keepdim=True).clamp(min=1)
        if self.inner is None:
            shares = (self._linear(queries) + self._more(batch)) * mask / count * self.w[0]
            return Output(shares.sum(-1), shares, attention)
        mean = queries.sum(1) / count  # (b, d)
        known = (mask.sum(-1) > 0).to(mask.dtype)  # a text without a pronoun scores 0
        more = (self._more(batch) * mask / count).sum(-1)
        scores = (self._linear(mean) + more) * known * self.w[0]
        return Output(scores, scores.unsqueeze(-1) * mask / count, attention)

    def _linear(self, rows: Tensor) -> Tensor:
        if self.inner is not None:
            rows = self.dropout(torch.nn.functional.gelu(self.inner(rows)))
        found: Tensor = rows @ self.z
        return found if self.scale is None else found * self.scale

    def _more(self, batch: Batch) -> Tensor:
        """What features and identities add to the score of each pronoun: (b, m)."""
        more = torch.zeros_like(batch.places, dtype=batch.states.dtype)
        if self.of_features is not None:
            more = more + batch.features @ self.of_features
        if self.of_identities is not None:
            more = more + self.of_identities[batch.identities]
        return more

    def _weights(self, pronouns: int) -> Tensor:
        """w for so many pronouns; those beyond what training had get the mean weight."""
        if pronouns <= self.length:
            return self.w[:pronouns]
        return torch.cat([self.w, self.w.mean().expand(pronouns - self.length)])


def _rows(states: Tensor, places: Tensor) -> Tensor:
    """The rows of each text at its places: (b, m, d)."""
    return states.gather(1, places.unsqueeze(-1).expand(-1, -1, states.shape[-1]))


def ranking_loss(better: Tensor, worse: Tensor, margin: float) -> Tensor:
    """eq. 5: max(0, margin − yr + ys), the mean over pairs."""
    return torch.clamp(margin - better + worse, min=0).mean()


def logistic_loss(better: Tensor, worse: Tensor) -> Tensor:
    """−log σ(yr − ys): the smooth form of it, in which the distance means how sure the measure is."""
    return torch.nn.functional.softplus(worse - better).mean()


# Encoders: from texts to a state per word. Static vectors with a BiLSTM, or the states of a Hugging Face model.

UNKNOWN = "<unk>"
Progress = Callable[[int, int], None]


class Encoder(Protocol):
    """What gives every word of a text a state. It is a module of the measure: what it can learn is in its parameters.

    width: of a state
    """

    width: int

    def settings(self) -> dict[str, Any]:
        """What states depend on; kept in a checkpoint and compared when it is loaded."""
        ...

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute and keep what does not change while the measure learns."""
        ...

    def __call__(self, texts: Sequence[Text]) -> tuple[Tensor, Tensor]:
        """States (b, n, d), and (b, n) where words are."""
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
        """Nothing is kept: all of it learns."""

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
    """The most frequent words, behind the one that stands for all others."""
    counts = Counter(word for text in texts for word in text.words)
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return [UNKNOWN, *ordered[: max(0, size - 1)]]


def put_vectors(encoder: StaticEncoder, path: Path) -> int:
    """Pre-trained vectors for the words of the vocabulary, in GloVe's format; returns how many there were."""
    found = 0
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
            found += 1
    return found


# Pairs as the model reads them: the words of a passage, and which words of its last sentence are pronouns.

NO_SIGN = re.compile(r"[^\w.?!\s]|_")
SIGNS = re.compile(r"\s*([.?!])(?!\w)\s*")  # a point inside of a word (3.5) stays


@dataclass(frozen=True, slots=True)
class Text:
    """A passage for the measure.

    context: its previous sentences as one text; sentence: the current one
    words: all words, of the context first; spans: where each is in `whole`; begin: the number of the sentence's first
    pronouns: the numbers of the pronouns in the current sentence (§4: from r and s, not from the contexts)
    """

    context: str
    sentence: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    begin: int
    pronouns: tuple[int, ...]

    @property
    def whole(self) -> str:
        return f"{self.context} {self.sentence}" if self.context else self.sentence


@dataclass(frozen=True, slots=True)
class Pair:
    """The better and the worse of two texts, and the example they are from."""

    better: Text
    worse: Text
    id: str


def plain_text(text: str) -> str:
    """A sentence as the annotated pairs of the paper have them: lower case, no signs but those that end sentences."""
    return " ".join(SIGNS.sub(r" \1 ", NO_SIGN.sub(" ", text.lower())).split())


def text_of(passage: Passage, readings: Readings, *, sentences: int = 2, plain: bool = False) -> Text:
    """A passage with at most so many previous sentences, signs that are written in several ways made one."""
    read = map(normalize, passage[max(0, len(passage) - 1 - sentences) :])
    kept = [plain_text(s) if plain else " ".join(s.split()) for s in read]
    context, sentence = " ".join(s for s in kept[:-1] if s), kept[-1]
    shift = len(context) + 1 if context else 0
    before, current = words_of(context, readings), words_of(sentence, readings)
    return Text(
        context,
        sentence,
        tuple(word.normal for word in (*before, *current)),
        tuple([(w.start, w.end) for w in before] + [(w.start + shift, w.end + shift) for w in current]),
        len(before),
        tuple(len(before) + place for place in places(current, readings.pronouns)),
    )


def candidate_texts(example: Example, model: Model, readings: Readings) -> list[Text]:
    """The candidates in the model's setting: no context, their own, or that of the first one (§5.2).

    CRC puts the context of the gold candidate before every candidate, of the first where none is gold.
    """
    common = example.candidates[example.gold or 0][:-1]
    found = []
    for passage in example.candidates:
        if model.context == "CRC":
            passage = (*common, passage[-1])
        sentences = 0 if model.context == "NC" else model.sentences
        found.append(text_of(passage, readings, sentences=sentences, plain=model.plain))
    return found


def pairs_of(examples: Iterable[Example], model: Model, readings: Readings, kind: str = "both") -> list[Pair]:
    """The pairs of examples of a kind: gold against each other candidate. An untagged pair is of every kind."""
    found = []
    for example in examples:
        if kind != "both" and example.tags.get("kind", kind) != kind:
            continue
        if example.gold is None or len(example.candidates) < 2:
            raise AnaphoraError(f"example {example.id!r} is no pair: two candidates and a gold one are needed")
        texts = candidate_texts(example, model, readings)
        gold = texts[example.gold]
        found += [Pair(gold, text, example.id) for n, text in enumerate(texts) if n != example.gold]
    return found


# The measure: an encoder, further features, and the head that makes a score of them.

SCALE = 0.1  # of log-probabilities: nats into the range of the other scores
IDENTITY = "identity"
REMEDY = "Check the files of the encoder and its features. Train the measure again if they are whole."
PER_FEATURE = 4  # numbers about each pronoun that a language model gives


@dataclass(frozen=True, slots=True)
class ScoredText:
    """The score of a text, the pronouns it is made of with the share of each, and where each looked: (words,)."""

    score: float
    pronouns: tuple[str, ...]
    shares: tuple[float, ...]
    attention: tuple[tuple[float, ...], ...]


class Measure(nn.Module):
    """Gives a text a score by its pronouns; a text without a pronoun has the score 0 (an empty sum)."""

    def __init__(
        self,
        model: Model,
        readings: Readings,
        length: int,
        encoder: Encoder,
        features: Sequence[LanguageModelFeatures],
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.config, self.readings, self.features = model, readings, tuple(features)
        self.encoder = encoder
        self.listed = {word: n for n, word in enumerate(sorted(readings.pronouns))}
        identities = len(self.listed) if IDENTITY in model.features else 0
        self.head = PronounHead(
            encoder.width,
            length,
            kind=model.kind,
            hidden=model.hidden,
            features=PER_FEATURE * len(self.features),
            identities=identities,
            dropout=dropout,
        )

    def forward(self, texts: Sequence[Text]) -> Output:
        """Scores of texts: (b,)."""
        output: Output = self.head(self.batch(texts))
        return output

    def batch(self, texts: Sequence[Text]) -> Batch:
        states, words = self.encoder(texts)
        most = max(1, max(len(text.pronouns) for text in texts))
        places = torch.zeros(len(texts), most, dtype=torch.long)
        identities = torch.zeros(len(texts), most, dtype=torch.long)
        pronouns = torch.zeros(len(texts), most, dtype=torch.bool)
        features = torch.zeros(len(texts), most, PER_FEATURE * len(self.features))
        for n, text in enumerate(texts):
            count = len(text.pronouns)
            places[n, :count] = torch.tensor(text.pronouns, dtype=torch.long)
            pronouns[n, :count] = True
            identities[n, :count] = torch.tensor([self.listed[text.words[p]] for p in text.pronouns], dtype=torch.long)
            if self.features and count:
                rows = np.concatenate([feature(text) for feature in self.features], axis=1)
                features[n, :count] = SCALE * torch.from_numpy(rows)
        device = states.device
        rest: list[Tensor] = [part.to(device) for part in (places, pronouns, features, identities)]
        return Batch(states, words, *rest)

    def prepare(self, texts: Iterable[Text], progress: Progress | None = None) -> None:
        """Compute everything that is frozen, once."""
        known = list(texts)
        self.encoder.prepare(known, progress)
        for feature in self.features:
            feature.prepare(known, progress)

    @torch.inference_mode()
    def score(self, texts: Sequence[Text], batch: int = 64) -> list[ScoredText]:
        """The scores of texts, each by itself: they do not depend on what they are scored with."""
        self.eval()
        found = []
        for start in range(0, len(texts), batch):
            part = texts[start : start + batch]
            output = self(part)
            all_finite(output.scores.cpu().numpy(), "scores of the learned measure", REMEDY)
            for n, text in enumerate(part):
                count, words = len(text.pronouns), len(text.words)
                found.append(
                    ScoredText(
                        float(output.scores[n]),
                        tuple(text.words[p] for p in text.pronouns),
                        tuple(output.pronouns[n, :count].tolist()),
                        tuple(tuple(row) for row in output.attention[n, :count, :words].tolist()),
                    )
                )
        return found


def load_features(names: Sequence[str], cache: Path | None = None) -> list[LanguageModelFeatures]:
    """The features that a config names; `identity` is the head's own."""
    found = []
    for name in names:
        kind, _, what = name.partition(":")
        if name == IDENTITY:
            continue
        if kind != "lm" or not what:
            raise AnaphoraError(f"unknown feature {name!r}. Known: identity, lm:NAME_OR_PATH")
        from anaphora.measure.features import LanguageModelFeatures

        found.append(LanguageModelFeatures(what, cache=cache))
    return found


def load_encoder(
    model: Model, *, cache: Path | None = None, tuned: bool = False, vocabulary: Sequence[str] = ()
) -> Any:
    """The encoder that a config names."""
    if model.encoder == "static":
        return StaticEncoder(vocabulary, model.width)
    kind, _, what = model.encoder.partition(":")
    if kind != "hf" or not what:
        raise AnaphoraError(f"unknown encoder {model.encoder!r}. Known: static, hf:NAME_OR_PATH")
    from anaphora.measure.hf_encoder import HuggingFaceEncoder

    return HuggingFaceEncoder(what, cache=cache, tuned=tuned)
