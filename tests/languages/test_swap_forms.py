"""The forms that change with a pronoun's gender: participles, adjectives, what is not known."""

from __future__ import annotations

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.languages.swap_forms import DATA, load_forms


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


@pytest.mark.parametrize("language", sorted(path.stem for path in DATA.glob("*.toml")))
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
    with pytest.raises(AnaphoraError, match=r"no forms to swap pronouns of 'xx' \(there are es, fr\): write xx.toml"):
        load_forms("xx")
