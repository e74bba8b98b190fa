"""MT-GenEval (Currey et al. 2022): the gender of people in Wikipedia sentences, with and without context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from anaphora.core.documents import parallel_lines
from anaphora.core.errors import BadInput
from anaphora.core.files import require
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of

CONTEXT = "geneval-context-wikiprofessions"
SENTENCES = "geneval-sentences"
SETS = {"context": f"{CONTEXT}-2to1", "sentences": f"{SENTENCES}-feminine"}
GENDERS = {"feminine": r"\b(she|her|hers|herself)\b", "masculine": r"\b(he|him|his|himself)\b"}
LICENSE = "CC BY-SA 3.0"
REMEDY = "Name the folder data/context or data/sentences of the release."


def read(path: Path, *, split: str = "test", target_language: str | None = None) -> Suite:
    """The contextual set (folder `context`) or the counterfactual set (folder `sentences`, or one split below it).

    split: dev or test
    target_language: of the pair, where the folder has several
    """
    for kind, prefix in SETS.items():
        folder = path / split if kind == "sentences" and (path / split).is_dir() else path
        pairs = sorted(_languages(folder, f"{prefix}-{split}"))
        if pairs:
            language = _chosen(folder, pairs, target_language)
            return (_contextual if kind == "context" else _counterfactual)(folder, split, language)
    raise BadInput(path, f"the files of the split {split!r} are missing here", remedy=REMEDY)


def _contextual(folder: Path, split: str, language: str) -> Suite:
    """Two English sentences, of which the first shows the gender, and the translation of the second in both genders.

    The context has no translation. A few lines (5 of en-de test, 8 of en-fr test) begin with `<sep>`: they have no
    context, nothing shows the gender, and their first sentence is "". The tag `gender` is ours: that of the pronouns
    of the context, where they are of one gender.
    """
    names = [f"{CONTEXT}-2to1-{split}.en_{language}.en"]
    names += [f"{CONTEXT}-{which}-{split}.en_{language}.{language}" for which in ("original", "flipped")]
    files = [require(folder, name, REMEDY) for name in names]

    def examples() -> Iterator[Example]:
        for number, (source, right, wrong) in enumerate(parallel_lines(*files), start=1):
            passage = [sentence.strip() for sentence in source.split("<sep>")]
            if len(passage) != 2:
                raise BadInput(files[0], "two sentences with <sep> between them are expected", line=number)
            tags: dict[str, Tag] = {"phenomenon": "gender of people", "compare": "words"}
            genders = [name for name, words in GENDERS.items() if re.search(words, passage[0], re.IGNORECASE)]
            if len(genders) == 1:
                tags["gender"] = genders[0]
            yield Example(str(number), tuple(passage), (("", right.strip()), ("", wrong.strip())), 0, tags)

    return suite_of(_header("context", split, language), examples, folder)


def _counterfactual(folder: Path, split: str, language: str) -> Suite:
    """A sentence about a woman and the same about a man; the other's translation is the wrong one of each."""
    names = [
        f"{SENTENCES}-{gender}-{split}.en_{language}.{side}" for side in ("en", language) for gender in GENDERS
    ]  # the genders in the order of GENDERS, first in English
    files = [require(folder, name, REMEDY) for name in names]

    def examples() -> Iterator[Example]:
        for number, row in enumerate(parallel_lines(*files), start=1):
            lines = [line.strip() for line in row]
            for k, gender in enumerate(GENDERS):
                tags: dict[str, Tag] = {"phenomenon": "gender of people", "compare": "words"}
                tags |= {"gender": gender, "pair": str(number)}
                candidates = ((lines[2 + k],), (lines[3 - k],))
                yield Example(f"{number}.{gender}", (lines[k],), candidates, 0, tags)

    return suite_of(_header("sentences", split, language, blocks="pair"), examples, folder)


def _header(kind: str, split: str, language: str, blocks: str | None = None) -> Header:
    name = f"mt-geneval-{kind}-{split}-en-{language}"
    return Header(name, "en", language, ("gender",), blocks, citation("mt-geneval"), LICENSE)


def _languages(folder: Path, prefix: str) -> set[str]:
    """The target languages of the English files with a prefix."""
    pattern = re.compile(re.escape(prefix) + r"\.en_([a-z]+)\.en(\.gz)?")
    files = folder.iterdir() if folder.is_dir() else iter(())
    return {match[1] for file in files if (match := pattern.fullmatch(file.name))}


def _chosen(folder: Path, available: list[str], wanted: str | None) -> str:
    if wanted is None and len(available) == 1:
        return available[0]
    if wanted not in available:
        problem = "several target languages" if wanted is None else f"no files for the target language {wanted!r}"
        raise BadInput(folder, f"{problem} (found: {', '.join(available)})", remedy="Choose --target-language.")
    return wanted
