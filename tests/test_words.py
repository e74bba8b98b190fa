"""The words of the project: American spelling and the field's words in code, options, messages, tests and docs."""

from __future__ import annotations

import ast
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


# Words of the project's early days, and what to write instead
EARLY = {
    "yardstick": "baseline",
    "do away with": "delete, replace",
    "does away with": "deletes, replaces",
    "goes on with": "resumes, continues",
    "go on with": "resume, continue",
    "anew": "again, from scratch",
    "in the making": "unfinished",
    "is there already": "already exists",
    "reckoned": "computed",
    "so many": "N, at most N",
}


def test_early_words_do_not_come_back() -> None:
    pattern = re.compile(rf"\b({'|'.join(EARLY)})\b", re.IGNORECASE)
    used = [
        (path.relative_to(ROOT).as_posix(), word, EARLY[word.lower()])
        for folder in ("src", "docs", "tests")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".md", ".js", ".html") and path.name != "test_words.py"
        for word in pattern.findall(path.read_text(encoding="utf-8"))
    ]
    assert not used


MEANINGLESS = {"found", "said", "told", "yardstick", "anew"}  # a variable is named after what it is
LONGEST = 10  # words of a test's name


def bound_names(path: Path) -> set[str]:
    """The names of variables, parameters, functions and classes of a module; fields may be parts of a format."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    fields = {
        id(line.target)
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }
    names = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            names.add(node.id)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


@pytest.mark.parametrize("folder", ["src", "tests", "docs"])
def test_names_say_what_they_name(folder: str) -> None:
    paths = sorted((ROOT / folder).rglob("*.py"))
    used = {path.relative_to(ROOT).as_posix(): bound_names(path) & MEANINGLESS for path in paths}
    assert not {name: words for name, words in used.items() if words}


def test_names_of_tests_are_promises_of_few_words() -> None:
    tests = [
        (path.name, name.split("_")[1:])
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for name in bound_names(path)
        if name.startswith("test_")
    ]
    assert not [
        (file, words) for file, words in tests if len(words) > LONGEST or {"said", "told", "anew"}.intersection(words)
    ]


def test_no_docstring_begins_with_of() -> None:
    """A docstring begins with a verb or with the thing itself."""
    begun = [
        (path.relative_to(ROOT).as_posix(), node.lineno)
        for folder in ("src", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (ast.get_docstring(node) or "").startswith("Of ")
    ]
    assert not begun
