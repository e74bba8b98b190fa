"""Does a system look at the antecedent? What the choice of a pronoun depends on, word by word or sentence by sentence.

The choice is log p(right) − log p(wrong) of the first token in which candidates differ, where wrong is the most
probable of the wrong ones. It is attributed to the words that the system has read, source and target, by gradient ×
input or by attention, or to the sentences of the context, by leaving each of them out. A run is written
(`anaphora.runs`): scores of the pronoun for each candidate, and an attribution next to them, so that all figures come
from the file alone.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.evaluation.own_antecedent import TAG, antecedent_sentence
from anaphora.languages.highlight import WORD, differences
from anaphora.languages.pronouns import normalize_word
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite
from anaphora.systems import Attributor, SupportsClose, System, kind_traits, load_system, traits_of
from anaphora.systems.attribution import (
    ATTENTION,
    GRADIENT,
    OTHER_CONTEXTS,
    SOURCE,
    TARGET,
    Position,
    Span,
    TokenAttribution,
    gold_passage,
    other_contexts,
)
from anaphora.systems.context import LABEL, Options
from anaphora.systems.scoring import Scorer, StartScorer, scorer_in_process

OCCLUSION = "occlusion"
METHODS = (GRADIENT, ATTENTION, OCCLUSION)
SIDES = ("source", "target")
HIGHLIGHTS = "highlights"  # the tag with the words that translators have marked (SCAT)
DIGITS = 5  # decimals of a value that are kept

# why an example has no figure
NO_GOLD = "no right answer"
UNDECIDABLE = "candidates the same to the system"
NO_TAG = "no antecedent tagged"
TOO_FAR = "antecedent beyond the context that is read"
NOT_FOUND = "words of the antecedent not found"
NOT_OCCLUDED = "antecedent in the current sentence"
NOTHING = "nothing attributed"
BROKEN = "highlights broken"


@dataclass(frozen=True, slots=True)
class Unit:
    """A word that the system has read, or a sentence of the context, with its attribution.

    number: of the word in its sentence, None for a sentence; tokens: how many tokens it was added up over
    """

    side: int
    sentence: int
    number: int | None
    text: str
    value: float
    tokens: int = 1


def words_of(sentence: str) -> list[Span]:
    """The spans of the words and signs of a sentence."""
    return [match.span() for match in WORD.finditer(sentence)]


def word_units(attribution: TokenAttribution) -> tuple[list[Unit], float]:
    """Return the words that were read with the sums of their tokens' values, and the rest of the attribution.

    The rest is the attribution of tokens that are not words of the passage, such as ends of sentences and prompts.
    """
    passages = (attribution.source, attribution.target)
    spans = [[words_of(sentence) for sentence in passage] for passage in passages]
    sums: dict[tuple[int, int, int], tuple[float, int]] = {}
    rest = 0.0
    for position, value in attribution.tokens:
        number = None if position is None else _word_at(spans[position.side][position.sentence], position)
        if position is None or number is None:
            rest += abs(value)
            continue
        known, tokens = sums.get((position.side, position.sentence, number), (0.0, 0))
        sums[position.side, position.sentence, number] = known + value, tokens + 1
    units = []
    for (side, sentence, number), (value, tokens) in sorted(sums.items()):
        start, end = spans[side][sentence][number]
        units.append(Unit(side, sentence, number, passages[side][sentence][start:end], value, tokens))
    return units, rest


def _word_at(words: Sequence[Span], position: Position) -> int | None:
    return next((n for n, (start, end) in enumerate(words) if start < position.end and position.start < end), None)


# The antecedent, and what translators have highlighted, among the units


def antecedent_units(example: Example, passages: tuple[Passage, Passage], units: Sequence[Unit]) -> set[Unit] | str:
    """The units of the antecedent on both sides, or why there are none.

    passages: source and target as they are read, the last sentences of the example's
    """
    if not isinstance(example.tags.get(TAG), str):
        return NO_TAG
    distance = antecedent_sentence(example)
    if distance is None or distance >= len(passages[SOURCE]):
        return TOO_FAR if distance is not None or type(example.tags.get("distance")) is int else NOT_FOUND
    if distance == 0 and any(unit.number is None for unit in units):
        return NOT_OCCLUDED
    antecedent: set[Unit] = set()
    for side, passage in enumerate(passages):
        number = len(passage) - 1 - distance
        phrase = example.tags.get(f"{SIDES[side]}_antecedent")
        if number < 0 or not isinstance(phrase, str):
            continue
        read = [unit for unit in units if unit.side == side and unit.sentence == number]
        numbers = _phrase(example, side, passage[number], phrase, same_sentence=distance == 0)
        antecedent |= {unit for unit in read if unit.number is None or unit.number in numbers}
    return antecedent or NOT_FOUND


def _phrase(example: Example, side: int, sentence: str, phrase: str, *, same_sentence: bool) -> range:
    """The numbers of the words of a phrase in a sentence; of its head if the whole phrase is not found.

    Of several occurrences, the one nearest to where the annotation has its head is meant, or else the last one; in the
    sentence of the pronoun, the last one before it.
    """
    words = [normalize_word(sentence[start:end]) for start, end in words_of(sentence)]
    name = f"{SIDES[side]}_antecedent_head"
    head, position = example.tags.get(name), example.tags.get(f"{name}_id")
    for text in (phrase, head):
        wanted = [normalize_word(match.group()) for match in WORD.finditer(text)] if isinstance(text, str) else []
        size = len(wanted)
        starts = [k for k in range(len(words) - size + 1) if size and words[k : k + size] == wanted]
        if starts:
            if type(position) is int:
                chosen = min(starts, key=lambda k: abs(k + size - position))
            else:
                pronoun = example.tags.get("source_pronoun") if same_sentence and side == SOURCE else None
                first = words.index(pronoun) if pronoun in words else len(words)
                chosen = max((k for k in starts if k < first), default=starts[-1])
            return range(chosen, chosen + size)
    return range(0)


def highlighted_units(example: Example, passages: tuple[Passage, Passage], units: Sequence[Unit]) -> set[Unit] | str:
    """The units that translators have highlighted, or why there are none; empty where the suite has no highlights."""
    marks = example.tags.get(HIGHLIGHTS)
    if not isinstance(marks, list):
        return ""
    if example.tags.get("highlights_broken"):
        return BROKEN
    spans: set[tuple[int, int, int | None]] = set()
    for mark in marks:
        if isinstance(mark, dict) and mark.get("side") in SIDES:
            side = SIDES.index(str(mark["side"]))
            sentence = _whole(mark.get("sentence")) - len(example.source) + len(passages[side])
            if 0 <= sentence < len(passages[side]):
                start, end = _whole(mark.get("start")), _whole(mark.get("end"))
                words = enumerate(words_of(passages[side][sentence]))
                spans |= {(side, sentence, n) for n, (a, b) in words if a < end and start < b}
    sentences = {(side, sentence, None) for side, sentence, _ in spans}
    highlighted = {unit for unit in units if (unit.side, unit.sentence, unit.number) in spans | sentences}
    return highlighted or TOO_FAR


def _whole(value: object) -> int:
    return value if type(value) is int else 0


# Figures of one example


def shares(units: Sequence[Unit]) -> list[float]:
    """The share of each unit of the attribution, which sums to 1; all zero if there is none."""
    total = sum(abs(unit.value) for unit in units)
    return [abs(unit.value) / total if total else 0.0 for unit in units]


def figures_of(units: Sequence[Unit], chosen: Container[Unit]) -> dict[str, float]:
    """The share and rank of chosen units in the attribution, each figure next to its value by chance.

    share: of the attribution on them; uniform_share: if every token had the same
    rank: of the first of them, 1 for the largest value; uniform_rank: its expectation in a random order
    auc: how often one of them has a larger value than another unit; 0.5 by chance
    support: what they add to log p(right) − log p(wrong)
    """
    inside = [unit in chosen for unit in units]
    parts = shares(units)
    ours = [part for part, one in zip(parts, inside, strict=True) if one]
    others = [part for part, one in zip(parts, inside, strict=True) if not one]
    tokens = sum(unit.tokens for unit in units)
    pairs = len(ours) * len(others)
    wins = sum((one > other) + 0.5 * (one == other) for one in ours for other in others)
    figures = {
        "share": sum(ours),
        "uniform_share": sum(unit.tokens for unit, one in zip(units, inside, strict=True) if one) / tokens,
        "rank": 1 + sum((part > max(ours)) + 0.5 * (part == max(ours)) for part in others),
        "uniform_rank": (len(units) + 1) / (len(ours) + 1),
        "support": sum(unit.value for unit, one in zip(units, inside, strict=True) if one),
    }
    return figures | ({"auc": wins / pairs} if pairs else {})


def contrast(answer: CandidateScores, gold: int) -> float | None:
    """log p(right) − log p(wrong) of the most probable wrong candidate; None if all are the same to the system."""
    same = {other for pair in answer.undecidable for other in pair if gold in pair}
    wrong = [score for k, score in enumerate(answer.scores) if k != gold and k not in same]
    return answer.scores[gold] - max(wrong) if wrong else None


def record_of(example: Example, attribution: TokenAttribution, units: Sequence[Unit], rest: float) -> dict[str, Any]:
    """The attribution of one example as its record keeps it."""
    if example.gold is None:
        return {"reason": NO_GOLD}
    difference = contrast(attribution.answer, example.gold)
    if attribution.reason or difference is None:
        return {"reason": attribution.reason or UNDECIDABLE}
    record: dict[str, Any] = {"contrast": round(difference, DIGITS), "right": difference > 0}
    record["choice"] = _choice(example, attribution.answer)
    record |= {"words": _passages(attribution, units), "rest": round(rest, DIGITS)}
    passages = attribution.source, attribution.target
    nothing = NOTHING if not any(unit.value for unit in units) else ""
    antecedent = antecedent_units(example, passages, units)
    if isinstance(antecedent, str) or nothing:
        record["reason"] = antecedent if isinstance(antecedent, str) else nothing
    else:
        record["antecedent"] = _rounded(figures_of(units, antecedent)) | {"at": _positions(units, antecedent)}
    marked = highlighted_units(example, passages, units)
    if isinstance(marked, str) or nothing:
        reason = marked if isinstance(marked, str) else nothing
        return record | ({"highlights_reason": reason} if reason else {})
    return record | {HIGHLIGHTS: _rounded(figures_of(units, marked)) | {"at": _positions(units, marked)}}


def _choice(example: Example, answer: CandidateScores) -> list[str]:
    """The words that right and most probable wrong candidate differ in first, as a reader sees them."""
    gold = example.gold or 0
    wrong = max((k for k in range(len(answer.scores)) if k != gold), key=lambda k: answer.scores[k])
    sentences = [example.candidates[k][-1] for k in (gold, wrong)]
    spans = differences(*sentences)
    return [sentence[slice(*(span[0] if span else (0, 0)))] for sentence, span in zip(sentences, spans, strict=True)]


def _passages(attribution: TokenAttribution, units: Iterable[Unit]) -> dict[str, Any]:
    """Words and values by side and sentence: {"source": [[["I", 0.1], …], …], "target": …}."""
    sides: dict[str, list[list[list[Any]]]] = {
        name: [[] for _ in passage]
        for name, passage in zip(SIDES, (attribution.source, attribution.target), strict=True)
    }
    for unit in units:
        sides[SIDES[unit.side]][unit.sentence].append([unit.text, round(unit.value, DIGITS)])
    return sides


def _positions(units: Sequence[Unit], chosen: Container[Unit]) -> list[int]:
    """The indices of chosen units among all, in the order of the record: source first, sentence by sentence."""
    return [n for n, unit in enumerate(units) if unit in chosen]


def _rounded(figures: Mapping[str, float]) -> dict[str, Any]:
    return {name: round(value, DIGITS) for name, value in figures.items()}


# A system whose answers carry an attribution


@dataclass
class AttributingSystem:
    """Scores the pronoun, and attributes its choice, by asking a system that can do it.

    options: those of the system
    """

    system: System
    method: str
    options: Options

    def __post_init__(self) -> None:
        self.traits = traits_of(self.system)
        label = self.system.settings().get("context", self.options.context.label)  # trained models have their own
        self._sizes = LABEL.fullmatch(str(label))

    def settings(self) -> Mapping[str, Any]:
        return {**self.system.settings(), "attribution": self.method}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Yield scores of the pronoun, with the attribution as an extra of the record."""
        if self.method == OCCLUSION:
            attributions: Iterable[tuple[int, TokenAttribution, list[Unit], float]] = self._occluded(examples, done)
        else:
            assert isinstance(self.system, Attributor)
            attributed = self.system.attribute(examples, self.method, done)
            attributions = ((number, one, *word_units(one)) for number, one in attributed)
        for number, attribution, units, rest in attributions:
            record = record_of(examples[number], attribution, units, rest)
            yield number, attribution.answer._replace(extra={**attribution.answer.extra, "attribution": record})

    def _occluded(
        self, examples: Sequence[Example], done: Container[int]
    ) -> Iterator[tuple[int, TokenAttribution, list[Unit], float]]:
        """Score each example, and each example without one sentence of its context on one side."""
        variants: list[tuple[int, Position | None, Example]] = []
        for number, example in enumerate(examples):
            variants.append((number, None, example))
            for side, passage in enumerate(self._read(example)):
                before = len(example.source) - len(passage)
                for sentence, text in enumerate(passage[:-1]):
                    if text:
                        left_out = Position(side, sentence, 0, len(text))
                        variants.append((number, left_out, _without(example, side, before + sentence)))
        skipped = {n for n, (number, _, _) in enumerate(variants) if number in done}
        expected = [0] * len(examples)
        for number, _, _ in variants:
            expected[number] += 1
        answers: dict[int, dict[Position | None, CandidateScores]] = {}
        for n, answer in self.system.score([example for _, _, example in variants], skipped):
            number, position, _ = variants[n]
            if number in done:
                continue
            known = answers.setdefault(number, {})
            known[position] = answer
            if len(known) == expected[number]:
                yield (number, *self._effects(examples[number], answers.pop(number)))

    def _effects(
        self, example: Example, answers: Mapping[Position | None, CandidateScores]
    ) -> tuple[TokenAttribution, list[Unit], float]:
        """The units are sentences; their values are what the choice loses without them."""
        gold, passages = example.gold or 0, self._read(example)
        reason = OTHER_CONTEXTS if len(passages[TARGET]) > 1 and other_contexts(example) else ""
        attribution = TokenAttribution(answers[None], *passages, reason=reason)
        whole = contrast(answers[None], gold)
        units = []
        for position in sorted(position for position in answers if position is not None):
            left = contrast(answers[position], gold)
            value = 0.0 if whole is None or left is None else whole - left
            text = passages[position.side][position.sentence]
            units.append(Unit(position.side, position.sentence, None, text, value))
        return attribution, units, 0.0

    def _read(self, example: Example) -> tuple[Passage, Passage]:
        """The last sentences of source and right candidate, which the system reads."""
        passages = example.source, gold_passage(example)
        sizes = self._sizes
        if sizes is None:
            return passages
        return passages[SOURCE][-1 - int(sizes[1]) :], passages[TARGET][-1 - int(sizes[2]) :]


def _without(example: Example, side: int, sentence: int) -> Example:
    """The example without a sentence of its context."""

    def left(passage: Passage) -> Passage:
        return (*passage[:sentence], "", *passage[sentence + 1 :])

    if side == SOURCE:
        return replace(example, source=left(example.source))
    return replace(example, candidates=tuple(map(left, example.candidates)))


def start_attributing(method: str) -> StartScorer:
    """A scorer, for `score_suite`, that loads a system and attributes its choices in this process."""

    def start(spec: str, options: Options) -> tuple[System, Scorer]:
        check_method(spec, method)
        if method == OCCLUSION and options.context.target == "produced":
            raise AnaphoraError("occlusion leaves sentences of the suite out. Use --target-context gold or none")
        system = load_system(spec, options)
        wrapped = AttributingSystem(system, method, options)
        return wrapped, _closing(scorer_in_process(wrapped, options), system)

    return start


def _closing(compute: Scorer, system: System) -> Scorer:
    def closed(work: Any) -> Iterator[tuple[int, CandidateScores]]:
        yield from compute(work)
        if isinstance(system, SupportsClose):
            system.close()

    return closed


def check_method(spec: str, method: str) -> None:
    """An error if the kind of system that a spec names cannot be attributed by this method."""
    check_name("method", method, METHODS)
    traits = kind_traits(spec)
    if method == OCCLUSION:
        if not traits.scope:
            raise AnaphoraError(f"{spec} scores whole candidates only, and not the pronoun. Use hf:, lm:, nmt: or ct2:")
    elif not traits.gradients:
        other = "Use --method occlusion, or hf:, lm: or nmt:" if traits.scope else "Use hf:, lm: or nmt:"
        raise AnaphoraError(f"{spec} has no gradients and does not expose its attention. {other}")


def check_tags(suite: Suite, examples: Iterable[Example]) -> None:
    """An error if no example says where its antecedent is, and none has highlights."""
    if not any(isinstance(e.tags.get(TAG), str) or isinstance(e.tags.get(HIGHLIGHTS), list) for e in examples):
        raise BadInput(
            suite.path or suite.header.name,
            f"no example has the tag {TAG!r}, which names the antecedent, or {HIGHLIGHTS!r}",
            remedy="Use a suite with them: ContraPro's records, SCAT, or one of `anaphora build mine` or "
            "`build templates`",
        )
