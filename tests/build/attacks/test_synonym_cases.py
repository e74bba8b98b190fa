"""The case of antecedents: from ContraPro's tag, and from an annotation where there is one."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from anaphora.annotate.document import Document
from anaphora.build.attacks.synonym_cases import case_by_tag, cases_by_annotation
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

TAGS = {"source_antecedent": "my hat", "target_antecedent": "meine Kappe", "distance": 1}


def example(identifier: str, **tags: Any) -> Example:
    return Example(identifier, ("My hat.", "It."), (("Ich mag meine Kappe", "Sie."),), 0, {**TAGS, **tags})


@pytest.mark.parametrize(
    ("morpho", "cases"), [("Fem|Nom|Sg", ["Nom"]), ("Fem|_|Sg", []), ("", []), (None, []), ("Nom", [])]
)
def test_the_tag(morpho: str | None, cases: list[str]) -> None:
    assert case_by_tag(example("a", target_antecedent_head_morpho=morpho)) == cases


def test_tag_tagger_and_role_are_opinions(suite: Callable[..., Suite], parsed: Callable[[str], Any]) -> None:
    sentence = parsed(
        "Ich/PRON/2/nsubj/Case=Nom mag/VERB/0/root meine/DET/4/det/Case=Acc Kappe/NOUN/2/obj/Case=Nom",
    )
    seen: list[list[str]] = []

    def annotate(documents: Any) -> Any:
        for lines in documents:
            seen.append(list(lines))
            yield Document((sentence,))

    whole = suite(
        example("a", target_antecedent_head_morpho="Fem|Acc|Sg", target_antecedent_head="Kappe"),
        example("b"),
        example("far", distance=7),
        Example("none", ("", "It."), (("", "Sie."),), 0),
    )
    found = cases_by_annotation(whole, SimpleNamespace(annotate=annotate))  # type: ignore[arg-type]
    assert found == {"a": ["Acc", "Nom", "Acc"], "b": ["Nom", "Acc"]}
    assert seen == [["Ich mag meine Kappe"]] * 2
