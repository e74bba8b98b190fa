"""The formats a suite can be read from. A new one is one file in `readers/` and one line here."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry
from anaphora.suites.suite import Suite

FORMATS = Registry(
    "format",
    {
        "native": "anaphora.suites.suite:read_native",
        "contrapro": "anaphora.suites.readers.contrapro:read",
        "contrapro-rebuilt": "anaphora.suites.readers.contrapro_rebuilt:read",
        "contracat": "anaphora.suites.readers.contracat:read",
        "contracat-attack": "anaphora.suites.readers.contracat_attack:read",
        "disceval": "anaphora.suites.readers.disceval:read",
        "lopes": "anaphora.suites.readers.lopes:read",
        "voita": "anaphora.suites.readers.voita:read",
        "scat": "anaphora.suites.readers.scat:read",
        "eval-anaphora": "anaphora.suites.readers.eval_anaphora:read",
        "text": "anaphora.suites.readers.text:read",
    },
)


def read_suite(path: Path, format: str = "native", **options: Any) -> Suite:
    """Open a suite in any of the formats. An option the format does not know is an error, not ignored."""
    reader = FORMATS.load(format)
    known = [name for name in inspect.signature(reader).parameters if name != "path"]
    for name in options:
        if name not in known:
            takes = ", ".join(f"--{k.replace('_', '-')}" for k in known) or "no options"
            raise AnaphoraError(
                f"--{name.replace('_', '-')} means nothing to the format {format!r}, which takes {takes}"
            )
    suite: Suite = reader(path, **options)
    return suite
