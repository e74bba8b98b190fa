"""METEOR's word alignment (Denkowski and Lavie 2014, §2): which words of a hypothesis and a reference match.

Every word is in at most one match. The best of all such alignments has (1) the most matches, then (2) the fewest
chunks, runs of matches that are adjacent and in the same order in both sentences, then (3) the smallest sum of
distances between the positions of matched words. Ties that remain go to the alignment with the surer matchers.

Meteor 1.5 itself weighs the first criterion so that only exact matches count in it; the paper, and we, count all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from heapq import nsmallest
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from anaphora import __version__
from anaphora.align.tokenize import Words, signature
from anaphora.core.errors import AnaphoraError, check_name
from anaphora.core.files import text_lines
from anaphora.languages import names_with
from anaphora.languages.pronouns import normalize_word, pronoun_classes
from anaphora.languages.thesaurus import WordNet, find_wordnet
from anaphora.metrics.corpus import Measured, Texts
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import Figures, SufficientStats, ratio

BEAM = 40  # as Meteor; paths that have the same future are merged here, so that far fewer are lost

Keys = Callable[[str], Iterable[Hashable]]  # words match if they have a key in common
Matchers = Mapping[str, Keys]  # in the order in which they are tried; a pair goes to the first that matches it


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the hypothesis and one of the reference, and the matcher that says that they match."""

    hypothesis: int
    reference: int
    matcher: str


@dataclass(frozen=True, slots=True)
class MeteorAlignment:
    """The matches in the order of the reference, and the number of chunks they form."""

    matches: tuple[Match, ...]
    chunks: int


_Candidates = list[dict[int, int]]  # for each reference word: the hypothesis words that match it → rank of the matcher
# What decides a path's future: the hypothesis words it has used up (as bits), and the one just matched, if any
_State = tuple[int, int]
# (−matches, chunks, distance, ranks of the matchers): the better path is the smaller tuple
_Cost = tuple[int, int, int, int]
_Link = tuple[int, int, int, Any] | None  # hypothesis word, reference word, rank, the link before
_Paths = dict[_State, tuple[_Cost, _Link]]

_NOTHING = -2  # in the place of the word just matched: whatever comes next begins a chunk


def exact(word: str) -> Iterable[Hashable]:
    return (word,)


def align(hypothesis: Sequence[str], reference: Sequence[str], matchers: Matchers) -> MeteorAlignment:
    """Return the best alignment of two sentences, by beam search over the words of the reference."""
    candidates = possible_matches(hypothesis, reference, matchers)
    wanted_by = Counter(i for words in candidates for i in words)
    sure = [len(words) == 1 and wanted_by[next(iter(words))] == 1 for words in candidates]  # no other word matches them
    paths: _Paths = {(0, _NOTHING): ((0, 0, 0, 0), None)}
    for j, words in enumerate(candidates):
        paths = _extended(paths, j, words, sure[j], candidates[j + 1 :])
        if len(paths) > BEAM:
            paths = _best(paths, [later for k, later in enumerate(candidates) if k > j and not sure[k]])
    cost, link = min(paths.values(), key=itemgetter(0))
    names = list(matchers)
    matches = []
    while link is not None:
        i, j, rank, link = link
        matches.append(Match(i, j, names[rank]))
    return MeteorAlignment(tuple(reversed(matches)), cost[1])


def _extended(paths: _Paths, j: int, words: dict[int, int], sure: bool, to_come: _Candidates) -> _Paths:
    """All paths with one more reference word: with each match that is still free, and without one.

    Only the best of the paths with the same future is kept. Words that no later word could use are forgotten, and so
    is the word just matched if its neighbor cannot be matched next.
    """
    longer: _Paths = {}
    neighbors = to_come[0] if to_come else {}
    useful = 0
    for later in to_come:
        for i in later:
            useful |= 1 << i
    for (used, last), ((count, chunks, distance, ranks), link) in paths.items():
        for i, rank in words.items():
            if used >> i & 1:
                continue
            state = ((used | 1 << i) & useful, i if i + 1 in neighbors else _NOTHING)
            cost = (count - 1, chunks + (i != last + 1), distance + abs(i - j), ranks + rank)
            if state not in longer or cost < longer[state][0]:
                longer[state] = (cost, (i, j, rank, link))
        if not sure:
            state, cost = (used & useful, _NOTHING), (count, chunks, distance, ranks)
            if state not in longer or cost < longer[state][0]:
                longer[state] = (cost, link)
    return longer


def _best(paths: _Paths, to_come: _Candidates) -> _Paths:
    """The paths worth following: those that can still reach the most matches, then those with the fewest chunks.

    Without the look ahead a path that leaves a word to a later match would fall behind those that use it up at once.
    """
    wanted = Counter(sum(1 << i for i in words) for words in to_come)
    del wanted[0]
    possible: dict[int, int] = {}  # by the words used up: how many matches can still come

    def rank(item: tuple[_State, tuple[_Cost, _Link]]) -> _Cost:
        (used, _), ((count, chunks, distance, ranks), _) = item
        if used not in possible:
            possible[used] = sum(min(n, (mask & ~used).bit_count()) for mask, n in wanted.items())
        return count - possible[used], chunks, distance, ranks

    return dict(nsmallest(BEAM, paths.items(), key=rank))


def possible_matches(hypothesis: Sequence[str], reference: Sequence[str], matchers: Matchers) -> _Candidates:
    """The hypothesis words that match each reference word, each with the first matcher that applies."""
    matches: _Candidates = [{} for _ in reference]
    for rank, keys_of in enumerate(matchers.values()):
        positions: dict[Hashable, list[int]] = {}
        for i, word in enumerate(hypothesis):
            for key in keys_of(word):
                positions.setdefault(key, []).append(i)
        for j, word in enumerate(reference):
            for key in keys_of(word):
                for i in positions.get(key, ()):
                    matches[j].setdefault(i, rank)
    return matches


# METEOR (Denkowski and Lavie 2014, "Meteor Universal"), and METEOR restricted to pronouns (APT paper §3.2).

FREQUENT = 1e-3  # §3: function words are those with a higher relative frequency in a large text of the language


@dataclass(frozen=True, slots=True)
class Parameters:
    """α weighs recall against precision, β and γ shape the penalty, δ weighs content words; weights of the matchers.

    §3, Table 1. Universal has only exact matches (1.0) and paraphrases (0.6) in the paper. Without a paraphrase
    table we match stems and synonyms, with their English weights (0.6, 0.8).
    """

    alpha: float = 0.70
    beta: float = 1.40
    gamma: float = 0.30
    delta: float = 0.70
    weights: Mapping[str, float] = field(default_factory=lambda: {"exact": 1.0, "stem": 0.6, "synonym": 0.8})


UNIVERSAL = Parameters()
# tuned to rank systems of one target language, as Meteor 1.5 has them (without its paraphrase weights)
RANKING = {
    "cs": Parameters(0.95, 0.20, 0.60, 0.80, {"exact": 1.0}),
    "de": Parameters(0.95, 1.00, 0.55, 0.55, {"exact": 1.0, "stem": 0.8}),
    "en": Parameters(0.85, 0.20, 0.60, 0.75, {"exact": 1.0, "stem": 0.6, "synonym": 0.8}),
    "es": Parameters(0.65, 1.30, 0.50, 0.80, {"exact": 1.0, "stem": 0.8}),
    "fr": Parameters(0.90, 1.40, 0.60, 0.65, {"exact": 1.0, "stem": 0.2}),
    "ru": Parameters(0.75, 1.40, 0.70, 0.50, {"exact": 1.0, "stem": 0.5}),
}
# languages of the Snowball stemmers
STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


@dataclass(frozen=True, slots=True)
class Meteor:
    """METEOR for one target language, with the matchers for which there is data."""

    matchers: Mapping[str, Keys]
    function_words: frozenset[str]
    parameters: Parameters = UNIVERSAL

    def score(self, hypothesis: Sequence[str], reference: Sequence[str]) -> float:
        """Return the score of one sentence of lower-cased words."""
        return self.sums([hypothesis], [reference]).values()["score"]

    def sums(self, hypotheses: Iterable[Sequence[str]], *references: Iterable[Sequence[str]]) -> SufficientStats:
        """Return what each sentence of a text adds to the totals, and how the score is computed from them.

        With several references each sentence is compared with the one that gives it the highest score, as in Meteor.
        """
        figures, best = _figures(self.parameters), []
        for hypothesis, *texts in zip(hypotheses, *references, strict=True):
            rows = np.array([self._row(hypothesis, reference) for reference in texts], float)
            best.append(rows[int(figures(rows)["score"].argmax()) if len(rows) > 1 else 0])
        return SufficientStats(np.array(best, float).reshape(-1, 6), figures)

    def restricted(self, pronouns: Iterable[str]) -> Meteor:
        """APT paper §3.2: the function words are the pronouns, and with δ = 0 they alone count.

        Only in precision and recall: the penalty goes by the chunks of all matches, as the program has it.
        """
        words = frozenset(pronoun.lower() for pronoun in pronouns)
        return replace(self, function_words=words, parameters=replace(self.parameters, delta=0.0))

    @property
    def signature(self) -> str:
        p = self.parameters
        weights = ",".join(f"{name}:{w:g}" if name in self.matchers else f"{name}:off" for name, w in p.weights.items())
        return f"abgd:{p.alpha:g},{p.beta:g},{p.gamma:g},{p.delta:g}|match:{weights}"

    def _row(self, hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[float, ...]:
        """Weighted matches and length of the hypothesis, the same of the reference, matches, chunks."""
        alignment, delta = align(hypothesis, reference, self.matchers), self.parameters.delta
        sides: list[float] = []
        for words, positions in (
            (hypothesis, [match.hypothesis for match in alignment.matches]),
            (reference, [match.reference for match in alignment.matches]),
        ):
            weights = [1 - delta if word in self.function_words else delta for word in words]
            matched = zip(positions, alignment.matches, strict=True)
            sides.append(sum(weights[position] * self.parameters.weights[match.matcher] for position, match in matched))
            sides.append(sum(weights))
        whole = alignment.chunks == 1 and len(alignment.matches) == len(hypothesis) == len(reference)
        return *sides, len(alignment.matches), 0 if whole else alignment.chunks


def matchers_for(language: str, wordnet: WordNet | None = None, parameters: Parameters = UNIVERSAL) -> dict[str, Keys]:
    """Return the weighted matchers whose data is available: Snowball stems, English synonyms."""
    by_name: dict[str, Keys] = {"exact": exact}
    if "stem" in parameters.weights and language in STEMMERS:
        try:
            import snowballstemmer  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            raise AnaphoraError(
                'METEOR needs snowballstemmer, which is not installed. Install it with: pip install "anaphora[metrics]"'
            ) from None
        stemmer = snowballstemmer.stemmer(STEMMERS[language])
        by_name["stem"] = cache(lambda word: (stemmer.stemWord(word),))
    if "synonym" in parameters.weights and language == "en" and wordnet is not None:
        by_name["synonym"] = cache(lambda word: tuple(wordnet.synsets_of(word)))
    return by_name


def function_words(sentences: Iterable[Sequence[str]]) -> frozenset[str]:
    """§3: the words with a relative frequency above 10⁻³ (in a small text these are many: all weigh the same then)."""
    counts = Counter(word.lower() for words in sentences for word in words)
    total = counts.total()
    return frozenset(word for word, n in counts.items() if n > FREQUENT * total)


def _figures(parameters: Parameters) -> Figures:
    alpha, beta, gamma = parameters.alpha, parameters.beta, parameters.gamma

    def figures(totals: Floats) -> dict[str, Floats]:
        matched, length, reference_matched, reference_length, matches, chunks = totals.T
        precision, recall = ratio(matched, length), ratio(reference_matched, reference_length)
        mean = ratio(precision * recall, alpha * precision + (1 - alpha) * recall)
        return {"score": (1 - gamma * ratio(chunks, matches) ** beta) * mean}

    return figures


# METEOR of texts, plain and restricted to pronouns: tokenized, in lower case, with the matchers for the language.


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
    classes = pronoun_classes(language)
    if not pronouns and not classes:
        known = ", ".join(names_with("classes"))
        raise AnaphoraError(f"the pronouns of {language!r} are not known (known: {known}): name them with --pronouns")
    chosen = list(pronouns) or [form for forms in classes.values() for form in forms]
    scorer = _scorer(texts, wordnet, parameters, ()).restricted(map(normalize_word, chosen))
    return _measured("METEOR-pronouns", scorer, texts, f"fw:{','.join(chosen)}")


def _measured(name: str, scorer: Meteor, texts: Texts, words: str) -> Measured:
    references = _references(texts)
    sums = {system: scorer.sums(map(_lower, texts.words[system].sentences), *references) for system in texts.systems}
    divided = "|".join(signature((t.treatment for t in texts.words.values()), normalize=texts.normalize is not False))
    parts = (name, f"nrefs:{len(references)}", scorer.signature, words, divided, "case:lc", f"version:{__version__}")
    return Measured("|".join(parts), sums, decimals=4)


def _references(texts: Texts) -> list[list[Words]]:
    if not texts.languages[1] and any(text.treatment.tokenize == "moses" for text in texts.words.values()):
        raise AnaphoraError("METEOR's words and stems depend on the language. Set it with -l, for example -l en-fr")
    return [[_lower(words) for words in texts.words[name].sentences] for name in texts.references]


def _scorer(texts: Texts, wordnet: Path | None, parameters: str, words: Iterable[str]) -> Meteor:
    language = texts.languages[1]
    check_name("parameters", parameters, ("universal", "ranking"), of="METEOR")
    if parameters == "ranking" and language not in RANKING:
        known = ", ".join(RANKING)
        raise AnaphoraError(f"METEOR has no ranking parameters for {language!r}, only for {known}. Use universal")
    chosen = UNIVERSAL if parameters == "universal" else RANKING[language]
    synonyms = find_wordnet(wordnet) if language == "en" else None
    return Meteor(matchers_for(language, synonyms, chosen), frozenset(words), chosen)


def _lower(words: Words) -> Words:
    return [word.lower() for word in words]
