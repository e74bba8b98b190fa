"""`anaphora suites get`: from a name to a suite file, from the network or a local copy, verified, and only once."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import pickle
import tarfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.lock import InUse, lock_output
from anaphora.suites import get as module
from anaphora.suites.catalog import Entry, RemoteArchive, RemoteFile, catalog
from anaphora.suites.get import get, home, resolve, suite_path
from anaphora.suites.suite import read_native

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).parents[2].parent / "shared" / "data")


def block(word: str) -> bytes:
    """A test set in Bawden's format, as small as it can be."""
    example = {"src": ["A.", "B."], "trg": {"correct": ["C.", f"{word}."], "incorrect": ["C.", "E."]}}
    return json.dumps({"1": {"type": "disambig", "examples": [example]}}).encode()


CONTENT, OTHER = block("D"), block("X")
SHA, OTHER_SHA = hashlib.sha256(CONTENT).hexdigest(), hashlib.sha256(OTHER).hexdigest()

TINY = Entry(
    name="tiny",
    title="A tiny set",
    source_language="en",
    target_language="fr",
    examples=1,
    phenomena=("cohesion",),
    paper="Nobody: Nothing",
    citation="@misc{nobody}",
    licence="CC0",
    page="https://example.test",
    breakdowns=(),
    format="disceval",
    input="sets/tiny.json",
    notes="",
    files=(RemoteFile("sets/tiny.json", "https://example.test/repo/c0ffee/tests/tiny.json", SHA, len(CONTENT)),),
)
UNKNOWN = replace(TINY, name="unknown", files=(replace(TINY.files[0], sha256=None, size=None),))
LOCAL = replace(TINY, name="local", files=(replace(TINY.files[0], url=None),))
PAIR = replace(TINY, name="pair", files=(*TINY.files, RemoteFile("sets/more/tiny.json", None, OTHER_SHA)))
PACKED = replace(
    TINY,
    name="packed",
    files=(RemoteFile("sets/tiny.json", None, SHA),),
    archive=RemoteArchive("https://example.test/repo.tar.gz", strip=1, members=("sets/",)),
)
BROKEN = replace(UNKNOWN, name="broken")
LOOSE = replace(PACKED, name="loose", files=(replace(PACKED.files[0], sha256=None),))
TWINS = replace(TINY, name="twins", files=(RemoteFile("sets/tiny.json"), RemoteFile("more/tiny.json")))


class Mirror(ThreadingHTTPServer):
    """Serves `files` by their path, and remembers what was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {"/example.test/repo/c0ffee/tests/tiny.json": CONTENT}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Mirror

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.files.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    with Mirror() as server:
        monkeypatch.setenv("no_proxy", "*")
        monkeypatch.setenv("ANAPHORA_MIRROR", server.url)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a home of its own, and no way to the real network."""
    monkeypatch.setenv("ANAPHORA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ANAPHORA_MIRROR", "http://127.0.0.1:9")
    return tmp_path / "home"


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> dict[str, Entry]:
    """The tiny entries in place of the catalog."""
    known = {entry.name: entry for entry in (TINY, UNKNOWN, LOCAL, PAIR, PACKED, LOOSE, BROKEN, TWINS)}
    monkeypatch.setattr(module, "find", known.__getitem__)
    monkeypatch.setattr(module, "catalog", lambda: known)
    return known


def make_tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tape:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tape.addfile(info, io.BytesIO(content))
    return out.getvalue()


def downloads(name: str) -> dict[str, bytes]:
    folder = home() / "downloads" / name
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def right_word(suite: Path) -> str:
    (example,) = read_native(suite)
    return example.candidates[0][-1]


# Over the network


@pytest.mark.usefixtures("entries")
def test_a_suite_is_fetched_verified_and_converted(mirror: Mirror, own_home: Path) -> None:
    steps: list[tuple[str, int, int | None]] = []
    path = get("tiny", progress=lambda *step: steps.append(step))
    assert path == own_home / "suites" / "tiny.jsonl" == suite_path("tiny")
    header = read_native(path).header
    assert (header.name, header.citation, header.licence) == ("tiny", "@misc{nobody}", "CC0")
    assert right_word(path) == "D."
    assert steps == [("sets/tiny.json", len(CONTENT), len(CONTENT))]
    assert downloads("tiny") == {"sets/tiny.json": CONTENT, "SHA256SUMS": f"{SHA}  sets/tiny.json\n".encode()}


@pytest.mark.usefixtures("entries")
def test_a_second_run_does_nothing(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    first = get("tiny").stat()
    monkeypatch.setattr(module, "_convert", pytest.fail)
    second = get("tiny").stat()
    assert (first.st_ino, first.st_mtime_ns) == (second.st_ino, second.st_mtime_ns)
    assert mirror.asked == ["/example.test/repo/c0ffee/tests/tiny.json"]


def test_without_a_mirror_the_address_is_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAPHORA_MIRROR", "http://mirror.test/x/")
    assert module._mirrored("https://example.test/a") == "http://mirror.test/x/example.test/a"
    monkeypatch.delenv("ANAPHORA_MIRROR")
    assert module._mirrored("https://example.test/a") == "https://example.test/a"


@pytest.mark.usefixtures("entries", "mirror")
def test_a_lost_suite_is_made_again_without_the_network(mirror: Mirror) -> None:
    get("tiny").unlink()
    assert right_word(get("tiny")) == "D."
    assert len(mirror.asked) == 1


@pytest.mark.usefixtures("entries")
def test_a_damaged_download_is_fetched_again_and_converted_again(mirror: Mirror) -> None:
    get("tiny")
    (home() / "downloads/tiny/sets/tiny.json").write_bytes(OTHER)
    assert right_word(get("tiny")) == "D."
    assert len(mirror.asked) == 2


@pytest.mark.usefixtures("mirror")
def test_a_new_hash_in_the_catalog_makes_the_suite_again(mirror: Mirror, entries: dict[str, Entry]) -> None:
    get("tiny")
    mirror.files = dict.fromkeys(mirror.files, OTHER)
    entries["tiny"] = replace(TINY, files=(replace(TINY.files[0], sha256=OTHER_SHA, size=len(OTHER)),))
    assert right_word(get("tiny")) == "X."


@pytest.mark.usefixtures("entries")
def test_changed_bytes_on_the_network_are_refused(mirror: Mirror) -> None:
    mirror.files = dict.fromkeys(mirror.files, OTHER)
    with pytest.raises(AnaphoraError, match=rf"SHA-256 is {OTHER_SHA}, but {SHA} is expected"):
        get("tiny")
    assert downloads("tiny") == {}
    assert not suite_path("tiny").exists()


@pytest.mark.usefixtures("entries")
def test_a_missing_file_is_an_error_with_a_way_out(mirror: Mirror) -> None:
    mirror.files = {}
    with pytest.raises(AnaphoraError, match=r"tiny\.json: there is no such file any more.*--from-path"):
        get("tiny")


@pytest.mark.usefixtures("entries")
def test_an_unknown_hash_is_recorded_first_and_compared_later(mirror: Mirror) -> None:
    get("unknown")
    (home() / "downloads/unknown/sets/tiny.json").unlink()
    mirror.files = dict.fromkeys(mirror.files, OTHER)
    with pytest.raises(AnaphoraError, match=rf"SHA-256 is {OTHER_SHA}, but {SHA} is expected"):
        get("unknown")
    mirror.files = dict.fromkeys(mirror.files, CONTENT)
    assert right_word(get("unknown")) == "D."


@pytest.mark.usefixtures("entries")
def test_unverifiable_and_unreadable_files_are_not_kept(mirror: Mirror) -> None:
    mirror.files = dict.fromkeys(mirror.files, CONTENT[:20])
    with pytest.raises(BadInput, match="not JSON"):
        get("broken")
    assert downloads("broken") == {}
    assert not suite_path("broken").exists()
    mirror.files = dict.fromkeys(mirror.files, CONTENT)
    assert right_word(get("broken")) == "D."


@pytest.mark.usefixtures("entries")
def test_what_is_not_published_says_so(mirror: Mirror) -> None:
    message = r"local cannot be downloaded: sets/tiny.json is not published.*anaphora suites get local --from-path PATH"
    with pytest.raises(AnaphoraError, match=message):
        get("local")
    assert mirror.asked == []


@pytest.mark.usefixtures("entries")
def test_only_one_process_gets_a_suite(mirror: Mirror) -> None:
    folder = home() / "downloads" / "tiny"
    with lock_output(folder), pytest.raises(InUse, match=r"is being written by .*\. Wait until it ends\.$"):
        get("tiny")
    assert mirror.asked == []
    get("tiny")
    with lock_output(folder):
        assert right_word(get("tiny")) == "D."  # nothing is written
    assert [path.name for path in folder.parent.iterdir()] == ["tiny"]


# Archives


@pytest.mark.usefixtures("entries")
def test_an_archive_is_unpacked_and_its_files_are_verified(mirror: Mirror) -> None:
    mirror.files["/example.test/repo.tar.gz"] = make_tar({"r/sets/tiny.json": CONTENT, "r/other": b""})
    assert right_word(get("packed")) == "D."
    assert downloads("packed") == {"sets/tiny.json": CONTENT, "SHA256SUMS": f"{SHA}  sets/tiny.json\n".encode()}
    assert [path.name for path in (home() / "downloads").iterdir()] == ["packed"]
    get("packed")
    assert len(mirror.asked) == 1


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (make_tar({"r/sets/tiny.json": OTHER}), rf"tiny.json: SHA-256 is {OTHER_SHA}, but {SHA} is expected"),
        (make_tar({"r/sets/else": OTHER}), "was not in the archive"),
        (make_tar({"r/sets/tiny.json": CONTENT})[:-30], "not a whole tar or zip archive"),
        (make_tar({"r/../../sets/tiny.json": CONTENT}), "leads outside"),
    ],
    ids=["wrong", "missing", "truncated", "hostile"],
)
def test_an_archive_that_is_not_right_is_refused(mirror: Mirror, content: bytes, message: str) -> None:
    mirror.files["/example.test/repo.tar.gz"] = content
    with pytest.raises(BadInput, match=message):
        get("packed")
    assert "sets/tiny.json" not in downloads("packed")
    mirror.files["/example.test/repo.tar.gz"] = make_tar({"r/sets/tiny.json": CONTENT})
    assert right_word(get("packed")) == "D."  # the bad archive is not found again


@pytest.mark.usefixtures("entries")
def test_nothing_of_an_older_archive_stays(mirror: Mirror) -> None:
    mirror.files["/example.test/repo.tar.gz"] = make_tar({"r/sets/tiny.json": OTHER, "r/sets/old.json": OTHER})
    with pytest.raises(BadInput):
        get("packed")
    mirror.files["/example.test/repo.tar.gz"] = make_tar({"r/sets/tiny.json": CONTENT})
    get("packed")
    assert set(downloads("packed")) == {"sets/tiny.json", "SHA256SUMS"}


@pytest.mark.usefixtures("entries")
def test_a_bad_archive_does_not_cost_the_files_that_exist(mirror: Mirror) -> None:
    whole, address = make_tar({"r/sets/tiny.json": CONTENT}), "/example.test/repo.tar.gz"
    mirror.files[address] = whole
    get("loose")
    before = downloads("loose")
    for bad in (whole[:-30], make_tar({"r/sets/else": CONTENT})):
        mirror.files[address] = bad
        with pytest.raises(BadInput):
            get("loose", force=True)
    assert downloads("loose") == before
    mirror.files[address] = make_tar({"r/sets/tiny.json": OTHER})
    assert right_word(get("loose", force=True)) == "X."
    assert {path.name for path in (home() / "downloads").iterdir()} == {"loose"}


@pytest.mark.parametrize("name", ["tiny", "packed"])
@pytest.mark.usefixtures("entries")
def test_what_a_killed_download_left_is_removed(mirror: Mirror, name: str) -> None:
    """Killed while it received a file or an archive, or while it unpacked one; the names are those of such kills."""
    mirror.files["/example.test/repo.tar.gz"] = make_tar({"r/sets/tiny.json": CONTENT})
    folder = home() / "downloads"
    left = [f"{name}/sets/.tiny.json.87afd7d3.part"]
    if name == "packed":
        left = [".packed.repo.tar.gz.46b1dcc0.part", "..packed.440f40e0.part.ng8fhuci/x", ".packed.440f40e0.part/x"]
    for path in (".other.87afd7d3.part", f".{name}.lock", *left):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("a process that was killed")
    assert right_word(get(name)) == "D."
    actual = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert actual == {".other.87afd7d3.part", f"{name}/sets/tiny.json", f"{name}/SHA256SUMS"}


@pytest.mark.usefixtures("entries")
def test_an_archive_may_be_imported(tmp_path: Path) -> None:
    (tmp_path / "repo.tgz").write_bytes(make_tar({"r/sets/tiny.json": CONTENT}))
    assert right_word(get("packed", from_path=tmp_path / "repo.tgz")) == "D."


@pytest.mark.usefixtures("entries")
def test_a_folder_is_not_an_archive(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="imported from its archive"):
        get("packed", from_path=tmp_path)


# From a local copy


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize(
    "path",
    ["sets/tiny.json", "tiny.json", "tests/tiny.json", "repo/c0ffee/tests/tiny.json"],
    ids=["as here", "flat", "as released", "as released, from above"],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_folder_is_imported_however_it_is_laid_out(tmp_path: Path, path: str, zipped: bool) -> None:
    file = tmp_path / "copy" / (path + ".gz" * zipped)
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress(CONTENT) if zipped else CONTENT)
    assert right_word(get("tiny", from_path=tmp_path / "copy")) == "D."
    assert downloads("tiny")["sets/tiny.json"] == CONTENT


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("name", ["tiny", "unknown", "local"])
def test_a_single_file_is_imported_whatever_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.gz").write_bytes(gzip.compress(CONTENT))
    assert right_word(get(name, from_path=tmp_path / "mine.gz")) == "D."
    assert f"{SHA}  sets/tiny.json\n".encode() == downloads(name)["SHA256SUMS"]


@pytest.mark.usefixtures("entries")
def test_files_of_one_name_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    (tmp_path / "copy" / "more").mkdir(parents=True)
    (tmp_path / "copy" / "tiny.json").write_bytes(CONTENT)
    (tmp_path / "copy" / "more" / "tiny.json").write_bytes(OTHER)
    get("pair", from_path=tmp_path / "copy")
    assert downloads("pair")["sets/more/tiny.json"] == OTHER


@pytest.mark.usefixtures("entries")
def test_one_file_is_never_taken_for_two(tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_bytes(CONTENT)
    with pytest.raises(BadInput, match=r"tiny.json \(or .*\) and 1 more of twins is missing here"):
        get("twins", from_path=tmp_path)


@pytest.mark.usefixtures("entries")
def test_a_wrong_copy_is_an_error_with_both_hashes(tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_bytes(OTHER)
    with pytest.raises(BadInput) as error:
        get("tiny", from_path=tmp_path)
    for part in (str(tmp_path / "tiny.json"), SHA, OTHER_SHA):
        assert part in str(error.value)
    assert downloads("tiny") == {}


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("known", ["tiny", "unknown"])
@pytest.mark.parametrize(("keep", "what"), [(-10, "truncated"), (None, "damaged")])
def test_a_broken_gzip_copy_is_an_error(tmp_path: Path, known: str, keep: int | None, what: str) -> None:
    zipped = bytearray(gzip.compress(CONTENT)[:keep])
    if keep is None:
        zipped[-5] ^= 0xFF  # in the checksum
    (tmp_path / "tiny.json.gz").write_bytes(zipped)
    with pytest.raises(BadInput, match=rf"tiny.json.gz: the gzip file is {what}"):
        get(known, from_path=tmp_path)
    assert downloads(known) == {}


@pytest.mark.usefixtures("entries")
def test_a_copy_that_lacks_files_names_them(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"tiny\.json \(or tiny\.json\.gz\) of tiny is missing here"):
        get("tiny", from_path=tmp_path)


@pytest.mark.usefixtures("entries")
def test_one_file_is_not_a_copy_of_two(tmp_path: Path) -> None:
    (tmp_path / "tiny.json").write_bytes(CONTENT)
    with pytest.raises(BadInput, match=r"pair has 2 files. Name a folder with: sets/tiny.json, sets/more/tiny.json"):
        get("pair", from_path=tmp_path / "tiny.json")


@pytest.mark.usefixtures("entries")
def test_a_copy_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nowhere: no such file or folder"):
        get("tiny", from_path=tmp_path / "nowhere")


REAL = {
    "contrapro-rebuilt": "contrapro",
    "contracat-templates": "contracat",
    "contracat-attack-synonyms": "contracat/attacks",
    "bawden-coreference": "disceval-en-fr",
    "bawden-cohesion": "disceval-en-fr",
    "bawden-cs": "disceval-en-cs/disambig.cs.json",
    "lopes-en-fr-1": "lopes-en-fr",
    "voita-ellipsis-infl": "voita-en-ru",
    "scat": "scat-en-fr",
    "eval-anaphora-de": "eval-anaphora",
}


@pytest.mark.parametrize(("name", "path"), REAL.items(), ids=list(REAL))
def test_the_real_sets_are_imported_and_have_the_promised_numbers(name: str, path: str) -> None:
    if not (DATA / path).exists():
        pytest.skip(f"the published data is not on this machine: {DATA / path} (set ANAPHORA_DATA)")
    entry = catalog()[name]
    suite = read_native(get(name, from_path=DATA / path))
    sizes = [len(example.candidates) for example in suite]
    assert (len(sizes), sum(sizes)) == (entry.examples, entry.candidates)
    assert (suite.header.name, suite.header.languages) == (name, entry.languages)
    assert suite.header.breakdowns == entry.breakdowns


ANNOTATED = {
    "reference_context": ["it", "fell", ".", "it", "broke", "."],
    "noisy_context": ["it", "fell", ".", "he", "broke", "."],
    "reference_sentence": ["it", "broke", "."],
    "noisy_sentence": ["he", "broke", "."],
    "origin": "a",
    "sample_id": 1,
}


@pytest.mark.parametrize("language", ["de", "zh"])
def test_the_pickles_of_eval_anaphora_are_imported(tmp_path: Path, language: str) -> None:
    name = {"de": "german", "zh": "chinese"}[language]
    (tmp_path / f"test_data_{name}").write_bytes(pickle.dumps([ANNOTATED]))
    entry = catalog()[f"eval-anaphora-{language}"]
    assert entry.downloadable
    (example,) = read_native(get(entry.name, from_path=tmp_path))
    assert example.candidates == (("it fell .", "it broke ."), ("it fell .", "he broke ."))


def test_a_pickle_that_is_refused_is_not_kept(tmp_path: Path) -> None:
    (tmp_path / "test_data_german").write_bytes(pickle.dumps([Path("x")]))
    with pytest.raises(BadInput, match="not a pickle of plain data"):
        get("eval-anaphora-de", from_path=tmp_path)
    assert not downloads("eval-anaphora-de")


def test_a_copy_in_another_form_is_verified(tmp_path: Path) -> None:
    (tmp_path / "test_data_german.jsonl").write_text(json.dumps(ANNOTATED) + "\n")
    with pytest.raises(BadInput, match=r"test_data_german\.jsonl: SHA-256 is .* but dd04723d"):
        get("eval-anaphora-de", from_path=tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"test_data_german \(or test_data_german\.gz\) of eval-anaphora-de is missing"):
        get("eval-anaphora-de", from_path=tmp_path / "empty")


# What a user means by a name


def test_a_file_of_ones_own_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "contrapro").write_bytes(b"")
    assert resolve("contrapro") == Path("contrapro")
    assert resolve(tmp_path / "contrapro") == tmp_path / "contrapro"


@pytest.mark.usefixtures("entries")
def test_a_name_means_the_suite_that_was_got(mirror: Mirror) -> None:
    made = get("tiny")
    assert resolve("tiny") == made


def test_a_name_that_was_not_got_says_how(own_home: Path) -> None:
    with pytest.raises(
        AnaphoraError, match=r"^scat is not on this machine yet\. Get it with: anaphora suites get scat$"
    ):
        resolve("scat")
    with pytest.raises(AnaphoraError, match="anaphora suites get contrapro-rebuilt --from-path PATH"):
        resolve("contrapro-rebuilt")


def test_anything_else_is_an_error_that_guesses() -> None:
    with pytest.raises(AnaphoraError, match=r"^contrpro: no such file or catalog name \(did you mean contrapro"):
        resolve("contrpro")


def test_the_home_is_in_the_cache_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert home() == tmp_path / "home"
    monkeypatch.setenv("HOME", "/someone")
    monkeypatch.setenv("ANAPHORA_HOME", "~/elsewhere")
    assert home() == Path("/someone/elsewhere")
    monkeypatch.delenv("ANAPHORA_HOME")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert home() == Path("/someone/.cache/anaphora")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/someone")
    assert home() == Path("/var/cache/someone/anaphora")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the specification has such a path ignored
    assert home() == Path("/someone/.cache/anaphora")


# What is here already


def copied(folder: Path, content: bytes, name: str = "tiny.json") -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    return folder


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("known", ["tiny", "unknown"])
def test_another_copy_of_a_suite_that_is_here_is_refused(tmp_path: Path, known: str) -> None:
    """newcomer.md B13: it was ignored, and the command succeeded."""
    suite = get(known, from_path=copied(tmp_path / "right", CONTENT))
    kept = suite.read_bytes()
    with pytest.raises(BadInput, match=f"not the copy of {known} that already exists: SHA-256 is {OTHER_SHA}"):
        get(known, from_path=copied(tmp_path / "wrong", OTHER))
    with pytest.raises(BadInput, match="is missing here"):
        get(known, from_path=copied(tmp_path / "nothing", b"", "other.json"))
    assert suite.read_bytes() == kept


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("zipped", [False, True])
def test_the_same_copy_changes_nothing(tmp_path: Path, zipped: bool) -> None:
    suite = get("unknown", from_path=copied(tmp_path / "one", CONTENT))
    before = suite.stat().st_mtime_ns
    content, name = (gzip.compress(CONTENT), "tiny.json.gz") if zipped else (CONTENT, "tiny.json")
    get("unknown", from_path=copied(tmp_path / "two", content, name))
    assert suite.stat().st_mtime_ns == before


@pytest.mark.usefixtures("entries")
def test_force_replaces_what_no_hash_of_the_catalog_verifies(tmp_path: Path) -> None:
    get("unknown", from_path=copied(tmp_path / "one", CONTENT))
    suite = get("unknown", from_path=copied(tmp_path / "two", OTHER), force=True)
    assert right_word(suite) == "X."
    with pytest.raises(BadInput, match=r"but .* is expected"):
        get("tiny", from_path=copied(tmp_path / "three", OTHER), force=True)


@pytest.mark.usefixtures("entries")
def test_force_converts_again(mirror: Mirror) -> None:
    suite = get("tiny")
    suite.write_text("of an older version")
    os.utime(suite, ns=(suite.stat().st_mtime_ns + 10**12,) * 2)
    assert get("tiny").read_text() == "of an older version"
    asked = len(mirror.asked)
    assert next(iter(read_native(get("tiny", force=True)))).id
    assert len(mirror.asked) == asked  # its hash says that nothing else could come


@pytest.mark.usefixtures("entries")
def test_force_downloads_again_where_no_hash_is_known(mirror: Mirror) -> None:
    get("unknown")
    mirror.files["/example.test/repo/c0ffee/tests/tiny.json"] = OTHER
    suite = get("unknown", force=True)
    assert right_word(suite) == "X."
    mirror.files.clear()
    with pytest.raises(AnaphoraError):
        get("unknown", force=True)
    assert downloads("unknown")["sets/tiny.json"] == OTHER  # not lost
    assert "sets/tiny.json.old" not in downloads("unknown")


@pytest.mark.usefixtures("entries")
def test_an_archive_that_is_another_is_refused(tmp_path: Path) -> None:
    for name, word in (("right", "D"), ("wrong", "X")):
        (tmp_path / f"{name}.tar.gz").write_bytes(make_tar({"repo/sets/tiny.json": block(word)}))
    get("packed", from_path=tmp_path / "right.tar.gz")
    get("packed", from_path=tmp_path / "right.tar.gz")
    with pytest.raises(BadInput, match="SHA-256"):
        get("packed", from_path=tmp_path / "wrong.tar.gz")
