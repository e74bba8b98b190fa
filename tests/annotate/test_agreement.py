"""Whether a subject is plural is known by its verb."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from anaphora.annotate.agreement import finite_verb, is_plural
from anaphora.annotate.document import Sentence

FINITE = "VerbForm=Fin,Number="


@pytest.mark.parametrize(
    ("text", "verb", "plural"),
    [
        (f"Sie/PRON/2/nsubj schläft/VERB/0/root/{FINITE}Sing", 1, False),
        (f"Sie/PRON/2/nsubj/Number=Sing schlafen/VERB/0/root/{FINITE}Plur", 1, True),
        (f"Sie/PRON/3/nsubj/Number=Plur ist/AUX/3/cop/{FINITE}Sing alt/ADJ/0/root", 1, False),
        (f"Sie/PRON/3/nsubj haben/AUX/3/aux/{FINITE}Plur geschlafen/VERB/0/root/VerbForm=Part", 1, True),
        (f"Sie/PRON/2/obj/Number=Plur sieht/VERB/0/root/{FINITE}Sing", 1, True),  # not the subject: as tagged
        ("Sie/PRON/2/nsubj/Number=Plur schlafen/VERB/0/root/VerbForm=Inf", None, True),
        ("Sie/PRON/0/root/Number=Plur", None, True),
        ("Sie/PRON/0/root", None, False),
    ],
)
def test_number(parsed: Callable[[str], Sentence], text: str, verb: int | None, plural: bool) -> None:
    sentence = parsed(text)
    assert finite_verb(sentence, 0) == verb
    assert is_plural(sentence, 0) is plural
