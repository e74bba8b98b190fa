"""Where the tokens of a model are in the sentences of a passage, and what is attributed to each. No torch here."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from anaphora.core.errors import AnaphoraError
from anaphora.languages.highlight import matching_blocks
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.suites.example import Example, Passage, common_prefix
from anaphora.systems.context import Context
from anaphora.systems.encoding import CausalInputs, Seq2SeqInputs, answer

if TYPE_CHECKING:
    from anaphora.scoring.attribution import ChoiceValues

SOURCE, TARGET = 0, 1
GRADIENT, ATTENTION = "gradient", "attention"
SPACE = "\u2581"  # before a word, in SentencePiece
OTHER_CONTEXTS = "candidates differ in their context"
Span = tuple[int, int]


class Position(NamedTuple):
    """A part of a passage: from start to end in one sentence of the source or of the target."""

    side: int
    sentence: int
    start: int
    end: int


Positions = Sequence[Position | None]  # of tokens; None: a token that is no text of the passage, as the end or a prompt


class TokenAttribution(NamedTuple):
    """What a choice between candidates depends on.

    answer: the scores of the candidates' first tokens that differ
    source, target: passages as they are read, the target with the right candidate
    tokens: the position and the value of each token that is read
    reason: why there are no values; empty if there are
    """

    answer: CandidateScores
    source: Passage
    target: Passage
    tokens: Sequence[tuple[Position | None, float]] = ()
    reason: str = ""


def gold_passage(example: Example) -> Passage:
    return example.candidates[example.gold or 0]


def other_contexts(example: Example) -> bool:
    """Return whether candidates differ before the current sentence, so that the first difference is no pronoun."""
    return len({candidate[:-1] for candidate in example.candidates}) > 1


class Encoded(Protocol):
    """An example in token ids: what the system compares of its candidates, and how many texts were truncated."""

    @property
    def candidates(self) -> Sequence[object]: ...
    @property
    def truncated(self) -> int: ...


def token_attributions(
    computed: Iterable[tuple[int, ChoiceValues]],
    examples: Sequence[Example],
    encoded: Sequence[Encoded],
    positions: Callable[[int], Sequence[Positions]],
) -> Iterator[tuple[int, TokenAttribution]]:
    """Yield the number of each example with its attribution, as the values of its tokens are computed.

    examples: with the context that is read; positions: returns those of the tokens of an example, by its number
    """
    for number, (scores, values) in computed:
        example, item = examples[number], encoded[number]
        first = answer(item.candidates, [(score, 1) for score in scores], item.truncated)
        passages = example.source, gold_passage(example)
        if other_contexts(example):
            yield number, TokenAttribution(first, *passages, reason=OTHER_CONTEXTS)
        else:
            sequences = zip(positions(number), values, strict=True)
            tokens = [pair for one, other in sequences for pair in zip(one, other, strict=True)]
            yield number, TokenAttribution(first, *passages, tokens)


# Tokens of a text: where each of them is


def token_spans(tokenizer: Any, text: str, ids: Sequence[int], *, target: bool = False) -> list[Span | None]:
    """Return where each token of a text is; None for special tokens. ids: of the text, as the tokenizer gives them"""
    if getattr(tokenizer, "is_fast", False):
        key: Mapping[str, Any] = {"text_target": text} if target else {"text": text}
        special = set(tokenizer.all_special_ids)
        encoded = tokenizer(**key, return_offsets_mapping=True)
        if list(encoded.input_ids) == list(ids):
            offsets = zip(encoded.input_ids, encoded.offset_mapping, strict=True)
            return [None if i in special or a == b else (a, b) for i, (a, b) in offsets]
    pieces = iter(_pieces(tokenizer, text, target=target))
    special = set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}
    return piece_spans(["" if i in special else next(pieces, "") for i in ids], text)


def _pieces(tokenizer: Any, text: str, *, target: bool) -> list[str]:
    """Return the pieces of a text, by a tokenizer that gives no offsets."""
    switch = target and hasattr(tokenizer, "_switch_to_target_mode")  # Marian's, which may have two vocabularies
    if switch:
        tokenizer._switch_to_target_mode()
    try:
        pieces: list[str] = tokenizer.tokenize(text)
    finally:
        if switch:
            tokenizer._switch_to_input_mode()
    return pieces


def piece_spans(pieces: Sequence[str], text: str) -> list[Span | None]:
    """Return where pieces of a text are, which may be normalized, in lower case or split elsewhere.

    A piece of which no letter is found (an unknown word) is what is left between its neighbors; an empty one is None.

    >>> piece_spans(["▁the", "▁ha", "nd", ""], "The hand")
    [(0, 3), (4, 6), (6, 8), None]
    """
    here = list(_letters(text))
    there = [letter for number, piece in enumerate(pieces) for letter in _letters(piece.replace(SPACE, " "), number)]
    letters, others = "".join(letter for letter, _ in here), "".join(letter for letter, _ in there)
    spans: list[Span | None] = [None] * len(pieces)
    for a, b, size in matching_blocks(letters, others):
        for k in range(size):
            position, number = here[a + k][1], there[b + k][1]
            known = spans[number]
            spans[number] = (
                (position, position + 1) if known is None else (min(known[0], position), max(known[1], position + 1))
            )
    for number, piece in enumerate(pieces):
        if spans[number] is None and piece.strip(SPACE + " "):
            start = next((span[1] for span in reversed(spans[:number]) if span), 0)
            end = next((span[0] for span in spans[number + 1 :] if span), len(text))
            gap = text[start:end]
            if gap.strip():
                spans[number] = (start + len(gap) - len(gap.lstrip()), start + len(gap.rstrip()))
    return spans


def _letters(text: str, number: int | None = None) -> Iterator[tuple[str, int]]:
    """Yield the letters of a text in lower case without spaces, each with its position or the number that is given."""
    for position, sign in enumerate(text):
        for letter in unicodedata.normalize("NFKC", sign).casefold():
            if not letter.isspace():
                yield letter, position if number is None else number


def sentence_positions(
    spans: Sequence[Span | None], side: int, starts: Sequence[tuple[int, int, int]]
) -> list[Position | None]:
    """The positions of tokens in the sentences of a text. starts: sentence, its beginning and its end in the text"""
    positions: list[Position | None] = []
    for span in spans:
        position = None
        first, last = span or (0, 0)
        for sentence, begin, end in starts:
            start, stop = max(begin, first), min(end, last)
            if start < stop:
                position = Position(side, sentence, start - begin, stop - begin)
                break
        positions.append(position)
    return positions


def joined_sentences(passage: Passage, context: Context, first: int = 0) -> list[tuple[int, int, int]]:
    """Where the sentences are in a passage that is joined: number, beginning and end. first: where the text begins"""
    sentences = []
    for number, sentence in enumerate(passage):
        if sentence:
            sentences.append((number, first, first + len(sentence)))
            first += len(sentence) + len(context.separator)
    return sentences


# Hugging Face models: passages that are joined to one text


def seq2seq_positions(
    inputs: Seq2SeqInputs, context: Context, example: Example, encoded: EncodedExample
) -> list[Positions]:
    """Return the positions of an encoder–decoder's tokens: those of the source, and those that the decoder has read.

    example: with the context that is read; encoded: its tokens up to the first that differs
    """
    source, target = inputs.prefix + context.join(example.source), context.join(gold_passage(example))
    ids = inputs.tokenizer(source).input_ids
    sentences = joined_sentences(example.source, context, len(inputs.prefix))
    positions = sentence_positions(token_spans(inputs.tokenizer, source, ids), SOURCE, sentences)
    if len(positions) > len(encoded.source):  # truncated before the end of the sentence
        kept = 2 if encoded.source[-1] == inputs.source_id else 1
        positions = [*positions[: len(encoded.source) - kept], *positions[-kept:]]
    labels = inputs.tokenizer(text_target=target).input_ids
    spans = token_spans(inputs.tokenizer, target, labels, target=True)
    start = len(inputs.prompt())
    if inputs.target_id is not None and labels[0] == inputs.target_id:
        spans = spans[1:]
    read = sentence_positions(spans, TARGET, joined_sentences(gold_passage(example), context))
    return [positions, [*[None] * start, *read][: len(encoded.prompt)]]


def causal_positions(
    inputs: CausalInputs, context: Context, example: Example, encoded: EncodedExample
) -> list[Positions]:
    """Return the positions of the tokens that a language model has read: of the prompt and of the candidate."""
    source, target = context.join(example.source), context.join(gold_passage(example))
    prompt, whole = inputs.text(source), inputs.text(source, target)
    ids = inputs.ids(whole)
    spans = _causal_spans(inputs, whole, ids)
    sentences: list[tuple[int, int, int]] = []
    start = prompt.find(source)
    while source and start >= 0:  # a prompt may have the source twice
        sentences += joined_sentences(example.source, context, start)
        start = prompt.find(source, start + len(source))
    begin = whole.rfind(target)
    if begin < 0 or not (sentences or not source):
        raise AnaphoraError(
            "the chat template changes the text of the passage, so that its words cannot be found in it"
        )
    positions = sentence_positions(spans, SOURCE, sentences)
    read = sentence_positions(spans, TARGET, joined_sentences(gold_passage(example), context, begin))
    merged = [one or other for one, other in zip(positions, read, strict=True)]
    known = common_prefix([encoded.prompt, ids])
    return [[*merged[:known], *[None] * (len(encoded.prompt) - known)]]


def _causal_spans(inputs: CausalInputs, text: str, ids: Sequence[int]) -> list[Span | None]:
    tokenizer = inputs.tokenizer
    if getattr(tokenizer, "is_fast", False):
        offsets = tokenizer(text, add_special_tokens=not inputs.chat, return_offsets_mapping=True).offset_mapping
        return [(a, b) if a < b else None for a, b in offsets]
    return token_spans(tokenizer, text, ids)
