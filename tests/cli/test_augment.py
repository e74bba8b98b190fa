"""`anaphora augment` end to end: real documents, ready annotation, alignments, and what it refuses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import instead

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


def test_ready_annotation(anaphora: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
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


def test_json(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
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


def test_an_alignment(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
    points = tmp_path / "x.align"
    points.write_text("0-0\n0-0\n1-1\n", encoding="utf-8")
    document = as_json(*by_hand, "-o", tmp_path / "out", "--align", points)
    assert document["outcomes"] == {"German pronoun unclear": 1}  # It is aligned to nothing
    points.write_text("0-0\n0-0\n0-0 1-1\n", encoding="utf-8")
    assert as_json(*by_hand, "-o", tmp_path / "out", "--align", points)["outcomes"] == {"candidate": 1}


def test_context_and_filters(as_json: Any, by_hand: list[str | Path], tmp_path: Path) -> None:
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
def test_what_is_refused(refused: Any, by_hand: list[str | Path], more: list[str], problem: str) -> None:
    assert problem in refused(*instead([*by_hand, "-o", "out"], *more))
    assert not Path("out/augmented.jsonl").exists()


def test_annotation_of_another_corpus(refused: Any, by_hand: list[str | Path], corpus: Paths) -> None:
    corpus[1].write_text("\n".join(["Ein Hund kam in den Garten.", "Ich lachte.", "Er schlief."]) + "\n")
    assert "not sentence 3 of document 1 of the corpus" in refused(*by_hand, "-o", "out")


def test_too_much_annotation(refused: Any, by_hand: list[str | Path], annotated: Paths) -> None:
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


def test_no_pipeline_is_one_line_that_says_how_to_get_one(
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
