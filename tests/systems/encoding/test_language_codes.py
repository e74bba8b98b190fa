"""Languages as models name them."""

from __future__ import annotations

import pytest

from anaphora.systems.encoding.language_codes import LANGUAGES, english_name, find_code

NLLB = ("deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant", "arb_Arab", "nob_Latn")
MBART = ("en_XX", "de_DE", "fr_XX", "zh_CN", "pt_XX")
M2M = ("en", "de", "zh", "pt")


@pytest.mark.parametrize(
    ("language", "codes", "found"),
    [
        ("de", M2M, "de"),
        ("de", NLLB, "deu_Latn"),
        ("zh", NLLB, "zho_Hans"),
        ("ar", NLLB, "arb_Arab"),
        ("no", NLLB, "nob_Latn"),
        ("de", MBART, "de_DE"),
        ("en", MBART, "en_XX"),
        ("zho_Hant", NLLB, "zho_Hant"),  # a code of the model's own is taken as it is
        ("sw", NLLB, None),
        ("d", MBART, None),  # no beginnings of codes
        ("", MBART, None),
        ("de", (), None),
    ],
)
def test_the_code_of_a_language(language: str, codes: tuple[str, ...], found: str | None) -> None:
    assert find_code(language, codes) == found


def test_names_for_prompts() -> None:
    assert english_name("de") == "German"
    assert english_name("tlh") == "tlh"


def test_the_table_is_sorted_and_has_no_language_twice() -> None:
    assert list(LANGUAGES) == sorted(LANGUAGES)
    assert len({three for three, _, _ in LANGUAGES.values()}) == len(LANGUAGES)
    assert len({name for _, _, name in LANGUAGES.values()}) == len(LANGUAGES)
