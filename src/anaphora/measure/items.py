"""Pairs as the model reads them: the words of a passage, and which words of its last sentence are pronouns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from anaphora.core.errors import AnaphoraError
from anaphora.languages.readings import Readings
from anaphora.measure.config import Model
from anaphora.measure.words import places, words_of
from anaphora.normalization import normalize
from anaphora.suites.example import Example, Passage

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
