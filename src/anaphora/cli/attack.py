"""`anaphora build attack`: suites changed in ways that must not change the answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from anaphora import api
from anaphora.cli.app import LazyGroup
from anaphora.cli.options import Share, command, epilog, format_options, json_option, parameters
from anaphora.cli.output import echo_json, note, progress_bar, show
from anaphora.table import Row, Table, section

OUTPUT = "Suite file to write."
CHANGES: dict[str, Any] = {  # of the options that several attacks have
    "output": OUTPUT,
    "preset": {"metavar": "NAME", "help": "Built-in preset, see `build attack presets` (repeatable)."},
    "presets": "TOML file with your own presets.",
    "source_phrase": {
        "metavar": "TEXT",
        "aliases": ("--source",),
        "help": "Your own phrase in the source language.",
    },
    "target_phrase": {
        "metavar": "TEXT",
        "aliases": ("--target",),
        "help": "Your own phrase in the target language.",
    },
    "phrase_name": {"aliases": ("--name",), "help": "Name of your phrase."},
    "truecased": {
        "flags": ("--truecased/--cased",),
        "help": "Whether sentences begin with a lower-case letter (default: as most of the suite's do).",
    },
}


def attack_command(function: Callable[..., Any], name: str, examples: str, **changes: Any) -> click.Command:
    """Return the command of an attack: it writes the suite, and reports how many examples were left out and why."""

    def attack(suite: str, output: Path, as_json: bool, **options: Any) -> None:
        with progress_bar("examples") as progress:
            attacked = function(suite, output, progress=progress, **options)
        if as_json:
            document = {"suite": attacked.suite, "path": str(output), "sha256": attacked.sha256}
            echo_json({**document, "examples": attacked.examples, "left_alone": dict(attacked.left_alone)})
            return
        note(f"{attacked.suite}@{attacked.sha256[:6]}: {attacked.examples:,} examples: {output}")
        for reason, number in attacked.left_alone.items():
            note(f"  left alone: {number:,}, {reason}")

    options = parameters(function, arguments=["suite"], **(CHANGES | changes))
    return command(examples, name)(options(json_option(attack)))


@click.group(
    cls=LazyGroup,
    epilog=epilog(
        """
anaphora build attack phrase contrapro --preset true_colon -o attacked.jsonl
anaphora build attack possessive contrapro --preset maria -o attacked.jsonl
anaphora build attack presets
""",
        "Every new example has the tag `attacked`, the id of its original. `anaphora robustness` reports the drop.",
    ),
    lazy={
        "phrase": ("anaphora.cli.attack:phrase", "Add a phrase to the sentence before (ContraCAT, Table 4)."),
        "possessive": ("anaphora.cli.attack:possessive", "Give the antecedent an owner (ContraCAT, Table 5)."),
        "wrong-antecedent": (
            "anaphora.cli.attack:wrong_antecedents",
            "Insert a noun of another gender before the pronoun.",
        ),
        "synonym": ("anaphora.cli.attack:synonym", "Replace the antecedent by a synonym of another gender."),
        "random-context": ("anaphora.cli.attack:random_contexts", "Give each example the context of another one."),
        "shuffled-context": ("anaphora.cli.attack:shuffled_contexts", "Shuffle the sentences of each context."),
        "no-context": ("anaphora.cli.attack:no_contexts", "Remove the context of each example."),
        "presets": ("anaphora.cli.attack:presets", "List the preset phrases and owners."),
    },
)
def attack() -> None:
    """Change a suite in ways that must not change the answer."""


phrase = attack_command(
    api.attack_phrase,
    "phrase",
    """
anaphora build attack phrase suite.jsonl --preset but_sure -o attacked.jsonl
anaphora build attack phrase suite.jsonl --preset he_said --preset she_said -o attacked.jsonl
anaphora build attack phrase suite.jsonl --source-phrase "so they say:" --target-phrase "so heißt es:" -o x.jsonl
""",
)
possessive = attack_command(
    api.attack_possessive,
    "possessive",
    """
anaphora build attack possessive contrapro --preset maria -o attacked.jsonl
anaphora build attack possessive contrapro --source-phrase "the king's" --target-phrase "vom König" -o x.jsonl
anaphora build attack possessive my.jsonl --preset man --annotate-source spacy:A -o x.jsonl
""",
)
wrong_antecedents = attack_command(
    api.attack_wrong_antecedent,
    "wrong-antecedent",
    "anaphora build attack wrong-antecedent contrapro -o attacked.jsonl",
)
random_contexts = attack_command(
    api.attack_random_context, "random-context", "anaphora build attack random-context contrapro -o random.jsonl"
)
shuffled_contexts = attack_command(
    api.attack_shuffled_context,
    "shuffled-context",
    "anaphora build attack shuffled-context contrapro3.jsonl --seed 7 -o shuffled.jsonl",
)
no_contexts = attack_command(
    api.attack_no_context, "no-context", "anaphora build attack no-context contrapro -o alone.jsonl"
)
synonym = attack_command(
    api.attack_synonym,
    "synonym",
    """
anaphora build attack synonym contrapro --dictionary de-en.txt --wordnet /usr/share/wordnet -o attacked.jsonl
anaphora build attack synonym contrapro --thesaurus mythes:th_de.dat --dictionary ding:de-en.txt -o attacked.jsonl
""",
    thesaurus={"metavar": "SPEC"},
    dictionary={"metavar": "SPEC"},
    shared={"type": Share(0, 1), "metavar": "SHARE"},
)


@command("anaphora build attack presets", "presets")
@format_options
def presets(format: str, as_json: bool) -> None:
    """List the preset phrases and owners of ContraCAT's Tables 4 and 5."""
    kinds = api.attack_presets()
    rows = []
    for kind, known in kinds.items():
        rows += [section(kind), *(Row((name, preset["table"]), indent=1) for name, preset in known.items())]
    show(Table("Presets", ("name", "what"), tuple(rows)), kinds, format, as_json)
