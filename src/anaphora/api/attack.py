"""`anaphora build attack` in Python: suites changed in ways that must not change the answer.

Each function writes the attacked suite. Every example has the tag `attacked`, the id of its original; `robustness`
compares accuracy before and after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from anaphora.api.inputs import File, Progress, as_path, as_suite
from anaphora.core.errors import AnaphoraError, named
from anaphora.suites.contexts import SEED, no_context, random_context, shuffled_context
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of


@dataclass(frozen=True, slots=True)
class Attacked:
    """An attacked suite: its name, its file and its number of examples.

    left_alone: reasons why examples were not attacked, with their numbers
    """

    suite: str
    path: Path
    sha256: str
    examples: int
    left_alone: Mapping[str, int]


@named
def attack_phrase(
    suite: Suite | File,
    output: File,
    *,
    preset: Sequence[str] = (),
    presets: File | None = None,
    source_phrase: str | None = None,
    target_phrase: str | None = None,
    phrase_name: str = "own",
    place: Literal["before", "after", "sentence"] = "before",
    quoted: bool = False,
    truecased: bool | None = None,
    progress: Progress | None = None,
) -> Attacked:
    """Add a phrase to the sentence before the current one, in both languages (ContraCAT §5.2.1).

    preset, presets: names of built-in phrases, and a TOML file with your own
    source_phrase, target_phrase, phrase_name: your own phrase in both languages instead, and its name
    place: Position of your own phrase: before or after the sentence, or as a sentence after it.
    quoted: Put the sentence in quotation marks, with your own phrase.
    truecased: whether sentences begin with a lower-case letter; by default detected from the suite
    """
    from anaphora.build.attacks.phrase import Phrase, phrase_addition, phrase_preset

    own = _own_phrases(preset, source_phrase, target_phrase)
    loaded = as_suite(suite)
    if own:
        languages = loaded.header.source_language, loaded.header.target_language
        phrases = [Phrase(phrase_name, dict(zip(languages, own, strict=True)), place, quoted)]
    else:
        phrases = [phrase_preset(name, as_path(presets)) for name in preset]
    return _write(partial(phrase_addition, loaded, phrases, truecased=truecased), output, progress)


@named
def attack_possessive(
    suite: Suite | File,
    output: File,
    *,
    preset: Sequence[str] = (),
    presets: File | None = None,
    source_phrase: str | None = None,
    target_phrase: str | None = None,
    phrase_name: str = "own",
    annotate_source: str | None = None,
    annotate_target: str | None = None,
    truecased: bool | None = None,
    progress: Progress | None = None,
) -> Attacked:
    """Give the antecedent an owner, in both languages (ContraCAT §5.2.2).

    The antecedent comes from the tags source_antecedent, target_antecedent and distance, or from annotation.

    preset, presets, source_phrase, target_phrase, phrase_name, truecased: as in `attack_phrase`
    annotate_source, annotate_target: annotators that find the antecedent, instead of the tags of the suite
    """
    from anaphora.build.attacks.possessive import (
        by_annotators,
        own_possessive,
        possessive_extension,
        possessive_preset,
    )

    own = _own_phrases(preset, source_phrase, target_phrase)
    loaded = as_suite(suite)
    languages = loaded.header.source_language, loaded.header.target_language
    if own:
        owners = [own_possessive(phrase_name, languages, own)]
    else:
        owners = [possessive_preset(name, as_path(presets)) for name in preset]
    antecedents, tagger = None, None
    if annotate_source or annotate_target:
        antecedents, tagger = by_annotators(loaded, annotate_source, annotate_target)
    attack = partial(possessive_extension, loaded, owners, truecased=truecased, antecedents=antecedents, tagger=tagger)
    return _write(attack, output, progress)


@named
def attack_wrong_antecedent(
    suite: Suite | File,
    output: File,
    *,
    distractors: File | None = None,
    seed: int = SEED,
    truecased: bool | None = None,
    progress: Progress | None = None,
) -> Attacked:
    """Insert a noun of a competing gender, which cannot be the antecedent, between antecedent and pronoun.

    distractors: TOML file with your own nouns and frames.
    seed, truecased: random seed of the choice of nouns; as in `attack_phrase`
    """
    from anaphora.build.attacks.wrong_antecedent import distractors_for, wrong_antecedent

    loaded = as_suite(suite)
    nouns = distractors_for(loaded.header.source_language, loaded.header.target_language, as_path(distractors))
    return _write(partial(wrong_antecedent, loaded, nouns, seed=seed, truecased=truecased), output, progress)


@named
def attack_synonym(
    suite: Suite | File,
    output: File,
    *,
    thesaurus: str | None = None,
    dictionary: str | None = None,
    wordnet: File | None = None,
    shared: float = 0.23,
    annotate_target: str | None = None,
    progress: Progress | None = None,
) -> Attacked:
    """Replace the German antecedent by a synonym of another gender, which changes the answer (ContraCAT §5.2.3).

    Determiner, adjectives and pronouns that refer to the antecedent change with it. Ambiguous examples are skipped.

    thesaurus: Thesaurus: mythes:FILE or ding:FILE (default: Debian's OpenThesaurus, mythes-de).
    dictionary: Bilingual dictionary that checks meanings: a Ding file (de-en.txt).
    shared: Minimum share of translations that synonyms have in common; lower values give more and noisier examples.
    wordnet: folder of WordNet, which checks meanings; annotate_target: annotator that finds the antecedent's case
    """
    from anaphora.build.attacks.synonym import Synonyms, Usage, cases_by_annotation, synonym_replacement
    from anaphora.languages.german import noun_table
    from anaphora.languages.thesaurus import FirstSenses, default_thesaurus, load_dictionary, load_thesaurus

    loaded = as_suite(suite)
    cases = None
    if annotate_target:
        from anaphora.annotate import load_annotator

        known = cases_by_annotation(loaded, load_annotator(annotate_target, loaded.header.target_language))
        cases = lambda example: known.get(example.id, ())  # noqa: E731
    senses = load_thesaurus(thesaurus or default_thesaurus())
    translations = load_dictionary(dictionary) if dictionary else None
    net = FirstSenses(Path(wordnet)) if wordnet else None
    synonyms = Synonyms(noun_table(), senses, translations, net, Usage(loaded), shared)
    return _write(partial(synonym_replacement, loaded, synonyms, cases=cases), output, progress)


@named
def attack_random_context(
    suite: Suite | File, output: File, *, seed: int = SEED, progress: Progress | None = None
) -> Attacked:
    """Give each example the context of another one, drawn at random."""
    return _write(random_context(_with_context(suite, 1), seed), output, progress)


@named
def attack_shuffled_context(
    suite: Suite | File, output: File, *, seed: int = SEED, progress: Progress | None = None
) -> Attacked:
    """Shuffle the sentences of each context."""
    return _write(shuffled_context(_with_context(suite, 2), seed), output, progress)


@named
def attack_no_context(suite: Suite | File, output: File, *, progress: Progress | None = None) -> Attacked:
    """Remove the context of each example."""
    return _write(no_context(_with_context(suite, 1)), output, progress)


def attack_presets() -> dict[str, dict[str, Any]]:
    """List the preset phrases and owners of ContraCAT's Tables 4 and 5, by kind and name."""
    from anaphora.languages.attack_presets import built_in

    return {kind: dict(built_in(kind)) for kind in ("phrase", "possessive")}


def _own_phrases(names: Sequence[str], source: str | None, target: str | None) -> tuple[str, str] | None:
    """Return the user's own phrases, or None where presets are named; an incomplete choice is an error."""
    if names and (source or target):
        raise AnaphoraError("--preset cannot be combined with --source-phrase and --target-phrase")
    if not names and not source and not target:
        raise AnaphoraError(
            "no phrase given. Pass --preset NAME (see: anaphora build attack presets), or your own phrase: "
            "--source-phrase TEXT --target-phrase TEXT"
        )
    if names:
        return None
    if not (source and source.strip() and target and target.strip()):
        given, missing = ("--source-phrase", "--target-phrase") if source else ("--target-phrase", "--source-phrase")
        raise AnaphoraError(f"{given} without {missing}: the phrase is needed in both languages. Add {missing} TEXT")
    return source.strip(), target.strip()


def _with_context(suite: Suite | File, size: int) -> Suite:
    """Load a suite that must have some context to change."""
    loaded = as_suite(suite)
    if not any(sum(map(bool, example.source[:-1])) >= size for example in loaded):
        what = "no context" if size == 1 else "no more than one sentence of context"
        name = loaded.header.name if isinstance(suite, Suite) else suite
        raise AnaphoraError(
            f"{name}: {what}, there is nothing to change. Convert it with more: suites convert --context N"
        )
    return loaded


def _write(attack: Suite | Callable[..., Suite], output: File, progress: Progress | None) -> Attacked:
    """Write an attacked suite, which must have an example.

    attack: the suite, or a function that makes it and calls `on_skip` with the reason for each skipped example
    """
    left: Counter[str] = Counter()
    suite = attack if isinstance(attack, Suite) else attack(on_skip=lambda why: left.update([why]))
    count = 0

    def examples() -> Iterator[Example]:
        nonlocal count
        for example in suite:
            count += 1
            if progress is not None:
                progress(count, None)
            yield example
        if not count:
            why = "; ".join(f"{number:,}: {reason}" for reason, number in left.most_common()) or "it is empty"
            raise AnaphoraError(f"{suite.path or suite.header.name}: no example can be attacked ({why})")

    sha256 = suite_of(suite.header, examples).write(Path(output))
    return Attacked(suite.header.name, Path(output), sha256, count, dict(left.most_common()))
