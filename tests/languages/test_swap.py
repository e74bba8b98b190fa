"""French and Spanish pronouns take another gender: predicates and participles follow, or it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from anaphora.annotate.document import Sentence
from anaphora.core.errors import AnaphoraError
from anaphora.languages import names_with
from anaphora.languages.swap import load_forms, swap_pronoun

Parsed = Callable[[str], Sentence]
PART = "VerbForm=Part,Tense=Past"
PRONOUNS = frozenset(
    ["il", "elle", "ils", "elles", "le", "la", "lui", "eux", "él", "ella", "ellos", "ellas", "lo", "los", "las"]
)


def swapped(sentence: Sentence, language: str) -> dict[str, str] | str:
    """What becomes of the first pronoun, by gender."""
    index = next(i for i, token in enumerate(sentence) if token.text.lower() in PRONOUNS and token.upos == "PRON")
    change = swap_pronoun(sentence, index, load_forms(language))
    return change if isinstance(change, str) else {gender: text for gender, (_, text) in change.variants.items()}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Elle/PRON/2/nsubj dort/VERB/0/root", "Il dort"),
        ("Ils/PRON/2/nsubj dorment/VERB/0/root", "Elles dorment"),
        (f"Elle/PRON/3/nsubj est/AUX/3/aux:tense/Lemma=être arrivée/VERB/0/root/{PART}", "Il est arrivé"),
        (f"Il/PRON/3/nsubj a/AUX/3/aux:tense/Lemma=avoir mangé/VERB/0/root/{PART}", "Elle a mangé"),
        (
            f"Elle/PRON/4/nsubj:pass a/AUX/4/aux:tense/Lemma=avoir été/AUX/4/aux:pass/Lemma=être,{PART} "
            f"prise/VERB/0/root/{PART}",
            "Il a été pris",
        ),
        (
            "Elles/PRON/3/nsubj sont/AUX/3/cop grandes/ADJ/0/root/Lemma=grand et/CCONJ/5/cc "
            "belles/ADJ/3/conj/Lemma=beau",
            "Ils sont grands et beaux",
        ),
        ("Il/PRON/2/nsubj semble/VERB/0/root heureux/ADJ/2/xcomp", "Elle semble heureuse"),
        ("Elle/PRON/3/nsubj est/AUX/3/cop rapide/ADJ/0/root", "Il est rapide"),
        (f"Elle/PRON/3/nsubj est/AUX/3/cop fatiguée/VERB/0/root/{PART}", "Il est fatigué"),
        ("ELLE/PRON/2/nsubj DORT/VERB/0/root", "IL DORT"),
        ("Je/PRON/3/nsubj la/PRON/3/obj vois/VERB/0/root", "Je le vois"),
        ("Je/PRON/3/nsubj la/PRON/3/obj trouve/VERB/0/root belle/ADJ/3/xcomp/Lemma=beau", "Je le trouve beau"),
        (
            f"On/PRON/5/nsubj la/PRON/5/obj leur/PRON/5/iobj a/AUX/5/aux:tense/Lemma=avoir donnée/VERB/0/root/{PART}",
            "On le leur a donné",
        ),
        (
            "Elle/PRON/3/nsubj la/PRON/3/obj rend/VERB/0/root heureuse/ADJ/3/xcomp/Lemma=heureux",
            "Il la rend heureuse",  # said of the object
        ),
        ("sans/ADP/2/case elle/PRON/0/obl", "sans lui"),
        (
            "Elle/PRON/2/nsubj voit/VERB/0/root la/DET/5/det belle/ADJ/5/amod/Lemma=beau ville/NOUN/2/obj",
            "Il voit la belle ville",
        ),
    ],
)
def test_french(parsed: Parsed, text: str, other: str) -> None:
    actual = swapped(parsed(text), "fr")
    assert isinstance(actual, dict), actual
    assert list(actual.values()) == [other]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Elle/PRON/0/root", "case unclear"),
        ("Il/PRON/4/nsubj est/AUX/4/cop le/DET/4/det premier/ADJ/0/root", "predicate agrees"),
        ("Elle/PRON/3/nsubj est/AUX/3/cop celle/PRON/0/root", "predicate agrees"),
        ("Elle/PRON/3/nsubj toute/ADJ/1/amod dort/VERB/0/root", "predicate agrees"),
        ("elle/PRON/4/nsubj qui/PRON/3/nsubj vient/VERB/1/acl:relcl dort/VERB/0/root", "relative clause"),
        ("Elle/PRON/3/nsubj est/AUX/3/cop violette/ADJ/0/root/Lemma=violet", "agreement unclear"),
        ("Elle/PRON/3/nsubj est/AUX/3/cop beau/ADJ/0/root", "agreement unclear"),  # does not agree as it is
        (f"Fatiguée/VERB/3/advcl/{PART} elle/PRON/3/nsubj dort/VERB/0/root", "agreement unclear"),
        (f"Ils/PRON/3/nsubj sont/AUX/3/aux:pass/Lemma=être pris/VERB/0/root/{PART}", "agreement unclear"),
        (
            f"Il/PRON/4/nsubj s'/PRON/4/expl/Reflex=Yes est/AUX/4/aux:tense/Lemma=être dit/VERB/0/root/{PART}",
            "agreement unclear",
        ),
        ("Elle/PRON/3/nsubj est/AUX/3/cop active/VERB/0/root", "agreement unclear"),  # no verb
        ("les/DET/2/det elle/NOUN/0/root lui/PRON/2/iobj", "case unclear"),
    ],
)
def test_french_refused(parsed: Parsed, text: str, reason: str) -> None:
    assert swapped(parsed(text), "fr") == reason


def test_other_words_are_not_pronouns(parsed: Parsed) -> None:
    assert swap_pronoun(parsed("Je/PRON/2/nsubj dors/VERB/0/root"), 0, load_forms("fr")) == "no pronoun"


def test_himself(parsed: Parsed) -> None:
    sentence = parsed("Elle/PRON/3/nsubj -même/ADV/1/advmod dort/VERB/0/root")
    joined = Sentence((replace(sentence[0], space_after=False), *sentence.tokens[1:]))
    assert swapped(joined, "fr") == "predicate agrees"


def test_si_and_its_elision(parsed: Parsed) -> None:
    apart = parsed("Si/SCONJ/3/mark elle/PRON/3/nsubj dort/VERB/0/root si/ADV/5/advmod elles/PRON/3/obl")
    assert swapped(apart, "fr") == {"Masc": "S'il dort si elles"}  # only where the pronoun is
    wrong = parsed("Si/SCONJ/3/mark il/PRON/3/nsubj dort/VERB/5/advcl elle/PRON/5/nsubj mange/VERB/0/root")
    change = swap_pronoun(wrong, 3, load_forms("fr"))
    assert not isinstance(change, str)
    assert change.variants == {"Masc": ("il", "Si il dort il mange")}  # what was wrong before stays
    joined = parsed("S'/SCONJ/3/mark ils/PRON/3/nsubj dorment/VERB/0/root")
    joined = Sentence((replace(joined[0], space_after=False), *joined.tokens[1:]))
    assert joined.text == "S'ils dorment"
    assert swapped(joined, "fr") == {"Fem": "Si elles dorment"}


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Ella/PRON/2/nsubj duerme/VERB/0/root", "Él duerme"),
        ("No/ADV/3/advmod lo/PRON/3/obj veo/VERB/0/root", "No la veo"),
        ("Las/PRON/2/obj compré/VERB/0/root", "Los compré"),
        ("Ella/PRON/3/nsubj es/AUX/3/cop roja/ADJ/0/root/Lemma=rojo", "Él es rojo"),
        (f"La/PRON/3/obj había/AUX/3/aux/Lemma=haber visto/VERB/0/root/{PART}", "Lo había visto"),  # never agrees
        (f"Ellos/PRON/3/nsubj:pass fueron/AUX/3/aux:pass/Lemma=ser vistos/VERB/0/root/{PART}", "Ellas fueron vistas"),
    ],
)
def test_spanish_has_data_alone(parsed: Parsed, text: str, other: str) -> None:
    actual = swapped(parsed(text), "es")
    assert isinstance(actual, dict), actual
    assert list(actual.values()) == [other]


# The forms that change with a pronoun's gender: participles, adjectives, what is not known.


@pytest.mark.parametrize(
    ("language", "masculine", "feminine", "number"),
    [
        ("fr", "arrivé", "arrivée", "Sing"),
        ("fr", "pris", "prise", "Sing"),
        ("fr", "fini", "finie", "Sing"),
        ("fr", "vu", "vue", "Sing"),
        ("fr", "dû", "due", "Sing"),
        ("fr", "construit", "construite", "Sing"),
        ("fr", "ouvert", "ouverte", "Sing"),
        ("fr", "arrivés", "arrivées", "Plur"),
        ("fr", "vus", "vues", "Plur"),
        ("es", "perdido", "perdida", "Sing"),
        ("es", "abiertos", "abiertas", "Plur"),
    ],
)
def test_participles_both_ways(language: str, masculine: str, feminine: str, number: str) -> None:
    forms = load_forms(language)
    assert forms.participle(masculine, "Masc", number, "Fem") == feminine
    assert forms.participle(feminine, "Fem", number, "Masc") == masculine
    assert forms.participle(feminine, "Fem", number, "Fem") == feminine


def test_participles_that_do_not_tell() -> None:
    french = load_forms("fr")
    assert french.participle("prises", "Fem", "Plur", "Masc") == "pris"
    assert french.participle("finies", "Fem", "Plur", "Masc") == "finis"
    assert french.participle("pris", "Masc", "Plur", "Fem") is None  # prises, as finis is finies
    assert french.participle("arrivé", "Fem", "Sing", "Masc") is None  # not the form of its gender
    assert french.participle("mangeant", "Masc", "Sing", "Fem") is None


@pytest.mark.parametrize(
    ("language", "lemma", "feminine", "plurals"),
    [
        ("fr", "grand", "grande", ("grands", "grandes")),
        ("fr", "heureux", "heureuse", ("heureux", "heureuses")),
        ("fr", "actif", "active", ("actifs", "actives")),
        ("fr", "premier", "première", ("premiers", "premières")),
        ("fr", "national", "nationale", ("nationaux", "nationales")),
        ("fr", "naturel", "naturelle", ("naturels", "naturelles")),
        ("fr", "européen", "européenne", ("européens", "européennes")),
        ("fr", "complet", "complète", ("complets", "complètes")),
        ("fr", "supérieur", "supérieure", ("supérieurs", "supérieures")),
        ("fr", "beau", "belle", ("beaux", "belles")),
        ("fr", "bel", "belle", ("beaux", "belles")),  # what taggers take for the lemma
        ("fr", "public", "publique", ("publics", "publiques")),
        ("fr", "rapide", "rapide", ("rapides", "rapides")),
        ("fr", "gris", "grise", ("gris", "grises")),
        ("es", "rojo", "roja", ("rojos", "rojas")),
        ("es", "grande", "grande", ("grandes", "grandes")),
        ("es", "feliz", "feliz", ("felices", "felices")),
        ("es", "mayor", "mayor", ("mayores", "mayores")),
        ("es", "inglés", "inglesa", ("ingleses", "inglesas")),
        ("es", "encantador", "encantadora", ("encantadores", "encantadoras")),
    ],
)
def test_adjectives(language: str, lemma: str, feminine: str, plurals: tuple[str, str]) -> None:
    forms = load_forms(language)
    assert forms.adjective(lemma, "Fem", "Sing") == feminine
    assert (forms.adjective(lemma, "Masc", "Plur"), forms.adjective(lemma, "Fem", "Plur")) == plurals


def test_adjectives_that_the_rules_do_not_know() -> None:
    french = load_forms("fr")
    assert french.adjective("violet", "Fem", "Sing") is None
    assert french.adjective("moteur", "Fem", "Plur") is None
    assert french.adjective("violet", "Masc", "Plur") == "violets"
    assert french.adjective("active", "Fem", "Sing") is None  # no lemma


@pytest.mark.parametrize("language", names_with("swap"))
def test_each_data_file(language: str) -> None:
    forms = load_forms(language)
    for row in forms.rows:
        assert row.number in ("Sing", "Plur")
        assert set(row.forms) <= {"Masc", "Fem", "Neut"}
        assert all(row.gender(form) == gender for gender, form in row.forms.items())
        assert row.gender("x") is None
    places = [(form, relation) for row in forms.rows for form in row.forms.values() for relation in row.relations]
    assert len(places) == len(set(places)), "a form in a place must be of one row"


def test_a_language_without_forms() -> None:
    with pytest.raises(AnaphoraError, match=r"pronouns of 'xx' are not known \(known: es, fr\)\. Add .* xx\.toml"):
        load_forms("xx")
