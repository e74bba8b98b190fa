"""The case counts of a sweep from the texts themselves: each alignment as it is, and with APT's heuristics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from anaphora.align.tokenize import DEFAULT
from anaphora.languages.pronoun_files import pronoun_lists
from anaphora.languages.pronouns import normalise
from anaphora.metrics.apt import paper as apt_paper
from anaphora.metrics.apt.cases import count_cases
from anaphora.metrics.apt.input import Files, read_task

ALIGNMENTS = {"basic": False, "heuristics": True}  # the two of Table 4: without and with the rescue of §2.3


def cases_of_texts(
    files: Files,
    languages: str,
    *,
    pronouns: Sequence[str] = (),
    lists: Path | None = None,
    tokenize: str = DEFAULT,
    normalize: bool = True,
) -> dict[str, dict[str, tuple[int, ...]]]:
    """For both alignments, how many pronouns of each system are in each case (APT as the paper has it)."""
    wanted = tuple(map(normalise, pronouns))
    one, _, other = languages.partition("-")
    words = files.tokenization(tokenize, normalize, (one, other))
    task = read_task(files, words, pronoun_lists(languages, lists), pronouns=wanted)
    return {
        name: {
            outcome.name: count_cases(triple.case for triple in outcome.triples)
            for outcome in apt_paper.outcomes(replace(task, rescue=rescue))
        }
        for name, rescue in ALIGNMENTS.items()
    }
