"""A phenomenon for tests: every *it* that is linked to er, sie or es. It needs no more than words and links."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from anaphora.build.mine.phenomenon import AnnotatedPair, MinedExample

FORMS = ("er", "es", "sie")
PATIENCE = 180  # seconds


class Toy:
    name = "toy"
    breakdowns = ("reference_pronoun", "distance>3")

    def __init__(
        self, source: str, target: str, shortest: str = "0", pause: str = "0", log: str = "", company: str = "1"
    ) -> None:
        self.shortest = int(shortest)  # words of a sentence
        self.pause, self.log = float(pause), log  # seconds for each document; a file for the processes that work
        self.company = int(company)  # no process continues before N processes work

    def settings(self) -> Mapping[str, Any]:
        return {"shortest": self.shortest}

    def extract(self, pair: AnnotatedPair, counts: Counter[str]) -> Iterator[MinedExample]:
        if self.log:
            with Path(self.log).open("a", encoding="utf-8") as out:
                out.write(f"{os.getpid()}\n")
            end = time.monotonic() + PATIENCE
            while len(set(Path(self.log).read_text("utf-8").split())) < self.company:
                assert time.monotonic() < end, f"no {self.company} processes in {self.log} after {PATIENCE} s"
                time.sleep(0.05)
        time.sleep(self.pause)
        for number, points in enumerate(pair.alignments):
            if number < pair.first:
                continue
            source, target = pair.source.sentences[number], pair.target.sentences[number]
            for i, token in enumerate(source):
                if token.text.lower() != "it":
                    continue
                linked = [j for k, j in points if k == i and target[j].text.lower() in FORMS]
                if len(linked) != 1 or len(source) < self.shortest:
                    counts["not linked" if len(linked) != 1 else "too short"] += 1
                    continue
                counts["found"] += 1
                yield self._mined(pair, number, target, linked[0])

    def _mined(self, pair: AnnotatedPair, number: int, target: Any, j: int) -> MinedExample:
        form = target[j].text.lower()
        start, end = target.offsets[j], target.offsets[j] + len(target[j].text)
        others = [other for other in FORMS if other != form]
        return MinedExample(
            pair.name,
            number,
            form,
            target.text,
            tuple(target.text[:start] + other + target.text[end:] for other in others),
            {
                "source_pronoun": "it",
                "reference_pronoun": form,
                "candidate_pronouns": [form, *others],
                "distance": number % 6,
                "location": "external" if number % 6 else "intrasegmental",
            },
        )
