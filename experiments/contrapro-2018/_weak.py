"""Weak supervision: real sentences whose nouns all have one gender, before a short sentence with the pronoun for them.

Genders are those that a tagger gives (spaCy; MODELS is the folder with de_ud_sm). Which noun *it* is does not matter.
"""

from __future__ import annotations

import os
from itertools import cycle
from pathlib import Path

from _last_stage import split
from _text import SEPARATOR, read

MODELS = Path(os.environ.get("MODELS") or Path(__file__).resolve().parents[3] / "shared" / "models")
EVERY = 8  # one of so many sentences of the documents is looked at
LONGEST = 12  # words of such a sentence
PRONOUNS = {"Masc": ("er", "ihn"), "Fem": ("sie", "sie"), "Neut": ("es", "es")}  # nominative, accusative
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


def write_weak(folder: Path) -> None:
    """weak.en, weak.de: passages of two sentences, written once."""
    if (folder / "weak.de").exists():
        return
    import spacy

    tagger = spacy.load(MODELS / "de_ud_sm")
    documents, _ = split(read(folder / "documents"))  # without what is held out
    chosen = [pair for document in documents for pair in document][::EVERY]
    chosen = [pair for pair in chosen if len(pair[1].split()) <= LONGEST and " it " not in f" {pair[0].lower()} "]
    short, passages = cycle(SHORT), []
    for source, analysis in zip((pair[0] for pair in chosen), tagger.pipe(pair[1] for pair in chosen), strict=True):
        genders = {g for token in analysis if token.pos_ == "NOUN" for g in token.morph.get("Gender") or ["?"]}
        if len(genders) == 1 and (gender := genders.pop()) in PRONOUNS:
            one, other = next(short)
            answer = other.format(*PRONOUNS[gender])
            answer = answer[:1].upper() + answer[1:]
            passages.append((f"{source}{SEPARATOR}{one}", f"{analysis.text}{SEPARATOR}{answer}"))
    for language, side in (("en", 0), ("de", 1)):
        lines = (f"{passage[side]}\n\n" for passage in passages)
        (folder / f"weak.{language}").write_text("".join(lines), encoding="utf-8")
