"""Diagnosis: which step of the pipeline of ContraCAT §3 fails, what the priors are, how robust the score is.

Every statement follows from a rule in diagnosis.toml. A rule makes checks (a figure, its interval, a verdict), and has
a sentence for one of them, or none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from anaphora.evaluation.diagnosis_evidence import (
    AT_CHANCE,
    FIGURES,
    PIPELINE,
    SEVERITIES,
    STEPS,
    TOO_FEW,
    Answer,
    Evidence,
    Measured,
    Rule,
    Rules,
    Says,
    Thresholds,
    attack_verdict,
    gather,
    load_rules,
)
from anaphora.evaluation.result import RunSignature, Settings
from anaphora.evaluation.robustness import Robustness
from anaphora.measurement import Measurement
from anaphora.runs import Run
from anaphora.stats.intervals import wilson


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table. shown: the verdict in words; part: a template of several that are also counted together."""

    rule: str
    step: str
    name: str
    suite: str
    measured: Measured
    shown: str
    part: bool = False

    @property
    def signed(self) -> bool:
        """Whether the figure is a difference, not a share."""
        return bool(self.measured.parts)

    def to_dict(self) -> dict[str, Any]:
        measured = self.measured
        return {
            "rule": self.rule,
            "step": self.step,
            "name": self.name,
            "suite": self.suite,
            "total": measured.total,
            "figure": measured.value,
            "interval": list(measured.interval),
            "difference": self.signed,
            "verdict": measured.verdict,
            "shown": self.shown,
            "what": list(measured.what),
            "parts": list(measured.parts),
            "chance": measured.chance,
            "p_adjusted": measured.p,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with the rule and the checks it follows from. items: the ids of the items it rests on."""

    rule: str
    verdict: str
    severity: str
    text: str
    checks: tuple[Check, ...]

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item for check in self.checks for item in check.measured.items))

    def to_dict(self, items: int | None = None) -> dict[str, Any]:
        ids = self.items
        return {
            "rule": self.rule,
            "verdict": self.verdict,
            "severity": self.severity,
            "text": self.text,
            "figures": [check.to_dict() for check in self.checks],
            "item_count": len(ids),
            "items": list(ids if items is None else ids[:items]),
        }


def statement(rule: Rule, checks: Sequence[Check], limits: Thresholds) -> Statement | None:
    """Return the statement of a rule about its first check; None if the rule says nothing about its verdict."""
    if not checks or checks[0].measured.verdict not in rule.says:
        return None
    check = checks[0]
    severity, text = rule.says[check.measured.verdict]
    costly = sum(c.measured.verdict == check.measured.verdict for c in checks)
    tried = sum(c.measured.verdict != TOO_FEW for c in checks)
    measured = check.measured
    signs = "+.3f" if check.signed else ".3f"
    interval = "[{:{s}}, {:{s}}]".format(*measured.interval, s=signs).replace("-", "−")
    one, other = (*(f"{part:.3f}" for part in measured.parts), "", "")[:2]
    what, second = (*measured.what, "", "")[:2]
    fields = {
        "figure": f"{measured.value:.3f} {interval}, n = {measured.total:,}",
        "interval": interval,
        "percent": f"{measured.value * 100:.1f} %",
        "total": f"{measured.total:,}",
        "chance": "" if measured.chance is None else f"{measured.chance:.2f}",
        "known": f"{limits.known:g}",
        "loss": f"{limits.loss:g}",
        "signed": f"{measured.value:{signs}} {interval}".replace("-", "−"),
        "one": one,
        "other": other,
        "what": what,
        "attack": what,
        "best": what,
        "worst": second,
        "p": "" if measured.p is None else "< 0.001" if measured.p < 0.001 else f"= {measured.p:.3f}",
        "suite": check.suite,
        "count": str(costly),
        "tried": str(tried),
    }
    return Statement(rule.id, measured.verdict, severity, text.format(**fields), (check,))


# Conclusions: what follows from several verdicts together (ContraCAT §3, §6.2).

NOT_KNOWN = ("fails", "partial")
PRIORS = ("fallback", "prior/verb")  # the rules about a gender


def conclusions(
    statements: Sequence[Statement], says: Mapping[str, Says], context: str | None = None
) -> Iterator[Statement]:
    """Yield the conclusions that hold. They follow from statements, so that nothing rests on too few items.

    context: what the system saw, as in "1+1" sentences of source and target; None where it is not known
    """
    judged = {s.rule: s.checks[0] for s in statements if s.checks[0].step in PIPELINE}
    checks = list(judged.values())
    # every template has its nouns in the sentence before: without that sentence a system can only guess
    if checks and context is not None and context.startswith("0+"):
        severity, text = says["unseen"]["unseen"]
        yield Statement("unseen", "unseen", severity, text.format(context=context), ())
    # the first step of the pipeline that fails; that none fails is stated if every step was tested
    failing = [check for check in checks if check.measured.verdict == "fails"]
    if failing:
        step = min((check.step for check in failing), key=PIPELINE.index)
        first = [check for check in failing if check.step == step]
        yield _statement("first-failure", "fails", says, first, step=step)
    elif {check.step for check in checks} == set(PIPELINE):
        weak = [check for check in checks if check.measured.verdict != "known"]
        yield _statement("first-failure", "weak" if weak else "sound", says, weak or checks)
    # §6.2: who knows the gender of nouns and still chooses the wrong pronoun has not found the antecedent
    earlier = [c for c in checks if c.step != "language translation" and c.measured.verdict in NOT_KNOWN]
    gender = judged["gender"].measured.verdict if "gender" in judged else ""
    if earlier and gender in ("known", "fails"):
        yield _statement("mistakes", "earlier" if gender == "known" else "gender", says, earlier)
    # §6.2: event and pleonastic it are right by the prior where the system prefers neuter anyway
    preferred = {s.checks[0].measured.what[0] for s in statements if s.verdict == "prefers" and s.rule in PRIORS}
    kinds = [judged[rule] for rule in ("event", "pleonastic") if rule in judged]
    right = [check for check in kinds if check.measured.verdict == "known" and set(check.measured.golds) <= preferred]
    if right:
        yield _statement("by-default", "default", says, right, what=right[0].measured.golds[0])


def _statement(rule: str, verdict: str, says: Mapping[str, Says], checks: Sequence[Check], **fields: str) -> Statement:
    severity, text = says[rule][verdict]
    names = [f"{check.name} {check.measured.value:.3f}" for check in checks]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return Statement(rule, verdict, severity, text.format(names=listed, **fields), tuple(checks))


# The diagnosis of a system: all checks, the statements that follow from them, and what to try.

WORST_FIRST = ("brittle", "small loss", "unclear", "robust", AT_CHANCE)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The diagnosis of one system. advice: commands, the purpose of each, and the rules it follows from."""

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
        """Return the JSON object. items: the maximum number of ids per statement; None for all."""
        return {
            "system": self.system,
            "context": self.context,
            "languages": self.languages,
            "suites": list(self.suites),
            "statements": [statement.to_dict(items) for statement in self.statements],
            "checks": [check.to_dict() for check in self.checks],
            "advice": [{"command": c, "text": text, "rules": list(rules)} for c, text, rules in self.advice],
            "thresholds": asdict(self.thresholds),
            "signature": self.signature,
        }


def diagnose(
    runs: Sequence[Run], *, system: str | None = None, settings: Settings | None = None
) -> tuple[Diagnosis, ...]:
    """Return a diagnosis for each system among the runs; each context size counts as a separate system.

    system: all runs are of this system, whatever their headers name (score files name none)
    """
    settings = settings or Settings()
    return tuple(diagnosis_of(evidence, settings, load_rules()) for evidence in gather(runs, settings, system))


def diagnosis_of(evidence: Evidence, settings: Settings, rules: Rules) -> Diagnosis:
    checks: list[Check] = []
    statements: list[Statement] = []
    for rule in rules.rules:
        for made in _checks(rule, evidence, rules.thresholds, settings.confidence):
            checks += made
            if made_statement := statement(rule, made, rules.thresholds):
                statements.append(made_statement)
    statements += list(conclusions(statements, rules.conclusions, evidence.context))
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
    """The checks of a rule in groups; each group has one sentence, about its first check."""
    if rule.kind in ("attack", "context"):
        for attacked in evidence.attacks:
            yield _attack_checks(rule, attacked, evidence, limits, confidence)
        return
    if not rule.templates:
        for suite, answers in evidence.tests.items():
            yield _made(rule, answers, limits, confidence, f"{suite}: {rule.name}")
        return
    present = [name for name in rule.templates if evidence.templates.get(name)]
    pooled = [answer for name in present for answer in evidence.templates[name]]
    if not pooled:
        return
    made = _made(rule, pooled, limits, confidence, rule.name)
    if rule.kind == "accuracy" and len(rule.templates) > 1:
        for name in present:
            made += _made(rule, evidence.templates[name], limits, confidence, name, part=True)
    yield made


def _made(
    rule: Rule, answers: Sequence[Answer], limits: Thresholds, confidence: float, name: str, part: bool = False
) -> list[Check]:
    measured = FIGURES[rule.kind](answers, rule, limits, confidence) if answers else None
    return [_check(rule, name, answers[0].suite, measured, part)] if measured else []


def _check(rule: Rule, name: str, suite: str, measured: Measured, part: bool = False) -> Check:
    verdict = measured.verdict
    shown = f"prefers {measured.what[0]}" if verdict == "prefers" else rule.shown.get(verdict, verdict)
    return Check(rule.id, rule.step, name, suite, measured, shown, part)


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
        verdict = attack_verdict(change.delta, change.interval, p, change.total, limits, at_chance=floor)
        parts = change.first, change.second
        measured = Measured(
            change.total, change.delta, change.interval, verdict, attack.pair.lost, (attack.name,), parts, chance, p
        )
        made.append(_check(rule, f"{attacked.suite}: {attack.name}", attacked.suite, measured))
    rank = {verdict: k for k, verdict in enumerate((*WORST_FIRST, TOO_FEW))}
    return sorted(made, key=lambda check: (rank[check.measured.verdict], check.measured.value))


def _advice(
    statements: Sequence[Statement], evidence: Evidence, rules: Rules
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """The advice with the rules that lead to it, including what was not examined."""
    wanted: dict[str, list[str]] = {}
    of = {rule.id: rule for rule in rules.rules}
    for one in statements:
        if one.rule not in of:  # a conclusion: what it rests on has its advice
            if one.rule in rules.advice:
                wanted[one.rule] = [one.rule]
            continue
        advice, what = of[one.rule].advice, one.checks[0].measured.what
        for name in (*advice.get(one.verdict, ()), *advice.get(" ".join((one.verdict, *what[:1])), ())):
            wanted.setdefault(name, []).append(one.rule)
    if not evidence.templates:
        wanted["templates"] = []
    if evidence.tests and not evidence.attacks:
        wanted["attacks"] = []
    commands = []
    for name, ids in wanted.items():
        command, text, *languages = rules.advice[name]
        if languages and evidence.languages not in languages:
            continue
        commands.append((command.format(languages=evidence.languages), text, tuple(dict.fromkeys(ids))))
    return tuple(commands)
