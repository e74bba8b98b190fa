"""`anaphora build attack synonym`: the antecedent becomes a synonym of another gender, and gold moves."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.attacking import output_options, write
from anaphora.cli.output import PATH

if TYPE_CHECKING:
    from anaphora.build.attacks.synonym import Synonyms
    from anaphora.suites.suite import Suite


@click.command(
    "synonym",
    epilog="""\b
Examples:
  anaphora build attack synonym contrapro --dictionary de-en.txt --wordnet /usr/share/wordnet -o attacked.jsonl
  anaphora build attack synonym contrapro --thesaurus mythes:th_de.dat --dictionary ding:de-en.txt -o attacked.jsonl
""",
)
@click.option(
    "--thesaurus",
    metavar="SPEC",
    help="mythes:FILE or ding:FILE (default: Debian's OpenThesaurus, mythes-de).",
)
@click.option("--dictionary", metavar="SPEC", help="A file of Ding (de-en.txt), to check meanings.")
@click.option("--wordnet", type=PATH, help="The folder of WordNet: the most frequent sense of the English antecedent.")
@click.option(
    "--shared",
    type=click.FloatRange(0, 1),
    default=0.23,
    show_default=True,
    help="What share of their translations synonyms have in common. Less: more examples, more wrong ones.",
)
@click.option("--annotate-target", metavar="SPEC", help="spacy:NAME, stanza:LANG, conllu:FILE: finds unclear cases.")
@output_options
def synonym(
    suite: str,
    thesaurus: str | None,
    dictionary: str | None,
    wordnet: Path | None,
    shared: float,
    annotate_target: str | None,
    output: Path,
    as_json: bool,
) -> None:
    """Replace the German antecedent by a synonym of another gender, and move gold (ContraCAT §5.2.3).

    Determiner, adjectives, a relative pronoun and what else takes the antecedent up change with it. An example is left
    alone where anything is not sure.
    """
    from anaphora import api
    from anaphora.build.attacks.synonym import synonym_replacement

    loaded = api.load_suite(suite)
    cases = None
    if annotate_target:
        from anaphora.annotate import load_annotator
        from anaphora.build.attacks.synonym import cases_by_annotation

        found = cases_by_annotation(loaded, load_annotator(annotate_target, loaded.header.target_language))
        cases = lambda example: found.get(example.id, ())  # noqa: E731
    left: Counter[str] = Counter()
    synonyms = _synonyms(loaded, thesaurus, dictionary, wordnet, shared)
    attacked = synonym_replacement(loaded, synonyms, cases=cases, tell=lambda why: left.update([why]))
    write(attacked, output, left, as_json)


def _synonyms(
    suite: Suite, thesaurus: str | None, dictionary: str | None, wordnet: Path | None, shared: float
) -> Synonyms:
    from anaphora.build.attacks.synonym import Synonyms, Usage
    from anaphora.languages.german_nouns import noun_table
    from anaphora.languages.thesaurus import default_thesaurus, load_dictionary, load_thesaurus
    from anaphora.languages.wordnet import FirstSenses

    senses = load_thesaurus(thesaurus or default_thesaurus())
    translations = load_dictionary(dictionary) if dictionary else None
    net = FirstSenses(wordnet) if wordnet else None
    return Synonyms(noun_table(), senses, translations, net, Usage(suite), shared)
