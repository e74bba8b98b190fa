"""Word alignment of sentences: train in both directions, symmetrize, save, and apply to new sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anaphora import __version__
from anaphora.align.alignment import (
    DEFAULT,
    HEURISTICS,
    Agreement,
    Alignment,
    agreement,
    check_alignment,
    format_alignment,
    parse_alignment,
    symmetrize,
)
from anaphora.align.backend import Directions, Pair, Progress, Settings, Words, load_backend
from anaphora.align.tokenize import Text, Tokenization, Treatment, signature
from anaphora.core.documents import read_parallel
from anaphora.core.errors import AnaphoraError, BadInput, check_name
from anaphora.core.files import atomic_folder, atomic_writer, sha256_of
from anaphora.core.parsing import read_json, shown

MAX_CELLS = 4_000_000  # pairs of words in a pair of sentences: 2,000 words on each side; each takes some 50 bytes
Sentences = Sequence[Words]


class Aligner:
    """Aligns sentence pairs given as words. Pairs with an empty side are not used for training and have no links."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.backend = load_backend(self.settings)
        self.symmetrize = self.settings.symmetrize or DEFAULT
        check_name("symmetrization", self.symmetrize, HEURISTICS)
        self.trained_on: int | None = None  # number of pairs; None before training

    @property
    def name(self) -> str:
        """The name for signatures: backend, model and symmetrization."""
        return f"{self.settings.backend}-{self.backend.model}-{self.symmetrize}"

    def train(
        self,
        source: Sentences,
        target: Sentences,
        *,
        corpus: Sequence[Pair] = (),
        progress: Progress | None = None,
    ) -> list[Alignment]:
        """Train on these sentences inside a larger corpus, and align them (APT 2017, §2.3)."""
        if corpus and not self.backend.learns:
            raise AnaphoraError(f"backend {self.settings.backend!r} is not trained and cannot use a corpus")
        pairs = self._pairs(source, target)
        more = self._pairs([one for one, _ in corpus], [other for _, other in corpus], location="corpus sentence")
        if not self.backend.learns:
            return self._merged(self.backend.train((), pairs), pairs)
        texts, more = _without_empty(pairs), _without_empty(more)
        if not texts and not more:
            raise AnaphoraError("no training data: every sentence pair has an empty side")
        directions = self.backend.train(more, texts, progress)
        self.trained_on = len(more) + len(texts)
        return self._merged(directions, pairs)

    def align(self, source: Sentences, target: Sentences) -> list[Alignment]:
        """Align new sentences with the trained model. The links of a pair do not depend on other pairs."""
        if self.trained_on is None:
            raise AnaphoraError("the aligner is not trained. Train it, or load a saved one")
        pairs = self._pairs(source, target)
        return self._merged(self.backend.align(_without_empty(pairs)), pairs)

    def save(self, folder: Path | str) -> None:
        """Write the trained aligner to a folder: a header and the backend's own files."""
        if self.trained_on is None:
            raise AnaphoraError("the aligner is not trained, so there is nothing to save")
        check_output(Path(folder))
        settings = replace(self.settings, model=self.backend.model, symmetrize=self.symmetrize)
        with atomic_folder(Path(folder), replace=True) as temporary:
            self.backend.save(temporary)
            header = {
                "anaphora-alignment-model": FORMAT,
                **{name: getattr(settings, name) for name in NOTED},
                "normalize": settings.normalize,
                "languages": list(settings.languages),
                "library": self.backend.version(),
                "trained_on": self.trained_on,
                "files": {path.name: sha256_of(path) for path in sorted(temporary.iterdir())},
            }
            text = json.dumps(header, ensure_ascii=False, indent=2) + "\n"
            (temporary / HEADER).write_text(text, encoding="utf-8")

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        backend: str | None = None,
        symmetrize: str | None = None,
        threads: int | None = None,
    ) -> Aligner:
        """A saved aligner. backend: the backend it must have; symmetrize: another heuristic than the saved one."""
        saved = open_model(Path(folder), backend)
        aligner = cls(replace(saved.settings, symmetrize=symmetrize or saved.settings.symmetrize, threads=threads))
        installed = aligner.backend.version()
        if _release(installed) != _release(saved.library):  # another release may misread the files
            problem = f"the model was trained by {saved.library}, but {installed} is installed"
            remedy = f"Train it again, or install {saved.library.replace(' ', '==', 1)}."
            raise BadInput(Path(folder), problem, remedy=remedy)
        aligner.backend.load(Path(folder))
        aligner.trained_on = saved.trained_on
        return aligner

    def _pairs(self, source: Sentences, target: Sentences, location: str = "sentence") -> list[Pair]:
        if len(source) != len(target):
            raise AnaphoraError(f"{len(source):,} source sentences, but {len(target):,} target sentences")
        sides = (
            [self._words(words, f"{location} {n:,}") for n, words in enumerate(side, start=1)]
            for side in (source, target)
        )
        pairs = list(zip(*sides, strict=True))
        for n, (one, other) in enumerate(pairs if self.backend.learns else (), start=1):
            if len(one) * len(other) > MAX_CELLS:
                size = f"{len(one):,} and {len(other):,} words, too many to align"
                raise AnaphoraError(f"{location} {n:,}: {size}. Write one sentence per line")
        return pairs

    def _words(self, sentence: Words, location: str) -> Words:
        """The words as the model sees them; an error if a word is empty or contains a space."""
        text = " ".join(sentence)
        words = (text.lower() if self.settings.lowercase else text).split()
        if len(words) != len(sentence) or not all(sentence):
            raise AnaphoraError(f"{location}: a word is empty or has a blank in it")
        return words

    def _merged(self, directions: Sequence[Directions], pairs: Sequence[Pair]) -> list[Alignment]:
        """Return one alignment per pair; pairs with an empty side have no links."""
        if not self.backend.learns:
            return [symmetrize(*both, self.symmetrize) for both in directions]
        rest = iter(directions)
        return [symmetrize(*next(rest), self.symmetrize) if source and target else () for source, target in pairs]


def align(
    source: Sentences,
    target: Sentences,
    *,
    corpus: Sequence[Pair] = (),
    settings: Settings | None = None,
    progress: Progress | None = None,
) -> list[Alignment]:
    """The word alignment of sentence pairs given as words, trained inside a larger corpus.

    >>> align([["the", "house"], ["the", "book"]], [["das", "Haus"], ["das", "Buch"]])  # doctest: +SKIP
    [((0, 0), (1, 1)), ((0, 0), (1, 1))]
    """
    return Aligner(settings).train(source, target, corpus=corpus, progress=progress)


@dataclass(frozen=True, slots=True)
class SystemAlignments:
    """The source aligned with its reference, and with the translation of each system."""

    reference: list[Alignment]
    systems: dict[str, list[Alignment]] = field(default_factory=dict)


def align_systems(
    source: Sentences,
    reference: Sentences,
    systems: Mapping[str, Sentences],
    *,
    corpus: Sequence[Pair] = (),
    settings: Settings | None = None,
    aligner: Aligner | None = None,
    given: Sequence[Alignment] | None = None,
    progress: Progress | None = None,
) -> SystemAlignments:
    """Align a source with its reference and with the translations of systems.

    Each system is aligned separately, inside corpus, source and reference: its links do not depend on the other
    systems or their order. A trained aligner, if given, is applied to all of them. A sentence that is equal to the
    reference gets the reference's links, not those of the system's own model, so that equal sentences never make a
    difference between a system and the reference.

    given: the alignment of the reference, if it is already known
    """
    if aligner is not None:
        of_reference = list(aligner.align(source, reference) if given is None else given)
        aligned = {name: aligner.align(source, text) for name, text in systems.items()}
        return _with_equal_links(of_reference, reference, systems, aligned, lowercase=aligner.settings.lowercase)
    rounds = (given is None) + len(systems)

    def part(number: int) -> Progress | None:
        if progress is None:
            return None
        return lambda done, total: progress(number * total + done, rounds * total)

    larger = [*corpus, *zip(source, reference, strict=True)]
    of_reference = (
        align(source, reference, corpus=corpus, settings=settings, progress=part(0)) if given is None else list(given)
    )
    aligned = {
        name: align(source, text, corpus=larger, settings=settings, progress=part(number))
        for number, (name, text) in enumerate(systems.items(), start=given is None)
    }
    return _with_equal_links(of_reference, reference, systems, aligned, lowercase=(settings or Settings()).lowercase)


def _with_equal_links(
    of_reference: list[Alignment],
    reference: Sentences,
    systems: Mapping[str, Sentences],
    aligned: Mapping[str, list[Alignment]],
    *,
    lowercase: bool,
) -> SystemAlignments:
    """Replace the links of sentences equal to the reference, as the model sees them, by the reference's links."""

    def seen(words: Words) -> list[str]:
        return [word.lower() for word in words] if lowercase else list(words)

    ours = [seen(words) for words in reference]
    chosen = {
        name: [
            links if seen(words) == same else own
            for words, same, links, own in zip(systems[name], ours, of_reference, alignments, strict=True)
        ]
        for name, alignments in aligned.items()
    }
    return SystemAlignments(of_reference, chosen)


def _without_empty(pairs: Sequence[Pair]) -> list[Pair]:
    return [(source, target) for source, target in pairs if source and target]


# Saved aligners: a folder with a JSON header and the files of the backend, each with a checksum.

HEADER = "alignment-model.json"
FORMAT = 1
NOTED = ("backend", "model", "symmetrize", "lowercase", "seed", "tokenize")  # settings that are copied to the header
TYPES: dict[str, type] = {
    **dict.fromkeys(("backend", "model", "library", "symmetrize", "tokenize"), str),
    **dict.fromkeys(("lowercase",), bool),
    **dict.fromkeys(("seed", "trained_on"), int),
    "languages": list,
    "files": dict,
}
RETRAIN = "Train and save it again."


@dataclass(frozen=True, slots=True)
class SavedModel:
    """The header of a saved model: settings, library, and the number of sentence pairs it was trained on."""

    settings: Settings
    library: str
    trained_on: int


def check_output(folder: Path) -> None:
    """Raise BadInput if the folder exists and holds something other than a saved model."""
    if folder.exists() and not (folder / HEADER).is_file():
        raise BadInput(folder, "already exists and is not a saved alignment model", remedy="Choose another folder.")


def open_model(folder: Path, backend: str | None = None) -> SavedModel:
    """The header of a saved model whose files match their checksums. backend: the backend it must have."""
    path = folder / HEADER
    if not path.is_file():
        what = "no saved alignment model" if folder.is_dir() else "no such folder"
        raise BadInput(folder, what, remedy="Create one with: anaphora align … --save FOLDER.")
    header = read_json(path)
    version = header.get("anaphora-alignment-model") if isinstance(header, dict) else None
    if version != FORMAT:
        raise BadInput(path, f"version {version!r} of saved models, but this program reads {FORMAT}", remedy=RETRAIN)
    for name, kind in TYPES.items():
        if not isinstance(header.get(name), kind):
            raise BadInput(path, f"{name!r} is missing or invalid", remedy=RETRAIN)
    if backend is not None and header["backend"] != backend:
        problem = f"a model of backend {header['backend']!r}, not {backend!r}"
        raise BadInput(folder, problem, remedy=f"Apply it with --aligner {header['backend']}.")
    for name, checksum in header["files"].items():
        if Path(name).name != name or len(name) > 100 or not (folder / name).is_file():  # ours have short names
            raise BadInput(folder, f"the file {shown(name)} of the model is missing", remedy=RETRAIN)
        if sha256_of(folder / name) != checksum:
            raise BadInput(folder / name, "the file is damaged: it is not the one that was saved", remedy=RETRAIN)
    noted = {name: header[name] for name in NOTED}
    noted["normalize"] = header.get("normalize") is True  # models of 0.1.0 were trained on text as it is
    first, second = map(str, (*header["languages"], "", "")[:2])
    settings = Settings(**noted, languages=(first, second))
    return SavedModel(settings, header["library"], header["trained_on"])


def model_code(folder: Path) -> str:
    """A short hash of the settings and files of a saved model."""
    return sha256_of(folder / HEADER)[:6]


def _release(library: str) -> tuple[str, ...]:
    """`sil-thot 3.5.3` → (sil-thot, 3, 5)."""
    name, _, version = library.partition(" ")
    return (name, *version.split(".")[:2])


# `anaphora align`: align two files and write a file of alignments.


Texts = tuple[Text, Text]


@dataclass(frozen=True, slots=True)
class Aligned:
    """The result of aligning two files.

    empty: pairs with an empty side; unaligned: other pairs without links
    texts: how source and target were processed
    """

    output: Path
    pairs: int
    points: int
    empty: int
    unaligned: int
    aligner: Aligner
    texts: Mapping[str, Treatment]
    agreement: Agreement | None = None

    @property
    def signature(self) -> str:
        """The signature of the alignment, in the style of sacreBLEU."""
        settings = self.aligner.settings
        parts = (
            "align",
            f"by:{self.aligner.name}",
            *signature(self.texts.values(), normalize=settings.normalize),
            f"case:{'lc' if settings.lowercase else 'mixed'}",
            f"seed:{settings.seed}",
            f"v:{__version__}",
        )
        return "|".join(parts)

    def to_dict(self) -> dict[str, Any]:
        settings, backend = self.aligner.settings, self.aligner.backend
        document = {
            "output": str(self.output),
            "pairs": self.pairs,
            "points": self.points,
            "empty": self.empty,
            "unaligned": self.unaligned,
            "backend": settings.backend,
            "model": backend.model,
            "library": backend.version(),
            "symmetrize": self.aligner.symmetrize,
            "tokenize": signature(self.texts.values(), normalize=True)[0].removeprefix("tok:"),
            "texts": {name: treatment.to_dict() for name, treatment in self.texts.items()},
            "lowercase": settings.lowercase,
            "seed": settings.seed,
            "trained_on": self.aligner.trained_on,
            "reproducible": backend.reproducible,
            "signature": self.signature,
        }
        return document if self.agreement is None else document | {"agreement": self.agreement.to_dict()}


def align_files(
    aligner: Aligner,
    source: Path,
    target: Path,
    output: Path,
    *,
    corpora: Sequence[tuple[Path, Path]] = (),
    tokens: tuple[Path, Path] | None = None,
    gold: Path | None = None,
    progress: Progress | None = None,
) -> Aligned:
    """Align two files line by line. A trained aligner is applied; another one is trained.

    tokens: output files for the words to which the indices refer
    gold: alignments to compare with
    """
    counted = gold is not None or not aligner.backend.learns  # given alignments refer to the words of the files
    texts = _read(aligner, source, target, counted=counted)
    given = None if gold is None else _gold(gold, source, target, texts)  # errors are found before training
    sentences = [side.sentences for side in texts]
    with atomic_writer(output) as out:  # opened before training, so that write errors are found early
        if aligner.trained_on is None:
            corpus = [
                pair
                for paths in corpora
                for pair in zip(*(side.sentences for side in _read(aligner, *paths)), strict=True)
            ]
            alignments = aligner.train(*sentences, corpus=corpus, progress=progress)
        else:
            alignments = aligner.align(*sentences)
        out.writelines(f"{format_alignment(alignment)}\n".encode() for alignment in alignments)
    if tokens is not None:
        for path, side in zip(tokens, sentences, strict=True):
            with atomic_writer(path) as out:
                out.writelines(f"{' '.join(words)}\n".encode() for words in side)
    empty = sum(not (one and other) for one, other in zip(*sentences, strict=True))
    return Aligned(
        output,
        pairs=len(alignments),
        points=sum(map(len, alignments)),
        empty=empty,
        unaligned=sum(not points for points in alignments) - empty,
        aligner=aligner,
        texts={str(path): side.treatment for path, side in zip((source, target), texts, strict=True)},
        agreement=None if given is None else agreement(alignments, given),
    )


def _read(aligner: Aligner, source: Path, target: Path, *, counted: bool = False) -> Texts:
    """Both texts as words. counted: given alignments refer to the words of the files."""
    one, other = read_parallel(source, target)
    settings = aligner.settings
    how = "none" if counted and settings.tokenize == "auto" else settings.tokenize
    words = Tokenization(how, settings.normalize, settings.languages)
    return words.source(one), words.target(other)


def _gold(path: Path, source: Path, target: Path, texts: Texts) -> list[Alignment]:
    given = []
    lines = read_parallel(source, target, path)[-1]
    for number, (line, one, other) in enumerate(zip(lines, *(side.sentences for side in texts), strict=True), start=1):
        given.append(parse_alignment(line, path, number))
        check_alignment(given[-1], len(one), len(other), path, number)
    return given
