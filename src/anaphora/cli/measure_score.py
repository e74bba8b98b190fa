"""`anaphora measure score`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.evaluate import Share
from anaphora.cli.output import PATH, format_options, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.measure.model import Measure, ScoredText
    from anaphora.measure.texts import Line, Text


@click.command(
    epilog="""\b
Examples:
  anaphora measure score MODEL "He was creative, and I will miss him."
  anaphora measure score MODEL "It was creative." --before "My uncle died." --why attention.svg
  anaphora measure score MODEL -t google.en -t mine.en
  anaphora measure score MODEL -r ref.en -t google.en -t mine.en --common-context --details scores.tsv
"""
)
@click.argument("model", type=PATH)
@click.argument("sentences", nargs=-1, metavar="[SENTENCE]…")
@click.option("--before", multiple=True, help="A sentence before SENTENCE, the oldest first. Repeatable.")
@click.option("-t", "--translation", "systems", type=PATH, multiple=True, help="A system's translation. Repeatable.")
@click.option("--name", "names", multiple=True, help="The name of a system, one for each -t.")
@click.option("-r", "--reference", type=PATH, help="A reference translation, which is scored as well.")
@click.option("--docids", is_flag=True, help="Every line is docid⇥sentence; else empty lines end documents.")
@click.option("--common-context", is_flag=True, help="Use the reference's context for all systems (CRC).")
@click.option("--details", type=PATH, help="Write the score of every sentence to this file (TSV).")
@click.option("--why", type=PATH, help="Draw the attention of each pronoun (.svg, .png), for SENTENCEs or for --line.")
@click.option("--line", type=click.IntRange(1), help="The line of the files to draw with --why.")
@click.option("--encoder", metavar="SPEC", help="The encoder of the model, if its folder has no copy.")
@click.option("--cache", type=PATH, help="A folder in which the encoder's states are cached.")
@click.option("--threads", type=click.IntRange(1), help="CPU threads.")
@click.option("--confidence", type=Share(0, 1, True, True), default=0.95, show_default=True)
@click.option("--samples", type=click.IntRange(100), default=10_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@format_options
def score(
    model: Path,
    sentences: tuple[str, ...],
    systems: tuple[Path, ...],
    encoder: str | None,
    cache: Path | None,
    threads: int | None,
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Score sentences with a learned measure, or rank systems on the same sentences.

    A score is a sum over pronouns: it is meaningful compared with another translation of the same sentence, and a
    sentence without a pronoun has the score 0.
    """
    from anaphora.measure import check_installed

    if bool(sentences) == bool(systems):
        raise click.UsageError("give sentences, or files of systems (-t)")
    check_installed()
    from anaphora.measure.training import load_measure

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    measure = load_measure(model, cache=cache, fallback=encoder)
    if sentences:
        _sentences(measure, sentences, options, format, as_json)
    else:
        _systems(measure, systems, options, format, as_json)


def _sentences(
    measure: Measure, sentences: tuple[str, ...], options: dict[str, Any], format: str, as_json: bool
) -> None:
    from anaphora.measure.texts import text_of
    from anaphora.table import Row, Table

    count, plain = measure.config.context_sentences, measure.config.plain
    passages = [(*options["before"], sentence) for sentence in sentences]
    texts = [text_of(passage, measure.readings, sentences=count, plain=plain) for passage in passages]
    found = measure.score(texts)
    if options["why"]:
        _draw(options["why"], [(s, t, f) for s, t, f in zip(sentences, texts, found, strict=True)])
    rows = []
    for sentence, scored in zip(sentences, found, strict=True):
        rows.append(Row((sentence, f"{scored.score:+.3f}")))
        for word, share in zip(scored.pronouns, scored.shares, strict=True):
            rows.append(Row((word, f"{share:+.3f}"), indent=1))
    document = [{"sentence": s, **_document(f)} for s, f in zip(sentences, found, strict=True)]
    show(Table("Learned pronoun measure", ("", "score"), tuple(rows)), {"sentences": document}, format, as_json)


def _systems(measure: Measure, systems: tuple[Path, ...], options: dict[str, Any], format: str, as_json: bool) -> None:
    from anaphora.measure.pair_suite import Files
    from anaphora.measure.scoring import rank, ranking_table, texts_of
    from anaphora.measure.texts import read_lines

    reference: Path | None = options["reference"]
    if options["common_context"] and reference is None:
        raise AnaphoraError("--common-context is the reference's: name it with -r")
    names = Files(systems[0], systems, names=options["names"]).system_names()
    lines = list(
        read_lines(reference or systems[0], systems, context=measure.config.sentences, docids=options["docids"])
    )
    own = not options["common_context"]
    texts = {name: texts_of(lines, k, measure, own_context=own) for k, name in enumerate(names)}
    if reference is not None:
        if "reference" in texts:
            raise AnaphoraError("a system cannot be called 'reference' where there is one: name it with --name")
        texts = {"reference": texts_of(lines, None, measure, own_context=True), **texts}
    with progress_bar("texts") as progress:
        sampling = {name: options[name] for name in ("samples", "seed", "confidence")}
        found = rank(measure, texts, **sampling, progress=progress)
    if options["details"]:
        _write_details(options["details"], lines, found.details)
    if options["why"]:
        _draw_line(options["why"], options["line"], lines, texts, found.details)
    show(ranking_table(found), found.to_dict(), format, as_json)


def _draw_line(path: Path, line: int | None, lines: list[Line], texts: dict[str, list[Text]], details: Any) -> None:
    place = next((n for n, found in enumerate(lines) if found.number == line), None)
    if place is None:
        raise AnaphoraError("--why with files draws one line: say which with --line N, a line that is not empty")
    _draw(path, [(name, texts[name][place], details[name][place]) for name in texts])


def _draw(path: Path, found: list[tuple[str, Text, ScoredText]]) -> None:
    from anaphora.reports.charts import write_chart
    from anaphora.reports.metric_charts import Attention, attention_chart

    passages = [
        Attention(f"{title}  ({scored.score:+.3f})", text.words, text.pronouns, scored.shares, scored.attention)
        for title, text, scored in found
    ]
    write_chart(path, attention_chart(passages))
    note(f"wrote {path}")


def _write_details(path: Path, lines: list[Line], details: Any) -> None:
    from anaphora.core.cells import tsv_line
    from anaphora.core.files import atomic_writer

    with atomic_writer(path) as out:
        out.write(tsv_line(["line", *details]).encode() + b"\n")
        for n, line in enumerate(lines):
            row = [str(line.number), *(f"{found[n].score:.6f}" for found in details.values())]
            out.write("\t".join(row).encode() + b"\n")


def _document(found: ScoredText) -> dict[str, Any]:
    shares = [{"pronoun": w, "share": s} for w, s in zip(found.pronouns, found.shares, strict=True)]
    return {"score": found.score, "pronouns": shares}
