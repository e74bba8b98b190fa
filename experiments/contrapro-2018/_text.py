"""Parallel text with documents from what is at hand (ANAPHORA_DATA), cleared of what the test set holds.

tatoeba and multi30k: single sentences, hence documents of one; docs-en-de: talks, news, Europarl; ctxpro: passages of
subtitles with DeepL's translation of the whole passage, cut into sentences where both sides have as many.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

Pair = tuple[str, str]
Document = list[Pair]

ENDS = re.compile(r"(?<=[.!?…])[\"”»')]*\s+")
TOLD = 5  # words from which on a sentence that the test set also has is no coincidence
CTXPRO = ("mini.gender", "mini.formality", "auxiliary")
DOCUMENTS = ("Europarl7/concatenated_en2de_dev", "Europarl7/concatenated_en2de_test", "NC-2016/concatenated_en2de_dev")
VALIDATION = 10  # documents at the end of the talks' development set


def write_text(data: Path, folder: Path) -> dict[str, int]:
    """Training, validation and test files with a blank line between documents; how many pairs each source gave."""
    folder.mkdir(parents=True, exist_ok=True)
    known = contrapro_sources(data)
    talks = list(tagged(data / "docs-en-de/IWSLT2017/concatenated_en2de_dev"))
    sources = {
        "tatoeba": ([pair] for pair in tatoeba(data)),
        "multi30k": ([pair] for pair in lines(data / "multi30k/train.en.gz", data / "multi30k/train.de.gz")),
        "docs-en-de": (
            d for d in (*(d for name in DOCUMENTS for d in tagged(data / "docs-en-de" / name)), *talks[:-VALIDATION])
        ),
        "ctxpro": ctxpro(data),
    }
    counts: dict[str, int] = {}
    with Writer(folder / "train") as train:
        for name, documents in sources.items():
            counts[name] = 0
            for document in documents:
                if any(told(english, known) for english, _ in document):
                    counts["left out: in ContraPro"] = counts.get("left out: in ContraPro", 0) + len(document)
                    continue
                train.write(document)
                counts[name] += len(document)
    flickr = ([pair] for pair in lines(data / "multi30k/val.en.gz", data / "multi30k/val.de.gz"))
    for name, held_out in {
        "validation": [*talks[-VALIDATION:], *flickr],
        "talks": tagged(data / "docs-en-de/IWSLT2017/concatenated_en2de_test"),
        "flickr": (
            [p] for p in lines(data / "multi30k/test_2016_flickr.en.gz", data / "multi30k/test_2016_flickr.de.gz")
        ),
    }.items():
        with Writer(folder / name) as writer:
            counts[name] = sum(map(writer.write, held_out))
    return counts


class Writer:
    """Two files that belong together line by line, a blank line after each document."""

    def __init__(self, stem: Path) -> None:
        self.files = [stem.with_suffix(f".{language}").open("w", encoding="utf-8") for language in ("en", "de")]

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.files:
            file.close()

    def write(self, document: Document) -> int:
        for side, file in enumerate(self.files):
            file.write("".join(pair[side] + "\n" for pair in document) + "\n")
        return len(document)


def told(english: str, known: frozenset[str]) -> bool:
    return len(english.split()) >= TOLD and plain(english) in known


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


def contrapro_sources(data: Path) -> frozenset[str]:
    with gzip.open(data / "contrapro/contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as file:
        return frozenset(plain(json.loads(line)["src"]) for line in file)


def tatoeba(data: Path) -> Iterator[Pair]:
    with gzip.open(data / "tatoeba/eng-deu.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            english, german = line.rstrip("\n").split("\t")[:2]
            yield english, german


def lines(source: Path, target: Path) -> Iterator[Pair]:
    with gzip.open(source, "rt", encoding="utf-8") as one, gzip.open(target, "rt", encoding="utf-8") as other:
        for english, german in zip(one, other, strict=True):
            yield " ".join(english.split()), " ".join(german.split())


def tagged(stem: Path) -> Iterator[Document]:
    """Documents between lines `<d>`."""
    document: Document = []
    for pair in lines(stem.with_name(stem.name + "_en.txt.gz"), stem.with_name(stem.name + "_de.txt.gz")):
        if pair[0] == "<d>":
            if document:
                yield document
            document = []
        elif all(pair):
            document.append(pair)
    if document:
        yield document


def ctxpro(data: Path) -> Iterator[Document]:
    """Passages whose translation has as many sentences as their segments together; the others are left out."""
    for name in CTXPRO:
        text = data / f"ctxpro/{name}.opensubtitles.en-de.test.gz"
        for english, german in lines(text, data / f"ctxpro/deepl.{name}.opensubtitles.en-de.test.contexts.gz"):
            segments = [segment.strip() for segment in english.split("<eos>")]
            pieces = sentences(german)
            counts = [len(sentences(segment)) for segment in segments]
            if sum(counts) == len(pieces) and all(counts):
                yield list(zip(segments, joined(pieces, counts), strict=True))


def sentences(text: str) -> list[str]:
    return [piece for piece in ENDS.split(text.strip()) if piece]


def joined(pieces: list[str], counts: Iterable[int]) -> Iterator[str]:
    place = 0
    for count in counts:
        yield " ".join(pieces[place : place + count])
        place += count
