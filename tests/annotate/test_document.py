"""Annotated text answers what the rest asks of it: its text, its trees, and where its words are."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.document import Document, Mention, Sentence, Token

Parsed = Callable[[str], Sentence]

TOKENS = st.lists(
    st.builds(Token, st.text("abcäß.'", min_size=1, max_size=4), space_after=st.booleans()), min_size=1, max_size=12
)


def test_a_role_is_a_relation_without_its_subtype() -> None:
    assert Token("it", relation="nsubj:pass").role == "nsubj"
    assert Token("it", relation="obj").role == "obj"


def test_the_tree(parsed: Parsed) -> None:
    sentence = parsed("The/DET/3/det old/ADJ/3/amod cat/NOUN/4/nsubj slept/VERB/0/root today/NOUN/4/obl")
    assert sentence.children == ((), (), (0, 1), (2, 4), ())
    assert sentence.subtree(2) == [0, 1, 2]
    assert sentence.subtree(3) == [0, 1, 2, 3, 4]
    assert list(sentence.ancestors(0)) == [2, 3]
    assert list(sentence.ancestors(3)) == []
    assert len(sentence) == 5
    assert sentence[2].text == "cat"


def test_several_sentences_in_a_line_have_several_roots(parsed: Parsed) -> None:
    sentence = parsed("Yes/INTJ/0/root ./PUNCT/1/punct It/PRON/4/nsubj rains/VERB/0/root")
    assert sentence.subtree(0) == [0, 1]
    assert sentence.subtree(3) == [2, 3]


def test_words_are_counted_at_spaces_as_alignments_count_them() -> None:
    parts = [("I", True), ("do", False), ("n't", True), ("know", False), (".", True)]
    sentence = Sentence(tuple(Token(text, space_after=space) for text, space in parts))
    assert sentence.text == "I don't know."
    assert sentence.words == (0, 1, 1, 2, 2)
    assert sentence.offsets == (0, 2, 4, 8, 12)


@given(TOKENS)
def test_offsets_and_words_lead_to_the_tokens(tokens: list[Token]) -> None:
    sentence = Sentence(tuple(tokens))
    for token, offset, word in zip(tokens, sentence.offsets, sentence.words, strict=True):
        assert sentence.text[offset : offset + len(token.text)] == token.text
        assert token.text in sentence.text.split(" ")[word]


def test_the_words_of_a_mention(parsed: Parsed) -> None:
    document = Document((parsed("A/DET/2/det cat/NOUN/3/nsubj slept/VERB/0/root"),))
    assert document.text(Mention(0, 0, 2, 1)) == "A cat"
    assert document.chains is None


def test_annotation_can_be_sent_to_another_process(parsed: Parsed) -> None:
    document = Document((parsed("It/PRON/2/nsubj/Person=3 slept/VERB/0/root"),))
    assert document.sentences[0].text == "It slept"  # something is cached
    assert pickle.loads(pickle.dumps(document)) == document
