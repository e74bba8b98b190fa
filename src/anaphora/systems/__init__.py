"""Systems: anything that scores the candidates of examples, found by a short spec such as `hf:NAME`."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from anaphora.core.registry import Registry
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example, Passage, Translation
from anaphora.systems.context import Options, split_spec

if TYPE_CHECKING:
    from anaphora.suites.suite import Suite
    from anaphora.systems.attribution import TokenAttribution
    from anaphora.systems.translation import Sentence

GROUP = "anaphora.systems"  # entry points of other packages: KIND = "module:Class"


class Traits(NamedTuple):
    """What callers know about a kind of system before one is loaded. A class declares them as `traits`.

    scope: it can score a part of a candidate (`Options.scope`)
    own_context: it knows by itself which context it reads, and where the sentences of its output end
    prefix_tree: it computes what candidates share once, unless `Options.plain` is set
    default_workers: it computes with CPU threads in this process, so that several workers pay off by default
    single_process: why it cannot have several workers, for the error message; "" if it can
    imports: its scores exist already: `score` reads them for a whole suite, and nothing is computed or resumed
    gradients: it can say which tokens a choice depends on (`Attributor`)
    """

    scope: bool = False
    own_context: bool = False
    prefix_tree: bool = False
    default_workers: bool = False
    single_process: str = ""
    imports: bool = False
    gradients: bool = False


class System(Protocol):
    """Gives every candidate of an example a score. Made from what follows the colon of its spec, and options.

    A class may also have `traits: Traits`, and the methods of the protocols below.
    """

    def settings(self) -> Mapping[str, Any]:
        """Return everything that the scores depend on (revision, dtype, prompt …), without secrets: a run's header."""
        ...

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        """Yield the number of each example with its scores, in any order, as they are computed.

        done: numbers whose scores are known already. They need not be given again, but batches should be made of all
            examples, so that scores do not depend, to the last digit, on where an earlier process was interrupted.
        """
        ...


@runtime_checkable
class Translator(Protocol):
    """A system that also translates."""

    def translate(self, texts: Sequence[str], *, beams: int | None = ..., max_tokens: int = ...) -> list[str]: ...


@runtime_checkable
class DocumentTranslator(Protocol):
    """A system that is given sentences with the ones before them, and reads the context that it was trained with."""

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
class Attributor(Protocol):
    """A system that says which tokens the choice between candidates depends on."""

    def attribute(
        self, examples: Sequence[Example], method: str, done: Container[int] = ()
    ) -> Iterator[tuple[int, TokenAttribution]]:
        """Yield the number of each example with its attribution, in any order, as they are computed.

        The choice is that of the first token in which candidates differ, after all that they share. A system whose
        candidates are not comparable there yields their scores with a reason and no values.

        method: "gradient" or "attention"; done: as in `System.score`
        """
        ...


@runtime_checkable
class SupportsClose(Protocol):
    """A system that releases resources when it is no longer needed."""

    def close(self) -> None:
        """Release resources; raise if the backend failed after its last answer."""
        ...


@runtime_checkable
class SuiteReader(Protocol):
    """A system that has to know the suite before it is given examples of it."""

    def read_suite(self, suite: Suite) -> None:
        """Read what belongs to the examples of the whole suite, before `settings` and `score` are called."""
        ...


@runtime_checkable
class SupportsOptions(Protocol):
    """A system whose options can be replaced, so that it is loaded once for several runs (`SystemCache`)."""

    options: Options


def traits_of(system: object) -> Traits:
    """Return the traits of a system or of its class; defaults where it declares none."""
    declared = getattr(system, "traits", None)
    if isinstance(declared, Traits):
        return declared
    return Traits(bool(getattr(system, "has_focus", False)), bool(getattr(system, "own_context", False)))


# The kinds of systems

DEFAULT = Traits()
MODEL = Traits(scope=True, prefix_tree=True, default_workers=True, gradients=True)
TRAINED_MODEL = MODEL._replace(own_context=True)
SERVER = Traits(
    single_process="a server is asked many things at once by one process: set concurrency=N in the spec, "
    "and leave --workers and --cluster out"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of system.

    target: where its class is; what: one line about it; settings: what may follow the question mark of a spec
    traits: those of its class, where it is one of ours: known without importing it
    packages, extra: what it imports, and the extra that installs it
    """

    kind: str
    target: str
    what: str
    settings: tuple[str, ...] = ()
    traits: Traits | None = DEFAULT
    packages: tuple[str, ...] = ()
    extra: str | None = None

    @property
    def missing(self) -> tuple[str, ...]:
        """The packages that are not installed, found without importing any of them."""
        return missing_packages(self.packages)

    @property
    def install(self) -> str | None:
        """The command that installs what is missing."""
        if not self.missing:
            return None
        return f'pip install "anaphora[{self.extra}]"' if self.extra else f"pip install {' '.join(self.missing)}"


def missing_packages(packages: Sequence[str]) -> tuple[str, ...]:
    """Return those of the packages that are not installed."""
    return tuple(sorted(package for package in packages if find_spec(package) is None))


CHECKPOINT_SETTINGS = ("revision", "dtype", "device")
PAIR_SETTINGS = ("source", "target", "prefix")
PROMPT_SETTINGS = ("prompt", "chat")
REQUEST_SETTINGS = ("concurrency", "timeout", "deadline", "retries", "requests_per_minute", "key_env")
_HF = ("torch", "transformers")
_HTTP = ("httpx", "tenacity")

KINDS = {
    kind.kind: kind
    for kind in (
        Kind(
            "hf",
            "anaphora.systems.huggingface:HuggingFaceSeq2Seq",
            "Hugging Face encoder–decoder: hf:NAME_OR_PATH",
            (*CHECKPOINT_SETTINGS, *PAIR_SETTINGS),
            MODEL,
            _HF,
            "hf",
        ),
        Kind(
            "lm",
            "anaphora.systems.huggingface:CausalLM",
            "causal language model, base or chat: lm:NAME_OR_PATH",
            (*CHECKPOINT_SETTINGS, *PROMPT_SETTINGS),
            MODEL,
            _HF,
            "hf",
        ),
        Kind(
            "gguf",
            "anaphora.systems.gguf:GGUFSystem",
            "quantized language model, computed by llama.cpp: gguf:FILE",
            PROMPT_SETTINGS,
            Traits(scope=True, prefix_tree=True),
            ("jinja2", "xllamacpp"),
            "llamacpp",
        ),
        Kind(
            "ct2",
            "anaphora.systems.ctranslate2:CTranslate2System",
            "CTranslate2 translator or generator: ct2:PATH",
            ("compute_type", "device", "tokenizer", *PAIR_SETTINGS, *PROMPT_SETTINGS),
            Traits(scope=True),
            ("ctranslate2", "transformers"),
            "ct2",
        ),
        Kind(
            "nmt",
            "anaphora.systems.nmt:TrainedSystem",
            "a model of `anaphora train`, or an ensemble: nmt:MODEL, nmt:MODEL1,MODEL2",
            ("device", "normalize"),
            TRAINED_MODEL,
            _HF,
            "nmt",
        ),
        Kind(
            "measure",
            "anaphora.measure.scoring:MeasureSystem",
            "a measure of `anaphora measure train`, as a judge of pairs: measure:MODEL",
            ("encoder", "cache"),
            Traits(own_context=True),
            _HF,
            "measure",
        ),
        Kind(
            "openai",
            "anaphora.systems.openai.system:OpenAISystem",
            "OpenAI-compatible server (vLLM, llama.cpp, hosted): openai:URL?model=NAME",
            ("model", "mode", *PROMPT_SETTINGS, "max_tokens", *REQUEST_SETTINGS),
            SERVER,
            _HTTP,
            "openai",
        ),
        Kind(
            "judge",
            "anaphora.systems.openai.system:JudgeSystem",
            "an LLM on such a server that rates each candidate: judge:URL?model=NAME",
            ("model", "prompt", "max_tokens", *REQUEST_SETTINGS),
            SERVER,
            _HTTP,
            "openai",
        ),
        Kind(
            "metric",
            "anaphora.metrics.system:MetricSystem",
            "a metric of `anaphora metrics`, with a reference of its own: metric:NAME?reference=FILE",
            ("reference", "model"),
            Traits(single_process="metric: systems score in one process: leave --workers and --cluster out"),
            ("sacrebleu", "snowballstemmer"),
            "metrics",
        ),
        Kind(
            "command",
            "anaphora.systems.command:CommandSystem",
            "a program that scores or translates lines: command:PROGRAM ARGS…",
        ),
        Kind(
            "scores",
            "anaphora.systems.scores:ScoreFile",
            "scores that another toolkit wrote: scores:FILE",
            ("are",),
            Traits(own_context=True, imports=True),
        ),
    )
}


@cache
def systems() -> Registry:
    """Return all kinds of systems: ours, and the entry points of other packages, which may replace one of ours."""
    targets = {kind.kind: kind.target for kind in KINDS.values()}
    targets |= {point.name: point.value for point in entry_points(group=GROUP)}
    return Registry("system", targets, {kind.kind: kind.extra for kind in KINDS.values() if kind.extra})


def kinds() -> list[Kind]:
    """Return all kinds of systems; nothing is imported."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    known = [kind for kind in KINDS.values() if kind.kind not in points]
    for name, point in points.items():
        what = f"brought by {point.dist.name} {point.dist.version}" if point.dist else point.value
        known.append(Kind(name, point.value, what, traits=None, packages=(point.module.partition(".")[0],)))
    return known


def kind_traits(spec: str) -> Traits:
    """The traits of the system that a spec names. A class of another package is imported for it, but not loaded."""
    kind, _ = split_spec(spec)
    ours = KINDS.get(kind)
    if ours is not None and ours.traits is not None and kind not in {point.name for point in entry_points(group=GROUP)}:
        return ours.traits
    return traits_of(systems().load(kind))


def load_system(spec: str, options: Options | None = None) -> System:
    """Return the system that a spec names."""
    kind, what = split_spec(spec)
    system: System = systems().load(kind)(what, options or Options())
    return system
