"""Lines of text as words: they are tokenised already, or are tokenised as Moses does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from anaphora.errors import AnaphoraError, did_you_mean

TOKENISERS = ("none", "moses")

Split = Callable[[str], list[str]]


def tokeniser(name: str, language: str = "") -> Split:
    """A function from a line to its words.

    none: words are what white space divides
    moses: Moses' tokeniser for the language, as sacremoses has it; signs are not escaped (`l'`, not `l&apos;`), so
        that words stay those of the text
    """
    if name == "none":
        return str.split
    if name != "moses":
        known = ", ".join(TOKENISERS)
        raise AnaphoraError(f"unknown tokenisation {name!r}{did_you_mean(name, TOKENISERS)}. Known: {known}")
    if not language:
        raise AnaphoraError("Moses' tokenisation depends on the language: say which, for example -l en-fr")
    try:
        from sacremoses import MosesTokenizer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise AnaphoraError(
            "tokenisation 'moses' needs sacremoses, which is not installed. "
            'Install it with: pip install "anaphora[align]"'
        ) from None
    moses = MosesTokenizer(language)

    def split(line: str) -> list[str]:
        words: list[str] = moses.tokenize(line, escape=False)
        return words

    return split


def tokenise(lines: Iterable[str], name: str, language: str = "") -> list[list[str]]:
    """The words of each line."""
    split = tokeniser(name, language)
    return [split(line) for line in lines]
