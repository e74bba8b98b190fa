"""Texts as the learned measure reads them: words, parallel files line by line, passages with their pronouns."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from anaphora.align.tokenize import normalize, normalize_counting
from anaphora.core.documents import document_lines
from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import Readings, normalize_word
from anaphora.suites.example import Example, Passage

if TYPE_CHECKING:
    from anaphora.measure.config import Model

Progress = Callable[[int, int], None]  # texts done, texts in all

# Words with their positions, so that one can be replaced and the rest of the text stays as it is.

# Letters and digits together; every other sign by itself. An apostrophe or a hyphen divides ("he's", "a-t-il").
MAX_CONTEXT = 1000  # sentences; each line of a text is kept with its context
WORD = re.compile(r"[^\W_]+|\S")
ENDS = frozenset(".!?…:")  # signs after which a sentence may begin


class Word(NamedTuple):
    """A word, its position in the text, and its normalized form, by which words are compared."""

    text: str
    start: int
    end: int
    normal: str


def words_of(text: str, readings: Readings | None = None) -> list[Word]:
    """Return the words of a text in order.

    A pronoun that is always capitalized (I) is no pronoun in lower case (i.e.), unless the whole text is in lower
    case: its normalized form then has a sign that no pronoun has.
    """
    words = [Word(m[0], m.start(), m.end(), normalize_word(m[0])) for m in WORD.finditer(text)]
    if readings is None or not readings.capital or text == text.lower():
        return words
    return [w._replace(normal=f"{w.normal}.") if w.text in readings.capital else w for w in words]


def pronoun_indices(words: Sequence[Word], pronouns: frozenset[str]) -> list[int]:
    """Return the indices of the words that are pronouns."""
    return [index for index, word in enumerate(words) if word.normal in pronouns]


def replace_pronoun(text: str, words: Sequence[Word], index: int, new: str, readings: Readings) -> str:
    """Return the text with another pronoun in place of the word at `index` (Figure 1).

    It is capitalized if it always is (I), or if the old one was for another reason: a sentence begins here.
    """
    old, small = words[index], normalize_word(new)
    capital = small in readings.capital or (
        old.text[0].isupper() and (old.normal not in readings.capital or begins_sentence(words, index))
    )
    if capital and text != text.lower():  # in a lowercase text, "i" is lowercase as well
        small = small[0].upper() + small[1:]
    return text[: old.start] + small + text[old.end :]


def begins_sentence(words: Sequence[Word], index: int) -> bool:
    """Return whether only signs precede this word, or the last sign before it ends a sentence."""
    for word in reversed(words[:index]):
        if word.text in ENDS:
            return True
        if word.text[0].isalnum():
            return False
    return True


# Reference, systems and source line by line, with the sentences before each line in its document.


@dataclass(frozen=True, slots=True)
class Line:
    """A line of all files: its number (from 1), its document, and its passage in each file.

    All passages have the same length: a missing sentence, before the first of a document, is "".
    """

    number: int
    document: str
    reference: Passage
    systems: tuple[Passage, ...]
    source: Passage | None


def read_lines(
    reference: Path,
    systems: Sequence[Path],
    source: Path | None = None,
    *,
    context: int = 2,
    docids: bool = False,
    signs: dict[str, Counter[str]] | None = None,
) -> Iterator[Line]:
    """Yield the lines of parallel files, with typographic variants of signs normalized.

    Documents are separated as in every command (see `core.documents`); with docids, lines are docid⇥sentence.

    signs: receives the normalized signs of each file; a measure must not recognize systems by their apostrophes
    """
    if context > MAX_CONTEXT:
        raise AnaphoraError(f"a context of {context:,} sentences: at most {MAX_CONTEXT:,} are possible. Use fewer")
    paths = [reference, *systems, *([source] if source else [])]
    counts = [(signs if signs is not None else {}).setdefault(str(path), Counter()) for path in paths]
    lines = document_lines(*paths, format="docids" if docids else "lines")
    for name, document in groupby(lines, key=attrgetter("document")):
        window: deque[tuple[str, ...]] = deque(maxlen=context + 1)
        for line in document:
            sentences = tuple(
                " ".join(normalize_counting(text, count).split())
                for text, count in zip(line.texts, counts, strict=True)
            )
            window.append(sentences)
            missing = ("",) * (context + 1 - len(window))
            passages = [missing + texts for texts in zip(*window, strict=True)]
            translations = tuple(passages[1 : 1 + len(systems)])
            yield Line(line.number, name, passages[0], translations, passages[-1] if source else None)


# Passages as the model reads them: all words, and which words of the last sentence are pronouns.

NO_SIGN = re.compile(r"[^\w.?!\s]|_")
SIGNS = re.compile(r"\s*([.?!])(?!\w)\s*")  # a point inside a word (3.5) stays


@dataclass(frozen=True, slots=True)
class Text:
    """A passage for the measure.

    context: the previous sentences as one text; sentence: the current sentence
    words: all words, those of the context first; spans: where each is in `whole`
    begin: the index of the first word of the sentence
    pronouns: the indices of the pronouns in the current sentence (§4: from r and s, not from the contexts)
    """

    context: str
    sentence: str
    words: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    begin: int
    pronouns: tuple[int, ...]

    @property
    def whole(self) -> str:
        """The context and the sentence as one text."""
        return f"{self.context} {self.sentence}" if self.context else self.sentence

    def word_at(self) -> dict[int, int]:
        """Return the index of the word at each position of `whole` that belongs to a word."""
        return {position: n for n, (start, end) in enumerate(self.spans) for position in range(start, end)}


@dataclass(frozen=True, slots=True)
class Pair:
    """The better and the worse of two texts, and the id of their example."""

    better: Text
    worse: Text
    id: str


def plain_text(text: str) -> str:
    """Return a sentence as in the paper's annotated pairs: lowercase, no punctuation but at the end of sentences."""
    return " ".join(SIGNS.sub(r" \1 ", NO_SIGN.sub(" ", text.lower())).split())


def text_of(passage: Passage, readings: Readings, *, sentences: int = 2, plain: bool = False) -> Text:
    """Return a passage with at most N previous sentences, with typographic variants of signs normalized."""
    normalized = map(normalize, passage[max(0, len(passage) - 1 - sentences) :])
    kept = [plain_text(s) if plain else " ".join(s.split()) for s in normalized]
    context, sentence = " ".join(s for s in kept[:-1] if s), kept[-1]
    shift = len(context) + 1 if context else 0
    before, current = words_of(context, readings), words_of(sentence, readings)
    return Text(
        context,
        sentence,
        tuple(word.normal for word in (*before, *current)),
        tuple([(w.start, w.end) for w in before] + [(w.start + shift, w.end + shift) for w in current]),
        len(before),
        tuple(len(before) + index for index in pronoun_indices(current, readings.pronouns)),
    )


def candidate_texts(example: Example, model: Model, readings: Readings) -> list[Text]:
    """Return the candidates in the model's setting: no context, their own, or a common one (§5.2).

    CRC puts the context of the gold candidate before every candidate, that of the first where none is gold.
    """
    common = example.candidates[example.gold or 0][:-1]
    texts = []
    for passage in example.candidates:
        if model.context == "CRC":
            passage = (*common, passage[-1])
        texts.append(text_of(passage, readings, sentences=model.context_sentences, plain=model.plain))
    return texts


def pairs_of(examples: Iterable[Example], model: Model, readings: Readings, kind: str = "both") -> list[Pair]:
    """Return the pairs of a kind: gold against each other candidate. Examples without a kind are of every kind."""
    pairs = []
    for example in examples:
        if kind != "both" and example.tags.get("kind", kind) != kind:
            continue
        if example.gold is None or len(example.candidates) < 2:
            raise AnaphoraError(f"example {example.id!r} is not a pair: two candidates and a gold one are needed")
        texts = candidate_texts(example, model, readings)
        gold = texts[example.gold]
        pairs += [Pair(gold, text, example.id) for n, text in enumerate(texts) if n != example.gold]
    return pairs
