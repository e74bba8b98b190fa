"""A synthetic English–German corpus in which only the sentence before tells how *it* is translated.

Documents have two sentences. The first names two things, and the second says something of one of them: *I found the
mirror under the shelf. It looks quite new.* Which one is meant follows from the first sentence (it is the object), and
its gender from

- source documents: the English noun, so that previous source is enough;
- target documents: the German noun alone. Their English nouns have two translations, one masculine and one feminine,
  as likely as each other (as in the sets of Bawden et al. 2018 §2.1): previous target is needed.

Suites have pairs of nouns that no training document has together. In each of them every second sentence is asked for
every gender as often, so that a model without the context it needs is right in exactly 1/3 and 1/2 of the examples.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of

KINDS = ("source", "target")
PRONOUNS = {"m": "er", "f": "sie", "n": "es"}
ACCUSATIVE = {"m": "den", "f": "die", "n": "das"}
DATIVE = {"m": "dem", "f": "der", "n": "dem"}


class Noun(NamedTuple):
    english: str
    german: str
    gender: str


MASCULINE = (
    *(("mirror", "Spiegel"), ("bucket", "Eimer"), ("chair", "Stuhl"), ("pencil", "Bleistift")),
    *(("ring", "Ring"), ("oven", "Ofen"), ("basket", "Korb"), ("cupboard", "Schrank")),
)
FEMININE = (
    *(("ladder", "Leiter"), ("candle", "Kerze"), ("bottle", "Flasche"), ("brush", "Bürste")),
    *(("flute", "Flöte"), ("chain", "Kette"), ("pump", "Pumpe"), ("vase", "Vase")),
)
NEUTER = (
    *(("pillow", "Kissen"), ("shelf", "Regal"), ("window", "Fenster"), ("wheel", "Rad")),
    *(("radio", "Radio"), ("towel", "Handtuch"), ("piano", "Klavier"), ("dress", "Kleid")),
)
NOUNS = tuple(
    Noun(*pair, gender) for gender, pairs in zip("mfn", (MASCULINE, FEMININE, NEUTER), strict=True) for pair in pairs
)
TWOFOLD = (  # English; a masculine and a feminine translation
    *(("cup", "Becher", "Tasse"), ("bag", "Beutel", "Tasche"), ("jug", "Krug", "Kanne"), ("box", "Karton", "Kiste")),
    *(
        ("coat", "Mantel", "Jacke"),
        ("seat", "Sitz", "Bank"),
        ("bolt", "Bolzen", "Schraube"),
        ("rug", "Teppich", "Matte"),
    ),
)
TWOFOLD_NOUNS = tuple(
    Noun(english, german, gender) for english, *pair in TWOFOLD for gender, german in zip("mf", pair, strict=True)
)
# {thing}: what is spoken of; {other}: the other noun. German has the accusative for the one, the dative for the other.
FRAMES = (
    ("I found the {thing} under the {other}.", "Ich fand {thing} unter {other}."),
    ("We lost the {thing} behind the {other}.", "Wir verloren {thing} hinter {other}."),
    ("You see the {thing} beside the {other}.", "Du siehst {thing} neben {other}."),
    ("Under the {other} we found the {thing}.", "Unter {other} fanden wir {thing}."),
    ("Behind the {other} I lost the {thing}.", "Hinter {other} verlor ich {thing}."),
)
FOLLOWING = (
    ("It looks quite new.", "{} sieht ganz neu aus."),
    ("It cost too much.", "{} hat zu viel gekostet."),
    ("It is heavy.", "{} ist schwer."),
    ("Today it is clean.", "Heute ist {} sauber."),
    ("Sadly it broke.", "Leider ist {} zerbrochen."),
    ("Perhaps it was a gift.", "Vielleicht war {} ein Geschenk."),
)
HELD_OUT = 5  # every fifth pair of nouns is for the suite alone


class Document(NamedTuple):
    """Two sentences and their translations."""

    source: tuple[str, str]
    target: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Files:
    """What `write_synthetic` leaves: text for training and validation, and a suite for each kind of document."""

    train: tuple[Path, Path]
    validation: tuple[Path, Path]
    suites: dict[str, Path]


def write_synthetic(folder: Path, documents: int = 6000, seed: int = 1, kinds: tuple[str, ...] = KINDS) -> Files:
    """A corpus in a folder: as many documents of each kind, mixed; a blank line ends a document."""
    files = Files(
        (folder / "train.en", folder / "train.de"),
        (folder / "validation.en", folder / "validation.de"),
        {kind: folder / f"{kind}.jsonl" for kind in kinds},
    )
    for paths, number, salt in ((files.train, documents, 0), (files.validation, max(50, documents // 40), 1)):
        found = [document for kind in kinds for document in make_documents(kind, number // len(kinds), 2 * seed + salt)]
        random.Random(seed).shuffle(found)
        for side, path in enumerate(paths):
            with atomic_writer(path) as out:
                out.write("".join(f"{document[side][0]}\n{document[side][1]}\n\n" for document in found).encode())
    for kind, path in files.suites.items():
        make_suite(kind, seed=seed).write(path)
    return files


def make_documents(kind: str, number: int, seed: int) -> Iterator[Document]:
    """Documents with pairs of nouns that are not in the suites, the same for the same seed."""
    rng = random.Random(f"{kind} {seed}")
    pairs = [pair for pair in _pairs(kind) if not _held_out(*pair)]
    for _ in range(number):
        thing, other = rng.choice(pairs)
        yield _document(thing, other, rng.choice(FRAMES), rng.choice(FOLLOWING))


def make_suite(kind: str, each: int = 20, seed: int = 1) -> Suite:
    """Held-out pairs of nouns: so many examples of each second sentence with each gender."""
    genders = "mfn" if kind == "source" else "mf"
    header = Header(f"synthetic-{kind}", "en", "de", ("reference_pronoun",), blocks="block", licence="Apache-2.0")

    def examples() -> Iterator[Example]:
        rng = random.Random(f"{kind} {seed}")
        pairs = [pair for pair in _pairs(kind) if _held_out(*pair)]
        for f, k in product(range(len(FOLLOWING)), range(each)):
            block = f"{f}.{k}"
            if kind == "target":  # the same English twice, its noun translated in either way
                thing, other = rng.choice(pairs)
                chosen = [(noun, other) for noun in TWOFOLD_NOUNS if noun.english == thing.english]
                frame = rng.choice(FRAMES)
                asked = [(pair, frame) for pair in chosen]
            else:
                asked = [(rng.choice([p for p in pairs if p[0].gender == g]), rng.choice(FRAMES)) for g in genders]
            for (thing, other), frame in asked:
                yield _example(_document(thing, other, frame, FOLLOWING[f]), thing, genders, f, block)

    return suite_of(header, examples)


def _example(document: Document, thing: Noun, genders: str, following: int, block: str) -> Example:
    current = [_filled(FOLLOWING[following][1], PRONOUNS[gender]) for gender in genders]
    return Example(
        id=f"{block}.{thing.gender}",
        source=document.source,
        candidates=tuple((document.target[0], sentence) for sentence in current),
        gold=genders.index(thing.gender),
        tags={"reference_pronoun": PRONOUNS[thing.gender], "noun": thing.german, "block": block},
    )


def _document(thing: Noun, other: Noun, frame: tuple[str, str], following: tuple[str, str]) -> Document:
    english = frame[0].format(thing=thing.english, other=other.english)
    german = frame[1].format(
        thing=f"{ACCUSATIVE[thing.gender]} {thing.german}", other=f"{DATIVE[other.gender]} {other.german}"
    )
    return Document((english, following[0]), (german, _filled(following[1], PRONOUNS[thing.gender])))


def _pairs(kind: str) -> list[tuple[Noun, Noun]]:
    """What is spoken of, and the other noun."""
    if kind not in KINDS:
        raise AnaphoraError(f"unknown kind of synthetic documents {kind!r}. Known: {', '.join(KINDS)}")
    things = NOUNS if kind == "source" else TWOFOLD_NOUNS
    return [(thing, other) for thing, other in product(things, NOUNS) if thing != other]


def _held_out(thing: Noun, other: Noun) -> bool:
    """Whether two nouns are never together in a training document; each of them is, with others."""
    names = [noun.english for noun in NOUNS] + [english for english, *_ in TWOFOLD]
    return (names.index(thing.english) + names.index(other.english)) % HELD_OUT == 0


def _filled(sentence: str, pronoun: str) -> str:
    sentence = sentence.format(pronoun)
    return sentence[0].upper() + sentence[1:]
