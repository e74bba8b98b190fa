"""English–French text with documents from what is at hand (ANAPHORA_DATA), cleared of what Bawden's sets hold.

Tatoeba and the human translations of DiaBLa: single sentences. Lopes et al.: passages of subtitles, three sentences and
one with *it* or *they* (il, elle, ils, elles: 3,500 each), in the order of their films. SCAT is made of the same
passages. The last tenth of the passages, hence other films, is held out. Sentences that are given with both genders are
made of all of this (_real_weak.py); those of the held-out films tell which checkpoints are taken.

No sentence of three or more words that Bawden's sets have is in the text: a passage that holds one is left out.
"""

from __future__ import annotations

import gzip
import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from _archive import extract
from _real_weak import (
    OBJECTS,
    Current,
    Tag,
    contexts,
    exchangeable,
    exchangeable_object,
    may_have_object,
    passages,
    short,
    tagged,
    templates,
    without_nouns,
)
from _real_weak import items as counterfactual
from _text import SEPARATOR, Document, Pair, plain, write

from anaphora.suites.example import Example
from anaphora.suites.readers import diabla, disceval, lopes

TOLD = 3  # words from which on a sentence must not be one of Bawden's
HELD_OUT = 10  # one passage of so many, at the end
DEVELOPMENT = 700  # items of the held-out passages; the others are a test
GENERAL = 4  # one of so many passages is in the text that is mixed into the last stage
VALIDATION = 600  # pairs
TATOEBA = 3  # one of so many single sentences may be a context of weak supervision
REAL_TIMES, TEMPLATE_TIMES = 4, 60  # how often a sentence is given with each gender
CROSSED_TIMES = 4
DEVELOPMENT_TIMES = 4
PRONOUNS = ("il", "elle", "ils", "elles")


def write_text(data: Path, folder: Path, limit: int | None = None, tag: Tag = tagged) -> dict[str, int]:
    """Files of text with a blank line between documents, and the held-out items; how many pairs or items each has.

    single: Tatoeba and DiaBLa; documents: whole passages; passages: their last two sentences, joined; mixed: a part of
    the documents; validation; lopes.jsonl: held-out items, a test; and what write_weak writes
    limit: the most documents of each source, to try the steps; None: all
    tag: the tagger of French
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = bawden_sentences(data)
    items = list(lopes.read(data / "lopes-en-fr", context=3))
    first_held = len(items) - len(items) // HELD_OUT
    kept = [item for item in items[:first_held][:limit] if known.isdisjoint(map(plain, item.source))]
    learned = [passage(item) for item in kept]
    held = unseen(items[first_held:], {plain(item.source[-1]) for item in items[:first_held]})
    single = [[pair] for pair in [*tatoeba(data, limit), *dialogues(data)] if plain(pair[0]) not in known]
    random.Random(1).shuffle(held)
    counts = {
        "single": write(single, folder / "single", "fr"),
        "documents": write(learned, folder / "documents", "fr"),
        "passages": write(
            ([joined(document[-2:])] for document in learned if len(document) > 1), folder / "passages", "fr"
        ),
        "mixed": write(learned[::GENERAL], folder / "mixed", "fr"),
        "validation": write([passage(item) for item in held[: VALIDATION // 4]], folder / "validation", "fr"),
    }
    held_out = map(last_two, held[DEVELOPMENT:][:limit])
    counts["lopes"] = write_suite(held_out, folder / "lopes.jsonl")
    counts |= write_weak(kept, single, held[: limit or DEVELOPMENT], known, folder, tag)
    return counts


def write_weak(
    learned: list[Example], single: list[Document], held: list[Example], known: frozenset[str], folder: Path, tag: Tag
) -> dict[str, int]:
    """Sentences with both genders, to learn from and to choose checkpoints by (_real_weak.py); how many there are.

    weak: real sentences; templates: ours; crossed: these and objects, for the last stage; development.jsonl,
    development-crossed.jsonl: real sentences and contexts of the held-out passages, for stages 2 and 3
    """
    seen = known | {plain(sentence) for item in held for sentence in item.source if len(plain(sentence).split()) > 2}
    sentences = [pair for item in learned for pair in passage(item)[:-1]] + [d[0] for d in single[::TATOEBA]]
    usable = [pair for pair in short(sentences) if plain(pair[0]) not in seen]
    analyses = list(tag(usable))
    given, more = contexts(analyses), without_nouns(analyses)
    currents = real([item for item in learned if plain(item.source[-1]) not in seen], tag)
    made = [current for current in templates() if plain(current.english) not in seen]
    weak, fixed = passages(currents, given, REAL_TIMES, 1), passages(made, given, TEMPLATE_TIMES, 2)
    analyses = list(tag(short(pair for item in held for pair in passage(item)[:-1])))
    of_held, more_held = contexts(analyses), without_nouns(analyses)
    subjects = real(held, tag)
    development = counterfactual(subjects, of_held, DEVELOPMENT_TIMES)
    everything = [pair for item in learned for pair in passage(item)] + [d[0] for d in single[:: TATOEBA - 1]]
    objects = objects_of((pair for pair in everything if plain(pair[0]) not in seen), tag)
    made_objects = [c for c in templates((False, OBJECTS)) if plain(c.english) not in seen]
    crossed = passages([*currents, *objects], given, CROSSED_TIMES, 3, more, crossed=True)
    crossed += passages([*made, *made_objects], given, TEMPLATE_TIMES, 4, more, crossed=True)
    of_objects = objects_of((pair for item in held for pair in passage(item)), tag)
    last = [*counterfactual([*subjects, *of_objects], of_held, DEVELOPMENT_TIMES, more_held, crossed=True)]
    return {
        "objects": len(objects),
        "made objects": len(made_objects),
        "crossed": write(([pair] for pair in crossed), folder / "crossed", "fr"),
        "development objects": len(of_objects) * 2 * DEVELOPMENT_TIMES,
        "development-crossed": write_suite(last, folder / "development-crossed.jsonl"),
        **{f"contexts {form}": len(found) for form, found in given.items()},
        "currents": len(currents),
        "made": len(made),
        "weak": write(([pair] for pair in weak), folder / "weak", "fr"),
        "templates": write(([pair] for pair in fixed), folder / "templates", "fr"),
        "development": write_suite(development, folder / "development.jsonl"),
    }


def real(items: list[Example], tag: Tag) -> list[Current]:
    """The current sentences of these items that are right with either gender."""
    pairs = [(item.source[-1], item.candidates[0][-1]) for item in items]
    analyses = (analysis for _, analysis in tag(pairs))
    found = (
        exchangeable(item.source[-1], item.candidates[0][-1], item.candidates[1][-1], analysis)
        for item, analysis in zip(items, analyses, strict=True)
    )
    return [current for current in found if current]


def objects_of(pairs: Iterable[Pair], tag: Tag) -> list[Current]:
    """Sentences with *le* or *la* as an object that are right with either, each once."""
    usable = list({plain(pair[0]): pair for pair in pairs if may_have_object(pair)}.values())
    found = (exchangeable_object(pair, analysis) for pair, analysis in tag(usable))
    return [current for current in found if current]


def write_suite(lines: Iterable[Mapping[str, object]], path: Path) -> int:
    """A suite file; how many items it has."""
    written = [json.dumps(line, ensure_ascii=False) for line in lines]
    head = {"anaphora": 1, "source_language": "en", "target_language": "fr", "breakdowns": ["reference_pronoun"]}
    head_line = json.dumps({**head, "name": path.stem})
    path.write_text("".join(f"{line}\n" for line in (head_line, *written)), encoding="utf-8")
    return len(written)


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
