"""Checks, and the sentences that rules make of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from anaphora.evaluation.diagnosis_evidence import TOO_FEW, Measured
from anaphora.evaluation.diagnosis_rules import Rule, Thresholds


@dataclass(frozen=True, slots=True)
class Check:
    """One row of the table. shown: the verdict in words; part: a template of several that are also counted together."""

    rule: str
    step: str
    name: str
    suite: str
    found: Measured
    shown: str
    part: bool = False

    @property
    def signed(self) -> bool:
        """Whether the figure is a difference, not a share."""
        return bool(self.found.parts)

    def to_dict(self) -> dict[str, Any]:
        found = self.found
        return {
            "rule": self.rule,
            "step": self.step,
            "name": self.name,
            "suite": self.suite,
            "total": found.total,
            "figure": found.value,
            "interval": list(found.interval),
            "difference": self.signed,
            "verdict": found.verdict,
            "shown": self.shown,
            "what": list(found.what),
            "parts": list(found.parts),
            "chance": found.chance,
            "p_adjusted": found.p,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence, the rule and the checks that it follows from; items: the ids of those that show it."""

    rule: str
    verdict: str
    severity: str
    text: str
    checks: tuple[Check, ...]

    @property
    def items(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(item for check in self.checks for item in check.found.items))

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
    """What a rule says of its checks: of the first one; nothing where there are too few items."""
    if not checks or checks[0].found.verdict not in rule.says:
        return None
    check = checks[0]
    severity, text = rule.says[check.found.verdict]
    costly = sum(c.found.verdict == check.found.verdict for c in checks)
    tried = sum(c.found.verdict != TOO_FEW for c in checks)
    fields = {**_fields(check, limits), "count": str(costly), "tried": str(tried)}
    return Statement(rule.id, check.found.verdict, severity, text.format(**fields), (check,))


def _fields(check: Check, limits: Thresholds) -> dict[str, str]:
    """What may stand in braces in a sentence."""
    found = check.found
    low, high = found.interval
    signs = ".3f" if not check.signed else "+.3f"
    interval = f"[{low:{signs}}, {high:{signs}}]".replace("-", "−")
    signed = f"{found.value:{signs}} {interval}".replace("-", "−")
    one, other = (*(f"{part:.3f}" for part in found.parts), "", "")[:2]
    what, second = (*found.what, "", "")[:2]
    return {
        "figure": f"{found.value:.3f} {interval}, n = {found.total:,}",
        "interval": interval,
        "percent": f"{found.value * 100:.1f} %",
        "total": f"{found.total:,}",
        "chance": "" if found.chance is None else f"{found.chance:.2f}",
        "known": f"{limits.known:g}",
        "loss": f"{limits.loss:g}",
        "signed": signed,
        "one": one,
        "other": other,
        "what": what,
        "attack": what,
        "best": what,
        "worst": second,
        "p": "" if found.p is None else "< 0.001" if found.p < 0.001 else f"= {found.p:.3f}",
        "suite": check.suite,
    }
