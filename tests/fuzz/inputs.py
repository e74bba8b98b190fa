"""Further files that commands take by their options; `test_corpus.py` tells which ones are missing."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from tests.fuzz.building import MINE, fresh, hats, measured, parallel, within
from tests.fuzz.commands import LINKS, TEXTS, both, command, lists, pairs, runs, samples, texts, written
from tests.fuzz.folders import llama, measure
from tests.fuzz.models import CONFIG, CONFIG_FILES, WORDNET
from tests.fuzz.targets import TARGETS, Seed, _aligner_seed, native, study_seed, write


def target(name: str) -> Seed:
    """The valid input of another target."""
    return lambda folder: TARGETS[name].seed(folder)


def put(**contents: str) -> Seed:
    """Files with these contents; `a__txt` stands for a.txt."""

    def seed(folder: Path) -> None:
        for name, text in contents.items():
            write(folder / name.replace("__", "."), text)

    return seed


def wordnet(folder: Path) -> None:
    for name, text in WORDNET.items():
        write(folder / "wn" / name, text)


# Suites

command(
    "convert-context",
    target("suite.contrapro"),
    "suites convert {}/contrapro.json --from contrapro --context-from {}/documents --context 1 -o {}/out.jsonl",
)


def scat(folder: Path) -> None:
    for name in ("scat", "lopes"):
        (folder / name).mkdir()
        TARGETS[f"suite.{name}"].seed(folder / name)


command("convert-contrast", scat, "suites convert {}/scat --from scat --contrast-from {}/lopes -o {}/out.jsonl")
command("show", native, "suites show {}/s.jsonl", writes=False)


def scored(folder: Path) -> None:
    """A suite, and a run of it."""
    from anaphora.suites.suite import read_native

    runs(folder)
    first, *rest = (folder / "a.jsonl").read_text().splitlines()
    header = {**json.loads(first), "sha256": read_native(folder / "s.jsonl").sha256()}
    write(folder / "a.jsonl", "\n".join([json.dumps(header), *rest]) + "\n")


def sampled(folder: Path) -> None:
    """The same of a random sample, which is all of the suite."""
    scored(folder)
    first, *rest = (folder / "a.jsonl").read_text().splitlines()
    header = {**json.loads(first), "context": "1+1", "settings": {"sample": f"{len(rest)}@12345"}}
    write(folder / "a.jsonl", "\n".join([json.dumps(header), *rest]) + "\n")


command("report-suite", scored, "report {}/a.jsonl --suite {}/s.jsonl -o {}/out.html", "s.jsonl")
command("report-sample", sampled, "report {}/a.jsonl --suite {}/s.jsonl -o {}/out.html", "a.jsonl")

# Translations and alignments

COPY = put(c__en="It works .\nIt is old .\n", c__fr="Il marche .\nElle est vieille .\n")
TAGS = put(**{f"{side}__tags": "PRON VERB .\nPRON VERB PRON .\nPRON VERB PRON .\n" for side in "srt"})
command(
    "apt-tags",
    both(texts, TAGS),
    f"apt {TEXTS} {LINKS} --source-tags {{}}/s.tags --reference-tags {{}}/r.tags --translation-tags {{}}/t.tags",
    "*.tags",
    writes=False,
)
command("apt-corpus", both(texts, COPY), f"apt {TEXTS} --aligner builtin --corpus {{}}/c.en {{}}/c.fr", "c.*")
command(
    "align-corpus",
    both(texts, COPY),
    "align {}/s.en {}/r.fr --aligner builtin --corpus {}/c.en {}/c.fr --save {}/m -o {}/out.align",
    "c.*",
)
GIVEN = put(f__align="0-0 1-1 2-2\n0-0\n1-1\n", b__align="0-0 1-1\n0-0\n1-1 2-2\n", g__align="0-0 1-1\n0-0\n1-1\n")
command(
    "align-given",
    both(texts, GIVEN),
    "align {}/s.en {}/r.fr --aligner pharaoh --forward {}/f.align --backward {}/b.align --gold {}/g.align -o {}/out",
    "[fbg].align",
)
command("align-saved", _aligner_seed, "align {}/a.en {}/a.de --aligner-model {}/m -o {}/out", "m/*")
GERMAN = "generative {}/s.jsonl -t {}/t.de"
command("generative-saved", both(native, written, _aligner_seed), f"{GERMAN} --aligner-model {{}}/m", "m/*")
command(
    "generative-run",
    both(native, written, runs, put(c__en="It is old .\n", c__de="Sie ist alt .\n")),
    f"{GERMAN} --aligner builtin --run {{}}/a.jsonl --corpus {{}}/c.en {{}}/c.de --details {{}}/d.tsv",
    "a.jsonl",
    "c.*",
)
command(
    "metrics-meteor",
    both(texts, wordnet, put(f__txt="Il est la .\nIl marche .\n")),
    "metrics -s {}/r.fr -r {}/s.en -t {}/s.en -l fr-en --samples 100 --metric meteor "
    "--wordnet {}/wn --frequency-corpus {}/f.txt",
    "wn/*",
    "f.txt",
    "r.fr",
    writes=False,
)
command(
    "equivalences-lists",
    both(samples, lists),
    "meta equivalences {}/j.tsv -l en-fr --lists {}/l.toml -o {}/out.toml",
    "l.toml",
)


def original(folder: Path) -> None:
    """A config of the original program of APT, with paths that begin where it is run."""
    for name, text in CONFIG_FILES.items():
        write(folder / name, text)
    write(folder / "config", CONFIG)


command("apt-config", original, "apt --config {}/config --variant idiap")


def inside(folder: Path) -> AbstractContextManager[Any]:
    import contextlib

    return contextlib.chdir(folder)


within("apt-config", inside)
command(
    "translate-given",
    both(put(x__en="A lamp.\nIt is old.\n", y__de="Eine Lampe.\nSie ist alt.\n"), target("folder.nmt")),
    "translate --system nmt:{}/model -l en-de -i {}/x.en --target-context-from {}/y.de -o {}/out.de "
    "--beams 1 --max-tokens 2 --threads 1",
    "x.en",
    "y.de",
)
within("translate-given", lambda folder: mock.patch.dict("os.environ"), torch=True)

# Builders

PRESET = '[mine]\nplace = "before"\nen = "it is true:"\nde = "es ist wahr:"\n'
command(
    "attack-presets",
    both(native, put(p__toml=PRESET)),
    "build attack phrase {}/s.jsonl --presets {}/p.toml --preset mine -o {}/out.jsonl",
    "p.toml",
)
command("attack-no-context", native, "build attack no-context {}/s.jsonl -o {}/out.jsonl")


def possessive_presets(folder: Path) -> None:
    from importlib.resources import files

    hats(folder)
    write(folder / "p.toml", (files("anaphora.languages") / "data" / "attacks" / "possessive.toml").read_bytes())


command(
    "attack-possessive-presets",
    possessive_presets,
    "build attack possessive {}/s.jsonl --presets {}/p.toml --preset maria -o {}/out.jsonl",
    "p.toml",
)


def linked(folder: Path) -> None:
    """Lines of two documents as OPUS has them, with their links."""
    from tests.fuzz.building import ENGLISH, GERMAN

    parallel(folder)
    for name, lines in (("x.en", ENGLISH), ("x.de", GERMAN)):
        write(folder / name, "".join(f"{line}\n" for line in lines if line))
    rows = [f"en/{k}.xml.gz\tde/{k}.xml.gz\t{n}\t{n}\n" for k in (1, 2) for n in (1, 2)]
    write(folder / "x.ids", "".join(rows))


command(
    "mine-links",
    linked,
    f"{MINE} --input-format moses --links {{}}/x.ids --align-backend builtin --work {{}}/work",
    "x.ids",
)
within("mine-links", fresh)

# The learned measure

command(
    "measure-train",
    lambda folder: measure_config(folder),
    "measure train {}/c.toml -o {}/measure --cache {}/states --threads 1 "
    "--set training.epochs=1 --set model.width=4 --set model.encoder=static",
    "c.toml",
    "s.jsonl",
)
within("measure-train", lambda folder: mock.patch.dict("os.environ"), torch=True)


def measure_config(folder: Path) -> None:
    from tests.study.conftest import pair_rows

    write(folder / "s.jsonl", "".join(json.dumps(row) + "\n" for row in pair_rows(3)))
    config = f'[data]\ntrain = "{folder}/s.jsonl"\ndev = "{folder}/s.jsonl"\ntrain_kind = "noisy"\n'
    config += "[model]\nwidth = 4\nsentences = 1\n[training]\nrate = 0.01\nbatch = 4\nepochs = 1\n"
    write(folder / "c.toml", config)


def static(folder: Path) -> None:
    """A measure with static vectors and texts to score."""
    measure(folder)
    measured(folder)


command("measure-score-model", static, "measure score {}/model -r {}/r.en -t {}/t.en --samples 100", "?.en", "model/*")
command(
    "measure-evaluate-model",
    static,
    "measure evaluate {}/s.jsonl --model {}/model --samples 100",
    "s.jsonl",
    "model/*",
)
for name in ("measure-score-model", "measure-evaluate-model"):
    within(name, lambda folder: mock.patch.dict("os.environ"), torch=True)
PRONOUNS = put(p__toml='capital = []\n[readings]\nhe = ["3 sg m subject"]\nit = ["3 sg n subject"]\n')
PAIRS = "measure pairs -s {}/s.de -r {}/r.en -t {}/t.en -l de-en -o {}/out.jsonl --pronoun-list {}/p.toml"
command("measure-pairs-pronouns", both(measured, PRONOUNS), PAIRS, "p.toml")


def adapting(folder: Path) -> None:
    llama(folder)
    write(folder / "x.en", "The king came .\nHe is old .\n\nThe hat .\nIt is new .\n")
    from tests.study.conftest import pair_rows

    write(folder / "p.jsonl", "".join(json.dumps(row) + "\n" for row in pair_rows(2)))


@cache
def language_model(name: str) -> Any:
    from anaphora.measure.features import LanguageModelFeatures

    return LanguageModelFeatures(name)


def ready(folder: Path) -> AbstractContextManager[Any]:
    """The language model is loaded once: damaged ones are in `folder.lm`."""
    model = language_model(str(folder / "model"))
    return mock.patch("anaphora.measure.features.LanguageModelFeatures", return_value=model)


command(
    "measure-adapt",
    adapting,
    "measure adapt lm:{}/model {}/x.en --dev {}/p.jsonl -o {}/out --steps 1 --batch 1 --pieces 6 --rank 1 --threads 1",
    "x.en",
    "p.jsonl",
)
within("measure-adapt", ready, torch=True)

# Studies


def gaps(folder: Path) -> None:
    """What `apt --details` wrote, with the texts that it read."""
    from anaphora.cli.app import app

    texts(folder)
    arguments = f"apt {TEXTS} {LINKS} --name t --details {{}}/d.tsv --json".replace("{}", str(folder)).split()
    app.main(args=arguments, standalone_mode=False)


command(
    "study-create-gaps",
    gaps,
    "study create {}/d.tsv --mode gaps -s {}/s.en -t {}/t.fr --name t -l en-fr -o {}/study --annotators 2",
    "d.tsv",
    "s.en",
    "t.fr",
)
command(
    "study-create-told",
    both(pairs, put(i__txt="Read both.\nChoose one.\n")),
    "study create {}/s.jsonl --instructions {}/i.txt -o {}/study --annotators 2",
    "i.txt",
)


def verdicts(folder: Path) -> None:
    """What `generative` wrote, and a study of it that somebody has answered."""
    from anaphora.cli.app import app

    native(folder)
    written(folder)
    wanted = f"{GERMAN} --name t --aligner builtin --details {{}}/g.jsonl --json"
    app.main(args=wanted.replace("{}", str(folder)).split(), standalone_mode=False)
    asked(folder, f"{folder}/g.jsonl")


def asked(folder: Path, details: str) -> None:
    """A study of verdicts, answered in part."""
    from anaphora.cli.app import app
    from anaphora.study.model import read_study
    from anaphora.study.store import Answer, open_log

    create = f"study create --from {details} -o {folder}/study --annotators 2 --json"
    app.main(args=create.split(), standalone_mode=False)
    study = read_study(folder / "study")
    log = open_log(study, folder / "study")
    for annotator in study.annotators:
        one = annotator.assignments[0]
        log.append(Answer(annotator.name, one.item, ("right",), one.order, f"request-{annotator.name[-1]}"))
    log.close()


def judged_gaps(folder: Path) -> None:
    gaps(folder)
    asked(folder, f"{folder}/d.tsv -s {folder}/s.en -t {folder}/t.fr --name t -l en-fr")


FROM = "study create --from {}/"
command("study-create-from", verdicts, f"{FROM}g.jsonl --only correct,wrong,not-found -o {{}}/new", "g.jsonl")
command("study-create-cases", gaps, f"{FROM}d.tsv --only 1-6 -s {{}}/s.en -t {{}}/t.fr --name t -l en-fr -o {{}}/new")
command("generative-answers", verdicts, f"{GERMAN} --name t --aligner builtin --answers {{}}/study", "study/*")
command("apt-answers", judged_gaps, f"apt {TEXTS} {LINKS} --name t --answers {{}}/study", "study/*")
command("study-serve", study_seed, "study serve {}/study --port 0 --json", "study/*.json", "study/*.sqlite")
within("study-serve", lambda folder: mock.patch("uvicorn.Server.run"))

# Training


SMALL = "--set model.hidden=8 --set model.embedding=8 --set training.updates=1 --set training.save_every=1"
TRAIN = f"train {{}}/c.toml -o {{}}/model --set data.source={{}}/x.en --set data.target={{}}/x.de --threads 1 {SMALL}"


def resumable(folder: Path) -> None:
    """A model whose training has come to its end: resumed, it reads everything that it left."""
    from anaphora.cli.app import app
    from tests.fuzz.building import training

    training(folder)
    app.main(args=TRAIN.replace("{}", str(folder)).split(), standalone_mode=False)


command("train-resumed", resumable, f"{TRAIN} --resume", "model/*", "x.en")
within("train-resumed", lambda folder: mock.patch.dict("os.environ"), torch=True)
