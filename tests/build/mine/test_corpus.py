"""A corpus in any format becomes the same pairs in the same documents, and shards of pieces."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.build.mine.corpus import RULES, Cleaner, Corpus, Index, Sizes, pair_name, read_corpus, read_stage
from anaphora.build.mine.shards import Piece, open_stage, unpack_pieces
from anaphora.core.errors import AnaphoraError, BadInput


def write(folder: Path, **files: str) -> dict[str, Path]:
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return {name: folder / name for name in files}


def pairs(corpus: Corpus) -> list[tuple[str, str, str]]:
    return [(name, pair.source, pair.target) for name, pair in read_corpus(corpus)]


def test_two_files_of_lines(tmp_path: Path) -> None:
    files = write(tmp_path, en="a\nb\n\nc\n", de="A\nB\n\nC\n")
    assert pairs(Corpus(files["en"], files["de"])) == [("1", "a", "A"), ("1", "b", "B"), ("2", "c", "C")]


def test_one_table_with_both_sides(tmp_path: Path) -> None:
    files = write(tmp_path, tsv="x\ta\tA\nx\tb\t\ny\tc\tC\n", align="0-0\n\n0-0\n")
    corpus = Corpus(files["tsv"], format="tsv", alignments=files["align"])
    assert pairs(corpus) == [("x", "a", "A"), ("x", "b", ""), ("y", "c", "C")]
    assert [pair.alignment for _, pair in read_corpus(corpus)] == [((0, 0),), (), ((0, 0),)]


def test_a_table_for_each_side(tmp_path: Path) -> None:
    files = write(tmp_path, en="x\ta\ny\tb\n", de="x\tA\ny\tB\n")
    assert pairs(Corpus(files["en"], files["de"], "tsv")) == [("x", "a", "A"), ("y", "b", "B")]


def test_lines_of_opus_with_a_file_of_documents(tmp_path: Path) -> None:
    ids = (
        "en/1/7.xml.gz\tde/1/9.xml.gz\t1\t1 2\nen/1/7.xml.gz\tde/1/9.xml.gz\t2\t3\nen/2/8.xml.gz\tde/2/8.xml.gz\t1\t1\n"
    )
    files = write(tmp_path, en="a\nb\nc\n", de="A\nB\nC\n", ids=ids)
    actual = pairs(Corpus(files["en"], files["de"], "moses", files["ids"]))
    assert actual == [("1/7=9", "a", "A"), ("1/7=9", "b", "B"), ("2/8", "c", "C")]


@pytest.mark.parametrize(
    ("source", "target", "name"),
    [
        ("en/2001/5/7.xml.gz", "de/2001/5/9.xml.gz", "2001/5/7=9"),
        ("en/2001/5/7.xml", "de/2001/6/9.xml", "2001/5/7=6/9"),
        ("en/a.xml.gz", "de/a.xml.gz", "a"),
        ("a", "b", "a=b"),
    ],
)
def test_a_name_for_two_documents(source: str, target: str, name: str) -> None:
    assert pair_name(source, target) == name


@pytest.mark.parametrize(
    ("format", "files", "problem"),
    [
        ("tsv", {"s": "x\ta\n"}, "s: line 1: 2 columns, 3 expected"),
        ("moses", {"s": "a\n", "t": "A\n", "k": "x y\n"}, "k: line 1: 1 columns, 4 expected"),
        ("moses", {"s": "a\nb\n", "t": "A\nB\n", "k": "x\ty\t1\t1\n"}, "k: 1 lines, but"),
        ("lines", {"s": "a\nb\n", "t": "A\n"}, "t: 1 lines, but"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, format: str, files: dict[str, str], problem: str) -> None:
    paths = write(tmp_path, **files)
    with pytest.raises(BadInput) as error:
        pairs(Corpus(paths["s"], paths.get("t"), format, paths.get("k")))
    assert problem in str(error.value)


@pytest.mark.parametrize(
    ("corpus", "problem"),
    [
        (Corpus(Path("s")), "--input-format lines needs --target"),
        (Corpus(Path("s"), Path("t"), "opus"), "--input-format opus needs --links: OPUS's alignment file"),
        (Corpus(Path("s"), Path("t"), "moses"), "--input-format moses needs --links: the .ids file"),
        (Corpus(Path("s"), Path("t"), "lines", Path("k")), "--links k is for --input-format opus or moses, not lines"),
        (
            Corpus(Path("s"), Path("t"), "opus", Path("k"), Path("a")),
            "--alignments a cannot be combined",
        ),
        (Corpus(Path("s"), Path("t"), "xml"), "unknown format 'xml'"),
    ],
)
def test_what_belongs_together(corpus: Corpus, problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        read_corpus(corpus)


# The stage `read`.


def read(folder: Path, sizes: Sizes, **more: Path) -> tuple[Index, list[list[Piece]]]:
    corpus = Corpus(folder / "x.en", folder / "x.de", **more)  # type: ignore[arg-type]
    stage = open_stage(folder, f"read-{sizes}", {})
    index = read_stage(stage, corpus, sizes)
    return index, [list(unpack_pieces(stage.read(number))) for number in range(len(index.shards))]


@settings(max_examples=40)
@given(st.lists(st.integers(1, 13), min_size=1, max_size=6), st.integers(1, 5), st.integers(1, 9), st.integers(0, 4))
def test_every_sentence_is_one_pieces_own(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], piece: int, shard: int, overlap: int
) -> None:
    folder = tmp_path_factory.mktemp("any")
    documents = [[f"{d}.{k}" for k in range(length)] for d, length in enumerate(lengths, start=1)]
    for name, sign in (("x.en", "e"), ("x.de", "d")):
        text = "\n\n".join("\n".join(sign + line for line in document) for document in documents)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    index, shards = read(folder, Sizes(piece, shard, overlap))
    own: list[str] = []
    for actual in (piece for shard in shards for piece in shard):
        document = [f"e{line}" for line in documents[int(actual.document) - 1]]
        assert list(actual.source) == document[actual.start : actual.start + len(actual.source)]
        assert [line.replace("d", "e") for line in actual.target] == list(actual.source)
        assert actual.number + actual.first == len(own)
        assert actual.first == min(actual.start + actual.first, overlap if actual.start + actual.first else 0)
        assert 1 <= actual.new <= piece
        own += actual.source[actual.first :]
    assert own == [f"e{line}" for document in documents for line in document]
    assert (index.documents, index.pairs) == (len(documents), len(own))
    assert index.shards == [sum(piece.new for piece in shard) for shard in shards]
    assert all(size >= shard for size in index.shards[:-1])


def test_alignments_must_fit(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("a b\nc\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("A B\nC\n", encoding="utf-8")
    (tmp_path / "x.align").write_text("0-0 1-1\n0-1\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"x.align: line 2: point 0-1 is outside the sentences of 1 and 1 words"):
        read(tmp_path, Sizes(), alignments=tmp_path / "x.align")


def test_an_index_that_is_there_is_used(tmp_path: Path) -> None:
    for name in ("x.en", "x.de"):
        (tmp_path / name).write_text("a\nb\n\nc\n", encoding="utf-8")
    first, _ = read(tmp_path, Sizes(shard=1))
    (tmp_path / "x.en").unlink()
    assert read(tmp_path, Sizes(shard=1))[0] == first == Index([2, 1], 2)


@pytest.mark.parametrize("text", ["", "\n\n\n"])
def test_no_sentences(tmp_path: Path, text: str) -> None:
    for name in ("x.en", "x.de"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"x\.en: no sentences"):
        read(tmp_path, Sizes())


def test_signs_are_made_one_and_counted(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("It’s\u00a0late , &quot; he said\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("Geht&apos;s gut , Ã\u00adst \n", encoding="utf-8")
    index, (((piece,),)) = read(tmp_path, Sizes())
    assert piece.source == ("It's late , \" he said",)
    assert piece.target == ("Geht&apos;s gut , Ã\u00adst",)  # misread: the clean-up looks at the very characters
    assert index.normalized == {"source": {"’": 1, "\u00a0": 1, "&quot;": 1}, "target": {}}
    assert read(tmp_path, Sizes())[0] == index


def test_words_that_alignments_count_stay_one_word(tmp_path: Path) -> None:
    (tmp_path / "x.en").write_text("l’ 10&nbsp;000\n", encoding="utf-8")
    (tmp_path / "x.de").write_text("l' a\n", encoding="utf-8")
    (tmp_path / "x.align").write_text("0-0 1-1\n", encoding="utf-8")
    _, ((piece,),) = read(tmp_path, Sizes(), alignments=tmp_path / "x.align")
    assert piece.source == ("l' 10000",)


# Clean-up of subtitles: each rule by what it changes, and by what looks like it and must stay


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        ("encoding", "SchÃ¶n, dass du da bist.", "Schön, dass du da bist."),
        ("encoding", "Itâ€™s late.", "It's late."),
        ("encoding", "Ã„rger", "Ärger"),
        ("tags", "<i>Come</i> in.", "Come in."),
        ("tags", '<font color="#fff">Yes.</font>', "Yes."),
        ("tags", "{\\an8}Up here.", "Up here."),
        ("music", "♪ La la la ♪", "La la la"),
        ("music", "# La la la #", "La la la"),
        ("directions", "[DOOR OPENS] Who is it?", "Who is it?"),
        ("directions", "Well (sighs) yes.", "Well yes."),
        ("directions", "(laughs).", ""),
        ("dashes", "- It broke.", "It broke."),
        ("dashes", "- Is it? - Yes.", "Is it? Yes."),
        ("speakers", "JOHN: It broke.", "It broke."),
        ("speakers", "MRS. SMITH: Really?", "Really?"),
        ("ocr", "l'm sure lt's here.", "I'm sure It's here."),
        ("ocr", "lch weiß, aIso wiII er.", "Ich weiß, also will er."),
        ("ocr", "Yes, l know.", "Yes, I know."),
    ],
)
def test_what_a_rule_changes(rule: str, before: str, after: str) -> None:
    clean = Cleaner("subtitles")
    assert clean(before) == after
    assert {name for name, count in clean.counts.items() if count} == {rule}


@pytest.mark.parametrize(
    "line",
    [
        "It broke.",
        "Ein schöner Tag, Müller – Größe zählt.",
        "He said: it broke.",
        "A well-known fact - it broke.",
        "3 < 4 and 5 > 4",
        "Number #1 is here.",
        "World War II ended.",
        "McDonald and iPhone",
        "The USA: a country.",
        "Le château où il était.",
        "All in all, it's fine; let's go.",
        "Âge and Ça va",
    ],
)
def test_what_must_stay(line: str) -> None:
    clean = Cleaner("subtitles")
    assert clean(line) == line
    assert not clean.counts.total()


def test_nothing_is_changed_unless_asked_for() -> None:
    clean = Cleaner("none")
    assert clean("- [MUSIC] <i>lt</i>") == "- [MUSIC] <i>lt</i>"
    with pytest.raises(AnaphoraError, match="unknown clean-up 'films'"):
        Cleaner("films")


def test_counts_are_of_sentences() -> None:
    clean = Cleaner("subtitles")
    for line in ("- Is it? - It is.", "<i>- It</i> <b>is</b>", "It is."):
        clean(line)
    assert dict(clean.counts) == dict.fromkeys(RULES, 0) | {"dashes": 2, "tags": 1}


@given(st.text(st.sampled_from("aIl -–[]()<>i/#♪:.Ã¶'AB?"), max_size=30))
def test_clean_text_is_a_line_that_stays_clean(text: str) -> None:
    line = " ".join(text.split())
    once = Cleaner("subtitles")(line)
    assert once == " ".join(once.split())
    assert len(once) <= len(line)
    slowly = line
    for _, rule in RULES.values():  # without looking for the signs of a rule first
        slowly = " ".join(rule(slowly).split())
    assert once == slowly
