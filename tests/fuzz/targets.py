"""What is fuzzed: each target has a valid input of the project's own making, and code that reads it."""

from __future__ import annotations

import fnmatch
import gzip
import json
import pickle
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Seed = Callable[[Path], object]  # writes a valid input into a folder
Run = Callable[[Path], object]  # reads it


@dataclass(frozen=True)
class Target:
    """only: patterns of the files that are damaged, all unless given; writes: it leaves files; torch: it loads torch"""

    name: str
    seed: Seed
    run: Run
    only: tuple[str, ...] = ("*",)
    writes: bool = False
    torch: bool = False

    def damaged(self, name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in self.only)


TARGETS: dict[str, Target] = {}
ARGUMENTS: dict[str, str] = {}  # of the targets that run a command: its arguments


def add(name: str, seed: Seed, run: Run, *only: str, writes: bool = False, torch: bool = False) -> None:
    """Make a target known."""
    TARGETS[name] = Target(name, seed, run, only or ("*",), writes, torch)


def all_of(values: Iterable[Any]) -> list[Any]:
    """Everything that an iterator yields, which is when lazy readers read."""
    return list(values)


def files(**texts: str) -> Seed:
    """A seed of texts under their names: `a__txt` stands for a.txt, `b___c` for b/c."""

    def seed(folder: Path) -> None:
        for name, text in texts.items():
            write(folder / name.replace("___", "/").replace("__", "."), text)

    return seed


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# Suites


def suite_rows(pairs: bool = False) -> list[dict[str, Any]]:
    header = {
        **{"anaphora": 1, "name": "small", "source_language": "en", "target_language": "de", "blocks": "block"},
        "breakdowns": ["reference_pronoun", "distance>3", "reference_pronoun×distance"],
    }
    rows: list[dict[str, Any]] = [header]
    for k, (noun, right) in enumerate((("lamp", "Sie"), ("hat", "Er"), ("book", "Es"))):
        wrong = [word for word in ("Er", "Sie", "Es") if word != right][: 1 if pairs else 2]
        tags = {
            "reference_pronoun": right.lower(),
            "distance": k,
            "block": f"b{k // 2}",
            "document": "d",
            "x": [1, "a"],
        }
        candidates = [[f"Da ist {noun}.", f"{word} ist alt."] for word in (right, *wrong)]
        rows.append(
            {"id": f"e{k}", "source": [f"A {noun}.", "It is old."], "candidates": candidates, "gold": 0, "tags": tags}
        )
    return rows


def native(folder: Path, pairs: bool = False) -> Path:
    return write(folder / "s.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in suite_rows(pairs)))


def suite(name: str, seed: Seed, path: str = ".", *only: str, format: str = "", **options: Any) -> None:
    """A target that reads a suite of a format, and one that validates it."""

    def read(folder: Path) -> None:
        from anaphora.suites.formats import read_suite
        from anaphora.suites.validate import validate_suite

        chosen = {key: folder / value if key.endswith("_from") else value for key, value in options.items()}
        actual = read_suite(folder / path, format or name, **chosen)
        actual.sha256()
        all_of(validate_suite(actual))

    add(f"suite.{name}", seed, read, *only)


suite("native", native, "s.jsonl")


def gz(folder: Path) -> None:
    data = native(folder).read_bytes()
    (folder / "s.jsonl").unlink()
    write(folder / "s.jsonl.gz", gzip.compress(data))


suite("native-gzip", gz, "s.jsonl.gz", format="native")


def _validate(folder: Path) -> None:
    from anaphora.suites.validate import validate_file

    all_of(validate_file(folder / "s.jsonl"))


add("suite.validate", native, _validate)


def _contrapro(folder: Path) -> None:
    from tests.suites.readers.test_contracat_attack import record

    first = record(0)
    write(folder / "contrapro.json", json.dumps([{**first, "segment id": k} for k in (1, 3)]))
    for code, text in (("en", first["src segment"]), ("de", first["ref segment"])):
        write(folder / "documents" / "1999" / f"1999_1_2.{code}", f"{text}\n" * 5)


suite("contrapro", _contrapro, "contrapro.json", "contrapro.json")
suite("contrapro-context", _contrapro, "contrapro.json", format="contrapro", context_from="documents")


def _rebuilt(folder: Path) -> None:
    from tests.suites.readers.test_contracat_attack import record
    from tests.suites.readers.test_contrapro_rebuilt import item, written

    written(folder, item(), item(id=18, contrapro=record(0)))


suite("contrapro-rebuilt", _rebuilt)


def _contracat(folder: Path) -> None:
    from tests.suites.readers.test_contracat import KNIFE, template

    template(folder, "3_gender_step", (*KNIFE, "f"), (*KNIFE, "n"))
    template(folder, "0_priors/role", (*KNIFE, "mf"))


suite("contracat", _contracat)


def _attack(subset: bool) -> Seed:
    def seed(folder: Path) -> None:
        from tests.suites.readers import test_contracat_attack as made

        base = made.write(folder / "attacks", *made.lines())
        write(base / "sentence_groups.txt", "0\n3\n7\n10\n")
        path = base / "phrase_addition" / "true"
        made.write(
            path, *made.lines(lambda e, g: (f"it is true: {e}", f"es ist wahr: {g}"), (0, 2) if subset else (0, 1, 2))
        )
        if subset:
            made.subset(path, made.record(0), made.record(2))

    return seed


suite("contracat-attack", _attack(False), "attacks/phrase_addition/true")
suite("contracat-attack-subset", _attack(True), "attacks/phrase_addition/true", format="contracat-attack")


def _disceval(folder: Path) -> None:
    from tests.documented_inputs import discourse

    discourse(folder, "anaphora.json")


suite("disceval", _disceval, "anaphora.json")
CHOICE = {
    "1": {"type": "x", "examples": [{"src": ["a", "b"], "trg": {"correct": ["c", "d"], "incorrect": ["c", "e"]}}]}
}
suite(
    "disceval-cohesion", files(**{"lexical-choice__json": json.dumps(CHOICE)}), "lexical-choice.json", format="disceval"
)


def _lopes(folder: Path) -> None:
    from tests.suites.readers.test_lopes import folder as made

    made(folder)


suite("lopes", _lopes)


def _voita(folder: Path) -> None:
    from tests.suites.readers.test_voita import ITEM, written

    written(folder, ITEM, ITEM)


suite("voita", _voita)


def _scat(folder: Path) -> None:
    from tests.suites.readers.test_scat import LAMP, written

    written(folder, LAMP, LAMP)


suite("scat", _scat)


def _ctxpro(folder: Path) -> None:
    from tests.suites.readers.test_ctxpro import written

    written(folder)


suite("ctxpro", _ctxpro, "gender.opensubtitles.en-de.test")


def _mt_geneval(folder: Path) -> None:
    from tests.suites.readers.test_mt_geneval import written

    written(folder)


suite("mt-geneval", _mt_geneval)


def _winomt(folder: Path) -> None:
    from tests.suites.readers.test_winomt import written

    written(folder)


suite("winomt", _winomt)


def _diabla(folder: Path) -> None:
    from tests.suites.readers.test_diabla import written

    written(folder)


suite("diabla", _diabla)


def _eval_anaphora(folder: Path) -> None:
    from tests.suites.readers.test_eval_anaphora import pair, written

    written(folder, pair(), pair(sample_id=13))


suite("eval-anaphora", _eval_anaphora, "test_data_german.jsonl")


def _eval_pickle(folder: Path) -> None:
    from tests.suites.readers.test_eval_anaphora import pair

    write(folder / "test_data_german.pickle", pickle.dumps([pair()]))


suite("eval-anaphora-pickle", _eval_pickle, "test_data_german.pickle", format="eval-anaphora")


def _text(folder: Path) -> None:
    from tests.suites.readers.test_text import folder as made

    made(folder, context_en="A.\nA.\nB.\nB.\nB.\n", context_de="C.\nC.\nD.\nD.\nD.\n")


suite("text", _text)


# Runs, scores, translations


def run_rows(system: str = "a", shift: float = 0.0) -> list[dict[str, Any]]:
    header, *examples = suite_rows()
    rows: list[dict[str, Any]] = [
        {
            **{
                "anaphora_run": 1,
                "suite": "small",
                "sha256": "0" * 64,
                "source_language": "en",
                "target_language": "de",
            },
            **{
                "system": system,
                "version": "0.1.0",
                "breakdowns": header["breakdowns"],
                "blocks": "block",
                "context": "1+1",
            },
            **{"settings": {"dtype": "float32", "n": 1}, "examples": len(examples)},
        }
    ]
    for k, example in enumerate(examples):
        scores = [-5.0 + k + shift, -6.25, -4.5][: len(example["candidates"])]
        record = {"id": example["id"], "scores": scores, "tokens": [3, 4, 5][: len(scores)]}
        rows.append({**record, "undecidable": [[0, 1]], "truncated": 1, "gold": 0, "tags": example["tags"]})
    return rows


def run_file(path: Path, system: str = "a", shift: float = 0.0) -> Path:
    return write(path, "".join(json.dumps(row) + "\n" for row in run_rows(system, shift)))


def _run(folder: Path) -> None:
    from anaphora.runs import open_run

    all_of(open_run(folder / "a.jsonl"))


add("run", lambda folder: run_file(folder / "a.jsonl"), _run)


def _unfinished_seed(folder: Path) -> None:
    native(folder)
    lines = run_file(folder / "out.jsonl.part").read_text().splitlines()
    rows = [lines[0], *(f'{{"n":{k},{line[1:]}' for k, line in enumerate(lines[1:]))]
    write(folder / "out.jsonl.part", "\n".join(rows) + "\n")


def _unfinished(folder: Path) -> None:
    from anaphora.run_writer import RunWriter
    from anaphora.runs import open_run
    from anaphora.suites.suite import read_native

    examples = list(read_native(folder / "s.jsonl"))
    (folder / "whole.jsonl").write_bytes(run_file(folder / "valid.jsonl").read_bytes())
    header = open_run(folder / "valid.jsonl").header
    with RunWriter(folder / "out.jsonl", header, examples, resume=True, overwrite=False):
        pass


add("run.part", _unfinished_seed, _unfinished, "*.part", writes=True)


def _scores_seed(folder: Path) -> None:
    native(folder)
    write(folder / "x.scores", "".join(f"-{k}.5\t{k + 1}\n" for k in range(9)))


def _scores(are: str) -> Run:
    def run(folder: Path) -> None:
        from anaphora.suites.suite import read_native
        from anaphora.systems.scores import ScoreFile

        all_of(ScoreFile(folder / "x.scores", are=are).score(read_native(folder / "s.jsonl")))

    return run


add("scores.sum", _scores_seed, _scores("sum"), "*.scores")
add("scores.mean", _scores_seed, _scores("mean"), "*.scores")

HEADER = {
    "anaphora_translation": 1,
    "version": "1",
    "system": "x",
    "input": "0",
    "context": {"sentences": 1},
    "settings": [4],
}


def _translation(folder: Path) -> None:
    from anaphora.systems import translation

    translation._resumed(folder / "out.part", HEADER)


ROWS = [HEADER, ["Er schläft.", 0], ["Sie schläft.", -1, [["Sie schläft.", -1.5], ["Es", -2]]]]
add("translation.part", files(out__part="".join(json.dumps(row) + "\n" for row in ROWS)), _translation, writes=True)
TARGETS["translation.part-json"] = Target(
    "translation.part-json",
    files(out__jsonl="".join(json.dumps(row) + "\n" for row in ROWS)),
    lambda folder: __import__("anaphora.systems.translation", fromlist=["_"])._resumed(folder / "out.jsonl", HEADER),
    writes=True,
)


def _documents(folder: Path) -> None:
    from anaphora.systems.translation import read_documents

    all_of(read_documents(folder / "a.txt"))
    all_of(read_documents(folder / "b.txt", docids=True))


add("documents", files(a__txt="One.\nTwo.\n\nThree.\n", b__txt="d1\tOne.\nd2\tTwo.\n"), _documents)


def _prompt(folder: Path) -> None:
    from anaphora.systems.encoding import read_prompt

    read_prompt(str(folder / "p.txt"))


add("prompt", files(p__txt="Translate into {target_language}:\n{source}\nGerman:"), _prompt)


# Languages, templates, attacks


def _pronouns(folder: Path) -> None:
    from anaphora.languages.pronouns import pronoun_lists

    pronoun_lists("en-fr", folder / "l.toml")


LISTS = 'base = "en-fr"\nsources = ["it", "they"]\ntarget = ["il", "elle"]\nidentical = [["il"], ["ce", "c\'"]]\n'
LISTS += 'separators = "-"\n[translations]\nit = ["il", "elle"]\n'
add("toml.pronouns", files(l__toml=LISTS), _pronouns)


def _readings(folder: Path) -> None:
    from anaphora.languages.pronouns import load_readings

    load_readings("en", folder / "r.toml")


add(
    "toml.readings",
    files(r__toml='capital = ["I"]\n[readings]\nhe = ["3 sg m subject"]\nit = ["3 sg n subject"]\n'),
    _readings,
)


def _grammar_seed(folder: Path) -> None:
    from anaphora.languages import DATA

    text = (DATA / "pl.toml").read_text(encoding="utf-8")  # has no other tables
    write(folder / "g.toml", text.replace("[grammar]\n", "").replace("[grammar.", "[").encode())


def _grammar(folder: Path) -> None:
    from anaphora.languages.grammar import load_grammar

    load_grammar("de", folder / "g.toml")


add("toml.grammar", _grammar_seed, _grammar)


def _preset(folder: Path) -> None:
    from anaphora.build.attacks.phrase import phrase_addition, phrase_preset
    from anaphora.suites.suite import read_native

    all_of(phrase_addition(read_native(folder / "s.jsonl"), [phrase_preset("mine", folder / "p.toml")]))


def _preset_seed(folder: Path) -> None:
    native(folder)
    write(folder / "p.toml", '[mine]\nplace = "before"\nen = "it is true:"\nde = "es ist wahr:"\n')


add("toml.presets", _preset_seed, _preset, "*.toml")


def _templates_seed(folder: Path) -> None:
    from importlib.resources import files as resources

    data = resources("anaphora.build.templates") / "data" / "en-de"
    write(folder / "templates.toml", (data / "templates.toml").read_bytes())


def _templates(folder: Path) -> None:
    from anaphora.build.templates.template import read_templates

    read_templates(folder / "templates.toml")


add("toml.templates", _templates_seed, _templates)


def _vocabulary(folder: Path) -> None:
    from anaphora.build.templates.vocabulary import read_classes

    read_classes(folder, ("en", "de"))


WORDS = "en\tde\tgender\tplural\nlamp\tLampe\tf\tLampen\nhat\tHut\tm\tHüte\n"
RELEASED = {"dog": {"de": "Hund", "gender": "m"}, "cat": ["Katze", "Kater"], "cup": {"f": "Tasse", "m": "Becher"}}
add("vocabulary", files(noun__tsv=WORDS, animal__json=json.dumps(RELEASED)), _vocabulary)


def _thesaurus(spec: str, *nouns: str) -> Run:
    def run(folder: Path) -> None:
        from anaphora.languages.thesaurus import load_thesaurus

        actual = load_thesaurus(spec.format(folder=folder))
        for noun in nouns:
            actual.senses(noun)

    return run


MYTHES = "UTF-8\nlampe|2\n-|Lampe|Leuchte|Licht\n-|Lampe|Funzel\nhut|1\n-|Hut|Mütze\n"
add("thesaurus.mythes", files(t__dat=MYTHES), _thesaurus("mythes:{folder}/t.dat", "Lampe"))
DING = "# Ding\nLampe {f} | Lampen {pl} :: lamp | lamps\nHut {m}; Mütze {f} :: hat; cap [cook.]\n"
add("thesaurus.ding", files(t__txt=DING), _thesaurus("ding:{folder}/t.txt", "Lampe"))


# Alignment, annotation, mining


def _pharaoh(folder: Path) -> None:
    from anaphora.align.alignment import read_alignments

    all_of(read_alignments(folder / "a.align"))


add("pharaoh", files(a__align="0-0 1-1 2-3\n\n0-1 1-0\n"), _pharaoh)


def _aligner_seed(folder: Path) -> None:
    write(folder / "a.en", "a b c\nb c\nc a\n" * 4)
    write(folder / "a.de", "x y z\ny z\nz x\n" * 4)
    from anaphora import cli  # noqa: F401
    from anaphora.cli.app import app

    app.main(
        args=[
            "align",
            str(folder / "a.en"),
            str(folder / "a.de"),
            "--backend",
            "builtin",
            "-o",
            str(folder / "o"),
            "--save",
            str(folder / "m"),
        ],
        standalone_mode=False,
    )
    (folder / "o").unlink()


def _aligner(checked: bool) -> Run:
    def run(folder: Path) -> None:
        import hashlib

        from anaphora.align.aligner import open_model
        from anaphora.align.backend import load_backend

        model = folder / "m"
        if not checked:  # the checksums that somebody who changes the files can write, too
            header = model / "alignment-model.json"
            about = json.loads(header.read_text())
            about["files"] = {name: hashlib.sha256((model / name).read_bytes()).hexdigest() for name in about["files"]}
            header.write_text(json.dumps(about))
        actual = open_model(model)
        backend = load_backend(actual.settings)
        backend.load(model)
        backend.align([(["a", "b"], ["x", "y"])])

    return run


add("aligner.header", _aligner_seed, _aligner(True), "m/*.json", writes=True)
add("aligner.files", _aligner_seed, _aligner(False), "m/*.npy", "m/*.words", "m/tensions.json", writes=True)

CONLLU = """# newdoc id = d
# sent_id = 1
# text = The dogs bark.
1\tThe\tthe\tDET\tDT\tDefinite=Def\t2\tdet\t_\tEntity=(e1-animal-2
2\tdogs\tdog\tNOUN\tNNS\tGender=Masc|Number=Plur\t3\tnsubj\t_\tEntity=e1)
3\tbark\tbark\tVERB\tVBP\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# sent_id = 2
1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_
1\tzu\tzu\tADP\t_\t_\t0\troot\t_\t_
2\tdem\tder\tDET\t_\t_\t1\tdet\t_\tEntity=(e1)
2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_

"""


def _conllu(folder: Path) -> None:
    from anaphora.annotate.conllu import read_conllu

    all_of(read_conllu(folder / "a.conllu"))


add("conllu", files(a__conllu=CONLLU), _conllu)


def _parcor_seed(folder: Path) -> None:
    from tests.coref.test_gold import ENGLISH

    record = {"doc": "d", "langs": ["en", "de"], "en": ENGLISH, "de": ENGLISH, "alignment": [[[0], [0]], [[1], [1]]]}
    record["word_alignment"] = [[[0, 0], [0, 0], "i"], [[1, 0], [1, 0], "s"]]
    write(folder / "p.jsonl", json.dumps(record) + "\n")


def _parcor(folder: Path) -> None:
    from benchmarks.linking_gold import read_parcorfull

    all_of(read_parcorfull(folder / "p.jsonl"))


def _gold(folder: Path) -> None:
    from anaphora.build.mine.quality import languages_of, read_gold

    all_of(read_gold(folder / "p.jsonl", *languages_of(folder / "p.jsonl")))


add("parcorfull", _parcor_seed, _parcor)
add("parcorfull.gold", _parcor_seed, _gold)


def _corpus(format: str, **paths: str) -> Run:
    def run(folder: Path) -> None:
        from anaphora.build.mine.corpus import Corpus, read_corpus

        all_of(read_corpus(Corpus(format=format, **{key: folder / name for key, name in paths.items()})))

    return run


SIDES = {"source": "a.en", "target": "a.de"}
add(
    "corpus.lines",
    files(a__en="A.\nB.\n\nC.\n", a__de="X.\nY.\n\nZ.\n", a__align="0-0\n0-0\n\n0-0\n"),
    _corpus("lines", **SIDES, alignments="a.align"),
)
add("corpus.docids", files(a__en="d\tA.\ne\tB.\n", a__de="d\tX.\ne\tY.\n"), _corpus("docids", **SIDES))
add("corpus.tags", files(a__en="<d>\nA.\n<d>\nB.\n", a__de="<d>\nX.\n<d>\nY.\n"), _corpus("tags", **SIDES))
add("corpus.tsv", files(a__tsv="d\tA.\tX.\ne\tB.\tY.\n"), _corpus("tsv", source="a.tsv"))
IDS = "en/1/a.xml.gz\tde/1/b.xml.gz\t1\t1\nen/1/a.xml.gz\tde/1/b.xml.gz\t2 3\t2\n"
add("corpus.moses", files(a__en="A.\nB.\n", a__de="X.\nY.\n", a__ids=IDS), _corpus("moses", **SIDES, links="a.ids"))


def _opus_seed(packed: bool) -> Seed:
    def seed(folder: Path) -> None:
        from tests.build.mine.test_opus import FILES, LINKS

        write(folder / "links.xml", LINKS)
        for side in ("en", "de"):
            texts = {name: text for name, text in FILES.items() if name.startswith(side)}
            if packed:
                with zipfile.ZipFile(folder / f"{side}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                    for name, text in texts.items():
                        archive.writestr(f"X/raw/{name}", text)
            else:
                for name, text in texts.items():
                    write(folder / side / name, text)

    return seed


add("opus.folder", _opus_seed(False), _corpus("opus", source="en", target="de", links="links.xml"))
add("opus.zip", _opus_seed(True), _corpus("opus", source="en.zip", target="de.zip", links="links.xml"))


# Metrics


def _pair_list(name: str) -> Run:
    def run(folder: Path) -> None:
        from anaphora.languages.pair_list import read_pair_list

        read_pair_list(folder / name)

    return run


PAIR_LIST = {"he_it": [[0.9, {"reference": 5, "system": 1, "ties": 0}]], "she_he": {"agreement": 0.5, "reference": 2}}
add("pair-list.json", files(l__json=json.dumps(PAIR_LIST)), _pair_list("l.json"))
add(
    "pair-list.tsv",
    files(l__tsv="reference\tsystem\tagreement\tties\nhe\tit\t0.9\t3\nshe\the\t-0.5\t0\n"),
    _pair_list("l.tsv"),
)
add("pair-list.pickle", lambda folder: write(folder / "l.pickle", pickle.dumps(PAIR_LIST)), _pair_list("l.pickle"))


def _pickle(folder: Path) -> None:
    from anaphora.core.pickles import read_plain_pickles

    all_of(read_plain_pickles(folder / "p.pickle"))


PLAIN = [{"a": [1, 2.5, 0], "b": ("x", "é" * 20)}, 10**20, [["y"] * 30]]
add("pickle.4", lambda folder: write(folder / "p.pickle", pickle.dumps(PLAIN, 4)), _pickle)
add("pickle.0", lambda folder: write(folder / "p.pickle", pickle.dumps(PLAIN, 0)), _pickle)


def _samples(folder: Path) -> None:
    from anaphora.metrics.judgments import learn_equivalents, read_samples

    learn_equivalents(read_samples(folder / "j.tsv"))


add("apt.judgments", files(j__tsv="candidate\treference\tcorrect\nil\telle\t0\nce\tcela\t1\n"), _samples)


def _annotations(folder: Path) -> None:
    from anaphora.metrics.discomt import read_annotations

    read_annotations(folder / "a.tsv", "fr")


add("discomt", files(a__tsv="item\tsystem\ttranslation\taccepted\n1\ta\til\til,ce\n1\tb\tce\tbad\n"), _annotations)


def _human(folder: Path) -> None:
    from anaphora.metrics.meta import read_human, read_scores

    read_scores(folder / "s.tsv")
    read_human(folder / "s.tsv")


add("correlate.table", files(s__tsv="system\thuman\tbleu\na\t0.41\t30.1\nb\t0.62\t31.7\nc\t0.40\t29.8\n"), _human)


def _cases(folder: Path) -> None:
    from anaphora.metrics.meta import read_cases

    read_cases([("x", folder / "c.json")])


CASES = {"systems": {"a": {"cases": [1, 2, 3, 4, 5, 6]}, "b": {"cases": [6, 5, 4, 3, 2, 1]}}}
add("sweep.cases", files(c__json=json.dumps(CASES)), _cases)

SYSTEM = {"languages": "en-fr", "cases": [5, 4, 3, 2, 1, 0], "apt": 0.5, "interval": [0.4, 0.6], "signature": "apt|v:1"}
BASELINE = {"accuracy": 0.5, "interval": [0.4, 0.6], "total": 10}
RESULTS: dict[str, dict[str, object]] = {
    "baselines": {
        **{"suite": "small", "sha256": "0" * 64, "languages": "en-de", "confidence": 0.95, "signature": "base|v:1"},
        **{"majority": {**BASELINE, "choice": "er"}, "length": {**BASELINE, "choice": "shortest"}},
        "context_blind": {**BASELINE, "repeated": 3},
        "bag_of_words": {"current": BASELINE, "source_context": None, "target_context": BASELINE},
        "several_words": {"share": 0.5, "interval": [0.4, 0.6], "count": 5, "total": 10},
        **{"priors": 1, "notes": ["source_context: the suite has no words there"]},
    },
    "apt": {"cases": [1], "apt": 0.5, "systems": {"a": SYSTEM, "b": {**SYSTEM, "apt": 0.25}}},
    "generative": {
        "systems": {
            "x": {
                **{
                    "system": "a",
                    "found_by": {},
                    "accuracy": 0.5,
                    "interval": [0.4, 0.6],
                    "total": 10,
                    "suite": "small",
                },
                **{"gap": {"contrastive_accuracy": 0.75}, "signature": "gen|v:1"},
            }
        }
    },
    "usage": {
        **{"suite": "small", "system": "a"},
        "conditions": {
            "0": {"sentences": 0, "accuracy": 0.5, "interval": [0.4, 0.6], "total": 10},
            "1": {"sentences": 1, "accuracy": 0.6, "interval": [0.5, 0.7], "total": 10},
            "random": {"sentences": 1, "accuracy": 0.4, "interval": [0.3, 0.5], "total": 10},
        },
    },
}


def _results(folder: Path) -> None:
    from anaphora.reports.charts import SystemStyle
    from anaphora.reports.results import other_chapters, read_results

    results = read_results([folder / "r.json"])
    names = [name for result in results for name in result.names]
    looks = {name: SystemStyle(name, "#336699", "circle") for name in names}
    other_chapters(results, {name: name for name in names}, looks)


for kind, document in RESULTS.items():
    add(f"results.{kind}", files(r__json=json.dumps(document)), _results)


# Studies


def study_seed(folder: Path) -> None:
    from anaphora.study.create import Design, make_study
    from anaphora.study.model import write_study
    from anaphora.study.store import open_log
    from anaphora.suites.suite import read_native
    from tests.study.conftest import pair_rows

    pairs = write(folder / "pairs.jsonl", "".join(json.dumps(row) + "\n" for row in pair_rows(3)))
    study = make_study(read_native(pairs), Design(annotators=("ann", "bob")))
    write_study(study, folder / "study")
    log = open_log(study, folder / "study")
    log.close()


def _study(folder: Path) -> None:
    from anaphora.study.model import read_links, read_study

    read_links(folder / "study", read_study(folder / "study"))


def _answers(folder: Path) -> None:
    from anaphora.study.model import read_study
    from anaphora.study.store import read_answers

    read_answers(read_study(folder / "study"), folder / "study")


add("study.json", study_seed, _study, "study/*.json")
add("study.sqlite", study_seed, _answers, "study/*.sqlite", writes=True)


# Configs and models


def _nmt_config(folder: Path) -> None:
    from anaphora.nmt.config import read_config

    read_config(folder / "c.toml")


NMT = (
    'base = "transformer"\ndescription = "x"\n[data]\nsource = ["a.en"]\ntarget = ["a.de"]\n[training]\nupdates = 100\n'
)


def _nmt_seed(folder: Path) -> None:
    from anaphora.nmt.config import presets, write_config

    write(folder / "c.toml", write_config(next(iter(presets().values()))))


add("toml.train", _nmt_seed, _nmt_config, torch=True)


def _measure_seed(folder: Path) -> None:
    from importlib.resources import files as resources

    write(folder / "c.toml", (resources("anaphora.measure") / "example" / "measure.toml").read_bytes())


def _measure_config(folder: Path) -> None:
    from anaphora.measure.config import read_config

    read_config(folder / "c.toml")


add("toml.measure", _measure_seed, _measure_config)


def _log(folder: Path) -> None:
    from anaphora.nmt.log import read_log

    read_log(folder / "log.jsonl")


add("train.log", files(log__jsonl='{"kind":"train","update":1,"loss":2.5}\n{"kind":"valid","update":2}\n'), _log)


def _ct2_seed(folder: Path) -> None:
    import struct

    def text(value: str) -> bytes:
        return struct.pack("<H", len(value) + 1) + value.encode() + b"\0"

    weight = text("encoder/position_encodings/encodings") + struct.pack("<BIIBI", 2, 4, 2, 0, 32) + bytes(32)
    write(folder / "model.bin", struct.pack("<I", 6) + text("TransformerSpec") + struct.pack("<II", 7, 1) + weight)
    write(folder / "config.json", json.dumps({"bos_token": "<s>"}))
    write(folder / "shared_vocabulary.json", json.dumps(["a", "b"]))


def _ct2(folder: Path) -> None:
    from anaphora.systems.ctranslate2 import read_model_file

    read_model_file(folder).vocabulary("source")


add("model.ctranslate2", _ct2_seed, _ct2)


def _archive_seed(name: str) -> Seed:
    def seed(folder: Path) -> None:
        (folder / "x").mkdir()
        write(folder / "x" / "a.txt", "text\n")
        write(folder / "x" / "b" / "c.json", "[1]")
        if name.endswith(".zip"):
            with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in ("a.txt", "b/c.json"):
                    archive.write(folder / "x" / path, f"top/{path}")
        else:
            with tarfile.open(folder / name, "w:gz" if name.endswith("z") else "w") as tape:
                tape.add(folder / "x", "top")

    return seed


def _archive(name: str) -> Run:
    def run(folder: Path) -> None:
        from anaphora.suites.download import extract

        extract(folder / name, folder / "out", strip=1, limit=1 << 20)

    return run


for name in ("a.zip", "a.tar", "a.tgz"):
    add(f"archive.{name[2:]}", _archive_seed(name), _archive(name), name, writes=True)

from tests.fuzz import arguments, building, commands, folders, inputs, models, servers  # noqa: F401  (they add targets)
