"""Synonyms and translations of words from resources on the user's machine: OpenThesaurus (MyThes), Ding and WordNet.

They are not part of this package: a spec such as `mythes:FILE` names the file to read.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import byte_lines, require, text_lines
from anaphora.core.parsing import is_count, shown

Sense = tuple[str, ...]  # nouns with the same meaning, in the order of the resource
OPENTHESAURUS = Path("/usr/share/mythes/th_de_DE_v2.dat")  # installed by Debian's mythes-de


class Thesaurus(Protocol):
    """Synonyms of nouns."""

    def senses(self, noun: str) -> Sequence[Sense]:
        """The synonyms of each sense of a noun, without the noun; empty if the noun is unknown."""
        ...


# OpenThesaurus

PLAIN_MARK = " (Hauptform)"
CAPITALIZED = re.compile(r"[A-ZÄÖÜ][\w-]+")


class MyThes:
    """A thesaurus in MyThes, the format of word processors (.dat; the index is not needed): a word and its senses.

        vorhang|1
        -|Gardine|Vorhang

    Words of another register or region and hypernyms have a mark, such as `(ugs.)`. They are left out, because a
    replacement must change neither tone nor meaning.
    """

    def __init__(self, path: Path) -> None:
        self._senses: dict[str, tuple[Sense, ...]] = {}
        lines = byte_lines(path)
        encoding = next(lines, b"").decode("ascii", "replace").strip()
        try:
            "".encode(encoding or "?")
        except (LookupError, ValueError):  # a name with a NUL is a ValueError
            remedy = "Is this the .dat file of a MyThes thesaurus?"
            raise BadInput(path, f"not an encoding: {encoding!r}", line=1, remedy=remedy) from None
        rows = (line.decode(encoding, "replace") for line in lines)
        number = 1
        for head in rows:
            number += 1
            word, _, count = head.rpartition("|")
            if not word and not count:
                continue
            if not is_count(count):
                raise BadInput(path, f"a word and the number of its senses are expected: {shown(head)}", line=number)
            senses = []
            for _ in range(int(count)):
                row = next(rows, None)
                number += 1
                if row is None:
                    raise BadInput(path, f"ends within the senses of {word!r}", line=number)
                words = (word.removesuffix(PLAIN_MARK) for word in row.split("|")[1:])
                senses.append(tuple(word for word in words if CAPITALIZED.fullmatch(word)))  # nouns without a mark
            self._senses[word] = tuple(sense for sense in senses if sense)

    def senses(self, noun: str) -> Sequence[Sense]:
        """The senses that contain the noun without a mark."""
        own_senses = (sense for sense in self._senses.get(noun.lower(), ()) if noun in sense)
        return [tuple(word for word in sense if word != noun) for sense in own_senses]


# Ding

# words with one of these marks are not synonyms in every region, register and time
MARKED = re.compile(
    r"\[(?:ugs|Ös|Schw|Süddt|Norddt|Bayr|Westös|Dt|Mittelwestdt|Nordostdt|Südtirol|Lie|geh|poet|pej|slang|vulg|humor|hist"
    r"|veraltet|veraltend|altertümlich|obs|rare|selten|dated|euphem|Jugendsprache|Kindersprache|fachspr|übtr)\.?\]"
)
NOTE = re.compile(r"\([^()]*\)|\[[^\]]*\]|<[^<>]*>|/[^/;]*/")
NOUN = re.compile(r"([A-ZÄÖÜ][\w-]+) \{[mfn]\}")
ENGLISH = re.compile(r"^(?:the|an?) ")


class Ding:
    """The dictionary of Ding (TU Chemnitz): German and English, parts of an entry in the same order.

        Vorhang {m}; Gardine {f} [textil.] | Vorhänge {pl} :: curtain; drape [Am.] | curtains; drapes

    Nouns of the same part have the same meaning. Ding is GPL: it is read where it is, and not copied.
    """

    def __init__(self, path: Path) -> None:
        self._senses: dict[str, list[Sense]] = defaultdict(list)
        translations: dict[str, set[str]] = defaultdict(set)
        words: dict[str, set[str]] = defaultdict(set)
        empty = True
        for nouns, english in _parts(path):
            empty = False
            if len(nouns) > 1:
                for noun in nouns:
                    self._senses[noun].append(tuple(other for other in nouns if other != noun))
            for word in english:
                translations[word].update(nouns)
            for noun in nouns:
                words[noun].update(english)
        if empty:
            raise BadInput(path, "the file has no nouns", remedy="Is it Ding's de-en.txt (`Wort {n} :: word`)?")
        self._translations, self._words = translations, words

    def senses(self, noun: str) -> Sequence[Sense]:
        """One sense for each part of an entry that has the noun and others."""
        return self._senses.get(noun, ())

    def translations(self, word: str) -> frozenset[str]:
        """The nouns that translate an English word."""
        return frozenset(self._translations.get(word.lower(), ()))

    def words(self, noun: str) -> frozenset[str]:
        """The English words of which a noun is a translation."""
        return frozenset(self._words.get(noun, ()))


def _parts(path: Path) -> Iterator[tuple[Sense, list[str]]]:
    """German nouns and their translations, for each part of each entry that has nouns."""
    for line in text_lines(path):
        german, sign, english = line.partition(" :: ")
        if not sign or line.startswith("#"):
            continue
        for one, other in zip(german.split(" | "), english.split(" | "), strict=False):
            if nouns := _part_nouns(one):
                yield nouns, [ENGLISH.sub("", " ".join(NOTE.sub("", w).split())).lower() for w in other.split(";")]


def _part_nouns(part: str) -> Sense:
    """The unmarked one-word nouns of a part, without notes in brackets."""
    nouns: list[str] = []
    for term in part.split(";"):
        if not MARKED.search(term):
            match = NOUN.fullmatch(" ".join(NOTE.sub("", term).split()))
            if match and match[1] not in nouns:
                nouns.append(match[1])
    return tuple(nouns)


# Specs

READERS: Mapping[str, Callable[[Path], Thesaurus]] = {"mythes": MyThes, "ding": Ding}


def load_thesaurus(spec: str) -> Thesaurus:
    """A thesaurus from its spec: mythes:FILE or ding:FILE."""
    kind, path = _split(spec, tuple(READERS))
    return READERS[kind](path)


def load_dictionary(spec: str) -> Ding:
    """A dictionary from its spec: ding:FILE, or the path of a file of Ding."""
    _, path = _split(spec if spec.partition(":")[0] in READERS else f"ding:{spec}", ("ding",))
    return Ding(path)


def default_thesaurus() -> str:
    """The spec of Debian's OpenThesaurus."""
    if not OPENTHESAURUS.is_file():
        remedy = "Install OpenThesaurus (apt-get install mythes-de), or name a thesaurus: --thesaurus mythes:FILE"
        raise BadInput(OPENTHESAURUS, "the thesaurus is missing", remedy=remedy)
    return f"mythes:{OPENTHESAURUS}"


def _split(spec: str, kinds: Sequence[str]) -> tuple[str, Path]:
    kind, _, path = spec.partition(":")
    if kind not in kinds or not path:
        known = ", ".join(f"{k}:PATH" for k in kinds)
        raise AnaphoraError(f"{spec!r} is not a known resource. Write one of: {known}")
    return kind, Path(path)


# WordNet's own files (wndb(5WN)): synsets, base forms (morphy(7WN)) and the most frequent sense of a noun. They come
# with Debian's `wordnet-base` or from wordnet.princeton.edu; nothing else is needed to read them.

WORDNET_FOLDER = Path("/usr/share/wordnet")
WORDNET_VARIABLE = "ANAPHORA_WORDNET"
PARTS = ("noun", "verb", "adj", "adv")

# morphy(7WN), "rules of detachment": ending → what the base form has instead
ENDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "noun": (
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ),
    "verb": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "adj": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "adv": (),
}

Synset = tuple[str, int]  # the part of speech and the offset in its data file


@dataclass(frozen=True, slots=True)
class WordNet:
    """The synsets of each word, by part of speech, and the irregular forms."""

    synsets: Mapping[str, Mapping[str, tuple[int, ...]]]
    exceptions: Mapping[str, Mapping[str, tuple[str, ...]]]

    def synsets_of(self, word: str) -> Iterator[Synset]:
        """All senses of a word in any of its base forms."""
        for part in PARTS:
            irregular = self.exceptions[part].get(word)  # then, as in morphy, no regular ending is tried
            for base in {word, *irregular} if irregular else set(base_forms(word, part)):
                for offset in self.synsets[part].get(base, ()):
                    yield part, offset


def base_forms(word: str, part: str) -> list[str]:
    """A word and its possible base forms by the rules of detachment."""
    rules = (
        (ending, instead) for ending, instead in ENDINGS[part] if word.endswith(ending) and len(word) > len(ending)
    )
    return [word, *(word.removesuffix(ending) + instead for ending, instead in rules)]


def find_wordnet(folder: Path | None = None) -> WordNet | None:
    """WordNet from a folder, from ANAPHORA_WORDNET, or from Debian's folder; None if Debian's does not exist."""
    if folder is None and (named := os.environ.get(WORDNET_VARIABLE)):
        folder = Path(named)
    if folder is not None:
        return read_wordnet(folder)
    return read_wordnet(WORDNET_FOLDER) if (WORDNET_FOLDER / "index.noun").is_file() else None


def read_wordnet(folder: Path) -> WordNet:
    """WordNet from a folder of its database files."""
    indices = {part: _index(_file(folder, f"index.{part}")) for part in PARTS}
    return WordNet(
        # without collocations (ice_cream)
        {part: {word: offsets for word, offsets in index if "_" not in word} for part, index in indices.items()},
        {part: dict(_exceptions(_file(folder, f"{part}.exc"))) for part in PARTS},
    )


def _file(folder: Path, name: str) -> Path:
    return require(folder, name, "Name WordNet's folder dict, or install Debian's wordnet-base.")


def _index(path: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Lemmas and the offsets of their synsets, the most frequent sense first.

    `lemma pos synset_cnt p_cnt [ptr_symbol…] sense_cnt tagsense_cnt synset_offset…`; the offsets are the last
    synset_cnt fields. Lines that begin with two spaces are the license.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("  ") or not line.strip():
            continue
        fields = line.split()
        try:
            yield fields[0], tuple(int(field) for field in fields[-int(fields[2]) :])
        except (IndexError, ValueError):
            raise BadInput(path, "not a line of a WordNet index", line=number) from None


def _exceptions(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`inflected base…`"""
    for line in text_lines(path):
        inflected, *bases = line.split() or [""]
        if bases:
            yield inflected, tuple(bases)


class FirstSenses:
    """English nouns and the words of their first sense, the most frequent one in WordNet's counts."""

    def __init__(self, folder: Path) -> None:
        self._first = {lemma: offsets[0] for lemma, offsets in _index(_file(folder, "index.noun")) if offsets}
        self._words = dict(_words(_file(folder, "data.noun"), set(self._first.values())))

    def first_sense(self, noun: str) -> tuple[str, ...]:
        """The words of the first sense, including the noun; empty if the noun is unknown."""
        for lemma in base_forms(noun.lower().replace(" ", "_"), "noun"):
            if lemma in self._first:
                return self._words.get(self._first[lemma], ())
        return ()


def _words(path: Path, offsets: set[int]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The words of some synsets: `offset file type count(hex) word lex_id …`."""
    wanted = {f"{offset:08}" for offset in offsets}
    for number, line in enumerate(text_lines(path), start=1):
        if line[:8] in wanted:
            try:
                _, _, _, count, *fields = line.split(" ")
                words = fields[: 2 * int(count, 16) : 2]
            except ValueError:
                raise BadInput(path, "not a line of WordNet's data", line=number) from None
            yield int(line[:8]), tuple(word.replace("_", " ").lower() for word in words)
