"""Whether templates, vocabulary and grammar fit each other; said before the first item is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from anaphora.build.templates.pattern import PRONOUN, Pattern, Slot
from anaphora.build.templates.template import Template, Variant, place
from anaphora.build.templates.vocabulary import WordClass
from anaphora.core.errors import BadInput, did_you_mean
from anaphora.languages.grammar import Grammar


def check(
    path: Path, templates: Sequence[Template], classes: Mapping[str, WordClass], source: Grammar, target: Grammar
) -> None:
    """path: the templates' file. Raises what is wrong, with its place and a remedy."""
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
        for slot in _slots(self.variant.target):
            self._features(slot, self.target, self._class_of(slot.name).columns if self._has(slot) else frozenset())
        for name in self._things():
            self._class_of(name).require_genders(self.target.genders)
        for slot in _slots(self.variant.target):
            for name in slot.like:
                if name != PRONOUN:
                    self._agreement(self._class_of(name))

    def _has(self, slot: Slot) -> bool:
        return slot.name is not None and slot.name != PRONOUN

    def _class_of(self, name: str | None) -> WordClass:
        return self.classes[self.variant.slots[str(name)].word_class]

    def _features(self, slot: Slot, grammar: Grammar, columns: frozenset[str]) -> None:
        known = grammar.cases if slot.name == PRONOUN else grammar.features | columns
        for feature in slot.features:
            if feature not in known:
                what = f"unknown feature {feature!r} of {slot.name or slot.word!r}{did_you_mean(feature, known)}"
                raise self._bad(what, feature, f"It must be in {grammar.path.name}, or a column of the vocabulary.")

    def _things(self) -> set[str]:
        """The slots whose words must have a gender: pronouns, articles, cases or constraints depend on it."""
        names = {*self.template.different_gender}
        if self.variant.antecedent:
            names.add(self.variant.antecedent)
        if isinstance(self.variant.choices, Mapping):
            names |= set(self.variant.choices.values())
        needs = {*self.target.articles, *self.target.nouns}
        found = {slot.name for slot in _slots(self.variant.target) if needs.intersection(slot.features)}
        return names | {name for name in found if name is not None and name != PRONOUN}

    def _agreement(self, word_class: WordClass) -> None:
        for entry in word_class.entries:
            if entry.agreement not in self.target.features:
                problem = f"nothing is known of how words agree with {entry.source!r} ({entry.agreement})"
                remedy = f"Say it in a column 'agreement': a gender or a form of {self.target.path.name}."
                raise BadInput(word_class.path, problem, line=entry.line, remedy=remedy)

    def _bad(self, problem: str, near: str, remedy: str = "") -> BadInput:
        line = place(self.path, self.template.id, near)
        return BadInput(self.path, f"template {self.template.id}: {problem}", line=line, remedy=remedy)


def _slots(passage: tuple[Pattern, ...]) -> Iterator[Slot]:
    return (piece for pattern in passage for piece in pattern if isinstance(piece, Slot))
