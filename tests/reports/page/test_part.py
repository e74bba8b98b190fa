"""Names for links and files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from anaphora.reports.page.part import Chapter, slug


def test_a_name_is_made_of_letters_digits_and_hyphens() -> None:
    assert slug("ContraPro en→de: by location×pronoun") == "contrapro-en-de-by-location-pronoun"
    assert Chapter("Attacks!", ()).name == "attacks"


@given(st.text())
def test_any_text_gives_a_name(text: str) -> None:
    name = slug(text)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert slug(name) == name
