"""Tables 2 and 3: unique contexts and pairs by language and year."""

from __future__ import annotations

from anaphora.measure.counts import count_pairs, counts_table
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of


def suite(language: str, *examples: Example) -> Suite:
    return suite_of(Header("x", language, "en"), lambda: iter(examples))


def pair(source: str, wrong: str, kind: str, year: str = "2013") -> Example:
    return Example("x", (source,), (("Right.",), (wrong,)), 0, {"kind": kind, "year": year})


def test_unique_pairs_and_contexts() -> None:
    german = suite(
        "de",
        pair("a", "It.", "noisy"),
        pair("a", "We.", "noisy"),
        pair("a", "All.", "system"),
        pair("a", "It.", "noisy"),
    )
    french = suite("fr", pair("b", "It.", "noisy", "2014"), pair("", "He.", "noisy", "2015"))
    found = {name: counts.to_dict() for name, counts in count_pairs([german, french]).items()}
    assert found == {
        "de-en": {"years": ["2013"], "contexts": 1, "noisy": 2, "system": 1},
        "fr-en": {"years": ["2014", "2015"], "contexts": 2, "noisy": 2, "system": 0},
    }
    assert list(count_pairs([german, french], by_year=True)) == ["de-en 2013", "fr-en 2014", "fr-en 2015"]


def test_the_sum_counts_what_two_languages_share_once() -> None:
    table = counts_table(count_pairs([suite("de", pair("", "It.", "noisy")), suite("fr", pair("", "It.", "noisy"))]))
    assert table.rows[-1].cells == ("all", "", "1", "0", "1")
