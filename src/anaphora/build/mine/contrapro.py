"""Mined examples in the format that ContraPro was released in (Müller et al. 2018), for programs that read it."""

from __future__ import annotations

import json
from typing import IO, Any

from anaphora.core.errors import AnaphoraError
from anaphora.suites.example import Example
from anaphora.suites.readers.contrapro import KEYS


class ContraProWriter:
    """A JSON list, a record at a time. Sentences before the current one are not part of the format."""

    def __init__(self, out: IO[bytes]) -> None:
        self.out = out
        self.written = 0

    def write(self, example: Example) -> None:
        text = json.dumps(record(example), ensure_ascii=False, indent=1, sort_keys=True)
        self.out.write((",\n" if self.written else "[\n").encode() + text.encode())
        self.written += 1

    def end(self) -> None:
        self.out.write(b"\n]\n" if self.written else b"[]\n")


def record(example: Example) -> dict[str, Any]:
    """An example as ContraPro has it: `errors` are the contrastive translations."""
    tags: Any = example.tags
    assert example.gold is not None
    try:
        pronouns = tags["candidate_pronouns"]
        found = {
            "src segment": example.source[-1],
            "ref segment": example.candidates[example.gold][-1],
            "src pronoun": tags["source_pronoun"],
            "ref pronoun": tags["reference_pronoun"],
            "intrasegmental": None if "location" not in tags else tags["location"] == "intrasegmental",
            "errors": [
                {"contrastive": passage[-1], "replacement": pronoun, "type": "pronominal coreference"}
                for passage, pronoun in zip(example.candidates[1:], pronouns[1:], strict=True)
            ],
        }
    except KeyError as error:
        raise AnaphoraError(f"ContraPro's format is for pronouns: example {example.id!r} has no tag {error}") from None
    return found | {key: tags[tag] for key, tag in KEYS.items() if tag in tags}
