"""APT, the accuracy of pronoun translation (Miculicich Werlen and Popescu-Belis 2017), in its three variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from anaphora import __version__
from anaphora.align.alignment import find_translation, links, transposed
from anaphora.align.backend import Settings
from anaphora.align.tokenize import DEFAULT
from anaphora.align.tokenize import signature as words_signature
from anaphora.core.errors import AnaphoraError, check_name
from anaphora.languages.pronouns import normalize_word, pronoun_in, pronoun_lists
from anaphora.metrics.apt import idiap as apt_idiap
from anaphora.metrics.apt.idiap import OTHER, Python2Set
from anaphora.metrics.apt.result import AptResult, joined, make_result
from anaphora.metrics.apt.task import (
    DIFFERENT,
    NO_CANDIDATE,
    NONE,
    SAME,
    Confusion,
    Files,
    Occurrence,
    Outcome,
    Side,
    Task,
    Translation,
    Triple,
    Weighting,
    Words,
    case_of,
    confusion_of,
    read_task,
)
from anaphora.stats.resampling import Resampling
from anaphora.stats.signature import HASH_LENGTH, Signature, short_hash

# The paper's variant (§2.2–2.4): from the pronouns of the source to the reference and to the candidate.


def paper_outcomes(task: Task) -> list[Outcome]:
    """The triples of every system; the reference's side is found once."""
    occurrences = find_occurrences(task)
    references = find_translations(occurrences, task.reference, task)
    return [_paper_outcome(system, occurrences, references, task) for system in task.systems]


def find_occurrences(task: Task) -> list[Occurrence]:
    """The pronouns of the source: by the list, by their tags, or by both where tags and pronouns are given."""
    wanted = frozenset(task.pronouns or (() if task.source_tags else task.lists.pronouns))
    if not wanted and not task.source_tags:
        raise AnaphoraError(
            f"there is no list of source pronouns for {task.lists.pair}: name them with --pronouns, "
            "or tag the source (--source-tags)"
        )
    occurrences = []
    for number, sentence in enumerate(task.source):
        for position, token in enumerate(sentence):
            if task.source_tags and task.source_tags[number][position] not in task.pronoun_tags:
                continue
            word = normalize_word(token)
            pronoun = pronoun_in(word, wanted, task.lists.source_separators) if wanted else word
            if pronoun is not None:
                occurrences.append(Occurrence(number, position, pronoun))
    return occurrences


def find_translations(occurrences: Sequence[Occurrence], text: Translation, task: Task) -> list[Side]:
    """The word of a translation that each source pronoun became."""
    sides = []
    last = -1
    linked: list[list[int]] = []
    forms: list[str | None] = []
    for number, position, pronoun in occurrences:
        if number != last:
            last = number
            linked = links(text.alignments[number], len(task.source[number]))
            forms = pronoun_forms(number, text, task)
        sides.append(_paper_side(position, linked, forms, task.lists.likely(pronoun), task.rescue))
    return sides


def pronoun_forms(number: int, text: Translation, task: Task) -> list[str | None]:
    """The pronoun that each word of a sentence is, or None: by its tag where there are tags, else by the list."""
    lists = task.lists
    words = [normalize_word(token) for token in text.sentences[number]]
    forms = [pronoun_in(word, lists.target_pronouns, lists.separators) for word in words]
    if text.tags is None:
        return forms
    tagged = zip(words, forms, text.tags[number], strict=True)
    return [(form or word) if tag in task.pronoun_tags else None for word, form, tag in tagged]


def _paper_side(
    position: int,
    linked: Sequence[Sequence[int]],
    forms: Sequence[str | None],
    likely: frozenset[str] | None,
    rescue: bool,
) -> Side:
    translation = find_translation(
        position,
        linked,
        len(forms),
        is_pronoun=lambda j: forms[j] is not None,
        is_likely=lambda j: forms[j] is not None if likely is None else forms[j] in likely,
        rescue=rescue,
    )
    if translation is None or (form := forms[translation.position]) is None:
        return Side()
    return Side((translation.position,), (form,), translation.rescued)


def _paper_outcome(
    system: Translation, occurrences: Sequence[Occurrence], references: Sequence[Side], task: Task
) -> Outcome:
    triples = []
    pairs: Counter[tuple[str, str]] = Counter()
    for occurrence, reference, candidate in zip(
        occurrences, references, find_translations(occurrences, system, task), strict=True
    ):
        right, word = (side.words[0] if side.words else None for side in (reference, candidate))
        row, column = (NONE if form is None else task.lists.canonical(form) for form in (right, word))
        pairs[row, column] += 1
        source = Side((occurrence.position,), (occurrence.pronoun,))
        triples.append(Triple(occurrence.sentence, source, reference, candidate, case_of(right, word, task.lists)))
    return Outcome(system.name, triples, [occurrence.pronoun for occurrence in occurrences], confusion_of(pairs))


# The variant of document-level translation work (Miculicich et al. 2018, HAN): from the pronouns of the reference.
#
# They go back to the source through the reference's alignment, and on to the candidate. Reference pronouns that are
# aligned to nothing are left out, so that the cases 5 and 6 cannot occur. There is no rescue and no list of
# equivalents. Where several candidate words are pronouns and none is the right one, the confusion matrix has the one
# that a set of Python 2.7 gives first.


class _ReferencePronoun(NamedTuple):
    """A reference pronoun with its position, and the source words that it is aligned to."""

    sentence: int
    reference: Side
    source: Side


def reference_side_outcomes(task: Task) -> list[Outcome]:
    """The triples of every system."""
    pronouns = tuple(dict.fromkeys(task.pronouns or task.lists.reference_side or task.lists.target))
    occurrences = _find_reference_pronouns(task, frozenset(pronouns))
    return [_reference_side_outcome(system, pronouns, occurrences) for system in task.systems]


def _find_reference_pronouns(task: Task, pronouns: frozenset[str]) -> list[_ReferencePronoun]:
    """The pronouns of the reference, aligned or not."""
    occurrences = []
    for number, sentence in enumerate(task.reference.sentences):
        words = [(j, word) for j, token in enumerate(sentence) if (word := token.lower()) in pronouns]
        if words:
            back = links(transposed(task.reference.alignments[number]), len(sentence))
            source = task.source[number]
            occurrences += [
                _ReferencePronoun(number, Side((j,), (word,)), _side_at(source, back[j])) for j, word in words
            ]
    return occurrences


def _reference_side_outcome(
    system: Translation, pronouns: tuple[str, ...], occurrences: Sequence[_ReferencePronoun]
) -> Outcome:
    labels = (*pronouns, OTHER, NONE)
    index = {label: k for k, label in enumerate(labels)}
    cells: Counter[tuple[int, int]] = Counter()
    triples, groups = [], []
    for number, reference, source in occurrences:
        if not source.positions:
            continue
        (word,) = reference.words
        positions = sorted({j for i, j in system.alignments[number] if i in source.positions})
        candidate = _side_at(system.sentences[number], positions)
        case, column = _reference_side_case(word, candidate, index)
        triples.append(Triple(number, source, reference, candidate, case))
        groups.append(word)
        cells[index[word], column] += 1
    size = range(len(labels))
    matrix = tuple(tuple(cells[row, column] for column in size) for row in size)
    return Outcome(system.name, triples, groups, Confusion(labels, matrix), len(occurrences) - len(triples))


def _side_at(sentence: Words, positions: Sequence[int]) -> Side:
    return Side(tuple(positions), tuple([sentence[k].lower() for k in positions]))


def _reference_side_case(word: str, candidate: Side, index: dict[str, int]) -> tuple[int, int]:
    """The case, and the column of the confusion matrix."""
    if not candidate.positions:
        return NO_CANDIDATE, index[NONE]
    if word in candidate.words:
        return SAME, index[word]
    listed = Python2Set(index[w] for w in candidate.words if w in index)
    return DIFFERENT, next(iter(listed), index[OTHER])


# The score of files, by any variant.

VARIANTS: dict[str, Callable[[Task], list[Outcome]]] = {
    "paper": paper_outcomes,
    "idiap": apt_idiap.outcomes,
    "reference-side": reference_side_outcomes,
}


Verdicts = Mapping[tuple[str, str, str], str]  # system, sentence, position → what most annotators say


def apt_of_files(
    files: Files,
    languages: str,
    *,
    variant: str = "paper",
    pronouns: Sequence[str] = (),
    weighting: Weighting | None = None,
    rescue: bool = True,
    lists: Path | None = None,
    pronoun_tags: Sequence[str] = ("PRON",),
    tokenize: str = DEFAULT,
    normalize: bool = True,
    aligner: Settings | None = None,
    corpora: Sequence[tuple[Path, Path]] = (),
    by_pronoun: bool = False,
    resampling: Resampling | None = None,
    verdicts: Verdicts | None = None,
    answers: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AptResult:
    """APT of one or more systems. Texts without alignment files are aligned (progress is of that).

    tokenize, normalize: see `anaphora.align.tokenize`; of the paper's variant, as the others divide at single spaces
    verdicts: of annotators, which count in place of the cases; answers: which these are, for the signature
    """
    weighting, resampling = weighting or Weighting(), resampling or Resampling()
    check_name("variant", variant, VARIANTS)
    if variant != "paper" and tokenize == "moses":
        raise AnaphoraError(f"the variant {variant} divides words at single spaces: it has no tokenization")
    one, _, other = languages.partition("-")
    task = read_task(
        files,
        files.tokenization(tokenize, normalize, (one, other)) if variant == "paper" else apt_idiap.split,
        pronoun_lists(languages, lists),
        pronouns=tuple(map(normalize_word, pronouns)),
        rescue=rescue,
        pronoun_tags=frozenset(pronoun_tags),
        aligner=aligner,
        corpora=corpora,
        progress=progress,
    )
    outcomes = VARIANTS[variant](task)
    return make_result(
        outcomes if verdicts is None else _judged(outcomes, verdicts),
        languages=languages,
        variant=variant,
        weighting=weighting,
        sampling=resampling,
        signature=signature_of(task, variant, weighting, resampling, answers=answers),
        by_pronoun=by_pronoun,
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
