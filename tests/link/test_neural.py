"""Neural resolvers, where installed. They cannot be had here: small modules with their interfaces play them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.link import Link, load_linker
from anaphora.link.neural import chains_of

LINKED = [Link(Mention(1, 0, 1, 0), Mention(0, 0, 2, 1))]


@pytest.fixture
def document(parsed: Callable[[str], Sentence]) -> Document:
    return Document(
        (
            parsed("The/DET/2/det dog/NOUN/3/nsubj barked/VERB/0/root"),
            parsed("It/PRON/2/nsubj slept/VERB/0/root"),
            Sentence(()),
        )
    )


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def install(name: str, **attributes: Any) -> None:
        module = ModuleType(name)
        vars(module).update(attributes)
        monkeypatch.setitem(sys.modules, name, module)

    return install


def test_fastcoref(play: Callable[..., None], document: Document) -> None:
    class FCoref:
        def __init__(self, **settings: Any) -> None:
            assert settings == {
                "device": "cpu",
                "nlp": None,
                "enable_progress_bar": False,
                "model_name_or_path": "mine",
            }

        def predict(self, *, texts: list[list[str]], is_split_into_words: bool) -> list[Any]:
            assert texts == [["The", "dog", "barked", "It", "slept"]]
            assert is_split_into_words
            return [SimpleNamespace(get_clusters=lambda as_strings: [[(0, 2), (3, 4)]] if not as_strings else None)]

    play("fastcoref", FCoref=FCoref, __version__="2.1.6")
    linker = load_linker("fastcoref:mine", "en")
    assert linker.links(document) == LINKED
    assert linker.settings() == {"linker": "fastcoref", "model": "mine", "version": "2.1.6"}


def test_maverick(play: Callable[..., None], document: Document) -> None:
    class Maverick:
        def __init__(self, **settings: Any) -> None:
            assert settings == {"device": "cpu"}

        def predict(self, sentences: list[list[str]]) -> dict[str, Any]:
            assert sentences == [["The", "dog", "barked"], ["It", "slept"]]
            return {"clusters_token_offsets": [((0, 1), (3, 3))]}  # the end is included

    play("maverick", Maverick=Maverick)
    assert load_linker("maverick", "en").links(document) == LINKED


def test_coreferee_knows_heads_which_become_phrases(play: Callable[..., None], document: Document) -> None:
    chain = [SimpleNamespace(token_indexes=[1]), SimpleNamespace(token_indexes=[3])]

    class Pipeline:
        vocab = None

        def __init__(self) -> None:
            self.pipes: list[str] = []

        def add_pipe(self, name: str) -> None:
            self.pipes.append(name)

        def __call__(self, doc: Any) -> Any:
            assert doc.words == ["The", "dog", "barked", "It", "slept"]
            assert self.pipes == ["coreferee"]
            return SimpleNamespace(_=SimpleNamespace(coref_chains=[chain]))

    play("coreferee")
    play("spacy", load=lambda name: Pipeline() if name == "en_core_web_lg" else None)
    play("spacy.tokens", Doc=lambda vocab, words: SimpleNamespace(words=words))
    assert load_linker("coreferee:en_core_web_lg", "en").links(document) == LINKED
    with pytest.raises(AnaphoraError, match="needs a spaCy pipeline"):
        load_linker("coreferee", "en")


@pytest.mark.parametrize(
    ("name", "install"), [("fastcoref", "fastcoref"), ("maverick", "maverick-coref"), ("coreferee", "coreferee")]
)
def test_one_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, name: str, install: str) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(AnaphoraError, match=rf"--link {name} needs {name}. Install it with: pip install {install}$"):
        load_linker(f"{name}:x", "en")


def test_spans_that_make_no_mention_are_left_out(document: Document) -> None:
    assert chains_of(document, [[(0, 2), (2, 4), (3, 4), (4, 9)], [(0, 1), (1, 5)]]) == [
        (Mention(0, 0, 2, 1), Mention(1, 0, 1, 0))
    ]
