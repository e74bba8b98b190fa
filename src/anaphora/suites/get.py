"""Make a published suite available on this machine: fetch or import its files, verify them, convert them once."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.files import (
    atomic_folder,
    atomic_writer,
    existing,
    open_binary,
    remove_leftovers,
    sha256_of,
    text_lines,
)
from anaphora.core.lock import lock_output
from anaphora.suites.catalog import Entry, RemoteArchive, catalog, find
from anaphora.suites.download import extract, fetch
from anaphora.suites.suite import read_native

SUMS = "SHA256SUMS"  # readable by sha256sum -c
Progress = Callable[[str, int, int | None], None]  # the file, its bytes so far, and in all (None: not known)


def home() -> Path:
    """Return the folder of downloads and suites: $ANAPHORA_HOME, else `anaphora` in $XDG_CACHE_HOME or ~/.cache."""
    if own := os.environ.get("ANAPHORA_HOME"):
        return Path(own).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cache if cache.is_absolute() else Path("~/.cache").expanduser()) / "anaphora"


def suite_path(name: str) -> Path:
    """Return where the converted suite of this name is, or will be."""
    return home() / "suites" / f"{name}.jsonl"


def resolve(name_or_path: str | Path) -> Path:
    """Return the suite file for a path, or for the name of a suite of the catalog that is on this machine."""
    name = str(name_or_path)
    if Path(name).is_file():
        return Path(name)
    if name not in catalog():
        if Path(name).exists():
            what = "a folder" if Path(name).is_dir() else "not a regular file"
            raise BadInput(name, what, remedy="A suite is a file on the disk, or a name of the catalog.")
        near = did_you_mean(name, catalog())
        raise AnaphoraError(f"{name}: no such file or catalog name{near}. See the names with: anaphora suites list")
    if not suite_path(name).is_file():
        copy = "" if find(name).downloadable else " --from-path PATH"
        raise AnaphoraError(f"{name} is not on this machine yet. Get it with: anaphora suites get {name}{copy}")
    return suite_path(name)


def get(
    name: str,
    *,
    from_path: Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Path:
    """Return the suite file of a catalog entry; it is downloaded and converted if it is missing or outdated.

    from_path: a local copy to import instead of downloading: a folder with the files (laid out as the release, as our
        download folder, or flat; plain or gzipped), or the file itself where there is only one
    force: import or download the files again, and convert them again; files that the catalog's hash verifies are not
        downloaded twice
    $ANAPHORA_MIRROR: an address that holds copies, `MIRROR/HOST/PATH` for https://HOST/PATH
    """
    entry = find(name)
    if from_path is not None and not from_path.exists():
        raise BadInput(from_path, "no such file or folder")
    folder = home() / "downloads" / name
    suite = suite_path(name)
    if not force and _complete(folder, _expected(entry, folder)) and _is_newer(suite, entry, folder):
        if from_path is not None:
            _check_copy(entry, folder, from_path)
        return suite
    with lock_output(folder, remedy="Wait until it ends.") as lock:
        if lock.abandoned:
            _remove_leftovers(entry, folder)
        _get(entry, folder, suite, from_path, force, progress)
    return suite


def _remove_leftovers(entry: Entry, folder: Path) -> None:
    """Remove what a killed process has downloaded or unpacked of a file, and not finished."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir():
            remove_leftovers(path)
    if entry.archive is not None:
        remove_leftovers(folder.parent, glob.escape(_archive_file(entry, entry.archive, folder).name))
        for path in folder.parent.glob(f"..{glob.escape(folder.name)}.*.part.*"):  # of `extract`
            shutil.rmtree(path, ignore_errors=True)


def _archive_file(entry: Entry, archive: RemoteArchive, folder: Path) -> Path:
    return folder.with_name(f"{entry.name}.{PurePosixPath(urlsplit(archive.url).path).name}")


def _is_newer(suite: Path, entry: Entry, folder: Path) -> bool:
    made_from = max((folder / file.path).stat().st_mtime_ns for file in entry.files)
    return suite.is_file() and suite.stat().st_mtime_ns >= made_from


def _get(
    entry: Entry, folder: Path, suite: Path, from_path: Path | None, force: bool, progress: Progress | None
) -> None:
    expected = _expected(entry, folder, recorded=not force)
    again = force and (from_path is not None or (entry.downloadable and None in expected.values()))
    if not again and from_path is not None and _complete(folder, expected):
        _check_copy(entry, folder, from_path)
    elif again or not _complete(folder, expected):
        if from_path is not None:
            digests = _import(entry, folder, expected, from_path)
        else:
            with _aside([folder / path for path, digest in expected.items() if again and digest is None]):
                digests = _download(entry, folder, expected, progress)
        with atomic_writer(folder / SUMS) as out:
            out.writelines(f"{digest}  {path}\n".encode() for path, digest in sorted(digests.items()))
    if force or not _is_newer(suite, entry, folder):
        _convert(entry, folder, suite)


@contextlib.contextmanager
def _aside(files: Sequence[Path]) -> Iterator[None]:
    """Move files away, so that they are fetched again; move them back if that fails."""
    old = {path: path.with_name(f"{path.name}.old") for path in files if path.is_file()}
    for path, moved in old.items():
        path.replace(moved)
    try:
        yield
    except BaseException:
        for path, moved in old.items():
            moved.replace(path)
        raise
    for moved in old.values():
        moved.unlink(missing_ok=True)  # an archive replaces the whole folder


def _convert(entry: Entry, folder: Path, destination: Path) -> None:
    from anaphora.suites.formats import read_suite

    try:
        suite = read_suite(folder / entry.input, entry.format, **entry.options)
        header = replace(suite.header, name=entry.name, citation=entry.citation, licence=entry.licence)
        replace(suite, header=header).write(destination)
    except AnaphoraError:
        for file in entry.files:
            if file.sha256 is None:  # it cannot be read, and there is no hash: do not keep it
                (folder / file.path).unlink()
                (folder / SUMS).unlink(missing_ok=True)
        raise


def _expected(entry: Entry, folder: Path, recorded: bool = True) -> dict[str, str | None]:
    """Return the SHA-256 each file must have: the catalog's, else that of the first download, else None.

    recorded: whether that of the first download counts
    """
    sums = {}
    if recorded and (folder / SUMS).is_file():
        sums = {path: digest for digest, _, path in (line.partition("  ") for line in text_lines(folder / SUMS))}
    return {file.path: file.sha256 or sums.get(file.path) for file in entry.files}


def _complete(folder: Path, expected: dict[str, str | None]) -> bool:
    paths = ((folder / path, digest) for path, digest in expected.items())
    return all(path.is_file() and digest in (None, sha256_of(path)) for path, digest in paths)


def _download(entry: Entry, folder: Path, expected: dict[str, str | None], progress: Progress | None) -> dict[str, str]:
    if not entry.downloadable:
        lacking = next(file.path for file in entry.files if file.url is None)
        raise AnaphoraError(
            f"{entry.name} cannot be downloaded: {lacking} is not published in this form (why: anaphora suites show "
            f"{entry.name}). If you have a copy: anaphora suites get {entry.name} --from-path PATH"
        )

    def report(path: str) -> Callable[[int, int | None], None] | None:
        return None if progress is None else lambda done, total: progress(path, done, total)

    digests = {}
    if entry.archive is not None:
        file = _archive_file(entry, entry.archive, folder)
        fetch(_mirrored(entry.archive.url), file, sha256=entry.archive.sha256, progress=report(file.name))
        try:
            packed = {row.path: expected[row.path] for row in entry.files if row.url is None}
            digests = _unpack(file, entry.archive, folder, packed)
        finally:
            file.unlink()  # not needed once unpacked; if damaged, it must be downloaded again
    for row in entry.files:
        if row.url is not None:
            path, url, digest = folder / row.path, _mirrored(row.url), expected[row.path]
            digests[row.path] = fetch(url, path, sha256=digest, size=row.size, progress=report(row.path))
    return digests


def _mirrored(url: str) -> str:
    mirror = os.environ.get("ANAPHORA_MIRROR")
    return f"{mirror.rstrip('/')}/{url.partition('://')[2]}" if mirror else url


def _unpack(file: Path, archive: RemoteArchive, folder: Path, expected: Mapping[str, str | None]) -> dict[str, str]:
    """Replace the folder by the contents of the archive, and return the SHA-256 of the expected files.

    A reader may read every file in it, so nothing old stays, unless the archive is not right.
    """
    digests = {}
    with atomic_folder(folder, replace=True) as unpacked:
        extract(file, unpacked, strip=archive.strip, members=archive.members)
        for path, digest in expected.items():
            if not (unpacked / path).is_file():
                remedy = "This is not the archive of the catalog."
                raise BadInput(folder / path, "was not in the archive", remedy=remedy)
            digests[path] = sha256_of(unpacked / path)
            if digest not in (None, digests[path]):
                raise _wrong(folder / path, digests[path], digest)
    return digests


def _import(entry: Entry, folder: Path, expected: dict[str, str | None], source: Path) -> dict[str, str]:
    """Copy (and decompress) local files to the download folder, and verify them."""
    if entry.archive is not None:
        if not source.is_file():
            raise BadInput(source, "a folder", remedy=f"{entry.name} is imported from its archive (tar.gz or zip).")
        return _unpack(source, entry.archive, folder, expected)
    copies = _copies(entry, source)
    other_forms = {file.path: file.copies for file in entry.files}
    digests = {}
    for path, digest in expected.items():
        name = copies[path].name.removesuffix(".gz")
        digests[path] = _copy(copies[path], folder / path, other_forms[path].get(name, digest))
    return digests


def _check_copy(entry: Entry, folder: Path, source: Path) -> None:
    """Check that a copy of a suite that already exists is the same, file by file."""
    with tempfile.TemporaryDirectory() as name:
        if entry.archive is not None:
            there = Path(name) / "unpacked"
            _import(entry, there, _expected(entry, there), source)
            copies = {file.path: there / file.path for file in entry.files}
        else:
            copies = _copies(entry, source)
        for path, copy in copies.items():
            with open_binary(copy) as stream:
                copied = hashlib.file_digest(stream, "sha256").hexdigest()
            if copied != (here := sha256_of(folder / path)):
                problem = f"not the copy of {entry.name} that already exists: SHA-256 is {copied}, here it is {here}"
                raise BadInput(copy, problem, remedy="Replace what is here with --force.")


def _copies(entry: Entry, source: Path) -> dict[str, Path]:
    if source.is_file():
        if len(entry.files) != 1:
            files = ", ".join(file.path for file in entry.files)
            raise BadInput(source, f"{entry.name} has {len(entry.files)} files", remedy=f"Name a folder with: {files}")
        return {entry.files[0].path: source}
    lacking = []
    for names in _layouts(entry):
        copies = {path: copy for path, name in names.items() if (copy := existing(source, name)) is not None}
        missing = [name for path, name in names.items() if path not in copies]
        if not missing:
            return copies
        lacking.append(missing)
    fewest = min(reversed(lacking), key=len)  # of equals the last, which has the shortest names
    more = f" and {len(fewest) - 1} more" if len(fewest) > 1 else ""
    raise BadInput(source, f"{fewest[0]} (or {fewest[0]}.gz){more} of {entry.name} is missing here")


def _layouts(entry: Entry) -> Iterator[dict[str, str]]:
    """Yield the layouts that a copy may have: our download folder or the release, from any folder above the files.

    Where the catalog has the hash of the same data in another form, that comes first.
    """
    ours = {file.path: PurePosixPath(file.path) for file in entry.files}
    theirs = {f.path: PurePosixPath(unquote(urlsplit(f.url).path[1:]) if f.url else f.path) for f in entry.files}
    others = {file.path: PurePosixPath(name) for file in entry.files for name in file.copies}
    for paths in (*([others] if len(others) == len(ours) else []), ours, theirs):
        for cut in range(min(len(path.parts) for path in paths.values())):
            names = {key: PurePosixPath(*path.parts[cut:]).as_posix() for key, path in paths.items()}
            if len(set(names.values())) == len(names):
                yield names


def _copy(source: Path, destination: Path, digest: str | None) -> str:
    hasher = hashlib.sha256()
    with atomic_writer(destination) as out, open_binary(source) as stream:
        while chunk := stream.read(1 << 20):
            hasher.update(chunk)
            out.write(chunk)
        if digest not in (None, hasher.hexdigest()):
            raise _wrong(source, hasher.hexdigest(), digest)
    return hasher.hexdigest()


def _wrong(path: Path, actual: str, digest: str | None) -> BadInput:
    return BadInput(path, f"SHA-256 is {actual}, but {digest} is expected", remedy="It is another or a changed file.")


# Facts about a suite, from the catalog, from its file, or from both.


def about(name_or_path: str) -> dict[str, Any]:
    """Return facts about a suite by its file or its name in the catalog; counts come from the file if it is here."""
    if Path(name_or_path).is_file():
        return _file_facts(Path(name_or_path))
    entry = find(name_or_path)
    facts: dict[str, Any] = {
        "name": entry.name,
        "title": entry.title,
        "languages": entry.languages,
        "examples": entry.examples,
        "candidates": entry.candidates,
        "phenomena": list(entry.phenomena),
        "breakdowns": list(entry.breakdowns),
        "paper": entry.paper,
        "licence": entry.licence,
        "page": entry.page,
        "files": [file.url or file.path for file in entry.files],
        "notes": entry.notes,
    }
    here = suite_path(entry.name)
    if here.is_file():
        counted = ("path", "sha256", "examples", "candidates")
        facts |= {key: value for key, value in _file_facts(here).items() if key in counted}
    return facts | {"citation": entry.citation}


def _file_facts(path: Path) -> dict[str, Any]:
    suite = read_native(path)
    examples = candidates = 0
    tags: set[str] = set()
    for example in suite:
        examples += 1
        candidates += len(example.candidates)
        tags.update(example.tags)
    header = suite.header
    licence = header.licence or (catalog()[header.name].licence if header.name in catalog() else "")
    return {
        "name": header.name,
        "path": str(path),
        "languages": header.languages,
        "examples": examples,
        "candidates": candidates,
        "breakdowns": list(header.breakdowns),
        "tags": sorted(tags),
        "licence": licence,
        "sha256": suite.sha256(),
        "citation": header.citation,
    }


def kept() -> str:
    """Describe what an interrupted download has kept; empty where there is nothing."""
    downloads = home() / "downloads"
    return f"files that are complete are kept in {downloads}" if downloads.is_dir() else ""
