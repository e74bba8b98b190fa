"""Lines of text as words: normalized, then tokenized as Moses does it, unless they are tokenized already.

`auto`, the default of every command, looks at each text by itself: where words still carry punctuation (`late,`) it is
plain text and is tokenized; where none do it is tokenized already, and Moses would divide its words once more (`c' est`
becomes `c ' est`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, did_you_mean
from anaphora.normalization import describe_signs, normalize_counting, sign_name
from anaphora.normalization import normalize as normalize_sign

TOKENIZERS = ("auto", "moses", "none")
DEFAULT = "auto"
TOKENIZED = 0.02  # of the words of a tokenized text at most this share looks as if it carried punctuation
WARN = 0.005  # above this share it is worth a warning

Words = list[str]
Split = Callable[[str], Words]

# Punctuation at a word: an opening sign before it, a closing one behind it, an apostrophe inside of it.
_CARRIES = re.compile(r"""^[("\[{«“„¿¡]+\w|\w[^\w\s]*[,;:?!…)"\]}»”“。、]$|[^\W\d_]'[^\W\d_]""")
_CLITICS = frozenset({"n't"})  # a word of its own in the Penn Treebank's tokenization
_FINAL_POINT = re.compile(r"[^\W_]{2,}\.$")


@dataclass(frozen=True, slots=True)
class Treatment:
    """What was done to a text.

    tokenize: moses, or none where its words are what white space divides
    words: how many there are; punctuated: those that still carry punctuation
    normalized: signs that were replaced, as they were written, and how often
    language: whose rules Moses used; "" are its general ones
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
    """The sentences of a text as words, and how they became so."""

    sentences: list[Words]
    treatment: Treatment

    @property
    def is_tokenized(self) -> bool:
        """Few words carry punctuation; or, in a short text, most points and commas stand alone, as in no plain text."""
        carrying = self.treatment.punctuated
        if carrying <= TOKENIZED * self.treatment.words:
            return True
        return sum(word in (".", ",") for sentence in self.sentences for word in sentence) > 2 * carrying


@dataclass(frozen=True, slots=True)
class Tokenization:
    """How the texts of a language pair are divided into words.

    tokenize: auto, moses or none
    normalize: signs that are written in several ways are made one before (see `anaphora.normalization`)
    languages: of source and target; where one is not known Moses' general rules are used
    """

    tokenize: str = DEFAULT
    normalize: bool = True
    languages: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        if self.tokenize not in TOKENIZERS:
            known = ", ".join(TOKENIZERS)
            problem = f"unknown tokenization {self.tokenize!r}{did_you_mean(self.tokenize, TOKENIZERS)}"
            raise AnaphoraError(f"{problem}. Known: {known}")

    def source(self, lines: Iterable[str]) -> Text:
        return tokenize(lines, self.tokenize, self.languages[0], normalize=self.normalize)

    def target(self, lines: Iterable[str]) -> Text:
        return tokenize(lines, self.tokenize, self.languages[1], normalize=self.normalize)

    def pairs(self, source: Iterable[str], target: Iterable[str]) -> list[tuple[Words, Words]]:
        """The words of parallel text."""
        return list(zip(self.source(source).sentences, self.target(target).sentences, strict=True))


@dataclass(frozen=True, slots=True)
class AsItIs:
    """Lines divided by a function and otherwise left as they are, for programs that are to be reproduced."""

    split: Split
    tokenize: str = "none"
    normalize: bool = False

    def source(self, lines: Iterable[str]) -> Text:
        sentences = [self.split(line) for line in lines]
        return Text(sentences, Treatment("none", sum(map(len, sentences)), sum(map(carrying_punctuation, sentences))))

    target = source

    def pairs(self, source: Iterable[str], target: Iterable[str]) -> list[tuple[Words, Words]]:
        return list(zip(self.source(source).sentences, self.target(target).sentences, strict=True))


def tokenize(lines: Iterable[str], how: str = DEFAULT, language: str = "", *, normalize: bool = True) -> Text:
    """The words of each line.

    none: words are what white space divides, so that their number is that of the file
    moses: Moses' tokenizer for the language, as sacremoses has it; signs are not escaped (`l'`, not `l&apos;`)
    auto: none where the text is tokenized already, else moses
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
    """Whether a text is tokenized already, as `auto` sees it."""
    return tokenize(lines, "none").is_tokenized


def carrying_punctuation(words: Sequence[str]) -> int:
    """How many words of a sentence still carry punctuation: `late,`, `"Yes`, `c'est`, and a last `go.`"""
    found = sum(1 for word in map(normalize_sign, words) if _CARRIES.search(word) and word not in _CLITICS)
    return found + (1 if words and _FINAL_POINT.search(words[-1]) else 0)


def moses(language: str = "") -> Split:
    """Moses' tokenizer for a language; its general rules where the language is not known."""
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
    """The parts of a signature that say what the words of the texts are."""
    ways = sorted({treatment.tokenize for treatment in treatments})
    return f"tok:{'+'.join(ways)}", f"norm:{'signs' if normalize else 'none'}"


def notes(treatments: Mapping[str, Treatment]) -> list[str]:
    """What was replaced in which text, for the notes of a table."""
    replaced = [f"{name} {describe_signs(t.normalized)}" for name, t in treatments.items() if t.normalized]
    return [f"normalized: {'; '.join(replaced)}"] if replaced else []


def warnings(treatments: Mapping[str, Treatment]) -> list[str]:
    """Texts that were taken as tokenized although many of their words carry punctuation, or tokenized blindly."""
    unknown = [name for name, t in treatments.items() if t.tokenize == "moses" and not t.language]
    rules = "tokenized by Moses' general rules, as the language is not known. Name the languages with -l, such as en-fr"
    found = [f"{', '.join(unknown)}: {rules}"] if unknown else []
    carrying = [
        f"{t.punctuated:,} of {t.words:,} words of {name}"
        for name, t in treatments.items()
        if t.tokenize == "none" and t.punctuated > WARN * t.words
    ]
    if carrying:
        found.append(
            f"{', '.join(carrying)} still carry punctuation, so that pronouns and links are missed. Tokenize plain "
            "text with --tokenize moses, and align it as it is tokenized"
        )
    return found


def pair_of(languages: str | None, source: Path, target: Path) -> tuple[str, str]:
    """The two languages of `en-fr`; where none are named those that the files' names end in (`talk.en`)."""
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
    """What white space divides. A word stays one word, even where an entity in it stands for a space."""
    return [_word(word, counts) for word in line.split()]


def _word(word: str, counts: Counter[str]) -> str:
    here: Counter[str] = Counter()
    normal = "".join(normalize_counting(word, here).split())
    if not normal:
        return word
    counts.update(here)
    return normal
