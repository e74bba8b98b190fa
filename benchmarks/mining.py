"""Mining, stage by stage: sentence pairs per second and core, and what all other stages cost besides annotation.

Parts of TED talks, news and Europarl (data/docs-en-de), with the small pipelines of ANAPHORA_MODELS. The aligner is
trained on all pairs here, and the target is for what was measured. In a large corpus it is trained on 200,000 of
them: what that would come to, by these rates, stands next to it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from timing import Rounds, Row, side_by_side

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data") / "docs-en-de"
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or ROOT.parent / "shared" / "models")
LINES = 300  # of each of the three corpora
AT_MOST = 0.25  # of the time of annotation, for all other stages together
LARGE = 22_000_000  # pairs: OpenSubtitles EN-DE


def run(rounds: int = 1) -> list[Row]:
    missing = [str(path) for path in (DATA, MODELS / "en_ud_sm", MODELS / "de_ud_sm") if not path.exists()]
    if missing:
        return [Row("mining: not measured", 0, "", note=f"no {missing[0]}")]
    with tempfile.TemporaryDirectory() as folder:
        pairs, stages = prepare(Path(folder))
        measured = side_by_side(stages, rounds)
    rows = [Row(f"mining: {name}", pairs / measured.seconds(name), "pairs/s", note=measured.note) for name in stages]
    large, small = share(measured, pairs, LARGE), share(measured, pairs, pairs)
    name = "mining: all other stages / annotation"
    return [
        *rows,
        Row(name, small, "×", AT_MOST, f"{pairs:,} pairs: all are trained on"),
        Row(f"{name}, projected", large, "×", note=f"{LARGE:,} pairs, not measured"),
    ]


def share(measured: Rounds, pairs: int, corpus: int) -> float:
    """What all else costs besides annotation, in a corpus of N pairs."""
    from anaphora.build.mine.jobs import PAIRS

    others = sum(measured.seconds(name) for name in ("read", "sample", "align", "extract", "balance and write"))
    training = measured.seconds("train") * min(1, PAIRS / corpus)
    annotation = measured.seconds("annotate source") + measured.seconds("annotate target")
    return (others + training) / annotation


def prepare(folder: Path) -> tuple[int, dict[str, Callable[[], object]]]:
    """The stages as functions, each with what the stages before it give; and how many pairs there are."""
    from anaphora.build.mine.corpus import Corpus, read_stage
    from anaphora.build.mine.jobs import Align, Annotate, Clean, Extract, Sample, StageJob, train
    from anaphora.build.mine.pipeline import InProcess, Output, Settings, mine
    from anaphora.build.mine.result import MiningResult, finish
    from anaphora.build.mine.shards import Stage

    source, target = (write(folder, code) for code in ("en", "de"))
    specs = (f"spacy:{MODELS / 'en_ud_sm'}", f"spacy:{MODELS / 'de_ud_sm'}")
    settings = Settings(Corpus(source, target, "tags"), ("en", "de"), specs)
    output = Output(folder / "suite.jsonl", None, folder / "work", "benchmark")
    result = mine(settings, output, InProcess())
    assert len(result.index.shards) == 1
    names = ("read", "annotate-source", "annotate-target", "align", "extract")
    text, english, german, links, finds = (Stage(output.work / name, "") for name in names)
    fresh = iter(folder / f"model{k}" for k in range(1_000))
    again = iter(folder / f"read{k}" for k in range(1_000))

    def read() -> None:
        place = next(again)
        place.mkdir()
        read_stage(Stage(place, ""), settings.corpus, settings.sizes)

    def work(what: StageJob, *inputs: Stage) -> Callable[[], object]:
        return lambda: what([stage.read(0) for stage in inputs])

    def trained() -> None:
        train(next(fresh), settings.align, [sampled])

    sampled = Sample(1, None)([stage.read(0) for stage in (text, english, german)])
    model = str(output.work / "align-model" / "model")
    return result.index.pairs, {
        "read": read,
        "clean": work(Clean("subtitles"), text),
        "annotate source": work(Annotate(specs[0], "en", "source"), text),
        "annotate target": work(Annotate(specs[1], "de", "target"), text),
        "sample": work(Sample(1, None), text, english, german),
        "train": trained,
        "align": work(Align(model, "benchmark"), text, english, german),
        "extract": work(Extract("pronouns", ("en", "de")), text, english, german, links),
        "balance and write": lambda: finish(
            MiningResult(result.index), settings, replace(output, name="again"), (), text, links, finds
        ),
    }


def write(folder: Path, language: str) -> Path:
    """The beginning of each corpus in one file."""

    def lines() -> Iterator[str]:
        from anaphora.core.files import text_lines

        for name in ("IWSLT2017", "NC-2016", "Europarl7"):
            for number, line in enumerate(text_lines(DATA / name / f"concatenated_en2de_dev_{language}.txt.gz")):
                if number == LINES:
                    break
                yield line

    path = folder / f"text.{language}"
    path.write_text("".join(f"{line}\n" for line in lines()), encoding="utf-8")
    return path
