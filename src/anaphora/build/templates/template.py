"""Templates: sentences with slots in two languages, variants and constraints, as a TOML file describes them.

A pattern is text with slots in braces: `{animal: the accusative}`, `{'mangé': like it}`, `{it}`.

{NAME}                the word that fills the slot; `it` is the pronoun of the candidate
{NAME: FEATURE …}     with an article, in a case, in a form of the grammar or of the vocabulary
{NAME: like OTHER}    agreeing with the filler of another slot, or of several: like animal+human
{'WORD': like OTHER}  a word of the template that agrees
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput, did_you_mean
from anaphora.core.parsing import expecting, read_toml

PRONOUN = "it"
SLOT = re.compile(r"\{([^{}]*)\}")
INSIDE = re.compile(r"\s*(?:'(?P<word>[^']+)'|(?P<name>[\w-]+))\s*(?::(?P<features>.*))?$")


class PatternError(ValueError):
    """An invalid pattern; the reader of the file adds the position."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One pair of braces.

    name: the slot, or None for a word of the template, which is in `word`
    features: the requested features in order; like: the slots it agrees with
    """

    name: str | None
    word: str = ""
    features: tuple[str, ...] = ()
    like: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All slots on whose words this one depends."""
        return self.like if self.name is None else (self.name, *self.like)


Pattern = tuple[str | Slot, ...]


def parse_pattern(text: str) -> Pattern:
    """Parse a sentence of a template into text and slots."""
    pieces: list[str | Slot] = []
    end = 0
    for match in SLOT.finditer(text):
        pieces += [text[end : match.start()], _slot(match[1])]
        end = match.end()
    pieces.append(text[end:])
    if any(isinstance(piece, str) and ("{" in piece or "}" in piece) for piece in pieces):
        raise PatternError(f"a brace without its partner in {text!r}. Write slots as {{name: features}}.")
    return tuple(piece for piece in pieces if piece != "")


def switched(pattern: Pattern, one: str, other: str) -> Pattern:
    """Return the same sentence with two slots exchanged."""
    swap = {one: other, other: one}

    def turned(slot: Slot) -> Slot:
        like = tuple(swap.get(name, name) for name in slot.like)
        return Slot(swap.get(slot.name, slot.name) if slot.name else None, slot.word, slot.features, like)

    return tuple(turned(piece) if isinstance(piece, Slot) else piece for piece in pattern)


def _slot(inside: str) -> Slot:
    match = INSIDE.match(inside)
    if match is None:
        raise PatternError(f"{{{inside}}} is not a slot. Write {{name}}, {{name: features}} or {{'word': like name}}.")
    features, _, like = f" {match['features'] or ''} ".partition(" like ")
    likes = tuple(name.strip() for name in like.split("+")) if like.strip() else ()
    if any(not re.fullmatch(r"[\w-]+", name) for name in likes):
        raise PatternError(f"{{{inside}}}: 'like' names slots, and stands last. Write: like animal+human.")
    return Slot(match["name"], match["word"] or "", tuple(features.split()), likes)


# The file of templates.


PAPER = "paper"  # the edition that a file describes if nothing is overridden
TYPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("id", "step", "name", "turn", "variant", "antecedent", "gold", "class", "translations"), (str,)),
    **dict.fromkeys(("different_gender", "switch", "once", "candidates", "variants"), (list,)),
    **dict.fromkeys(("slots", "context", "editions"), (dict,)),
    **dict.fromkeys(("source", "target"), (str, list)),
    **dict.fromkeys(("every", "take"), (int,)),
    "choices": (str, dict),
    "pair": (bool,),
}
OF_A_SLOT = {"class", "every", "take", "translations"}
OF_A_VARIANT = {"name", "slots", "source", "target", "antecedent", "gold", "choices"}
OF_A_TEMPLATE = TYPES.keys() - OF_A_SLOT - {"name"}
GENDERS = "genders"  # choices = "genders": what a candidate means is its gender


@dataclass(frozen=True, slots=True)
class Draw:
    """The words of a slot: a word class, of which every N-th entry (`every`) and the first N (`take`) can be selected.

    translations: "first" to use one entry per source word
    """

    word_class: str
    every: int = 1
    take: int | None = None
    translations: str = "all"


@dataclass(frozen=True)
class Variant:
    """One variant of a template.

    slots: those of the template and its own
    source, target: sentences, the current one last
    antecedent: the slot that the pronoun refers to; gold: or the right gender
    choices: for a prior, the meaning of choosing the gender of a slot, by slot; or GENDERS
    """

    name: str | None
    slots: Mapping[str, Draw]
    source: tuple[Pattern, ...]
    target: tuple[Pattern, ...]
    antecedent: str | None
    gold: str | None
    choices: Mapping[str, str] | str | None


@dataclass(frozen=True)
class Template:
    """A template with its constraints.

    different_gender: these slots differ in gender, each from each
    switch: the context is also realized with these two slots exchanged
    once, turn: these two slots of one class are filled in one order only; every other entry of `turn` turns it round
    pair: items that differ in the order of two words only are linked by the tag `pair`
    variant: the slot whose entry names the variant
    candidates: genders of the candidates, if not those of the language
    """

    id: str
    step: str
    variants: tuple[Variant, ...]
    different_gender: tuple[str, ...] = ()
    switch: tuple[str, ...] = ()
    once: tuple[str, ...] = ()
    turn: str | None = None
    pair: bool = False
    variant: str | None = None
    candidates: tuple[str, ...] = ()


def read_templates(path: Path, edition: str = PAPER) -> tuple[Template, ...]:
    """Return the templates of a file in one edition."""
    templates = []
    for row in _rows(path):
        with expecting(path, f"a template: {row['id']}", remedy="See docs/templates.md."):
            templates.append(_Reader(path, row, edition).template())
    return tuple(templates)


def editions(path: Path) -> set[str]:
    """Return the editions that a file describes."""
    named = [row.get("editions") for row in _rows(path)]
    return {PAPER}.union(*(names for names in named if isinstance(names, dict)))


def _rows(path: Path) -> list[dict[str, Any]]:
    rows = read_toml(path).get("template")
    if not isinstance(rows, list) or not all(isinstance(row, dict) and isinstance(row.get("id"), str) for row in rows):
        raise BadInput(path, "no [[template]], or one without an id", remedy="See docs/templates.md.")
    return rows


@dataclass(frozen=True)
class _Reader:
    """Reads one [[template]] of a file; errors have its line."""

    path: Path
    row: Mapping[str, Any]
    edition: str

    def template(self) -> Template:
        row = self._merged()
        template = Template(
            id=str(row["id"]),
            step=str(row.get("step", "")),
            variants=tuple(self._variant(row, variant) for variant in row.get("variants", [{}])),
            different_gender=tuple(row.get("different_gender", ())),
            switch=tuple(row.get("switch", ())),
            once=tuple(row.get("once", ())),
            turn=row.get("turn"),
            pair=bool(row.get("pair", False)),
            variant=row.get("variant"),
            candidates=tuple(row.get("candidates", ())),
        )
        for names in (template.different_gender, template.switch, template.once, (template.turn, template.variant)):
            for name in filter(None, names):
                for variant in template.variants:
                    self._known_slot(name, variant.slots)
        return template

    def _merged(self) -> dict[str, Any]:
        """Return the template with the overrides of its edition."""
        self._fits(self.row, OF_A_TEMPLATE)
        override = self.row.get("editions", {}).get(self.edition, {})
        self._fits(override, OF_A_TEMPLATE)
        return {**self.row, **override, "slots": {**self._need(self.row, "slots"), **override.get("slots", {})}}

    def _draw(self, name: str, spec: Any) -> Draw:
        if isinstance(spec, str):
            return Draw(spec)
        if not isinstance(spec, dict) or not isinstance(spec.get("class"), str):
            raise self._bad(f"slot {name!r} names no class", name, 'Write: slots = { animal = "animal" }.')
        self._fits(spec, OF_A_SLOT)
        draw = Draw(spec["class"], spec.get("every", 1), spec.get("take"), spec.get("translations", "all"))
        if draw.every < 1 or (draw.take or 1) < 1 or draw.translations not in ("all", "first"):
            remedy = 'every and take are 1 or more; translations is "all" or "first".'
            raise self._bad(f"slot {name!r} cannot be drawn", name, remedy)
        return draw

    def _variant(self, template: Mapping[str, Any], variant: Mapping[str, Any]) -> Variant:
        self._fits(variant, OF_A_VARIANT)
        row = {**template, **variant}
        specs = {**self._need(template, "slots"), **variant.get("slots", {})}
        slots = {name: self._draw(name, spec) for name, spec in specs.items()}
        source, target = (self._passage(row, side, slots) for side in ("source", "target"))
        if len(source) != len(target):
            raise self._bad("source and target have different numbers of sentences", "source")
        choices = row.get("choices")
        named = choices.values() if isinstance(choices, dict) else ()
        for name in (*named, *filter(None, [row.get("antecedent")])):
            self._known_slot(name, slots)
        if sum(row.get(key) is not None for key in ("antecedent", "gold", "choices")) != 1:
            remedy = "Say what is right: antecedent = a slot, gold = a gender; or choices, if nothing is."
            raise self._bad("one of antecedent, gold and choices is needed", "id", remedy)
        return Variant(row.get("name"), slots, source, target, row.get("antecedent"), row.get("gold"), choices)

    def _passage(self, row: Mapping[str, Any], side: str, slots: Mapping[str, Draw]) -> tuple[Pattern, ...]:
        """Return the sentences of one language: the context that all variants share, if any, and the variant's own."""
        patterns = []
        for sentence in (*_listed(row.get("context", {}).get(side, ())), *_listed(self._need(row, side))):
            try:
                pattern = parse_pattern(str(sentence))
            except PatternError as error:
                raise self._bad(str(error), str(sentence)) from None
            for slot in (piece for piece in pattern if isinstance(piece, Slot)):
                for name in slot.names:
                    if name != PRONOUN:
                        self._known_slot(name, slots, str(sentence))
            patterns.append(pattern)
        return tuple(patterns)

    def _known_slot(self, name: str, slots: Mapping[str, Draw], near: str = "") -> None:
        if name not in slots:
            remedy = f'Add it under slots, as in {name} = "animal"; there are {", ".join(slots)}.'
            raise self._bad(f"unknown slot {name!r}{did_you_mean(name, slots)}", near or name, remedy)

    def _fits(self, row: Any, known: Collection[str]) -> None:
        """Raise BadInput for unknown keys and wrong types; lists contain strings, `variants` contains tables."""
        if not isinstance(row, dict):
            raise self._bad(f"{row!r} is not a table", "id", "See docs/templates.md.")
        for key, value in row.items():
            if key not in known:
                raise self._bad(f"unknown key {key!r}{did_you_mean(key, known)}", key, "See docs/templates.md.")
            inside = dict if key == "variants" else str
            if type(value) not in TYPES[key] or (isinstance(value, list) and not all(type(v) is inside for v in value)):
                raise self._bad(f"{key} is {value!r}", key, "See docs/templates.md for what it may be.")
            if key in ("switch", "once") and len(value) not in (0, 2):
                raise self._bad(f"{key} has {len(value)} slots", key, "Name the two slots that change places.")

    def _need(self, row: Mapping[str, Any], key: str) -> Any:
        if not row.get(key):
            raise self._bad(f"no {key!r}", "id", "See docs/templates.md.")
        return row[key]

    def _bad(self, problem: str, near: str, remedy: str = "") -> BadInput:
        """Return the error with the line of a text in this template."""
        name = str(self.row["id"])
        return BadInput(self.path, f"template {name}: {problem}", line=line_in(self.path, name, near), remedy=remedy)


def _listed(sentences: str | Sequence[str]) -> Sequence[str]:
    return [sentences] if isinstance(sentences, str) else sentences


def line_in(path: Path, template: str, near: str) -> int | None:
    """Return the line of a text within a template, or the line of the template itself."""
    start = None
    for number, line in _lines(path):
        if start is None and line.replace(" ", "").startswith(f'id="{template}"'):
            start = number
        elif start is not None and line.strip() == "[[template]]":
            break
        if start is not None and near in line and near != "id":
            return number
    return start


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
