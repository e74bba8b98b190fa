"""What follows from several verdicts together (ContraCAT §3, §6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anaphora.evaluation.diagnosis_rules import PIPELINE, Says
from anaphora.evaluation.diagnosis_sentences import Check, Statement

NOT_KNOWN = ("fails", "partial")
PRIORS = ("fallback", "prior/verb")  # the rules that speak of a gender


def conclusions(
    statements: Sequence[Statement], says: Mapping[str, Says], context: str | None = None
) -> list[Statement]:
    """The conclusions that hold. They follow from statements, so that nothing rests on too few items.

    context: what the system saw, as in "1+1" sentences of source and target; None where it is not known
    """
    judged = {s.rule: s.checks[0] for s in statements if s.checks[0].step in PIPELINE}
    preferred = {s.checks[0].found.what[0] for s in statements if s.verdict == "prefers" and s.rule in PRIORS}
    return [
        *_unseen(judged, context, says["unseen"]),
        *_first_failure(judged, says["first-failure"]),
        *_mistakes(judged, says["mistakes"]),
        *_by_default(judged, preferred, says["by-default"]),
    ]


def _unseen(judged: Mapping[str, Check], context: str | None, says: Says) -> Iterator[Statement]:
    """Every template has its nouns in the sentence before: without that sentence nobody can be right but by chance."""
    if judged and context is not None and context.startswith("0+"):
        severity, text = says["unseen"]
        yield Statement("unseen", "unseen", severity, text.format(context=context), ())


def _first_failure(judged: Mapping[str, Check], says: Says) -> Iterator[Statement]:
    """The first step in the order of the pipeline that fails. That none does is said if every step was tested."""
    for step in PIPELINE:
        found = [check for check in judged.values() if check.step == step and check.found.verdict == "fails"]
        if found:
            yield _statement("first-failure", "fails", says, found, step=step)
            return
    if {check.step for check in judged.values()} == set(PIPELINE):
        weak = [check for check in judged.values() if check.found.verdict != "known"]
        yield _statement("first-failure", "weak" if weak else "sound", says, weak or list(judged.values()))


def _mistakes(judged: Mapping[str, Check], says: Says) -> Iterator[Statement]:
    """§6.2: who knows the gender of nouns and still chooses the wrong pronoun has not found the antecedent."""
    gender = judged.get("gender")
    earlier = [c for c in judged.values() if c.step != "language translation" and c.found.verdict in NOT_KNOWN]
    if gender is None or not earlier:
        return
    if gender.found.verdict == "known":
        yield _statement("mistakes", "earlier", says, earlier)
    elif gender.found.verdict == "fails":
        yield _statement("mistakes", "gender", says, earlier)


def _by_default(judged: Mapping[str, Check], preferred: set[str], says: Says) -> Iterator[Statement]:
    """§6.2: event and pleonastic it are right by the prior where the system prefers neuter anyway."""
    found = [judged[rule] for rule in ("event", "pleonastic") if rule in judged]
    right = [check for check in found if check.found.verdict == "known" and set(check.found.golds) <= preferred]
    if right:
        yield _statement("by-default", "default", says, right, what=right[0].found.golds[0])


def _statement(rule: str, verdict: str, says: Says, checks: Sequence[Check], **fields: str) -> Statement:
    severity, text = says[verdict]
    names = [f"{check.name} {check.found.value:.3f}" for check in checks]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return Statement(rule, verdict, severity, text.format(names=listed, **fields), tuple(checks))
