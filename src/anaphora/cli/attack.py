"""`anaphora build attack`: suites changed in ways that must not change the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.options import PATH, Command, format_options, json_option, option, options
from anaphora.cli.output import echo_json, note, progress_bar, show

if TYPE_CHECKING:
    from anaphora.api_attack import Attacked


def output_options(command: Command) -> Command:
    """SUITE, -o and --json."""
    command = click.argument("suite")(command)
    command = option("-o", "--output", required=True, type=PATH, help="Suite file to write.")(command)
    return json_option(command)


def letter_option(command: Command) -> Command:
    text = "Whether sentences begin with a lower-case letter (default: as most of the suite's do)."
    return option("--truecased/--cased", default=None, help=text)(command)


def phrase_options(command: Command) -> Command:
    """Add the options for a preset or for your own phrases."""
    command = option("--phrase-name", "name", default="own", aliases=("--name",), help="Name of your phrase.")(command)
    for side in ("target", "source"):
        text = f"Your own phrase in the {side} language."
        command = option(f"--{side}-phrase", side, metavar="TEXT", aliases=(f"--{side}",), help=text)(command)
    command = option("--presets", "file", type=PATH, metavar="FILE", help="TOML file with your own presets.")(command)
    text = "Built-in preset, see `build attack presets` (repeatable)."
    return option("--preset", "names", multiple=True, metavar="NAME", help=text)(command)


def report(attack: Callable[..., Attacked], suite: str, output: Path, as_json: bool, **options: Any) -> None:
    """Write the attacked suite, and report how many examples it has and why others were left out."""
    with progress_bar("examples") as progress:
        made = attack(suite, output, progress=progress, **options)
    if as_json:
        document = {"suite": made.suite, "path": str(output), "sha256": made.sha256, "examples": made.examples}
        echo_json({**document, "left_alone": dict(made.left_alone)})
        return
    note(f"{made.suite}@{made.sha256[:6]}: {made.examples:,} examples: {output}")
    for reason, number in made.left_alone.items():
        note(f"  left alone: {number:,}, {reason}")


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
        "synonym": ("anaphora.cli.attack:synonym", "Replace the antecedent by a synonym of another gender."),
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
  anaphora build attack phrase suite.jsonl --source-phrase "so they say:" --target-phrase "so heißt es:" -o x.jsonl
"""
)
@phrase_options
@option(
    "--place",
    type=click.Choice(["before", "after", "sentence"]),
    default="before",
    help="Position of your own phrase: before or after the sentence, or as a sentence after it.",
)
@option("--quoted", is_flag=True, help="Put the sentence in quotation marks, with your own phrase.")
@letter_option
@output_options
def phrase(
    suite: str,
    output: Path,
    as_json: bool,
    names: tuple[str, ...],
    file: Path | None,
    source: str | None,
    target: str | None,
    name: str,
    **options: Any,
) -> None:
    """Add a phrase to the sentence before the current one, in both languages (ContraCAT §5.2.1)."""
    from anaphora import api_attack

    report(
        api_attack.attack_phrase,
        suite,
        output,
        as_json,
        preset=names,
        presets=file,
        source_phrase=source,
        target_phrase=target,
        phrase_name=name,
        **options,
    )


@click.command(
    epilog="""\b
Examples:
  anaphora build attack possessive contrapro --preset maria -o attacked.jsonl
  anaphora build attack possessive contrapro --source-phrase "the king's" --target-phrase "vom König" -o x.jsonl
  anaphora build attack possessive my.jsonl --preset man --annotate-source spacy:A -o x.jsonl
"""
)
@phrase_options
@options("annotate-source", "annotate-target")
@letter_option
@output_options
def possessive(
    suite: str,
    output: Path,
    as_json: bool,
    names: tuple[str, ...],
    file: Path | None,
    source: str | None,
    target: str | None,
    name: str,
    **options: Any,
) -> None:
    """Give the antecedent an owner, in both languages (ContraCAT §5.2.2).

    The antecedent is known from the tags source_antecedent, target_antecedent and distance, or found by annotation.
    """
    from anaphora import api_attack

    report(
        api_attack.attack_possessive,
        suite,
        output,
        as_json,
        preset=names,
        presets=file,
        source_phrase=source,
        target_phrase=target,
        phrase_name=name,
        **options,
    )


@click.command(
    "wrong-antecedent",
    epilog="""\b
Examples:
  anaphora build attack wrong-antecedent contrapro -o attacked.jsonl
""",
)
@option("--distractors", type=PATH, metavar="FILE", help="TOML file with your own nouns and frames.")
@options("seed")
@letter_option
@output_options
def wrong_antecedents(suite: str, output: Path, as_json: bool, **options: Any) -> None:
    """Insert a noun of a competing gender, which cannot be the antecedent, between antecedent and pronoun."""
    from anaphora import api_attack

    report(api_attack.attack_wrong_antecedent, suite, output, as_json, **options)


@click.command(
    "random-context",
    epilog="""\b
Examples:
  anaphora build attack random-context contrapro -o random.jsonl
""",
)
@options("seed")
@output_options
def random_contexts(suite: str, output: Path, as_json: bool, seed: int) -> None:
    """Give each example the context of another one, drawn at random."""
    from anaphora import api_attack

    report(api_attack.attack_random_context, suite, output, as_json, seed=seed)


@click.command(
    "shuffled-context",
    epilog="""\b
Examples:
  anaphora build attack shuffled-context contrapro3.jsonl --seed 7 -o shuffled.jsonl
""",
)
@options("seed")
@output_options
def shuffled_contexts(suite: str, output: Path, as_json: bool, seed: int) -> None:
    """Shuffle the sentences of each context."""
    from anaphora import api_attack

    report(api_attack.attack_shuffled_context, suite, output, as_json, seed=seed)


@click.command(
    "no-context",
    epilog="""\b
Examples:
  anaphora build attack no-context contrapro -o alone.jsonl
""",
)
@output_options
def no_contexts(suite: str, output: Path, as_json: bool) -> None:
    """Remove the context of each example."""
    from anaphora import api_attack

    report(api_attack.attack_no_context, suite, output, as_json)


@click.command(
    "presets",
    epilog="""\b
Examples:
  anaphora build attack presets
""",
)
@format_options
def presets(format: str, as_json: bool) -> None:
    """List the preset phrases and owners of ContraCAT's Tables 4 and 5."""
    from anaphora import api_attack
    from anaphora.table import Row, Table, section

    kinds = api_attack.attack_presets()
    rows = []
    for kind, found in kinds.items():
        rows += [section(kind), *(Row((name, preset["table"]), indent=1) for name, preset in found.items())]
    show(Table("Presets", ("name", "what"), tuple(rows)), kinds, format, as_json)


@click.command(
    "synonym",
    epilog="""\b
Examples:
  anaphora build attack synonym contrapro --dictionary de-en.txt --wordnet /usr/share/wordnet -o attacked.jsonl
  anaphora build attack synonym contrapro --thesaurus mythes:th_de.dat --dictionary ding:de-en.txt -o attacked.jsonl
""",
)
@option(
    "--thesaurus",
    metavar="SPEC",
    help="Thesaurus: mythes:FILE or ding:FILE (default: Debian's OpenThesaurus, mythes-de).",
)
@option("--dictionary", metavar="SPEC", help="Bilingual dictionary that checks meanings: a Ding file (de-en.txt).")
@options("wordnet")
@option(
    "--shared",
    type=click.FloatRange(0, 1),
    default=0.23,
    help="Minimum share of translations that synonyms have in common; lower values give more and noisier examples.",
)
@options("annotate-target")
@output_options
def synonym(suite: str, output: Path, as_json: bool, **options: Any) -> None:
    """Replace the German antecedent by a synonym of another gender, and move gold (ContraCAT §5.2.3).

    Determiner, adjectives, a relative pronoun and what else takes the antecedent up change with it. An example is left
    alone where anything is not sure.
    """
    from anaphora import api_attack

    report(api_attack.attack_synonym, suite, output, as_json, **options)
