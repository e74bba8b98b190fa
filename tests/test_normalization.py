"""One way to write each sign: what is replaced, what stays, and what is counted."""

from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.normalization import (
    ACCENTS,
    describe_signs,
    mismatches,
    normalize,
    normalize_counting,
    signs_of,
)

APOSTROPHES = ["'", "’", "‘", "ʼ", "＇", "&apos;", "&#39;", "&#039;", "&#x27;", "&#X27;", "&rsquo;", "&amp;#39;"]


@pytest.mark.parametrize("sign", [*APOSTROPHES, "´", "′"])
def test_every_apostrophe_is_one(sign: str) -> None:
    assert normalize(f"C{sign}est l{sign}eau") == "C'est l'eau"


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("&quot;a&quot; &lt;b&gt; R&amp;D &#124; &#91;1&#93;", '"a" <b> R&D | [1]'),  # Moses escapes these
        ("caf&eacute; cafe\u0301", "café café"),
        ("10\u202f000\u00a0€ &nbsp;\u2009\u3000a", "10 000 €    a"),
        ("（ＡＢＣ，１２３！）＂", '(ABC,123!)"'),
        ("co\u00adop\ufeff\u2060", "coop"),
        ("5´ 10′ x", "5´ 10′ x"),  # feet and minutes are no apostrophes
        ("AT&T; R&D &foo; &#; &amp", "AT&T; R&D &foo; &#; &amp"),  # no entities
        ("„Ja“ – «oui»… “yes”", "„Ja“ – «oui»… “yes”"),
        ("&amp;amp;lt;", "<"),
        ("a&#10;b&#x2028;c", "a b c"),
    ],
)
def test_what_is_replaced_and_what_stays(written: str, normal: str) -> None:
    assert normalize(written) == normal


def test_what_was_replaced_is_counted_as_it_was_written() -> None:
    counts: Counter[str] = Counter()
    assert normalize_counting("l’eau d’ici, l&#39;air\u00a0! e\u0301", counts) == "l'eau d'ici, l'air ! é"
    assert counts == {"’": 2, "&#39;": 1, "\u00a0": 1, ACCENTS: 1}
    assert signs_of(["l’eau d’ici", "plain text", "\t"]) == {"’": 2}
    assert describe_signs(counts, most=3) == "2 ’, 1 &#39;, 1 combining accents, 1 others"
    assert describe_signs({"\u00a0": 1234}) == "1,234 U+00A0"


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("&#;xX39aposmprsquo’ʼ´e\u0301\u00a0\uff21"))))
def test_normalizing_again_changes_nothing(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert signs_of([once]) == {}
    assert unicodedata.is_normalized("NFC", once)


@given(st.lists(st.sampled_from([*APOSTROPHES, "l", "eau ", "c", "est", "\u00a0", " ", "&nbsp;"])))
def test_spellings_of_a_text_are_one_text(pieces: list[str]) -> None:
    same = dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys(["\u00a0", "&nbsp;"], " ")
    plain = "".join(same.get(piece, piece) for piece in pieces)
    assert normalize("".join(pieces)) == plain


def test_ascii_text_is_left_alone() -> None:
    text = "It's `quoted' & \"so on\"; 100 % <b>"
    assert normalize(text) is text


def test_signs_that_differ_between_texts_are_found() -> None:
    found = mismatches({"’": 40, "&quot;": 1, "\u00a0": 90}, {"‘": 30, "&quot;": 3}, 1000)
    assert [(one.sign, one.text, one.reference) for one in found] == [("‘", 0, 30), ("’", 40, 0)]
    assert mismatches({"’": 40}, {"’": 30}, 1000) == []
