"""ContraPro as released (Müller et al. 2018): `contrapro.json`, with context read from OpenSubtitles documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import require, text_lines
from anaphora.core.parsing import expecting, json_record, read_json_list
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.suite import Header, Suite, suite_of

# Tables 6, 7 and 8 of the paper, the original program's src:ref categories, and the cross-tables with the pronoun
BREAKDOWNS = (
    "reference_pronoun",
    "location",
    "distance>3",
    "pronoun_pair",
    "location×reference_pronoun",
    "distance>3×reference_pronoun",
)

# our tag for each key of a record; "src " and "ref " keys that exist for both sides are added below
KEYS = {
    "document id": "document",
    "segment id": "sentence",
    "ante distance": "distance",
    "corpus": "corpus",
    "src ante phrase": "source_antecedent",
    "ref ante phrase": "target_antecedent",
} | {
    f"{side} ante head{key}": f"{name}_antecedent_head{key.replace(' ', '_')}"
    for side, name in (("src", "source"), ("ref", "target"))
    for key in ("", " gender", " id", " lemma", " morpho", " pos")
}


def header(name: str) -> Header:
    return Header(
        name, "en", "de", BREAKDOWNS, citation=citation("contrapro"), licence="MIT (text: OpenSubtitles2018, OPUS)"
    )


def read(path: Path, *, context_from: Path | None = None, context: int | None = None) -> Suite:
    """The released JSON; with documents, any number of sentences of context (1 unless told otherwise).

    context_from: the folder of documents, `<year>/<year>_<movie>_<subtitle>.{en,de}`
    """
    if context and context_from is None:
        remedy = "Name the folder with the OpenSubtitles documents: --context-from documents/"
        raise BadInput(path, f"this format has no context, but {context} sentences were requested", remedy=remedy)
    size = 0 if context_from is None else 1 if context is None else context

    def examples() -> Iterator[Example]:
        remedy = "Is this contrapro.json?"
        for number, record in enumerate(read_json_list(path, remedy)):
            with expecting(path, "a record of ContraPro", remedy=remedy, item=f"record {number}"):
                yield _example(number, record, context_from, size)

    return suite_of(header("contrapro"), examples, path)


def read_rebuilt(path: Path) -> Suite:
    """Read ContraPro rebuilt from the ContraCAT release: 12,000 items with one sentence of context, records for 4,272.

    path: the JSON Lines file, or the folder that holds it
    """
    file = require(path, "contrapro_reconstructed.jsonl") if path.is_dir() else path

    def examples() -> Iterator[Example]:
        for number, line in enumerate(text_lines(file), start=1):
            row = json_record(line, file, number, "a record of the rebuilt ContraPro")
            with expecting(file, "a record of the rebuilt ContraPro", number):
                record = row.get("contrapro")
                reference = row["ref_pronoun"]
                # the source pronoun of every ContraPro item is "it" (§3.1); most items have no record that says so
                tags: dict[str, Tag] = record_tags(record) if record else {"source_pronoun": "it"}
                tags["reference_pronoun"] = reference
                tags["pronoun_pair"] = f"{tags['source_pronoun']}:{reference}"
                tags["candidate_pronouns"] = [reference, *row["contrastive_pronoun"]]
                yield Example(
                    id=str(row["id"]),
                    source=(row["src_context"], row["src"]),
                    candidates=tuple((row["ref_context"], target) for target in (row["ref"], *row["contrastive"])),
                    gold=0,
                    tags=tags,
                )

    about = header("contrapro-rebuilt")
    note = f"{about.licence}; rebuilt from BennoKrojer/ContraCAT, no license stated"
    return suite_of(replace(about, licence=note), examples, path)


def record_tags(record: Mapping[str, Any]) -> dict[str, Tag]:
    """The tags of a ContraPro record. Pronouns are lowercased, as the original categories are."""
    source, reference = record["src pronoun"].lower(), record["ref pronoun"].lower()
    tags: dict[str, Tag] = {
        "source_pronoun": source,
        "reference_pronoun": reference,
        "pronoun_pair": f"{source}:{reference}",
    }
    for key, tag in KEYS.items():
        if record.get(key) is not None:
            tags[tag] = record[key]
    if record["intrasegmental"] is not None:  # null where the location is not known
        tags["location"] = "intrasegmental" if record["intrasegmental"] else "external"
    return tags


def _example(number: int, record: Mapping[str, Any], documents: Path | None, size: int) -> Example:
    before: tuple[Passage, Passage] = ((), ())
    if documents is not None:
        before = _context(documents, record, size)
    source, reference, errors = record["src segment"], record["ref segment"], record["errors"]
    tags = record_tags(record)
    replacements: list[Tag] = [error["replacement"].lower() for error in errors]
    tags["candidate_pronouns"] = [tags["reference_pronoun"], *replacements]
    targets = [reference, *(error["contrastive"] for error in errors)]
    return Example(
        id=str(number),
        source=(*before[0], source),
        candidates=tuple((*before[1], target) for target in targets),
        gold=0,
        tags=tags,
    )


def _context(documents: Path, record: Mapping[str, Any], size: int) -> tuple[Passage, Passage]:
    """The sentences before a segment in both languages; "" where the document begins.

    The original script wrote the word "null" there, and before it lines from the document's end (a negative index).
    """
    identifier, segment = record["document id"], record["segment id"]
    source, target = _document(documents, identifier)
    if not 1 <= segment <= len(source) or _squeezed(source[segment - 1]) != _squeezed(record["src segment"]):
        problem = f"document {identifier}: line {segment:,} is not the source of its record"
        raise BadInput(
            documents, problem, remedy="Extract OpenSubtitles2018 with document splitting, as ContraPro does."
        )
    first = segment - 1 - size
    padding = ("",) * max(0, -first)
    return tuple((*padding, *lines[max(0, first) : segment - 1]) for lines in (source, target))  # type: ignore[return-value]


@lru_cache(maxsize=4)  # records come in the order of documents
def _document(documents: Path, identifier: str) -> tuple[list[str], list[str]]:
    stem, _, language = identifier.rpartition(".")
    folder = documents / identifier.split("_")[0]
    remedy = f"The context of its segments is read from {folder.name}/{stem}.en and .{language}."
    source, target = (list(text_lines(require(folder, f"{stem}.{end}", remedy))) for end in ("en", language))
    if len(source) != len(target):
        problem = f"document {stem}: {len(source):,} lines of en, {len(target):,} of {language}"
        raise BadInput(documents, problem, remedy="Line i of the two files must be the same segment.")
    return source, target


def _squeezed(sentence: str) -> str:
    return re.sub(r"\s+", "", sentence)
