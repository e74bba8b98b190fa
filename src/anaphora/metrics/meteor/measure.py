"""METEOR of texts, plain and restricted to pronouns: tokenised, in lower case, with the matchers for the language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.align.tokenise import tokeniser
from anaphora.errors import AnaphoraError
from anaphora.files import text_lines
from anaphora.metrics.discomt.classes import CLASSES
from anaphora.metrics.measures import Measured, Texts
from anaphora.metrics.meteor.metric import RANKING, UNIVERSAL, Meteor, function_words, matchers_for
from anaphora.metrics.meteor.wordnet import find_wordnet

Words = list[str]


def meteor(
    texts: Texts, *, corpus: Path | None = None, wordnet: Path | None = None, parameters: str = "universal", **_: Any
) -> Measured:
    """METEOR. corpus: a text of the target language in which function words are the frequent ones; the reference is
    taken where there is none. wordnet: the folder of WordNet's files, for English. parameters: universal or ranking."""
    split = _splitter(texts)
    reference = [split(line) for line in texts.reference]
    frequent = function_words(map(split, text_lines(corpus)) if corpus else reference)
    scorer = _scorer(texts, wordnet, parameters, frequent)
    words = f"fw:{corpus.name if corpus else 'reference'}({len(frequent)})"
    return _measured("METEOR", scorer, texts, reference, split, words)


def meteor_pronouns(
    texts: Texts,
    *,
    pronouns: Sequence[str] = (),
    wordnet: Path | None = None,
    parameters: str = "universal",
    **_: Any,
) -> Measured:
    """METEOR restricted to pronouns (APT paper §3.2): those named, or those of the shared tasks in the language."""
    language = texts.languages[1]
    if not pronouns and language not in CLASSES:
        known = ", ".join(sorted(CLASSES))
        raise AnaphoraError(f"the pronouns of {language!r} are not known (known: {known}): name them with --pronouns")
    chosen = list(pronouns) or [form for forms in CLASSES[language].values() for form in forms]
    split = _splitter(texts)
    scorer = _scorer(texts, wordnet, parameters, ()).restricted(_spellings(chosen))
    reference = [split(line) for line in texts.reference]
    return _measured("METEOR-pronouns", scorer, texts, reference, split, f"fw:{','.join(chosen)}")


def _measured(
    name: str, scorer: Meteor, texts: Texts, reference: Sequence[Words], split: Callable[[str], Words], words: str
) -> Measured:
    sums = {system: scorer.sums(map(split, text), reference) for system, text in texts.systems.items()}
    tokens = "none" if texts.tokenised else "moses"
    signature = f"{name}|{scorer.signature}|{words}|tok:{tokens}|case:lc|version:{__version__}"
    return Measured(signature, sums, decimals=4)


def _scorer(texts: Texts, wordnet: Path | None, parameters: str, words: Iterable[str]) -> Meteor:
    language = texts.languages[1]
    if parameters not in ("universal", "ranking"):
        raise AnaphoraError(f"unknown parameters {parameters!r} of METEOR. Known: universal, ranking")
    if parameters == "ranking" and language not in RANKING:
        known = ", ".join(RANKING)
        raise AnaphoraError(f"METEOR has no ranking parameters for {language!r}, only for {known}. Use universal")
    chosen = UNIVERSAL if parameters == "universal" else RANKING[language]
    synonyms = find_wordnet(wordnet) if language == "en" else None
    return Meteor(matchers_for(language, synonyms, chosen), frozenset(words), chosen)


def _spellings(pronouns: Iterable[str]) -> Iterable[str]:
    """The apostrophe as it is found in texts: typed, set, and escaped by Moses."""
    for pronoun in pronouns:
        yield from (pronoun.replace("'", sign) for sign in ("'", "’", "&apos;"))


def _splitter(texts: Texts) -> Callable[[str], Words]:
    split = tokeniser("none" if texts.tokenised else "moses", texts.languages[1])
    return lambda line: [word.lower() for word in split(line)]
