"""The evidence of a diagnosis: its rules, the answers of a system's runs, and the figures that the rules ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.parsing import read_toml
from anaphora.evaluation.compare import original_of
from anaphora.evaluation.contrastive import guessing
from anaphora.evaluation.decision import Priors, decide
from anaphora.evaluation.result import Settings
from anaphora.evaluation.robustness import Robustness, robustness
from anaphora.runs import Run
from anaphora.stats.intervals import newcombe, wilson
from anaphora.stats.resampling import Interval
from anaphora.stats.signature import with_hash
from anaphora.suites.example import Tag
from anaphora.suites.readers.contracat import NAMES

# The rules, read from diagnosis.toml: what each looks at, its thresholds, and what it says when.

FILE = Path(__file__).with_name("diagnosis.toml")
SEVERITIES = ("failure", "weakness", "note", "strength")
# the order of the table: the pipeline of §3, then what influences it
STEPS = (
    "markable detection",
    "coreference resolution",
    "language translation",
    "priors",
    "test sets",
    "robustness",
)
PIPELINE = STEPS[:3]

Says = Mapping[str, tuple[str, str]]  # verdict → severity, sentence with fields to fill in


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The values at which verdicts change; docs/diagnosis.md explains each."""

    known: float
    two_nouns: float
    majority: float
    gap: float
    loss: float
    negligible: float
    p: float
    minimum: int


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the diagnosis.

    kind: how the figure is made (`FIGURES`); templates: whose items it looks at, none: those of test sets
    chance: what an accuracy is held against, "two nouns" or "candidates"
    tag, first, second: two groups of items that are set against each other; tags: groups of which best and worst are
    attacks: the kinds of attack that it is about, none: all others
    says: a verdict that is not in it has no sentence; shown: a verdict in the words of the table
    advice: names of advice for a verdict, or for a verdict and what it is about ("prefers neuter")
    """

    id: str
    kind: str
    step: str
    name: str
    says: Says
    templates: tuple[str, ...] = ()
    chance: str = ""
    tag: str = ""
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    attacks: tuple[str, ...] = ()
    shown: Mapping[str, str] = field(default_factory=dict)
    advice: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules.

    conclusions: sentences about the verdicts of several rules
    advice: by its name a command, what it is good for, and the language pairs that it knows, if not all
    """

    thresholds: Thresholds
    rules: tuple[Rule, ...]
    conclusions: Mapping[str, Says]
    advice: Mapping[str, tuple[str, ...]]


@cache
def load_rules() -> Rules:
    """The rules that are built in."""
    document = read_toml(FILE)
    return Rules(
        thresholds=Thresholds(**document["thresholds"]),
        rules=tuple(Rule(**_tuples(row)) for row in document["rule"]),
        conclusions={row["id"]: _tuples(row["says"]) for row in document["conclusion"]},
        advice=_tuples(document["advice"]),
    )


def _tuples(value: Any) -> Any:
    """Return what TOML has as lists, at any depth, as tuples."""
    if isinstance(value, dict):
        return {key: _tuples(part) for key, part in value.items()}
    return tuple(value) if isinstance(value, list) else value


# The answers of all runs of a system, sorted into templates, test sets, and attacks on these.


class Answer(NamedTuple):
    """The choice of a system in one example. chosen: None if several candidates are best."""

    id: str
    suite: str
    gold: int | None
    chosen: int | None
    candidates: int
    tags: Mapping[str, Tag]

    @property
    def correct(self) -> bool:
        return self.gold is not None and self.chosen == self.gold


@dataclass(frozen=True, slots=True)
class Evidence:
    """The answers in all runs of one system.

    suites: name@hash of each run; templates: the answers by template id; tests: the answers by suite, where a right
    answer is known; attacks: before and after, for each suite that was attacked
    """

    system: str
    context: str | None
    languages: str
    version: str
    suites: tuple[str, ...]
    templates: Mapping[str, Sequence[Answer]]
    tests: Mapping[str, Sequence[Answer]]
    attacks: Sequence[Robustness]
    protocol: Mapping[str, Any] = field(default_factory=dict)

    def chance(self, suite: str) -> float:
        """Return the accuracy of choosing at random, or always the same pronoun."""
        answers = (a for group in (*self.tests.values(), *self.templates.values()) for a in group)
        return guessing((a.candidates, a.tags) for a in answers if a.suite == suite and a.gold is not None) or 0.0


def gather(runs: Sequence[Run], settings: Settings, system: str | None = None) -> list[Evidence]:
    """The evidence for each system; a system that was measured in another way is another system.

    system: all runs are of this system, whatever their headers name (score files name none)
    """
    groups: dict[tuple[str, str | None, str | None], list[Run]] = {}
    for run in runs:
        if system is not None:
            run = replace(run, header=replace(run.header, system=system))
        groups.setdefault((run.header.system, run.header.context, run.header.measurement.code), []).append(run)
    if not groups:
        raise AnaphoraError("name one or more runs")
    return [_evidence(members, settings) for members in groups.values()]


def _evidence(runs: list[Run], settings: Settings) -> Evidence:
    first = runs[0].header
    answers: dict[int, list[Answer]] = {}  # of the runs that are not attacks, by their index
    originals: dict[int, set[str]] = {}  # of those that are
    for k, run in enumerate(runs):
        for other in runs[:k]:
            if other.header.sha256 == run.header.sha256:
                problem = f"a second run of {run.header.suite} by {run.header.system}. The first is {other.path}"
                raise BadInput(run.path, problem, remedy="Name one of them.")
            if other.header.languages != run.header.languages:
                problem = f"languages {run.header.languages}, but {other.path} has {other.header.languages}"
                raise BadInput(run.path, problem, remedy="Diagnose each language pair separately.")
        originals[k] = set()
        for item in run:
            original = original_of(item)
            if original is not None:
                originals[k].add(original)
                continue
            chosen = decide(item, minimize=settings.minimize, normalize=settings.normalize).chosen
            answers.setdefault(k, []).append(
                Answer(item.id, run.header.suite, item.gold, chosen, len(item.scores), item.tags)
            )
        if not originals[k] and k not in answers:
            raise BadInput(run.path, "the run has no examples")
    attacked = _attacked(runs, {k: {a.id for a in group} for k, group in answers.items()}, originals)
    templates, tests = _sorted(runs, answers)
    return Evidence(
        system=first.system,
        context=first.context,
        languages=first.languages,
        version=first.version,
        suites=tuple(with_hash(run.header.suite, run.header.sha256) for run in runs),
        templates=templates,
        tests=tests,
        attacks=[robustness(runs[k], [runs[j] for j in js], settings=settings) for k, js in attacked.items()],
        protocol=first.measurement.settings,
    )


def _sorted(
    runs: Sequence[Run], answers: Mapping[int, Sequence[Answer]]
) -> tuple[dict[str, list[Answer]], dict[str, list[Answer]]]:
    """The answers by template and by test set. A template comes from one run: two would be mixed silently."""
    templates: dict[str, list[Answer]] = {}
    tests: dict[str, list[Answer]] = {}
    run_of: dict[str, int] = {}
    for k, group in answers.items():
        for answer in group:
            template = answer.tags.get("template")
            if isinstance(template, str):
                if run_of.setdefault(template, k) != k:
                    problem = f"the template {template} is in {runs[run_of[template]].path}, too"
                    raise BadInput(runs[k].path, problem, remedy="Diagnose the two suites separately.")
                templates.setdefault(template, []).append(answer)
            elif answer.gold is not None:
                tests.setdefault(answer.suite, []).append(answer)
    return templates, tests


def _attacked(
    runs: Sequence[Run], ids: Mapping[int, set[str]], originals: Mapping[int, set[str]]
) -> dict[int, list[int]]:
    """Return which runs are attacks on which run: the one that contains their original examples.

    If several runs have them (test sets number their items), the attack's name must begin with the suite's name.
    """
    attacked: dict[int, list[int]] = {}
    for k, needed in originals.items():
        if not needed:
            continue
        bases = [j for j in ids if needed & ids[j]]
        if len(bases) > 1:
            bases = [j for j in bases if runs[k].header.suite.startswith(f"{runs[j].header.suite}-")] or bases
        if len(bases) != 1:
            who = "several runs have" if bases else "no run has"
            problem = f"an attack, but {who} the originals of its examples by {runs[k].header.system}"
            remedy = "Name the run on the suite itself, too; --name NAME declares that score files belong to one system"
            raise BadInput(runs[k].path, problem, remedy=remedy)
        attacked.setdefault(bases[0], []).append(k)
    return attacked


# The figures of a diagnosis and their verdicts: one pure function per kind of rule.

TOO_FEW = "too few"
AT_CHANCE = "at chance"


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure with its verdict.

    verdict: TOO_FEW where the items do not suffice; what: the choice or groups that the figure is about, if any
    parts: the two values that a difference is made of; items: the ids of those that show what the verdict says
    p: corrected, of a paired test; golds: the genders that are right in these items
    """

    total: int
    value: float
    interval: Interval
    verdict: str
    items: tuple[str, ...] = ()
    what: tuple[str, ...] = ()
    parts: tuple[float, ...] = ()
    chance: float | None = None
    p: float | None = None
    golds: tuple[str, ...] = ()


def accuracy(answers: Sequence[Answer], rule: Rule, limits: Thresholds, confidence: float) -> Measured | None:
    """known: above the threshold; unclear: it is within the interval; fails: not better than chance; else partial."""
    answers = [answer for answer in answers if answer.gold is not None]
    if not answers:
        return None
    total, right = len(answers), sum(answer.correct for answer in answers)
    low, high = interval = wilson(right, total, confidence)
    chance = sum(1 / a.candidates for a in answers) / total if rule.chance == "candidates" else limits.two_nouns
    if low > limits.known:
        verdict = "known"
    elif high >= limits.known:
        verdict = "unclear"
    else:
        verdict = "partial" if low > chance else "fails"
    if total < limits.minimum:
        verdict = TOO_FEW
    items = tuple(a.id for a in answers if a.correct == (verdict == "known"))
    golds = tuple(sorted({str(g) for a in answers if (g := a.tags.get("reference_gender")) is not None}))
    return Measured(total, right / total, interval, verdict, items, chance=chance, golds=golds)


def fallback(answers: Sequence[Answer], rule: Rule, limits: Thresholds, confidence: float) -> Measured | None:
    """The gender chosen most where it is wrong (§6.1.2).

    It is a fallback if it is the majority there, and chosen more than any other gender where that is wrong: who takes
    the wrong noun each time chooses all of them. None where no item says its candidates' genders.
    """
    measured = []
    wrong: dict[str, list[tuple[Answer, bool]]] = {}
    for answer in answers:
        genders = answer.tags.get("candidate_genders")
        if not isinstance(genders, list) or len(genders) != answer.candidates or answer.gold is None:
            continue
        for k, gender in enumerate(genders):
            if k != answer.gold:
                wrong.setdefault(str(gender), []).append((answer, k == answer.chosen))
    for gender, asked in wrong.items():
        chosen = tuple(answer.id for answer, is_chosen in asked if is_chosen)
        total, share = len(asked), len(chosen) / len(asked)
        interval = wilson(len(chosen), total, confidence)
        measured.append(Measured(total, share, interval, "none", chosen, (str(NAMES.get(gender, gender)),)))
    if not measured:
        return None
    first, *others = sorted(measured, key=lambda m: -m.value)
    low = first.interval[0]
    prefers = low > limits.majority and all(low > other.interval[1] for other in others)
    return _judged(first, "prefers" if prefers else "none", limits)


def choice(answers: Sequence[Answer], rule: Rule, limits: Thresholds, confidence: float) -> Measured | None:
    """The choice made most where none is right (§6.1.1, Tables 10–12); a preference if it is the majority.

    Two orders of the same nouns count as one, as `Priors` has it. The verdict is `prefers`, or the choice itself where
    that has a meaning of its own: neither noun, the same antecedent in both orders.
    """
    made: dict[str, list[str]] = {}
    waiting: dict[object, Answer] = {}
    answers = [answer for answer in answers if answer.gold is None]
    for answer in answers:
        pair = answer.tags.get("pair")
        if isinstance(pair, str) and pair not in waiting:
            waiting[pair] = answer
            continue
        unit = [waiting.pop(pair), answer] if isinstance(pair, str) else [answer]
        priors = Priors()
        for one in unit:
            priors.add(one.tags, one.chosen)
        ((meaning,),) = priors.figures(confidence).values()
        made.setdefault(meaning, []).extend(one.id for one in unit)
    counts = Counter({what: len(ids) for what, ids in made.items()})
    if not counts:
        return None
    what, _ = counts.most_common(1)[0]
    size = 2 if any(isinstance(a.tags.get("pair"), str) for a in answers) else 1
    n, total = counts[what] // size, counts.total() // size
    interval = wilson(n, total, confidence)
    verdict = "none"
    if interval[0] > limits.majority:
        verdict = what if what in ("neither", "same antecedent", "tie") else "prefers"
    return _judged(Measured(total, n / total, interval, verdict, tuple(made[what]), (what,)), verdict, limits)


def difference(answers: Sequence[Answer], rule: Rule, limits: Thresholds, confidence: float) -> Measured | None:
    """Accuracy in the first group minus that in the second: `first` or `second` if that is more than the gap."""
    groups = [[a for a in answers if a.tags.get(rule.tag) in names] for names in (rule.first, rule.second)]
    if not all(groups):
        return None
    measured = _difference(groups[0], groups[1], confidence)
    low, high = measured.interval
    verdict = "first" if low > limits.gap else "second" if high < -limits.gap else _small(low, high, limits.gap)
    disfavored = groups[0] if verdict == "second" else groups[1]
    if min(map(len, groups)) < limits.minimum:
        verdict = TOO_FEW
    return replace(measured, verdict=verdict, items=tuple(a.id for a in disfavored if not a.correct))


def extremes(answers: Sequence[Answer], rule: Rule, limits: Thresholds, confidence: float) -> Measured | None:
    """The group of a tag with the best accuracy against the one with the worst: `uneven` if they are far apart."""
    tag = next((tag for tag in rule.tags if any(tag in a.tags for a in answers)), None)
    groups: dict[str, list[Answer]] = {}
    for answer in answers:
        if tag is not None and isinstance(value := answer.tags.get(tag), str):
            groups.setdefault(value, []).append(answer)
    enough = {name: members for name, members in groups.items() if len(members) >= limits.minimum}
    if len(enough) < 2:
        return None
    ranked = sorted(enough, key=lambda name: sum(a.correct for a in enough[name]) / len(enough[name]))
    worst, best = ranked[0], ranked[-1]
    measured = _difference(enough[best], enough[worst], confidence)
    low, high = measured.interval
    verdict = "uneven" if low > limits.gap else _small(low, high, limits.gap)
    return replace(
        measured, verdict=verdict, items=tuple(a.id for a in enough[worst] if not a.correct), what=(best, worst)
    )


def attack_verdict(
    delta: float, interval: Interval, p: float, total: int, limits: Thresholds, *, at_chance: bool = False
) -> str:
    """robust: surely no more than a negligible loss; brittle, small loss: significant; else unclear.

    at_chance: the accuracy before the attack is no better than chance, so that there is nothing to lose
    """
    if total < limits.minimum:
        return TOO_FEW
    if at_chance:
        return AT_CHANCE
    if interval[0] > -limits.negligible:
        return "robust"
    if p < limits.p and delta < 0:
        return "brittle" if delta <= -limits.loss else "small loss"
    return "unclear"


def _difference(one: Sequence[Answer], other: Sequence[Answer], confidence: float) -> Measured:
    counts = [(sum(a.correct for a in group), len(group)) for group in (one, other)]
    shares = tuple(right / total for right, total in counts)
    interval = newcombe(counts[0], counts[1], confidence)
    return Measured(len(one) + len(other), shares[0] - shares[1], interval, "none", parts=shares)


def _small(low: float, high: float, gap: float) -> str:
    return "none" if low > -gap and high < gap else "unclear"


def _judged(measured: Measured, verdict: str, limits: Thresholds) -> Measured:
    return replace(measured, verdict=verdict if measured.total >= limits.minimum else TOO_FEW)


FIGURES = {
    "accuracy": accuracy,
    "fallback": fallback,
    "choice": choice,
    "difference": difference,
    "extremes": extremes,
}
