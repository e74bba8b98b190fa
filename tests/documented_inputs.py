"""Small made-up inputs under the names that the documentation uses: texts, suites, scores, runs and tiny models.

`provide` puts into a folder every input that the commands of a document name and do not make themselves, so that the
commands run to the letter. An input that needs what is not on this machine (real data, a parser) is left out, and
the commands that name it are then only parsed.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from anaphora import api
from anaphora.build.attacks.phrase import phrase_addition, phrase_preset
from anaphora.build.templates.suite import template_suite
from anaphora.demo.corpus import ARTICLES, NOUNS, demo_suite
from anaphora.measure.pairs import Files, write_pairs
from anaphora.measure.pairs import write_example as write_measure_example
from anaphora.metrics import write_example
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of
from tests.tiny_models import demo_sentences, make_llama, make_marian, make_nmt

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data")
PIPELINES = Path(os.environ.get("ANAPHORA_MODELS") or ROOT.parent / "shared" / "models")
HOME = ".home"  # ANAPHORA_HOME of a document
ANNOTATING = ("anaphora augment", "anaphora build mine")  # commands that take a pipeline that is installed
TALK = 12  # sentences of a made-up talk
EVERY = 12  # one of N examples of the demo suite is in the made-up contrapro
Maker = Callable[[Path, str], bool]  # puts an input of a name into a folder; False where this machine cannot


def provide(folder: Path, commands: str) -> frozenset[str]:
    """Make the inputs that these commands name; returns those that cannot be made on this machine."""
    lacking = set() if PIPELINES.is_dir() else set(ANNOTATING)
    for name, maker in INPUTS.items():
        word = re.escape(name)
        named = re.search(rf"(?<![\w./-]){word}(?![\w-])", commands)
        made = re.search(rf"(-o|--output|>) {word}(?![\w.-])", commands)
        if named and not made and not (folder / name).exists() and not maker(folder, name):
            lacking.add(name)
    return frozenset(lacking)


# ------------------------------------------------------------------------------------------------------------- texts


def lines(path: Path, *text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")


def talk(which: str, folder: Path, name: str) -> bool:
    """A few lines of the example of `anaphora apt`: of its source, its reference, or a system."""
    write_example("apt", folder / ".apt")
    text = (folder / ".apt" / which).read_text(encoding="utf-8").splitlines()
    lines(folder / name, *text[:TALK])
    return True


def document(language: int, nouns: int, folder: Path, name: str) -> bool:
    """Documents of a few sentences each, English or German, with a blank line between them."""
    text = []
    for number, (noun, _, gender) in enumerate(NOUNS[:nouns]):
        german = next(g for english, g, _ in NOUNS if english == noun)
        pronoun, oblique = {"m": ("Er", "ihn"), "f": ("Sie", "sie"), "n": ("Es", "es")}[gender]
        text += (
            [f"I found the {noun} in room {number}.", "It was very old.", "My brother sold it yesterday.", ""],
            [
                f"Ich fand {ARTICLES[gender]} {german} in Zimmer {number}.",
                f"{pronoun} war sehr alt.",
                f"Mein Bruder hat {oblique} gestern verkauft.",
                "",
            ],
        )[language]
    lines(folder / name, *text[:-1])
    return True


def abc(folder: Path, name: str) -> bool:
    """What people and another metric say of the systems a, b and c."""
    lines(folder / name, "system\thuman\tbleu", "a\t0.41\t30.1", "b\t0.62\t31.7", "c\t0.40\t29.8")
    return True


def correlations(folder: Path, name: str) -> bool:
    """A table of scores in which one system is called OUTLIER."""
    write_example("meta", folder / ".correlate")
    table = (folder / ".correlate" / "scores.tsv").read_text(encoding="utf-8")
    (folder / name).write_text(table.replace("broken", "OUTLIER"), encoding="utf-8")
    return True


# ----------------------------------------------------------------------------------------------- suites, scores, runs


def contrapro() -> Suite:
    """Thirty-six examples of the demo suite with the tags of ContraPro."""
    german = {noun: f"{ARTICLES[gender]} {noun}" for _, noun, gender in NOUNS}
    english = {noun: f"the {source}" for source, noun, _ in NOUNS}

    def tagged(example: Example) -> Example:
        noun = str(example.tags["noun"])
        tags = {"source_pronoun": "it", "location": "external", "document": str(example.tags["noun"])}
        tags |= {"source_antecedent": english[noun], "target_antecedent": german[noun]}
        return replace(example, tags={**example.tags, **tags})

    whole = demo_suite()
    breakdowns = ("reference_pronoun", "location", "distance>3")
    header = replace(whole.header, name="contrapro", breakdowns=breakdowns)
    return suite_of(header, lambda: map(tagged, islice(demo_suite(), 0, None, EVERY)))


def discourse(folder: Path, name: str) -> bool:
    """Four blocks in the format of Bawden's coreference set, of three sentences of our own."""
    blocks = {}
    nouns = (("lamp", "lampe", "luminaire"), ("car", "voiture", "véhicule"), ("watch", "montre", "chronomètre"))
    for number, (noun, feminine, masculine) in enumerate((*nouns, ("cup", "tasse", "gobelet")), start=1):
        pairs = []
        for kind in ("correct", "semi-correct"):
            for form, article, translation in (("f.sg", "la", feminine), ("m.sg", "le", masculine)):
                before = f"J'ai trouvé {article} {translation}."
                right, wrong = ("Elle", "Il") if form == "f.sg" else ("Il", "Elle")
                pair = {kind: [before, f"{right} marche."], "incorrect": [before, f"{wrong} marche."], "type": form}
                pairs.append(pair)
        blocks[str(number)] = {"src": [f"I found the {noun}.", "It works."], "trg": pairs}
    (folder / name).write_text(json.dumps(blocks, ensure_ascii=False), encoding="utf-8")
    return True


def bawden(folder: Path) -> Suite:
    if not (folder / "anaphora.json").exists():
        discourse(folder, "anaphora.json")
    return api.load_suite(folder / "anaphora.json", "disceval")


def in_catalog(folder: Path, name: str) -> bool:
    """A suite of the catalog as `suites get` leaves it, with made-up examples."""
    suite = contrapro() if name == "contrapro" else bawden(folder)
    suite.write(folder / HOME / "suites" / f"{name}.jsonl")
    return True


def in_a_file(folder: Path, name: str) -> bool:
    """The same examples in a suite file."""
    bawden(folder).write(folder / name)
    return True


def scored(suite: Callable[[Path], Suite], folder: Path, name: str) -> bool:
    """Made-up scores for the candidates of a suite: a file of them, or a run under runs/."""
    asked = suite(folder)
    file = folder / name if name.endswith(".scores") else folder / ".scores"
    numbers = (-5 - (3 * k + n) % 7 / 2 for n, example in enumerate(asked) for k, _ in enumerate(example.candidates))
    lines(file, *(f"{number:.1f}" for number in numbers))
    if file.name == ".scores":
        api.import_scores(asked, file, folder / name)
    return True


def pairs(folder: Path, name: str) -> bool:
    """Pairs of the example of `anaphora measure`."""
    made = folder / ".measure"
    for file in write_measure_example(made)[:2]:  # the first 15 documents
        lines(file, *file.read_text("utf-8").splitlines()[:45])
    write_pairs(Files(made / "reference.en", [made / "first.en"]), "de-en", folder / name)
    return True


def attacked(folder: Path) -> Suite:
    """The made-up contrapro under the attack that the README shows, as it writes it."""
    return phrase_addition(contrapro(), [phrase_preset("true_colon")])


def templates(folder: Path) -> Suite:
    """One of twenty items of the templates."""
    whole = template_suite("en-de").suite
    return suite_of(whole.header, lambda: islice(whole, 0, None, 20))


def translations(folder: Path, name: str) -> bool:
    """What a system writes for the made-up contrapro: the last sentence of the first candidate."""
    lines(folder / name, *(example.candidates[0][-1] for example in contrapro()))
    return True


def another_translation(folder: Path, name: str) -> bool:
    """Another translation of the made-up contrapro than its right candidates."""
    right = (example.candidates[example.gold or 0][-1] for example in contrapro())
    lines(folder / name, *(sentence.replace(".", ", glaube ich.") for sentence in right))
    return True


# ------------------------------------------------------------------------------------------ models, and what is real


def tiny(make: Callable[..., Path], folder: Path, name: str) -> bool:
    """A tiny model with random weights in the place of a large one, at a relative path that has its name."""
    (folder / name).mkdir(parents=True)
    make(folder / name, demo_sentences())
    return True


def pipeline(language: str, folder: Path, name: str) -> bool:
    """A pipeline of spaCy under the name of one that spaCy publishes."""
    path = PIPELINES / f"{language}_ud_sm"
    if path.is_dir():
        (folder / name).symlink_to(path)
    return path.is_dir()


def first_records(folder: Path, name: str) -> bool:
    """One document of ParCorFull."""
    path = DATA / "parcorfull" / name
    if path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as whole, gzip.open(folder / name, "wt", encoding="utf-8") as one:
            one.writelines(islice(whole, 1, 2))
    return path.is_file()


def copied(path: Path, folder: Path, name: str) -> bool:
    """A folder of the real data."""
    if path.is_dir():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(path, folder / name)
    return path.is_dir()


APT = {
    **dict.fromkeys(("talk.en", "src.en"), "source.en"),
    **dict.fromkeys(("talk.fr", "ref.fr"), "reference.fr"),
    **dict.fromkeys(("opus.fr", "a.fr", "c.fr"), "sentence-level.fr"),
    **dict.fromkeys(("mine.fr", "b.fr"), "document-level.fr"),
    **{"ref.align": "reference.align", "a.align": "sentence-level.align", "c.align": "sentence-level.align"},
    "b.align": "document-level.align",
}
INPUTS: dict[str, Maker] = {
    **{name: partial(talk, which) for name, which in APT.items()},
    **{
        f"{name}.{code}": partial(document, number, nouns)
        for name, nouns in (("corpus", 99), ("talks", 99), ("train", 6), ("dev", 99))  # short: training takes long
        for number, code in enumerate(("en", "de"))
    },
    "baseline.de": partial(talk, "sentence-level.fr"),
    "scores.tsv": correlations,
    "abc.tsv": abc,
    "news.en": partial(document, 0, 99),
    **dict.fromkeys(("pairs.jsonl", "drawn.jsonl", "dev.jsonl"), pairs),
    "data_es-en": partial(copied, DATA / "apt-es-en" / "data_es-en"),
    "anaphora.json": discourse,
    "contrapro": in_catalog,
    "bawden-coreference": in_catalog,
    "bawden.jsonl": in_a_file,
    "my.scores": partial(scored, bawden),
    "mine.de": translations,
    "my-model.de": translations,
    "other.de": another_translation,
    **{f"runs/{name}": partial(scored, lambda folder: contrapro()) for name in ("mine", "my-model", "contrapro")},
    "runs/attacked": partial(scored, attacked),
    "runs/templates": partial(scored, templates),
    **dict.fromkeys(
        ("Helsinki-NLP/opus-mt-en-fr", "Helsinki-NLP/opus-mt-en-de", "my-concat-model"), partial(tiny, make_marian)
    ),
    **dict.fromkeys(("HuggingFaceTB/SmolLM2-135M", "HuggingFaceTB/SmolLM2-135M-Instruct"), partial(tiny, make_llama)),
    **{f"models/update-{seed}": partial(tiny, partial(make_nmt, seed=seed)) for seed in (1, 2, 3)},
    "models/s-hier-to-2": partial(
        tiny, partial(make_nmt, context_encoders=("source",), target_context=1, tie_context_embeddings=True)
    ),
    "models/t-hier": partial(tiny, partial(make_nmt, context_encoders=("target",))),
    "en_core_web_sm": partial(pipeline, "en"),
    "de_core_news_sm": partial(pipeline, "de"),
    "parcorfull.en-de.jsonl.gz": first_records,
    "ContraCAT/data/templates/vocabulary": partial(copied, DATA / "contracat" / "templates" / "vocabulary"),
    "copies": partial(copied, DATA / "disceval-en-fr"),
}
