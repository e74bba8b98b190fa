"""MT-GenEval: two English sentences of which the first tells a gender, and pairs of sentences about either gender."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from anaphora.core.errors import BadInput
from anaphora.suites.download import extract
from anaphora.suites.readers.mt_geneval import read
from anaphora.suites.validate import validate_suite

CONTEXT_PREFIX = "geneval-context-wikiprofessions"
CONTEXT = {
    "2to1-test.en_xx.en": [
        "She wrote. <sep> The author lived in Rome.",
        "His son left. <sep> The doctor stayed.",
    ],
    "original-test.en_xx.xx": ["Die Autorin lebte in Rom.", "Der Arzt blieb."],
    "flipped-test.en_xx.xx": ["Der Autor lebte in Rom.", "Die Ärztin blieb."],
}
SENTENCES = {
    "feminine-test.en_xx.en": ["She is a teacher."],
    "masculine-test.en_xx.en": ["He is a teacher."],
    "feminine-test.en_xx.xx": ["Sie ist Lehrerin."],
    "masculine-test.en_xx.xx": ["Er ist Lehrer."],
}


def written(folder: Path, language: str = "de", prefix: str = CONTEXT_PREFIX, **changes: str) -> Path:
    files = CONTEXT if "context" in prefix else SENTENCES
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        text = changes.get(name.split("-")[0].replace("2to1", "english"), "\n".join(lines) + "\n")
        (folder / f"{prefix}-{name.replace('xx', language)}").write_text(text, encoding="utf-8")
    return folder


def test_the_context_shows_the_gender_and_has_no_translation(tmp_path: Path) -> None:
    suite = read(written(tmp_path))
    first, second = suite
    assert first.source == ("She wrote.", "The author lived in Rome.")
    assert first.candidates == (("", "Die Autorin lebte in Rom."), ("", "Der Autor lebte in Rom."))
    assert first.gold == 0
    assert (first.tags["gender"], second.tags["gender"]) == ("feminine", "masculine")
    assert (suite.header.name, suite.header.languages) == ("mt-geneval-context-test-en-de", "en-de")


@pytest.mark.parametrize("start", ["<sep> ", " <sep> ", "<sep>"])
def test_a_line_that_begins_with_the_separator_has_no_context(tmp_path: Path, start: str) -> None:
    first, _ = read(written(tmp_path, english=f"{start}The author lived in Rome.\nHe. <sep> x\n"))
    assert first.source == ("", "The author lived in Rome.")
    assert "gender" not in first.tags


@pytest.mark.parametrize("text", ["The father of the author died.", "He met her."])
def test_a_context_with_no_or_both_genders_has_no_tag(tmp_path: Path, text: str) -> None:
    first, _ = read(written(tmp_path, english=f"{text} <sep> She left.\nHe. <sep> x\n"))
    assert "gender" not in first.tags


@pytest.mark.parametrize("line", ["One sentence.", "One. <sep> Two. <sep> Three."])
def test_other_than_two_sentences_are_an_error(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadInput, match=r"2to1-test\.en_de\.en: line 2: two sentences with <sep> between them"):
        list(read(written(tmp_path, english=f"A. <sep> B.\n{line}\n")))


def test_each_gender_has_the_other_s_translation_as_wrong_one(tmp_path: Path) -> None:
    suite = read(written(tmp_path / "test", prefix="geneval-sentences").parent)
    her, his = suite
    assert (her.id, her.source, her.candidates) == (
        "1.feminine",
        ("She is a teacher.",),
        (("Sie ist Lehrerin.",), ("Er ist Lehrer.",)),
    )
    assert (his.id, his.source, his.candidates) == (
        "1.masculine",
        ("He is a teacher.",),
        (("Er ist Lehrer.",), ("Sie ist Lehrerin.",)),
    )
    assert suite.header.blocks == "pair"
    assert her.tags["pair"] == his.tags["pair"]
    assert list(read(tmp_path / "test")) == [her, his]  # the folder of the split itself


def test_one_of_several_languages_is_chosen(tmp_path: Path) -> None:
    written(written(tmp_path), language="fr")
    assert read(tmp_path, target_language="fr").header.languages == "en-fr"
    with pytest.raises(BadInput, match=r"several target languages \(found: de, fr\)\. Choose --target-language"):
        read(tmp_path)
    with pytest.raises(BadInput, match=r"no files for the target language 'pt' \(found: de, fr\)"):
        read(tmp_path, target_language="pt")


def test_another_split_or_folder_is_an_error(tmp_path: Path) -> None:
    for path, split in ((written(tmp_path), "dev"), (tmp_path / "absent", "test")):
        with pytest.raises(BadInput, match=rf"the files of the split '{split}' are missing here\. Name the folder"):
            read(path, split=split)


def test_a_missing_side_is_named(tmp_path: Path) -> None:
    (written(tmp_path) / "geneval-context-wikiprofessions-flipped-test.en_de.de").unlink()
    with pytest.raises(BadInput, match=r"flipped-test\.en_de\.de \(or .*\) is missing here"):
        read(tmp_path)


# the real set: en-de and en-fr (data/mt-geneval/README.md)


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    zstandard = pytest.importorskip("zstandard")
    folder = tmp_path_factory.mktemp("release")

    def unpacked(path: Path) -> Path:
        (archive,) = path.glob("*.tar.zst")
        plain = folder / "archive.tar"
        with archive.open("rb") as stream, plain.open("wb") as out:
            zstandard.ZstdDecompressor().copy_stream(stream, out)
        extract(plain, folder)
        return folder

    return unpacked


@pytest.mark.parametrize(
    ("language", "split", "examples", "without"),
    [("de", "test", 1100, 5), ("fr", "test", 1099, 8), ("de", "dev", 598, 4), ("fr", "dev", 477, 1)],
)
def test_the_contextual_set(data, release, language: str, split: str, examples: int, without: int) -> None:
    """The numbers are the lines of the files (wc -l), and those that begin with <sep> (grep)."""
    suite = read(release(data("mt-geneval")) / "data" / "context", split=split, target_language=language)
    actual = list(suite)
    assert len(actual) == examples
    assert all(len(example.source) == 2 and example.source[-1] for example in actual)
    assert sum(not example.source[0] for example in actual) == without
    assert list(validate_suite(suite)) == []


def test_the_gender_is_shown_by_nine_contexts_in_ten(data, release) -> None:
    """Counted with grep: 512 contexts have only he, him, his or himself, 476 only she, her, hers or herself."""
    suite = read(release(data("mt-geneval")) / "data" / "context", target_language="de")
    assert Counter(e.tags.get("gender") for e in suite) == {"masculine": 512, "feminine": 476, None: 112}


@pytest.mark.parametrize("language", ["de", "fr"])
def test_the_counterfactual_set(data, release, language: str) -> None:
    """300 sentences for each gender; the marked words of the annotated files are those that differ."""
    folder = release(data("mt-geneval")) / "data" / "sentences"
    suite = read(folder, target_language=language)
    actual = list(suite)
    assert len(actual) == 600
    assert list(validate_suite(suite)) == []
    marked = folder / "test" / "annotated" / f"geneval-sentences-feminine-test.en_{language}.{language}"
    plain = [re.sub("</?F>", "", line) for line in marked.read_text(encoding="utf-8").splitlines()]
    mine = [example.candidates[0][0] for example in actual[::2]]
    same = sum(" ".join(one.split()) == " ".join(other.split()) for one, other in zip(mine, plain, strict=True))
    assert same > 290  # a few annotated lines have other spaces
