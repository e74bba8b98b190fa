"""`anaphora metrics`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from anaphora.align.tokenize import DEFAULT, TOKENIZERS
from anaphora.cli.output import PATH, format_options
from anaphora.cli.sampling import sampling_options, show_all
from anaphora.cli.text import tell, tell_texts


@click.command(
    epilog="""\b
Examples:
  anaphora metrics -r ref.fr -t hyp.fr -l en-fr
  anaphora metrics -r ref.fr -t a.fr -t b.fr -l en-fr --metric bleu,chrf --metric meteor-pronouns
  anaphora metrics -r one.fr -r other.fr -t hyp.fr -l en-fr
  anaphora metrics -s src.en -r ref.de -t hyp.de -l en-de --metric comet
"""
)
@click.option(
    "-r",
    "--reference",
    "references",
    required=True,
    type=PATH,
    multiple=True,
    help="A reference translation, a sentence per line. Repeatable: several references.",
)
@click.option("-t", "--hypothesis", required=True, type=PATH, multiple=True, help="A translation. Repeatable.")
@click.option("-s", "--source", type=PATH, help="The source text (for COMET).")
@click.option("-l", "--languages", default="", metavar="SRC-TGT", help="Such as en-fr: for tokenization and stems.")
@click.option("--name", multiple=True, help="What a translation is called in the result, one for each -t.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    default=["bleu,chrf,ter,meteor"],
    show_default=True,
    help="bleu, chrf, chrf++, ter, meteor, meteor-pronouns, comet. Repeatable, or with commas.",
)
@click.option(
    "--tokenize",
    type=click.Choice(TOKENIZERS),
    default=DEFAULT,
    show_default=True,
    help="For METEOR. auto: Moses, unless the text is tokenized already; none: BLEU takes it as tokenized, too.",
)
@click.option("--tokenised", is_flag=True, hidden=True, help="The same as --tokenize none.")
@click.option(
    "--normalize/--no-normalize",
    default=None,
    help="Make one of ’ ' &apos; &#39;, of spaces, of full-width signs for all metrics or for none.  [for METEOR]",
)
@click.option("--pronouns", default="", metavar="A,B,…", help="Those of meteor-pronouns; else the shared tasks'.")
@click.option("--corpus", type=PATH, help="A text in which METEOR's function words are frequent.  [the reference]")
@click.option("--wordnet", type=PATH, help="WordNet's folder, for METEOR's English synonyms.  [/usr/share/wordnet]")
@click.option(
    "--meteor",
    "parameters",
    type=click.Choice(["universal", "ranking"]),
    default="universal",
    show_default=True,
    help="METEOR's parameters: for any language, or tuned for the target language.",
)
@click.option("--comet-model", default="Unbabel/wmt22-comet-da", show_default=True, help="A name, or a .ckpt file.")
@click.option("--comet-gpus", type=click.IntRange(0), default=0, show_default=True)
@sampling_options(test="bootstrap")
@format_options
def metrics(
    references: tuple[Path, ...],
    hypothesis: tuple[Path, ...],
    source: Path | None,
    languages: str,
    name: tuple[str, ...],
    metrics: tuple[str, ...],
    tokenize: str,
    tokenised: bool,
    normalize: bool | None,
    pronouns: str,
    format: str,
    as_json: bool,
    **options: Any,
) -> None:
    """BLEU, chrF, TER, METEOR and COMET of translations, with intervals and paired tests."""
    from anaphora.metrics.corpus import measure, read_texts
    from anaphora.reports.metric_tables import metrics_tables
    from anaphora.stats.intervals import Resampling

    sampling = {key: options.pop(key) for key in ("samples", "seed", "confidence", "test")}
    texts = read_texts(
        references,
        hypothesis,
        source=source,
        names=name,
        languages=languages,
        tokenize="none" if tokenised else tokenize,
        normalize=normalize,
    )
    wanted = [word for given in metrics for word in _words(given)]
    result = measure(texts, wanted, resampling=Resampling(**sampling), pronouns=_words(pronouns), **options)
    tell_texts(result.texts, normalized=False)
    tell(result.warnings())
    show_all(metrics_tables(result), result.to_dict(), format, as_json)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
