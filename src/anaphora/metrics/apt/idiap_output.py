"""The files of the original APT program (idiap/APT, version 4): its configs and its score and detail files."""

from __future__ import annotations

import configparser
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from anaphora.core.errors import AnaphoraError, BadInput, did_you_mean
from anaphora.core.files import atomic_writer, text_lines
from anaphora.core.parsing import is_count, shown
from anaphora.languages.pronouns import PronounLists
from anaphora.metrics.apt import idiap as apt_idiap
from anaphora.metrics.apt.idiap import Groups, IdiapSettings, numpy_argsort
from anaphora.metrics.apt.metric import signature_of
from anaphora.metrics.apt.result import AptResult, SystemResult, joined, make_result
from anaphora.metrics.apt.task import CASES, Confusion, Files, Triple, Weighting, read_task
from anaphora.stats.resampling import Resampling
from anaphora.stats.signature import HASH_LENGTH

# The score and detail files of the original APT program, whose layout others have taken over.

DETAIL_COLUMNS = ("SENT.", "POS. SOURCE", "SOURCE", "POS. REF.", "REF.", "POS. TARGET", "TARGET", "CASE")


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """A score file. cases, weights and counts are those of the cases in use, in the order of the config.

    longest: more rows and columns than this are summed up as `...`
    unaligned: the line `Not source`, which only the newer files of the reference-side variant have
    """

    score: float | None
    cases: Sequence[int]
    weights: Sequence[float]
    counts: Sequence[int]
    confusion: Confusion
    longest: int
    unaligned: int | None = None

    def __str__(self) -> str:
        digits = (f"{weight:.12g}" for weight in self.weights)  # as `str` of Python 2.7
        weights = (f"{text}.0" if text.isdigit() else text for text in digits)
        lines = [
            f"Score: {float('nan') if self.score is None else self.score:.4f}",
            f"Cases: {','.join(map(str, self.cases))}",
            f"Weights: {','.join(weights)}",
            f"Findings per case: {','.join(map(str, self.counts))}",
        ]
        if self.unaligned is not None:
            lines.append(f"Not source: {self.unaligned}")
        lines.append(f"Total findings: {sum(self.counts)}")
        labels, rows = _laid_out(self.confusion, self.longest)
        lines.append("\t".join(["", *labels]))
        lines += ["\t".join([label, *map(str, row)]) for label, row in zip(labels, rows, strict=True)]
        return "".join(f"{line}\n" for line in lines)


def detail_file(triples: Iterable[Triple]) -> str:
    """One line per source pronoun."""
    lines = ["\t".join(DETAIL_COLUMNS)]
    for sentence, source, reference, candidate, case in triples:
        cells = [str(sentence), joined(source.positions), " ".join(source.words)]
        for side in (reference, candidate):
            cells += [joined(side.positions), " ".join(side.words)] if side.positions else ["-", "-"]
        lines.append("\t".join([*cells, str(case)]))
    return "".join(f"{line}\n" for line in lines)


def _laid_out(confusion: Confusion, longest: int) -> tuple[list[str], list[list[int]]]:
    """The most often right label first, the rest as `...`, and sums."""
    counts = confusion.counts
    order = numpy_argsort([row[k] for k, row in enumerate(counts)])[::-1]
    labels = [confusion.labels[k] for k in order]
    rows = [[counts[i][j] for j in order] for i in order]
    if len(labels) > longest:
        rows = [[*row[:longest], sum(row[longest:])] for row in rows]
        rows = [*rows[:longest], [sum(column) for column in zip(*rows[longest:], strict=True)]]
        labels = [*labels[:longest], "..."]
    rows = [[*row, sum(row)] for row in rows]
    rows.append([sum(column) for column in zip(*rows, strict=True)])
    return [*labels, "-sum-"], rows


def write_score_files(result: AptResult, paths: Sequence[Path], longest: int) -> None:
    """A score file for each system."""
    if len(paths) != len(result.systems):
        counts = f"{len(result.systems)} translations, but {len(paths)}"
        raise AnaphoraError(f"one score file (--score-file) is needed for each translation: {counts} given")
    for system, path in zip(result.systems, paths, strict=True):
        with atomic_writer(path) as out:
            out.write(str(score_file(result, system, longest)).encode())


def score_file(result: AptResult, system: SystemResult, longest: int, cases: Sequence[int] | None = None) -> ScoreFile:
    """The score file that the original program writes. cases: those in use, in the order of its config."""
    cases = cases or [case for case in CASES if case not in result.weighting.discarded]
    return ScoreFile(
        score=system.score.apt,
        cases=cases,
        weights=[result.weighting.weights[case - 1] for case in cases],
        counts=[system.score.cases[case - 1] for case in cases],
        confusion=system.outcome.confusion,
        longest=longest,
        unaligned=system.outcome.unaligned,
    )


# Its config files: INI, with its spelling (`weigths_per_case`, `possition`).

KEYS = {
    "lang": ("source", "target", "source_word_separator", "target_word_separator"),
    "files": (
        "source",
        "reference",
        "target",
        "alignment_source_reference",
        "alignment_source_target",
        "list_source_pronouns",
        "input_type",
        "list_target_pronouns",
    ),
    "dictionary": ("equal", "similar", "source_pronouns", "target_pronouns"),
    "cases": ("cases_to_use", "weigths_per_case", "count_other_as_equal"),
    "output": ("output_file", "counting_multiword_in_matrix", "max_length_matrix"),
}
TRUE, FALSE = ("1", "yes", "true", "on"), ("0", "no", "false", "off")


@dataclass(frozen=True, slots=True)
class IdiapConfig:
    """A config: languages, the files it names (relative to the current directory), and the settings.

    pronouns: the list of source pronouns, or of their positions; digest: names the settings in a signature
    """

    languages: str
    files: Files
    pronouns: Path
    output: Path
    settings: IdiapSettings

    @property
    def digest(self) -> str:
        content = {key: sorted(v) if isinstance(v, frozenset) else v for key, v in asdict(self.settings).items()}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_config(path: Path) -> IdiapConfig:
    """A config, checked: every key of the original program has to be there, and no other."""
    values = _Values(path)
    source, reference, target, reference_links, target_links = (values.path("files", k) for k in KEYS["files"][:5])
    return IdiapConfig(
        languages=f"{values['lang', 'source']}-{values['lang', 'target']}",
        files=Files(source, reference, (target,), reference_links, (target_links,)),
        pronouns=values.path("files", "list_source_pronouns"),
        output=values.path("output", "output_file"),
        settings=_settings(values),
    )


def _settings(values: _Values) -> IdiapSettings:
    pronouns = values.path("files", "list_source_pronouns")
    by_position = values["files", "input_type"] == "possition"
    if not by_position and values["files", "input_type"] != "word":
        raise values.wrong("files", "input_type", "word or possition")
    longest = values["output", "max_length_matrix"]
    if not is_count(longest) or int(longest) < 1:
        raise values.wrong("output", "max_length_matrix", "a number from 1")
    cases = values.numbers("cases", "cases_to_use", int)
    weights = values.numbers("cases", "weigths_per_case", float)
    if not set(cases) <= set(CASES) or len(set(cases)) != len(cases):
        raise values.wrong("cases", "cases_to_use", "some of the cases 1 to 6, each once")
    if len(weights) != len(cases) or not all(0 <= weight <= 1 for weight in weights):
        raise values.wrong("cases", "weigths_per_case", "a number from 0 to 1 for each case in use")
    words = () if by_position else read_list(pronouns)
    if not by_position and not words:
        raise BadInput(pronouns, "no pronouns", remedy="Write the source pronouns, one per line.")
    return IdiapSettings(
        source_pronouns=words,
        positions=read_positions(pronouns) if by_position else None,
        target_pronouns=values.words("files", "list_target_pronouns"),
        source_separator=values["lang", "source_word_separator"] or None,
        target_separator=values["lang", "target_word_separator"] or None,
        equal=values.groups("dictionary", "equal"),
        similar=values.groups("dictionary", "similar"),
        valid_source=frozenset(values.words("dictionary", "source_pronouns")),
        valid_target=frozenset(values.words("dictionary", "target_pronouns")),
        cases=tuple(map(int, cases)),
        weights=weights,
        count_other=values.is_true("cases", "count_other_as_equal"),
        count_multiword=values.is_true("output", "counting_multiword_in_matrix"),
        longest=int(longest),
    )


def read_list(path: Path) -> tuple[str, ...]:
    """A list of pronouns: one per line, in lower case."""
    return tuple(line.strip().lower() for line in text_lines(path) if line.strip())


def read_positions(path: Path) -> tuple[tuple[int, int], ...]:
    """Pronouns by their position: a sentence and a position per line, both counted from 0."""
    positions = []
    for number, line in enumerate(text_lines(path), start=1):
        fields = line.split()
        if not fields:
            continue
        if len(fields) != 2 or not all(map(is_count, fields)):
            remedy = "A line is a sentence and a position, both counted from 0."
            raise BadInput(path, f"not the position of a pronoun: {shown(line.strip())}", line=number, remedy=remedy)
        positions.append((int(fields[0]), int(fields[1])))
    return tuple(positions)


class _Values:
    """The values of a config by section and key; whatever is wrong names the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path_of_config = path
        parser = configparser.RawConfigParser(strict=False, inline_comment_prefixes=(";",))
        try:
            parser.read_string("\n".join(text_lines(path)))
        except configparser.Error as error:
            problem = f"not a config of the original program: {error.message.splitlines()[0]}"
            raise BadInput(path, problem, line=getattr(error, "lineno", None)) from None
        self._values = {(s, k): parser.get(s, k).strip() for s in parser.sections() for k in parser.options(s)}
        known = {(section, key) for section, keys in KEYS.items() for key in keys}
        for section, key in sorted(known - set(self._values)):
            raise BadInput(
                path, f"[{section}] {key} is missing", remedy=f"Keys of [{section}]: {', '.join(KEYS[section])}."
            )
        for section, key in sorted(set(self._values) - known):
            meant = did_you_mean(key, KEYS.get(section, ()))
            raise BadInput(path, f"[{section}] {key} is not a key of the original program{meant}")

    def __getitem__(self, where: tuple[str, str]) -> str:
        return self._values[where]

    def wrong(self, section: str, key: str, needs: str) -> BadInput:
        return BadInput(self.path_of_config, f"[{section}] {key}: {self[section, key]!r} is not {needs}")

    def path(self, section: str, key: str) -> Path:
        if not self[section, key]:
            raise self.wrong(section, key, "a file")
        return Path(self[section, key])

    def words(self, section: str, key: str) -> tuple[str, ...]:
        return read_list(self.path(section, key)) if self[section, key] else ()

    def groups(self, section: str, key: str) -> Groups:
        """A dictionary of equal or similar pronouns: a group per line, with commas between."""
        return tuple(tuple(line.replace(" ", "").split(",")) for line in self.words(section, key))

    def is_true(self, section: str, key: str) -> bool:
        if self[section, key].lower() not in TRUE + FALSE:
            raise self.wrong(section, key, "true or false")
        return self[section, key].lower() in TRUE

    def numbers(self, section: str, key: str, kind: type[int] | type[float]) -> tuple[float, ...]:
        try:
            return tuple(kind(part) for part in self[section, key].split(","))
        except ValueError:
            raise self.wrong(section, key, "numbers with commas between") from None


# A config of the original APT program, run: the same two files, and a result as for every other variant.


def run_config(path: Path, sampling: Resampling | None = None) -> tuple[AptResult, tuple[Path, ...]]:
    """Do what the original program does with a config; returns the result and the two files that were written."""
    config = read_config(path)
    sampling = sampling or Resampling()
    task = read_task(config.files, apt_idiap.split, PronounLists(config.languages))
    for sentence, position in config.settings.positions or ():
        if sentence >= len(task.source) or position >= len(task.source[sentence]):
            problem = f"word {position} of sentence {sentence} is outside the source"
            raise BadInput(config.pronouns, problem, remedy="Sentences and positions count from 0.")
    weighting = weighting_of(config.settings)
    result = make_result(
        apt_idiap.outcomes(task, config.settings),
        languages=config.languages,
        variant="idiap",
        weighting=weighting,
        sampling=sampling,
        signature=signature_of(task, "idiap", weighting, sampling, config.digest[:HASH_LENGTH]),
        texts=task.texts,
    )
    (system,) = result.systems
    score = score_file(result, system, config.settings.longest, config.settings.cases)
    paths = tuple(config.output.with_name(f"{config.output.name}.{kind}") for kind in ("score", "detail"))
    for path, text in zip(paths, (str(score), detail_file(system.outcome.triples)), strict=True):
        with atomic_writer(path) as out:
            out.write(text.encode())
    return result, paths


def weighting_of(settings: IdiapSettings) -> Weighting:
    """The original program has a weight for each case in use; the other cases are discarded."""
    weights = dict(zip(settings.cases, settings.weights, strict=True))
    discarded = tuple(case for case in CASES if case not in weights)
    return Weighting(tuple(weights.get(case, 0.0) for case in CASES), discarded)
