"""English–French text with documents from what is at hand (ANAPHORA_DATA), cleared of what Bawden's sets hold.

Tatoeba and the human translations of DiaBLa: single sentences. Lopes et al.: passages of subtitles, three sentences and
one with *it* or *they* (il, elle, ils, elles: 3,500 each), in the order of their films. SCAT is made of the same
passages. The last tenth of the passages, hence other films, is held out: its items tell which checkpoints are taken.

No sentence of three or more words that Bawden's sets have is in the text: a passage that holds one is left out.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from _archive import extract
from _text import SEPARATOR, Document, Pair, plain, write

from anaphora.suites.example import Example
from anaphora.suites.readers import diabla, disceval, lopes

TOLD = 3  # words from which on a sentence must not be one of Bawden's
HELD_OUT = 10  # one passage of so many, at the end
DEVELOPMENT = 700  # items of the held-out passages; the others are a test
GENERAL = 4  # one of so many passages is in the text that is mixed into the last stage
VALIDATION = 600  # pairs
PRONOUNS = ("il", "elle", "ils", "elles")


def write_text(data: Path, folder: Path, limit: int | None = None) -> dict[str, int]:
    """Files of text with a blank line between documents, and the held-out items; how many pairs or items each has.

    single: Tatoeba and DiaBLa; documents: whole passages; passages: their last two sentences, joined; mixed: a part of
    the documents; validation; development.jsonl, lopes.jsonl: held-out items, to choose by and to test
    limit: the most documents of each source, to try the steps; None: all
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = bawden_sentences(data)
    items = list(lopes.read(data / "lopes-en-fr", context=3))
    first_held = len(items) - len(items) // HELD_OUT
    learned = [passage(item) for item in items[:first_held][:limit]]
    learned = [document for document in learned if not any(plain(english) in known for english, _ in document)]
    held = unseen(items[first_held:], {plain(item.source[-1]) for item in items[:first_held]})
    single = [[pair] for pair in [*tatoeba(data, limit), *dialogues(data)] if plain(pair[0]) not in known]
    random.Random(1).shuffle(held)
    suites = {"development": held[: limit or DEVELOPMENT], "lopes": held[DEVELOPMENT:][:limit]}
    counts = {
        "single": write(single, folder / "single", "fr"),
        "documents": write(learned, folder / "documents", "fr"),
        "passages": write(
            ([joined(document[-2:])] for document in learned if len(document) > 1), folder / "passages", "fr"
        ),
        "mixed": write(learned[::GENERAL], folder / "mixed", "fr"),
        "validation": write([passage(item) for item in held[: VALIDATION // 4]], folder / "validation", "fr"),
    }
    head = {"anaphora": 1, "source_language": "en", "target_language": "fr", "breakdowns": ["reference_pronoun"]}
    for name, chosen in suites.items():
        lines = [{**head, "name": name}, *map(last_two, chosen)]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
        counts[name] = len(chosen)
    return counts


def unseen(items: Iterable[Example], seen: Iterable[str]) -> list[Example]:
    """Items with a pronoun whose sentence is not among these, nor that of an earlier one: series repeat themselves."""
    known, found = set(seen), []
    for item in items:
        sentence = plain(item.source[-1])
        if sentence not in known and "reference_pronoun" in item.tags:
            found.append(item)
        known.add(sentence)
    return found


def joined(pairs: Document) -> Pair:
    """A passage in one line, as the trainer reads it."""
    english, french = (SEPARATOR.join(side) for side in zip(*pairs, strict=True))
    return english, french


def bawden_sentences(data: Path) -> frozenset[str]:
    """The English sentences of both sets that have enough words to tell where they are from."""
    sets = [disceval.read(data / "disceval-en-fr" / name) for name in ("anaphora.json", "lexical-choice.json")]
    sentences = {plain(sentence) for suite in sets for item in suite for sentence in item.source}
    return frozenset(sentence for sentence in sentences if len(sentence.split()) >= TOLD)


def passage(item: Example) -> Document:
    """The sentences of an item with their right translations."""
    return [pair for pair in zip(item.source, item.candidates[0], strict=True) if all(pair)]


def last_two(item: Example) -> dict[str, object]:
    candidates = [list(candidate[-2:]) for candidate in item.candidates]
    tags = {"reference_pronoun": item.tags["reference_pronoun"]}
    return {"id": item.id, "source": list(item.source[-2:]), "candidates": candidates, "gold": 0, "tags": tags}


def tatoeba(data: Path, limit: int | None) -> Iterator[Pair]:
    with gzip.open(data / "tatoeba/eng-fra.tsv.gz", "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number == limit:
                return
            english, french = line.rstrip("\n").split("\t")[:2]
            yield english, " ".join(french.split())


def dialogues(data: Path) -> Iterator[Pair]:
    """What English speakers wrote, with its human translation."""
    with tempfile.TemporaryDirectory() as folder:
        root = extract(data / "diabla-en-fr" / "diabla_dialogues.tar.zst", Path(folder))
        for item in diabla.read(root / "DiaBLa-corpus" / "dialogues", context=0):
            yield item.source[-1], item.candidates[0][-1]
