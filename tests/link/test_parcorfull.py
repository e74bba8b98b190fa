"""ParCorFull's records: pronouns of one word, and what they stand for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import BadInput
from anaphora.link.parcorfull import GoldPronoun, read_parcorfull


def mention(place: tuple[int, int, int], text: str, kind: str, chain: str | None, **attributes: str) -> dict[str, Any]:
    sent, start, end = place
    return {
        "sent": sent,
        "start": start,
        "end": end,
        "text": text,
        "type": kind,
        "chain": chain,
        "attributes": attributes,
    }


ENGLISH = {
    "sentences": [["The", "dog", "barked", "."], ["It", "rained", ",", "and", "it", "slept", "."]],
    "mentions": [
        mention((1, 4, 5), "it", "pronoun", "set_1", type="anaphoric", agreement="singular"),
        mention((0, 0, 2), "The dog", "np", "set_1"),
        mention((0, 2, 3), "barked", "vp", "set_1"),
        mention((1, 0, 1), "It", "pronoun", None, type="pleonastic"),
        mention((1, 3, 4), "and", "pronoun", "set_1", type="anaphoric", agreement="plural"),
        mention((1, 5, 6), "slept", "pronoun", "set_1", type="extratextual reference"),
        mention((1, 1, 3), "rained ,", "pronoun", "set_1", type="anaphoric"),
    ],
}
RECORD = {"doc": "x/1", "langs": ["en", "de"], "en": ENGLISH, "de": {"sentences": [], "mentions": []}}


def write(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_record(tmp_path: Path) -> None:
    (document,) = read_parcorfull(write(tmp_path / "gold.jsonl", RECORD))
    assert document.name == "x/1"
    english = document.sides["en"]
    assert english.sentences[0] == ("The", "dog", "barked", ".")
    rained, slept = english.pronouns
    assert rained == GoldPronoun(1, 0, "It", (), ())
    assert slept == GoldPronoun(1, 4, "it", ((0, 0, 2),), ((0, 0, 2), (0, 2, 3), (1, 1, 3), (1, 3, 4)))
    assert document.sides["de"].pronouns == ()
    (plural,) = english.plurals
    assert (plural.text, plural.phrases) == ("and", ((0, 0, 2),))


@pytest.mark.parametrize("record", [{"doc": "x"}, {"langs": ["en"], "en": {}}, [1], "text"])
def test_what_is_no_record(tmp_path: Path, record: object) -> None:
    path = write(tmp_path / "gold.jsonl", RECORD, record)
    with pytest.raises(BadInput, match="line 2: not a record of ParCorFull"):
        list(read_parcorfull(path))


def test_the_real_file(data: Callable[[str], Path]) -> None:
    """29 documents; the counts are those of the corpus: 592 anaphoric, 8 cataphoric and 138 pleonastic *it*, of which
    one is said to be plural."""
    documents = list(read_parcorfull(data("parcorfull") / "parcorfull.en-de.jsonl.gz"))
    assert len(documents) == 29
    words = Counter(p.text.lower() for d in documents for p in d.sides["en"].pronouns)
    assert words["it"] == 737
