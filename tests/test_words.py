"""The words of the project: American spelling in code, options, messages, tests and docs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TEXTS = (".py", ".md", ".html", ".js", ".css", ".yml", ".cff", "Makefile", "pyproject.toml", "catalog.toml")
TEXTS = (*TEXTS, "diagnosis.toml")
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
BRITISH = re.compile(
    r"""
    [a-z]{2,}is(e|ed|es|er|ers|ing|able|ation|ations)  # tokenise, randomisation
    | [a-z]*(anal|paral|catal)ys(e|ed|er|ers|ing)
    | [a-z]*(behavi|col|fav|flav|harb|hon|hum|lab|neighb|rum|endeav)our[a-z]*
    | [a-z]*(cent|theat|fib|calib)re[ds]?
    | [a-z]*(cancel|label|model|travel|signal|channel|level|tunnel|fuel)l(ed|ing|er|ers)
    | (cata|ana|homo|pro)logue[ds]? | [a-z]*(judge|acknowledge)ments? | licences? | defence | offence | artefacts?
    | grey[a-z]* | programmes? | spelt | learnt | burnt | whilst | amongst | towards | sceptic[a-z]* | fulfil
    """,
    re.VERBOSE,
)
AMERICAN = re.compile(  # words that end like British ones, and French words of the examples
    r"[a-z]*(wis|rais|nois|promis|surpris|exercis|enterpris|prais|precis|concis|premis|compris|advis|revis|ris"
    r"|expertis|disguis|merchandis|improvis|supervis)(e|ed|es|er|ers|ing|able)"
    r"|aise|chaise|chemise|grises?|mauvaises?|prises?|valise|église|française"
)
# Names that others script against: options, columns, settings and keys of version 0.1.0, and names of libraries
EVERYWHERE = {"licence", "licences"}  # the key of suite files, which is public
KEPT = {
    "judgement": ("CHANGELOG.md", "src/anaphora/metrics/judgments.py", "tests/metrics/test_judgments.py"),
    "judgements": (
        *("CHANGELOG.md", "src/anaphora/cli/app.py", "src/anaphora/cli/study.py", "tests/cli/test_meta.py"),
        *(
            "tests/cli/test_options.py",
            "tests/cli/test_study.py",
            "tests/fuzz/commands.py",
            "tests/seams/test_study.py",
        ),
    ),
    "normalisation": ("CHANGELOG.md",),
    "normalise": (
        *("CHANGELOG.md", "src/anaphora/measurement.py", "src/anaphora/nmt/config.py", "src/anaphora/nmt/text.py"),
        *("src/anaphora/systems/context.py", "src/anaphora/systems/nmt.py", "tests/evaluation/test_result.py"),
        *("tests/nmt/test_config.py", "tests/systems/test_nmt.py", "tests/reports/test_provenance.py"),
        "tests/test_api.py",
    ),
    "tokenise": (
        "docs/training.md",
        "src/anaphora/nmt/config.py",
        "src/anaphora/nmt/text.py",
        "tests/nmt/test_config.py",
    ),
    "tokenised": ("src/anaphora/cli/reference.py", "tests/cli/test_reference.py"),
    "randomisation": (
        *("CHANGELOG.md", "docs/results.md", "src/anaphora/stats/resampling.py", "tests/cli/test_scoring.py"),
        *("tests/evaluation/test_compare.py", "tests/stats/test_paired.py"),
    ),
    "cancelled": ("src/anaphora/systems/openai/concurrency.py", "src/anaphora/systems/openai/http.py"),  # of futures
    "labelledby": ("src/anaphora/study/page/study.html",),  # of HTML
}


def british(text: str) -> set[str]:
    """The British spellings among the words of a text, in lower case; parts of identifiers are words too."""
    words = {word.lower() for word in WORD.findall(text)}
    return {word for word in words if BRITISH.fullmatch(word) and not AMERICAN.fullmatch(word)} - EVERYWHERE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def tokenise_all(RandomisedColours): Centred", {"tokenise", "randomised", "colours", "centred"}),
        ("raise otherwise, promised; a precise surprise rises stepwise", set()),
        ("the catalogue of licences, judgements, greyscale", {"catalogue", "judgements", "greyscale"}),
        ("tokenize, center, catalog, judgment, dialogue, labeled", set()),
    ],
)
def test_british_spellings_are_found(text: str, expected: set[str]) -> None:
    assert british(text) == expected


def test_spelling_is_american() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = [name for name in listed.stdout.decode().split("\0") if name.endswith(TEXTS)]
    if not names:
        pytest.skip("not a git repository: what belongs to it is not known")
    spelled = {
        name: sorted(
            word for word in british((ROOT / name).read_text(encoding="utf-8")) if name not in KEPT.get(word, ())
        )
        for name in names
        if (ROOT / name).is_file() and name != "tests/test_words.py"
    }
    assert not {name: words for name, words in spelled.items() if words}


def test_kept_spellings_are_still_needed() -> None:
    missing = [
        (word, name)
        for word, names in KEPT.items()
        for name in names
        if word not in british((ROOT / name).read_text(encoding="utf-8")) | {"labelledby"}
    ]
    assert not missing
