"""Pairs from systems' output on WMT's news test sets, and the annotated pairs as suites.

Systems: Google, Microsoft and Bergamot on newstest2011 to 2020, and what took part in WMT 2021.

Left out of training: newstest2014 (development), and newstest2017 and newsdiscusstest2015 in every language, from which
the annotated pairs are; besides, every pair whose reference is in the annotated pairs or in the development pairs.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from _archive import archive

from anaphora.api import load_suite
from anaphora.languages.pair_list import read_pair_list
from anaphora.measure.pairs import Files, Settings, write_pairs
from anaphora.measure.texts import plain_text
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("ANAPHORA_WORK") or Path(tempfile.gettempdir()) / "anaphora-eval-anaphora-2019")
LANGUAGES = ("de", "cs", "fr", "ru", "zh")
ANNOTATED = {"de": "german", "fr": "french", "ru": "russian", "zh": "chinese"}  # those of them that are at hand
DEV, HELD_OUT = "2014", ("2017",)
LIST = DATA / "eval-anaphora" / "pronoun_pair_list.json"


def pairs(language: str) -> dict[str, Path]:
    """The files of pairs of a source language by year; those that are there already are not made again."""
    judged = read_pair_list(LIST)
    folder = WORK / "pairs"
    done = folder / f"{language}.done"
    if not done.exists():
        for year, (source, reference, systems) in (*sets(language), *submissions(language)):
            place = WORK / "texts" / f"{language}-{year}"
            write(place / "source", source)
            write(place / "reference", reference)
            for name, lines in systems.items():
                write(place / name, lines)
            files = Files(place / "reference", [place / name for name in systems], place / "source")
            settings = Settings(judged=judged, year=year)
            found = write_pairs(files, f"{language}-en", folder / f"{language}-{year}.jsonl", settings).statistics
            print(f"  {language} {year}: {found.to_dict()['pairs']}", flush=True)
        done.touch()
    return {path.stem.partition("-")[2]: path for path in sorted(folder.glob(f"{language}-*.jsonl"))}


TestSet = tuple[str, tuple[list[str], list[str], dict[str, list[str]]]]


def sets(language: str) -> Iterator[TestSet]:
    """Year by year: source, reference and systems in the order of the reference, which is that of the documents.

    Outputs are found by their source sentence, as some are in another order; a sentence without output keeps its
    place with an empty one, so that the sentences before another stay those of its document.
    """
    path = DATA / "wmt-outputs" / f"{language}-en.tar.zst"
    texts = archive(path) if path.exists() else {}
    years = sorted(name[8:12] for name in texts if name.startswith("newstest") and name.endswith(".ref.en"))
    for year in years:
        short = f"wmt{year[2:]}"
        names = sorted(n.split(".")[1] for n in texts if n.startswith(f"{short}.") and n.count(".") == 2)
        if f"{short}.{language}" not in texts or not names:
            continue
        source, reference = texts[f"newstest{year}.src.{language}"], texts[f"newstest{year}.ref.en"]
        number = {sentence: n for n, sentence in enumerate(texts[f"{short}.{language}"])}
        systems = {
            name: [texts[f"{short}.{name}.en"][number[s]] if s in number else "" for s in source] for name in names
        }
        yield year, (source, reference, systems)


def submissions(language: str) -> Iterator[TestSet]:
    """What took part in WMT 2021: 19 systems from German, 10 from Russian, 23 from Chinese."""
    start = f"newstest2021.{language}-en."
    texts = archive(DATA / "wmt-outputs" / "wmt21_systems.tar.zst")
    systems = {name.split(".")[-2]: lines for name, lines in texts.items() if name.startswith(f"{start}hyp.")}
    if systems:
        yield "2021", (texts[f"{start}src.{language}"], texts[f"{start}ref.A.en"], dict(sorted(systems.items())))


def training(languages: tuple[str, ...] = LANGUAGES) -> list[Example]:
    """All training pairs of all years, without what is held out."""
    known = {plain_text(e.candidates[0][-1]) for language in TESTED for e in test(language)}
    known |= {plain_text(e.candidates[0][-1]) for e in development(languages)}
    return _unique((y for y in (DEV, *HELD_OUT)), languages, known, keep=False)


def development(languages: tuple[str, ...] = LANGUAGES) -> list[Example]:
    """The pairs of 2014."""
    return _unique((DEV,), languages, set(), keep=True)


def _unique(years: object, languages: tuple[str, ...], known: set[str], *, keep: bool) -> list[Example]:
    listed = set(years)  # type: ignore[call-overload]
    seen: set[object] = set()
    found = []
    for language in languages:
        for year, path in pairs(language).items():
            if (year in listed) != keep:
                continue
            for example in load_suite(path):
                if example.candidates in seen or plain_text(example.candidates[0][-1]) in known:
                    continue
                seen.add(example.candidates)
                found.append(example)
    return found


def annotated(language: str) -> Path | None:
    """The file of annotated pairs of a source language, a pickle as released or JSON Lines, if it is at hand."""
    stem = DATA / "eval-anaphora" / f"test_data_{ANNOTATED[language]}"
    files = (stem.with_name(stem.name + end) for end in ("", ".jsonl", ".jsonl.gz"))
    return next((path for path in files if path.is_file()), None)


TESTED = tuple(language for language in ANNOTATED if annotated(language))


def test(language: str) -> Suite:
    """The annotated pairs of a source language, with what people said of their pronoun pairs."""
    from anaphora.measure.scoring import with_human_counts

    path = annotated(language)
    assert path is not None
    return with_human_counts(load_suite(path, "eval-anaphora"), LIST)


def as_suite(examples: list[Example], path: Path, like: Suite) -> Path:
    suite_of(like.header, lambda: iter(examples)).write(path)
    return path


def write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(" ".join(line.split()) for line in lines) + "\n", encoding="utf-8")


def drawn(languages: tuple[str, ...] = LANGUAGES) -> list[Example]:
    """One drawn pair for each reference sentence of the training years that has a pronoun: see `sampled_pairs`."""
    path = WORK / "drawn.jsonl"
    if not path.exists():
        from _sampling import count_confusion, sampled_pairs

        from anaphora.languages.pronouns import load_readings
        from anaphora.measure.texts import read_lines

        real = training(languages)
        known = held_out(languages)
        found: dict[str, Example] = {}
        for language in languages:
            for year in pairs(language):
                if year in (DEV, *HELD_OUT):
                    continue
                lines = read_lines(WORK / "texts" / f"{language}-{year}" / "reference", ())
                for e in sampled_pairs(
                    lines, load_readings("en"), count_confusion(real), seed=int(year), year=f"{language}-{year}"
                ):
                    text = plain_text(e.candidates[0][-1])
                    if text not in known:
                        found.setdefault(text, e)
        as_suite(list(found.values()), path, test("de"))
    return list(load_suite(path))


def held_out(languages: tuple[str, ...] = LANGUAGES) -> set[str]:
    """Sentences of the annotated pairs and of the references of 2014, plain."""
    known = {plain_text(sentence) for language in TESTED for e in test(language) for sentence in e.candidates[0]}
    return known | {plain_text(line) for language in languages for line in _references(language, DEV)}


def news(languages: tuple[str, ...] = LANGUAGES) -> list[list[str]]:
    """The references of the training years, plain, each sentence once; where one is held out a document ends."""
    seen = held_out(languages)
    found: list[list[str]] = [[]]
    for language in languages:
        for year in pairs(language):
            if year in (DEV, *HELD_OUT):
                continue
            found.append([])
            for sentence in map(plain_text, _references(language, year)):
                if sentence not in seen:
                    seen.add(sentence)
                    found[-1].append(sentence)
                elif found[-1]:
                    found.append([])
    return [document for document in found if document]


def _references(language: str, year: str) -> list[str]:
    place = WORK / "texts" / f"{language}-{year}" / "reference"
    return place.read_text(encoding="utf-8").splitlines() if place.exists() else []
