"""The documented experiments, one folder per paper: `make experiments`, or `python experiments/run.py NAME… [OPTIONS]`.

Each leaves its figures as JSON and its table as Markdown in its folder. Data: ANAPHORA_DATA. Afterwards docs/results.md
is written from all of these figures; `python experiments/run.py results` does nothing else.
"""

from __future__ import annotations

import argparse
import runpy
import sys
import time
from itertools import takewhile
from pathlib import Path

import _results

RESULTS = "results"
HERE = Path(__file__).resolve().parent


def experiments() -> dict[str, Path]:
    """FOLDER/NAME → its script."""
    found = sorted(path for path in HERE.glob("*/*.py") if not path.name.startswith("_"))
    return {f"{path.parent.name}/{path.stem}": path for path in found}


def main() -> int:
    known = experiments()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    every = ", ".join([*known, RESULTS])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all by default: {every}")
    options = [word for word in sys.argv[1:] if word in ("-h", "--help")]
    leading = takewhile(lambda word: not word.startswith("-"), sys.argv[1:])  # what follows is an experiment's own
    names = parser.parse_args([*leading, *options]).names or list(known)
    unknown = [name for name in names if name not in known and name != RESULTS]
    if unknown:
        parser.error(f"unknown experiment {unknown[0]!r}. Known: {every}")
    for name in (name for name in names if name != RESULTS):
        print(f"{name} …", file=sys.stderr, flush=True)
        began = time.monotonic()
        sys.path.insert(0, str(known[name].parent))
        try:
            runpy.run_path(str(known[name]), run_name="__main__")
        except SystemExit as end:
            if end.code:
                raise
        sys.path.pop(0)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    _results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
