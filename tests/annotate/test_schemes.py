"""en_core_web and de_core_news have schemes of their own: what they say comes out as Universal Dependencies.

These pipelines cannot be had offline, so that their output is written here by hand as spaCy has it.
"""

from __future__ import annotations

import pytest

from anaphora.annotate.document import Sentence, Token
from anaphora.annotate.schemes import scheme_of, universal


def tokens(text: str) -> list[Token]:
    """`text/UPOS/head/relation[/lemma[/tag]]`, heads count from 1, 0 is the root; `_` for what is not known."""
    actual = []
    for item in text.split():
        word, upos, head, relation, *more = item.split("/")
        lemma, tag = [*more, word.lower(), ""][:2] if len(more) < 2 else more[:2]
        upos, tag = upos.replace("_", ""), tag if len(more) > 1 else ""
        actual.append(Token(word, lemma, upos, {}, int(head) - 1 if head != "0" else None, relation, xpos=tag))
    return actual


def tree(text: str, scheme: str) -> dict[str, tuple[str, str]]:
    """Each word of the result with its relation and its head."""
    sentence = Sentence(universal(tokens(text), scheme))
    return {t.text: (t.relation, "" if t.head is None else sentence[t.head].text) for t in sentence}


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (["nsubj", "dobj", "pobj", "ROOT"], "clearnlp"),
        (["sb", "oa", "nk", "ROOT"], "tiger"),
        (["nsubj", "obj", "obl", "case"], "ud"),
        (["nsubj", "dobj", "nmod", "case"], "ud"),  # UD 1
    ],
)
def test_a_scheme_is_known_by_its_labels(labels: list[str], scheme: str) -> None:
    assert scheme_of(labels) == scheme


def test_ud_is_unchanged_except_root_and_names_of_version_1() -> None:
    actual = tree("It/PRON/2/nsubjpass ate/VERB/0/ROOT fish/NOUN/2/dobj here/ADV/2/advmod:lmod", "ud")
    assert actual == {
        "It": ("nsubj:pass", "ate"),
        "ate": ("root", ""),
        "fish": ("obj", "ate"),
        "here": ("advmod:lmod", "ate"),
    }


# ------------------------------------------------------------------------------------------- English: ClearNLP labels


def test_clearnlp_prepositions_go_below_their_nouns() -> None:
    actual = tree(
        "She/PRON/2/nsubj put/VERB/0/ROOT it/PRON/2/dobj on/ADP/2/prep the/DET/6/det roof/NOUN/4/pobj "
        "of/ADP/6/prep houses/NOUN/7/pobj",
        "clearnlp",
    )
    assert actual["it"] == ("obj", "put")
    assert actual["roof"] == ("obl", "put")
    assert actual["on"] == ("case", "roof")
    assert actual["the"] == ("det", "roof")
    assert actual["houses"] == ("nmod", "roof")
    assert actual["of"] == ("case", "houses")


def test_clearnlp_predicates_go_above_the_copula() -> None:
    actual = tree("It/PRON/2/nsubj was/AUX/0/ROOT/be hungry/ADJ/2/acomp ./PUNCT/2/punct", "clearnlp")
    assert actual == {
        "It": ("nsubj", "hungry"),
        "was": ("cop", "hungry"),
        "hungry": ("root", ""),
        ".": ("punct", "hungry"),
    }


def test_clearnlp_other_verbs_keep_their_predicates() -> None:
    assert tree("It/PRON/2/nsubj looks/VERB/0/ROOT/look old/ADJ/2/acomp", "clearnlp")["old"] == ("xcomp", "looks")


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("eaten/VERB/0/ROOT by/ADP/1/agent cats/NOUN/2/pobj", "cats", ("obl:agent", "eaten")),
        ("gave/VERB/0/ROOT him/PRON/1/dative it/PRON/1/dobj", "him", ("iobj", "gave")),
        ("gave/VERB/0/ROOT to/ADP/1/dative him/PRON/2/pobj", "him", ("obl", "gave")),
        ("John/PROPN/3/poss 's/PART/1/case car/NOUN/0/ROOT", "John", ("nmod:poss", "car")),
        ("car/NOUN/0/ROOT that/PRON/3/nsubj broke/VERB/1/relcl", "broke", ("acl:relcl", "car")),
        ("It/PRON/3/nsubjpass was/AUX/3/auxpass sold/VERB/0/ROOT", "It", ("nsubj:pass", "sold")),
    ],
)
def test_clearnlp_labels(text: str, word: str, expected: tuple[str, str]) -> None:
    assert tree(text, "clearnlp")[word] == expected


# ---------------------------------------------------------------------------------------------- German: TIGER's labels


def test_tiger_verbs_go_above_auxiliaries_and_take_their_arguments() -> None:
    actual = tree(
        "Er/PRON/2/sb hat/AUX/0/ROOT den/DET/4/nk Hund/NOUN/7/oa im/ADP/7/mo Garten/NOUN/5/nk gesehen/VERB/2/oc",
        "tiger",
    )
    assert actual == {
        "Er": ("nsubj", "gesehen"),
        "hat": ("aux", "gesehen"),
        "den": ("det", "Hund"),
        "Hund": ("obj", "gesehen"),
        "im": ("case", "Garten"),
        "Garten": ("obl", "gesehen"),
        "gesehen": ("root", ""),
    }


def test_tiger_two_auxiliaries() -> None:
    actual = tree("Es/PRON/2/sb wird/AUX/0/ROOT gesehen/VERB/4/oc werden/AUX/2/oc", "tiger")
    assert actual == {
        "Es": ("nsubj", "gesehen"),
        "wird": ("aux", "gesehen"),
        "gesehen": ("root", ""),
        "werden": ("aux", "gesehen"),
    }


def test_tiger_predicates_go_above_sein_but_not_above_other_verbs() -> None:
    assert tree("Er/PRON/2/sb ist/AUX/0/ROOT/sein alt/ADJ/2/pd", "tiger") == {
        "Er": ("nsubj", "alt"),
        "ist": ("cop", "alt"),
        "alt": ("root", ""),
    }
    assert tree("Er/PRON/2/sb wird/AUX/0/ROOT/werden alt/ADJ/2/pd", "tiger")["alt"] == ("xcomp", "wird")


def test_tiger_conjuncts_go_above_conjunctions() -> None:
    actual = tree("Hund/NOUN/4/sb und/CCONJ/1/cd Katze/NOUN/2/cj schlafen/VERB/0/ROOT", "tiger")
    assert actual["Katze"] == ("conj", "Hund")
    assert actual["und"] == ("cc", "Katze")


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("seine/DET/2/nk/sein/PPOSAT Katze/NOUN/0/ROOT", "seine", ("det:poss", "Katze")),
        ("alte/ADJ/2/nk Katze/NOUN/0/ROOT", "alte", ("amod", "Katze")),
        ("Katze/NOUN/0/ROOT der/DET/3/nk Frau/NOUN/1/ag", "Frau", ("nmod", "Katze")),
        ("Katze/NOUN/0/ROOT von/ADP/1/mnr Maria/PROPN/2/nk", "Maria", ("nmod", "Katze")),
        ("glaubt/VERB/0/ROOT an/ADP/1/op Wunder/NOUN/2/nk", "Wunder", ("obl:arg", "glaubt")),
        ("gibt/VERB/0/ROOT ihm/PRON/1/da", "ihm", ("obl:arg", "gibt")),
        ("gibt/VERB/0/ROOT es/PRON/1/ep", "es", ("expl", "gibt")),
        ("Hund/NOUN/0/ROOT der/PRON/3/sb bellt/VERB/1/rc", "bellt", ("acl:relcl", "Hund")),
        ("geht/VERB/0/ROOT gerne/ADV/1/mo", "gerne", ("advmod", "geht")),
        ("geht/VERB/0/ROOT weg/ADP/1/svp", "weg", ("compound:prt", "geht")),
        ("geht/VERB/0/ROOT was/X/1/unheard", "was", ("dep", "geht")),
    ],
)
def test_tiger_labels(text: str, word: str, expected: tuple[str, str]) -> None:
    assert tree(text, "tiger")[word] == expected


# ------------------------------------------------------------------------------------------------------ parts of speech


@pytest.mark.parametrize(
    ("tag", "scheme", "expected"),
    [
        ("NNP", "clearnlp", "PROPN"),
        ("NNS", "clearnlp", "NOUN"),
        ("PRP$", "clearnlp", "PRON"),
        ("VBD", "clearnlp", "VERB"),
        ("NE", "tiger", "PROPN"),
        ("PPER", "tiger", "PRON"),
        ("PPOSAT", "tiger", "DET"),
        ("PTKNEG", "tiger", "PART"),
        ("VMFIN", "tiger", "AUX"),
        ("APPRART", "tiger", "ADP"),
    ],
)
def test_a_missing_part_of_speech_comes_from_the_tag(tag: str, scheme: str, expected: str) -> None:
    (token,) = universal([Token("x", upos="", xpos=tag)], scheme)
    assert token.upos == expected


def test_without_a_tag_signs_are_punctuation() -> None:
    assert [t.upos for t in universal([Token("…", upos=""), Token("a", upos="")], "ud")] == ["PUNCT", "X"]
