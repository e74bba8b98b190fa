"""Diagnosis: which step of the pipeline of ContraCAT §3 fails, what the priors are, how robust the score is.

Every statement follows from a rule in diagnosis.toml. A rule makes checks (a figure, its interval, a verdict), and says
a sentence of one of them, or nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from anaphora.evaluation import diagnosis_evidence as figures
from anaphora.evaluation.diagnosis_conclusions import conclusions
from anaphora.evaluation.diagnosis_evidence import AT_CHANCE, TOO_FEW, Answer, Evidence, Measured, gather
from anaphora.evaluation.diagnosis_rules import SEVERITIES, STEPS, Rule, Rules, Thresholds, load_rules
from anaphora.evaluation.diagnosis_sentences import Check, Statement, statement
from anaphora.evaluation.result import RunSignature, Settings
from anaphora.evaluation.robustness import Robustness
from anaphora.runs import Run
from anaphora.stats.intervals import wilson
from anaphora.systems.context import Measurement

WORST_FIRST = ("brittle", "small loss", "unclear", "robust", AT_CHANCE)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is said of one system. advice: commands, what each is for, and the rules that it follows from."""

    system: str
    context: str | None
    languages: str
    suites: tuple[str, ...]
    statements: tuple[Statement, ...]
    checks: tuple[Check, ...]
    advice: tuple[tuple[str, str, tuple[str, ...]], ...]
    thresholds: Thresholds
    settings: Settings
    version: str
    protocol: Mapping[str, Any] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        line = RunSignature("dia")
        for suite in self.suites:
            line.add("s", suite)
        line.measured(Measurement(self.context, self.protocol)).decided(self.settings, ties=False)
        return str(line.add("v", self.version))

    def to_dict(self, items: int | None = None) -> dict[str, Any]:
        """items: how many ids each statement lists at most; None for all."""
        return {
            "system": self.system,
            "context": self.context,
            "languages": self.languages,
            "suites": list(self.suites),
            "statements": [said.to_dict(items) for said in self.statements],
            "checks": [check.to_dict() for check in self.checks],
            "advice": [{"command": c, "text": text, "rules": list(rules)} for c, text, rules in self.advice],
            "thresholds": asdict(self.thresholds),
            "signature": self.signature,
        }


def diagnose(
    runs: Sequence[Run], *, system: str | None = None, settings: Settings | None = None
) -> tuple[Diagnosis, ...]:
    """A diagnosis of each system among the runs; a system with another context is another one.

    system: all runs are of this system, whatever they say (score files do not say whose they are)
    """
    settings = settings or Settings()
    return tuple(diagnosis_of(evidence, settings, load_rules()) for evidence in gather(runs, settings, system))


def diagnosis_of(evidence: Evidence, settings: Settings, rules: Rules) -> Diagnosis:
    checks: list[Check] = []
    statements: list[Statement] = []
    for rule in rules.rules:
        for made in _checks(rule, evidence, rules.thresholds, settings.confidence):
            checks += made
            if said := statement(rule, made, rules.thresholds):
                statements.append(said)
    statements += conclusions(statements, rules.conclusions, evidence.context)
    order = sorted(statements, key=lambda s: (s.rule not in rules.conclusions, SEVERITIES.index(s.severity)))
    return Diagnosis(
        system=evidence.system,
        context=evidence.context,
        languages=evidence.languages,
        suites=evidence.suites,
        statements=tuple(order),
        checks=tuple(sorted(checks, key=lambda check: STEPS.index(check.step))),
        advice=_advice(statements, evidence, rules),
        thresholds=rules.thresholds,
        settings=settings,
        version=evidence.version,
        protocol=evidence.protocol,
    )


def _checks(rule: Rule, evidence: Evidence, limits: Thresholds, confidence: float) -> Iterator[list[Check]]:
    """The checks of a rule in groups; one sentence is said of each group, of its first check."""
    if rule.kind in ("attack", "context"):
        for attacked in evidence.attacks:
            yield _attack_checks(rule, attacked, evidence, limits, confidence)
        return
    if not rule.templates:
        for suite, answers in evidence.tests.items():
            yield _made(rule, _measured(rule, answers, limits, confidence), f"{suite}: {rule.name}", suite)
        return
    present = [name for name in rule.templates if evidence.templates.get(name)]
    pooled = [answer for name in present for answer in evidence.templates[name]]
    if not pooled:
        return
    made = _made(rule, _measured(rule, pooled, limits, confidence), rule.name, pooled[0].suite)
    if rule.kind == "accuracy" and len(rule.templates) > 1:
        for name in present:
            answers = evidence.templates[name]
            made += _made(rule, _measured(rule, answers, limits, confidence), name, answers[0].suite, part=True)
    yield made


def _measured(rule: Rule, answers: Sequence[Answer], limits: Thresholds, confidence: float) -> Measured | None:
    if rule.kind == "accuracy":
        answers = [answer for answer in answers if answer.gold is not None]
        return figures.accuracy(answers, rule, limits, confidence) if answers else None
    if rule.kind == "fallback":
        return figures.fallback(answers, limits, confidence)
    if rule.kind == "choice":
        return figures.choice([answer for answer in answers if answer.gold is None], limits, confidence)
    if rule.kind == "difference":
        return figures.difference(answers, rule, limits, confidence)
    return figures.extremes(answers, rule, limits, confidence)


def _made(rule: Rule, found: Measured | None, name: str, suite: str, part: bool = False) -> list[Check]:
    return [Check(rule.id, rule.step, name, suite, found, _shown(rule, found), part)] if found else []


def _shown(rule: Rule, found: Measured) -> str:
    """The verdict in the words of the table."""
    if found.verdict == "prefers":
        return f"prefers {found.what[0]}"
    return rule.shown.get(found.verdict, found.verdict)


def _attack_checks(
    rule: Rule, attacked: Robustness, evidence: Evidence, limits: Thresholds, confidence: float
) -> list[Check]:
    """The attacks that the rule is about, the worst first; what it says of other kinds than its own is not asked."""
    chance = evidence.chance(attacked.suite)
    others = {kind for other in load_rules().rules for kind in other.attacks}
    made = []
    for attack in attacked.attacks:
        if attack.kind not in rule.attacks if rule.attacks else attack.kind in others:
            continue
        change = attack.pair.overall
        p = change.p_adjusted
        floor = wilson(round(change.first * change.total), change.total, confidence)[0] <= chance
        verdict = figures.attack_verdict(change.delta, change.interval, p, change.total, limits, at_chance=floor)
        parts = change.first, change.second
        found = Measured(
            change.total, change.delta, change.interval, verdict, attack.pair.lost, (attack.name,), parts, chance, p
        )
        made.append(
            Check(rule.id, rule.step, f"{attacked.suite}: {attack.name}", attacked.suite, found, _shown(rule, found))
        )
    rank = {verdict: k for k, verdict in enumerate((*WORST_FIRST, TOO_FEW))}
    return sorted(made, key=lambda check: (rank[check.found.verdict], check.found.value))


def _advice(
    statements: Sequence[Statement], evidence: Evidence, rules: Rules
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """What to try, for each name of an advice the rules that lead to it; and what was not looked at."""
    wanted: dict[str, list[str]] = {}
    of = {rule.id: rule for rule in rules.rules}
    for said in statements:
        if said.rule not in of:  # a conclusion: what it rests on has its advice
            if said.rule in rules.advice:
                wanted[said.rule] = [said.rule]
            continue
        advice, what = of[said.rule].advice, said.checks[0].found.what
        for name in (*advice.get(said.verdict, ()), *advice.get(" ".join((said.verdict, *what[:1])), ())):
            wanted.setdefault(name, []).append(said.rule)
    if not evidence.templates:
        wanted["templates"] = []
    if evidence.tests and not evidence.attacks:
        wanted["attacks"] = []
    found = []
    for name, ids in wanted.items():
        command, text, *languages = rules.advice[name]
        if languages and evidence.languages not in languages:
            continue
        found.append((command.format(languages=evidence.languages), text, tuple(dict.fromkeys(ids))))
    return tuple(found)
