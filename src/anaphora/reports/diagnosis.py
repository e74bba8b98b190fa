"""A diagnosis on paper: words first, then one table with a column group per system."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anaphora.core.files import atomic_writer
from anaphora.evaluation.diagnosis import Check, Diagnosis
from anaphora.evaluation.diagnosis_evidence import STEPS
from anaphora.reports.tables import level_of
from anaphora.systems.context import Measurement
from anaphora.table import Row, Table, rows_of, section

MARKS = {"failure": "✗", "weakness": "~", "note": "·", "strength": "✓"}
WIDTH = 110
WORDS = ("table", "markdown")  # the formats that have words above the table


def diagnosis_words(diagnoses: Sequence[Diagnosis], format: str = "table") -> str:
    """The statements of each system and what to try, as wrapped lines or as Markdown lists."""
    return "\n\n".join(_words(diagnosis, format == "markdown") for diagnosis in diagnoses)


def _words(diagnosis: Diagnosis, markdown: bool) -> str:
    lines = [f"**{title_of(diagnosis)}**\n" if markdown else title_of(diagnosis)]
    for line in statements(diagnosis):
        lines += [f"- {line}"] if markdown else textwrap.wrap(line, WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def statements(diagnosis: Diagnosis) -> list[str]:
    """What is said of a system, each with its mark, and what to try."""
    said = [f"{MARKS[statement.severity]} {statement.text}" for statement in diagnosis.statements]
    said = said or ["· Nothing can be said: there are too few items."]
    reasons: dict[str, list[str]] = {}
    for command, text, _ in diagnosis.advice:
        reasons.setdefault(command, []).append(text)
    return [*said, *(f"→ what to try: {command} ({'; '.join(texts)})" for command, texts in reasons.items())]


def diagnosis_table(diagnoses: Sequence[Diagnosis]) -> Table:
    """A row per check under its step; several systems side by side, called A, B …"""
    several = len(diagnoses) > 1
    columns = [""]
    for k in range(len(diagnoses)):
        letter = f"{letter_of(k)} " if several else ""
        columns += [
            f"{letter}{name}" for name in ("n", "figure", f"{level_of(diagnoses[0].settings)} interval", "verdict")
        ]
    rows: list[Row] = []
    for step in STEPS:
        found = [{(c.rule, c.name): c for c in d.checks if c.step == step} for d in diagnoses]
        keys = list(dict.fromkeys(key for checks in found for key in checks))
        if not keys:
            continue
        rows.append(section(step))
        for key in keys:
            cells = [cell for checks in found for cell in _cells(checks.get(key))]
            part = any(checks[key].part for checks in found if key in checks)
            rows += rows_of([(key[1], *cells)], indent=1 + part)
    return Table("which step fails, and why", tuple(columns), tuple(rows), _notes(diagnoses, several))


def write_items(diagnoses: Sequence[Diagnosis], folder: Path) -> list[Path]:
    """The items behind the statements: JSON Lines, a file per rule, in a folder per system where there are several."""
    rows: dict[Path, list[dict[str, Any]]] = {}
    for k, diagnosis in enumerate(diagnoses):
        place = folder / letter_of(k) if len(diagnoses) > 1 else folder
        for said in diagnosis.statements:
            file = rows.setdefault(place / f"{said.rule.replace('/', '-')}.jsonl", [])
            for check in said.checks:
                about = {"rule": check.rule, "verdict": check.found.verdict, "suite": check.suite}
                file += [{"id": item, **about} for item in check.found.items]
    for path, lines in rows.items():
        with atomic_writer(path) as out:
            out.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)
    return list(rows)


def title_of(diagnosis: Diagnosis) -> str:
    context = f" · context {diagnosis.context}" if diagnosis.context else ""
    if code := Measurement(settings=diagnosis.protocol).code:
        context += f" · settings {code}"
    return f"{diagnosis.system} · {diagnosis.languages.replace('-', '→')}{context}"


def letter_of(k: int) -> str:
    """A, B … Z, then A2, B2 …"""
    return chr(ord("A") + k % 26) + (str(k // 26 + 1) if k >= 26 else "")


def _cells(check: Check | None) -> tuple[str, str, str, str]:
    if check is None:
        return "–", "–", "–", "–"
    found, signs = check.found, "+.3f" if check.signed else ".3f"
    low, high = found.interval
    figure, interval = f"{found.value:{signs}}", f"[{low:{signs}}, {high:{signs}}]"
    return f"{found.total:,}", figure.replace("-", "−"), interval.replace("-", "−"), check.shown


def _notes(diagnoses: Sequence[Diagnosis], several: bool) -> tuple[str, ...]:
    limits = diagnoses[0].thresholds
    names = [f"{letter_of(k)}: {title_of(d)}" for k, d in enumerate(diagnoses)] if several else []
    said = f"known: interval above {limits.known:g}; fails: interval not above chance; nothing is said of fewer than "
    letters = [f"{letter_of(k)} " if several else "" for k in range(len(diagnoses))]
    signatures = [f"{letter}signature {d.signature}" for letter, d in zip(letters, diagnoses, strict=True)]
    return (*names, f"{said}{limits.minimum} items; the rules: docs/diagnosis.md", *signatures)
