"""Parallel text with documents from what is at hand (ANAPHORA_DATA), cleared of what ContraPro holds.

tatoeba and multi30k: single sentences, hence documents of one; docs-en-de: talks, news, Europarl; ctxpro: passages of
subtitles with DeepL's translation of the whole passage, cut into sentences where both sides have as many.

No sentence of three or more words that ContraPro has, as a sentence or as context, is in the text: a passage of ctxpro
that holds one is left out as a whole, since it may be the same film; a longer document is cut in two where it has one.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from pathlib import Path

Pair = tuple[str, str]
Document = list[Pair]

WORD = re.compile(r"\w+")
ENDS = re.compile(r"(?<=[.!?…])[\"”»')]*\s+")
TOLD = 3  # words from which on a sentence must not be one of ContraPro's
CTXPRO = ("mini.gender", "mini.formality", "auxiliary")
DOCUMENTS = ("Europarl7/concatenated_en2de_dev", "Europarl7/concatenated_en2de_test", "NC-2016/concatenated_en2de_dev")
VALIDATION = 10  # documents at the end of the talks' development set
TRANSLATED = 600  # sentences of a test set for BLEU, at least
SEPARATOR = " <SEP> "
GENDERS = {"er": "masculine", "ihn": "masculine", "sie": "feminine", "es": "neuter"}  # of the pronouns for *it*
RIVALS = {"masculine": {"he", "him"}, "feminine": {"she", "her", "they", "them"}, "neuter": set[str]()}  # in English
YOU = {"you", "your", "yours", "yourself"}  # → Sie


def write_text(data: Path, folder: Path, limit: int | None = None) -> dict[str, int]:
    """Training, validation and test files with a blank line between documents; how many pairs each has.

    single, documents: the text of the first stages, single sentences and documents of more than one
    validation, talks, captions: held out

    What the last stage reads is made of these (_last_stage.py).

    limit: the most documents of each source, to try the steps; None: all
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = contrapro_sentences(data)
    talks = list(tagged(data / "docs-en-de/IWSLT2017/concatenated_en2de_dev"))
    longer = [d for name in DOCUMENTS for d in tagged(data / "docs-en-de" / name)] + talks[:-VALIDATION]
    longer = longer[-limit // 20 if limit else 0 :]
    captions = lines(data / "multi30k/train.en.gz", data / "multi30k/train.de.gz")
    sources = {
        "single": {
            "tatoeba": [[pair] for pair in islice(tatoeba(data), limit) if not told(pair[0], known)],
            "multi30k": [[pair] for pair in islice(captions, limit) if not told(pair[0], known)],
        },
        "documents": {
            "docs-en-de": [piece for document in longer for piece in cut(document, known)],
            "ctxpro": [d for d in islice(ctxpro(data), limit) if not any(told(english, known) for english, _ in d)],
        },
    }
    counts = {name: sum(map(len, d)) for parts in sources.values() for name, d in parts.items()}
    training = {name: [d for part in parts.values() for d in part] for name, parts in sources.items()}
    files: dict[str, Iterable[Document]] = {
        **training,
        "validation": [*talks[-VALIDATION:], *islice(flickr(data, "val"), limit)],
        "talks": first(tagged(data / "docs-en-de/IWSLT2017/concatenated_en2de_test"), limit),
        "captions": first(flickr(data, "test_2016_flickr"), limit),
    }
    for name, documents in files.items():
        counts[name] = write(documents, folder / name)
    return counts


def first(documents: Iterable[Document], limit: int | None = None) -> Iterator[Document]:
    """The first documents, until they have enough sentences to translate."""
    pairs = 0
    for document in documents:
        if pairs >= (TRANSLATED if limit is None else limit // 20):
            return
        pairs += len(document)
        yield document


def write(documents: Iterable[Document], stem: Path, target: str = "de") -> int:
    """Two files that belong together line by line, a blank line after each document; the number of pairs."""
    pairs = 0
    with (
        stem.with_suffix(".en").open("w", encoding="utf-8") as one,
        stem.with_suffix(f".{target}").open("w", encoding="utf-8") as other,
    ):
        for document in documents:
            pairs += len(document)
            for side, file in enumerate((one, other)):
                file.write("".join(pair[side] + "\n" for pair in document) + "\n")
    return pairs


def read(stem: Path) -> list[Document]:
    """The documents of two files that `write` wrote."""
    sides = [stem.with_suffix(suffix).read_text("utf-8").rstrip("\n").split("\n\n") for suffix in (".en", ".de")]
    both = zip(*sides, strict=True)
    return [list(zip(english.split("\n"), german.split("\n"), strict=True)) for english, german in both]


# Passages with *it*


def it_passages(documents: Iterable[Document]) -> dict[str, list[Pair]]:
    """Return, for each gender, passages of two sentences whose second has one *it* and one pronoun that translates it.

    A pronoun that may translate another English one (*he* → *er*, *you* → *Sie*) is none.
    """
    found: dict[str, dict[Pair, None]] = {gender: {} for gender in GENDERS.values()}
    for document in documents:
        for previous, current in pairwise(document):
            gender = gender_of_it(*current)
            if gender and all(previous):
                english, german = (SEPARATOR.join(side) for side in zip(previous, current, strict=True))
                found[gender][english, german] = None
    return {gender: list(passages) for gender, passages in found.items()}


def gender_of_it(english: str, german: str) -> str | None:
    words = plain(english).split()
    polite = not YOU.isdisjoint(words)
    pronouns = [
        word.lower() for word in WORD.findall(german) if word.lower() in GENDERS and not (polite and word == "Sie")
    ]
    if words.count("it") != 1 or len(pronouns) != 1:
        return None
    gender = GENDERS[pronouns[0]]
    return gender if RIVALS[gender].isdisjoint(words) else None


# What the test set holds


def contrapro_sentences(data: Path) -> frozenset[str]:
    """Every English sentence of ContraPro, contexts included."""
    with gzip.open(data / "contrapro/contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    return frozenset(s for item in items for key in ("src", "src_context") for s in telling(item[key]))


def telling(text: str, words: int = TOLD) -> set[str]:
    """The text and each of its sentences, if they have enough words to tell where they are from."""
    return {s for s in map(plain, (text, *sentences(text))) if len(s.split()) >= words}


def told(english: str, known: frozenset[str], words: int = TOLD) -> bool:
    return not known.isdisjoint(telling(english, words))


def cut(document: Document, known: frozenset[str]) -> Iterator[Document]:
    """The parts of a document between sentences of the test set."""
    part: Document = []
    for pair in document:
        if told(pair[0], known):
            if part:
                yield part
            part = []
        else:
            part.append(pair)
    if part:
        yield part


def plain(text: str) -> str:
    return re.sub(r"\W+", " ", text.lower()).strip()


# Readers


def tatoeba(data: Path) -> Iterator[Pair]:
    with gzip.open(data / "tatoeba/eng-deu.tsv.gz", "rt", encoding="utf-8") as file:
        for line in file:
            english, german = line.rstrip("\n").split("\t")[:2]
            yield english, german


def flickr(data: Path, part: str) -> Iterator[Document]:
    return ([pair] for pair in lines(data / f"multi30k/{part}.en.gz", data / f"multi30k/{part}.de.gz"))


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


def ctxpro(data: Path, names: Iterable[str] = CTXPRO) -> Iterator[Document]:
    """Passages whose translation has as many sentences as their segments together; the others are left out."""
    for name in names:
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
