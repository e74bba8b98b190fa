"""Text as token ids, for every system that has a tokeniser of its own. No torch here: `ct2:` does without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.tree import CandidateScore
from anaphora.systems.scored import Answer


def answer(candidates: Sequence[object], scores: Sequence[CandidateScore], truncated: int) -> Answer:
    """(score, tokens) of every candidate as an answer, which says what the system cannot tell apart.

    candidates: as the model sees them
    """
    same = [
        (first, second)
        for second, candidate in enumerate(candidates)
        for first in range(second)
        if candidates[first] == candidate
    ]
    return Answer([score for score, _ in scores], [tokens for _, tokens in scores], same, truncated)


def too_long(length: int, limit: int, text: str, remedy: str) -> AnaphoraError:
    """What is said of a text that the model cannot read whole."""
    return AnaphoraError(f"{length:,} tokens, but the model takes {limit:,}: {text[:60]!r}… {remedy}")


def load_tokenizer(name: str, what: str = "tokeniser", **arguments: Any) -> Any:
    """A Hugging Face tokeniser by name or path. It never cuts: how long a text may be is checked by those who ask."""
    try:
        import transformers  # here, as what evaluates runs knows this module as well
    except ModuleNotFoundError as error:
        problem = f"a tokeniser needs {error.name}, which is not installed"
        raise AnaphoraError(f'{problem}: pip install "anaphora[ct2]"') from None
    transformers.logging.set_verbosity_error()  # it warns of long texts, which we refuse
    return loaded(name, what, lambda: transformers.AutoTokenizer.from_pretrained(name, **arguments))


def loaded(name: str, what: str, load: Callable[[], Any]) -> Any:
    """What a library loads by a name; one line says why not."""
    try:
        return load()
    except Exception as error:  # of any class: a damaged file of weights has one of its own
        problem = " ".join(str(error).split())[:300]
        here = "" if Path(name).exists() else " (no such path here, and it could not be had from the hub)"
        raise AnaphoraError(f"{name}: the {what} cannot be loaded{here}: {problem}") from None
