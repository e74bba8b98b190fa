"""CoNLL-U from any tool: read as documents, or laid next to a corpus whose annotation it is."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.conllu import ConlluAnnotator, read_conllu, read_sentences
from anaphora.annotate.document import Mention
from anaphora.core.errors import BadInput

Data = Callable[[str], Path]

TWO_DOCUMENTS = """\
# newdoc id = one
# global.Entity = eid-etype-head-other
# text = The cat sat in the cafe.
1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t_\tEntity=(e1-animal-2-
2\tcat\tcat\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\tEntity=e1)
3\tsat\tsit\tVERB\tVBD\t_\t0\troot\t_\t_
4\tin\tin\tADP\tIN\t_\t6\tcase\t_\t_
5\tthe\tthe\tDET\tDT\t_\t6\tdet\t_\t_
6\tcafe\tcafe\tNOUN\tNN\t_\t3\tobl\t_\tSpaceAfter=No
7\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# text = It slept.
1\tIt\tit\tPRON\tPRP\tGender=Neut|Person=3\t2\tnsubj\t_\tEntity=(e1-animal-1-)
2\tslept\tsleep\tVERB\tVBD\t_\t0\troot\t_\tSpaceAfter=No
2.1\tslept\t_\t_\t_\t_\t_\t_\t_\t_
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# newdoc id = two
# text = Im Haus
1-2\tIm\t_\t_\t_\t_\t_\t_\t_\t_
1\tIn\tin\tADP\tAPPR\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\tART\tCase=Dat\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\tNN\tGender=Neut\t0\troot\t_\t_
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.conllu"
    path.write_text(TWO_DOCUMENTS, encoding="utf-8")
    return path


def test_documents_with_chains(file: Path) -> None:
    one, two = read_conllu(file)
    assert [sentence.text for sentence in one.sentences] == ["The cat sat in the cafe.", "It slept."]
    assert one.sentences[0][1].lemma == "cat"
    assert one.sentences[0][1].features == {"Number": "Sing"}
    assert one.sentences[0][2].head is None
    assert one.chains == ((Mention(0, 0, 2, 1), Mention(1, 0, 1, 0)),)
    assert [token.text for token in two.sentences[0]] == ["Im", "Haus"]
    assert two.chains is None


def test_a_gzipped_file(file: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.conllu.gz"
    path.write_bytes(gzip.compress(file.read_bytes()))
    assert list(read_conllu(path)) == list(read_conllu(file))


def test_a_corpus_and_its_annotation(file: Path) -> None:
    annotator = ConlluAnnotator(str(file), "en")
    assert (annotator.language, annotator.needs_all) == ("en", True)
    assert annotator.settings() == {"annotator": "conllu", "file": "two.conllu"}
    one, two = annotator.annotate([["The cat sat in the  cafe .", "It slept."], ["Im Haus"]])
    assert [len(s) for s in one.sentences] == [7, 3]
    assert one.chains == ((Mention(0, 0, 2, 1), Mention(1, 0, 1, 0)),)
    assert two.sentences[0].text == "Im Haus"


def test_a_line_may_hold_several_sentences_and_be_empty(file: Path) -> None:
    (one, _) = ConlluAnnotator(str(file)).annotate([["", "The cat sat in the cafe. It slept."], ["Im Haus"]])
    empty, both = one.sentences
    assert len(empty) == 0
    assert both.text == "The cat sat in the cafe. It slept."
    assert [both[i].head for i in (2, 7, 8)] == [None, 8, None]
    assert one.chains == ((Mention(1, 0, 2, 1), Mention(1, 7, 8, 7)),)


def test_lines_may_be_cut_into_tokens(file: Path) -> None:
    lines = [["The", "cat", "sat", "in", "the", "cafe", "."], ["It", "slept", "."], ["Im", "Haus"]]
    (document,) = ConlluAnnotator(str(file)).annotate([lines])
    assert len(document.sentences) == 3


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        (
            [["The dog sat in the cafe."]],
            "line 4: not sentence 1 of document 1 of the corpus: 'The cat sat in the cafe.'",
        ),
        ([["The cat sat in the cafe.", "It"]], "line 13: not sentence 2 of document 1"),
        ([["The cat sat in the cafe."]], "line 13: more sentences than the corpus has"),
        ([["The cat sat in the cafe.", "It slept."], ["Im Haus", "x"]], "it ends before sentence 2 of document 2"),
    ],
)
def test_another_corpus_is_refused(file: Path, corpus: list[list[str]], problem: str) -> None:
    with pytest.raises(BadInput) as error:
        list(ConlluAnnotator(str(file)).annotate(corpus))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["1\ta\ta"], "line 1: 3 columns, 10 expected"),
        (["x\ta\ta\tX\t_\t_\t0\troot\t_\t_"], "line 1: not a word number: 'x'"),
        (["2\ta\ta\tX\t_\t_\t0\troot\t_\t_"], "line 1: word 2 where 1 is expected"),
        (["1\ta\ta\tX\t_\t_\tone\troot\t_\t_"], "line 1: not a word number: 'one'"),
        (["1\ta\ta\tX\t_\t_\t7\tdep\t_\t_"], "line 1: head 7 is outside the sentence of 1 words"),
        (
            ["1\ta\ta\tX\t_\t_\t2\tdep\t_\t_", "2\tb\tb\tX\t_\t_\t1\tdep\t_\t_"],
            "word 1 depends on itself",
        ),
        (
            ["1-3\tab\t_\t_\t_\t_\t_\t_\t_\t_", "1\ta\ta\tX\t_\t_\t0\troot\t_\t_"],
            "a contraction is outside its sentence",
        ),
    ],
)
def test_what_is_not_conllu_is_refused(tmp_path: Path, lines: list[str], problem: str) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(BadInput) as error:
        list(read_conllu(path))
    assert problem in str(error.value)
    assert str(path) in str(error.value)


def test_columns_that_are_not_known(tmp_path: Path) -> None:
    path = tmp_path / "bare.conllu"
    path.write_text("1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n2\ta\t_\t_\tNN\t_\t_\t_\t_\t_\n", encoding="utf-8")
    (parsed,) = read_sentences(path)
    first, second = parsed.sentence.tokens
    assert (first.text, first.lemma, first.upos) == ("_", "_", "PUNCT")
    assert (second.lemma, second.upos, second.head, second.relation) == ("", "NOUN", None, "dep")


WORDS = st.lists(st.tuples(st.text("abäöü'", min_size=1, max_size=5), st.booleans()), min_size=1, max_size=6)


@given(st.lists(WORDS, min_size=1, max_size=4))
def test_any_sentences_find_their_lines_again(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[list[tuple[str, bool]]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.conllu"
    blocks, lines = [], []
    for words in sentences:
        rows = []
        for number, (word, space) in enumerate(words, start=1):
            rows.append(f"{number}\t{word}\t_\tX\t_\t_\t{number - 1}\tdep\t_\t{'_' if space else 'SpaceAfter=No'}")
        blocks.append("\n".join(rows) + "\n")
        lines.append("".join(word + " " * space for word, space in words).strip())
    path.write_text("\n".join(blocks), encoding="utf-8")
    (document,) = ConlluAnnotator(str(path)).annotate([lines])
    assert [sentence.text for sentence in document.sentences] == lines


@pytest.mark.parametrize(("name", "documents"), [("en_gum-ud-dev", 30), ("de_gsd-heldout", 1)])
def test_real_treebanks_have_the_texts_they_say(data: Data, name: str, documents: int) -> None:
    path = data("ud") / f"{name}.conllu.gz"
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        texts = [line.removeprefix("# text = ").strip() for line in stream if line.startswith("# text = ")]
    actual = list(read_conllu(path))
    assert len(actual) == documents
    assert [sentence.text for document in actual for sentence in document.sentences] == texts


def test_chains_of_gum(data: Data) -> None:
    first = next(iter(read_conllu(data("ud") / "en_gum-ud-dev.conllu.gz")))
    assert first.chains is not None
    for chain in first.chains:
        assert len(chain) > 1
        assert list(chain) == sorted(chain, key=lambda m: (m.sentence, m.start, -m.end))
    long = max(first.chains, key=len)
    assert {"L2", "it"} <= {first.text(mention) for mention in long}
