"""Bawden et al. 2018, §2.1: hand-made blocks of contrastive pairs, and the Czech set made after them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.parsing import expecting, read_json
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of


def read(path: Path, *, target_language: str | None = None) -> Suite:
    """The coreference set (blocks of four pairs) or a coherence/cohesion set (blocks of two examples).

    Blocks are in the order of their numbers, which is the order the original program expects scores in.
    target_language: "cs" for a file with `.cs.` in its name, else "fr", unless told otherwise
    """
    blocks = _blocks(path)
    language = target_language or ("cs" if ".cs." in path.name else "fr")
    coreference = all("trg" in block for _, block in blocks)
    name = f"bawden-{'coreference' if coreference else 'cohesion'}{'' if language == 'fr' else f'-{language}'}"
    breakdowns = ("form", "correctness") if coreference else ("kind",)
    licence = "CC BY-NC-SA 4.0 (README), CC BY-SA 4.0 (LICENSE)" if language == "fr" else "not stated"
    header = Header(name, "en", language, breakdowns, blocks="block", citation=citation("bawden"), licence=licence)

    def examples() -> Iterator[Example]:
        for number, block in blocks:
            with expecting(path, "a block of contrastive pairs", item=f"block {number}"):
                yield from _coreference(number, block) if coreference else _cohesion(number, block)

    return suite_of(header, examples, path)


def _coreference(number: str, block: dict[str, Any]) -> Iterator[Example]:
    for k, pair in enumerate(block["trg"]):
        # a strangely translated antecedent makes the right answer "semi-correct"
        correctness = next((c for c in ("correct", "semi-correct") if c in pair), None)
        if correctness is None:
            raise ValueError(f"pair {k} has neither 'correct' nor 'semi-correct'")
        tags: dict[str, Tag] = {"phenomenon": "coreference", "form": pair["type"], "correctness": correctness}
        yield _pair(number, k, block["src"], pair[correctness], pair["incorrect"], tags)


def _cohesion(number: str, block: dict[str, Any]) -> Iterator[Example]:
    for k, example in enumerate(block["examples"]):
        tags: dict[str, Tag] = {"phenomenon": "coherence/cohesion"}
        if "type" in block:  # one Czech block has none
            tags["kind"] = block["type"]
        yield _pair(number, k, example["src"], example["trg"]["correct"], example["trg"]["incorrect"], tags)


def _pair(number: str, k: int, source: Any, right: Any, wrong: Any, tags: dict[str, Tag]) -> Example:
    return Example(f"{number}.{k}", tuple(source), (tuple(right), tuple(wrong)), 0, tags | {"block": number})


def _blocks(path: Path) -> list[tuple[str, dict[str, Any]]]:
    data = read_json(path)
    numbered = isinstance(data, dict) and all(k.isascii() and k.isdigit() and len(k) < 19 for k in data)
    if not numbered or not all(isinstance(block, dict) for block in data.values()):
        remedy = "Is this anaphora.json, lexical-choice.json or disambig.cs.json?"
        raise BadInput(path, "an object of numbered blocks is expected", remedy=remedy)
    return sorted(data.items(), key=lambda item: int(item[0]))
