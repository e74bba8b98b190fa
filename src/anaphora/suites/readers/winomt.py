"""WinoMT (Stanovsky et al. 2019): English sentences with a person whose gender a pronoun reveals."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from anaphora.core.errors import BadInput
from anaphora.core.files import existing, text_lines
from anaphora.core.parsing import whole_number
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

SUBSETS = {"en_pro": "pro", "en_anti": "anti"}  # sentences that follow a stereotype, and that contradict one
GENDERS = ("male", "female", "neutral")


def read(path: Path, *, target_language: str = "") -> Suite:
    """One file (en.txt, en_pro.txt, en_anti.txt), or the folder of all three.

    The set is English only and is for translation (`suites convert --to sources`): an example has one empty
    candidate and no gold. In a folder, en.txt is read, and the tag `stereotype` says which other file has the line.

    target_language: the language that the sentences will be translated to, for the header
    """
    folder = path if path.is_dir() else path.parent
    file = existing(path, "en.txt") if path.is_dir() else path
    if file is None:
        raise BadInput(path, "en.txt is missing here", remedy="Name the folder data/aggregates of the release.")
    subsets = {kind: existing(folder, f"{name}.txt") for name, kind in SUBSETS.items()} if path.is_dir() else {}
    stem = file.name.split(".")[0]

    def examples() -> Iterator[Example]:
        known = {kind: set(text_lines(subset)) for kind, subset in subsets.items() if subset is not None}
        for number, line in enumerate(text_lines(file), start=1):
            kind = next((kind for kind, lines in known.items() if line in lines), SUBSETS.get(stem))
            yield _example(file, number, line, kind)

    name = "winomt" if stem == "en" else f"winomt-{stem.removeprefix('en_')}"
    header = Header(name, "en", target_language, ("gender", "stereotype"), None, citation("winomt"), "MIT")
    return suite_of(header, examples, path)


def _example(file: Path, number: int, line: str, stereotype: str | None) -> Example:
    cells = line.split("\t")
    if len(cells) != 4 or cells[0] not in GENDERS:
        raise BadInput(file, "gender, position, sentence and person are expected, separated by tabs", line=number)
    gender, position, sentence, person = cells
    index = whole_number(position, file, number, "the position of the person")
    if not 0 <= index < len(sentence.split()):
        raise BadInput(file, f"the sentence has no word {index}", line=number)
    tags: dict[str, Tag] = {"gender": gender, "person": person, "position": index}
    if stereotype is not None:
        tags["stereotype"] = stereotype
    return Example(str(number), (sentence,), (("",),), None, tags)
