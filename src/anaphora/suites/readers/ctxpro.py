"""CTXPRO (Wicks and Post 2023): subtitles whose translation needs context, with the word that is expected in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import existing, text_lines
from anaphora.core.parsing import get, read_json_list
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

NAME = re.compile(r"(?P<name>.+\.(?P<source>[a-z]{2})-(?P<target>[a-z]{2})\..+?)(?:\.json)?(?:\.gz)?")
TAGS = {"src pronoun": "source_pronoun", "src verb": "source_verb", "ante distance": "distance"}
REMEDY = "A set is a file such as gender.opensubtitles.en-de.test next to one with .json after its name."


def read(path: Path, *, context: int | None = None) -> Suite:
    """One set: a text file with a passage per line (`<eos>` after each sentence of context) and its JSON records.

    CTXPRO judges translations, not scores: an example has the reference as its only candidate, no gold, and the tag
    `expected`, which `generative` looks for in a translation. Passages have up to 4 (dev and devtest: 9) sentences of
    context; where a document begins they have fewer, and are filled up with "". The contexts are not translated.

    context: at most this many sentences of it
    """
    named = NAME.fullmatch(path.name)
    if named is None:
        raise BadInput(path, "the file name does not contain the languages", remedy=REMEDY)
    text, records = (_file(path.parent, named["name"] + end) for end in ("", ".json"))
    header = Header(
        f"ctxpro-{named['name'].replace('.', '-')}",
        named["source"],
        named["target"],
        ("rule", "distance>3"),
        None,
        citation("ctxpro"),
        "Apache-2.0 (text: OpenSubtitles2018, OPUS)",
    )

    def examples() -> Iterator[Example]:
        items = read_json_list(records)
        passages = [[sentence.strip() for sentence in line.split("<eos>")] for line in text_lines(text)]
        if len(passages) != len(items):
            raise BadInput(text, f"{len(passages):,} lines, but {records.name} has {len(items):,} records")
        size = max((len(passage) for passage in passages), default=1)
        if context is not None:
            size = min(size, context + 1)
        for number, (passage, item) in enumerate(zip(passages, items, strict=True), start=1):
            yield _example(number, passage, item, size, text, records)

    return suite_of(header, examples, path)


def _example(number: int, passage: list[str], item: Any, size: int, text: Path, records: Path) -> Example:
    if not isinstance(item, dict):
        raise BadInput(records, f"record {number:,} is not an object")
    source, reference = (get(item, key, str, records).strip() for key in ("src segment", "ref segment"))
    if passage[-1] != source:
        raise BadInput(text, f"the last sentence is not that of record {number:,}: {source!r}", line=number)
    tags: dict[str, Tag] = {"expected": get(item, "expected", str, records), "rule": get(item, "rule", str, records)}
    tags |= {"document": get(item, "document id", str, records)}
    tags |= {ours: item[theirs] for theirs, ours in TAGS.items() if theirs in item}
    before = ([""] * size + passage)[-size:]
    return Example(str(number), tuple(before), ((*[""] * (size - 1), reference),), None, tags)


def _file(folder: Path, name: str) -> Path:
    file = existing(folder, name)
    if file is None:
        raise BadInput(folder / name, "is missing", remedy=REMEDY)
    return file
