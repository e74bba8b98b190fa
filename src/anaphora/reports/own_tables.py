"""Tables of the agreement of pronouns with the antecedents in a system's own translations."""

from __future__ import annotations

from anaphora.evaluation.generative import Generative
from anaphora.evaluation.own_antecedent import NO_CONTEXT, AgreementCounts
from anaphora.reports.tables import title_of
from anaphora.table import Row, Table, arrow, counts, decimal, interval_cell, rows_of, section

OWN_NOTE = "agreement: the share that agrees among the decided, which are those that agree or disagree"


def own_table(results: list[Generative]) -> Table:
    """Return the pronouns that agree with the own antecedent or not, with a section for each system."""

    def cells(numbers: AgreementCounts) -> tuple[str, ...]:
        figures = (decimal(numbers.agreement), interval_cell(numbers.interval))
        every = (numbers.total, numbers.agrees, numbers.disagrees, numbers.not_found, numbers.unclear)
        return (*counts(every), *figures)

    first = results[0]
    rows: list[Row] = []
    notes: list[str] = []
    for result in results:
        own = result.own
        if own is None:
            continue
        lead = f"{result.system}: " if len(results) > 1 else ""
        if lead:
            rows.append(section(result.system))
        rows += rows_of([("all", *cells(own.counts))])
        for name, groups in own.breakdowns.items():
            rows.append(section(f"{lead}{title_of(name)}"))
            rows += rows_of([(group, *cells(numbers)) for group, numbers in groups.items()])
        figures = own.to_dict()
        if figures["accuracy_by_reference"] is not None:
            notes.append(
                f"{lead}by the reference {decimal(figures['accuracy_by_reference'])} of the same examples are correct; "
                f"{figures['wrong_but_agrees']:,} that are wrong by the reference agree with the own antecedent, "
                f"{figures['correct_but_disagrees']:,} that are correct do not"
            )
        if own.judged is not None:
            notes.append(f"{lead}{own.judged}")
        if own.reasons:
            notes.append(f"{lead}{' · '.join(f'{reason} {number:,}' for reason, number in own.reasons.items())}")
        if own.reasons.get(NO_CONTEXT):
            notes.append(f"{lead}translate documents to find all antecedents: suites convert --to sources --documents")
        if own.untagged:
            notes.append(f"{lead}{own.untagged:,} examples without a known antecedent are not counted")
    notes += [OWN_NOTE, f"signature {first.signature}"]
    title = f"{first.suite} {arrow(first.languages)} · agreement with the own antecedent"
    columns = ("", "n", "agrees", "disagrees", "not found", "unclear", "agreement", "95 % interval")
    return Table(title if len(results) > 1 else f"{title} · {first.system}", columns, tuple(rows), tuple(notes))
