"""Example files for APT, to try the commands with: a made-up English text, its French reference, two made-up systems.

The systems are rules with noise, made to show what the tables look like; they say nothing of any real system.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anaphora.core.files import atomic_writer

NOUNS = (
    *(("lamp", "lampe", "f"), ("table", "table", "f"), ("watch", "montre", "f"), ("car", "voiture", "f")),
    *(("knife", "couteau", "m"), ("boat", "bateau", "m"), ("carpet", "tapis", "m"), ("bicycle", "vélo", "m")),
)
THE, IT = {"m": "le", "f": "la"}, {"m": "il", "f": "elle"}
SENTENCES = 60
MISSED = 0.25  # pronouns that the made-up aligner has no link for
Choice = Callable[[str, random.Random], str]  # from the reference's pronoun to a system's; "" drops it


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence with a pronoun and its translation, with {it} or without a pronoun; how their words are aligned.

    place: the number of the source's pronoun; pronoun: the reference's, where it does not depend on the noun
    """

    source: str
    target: str
    links: str
    place: int
    pronoun: str = ""
    without: str = ""
    links_without: str = ""

    def translated(self, noun: tuple[str, str, str], pronoun: str, *, missed: bool) -> tuple[str, str]:
        """The translation and its alignment, in which the pronoun's link may be missed."""
        target, links = (self.target, self.links) if pronoun else (self.without, self.links_without)
        links = " ".join(link for link in links.split() if not (missed and link.startswith(f"{self.place}-")))
        return target.format(the=THE[noun[2]], noun=noun[1], it=pronoun), links


FRAMES = (
    Frame(
        "I bought the {} because it was cheap .",
        "J' ai acheté {the} {noun} parce qu' {it} était bon marché .",
        "0-0 1-1 1-2 2-3 3-4 4-5 4-6 5-7 6-8 7-9 7-10 8-11",
        place=5,
        without="J' ai acheté {the} {noun} bon marché .",
        links_without="0-0 1-1 1-2 2-3 3-4 7-5 7-6 8-7",
    ),
    Frame("It is difficult .", "{it} est difficile .", "0-0 1-1 2-2 3-3", place=0, pronoun="C'"),
    Frame(
        "They say that the {} works .",
        "{it} disent que {the} {noun} marche .",
        "0-0 1-1 2-2 3-3 4-4 5-5 6-6",
        place=0,
        pronoun="Ils",
    ),
)


def sentence_level(reference: str, rng: random.Random) -> str:
    """Knows nothing of antecedents: mostly il."""
    return {"elle": rng.choice(["il", "il", "il", "elle"]), "C'": rng.choice(["C'", "Il"])}.get(reference, reference)


def document_level(reference: str, rng: random.Random) -> str:
    """Mostly right; now and then it does without a pronoun."""
    if rng.random() < 0.8:
        return reference
    return {"il": "", "elle": "il", "C'": "Il", "Ils": "On"}[reference]


SYSTEMS: dict[str, Choice] = {"sentence-level": sentence_level, "document-level": document_level}


def write_example(folder: Path, seed: int = 7) -> list[Path]:
    """source, reference and the systems' translations, an alignment for each of them, and judged samples."""
    rng = random.Random(seed)
    names = ("reference", *SYSTEMS)
    lines: dict[str, list[str]] = {"source.en": [], "judged.tsv": ["candidate\treference\tcorrect"]}
    lines |= {f"{name}.{end}": [] for name in names for end in ("fr", "align")}
    for number in range(SENTENCES):
        frame = FRAMES[number % len(FRAMES)]
        noun = rng.choice(NOUNS)
        lines["source.en"].append(frame.source.format(noun[0]))
        right = frame.pronoun or IT[noun[2]]
        for name in names:
            pronoun = right if name == "reference" else SYSTEMS[name](right, rng)
            text, alignment = frame.translated(noun, pronoun, missed=rng.random() < MISSED)
            lines[f"{name}.fr"].append(text)
            lines[f"{name}.align"].append(alignment)
            if name == "sentence-level" and pronoun:
                correct = pronoun == right or (right == "C'" and rng.random() < 0.7)
                lines["judged.tsv"].append(f"{pronoun}\t{right}\t{int(correct)}")
    for name, content in lines.items():
        with atomic_writer(folder / name) as out:
            out.write("".join(f"{line}\n" for line in content).encode())
    return [folder / name for name in lines]
