"""From templates and words to items (ContraCAT: Stojanovski et al. 2020, §6 and Appendix C)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from anaphora.build.templates.fill import Filled, fillings
from anaphora.build.templates.pattern import PRONOUN, Pattern, Slot, switched
from anaphora.build.templates.realise import Realiser
from anaphora.build.templates.template import Template, Variant
from anaphora.build.templates.vocabulary import Entry
from anaphora.core.errors import AnaphoraError
from anaphora.languages.grammar import Grammar
from anaphora.suites.example import Example, Tag

NAMES: dict[str, Tag] = {"m": "masculine", "f": "feminine", "n": "neuter"}
WORD = re.compile(r"\w+")


def examples(
    templates: Sequence[Template], words: Mapping[str, Sequence[Entry]], source: Grammar, target: Grammar
) -> Iterator[Example]:
    """The items of templates; words: the entries of each word class. An id never occurs twice."""
    says = Realiser(source, is_target=False), Realiser(target, is_target=True)
    seen: set[str] = set()
    for template in templates:
        for variant in template.variants:
            makers = [_Maker(template, order, *says) for order in _orders(template, variant)]
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

    def __init__(self, template: Template, variant: Variant, source: Realiser, target: Realiser) -> None:
        self.template, self.variant = template, variant
        self.genders = template.candidates or target.grammar.genders
        self.source = [source.sentence(pattern) for pattern in variant.source]
        self.target = [target.sentence(pattern, self.genders) for pattern in variant.target]
        self.mentioned = _mentioned(template, variant)
        self.tags: dict[str, Tag] = {"template": template.id, "step": template.step}
        self.tags["candidate_genders"] = list(self.genders)

    def item(self, filled: Filled) -> Example:
        source = tuple([sentence.say(filled)[0] for sentence in self.source])
        candidates = tuple(zip(*[sentence.say(filled) for sentence in self.target], strict=True))
        name = filled[self.template.variant].id if self.template.variant else self.variant.name
        words = [filled[slot].id for slot in self.mentioned]
        identifier = "/".join([self.template.id, name, *words] if name else [self.template.id, *words])
        if len(set(candidates)) < len(self.genders):
            problem = f"{identifier}: candidates do not differ: {' '.join(candidates[0])}"
            raise AnaphoraError(f"{problem} Let the pronoun, or a word that agrees with it, show the gender.")
        gold = self._gold(filled)
        tags = self._tags(filled, gold, name)
        if self.template.pair:
            tags["pair"] = " ".join(sorted(WORD.findall(" ".join(source).lower())))
        return Example(identifier, source, candidates, None if gold is None else self.genders.index(gold), tags)

    def _gold(self, filled: Filled) -> str | None:
        """The gender that is right; None where nothing is."""
        return filled[self.variant.antecedent].gender if self.variant.antecedent else self.variant.gold

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
        """What choosing each candidate means where none is right (Tables 10–12)."""
        if not isinstance(self.variant.choices, Mapping):
            return [NAMES.get(gender, gender) for gender in self.genders]
        meaning = {filled[slot].gender: name for name, slot in self.variant.choices.items()}
        return [meaning.get(gender, "neither") for gender in self.genders]


def _orders(template: Template, variant: Variant) -> list[Variant]:
    """The variant as it is written and, if so asked, with two slots in each other's place in its context."""
    if not template.switch:
        return [variant]
    one, other = template.switch

    def turned(passage: tuple[Pattern, ...]) -> tuple[Pattern, ...]:
        return (*(switched(pattern, one, other) for pattern in passage[:-1]), passage[-1])

    return [variant, replace(variant, source=turned(variant.source), target=turned(variant.target))]


def _mentioned(template: Template, variant: Variant) -> tuple[str, ...]:
    """The slots in the order in which the source mentions them; what names the variant is in the id already."""
    names = [n for p in variant.source for piece in p if isinstance(piece, Slot) for n in piece.names]
    return tuple(name for name in dict.fromkeys(names) if name not in (PRONOUN, template.variant))
