"""Generative accuracy: does the pronoun of a system's own translation agree with the antecedent?

Contrastive scoring asks which of given translations a system prefers, not what it writes. Here its translation is
aligned with the source, the translation of the source pronoun is looked up (with the rescue of APT §2.3), and compared
with the pronouns of the candidates: correct (a form of the right one's gender and number, in any case), wrong (a form
of another candidate's), or not found (anything else: a noun, a passive, das), which stays in the denominator.

Where candidates differ in other words than pronouns (lexical choice), or the source has none of the pronouns that are
looked for, the words that tell the candidates apart are looked for in the whole translation.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from anaphora.align.rescue import find_translation
from anaphora.evaluation import breakdown as by
from anaphora.languages.forms import Forms, addressed, same_class
from anaphora.languages.pronouns import normalise
from anaphora.stats.intervals import Interval, wilson
from anaphora.suites.example import Example

CORRECT, WRONG, NOT_FOUND = OUTCOMES = ("correct", "wrong", "not found")
Words = Sequence[str]
Links = Sequence[Sequence[int]]  # for each source word the target words it is aligned to
IsSource = Callable[[Example, str], bool]  # whether a source word is a pronoun whose translation is judged


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one example.

    how: "link", "rescue" (APT §2.3) or "words" (looked for in the whole translation)
    """

    id: str
    outcome: str
    how: str
    found: str = ""  # the word that decided
    source: int | None = None  # where the source pronoun is
    place: int | None = None  # and its translation


@dataclass(frozen=True, slots=True)
class Contrast:
    """What tells the candidates of an example apart.

    position: of the gold candidate's first word that another one has not; gold, others: words that speak for either
    pronouns: whether these are forms of pronouns
    """

    position: int
    gold: frozenset[str]
    others: frozenset[str]
    pronouns: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """How many of each outcome, and the share of correct ones with its interval."""

    correct: int
    wrong: int
    not_found: int
    interval: Interval

    @property
    def total(self) -> int:
        return self.correct + self.wrong + self.not_found

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.total if self.total else None

    @property
    def among_found(self) -> float | None:
        """The share of correct ones among those found, which flatters a system that evades."""
        found = self.correct + self.wrong
        return self.correct / found if found else None

    def to_dict(self) -> dict[str, object]:
        return {
            "total": self.total,
            "correct": self.correct,
            "wrong": self.wrong,
            "not_found": self.not_found,
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "accuracy_among_found": self.among_found,
        }


def plain(words: Words, polite: frozenset[str]) -> list[str]:
    """Words in lower case, but for forms of address, which keep their capital and so are no pronouns."""
    address = addressed(words, polite)
    return [word if special else normalise(word) for word, special in zip(words, address, strict=True)]


def contrast(candidates: Sequence[Words], gold: int, forms: Forms, polite: frozenset[str] = frozenset()) -> Contrast:
    """What tells tokenised candidates apart; words are compared in lower case."""
    words = [plain(candidate, polite) for candidate in candidates]
    right = words[gold]
    rest = [candidate for number, candidate in enumerate(words) if number != gold and candidate != right]
    firsts = [(_first_difference(right, other), other) for other in rest]
    position = min((place for place, _ in firsts), default=0)
    alternatives = frozenset(other[place] for place, other in firsts if place < len(other))
    known = frozenset().union(*forms.values())
    if position < len(right) and right[position] in known and alternatives and alternatives <= known:
        mine = same_class(right[position], alternatives, forms)
        theirs = [same_class(word, frozenset({right[position]}), forms) for word in alternatives]
        return Contrast(position, mine, frozenset().union(*theirs) - mine, pronouns=True)
    shared = set(right).intersection(*map(set, rest)) if rest else set(right)
    other_words = frozenset(word for other in rest for word in other)
    return Contrast(position, frozenset(right) - shared, other_words - set(right), pronouns=False)


def judge(
    example: Example,
    source: Words,
    candidates: Sequence[Words],
    translation: Words,
    *,
    gold_links: Links,
    links: Links,
    forms: Forms,
    is_source: IsSource,
    pronouns: frozenset[str] = frozenset(),
    polite: frozenset[str] = frozenset(),
) -> Outcome:
    """One example, whose texts are tokenised and aligned from source to the gold candidate and to the translation.

    pronouns: further ones of the target language, a link to which is believed (das, dieser)
    polite: words that are a form of address with a capital (German Sie)
    """
    assert example.gold is not None
    told = contrast(candidates, example.gold, forms, polite)
    written = plain(translation, polite)
    places = [place for place, word in enumerate(source) if is_source(example, normalise(word))]
    if not told.pronouns or not places:
        return _by_words(example.id, told, written)
    place = _source_place(places, told.position, gold_links, len(candidates[example.gold]))
    known = pronouns.union(*forms.values())
    decisive = told.gold | told.others
    found = find_translation(
        place,
        links,
        len(written),
        is_pronoun=lambda word: written[word] in known,
        is_likely=lambda word: written[word] in decisive,
    )
    if found is None:
        return Outcome(example.id, NOT_FOUND, "rescue", source=place)
    word = written[found.position]
    outcome = CORRECT if word in told.gold else WRONG if word in told.others else NOT_FOUND
    return Outcome(example.id, outcome, "rescue" if found.rescued else "link", word, place, found.position)


def count(
    outcomes: Sequence[tuple[Example, Outcome]], breakdowns: Sequence[str], confidence: float = 0.95
) -> tuple[Counts, dict[str, dict[str, Counts]]]:
    """Outcomes in all and by breakdowns."""
    wanted = by.named(breakdowns)
    groups: dict[str, defaultdict[str, Counter[str]]] = {name: defaultdict(Counter) for name in wanted}
    for example, outcome in outcomes:
        for name, breakdown in wanted.items():
            group = breakdown.group(by.keyed(breakdown, example.tags))
            if group is not None:
                groups[name][group][outcome.outcome] += 1
    overall = Counter(outcome.outcome for _, outcome in outcomes)
    by_group = {
        name: {group: _counts(found[group], confidence) for group in sorted(found, key=by.order)}
        for name, found in groups.items()
        if found
    }
    return _counts(overall, confidence), by_group


def _counts(found: Mapping[str, int], confidence: float) -> Counts:
    correct, wrong, not_found = (found.get(outcome, 0) for outcome in OUTCOMES)
    return Counts(correct, wrong, not_found, wilson(correct, correct + wrong + not_found, confidence))


def _by_words(name: str, told: Contrast, written: Words) -> Outcome:
    """By the share of the words of either side that the translation has."""
    present = frozenset(written)
    right, wrong = (len(side & present) / len(side) if side else 0.0 for side in (told.gold, told.others))
    outcome = CORRECT if right > wrong else WRONG if wrong > right else NOT_FOUND
    decisive = next(_in_order(written, told.gold if outcome == CORRECT else told.others), "")
    return Outcome(name, outcome, "words", decisive if outcome != NOT_FOUND else "")


def _in_order(written: Words, wanted: frozenset[str]) -> Iterator[str]:
    return (word for word in written if word in wanted)


def _source_place(places: Sequence[int], position: int, gold_links: Links, length: int) -> int:
    """Which of several source pronouns is meant: the one aligned to the gold pronoun, else that at a like place."""
    linked = [place for place in places if position in gold_links[place]]
    share = position / max(1, length - 1)
    return min(linked or places, key=lambda place: abs(place / max(1, len(gold_links) - 1) - share))


def _first_difference(one: Words, other: Words) -> int:
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))
