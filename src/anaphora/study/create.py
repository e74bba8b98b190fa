"""Create a study from a suite: its questions, and which annotators are asked them."""

from __future__ import annotations

import contextlib
import hashlib
import html
import itertools
import random
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from anaphora.align.tokenize import APOSTROPHES as SIGNS
from anaphora.align.tokenize import Tokenization, looks_tokenized
from anaphora.core.columns import Record, read_columns
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.highlight import Span, differences, occurrences, replaced_pronouns
from anaphora.languages.pronouns import normalize_word, pronoun_classes, pronoun_lists
from anaphora.study.model import BAD, GAPS, OTHER, PAIRS, Annotator, Assignment, Item, Study, default_texts, write_study
from anaphora.study.store import Answer, open_log
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, read_native, suite_of


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a study.

    overlap: number of annotators per item; None: every annotator answers all items
    context: number of previous sentences shown (two in Jwalapuram et al. 2019, §3.1)
    sample: ask only this many items, drawn at random
    options: the pronouns that can be put into a gap; empty: those of the language
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

    def __post_init__(self) -> None:
        if not self.annotators or len(set(self.annotators)) != len(self.annotators):
            raise AnaphoraError("there must be at least one annotator, and their names must differ")
        if any(not name.strip() or not name.isprintable() or len(name) > 80 for name in self.annotators):
            raise AnaphoraError("annotator names must be non-empty, printable and at most 80 characters long")
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
    items = gap_items(examples, path) if design.mode == GAPS else pair_items(examples, path, design)
    if not items:
        raise BadInput(path, "there is nothing to ask: the suite has no examples")
    if design.sample is not None and design.sample < len(items):
        chosen = set(random.Random(design.seed).sample(range(len(items)), design.sample))
        items = [item for k, item in enumerate(items) if k in chosen]
    keep = slice(-1 - design.context, None)
    items = [replace(i, source=i.source[keep], candidates=tuple(c[keep] for c in i.candidates)) for i in items]
    overlap = design.overlap or len(design.annotators)
    candidates = 1 if design.mode == GAPS else 2
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
        annotators=tuple(assign([i.id for i in items], design.annotators, overlap, candidates, design.seed)),
    )


def pair_items(examples: Iterable[Example], path: Path, design: Design) -> list[Item]:
    """Return pairs of the reference (gold, else the first candidate) and another candidate, drawn from several."""
    rng = random.Random(design.seed)
    items = []
    for example in examples:
        gold = example.gold or 0
        others = [k for k, candidate in enumerate(example.candidates) if candidate != example.candidates[gold]]
        if not others:
            problem = f"example {example.id!r} does not have two distinct candidates"
            raise BadInput(path, problem, remedy="A pair is two translations of one sentence.")
        kept = sorted((gold, others[0] if len(others) == 1 else rng.choice(others)))
        candidates = tuple(example.candidates[k] for k in kept)
        right = kept.index(gold)
        reference, other = candidates[right][-1], candidates[1 - right][-1]
        marks = differences(candidates[0][-1], candidates[1][-1])
        tagged = [example.tags.get(name) for name in ("reference_pronoun", "system_pronoun")]
        pair = replaced_pronouns(reference, other)
        if len(example.candidates) == 2 and all(isinstance(name, str) and name for name in tagged):
            pair = normalize_word(str(tagged[0])), normalize_word(str(tagged[1]))
        items.append(Item(example.id, example.source, candidates, right, marks, pair, tags=example.tags))
    return items


# Assignment of items to annotators: balanced loads, and pairs of annotators mixed.


def assign(items: Sequence[str], names: Sequence[str], overlap: int, candidates: int, seed: int) -> list[Annotator]:
    """Assign items to annotators.

    Each item goes to the annotators with the fewest items so far and, among these, to those who have shared the fewest
    items with the annotators it already has; ties are broken at random. Loads differ by at most one. Each annotator
    gets the items in an order of their own. In half of them, give or take one, the first candidate is shown first, in
    the others the second.
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
    return [Annotator(name, _shown(given[k], candidates, rng)) for k, name in enumerate(names)]


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
            origin = {tag: _of(example, tag, k) for tag in ("system", "sentence", "position")}
            texts: dict[str, Any] = {tag: "" if value is None else str(value) for tag, value in origin.items()}
            texts["sentence"] = texts["sentence"] or example.id
            marks = ((span,),)
            items.append(
                Item(name, example.source, (candidate,), 0, marks, pronoun=pronoun, **texts, tags=example.tags)
            )
    return items


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
        if normalize_word(sentence[slice(*span)]) != normalize_word(pronoun):
            raise BadInput(path, f"{name!r}: {pronoun!r} is not at character {start} of the translation")
        return span
    spans = occurrences(pronoun, sentence)
    if len(spans) != 1:
        times = "not in the translation" if not spans else f"{len(spans)} times in the translation"
        remedy = "Say where it begins with the tag pronoun_start." if spans else ""
        raise BadInput(path, f"{name!r}: {pronoun!r} is {times}", remedy=remedy)
    return spans[0]


def suite_of_details(
    details: Path, source: Path, hypotheses: Sequence[Path], names: Sequence[str], languages: str
) -> Suite:
    """Return the gaps of `anaphora apt --details`: every pronoun that has a counterpart in a translation.

    The texts are those that `apt` read, plain or tokenized; they are shown as plain text.
    """
    sources, *lines = read_parallel(source, *hypotheses)
    table = read_columns(details)
    table.require(["system", "sentence", "position", "candidate_position", "candidate"], "apt --details writes them.")
    first, _, second = languages.partition("-")
    shown = plain_text(sources, first, tokenized=looks_tokenized(sources))
    texts = {
        name: _Translation.of(text, [r for r in table.records if r.cells["system"] == name], second)
        for name, text in zip(names or map(str, hypotheses), lines, strict=True)
    }

    def examples() -> Iterator[Example]:
        return (_detail(record, shown, texts) for record in table.records if record.cells["candidate"])

    return suite_of(Header(details.stem, first, second), examples, details)


@dataclass(frozen=True, slots=True)
class _Translation:
    """A translation: its sentences as the words that `apt` counted, and as they are shown."""

    words: Sequence[Sequence[str]]
    shown: Sequence[str]

    @classmethod
    def of(cls, lines: Sequence[str], records: Sequence[Record], language: str) -> _Translation:
        """Find the tokenization in which every pronoun of the details is at its position."""
        tokenized = looks_tokenized(lines)
        shown = plain_text(lines, language, tokenized=tokenized)
        wanted = [record.cells for record in records if record.cells["candidate"]]
        # what `apt` may have done: no tokenization or Moses', on normalized or (0.1.0) raw text
        for how, normalize in itertools.product(("none",) if tokenized else ("moses", "none"), (True, False)):
            words = Tokenization(how, normalize, ("", language)).target(lines).sentences
            if all(_word(cells, words) for cells in wanted):
                return cls(words, shown)
        return cls([line.split() for line in lines], shown)


def _word(cells: Mapping[str, str], words: Sequence[Sequence[str]]) -> tuple[int, int, int] | None:
    """Return sentence, word and character at which a pronoun of the details begins; None if it is not there."""
    try:
        number, position = int(cells["sentence"]), int(cells["candidate_position"].split()[0])
        offset = words[number][position].translate(APOSTROPHES).lower().index(_pronoun(cells))
    except (ValueError, IndexError):
        return None
    return number, position, offset


def _pronoun(cells: Mapping[str, str]) -> str:
    return cells["candidate"].split()[0].translate(APOSTROPHES).lower()


def _detail(record: Record, sources: Sequence[str], texts: Mapping[str, _Translation]) -> Example:
    cells = record.cells
    if cells["system"] not in texts:
        problem = f"no translation of the system {cells['system']!r}"
        remedy = f"Name the translations with --name, in their order. There are {', '.join(texts)}."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    text, length = texts[cells["system"]], len(_pronoun(cells))
    begin = _word(cells, text.words)
    if begin is None:
        problem = f"{cells['candidate']!r} is not word {cells['candidate_position']} of line {cells['sentence']}"
        remedy = "Give the texts that `apt` read (words and sentences count from 0)."
        raise BadInput(record.path, problem, line=record.line, remedy=remedy)
    number, position, offset = begin
    span = find_word(text.shown[number], text.words[number], position, offset, length)
    if span is None:
        problem = f"line {cells['sentence']} is not made of its words, {cells['candidate']!r} among them"
        raise BadInput(record.path, problem, line=record.line, remedy="Tokenize the text before `apt`, and give that.")
    current = (number - 2, number - 1, number)
    passage = tuple(text.shown[k] if k >= 0 else "" for k in current)
    before = tuple(sources[k] if k >= 0 else "" for k in current)
    tags = {name: cells[name] for name in ("system", "sentence", "position")}
    name = f"{cells['system']}/{cells['sentence']}.{cells['position'].replace(' ', '+')}"
    hidden = passage[-1][slice(*span)]
    return Example(name, before, (passage,), 0, {**tags, "pronoun": hidden, "pronoun_start": span[0]})


# Detokenized sentences, and where a word of the tokenized sentence is in them.

APOSTROPHES = str.maketrans(dict.fromkeys(SIGNS, "'"))
SPACE_BEFORE_NOT = re.compile(r"(?<=\w) (?=n't\b)")  # is n't: Moses' rules leave it


def plain_text(lines: Sequence[str], language: str, *, tokenized: bool) -> list[str]:
    """Return plain lines; those of a tokenized text are detokenized by Moses' rules for the language."""
    plain = [" ".join(html.unescape(line).split()) for line in lines]
    if not tokenized:
        return plain
    try:
        from sacremoses import MosesDetokenizer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        problem = "tokenized text needs sacremoses, which is not installed"
        raise AnaphoraError(f'{problem}. Install it with: pip install "anaphora[align]"') from None
    together = MosesDetokenizer(lang=language)
    # the rules expect a straight apostrophe; the original one is restored
    joined = (_like(line, together.detokenize(line.translate(APOSTROPHES).split())) for line in plain)
    return [SPACE_BEFORE_NOT.sub("", line) for line in joined]


def _like(line: str, joined: str) -> str:
    """Return the joined text with the characters of its line, if only spaces differ."""
    signs = iter("".join(line.split()))
    if "".join(line.split()).translate(APOSTROPHES) != "".join(joined.split()):
        return joined
    return "".join(sign if sign.isspace() else next(signs) for sign in joined)


def find_word(shown: str, words: Sequence[str], number: int, offset: int, length: int) -> Span | None:
    """Return where some characters of a word are in the detokenized sentence; None if it does not have them."""
    places = [index for index, sign in enumerate(shown) if not sign.isspace()]
    ours = "".join(words).translate(APOSTROPHES)
    theirs = "".join(shown[index] for index in places).translate(APOSTROPHES)
    start = sum(map(len, words[:number])) + offset
    for a, b, size in SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks():
        if a <= start and start + length <= a + size:
            first = b + start - a
            return places[first], places[first + length - 1] + 1
    return None


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
