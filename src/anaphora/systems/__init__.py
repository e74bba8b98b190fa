"""Systems: anything that scores the candidates of examples, found by a short spec such as `hf:NAME`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from anaphora.core.registry import Registry
from anaphora.suites.example import Example, Passage, Translation
from anaphora.systems.context import Options, split_spec
from anaphora.systems.documents import Sentence

if TYPE_CHECKING:
    from anaphora.runs import Answer

# kind → where it is, the extra that installs what it needs, and what it is
KINDS = {
    "hf": (
        "anaphora.systems.huggingface.neural:HuggingFaceSeq2Seq",
        "hf",
        "Hugging Face encoder–decoder: hf:NAME_OR_PATH",
    ),
    "lm": (
        "anaphora.systems.huggingface.neural:CausalLM",
        "hf",
        "causal language model, base or chat: lm:NAME_OR_PATH",
    ),
    "ct2": (
        "anaphora.systems.ctranslate2.system:CTranslate2System",
        "ct2",
        "CTranslate2 translator or generator: ct2:PATH",
    ),
    "nmt": (
        "anaphora.systems.nmt:TrainedSystem",
        "nmt",
        "a model of `anaphora train`, or an ensemble: nmt:MODEL, nmt:MODEL1,MODEL2",
    ),
    "measure": (
        "anaphora.measure.scoring:MeasureSystem",
        "measure",
        "a measure of `anaphora measure train`, as a judge of pairs: measure:MODEL",
    ),
    "openai": (
        "anaphora.systems.openai.system:OpenAISystem",
        "openai",
        "OpenAI-compatible server (vLLM, llama.cpp, hosted): openai:URL?model=NAME",
    ),
    "command": (
        "anaphora.systems.command.system:CommandSystem",
        None,
        "a program that scores lines: command:PROGRAM ARGS…",
    ),
    "scores": ("anaphora.systems.scores:ScoreFile", None, "scores that another toolkit wrote: scores:FILE"),
}
GROUP = "anaphora.systems"  # entry points of other packages: KIND = "module:Class"


class System(Protocol):
    """Gives every candidate of an example a score. Made from what follows the colon of its spec, and options."""

    def settings(self) -> Mapping[str, Any]:
        """Everything the scores depend on (revision, dtype, prompt …): the header of a run; no secrets."""
        ...

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        """The number of each example with its answer, in any order, as they are found.

        done: numbers whose answers are known already; they need not be given again
        """
        ...


@runtime_checkable
class Translator(Protocol):
    """A system that also translates."""

    def translate(self, texts: Sequence[str], *, beams: int | None = ..., max_tokens: int = ...) -> list[str]: ...


@runtime_checkable
class DocumentTranslator(Protocol):
    """A system that is given sentences with those before them, and reads of these what it was trained to read."""

    @property
    def in_order(self) -> bool:
        """Whether a sentence needs the translation of the one before it."""
        ...

    def translate_sentences(
        self,
        sentences: Sequence[Sentence],
        *,
        known: Passage = ...,
        given: Sequence[Sentence] | None = ...,
        beams: int | None = ...,
        max_tokens: int = ...,
    ) -> Sequence[Translation]:
        """Translations of sentences that follow each other.

        known: translations of what comes before the first one in its document
        given: another system's translations, one for one, to be the target context
        """
        ...


@runtime_checkable
class Closing(Protocol):
    """A system that wants to know when nothing more will be asked of it."""

    def close(self) -> None:
        """Let go of what is held open; what was wrong and shows only now is an error."""
        ...


@cache
def systems() -> Registry:
    """All kinds of systems: ours, and those that other packages bring as entry points."""
    targets = {kind: target for kind, (target, _, _) in KINDS.items()}
    targets |= {point.name: point.value for point in entry_points(group=GROUP)}
    return Registry("system", targets, {kind: extra for kind, (_, extra, _) in KINDS.items() if extra})


def load_system(spec: str, options: Options | None = None) -> System:
    """The system that a spec names."""
    kind, what = split_spec(spec)
    system: System = systems().load(kind)(what, options or Options())
    return system
