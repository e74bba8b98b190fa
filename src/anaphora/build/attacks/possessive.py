"""Possessive extension (ContraCAT §5.2.2, Table 5): the antecedent gets an owner, *the hat* becomes *Maria's hat*.

The sentence with the antecedent is changed in the source and in every candidate; an example is attacked only if all of
them can be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora.annotate import Annotator, load_annotator
from anaphora.annotate.document import Document, Mention
from anaphora.build.attacks.attack import (
    Antecedent,
    Determiners,
    Finder,
    OnSkip,
    Skipped,
    Tags,
    annotated,
    antecedent_of,
    antecedent_tokens,
    attacked_suite,
    begins_sentence,
    by_annotation,
    by_closed_classes,
    capitalized,
    check_tags,
    determiners_of,
    find,
    fits,
    from_tags,
    is_truecased,
    lowered,
)
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.coref import Link, Linker, load_linker
from anaphora.languages.attack_presets import for_languages, preset, preset_file
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Suite

PLACES = ("before", "after")
AFTER = ("of", "von", "vom", "des", "der", "meines", "meiner", "eines", "einer")  # such owners follow the noun
Tagger = Callable[[Example, Antecedent], Sequence[Tags] | None]  # the tags that the source antecedent's words may have


@dataclass(frozen=True, slots=True)
class Owner:
    """The words of an owner in one language, which replace the determiner or follow the noun phrase."""

    words: str
    place: str


@dataclass(frozen=True, slots=True)
class Possessive:
    """An owner in each language."""

    name: str
    owners: Mapping[str, Owner]


def possessive_preset(name: str, file: Path | None = None) -> Possessive:
    """Return a row of Table 5, or an owner of the user's file."""
    owners = {}
    for language, value in preset("possessive", name, file).items():
        if language == "table":
            continue
        positions = list(value) if isinstance(value, dict) else []
        if len(positions) != 1 or positions[0] not in PLACES or not isinstance(value[positions[0]], str):
            remedy = f'Write for each language where its words go: {language}.before = "…" or {language}.after = "…".'
            raise BadInput(preset_file("possessive", name, file), f"{name}.{language} is not an owner", remedy=remedy)
        owners[language] = Owner(value[positions[0]], positions[0])
    return Possessive(name, owners)


def own_possessive(name: str, languages: tuple[str, str], phrases: tuple[str, str]) -> Possessive:
    """Return a custom owner: *of …* and German *von …*, *des …* follow the noun, all others precede it."""
    owners = {}
    for language, words in zip(languages, phrases, strict=True):
        owners[language] = Owner(words, "after" if words.split()[0].lower() in AFTER else "before")
    return Possessive(name, owners)


def possessive_extension(
    suite: Suite,
    possessives: Sequence[Possessive],
    *,
    truecased: bool | None = None,
    antecedents: Finder | None = None,
    tagger: Tagger | None = None,
    on_skip: OnSkip | None = None,
) -> Suite:
    """Return the examples whose antecedent can be extended, with each of the owners.

    truecased: whether sentences begin with a lowercase letter; None: like most sentences of the suite
    antecedents: finds antecedents (default: from the tags); tagger: tags their words (default: by closed classes)
    """
    header = suite.header
    if antecedents is None:
        check_tags(suite, "Find the antecedents with --annotate-source and --annotate-target, or take a mined suite.")
    languages = header.source_language, header.target_language
    source, target = map(determiners_of, languages)
    small = is_truecased(suite) if truecased is None else truecased
    changes = []
    for possessive in possessives:
        owners = for_languages(possessive.owners, *languages, f"the owner {possessive.name!r}")
        extender = _Extender(owners[0], owners[1], source, target, small, antecedents or from_tags, tagger)
        changes.append((f"possessive-extension/{possessive.name}", extender))
    return attacked_suite(suite, changes, on_skip)


@dataclass(frozen=True, slots=True)
class _Extender:
    """Extends the antecedent of an example, or returns why it cannot."""

    source_owner: Owner
    target_owner: Owner
    source: Determiners
    target: Determiners
    truecased: bool
    antecedents: Finder
    tagger: Tagger | None

    def __call__(self, example: Example) -> Example | Skipped:
        located = antecedent_of(example, self.antecedents)
        if isinstance(located, Skipped):
            return located
        antecedent, index = located
        if why := self._unfit(example, antecedent):
            return Skipped(why)
        source = self._extended(example.source, index, antecedent.source, self.source_owner, self.source)
        targets = [
            self._extended(candidate, index, antecedent.target, self.target_owner, self.target)
            for candidate in example.candidates
        ]
        changed = tuple(target for target in targets if target is not None)
        if source is None or len(changed) < len(targets):
            return Skipped("the antecedent's words are not in its sentence")
        return replace(example, source=source, candidates=changed)

    def _unfit(self, example: Example, antecedent: Antecedent) -> str | None:
        source, target = antecedent.source.split(), antecedent.target.split()
        if len(source) != len(target):
            return "antecedents of different length in the two languages"
        if not target or target[0] not in self.target:
            return "the target antecedent has no determiner"
        tags = self.tagger(example, antecedent) if self.tagger is not None else None
        if tags is None:
            tags = by_closed_classes(source, self.source, antecedent.head_tag)
        return None if fits(tags) else "the source antecedent is not determiner (adjective) noun"

    def _extended(
        self, passage: Passage, index: int, words: str, owner: Owner, determiners: Determiners
    ) -> Passage | None:
        sentence = passage[index] if index < len(passage) else ""  # a candidate may lack sentences of its source
        match = find(words, sentence)
        if match is None:
            return None
        phrase = extended(match.group(), owner, determiners)
        capital = not self.truecased and match.group()[0].isupper() and begins_sentence(sentence, match.start())
        phrase = capitalized(phrase) if capital else phrase
        return (*passage[:index], sentence[: match.start()] + phrase + sentence[match.end() :], *passage[index + 1 :])


def extended(phrase: str, owner: Owner, determiners: Determiners) -> str:
    """Return a noun phrase with an owner; it begins with a lowercase letter unless it begins with a name.

    >>> extended("Dein alter Hut", Owner("von der Frau", "after"), determiners_of("de"))
    'ein alter Hut von der Frau'
    """
    determiner, *words = phrase.split()
    rest = phrase[len(determiner) :]
    if owner.place == "after":
        return f"{lowered(determiners.article(determiner))}{rest} {owner.words}"
    for word in words:
        rest = rest.replace(f" {word} ", f" {determiners.strong(determiner, word)} ", 1)
    return owner.words + rest


# Antecedents and tags from annotation, for suites without tags. An antecedent is accepted if the pronoun of the source
# and that of the right translation, resolved independently, have antecedents in the same sentence.


CONFIDENCE = 0.5  # least confidence of the link in each language


def by_annotators(suite: Suite, source: str | None, target: str | None) -> tuple[Finder | None, Tagger | None]:
    """Return functions that find the antecedents of a suite and tag their words; None stands for the default.

    source, target: the specs of annotators. A suite whose tags name its antecedents needs only that of the source.
    """
    header = suite.header
    if any(from_tags(example) for example in suite):
        if source is None:
            return None, None
        examples = antecedent_tokens(suite, load_annotator(source, header.source_language), target=False)
        tags = {example.id: by_annotation(tokens) for example, tokens in examples if tokens}
        return None, lambda example, _: tags.get(example.id)
    if source is None or target is None:
        missing = "--annotate-source" if source is None else "--annotate-target"
        raise AnaphoraError(f"antecedents are annotated in both languages. Add {missing} SPEC")
    sides = [
        (load_annotator(spec, language), load_linker("builtin", language))
        for spec, language in ((source, header.source_language), (target, header.target_language))
    ]
    by_id = {identifier: (antecedent, tags) for identifier, antecedent, tags in linked(suite, *sides)}
    if not by_id:
        raise AnaphoraError(f"{suite.path or header.name}: the annotation finds no antecedent in any example")
    return (
        lambda example: by_id[example.id][0] if example.id in by_id else None,
        lambda example, _: by_id[example.id][1] if example.id in by_id else None,
    )


def linked(
    suite: Suite, source: tuple[Annotator, Linker], target: tuple[Annotator, Linker]
) -> Iterator[tuple[str, Antecedent, Sequence[Tags]]]:
    """Yield example ids with the antecedents on which both languages agree, and the tags of their source words."""
    examples = (example for example in suite if example.gold is not None)
    both = annotated(examples, lambda example: example.source, source[0])
    for (example, english), german in annotated(both, lambda row: row[0].candidates[row[0].gold or 0], target[0]):
        first = _source_link(example, english, source[1].links(english))
        second = _target_link(example, german, target[1].links(german))
        if first is None or second is None or first.sentence != second.sentence:
            continue
        distance = len(example.source) - 1 - first.sentence
        tokens = english.sentences[first.sentence].tokens[first.start : first.end]
        yield example.id, Antecedent(distance, english.text(first), german.text(second)), by_annotation(tokens)


def _source_link(example: Example, document: Document, links: Sequence[Link]) -> Mention | None:
    """Return the antecedent of the source pronoun in the current sentence, if it is unique."""
    last = len(document.sentences) - 1
    pronoun = str(example.tags.get("source_pronoun") or "it").lower()
    words = document.sentences[last]
    antecedents = {
        _believed(k) for k in links if k.pronoun.sentence == last and words[k.pronoun.head].text.lower() == pronoun
    }
    return antecedents.pop() if len(antecedents) == 1 else None


def _target_link(example: Example, document: Document, links: Sequence[Link]) -> Mention | None:
    """Return the antecedent of the pronoun in which the right translation differs from another one."""
    gold = example.gold or 0
    last = len(document.sentences) - 1
    sentence = document.sentences[last]
    texts = [" ".join(candidate[-1].split()) for candidate in example.candidates]
    positions = [_difference(texts[gold], text) for k, text in enumerate(texts) if k != gold]
    tokens = {
        max((k for k, start in enumerate(sentence.offsets) if start <= position), default=0) for position in positions
    }
    for link in links:
        if link.pronoun.sentence == last and link.pronoun.head in tokens:
            return _believed(link)
    return None


def _believed(link: Link) -> Mention | None:
    return link.antecedent if link.confidence >= CONFIDENCE else None


def _difference(one: str, other: str) -> int:
    """Return the first position at which two sentences differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((position for position, (a, b) in pairs if a != b), min(len(one), len(other)))
