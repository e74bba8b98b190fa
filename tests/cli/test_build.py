"""`anaphora build`: templates, augment, mine and mine-evaluate, end to end."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.cli import main
from anaphora.suites.readers import contrapro
from anaphora.suites.suite import read_native

from .conftest import instead

# ------------------------------------------------------------------------------------------------------ build templates
# `anaphora build templates` from the command line.

AsJson = Callable[..., Any]
Refused = Callable[..., str]


def test_all_templates_have_the_counts_of_table_8(as_json: AsJson, tmp_path: Path) -> None:
    """And 828 examples more: Table 8 counts the two orders of the position prior as one."""
    document = as_json("build", "templates", "-o", "contracat.jsonl")
    assert document["templates"]["overlap/object"] == 5_376
    assert document["templates"]["gender"] == 4_102
    assert len(document["templates"]) == 13
    assert document["examples"] == sum(document["templates"].values()) == 37_566 + 828
    assert (document["suite"], document["path"], document["edition"]) == ("contracat-en-de", "contracat.jsonl", "paper")
    suite = read_native(tmp_path / "contracat.jsonl")
    assert suite.sha256() == document["sha256"]
    assert suite.header.breakdowns == ("step", "template", "template×variant", "template×reference_gender")
    assert "contracat" in suite.header.citation.lower()
    assert sum(1 for _ in suite) == document["examples"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--only", "prior/role", "--only", "prior/verb"),
        ("--only", "prior/role", "prior/verb"),
    ],
)
def test_some_templates(as_json: AsJson, arguments: tuple[str, ...]) -> None:
    document = as_json("build", "templates", *arguments, "-o", "some.jsonl")
    assert document["templates"] == {"prior/role": 1_000, "prior/verb": 600}


def test_another_language_pair_and_what_is_printed(anaphora: Callable[..., Any], tmp_path: Path) -> None:
    done = anaphora("build", "templates", "-l", "en-fr", "--only", "gender", "-o", "fr.jsonl.gz")
    assert done.stdout == ""
    first, last = done.stderr.splitlines()
    count = int(first.split()[1])
    assert first.split()[0] == "gender"
    assert last.startswith("contracat-en-fr@")
    assert last.endswith(f": {count} examples: fr.jsonl.gz")
    assert sum(1 for _ in read_native(tmp_path / "fr.jsonl.gz")) == count


def test_the_release_from_its_vocabulary(as_json: AsJson, data: Callable[[str], Path]) -> None:
    vocabulary = data("contracat/templates/vocabulary")
    document = as_json("build", "templates", "--only", "prior", "--vocabulary", vocabulary, "-o", "x.jsonl")
    assert document["edition"] == "release"
    assert document["templates"] == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 700}
    document = as_json(
        "build", "templates", "--only", "prior", "--vocabulary", vocabulary, "--edition", "paper", "-o", "x.jsonl"
    )
    assert document["templates"] == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 600}


def test_a_suite_of_templates_is_evaluated_by_template(as_json: AsJson, tmp_path: Path) -> None:
    """The way of the data: templates, scores, accuracy; and what a system chooses where nothing is right."""
    as_json("build", "templates", "--only", "prior/verb", "markable", "-o", "suite.jsonl")
    with (tmp_path / "es.scores").open("w") as scores:
        for example in read_native(tmp_path / "suite.jsonl"):
            scores.writelines(f"{-abs(k - 2)}\n" for k in range(len(example.candidates)))  # always "es"
    result = as_json("evaluate", "suite.jsonl", "--scores", "es.scores")
    markable = result["breakdowns"]["template"]["markable"]
    assert (markable["total"], markable["correct"]) == (2_560, 7 * 20 * 4 * 2)  # the seven neuter animals
    assert json.dumps(result).count('"neuter"') >= 1


def test_table_11_is_computed_from_the_default_suite(as_json: AsJson, tmp_path: Path) -> None:
    """A system that takes the second noun of two, in both orders."""
    as_json("build", "templates", "--only", "prior/position", "-o", "suite.jsonl")
    with (tmp_path / "second.scores").open("w") as scores:
        for example in read_native(tmp_path / "suite.jsonl"):
            scores.writelines(f"{int(choice == 'second')}\n" for choice in example.tags["choices"])
    result = as_json("evaluate", "suite.jsonl", "--scores", "second.scores")
    (figure,) = result["priors"]["prior/position"].values()
    assert (list(result["priors"]["prior/position"]), figure["total"], figure["share"]) == (["second"], 828, 1.0)
    assert result["unpaired"] == {}


def test_a_template_that_finds_no_words_is_shown(anaphora: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "animal.tsv").write_text("en\tde\tgender\nfox\tFuchs\tm\ncat\tKatze\tf\n", encoding="utf-8")
    done = anaphora(
        "build", "templates", "--vocabulary", "words", "--only", "prior/role", "overlap/verb", "-o", "x.jsonl"
    )
    assert "overlap/verb              0  the vocabulary has too few words for it" in done.stderr
    assert "prior/role               80" in done.stderr


# bad input: one line with the file, the place and the way out


def test_templates_a_word_without_gender(refused: Refused, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    (words / "animal.tsv").write_text("en\tde\tgender\ndog\tHund\tm\ncat\tKatze\n", encoding="utf-8")
    message = refused("build", "templates", "--vocabulary", words, "-o", "x.jsonl")
    assert message == f"{words}/animal.tsv: line 3: 'cat' has no gender. Give it one of m, f, n."
    assert not (tmp_path / "x.jsonl").exists()


def test_a_word_without_gender_in_the_format_of_the_release(refused: Refused, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    document = {"dog": {"de": "Hund", "gender": "m"}, "cat": {"de": "Katze"}}
    (words / "animal.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
    message = refused("build", "templates", "--vocabulary", words, "-o", "x.jsonl")
    assert message == f"{words}/animal.json: line 6: 'cat' has no gender. Give it one of m, f, n."


def test_a_template_with_an_unknown_slot(refused: Refused, tmp_path: Path) -> None:
    pair = tmp_path / "en-de"
    pair.mkdir()
    (pair / "templates.toml").write_text(
        '[[template]]\nid = "mine"\nslots = { animal = "animal" }\nantecedent = "animal"\n'
        'source = ["{animal: the} came.", "It sat."]\ntarget = ["{animl: the} kam.", "{it} saß."]\n',
        encoding="utf-8",
    )
    message = refused("build", "templates", "-l", pair, "-o", "x.jsonl")
    assert message == (
        f"{pair}/templates.toml: line 6: template mine: unknown slot 'animl' (did you mean animal?). "
        'Add it under slots, as in animl = "animal"; there are animal.'
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-l", "en-xx"), "no templates for 'en-xx'"),
        (("--only", "gendr"), "no template 'gendr' (did you mean gender?)"),
        (("prior/role",), "unexpected argument 'prior/role'. Choose templates with --only prior/role"),
        (("--edition", "first"), "no edition 'first'"),
        (("--vocabulary", "nowhere"), "nowhere: no such folder"),
    ],
)
def test_templates_other_refusals(refused: Refused, arguments: tuple[str, ...], message: str) -> None:
    assert refused("build", "templates", *arguments, "-o", "x.jsonl").startswith(message)


# -------------------------------------------------------------------------------------------------------------- augment
# `anaphora augment` end to end: real documents, ready annotation, alignments, and what it refuses.

Paths = tuple[Path, Path]

SOURCE = ["A dog came into the garden.", "I laughed.", "It was hungry."]
TARGET = ["Ein Hund kam in den Garten.", "Ich lachte.", "Er war hungrig."]


@pytest.fixture
def corpus(tmp_path: Path) -> Paths:
    for name, lines in (("x.en", SOURCE), ("x.de", TARGET)):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path / "x.en", tmp_path / "x.de"


def conllu(path: Path, sentences: list[list[tuple[str, str, int, str, str]]]) -> Path:
    """Sentences of `word, UPOS, head, relation, MISC`."""
    blocks = []
    for sentence in sentences:
        rows = enumerate(sentence, start=1)
        blocks.append("".join(f"{i}\t{w}\t_\t{u}\t_\t_\t{h}\t{r}\t_\t{m}\n" for i, (w, u, h, r, m) in rows))
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture
def annotated(tmp_path: Path) -> Paths:
    """The corpus annotated by hand, with a chain from the dog to *it*."""
    dot = (".", "PUNCT", 3, "punct", "_")
    english = conllu(
        tmp_path / "x.en.conllu",
        [
            [
                ("A", "DET", 2, "det", "Entity=(e1-animal"),
                ("dog", "NOUN", 3, "nsubj", "Entity=e1)"),
                ("came", "VERB", 0, "root", "_"),
                ("into", "ADP", 6, "case", "_"),
                ("the", "DET", 6, "det", "_"),
                ("garden", "NOUN", 3, "obl", "_"),
                dot,
            ],
            [("I", "PRON", 2, "nsubj", "_"), ("laughed", "VERB", 0, "root", "_"), (".", "PUNCT", 2, "punct", "_")],
            [
                ("It", "PRON", 3, "nsubj", "Entity=(e1-animal)"),
                ("was", "AUX", 3, "cop", "_"),
                ("hungry", "ADJ", 0, "root", "_"),
                dot,
            ],
        ],
    )
    german = conllu(
        tmp_path / "x.de.conllu",
        [
            [(word, "X", 0, "root", "_") for word in ("Ein", "Hund", "kam", "in", "den", "Garten", ".")],
            [(word, "X", 0, "root", "_") for word in ("Ich", "lachte", ".")],
            [
                ("Er", "PRON", 3, "nsubj", "_"),
                ("war", "AUX", 3, "cop", "_"),
                ("hungrig", "ADJ", 0, "root", "SpaceAfter=No"),
                dot,
            ],
        ],
    )
    return english, german


@pytest.fixture
def by_hand(corpus: Paths, annotated: Paths) -> list[str | Path]:
    specs = ["--annotate-source", f"conllu:{annotated[0]}", "--annotate-target", f"conllu:{annotated[1]}"]
    return ["augment", "--source", corpus[0], "--target", corpus[1], *specs, "--link", "chains"]


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_augment_ready_annotation(anaphora: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
    done = anaphora(*by_hand, "-o", tmp_path / "out")
    assert lines(tmp_path / "out" / "augmented.de") == [
        "Ich lachte. <SEP> Er war hungrig.",
        "Ich lachte. <SEP> Sie war hungrig.",
        "Ich lachte. <SEP> Es war hungrig.",
    ]
    assert lines(tmp_path / "out" / "candidates.en") == ["I laughed. <SEP> It was hungry."]
    assert done.stdout.split() == ["1", "candidate"]
    assert "1 documents, 3 sentences, 1 it" in done.stderr
    assert "1 candidates and 2 new examples" in done.stderr


def test_augment_json(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
    document = as_json(*by_hand, "-o", tmp_path / "out", "--separator", " | ")
    assert document["sentences"] == 3
    assert document["candidates"] == 1
    assert document["new_examples"] == 2
    assert document["outcomes"] == {"candidate": 1}
    assert document["german_pronouns"] == {"er": 1}
    assert document["link"] == {"linker": "chains"}
    assert document["annotation"]["source"] == {"annotator": "conllu", "file": "x.en.conllu"}
    assert [Path(file).name for file in document["files"]][:2] == ["candidates.en", "candidates.de"]
    assert lines(tmp_path / "out" / "candidates.de") == ["Ich lachte. | Er war hungrig."]
    (record,) = map(json.loads, lines(tmp_path / "out" / "augmented.jsonl"))
    assert (record["antecedent"], record["distance"], record["confidence"]) == ("A dog", 2, 1.0)


def test_augment_an_alignment(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
    points = tmp_path / "x.align"
    points.write_text("0-0\n0-0\n1-1\n", encoding="utf-8")
    document = as_json(*by_hand, "-o", tmp_path / "out", "--align", points)
    assert document["outcomes"] == {"German pronoun unclear": 1}  # It is aligned to nothing
    points.write_text("0-0\n0-0\n0-0 1-1\n", encoding="utf-8")
    assert as_json(*by_hand, "-o", tmp_path / "out", "--align", points)["outcomes"] == {"candidate": 1}


def test_augment_context_and_filters(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
    output = ["-o", tmp_path / "out"]
    assert as_json(*by_hand, *output, "--context", "2")["outcomes"] == {"antecedent near": 1}
    both = ["--drop", "pleonastic", "--drop", "event"]
    assert as_json(*by_hand, *output, *both)["outcomes"] == {"candidate": 1}


def test_with_pipelines_on_real_documents(
    as_json: Any, data: Callable[[str], Path], pipeline: Callable[[str], str], tmp_path: Path
) -> None:
    """Talks of IWSLT 2017: every new target differs from the old one in the pronoun, and in possessives, alone."""
    folder = data("docs-en-de") / "IWSLT2017"
    for code in ("en", "de"):
        text = gzip.decompress((folder / f"concatenated_en2de_test_{code}.txt.gz").read_bytes()).decode()
        (tmp_path / f"talks.{code}").write_text("<d>".join(text.split("<d>")[:5]), encoding="utf-8")
    document = as_json(
        "augment",
        *("--source", tmp_path / "talks.en", "--target", tmp_path / "talks.de", "--format", "tags"),
        *("--annotate-source", pipeline("en"), "--annotate-target", pipeline("de"), "-o", tmp_path / "out"),
    )
    assert document["documents"] == 4
    assert document["pronouns"] > 50
    assert document["candidates"] >= 2
    assert document["annotation"]["target"]["annotator"] == "spacy"
    records = [json.loads(line) for line in lines(tmp_path / "out" / "augmented.jsonl")]
    assert len(records) == document["candidates"]
    changing = {"er", "ihn", "ihm", "sie", "ihr", "es"}
    for record in records:
        assert record["distance"] >= 2
        assert len(record["source"]) == len(record["target"]) == 2
        old = record["target"][-1].split()
        for gender, (before, new) in record["targets"].items():
            assert gender in ("Masc", "Fem", "Neut")
            assert before == record["target"][0]
            changed = [(a, b) for a, b in zip(old, new.split(), strict=True) if a != b]
            assert changed
            for a, b in changed:
                assert a[0].isupper() == b[0].isupper()
                plain = {a.strip('„“",.!?:;').lower(), b.strip('„“",.!?:;').lower()}
                assert plain <= changing or all(word.startswith(("sein", "ihr")) for word in plain)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        (["-l", "en-fr"], "antecedent-free augmentation supports en-de only, not en-fr"),
        (["--link", "nothing"], "unknown linker 'nothing'"),
        (["--annotate-source", "conllu"], "not an annotator: 'conllu'"),
        (["--annotate-target", "conllu:nowhere"], "nowhere: no such file"),
        (["--target", "nowhere"], "nowhere: no such file"),
        (["--align", "nowhere"], "nowhere: no such file"),
        (["--context", "0"], "Invalid value for '--context'"),
        (["--confidence", "2"], "Invalid value for '--link-confidence'"),
        (["--drop", "all"], "Invalid value for '--drop'"),
        (["--format", "docids"], "no tab in the line"),
    ],
)
def test_augment_what_is_refused(refused: Any, by_hand: list[str | Path], more: list[str], problem: str) -> None:
    assert problem in refused(*instead([*by_hand, "-o", "out"], *more))
    assert not Path("out/augmented.jsonl").exists()


def test_augment_annotation_of_another_corpus(refused: Any, by_hand: list[str | Path], corpus: Paths) -> None:
    corpus[1].write_text("\n".join(["Ein Hund kam in den Garten.", "Ich lachte.", "Er schlief."]) + "\n")
    assert "not sentence 3 of document 1 of the corpus" in refused(*by_hand, "-o", "out")


def test_augment_too_much_annotation(refused: Any, by_hand: list[str | Path], annotated: Paths) -> None:
    for path in annotated:
        whole = path.read_text()
        path.write_text(whole + "\n1\tMore\t_\tX\t_\t_\t0\troot\t_\t_\n")
        assert "more sentences than the corpus has" in refused(*by_hand, "-o", "out")
        path.write_text(whole)


def test_an_installed_pipeline_is_found(
    as_json: Any, corpus: Paths, pipeline: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command of the README, as it stands there."""
    folders = [Path(pipeline(code).partition(":")[2]) for code in ("en", "de")]
    monkeypatch.setenv("ANAPHORA_MODELS", str(folders[0].parent))
    document = as_json("augment", "--source", corpus[0], "--target", corpus[1], "-o", "augmented")
    assert [document["annotation"][side]["annotator"] for side in ("source", "target")] == ["spacy", "spacy"]
    assert document["sentences"] == 3


def test_a_missing_pipeline_is_one_line_with_the_installation(
    refused: Any, corpus: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANAPHORA_MODELS", raising=False)
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    if any(name.startswith("en_") for name in spacy.util.get_installed_models()):
        pytest.skip("an English pipeline is installed")
    message = refused("augment", "--source", corpus[0], "--target", corpus[1], "-o", "augmented")
    assert "no spaCy pipeline for 'en' is installed. Install one: python -m spacy download en_core_web_sm" in message
    assert "--annotate-source" in message
    assert len(message.splitlines()) == 1


# ----------------------------------------------------------------------------------------------------------------- mine
# `anaphora build mine` as a user calls it: with real pipelines, with files that do not fit, stopped and run again.

ENGLISH = [
    ["Where is the cup?", "It is in the kitchen.", "I bought it in Rome."],
    ["The car is old.", "It does not start any more.", "We sold it yesterday."],
    ["I like this book.", "It is very good."],
]
GERMAN = [
    ["Wo ist die Tasse?", "Sie ist in der Küche.", "Ich habe sie in Rom gekauft."],
    ["Der Wagen ist alt.", "Er springt nicht mehr an.", "Wir haben ihn gestern verkauft."],
    ["Ich mag dieses Buch.", "Es ist sehr gut."],
]
ALIGNED = [
    ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3 4-4", "0-0 1-1 2-2 3-3 4-4 1-5"],
    ["0-0 1-1 2-2 3-3", "0-0 3-1 2-2 4-3 5-3", "0-0 1-1 2-2 3-3 1-4"],
    ["0-0 1-1 2-2 3-3", "0-0 1-1 2-2 3-3"],
]
Run = Callable[..., Any]


@pytest.fixture
def mine_anaphora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The program in this process, which loads a pipeline once for all tests."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, check: int = 0) -> Any:
        capfd.readouterr()
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        printed = capfd.readouterr()
        assert end.value.code == check, f"exit {end.value.code}\n{printed.out}\n{printed.err}"
        return SimpleNamespace(stdout=printed.out, stderr=printed.err)

    return run


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    for name, documents in (("x.en", ENGLISH), ("x.de", GERMAN), ("x.align", ALIGNED)):
        text = "\n\n".join("\n".join(lines) for lines in documents)
        (tmp_path / name).write_text(text + "\n", encoding="utf-8")
    return ["build", "mine", "--source", "x.en", "--target", "x.de", "-l", "en-de", "--workers", "1"]


@pytest.fixture
def specs(pipeline: Callable[[str], str]) -> list[str]:
    return ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de")]


def test_from_lines_to_a_suite(mine_anaphora: Run, files: list[Any], specs: list[str], tmp_path: Path) -> None:
    options = ["--alignments", "x.align", "--option", "distance=5", "--confidence", "0.1", "--context", "1"]
    done = mine_anaphora(*files, *specs, *options, "--to", "both", "-o", "mined.jsonl", "--json")
    actual = json.loads(done.stdout)
    suite = read_native(tmp_path / "mined.jsonl")
    items = list(suite)
    assert items
    assert actual["examples"] == len(items) == sum(actual["classes"].values())
    assert (actual["documents"], actual["pairs"], actual["candidates"]["pronouns"]) == (3, 8, 5)
    assert suite.header.languages == "en-de"
    for item in items:
        document, sentence = int(str(item.tags["document"])), int(str(item.tags["sentence"]))
        before = slice(max(0, sentence - 2), sentence)
        assert item.source == tuple(ENGLISH[document - 1][before])
        assert item.candidates[0] == tuple(GERMAN[document - 1][before])
        assert len({candidate[-1] for candidate in item.candidates}) == len(item.candidates) >= 2
        assert item.tags["source_pronoun"] == "it"
        assert {"reference_pronoun", "source_antecedent", "target_antecedent", "distance", "location"} <= set(item.tags)
    again = list(contrapro.read(tmp_path / "mined.contrapro.json"))
    assert [(e.source[-1], [c[-1] for c in e.candidates]) for e in again] == [
        (e.source[-1], [c[-1] for c in e.candidates]) for e in items
    ]
    assert (tmp_path / "mined.jsonl.work" / "pronouns.tsv").read_text(encoding="utf-8").startswith("pronoun\tword\t")


def test_tables_on_stdout_and_notes_on_stderr(mine_anaphora: Run, files: list[Any], specs: list[str]) -> None:
    options = ["--alignments", "x.align", "--confidence", "0.1"]
    done = mine_anaphora(*files, *specs, *options, "-o", "mined.jsonl")
    assert done.stdout.startswith("8 sentence pairs in 3 documents\ncandidates")
    assert "Translations of it in the corpus" in done.stdout
    assert "Examples by distance" in done.stdout
    assert "annotate-source: " in done.stderr
    again = mine_anaphora(*files, *specs, *options, "-o", "mined.jsonl")
    assert again.stdout == done.stdout
    assert "extract: nothing to do, 1 of 1 shards reused" in again.stderr
    again = mine_anaphora(*files, *specs, *options, "--no-resume", "-o", "mined.jsonl")
    assert "shards reused" not in again.stderr


def test_an_aligner_is_trained_on_the_corpus(mine_anaphora: Run, files: list[Any], specs: list[str]) -> None:
    document = json.loads(mine_anaphora(*files, *specs, "--align-train", "6", "-o", "mined.jsonl", "--json").stdout)
    assert document["settings"]["align-model"]["model"] == "fast_align"
    assert document["settings"]["align-sample"]["most_pairs"] == 6
    assert document["pronoun_table"]["it"]["links"] > 0


WRONG = [
    ("x.de", b"A\n", [], "x.de: 1 lines, but x.en has 10"),
    ("x.de", b"A\nB\nC\n<d>\n" + b"D\n" * 7, [], "x.de: line 4: a document boundary <d>, but not in x.en"),
    ("y", b"\n\n", ["--source", "y", "--target", "y"], "y: no sentences"),
    ("x.en", b"a\nb\nc\n\nd\ncaf\xe9\n", [], "x.en: line 6: not UTF-8 at byte 4 of the line (0xe9)"),
    ("x.align", b"0-0\n0-9\n", ["--alignments", "x.align"], "x.align: line 2: point 0-9 is outside"),
    ("x.align", b"0-0\n", ["--alignments", "x.align"], "x.align: 1 lines, but x.en has 10"),
    ("x.align", b"0:0\n", ["--alignments", "x.align"], "x.align: line 1: not an alignment point: '0:0'"),
    ("y", b"", ["--source", "nowhere"], "nowhere: no such file"),
    ("y", b"", ["--clean", "subtitles", "--alignments", "x.align"], "--clean changes the words"),
    ("y", b"", ["--per-class", "some"], "--per-class some: write a number, all, or even"),
    ("y", b"", ["--phenomenon", "pronuns"], "unknown phenomenon 'pronuns' (did you mean pronouns?)"),
    ("y", b"", ["--option", "color=red"], "phenomenon 'pronouns': got an unexpected keyword argument 'color'"),
    ("y", b"", ["--option", "x"], "--option x: expected KEY=VALUE"),
    ("y", b"", ["--align-backend", "thor"], "unknown alignment backend 'thor'"),
    ("y", b"", ["-l", "en"], "-l en: expected SOURCE-TARGET"),
]


@pytest.mark.parametrize(("name", "content", "options", "problem"), WRONG)
def test_mine_what_does_not_fit(
    mine_anaphora: Run, files: list[Any], tmp_path: Path, name: str, content: bytes, options: list[str], problem: str
) -> None:
    for code in ("en", "de"):
        (tmp_path / f"{code}.conllu").write_text("", encoding="utf-8")
    (tmp_path / name).write_bytes(content)
    specs = ["--annotate-source", "conllu:en.conllu", "--annotate-target", "conllu:de.conllu"]
    done = mine_anaphora(*instead(files, *options), *specs, "-o", "mined.jsonl", check=2)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(f"error: {problem}")
    assert not (tmp_path / "mined.jsonl").exists()


def test_missing_pipelines_say_how_to_get_them(mine_anaphora: Run, files: list[Any]) -> None:
    pytest.importorskip("spacy")
    done = mine_anaphora(*files, "--annotate-source", "spacy:en_core_web_xy", "-o", "m.jsonl", check=2)
    assert "python -m spacy download" in done.stderr
    done = mine_anaphora(*files[:6], "-l", "xx-de", "-o", "m.jsonl", check=2)
    assert "Install one: python -m spacy download xx_core_news_sm" in done.stderr
    assert "--annotate-source spacy:PIPELINE_OR_FOLDER, stanza:xx or conllu:FILE" in done.stderr


def test_what_is_finished_stays_when_a_later_stage_fails(
    mine_anaphora: Run, files: list[Any], specs: list[str], tmp_path: Path
) -> None:
    (tmp_path / "de.conllu").write_text("1\tNein\tnein\tX\t_\t_\t0\troot\t_\t_\n", encoding="utf-8")
    wrong = [*specs[:2], "--annotate-target", "conllu:de.conllu", "--alignments", "x.align"]
    done = mine_anaphora(*files, *wrong, "-o", "mined.jsonl", check=2)
    assert "de.conllu: line 1: not sentence 1 of document 1 of the corpus" in done.stderr
    document = json.loads(
        mine_anaphora(*files, *specs, "--alignments", "x.align", "-o", "mined.jsonl", "--json").stdout
    )
    assert {stage["name"]: stage["reused"] for stage in document["stages"]} == {
        "read": 1,
        "annotate-source": 1,
        "annotate-target": 0,
        "align": 0,
        "extract": 0,
    }


# -------------------------------------------------------------------------------------------------------- mine evaluate
# `anaphora build mine-evaluate`, as a user calls it.


@pytest.fixture
def small(data: Callable[[str], Path], tmp_path: Path) -> Path:
    """One document of ParCorFull."""
    path = tmp_path / "gold.jsonl"
    with gzip.open(data("parcorfull") / "parcorfull.en-de.jsonl.gz", "rt", encoding="utf-8") as stream:
        path.write_text("".join(islice(stream, 1, 2)), encoding="utf-8")
    return path


@pytest.fixture
def annotators(pipeline: Callable[[str], str]) -> list[str]:
    return ["--annotate-source", pipeline("en"), "--annotate-target", pipeline("de")]


def test_mine_evaluate_json(anaphora: Run, small: Path, annotators: list[str]) -> None:
    document = json.loads(anaphora("build", "mine-evaluate", small, "-l", "en-de", *annotators, "--json").stdout)
    assert {"precision", "recall", "f", "antecedent_accuracy", "items", "intervals", "labels", "curve"} <= set(document)
    assert (document["documents"], document["languages"], document["chains"]) == (1, "en-de", "builtin")
    assert document["settings"]["confidence"] == 0.6
    assert document["items"] == next(row["items"] for row in document["curve"] if row["confidence"] == 0.6) > 0
    assert sum(document["rejections"].values()) + document["items"] == document["pronouns"]
    assert document["rejections"]["not sure enough"] > 0


def test_mine_evaluate_a_table(anaphora: Run, small: Path, annotators: list[str]) -> None:
    done = anaphora("build", "mine-evaluate", small, "--chains", "gold", "--neuter", "source", *annotators)
    assert done.stdout.startswith("en-de · gold chains · 1 document ·")
    assert "gender does not agree" in done.stdout


def test_mine_evaluate_bad_input(anaphora: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"langs": ["en", "de"]}\n', encoding="utf-8")
    done = anaphora("build", "mine-evaluate", bad, check=2)
    assert "bad.jsonl: line 1: not a record of ParCorFull" in done.stderr
    assert done.stdout == ""
    done = anaphora("build", "mine-evaluate", bad, "-l", "ende", check=2)
    assert "not a language pair: 'ende'" in done.stderr
    done = anaphora("build", "mine-evaluate", bad, "-l", "en-xx", check=2)
    assert "en-xx cannot be mined" in done.stderr
