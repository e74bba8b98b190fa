"""Words that are written as one are one token, as spaCy has them, with what all of them say."""

from __future__ import annotations

from anaphora.annotate.document import Token
from anaphora.annotate.words import Contraction, contracted

IN_DEM_HAUS = [
    Token("in", "in", "ADP", {"AdpType": "Prep"}, 2, "case"),
    Token("dem", "der", "DET", {"Case": "Dat", "Definite": "Def"}, 2, "det"),
    Token("Haus", "Haus", "NOUN", {"Gender": "Neut"}, None, "root"),
]


def test_a_contraction_is_its_first_word_with_the_features_of_all() -> None:
    sentence, place = contracted(IN_DEM_HAUS, [Contraction(0, 1, "im", True)])
    assert sentence.text == "im Haus"
    assert sentence[0] == Token("im", "in", "ADP", {"AdpType": "Prep", "Case": "Dat", "Definite": "Def"}, 1, "case")
    assert sentence[1].head is None
    assert place == [0, 0, 1]


def test_where_words_disagree_the_first_counts() -> None:
    words = [Token("de", features={"A": "first"}), Token("le", features={"A": "last", "B": "last"})]
    sentence, _ = contracted(words, [Contraction(0, 1, "du", True)])
    assert sentence[0].features == {"A": "first", "B": "last"}


def test_words_that_are_only_not_spaced_stay_apart() -> None:
    words = [Token("do", head=2), Token("n't", head=2), Token("know")]
    sentence, place = contracted(words, [Contraction(0, 1, "don't", True)])
    assert [t.text for t in sentence] == ["do", "n't", "know"]
    assert sentence.text == "don't know"
    assert place == [0, 1, 2]


def test_a_contraction_takes_the_place_of_the_word_that_leads_out_of_it() -> None:
    words = [Token("a", head=1, relation="case"), Token("b", head=2, relation="obl"), Token("c", head=None)]
    sentence, place = contracted(words, [Contraction(0, 1, "ab'", False)])
    assert (sentence[0].head, sentence[0].relation) == (1, "obl")
    assert sentence.text == "ab'c"
    assert place == [0, 0, 1]


def test_nothing_to_contract() -> None:
    sentence, place = contracted(IN_DEM_HAUS, [])
    assert sentence.tokens == tuple(IN_DEM_HAUS)
    assert place == [0, 1, 2]
