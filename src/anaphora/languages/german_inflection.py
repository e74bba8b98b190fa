"""German noun phrases of another gender: determiner, adjectives and noun change together, in whatever case they are.

The case is often not to be seen (*die Tür* is nominative or accusative), and what it becomes depends on it (*der
Eingang*, *den Eingang*). So all cases that a form allows are followed up, and whoever asks decides between the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from anaphora.languages.german import as_in
from anaphora.languages.german_noun_forms import CASES, Noun

Endings = Mapping[str, tuple[str, ...]]  # gender → endings in the order of CASES

DEFINITE: Endings = {
    "Masc": ("der", "den", "dem", "des"),
    "Fem": ("die", "die", "der", "der"),
    "Neut": ("das", "das", "dem", "des"),
}
STRONG: Endings = {"Masc": ("er", "en", "em", "es"), "Fem": ("e", "e", "er", "er"), "Neut": ("es", "es", "em", "es")}
OF_EIN: Endings = {"Masc": ("", "en", "em", "es"), "Fem": ("e", "e", "er", "er"), "Neut": ("", "", "em", "es")}
WEAK: Endings = {"Masc": ("e", "en", "en", "en"), "Fem": ("e", "e", "en", "en"), "Neut": ("e", "e", "en", "en")}
MIXED: Endings = {"Masc": ("er", "en", "en", "en"), "Fem": ("e", "e", "en", "en"), "Neut": ("es", "es", "en", "en")}
RELATIVE: Endings = {
    "Masc": ("der", "den", "dem", "dessen"),
    "Fem": ("die", "die", "der", "deren"),
    "Neut": ("das", "das", "dem", "dessen"),
}

LIKE_DER = ("dies", "jen", "jed", "welch", "manch", "solch")
LIKE_EIN = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "unsr", "euer", "eur", "'n", "’n")
IRREGULAR = {"euere": "eure", "eur": "euer", "unsr": "unser"}  # what a stem and an ending do not give
CONTRACTED = {
    **{"im": ("in", "dem"), "am": ("an", "dem"), "beim": ("bei", "dem"), "vom": ("von", "dem"), "zum": ("zu", "dem")},
    **{"zur": ("zu", "der"), "ins": ("in", "das"), "ans": ("an", "das"), "aufs": ("auf", "das")},
    **{"fürs": ("für", "das"), "durchs": ("durch", "das"), "ums": ("um", "das")},
}
JOINED = {parts: word for word, parts in CONTRACTED.items()}
ADVERBS = frozenset({"sehr", "ganz", "so", "wirklich", "ziemlich", "besonders", "völlig", "total", "echt"})
PREPOSITIONS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(["mit", "von", "zu", "bei", "aus", "nach", "seit", "gegenüber", "außer"], frozenset({"Dat"})),
    **dict.fromkeys(["für", "durch", "gegen", "ohne", "um"], frozenset({"Acc"})),
    **dict.fromkeys(
        ["in", "an", "auf", "über", "unter", "vor", "hinter", "neben", "zwischen"], frozenset({"Acc", "Dat"})
    ),
    **dict.fromkeys(["wegen", "während", "trotz", "statt", "anstatt"], frozenset({"Dat", "Gen"})),
}


@dataclass(frozen=True, slots=True)
class Determiner:
    """A determiner: its stem, its endings by gender, and those of adjectives behind it."""

    stem: str
    endings: Endings
    adjectives: Endings

    def form(self, gender: str, case: str) -> str:
        word = self.stem + self.endings[gender][CASES.index(case)]
        return IRREGULAR.get(word, word)


def determiner(word: str) -> Determiner | None:
    """The determiner that a word is a form of.

    >>> determiner("eurem").form("Fem", "Nom"), determiner("mein").form("Fem", "Dat")
    ('eure', 'meiner')
    """
    form = word.lower()
    if any(form in forms for forms in DEFINITE.values()):
        return Determiner("", DEFINITE, WEAK)
    for stems, endings, adjectives in ((LIKE_DER, STRONG, WEAK), (LIKE_EIN, OF_EIN, MIXED)):
        for stem in stems:
            if form.startswith(stem) and any(form[len(stem) :] in own for own in endings.values()):
                return Determiner("eur" if stem == "euer" else stem, endings, adjectives)
    return None


def phrases(words: Sequence[str], before: str, old: Noun, new: Noun) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A noun phrase with another noun: for each case that it can be in, the case and the new words.

    words: a determiner or a preposition contracted with one, adjectives, the noun
    before: the word before them; a preposition says more of the case

    >>> old, new = (Noun(n, g, {case: (n,) for case in CASES}) for n, g in (("Vorhang", "Masc"), ("Gardine", "Fem")))
    >>> list(phrases(["ein", "alter", "Vorhang"], "", old, new))
    [('Nom', ('eine', 'alte', 'Gardine'))]
    """
    first, *adjectives, noun = words
    preposition, article = CONTRACTED.get(first.lower(), ("", first))
    found = determiner(article)
    if found is None:
        return
    allowed = PREPOSITIONS.get(preposition or before.lower(), frozenset(CASES)) & old.cases(noun)
    for case in CASES:
        if case not in allowed or found.form(old.gender, case) != _known(article):
            continue
        changed = [_adjective(word, found, case, old.gender, new.gender) for word in adjectives]
        if None in changed:
            continue
        beginning = found.form(new.gender, case)
        if preposition:
            beginning = JOINED.get((preposition, beginning), f"{preposition} {beginning}")
        yield case, (as_in(beginning, first), *(word for word in changed if word), new.forms[case][0])


def _known(article: str) -> str:
    """The form of a determiner as the tables have it: unsere and eure, whatever is left out or put in."""
    form = article.lower()
    return form.replace("euere", "eure", 1) if form.startswith("euere") else form


def _adjective(word: str, found: Determiner, case: str, old: str, new: str) -> str | None:
    """The adjective with its new ending; None where its ending is not that of the old gender in this case."""
    if word.lower() in ADVERBS:
        return word
    k = CASES.index(case)
    ending = found.adjectives[old][k]
    if not word.endswith(ending) or len(word) < len(ending) + 2:
        return None
    return word.removesuffix(ending) + found.adjectives[new][k]


def relatives(form: str, old: str, new: str) -> set[str]:
    """What a relative pronoun of one gender can become in another one; several where its case is not to be seen."""
    return {RELATIVE[new][k] for k in range(len(CASES)) if RELATIVE[old][k] == form.lower()}
