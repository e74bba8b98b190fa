"""ContraPro rebuilt from the ContraCAT release: all 12,000 items with one sentence of context, records for 4,272."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from anaphora.core.files import require, text_lines
from anaphora.core.parsing import expecting, json_record
from anaphora.suites.example import Example, Tag
from anaphora.suites.readers import contrapro
from anaphora.suites.suite import Suite, suite_of


def read(path: Path) -> Suite:
    """The rebuilt JSON Lines file, or the folder that holds it."""
    file = require(path, "contrapro_reconstructed.jsonl") if path.is_dir() else path

    def examples() -> Iterator[Example]:
        for number, line in enumerate(text_lines(file), start=1):
            row = json_record(line, file, number, "a record of the rebuilt ContraPro")
            with expecting(file, "a record of the rebuilt ContraPro", number):
                record = row.get("contrapro")
                reference = row["ref_pronoun"]
                # the source pronoun of every ContraPro item is "it" (§3.1); most items have no record that says so
                tags: dict[str, Tag] = contrapro.record_tags(record) if record else {"source_pronoun": "it"}
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

    header = contrapro.header("contrapro-rebuilt")
    note = f"{header.licence}; rebuilt from BennoKrojer/ContraCAT, no licence stated"
    return suite_of(replace(header, licence=note), examples, path)
