"""The pronoun classes of the shared tasks: forms of one class, and everything else."""

from __future__ import annotations

import pytest

from anaphora.metrics.discomt.classes import CLASSES, class_of


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("Ils", "fr", "ils"),
        ("c'", "fr", "ce"),
        ("C’", "fr", "ce"),
        ("c&apos;", "fr", "ce"),
        ("ça", "fr", "cela"),
        ("ça/cela", "fr", "cela"),
        ("lui", "fr", "other"),
        ("OTHER", "fr", "other"),
        ("sie", "de", "sie"),
        ("ihn", "de", "other"),
        ("that", "en", "this"),
        ("Ono", "cs", "ono"),
        ("Other", "", "other"),
    ],
)
def test_classes(word: str, language: str, expected: str) -> None:
    assert class_of(word, language) == expected


def test_no_form_is_of_two_classes() -> None:
    for classes in CLASSES.values():
        forms = [form for group in classes.values() for form in group]
        assert len(forms) == len(set(forms))
        assert all(name in group for name, group in classes.items())
