"""What runs of one suite say in a few sentences: who is best and how surely, then the others. Shares are in percent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from anaphora.evaluation.compare import Comparison, Difference
from anaphora.evaluation.result import Proportion, Result
from anaphora.reports.tables import title_of

MOST = 3  # systems whose accuracy is said one by one
FEW = 30  # examples from which on a group is worth a sentence


def suite_summary(results: Mapping[str, Result], comparison: Comparison | None) -> Iterator[str]:
    """Accuracies; the best against the second best, by a test of its own; the others; where the best is weakest."""
    ordered = sorted(results, key=lambda name: -(results[name].accuracy or 0))
    best = ordered[0]
    about = results[best]
    if not about.figure.total:
        return
    said = [f"{name} is right in {share(results[name].figure)}" for name in ordered[:MOST]]
    rest = len(ordered) - MOST
    more = f"; the other {rest} {'is' if rest == 1 else 'are'} below that" if rest > 0 else ""
    yield f"On {about.suite} ({about.figure.total:,} examples) {joined(said)}{more}."
    if comparison is not None:
        found = _from_best(best, comparison)
        yield _duel(best, ordered[1], found[ordered[1]])
        if len(ordered) > 2:
            yield _others(best, {name: found[name] for name in ordered[2:]})
    weakest = _weakest(results[best])
    if weakest is not None:
        name, group, figure = weakest
        yield f"{best} is weakest at {title_of(name)} {group}: {share(figure)}."


def _from_best(best: str, comparison: Comparison) -> dict[str, Difference]:
    """By system, the difference of the pair in which the best is; its p-value is corrected for all pairs."""
    pairs = (pair for pair in comparison.pairs if best in (pair.first, pair.second))
    return {pair.second if pair.first == best else pair.first: pair.overall for pair in pairs}


def _duel(best: str, second: str, difference: Difference) -> str:
    if not difference.delta:
        return f"{best} and {second} are right equally often."
    sure = "" if difference.p_adjusted < 0.05 else "not significantly "
    return f"{best} is {sure}better than {second}, by {points(difference)} ({p_of(difference)})."


def _others(best: str, differences: Mapping[str, Difference]) -> str:
    """The systems behind the first two, in one sentence."""
    apart = [name for name, difference in differences.items() if difference.p_adjusted < 0.05]
    if not apart:
        return f"No other system is significantly worse than {best}."
    losses = [100 * abs(differences[name].delta) for name in apart]
    by = f"{losses[0]:.1f}" if len(apart) == 1 else f"{min(losses):.1f} to {max(losses):.1f}"
    rest = [name for name in differences if name not in apart]
    who = joined(apart) if len(apart) <= MOST else "the others" if not rest else f"{len(apart)} others"
    verb = "is" if len(apart) == 1 else "are"
    also = f"; {joined(rest)} {'is' if len(rest) == 1 else 'are'} not" if rest else ""
    who = "The others" if who == "the others" else who
    return f"{who} {verb} significantly worse than {best}, by {by} points{also}."


def _weakest(result: Result) -> tuple[str, str, Proportion] | None:
    """The group with the lowest accuracy in the first breakdown that has two of some size."""
    for name, groups in result.breakdowns.items():
        known = {key: figure for key, figure in groups.items() if figure.total >= FEW}
        if len(known) > 1 and "×" not in name:
            worst = min(known, key=lambda key: known[key].accuracy or 0)
            return name, worst, known[worst]
    return None


def points(difference: Difference) -> str:
    return f"{100 * abs(difference.delta):.1f} points"


def p_of(difference: Difference) -> str:
    return "p < 0.001" if difference.p_adjusted < 0.001 else f"p = {difference.p_adjusted:.3f}"


def share(figure: Proportion) -> str:
    low, high = figure.interval
    return f"{100 * (figure.accuracy or 0):.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def joined(said: Sequence[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
