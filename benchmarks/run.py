"""The benchmarks: python benchmarks/run.py [NAME …] [--json]. Exits with 1 if a target is missed."""

from __future__ import annotations

import argparse
import importlib
import json
import sys

from timing import Row

# each a module next to this one, with a function run()
BENCHMARKS = (
    "evaluate",
    "memory",
    "bootstrap",
    "scoring",
    "workers",
    "apt",
    "align",
    "templates",
    "recurrent",
    "training",
    "mining",
    "mining_memory",
    "report",
    "baselines",
    "own_ratio",
    "attribution",
    "assignment",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which to run, all by default: {', '.join(BENCHMARKS)}"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}. Known: {', '.join(BENCHMARKS)}")
    rows: list[Row] = []
    for name in arguments.names or BENCHMARKS:
        print(f"{name} …", file=sys.stderr, flush=True)
        rows += importlib.import_module(name).run()
    print(json.dumps([row.to_dict() for row in rows], indent=2, ensure_ascii=False) if arguments.json else table(rows))
    return 0 if all(row.met for row in rows) else 1


def table(rows: list[Row]) -> str:
    cells = [("", "measured", "target", "", "")]
    for row in rows:
        sign, target = ("≥", row.at_least) if row.at_least is not None else ("≤", row.at_most)
        wanted = "" if target is None else f"{sign} {target:g} {row.unit}".rstrip()
        met = "" if target is None else "met" if row.met else "MISSED"
        cells.append((row.name, f"{row.figure:.3g} {row.unit}".rstrip(), wanted, met, row.note))
    widths = [max(len(line[k]) for line in cells) for k in range(5)]
    lines = [
        f"{name:<{widths[0]}}  {figure:>{widths[1]}}  {target:>{widths[2]}}  {met:<{widths[3]}}  {note}".rstrip()
        for name, figure, target, met, note in cells
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
