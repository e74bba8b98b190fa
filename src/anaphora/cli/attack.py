"""`anaphora build attack`: suites changed in ways that must not change the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anaphora.cli.app import LazyGroup
from anaphora.cli.options import PATH, Command, format_options, json_option, option, options
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.core.errors import AnaphoraError

if TYPE_CHECKING:
    from anaphora.build.attacks.synonym import Synonyms
    from anaphora.suites.example import Example
    from anaphora.suites.suite import Suite


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


def own_phrases(names: tuple[str, ...], source: str | None, target: str | None) -> tuple[str, str] | None:
    """Return the user's own phrases, or None with --preset; an incomplete choice is an error."""
    if names and (source or target):
        raise AnaphoraError("--preset cannot be combined with --source-phrase and --target-phrase")
    if not names and not source and not target:
        raise AnaphoraError(
            "no phrase given. Pass --preset NAME (see: anaphora build attack presets), or your own phrase: "
            "--source-phrase TEXT --target-phrase TEXT"
        )
    if names:
        return None
    if not (source and source.strip() and target and target.strip()):
        given, missing = ("--source-phrase", "--target-phrase") if source else ("--target-phrase", "--source-phrase")
        raise AnaphoraError(f"{given} without {missing}: the phrase is needed in both languages. Add {missing} TEXT")
    return source.strip(), target.strip()


def with_context(name: str, size: int) -> Suite:
    """Load a suite that must have some context to change."""
    from anaphora import api

    suite = api.load_suite(name)
    if not any(sum(map(bool, example.source[:-1])) >= size for example in suite):
        what = "no context" if size == 1 else "no more than one sentence of context"
        raise AnaphoraError(
            f"{name}: {what}, there is nothing to change. Convert it with more: suites convert --context N"
        )
    return suite


def write(suite: Suite, output: Path, left: Counter[str], as_json: bool) -> None:
    """Write the attacked suite, and report how many examples it has and why others were left out."""
    from anaphora.suites.suite import suite_of

    count = 0

    def examples() -> Iterator[Example]:
        nonlocal count
        for example in suite:
            count += 1
            if bar is not None:
                bar(count, None)
            yield example
        if not count:
            why = "; ".join(f"{number:,}: {reason}" for reason, number in left.most_common()) or "it is empty"
            raise AnaphoraError(f"{suite.path or suite.header.name}: no example can be attacked ({why})")

    with progress_bar("examples") as bar:
        sha256 = suite_of(suite.header, examples).write(output)
    if as_json:
        document = {"suite": suite.header.name, "path": str(output), "sha256": sha256, "examples": count}
        echo_json({**document, "left_alone": dict(left.most_common())})
        return
    note(f"{suite.header.name}@{sha256[:6]}: {count:,} examples: {output}")
    for reason, number in left.most_common():
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
@option("--distractors", type=PATH, metavar="FILE", help="TOML file with your own nouns and frames.")
@options("seed")
@letter_option
@output_options
def wrong_antecedents(
    suite: str, distractors: Path | None, seed: int, truecased: bool | None, output: Path, as_json: bool
) -> None:
    """Insert a noun of a competing gender, which cannot be the antecedent, between antecedent and pronoun."""
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
@options("seed")
@output_options
def random_contexts(suite: str, seed: int, output: Path, as_json: bool) -> None:
    """Give each example the context of another one, drawn at random."""
    from anaphora.suites.contexts import random_context

    write(random_context(with_context(suite, 1), seed), output, Counter(), as_json)


@click.command(
    "shuffled-context",
    epilog="""\b
Examples:
  anaphora build attack shuffled-context contrapro3.jsonl --seed 7 -o shuffled.jsonl
""",
)
@options("seed")
@output_options
def shuffled_contexts(suite: str, seed: int, output: Path, as_json: bool) -> None:
    """Shuffle the sentences of each context."""
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
    """Remove the context of each example."""
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
    """List the preset phrases and owners of ContraCAT's Tables 4 and 5."""
    from anaphora.languages.attack_presets import built_in
    from anaphora.table import Row, Table, section

    kinds = {kind: built_in(kind) for kind in ("phrase", "possessive")}
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
    attacked = synonym_replacement(loaded, synonyms, cases=cases, on_skip=lambda why: left.update([why]))
    write(attacked, output, left, as_json)


def _synonyms(
    suite: Suite, thesaurus: str | None, dictionary: str | None, wordnet: Path | None, shared: float
) -> Synonyms:
    from anaphora.build.attacks.synonym import Synonyms, Usage
    from anaphora.languages.german import noun_table
    from anaphora.languages.thesaurus import default_thesaurus, load_dictionary, load_thesaurus
    from anaphora.languages.wordnet import FirstSenses

    senses = load_thesaurus(thesaurus or default_thesaurus())
    translations = load_dictionary(dictionary) if dictionary else None
    net = FirstSenses(wordnet) if wordnet else None
    return Synonyms(noun_table(), senses, translations, net, Usage(suite), shared)
