"""A made-up study with made-up answers, to see what the pages and tables look like. It says nothing of real people."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from anaphora.study.create import Design, make_study
from anaphora.study.database import open_log
from anaphora.study.file import write_study
from anaphora.study.model import Study
from anaphora.study.store import Answer
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

PEOPLE = ("Anna", "Ben", "Carla")
# German and English of what is spoken of, of what is said of it, and the pronoun that takes the right one's place;
# how often a made-up person finds the reference better, the other better, both equally good, neither correct
FRAMES = (
    (
        (
            ("Der Schlüssel", "The key"),
            ("Der Löffel", "The spoon"),
            ("Der Mantel", "The coat"),
            ("Der Ball", "The ball"),
        ),
        ("{} war weg.", "{} was gone."),
        ("Er lag unter dem Tisch.", "{} was under the table."),
        ("It", "He"),
        (95, 2, 2, 1),
    ),
    (
        (("Die Frau", "The woman"), ("Die Ärztin", "The doctor"), ("Meine Tante", "My aunt"), ("Maria", "Maria")),
        ("{} kam spät.", "{} came late."),
        ("Sie hatte den Zug verpasst.", "{} had missed the train."),
        ("She", "They"),
        (70, 5, 23, 2),
    ),
    (
        (("Die Nachbarn", "The neighbours"), ("Die Kinder", "The children"), ("Die Gäste", "The guests")),
        ("{} sind da.", "{} are here."),
        ("Ich habe sie gehört.", "I heard {}."),
        ("them", "her"),
        (92, 3, 2, 3),
    ),
    (
        (("Das Buch", "The book"), ("Das Bild", "The picture"), ("Das Fahrrad", "The bicycle")),
        ("{} gefällt mir.", "I like {}."),
        ("Das sagte ich schon.", "I have said {} before."),
        ("that", "it"),
        (38, 22, 38, 2),
    ),
)
ADVERBS = (("Gestern", "yesterday"), ("Heute", "today"), ("Leider", "sadly"), ("Angeblich", "as they say"))


def example_pairs() -> Iterator[Example]:
    for frame, (nouns, first, second, (right, wrong), _) in enumerate(FRAMES):
        for k, (german, english) in enumerate(nouns):
            for m, (adverb, english_adverb) in enumerate(ADVERBS):
                source = (f"{adverb} ist etwas geschehen.", first[0].format(german), second[0])
                before = (
                    f"Something happened {english_adverb}.",
                    _sentence(first[1].format(_inside(english, first[1]))),
                )
                pair = tuple((*before, second[1].format(pronoun)) for pronoun in (right, wrong))
                yield Example(f"{frame}.{k}.{m}", source, pair, 0)


def _inside(noun: str, pattern: str) -> str:
    """The key, but I like the book."""
    return noun if pattern.startswith("{}") or not noun.startswith("The ") else f"the {noun[4:]}"


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def write_example(folder: Path, seed: int = 7) -> Study:
    """A study of 56 pairs by three people, who have answered nearly all of it."""
    suite = suite_of(Header("made-up", "de", "en"), lambda: example_pairs())
    study = make_study(suite, Design(annotators=PEOPLE, seed=seed, title="An example: which pronoun fits?"))
    write_study(study, folder)
    log = open_log(study, folder)
    rng = random.Random(seed)
    for annotator in study.annotators:
        for number, one in enumerate(annotator.assignments[:-2]):
            weights = FRAMES[int(one.item.split(".")[0])][-1]
            what = rng.choices(("reference", "other", "equal", "neither"), weights)[0]
            letters = {"reference": "ab"[one.order.index(0)], "other": "ab"[one.order.index(1)]}
            choice = letters.get(what, what)
            seconds = round(rng.uniform(2, 15), 1)
            log.append(
                Answer(
                    annotator.name, one.item, (choice,), one.order, f"example-{number:04d}", seconds, elapsed=seconds
                )
            )
    log.close()
    return study
