"""The project itself: one version, public names that exist, a license, and none of the data of others inside."""

from __future__ import annotations

import gzip
import importlib.metadata
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

import anaphora
from tests.conftest import MARKS
from tests.slow import slow_tests

ROOT = Path(__file__).resolve().parents[1]


def test_the_version_is_written_once() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\w*", anaphora.__version__)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version", "readme"]
    assert (ROOT / project["tool"]["hatch"]["version"]["path"]).samefile(ROOT / "src" / "anaphora" / "__init__.py")


def test_the_version_is_that_of_the_installed_distribution() -> None:
    try:
        installed = importlib.metadata.version("anaphora")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("anaphora runs from its sources here and is not installed")
    assert installed == anaphora.__version__


def test_the_version_to_cite_is_this_one() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    stated = re.search(r"^version: *[\"']?([^\"'\s]+)", citation, re.MULTILINE)
    assert stated is None or stated[1] == anaphora.__version__


def test_what_is_not_released_has_no_date() -> None:
    newest = re.search(r"^## (\S+) \(([^)]+)\)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == anaphora.__version__
    dated = re.search(r"^date-released: *(\S+)", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert (dated[1] if dated else "unreleased") == newest[2]


@pytest.mark.parametrize("name", anaphora.__all__)
def test_public_names_resolve(name: str) -> None:
    assert getattr(anaphora, name) is not None
    assert name in dir(anaphora)


def test_other_names_do_not() -> None:
    assert len(set(anaphora.__all__)) == len(anaphora.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        anaphora.nothing  # noqa: B018


def test_types_are_published() -> None:
    assert (Path(anaphora.__file__).parent / "py.typed").is_file()


def test_the_license_is_apache_2() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert re.search(r"Apache License\s+Version 2\.0, January 2004\s+http://www\.apache\.org/licenses/", text)
    assert "END OF TERMS AND CONDITIONS" in text
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])


def test_locked_versions_are_those_that_the_project_admits() -> None:
    """`make lock` was run after the last change of the dependencies."""
    pytest.importorskip("packaging")
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()
    locked = {canonicalize_name(r.name): r for r in map(Requirement, (x for x in lines if not x.startswith("#")))}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    wanted = [Requirement(text) for texts in (project["dependencies"], *extras) for text in texts]
    others = [r for r in wanted if r.name not in ("anaphora", "torch")]  # the Makefile pins torch
    assert len(others) > 20
    for requirement in others:
        (pin,) = locked[canonicalize_name(requirement.name)].specifier
        assert requirement.specifier.contains(pin.version), requirement


# ------------------------------------------------------------------------------------ no data of others inside

LONG = 60  # shorter lines ("I don't know what it is.") are anybody's
BETWEEN = re.compile(r"\t|<SEP>|_eos|# text = ")  # what lies between the sentences of a line
ABOUT = re.compile(r"readme|licen[cs]e|copyright|_about|config", re.IGNORECASE)  # files that hold no data
FIRST_LETTER = re.compile(r"\b\w")
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


def quotations(sentences: Iterable[str], texts: Iterable[str]) -> set[str]:
    """Which of the long sentences occur in any of the texts, word for word.

    An index of how the sentences begin makes it possible to look for a million of them at every word of the texts.
    """
    beginnings: dict[str, set[str]] = {}
    for sentence in sentences:
        if len(sentence) <= LONG:
            continue
        start = FIRST_LETTER.search(sentence)
        sentence = sentence[start.start() :].rstrip() if start else ""
        if len(sentence) > LONG:
            beginnings.setdefault(sentence[:LONG], set()).add(sentence)
    actual = set()
    for text in texts:
        for match in FIRST_LETTER.finditer(text):
            position = match.start()
            for sentence in beginnings.get(text[position : position + LONG], ()):
                if text.startswith(sentence, position):
                    actual.add(sentence)
    return actual


def test_a_quotation_is_found() -> None:
    data = "„It is a truth universally acknowledged, that a made-up sentence is long enough here.“ "
    other = "It is a truth universally acknowledged, that a made-up sentence ends in another way."
    text = f'  x = "{data}"'
    assert quotations([data, other, "A short one."], ["nothing", text, "A short one."]) == {data.strip("„ ")}
    assert quotations([data], [other]) == set()


def sentences_of(path: Path) -> Iterator[str]:
    """The sentences of the long lines of a data file, be it text, a table, JSON or JSON Lines."""
    text = text_of(path)
    name = path.name.removesuffix(".gz")
    if name.endswith(".json"):
        yield from strings_in(json.loads(text))
    elif name.endswith(".jsonl"):
        for line in text.splitlines():
            yield from strings_in(json.loads(line))
    else:
        for line in text.splitlines():
            if len(line) > LONG:
                yield from BETWEEN.split(line)


def strings_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) > LONG:
            yield from BETWEEN.split(value)
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings_in(part)


def text_of(path: Path) -> str:
    content = path.read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    return content.decode("utf-8", errors="replace")


def test_sentences_are_read_from_every_kind_of_file(tmp_path: Path) -> None:
    one, two, three, four, five, six = (f"{word} {'and on ' * 10}to its end." for word in "ABCDEF")
    document = [{"src": f"{one} _eos {two}", "n": 1, "more": {"x": [three]}}]
    (tmp_path / "a.json").write_text(json.dumps(document))
    (tmp_path / "b.jsonl").write_text(f"{json.dumps(four)}\n{json.dumps([five])}\n")
    (tmp_path / "c.txt.gz").write_bytes(gzip.compress(f"{one} <SEP> {two}\n7\t{three}\n# text = {six}\n".encode()))
    actual = [[s.strip() for s in sentences_of(tmp_path / name)] for name in ("a.json", "b.jsonl", "c.txt.gz")]
    assert actual == [[one, two, three], [four, five], [one, two, "7", three, "", six]]


def test_no_data_of_others_is_in_the_repository(data: Callable[[str], Path]) -> None:
    """Every sentence of the real data of more than 60 characters is looked up in every file of the repository."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git repository: what belongs to it is not known")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    texts = {path: text_of(path) for path in paths if path.is_file()}
    assert ROOT / "pyproject.toml" in texts
    unescaped = (ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) for text in texts.values())
    files = [f for f in sorted(data("").rglob("*")) if f.is_file() and f.suffix != ".zst" and not ABOUT.search(f.name)]
    assert files
    actual = quotations((s for file in files for s in sentences_of(file)), unescaped)
    where = {s: [path.relative_to(ROOT).as_posix() for path, text in texts.items() if s in text] for s in actual}
    assert not actual, where


def test_every_test_file_is_collected(request: pytest.FixtureRequest) -> None:
    """pytest leaves out folders by name, `build` among them unless told otherwise."""
    left_out: list[str] = request.config.getini("norecursedirs")
    parts = {part for path in (ROOT / "tests").rglob("test_*.py") for part in path.relative_to(ROOT).parts[:-1]}
    assert not [part for part in parts for pattern in left_out if fnmatch(part, pattern)]


def test_marked_tests_exist() -> None:
    def exists(file: str, test: str) -> bool:
        path = ROOT / file
        return path.exists() and (not test or f"def {test.rpartition('::')[2]}(" in path.read_text(encoding="utf-8"))

    marked = [*slow_tests(), *(f"tests/{name}" for names in MARKS.values() for name in names)]
    missing = [name for name in marked if not exists(*(name.partition("::")[::2]))]
    assert not missing, "tests/slow.txt or tests/conftest.py marks tests that are not there"
