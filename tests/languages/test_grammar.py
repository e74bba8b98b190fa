"""A little grammar, from data files: what the templates need of German, French, Spanish, Polish and English."""

from __future__ import annotations

from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.grammar import Form, Grammar, load_grammar, parse_grammar


@pytest.fixture(scope="module")
def german() -> Grammar:
    return load_grammar("de")


def test_german_articles_by_gender_number_and_case(german: Grammar) -> None:
    keys = ("m", "f", "n", "plural")
    definite = {case: [german.article("the", case, key) for key in keys] for case in german.articles["the"]}
    assert definite == {
        "nominative": ["der", "die", "das", "die"],
        "accusative": ["den", "die", "das", "die"],
        "dative": ["dem", "der", "dem", "den"],
        "genitive": ["des", "der", "des", "der"],
    }
    indefinite = {case: [german.article("a", case, key) for key in "mfn"] for case in german.articles["a"]}
    assert indefinite == {
        "nominative": ["ein", "eine", "ein"],
        "accusative": ["einen", "eine", "ein"],
        "dative": ["einem", "einer", "einem"],
        "genitive": ["eines", "einer", "eines"],
    }


def test_german_pronouns(german: Grammar) -> None:
    assert [german.pronoun("nominative", gender) for gender in german.genders] == ["er", "sie", "es"]
    assert [german.pronoun("accusative", gender) for gender in german.genders] == ["ihn", "sie", "es"]
    assert [german.pronoun("dative", gender) for gender in german.genders] == ["ihm", "ihr", "ihm"]
    assert german.pronoun("dative", "plural") == "ihnen"


@pytest.mark.parametrize(
    ("nominative", "accusative"),
    [
        *[("Löwe", "Löwen"), ("Affe", "Affen"), ("Hase", "Hasen"), ("Bär", "Bären"), ("Eisbär", "Eisbären")],
        *[("Elefant", "Elefanten"), ("Student", "Studenten"), ("Polizist", "Polizisten"), ("Herr", "Herrn")],
        *[("Planet", "Planeten"), ("Automat", "Automaten"), ("Mensch", "Menschen"), ("Asteroid", "Asteroiden")],
        # strong ones that look like them
        *[("Käse", "Käse"), ("Tee", "Tee"), ("Schnee", "Schnee"), ("Kontinent", "Kontinent"), ("Geist", "Geist")],
        *[("Hund", "Hund"), ("Salat", "Salat"), ("Roboter", "Roboter"), ("Mist", "Mist"), ("Brownie", "Brownie")],
    ],
)
def test_weak_german_nouns_show_their_case(german: Grammar, nominative: str, accusative: str) -> None:
    assert german.noun(nominative, "accusative", "m") == accusative
    assert german.noun(nominative, "dative", "m") == accusative
    assert german.noun(nominative, "nominative", "m") == nominative


def test_german_nouns_of_other_genders_do_not(german: Grammar) -> None:
    assert german.noun("Katze", "accusative", "f") == "Katze"
    assert german.noun("Auge", "dative", "n") == "Auge"
    assert german.noun("Herz", "dative", "n") == "Herzen"  # the one neuter that does
    assert german.noun("Herz", "accusative", "n") == "Herz"


def test_the_german_dative_plural(german: Grammar) -> None:
    plurals = {"Hunde": "Hunden", "Katzen": "Katzen", "Autos": "Autos", "Pferde": "Pferden"}
    assert {word: german.noun(word, "dative", "plural") for word in plurals} == plurals


@pytest.mark.parametrize(
    ("language", "word", "comparative"),
    [
        *[("de", "hungrig", "hungriger"), ("de", "müde", "müder"), ("de", "groß", "größer"), ("de", "nett", "netter")],
        *[
            ("en", "hungry", "hungrier"),
            ("en", "tired", "more tired"),
            ("en", "nice", "nicer"),
            ("en", "big", "bigger"),
        ],
        *[("fr", "heureux", "plus heureux"), ("es", "cansado", "más cansado")],
    ],
)
def test_comparatives(language: str, word: str, comparative: str) -> None:
    assert load_grammar(language).inflected(word, "comparative") == comparative


@pytest.mark.parametrize(
    ("language", "word", "forms"),
    [
        ("fr", "grand", {"m": "grand", "f": "grande", "m plural": "grands", "f plural": "grandes"}),
        ("fr", "heureux", {"f": "heureuse", "m plural": "heureux", "f plural": "heureuses"}),
        ("fr", "gentil", {"f": "gentille", "m plural": "gentils", "f plural": "gentilles"}),
        ("fr", "plus gros", {"f": "plus grosse"}),
        ("fr", "mangé", {"f": "mangée", "n": "mangé"}),
        ("fr", "pris", {"f": "prise", "m plural": "pris"}),
        ("fr", "énorme", {"f": "énorme", "m plural": "énormes"}),
        ("es", "hambriento", {"f": "hambrienta", "m plural": "hambrientos", "f plural": "hambrientas"}),
        ("es", "grande", {"f": "grande", "m plural": "grandes"}),
        ("es", "trabajador", {"f": "trabajadora", "m plural": "trabajadores"}),
        ("es", "feliz", {"f": "feliz", "m plural": "felices"}),
        ("pl", "głodny", {"f": "głodna", "n": "głodne", "virile": "głodni", "non-virile": "głodne"}),
        ("pl", "malutki", {"f": "malutka", "n": "malutkie", "non-virile": "malutkie"}),
        ("pl", "był", {"f": "była", "n": "było", "virile": "byli", "non-virile": "były"}),
        ("pl", "zjadł", {"f": "zjadła", "n": "zjadło", "1sg": "zjadłem", "3pl": "zjedli"}),
        ("pl", "kupił", {"1sg": "kupiłem", "2sg": "kupiłeś", "1pl": "kupiliśmy", "3pl": "kupili"}),
    ],
)
def test_agreement(language: str, word: str, forms: dict[str, str]) -> None:
    grammar = load_grammar(language)
    assert {form: grammar.inflected(word, form) for form in forms} == forms


@pytest.mark.parametrize(
    ("language", "genders", "agreement"),
    [
        ("fr", ["m", "f"], "m plural"),
        ("fr", ["f", "f"], "f plural"),
        ("es", ["f", "m"], "m plural"),
        ("pl", ["n", "m"], "virile"),
        ("pl", ["n", "f"], "non-virile"),
        ("de", ["m", "f"], "plural"),
    ],
)
def test_agreement_with_several_things(language: str, genders: list[str], agreement: str) -> None:
    assert load_grammar(language).together(genders) == agreement


@pytest.mark.parametrize(
    ("language", "words", "sentence"),
    [
        ("en", "a apple and a pear.", "An apple and a pear."),
        ("en", "a unicorn, a umbrella, a hourglass.", "A unicorn, an umbrella, an hourglass."),
        ("en", "a UFO, a X-ray, a USB stick, a university.", "A UFO, an X-ray, a USB stick, a university."),
        ("en", "a underground train, a ewe, a Easter egg.", "An underground train, a ewe, an Easter egg."),
        ("fr", "le ours a vu la abeille et le hibou.", "L'ours a vu l'abeille et le hibou."),
        ("fr", "je le ai mangée.", "Je l'ai mangée."),
        ("fr", "elle la a vue avec le hélicoptère.", "Elle l'a vue avec l'hélicoptère."),
        ("fr", "autour de elle, autour de le chien, à le ours.", "Autour d'elle, autour du chien, à l'ours."),
        ("fr", "cela a été le œuf.", "Cela a été l'œuf."),
        ("es", "estaba delante de el oso y de la águila.", "Estaba delante del oso y del águila."),
        ("es", "la agua y una hacha; la arena.", "El agua y un hacha; la arena."),
        ("es", "el oso y iguana, leche y hielo.", "El oso e iguana, leche y hielo."),
        ("es", "delante de él, a él.", "Delante de él, a él."),
        ("de", "der Hund  hat den Keks .", "Der Hund hat den Keks."),
        ("pl", " był mały.", "Był mały."),
    ],
)
def test_words_are_joined_as_the_language_joins_them(language: str, words: str, sentence: str) -> None:
    assert load_grammar(language).sentence([words]) == sentence


def test_the_clitics_of_french_spanish_and_polish_tell_genders_apart() -> None:
    clitics = {"fr": ["le", "la"], "es": ["lo", "la"], "pl": ["go", "ją", "je"]}
    for language, expected in clitics.items():
        grammar = load_grammar(language)
        assert [grammar.pronoun("accusative", gender) for gender in grammar.genders] == expected


def test_polish_nouns_in_the_accusative_and_the_instrumental() -> None:
    polish = load_grammar("pl")
    assert [polish.noun("krowa", case, "f") for case in ("accusative", "instrumental")] == ["krowę", "krową"]
    assert [polish.noun("mysz", case, "f") for case in ("accusative", "instrumental")] == ["mysz", "myszą"]
    assert polish.noun("ser", "accusative", "m") == "ser"  # animals differ: the vocabulary has their forms


def test_a_form_is_irregular_or_takes_the_first_fitting_ending() -> None:
    form = Form({"gut": "besser"}, ("ee",), (("e", "er"), ("", "er")), before="!")
    assert [form.of(word) for word in ("gut", "müde", "klein", "Tee", "sehr klein")] == [
        *("!besser", "!müder", "!kleiner", "!Tee", "sehr !kleiner"),
    ]


def test_an_ending_that_is_the_whole_word_keeps_its_capital() -> None:
    assert Form({}, (), (("bär", "bären"),)).of("Bär") == "Bären"
    assert Form({}, (), (("reisender", "reisenden"),)).of("Reisender") == "Reisenden"
    assert Form({}, (), (("o", "a"),)).of("O") == "a"


def test_what_a_grammar_lacks_is_reported_with_its_file(german: Grammar) -> None:
    with pytest.raises(BadInput, match=r"de\.toml: no pronoun for gender 'x' in the dative\. Add it to the grammar"):
        german.pronoun("dative", "x")
    with pytest.raises(BadInput, match=r"de\.toml: no article 'a' for gender 'plural' in the accusative"):
        german.article("a", "accusative", "plural")


def test_an_unknown_language_lists_those_there_are() -> None:
    with pytest.raises(AnaphoraError, match=r"no grammar of 'xx' \(there is de, en, es, fr, pl\)"):
        load_grammar("xx")


@pytest.mark.parametrize(
    "data",
    [
        {"nouns": {"accusative": {"m": "nowhere"}}},
        {"joins": [{"at": "("}]},
        {"joins": [{"at": "a", "write": r"\2"}]},
        {"forms": {"f": {"endings": ["oops", 3]}}},
        {"articles": 3},
    ],
)
def test_an_invalid_grammar_is_one_line(data: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"my\.toml: not a grammar \(.*\)\. Compare with") as error:
        parse_grammar(data, "xx", tmp_path / "my.toml")
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_toml_says_where(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("# mine\ngenders = m, f\n")
    with pytest.raises(BadInput, match=r"my\.toml: line 2: not TOML: invalid value$"):
        load_grammar("xx", path)
    path.write_text("genders = [")
    with pytest.raises(BadInput, match=r"my\.toml: not TOML: invalid value \(at end of document\)$"):
        load_grammar("xx", path)
