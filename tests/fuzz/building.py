"""The commands that make suites, pairs, translations and models from files, with systems that cost nothing."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from anaphora.systems import Traits
from tests.fuzz.commands import both, command, pairs
from tests.fuzz.targets import PAIR_LIST, TARGETS, Seed, add, native, run_file, write


class Echo:
    """A system that is ready at once: the longer a candidate the worse, and a text is its own translation."""

    traits = Traits(scope=True, gradients=True)

    def __init__(self, what: str, options: Any) -> None:
        self.options = options

    def settings(self) -> Mapping[str, Any]:
        return {"echo": 1}

    def score(self, examples: Sequence[Any], done: Container[int] = ()) -> Iterator[tuple[int, Any]]:
        from anaphora.runs import CandidateScores

        for number, example in enumerate(examples):
            lengths = [len(" ".join(candidate)) for candidate in example.candidates]
            yield number, CandidateScores([-float(n) for n in lengths], [max(1, n) for n in lengths])

    def attribute(self, examples: Sequence[Any], method: str, done: Container[int] = ()) -> Iterator[tuple[int, Any]]:
        """Every letter is a token, the first one is worth most."""
        from anaphora.systems.attribution import Position, TokenAttribution

        for number, answer in self.score(examples):
            passages = examples[number].source, examples[number].candidates[examples[number].gold or 0]
            positions = [
                Position(side, n, k, k + 1)
                for side, passage in enumerate(passages)
                for n, sentence in enumerate(passage)
                for k in range(len(sentence))
            ]
            values = [(position, 1 / (1 + position.start)) for position in positions]
            yield number, TokenAttribution(answer, *passages, values)

    def translate(self, texts: Sequence[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
        return list(texts)


def within(name: str, around: Any, torch: bool = False) -> None:
    """Run a target of these in a context, made of its folder."""
    target = TARGETS[f"cli.{name}"]

    def run(folder: Path) -> None:
        with around(folder):
            target.run(folder)

    add(target.name, target.seed, run, *target.only, writes=target.writes, torch=torch)


def echoing(folder: Path) -> AbstractContextManager[Any]:
    """`echo:` is a kind of system."""
    from anaphora.core.registry import Registry

    known = Registry("system", {"echo": f"{__name__}:Echo"})
    return mock.patch("anaphora.systems.systems", return_value=known)


# Parallel documents with annotation

ENGLISH = ["The cup fell .", "It broke .", "", "Nothing happened .", "It slept ."]
GERMAN = ["Die Tasse fiel .", "Sie brach .", "", "Nichts geschah .", "Er schlief ."]


def conllu(sentences: Sequence[str]) -> str:
    """Sentences of a subject, a verb and a full stop."""
    blocks = []
    for words in (sentence.split() for sentence in sentences if sentence):
        verb, rows = len(words) - 1, []
        for k, word in enumerate(words, start=1):
            pronoun = word.lower() in ("it", "sie", "er")
            kind = "PRON" if pronoun else "PUNCT" if word == "." else "VERB" if k == verb else "NOUN"
            kind = "DET" if word in ("The", "Die") else kind
            what = "Person=3|Number=Sing" if pronoun else "Gender=Fem|Number=Sing" if word == "Tasse" else "_"
            relation = {"PUNCT": "punct", "VERB": "root", "DET": "det"}.get(kind, "nsubj")
            head = 0 if k == verb else k + 1 if kind == "DET" else verb
            chain = "Entity=(e1)" if word in ("cup", "Tasse", "Nothing", "Nichts", "It", "Sie", "Er") else "_"
            rows.append(f"{k}\t{word}\t{word.lower()}\t{kind}\t_\t{what}\t{head}\t{relation}\t_\t{chain}\n")
        blocks.append("".join(rows))
    return "\n".join(blocks) + "\n"


def parallel(folder: Path) -> None:
    for code, lines in (("en", ENGLISH), ("de", GERMAN)):
        write(folder / f"x.{code}", "\n".join(lines) + "\n")
        write(folder / f"{code}.conllu", conllu(lines))
    write(folder / "x.align", "\n".join(" ".join(f"{k}-{k}" for k in range(len(s.split()))) for s in ENGLISH) + "\n")


def docids(folder: Path) -> None:
    parallel(folder)
    for name, lines in (("x.en", ENGLISH), ("x.de", GERMAN)):
        write(folder / name, "".join(f"d{k // 3}\t{line}\n" for k, line in enumerate(lines) if line))


def fresh(folder: Path) -> AbstractContextManager[Any]:
    """No annotator is kept from the case before."""
    from contextlib import nullcontext

    from anaphora.build.mine import jobs as work

    work.annotator_of.cache_clear()
    return nullcontext()


ANNOTATED = "--annotate-source conllu:{}/en.conllu --annotate-target conllu:{}/de.conllu"
SIDES = f"--source {{}}/x.en --target {{}}/x.de -l en-de {ANNOTATED}"
MINE = f"build mine {SIDES} --workers 1 --confidence 0 --link-source chains --link-target chains -o {{}}/out.jsonl"
command("mine", parallel, f"{MINE} --align-backend builtin")
command("mine-alignments", parallel, f"{MINE} --alignments {{}}/x.align --to both")
command("mine-docids", docids, f"{MINE} --format docids --align-backend builtin", "x.en", "x.de")
for name in ("mine", "mine-alignments", "mine-docids"):
    within(name, fresh)
command("augment", parallel, f"augment {SIDES} --link chains --align {{}}/x.align -o {{}}/out")


def gold(folder: Path) -> None:
    """A record of ParCorFull, and annotation of its tokens."""
    sides = {}
    for code, lines in (("en", ENGLISH), ("de", GERMAN)):
        sentences = [line.split() for line in lines if line]
        places = [(0, 1, 2, "np", {}), (1, 0, 1, "pronoun", {"type": "anaphoric", "agreement": "singular"})]
        sides[code] = {
            "sentences": sentences,
            "mentions": [
                {
                    **{"sent": n, "start": start, "end": end, "text": " ".join(sentences[n][start:end])},
                    **{"type": kind, "chain": "set_1", "attributes": attributes},
                }
                for n, start, end, kind, attributes in places
            ],
        }
        write(folder / f"{code}.conllu", conllu(lines))
    record = {"doc": "d", "langs": ["en", "de"], **sides, "alignment": [[[n], [n]] for n in range(4)]}
    record["word_alignment"] = [[[n, k], [n, k], "i"] for n in range(4) for k in range(2)]
    write(folder / "g.jsonl", json.dumps(record) + "\n")


command("mine-evaluate", gold, f"build mine-evaluate {{}}/g.jsonl {ANNOTATED} --json", writes=False)
command("mine-evaluate-gold", gold, f"build mine-evaluate {{}}/g.jsonl --chains gold {ANNOTATED}", writes=False)


# Systems


def documents(folder: Path) -> None:
    write(folder / "x.en", "A lamp.\nIt is old.\n\nA hat.\nIt is new.\n")


def antecedents(folder: Path) -> None:
    """A suite that names antecedents and has highlights."""
    marks = [{"side": "source", "sentence": 0, "start": 4, "end": 7, "text": "cup"}]
    tags = {"source_antecedent": "the cup", "target_antecedent": "die Tasse", "source_antecedent_head_id": 2}
    rows: list[dict[str, Any]] = [{"anaphora": 1, "name": "cups", "source_language": "en", "target_language": "de"}]
    for number in range(3):
        candidates = [["Die Tasse fiel.", "Ja, sie brach."], ["Die Tasse fiel.", "Ja, er brach."]]
        row = {"id": f"{number}", "source": ["The cup fell.", "Yes, it broke."], "candidates": candidates, "gold": 0}
        rows.append({**row, "tags": {**tags, "distance": number % 2, "highlights": marks}})
    write(folder / "s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


TRANSLATE = "translate --system echo:x -l en-de -i {}/x.en -o {}/out.de"
command("translate", documents, f"{TRANSLATE} --context 1 --separator <SEP> --json")
command(
    "translate-docids", lambda f: write(f / "x.en", "d\tA lamp.\nd\tIt is old.\ne\tA hat.\n"), f"{TRANSLATE} --docids"
)
command("context-usage", native, "context-usage {}/s.jsonl --system echo:x --context 1 -o {}/usage --json")


def attributions(folder: Path) -> None:
    """The file of `attribute`."""
    header = {"anaphora_run": 1, "suite": "cups", "sha256": "0" * 64, "source_language": "en", "target_language": "de"}
    settings = {"attribution": "gradient"}
    rows: list[dict[str, Any]] = [{**header, "system": "x:y", "version": "0.2.0", "settings": settings, "examples": 2}]
    figures = {"share": 0.5, "uniform_share": 0.25, "rank": 1.0, "uniform_rank": 2.0, "auc": 0.5, "support": -0.5}
    for number in range(2):
        words = {"source": [[["cup", -0.5], [".", 0.25]], [["it", 0.5]]], "target": [[["Tasse", 0.5]], []]}
        record: dict[str, Any] = {"contrast": 1.5 - 2 * number, "right": not number, "choice": ["sie", "er"]}
        record |= {"words": words, "rest": 0.5, "antecedent": {**figures, "at": [0, 3]}, "highlights_reason": "x"}
        rows.append({"id": f"{number}", "scores": [-1.0, -2.0], "attribution": record, "gold": 0, "tags": {}})
    write(folder / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


command("report-attribution", attributions, "report --result {}/a.jsonl -o {}/out.html --samples 100")
ATTRIBUTE = "attribute {}/s.jsonl --system echo:x --context 1 -o {}/out.jsonl --samples 100"
command("attribute", antecedents, ATTRIBUTE)
command("attribute-occlusion", antecedents, f"{ATTRIBUTE} --method occlusion --by distance")
for name in ("translate", "translate-docids", "context-usage", "attribute", "attribute-occlusion"):
    within(name, echoing)


# The learned measure


def measured(folder: Path) -> None:
    write(folder / "s.de", "Die Lampe .\nSie ist alt .\n\nDer Hut .\nEr ist neu .\n")
    write(folder / "r.en", "The king came .\nHe is old .\n\nThe hat .\nIt is new .\n")
    write(folder / "t.en", "The king came .\nShe is old .\n\nThe hat .\nHe is new .\n")


def agreed(folder: Path) -> None:
    write(folder / "l.json", json.dumps(PAIR_LIST))


PAIRS = "measure pairs -s {}/s.de -r {}/r.en -t {}/t.en -l de-en -o {}/out.jsonl"
command("measure-pairs", measured, f"{PAIRS} --json")
command("measure-pairs-list", both(measured, agreed), f"{PAIRS} --pair-list {{}}/l.json --year 2013", "l.json")


def pairs_of_systems(folder: Path) -> None:
    from anaphora.cli.app import app

    measured(folder)
    arguments = PAIRS.replace("out.jsonl", "p.jsonl").replace("{}", str(folder)).split()
    app.main(args=arguments, standalone_mode=False)


command("measure-counts-years", pairs_of_systems, "measure counts {}/p.jsonl --by-year", "p.jsonl", writes=False)


def judged(folder: Path) -> None:
    """Pairs, and a run of them."""
    from anaphora.suites.suite import read_native

    pairs(folder)
    lines = [json.loads(line) for line in run_file(folder / "a.jsonl").read_text().splitlines()]
    lines[0]["sha256"] = read_native(folder / "s.jsonl").sha256()
    for row in lines[1:]:
        row["scores"], row["tokens"] = row["scores"][:2], row["tokens"][:2]
    write(folder / "a.jsonl", "".join(json.dumps(row) + "\n" for row in lines))


EVALUATE = "measure evaluate {}/s.jsonl --samples 100"
command("measure-evaluate", judged, f"{EVALUATE} --run {{}}/a.jsonl --json", writes=False)
command("measure-evaluate-list", both(judged, agreed), f"{EVALUATE} --run {{}}/a.jsonl --pair-list {{}}/l.json")
command("measure-evaluate-system", pairs, f"{EVALUATE} --system echo:x --context 1")
within("measure-evaluate-system", echoing)


class CountingMeasure:
    """A measure that is ready at once: a text has as many points as it has pronouns."""

    config = SimpleNamespace(context="RC", sentences=2, context_sentences=2, plain=False)

    def __init__(self) -> None:
        from anaphora.languages.pronouns import load_readings

        self.readings = load_readings("en")

    def prepare(self, texts: Any, progress: Any = None) -> None:
        for _ in texts:
            pass

    def score(self, texts: Any) -> list[Any]:
        from anaphora.measure.model import ScoredText

        return [ScoredText(float(len(text.pronouns)), (), (), ()) for text in texts]


def counting(folder: Path) -> AbstractContextManager[Any]:
    return mock.patch("anaphora.measure.training.load_measure", return_value=CountingMeasure())


SCORE = "measure score {} -r {}/r.en -t {}/t.en --samples 100"
command("measure-score", measured, f"{SCORE} --details {{}}/out.tsv --json", "r.en", "t.en")
command("measure-score-docids", docids, "measure score {} -t {}/x.en --docids --samples 100", "x.en")
for name in ("measure-score", "measure-score-docids"):
    within(name, counting, torch=True)


# Templates, attacks, the catalog, training


def words(folder: Path) -> None:
    """Two words of each class."""
    from importlib.resources import files as resources

    location = resources("anaphora.build.templates") / "data" / "en-de" / "vocabulary"
    for path in location.iterdir():
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        write(folder / "words" / path.name, "\n".join(lines[:4]) + "\n")


command("templates", words, "build templates --vocabulary {}/words --only prior/role -o {}/out.jsonl")


def hats(folder: Path) -> None:
    from tests.cli.test_attack import TAGS, row, written

    written(folder / "s.jsonl", row("a", TAGS), row("b", TAGS, 2), row("c", {}))


def curtains(folder: Path) -> None:
    from tests.cli.test_attack import SYNONYM_HEADER, SYNONYM_TAGS, THESAURUS, synonym_row

    write(folder / "th.dat", THESAURUS)
    write(folder / "ding.txt", "Vorhang {m}; Gardine {f} :: curtain\n")
    rows = (SYNONYM_HEADER, synonym_row("a", SYNONYM_TAGS), synonym_row("b", {}))
    write(folder / "s.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def distractors(folder: Path) -> None:
    from importlib.resources import files as resources

    hats(folder)
    data = resources("anaphora.languages") / "data" / "attacks" / "distractor.toml"
    write(folder / "d.toml", data.read_bytes())


command("attack-possessive", hats, "build attack possessive {}/s.jsonl --preset maria -o {}/out.jsonl")
command(
    "attack-synonym",
    curtains,
    "build attack synonym {}/s.jsonl --thesaurus mythes:{}/th.dat --dictionary {}/ding.txt --shared 1 -o {}/out.jsonl",
)
command("attack-wrong", hats, "build attack wrong-antecedent {}/s.jsonl -o {}/out.jsonl")
command(
    "attack-distractors",
    distractors,
    "build attack wrong-antecedent {}/s.jsonl --distractors {}/d.toml -o {}/out.jsonl",
    "d.toml",
)


def at_home(folder: Path) -> AbstractContextManager[Any]:
    return mock.patch.dict("os.environ", ANAPHORA_HOME=str(folder / "home"))


def published(name: str) -> Seed:
    def seed(folder: Path) -> None:
        position = TARGETS[f"suite.{name}"]
        position.seed(folder)

    return seed


command("get-contrapro", published("contrapro"), "suites get contrapro --from-path {}/contrapro.json", "contrapro.json")
within("get-contrapro", at_home)


def training(folder: Path) -> None:
    write(folder / "x.en", "".join(f"I see the {w} .\nIt is old .\n\n" for w in ("lamp", "table", "book")))
    write(folder / "x.de", "".join(f"Ich sehe {w} .\nSie ist alt .\n\n" for w in ("Lampe", "Tisch", "Buch")))
    config = '[model]\nkind = "recurrent"\nsource_context = 1\nembedding = 16\n'
    config += '[vocabulary]\nsize = 40\n[training]\nupdates = 2\nschedule = "fixed"\nwarmup = 0\n'
    write(folder / "c.toml", config)


def untrained(folder: Path) -> AbstractContextManager[Any]:
    """All is prepared, and nothing trained."""
    from anaphora.nmt import training as module

    class Prepared:
        updates, stopped_early, perplexity = 0, False, None

        def __init__(self, *given: Any) -> None:
            pass

        def run(self) -> Prepared:
            return self

    return mock.patch.object(module, "Trainer", Prepared)


TEXT = "--set data.source={}/x.en --set data.target={}/x.de"
command("train", training, f"train {{}}/c.toml -o {{}}/model {TEXT} --threads 1 --json")
within("train", untrained, torch=True)
