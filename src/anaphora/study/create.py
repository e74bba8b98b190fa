"""Create a study from a suite: its questions, and which annotators are asked them."""

from __future__ import annotations

import contextlib
import hashlib
import random
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.highlight import Span, differences, occurrences, replaced_pronouns
from anaphora.languages.pronouns import normalize_word, pronoun_classes, pronoun_lists
from anaphora.stats.signature import short_hash
from anaphora.study.model import (
    BAD,
    GAPS,
    OTHER,
    PAIRS,
    Annotator,
    Assignment,
    Item,
    Study,
    default_texts,
    write_study,
)
from anaphora.study.store import Answer, open_log
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite, read_native

MOST_ANNOTATORS = 1_000
DIGEST = "digest"  # the tag of a verdict's sentence and translation, hashed


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a study.

    overlap: number of annotators per item; None: every annotator answers all items
    context: number of previous sentences shown (two in Jwalapuram et al. 2019, §3.1)
    sample: ask only this many items, drawn at random
    options: the pronouns that can be put into a gap; empty: those of the language
    seed: decides the sample, who is asked what, and the orders of items and candidates
    secret_orders: draw these orders from the operating system's randomness instead, as annotators who know this program
        and the seed could compute which candidate is the reference
    """

    annotators: tuple[str, ...]
    overlap: int | None = None
    seed: int = 12345
    mode: str = PAIRS
    context: int = 2
    show_source: bool = True
    sample: int | None = None
    options: tuple[str, ...] = ()
    title: str = ""
    instructions: tuple[str, ...] = ()
    secret_orders: bool = False

    def __post_init__(self) -> None:
        if not self.annotators or len(set(self.annotators)) != len(self.annotators):
            raise AnaphoraError("there must be at least one annotator, and their names must differ")
        if any(not name.strip() or not name.isprintable() or len(name) > 80 for name in self.annotators):
            raise AnaphoraError("annotator names must be non-empty, printable and at most 80 characters long")
        if len(self.annotators) > MOST_ANNOTATORS:
            raise AnaphoraError(f"{len(self.annotators):,} annotators: at most {MOST_ANNOTATORS:,} are possible")
        if self.overlap is not None and not 1 <= self.overlap <= len(self.annotators):
            number = len(self.annotators)
            raise AnaphoraError(f"an overlap of {self.overlap} is not possible with {number:,} annotator(s)")


def make_study(suite: Suite, design: Design) -> Study:
    """Return the study of a suite; the same suite, design and seed give the same questions in the same orders."""
    digest = hashlib.sha256()
    path = suite.path or Path(suite.header.name)
    header = suite.header
    options = gap_options(header.target_language, header.languages, design.options) if design.mode == GAPS else ()
    examples = list(suite.examples(digest))
    if twice := next((name for name, n in Counter(example.id for example in examples).items() if n > 1), None):
        remedy = f"See all problems with: anaphora suites validate {path}"
        raise BadInput(path, f"the id {twice!r} occurs twice", remedy=remedy)
    if design.mode == PAIRS:
        items = pair_items(examples, path, design)
    else:
        items = gap_items(examples, path) if design.mode == GAPS else verdict_items(examples, path)
    if not items:
        raise BadInput(path, "the suite has no examples, so there is nothing to annotate")
    if design.sample is not None and design.sample < len(items):
        chosen = set(random.Random(design.seed).sample(range(len(items)), design.sample))
        items = [item for k, item in enumerate(items) if k in chosen]
    items = [_with_context(item, design.context) for item in items]
    overlap = design.overlap or len(design.annotators)
    candidates = 2 if design.mode == PAIRS else 1
    texts = default_texts(design.mode)
    return Study(
        id=secrets.token_hex(8),
        mode=design.mode,
        title=design.title or texts["title"],
        source_language=header.source_language,
        target_language=header.target_language,
        instructions=design.instructions or texts["instructions"],
        show_source=design.show_source,
        options=options,
        forms=gap_forms(header.target_language, header.languages, options) if design.mode == GAPS else {},
        overlap=overlap,
        seed=design.seed,
        suite=f"{header.name}@{digest.hexdigest()[:12]}",
        items=tuple(items),
        annotators=tuple(
            assign([i.id for i in items], design.annotators, overlap, candidates, design.seed, design.secret_orders)
        ),
    )


def _with_context(item: Item, context: int) -> Item:
    """Return an item with this many previous sentences; a verdict needs those back to the antecedent in any case."""
    distance = item.tags.get("distance")
    back = distance if item.tags.get(DIGEST) and type(distance) is int else 0
    keep = slice(-1 - max(context, back), None)
    return replace(item, source=item.source[keep], candidates=tuple(c[keep] for c in item.candidates))


def pair_items(examples: Iterable[Example], path: Path, design: Design) -> list[Item]:
    """Return pairs of the reference (gold, else the first candidate) and another candidate, drawn from several."""
    rng = random.Random(design.seed)
    items = []
    for example in examples:
        gold = example.gold or 0
        shown = [[sentence.split() for sentence in candidate] for candidate in example.candidates]
        others = [k for k, words in enumerate(shown) if words != shown[gold]]  # spaces are not seen on a page
        if not others:
            problem = f"example {example.id!r} does not have two distinct candidates"
            raise BadInput(path, problem, remedy="A pair is two translations of one sentence.")
        kept = sorted((gold, others[0] if len(others) == 1 else rng.choice(others)))
        candidates = tuple(example.candidates[k] for k in kept)
        right = kept.index(gold)
        reference, other = candidates[right][-1], candidates[1 - right][-1]
        marks = _marks(candidates[0][-1], candidates[1][-1])
        tagged = [example.tags.get(name) for name in ("reference_pronoun", "system_pronoun")]
        pair = replaced_pronouns(reference, other)
        if len(example.candidates) == 2 and all(isinstance(name, str) and name for name in tagged):
            pair = normalize_word(str(tagged[0])), normalize_word(str(tagged[1]))
        items.append(Item(example.id, example.source, candidates, right, marks, pair, tags=example.tags))
    return items


def _marks(one: str, other: str) -> tuple[tuple[Span, ...], ...]:
    """Return the words in which two candidates differ, found in the same way whichever is the reference."""
    if one <= other:
        return differences(one, other)
    return differences(other, one)[::-1]


# Assignment of items to annotators: balanced loads, and pairs of annotators mixed.


def assign(
    items: Sequence[str], names: Sequence[str], overlap: int, candidates: int, seed: int, secret_orders: bool = False
) -> list[Annotator]:
    """Assign items to annotators.

    Each item goes to the annotators with the fewest items so far and, among these, to those who have shared the fewest
    items with the annotators it already has; ties are broken at random. Loads differ by at most one. Each annotator
    gets the items in an order of their own. In half of them, give or take one, the first candidate is shown first, in
    the others the second. If these orders are secret, the seed decides only who gets what.
    """
    rng = random.Random(seed)
    dealt = list(items)
    rng.shuffle(dealt)
    everyone = range(len(names))
    load = [0 for _ in everyone]
    shared = [[0 for _ in everyone] for _ in everyone]  # items that two annotators have in common
    given: list[list[str]] = [[] for _ in everyone]
    more = len(dealt) * overlap + 1  # than any number of shared items
    for item in dealt:
        chosen: list[int] = []
        rest = list(everyone)
        cost = [more * number for number in load]  # the load decides, then the items shared with those chosen
        while len(chosen) < overlap:
            order = list(rest)
            rng.shuffle(order)
            best = min(order, key=cost.__getitem__)
            rest.remove(best)
            chosen.append(best)
            if overlap < len(names):  # otherwise everyone is chosen, and shares everything with everyone
                cost = [value + common for value, common in zip(cost, shared[best], strict=True)]
                for other in chosen[:-1]:
                    shared[best][other] += 1
                    shared[other][best] += 1
        for one in chosen:
            load[one] += 1
            given[one].append(item)
    orders = random.SystemRandom() if secret_orders else rng
    return [Annotator(name, _shown(given[k], candidates, orders)) for k, name in enumerate(names)]


def _shown(items: list[str], candidates: int, rng: random.Random) -> tuple[Assignment, ...]:
    """Return the items of an annotator in random order, with balanced orders of two candidates."""
    rng.shuffle(items)
    if candidates == 1:
        return tuple(Assignment(item, (0,)) for item in items)
    swapped = [k % 2 == 1 for k in range(len(items))]
    if len(items) % 2 and rng.random() < 0.5:
        swapped = [not swap for swap in swapped]
    rng.shuffle(swapped)
    return tuple(Assignment(item, (1, 0) if swap else (0, 1)) for item, swap in zip(items, swapped, strict=True))


# Gap filling (DiscoMT 2015; APT §3.1): translations with a hidden pronoun, and the options of their language.


def gap_options(language: str, languages: str, chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the options: the chosen words, else the classes of the shared tasks, else those of the pronoun lists."""
    if chosen:
        words = tuple(dict.fromkeys(normalize_word(word.strip()) for word in chosen if word.strip()))
        if taken := next((word for word in words if word in (OTHER, BAD)), None):
            raise AnaphoraError(f"{taken!r} is always an option. Leave it out")
        if wrong := next((word for word in words if "|" in word or "," in word), None):
            raise AnaphoraError(
                f"the option {wrong!r} contains | or a comma, which separate options in exports. Choose another"
            )
        if not words:
            raise AnaphoraError("no option was given. Name the pronouns, or leave the option out")
        return words
    if classes := pronoun_classes(language):
        return tuple(classes)
    lists = pronoun_lists(languages)
    return tuple(dict.fromkeys(lists.canonical(word) for word in lists.reference_side or lists.target))


def gap_forms(language: str, languages: str, options: Sequence[str]) -> dict[str, str]:
    """Return other forms of the options: ça is cela, c' is ce."""
    forms = {form: name for name, forms in pronoun_classes(language).items() for form in forms}
    with contextlib.suppress(AnaphoraError):  # there are no lists for these languages
        for group in pronoun_lists(languages).identical:
            named = [word for word in group if word in options]
            if len(named) == 1:
                forms |= dict.fromkeys(group, named[0])
    return {form: name for form, name in forms.items() if name in options and form not in options}


def gap_items(examples: Iterable[Example], path: Path) -> list[Item]:
    """Return one item per candidate, with its pronoun hidden.

    The tag `pronoun` says which word that is (a list where there are several candidates), `pronoun_start` at which
    character it begins, which is needed where the word occurs more than once. `system`, `sentence` and `position`
    say whose translation of which pronoun it is.
    """
    items = []
    for example in examples:
        several = len(example.candidates) > 1
        for k, candidate in enumerate(example.candidates):
            name = f"{example.id}#{k}" if several else example.id
            pronoun = str(_of(example, "pronoun", k) or "")
            span = _gap(candidate[-1], pronoun, _of(example, "pronoun_start", k), name, path)
            texts: dict[str, Any] = _origin(example, k)
            marks = ((span,),)
            items.append(
                Item(name, example.source, (candidate,), 0, marks, pronoun=pronoun, **texts, tags=example.tags)
            )
    return items


def _origin(example: Example, k: int = 0) -> dict[str, str]:
    """Return whose translation a candidate is, of which sentence, and which of its pronouns is meant."""
    values = {tag: _of(example, tag, k) for tag in ("system", "sentence", "position")}
    texts = {tag: "" if value is None else str(value) for tag, value in values.items()}
    return texts | {"sentence": texts["sentence"] or example.id}


def _of(example: Example, tag: str, k: int) -> Any:
    """Return a tag of a candidate: the k-th of a list, or the one for all."""
    value = example.tags.get(tag, example.tags.get(f"{tag}s"))
    return value[k] if isinstance(value, list) and k < len(value) else value


def _gap(sentence: str, pronoun: str, start: Any, name: str, path: Path) -> Span:
    if not pronoun:
        remedy = "The tag pronoun names the word of the translation to hide."
        raise BadInput(path, f"{name!r} has no tag pronoun", remedy=remedy)
    if type(start) is int:
        span = start, start + len(pronoun)
        if start < 0 or normalize_word(sentence[slice(*span)]) != normalize_word(pronoun):
            raise BadInput(path, f"{name!r}: {pronoun!r} is not at character {start} of the translation")
        return span
    spans = occurrences(pronoun, sentence)
    if len(spans) != 1:
        times = "not in the translation" if not spans else f"{len(spans)} times in the translation"
        remedy = "Say where it begins with the tag pronoun_start." if spans else ""
        raise BadInput(path, f"{name!r}: {pronoun!r} is {times}", remedy=remedy)
    return spans[0]


# Verdicts: is the pronoun of a translation right? The translations are those that a program is unsure of.


def verdict_items(examples: Iterable[Example], path: Path) -> list[Item]:
    """Return one item per example, which has one candidate, with the pronouns of source and translation marked.

    The tags `system`, `sentence` and `position` say whose translation of what it is; `source_pronoun_start` and
    `pronoun_start` at which character the pronouns begin, if a program found them.
    """
    items = []
    for example in examples:
        if len(example.candidates) != 1:
            problem = f"example {example.id!r} has {len(example.candidates)} candidates, a verdict is about one"
            remedy = "Create it from the details of `generative` (FILE.jsonl) or `apt`, with --only."
            raise BadInput(path, problem, remedy=remedy)
        sentence = example.candidates[0][-1]
        digest = example.tags.get(DIGEST) or passage_digest(example.source, example.candidates[0])
        texts: dict[str, Any] = _origin(example)
        items.append(
            Item(
                example.id,
                example.source,
                example.candidates,
                0,
                (_marked(example, "pronoun", sentence, path),),
                pronoun=str(example.tags.get("pronoun") or ""),
                **texts,
                tags={**example.tags, DIGEST: digest},
                source_marks=_marked(example, "source_pronoun", example.source[-1], path),
            )
        )
    return items


def _marked(example: Example, tag: str, sentence: str, path: Path) -> tuple[Span, ...]:
    """Return the span of a pronoun whose place is known; one without a place is not marked."""
    pronoun, start = example.tags.get(tag), example.tags.get(f"{tag}_start")
    if not isinstance(pronoun, str) or not pronoun or type(start) is not int:
        return ()
    return (_gap(sentence, pronoun, start, example.id, path),)


def text_digest(source: str, translation: str) -> str:
    """Return the hash by which answers know the sentence and the translation that they are about."""
    return short_hash(" ".join(text.split()) for text in (source, translation))


def passage_digest(source: Passage, translation: Passage) -> str:
    """Return the hash of a sentence and its translation, both with their context."""
    return text_digest(" ".join(source), " ".join(translation[-len(source) :]))


# A made-up study with made-up answers, which shows what the pages and tables look like.

EXAMPLE_ANSWERS = ("reference", "other", "equal", "neither")
EXAMPLE_WEIGHTS = {  # how often an annotator gives each answer, by the first part of an item's id
    "0": (95, 2, 2, 1),
    "1": (70, 5, 23, 2),
    "2": (92, 3, 2, 3),
    "3": (38, 22, 38, 2),
}


def write_example(folder: Path) -> Study:
    """Write a study of 56 pairs with three annotators, who have answered nearly all of it."""
    suite = read_native(Path(__file__).with_name("example.jsonl"))
    title = "An example: which pronoun fits?"
    study = make_study(suite, Design(annotators=("Anna", "Ben", "Carla"), seed=7, title=title))
    write_study(study, folder)
    rng = random.Random(7)
    with contextlib.closing(open_log(study, folder)) as log:
        for annotator in study.annotators:
            for number, one in enumerate(annotator.assignments[:-2]):
                answer = rng.choices(EXAMPLE_ANSWERS, EXAMPLE_WEIGHTS[one.item.partition(".")[0]])[0]
                letters = {"reference": "ab"[one.order.index(0)], "other": "ab"[one.order.index(1)]}
                choice, seconds = (letters.get(answer, answer),), round(rng.uniform(2, 15), 1)
                request = f"example-{number:04d}"
                log.append(Answer(annotator.name, one.item, choice, one.order, request, seconds, elapsed=seconds))
    return study
