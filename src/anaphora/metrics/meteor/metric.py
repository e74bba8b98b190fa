"""METEOR (Denkowski and Lavie 2014, "Meteor Universal"), and METEOR restricted to pronouns (APT paper §3.2).

With matches m of weight w, content words c and function words f of the hypothesis h and the reference r:

    P = Σ w_m (δ m(h_c) + (1 − δ) m(h_f)) / (δ |h_c| + (1 − δ) |h_f|),  R likewise over r
    F = P R / (α P + (1 − α) R);  penalty = γ (chunks / matches)^β;  score = (1 − penalty) F

A text's score comes from the sums over its sentences. A sentence that matches whole, in one chunk, is not fragmented:
it adds no chunk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from anaphora.core.errors import AnaphoraError
from anaphora.metrics.meteor.matching import Keys, align, exact
from anaphora.metrics.meteor.wordnet import WordNet
from anaphora.stats.intervals import Floats
from anaphora.stats.paired import Figures, Sums, ratio

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
        """Of one sentence, of words in lower case."""
        return self.sums([hypothesis], [reference]).values()["score"]

    def sums(self, hypotheses: Iterable[Sequence[str]], *references: Iterable[Sequence[str]]) -> Sums:
        """Of a text: what each sentence adds, and how the score comes from the totals.

        Of several references each sentence is compared with the one that gives it the highest score, as Meteor does.
        """
        rows = [self._best_row(hypothesis, texts) for hypothesis, *texts in zip(hypotheses, *references, strict=True)]
        return Sums(np.array(rows, float).reshape(-1, 6), _figures(self.parameters))

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

    def _best_row(self, hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> tuple[float, ...]:
        rows = [self._row(hypothesis, reference) for reference in references]
        if len(rows) == 1:
            return rows[0]
        scores = _figures(self.parameters)(np.array(rows, float))["score"]
        return rows[int(scores.argmax())]

    def _row(self, hypothesis: Sequence[str], reference: Sequence[str]) -> tuple[float, ...]:
        """Weighted matches and length of the hypothesis, the same of the reference, matches, chunks."""
        found = align(hypothesis, reference, self.matchers)
        sides: list[float] = []
        for words, places in (
            (hypothesis, [match.hypothesis for match in found.matches]),
            (reference, [match.reference for match in found.matches]),
        ):
            weights = [self._weight(word) for word in words]
            matched = zip(places, found.matches, strict=True)
            sides.append(sum(weights[place] * self.parameters.weights[match.matcher] for place, match in matched))
            sides.append(sum(weights))
        whole = found.chunks == 1 and len(found.matches) == len(hypothesis) == len(reference)
        return *sides, len(found.matches), 0 if whole else found.chunks

    def _weight(self, word: str) -> float:
        return 1 - self.parameters.delta if word in self.function_words else self.parameters.delta


def matchers_for(language: str, wordnet: WordNet | None = None, parameters: Parameters = UNIVERSAL) -> dict[str, Keys]:
    """The matchers that the parameters weigh and for which there is data: stems of Snowball, English synonyms."""
    found: dict[str, Keys] = {"exact": exact}
    if "stem" in parameters.weights and language in STEMMERS:
        found["stem"] = _stems(STEMMERS[language])
    if "synonym" in parameters.weights and language == "en" and wordnet is not None:
        known: dict[str, tuple[tuple[str, int], ...]] = {}

        def synsets(word: str) -> tuple[tuple[str, int], ...]:
            if word not in known:
                known[word] = tuple(wordnet.synsets_of(word))
            return known[word]

        found["synonym"] = synsets
    return found


def function_words(sentences: Iterable[Sequence[str]], frequent: float = FREQUENT) -> frozenset[str]:
    """§3: the words with a relative frequency above 10⁻³ (in a small text these are many: all weigh the same then)."""
    counts = Counter(word.lower() for words in sentences for word in words)
    total = counts.total()
    return frozenset(word for word, n in counts.items() if n > frequent * total)


def _stems(language: str) -> Keys:
    try:
        import snowballstemmer  # type: ignore[import-untyped]
    except ModuleNotFoundError:
        raise AnaphoraError(
            'METEOR needs snowballstemmer, which is not installed. Install it with: pip install "anaphora[metrics]"'
        ) from None
    stemmer = snowballstemmer.stemmer(language)
    known: dict[str, tuple[str]] = {}

    def stems(word: str) -> tuple[str]:
        if word not in known:
            known[word] = (stemmer.stemWord(word),)
        return known[word]

    return stems


def _figures(parameters: Parameters) -> Figures:
    alpha, beta, gamma = parameters.alpha, parameters.beta, parameters.gamma

    def figures(totals: Floats) -> dict[str, Floats]:
        matched, length, reference_matched, reference_length, matches, chunks = totals.T
        precision, recall = ratio(matched, length), ratio(reference_matched, reference_length)
        mean = ratio(precision * recall, alpha * precision + (1 - alpha) * recall)
        return {"score": (1 - gamma * ratio(chunks, matches) ** beta) * mean}

    return figures
