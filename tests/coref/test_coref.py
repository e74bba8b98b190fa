"""Links from coreference chains: the last noun phrase before a pronoun in its chain."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link, chains_of, load_linker

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
    assert [link.nonreferential for link in links] == [0, 0, 1]


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
    with pytest.raises(AnaphoraError, match="takes no settings"):
        load_linker("chains:x", "en")
    with pytest.raises(AnaphoraError, match=r"unknown linker 'chain'.*did you mean chains"):
        load_linker("chain", "en")
    with pytest.raises(AnaphoraError, match="needs the language of the text"):
        load_linker("chains", "")


# Resolvers of other packages: entry points, and clusters that become chains.


PLUGIN = """
from anaphora.coref import chains_of, links_of

class Resolver:
    def __init__(self, setting, language):
        self.setting, self.language = setting, language

    def settings(self):
        return {"linker": "toy", "model": self.setting}

    def links(self, document):
        words = [token.text for sentence in document.sentences for token in sentence]
        assert words == ["The", "dog", "barked", "It", "slept"]
        return links_of(document, chains_of(document, [[(0, 2), (3, 4)]]), self.language)
"""


@pytest.fixture
def talk(parsed: Callable[[str], Sentence]) -> Document:
    return Document(
        (
            parsed("The/DET/2/det dog/NOUN/3/nsubj barked/VERB/0/root"),
            parsed("It/PRON/2/nsubj slept/VERB/0/root"),
            Sentence(()),
        )
    )


def test_an_entry_point_is_a_linker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, talk: Document) -> None:
    (tmp_path / "toy_resolver.py").write_text(PLUGIN)
    (about := tmp_path / "toy_resolver-1.dist-info").mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-resolver\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[anaphora.linkers]\ntoy = toy_resolver:Resolver\n")
    monkeypatch.syspath_prepend(tmp_path)
    linker = load_linker("toy:large", "en")
    assert linker.links(talk) == [Link(Mention(1, 0, 1, 0), Mention(0, 0, 2, 1))]
    assert linker.settings() == {"linker": "toy", "model": "large"}
    monkeypatch.delitem(sys.modules, "toy_resolver")


def test_a_linker_without_a_plugin_is_unknown() -> None:
    with pytest.raises(AnaphoraError, match=r"unknown linker 'fastcoref'.* Known: builtin, chains"):
        load_linker("fastcoref:x", "en")


def test_spans_that_make_no_mention_are_left_out(talk: Document) -> None:
    assert chains_of(talk, [[(0, 2), (2, 4), (3, 4), (4, 9)], [(0, 1), (1, 5)]]) == [
        (Mention(0, 0, 2, 1), Mention(1, 0, 1, 0))
    ]
