"""Agreement of a pronoun with its antecedent in the system's own translation.

A system that writes *der Schläger* for *the bat* is right to write *er*, whatever noun the reference has (APT §1;
Guillou and Hardmeier 2018). The antecedent that a suite names is followed into the system's translation by word
alignment, its gender and number are those of the noun there, and the pronoun has to agree with it. The reference
translation is used for one purpose only: to decide which one is meant where the source sentence has several pronouns.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.align.alignment import Alignment, find_translation, links
from anaphora.align.tokenize import Tokenization
from anaphora.core.errors import BadInput
from anaphora.evaluation import decision as by
from anaphora.evaluation.result import as_documents
from anaphora.languages.agreement import Classes, NounAgreement, head_of, load_agreement, number_of
from anaphora.languages.pronouns import normalize_word, plain, polite_forms, pronoun_forms, usual_pronouns
from anaphora.stats.intervals import wilson
from anaphora.stats.resampling import Interval
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Header, Suite

if TYPE_CHECKING:
    from anaphora.evaluation.verdicts import Judged

AGREES, DISAGREES, NOT_FOUND, UNCLEAR = VERDICTS = ("agrees", "disagrees", "not found", "unclear")
TAG = "source_antecedent"
Words = Sequence[str]
Align = Callable[[list[list[str]], list[list[str]]], list[Alignment]]  # of sentences that are not aligned yet

# why there is no decision
NOT_IN_SOURCE = "antecedent not in the source passage"
NO_PRONOUN = "pronoun not in the source sentence"
NO_CONTEXT = "context not translated"
NOT_TRANSLATED = "translation of the antecedent not found"
NOT_WRITTEN = "translation of the pronoun not found"
NO_GENDER = "pronoun without gender"
UNKNOWN_NOUN = "gender or number of the noun not known"
# and how it was made without a pronoun
PREDICATE = "decided by the predicate of a subject that is left out"
CLAUSE = 3  # words after a pronoun that may be its verb


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one example. noun, pronoun: as the system wrote them; classes: the possible ones of the noun.

    pronoun: or, if the subject is left out, the word of the predicate that agrees with it (reason: PREDICATE)
    """

    id: str
    verdict: str
    reason: str = ""
    antecedent: str = ""  # the head in the source
    noun: str = ""
    classes: tuple[str, ...] = ()
    pronoun: str = ""


@dataclass(frozen=True, slots=True)
class Pronoun:
    """The current sentence of an example and its translation, aligned, and where the pronoun is in both, if known."""

    source: Words
    translation: Words
    alignment: Alignment
    position: int | None = None
    translated: int | None = None
    rescued: bool = False  # the translation was found without a link
    outcome: str = ""  # by the reference: correct, wrong, not found


@dataclass(frozen=True, slots=True)
class AgreementCounts:
    """The number of each verdict, and the share that agrees among the decided with its interval."""

    agrees: int
    disagrees: int
    not_found: int
    unclear: int
    interval: Interval

    @property
    def total(self) -> int:
        return self.agrees + self.disagrees + self.not_found + self.unclear

    @property
    def decided(self) -> int:
        return self.agrees + self.disagrees

    @property
    def agreement(self) -> float | None:
        return self.agrees / self.decided if self.decided else None

    def to_dict(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "agrees": self.agrees,
            "disagrees": self.disagrees,
            "not_found": self.not_found,
            "unclear": self.unclear,
            "decided": self.decided,
            "agreement": self.agreement,
            "interval": list(self.interval),
        }


@dataclass(frozen=True, slots=True)
class OwnAgreement:
    """The verdicts on all examples whose antecedent is known.

    reasons: why examples are not found or unclear, or decided without a pronoun → how many
    untagged: examples without a known antecedent
    by_reference: (outcome by the reference, verdict) → how many
    """

    counts: AgreementCounts
    breakdowns: Mapping[str, Mapping[str, AgreementCounts]]
    verdicts: tuple[Verdict, ...]
    reasons: Mapping[str, int]
    untagged: int = 0
    by_reference: Mapping[tuple[str, str], int] = field(default_factory=dict)
    judged: Judged | None = None  # how many were judged by annotators, if they were asked

    def with_outcome(self, outcome: str, verdict: str | None = None) -> int:
        """The number of examples with an outcome by the reference, and a verdict."""
        cells = self.by_reference.items()
        return sum(n for (one, other), n in cells if one == outcome and verdict in (None, other))

    def to_dict(self) -> dict[str, Any]:
        outcomes = {name: self.with_outcome(name) for name in ("correct", "wrong", NOT_FOUND)}
        judged = sum(outcomes.values())
        return {
            **self.counts.to_dict(),
            **(self.judged.to_dict() if self.judged else {}),
            "breakdowns": as_documents(self.breakdowns),
            "reasons": dict(self.reasons),
            "without_antecedent": self.untagged,
            "correct": outcomes["correct"] if judged else None,
            "wrong": outcomes["wrong"] if judged else None,
            "accuracy_by_reference": outcomes["correct"] / judged if judged else None,
            "wrong_but_agrees": self.with_outcome("wrong", AGREES),
            "correct_but_disagrees": self.with_outcome("correct", DISAGREES),
        }


def with_antecedents(suite: Suite) -> dict[int, Example]:
    """The examples whose antecedent a tag names, by their number in the suite."""
    tagged = {n: example for n, example in enumerate(suite) if isinstance(example.tags.get(TAG), str)}
    if not tagged:
        raise BadInput(
            suite.path or suite.header.name,
            f"no example has the tag {TAG!r}, which names the antecedent in the source",
            remedy="Use --antecedent reference, or a suite with antecedents: ContraPro's records, or one of "
            "`anaphora build mine` or `build templates`",
        )
    return tagged


@dataclass(frozen=True)
class Judge:
    """The data of the two languages that judging an example needs."""

    header: Header
    nouns: NounAgreement
    forms: Mapping[str, Classes]  # pronoun → classes
    numbers: Mapping[str, str]  # source pronoun → number
    usual: frozenset[str]  # source pronouns, where an example does not name one
    pronouns: frozenset[str]  # of the target language, a link to which is believed
    polite: frozenset[str]

    @classmethod
    def of(cls, header: Header) -> Judge:
        usual, pronouns = usual_pronouns(f"{header.source_language}-{header.target_language}")
        numbers = {
            form: number.pop()
            for form, classes in _by_form(pronoun_forms(header.source_language)).items()
            if len(number := {number_of(name) for name in classes}) == 1
        }
        nouns, forms = load_agreement(header.target_language), _by_form(pronoun_forms(header.target_language))
        return cls(header, nouns, forms, numbers, usual, pronouns, polite_forms(header.target_language))

    def source_position(self, example: Example, words: Words, pronoun: Pronoun, heads: Sequence[int]) -> int | None:
        """The position of the source pronoun; heads: of the antecedent if it is in the same sentence."""
        if pronoun.position is not None:
            return pronoun.position
        named = example.tags.get("source_pronoun")
        wanted = {named.lower()} if isinstance(named, str) else self.usual
        positions = [position for position, word in enumerate(words) if word in wanted]
        after = (position for position in positions if not heads or position > heads[0])
        return next(after, positions[0] if positions else None)

    def pronoun_position(self, pronoun: Pronoun, source: int, written: Words) -> int | None:
        """The position of the pronoun's translation. A form that is an article as well has to be linked."""
        if pronoun.translated is not None:
            article = pronoun.rescued and written[pronoun.translated] in self.nouns.determiners
            return None if article else pronoun.translated
        if pronoun.outcome:  # not found with the same method already
            return None
        translated = find_translation(
            source,
            links(pronoun.alignment, len(pronoun.source)),
            len(written),
            is_pronoun=lambda word: written[word] in self.forms or written[word] in self.pronouns,
            is_likely=lambda word: written[word] in self.forms and written[word] not in self.nouns.determiners,
        )
        return None if translated is None else translated.position

    def predicate_position(self, pronoun: Pronoun, source: int, written: Words) -> tuple[int, Classes] | None:
        """Position and classes of the predicate of a pronoun that is left out. Its verb is after the source pronoun."""
        predicates = self.nouns.predicates
        if predicates is None:
            return None
        linked = links(pronoun.alignment, len(pronoun.source))
        for verb in range(source + 1, min(source + 1 + CLAUSE, len(pronoun.source))):
            if not any(map(str.isalpha, pronoun.source[verb])):  # the end of the clause
                return None
            for word in linked[verb]:
                predicate = predicates.after(written, word)
                if predicate is not None and not pronoun.translation[predicate[0]].istitle():  # a name: es María
                    return predicate
        return None

    def noun_position(self, head: int, source: Words, alignment: Alignment, translation: Words) -> int | None:
        """The position of the translation of the antecedent's head. translation: as the system wrote it"""
        written = plain(translation, self.polite)

        def is_other(word: int) -> bool:
            return written[word] in self.forms or not self.nouns.written_as_noun(translation, word)

        translated = find_translation(
            head,
            links(alignment, len(source)),
            len(written),
            is_pronoun=lambda word: self.nouns.may_be_noun(written[word]) and not is_other(word),
            is_likely=lambda word: self.nouns.looks_like_noun(written, word) and not is_other(word),
        )
        return None if translated is None else translated.position

    def shows_no_gender(self, pronoun: Classes) -> bool:
        """Whether a pronoun may have every gender of its number, as French *l'* and *les* or Spanish *le*."""
        numbers = {number_of(name) for name in pronoun}
        return len(pronoun) > 1 and all(name in pronoun for name in self.nouns.classes if number_of(name) in numbers)

    def agreement(self, noun: Classes, pronoun: Classes, source_pronoun: str) -> str:
        """The verdict on classes. Where a noun may have both numbers, it has that of the source pronoun."""
        number = self.numbers.get(source_pronoun)
        noun = frozenset(name for name in noun if number_of(name) == number) or noun
        if noun and noun <= pronoun:
            return AGREES
        return DISAGREES if noun and not noun & pronoun else UNCLEAR


@dataclass(frozen=True, slots=True)
class Sentence:
    """The sentence of the antecedent and its translation, aligned."""

    source: Words
    translation: Words
    alignment: Alignment


def judge(
    judging: Judge, example: Example, pronoun: Pronoun, antecedent: Sentence | None, *, same_sentence: bool
) -> Verdict:
    """The verdict on one example.

    antecedent: the sentence of the antecedent, None if the system did not translate it
    same_sentence: whether it is the current sentence
    """
    words = [normalize_word(word) for word in pronoun.source]
    if antecedent is None:
        return Verdict(example.id, NOT_FOUND, NO_CONTEXT)
    source = words if same_sentence else [normalize_word(word) for word in antecedent.source]
    heads = head_positions(example, source, judging.header.source_language)
    position = judging.source_position(example, words, pronoun, heads if same_sentence else ())
    if position is None:
        return Verdict(example.id, NOT_FOUND, NO_PRONOUN)
    if not heads:
        return Verdict(example.id, NOT_FOUND, NOT_IN_SOURCE)
    head = _chosen(example, [one for one in heads if not same_sentence or one < position] or heads)
    written = plain(pronoun.translation, judging.polite)
    context = written if same_sentence else plain(antecedent.translation, judging.polite)
    noun = judging.noun_position(head, source, antecedent.alignment, antecedent.translation)
    if noun is None:
        return Verdict(example.id, NOT_FOUND, NOT_TRANSLATED, source[head])
    translated, how = judging.pronoun_position(pronoun, position, written), ""
    shown = None if translated is None else judging.forms.get(written[translated])
    if translated is None:
        predicate = judging.predicate_position(pronoun, position, written)
        if predicate is None:
            return Verdict(example.id, NOT_FOUND, NOT_WRITTEN, source[head], context[noun])
        (translated, shown), how = predicate, PREDICATE
    classes = judging.nouns.noun_classes(context, noun)
    evidence = (source[head], context[noun], tuple(sorted(classes)), written[translated])
    if shown is None or (judging.shows_no_gender(shown) and classes & shown):
        return Verdict(example.id, UNCLEAR, NO_GENDER, *evidence)
    verdict = judging.agreement(classes, shown, words[position])
    return Verdict(example.id, verdict, UNKNOWN_NOUN if verdict == UNCLEAR else how, *evidence)


def head_positions(example: Example, words: Words, language: str) -> list[int]:
    """The positions of the antecedent's head in a lower-cased sentence: in the whole phrase, or else by itself."""
    split = Tokenization("none").source([str(example.tags[TAG])]).sentences[0]
    phrase = [normalize_word(word) for word in split]
    named = example.tags.get(f"{TAG}_head")
    at = head_of(phrase, language) if phrase else 0
    if isinstance(named, str) and normalize_word(named) in phrase:
        at = len(phrase) - 1 - phrase[::-1].index(normalize_word(named))
    size = len(phrase)
    whole = [k + at for k in range(len(words) - size + 1) if size and list(words[k : k + size]) == phrase]
    return whole or [k for k, word in enumerate(words) if phrase and word == phrase[at]]


def _chosen(example: Example, heads: Sequence[int]) -> int:
    """The head that is meant: the one nearest to its annotated position, or else the last."""
    position = example.tags.get(f"{TAG}_head_id")
    if type(position) is int:
        return min(heads, key=lambda head: abs(head + 1 - position))
    return heads[-1]


def antecedent_sentence(example: Example) -> int | None:
    """The number of sentences from the antecedent to the current one, or None if the passage does not have it.

    Without the tag `distance`, it is the nearest sentence that has the words of the antecedent.
    """
    distance = example.tags.get("distance")
    if type(distance) is int:
        return distance if 0 <= distance < len(example.source) else None
    wanted = _letters(str(example.tags[TAG]))
    nearest = enumerate(reversed(example.source))
    return next((before for before, sentence in nearest if wanted in _letters(sentence)), None)


def _letters(text: str) -> str:
    """The words of a text in lower case, without signs and between blanks."""
    letters = "".join(sign if sign.isalnum() else " " for sign in normalize_word(text))
    return f" {' '.join(letters.split())} "


def check_context(path: Path, suite: str | Path, examples: Mapping[int, Example], passages: Sequence[Passage]) -> None:
    """Raise an error if no translation has the sentence of its antecedent. path: of the translations"""
    suite = shlex.quote(str(suite))
    distances = ((antecedent_sentence(example), passages[number]) for number, example in examples.items())
    if all(distance and distance >= len(passage) for distance, passage in distances):
        raise BadInput(
            path,
            "the antecedents are in earlier sentences, which are not translated",
            remedy=f"Translate documents, as written by: anaphora suites convert {suite} --to sources --documents",
        )


def judge_suite(
    header: Header,
    examples: Mapping[int, Example],
    passages: Sequence[Passage],
    judged: Mapping[int, Pronoun],
    align: Align,
    words: tuple[Tokenization, Tokenization],
) -> tuple[Verdict, ...]:
    """The verdicts on examples, which are named by their number in the suite.

    passages: the system's translations of all examples of the suite; judged: current sentences that are aligned
    align: aligns the other sentences; words: how they are divided, source and translation
    """
    judging = Judge.of(header)
    distances = {number: antecedent_sentence(example) for number, example in examples.items()}
    wanted: dict[tuple[int, int], tuple[str, str]] = {}  # number and distance → source and translation
    for number, example in examples.items():
        distance, passage = distances[number], passages[number]
        if number not in judged:
            wanted[number, 0] = example.source[-1], passage[-1]
        if distance and distance < len(passage):
            wanted[number, distance] = example.source[-1 - distance], passage[-1 - distance]
    aligned: dict[tuple[int, int], Sentence] = {}
    if wanted:
        source = words[0].source(one for one, _ in wanted.values()).sentences
        target = words[1].target(other for _, other in wanted.values()).sentences
        sentences = zip(source, target, align(source, target), strict=True)
        aligned = {key: Sentence(*sentence) for key, sentence in zip(wanted, sentences, strict=True)}
    verdicts = []
    for number, example in examples.items():
        distance = distances[number]
        current = judged.get(number)
        if current is None:
            own = aligned[number, 0]
            current = Pronoun(own.source, own.translation, own.alignment)
        if distance is None:
            verdicts.append(Verdict(example.id, NOT_FOUND, NOT_IN_SOURCE))
            continue
        own = Sentence(current.source, current.translation, current.alignment)
        sentence = own if distance == 0 else aligned.get((number, distance))
        verdicts.append(judge(judging, example, current, sentence, same_sentence=distance == 0))
    return tuple(verdicts)


def count(
    examples: Iterable[Example],
    verdicts: Sequence[Verdict],
    breakdowns: Sequence[str] = (),
    *,
    outcomes: Mapping[str, str] | None = None,
    untagged: int = 0,
    confidence: float = 0.95,
    judged: Judged | None = None,
) -> OwnAgreement:
    """Verdicts in all and by breakdowns. outcomes: by the reference, by the ids of examples"""
    values = [(example.tags, verdict.verdict) for example, verdict in zip(examples, verdicts, strict=True)]
    known = outcomes or {}
    return OwnAgreement(
        *by.counted(breakdowns, values, lambda numbers: _counts(numbers, confidence)),
        tuple(verdicts),
        dict(Counter(verdict.reason for verdict in verdicts if verdict.reason).most_common()),
        untagged,
        Counter((known[verdict.id], verdict.verdict) for verdict in verdicts if verdict.id in known),
        judged,
    )


def _counts(numbers: Mapping[str, int], confidence: float) -> AgreementCounts:
    agrees, disagrees, not_found, unclear = (numbers.get(verdict, 0) for verdict in VERDICTS)
    return AgreementCounts(agrees, disagrees, not_found, unclear, wilson(agrees, agrees + disagrees, confidence))


def _by_form(forms: Mapping[str, frozenset[str]]) -> dict[str, Classes]:
    """Form → classes of class → forms."""
    words = frozenset[str]().union(*forms.values())
    return {word: frozenset(name for name, own in forms.items() if word in own) for word in words}
