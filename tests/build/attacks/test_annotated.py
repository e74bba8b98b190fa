"""Antecedents by annotation: two languages must agree; and the tags of the words by a real tagger."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.annotate.document import Document, Mention, Sentence, Token
from anaphora.build.attacks.annotated import by_annotators, linked, tagged
from anaphora.build.attacks.attack import Antecedent, fits
from anaphora.build.attacks.possessive import possessive_extension, possessive_preset
from anaphora.core.errors import AnaphoraError
from anaphora.coref import Link
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite, suite_of

Make = Callable[..., Example]
MakeSuite = Callable[..., Suite]
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or Path(__file__).resolve().parents[4] / "shared" / "models")
UPOS = {"the": "DET", "den": "DET", "a": "DET", "he": "PRON", "it": "PRON", "wears": "VERB", "old": "ADJ", "is": "AUX"}


class Words:
    """Annotates words by a list; what is not in it is a singular noun."""

    language = "en"

    def __init__(self) -> None:
        self.documents: list[Sequence[str]] = []

    def settings(self) -> Mapping[str, Any]:
        return {}

    def annotate(self, documents: Iterable[Sequence[Any]]) -> Iterator[Document]:
        for lines in documents:
            self.documents.append(lines)
            yield Document(tuple(self._sentence(line) for line in lines))

    def _sentence(self, line: str) -> Sentence:
        tokens = []
        for word in line.split():
            stem, dot = (word[:-1], word[-1]) if word.endswith(".") else (word, "")
            tokens.append(Token(stem, upos=UPOS.get(stem, "NOUN"), space_after=not dot))
            tokens += [Token(dot, upos="PUNCT")] if dot else []
        return Sentence(tuple(tokens))


class Points:
    """Links pronouns, by their form, to a span of tokens in a sentence."""

    def __init__(self, **answers: tuple[int, int, int] | None) -> None:
        self.answers = answers
        self.confidence = 0.9

    def settings(self) -> Mapping[str, Any]:
        return {}

    def links(self, document: Document) -> list[Link]:
        found = []
        for number, sentence in enumerate(document.sentences):
            for index, token in enumerate(sentence):
                if token.text.lower() in self.answers:
                    answer = self.answers[token.text.lower()]
                    mention = Mention(*answer, answer[2] - 1) if answer else None
                    found.append(Link(Mention(number, index, index + 1, index), mention, self.confidence))
        return found


def links(suite: Suite, source: Points, target: Points) -> dict[str, Antecedent]:
    return {i: antecedent for i, antecedent, _ in linked(suite, (Words(), source), (Words(), target))}


def test_both_languages_agree(example: Make, suite: MakeSuite) -> None:
    """he wears the hat. it is old. / er trägt den Hut. Er ist alt. : tokens 2 and 3 of the first sentence."""
    original = example(source_antecedent=None)
    hat = (0, 2, 4)
    assert links(suite(original), Points(it=hat), Points(er=hat)) == {"1": Antecedent(1, "the hat", "den Hut")}
    assert links(suite(original), Points(it=hat), Points(er=(1, 0, 1))) == {}  # in another sentence
    assert links(suite(original), Points(it=None), Points(er=hat)) == {}
    assert links(suite(original), Points(it=hat), Points(er=None)) == {}
    assert links(suite(original), Points(it=hat), Points()) == {}
    unsure = Points(er=hat)
    unsure.confidence = 0.4
    assert links(suite(original), Points(it=hat), unsure) == {}


def test_only_pronouns_of_the_current_sentence_count(example: Make, suite: MakeSuite) -> None:
    before = example(source=("it wears the hat.", "nothing here."))
    assert links(suite(before), Points(it=(0, 2, 4)), Points(er=(0, 2, 4))) == {}


def test_the_target_pronoun_is_the_one_in_which_candidates_differ(example: Make, suite: MakeSuite) -> None:
    """`er` stands first in all candidates; the question is `ihn` or `sie`."""
    targets = ("er  sieht ihn.", "er sieht sie.", "er sieht es.")
    asked = example(source=("he wears the hat.", "he likes it."), targets=targets)
    found = links(suite(asked), Points(it=(0, 2, 4)), Points(er=(1, 0, 1), ihn=(0, 2, 4)))
    assert found["1"].target == "den Hut"


def test_several_pronouns_must_stand_for_the_same(example: Make, suite: MakeSuite) -> None:
    class Turns(Points):
        def links(self, document: Document) -> list[Link]:
            found = super().links(document)
            return [replace(link, antecedent=Mention(0, k, k + 1, k)) for k, link in enumerate(found)]

    twice = example(source=("he wears the hat.", "it is it."))
    hat = (0, 2, 4)
    assert "1" in links(suite(twice), Points(it=hat), Points(er=hat))
    assert links(suite(twice), Turns(it=hat), Points(er=hat)) == {}


def test_another_source_pronoun(example: Make, suite: MakeSuite) -> None:
    they = example(source=("he wears the hat.", "they are old."), source_pronoun="they")
    assert "1" in links(suite(they), Points(they=(0, 2, 4)), Points(er=(0, 2, 4)))


def test_a_prior_has_no_antecedent(example: Make, suite: MakeSuite) -> None:
    assert links(suite(replace(example(), gold=None)), Points(it=(0, 2, 4)), Points(er=(0, 2, 4))) == {}


def test_tags_of_named_antecedents(example: Make, suite: MakeSuite) -> None:
    words = Words()
    three = [
        example("1"),
        example("2", source_antecedent="he wears", distance=1),
        example("3", source_antecedent="The  hat", distance=7),
        example("4", source_antecedent="the cap"),
    ]
    found = dict(tagged(suite(*three), words))
    assert {key: fits(tags) for key, tags in found.items()} == {"1": True, "2": False}
    assert words.documents == [["he wears the hat."]] * 3  # only the sentence of the antecedent, if it is there


def test_what_is_missing(example: Make, suite: MakeSuite) -> None:
    assert by_annotators(suite(example()), None, "spacy:nowhere") == (None, None)
    bare = suite(example(distance=None))
    for specs, missing in [(("spacy:x", None), "--annotate-target"), ((None, "spacy:x"), "--annotate-source")]:
        with pytest.raises(AnaphoraError, match=f"and {missing} is missing. Add: {missing} SPEC"):
            by_annotators(bare, *specs)


# with real pipelines


@pytest.fixture(scope="module")
def pipelines() -> tuple[str, str]:
    pytest.importorskip("spacy", reason="spaCy is not installed")
    folders = MODELS / "en_ud_sm", MODELS / "de_ud_sm"
    if not all(folder.is_dir() for folder in folders):
        pytest.skip("the pipelines en_ud_sm and de_ud_sm are not here: set ANAPHORA_MODELS to their folder")
    return f"spacy:{folders[0]}", f"spacy:{folders[1]}"


@pytest.fixture(scope="module")
def known(contrapro: Suite) -> Suite:
    """A sample of the items whose antecedent is known: every twelfth."""
    kept = [example for example in contrapro if "source_antecedent" in example.tags][::12]
    return suite_of(contrapro.header, lambda: iter(kept), contrapro.path)


def test_the_released_items_by_a_real_tagger(
    known: Suite, released: Callable[[str], dict[str, Example]], pipelines: tuple[str, str]
) -> None:
    finder, tagger = by_annotators(known, pipelines[0], None)
    assert finder is None
    attacked = possessive_extension(known, [possessive_preset("maria")], tagger=tagger)
    ours = {str(example.tags["attacked"]) for example in attacked}
    theirs = released("possessive_extension/maria").keys() & {example.id for example in known}
    assert len(ours & theirs) >= 0.95 * len(theirs)
    assert len(ours - theirs) <= 0.01 * len(theirs)


def test_antecedents_without_tags(known: Suite, pipelines: tuple[str, str]) -> None:
    """The tags are taken away; what the two languages agree on is nearly always what ContraPro has."""
    bare = [replace(e, tags={k: v for k, v in e.tags.items() if k == "reference_pronoun"}) for e in known]
    finder, tagger = by_annotators(suite_of(known.header, lambda: iter(bare)), *pipelines)
    assert finder is not None
    assert tagger is not None
    found = {example.id: finder(example) for example in bare}
    believed = {key: antecedent for key, antecedent in found.items() if antecedent is not None}
    assert len(believed) > 0.3 * len(bare)
    right = 0
    for example in known:
        if antecedent := believed.get(example.id):
            words = str(example.tags["target_antecedent"]).split()
            right += antecedent.distance == example.tags["distance"] and antecedent.target.split()[-1] == words[-1]
    assert right > 0.9 * len(believed)
    attacked = list(
        possessive_extension(
            suite_of(known.header, lambda: iter(bare)),
            [possessive_preset("maria")],
            antecedents=finder,
            tagger=tagger,
        )
    )
    assert len(attacked) > 0.25 * len(bare)
