"""spaCy through the protocol: any pipeline, lines in, annotated documents out, in batches that do not show."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from anaphora.annotate import load_annotator
from anaphora.annotate.spacy_pipeline import batches, sentence_of
from anaphora.core.errors import AnaphoraError

spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'anaphora[mine]'")

Load = Callable[[str], Any]


def test_english(annotator: Load) -> None:
    (document,) = annotator("en").annotate([["The cat ate the fish.", "It was  hungry."]])
    first, second = document.sentences
    assert [t.text for t in first] == ["The", "cat", "ate", "the", "fish", "."]
    assert [t.relation for t in first] == ["det", "nsubj", "root", "det", "obj", "punct"]
    assert first[1].upos == "NOUN"
    assert first[4].features["Number"] == "Sing"
    assert second.text == "It was hungry."
    assert second[0].features["Person"] == "3"
    assert second[0].xpos == "PRP"
    assert second[2].head is None
    assert (annotator("en").language, annotator("en").needs_all) == ("en", False)


def test_german_and_french(annotator: Load) -> None:
    (document,) = annotator("de").annotate([["Die Katze fraß den Fisch."]])
    assert document.sentences[0][1].features["Gender"] == "Fem"
    assert document.sentences[0][4].features["Case"] == "Acc"
    (document,) = annotator("fr").annotate([["Le chat mange du poisson."]])
    assert document.sentences[0][1].features["Gender"] == "Masc"


def test_documents_stay_apart_and_in_order(annotator: Load) -> None:
    documents = [["One."], [], ["Two.", ""], ["It is three.", "Four!"]]
    actual = list(annotator("en").annotate(iter(documents)))
    assert [[s.text for s in d.sentences] for d in actual] == documents


def test_tokens_are_kept_where_they_are_given(annotator: Load) -> None:
    (document,) = annotator("en").annotate([[["do", "n't", "-LRB-", "it", "'s"]]])
    assert [t.text for t in document.sentences[0]] == ["do", "n't", "-LRB-", "it", "'s"]


def test_the_same_line_is_annotated_the_same_in_any_batch(annotator: Load) -> None:
    line = "The garden that she saw was green, and it was old."
    many = ["It rains in the old town near the river."] * 40
    (alone,) = annotator("en").annotate([[line]])
    (among,) = annotator("en").annotate([[*many, line, *many]])
    assert among.sentences[40] == alone.sentences[0]


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [([], []), ([1], [[1]]), ([3, 3, 3], [[3, 3], [3]]), ([9, 1], [[9], [1]]), ([0, 0, 5, 1], [[0, 0, 5], [1]])],
)
def test_batches_of_about_n_lines(sizes: list[int], expected: list[list[int]]) -> None:
    documents = [["x"] * size for size in sizes]
    assert [[len(d) for d in batch] for batch in batches(documents, lines=5)] == expected


def test_a_stream_is_read_no_further_than_needed(annotator: Load) -> None:
    read = []

    def documents() -> Any:
        for number in range(100):
            read.append(number)
            yield ["It rains."] * 200

    next(annotator("en").annotate(documents()))
    assert len(read) < 12


def test_other_label_schemes_go_through_the_adapter() -> None:
    """As de_core_news has it: TIGER's labels, prepositions above nouns."""
    vocab = spacy.blank("de").vocab
    doc = spacy.tokens.Doc(
        vocab,
        words=["Er", "schläft", "im", "Garten"],
        spaces=[True, True, True, False],
        tags=["PPER", "VVFIN", "APPRART", "NN"],
        pos=["PRON", "VERB", "ADP", "NOUN"],
        morphs=["Case=Nom|Gender=Masc|Number=Sing", "", "", "Gender=Masc"],
        lemmas=["er", "schlafen", "in", "Garten"],
        heads=[1, 1, 1, 2],
        deps=["sb", "ROOT", "mo", "nk"],
    )
    sentence = sentence_of(doc, "tiger")
    assert [(t.relation, t.head) for t in sentence] == [("nsubj", 1), ("root", None), ("case", 3), ("obl", 1)]
    assert sentence[0].features == {"Case": "Nom", "Gender": "Masc", "Number": "Sing"}
    assert sentence.text == "Er schläft im Garten"


@pytest.mark.parametrize("spec", ["spacy:no_such_pipeline", "spacy:/tmp"])
def test_a_pipeline_that_is_not_there(spec: str) -> None:
    with pytest.raises(AnaphoraError, match=r"spacy:\S+: (there is no such pipeline|cannot be loaded)"):
        load_annotator(spec)


def test_a_pipeline_without_a_parser(tmp_path: Any) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(AnaphoraError, match="has no parser"):
        load_annotator(f"spacy:{tmp_path / 'blank'}")


def test_a_pipeline_of_another_language(pipeline: Callable[[str], str]) -> None:
    with pytest.raises(AnaphoraError, match="annotates en, not de"):
        load_annotator(pipeline("en"), "de")


def test_spacy_is_imported_only_when_it_is_used() -> None:
    program = "import sys, anaphora.annotate, anaphora.coref, anaphora.cli; assert 'spacy' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
