"""The base of all attacks: a suite whose examples refer to their originals, and reasons for skipped examples."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, TypeVar

from anaphora.annotate import Annotator
from anaphora.annotate.document import Document, Token
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages import names_with, table
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of


class Skipped(NamedTuple):
    """An example that an attack does not change, and why. kept: the new suite contains it unchanged."""

    why: str
    kept: bool = False


Change = Callable[[Example], Example | Skipped]
OnSkip = Callable[[str], None]  # called with the reason for each skipped example


def attacked_suite(suite: Suite, attacks: Iterable[tuple[str, Change]], on_skip: OnSkip | None = None) -> Suite:
    """Return a suite with the examples changed by each attack in turn.

    Every example has the tags `attack` (its name) and `attacked` (the id of the original); its other tags are those of
    the original. The id consists of both, as in the released attacks (`contracat-attack`).
    """
    attacks = tuple(attacks)

    def examples() -> Iterator[Example]:
        for name, change in attacks:
            for example in suite:
                changed = change(example)
                if isinstance(changed, Skipped):
                    if on_skip is not None:
                        on_skip(changed.why)
                    if not changed.kept:
                        continue
                    changed = example
                tags = {**changed.tags, "attack": name, "attacked": example.id}
                yield replace(changed, id=f"{name}/{example.id}", tags=tags)

    # such as contrapro-phrase-addition-he_said; several attacks of one kind have the name of the kind
    names = [name if len(attacks) == 1 else name.partition("/")[0] for name, _ in attacks]
    name = "-".join([suite.header.name, *(name.replace("/", "-") for name in dict.fromkeys(names))])
    return suite_of(replace(suite.header, name=name), examples, suite.path)


# Determiners: the beginning of a noun phrase, and its form when the noun phrase gets another owner.


@dataclass(frozen=True, slots=True)
class Determiners:
    """The determiners of a language (the table [determiners] of its data file).

    articles: possessive → the article it becomes where the owner follows the noun
    bare: (ending of the dropped determiner, of the adjective) → the adjective's strong ending
    """

    words: frozenset[str]
    articles: Mapping[str, str]
    bare: Mapping[tuple[str, str], str]

    def __contains__(self, word: str) -> bool:
        return word.lower() in self.words or self.is_possessive(word)

    def is_possessive(self, word: str) -> bool:
        return word.lower() in self.articles

    def article(self, determiner: str) -> str:
        """Return the article for a possessive, and any other determiner unchanged.

        >>> determiners_of("de").article("deiner"), determiners_of("de").article("Diese")
        ('der', 'Diese')
        """
        return self.articles.get(determiner.lower(), determiner)

    def strong(self, determiner: str, word: str) -> str:
        """Return a word of a noun phrase without its determiner: German adjectives take the strong ending.

        >>> determiners_of("de").strong("der", "alte"), determiners_of("de").strong("der", "Hut")
        ('alter', 'Hut')
        """
        if not word[:1].islower():  # a noun or a name
            return word
        for (of_determiner, of_adjective), new in self.bare.items():
            if determiner.lower().endswith(of_determiner) and word.endswith(of_adjective):
                return word.removesuffix(of_adjective) + new
        return word


@cache
def determiners_of(language: str) -> Determiners:
    """Return the determiners of a language; raise AnaphoraError if it is unknown."""
    data = table(language, "determiners")
    if data is None:
        raise AnaphoraError(
            f"the determiners of {language!r} are not known, which an antecedent needs to be extended. "
            f"Known languages: {', '.join(names_with('determiners'))}. Add a table [determiners] to {language}.toml "
            "(docs/extending.md)"
        )
    stems, endings = data.get("stems", []), data.get("endings", [])
    return Determiners(
        frozenset(data["determiners"]) | {stem + ending for stem in stems for ending in endings},
        {stem + ending: article for stem in data["possessives"] for ending, article in data["owned"].items()},
        {(determiner, adjective): new for determiner, adjective, new in data.get("bare", [])},
    )


# Which antecedents can be extended: short noun phrases with a determiner, by part-of-speech tags (ContraCAT §5.2.2).

# the sequences of the release
SEQUENCES = tuple(
    tuple(sequence.split())
    for sequence in ("PRP$ NN", "DT NN", "DT NNP", "DT JJ NN", "DT NN NN", "PRP$ JJ NN", "DT NNP NNP")
)
Tags = frozenset[str]  # the tags that a word may have
BETWEEN = frozenset({"JJ", "NN", "NNP"})
SINGULAR = frozenset({"NN", "NNP"})


def fits(words: Sequence[Tags]) -> bool:
    """Return whether the words match one of the sequences.

    >>> fits([frozenset({"DT"}), BETWEEN, SINGULAR])
    True
    """
    return any(
        len(words) == len(sequence) and all(tag in tags for tag, tags in zip(sequence, words, strict=True))
        for sequence in SEQUENCES
    )


def by_closed_classes(words: Sequence[str], determiners: Determiners, head_tag: str | None = None) -> list[Tags]:
    """Return the tags that each word can have, without annotation.

    head_tag: the Penn tag of the last word, if the suite has it
    """
    tags = [BETWEEN] * len(words)
    if words:
        first = words[0]
        known = {"PRP$"} if determiners.is_possessive(first) else {"DT"} if first in determiners else set()
        tags[-1] = frozenset({head_tag}) if head_tag else SINGULAR
        tags[0] = frozenset(known)
    return tags


def by_annotation(tokens: Sequence[Token]) -> list[Tags]:
    """Return the Penn tag of each token, derived from its universal tag and features."""
    tags = []
    for token in tokens:
        tag = {"DET": "DT", "ADJ": "JJ", "NOUN": "NN", "PROPN": "NNP"}.get(token.upos, token.upos)
        if token.upos in ("DET", "PRON") and token.features.get("Poss") == "Yes":
            tag = "PRP$"
        if token.upos in ("NOUN", "PROPN") and token.features.get("Number") == "Plur":
            tag += "S"
        tags.append(frozenset({tag}))
    return tags


# The antecedent of an example: its words in both languages, and its sentence.

TAGS = ("source_antecedent", "target_antecedent", "distance")
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Antecedent:
    """The antecedent of a pronoun.

    distance: the number of sentences between it and the current sentence
    source, target: its words in the two languages; head_tag: the Penn tag of its noun, if known
    """

    distance: int
    source: str
    target: str
    head_tag: str | None = None


Finder = Callable[[Example], Antecedent | None]


def from_tags(example: Example) -> Antecedent | None:
    """Return the antecedent from the tags of ContraPro and of mined examples, or None if one of them is missing."""
    source, target, distance = (example.tags.get(tag) for tag in TAGS)
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(distance, int)):
        return None
    tag = example.tags.get("source_antecedent_head_pos")
    # some records of ContraPro have punctuation at the end: `The bullet--`
    source, target = (re.sub(r"[^\w\s]+$", "", words.strip()).strip() for words in (source, target))
    return Antecedent(distance, source, target, tag if isinstance(tag, str) else None)


def check_tags(suite: Suite, remedy: str) -> None:
    """Raise BadInput if no example of the suite has the tags of an antecedent."""
    if not any(from_tags(example) for example in suite):
        missing = ", ".join(TAGS)
        problem = f"no example has the tags {missing}, which say where its antecedent is"
        raise BadInput(suite.path or suite.header.name, problem, remedy=remedy)


def antecedent_of(example: Example, finder: Finder = from_tags) -> tuple[Antecedent, int] | Skipped:
    """Return the antecedent of an example and the index of its sentence, or why it cannot be changed."""
    antecedent = finder(example)
    if antecedent is None:
        return Skipped("no antecedent known")
    index = len(example.source) - 1 - antecedent.distance
    return (antecedent, index) if 0 <= index < len(example.source) else Skipped("the antecedent is before the context")


def find(words: str, sentence: str) -> re.Match[str] | None:
    """Return the first match of the words in a sentence.

    Case may differ (text is truecased, records are not), and so may spaces around punctuation.
    """
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", sentence, re.IGNORECASE) if pattern else None


def antecedent_tokens(suite: Suite, annotator: Annotator, *, target: bool) -> Iterator[tuple[Example, list[Token]]]:
    """Yield the examples whose tags name the antecedent, and its tokens in the source or the right target."""

    def located() -> Iterator[tuple[Example, str, str]]:
        for example in suite:
            if not isinstance(result := antecedent_of(example), Skipped):
                antecedent, index = result
                passage = example.candidates[example.gold or 0] if target else example.source
                yield example, antecedent.target if target else antecedent.source, passage[index]

    for (example, words, _), document in annotated(located(), lambda row: [row[2]], annotator):
        sentence = document.sentences[0]
        match = find(words, sentence.text)
        tokens = zip(sentence, sentence.offsets, strict=True)
        yield example, [token for token, start in tokens if match and match.start() <= start < match.end()]


def annotated(
    items: Iterable[Item], lines: Callable[[Item], Sequence[str]], annotator: Annotator
) -> Iterator[tuple[Item, Document]]:
    """Yield items with their lines annotated; only as many are held in memory as the annotator batches."""
    kept, sent = itertools.tee(items)
    return zip(kept, annotator.annotate(list(lines(item)) for item in sent), strict=False)


# Casing: whether a suite is truecased, and the case of a new first word.

LOOK_AT = 500  # examples that are inspected
BEGINS = re.compile(r"(?:^|[.!?…:])[\s\"'„“”»«‚‘’()\[\]–—-]*$")


def is_truecased(suite: Suite) -> bool:
    """Return whether most source sentences (target sentences, if there is no source) begin with a lowercase letter."""
    small = large = 0
    for example in itertools.islice(suite, LOOK_AT):
        for sentence in example.source if any(example.source) else example.candidates[0]:
            first = next((c for c in sentence if c.isalpha()), "")
            small, large = small + first.islower(), large + first.isupper()
    return small > large


def begins_sentence(text: str, position: int) -> bool:
    """Return whether a position is at the beginning of a sentence, apart from quotation marks and dashes."""
    return BEGINS.search(text, 0, position) is not None


def capitalized(text: str) -> str:
    """Return the text with an uppercase first letter."""
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    """Return the text with a lowercase first letter."""
    return text[:1].lower() + text[1:]
