"""The commands that take a file, run in this process as the command line runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.targets import ARGUMENTS, LISTS, RESULTS, Seed, add, native, run_file, study_seed, suite_rows, write

TABLE = "system\thuman\tbleu\tchrf\na\t0.41\t30.1\t5\nb\t0.62\t31.7\t6\nc\t0.40\t29.8\t4\nd\t0.5\t30\t5.5\n"


def command(name: str, seed: Seed, arguments: str, *only: str, writes: bool = True) -> None:
    """A target that runs a command; {} in its arguments is the folder."""

    def run(folder: Path) -> None:
        from anaphora.cli.app import app

        try:
            app.main(args=[part.replace("{}", str(folder)) for part in arguments.split()], standalone_mode=False)
        except OSError as error:  # of the machine: one line says so
            raise SystemExit(2) from error

    ARGUMENTS[f"cli.{name}"] = arguments
    add(f"cli.{name}", seed, run, *only, writes=writes)


def both(*seeds: Callable[[Path], object]) -> Seed:
    def seed(folder: Path) -> None:
        for one in seeds:
            one(folder)

    return seed


def runs(folder: Path) -> None:
    native(folder)
    run_file(folder / "a.jsonl")
    run_file(folder / "b.jsonl", "b", 1.5)
    write(folder / "x.scores", "".join(f"-{k}.5\n" for k in range(9)))


def texts(folder: Path) -> None:
    write(folder / "s.en", "It works .\nThey say it .\nI see it .\n")
    write(folder / "r.fr", "Il marche .\nIls le disent .\nJe le vois .\n")
    write(folder / "t.fr", "Elle marche .\nIls le disent .\nJe la vois .\n")
    write(folder / "r.align", "0-0 1-1 2-2\n0-0 1-2 2-1 3-3\n0-0 1-2 2-1 3-3\n")
    write(folder / "t.align", "0-0 1-1 2-2\n0-0 1-2 2-1 3-3\n0-0 1-2 2-1 3-3\n")


def pairs(folder: Path) -> None:
    write(folder / "s.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in suite_rows(pairs=True)))


def lists(folder: Path) -> None:
    write(folder / "l.toml", LISTS)


def attacked(folder: Path) -> None:
    """A run on an attack of the suite."""
    lines = (folder / "a.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows[0] |= {"suite": "small-attacked", "sha256": "1" * 64}
    for row in rows[1:]:
        row["tags"] |= {"attacked": row["id"], "attack": "phrase/x"}
        row["id"] = f"phrase/x/{row['id']}"
    write(folder / "c.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def written(folder: Path) -> None:
    write(folder / "t.de", "Sie ist alt.\nEr ist alt.\nEs ist alt.\n")


def samples(folder: Path) -> None:
    write(folder / "j.tsv", "candidate\treference\tcorrect\nil\telle\t0\nce\tcela\t1\nce\til\t1\n")


def judged(folder: Path) -> None:
    """What `apt --details` wrote, and judgments of it."""
    from anaphora.cli.app import app

    texts(folder)
    arguments = f"apt {TEXTS} {LINKS} --details {{}}/d.tsv --json".replace("{}", str(folder)).split()
    app.main(args=arguments, standalone_mode=False)
    header, *rows = [line.split("\t") for line in (folder / "d.tsv").read_text().splitlines()]
    places = [header.index(name) for name in ("system", "sentence", "position")]
    lines = [
        "system\tsentence\tposition\tjudgment",
        *("\t".join([*(row[p] for p in places), "correct"]) for row in rows),
    ]
    write(folder / "j.tsv", "\n".join(lines) + "\n")
    for name in ("s.en", "r.fr", "t.fr", "r.align", "t.align"):
        (folder / name).unlink()


def sweep(folder: Path) -> None:
    write(folder / "s.tsv", TABLE)
    write(folder / "c.json", json.dumps({"systems": {k: {"cases": [5, n, 1, 1, 1, n]} for n, k in enumerate("abcd")}}))


TEXTS = "-s {}/s.en -r {}/r.fr -t {}/t.fr -l en-fr"
LINKS = "--ref-align {}/r.align --hyp-align {}/t.align"

command("evaluate", runs, "evaluate {}/a.jsonl --format json", "a.jsonl", writes=False)
command("evaluate-table", runs, "evaluate {}/a.jsonl --by reference_pronoun", "a.jsonl", writes=False)
command("evaluate-scores", runs, "evaluate {}/s.jsonl --scores {}/x.scores", "s.jsonl", "x.scores", writes=False)
command("compare", runs, "compare {}/a.jsonl {}/b.jsonl --samples 100", "a.jsonl", "b.jsonl", writes=False)
command("diagnose", runs, "diagnose {}/a.jsonl {}/b.jsonl", "a.jsonl", "b.jsonl", writes=False)
command("report", runs, "report {}/a.jsonl {}/b.jsonl -o {}/out.html", "a.jsonl", "b.jsonl")
command("score", runs, "score {}/s.jsonl --system scores:{}/x.scores -o {}/out.jsonl", "s.jsonl", "x.scores")
METRIC = "score {}/s.jsonl --system metric:chrf?reference={}/t.de -o {}/out.jsonl"
command("score-metric", both(native, lambda f: write(f / "t.de", "Sie war alt.\nEr war alt.\nEs war alt.\n")), METRIC)
command("baselines", native, "suites baselines {}/s.jsonl", writes=False)
command("validate", native, "suites validate {}/s.jsonl", writes=False)
command("convert-text", native, "suites convert {}/s.jsonl --to text -o {}/out")
command("study-create", pairs, "study create {}/s.jsonl -o {}/study --annotators 2")
command("evaluate-mean", runs, "evaluate {}/a.jsonl --normalize mean --resample document --samples 100", "a.jsonl")
PLOT = "meta correlate {}/s.tsv --without auto --samples 100 --plot {}/out.svg"
command("correlate-plot", lambda f: write(f / "s.tsv", TABLE), PLOT)
command("correlate", lambda f: write(f / "s.tsv", TABLE), "correlate {}/s.tsv --samples 100", writes=False)
command(
    "discomt",
    lambda f: write(f / "a.tsv", "item\tsystem\ttranslation\taccepted\n1\ta\til\til,ce\n2\ta\tce\tbad\n"),
    "discomt {}/a.tsv -l en-fr --samples 100",
    writes=False,
)


def result(kind: str) -> Seed:
    return lambda folder: write(folder / "r.json", json.dumps(RESULTS[kind]))


for kind in RESULTS:
    command(
        f"report-{kind}",
        both(runs, result(kind)),
        "report {}/a.jsonl {}/b.jsonl --result {}/r.json -o {}/out.html",
        "r.json",
    )

command("apt", texts, f"apt {TEXTS} {LINKS} --json", writes=False)
command("apt-lists", both(texts, lists), f"apt {TEXTS} {LINKS} --lists {{}}/l.toml", "l.toml", writes=False)
command("autoprf", texts, f"autoprf {TEXTS} {LINKS} --samples 100", writes=False)
command("metrics", texts, "metrics -r {}/r.fr -t {}/t.fr -l en-fr --samples 100 --metric bleu", writes=False)
command("align", texts, "align {}/s.en {}/r.fr --backend builtin -o {}/out.align", "s.en", "r.fr")
command(
    "robustness",
    both(runs, attacked),
    "robustness {}/a.jsonl {}/c.jsonl --samples 100",
    "a.jsonl",
    "c.jsonl",
    writes=False,
)
command("generative", both(native, written), "generative {}/s.jsonl -t {}/t.de --backend builtin", "t.de", "s.jsonl")
command("attack-phrase", native, "build attack phrase {}/s.jsonl --preset true_colon -o {}/out.jsonl")
command("attack-random", native, "build attack random-context {}/s.jsonl -o {}/out.jsonl")
command("convert-fairseq", native, "suites convert {}/s.jsonl --to sources -o {}/out")
command("apt-equivalences", samples, "apt-equivalences {}/j.tsv --json", writes=False)
command("apt-judgements", judged, "apt-judgements {}/d.tsv {}/j.tsv", writes=False)
command("sweep", sweep, "correlate-sweep {}/s.tsv --cases x={}/c.json --samples 100", writes=False)
command("study-agreement", study_seed, "study agreement {}/study", "study/study.json")
command("study-export", study_seed, "study export {}/study --json", "study/study.json", "study/*.sqlite")
command("measure-counts", pairs, "measure counts {}/s.jsonl", writes=False)


def deep(folder: Path) -> None:
    """A suite with two sentences of context."""
    rows = suite_rows()
    for row in rows[1:]:
        row["source"].insert(0, "Look.")
        for candidate in row["candidates"]:
            candidate.insert(0, "Sieh.")
    write(folder / "s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


command("attack-shuffled", deep, "build attack shuffled-context {}/s.jsonl -o {}/out.jsonl")
