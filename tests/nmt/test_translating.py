"""Documents sentence by sentence: with the context that a model reads, in batches, and in order where it matters."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from anaphora.core.errors import AnaphoraError
from anaphora.nmt import translating
from anaphora.nmt.arrangement import Arrangement, Marks
from anaphora.nmt.search import Beam, Hypothesis
from anaphora.nmt.translating import Source, Translator, current_sentence

MARKS = Marks(separator=2, end=0, start=99, padding=99)
Calls = list[list[tuple[str, ...]]]


class Letters:
    """Every letter is a token; the separator is |."""

    marks = MARKS

    def encode_source(self, sentence: str) -> list[int]:
        return [ord(letter) for letter in sentence]

    encode_target = encode_source

    def decode(self, ids: Any) -> str:
        assert not {0, 2, 99} & set(ids)
        return "".join(map(chr, ids))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Search that writes the last input's sentences in capitals, and what it was given, batch by batch."""
    found: Calls = []

    def shout(ensemble: Any, inputs: Any, marks: Marks, beam: Beam) -> list[list[Hypothesis]]:
        rows = []
        for row in range(len(inputs[0].lengths)):
            ids = [part.ids[row, : int(part.lengths[row]) - 1].tolist() for part in inputs]
            rows.append(tuple("".join("|" if i == 2 else chr(i) for i in part) for part in ids))
        found.append(rows)
        spoken = [tuple(2 if c == "|" else ord(c.upper()) for c in main) for main, *_ in rows]
        return [[Hypothesis(tokens, -1.0, -0.5), Hypothesis(tokens[:-1], -2.0, -0.5)] for tokens in spoken]

    monkeypatch.setattr(translating, "search", shout)
    return found


def translator(beam: Beam | None = None, **arrangement: Any) -> Translator:
    text: Any = Letters()
    ensemble: Any = None
    return Translator(ensemble, text, Arrangement(**arrangement), beam or Beam())


def document(*sentences: str, place: int = 0) -> list[Source]:
    return [Source(s, sentences[:n], None, place + n - 1 if n else None) for n, s in enumerate(sentences)]


def test_sentences_with_source_context_are_translated_at_once(calls: Calls) -> None:
    found = translator(joined_source=1).translate([*document("aa", "b", "c"), *document("d", place=3)])
    assert sorted(calls[0]) == [("aa",), ("aa|b",), ("b|c",), ("d",)]
    assert len(calls) == 1
    assert [translation.text for translation in found] == ["AA", "AAB", "BC", "D"]  # a 2-to-1 model has no separator


def test_what_follows_the_separator_is_kept(calls: Calls) -> None:
    found = translator(joined_source=1, joined_target=1).translate(document("a", "b", "c"))
    assert [(t.text, t.surplus) for t in found] == [("A", 0), ("B", 0), ("C", 0)]
    assert found[1].nbest == (("B", -1.0), ("", -2.0))


def test_a_missing_separator_is_counted_and_everything_kept(calls: Calls) -> None:
    """A model that joins targets, but reads one sentence only, as our search repeats what it reads."""
    found = translator(joined_target=1, contexts=("source",)).translate(document("a", "b"))
    assert [(t.text, t.surplus) for t in found] == [("A", 0), ("B", -1)]


def test_sentence_k_of_all_documents_is_translated_at_once(calls: Calls) -> None:
    """A model that reads what it has produced: every document proceeds in order."""
    sources = [*document("a", "b", "c"), *document("d", "e", place=3), *document("f", place=5)]
    found = translator(contexts=("target",)).translate(sources)
    assert [sorted(batch) for batch in calls] == [
        [("a", ""), ("d", ""), ("f", "")],
        [("b", "A"), ("e", "D")],
        [("c", "B")],
    ]
    assert [t.text for t in found] == ["A", "B", "C", "D", "E", "F"]


def test_more_sentences_of_target_context(calls: Calls) -> None:
    translator(contexts=("target", "source"), context_sentences=2).translate(document("a", "b", "c", "d"))
    assert [batch for (batch,) in calls] == [
        ("a", "", ""),
        ("b", "A", "a"),
        ("c", "A|B", "a|b"),
        ("d", "B|C", "b|c"),
    ]


def test_another_system_s_translations_need_no_order(calls: Calls) -> None:
    given = ("x", "y")
    sources = [source._replace(given=given[:n]) for n, source in enumerate(document("a", "b", "c"))]
    translator(contexts=("target",)).translate(sources)
    assert [sorted(batch) for batch in calls] == [[("a", ""), ("b", "x"), ("c", "y")]]


def test_a_document_that_was_begun_goes_on(calls: Calls) -> None:
    sources = [Source("b", ("a",), ("A!",)), Source("c", ("a", "b"), None, 0)]
    translator(contexts=("target",), context_sentences=2).translate(sources)
    assert calls == [[("b", "A!")], [("c", "A!|B")]]


def test_less_context_where_asked(calls: Calls) -> None:
    two = translator(joined_source=2, joined_target=2)
    found = Translator(two.ensemble, two.text, two.arrangement, Beam(), context=1).translate(document("a", "b", "c"))
    assert sorted(calls[0]) == [("a",), ("a|b",), ("b|c",)]
    assert [(t.text, t.surplus) for t in found] == [("A", 0), ("B", 0), ("C", 0)]


def test_batches_are_of_like_length_and_within_budgets(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translating, "ROWS", 8)
    texts = ["aaaa", "b", "cc", "d", "eeeee"]
    found = translator(Beam(4)).translate([Source(text) for text in texts])
    assert calls == [[("b",), ("d",)], [("cc",), ("aaaa",)], [("eeeee",)]]
    assert [t.text for t in found] == [text.upper() for text in texts]
    calls.clear()
    few = translator(Beam(1))
    Translator(few.ensemble, few.text, few.arrangement, few.beam, batch_tokens=7).translate([Source(t) for t in texts])
    assert calls == [[("b",), ("d",)], [("cc",)], [("aaaa",)], [("eeeee",)]]


def test_what_is_too_long(calls: Calls) -> None:
    long = translator(joined_source=1)
    how = {"limit": 4, "beam": Beam(4, 100)}
    with pytest.raises(AnaphoraError, match="5 tokens, but the model takes 4: 'cd'"):
        Translator(long.ensemble, long.text, long.arrangement, **how).translate(document("a", "cd"))  # type: ignore[arg-type]
    cut = Translator(long.ensemble, long.text, long.arrangement, truncate=True, **how)  # type: ignore[arg-type]
    cut.translate(document("a", "cd"))
    assert ("|cd",) in calls[0]
    assert cut._beam.max_tokens == 4


@pytest.mark.parametrize(
    ("tokens", "separators", "kept"),
    [
        ((5, 2, 6), 1, (6,)),
        ((5, 6), 1, (5, 6)),  # missing: everything (Bawden et al. 2018, footnote 5)
        ((5, 2, 6, 2, 7), 1, (6, 7)),  # one too many
        ((5, 2, 6, 2, 7), 2, (7,)),
        ((5, 2, 6), 2, (5, 6)),
        ((5, 2, 6), 0, (5, 6)),
        ((5, 2), 1, ()),
    ],
)
def test_the_current_sentence(tokens: tuple[int, ...], separators: int, kept: tuple[int, ...]) -> None:
    assert current_sentence(tokens, MARKS, separators) == kept
