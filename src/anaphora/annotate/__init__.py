"""Annotation with one protocol: spaCy, Stanza or CoNLL-U files, named by a spec such as `spacy:en_core_web_sm`."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from anaphora.annotate.document import Document
from anaphora.core.errors import AnaphoraError
from anaphora.core.registry import Registry

Line = str | Sequence[str]  # a sentence as text, which is tokenized, or as tokens, which are kept

ANNOTATORS = Registry(
    "annotator",
    {
        "spacy": "anaphora.annotate.spacy_pipeline:SpacyAnnotator",
        "stanza": "anaphora.annotate.stanza_pipeline:StanzaAnnotator",
        "conllu": "anaphora.annotate.conllu:ConlluAnnotator",
    },
    extras={"spacy": "mine", "stanza": "stanza"},
)
WEB = ("en", "zh")  # languages whose pipelines spaCy calls `core_web` rather than `core_news`
SIZES = ("_sm", "_md", "_lg")


class Annotator(Protocol):
    """Annotates a stream of documents: a document with a sentence for each line."""

    @property
    def language(self) -> str:
        """The ISO 639-1 code, or "" if it is unknown."""
        ...

    @property
    def needs_all(self) -> bool:
        """Whether it needs every line of the corpus in order, because the annotation is read from a file."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """The settings that the annotation depends on: the tool, its version, the model."""
        ...

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        """The annotated documents, in order; the annotator chooses its own batches."""
        ...


def load_annotator(spec: str, language: str = "") -> Annotator:
    """An annotator from its spec: spacy:NAME_OR_PATH, stanza:LANGUAGE, conllu:FILE.

    language: the language of the text, for annotators that do not know it (CoNLL-U)
    """
    kind, colon, what = spec.partition(":")
    if not colon or not what:
        known = "spacy:NAME_OR_PATH, stanza:LANGUAGE or conllu:FILE"
        raise AnaphoraError(f"not an annotator: {spec!r}. Write {known}")
    annotator: Annotator = ANNOTATORS.load(kind)(what, language)
    if annotator.language == "de" and kind != "conllu":  # annotation from a file is not changed
        from anaphora.annotate.lexicon import WithGenders
        from anaphora.languages.german import german_nouns

        lexicon = german_nouns()
        return WithGenders(annotator, lexicon) if lexicon is not None else annotator
    return annotator


def default_annotator(language: str, option: str) -> str:
    """The spec of the smallest spaCy pipeline for a language; an error with instructions if there is none.

    Installed pipelines come first, then those in the folder that ANAPHORA_MODELS names.
    """
    name = f"{language}_core_{'web' if language in WEB else 'news'}_sm"
    remedy = f"Name another annotator: {option} spacy:PIPELINE_OR_FOLDER, stanza:{language} or conllu:FILE"
    try:
        util: Any = import_module("spacy.util")
    except ModuleNotFoundError:
        get = f'pip install "anaphora[mine]", then: python -m spacy download {name}'
        raise AnaphoraError(
            f"no annotator for {language!r}: spaCy is not installed. Install it: {get}. {remedy}"
        ) from None
    folder = os.environ.get("ANAPHORA_MODELS")
    folders = [str(path.parent) for path in Path(folder).glob(f"{glob.escape(language)}_*/meta.json")] if folder else []
    for pipelines in (util.get_installed_models(), folders):
        fitting = [pipeline for pipeline in pipelines if Path(pipeline).name.startswith(f"{language}_")]
        if fitting:
            return f"spacy:{min(fitting, key=_size)}"
    get = f"python -m spacy download {name}"
    raise AnaphoraError(f"no spaCy pipeline for {language!r} is installed. Install one: {get}. {remedy}")


def _size(name: str) -> tuple[int, str]:
    return (SIZES.index(name[-3:]) if name[-3:] in SIZES else len(SIZES), name)
