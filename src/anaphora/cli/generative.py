"""`anaphora generative`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.output import PATH, format_options, note, progress_bar, show
from anaphora.cli.text import tell_texts, text_options
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.evaluation.generative import Generative, Texts


@click.command(
    epilog="""\b
Examples:
  anaphora generative contrapro -t my-model.de
  anaphora generative contrapro -t my-model.de --run runs/my-model --by distance
  anaphora generative suite.jsonl -t one.de -t two.de --corpus train.en train.de --details outcomes.tsv
"""
)
@click.argument("suite")
@click.option(
    "-t",
    "--translation",
    "translations",
    type=PATH,
    multiple=True,
    required=True,
    help="A system's translations: a line, or a document, per example (suites convert --to sources). Repeatable.",
)
@click.option("--run", "runs", type=PATH, multiple=True, help="The same system's run: the gap to it. One per -t.")
@click.option("--corpus", type=PATH, nargs=2, multiple=True, metavar="SRC TGT", help="Text to align better by.")
@click.option("--align", "aligner", type=PATH, metavar="FOLDER", help="A saved aligner (anaphora align --save).")
@click.option("--backend", default="thot", show_default=True, help="What aligns; see: anaphora align --help.")
@click.option("--model", metavar="NAME", help="The backend's model; see: anaphora align --help.")
@text_options
@click.option("--by", multiple=True, metavar="TAG", help="Break down by a tag, tag>3, or a×b (a*b). Repeatable.")
@click.option("--details", type=PATH, help="A row for every example: what was found, and where.")
@format_options
def generative(
    suite: str,
    translations: tuple[Path, ...],
    runs: tuple[Path, ...],
    corpus: tuple[tuple[Path, Path], ...],
    aligner: Path | None,
    backend: str,
    model: str | None,
    tokenize: str,
    normalize: bool,
    by: tuple[str, ...],
    details: Path | None,
    format: str,
    as_json: bool,
) -> None:
    """Is the pronoun right in a system's own translations of SUITE? Correct, wrong, not found."""
    from anaphora import api
    from anaphora.align import Aligner, Settings
    from anaphora.core.documents import read_parallel
    from anaphora.evaluation import generative as translated
    from anaphora.reports.tables import generative_table
    from anaphora.runs import open_run

    if runs and len(runs) != len(translations):
        raise AnaphoraError(f"{len(runs)} runs for {len(translations)} translations: give one --run for each -t")
    names = _names(translations)
    loaded = api.load_suite(suite)
    texts = translated.read_texts(loaded, tokenize, normalize=normalize)
    own = {
        name: translated.read_translations(path, texts, loaded) for name, path in zip(names, translations, strict=True)
    }
    words = {name: text.sentences for name, text in own.items()}
    more = [pair for files in corpus for pair in texts.words.pairs(*read_parallel(*files))]
    saved = None if aligner is None else Aligner.load(aligner)
    settings = Settings(backend=backend, model=model)
    with progress_bar("steps") as progress:
        found = translated.align_texts(texts, words, corpus=more, settings=settings, aligner=saved, progress=progress)
    references = translated.judge_texts(texts, texts.gold, found.reference, found.reference)
    aligned = translated.alignment_label(saved.settings if saved else settings, more, aligner)
    results = []
    for number, name in enumerate(names):
        outcomes = translated.judge_texts(texts, words[name], found.reference, found.systems[name])
        run = open_run(runs[number]) if runs else None
        done = own[name].treatment
        results.append(
            translated.evaluate_translations(
                texts, name, outcomes, aligned, treatment=done, references=references, by_tags=by, run=run
            )
        )
    tell_texts({name: treatment for result in results for name, treatment in result.texts.items()}, normalized=False)
    if details is not None:
        _write_details(details, texts, results)
        note(f"every example: {details}")
    document = results[0].to_dict() if len(results) == 1 else {}
    document = document | {"systems": {result.system: result.to_dict() for result in results}}
    show(generative_table(results), document, format, as_json)


def _names(paths: tuple[Path, ...]) -> list[str]:
    """Short names of systems: those of the files, or their paths where two have the same."""
    names = [path.name for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _write_details(path: Path, texts: Texts, results: list[Generative]) -> None:
    from anaphora.core.cells import tsv_line
    from anaphora.core.files import atomic_writer

    with atomic_writer(path) as out:
        out.write(b"system\tid\toutcome\tfound\thow\tsource_position\tposition\n")
        for result in results:
            for outcome in result.outcomes:
                places = ("" if place is None else str(place) for place in (outcome.source, outcome.place))
                row = (result.system, outcome.id, outcome.outcome, outcome.found, outcome.how, *places)
                out.write((tsv_line(row) + "\n").encode())
