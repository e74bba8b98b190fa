"""What a trained model is asked: ContraPro in several contexts, CXMI, and BLEU. Every figure is computed once."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from _bayes import write_scores
from _command import anaphora
from _text import TRANSLATED

SAMPLE = 3000  # random items of ContraPro for single seeds, earlier stages and what takes long
USAGE = 1000  # … for CXMI, of which each condition needs two runs
PROBED = 60  # … that the tests ask the kept models
ONE = ("--threads", "1", "--workers", "1")
# How context is given: to the source, and to the target
CONDITIONS: dict[str, tuple[str, ...]] = {
    "right": (),
    "random": (),  # in a suite of its own
    "none": ("--context", "0"),
    "produced": ("--target-context", "produced"),
    "source only": ("--target-context", "none"),
}
KEPT = ("total", "correct", "accuracy", "interval", "signature")  # of an evaluation
GROUPS = ("reference_pronoun", "location", "distance")


class Judge:
    """The test sets in a work folder, and what models do on them.

    limit: the most items of any judgment, to try the steps; None: no limit
    """

    def __init__(self, data: Path, work: Path, limit: int | None = None) -> None:
        self.data, self.work, self.limit = data, work, limit
        self.suite, self.random = work / "contrapro.jsonl", work / "random.jsonl"
        if not self.suite.exists():
            released = data / "contrapro/contrapro_reconstructed.jsonl.gz"
            anaphora("suites", "convert", released, "--from", "contrapro-rebuilt", "-o", self.suite)
        if not self.random.exists():
            anaphora("build", "attack", "random-context", self.suite, "-o", self.random)
        (work / "runs").mkdir(exist_ok=True)

    def accuracy(self, model: str, condition: str, sample: int = 0) -> dict[str, Any]:
        """Accuracy in a context, by pronoun, place and distance. sample: how many items; 0: all"""
        run = self.run(model, condition, sample)
        return self.once(f"{run.name}.accuracy", lambda: shortened(anaphora("evaluate", run, "--json")))

    def against_random(self, model: str, sample: int = 0) -> dict[str, Any]:
        """Right against random context, on the same items."""
        runs = [self.run(model, condition, sample) for condition in ("right", "random")]

        def compared() -> dict[str, Any]:
            (found,) = anaphora("robustness", *runs, "--by", "distance", "--json")["attacks"]
            keys = ("total", "before", "after", "delta", "interval", "p_adjusted")
            groups = {name: {key: part[key] for key in keys} for name, part in found["breakdowns"]["distance"].items()}
            return {**{key: found[key] for key in keys}, "distance": groups}

        return self.once(f"{runs[1].name}.difference", compared)

    def run(self, model: str, condition: str, sample: int) -> Path:
        sample = self.limit or sample
        run = self.work / "runs" / f"{model}.{condition.replace(' ', '-')}{f'.{sample}' if sample else ''}"
        suite = self.random if condition == "random" else self.suite
        arguments = [*CONDITIONS[condition], *(("--sample", str(sample)) if sample else ()), *ONE]

        def score() -> str:
            system = f"nmt:{self.work / model}"
            resume = ["--resume"] if run.exists() else []
            anaphora("score", suite, "--system", system, "-o", run, *arguments, *resume)
            return "scored"

        self.once(f"{run.name}.done", score)
        return run

    def kept(self, folder: Path, sample: int = 0) -> dict[str, Any]:
        """Accuracy of kept weights, as anyone has it: half precision, the right context."""
        run, sample = self.work / "runs" / f"kept-{folder.name}", self.limit or sample
        arguments = [*(("--sample", str(sample)) if sample else ()), *ONE, "--overwrite"]

        def found() -> dict[str, Any]:
            anaphora("score", self.suite, "--system", f"nmt:{folder}", "-o", run, *arguments)
            return shortened(anaphora("evaluate", run, "--json"))

        return self.once(f"{run.name}.accuracy", found)

    def probe(self, folder: Path) -> dict[str, Any]:
        """What a kept model has on a few items, for the test that it is what it was."""
        run = self.work / "runs" / f"{folder.name}.probe"
        sample = ("--sample", str(self.limit or PROBED), "--overwrite")
        anaphora("score", self.suite, "--system", f"nmt:{folder}", "-o", run, *sample, *ONE)
        found = anaphora("evaluate", run, "--json")
        return {key: found[key] for key in ("total", "correct")}

    def cxmi(self, model: str) -> dict[str, Any]:
        """How much more probable the right pronoun becomes with the right and with a random context."""
        folder = self.work / "runs" / f"{model}.usage"
        system = f"nmt:{self.work / model}"
        arguments = ("--system", system, "-o", folder, "--sample", str(self.limit or USAGE), "--threads", "1", "--json")
        found = self.once(f"{folder.name}.cxmi", lambda: anaphora("context-usage", self.suite, *arguments))
        return {key: found[key] for key in ("conditions", "signature")}

    def bleu(self, model: str) -> dict[str, Any]:
        """BLEU without regard to case, on talks, captions and sentences of ContraPro."""
        self.pronoun_set()
        return {part: self._bleu(model, part) for part in ("talks", "captions", "pronouns")}

    def _bleu(self, model: str, part: str) -> dict[str, Any]:
        text, output = self.work / "text" / f"{part}.en", self.work / "runs" / f"{model}.{part}.de"

        def computed() -> dict[str, Any]:
            system = f"nmt:{self.work / model}"
            if not output.exists():  # it appears when it is complete
                anaphora("translate", "--system", system, "-i", text, "-o", output, "--threads", "1", "--resume")
            files, context = (text.with_suffix(".de"), output), int(part == "pronouns")
            both = [lowered(path, text, self.work / "runs", context) for path in files]
            answer = anaphora("metrics", "-r", both[0], "-t", both[1], "-l", "en-de", "--metric", "bleu", "--json")
            found: dict[str, Any] = next(iter(answer["systems"].values()))["bleu"]
            return found

        return self.once(f"{output.stem}.bleu", computed)

    def pronoun_set(self) -> None:
        """Items of ContraPro, each a document of its context and its sentence."""
        stem = self.work / "text" / "pronouns"
        if stem.with_suffix(".de").exists():
            return
        with gzip.open(self.data / "contrapro/contrapro_reconstructed.jsonl.gz", "rt", encoding="utf-8") as file:
            items = [item for item in map(json.loads, file) if item["src_context"] and item["ref_context"]]
        drawn = random.Random(1).sample(items, self.limit or TRANSLATED)
        for language, side in (("en", "src"), ("de", "ref")):
            lines = (f"{item[f'{side}_context']}\n{item[side]}\n\n" for item in drawn)
            stem.with_suffix(f".{language}").write_text("".join(lines), encoding="utf-8")

    def naive_bayes(self) -> dict[str, Any]:
        """The words of the previous German sentence, right and random."""
        return {name: self.once(f"bayes.{name}", partial(self._bayes, name)) for name in ("right", "random")}

    def _bayes(self, name: str) -> dict[str, Any]:
        path = self.work / "runs" / f"bayes.{name}.scores"
        write_scores(self.data, self.work / "text", path, others=name == "random")
        return shortened(anaphora("evaluate", self.suite, "--scores", path, "--json"))

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """A figure, read where it was computed before."""
        path = self.work / "runs" / f"{name}.json"
        if not path.exists():
            found = compute()
            path.write_text(json.dumps(found), encoding="utf-8")
        return json.loads(path.read_text("utf-8"))


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """An evaluation without what no table shows."""
    groups = {name: found["breakdowns"][name] for name in GROUPS if name in found["breakdowns"]}
    return {**{key: found[key] for key in KEPT}, "breakdowns": groups}


def lowered(path: Path, source: Path, folder: Path, first: int) -> Path:
    """A text in lower case without the lines that are blank in the source; an empty translation stays.

    first: of each document, the sentence to begin with: 1 leaves out the context in the pronoun set
    """
    kept, place = [], 0
    texts = [file.read_text("utf-8").split("\n") for file in (source, path)]
    for english, line in zip(*texts, strict=False):  # they may end with more or fewer blank lines
        if english and place >= first:
            kept.append(line.lower())
        place = place + 1 if english else 0
    lower = folder / f"{path.stem}.lower{path.suffix}"
    lower.write_text("\n".join(kept) + "\n", encoding="utf-8")
    return lower
