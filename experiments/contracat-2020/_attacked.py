"""ContraPro attacked in all ways of ContraCAT's appendix B, and its templates."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import zstandard
from _command import anaphora

ASKED = 500  # random items of each template that has more
SEED = 1
WORDNET = Path(os.environ.get("WORDNET") or "/usr/share/wordnet")  # Debian's wordnet-base
MYTHES = Path(os.environ.get("MYTHES") or "/usr/share/mythes/th_de_DE_v2.dat")  # Debian's mythes-de


class Suites:
    """The suites of an experiment, each written once.

    folder: where they are written; whole: ContraPro
    """

    def __init__(self, data: Path, folder: Path, whole: Path) -> None:
        self.data, self.folder, self.whole = data, folder, whole

    def synonyms(self) -> dict[str, Path]:
        """The paper's synonyms, and ours where their resources are at hand."""
        found = {"released": self.once("synonyms-released", self.released)}
        if WORDNET.is_dir() and MYTHES.is_file():
            found["ours"] = self.once("synonyms", self.replaced)
        return found

    def phrases(self, *names: str) -> Path:
        """Phrases added to each item; all of them by default."""
        return self.attack("phrase", names)

    def owners(self, *names: str) -> Path:
        """Owners given to the antecedents that take one; all of them by default."""
        return self.attack("possessive", names)

    def once(self, name: str, write: Callable[[Path], object]) -> Path:
        path = self.folder / f"{name}.jsonl"
        if not path.exists():
            write(path)
        return path

    def templates(self) -> Path:
        """A part of the templates: all priors, and at most ASKED random items of each other template."""
        whole = self.once("every-template", lambda path: anaphora("build", "templates", "-o", path))

        def write(path: Path) -> None:
            of: dict[str, list[str]] = {}
            for item in read(whole):
                of.setdefault(item["tags"]["template"], []).append(item["id"])
            chosen = (found if name.startswith("prior/") else drawn(found, ASKED) for name, found in of.items())
            part(whole, frozenset(number for found in chosen for number in found), path)

        return self.once("templates", write)

    def steps(self) -> Path:
        """The same without priors."""

        def write(path: Path) -> None:
            whole = self.templates()
            chosen = (item["id"] for item in read(whole) if not item["tags"]["template"].startswith("prior/"))
            part(whole, frozenset(chosen), path)

        return self.once("steps", write)

    def attack(self, kind: str, names: tuple[str, ...]) -> Path:
        def write(path: Path) -> None:
            presets = names or anaphora("build", "attack", "presets", "--json")[kind]
            chosen = [word for name in presets for word in ("--preset", name)]
            anaphora("build", "attack", kind, self.whole, *chosen, "-o", path)

        return self.once(".".join(("contrapro", kind, *names)), write)

    def released(self, path: Path) -> None:
        """The synonyms of the paper."""
        folder = self.data / "contracat/attacks/synonyms"
        anaphora("suites", "convert", folder, "--from", "contracat-attack", "-o", path)

    def replaced(self, path: Path) -> None:
        """Our own synonyms, of WordNet and OpenThesaurus."""
        dictionary = self.folder / "de-en.txt"
        if not dictionary.exists():
            with (self.data / "ding-de-en/de-en.txt.zst").open("rb") as packed, dictionary.open("wb") as out:
                zstandard.ZstdDecompressor().copy_stream(packed, out)
        arguments = ("--thesaurus", f"mythes:{MYTHES}", "--dictionary", dictionary, "--wordnet", WORDNET)
        anaphora("build", "attack", "synonym", self.whole, *arguments, "-o", path)


def read(suite: Path) -> Iterator[dict[str, Any]]:
    with suite.open(encoding="utf-8") as file:
        next(file)  # the header
        yield from map(json.loads, file)


def drawn(known: list[str], size: int) -> frozenset[str]:
    """Random items; a smaller sample is a part of a larger one."""
    return frozenset(random.Random(SEED).sample(known, len(known))[:size])


def part(suite: Path, chosen: frozenset[str], path: Path) -> None:
    """Write a suite of the chosen items, under the same name."""
    with suite.open(encoding="utf-8") as file, path.open("w", encoding="utf-8") as out:
        out.write(next(file))
        out.writelines(line for line in file if json.loads(line)["id"] in chosen)
