"""One way to write each sign: what is replaced, what stays, and what is counted."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.align.tokenize import (
    ACCENTS,
    Tokenization,
    Treatment,
    carrying_punctuation,
    describe_signs,
    mismatches,
    normalize,
    normalize_counting,
    notes,
    pair_of,
    signature,
    signs_of,
    tokenize,
    warnings,
)
from anaphora.core.errors import AnaphoraError

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
    assert describe_signs({**counts, "ʼ": 3}) == "3 ʼ, 2 ’, 1 &#39;, 1 combining accents, 1 others"
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
    actual = mismatches({"’": 40, "&quot;": 1, "\u00a0": 90}, {"‘": 30, "&quot;": 3}, 1000)
    assert [(one.sign, one.text, one.reference) for one in actual] == [("‘", 0, 30), ("’", 40, 0)]
    assert mismatches({"’": 40}, {"’": 30}, 1000) == []


# Text is tokenized as Moses does it, unless it is tokenized already; what was done is counted and said.


PLAIN = ["C'est l'eau, qu'il boit.", "« Oui ! », dit-il.", ""]
TOKENIZED = ["C' est l' eau , qu' il boit .", "« Oui ! » , dit-il .", ""]


def test_words_of_none_are_what_white_space_divides() -> None:
    text = tokenize(["l' homme  est , là .", "", " \t"], "none")
    assert text.sentences == [["l'", "homme", "est", ",", "là", "."], [], []]


@pytest.mark.parametrize(
    ("language", "line", "words"),
    [
        ("fr", "C'est l'eau, qu'il boit.", ["C'", "est", "l'", "eau", ",", "qu'", "il", "boit", "."]),
        ("fr", "C’est l&apos;eau\u202f; qu＇il.", ["C'", "est", "l'", "eau", ";", "qu'", "il", "."]),
        ("en", "It doesn't, Mr. Fox & co.", ["It", "doesn", "'t", ",", "Mr.", "Fox", "&", "co", "."]),
        ("de", "Er sagt: „Ja!“ [1|2]", ["Er", "sagt", ":", "„", "Ja", "!", "“", "[", "1", "|", "2", "]"]),
        ("", "Yes, go.", ["Yes", ",", "go", "."]),
    ],
)
def test_moses_divides_by_language_and_escapes_nothing(language: str, line: str, words: list[str]) -> None:
    pytest.importorskip("sacremoses")
    assert tokenize([line, ""], "moses", language).sentences == [words, []]


def test_auto_tokenizes_plain_text_only() -> None:
    pytest.importorskip("sacremoses")
    plain, tokenized = tokenize(PLAIN, "auto", "fr"), tokenize(TOKENIZED, "auto", "fr")
    assert plain.sentences == tokenized.sentences == [line.split() for line in TOKENIZED]
    assert (plain.treatment.tokenize, tokenized.treatment.tokenize) == ("moses", "none")
    assert tokenize(TOKENIZED, "moses", "fr").sentences != tokenized.sentences  # why auto looks first


def test_a_short_tokenized_text_may_have_an_odd_word() -> None:
    """One word of nine carries punctuation: more than 2 %, but points and commas stand alone."""
    assert tokenize(["C' est l' o'clock ,", "non ,", "oui ."], "auto", "fr").treatment.tokenize == "none"
    assert tokenize(["C'est l'o'clock, non, oui .", "« Oui »"], "auto", "fr").treatment.tokenize == "moses"


def test_tokenized_text_needs_no_tokenizer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    assert tokenize(TOKENIZED, "auto", "fr").sentences[0][:2] == ["C'", "est"]
    with pytest.raises(AnaphoraError, match=r"pip install \"anaphora\[align\]\", or pass --tokenize none"):
        tokenize(PLAIN, "auto", "fr")


@given(st.lists(st.sampled_from(["c&apos;", "est", "l’", "10&nbsp;000", "&#32;", "\u00ad", "vrai", ",", "."])))
def test_none_never_changes_the_number_of_words(words: list[str]) -> None:
    line = " ".join(words)
    (actual,) = tokenize([line], "none").sentences
    assert len(actual) == len(line.split())
    assert all(word and len(word.split()) == 1 for word in actual)


@given(st.data())
def test_spellings_of_a_text_give_the_same_words(data: st.DataObject) -> None:
    pytest.importorskip("sacremoses")
    signs = st.sampled_from(["'", "’", "ʼ", "＇", "&apos;", "&#39;", "&#x27;", "&amp;apos;"])
    spaces = st.sampled_from([" ", "\u00a0", "\u202f", "\u2009", "&nbsp;"])
    written = [
        "".join(data.draw(signs) if c == "'" else data.draw(spaces) if c == " " else c for c in p) for p in PLAIN
    ]
    assert tokenize(written, "auto", "fr").sentences == tokenize(PLAIN, "auto", "fr").sentences


def test_text_can_be_left_as_it_is() -> None:
    assert tokenize(["l’ eau &apos;"], "none", normalize=False).sentences == [["l’", "eau", "&apos;"]]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("It is late, he said.", 2),
        ('"Yes!" (no)', 2),
        ("c'est vrai", 1),
        ("it 's late , Mr. Fox , is n't it ? c' est U.S. ... :-) 10:30 <s> « a »", 0),
        ("he said , &quot; it is &apos;s &amp; &quot;", 0),
        ("", 0),
    ],
)
def test_words_that_carry_punctuation_are_counted(line: str, count: int) -> None:
    assert carrying_punctuation(line.split()) == count


def test_plain_text_taken_as_tokenized_is_warned_of() -> None:
    text = tokenize(["It is late, he said."], "none")
    (warning,) = warnings({"a.en": text.treatment})
    assert warning.startswith("2 of 5 words of a.en still carry punctuation")
    assert "--tokenize moses" in warning
    assert warnings({"a.en": tokenize(TOKENIZED, "none").treatment}) == []


def test_text_of_an_unknown_language_is_warned_of() -> None:
    pytest.importorskip("sacremoses")
    (warning,) = warnings({name: tokenize(["Yes, go."], "auto").treatment for name in ("a", "b")})
    assert warning.startswith("a, b: tokenized by Moses' general rules, as the language is not known")
    assert warnings({"a": tokenize(["Yes, go."], "auto", "en").treatment}) == []


def test_what_was_done_is_in_signature_notes_and_json() -> None:
    text = tokenize(["l’ eau d’ ici \u00a0 &quot;"], "none")
    other = Treatment("moses", 10, language="fr")
    assert signature([text.treatment, other], normalize=True) == ("tok:moses+none", "norm:signs")
    assert signature([other], normalize=False) == ("tok:moses", "norm:none")
    assert notes({"a": text.treatment, "b": other}) == ["normalized: a 2 ’, 1 &quot;"]
    assert text.treatment.to_dict() == {
        "tokenize": "none",
        "words": 5,
        "words_with_punctuation": 0,
        "normalized": {"&quot;": 1, "’": 2},
    }


def test_languages_are_named_or_read_off_the_files() -> None:
    assert pair_of("de-en", Path("a.fr"), Path("b.fr")) == ("de", "en")
    assert pair_of(None, Path("x/talk.en.gz"), Path("talk.tok")) == ("en", "")
    with pytest.raises(AnaphoraError, match="-l en: two languages are needed, such as en-fr"):
        pair_of("en", Path("a"), Path("b"))


def test_an_unknown_tokenization_is_refused() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown tokenization 'mose' \(did you mean moses\?\)"):
        Tokenization("mose")
