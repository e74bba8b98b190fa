"""The catalog is a list of promises: where a published set is, which bytes it has, who reads it. Held here."""

from __future__ import annotations

import gzip
import hashlib
import inspect
import os
import re
from pathlib import Path, PurePosixPath

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.suites.catalog import Entry, RemoteFile, catalog, find
from anaphora.suites.formats import FORMATS

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
ENTRIES = pytest.mark.parametrize("entry", catalog().values(), ids=list(catalog()))
KNOWN = [(entry, file) for entry in catalog().values() for file in entry.files if file.sha256]
COPIES = [item for entry in catalog().values() for file in entry.files for item in file.copies.items()]

# where the copies on the developers' machines have the files of the catalog
PLACES = {
    "contrapro_reconstructed.jsonl": "contrapro",
    "templates/": "contracat",
    "attacks/": "contracat",
    "test-sets/": "disceval-en-fr",
    "disambig.cs.json": "disceval-en-cs",
    "OpenSubs/extracted/": "lopes-en-fr",
    "consistency_testsets/": "voita-en-ru",
    "data/scat/": "scat-en-fr",
    "test_data_": "eval-anaphora",
}


def local_bytes(file: RemoteFile) -> bytes:
    """The decompressed local copy of a file of the catalog; the test is skipped where there is none."""
    if not DATA.is_dir():
        pytest.skip(f"the published data is not on this machine: {DATA} (set ANAPHORA_DATA)")
    folder = DATA / next(location for start, location in PLACES.items() if file.path.startswith(start))
    for path in (folder / file.path, folder / PurePosixPath(file.path).name):
        if path.is_file():
            return path.read_bytes()
        if path.with_name(path.name + ".gz").is_file():
            return gzip.decompress(path.with_name(path.name + ".gz").read_bytes())
    pytest.skip(f"{file.path} is not below {folder}")


def addresses(entry: Entry) -> list[str]:
    archive = [] if entry.archive is None else [entry.archive.url]
    return [file.url for file in entry.files if file.url] + archive


def test_the_sets_that_the_papers_are_about_are_there() -> None:
    expected = {
        *(
            "contrapro",
            "contrapro-rebuilt",
            "contracat-templates",
            "bawden-coreference",
            "bawden-cohesion",
            "bawden-cs",
        ),
        *("lopes-en-fr-1", "lopes-en-fr-3", "scat", "eval-anaphora-de", "eval-anaphora-fr", "eval-anaphora-ru"),
        "eval-anaphora-zh",
        *(f"voita-{name}" for name in ("deixis-dev", "deixis-test", "lex-cohesion-dev", "lex-cohesion-test")),
        *("voita-ellipsis-infl", "voita-ellipsis-vp", "contracat-attack-he-said", "contracat-attack-woman"),
    }
    assert expected <= set(catalog())


def test_counts_are_those_of_the_papers() -> None:
    counts = {name: (entry.examples, entry.candidates) for name, entry in catalog().items()}
    assert counts["contrapro"] == counts["contrapro-rebuilt"] == (12_000, 36_031)  # Müller et al. 2018 and its release
    assert counts["bawden-coreference"] == counts["bawden-cohesion"] == (200, 400)  # Bawden et al. 2018, §2
    assert counts["lopes-en-fr-1"] == counts["lopes-en-fr-3"] == (14_000, 28_000)  # Lopes et al. 2020
    assert counts["voita-deixis-test"][0] + counts["voita-deixis-dev"][0] == 3_000  # Voita et al. 2019, Table 4
    assert counts["voita-lex-cohesion-test"][0] + counts["voita-lex-cohesion-dev"][0] == 2_000
    assert counts["scat"] == (1_000, 2_000)  # Yin et al. 2021: the test split


def test_an_entry_is_found_by_its_name() -> None:
    entry = find("contrapro")
    assert (entry.name, entry.languages, entry.format) == ("contrapro", "en-de", "contrapro")
    assert "muller-etal-2018-large" in entry.citation


def test_an_unknown_name_is_an_error_that_helps() -> None:
    with pytest.raises(AnaphoraError, match=r"'contrpro' \(did you mean contrapro.*anaphora suites list"):
        find("contrpro")


def test_the_catalog_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        catalog()["mine"] = find("scat")  # type: ignore[index]


@ENTRIES
def test_an_entry_says_all_that_show_prints(entry: Entry) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", entry.name)
    assert all((entry.title, entry.paper, entry.licence, entry.notes, entry.phenomena, entry.page))
    assert all(re.fullmatch("[a-z]{2}", code) for code in (entry.source_language, entry.target_language))
    assert entry.citation.startswith("@")
    assert entry.citation.count("{") == entry.citation.count("}")
    assert entry.candidates is None or entry.candidates >= 2 * entry.examples


@ENTRIES
def test_the_reader_of_an_entry_exists_and_knows_its_options(entry: Entry) -> None:
    parameters = inspect.signature(FORMATS.load(entry.format)).parameters
    assert set(entry.options) <= set(parameters) - {"path"}


@ENTRIES
def test_file_names_are_safe_and_include_the_input(entry: Entry) -> None:
    paths = [PurePosixPath(file.path) for file in entry.files]
    assert paths
    assert len(set(paths)) == len(paths)
    for path in paths:
        assert not path.is_absolute()
        assert ".." not in path.parts
        assert not re.search(r'[:\\*?"<>|]', str(path))  # also on Windows
        assert path.suffix != ".gz"  # the plain file is kept
    assert any(path.is_relative_to(entry.input) for path in paths)


@ENTRIES
def test_addresses_are_at_a_fixed_commit(entry: Entry) -> None:
    fixed = (
        r"https://(raw\.githubusercontent\.com/[\w-]+/[\w-]+/[0-9a-f]{7,40}/.+|codeload\.github\.com/.+/[0-9a-f]{7,40})"
    )
    for url in addresses(entry):
        assert re.fullmatch(fixed, url)


@ENTRIES
def test_unpublished_and_unverified_files_are_reported_in_the_notes(entry: Entry) -> None:
    assert entry.downloadable or "--from-path" in entry.notes
    if any(file.sha256 is None for file in entry.files):
        assert "No SHA-256 is recorded" in entry.notes
    for url in addresses(entry):
        if short := re.search(r"/([0-9a-f]{7})(/|$)", url):
            assert f"commit {short[1]}" in entry.notes


def test_hashes_and_sizes_are_well_formed() -> None:
    assert len(KNOWN) > 100
    for _, file in KNOWN:
        assert re.fullmatch("[0-9a-f]{64}", file.sha256 or "")
        assert file.size is not None
        assert file.size > 0


@pytest.mark.parametrize(("entry", "file"), KNOWN, ids=[f"{entry.name}:{file.path}" for entry, file in KNOWN])
def test_hash_and_size_are_those_of_the_real_file(entry: Entry, file: RemoteFile) -> None:
    content = local_bytes(file)
    assert len(content) == file.size
    assert hashlib.sha256(content).hexdigest() == file.sha256


@pytest.mark.parametrize(("name", "digest"), COPIES)
def test_hashes_of_other_forms_are_those_of_real_files(name: str, digest: str) -> None:
    assert hashlib.sha256(local_bytes(RemoteFile(name))).hexdigest() == digest
