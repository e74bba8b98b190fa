"""What mining leaves: a Suite like any other, and ContraPro's JSON where it is wanted."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from anaphora.build.mine.balance import Find, Place
from anaphora.build.mine.contrapro import ContraProWriter
from anaphora.build.mine.piece import Piece, unpack_pieces
from anaphora.build.mine.stage import Stage
from anaphora.core.files import atomic_writer
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, example_line, header_line


def examples(finds: Iterable[tuple[Place, Find]], text: Stage, context: int) -> Iterator[tuple[str, Example]]:
    """The finds, each with its class, and with the sentences before it, fewer where a document begins."""
    shard, pieces = -1, []
    used: Counter[str] = Counter()
    for (number, _), find in finds:
        if number != shard:
            shard, pieces = number, list(unpack_pieces(text.read(number)))
        yield find["label"], _example(find, pieces[find["piece"]], context, used)


def _example(find: Find, piece: Piece, context: int, used: Counter[str]) -> Example:
    index = find["sentence"]
    before = slice(max(0, index - context), index)
    passage = piece.target[before]
    tags = find["tags"]
    name = f"{tags['document']}:{tags['sentence']}:{find['label']}"
    name = name if find["number"] == 1 else f"{name}:{find['number']}"
    used[name] += 1  # more than once where two documents have one name
    return Example(
        id=name if used[name] == 1 else f"{name}#{used[name]}",
        source=(*piece.source[before], piece.source[index]),
        candidates=tuple((*passage, target) for target in (find["right"], *find["wrong"])),
        gold=0,
        tags=tags,
    )


def write_suite(
    path: Path | None, contrapro: Path | None, header: Header, found: Iterable[Example], made: Mapping[str, Any]
) -> str:
    """Write the examples as they come; the hash of the suite.

    path: of the suite; contrapro: of ContraPro's JSON; either may be left out
    made: how it was made, kept in the header
    """
    digest = hashlib.sha256()
    with ExitStack() as stack:
        out = stack.enter_context(atomic_writer(path)) if path is not None else None
        records = ContraProWriter(stack.enter_context(atomic_writer(contrapro))) if contrapro is not None else None
        if out is not None:
            fields = json.loads(header_line(header)) | {"mined": dict(made)}
            out.write(json.dumps(fields, ensure_ascii=False).encode() + b"\n")
        for example in found:
            line = example_line(example)
            digest.update(line)
            if out is not None:
                out.write(line)
            if records is not None:
                records.write(example)
        if records is not None:
            records.end()
    return digest.hexdigest()
