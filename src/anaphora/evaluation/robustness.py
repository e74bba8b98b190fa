"""The accuracy of a system before and after attacks on the same items (ContraCAT §5.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.compare import Pair, compare_runs, corrected, original_of
from anaphora.evaluation.contrastive import evaluate_run
from anaphora.evaluation.result import Proportion, RunSignature, Settings, as_documents
from anaphora.measurement import PLAIN, Measurement, canonical
from anaphora.runs import LoadedRun, Run, ScoredExample, load
from anaphora.stats.signature import with_hash


@dataclass(frozen=True, slots=True)
class Attack:
    """The effect of an attack: `pair` has the accuracy before (first) and after (second), the change, tests, flips."""

    name: str
    suite: str
    pair: Pair

    @property
    def kind(self) -> str:
        """`phrase-addition` of `phrase-addition/true_colon`."""
        return self.name.partition("/")[0]

    def to_dict(self) -> dict[str, Any]:
        row = {"attack": self.name, "suite": self.suite, **_renamed(self.pair.overall.to_dict())}
        row["breakdowns"] = {
            name: {group: _renamed(document) for group, document in groups.items()}
            for name, groups in as_documents(self.pair.breakdowns).items()
        }
        return {**row, "gained": list(self.pair.gained), "lost": list(self.pair.lost)}


@dataclass(frozen=True, slots=True)
class Robustness:
    """A system before and after attacks.

    before: its accuracy on the whole suite, of which attacks may take a part
    repeated: breakdowns that were left out for some attack as they have the same groups as another, and which
    """

    suite: str
    sha256: str
    languages: str
    system: str
    context: str | None
    before: Proportion
    attacks: tuple[Attack, ...]
    test: str
    settings: Settings
    version: str
    protocol: Mapping[str, Any] = field(default_factory=dict)
    repeated: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        suites = tuple(dict.fromkeys(attack.suite for attack in self.attacks))
        line = RunSignature("rob").suite(self.suite, self.sha256).others(suites)
        line.measured(Measurement(self.context, self.protocol)).decided(self.settings).tested(self.test, self.settings)
        return str(line.add("v", self.version))

    def to_dict(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "sha256": self.sha256,
            "system": self.system,
            "before": self.before.to_dict(),
            "attacks": [attack.to_dict() for attack in self.attacks],
            "repeated": dict(self.repeated),
            "test": self.test,
            "correction": "holm",
            "signature": self.signature,
        }


def robustness(
    before: Run,
    attacked: Sequence[Run],
    *,
    breakdowns: Sequence[str] = (),
    settings: Settings | None = None,
    test: str | None = None,
) -> Robustness:
    """One system's run on a suite against its runs on attacks of that suite, each on the items that were attacked.

    A run may hold several attacks: they are told apart by the tag `attack`. P-values are corrected for the number of
    attacks, and for attacks × groups in the breakdowns. breakdowns: none unless asked for.
    """
    settings = settings or Settings()
    whole = load(before)
    labels: list[tuple[str, str]] = []
    pairs: list[Pair] = []
    repeated: dict[str, str] = {}
    for run in attacked:
        _check(before, run)
        parts = _parts(run)
        if before.header.sha256 == run.header.sha256:
            problem = f"a run of the same suite as {before.path} ({run.header.suite}), not of an attack on it"
            raise BadInput(run.path, problem, remedy="Name the run on the suite itself first.")
        for name, part in parts.items():
            comparison = compare_runs([whole, part], breakdowns=breakdowns, settings=settings, test=test)
            labels.append((name, with_hash(run.header.suite, run.header.sha256)))
            pairs.append(comparison.pairs[0])
            repeated |= comparison.repeated if breakdowns else {}
            test = comparison.test
    if test is None:
        raise AnaphoraError("name the runs of one or more attacks after the run on the suite itself")
    if not breakdowns:
        pairs = [Pair(p.first, p.second, p.overall, {}, p.gained, p.lost) for p in pairs]
    about = before.header
    return Robustness(
        suite=about.suite,
        sha256=about.sha256,
        languages=about.languages,
        system=about.system,
        context=about.context,
        before=evaluate_run(whole, settings=settings).figure,
        attacks=tuple(Attack(*names, pair) for names, pair in zip(labels, corrected(pairs), strict=True)),
        test=test,
        settings=settings,
        version=about.version,
        protocol=about.measurement.settings,
        repeated=repeated,
    )


def _parts(run: Run) -> dict[str, LoadedRun]:
    attacks: dict[str, list[ScoredExample]] = {}
    for item in run:
        if original_of(item) is None:
            problem = f"example {item.id} does not name its original (tag 'attacked')"
            raise BadInput(run.path, problem, remedy="Make attacks with: anaphora build attack … SUITE -o OUT.jsonl")
        attacks.setdefault(str(item.tags.get("attack") or run.header.suite), []).append(item)
    if not attacks:
        raise BadInput(run.path, "the run has no examples")
    return {name: LoadedRun(run.header, run.path, tuple(items)) for name, items in attacks.items()}


def _check(before: Run, run: Run) -> None:
    """Before and after must be one system, used in one way; score files do not name their system."""
    one, other = before.header, run.header
    imported = one.system.startswith("scores:") or other.system.startswith("scores:")
    stated = [] if imported else [("system", one.system, other.system), *_unlike(one.measurement, other.measurement)]
    for what, first, second in (*stated, ("context", one.context, other.context)):
        if first is not None and second is not None and first != second:
            raise AnaphoraError(
                f"{run.path}: {what} {second}, but {before.path} has {first}. "
                "Score the suite and its attacks with one system and the same settings"
            )


def _unlike(one: Measurement, other: Measurement) -> list[tuple[str, str, str]]:
    names = sorted({*one.settings, *other.settings} - {"sample"})  # examples are paired one by one anyway
    pairs = [(name, *(m.settings.get(name, PLAIN.get(name)) for m in (one, other))) for name in names]
    return [(name, canonical(first), canonical(second)) for name, first, second in pairs]


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    names = {"first": "before", "second": "after"}
    return {names.get(key, key): value for key, value in row.items()}
