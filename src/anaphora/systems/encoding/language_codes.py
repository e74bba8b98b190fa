"""Languages as models name them: de, de_DE, deu_Latn, and in words for prompts."""

from __future__ import annotations

from collections.abc import Iterable

# ISO 639-1 → (ISO 639-3 as NLLB has it, script, English name)
LANGUAGES = {
    "ar": ("arb", "Arab", "Arabic"),
    "bg": ("bul", "Cyrl", "Bulgarian"),
    "cs": ("ces", "Latn", "Czech"),
    "da": ("dan", "Latn", "Danish"),
    "de": ("deu", "Latn", "German"),
    "el": ("ell", "Grek", "Greek"),
    "en": ("eng", "Latn", "English"),
    "es": ("spa", "Latn", "Spanish"),
    "et": ("est", "Latn", "Estonian"),
    "fi": ("fin", "Latn", "Finnish"),
    "fr": ("fra", "Latn", "French"),
    "he": ("heb", "Hebr", "Hebrew"),
    "hi": ("hin", "Deva", "Hindi"),
    "hu": ("hun", "Latn", "Hungarian"),
    "it": ("ita", "Latn", "Italian"),
    "ja": ("jpn", "Jpan", "Japanese"),
    "ko": ("kor", "Hang", "Korean"),
    "nl": ("nld", "Latn", "Dutch"),
    "no": ("nob", "Latn", "Norwegian"),
    "pl": ("pol", "Latn", "Polish"),
    "pt": ("por", "Latn", "Portuguese"),
    "ro": ("ron", "Latn", "Romanian"),
    "ru": ("rus", "Cyrl", "Russian"),
    "sv": ("swe", "Latn", "Swedish"),
    "tr": ("tur", "Latn", "Turkish"),
    "uk": ("ukr", "Cyrl", "Ukrainian"),
    "zh": ("zho", "Hans", "Chinese"),
}


def find_code(language: str, codes: Iterable[str]) -> str | None:
    """The code among a model's codes that means a language: de, deu_Latn, de_DE."""
    known = list(codes)
    if language in known:
        return language
    if language in LANGUAGES:
        three, script, _ = LANGUAGES[language]
        if f"{three}_{script}" in known:
            return f"{three}_{script}"
    return next((code for code in known if language and code.partition("_")[0] == language), None)


def english_name(language: str) -> str:
    """The language in words, as prompts have it; a code that is not known stays as it is."""
    return LANGUAGES[language][2] if language in LANGUAGES else language
