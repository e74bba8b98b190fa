"""The annotator of a language where none is named: a spaCy pipeline that is here."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError

WEB = ("en", "zh")  # languages whose pipelines spaCy calls `core_web` rather than `core_news`
SIZES = ("_sm", "_md", "_lg")


def default_annotator(language: str, option: str) -> str:
    """The spec of a pipeline for a language, the smallest there is; without one, what can be done.

    Installed pipelines come first, then those in the folder that ANAPHORA_MODELS names.
    """
    name = f"{language}_core_{'web' if language in WEB else 'news'}_sm"
    ways = f"Name another annotator: {option} spacy:PIPELINE_OR_FOLDER, stanza:{language} or conllu:FILE"
    try:
        util: Any = import_module("spacy.util")
    except ModuleNotFoundError:
        get = f'pip install "anaphora[mine]", then: python -m spacy download {name}'
        raise AnaphoraError(
            f"no annotator for {language!r}: spaCy is not installed. Install it: {get}. {ways}"
        ) from None
    for found in (util.get_installed_models(), _folders(language)):
        fitting = [pipeline for pipeline in found if Path(pipeline).name.startswith(f"{language}_")]
        if fitting:
            return f"spacy:{min(fitting, key=_size)}"
    get = f"python -m spacy download {name}"
    raise AnaphoraError(f"no spaCy pipeline for {language!r} is installed. Install one: {get}. {ways}")


def _folders(language: str) -> list[str]:
    folder = os.environ.get("ANAPHORA_MODELS")
    return [str(path.parent) for path in Path(folder).glob(f"{language}_*/meta.json")] if folder else []


def _size(name: str) -> tuple[int, str]:
    return (SIZES.index(name[-3:]) if name[-3:] in SIZES else len(SIZES), name)
