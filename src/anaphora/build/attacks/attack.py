"""What all attacks share: a new suite whose examples name their originals, and a count of what was left alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from anaphora.annotate.document import Token
from anaphora.build.attacks.presets import Determiners
from anaphora.core.errors import BadInput
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite, suite_of


class Skipped(NamedTuple):
    """An example that an attack leaves alone, and why; `kept`: it is in the new suite all the same."""

    why: str
    kept: bool = False


Change = Callable[[Example], Example | Skipped]
OnSkip = Callable[[str], None]  # hears why an example was left alone


def attacked_suite(suite: Suite, attacks: Iterable[tuple[str, Change]], on_skip: OnSkip | None = None) -> Suite:
    """The examples of a suite, changed by each attack in turn.

    Every example has the tags `attack` (which one) and `attacked` (the id of the original); its other tags are those of
    the original. The id is made of both, as `contracat-attack` makes it for the released attacks.
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

    return suite_of(replace(suite.header, name=suite_name(suite, [name for name, _ in attacks])), examples, suite.path)


def suite_name(suite: Suite, attacks: list[str]) -> str:
    """`contrapro-phrase-addition-he_said`; of several attacks of one kind only the kind is named."""
    kinds = list(dict.fromkeys(name.partition("/")[0] for name in attacks))
    words = attacks if len(attacks) == 1 else kinds
    return "-".join([suite.header.name, *(word.replace("/", "-") for word in words)])


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
    """Whether the words can be one of the sequences.

    >>> fits([frozenset({"DT"}), BETWEEN, SINGULAR])
    True
    """
    return any(
        len(words) == len(sequence) and all(tag in tags for tag, tags in zip(sequence, words, strict=True))
        for sequence in SEQUENCES
    )


def by_closed_classes(words: Sequence[str], determiners: Determiners, head_tag: str | None = None) -> list[Tags]:
    """The tags that words may have, without annotation.

    head_tag: the Penn tag of the last word, where the suite has it
    """
    tags = [BETWEEN] * len(words)
    if words:
        first = words[0]
        known = {"PRP$"} if determiners.is_possessive(first) else {"DT"} if first in determiners else set()
        tags[-1] = frozenset({head_tag}) if head_tag else SINGULAR
        tags[0] = frozenset(known)
    return tags


def by_annotation(tokens: Sequence[Token]) -> list[Tags]:
    """The Penn tag of each token, from its universal tag and features."""
    return [frozenset({_penn(token)}) for token in tokens]


def _penn(token: Token) -> str:
    plural = token.features.get("Number") == "Plur"
    if token.upos in ("DET", "PRON") and token.features.get("Poss") == "Yes":
        return "PRP$"
    if token.upos in ("NOUN", "PROPN"):
        return ("NN" if token.upos == "NOUN" else "NNP") + ("S" if plural else "")
    return {"DET": "DT", "ADJ": "JJ"}.get(token.upos, token.upos)


# Where the antecedent of an example is: its words in both languages, and the sentence they are in.

TAGS = ("source_antecedent", "target_antecedent", "distance")


@dataclass(frozen=True, slots=True)
class Antecedent:
    """What a pronoun stands for.

    distance: how many sentences before the current one it is
    source, target: its words in the two languages; head_tag: the Penn tag of its noun, where it is known
    """

    distance: int
    source: str
    target: str
    head_tag: str | None = None


def from_tags(example: Example) -> Antecedent | None:
    """The antecedent as the tags of ContraPro and of mined items have it; None where one of them is missing."""
    source, target, distance = (example.tags.get(tag) for tag in TAGS)
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(distance, int)):
        return None
    tag = example.tags.get("source_antecedent_head_pos")
    return Antecedent(distance, _clean(source), _clean(target), tag if isinstance(tag, str) else None)


def check_tags(suite: Suite, remedy: str) -> None:
    """A suite none of whose examples says what its antecedent is cannot be attacked there."""
    if not any(from_tags(example) for example in suite):
        missing = ", ".join(TAGS)
        problem = f"no example has the tags {missing}, which say where its antecedent is"
        raise BadInput(suite.path or suite.header.name, problem, remedy=remedy)


def sentence_of(passage: Passage, antecedent: Antecedent) -> int | None:
    """The index of the antecedent's sentence in a passage, if it is in it."""
    index = len(passage) - 1 - antecedent.distance
    return index if 0 <= index < len(passage) else None


def find(words: str, sentence: str) -> re.Match[str] | None:
    """Where words are in a sentence, the first place if there are several.

    Capital letters may differ (text is truecased, records are not), and so may spaces around signs.
    """
    pattern = r"\s*".join(re.escape(word) for word in words.split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", sentence, re.IGNORECASE) if pattern else None


def _clean(words: str) -> str:
    """Without the signs that some records of ContraPro have at the end: `The bullet--`."""
    return re.sub(r"[^\w\s]+$", "", words.strip()).strip()


# Capital letters: whether a suite's text is truecased, and what a new beginning of a sentence looks like then.

LOOK_AT = 500  # examples; the rest is like them
BEGINS = re.compile(r"(?:^|[.!?…:])[\s\"'„“”»«‚‘’()\[\]–—-]*$")


def is_truecased(suite: Suite) -> bool:
    """Whether most of the source sentences begin with a small letter (of the target's where there is no source)."""
    small = large = 0
    for example in itertools.islice(suite, LOOK_AT):
        for sentence in example.source if any(example.source) else example.candidates[0]:
            first = next((c for c in sentence if c.isalpha()), "")
            small, large = small + first.islower(), large + first.isupper()
    return small > large


def begins_sentence(text: str, place: int) -> bool:
    """Whether what stands at this place begins a sentence, quotation marks and dashes aside."""
    return BEGINS.search(text, 0, place) is not None


def capitalized(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def lowered(text: str) -> str:
    """The text with a small first letter."""
    return text[:1].lower() + text[1:]
