"""METEOR of texts, plain and restricted to pronouns: tokenized, in lower case, with the matchers for the language."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.align.tokenize import Words, signature
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import text_lines
from anaphora.languages.pronouns import normalise
from anaphora.metrics.discomt.classes import CLASSES
from anaphora.metrics.measures import Measured, Texts
from anaphora.metrics.meteor.metric import RANKING, UNIVERSAL, Meteor, function_words, matchers_for
from anaphora.metrics.meteor.wordnet import find_wordnet


def meteor(
    texts: Texts, *, corpus: Path | None = None, wordnet: Path | None = None, parameters: str = "universal", **_: Any
) -> Measured:
    """METEOR. corpus: a text of the target language in which function words are the frequent ones; the reference is
    taken where there is none. wordnet: the folder of WordNet's files, for English. parameters: universal or ranking."""
    references = _references(texts)
    large = (
        texts.tokenization.target(text_lines(corpus)).sentences
        if corpus
        else [words for text in references for words in text]
    )
    frequent = function_words(large)
    scorer = _scorer(texts, wordnet, parameters, frequent)
    words = f"fw:{corpus.name if corpus else 'reference'}({len(frequent)})"
    return _measured("METEOR", scorer, texts, words)


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
    scorer = _scorer(texts, wordnet, parameters, ()).restricted(map(normalise, chosen))
    return _measured("METEOR-pronouns", scorer, texts, f"fw:{','.join(chosen)}")


def _measured(name: str, scorer: Meteor, texts: Texts, words: str) -> Measured:
    references = _references(texts)
    sums = {system: scorer.sums(map(_lower, texts.words[system].sentences), *references) for system in texts.systems}
    divided = "|".join(signature((t.treatment for t in texts.words.values()), normalize=texts.normalize is not False))
    parts = (name, f"nrefs:{len(references)}", scorer.signature, words, divided, "case:lc", f"version:{__version__}")
    return Measured("|".join(parts), sums, decimals=4)


def _references(texts: Texts) -> list[list[Words]]:
    if not texts.languages[1] and any(text.treatment.tokenize == "moses" for text in texts.words.values()):
        raise AnaphoraError("METEOR's words and stems depend on the language: say which, for example -l en-fr")
    return [[_lower(words) for words in texts.words[name].sentences] for name in texts.references]


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


def _lower(words: Words) -> Words:
    return [word.lower() for word in words]
