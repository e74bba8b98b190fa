"""Fitting the built-in resolver: the weights of its features, and how both sides of a translation are pooled.

Both maximize the probability of the right answer (conditional log-likelihood) with a penalty on the squares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from linking_gold import GoldPronoun

from anaphora.annotate.document import Document
from anaphora.build.mine.filtering import WordLinks, target_pronoun
from anaphora.build.mine.phenomenon import AnnotatedPair
from anaphora.build.mine.pronouns import pair_data
from anaphora.build.mine.quality import GoldPair, names, names_one
from anaphora.coref import Link
from anaphora.coref.builtin import joint_weights, questions, weighed
from anaphora.coref.features import Candidate
from anaphora.coref.pronouns import is_pronoun, language

DATA = Path(__file__).resolve().parents[1] / "src" / "anaphora" / "coref" / "data"
LANGUAGES = ("en", "de", "fr")
RARE = 4  # features seen less often get no weight
PENALTY = 2.0  # on the squares of the weights
POOL = 0.3  # on the squares of the differences from plain multiplication
PLAIN = {"source": 1.0, "target": 1.0, "non-referential, source": 1.0, "non-referential, target": 1.0}

Annotated = tuple[str, Document, Sequence[GoldPronoun]]  # name, annotation by the pipeline, truth
Item = tuple[list[tuple[str, ...]], list[int]]  # the features of the candidates, and which are right
Links = Mapping[tuple[int, int], Link]
Question = tuple[list[Mapping[str, float]], list[int]]  # the features of the choices, and which are right


def items(code: str, documents: Iterable[Annotated]) -> Iterator[Item]:
    """Each annotated pronoun that has a right answer among its candidates; "non-referential" is a language's own."""
    for _, document, gold in documents:
        truth = {(p.sentence, p.token): p for p in gold}
        for question in questions(document, language(code)):
            pronoun = truth.get((question.pronoun.sentence, question.pronoun.token))
            if pronoun is None:
                continue
            right = [i for i, c in enumerate(question.candidates) if _right(document, c, pronoun)]
            if not right and not pronoun.phrases:
                right = [len(question.candidates)]
            if right:
                nonreferential = tuple(f"{code}:{name}" for name in question.features[-1])
                yield [*question.features[:-1], nonreferential], right


def _right(document: Document, candidate: Candidate, pronoun: GoldPronoun) -> bool:
    if candidate.phrase is not None:
        return names(document, candidate.phrase.mention, pronoun.phrases)
    return (candidate.sentence, candidate.token, candidate.token + 1) in pronoun.chain


def fit(data: Sequence[Item]) -> dict[str, float]:
    """Weights that make the right candidates likely (conditional log-likelihood, squared penalty)."""
    from scipy.optimize import minimize

    counts = Counter(name for features, _ in data for row in features for name in row)
    names_of = {name: i for i, name in enumerate(sorted(n for n, count in counts.items() if count >= RARE))}
    rows = [row for features, _ in data for row in features]
    matrix = np.zeros((len(rows), len(names_of)))
    for place, row in enumerate(rows):
        matrix[place, [names_of[name] for name in row if name in names_of]] = 1
    sizes = np.array([len(features) for features, _ in data])
    starts = np.cumsum(sizes) - sizes
    of = np.repeat(np.arange(len(data)), sizes)
    number = np.zeros(len(rows))  # "non-referential", the last of each, stands against all (see builtin.believe)
    number[starts + sizes - 1] = np.log(sizes)
    right = np.zeros(len(rows), dtype=bool)
    for start, (_, which) in zip(starts, data, strict=True):
        right[start + np.array(which)] = True

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = matrix @ weights + number
        mass = np.exp(scores - np.maximum.reduceat(scores, starts)[of])
        total, good = np.add.reduceat(mass, starts), np.add.reduceat(mass * right, starts)
        slope = matrix.T @ (mass * right / good[of] - mass / total[of])
        value = np.log(total / good).sum() + PENALTY / 2 * weights @ weights
        return float(value), PENALTY * weights - slope

    found = minimize(loss, np.zeros(len(names_of)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return dict(zip(names_of, found.x, strict=True))


def pools(gold: GoldPair, pair: AnnotatedPair, source: Links, target: Links, languages: str) -> Iterator[Question]:
    """Each pair of aligned pronouns whose right answer is among the choices: a phrase of the chain, or nothing."""
    ours, theirs = languages.split("-")
    data, words = pair_data(ours, theirs), WordLinks(gold.alignments)
    for number, sentence in enumerate(pair.source.sentences):
        other = pair.target.sentences[number]
        for index, token in enumerate(sentence):
            wanted = data.targets(token.text.lower(), oblique=True)
            if not wanted or not is_pronoun(sentence, index, language(ours)):
                continue
            forms = [
                j for j, t in enumerate(other) if t.text.lower() in wanted and is_pronoun(other, j, language(theirs))
            ]
            place = target_pronoun((number, index), sentence, forms, words)
            if isinstance(place, str) or (number, index) not in source or (number, place) not in target:
                continue
            links = source[number, index], target[number, place]
            choices = weighed(*links, words.targets, clausal=other[place].text.lower() in data.clausal)
            nouns = [m.span for m in gold.source.nouns_before((number, index))]
            if not nouns or not gold.target.nouns_before((number, place)):
                right = [len(choices) - 1]
            else:
                named = enumerate(choice.source for choice in choices)
                right = [k for k, mention in named if mention is not None and names_one(pair.source, mention, nouns)]
            if right:
                yield [choice.features for choice in choices], right


def fit_pool(data: Sequence[Question]) -> dict[str, float]:
    """Weights of the pool (`anaphora.coref.builtin`)."""
    from scipy.optimize import minimize

    names_of = list(joint_weights())
    rows = [np.array([[f.get(name, 0.0) for name in names_of] for f in features]) for features, _ in data]
    base = np.array([PLAIN.get(name, 0.0) for name in names_of])

    def loss(weights: np.ndarray) -> float:
        value = POOL * float(((weights - base) ** 2).sum())
        for matrix, (_, right) in zip(rows, data, strict=True):
            scores = matrix @ weights
            value += float(np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[right]))
        return value

    return dict(zip(names_of, minimize(loss, base, method="L-BFGS-B").x, strict=True))


def of_language(weights: Mapping[str, float], code: str) -> dict[str, float]:
    """What one language's resolver uses of all weights: those of antecedents, and its own for "non-referential"."""
    own = {name.partition(":")[2]: weight for name, weight in weights.items() if name.startswith(f"{code}:")}
    return {name: weight for name, weight in weights.items() if ":" not in name} | own


def write(weights: Mapping[str, float], pool: Mapping[str, float]) -> None:
    """The weights as data files, two digits each: more are not to be had from so little data."""
    made = "written by: python benchmarks/linking.py --fit"
    lines = [f"# Weights of the built-in resolver, {made}", "", "[antecedent]"]
    lines += [f'"{name}" = {weight:.2f}' for name, weight in weights.items() if ":" not in name]
    for code in LANGUAGES:
        lines += ["", f"[{code}]  # non-referential"]
        own = ((n.partition(":")[2], w) for n, w in weights.items() if n.startswith(f"{code}:"))
        lines += [f'"{name}" = {weight:.2f}' for name, weight in own]
    (DATA / "weights.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"# Weights for pooling two resolvers (joint.py), {made}"]
    lines += [f'"{name}" = {weight:.2f}' for name, weight in pool.items()]
    (DATA / "joint.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
