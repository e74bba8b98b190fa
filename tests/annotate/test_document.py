"""Annotated text answers what the rest asks of it: its text, its trees, and where its words are."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.annotate.document import (
    Contraction,
    Document,
    Entities,
    Mention,
    Sentence,
    Token,
    Tree,
    contracted,
    head_of,
    is_plural,
    promote,
)

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


# A content word changes places with the function word above it; nothing gets lost.


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A random forest: each word depends on an earlier one of a random order, or is a root."""
    size = draw(st.integers(2, 8))
    order = draw(st.permutations(range(size)))
    heads: list[int | None] = [None] * size
    for position, word in enumerate(order):
        if position:
            heads[word] = order[draw(st.integers(0, position - 1))]
    return Tree(heads, [f"r{i}" for i in range(size)])


def test_a_noun_takes_the_place_of_its_preposition() -> None:
    tree = Tree([None, 0, 1, 1], ["root", "prep", "pobj", "advmod"])  # walked / in / gardens / right
    promote(tree, 2, "case")
    assert tree.heads == [None, 2, 0, 2]
    assert tree.relations == ["root", "case", "prep", "advmod"]


def test_a_root_has_no_place_to_take() -> None:
    with pytest.raises(ValueError, match="root"):
        promote(Tree([None], ["root"]), 0, "case")


@given(trees(), st.data())
def test_a_tree_stays_a_tree(tree: Tree, data: st.DataObject) -> None:
    child = data.draw(st.sampled_from([i for i, head in enumerate(tree.heads) if head is not None]))
    parent, above = tree.heads[child], tree.heads[tree.heads[child] or 0]
    promote(tree, child, "function")
    assert tree.heads[parent or 0] == child
    assert tree.heads[child] == above
    assert tree.heads.count(None) == 1
    for word in range(len(tree.heads)):
        seen, position = set(), word
        while (head := tree.heads[position]) is not None:
            assert position not in seen
            seen.add(position)
            position = head


# Words that are written as one are one token, as spaCy has them, with what all of them say.

IN_DEM_HAUS = [
    Token("in", "in", "ADP", {"AdpType": "Prep"}, 2, "case"),
    Token("dem", "der", "DET", {"Case": "Dat", "Definite": "Def"}, 2, "det"),
    Token("Haus", "Haus", "NOUN", {"Gender": "Neut"}, None, "root"),
]


def test_a_contraction_is_its_first_word_with_all_features() -> None:
    sentence, positions = contracted(IN_DEM_HAUS, [Contraction(0, 1, "im", True)])
    assert sentence.text == "im Haus"
    assert sentence[0] == Token("im", "in", "ADP", {"AdpType": "Prep", "Case": "Dat", "Definite": "Def"}, 1, "case")
    assert sentence[1].head is None
    assert positions == [0, 0, 1]


def test_where_words_disagree_the_first_counts() -> None:
    words = [Token("de", features={"A": "first"}), Token("le", features={"A": "last", "B": "last"})]
    sentence, _ = contracted(words, [Contraction(0, 1, "du", True)])
    assert sentence[0].features == {"A": "first", "B": "last"}


def test_words_that_are_only_not_spaced_stay_apart() -> None:
    words = [Token("do", head=2), Token("n't", head=2), Token("know")]
    sentence, positions = contracted(words, [Contraction(0, 1, "don't", True)])
    assert [t.text for t in sentence] == ["do", "n't", "know"]
    assert sentence.text == "don't know"
    assert positions == [0, 1, 2]


def test_a_contraction_replaces_the_word_that_heads_it() -> None:
    words = [Token("a", head=1, relation="case"), Token("b", head=2, relation="obl"), Token("c", head=None)]
    sentence, positions = contracted(words, [Contraction(0, 1, "ab'", False)])
    assert (sentence[0].head, sentence[0].relation) == (1, "obl")
    assert sentence.text == "ab'c"
    assert positions == [0, 0, 1]


def test_nothing_to_contract() -> None:
    sentence, positions = contracted(IN_DEM_HAUS, [])
    assert sentence.tokens == tuple(IN_DEM_HAUS)
    assert positions == [0, 1, 2]


# Whether a subject is plural is known by its verb.

FINITE = "VerbForm=Fin,Number="


@pytest.mark.parametrize(
    ("text", "plural"),
    [
        (f"Sie/PRON/2/nsubj schläft/VERB/0/root/{FINITE}Sing", False),
        (f"Sie/PRON/2/nsubj/Number=Sing schlafen/VERB/0/root/{FINITE}Plur", True),
        (f"Sie/PRON/3/nsubj/Number=Plur ist/AUX/3/cop/{FINITE}Sing alt/ADJ/0/root", False),
        (f"Sie/PRON/3/nsubj haben/AUX/3/aux/{FINITE}Plur geschlafen/VERB/0/root/VerbForm=Part", True),
        (f"Sie/PRON/2/obj/Number=Plur sieht/VERB/0/root/{FINITE}Sing", True),  # not the subject: as tagged
        ("Sie/PRON/2/nsubj/Number=Plur schlafen/VERB/0/root/VerbForm=Inf", True),
        ("Sie/PRON/0/root/Number=Plur", True),
        ("Sie/PRON/0/root", False),
    ],
)
def test_number(parsed: Callable[[str], Sentence], text: str, plural: bool) -> None:
    assert is_plural(parsed(text), 0) is plural


# Chains in brackets, as CorefUD and GUM write them.

FLAT = Sentence(tuple(Token(word, head=None) for word in "abcdef"))


def chains(*notes: tuple[int, str]) -> list[list[tuple[int, int]]]:
    """The spans of the chains of one sentence."""
    entities = Entities()
    for token, text in notes:
        entities.note(token, text)
    entities.end_of_sentence(0, FLAT)
    return [[(m.start, m.end) for m in chain] for chain in entities.chains() or ()]


def test_what_opens_and_closes() -> None:
    assert chains((0, "(e1-person"), (1, "e1)"), (3, "(e1-person)")) == [[(0, 2), (3, 4)]]


def test_one_within_the_other() -> None:
    notes = (0, "(e1-place(e2-person)"), (2, "(e2-person"), (3, "e2)e1)"), (5, "(e1-place)")
    assert chains(*notes) == [[(0, 4), (5, 6)], [(0, 1), (2, 4)]]


def test_the_same_entity_within_itself() -> None:
    assert chains((0, "(e1-x"), (1, "(e1-x)"), (2, "e1)")) == [[(0, 3), (1, 2)]]


def test_of_a_mention_with_a_gap_the_first_part_counts() -> None:
    assert chains((0, "(e1[1/2]-x)"), (2, "(e1[2/2]-x)"), (4, "(e1-x)")) == [[(0, 1), (4, 5)]]


def test_what_is_named_once_is_not_a_chain() -> None:
    assert chains((0, "(e1-x)"), (1, "(e2-x)")) == []


def test_what_never_closes_is_dropped() -> None:
    assert chains((0, "(e1-x"), (1, "e9)"), (2, "(e2-x)"), (3, "(e2-x)")) == [[(2, 3), (3, 4)]]


def test_without_any_note_there_is_no_annotation() -> None:
    entities = Entities()
    entities.end_of_sentence(0, FLAT)
    assert entities.chains() is None


def test_chains_run_through_the_sentences() -> None:
    entities = Entities()
    for number in range(2):
        entities.note(number, "(e1-x)")
        entities.end_of_sentence(number, FLAT)
    assert entities.chains() == ((Mention(0, 0, 1, 0), Mention(1, 1, 2, 1)),)


@pytest.mark.parametrize(("start", "end", "head"), [(0, 3, 2), (1, 2, 1), (3, 5, 4), (3, 4, 3), (5, 6, 5)])
def test_the_head_of_a_span(parsed: Callable[[str], Sentence], start: int, end: int, head: int) -> None:
    sentence = parsed("the/DET/3/det old/ADJ/3/amod cat/NOUN/6/nsubj in/ADP/5/case rain/NOUN/6/obl slept/VERB/0/root")
    assert head_of(sentence, start, end) == head
