"""Grammar rules antecedents out: fellow arguments, shared subjects, phrases around the pronoun."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.document import Sentence
from anaphora.link.binding import bound

# candidate and pronoun are marked by their place
CASES = [
    ("the dog saw it", "dog/NOUN/2/nsubj saw/VERB/0/root it/PRON/2/obj", 0, 2, True),
    ("the dog slept, and it woke", "dog/NOUN/2/nsubj slept/VERB/0/root it/PRON/4/nsubj woke/VERB/2/conj", 0, 2, False),
    ("she came and saw it", "she/PRON/2/nsubj came/VERB/0/root saw/VERB/2/conj it/PRON/3/obj", 0, 3, True),
    ("the dog wants to eat it", "dog/NOUN/2/nsubj wants/VERB/0/root eat/VERB/2/xcomp it/PRON/3/obj", 0, 3, True),
    (
        "the dog says she saw it",
        "dog/NOUN/2/nsubj says/VERB/0/root she/PRON/4/nsubj saw/VERB/2/ccomp it/PRON/4/obj",
        0,
        4,
        False,
    ),
    ("dogs and cats saw it", "dogs/NOUN/3/nsubj cats/NOUN/1/conj saw/VERB/0/root it/PRON/3/obj", 1, 3, True),
    ("the owner of it", "owner/NOUN/0/root it/PRON/1/nmod", 0, 1, True),
    (
        "a generation that played when it was young",
        "generation/NOUN/0/root played/VERB/1/acl:relcl it/PRON/4/nsubj young/ADJ/2/advcl",
        0,
        2,
        False,
    ),
    ("a dog that it saw", "dog/NOUN/0/root it/PRON/3/nsubj saw/VERB/1/acl:relcl", 0, 1, True),
    ("Singapore, if it grows", "Singapore/PROPN/0/root it/PRON/3/nsubj grows/VERB/1/advcl", 0, 1, False),
    ("it is alone", "dog/NOUN/0/root it/PRON/0/root", 0, 1, False),
]


@pytest.mark.parametrize(("words", "text", "candidate", "pronoun", "ruled_out"), CASES, ids=[c[0] for c in CASES])
def test_what_grammar_rules_out(
    parsed: Callable[[str], Sentence], words: str, text: str, candidate: int, pronoun: int, ruled_out: bool
) -> None:
    sentence = parsed(text)
    noun = sentence[candidate].upos != "PRON"
    assert bound(sentence, candidate, pronoun, noun=noun, possessive=False) is ruled_out


def test_a_possessive_may_stand_for_the_subject_but_not_for_what_it_owns(parsed: Callable[[str], Sentence]) -> None:
    sentence = parsed("dog/NOUN/2/nsubj lost/VERB/0/root its/PRON/4/nmod:poss bone/NOUN/2/obj")
    assert not bound(sentence, 0, 2, noun=True, possessive=True)
    assert bound(sentence, 3, 2, noun=True, possessive=True)
