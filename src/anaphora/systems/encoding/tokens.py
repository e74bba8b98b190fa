"""Text as token ids, for every system that has a tokeniser of its own. No torch here: `ct2:` does without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError
from anaphora.systems.scored import Answer

Ids = tuple[int, ...]


class Encoded(NamedTuple):
    """A question in token ids: the source (empty for a causal model), what is read first, and the candidates.

    truncated: how many of its texts were cut
    """

    source: Ids
    prompt: Ids
    candidates: tuple[Ids, ...]
    truncated: int = 0

    @property
    def longest(self) -> int:
        """How many positions the model needs."""
        return max(len(self.source), len(self.prompt) + max(map(len, self.candidates), default=0))


def answer(encoded: Encoded, found: Sequence[tuple[float, int]]) -> Answer:
    """(score, tokens) of every candidate as an answer, which says what the system cannot tell apart."""
    same = [
        (first, second)
        for second, candidate in enumerate(encoded.candidates)
        for first in range(second)
        if encoded.candidates[first] == candidate
    ]
    return Answer([score for score, _ in found], [n for _, n in found], same, encoded.truncated)


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
