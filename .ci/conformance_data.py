"""Fetch published test sets for the conformance tests of the public workflow: `python .ci/conformance_data.py FOLDER`.

`anaphora suites get` downloads each set and checks its SHA-256; the files are then arranged as in ANAPHORA_DATA. Only
sets that anyone may download are here. Tests of other data are skipped, as they are wherever data is missing.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

from anaphora.suites.get import get, home

# folder of ANAPHORA_DATA → the suites whose files it holds, and whether the files are compressed there
FOLDERS = {
    "disceval-en-fr": (("bawden-coreference", "bawden-cohesion"), False),
    "disceval-en-cs": (("bawden-cs",), False),
    "lopes-en-fr": (("lopes-en-fr-1", "lopes-en-fr-3"), True),
    "voita-en-ru": (("voita-deixis-dev", "voita-lex-cohesion-dev", "voita-ellipsis-infl"), True),
}


def main(folder: Path) -> None:
    for name, (suites, compressed) in FOLDERS.items():
        for suite in suites:
            get(suite)
            for file in sorted((home() / "downloads" / suite).rglob("*")):
                if file.suffix in (".json", ".src", ".trg"):
                    write(file.read_bytes(), folder / name / file.name, compressed)


def write(content: bytes, path: Path, compressed: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if compressed:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content, mtime=0))
    else:
        path.write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
