"""APT, the accuracy of pronoun translation (Miculicich Werlen and Popescu-Belis 2017), in its three variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anaphora import __version__
from anaphora.align.backend import Settings
from anaphora.align.tokenize import DEFAULT
from anaphora.align.tokenize import signature as words_signature
from anaphora.core.errors import AnaphoraError, check_name
from anaphora.languages.pronouns import normalize_word, pronoun_lists
from anaphora.metrics.apt import idiap as apt_idiap
from anaphora.metrics.apt import paper as apt_paper
from anaphora.metrics.apt import reference_side
from anaphora.metrics.apt.result import AptResult, joined, make_result
from anaphora.metrics.apt.task import DEFAULT_WEIGHTS, Files, Outcome, Task, Weighting, read_task
from anaphora.stats.resampling import Resampling
from anaphora.stats.signature import HASH_LENGTH, Signature, short_hash

File = str | Path
VARIANTS: dict[str, Callable[[Task], list[Outcome]]] = {
    "paper": apt_paper.outcomes,
    "idiap": apt_idiap.outcomes,
    "reference-side": reference_side.outcomes,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AptOptions(Resampling):
    """Everything that a score depends on besides the files, resampling included.

    pronouns: those to evaluate: of the source, or of the reference in the reference-side variant
    weights, discard: what each of the six cases is worth, and which are left out of the score
    rescue: search for pronouns that the alignment missed
    lists: a file with pronoun lists, for other language pairs and other equivalents
    pronoun_tags: the tags of pronouns, where there are files with tags
    tokenize, normalize: how the paper's variant divides lines into words, and whether it makes signs one before (see
        `anaphora.align.tokenize`); the other variants divide at single spaces
    corpora, align_backend, align_model: how texts without an alignment file are aligned
    by_pronoun: compare several systems also pronoun by pronoun
    """

    variant: str = "paper"
    pronouns: Sequence[str] = ()
    weights: Sequence[float] = DEFAULT_WEIGHTS
    discard: Sequence[int] = ()
    rescue: bool = True
    lists: File | None = None
    pronoun_tags: Sequence[str] = ("PRON",)
    tokenize: str = DEFAULT
    normalize: bool = True
    corpora: Sequence[tuple[File, File]] = ()
    align_backend: str = "thot"
    align_model: str | None = None
    by_pronoun: bool = False


Verdicts = Mapping[tuple[str, str, str], str]  # system, sentence, position → what most annotators say


def measure(
    files: Files,
    languages: str,
    options: AptOptions,
    progress: Callable[[int, int], None] | None = None,
    verdicts: Verdicts | None = None,
    answers: str | None = None,
) -> AptResult:
    """APT of files with all options.

    verdicts: of annotators, which count in place of the cases; answers: which these are, for the signature
    """
    variant = options.variant
    weighting = Weighting(tuple(options.weights), tuple(options.discard))
    check_name("variant", variant, VARIANTS)
    if variant != "paper" and options.tokenize == "moses":
        raise AnaphoraError(f"the variant {variant} divides words at single spaces: it has no tokenization")
    one, _, other = languages.partition("-")
    tokenization = files.tokenization(options.tokenize, options.normalize, (one, other))
    task = read_task(
        files,
        tokenization if variant == "paper" else apt_idiap.split,
        pronoun_lists(languages, None if options.lists is None else Path(options.lists)),
        pronouns=tuple(map(normalize_word, options.pronouns)),
        rescue=options.rescue,
        pronoun_tags=frozenset(options.pronoun_tags),
        aligner=Settings(backend=options.align_backend, model=options.align_model),
        corpora=[(Path(one), Path(other)) for one, other in options.corpora],
        progress=progress,
    )
    outcomes = VARIANTS[variant](task)
    return make_result(
        outcomes if verdicts is None else _judged(outcomes, verdicts),
        languages=languages,
        variant=variant,
        weighting=weighting,
        sampling=options,
        signature=signature_of(task, variant, weighting, options, answers=answers),
        by_pronoun=options.by_pronoun,
        texts=task.texts,
    )


def _judged(outcomes: Sequence[Outcome], verdicts: Verdicts) -> list[Outcome]:
    """Outcomes with the verdicts of annotators; a verdict on a pronoun that is not evaluated is an error."""
    judged = []
    left = set(verdicts)
    for outcome in outcomes:
        keys = [(outcome.name, str(t.sentence), joined(t.source.positions)) for t in outcome.triples]
        left.difference_update(keys)
        judged.append(replace(outcome, verdicts=[verdicts.get(key, "") for key in keys]))
    if left:
        system, sentence, position = min(left)
        raise AnaphoraError(
            f"the answers are about word {position} of sentence {sentence} ({system}), which is not evaluated here. "
            "Give the options with which the details were written"
        )
    return judged


def signature_of(
    task: Task,
    variant: str,
    weighting: Weighting,
    sampling: Resampling,
    config: str | None = None,
    answers: str | None = None,
) -> str:
    """Every setting; texts and lists are named by their hashes.

    config: the hash of a config, in place of the lists; answers: those of annotators, if they were asked
    """
    by_tags = task.source_tags is not None or task.reference.tags is not None
    texts = short_hash(" ".join(words) for text in (task.source, task.reference.sentences) for words in text)
    line = Signature("apt").add("l", task.lists.pair).add("var", variant).add("set", texts)
    line.add("config", config).add("lists", None if config else task.lists.digest[:HASH_LENGTH])
    line.add("pron", ",".join(task.pronouns) or "list")
    line.add("by", f"tags={','.join(sorted(task.pronoun_tags))}" if by_tags else "list")
    line.add("w", ",".join(f"{weight:g}" for weight in weighting.weights))
    line.add("drop", ",".join(map(str, weighting.discarded)) or "none")
    line.add("rescue", "yes" if task.rescue and variant != "reference-side" else "no")
    line.extend(words_signature(task.texts.values(), normalize=task.normalized)).add("align", task.aligned_by)
    line.add("people", answers)
    line.add("ci", f"bs{sampling.samples}:sentences").add("conf", f"{sampling.confidence:g}").add("seed", sampling.seed)
    if len(task.systems) > 1:
        line.add("test", sampling.test).add("ar", sampling.randomizations).add("adj", "holm")
    return str(line.add("v", __version__))
