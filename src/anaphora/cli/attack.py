"""`anaphora build attack`: suites whose examples are changed in ways that must not change the answer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.attacking import letter_option, output_options, own_phrases, phrase_options, with_context, write
from anaphora.cli.output import PATH, format_options, show


@click.group(
    cls=LazyGroup,
    epilog="""Every new example has the tag `attacked`, the id of its original: see the drop with anaphora robustness.

\b
Examples:
  anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
  anaphora build attack possessive contrapro --preset maria -o attacked.jsonl
  anaphora build attack presets
""",
    lazy={
        "phrase": ("anaphora.cli.attack:phrase", "Add a phrase to the sentence before (ContraCAT, Table 4)."),
        "possessive": ("anaphora.cli.attack:possessive", "Give the antecedent an owner (ContraCAT, Table 5)."),
        "wrong-antecedent": (
            "anaphora.cli.attack:wrong_antecedents",
            "Put a noun of another gender before the pronoun.",
        ),
        "synonym": ("anaphora.cli.attack_synonym:synonym", "Replace the antecedent by a synonym of another gender."),
        "random-context": ("anaphora.cli.attack:random_contexts", "Each example with the context of another."),
        "shuffled-context": ("anaphora.cli.attack:shuffled_contexts", "The sentences of the context in another order."),
        "no-context": ("anaphora.cli.attack:no_contexts", "Without the context."),
        "presets": ("anaphora.cli.attack:presets", "The phrases and owners that have a name."),
    },
)
def attack() -> None:
    """Change a suite in ways that must not change the answer."""


@click.command(
    epilog="""\b
Examples:
  anaphora build attack phrase suite.jsonl --preset but_sure -o attacked.jsonl
  anaphora build attack phrase suite.jsonl --preset he_said --preset she_said -o attacked.jsonl
  anaphora build attack phrase suite.jsonl --source "so they say:" --target "so heißt es:" -o attacked.jsonl
"""
)
@phrase_options
@click.option(
    "--place",
    type=click.Choice(["before", "after", "sentence"]),
    default="before",
    show_default=True,
    help="Where your own goes: before or after the sentence, or behind it as a sentence of its own.",
)
@click.option("--quoted", is_flag=True, help="With your own: the sentence in quotation marks.")
@letter_option
@output_options
def phrase(
    suite: str,
    names: tuple[str, ...],
    file: Path | None,
    source: str | None,
    target: str | None,
    name: str,
    place: str,
    quoted: bool,
    truecased: bool | None,
    output: Path,
    as_json: bool,
) -> None:
    """Add a phrase to the sentence before the current one, in both languages (ContraCAT §5.2.1)."""
    from anaphora import api
    from anaphora.build.attacks.phrase import Phrase, phrase_addition, phrase_preset

    own = own_phrases(names, source, target)
    loaded = api.load_suite(suite)
    languages = loaded.header.source_language, loaded.header.target_language
    if own:
        phrases = [Phrase(name, dict(zip(languages, own, strict=True)), place, quoted)]
    else:
        phrases = [phrase_preset(n, file) for n in names]
    left: Counter[str] = Counter()
    attacked = phrase_addition(loaded, phrases, truecased=truecased, on_skip=lambda why: left.update([why]))
    write(attacked, output, left, as_json)


@click.command(
    epilog="""\b
Examples:
  anaphora build attack possessive contrapro --preset maria -o attacked.jsonl
  anaphora build attack possessive contrapro --source "the king's" --target "vom König" -o attacked.jsonl
  anaphora build attack possessive my.jsonl --preset man --annotate-source spacy:A --annotate-target spacy:B -o x.jsonl
"""
)
@phrase_options
@click.option("--annotate-source", metavar="SPEC", help="Annotate the source: spacy:NAME, stanza:LANG, conllu:FILE.")
@click.option("--annotate-target", metavar="SPEC", help="Annotate the target, where the suite has no antecedents.")
@letter_option
@output_options
def possessive(
    suite: str,
    names: tuple[str, ...],
    file: Path | None,
    source: str | None,
    target: str | None,
    name: str,
    annotate_source: str | None,
    annotate_target: str | None,
    truecased: bool | None,
    output: Path,
    as_json: bool,
) -> None:
    """Give the antecedent an owner, in both languages (ContraCAT §5.2.2).

    The antecedent is known from the tags source_antecedent, target_antecedent and distance, or found by annotation.
    """
    from anaphora import api
    from anaphora.build.attacks.possessive import own_possessive, possessive_extension, possessive_preset

    own = own_phrases(names, source, target)
    loaded = api.load_suite(suite)
    languages = loaded.header.source_language, loaded.header.target_language
    owners = [own_possessive(name, languages, own)] if own else [possessive_preset(n, file) for n in names]
    found, tagger = None, None
    if annotate_source or annotate_target:
        from anaphora.build.attacks.possessive import by_annotators

        found, tagger = by_annotators(loaded, annotate_source, annotate_target)
    left: Counter[str] = Counter()
    attacked = possessive_extension(
        loaded,
        owners,
        truecased=truecased,
        antecedents=found,
        tagger=tagger,
        on_skip=lambda why: left.update([why]),
    )
    write(attacked, output, left, as_json)


@click.command(
    "wrong-antecedent",
    epilog="""\b
Examples:
  anaphora build attack wrong-antecedent contrapro -o attacked.jsonl
""",
)
@click.option("--distractors", type=PATH, help="A TOML file with nouns and frames of your own.")
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@letter_option
@output_options
def wrong_antecedents(
    suite: str, distractors: Path | None, seed: int, truecased: bool | None, output: Path, as_json: bool
) -> None:
    """Put a noun of a competing gender between antecedent and pronoun that cannot be meant: there was no lamp."""
    from anaphora import api
    from anaphora.build.attacks.wrong_antecedent import distractors_for, wrong_antecedent

    loaded = api.load_suite(suite)
    nouns = distractors_for(loaded.header.source_language, loaded.header.target_language, distractors)
    left: Counter[str] = Counter()
    attacked = wrong_antecedent(loaded, nouns, seed=seed, truecased=truecased, on_skip=lambda why: left.update([why]))
    write(attacked, output, left, as_json)


@click.command(
    "random-context",
    epilog="""\b
Examples:
  anaphora build attack random-context contrapro -o random.jsonl
""",
)
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@output_options
def random_contexts(suite: str, seed: int, output: Path, as_json: bool) -> None:
    """Each example with the context of another one, drawn at random."""
    from anaphora.suites.contexts import random_context

    write(random_context(with_context(suite, 1), seed), output, Counter(), as_json)


@click.command(
    "shuffled-context",
    epilog="""\b
Examples:
  anaphora build attack shuffled-context contrapro3.jsonl --seed 7 -o shuffled.jsonl
""",
)
@click.option("--seed", type=click.IntRange(0), default=12345, show_default=True)
@output_options
def shuffled_contexts(suite: str, seed: int, output: Path, as_json: bool) -> None:
    """The sentences of each context in another order."""
    from anaphora.suites.contexts import shuffled_context

    write(shuffled_context(with_context(suite, 2), seed), output, Counter(), as_json)


@click.command(
    "no-context",
    epilog="""\b
Examples:
  anaphora build attack no-context contrapro -o alone.jsonl
""",
)
@output_options
def no_contexts(suite: str, output: Path, as_json: bool) -> None:
    """Each example without its context."""
    from anaphora.suites.contexts import no_context

    write(no_context(with_context(suite, 1)), output, Counter(), as_json)


@click.command(
    "presets",
    epilog="""\b
Examples:
  anaphora build attack presets
""",
)
@format_options
def presets(format: str, as_json: bool) -> None:
    """The phrases and owners that have a name, as ContraCAT's Tables 4 and 5 have them."""
    from anaphora.build.attacks.presets import built_in
    from anaphora.table import Row, Table, section

    kinds = {kind: built_in(kind) for kind in ("phrase", "possessive")}
    rows = []
    for kind, found in kinds.items():
        rows += [section(kind), *(Row((name, preset["table"]), indent=1) for name, preset in found.items())]
    show(Table("Presets", ("name", "what"), tuple(rows)), kinds, format, as_json)
