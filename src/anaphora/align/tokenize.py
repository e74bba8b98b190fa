"""Text hygiene and words: signs are normalized, then lines are tokenized by Moses unless they are tokenized already.

Normalization. `l'eau`, `l’eau`, `l&apos;eau` and `l&#39;eau` are the same words. All code that divides text into words
or compares words normalizes it first, so that the spelling of a sign is never a difference between translations:

- HTML entities with their semicolon, named, decimal and hexadecimal, also escaped twice: `&amp;#39;` is `'`;
- apostrophes and single quotation marks: ’ ‘ ‛ ʼ ＇ are `'`, and so are ´ and ′ between letters;
- spaces: no-break, narrow, thin and all others of Unicode are one space; soft hyphens, word joiners and byte-order
  marks are removed;
- full-width signs, digits and letters: ！ is `!`;
- accents: a letter and its combining accent are one character (NFC).

Double quotation marks, dashes and dots stay as they are: they differ in meaning or style, and no word depends on them.

Tokenization. `auto`, the default of every command, looks at each text by itself. Text whose words still carry
punctuation (`late,`) is plain and is tokenized; other text is tokenized already, and Moses would divide its words once
more (`c' est` becomes `c ' est`).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError, check_name

# Normalization

ACCENTS = "combining accents"  # under this name they are counted
APOSTROPHES = "’‘‛ʼ＇"
SPACES = "\t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
NOTHING = "\u00ad\u2060\ufeff"
FULL_WIDTH = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFF01, 0xFF5F), 0xFFE0, 0xFFE1)}

MOST_NAMED = 4  # signs that are named one by one in a note

_SIGNS = {
    **FULL_WIDTH,
    **dict.fromkeys(APOSTROPHES, "'"),
    **dict.fromkeys(SPACES, " "),
    **dict.fromkeys(NOTHING, ""),
}
_SIGN = re.compile(f"[{''.join(map(re.escape, _SIGNS))}]|(?<=[^\\W\\d_])[´′](?=[^\\W\\d_])")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_ORDINARY = frozenset("\t\n\r\f\v")  # white space of every file; not worth counting


def normalize(text: str) -> str:
    """The normalized text. Normalizing it again changes nothing.

    >>> normalize("C’est l&apos;eau\u202f！")
    "C'est l'eau !"
    """
    return text if text.isascii() and "&" not in text else _normalized(text, Counter())


_normalize = normalize  # the name is also that of a parameter below


def normalize_counting(text: str, counts: Counter[str]) -> str:
    """The normalized text; adds every sign that was replaced, as it was written, to the counts."""
    return text if text.isascii() and "&" not in text else _normalized(text, counts)


def signs_of(lines: Iterable[str]) -> Counter[str]:
    """The number of occurrences of each sign that `normalize` would replace."""
    counts: Counter[str] = Counter()
    for line in lines:
        normalize_counting(line, counts)
    return counts


def sign_name(sign: str) -> str:
    """A sign as shown to users: itself, or its code point if it is invisible."""
    return f"U+{ord(sign):04X}" if len(sign) == 1 and (sign in SPACES or sign in NOTHING) else sign


def describe_signs(counts: Mapping[str, int]) -> str:
    """The signs that were replaced, most frequent first: `3,741 ’, 12 U+00A0`."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = [f"{count:,} {sign_name(sign)}" for sign, count in ordered[:MOST_NAMED]]
    if len(ordered) > MOST_NAMED:
        shown.append(f"{sum(count for _, count in ordered[MOST_NAMED:]):,} others")
    return ", ".join(shown)


class Mismatch(NamedTuple):
    """A sign that one text has far more often than the other."""

    sign: str
    text: int
    reference: int


def mismatches(text: Mapping[str, int], reference: Mapping[str, int], sentences: int) -> list[Mismatch]:
    """Signs that are written differently in two texts: in one percent of the sentences, and more than twice as often.

    Spaces are ignored: metrics that compare raw text do not distinguish them.
    """
    differing = []
    for sign in sorted({*text, *reference}):
        one, other = text.get(sign, 0), reference.get(sign, 0)
        if sign not in SPACES and abs(one - other) * 100 >= sentences and max(one, other) > 2 * min(one, other):
            differing.append(Mismatch(sign, one, other))
    return differing


def _normalized(text: str, counts: Counter[str]) -> str:
    """Normalize until nothing changes: an entity may be a sign or, escaped twice, another entity."""

    def unescaped(match: re.Match[str]) -> str:
        entity = match[0]
        if entity[1] != "#" and entity[1:] not in html5:
            return entity
        counts[entity] += 1
        return html.unescape(entity)

    def replaced(match: re.Match[str]) -> str:
        if match[0] not in _ORDINARY:
            counts[match[0]] += 1
        return _SIGNS.get(match[0], "'")

    while True:
        before = text
        text = _ENTITY.sub(unescaped, text)
        composed = unicodedata.normalize("NFC", text)
        if composed != text:
            counts[ACCENTS] += max(1, len(text) - len(composed))
        text = _SIGN.sub(replaced, composed)
        if text == before:
            return text


# Tokenization

TOKENIZERS = ("auto", "moses", "none")
DEFAULT = "auto"
TOKENIZED = 0.02  # the largest share of words with punctuation in a tokenized text
WARN = 0.005  # above this share a warning is shown

Words = list[str]
Split = Callable[[str], Words]

# Punctuation of a word: an opening sign before it, a closing one after it, an apostrophe inside.
_CARRIES = re.compile(r"""^[("\[{«“„¿¡]+\w|\w[^\w\s]*[,;:?!…)"\]}»”“。、]$|[^\W\d_]'[^\W\d_]""")
_CLITICS = frozenset({"n't"})  # a word of its own in the Penn Treebank's tokenization
_FINAL_POINT = re.compile(r"[^\W_]{2,}\.$")


@dataclass(frozen=True, slots=True)
class Treatment:
    """The tokenization and normalization of a text.

    tokenize: moses, or none if it was split at white space
    words: the number of words; punctuated: the number of words that still carry punctuation
    normalized: the signs that were replaced, as they were written, with their counts
    language: the language of Moses' rules; "" for its general rules
    """

    tokenize: str = "none"
    words: int = 0
    punctuated: int = 0
    normalized: Mapping[str, int] = field(default_factory=dict)
    language: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "tokenize": self.tokenize,
            "words": self.words,
            "words_with_punctuation": self.punctuated,
            "normalized": {sign_name(sign): count for sign, count in sorted(self.normalized.items())},
        }


@dataclass(frozen=True, slots=True)
class Text:
    """The sentences of a text as words, and how it was processed."""

    sentences: list[Words]
    treatment: Treatment

    @property
    def is_tokenized(self) -> bool:
        """Whether few words carry punctuation or, in a short text, most points and commas stand alone."""
        carrying = self.treatment.punctuated
        if carrying <= TOKENIZED * self.treatment.words:
            return True
        return sum(word in (".", ",") for sentence in self.sentences for word in sentence) > 2 * carrying


@dataclass(frozen=True, slots=True)
class Tokenization:
    """The settings by which the texts of a language pair are divided into words.

    tokenize: auto, moses or none
    normalize: whether signs are normalized first
    languages: those of source and target; Moses' general rules are used for an unknown one
    split: divides lines instead, and changes nothing else, to reproduce other programs
    """

    tokenize: str = DEFAULT
    normalize: bool = True
    languages: tuple[str, str] = ("", "")
    split: Split | None = None

    def __post_init__(self) -> None:
        check_name("tokenization", self.tokenize, TOKENIZERS)

    def source(self, lines: Iterable[str]) -> Text:
        return self._text(lines, self.languages[0])

    def target(self, lines: Iterable[str]) -> Text:
        return self._text(lines, self.languages[1])

    def _text(self, lines: Iterable[str], language: str) -> Text:
        if self.split is None:
            return tokenize(lines, self.tokenize, language, normalize=self.normalize)
        sentences = [self.split(line) for line in lines]
        return Text(sentences, Treatment("none", sum(map(len, sentences)), sum(map(carrying_punctuation, sentences))))

    def pairs(self, source: Iterable[str], target: Iterable[str]) -> list[tuple[Words, Words]]:
        """The words of parallel text."""
        return list(zip(self.source(source).sentences, self.target(target).sentences, strict=True))


def tokenize(lines: Iterable[str], how: str = DEFAULT, language: str = "", *, normalize: bool = True) -> Text:
    """The words of each line.

    none: split at white space, so that the number of words is that of the file
    moses: Moses' tokenizer for the language, as sacremoses has it; signs are not escaped (`l'`, not `l&apos;`)
    auto: none if the text is tokenized already, otherwise moses
    """
    lines = list(lines)
    counts: Counter[str] = Counter()
    divided = [normalized_words(line, counts) if normalize else line.split() for line in lines]
    words = sum(map(len, divided))
    punctuated = sum(map(carrying_punctuation, divided))
    as_it_is = Text(divided, Treatment("none", words, punctuated, counts))
    if how == "none" or (how == "auto" and as_it_is.is_tokenized):
        return as_it_is
    split = moses(language)
    counts = Counter()
    sentences = [split(normalize_counting(line, counts) if normalize else line) for line in lines]
    return Text(sentences, Treatment("moses", sum(map(len, sentences)), 0, counts, language))


def looks_tokenized(lines: Iterable[str]) -> bool:
    """Return whether a text is tokenized already, as `auto` sees it."""
    return tokenize(lines, "none").is_tokenized


def carrying_punctuation(words: Sequence[str]) -> int:
    """The number of words of a sentence that still carry punctuation: `late,`, `"Yes`, `c'est`, and a last `go.`"""
    inside = sum(1 for word in map(_normalize, words) if _CARRIES.search(word) and word not in _CLITICS)
    return inside + (1 if words and _FINAL_POINT.search(words[-1]) else 0)


def moses(language: str = "") -> Split:
    """Moses' tokenizer for a language; its general rules if the language is unknown."""
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise AnaphoraError(
            "plain text is tokenized with sacremoses, which is not installed. Install it with: "
            'pip install "anaphora[align]", or pass --tokenize none if the text is tokenized already'
        ) from None
    tokenizer = MosesTokenizer(language or "xx")

    def split(line: str) -> Words:
        words: Words = tokenizer.tokenize(line, escape=False)
        return words

    return split


def signature(treatments: Iterable[Treatment], *, normalize: bool) -> tuple[str, str]:
    """The parts of a signature that describe tokenization and normalization."""
    tokenizations = sorted({treatment.tokenize for treatment in treatments})
    return f"tok:{'+'.join(tokenizations)}", f"norm:{'signs' if normalize else 'none'}"


def notes(treatments: Mapping[str, Treatment]) -> list[str]:
    """The signs that were replaced in each text, for the notes below a table."""
    replaced = [f"{name} {describe_signs(t.normalized)}" for name, t in treatments.items() if t.normalized]
    return [f"normalized: {'; '.join(replaced)}"] if replaced else []


def warnings(treatments: Mapping[str, Treatment]) -> list[str]:
    """Warnings about texts that do not look tokenized, or were tokenized without knowing their language."""
    unknown = [name for name, t in treatments.items() if t.tokenize == "moses" and not t.language]
    rules = "tokenized by Moses' general rules, as the language is not known. Name the languages with -l, such as en-fr"
    messages = [f"{', '.join(unknown)}: {rules}"] if unknown else []
    carrying = [
        f"{t.punctuated:,} of {t.words:,} words of {name}"
        for name, t in treatments.items()
        if t.tokenize == "none" and t.punctuated > WARN * t.words
    ]
    if carrying:
        messages.append(
            f"{', '.join(carrying)} still carry punctuation, so that pronouns and links are missed. Tokenize plain "
            "text with --tokenize moses, and align it as it is tokenized"
        )
    return messages


def pair_of(languages: str | None, source: Path, target: Path) -> tuple[str, str]:
    """The two languages of `en-fr`; by default those of the file names (`talk.en`)."""
    if not languages:
        return _language_of(source), _language_of(target)
    first, dash, second = languages.partition("-")
    if not (first and dash and second):
        raise AnaphoraError(f"-l {languages}: two languages are needed, such as en-fr")
    return first, second


def _language_of(path: Path) -> str:
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    return ending if re.fullmatch("[a-z]{2}", ending) else ""


def normalized_words(line: str, counts: Counter[str]) -> Words:
    """The normalized words of a line, split at white space. A word with an entity for a space stays one word."""
    words = []
    for word in line.split():
        here: Counter[str] = Counter()
        normal = "".join(normalize_counting(word, here).split())
        words.append(normal or word)
        if normal:
            counts.update(here)
    return words
