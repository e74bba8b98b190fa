"""Links from coreference chains: the last noun phrase before a pronoun in its chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.link import Link, load_linker

Parsed = Callable[[str], Sentence]


@pytest.fixture
def document(parsed: Parsed) -> Document:
    return Document(
        (
            parsed("The/DET/2/det dog/NOUN/3/nsubj barked/VERB/0/root"),
            parsed("It/PRON/2/nsubj slept/VERB/0/root"),
            parsed("This/DET/2/det animal/NOUN/4/nsubj then/ADV/4/advmod woke/VERB/0/root"),
            parsed(
                "I/PRON/2/nsubj like/VERB/0/root it/PRON/2/obj because/SCONJ/6/mark it/PRON/6/nsubj rains/VERB/2/advcl"
            ),
        ),
        chains=(),
    )


DOG, IT, ANIMAL = Mention(0, 0, 2, 1), Mention(1, 0, 1, 0), Mention(2, 0, 2, 1)
LAST, RAIN = Mention(3, 2, 3, 2), Mention(3, 4, 5, 4)


def test_links(document: Document) -> None:
    chained = replace(document, chains=((LAST, ANIMAL, IT, DOG),))  # in whatever order
    links = load_linker("chains", "en").links(chained)
    assert links == [Link(IT, DOG), Link(LAST, ANIMAL), Link(RAIN, None)]
    assert [link.distance for link in links] == [1, 1, None]
    assert [link.nothing for link in links] == [0, 0, 1]


def test_a_chain_of_pronouns_has_no_noun(document: Document) -> None:
    chained = replace(document, chains=((IT, LAST),))
    assert [link.antecedent for link in load_linker("chains", "en").links(chained)] == [None, None, None]


def test_what_else_is_known_of_a_chain(document: Document) -> None:
    chained = replace(document, chains=((DOG, IT, ANIMAL, LAST),))
    first, last, rain = load_linker("chains", "en").links(chained)
    assert (first.nouns, first.earlier) == ((DOG,), DOG)
    assert (last.nouns, last.earlier) == ((ANIMAL, DOG), ANIMAL)  # the last one first
    assert (rain.nouns, rain.earlier) == ((), None)
    pronouns = replace(document, chains=((IT, LAST),))
    _, last, _ = load_linker("chains", "en").links(pronouns)
    assert (last.nouns, last.earlier) == ((), IT)


def test_plurals_are_linked_too(parsed: Parsed) -> None:
    text = Document((parsed("The/DET/2/det dogs/NOUN/3/nsubj slept/VERB/0/root they/PRON/3/obj"),))
    they = Mention(0, 3, 4, 3)
    (link,) = load_linker("chains", "en").links(replace(text, chains=((Mention(0, 0, 2, 1), they),)))
    assert link == Link(they, Mention(0, 0, 2, 1))


def test_annotation_without_chains_is_refused(document: Document) -> None:
    with pytest.raises(AnaphoraError, match=r"no coreference chains.*Entity=.*--link builtin"):
        load_linker("chains", "en").links(replace(document, chains=None))


def test_wrong_specs() -> None:
    with pytest.raises(AnaphoraError, match="take no settings"):
        load_linker("chains:x", "en")
    with pytest.raises(AnaphoraError, match=r"unknown linker 'chain'.*did you mean chains"):
        load_linker("chain", "en")
    with pytest.raises(AnaphoraError, match="language of the text is not known"):
        load_linker("chains", "")
