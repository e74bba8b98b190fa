"""Suites from templates and words (ContraCAT: Stojanovski et al. 2020, §6 and Appendix C)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora.build.templates.realize import Filled, Realizer, fillings
from anaphora.build.templates.template import (
    PAPER,
    PRONOUN,
    Pattern,
    Slot,
    Template,
    Variant,
    editions,
    line_in,
    read_templates,
    switched,
)
from anaphora.build.templates.vocabulary import Entry, WordClass, is_released, read_classes
from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.languages.grammar import Grammar, load_grammar
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

NAMES: dict[str, Tag] = {"m": "masculine", "f": "feminine", "n": "neuter"}


def examples(
    templates: Sequence[Template], words: Mapping[str, Sequence[Entry]], source: Grammar, target: Grammar
) -> Iterator[Example]:
    """Yield the items of templates with unique ids; words: the entries of each word class."""
    realizers = Realizer(source, is_target=False), Realizer(target, is_target=True)
    seen: set[str] = set()
    for template in templates:
        for variant in template.variants:
            variants = [variant, _switched(template, variant)] if template.switch else [variant]
            makers = [_Maker(template, order, *realizers) for order in variants]
            for filled in fillings(template, variant, words):
                for maker in makers:
                    example = maker.item(filled)
                    if example.id in seen:
                        remedy = "Give one of the words another id, in a column 'id' of its vocabulary file."
                        raise AnaphoraError(f"two items have the id {example.id}. {remedy}")
                    seen.add(example.id)
                    yield example


class _Maker:
    """Makes the items of one variant of a template, in one order of its entities."""

    def __init__(self, template: Template, variant: Variant, source: Realizer, target: Realizer) -> None:
        self.template, self.variant = template, variant
        self.genders = template.candidates or target.grammar.genders
        self.source = [source.sentence(pattern) for pattern in variant.source]
        self.target = [target.sentence(pattern, self.genders) for pattern in variant.target]
        # slots in the order of the source, without the one that names the variant, which is part of the id
        names = dict.fromkeys(name for slot in _slots(variant.source) for name in slot.names)
        self.mentioned = [name for name in names if name not in (PRONOUN, template.variant)]
        self.tags: dict[str, Tag] = {"template": template.id, "step": template.step}
        self.tags["candidate_genders"] = list(self.genders)

    def item(self, filled: Filled) -> Example:
        source = tuple([sentence.realize(filled)[0] for sentence in self.source])
        candidates = tuple(zip(*[sentence.realize(filled) for sentence in self.target], strict=True))
        name = filled[self.template.variant].id if self.template.variant else self.variant.name
        words = [filled[slot].id for slot in self.mentioned]
        identifier = "/".join([self.template.id, name, *words] if name else [self.template.id, *words])
        if len(set(candidates)) < len(self.genders):
            problem = f"{identifier}: candidates do not differ: {' '.join(candidates[0])}"
            raise AnaphoraError(f"{problem} Let the pronoun, or a word that agrees with it, show the gender.")
        # the right gender; None for a prior
        gold = filled[self.variant.antecedent].gender if self.variant.antecedent else self.variant.gold
        tags = self._tags(filled, gold, name)
        if self.template.pair:
            tags["pair"] = " ".join(sorted(re.findall(r"\w+", " ".join(source).lower())))
        return Example(identifier, source, candidates, None if gold is None else self.genders.index(gold), tags)

    def _tags(self, filled: Filled, gold: str | None, name: str | None) -> dict[str, Tag]:
        tags = dict(self.tags)
        if name:
            tags["variant"] = name
        if gold is None:
            tags["choices"] = self._choices(filled)
        else:
            tags["reference_gender"] = NAMES.get(gold, gold)
        if self.variant.antecedent:
            entry = filled[self.variant.antecedent]
            tags["antecedent"] = self.variant.antecedent
            tags["source_antecedent"], tags["target_antecedent"] = entry.source, entry.target
        if self.template.switch:
            tags["order"] = " ".join(slot for slot in self.mentioned if slot in self.template.switch)
        return tags

    def _choices(self, filled: Filled) -> list[Tag]:
        """Return the meaning of each candidate of a prior, where none is right (Tables 10–12)."""
        if not isinstance(self.variant.choices, Mapping):
            return [NAMES.get(gender, gender) for gender in self.genders]
        meaning = {filled[slot].gender: name for name, slot in self.variant.choices.items()}
        return [meaning.get(gender, "neither") for gender in self.genders]


def _switched(template: Template, variant: Variant) -> Variant:
    """Return the variant with the two slots of `switch` exchanged in its context."""
    source, target = (
        (*(switched(pattern, *template.switch) for pattern in passage[:-1]), passage[-1])
        for passage in (variant.source, variant.target)
    )
    return replace(variant, source=source, target=target)


# The suite of a language pair: data files are found, read, checked, and made into items.

DATA = Path(__file__).with_name("data")
RELEASE = "release"
BREAKDOWNS = ("step", "template", "template×variant", "template×reference_gender")


@dataclass(frozen=True)
class TemplateSuite:
    """A suite made from templates of an edition; templates: their ids."""

    suite: Suite
    edition: str
    templates: tuple[str, ...]

    def write(
        self, path: Path, progress: Callable[[int, int | None], None] | None = None
    ) -> tuple[dict[str, int], str]:
        """Write the suite's file, and return the number of items of each template and the suite's hash."""
        counts = dict.fromkeys(self.templates, 0)

        def counted() -> Iterator[Example]:
            for number, example in enumerate(self.suite, start=1):
                counts[str(example.tags["template"])] += 1
                if progress is not None:
                    progress(number, None)
                yield example

        sha256 = suite_of(self.suite.header, counted).write(path)
        return counts, sha256


@dataclass(frozen=True)
class PairFiles:
    """The data files of a language pair. A custom folder may contain some of them; the others are built in."""

    source: str
    target: str
    templates: Path
    vocabularies: tuple[Path, ...]  # later ones replace classes of earlier ones
    grammar: Path | None


def pairs() -> list[str]:
    """Return the built-in language pairs."""
    return sorted(path.name for path in DATA.iterdir() if (path / "templates.toml").is_file())


def template_suite(
    languages: str = "en-de",
    only: Sequence[str] = (),
    vocabulary: Path | None = None,
    edition: str | None = None,
) -> TemplateSuite:
    """Return the suite of a language pair's templates.

    languages: a built-in pair, or a custom folder that is named like one
    only: ids of templates, or of groups of them (`overlap`)
    vocabulary: a folder whose word classes replace the built-in ones of the same name
    edition: `paper`; `release` for the settings of the released files, which is what a released vocabulary gets; or
        `table-8` for as many examples as the paper's Table 8 counts, the position prior in one order only
    """
    files = _files(languages)
    if edition is None:
        released = vocabulary is not None and is_released(vocabulary)
        edition = RELEASE if released and RELEASE in editions(files.templates) else PAPER
    templates = _chosen(files.templates, only, edition)
    classes = _classes(files, vocabulary, templates if not only else read_templates(files.templates, edition))
    source, target = load_grammar(files.source), load_grammar(files.target, files.grammar)
    check(files.templates, templates, classes, source, target)
    words = {name: word_class.entries for name, word_class in classes.items()}
    name = f"contracat-{source.language}-{target.language}" + ("" if edition == PAPER else f"-{edition}")
    licence = "Apache-2.0" if vocabulary is None and DATA in files.templates.parents else "that of the vocabulary"
    header = Header(name, files.source, files.target, BREAKDOWNS, citation=citation("contracat"), licence=licence)
    suite = suite_of(header, lambda: examples(templates, words, source, target))
    return TemplateSuite(suite, edition, tuple(template.id for template in templates))


def _files(languages: str) -> PairFiles:
    folder = Path(languages)
    name = folder.resolve().name if folder.is_dir() else languages
    source, _, target = name.partition("-")
    built_in = DATA / name
    if not folder.is_dir() and name not in pairs():
        near = did_you_mean(name, pairs())
        raise AnaphoraError(f"no templates for {name!r}{near}: there are {', '.join(pairs())}; or name a folder")
    if not (source and target):
        raise BadInput(folder, "not named like a language pair", remedy="Call the folder en-it, for example.")
    own = folder if folder.is_dir() else built_in
    templates = next((p / "templates.toml" for p in (own, built_in) if (p / "templates.toml").is_file()), None)
    if templates is None:
        raise BadInput(folder, "templates.toml is missing", remedy="See docs/templates.md: how to add a language pair.")
    vocabularies = tuple(p / "vocabulary" for p in dict.fromkeys((built_in, own)) if (p / "vocabulary").is_dir())
    if not vocabularies:
        raise BadInput(folder, "the folder 'vocabulary' is missing", remedy="Put one .tsv file per word class into it.")
    grammar = own / "grammar.toml"
    return PairFiles(source, target, templates, vocabularies, grammar if grammar.is_file() else None)


def _chosen(path: Path, only: Sequence[str], edition: str) -> tuple[Template, ...]:
    known = editions(path)
    if edition not in known:
        raise AnaphoraError(
            f"no edition {edition!r}{did_you_mean(edition, known)}: there are {', '.join(sorted(known))}"
        )
    templates = read_templates(path, edition)
    ids = [template.id for template in templates]
    for wanted in only:
        if not any(_is_in(identifier, wanted) for identifier in ids):
            raise AnaphoraError(f"no template {wanted!r}{did_you_mean(wanted, ids)}: there are {', '.join(ids)}")
    return tuple(t for t in templates if not only or any(_is_in(t.id, wanted) for wanted in only))


def _is_in(identifier: str, wanted: str) -> bool:
    return identifier == wanted or identifier.startswith(f"{wanted.rstrip('/')}/")


def _classes(files: PairFiles, vocabulary: Path | None, templates: Sequence[Template]) -> dict[str, WordClass]:
    """Return the word classes of all vocabularies; a file that no template uses is an error, probably in its name."""
    classes: dict[str, WordClass] = {}
    used = {draw.word_class for t in templates for variant in t.variants for draw in variant.slots.values()}
    for folder in (*files.vocabularies, *([vocabulary] if vocabulary else [])):
        for name, word_class in read_classes(folder, (files.source, files.target)).items():
            if name not in used:
                remedy = f"Word classes are {', '.join(sorted(used))}."
                problem = f"no template draws on a class {name!r}{did_you_mean(name, used)}"
                raise BadInput(word_class.path, problem, remedy=remedy)
            classes[name] = word_class
    return classes


# Consistency of templates, vocabulary and grammar, which is checked before the first item is made.


def check(
    path: Path, templates: Sequence[Template], classes: Mapping[str, WordClass], source: Grammar, target: Grammar
) -> None:
    """Raise BadInput if templates, word classes and grammars are inconsistent. path: the templates' file."""
    for template in templates:
        for variant in template.variants:
            _Check(path, template, variant, classes, source, target).run()


@dataclass(frozen=True)
class _Check:
    path: Path
    template: Template
    variant: Variant
    classes: Mapping[str, WordClass]
    source: Grammar
    target: Grammar

    def run(self) -> None:
        for name, draw in self.variant.slots.items():
            if draw.word_class not in self.classes:
                near = did_you_mean(draw.word_class, self.classes)
                problem = f"slot {name!r} draws on an unknown class {draw.word_class!r}{near}"
                raise self._bad(problem, draw.word_class, f"Add {draw.word_class}.tsv to the vocabulary.")
        genders = self.template.candidates or self.target.genders
        if self.variant.gold and self.variant.gold not in genders:
            problem = f"gold is {self.variant.gold!r}, but the candidates are {', '.join(genders)}"
            raise self._bad(problem, "gold", "Add it to candidates.")
        for slot in _slots(self.variant.source):
            self._features(slot, self.source, frozenset())
        class_of = {name: self.classes[draw.word_class] for name, draw in self.variant.slots.items()}
        for slot in _slots(self.variant.target):
            word_class = class_of.get(slot.name or "")
            self._features(slot, self.target, word_class.columns if word_class else frozenset())
        for name in self._gendered():
            class_of[name].require_genders(self.target.genders)
        for slot in _slots(self.variant.target):
            for name in slot.like:
                if name != PRONOUN:
                    self._agreement(class_of[name])

    def _features(self, slot: Slot, grammar: Grammar, columns: frozenset[str]) -> None:
        known = grammar.cases if slot.name == PRONOUN else grammar.features | columns
        for feature in slot.features:
            if feature not in known:
                what = f"unknown feature {feature!r} of {slot.name or slot.word!r}{did_you_mean(feature, known)}"
                raise self._bad(what, feature, f"It must be in {grammar.path.name}, or a column of the vocabulary.")

    def _gendered(self) -> set[str]:
        """Return the slots whose words need a gender, since pronouns, articles, cases or constraints depend on it."""
        names = {*self.template.different_gender}
        if self.variant.antecedent:
            names.add(self.variant.antecedent)
        if isinstance(self.variant.choices, Mapping):
            names |= set(self.variant.choices.values())
        needs = {*self.target.articles, *self.target.nouns}
        declined = {slot.name for slot in _slots(self.variant.target) if needs.intersection(slot.features)}
        return names | {name for name in declined if name is not None and name != PRONOUN}

    def _agreement(self, word_class: WordClass) -> None:
        for entry in word_class.entries:
            if entry.agreement not in self.target.features:
                problem = f"it is unknown how words agree with {entry.source!r} ({entry.agreement})"
                remedy = f"Say it in a column 'agreement': a gender or a form of {self.target.path.name}."
                raise BadInput(word_class.path, problem, line=entry.line, remedy=remedy)

    def _bad(self, problem: str, near: str, remedy: str = "") -> BadInput:
        line = line_in(self.path, self.template.id, near)
        return BadInput(self.path, f"template {self.template.id}: {problem}", line=line, remedy=remedy)


def _slots(passage: tuple[Pattern, ...]) -> Iterator[Slot]:
    return (piece for pattern in passage for piece in pattern if isinstance(piece, Slot))
