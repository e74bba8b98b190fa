"""The German pronoun for *it*: the aligned one, or the only one that can be."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.build import augment as augment_module
from anaphora.build.augment import (
    KEPT,
    Augmented,
    Block,
    Settings,
    Statistics,
    aligned_pronoun,
    augment,
    only_pronoun,
    read_blocks,
    statistics_document,
    translations,
    write_augmented,
)
from anaphora.build.mine.shards import Pair
from anaphora.core.errors import BadInput
from anaphora.coref import Link, load_linker
from anaphora.coref.pronouns import language

Parsed = Callable[[str], Sentence]

IT_IS_RED = "It/PRON/3/nsubj is/AUX/3/cop red/ADJ/0/root"
I_SAW_IT = "I/PRON/2/nsubj saw/VERB/0/root it/PRON/2/obj"
ES_IST_ROT = "Es/PRON/3/nsubj ist/AUX/3/cop rot/ADJ/0/root"
ICH_SAH_ES = "Ich/PRON/2/nsubj sah/VERB/0/root es/PRON/2/obj"


def test_german_candidates(parsed: Parsed) -> None:
    sentence = parsed(
        "Sie/PRON/2/nsubj sagt/VERB/0/root/VerbForm=Fin,Number=Sing ihm/PRON/2/obl:arg ,/PUNCT/2/punct "
        "Sie/PRON/6/nsubj kämen/VERB/2/ccomp/VerbForm=Fin,Number=Plur zu/ADP/9/case "
        "ihrem/DET/9/det:poss Haus/NOUN/6/obl"
    )
    assert translations(sentence, language("de")) == [0, 2]


@pytest.mark.parametrize(
    ("source", "it", "target", "candidates", "expected"),
    [
        (IT_IS_RED, 0, ES_IST_ROT, [0], 0),
        (I_SAW_IT, 2, ICH_SAH_ES, [2], 2),
        (I_SAW_IT, 2, ES_IST_ROT, [0], None),  # an object is no subject
        (IT_IS_RED, 0, ICH_SAH_ES, [2], None),
        (IT_IS_RED, 0, ES_IST_ROT, [], None),
        (IT_IS_RED, 0, ES_IST_ROT, [0, 1], None),
        ("It/PRON/2/nsubj saw/VERB/0/root it/PRON/2/obj", 0, ES_IST_ROT, [0], None),  # two it
        ("It/PRON/2/nsubj saw/VERB/0/root her/PRON/2/obj", 0, ES_IST_ROT, [0], None),  # sie may be her
    ],
)
def test_the_only_pronoun(
    parsed: Parsed, source: str, it: int, target: str, candidates: list[int], expected: int | None
) -> None:
    assert only_pronoun(parsed(source), it, parsed(target), candidates) == expected


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        (((2, 2),), 2),
        (((2, 2), (2, 1), (0, 0)), 2),
        (((2, 1),), None),
        ((), None),
        (((0, 2),), None),
        (((2, 2), (2, 0)), None),  # two pronouns
    ],
)
def test_the_aligned_pronoun(parsed: Parsed, points: tuple[tuple[int, int], ...], expected: int | None) -> None:
    assert aligned_pronoun(parsed(I_SAW_IT), 2, parsed(ICH_SAH_ES), [0, 2], points) == expected


# Antecedent-free augmentation (ContraCAT §7): its candidates, its new targets, and why others are none.

# the lines of the tests, annotated by hand
LINES = {
    "A dog came.": "A/DET/2/det/Definite=Ind dog/NOUN/3/nsubj came/VERB/0/root ./PUNCT/3/punct",
    "I laughed.": "I/PRON/2/nsubj laughed/VERB/0/root ./PUNCT/2/punct",
    "It slept.": "It/PRON/2/nsubj slept/VERB/0/root ./PUNCT/2/punct",
    "We did it.": "We/PRON/2/nsubj did/VERB/0/root/Lemma=do it/PRON/2/obj ./PUNCT/2/punct",
    "It rained.": "It/PRON/2/expl rained/VERB/0/root/Lemma=rain ./PUNCT/2/punct",
    "Er schlief.": "Er/PRON/2/nsubj schlief/VERB/0/root ./PUNCT/2/punct",
    "Es gab Bier.": "Es/PRON/2/nsubj gab/VERB/0/root/Lemma=geben Bier/NOUN/2/obj ./PUNCT/2/punct",
    "Wir taten es.": "Wir/PRON/2/nsubj taten/VERB/0/root/Lemma=tun es/PRON/2/obj ./PUNCT/2/punct",
    "Das Tier schlief.": "Das/DET/2/det Tier/NOUN/3/nsubj schlief/VERB/0/root ./PUNCT/3/punct",
    "Er war der Größte.": "Er/PRON/4/nsubj war/AUX/4/cop der/DET/4/det Größte/ADJ/0/root ./PUNCT/4/punct",
    "Sie sah ihn.": "Sie/PRON/2/nsubj sah/VERB/0/root ihn/PRON/2/obj ./PUNCT/2/punct",
}


class ByHand:
    """Annotates the lines above; others are words without any annotation."""

    def __init__(self, parsed: Parsed, language: str, needs_all: bool = False) -> None:
        self.parsed, self.language, self.needs_all = parsed, language, needs_all
        self.asked: list[str] = []

    def settings(self) -> dict[str, Any]:
        return {}

    def annotate(self, documents: Iterable[Sequence[Any]]) -> Iterator[Document]:
        for lines in documents:
            self.asked += lines
            yield Document(tuple(self.parsed(LINES.get(line, "x/X/0/root")) for line in lines))


class Links:
    """Links each *it* to a phrase N sentences before, with a probability, as told."""

    def __init__(self, *candidates: tuple[int, float]) -> None:
        self.candidates = candidates

    def settings(self) -> dict[str, Any]:
        return {}

    def links(self, document: Document) -> list[Link]:
        actual = []
        for number, sentence in enumerate(document.sentences):
            for index, token in enumerate(sentence):
                if token.text.lower() == "it":
                    known = tuple((Mention(number - d, 0, 2, 1), p) for d, p in self.candidates if d <= number)
                    best = known[0] if known else (None, 1.0)
                    actual.append(Link(Mention(number, index, index + 1, index), best[0], best[1], known))
        return actual


def block(*pairs: tuple[str, str], first: int = 0, document: str = "1", alignment: Any = None) -> Block:
    return Block(document, first, tuple(Pair(first + i + 1, s, t, alignment) for i, (s, t) in enumerate(pairs)))


@pytest.fixture
def run(parsed: Parsed) -> Callable[..., tuple[list[Augmented], Statistics]]:
    def call(
        *blocks: Block, links: Links | None = None, needs_all: bool = False, **settings: Any
    ) -> tuple[list[Augmented], Statistics]:
        statistics = Statistics()
        english, german = ByHand(parsed, "en"), ByHand(parsed, "de", needs_all)
        actual = list(augment(blocks, english, german, links or Links((2, 0.9)), Settings(**settings), statistics))
        call.german = german  # type: ignore[attr-defined]
        return actual, statistics

    return call


DOG = ("A dog came.", "Ein Hund kam.")
LAUGH = ("I laughed.", "Ich lachte.")


def test_a_candidate_and_its_two_new_targets(run: Any) -> None:
    (result,), statistics = run(block(DOG, LAUGH, ("It slept.", "Er schlief.")))
    assert result == Augmented(
        document="1",
        sentence=2,
        line=3,
        source=("I laughed.", "It slept."),
        target=("Ich lachte.", "Er schlief."),
        pronoun="Er",
        case="Nom",
        antecedent="A dog",
        distance=2,
        confidence=0.9,
        targets={"Fem": ("Ich lachte.", "Sie schlief ."), "Neut": ("Ich lachte.", "Es schlief .")},
    )
    assert statistics.outcomes == {"candidate": 1}
    assert statistics.pronouns == {"er": 1}
    assert (statistics.documents, statistics.sentences, statistics.new) == (1, 3, 2)


@pytest.mark.parametrize(
    ("candidates", "settings", "outcome"),
    [
        (((0, 0.9),), {}, "antecedent near"),
        (((1, 0.9),), {}, "antecedent near"),
        (((2, 0.5), (1, 0.3)), {}, "candidate"),
        (((1, 0.5), (2, 0.3)), {}, "antecedent near"),
        (((2, 0.4), (1, 0.3), (0, 0.2)), {}, "antecedent near"),  # the best is far, but near ones are likelier together
        (((2, 0.9),), {"context": 2}, "antecedent near"),
        (((2, 0.6),), {"confidence": 0.7}, "not sure enough"),
        (((2, 0.6),), {"confidence": 0.6}, "candidate"),
        ((), {}, "no antecedent"),
        (((2, 0.4),), {}, "candidate"),  # without filters, as in the paper
        (((2, 0.4),), {"drop": ("event",)}, "event"),  # it likelier stands for no noun
        (((2, 0.4),), {"drop": ("pleonastic",)}, "candidate"),
    ],
)
def test_where_the_antecedent_is(run: Any, candidates: Any, settings: Any, outcome: str) -> None:
    _, statistics = run(block(DOG, LAUGH, ("It slept.", "Er schlief.")), links=Links(*candidates), **settings)
    assert statistics.outcomes == {outcome: 1}


@pytest.mark.parametrize(
    ("source", "target", "drop", "outcome"),
    [
        ("It rained.", "Er schlief.", (), "candidate"),
        ("It rained.", "Er schlief.", ("pleonastic",), "pleonastic"),
        ("It rained.", "Er schlief.", ("event",), "candidate"),
        ("We did it.", "Wir taten es.", (), "candidate"),
        ("We did it.", "Wir taten es.", ("event", "pleonastic"), "event"),
        ("It slept.", "Es gab Bier.", ("pleonastic",), "pleonastic"),  # the German side tells
        ("It slept.", "Das Tier schlief.", (), "no German pronoun"),
        ("It slept.", "Sie sah ihn.", (), "German pronoun unclear"),
        ("It slept.", "Er war der Größte.", (), "predicate agrees"),
    ],
)
def test_what_becomes_of_an_it(run: Any, source: str, target: str, drop: tuple[str, ...], outcome: str) -> None:
    _, statistics = run(block(DOG, LAUGH, (source, target)), drop=drop)
    assert statistics.outcomes == {outcome: 1}


def test_an_alignment_says_which_pronoun(run: Any) -> None:
    result, _ = run(block(DOG, LAUGH, ("It slept.", "Sie sah ihn."), alignment=((0, 2),)))
    assert [f.pronoun for f in result] == ["ihn"]
    assert result[0].targets["Fem"][-1] == "Sie sah sie ."


def test_context_goes_on_in_the_next_block_of_a_document(run: Any) -> None:
    blocks = block(DOG, LAUGH), block(("It slept.", "Er schlief."), first=2)
    (result,), statistics = run(*blocks)
    assert (result.sentence, result.source, result.antecedent) == (2, ("I laughed.", "It slept."), "A dog")
    assert (statistics.documents, statistics.sentences) == (1, 3)


def test_chains_of_the_next_block_count_its_sentences(parsed: Parsed) -> None:
    """Ready chains count from the beginning of their block, before which sentences are kept."""

    class WithChains(ByHand):
        def annotate(self, documents: Iterable[Sequence[Any]]) -> Iterator[Document]:
            for document in super().annotate(documents):
                places = range(len(document.sentences))
                chain = tuple(Mention(n, 0, 2 - (n == 2), 1 - (n == 2)) for n in places if n != 1)
                yield Document(document.sentences, (chain,))

    blocks = block(LAUGH, LAUGH), block(DOG, LAUGH, ("It slept.", "Er schlief."), first=2)
    linker = load_linker("chains", "en")
    (actual,) = augment(blocks, WithChains(parsed, "en"), ByHand(parsed, "de"), linker, Settings(), Statistics())
    assert (actual.antecedent, actual.distance, actual.sentence) == ("A dog", 2, 4)


def test_context_does_not_go_on_in_another_document(run: Any) -> None:
    result, statistics = run(block(DOG, LAUGH), block(("It slept.", "Er schlief."), document="2"))
    assert result == []
    assert statistics.outcomes == {"no antecedent": 1}
    assert statistics.documents == 2


def test_an_it_is_counted_once_though_its_sentence_is_kept(run: Any) -> None:
    first = block(DOG, LAUGH, ("It slept.", "Er schlief."))
    _, statistics = run(first, *(block(LAUGH, first=3 + i) for i in range(KEPT + 2)))
    assert statistics.outcomes == {"candidate": 1}


def test_only_the_german_sentences_that_are_needed_are_annotated(run: Any) -> None:
    blocks = block(DOG, LAUGH, ("It slept.", "Er schlief."), LAUGH)
    run(blocks)
    assert run.german.asked == ["Er schlief."]


def test_ready_annotation_is_read_along_as_a_whole(run: Any) -> None:
    blocks = block(DOG, LAUGH), block(("It slept.", "Er schlief."), LAUGH, first=2)
    (result,), _ = run(*blocks, needs_all=True)
    assert run.german.asked == ["Ein Hund kam.", "Ich lachte.", "Er schlief.", "Ich lachte."]
    assert result.pronoun == "Er"


def test_blocks_are_a_stream(parsed: Parsed) -> None:
    read = []

    def blocks() -> Iterator[Block]:
        for number in range(1000):
            read.append(number)
            yield block(DOG, LAUGH, ("It slept.", "Er schlief."), document=str(number))

    english, german = ByHand(parsed, "en"), ByHand(parsed, "de")
    next(augment(blocks(), english, german, Links((2, 0.9)), Settings(), Statistics()))
    assert len(read) <= 2


# Line files to fine-tune on, and everything as JSON Lines.

# The example of ContraCAT, §7.
RED = Augmented(
    document="7",
    sentence=3,
    line=40,
    source=("I told you before.", "It is red."),
    target=("Ich habe dir schonmal gesagt.", "Es ist rot."),
    pronoun="Es",
    case="Nom",
    antecedent="the car",
    distance=2,
    confidence=0.51239,
    targets={
        "Masc": ("Ich habe dir schonmal gesagt.", "Er ist rot."),
        "Fem": ("Ich habe dir schonmal gesagt.", "Sie ist rot."),
    },
)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_the_files(tmp_path: Path) -> None:
    paths = write_augmented([RED], tmp_path / "out")
    names = ["candidates.en", "candidates.de", "augmented.en", "augmented.de", "augmented.jsonl"]
    assert [path.name for path in paths] == names
    assert lines(paths[0]) == ["I told you before. <SEP> It is red."]
    assert lines(paths[1]) == ["Ich habe dir schonmal gesagt. <SEP> Es ist rot."]
    assert lines(paths[2]) == ["I told you before. <SEP> It is red."] * 3
    assert lines(paths[3]) == [
        "Ich habe dir schonmal gesagt. <SEP> Es ist rot.",
        "Ich habe dir schonmal gesagt. <SEP> Er ist rot.",
        "Ich habe dir schonmal gesagt. <SEP> Sie ist rot.",
    ]
    (record,) = map(json.loads, lines(paths[4]))
    assert record == {
        "document": "7",
        "sentence": 3,
        "line": 40,
        "source": ["I told you before.", "It is red."],
        "target": ["Ich habe dir schonmal gesagt.", "Es ist rot."],
        "pronoun": "Es",
        "case": "Nom",
        "antecedent": "the car",
        "distance": 2,
        "confidence": 0.5124,
        "targets": {
            "Masc": ["Ich habe dir schonmal gesagt.", "Er ist rot."],
            "Fem": ["Ich habe dir schonmal gesagt.", "Sie ist rot."],
        },
    }


def test_equal_new_targets_are_written_once(tmp_path: Path) -> None:
    """`ihr` becomes `ihm` for two genders."""
    same = {"Masc": ("x", "mit ihm"), "Neut": ("x", "mit ihm")}
    paths = write_augmented([replace(RED, target=("x", "mit ihr"), targets=same)], tmp_path, separator="|")
    assert lines(paths[3]) == ["x|mit ihr", "x|mit ihm"]
    assert len(lines(paths[2])) == 2


def test_nothing_is_left_of_an_interrupted_run(tmp_path: Path) -> None:
    def broken() -> object:
        yield RED
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_augmented(broken(), tmp_path / "out")  # type: ignore[arg-type]
    assert list((tmp_path / "out").iterdir()) == []


def test_statistics() -> None:
    statistics = Statistics(documents=2, sentences=9, new=4)
    statistics.outcomes.update(["candidate", "candidate", "event"])
    statistics.pronouns.update(["es", "er"])
    assert statistics_document(statistics, files=["x"]) == {
        "documents": 2,
        "sentences": 9,
        "pronouns": 3,
        "candidates": 2,
        "new_examples": 4,
        "outcomes": {"candidate": 2, "event": 1},
        "german_pronouns": {"es": 1, "er": 1},
        "files": ["x"],
    }


# Parallel documents in blocks.


Files = Callable[..., tuple[Path, Path]]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def write(source: str, target: str) -> tuple[Path, Path]:
        for name, text in (("x.en", source), ("x.de", target)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / "x.en", tmp_path / "x.de"

    return write


def test_blank_lines_between_documents(files: Files) -> None:
    blocks = list(read_blocks(*files("\na\nb\n\n\nc\n", "\nA\nB\n \n\nC\n")))
    assert blocks == [
        Block("1", 0, (Pair(2, "a", "A"), Pair(3, "b", "B"))),
        Block("2", 0, (Pair(6, "c", "C"),)),
    ]


def test_a_line_before_each_document(files: Files) -> None:
    blocks = list(read_blocks(*files("<d>\na\n\n<d>\nc\n", "<d>\nA\n\n<d>\nC\n"), format="tags"))
    assert [[(p.source, p.target) for p in block.pairs] for block in blocks] == [[("a", "A"), ("", "")], [("c", "C")]]


def test_docids(files: Files) -> None:
    blocks = list(read_blocks(*files("x\ta\nx\tb\ny\tc\n", "x\tA\nx\tB\ny\tC\n"), format="docids"))
    assert [(block.document, len(block.pairs)) for block in blocks] == [("x", 2), ("y", 1)]


def test_long_documents_come_in_blocks(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(augment_module, "BLOCK", 2)
    blocks = list(read_blocks(*files("a\nb\nc\nd\ne\n\nf\n", "A\nB\nC\nD\nE\n\nF\n")))
    actual = [(block.document, block.first, [p.source for p in block.pairs]) for block in blocks]
    assert actual == [("1", 0, ["a", "b"]), ("1", 2, ["c", "d"]), ("1", 4, ["e"]), ("2", 0, ["f"])]


def test_alignments_go_with_the_lines(files: Files, tmp_path: Path) -> None:
    points = tmp_path / "x.align"
    points.write_text("0-0\n\n1-0 0-1\n", encoding="utf-8")
    first, second = read_blocks(*files("a\n\nb c\n", "A\n\nB C\n"), alignments=points)
    assert first.pairs[0].alignment == ((0, 0),)
    assert second.pairs[0].alignment == ((1, 0), (0, 1))


def test_gzipped_files(files: Files) -> None:
    paths = files("a\n", "A\n")
    for path in paths:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert [len(block.pairs) for block in read_blocks(*paths)] == [1]


@pytest.mark.parametrize(
    ("source", "target", "format", "problem"),
    [
        ("a\nb\n", "A\n", "lines", "x.de: 1 lines, but"),
        ("a\n", "A\nB\n", "lines", "x.de: 2 lines, but"),
        ("<d>\na\n", "x\nA\n", "tags", "x.en: line 1: a document boundary <d>, but not in"),
        ("x a\n", "x A\n", "docids", "x.en: line 1: no tab in the line"),
        ("x\ta\n", "y\tA\n", "docids", "x.de: line 1: docid 'y', but 'x' in"),
    ],
)
def test_files_that_do_not_belong_together(files: Files, source: str, target: str, format: str, problem: str) -> None:
    with pytest.raises(BadInput) as error:
        list(read_blocks(*files(source, target), format=format))
    assert problem in str(error.value)


DOCUMENTS = st.lists(
    st.lists(st.text("abc ", min_size=1, max_size=5).filter(str.strip), min_size=1, max_size=9), max_size=5
)


@settings(max_examples=40)
@given(DOCUMENTS, st.integers(1, 4))
def test_every_sentence_comes_once_and_in_order(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[str]], size: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name in ("x.en", "x.de"):
        text = "\n\n".join("\n".join(document) for document in documents)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    actual: dict[str, list[str]] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(augment_module, "BLOCK", size)
        for block in read_blocks(folder / "x.en", folder / "x.de"):
            assert block.first == len(actual.setdefault(block.document, []))
            assert 1 <= len(block.pairs) <= size
            actual[block.document] += [pair.source for pair in block.pairs]
    assert list(actual.values()) == [[line.strip() for line in document] for document in documents]
