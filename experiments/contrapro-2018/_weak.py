"""Weak supervision: real sentences whose nouns all have one gender, before a sentence with the pronoun for them.

Genders are those that a tagger gives (spaCy; MODELS is the folder with de_ud_sm). Which noun *it* is does not matter.

weak: the sentence with the pronoun is one of ten short ones.
counterfactual: it is a real one, given in all three genders, each after sentences of that gender. Nothing in it tells
which pronoun is right: only what is before it does. The real ones have *er* or *ihn*, which tell the case.
"""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from _last_stage import split
from _text import SEPARATOR, Pair, read, write

MODELS = Path(os.environ.get("MODELS") or Path(__file__).resolve().parents[3] / "shared" / "models")
EVERY = 8  # one of so many sentences of the documents is looked at for weak, and
EVERY_CONTEXT = 2  # for counterfactual
LONGEST = 12  # words of such a sentence
LONGEST_CURRENT = 20  # words of a real sentence with the pronoun
SEEN, SURE = 3, 0.9  # a noun of a context is seen so often, and so large a part of that with this gender
DRAWN = 2  # contexts of each gender before a real sentence
PRONOUNS = {"Masc": ("er", "ihn"), "Fem": ("sie", "sie"), "Neut": ("es", "es")}  # nominative, accusative
MASCULINE = re.compile(r"\b(er|ihn)\b", re.IGNORECASE)
AGREEING = re.compile(r"\b(ihm|sein(e[mnrs]?)?|selbst)\b", re.IGNORECASE)  # what a change of gender might change too
SHORT = (
    ("It is here.", "{0} ist hier."),
    ("I don't see it.", "Ich sehe {1} nicht."),
    ("Where is it?", "Wo ist {0}?"),
    ("It was not mine.", "{0} war nicht von mir."),
    ("Do you have it?", "Hast du {1}?"),
    ("It is new.", "{0} ist neu."),
    ("We need it.", "Wir brauchen {1}."),
    ("I think it is good.", "Ich glaube, {0} ist gut."),
    ("It comes later.", "{0} kommt später."),
    ("Take it.", "Nimm {1}."),
)


def write_weak(folder: Path) -> int:
    """weak.en, weak.de: passages of two sentences, written once; how many."""
    if not (folder / "weak.de").exists():
        short, passages = cycle(SHORT), []
        for (source, target), gender, _ in of_one_gender(folder, EVERY, tagger()):
            one, other = next(short)
            answer = other.format(*PRONOUNS[gender])
            answer = answer[:1].upper() + answer[1:]
            passages.append((f"{source}{SEPARATOR}{one}", f"{target}{SEPARATOR}{answer}"))
        write(([passage] for passage in passages), folder / "weak")
    return len(read(folder / "weak"))


def write_counterfactual(folder: Path) -> int:
    """counterfactual.en, counterfactual.de: passages of two sentences, written once; how many."""
    if not (folder / "counterfactual.de").exists():
        analyze = tagger()
        contexts = sure_contexts(folder, analyze)
        drawn = random.Random(1)
        for found in contexts.values():
            drawn.shuffle(found)
        endless = {gender: cycle(found) for gender, found in contexts.items()}
        current = neutral(read(folder / "masculine"), analyze)
        passages = [
            (f"{context[0]}{SEPARATOR}{english}", f"{context[1]}{SEPARATOR}{version}")
            for english, german in current
            for gender, version in versions(german).items()
            for context in (next(endless[gender]) for _ in range(DRAWN))
        ]
        write(([passage] for passage in passages), folder / "counterfactual")
    return len(read(folder / "counterfactual"))


def tagger() -> Any:
    import spacy

    return spacy.load(MODELS / "de_ud_sm")


def of_one_gender(folder: Path, every: int, analyze: Any) -> Iterator[tuple[Pair, str, Any]]:
    """Short sentences of the documents without *it* whose nouns, at least one, all have one gender.

    The pair, the gender, and the analysis of the German side.
    """
    documents, _ = split(read(folder / "documents"))  # without what is held out
    chosen = [pair for document in documents for pair in document][::every]
    chosen = [pair for pair in chosen if len(pair[1].split()) <= LONGEST and " it " not in f" {pair[0].lower()} "]
    for pair, analysis in zip(chosen, analyze.pipe(german for _, german in chosen), strict=True):
        genders = {g for token in analysis if token.pos_ == "NOUN" for g in token.morph.get("Gender") or ["?"]}
        if len(genders) == 1 and (gender := genders.pop()) in PRONOUNS:
            yield pair, gender, analysis


def sure_contexts(folder: Path, analyze: Any) -> dict[str, list[Pair]]:
    """Such sentences by gender: all nouns are singular, and the tagger gives them this gender elsewhere too."""
    seen: dict[str, Counter[str]] = {}
    found = []
    for pair, gender, analysis in of_one_gender(folder, EVERY_CONTEXT, analyze):
        tokens = [token for token in analysis if token.pos_ == "NOUN"]
        nouns = [token.text for token in tokens if inside(token) and token.text[0].isupper()]
        for noun in nouns:
            seen.setdefault(noun, Counter())[gender] += 1
        if len(nouns) == len(tokens) and all("Sing" in token.morph.get("Number") for token in tokens):
            found.append((pair, gender, nouns))
    contexts: dict[str, list[Pair]] = {gender: [] for gender in PRONOUNS}
    for pair, gender, nouns in found:
        if all(seen[n].total() >= SEEN and seen[n][gender] >= SURE * seen[n].total() for n in nouns):
            contexts[gender].append(pair)
    return contexts


def inside(token: Any) -> bool:
    """Whether a word does not begin a sentence, where every word is capitalized and may be taken for a noun."""
    return bool(token.i) and not token.nbor(-1).is_punct


def neutral(passages: list[list[Pair]], analyze: Any) -> Iterator[Pair]:
    """The sentences with *it* that could be of any gender.

    There is no masculine noun before the pronoun that it may stand for, and no word that agrees with it.
    """
    pairs = [tuple(side.split(SEPARATOR)[1] for side in passage) for ((*passage,),) in passages]
    pairs = list(dict.fromkeys(pairs))
    for (english, german), analysis in zip(pairs, analyze.pipe(german for _, german in pairs), strict=True):
        found = MASCULINE.search(german)
        if found is None or AGREEING.search(german) or len(german.split()) > LONGEST_CURRENT:
            continue
        before = (token for token in analysis if token.pos_ in ("NOUN", "PRON") and token.idx < found.start())
        if not any("Masc" in token.morph.get("Gender") for token in before):
            yield english, german


def versions(german: str) -> dict[str, str]:
    """A sentence with *er* or *ihn*, by gender."""
    found = MASCULINE.search(german)
    if found is None:
        return {}
    case = PRONOUNS["Masc"].index(found[0].lower())
    words = {gender: forms[case] for gender, forms in PRONOUNS.items()}
    if found[0][0].isupper():
        words = {gender: word.capitalize() for gender, word in words.items()}
    return {gender: german[: found.start()] + word + german[found.end() :] for gender, word in words.items()}
