"""From templates and words to items."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.templates.suite import DATA, check, examples, pairs, template_suite
from anaphora.build.templates.template import read_templates
from anaphora.build.templates.vocabulary import Entry, WordClass
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.evaluation.decision import Priors
from anaphora.languages.grammar import load_grammar
from anaphora.suites.example import Example
from anaphora.suites.readers.contracat import TEMPLATES, read
from anaphora.suites.suite import suite_of
from anaphora.suites.validate import validate_suite

ANIMALS = [Entry(word, word, german, g, g) for word, german, g in (("lion", "Löwe", "m"), ("cat", "Katze", "f"))]
FOODS = [Entry(word, word, german, g, g) for word, german, g in (("apple", "Apfel", "m"), ("egg", "Ei", "n"))]
SIZES = [Entry("big", "big", "groß"), Entry("small", "small", "klein")]
WORDS = {"animal": ANIMALS, "food": FOODS, "size": SIZES}

Make = Callable[[str], list[Example]]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """The items of one template for English–German."""

    def made(text: str) -> list[Example]:
        path = tmp_path / "templates.toml"
        path.write_text(f'[[template]]\nid = "t"\nstep = "s"\n{text}', encoding="utf-8")
        return list(examples(read_templates(path), WORDS, load_grammar("en"), load_grammar("de")))

    return made


EATING = """
slots = { animal = "animal", food = "food" }
different_gender = ["animal", "food"]
source = ["{animal: the} ate {food: the}.", "It was there."]
target = ["{animal: the} aß {food: the accusative}.", "{it} war da."]
"""


def test_an_item_with_an_antecedent(make: Make) -> None:
    first, *others = make(EATING + 'antecedent = "food"')
    assert first == Example(
        id="t/lion/egg",
        source=("The lion ate the egg.", "It was there."),
        candidates=tuple(("Der Löwe aß das Ei.", f"{pronoun} war da.") for pronoun in ("Er", "Sie", "Es")),
        gold=2,
        tags={
            "template": "t",
            "step": "s",
            "candidate_genders": ["m", "f", "n"],
            "reference_gender": "neuter",
            "antecedent": "food",
            "source_antecedent": "egg",
            "target_antecedent": "Ei",
        },
    )
    assert [other.id for other in others] == ["t/cat/apple", "t/cat/egg"]


def test_a_prior_says_what_each_choice_means(make: Make) -> None:
    items = make(EATING + "choices = { subject = 'animal', object = 'food' }")
    assert [(item.gold, item.tags["choices"]) for item in items] == [
        (None, ["subject", "neither", "object"]),
        (None, ["object", "subject", "neither"]),
        (None, ["neither", "subject", "object"]),
    ]
    assert not any("reference_gender" in item.tags for item in items)


def test_a_prior_over_genders(make: Make) -> None:
    (item, *_) = make(EATING + 'choices = "genders"')
    assert item.tags["choices"] == ["masculine", "feminine", "neuter"]


def test_a_gold_gender_without_antecedent(make: Make) -> None:
    (item, *_) = make(EATING + 'gold = "n"')
    assert (item.gold, item.tags["reference_gender"]) == (2, "neuter")
    assert "antecedent" not in item.tags


def test_two_slots_change_places_in_the_context(make: Make) -> None:
    one, other, *_ = make(
        EATING.replace("different", 'switch = ["animal", "food"]\ndifferent') + 'antecedent = "animal"'
    )
    assert (one.id, other.id) == ("t/lion/egg", "t/egg/lion")
    assert other.source[0] == "The egg ate the lion."
    assert other.candidates[0] == ("Das Ei aß den Löwen.", "Er war da.")
    assert (one.gold, other.gold) == (0, 0)
    assert (one.tags["order"], other.tags["order"]) == ("animal food", "food animal")


SIZED = """
slots = { animal = "animal", size = "size" }
antecedent = "animal"
source = ["I saw {animal: a}.", "It was {size}."]
target = ["Ich sah {animal: a accusative}.", "{it} war {size}."]
"""


def test_a_slot_can_name_the_variant(make: Make) -> None:
    items = make(SIZED + 'variant = "size"')
    assert [(item.id, item.tags["variant"]) for item in items][:2] == [("t/big/lion", "big"), ("t/small/lion", "small")]
    assert items[0].candidates[0] == ("Ich sah einen Löwen.", "Er war groß.")


def test_variants_by_name(make: Make) -> None:
    items = make(
        SIZED.replace('antecedent = "animal"\n', "")
        + """
        [[template.variants]]
        name = "one"
        antecedent = "animal"
        [[template.variants]]
        name = "other"
        gold = "n"
        """
    )
    assert [item.id for item in items[::4]] == ["t/one/lion/big", "t/other/lion/big"]
    assert [item.gold for item in items[::4]] == [0, 2]


def test_pairs_have_the_same_words(make: Make) -> None:
    items = make(
        """
        slots = { first = "animal", second = "animal" }
        choices = { first = "first", second = "second" }
        pair = true
        source = ["{first: the} and {second: the} came.", "It sat."]
        target = ["{first: the} und {second: the} kamen.", "{it} saß."]
        """
    )
    assert [item.id for item in items] == ["t/lion/cat", "t/cat/lion"]
    assert items[0].tags["pair"] == items[1].tags["pair"] == "and came cat it lion sat the the"


def test_other_candidates_than_the_genders_of_the_language(make: Make) -> None:
    (item, *_) = make(EATING + 'gold = "n"\ncandidates = ["n", "m"]')
    assert [candidate[1] for candidate in item.candidates] == ["Es war da.", "Er war da."]
    assert (item.gold, item.tags["candidate_genders"]) == (0, ["n", "m"])


def test_candidates_that_do_not_differ_are_an_error(make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"t/lion/egg: candidates do not differ: Der Löwe aß das Ei\. Man war da\."):
        make(EATING.replace("{it} war", "man war") + 'antecedent = "food"')


def test_an_id_that_occurs_twice_is_an_error(make: Make) -> None:
    with pytest.raises(AnaphoraError, match=r"two items have the id t/lion/egg\. Give one of the words another id"):
        make(EATING + "[[template.variants]]\ngold = 'n'\n[[template.variants]]\ngold = 'm'")


def test_words_of_two_classes_may_have_the_same_id(tmp_path: Path) -> None:
    path = tmp_path / "templates.toml"
    path.write_text(
        """
        [[template]]
        id = "t"
        slots = { thing = "animal" }
        antecedent = "thing"
        source = ["I saw {thing: a}.", "It sat."]
        target = ["Ich sah {thing: a accusative}.", "{it} saß."]
        [[template]]
        id = "u"
        slots = { thing = "tool" }
        antecedent = "thing"
        source = ["I saw {thing: a}.", "It sat."]
        target = ["Ich sah {thing: a accusative}.", "{it} saß."]
        """,
        encoding="utf-8",
    )
    words = {
        "animal": [Entry("crane", "crane", "Kranich", "m", "m")],
        "tool": [Entry("crane", "crane", "Kran", "m", "m")],
    }
    animal, tool = examples(read_templates(path), words, load_grammar("en"), load_grammar("de"))
    assert [item.candidates[0][0] for item in (animal, tool)] == ["Ich sah einen Kranich.", "Ich sah einen Kran."]


# The suites of the language pairs: the counts of the paper, the items of the release, ids that stay.

TABLE_8 = {
    "prior/role": 1_000,
    "prior/position": 828,
    "prior/verb": 600,
    "markable": 2_560,
    "overlap/verb": 2_240,
    "overlap/object": 5_376,
    "overlap/subject": 4_992,
    "overlap/object-verb": 5_376,
    "overlap/subject-verb": 4_992,
    "world-knowledge": 2_500,
    "event": 1_500,
    "pleonastic": 1_500,
    "gender": 4_102,
}
BOTH_ORDERS = {"prior/position": 2 * 828}  # §6.1.1: "an additional example where the entities order is reversed"
RELEASED = TABLE_8 | BOTH_ORDERS | {"prior/verb": 700}  # gender: by the number of its nouns


def made(*arguments: Any, **options: Any) -> list[Example]:
    return list(template_suite(*arguments, **options).suite)


def by_template(examples: list[Example]) -> dict[str, list[Example]]:
    groups = defaultdict(list)
    for example in examples:
        groups[str(example.tags["template"])].append(example)
    return groups


@pytest.fixture(scope="module")
def german() -> dict[str, list[Example]]:
    return by_template(made())


@pytest.mark.parametrize("template", TABLE_8)
def test_the_built_in_vocabulary_gives_the_counts_of_table_8(german: dict[str, list[Example]], template: str) -> None:
    """The two orders of the position prior are one of Table 8's: it has 828, and the release 1,656 of them."""
    assert len(german[template]) == (TABLE_8 | BOTH_ORDERS)[template]
    units = {example.tags.get("pair", example.id) for example in german[template]}
    assert len(units) == TABLE_8[template]


def test_an_edition_has_the_very_counts_of_table_8() -> None:
    examples = made(edition="table-8")
    assert Counter(example.tags["template"] for example in examples) == TABLE_8
    assert len(examples) == 37_566
    assert template_suite(edition="table-8").suite.header.name == "contracat-en-de-table-8"


def test_thirteen_templates_have_the_steps_of_the_release(
    german: dict[str, list[Example]],
) -> None:
    assert {name: group[0].tags["step"] for name, group in german.items()} == dict(TEMPLATES.values())


def test_variants_have_the_names_of_the_release(german: dict[str, list[Example]]) -> None:
    variants = {name: {e.tags.get("variant") for e in group} for name, group in german.items()}
    two = {"eat_drink_eat", "eat_drink_drink"}
    named = {name: actual for name, actual in variants.items() if actual != {None}}
    assert named == {
        "overlap/verb": two | {"drink_eat_drink", "drink_eat_eat"},
        "overlap/object": two,
        "overlap/subject": two,
        "overlap/object-verb": two,
        "overlap/subject-verb": two,
        "event": {"surprise", "happened", "chaos", "situation"},
        "pleonastic": {"rain", "shame", "seem", "believe"},
        "gender": {"big", "small"},
    }


BY_HAND = """
overlap/verb/eat_drink_drink/dog/cow/a-lot
    The dog ate and the cow drank. It drank a lot.
    Sie hat viel getrunken.
overlap/verb/drink_eat_eat/dog/cow/a-lot
    The dog drank and the cow ate. It ate a lot.
    Sie hat viel gegessen.
overlap/object/eat_drink_eat/dog/cookie/cow/tea
    The dog ate the cookie and the cow drank the tea. It liked the cookie.
    Er mochte den Keks.
overlap/object/eat_drink_drink/dog/cookie/cow/tea
    The dog ate the cookie and the cow drank the tea. It liked the tea.
    Sie mochte den Tee.
overlap/subject/eat_drink_eat/dog/fruit/bear/tea
    The dog ate the fruit and the bear drank the tea. The dog liked it.
    Der Hund mochte sie.
overlap/object-verb/eat_drink_drink/dog/bread/cow/milk
    The dog ate the bread and the cow drank the milk. It drank the milk quickly.
    Sie hat die Milch schnell getrunken.
overlap/subject-verb/eat_drink_eat/dog/cookie/bear/milk
    The dog ate the cookie and the bear drank the milk. The dog ate it quickly.
    Der Hund hat ihn schnell gegessen.
overlap/subject-verb/eat_drink_drink/dog/cookie/bear/milk
    The dog ate the cookie and the bear drank the milk. The bear drank it quickly.
    Der Bär hat sie schnell getrunken.
event/situation/lion/nut
    The lion ate the nut. It was a funny situation.
    Es war eine lustige Situation.
pleonastic/seem/cat/cake
    The cat ate the cake. It seemed this was unnecessary.
    Es schien, dass dies unnötig war.
gender/small/elephant
    I saw an elephant. It was small.
    Er war klein.
markable/actress-f/dog/tired
    The actress and the dog were tired. However it was more tired.
    Aber er war müder.
"""


def test_templates_that_are_not_in_our_copy_of_the_release(german: dict[str, list[Example]]) -> None:
    """Against Table 9, with sentences written by hand: id, source, the current sentence of the right candidate."""
    actual = {example.id: example for group in german.values() for example in group}
    lines = [line.strip() for line in BY_HAND.strip().splitlines()]
    for identifier, source, right in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        example = actual[identifier]
        assert " ".join(example.source) == source
        assert example.gold is not None
        assert example.candidates[example.gold][-1] == right


def test_nouns_show_case_in_position_prior_and_gender_templates(german: dict[str, list[Example]]) -> None:
    contexts = {example.candidates[0][0] for name in ("prior/position", "gender") for example in german[name]}
    assert "Ich stand vor dem Löwen und der Katze." in contexts
    assert "Ich stand vor dem Pferd und dem Bären." in contexts
    assert "Ich sah einen Elefanten." in contexts
    assert not any("dem Löwe " in context or "dem Bär." in context for context in contexts)


@pytest.mark.parametrize("language_pair", pairs())
def test_the_position_prior_has_both_orders_of_each_pair(language_pair: str) -> None:
    """Table 11 asks for both: whether the first, the second, or the same noun is taken in either order."""
    examples = made(language_pair, only=["prior/position"])
    linked = defaultdict(list)
    for example in examples:
        linked[example.tags["pair"]].append(example.id.split("/")[2:])
    assert len(linked) == len(examples) // 2
    for one, other in linked.values():
        assert one == [other[1], other[0], other[2]]


def test_table_8_counts_each_pair_once_per_adjective() -> None:
    """207 pairs of different gender × 4 adjectives, 2 of them in each order: gender does not give the place away."""
    examples = made(only=["prior/position"], edition="table-8")
    pairs_of = Counter(frozenset(e.id.split("/")[2:4]) for e in examples)
    assert len(pairs_of) == 9 * 9 + 9 * 7 + 9 * 7
    assert set(pairs_of.values()) == {4}
    orders = Counter(tuple(e.id.split("/")[2:4]) for e in examples)
    assert set(orders.values()) == {2}
    assert not any("pair" in e.tags for e in examples)


def test_gold_is_the_gender_of_the_antecedent(german: dict[str, list[Example]]) -> None:
    """Read off the German article in the context, without the vocabulary."""
    articles = {"Der": 0, "Die": 1, "Das": 2, "den": 0, "die": 1, "das": 2, "einen": 0, "eine": 1, "ein": 2, "der": 0}
    for group in german.values():
        for example in group:
            if noun := example.tags.get("target_antecedent"):
                words = example.candidates[0][0].rstrip(".").split()
                position = next(k for k, word in enumerate(words) if word.startswith(str(noun)))
                assert articles[words[position - 1]] == example.gold, example


@pytest.mark.parametrize("pair", pairs())
def test_all_items_of_a_pair_are_valid(pair: str) -> None:
    """No id twice, no equal candidates, no empty sentence; and every template of the paper is there."""
    suite = template_suite(pair).suite
    examples = list(suite)
    assert list(validate_suite(suite_of(suite.header, lambda: examples))) == []
    assert {example.tags["template"] for example in examples} == TABLE_8.keys()
    sentences = {sentence for e in examples for passage in (e.source, *e.candidates) for sentence in passage}
    for sentence in sentences:
        assert not {*"{}|"}.intersection(sentence)
        assert "  " not in sentence
        assert sentence.endswith((".", "!"))
        assert sentence.lstrip("¡")[0].isupper()


def test_the_same_items_each_time_in_the_same_order() -> None:
    suite = template_suite("en-fr", ["markable"]).suite
    assert suite.sha256() == template_suite("en-fr", ["markable"]).suite.sha256()
    assert [e.id for e in suite] == [e.id for e in suite]


# ---------------------------------------------------------------------------------------------- the release


@pytest.fixture(scope="module")
def from_release(data: Callable[[str], Path]) -> list[Example]:
    """What the vocabulary of the release gives without further settings."""
    return made(vocabulary=data("contracat/templates/vocabulary"))


def test_the_items_of_the_release_from_its_vocabulary(data: Callable[[str], Path], from_release: list[Example]) -> None:
    """As sets of (passage, three candidates, gold), for every template and variant that is here; and its choices."""
    released, ours = defaultdict(set), defaultdict(set)
    for groups, items in ((released, read(data("contracat/templates"))), (ours, from_release)):
        for e in items:
            item = (e.source, e.candidates, e.gold, tuple(e.tags.get("choices", ())))  # type: ignore[arg-type]
            groups[e.tags["template"], e.tags.get("variant")].add(item)
    assert len(released) == 10
    for key, items in released.items():
        assert ours[key] == items, key


def test_the_settings_of_the_release_from_its_vocabulary(
    data: Callable[[str], Path], from_release: list[Example]
) -> None:
    assert Counter(example.tags["template"] for example in from_release) == RELEASED | {"gender": 2_057}
    suite = template_suite(vocabulary=data("contracat/templates/vocabulary"))
    assert (suite.edition, suite.suite.header.name) == ("release", "contracat-en-de-release")


def test_where_the_release_departs_from_grammar_grammar_is_followed(from_release: list[Example]) -> None:
    """It has "dem Bär", "einen Therapeut" and "a explosion"."""
    message = {sentence for e in from_release for sentence in (e.source[0], e.candidates[0][0])}
    assert "Ich stand vor dem Bären und der Katze." in message
    assert "Ich sah einen Therapeuten." in message
    assert "I saw an explosion." in message


def test_the_edition_can_be_chosen_for_any_vocabulary(data: Callable[[str], Path]) -> None:
    only = ["prior", "gender"]
    counts = Counter(example.tags["template"] for example in made(only=only, edition="release"))
    assert counts == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 700, "gender": 2_051}
    vocabulary = data("contracat/templates/vocabulary")
    counts = Counter(e.tags["template"] for e in made(only=only, vocabulary=vocabulary, edition="paper"))
    assert counts == {"prior/role": 1_000, "prior/position": 1_656, "prior/verb": 600, "gender": 2 * 2_057}


@pytest.mark.parametrize("edition", ["paper", "release"])
def test_position_prior_pairs_are_counted_as_in_table_11(edition: str) -> None:
    """The first noun in both orders is "first"; the masculine one is the same antecedent, where there is one."""
    examples = made(only=["prior/position"], edition=edition)
    first, masculine = Priors(), Priors()
    for example in examples:
        choices = example.tags["choices"]
        assert isinstance(choices, list)
        first.add(example.tags, choices.index("first"))
        masculine.add(example.tags, 0)
    (figures,) = first.figures(0.95).values()
    assert {choice: figure.total for choice, figure in figures.items()} == {"first": 828}
    (figures,) = masculine.figures(0.95).values()
    # of 207 pairs of animals 9 · 9 + 9 · 7 have a masculine one; with four adjectives each
    assert {choice: figure.correct for choice, figure in figures.items()} == {
        "same antecedent": 4 * (9 * 9 + 9 * 7),
        "neither": 4 * 9 * 7,
    }


# ---------------------------------------------------------------------------------------------- growing


def grown(folder: Path, file: str, line: str, at: int | None = None) -> Path:
    """A copy of the built-in vocabulary with a line more, at its end unless told."""
    shutil.copytree(DATA / "en-de" / "vocabulary", folder)
    lines = (folder / file).read_text(encoding="utf-8").splitlines()
    lines.insert(len(lines) if at is None else at, line)
    (folder / file).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("file", "line", "templates"),
    [
        ("animal.tsv", "fox\tFuchs\tm", ["prior", "markable", "overlap/verb"]),
        ("food.tsv", "soup\tSuppe\tf", ["overlap/object", "world-knowledge"]),
        ("human.tsv", "baker-f\tbaker\tBäckerin\tf", ["markable"]),
        ("concrete_noun.tsv", "aardvark\tErdferkel\tn", ["gender"]),
        ("event.tsv", "wonder\twas a wonder\twar ein Wunder", ["event"]),
    ],
)
def test_ids_stay_when_the_vocabulary_grows(tmp_path: Path, file: str, line: str, templates: list[str]) -> None:
    more = made(only=templates, vocabulary=grown(tmp_path / "words", file, line))
    old = made(only=templates)
    assert len(more) > len(old)
    actual = {example.id: example for example in more}
    assert all(actual[example.id] == example for example in old)


def test_an_id_means_the_same_item_after_words_are_added(tmp_path: Path, german: dict[str, list[Example]]) -> None:
    more = made(vocabulary=grown(tmp_path / "words", "animal.tsv", "fox\tFuchs\tm", at=5))
    old = {example.id: example for group in german.values() for example in group}
    common = [example for example in more if example.id in old]
    assert len(common) > 10_000
    assert all(old[example.id] == example for example in common)


# ---------------------------------------------------------------------------------------------- choosing


def test_templates_are_chosen_by_id_or_group() -> None:
    assert template_suite(only=["gender", "prior"]).templates == (
        "prior/role",
        "prior/position",
        "prior/verb",
        "gender",
    )
    assert template_suite(only=["overlap/verb"]).templates == ("overlap/verb",)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"only": ["gendr"]}, r"no template 'gendr' \(did you mean gender\?\): there are prior/role, "),
        ({"only": ["overlap/ver"]}, r"no template 'overlap/ver'"),
        ({"edition": "realese"}, r"no edition 'realese' \(did you mean release\?\): there are paper, release, table-8"),
        ({"languages": "en-xx"}, r"no templates for 'en-xx'.*: there are en-de, en-es, en-fr, en-pl; or name a folder"),
        ({"languages": "en-fr", "edition": "release"}, r"no edition 'release': there are paper"),
    ],
)
def test_unknown_templates_and_languages_are_errors(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        template_suite(**options)


def test_a_vocabulary_replaces_the_classes_it_has(tmp_path: Path) -> None:
    (tmp_path / "animal.tsv").write_text("en\tde\tgender\nfox\tFuchs\tm\ncat\tKatze\tf\n", encoding="utf-8")
    examples = made(vocabulary=tmp_path, only=["prior/role"])
    assert {example.id.split("/")[2] for example in examples} == {"fox", "cat"}
    assert len(examples) == 2 * 10 * 4  # two animals, ten foods of another gender, four sizes
    assert template_suite(vocabulary=tmp_path).edition == "paper"


def test_a_class_that_no_template_draws_on_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "animals.tsv").write_text("en\tde\tgender\nfox\tFuchs\tm\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"animals\.tsv: no template draws on a class 'animals' \(did you mean animal"):
        template_suite(vocabulary=tmp_path)


# ---------------------------------------------------------------------------------------------- a new pair

ITALIAN = {
    "grammar.toml": """
        genders = ["m", "f"]
        [articles.the]
        nominative = { m = "il", f = "la" }
        [pronouns]
        accusative = { m = "lo", f = "la" }
        [forms.f]
        endings = [["o", "a"]]
        [[joins]]
        at = '\\b[Ll][oa] (?=[aeiouh])'
        write = "l'"
        """,
    "templates.toml": """
        [[template]]
        id = "role"
        step = "priors"
        slots = { animal = "animal", food = "food" }
        different_gender = ["animal", "food"]
        antecedent = "food"
        source = ["{animal: the} saw {food: the}.", "It has eaten it."]
        target = ["{animal: the} ha visto {food: the}.", "{it: accusative} ha {'mangiato': like it}."]
        """,
    "vocabulary/animal.tsv": "en\tit\tgender\ndog\tcane\tm\ncow\tmucca\tf\n",
    "vocabulary/food.tsv": "en\tit\tgender\napple\tmela\tf\nrice\triso\tm\n",
}


@pytest.fixture
def italian(tmp_path: Path) -> Path:
    """A language pair of one's own: four small data files."""
    folder = tmp_path / "en-it"
    for name, text in ITALIAN.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_a_new_pair_is_a_folder_of_data_files(italian: Path) -> None:
    suite = template_suite(str(italian)).suite
    assert (suite.header.name, suite.header.languages) == ("contracat-en-it", "en-it")
    first, second = suite
    assert first.source == ("The dog saw the apple.", "It has eaten it.")
    assert first.candidates == (
        ("Il cane ha visto la mela.", "L'ha mangiato."),
        ("Il cane ha visto la mela.", "L'ha mangiata."),
    )
    assert (first.gold, second.gold) == (1, 0)


def test_a_folder_may_hold_parts_of_a_built_in_pair(tmp_path: Path) -> None:
    words = tmp_path / "en-de" / "vocabulary"
    words.mkdir(parents=True)
    (words / "animal.tsv").write_text("en\tde\tgender\nfox\tFuchs\tm\ncat\tKatze\tf\n", encoding="utf-8")
    examples = made(str(tmp_path / "en-de"), only=["prior/role"])
    assert {example.id.split("/")[2] for example in examples} == {"fox", "cat"}


@pytest.mark.parametrize(
    ("gone", "problem"),
    [
        ("grammar.toml", r"no grammar of 'it' \(there is de, "),
        ("templates.toml", r"en-it: templates\.toml is missing\. See docs/templates\.md"),
        ("vocabulary", r"en-it: the folder 'vocabulary' is missing\. Put one \.tsv file per word class into it"),
    ],
)
def test_errors_name_what_a_new_pair_lacks(italian: Path, gone: str, problem: str) -> None:
    path = italian / gone
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(AnaphoraError, match=problem):
        template_suite(str(italian))


def test_a_folder_must_be_named_like_a_pair(italian: Path) -> None:
    other = italian.rename(italian.with_name("italian"))
    with pytest.raises(BadInput, match=r"italian: not named like a language pair\. Call the folder en-it"):
        template_suite(str(other))


# Templates, vocabulary and grammar must fit each other.

GOOD = """
[[template]]
id = "t"
slots = { animal = "animal", size = "size", person = "person" }
antecedent = "animal"
source = ["{animal: the} came.", "It was {size: comparative} for {person}."]
target = ["{animal: the} est arrivé.", "{it} était {size: comparative like it} pour {person: stressed}."]
"""
LION = Entry("lion", "lion", "lion", "m", "m", line=2)
CLASSES = {
    "animal": WordClass("animal", Path("animal.tsv"), (LION, Entry("cow", "cow", "vache", "f", "f", line=3))),
    "size": WordClass("size", Path("size.tsv"), (Entry("big", "big", "{grand}", line=2),)),
    "person": WordClass("person", Path("person.tsv"), (Entry("i", "I", "je", line=2),), frozenset({"short"})),
}


@pytest.fixture
def checked(tmp_path: Path) -> Callable[..., None]:
    def run(text: str = GOOD, **classes: WordClass) -> None:
        path = tmp_path / "templates.toml"
        path.write_text(text, encoding="utf-8")
        check(path, read_templates(path), {**CLASSES, **classes}, load_grammar("en"), load_grammar("fr"))

    return run


def test_what_fits_is_not_mentioned(checked: Callable[..., None]) -> None:
    checked()
    checked(GOOD.replace("{person: stressed}", "{person: short}"))  # a column of the vocabulary


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            '"size", person',
            '"sice", person',
            r"line 4: template t: slot 'size' draws on an unknown class 'sice'",
        ),
        (
            "{animal: the} est",
            "{animal: teh} est",
            r"line 7: template t: unknown feature 'teh' of 'animal' \(did",
        ),
        (
            "{animal: the} came",
            "{animal: nominativ} came",
            r"line 6: .*feature 'nominativ'.*must be in en\.toml",
        ),
        ("{it} était", "{it: the} était", r"unknown feature 'the' of 'it'"),
        ("{person: stressed}", "{person: shirt}", r"unknown feature 'shirt' of 'person' \(did you mean short\?\)"),
        (
            'antecedent = "animal"',
            'gold = "n"',
            r"line 5: template t: gold is 'n', but the candidates are m, f\.",
        ),
        (
            "like it}",
            "like person}",
            r"person\.tsv: line 2: it is unknown how words agree with 'I'",
        ),
    ],
)
def test_invalid_data_is_a_located_error(checked: Callable[..., None], old: str, new: str, problem: str) -> None:
    assert old in GOOD
    with pytest.raises(BadInput, match=problem):
        checked(GOOD.replace(old, new, 1))


def test_other_candidates_make_another_gold_possible(checked: Callable[..., None]) -> None:
    checked(GOOD.replace('antecedent = "animal"', 'gold = "n"\ncandidates = ["m", "f", "n"]'))


@pytest.mark.parametrize(
    "use",
    [
        'antecedent = "animal"',
        'choices = { subject = "animal" }',
        'gold = "m"\ndifferent_gender = ["animal"]',
        'gold = "m"',  # it has an article
    ],
)
def test_words_that_need_a_gender_must_have_one(checked: Callable[..., None], use: str) -> None:
    nameless = WordClass("animal", Path("animal.tsv"), (LION, Entry("cow", "cow", "vache", line=3)))
    with pytest.raises(BadInput, match=r"animal\.tsv: line 3: 'cow' has no gender\. Give it one of m, f\."):
        checked(GOOD.replace('antecedent = "animal"', use), animal=nameless)


def test_words_that_need_none_may_have_none(checked: Callable[..., None]) -> None:
    nameless = WordClass("animal", Path("animal.tsv"), (Entry("cow", "cow", "vache", line=3),))
    bare = GOOD.replace('antecedent = "animal"', 'gold = "m"').replace("{animal: the} est", "{animal} est")
    checked(bare, animal=nameless)
