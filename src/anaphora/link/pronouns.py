"""Which words are the pronouns to be linked: third person, not polite, not an article."""

from __future__ import annotations

from anaphora.annotate.document import Sentence, is_plural
from anaphora.languages.pronouns import normalise
from anaphora.link.language import Language
from anaphora.link.phrases import role_of


def is_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a word is a pronoun that can be linked, of either number."""
    return is_singular_pronoun(sentence, index, language) or is_plural_pronoun(sentence, index, language)


def is_plural_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a word is a pronoun of the third person plural. German has none here: sie is the singular's form, too."""
    token = sentence[index]
    form = normalise(token.text)
    return form in language.plurals and (form not in language.ambiguous or token.upos == "PRON")


def is_singular_pronoun(sentence: Sentence, index: int, language: Language) -> bool:
    """Whether a word is a pronoun of the third person singular.

    French articles look like pronouns, and German `ihr` like possessives: the tagger tells them apart. German `sie` is
    singular or plural by its verb, or by the tagger; `Sie` within a sentence is polite.
    """
    token = sentence[index]
    form = normalise(token.text)
    if form not in language.pronouns:
        return False
    if form in language.ambiguous and token.upos != "PRON":
        return False
    if form == "ihr":
        return token.features.get("Poss") != "Yes" and token.features.get("Case") != "Nom"
    return form != "sie" or not (is_polite(sentence, index) or is_plural(sentence, index))


def is_polite(sentence: Sentence, index: int) -> bool:
    """`Sie` with a capital letter that does not begin a sentence."""
    begins = index == 0 or sentence[index - 1].upos == "PUNCT"
    return sentence[index].text == "Sie" and not begins


def pronoun_role(sentence: Sentence, index: int, language: Language) -> str:
    """Its grammatical role; possessives have one of their own."""
    return "possessive" if normalise(sentence[index].text) in language.possessives else role_of(sentence, index)[0]
