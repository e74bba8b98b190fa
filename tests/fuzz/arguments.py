"""Options of commands, damaged as files are: a target's values are in a file, a line for each option."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.building import echoing
from tests.fuzz.commands import LINKS, TEXTS, both, lists, pairs, runs, sweep, texts
from tests.fuzz.targets import Seed, add, write

FILE = "options.txt"


def options(name: str, seed: Seed, arguments: str, *values: tuple[str, str]) -> None:
    """A target that runs a command; {} in its arguments is the folder. values: options with valid values

    Options that name files to write are left out: a damaged name may lead out of the folder. So is --samples, as many
    samples take long.
    """

    def plant(folder: Path) -> None:
        seed(folder)
        write(folder / FILE, "\n".join(value for _, value in values))

    def run(folder: Path) -> None:
        from anaphora.cli.app import app

        lines = (folder / FILE).read_bytes().decode("utf-8", "surrogateescape").replace("\0", "").split("\n")
        given = [f"{option}={line}" for (option, _), line in zip(values, lines, strict=False)]
        words = [part.replace("{}", str(folder)) for part in arguments.split()]
        try:
            with echoing(folder):
                app.main(args=[*words, *given], standalone_mode=False)
        except OSError as error:  # of the machine: one line says so
            raise SystemExit(2) from error

    add(f"options.{name}", plant, run, FILE, writes=True)


EVALUATE = (
    *(("--by", "distance>3×reference_pronoun"), ("--confidence", "0.95"), ("--seed", "12345")),
    *(("--resample", "document"), ("--interval", "bootstrap"), ("--normalize", "sum"), ("--format", "latex")),
)
options("evaluate", runs, "evaluate {}/a.jsonl --samples 100", *EVALUATE)
options(
    "compare",
    runs,
    "compare {}/a.jsonl {}/b.jsonl --samples 100",
    *(("--by", "reference_pronoun×distance"), ("--test", "randomization"), ("--confidence", "0.9"), ("--seed", "7")),
)
options(
    "report",
    runs,
    "report {}/a.jsonl {}/b.jsonl -o {}/out.html --samples 100",
    *(("--title", "Two systems"), ("--name", "one"), ("--name", "other"), ("--by", "distance"), ("--seed", "7")),
)
options("diagnose", runs, "diagnose {}/a.jsonl", ("--confidence", "0.95"), ("--max-items", "20"), ("--name", "a"))
options(
    "score",
    runs,
    "score {}/s.jsonl --system echo:x -o {}/out.jsonl --workers 1",
    *(("--context", "1"), ("--separator", " <SEP> "), ("--sample", "2"), ("--seed", "7"), ("--gpus", "0.5")),
)
options(
    "apt",
    both(texts, lists),
    f"apt {TEXTS} {LINKS} --samples 100 --trials 100",
    *(("--weights", "1,0.5,0,0,0,0"), ("--discard", "5,6"), ("--pronouns", "it,they"), ("--confidence", "0.95")),
    *(("--name", "A"), ("--matrix-length", "50"), ("--seed", "12345")),
)
options(
    "correlate-plot",
    sweep,
    "meta correlate {}/s.tsv --samples 100 --plot {}/out.svg",
    *(("--without", "auto"), ("--lower-is-better", "chrf"), ("--human", "human"), ("--confidence", "0.95")),
)
options(
    "sweep",
    sweep,
    "meta sweep {}/s.tsv --samples 100 --plot {}/out.svg --cases x={}/c.json",
    *(("--weights", "0.5,0"), ("--discard", "5,6"), ("--without", "a"), ("--seed", "7")),
)
options(
    "study-create",
    pairs,
    "study create {}/s.jsonl -o {}/study",
    *(("--annotators", "anna,ben"), ("--overlap", "1"), ("--sample", "2"), ("--context", "1")),
    *(("--title", "Which fits?"), ("--seed", "7")),
)
options(
    "attack-phrase",
    runs,
    "build attack phrase {}/s.jsonl -o {}/out.jsonl",
    *(("--source-phrase", "so they say:"), ("--target-phrase", "so heißt es:"), ("--phrase-name", "so")),
)
options(
    "convert",
    runs,
    "suites convert {}/s.jsonl --to text -o {}/out",
    *(("--separator", " <SEP> "), ("--suite-name", "small"), ("--limit", "2")),
)
