"""Voita et al. 2019: EN-RU consistency sets of four sentences (deixis, lexical cohesion, ellipsis)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.parsing import expecting, read_json_list
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage
from anaphora.suites.suite import Header, Suite, suite_of

PHENOMENA = {
    "deixis": "deixis",
    "lex_cohesion": "lexical cohesion",
    "ellipsis_infl": "ellipsis (inflection)",
    "ellipsis_vp": "ellipsis (verb phrase)",
}


def read(path: Path) -> Suite:
    """One set (a JSON file, named as released) or all sets in a folder.

    Candidates may differ in any of their sentences. Some published items have two equal candidates (13 of the 500
    in ellipsis_infl, in one of them all are equal): they are kept, and where the gold is one of the equals no
    system can win them.
    """
    files = sorted(f for f in path.iterdir() if _phenomenon(f)) if path.is_dir() else [path]
    if not files or not all(map(_phenomenon, files)):
        raise BadInput(path, "not one of the published sets", remedy=f"File names begin with {', '.join(PHENOMENA)}.")

    def examples() -> Iterator[Example]:
        for file in files:
            yield from _file(file)

    name = "voita" if path.is_dir() else f"voita-{_stem(path).replace('_', '-')}"
    header = Header(
        name, "en", "ru", ("phenomenon", "distance", "phenomenon×distance"), None, citation("voita"), "not stated"
    )
    return suite_of(header, examples, path)


def _file(file: Path) -> Iterator[Example]:
    for number, item in enumerate(read_json_list(file)):
        with expecting(file, "an item with src, dst, true_ind and ctx_dist", item=f"item {number}"):
            yield Example(
                id=f"{_stem(file)}/{number}",
                source=_split(item["src"]),
                candidates=tuple(map(_split, item["dst"])),
                gold=item["true_ind"],
                tags={"phenomenon": _phenomenon(file), "distance": item["ctx_dist"]},
            )


def _split(passage: str) -> Passage:
    return tuple(passage.split(" _eos "))


def _stem(file: Path) -> str:
    return file.name.split(".")[0]


def _phenomenon(file: Path) -> str | None:
    return next((name for start, name in PHENOMENA.items() if _stem(file).startswith(start)), None)
