"""The word lists that come with the tool: of the paper's size, no word twice, genders that a lexicon confirms."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from anaphora.build.templates.suite import DATA, pairs
from anaphora.build.templates.vocabulary import WordClass, read_classes
from anaphora.languages.grammar import load_grammar


def words_of(pair: str) -> dict[str, WordClass]:
    source, target = pair.split("-")
    return read_classes(DATA / pair / "vocabulary", (source, target))


@pytest.fixture(scope="module")
def german() -> dict[str, WordClass]:
    return words_of("en-de")


def test_the_sizes_are_those_of_the_paper(german: dict[str, WordClass]) -> None:
    """§6: 25 animals, 20 professions, 15 foods, 5 drinks; §6.1.1: 100 verbs; §6.1.4: 2,051 nouns."""
    sizes = {name: len(word_class.entries) for name, word_class in german.items()}
    assert (sizes["animal"], sizes["human"], sizes["food"], sizes["drink"]) == (25, 20, 15, 5)
    assert (sizes["trans_verb"], sizes["concrete_noun"]) == (100, 2_051)
    assert (sizes["event"], sizes["pleonastic"]) == (4, 4)


def test_the_genders_of_tables_6_and_7(german: dict[str, WordClass]) -> None:
    counts = {name: Counter(e.gender for e in german[name].entries) for name in ("animal", "food", "drink", "human")}
    assert counts == {
        "animal": {"m": 9, "f": 9, "n": 7},
        "food": {"m": 5, "f": 5, "n": 5},
        "drink": {"m": 2, "f": 2, "n": 1},
        "human": {"m": 10, "f": 10},
    }


@pytest.mark.parametrize("pair", pairs())
@pytest.mark.parametrize("name", ["animal", "food", "drink", "concrete_noun", "trans_verb"])
def test_no_word_is_there_twice(pair: str, name: str) -> None:
    entries = words_of(pair)[name].entries
    for side in ("source", "target"):
        words = Counter(getattr(entry, side) for entry in entries)
        assert [word for word, n in words.items() if n > 1] == []


def test_nouns_are_singular_things_with_a_capital_in_german(german: dict[str, WordClass]) -> None:
    for entry in german["concrete_noun"].entries:
        assert entry.target[0].isupper(), entry
        assert entry.source == entry.source.strip()
        noun = entry.source.partition(" of ")[0].split()[-1]
        assert not noun.endswith("s") or noun.endswith(("ss", "us", "is", "as", "ros")), entry  # a glass, an atlas
    genders = Counter(entry.gender for entry in german["concrete_noun"].entries)
    assert min(genders.values()) > 400


@pytest.mark.parametrize(
    ("english", "german_word", "gender"),
    [
        *[("spoon", "Löffel", "m"), ("fork", "Gabel", "f"), ("sword", "Schwert", "n"), ("bridge", "Brücke", "f")],
        *[("window", "Fenster", "n"), ("key", "Schlüssel", "m"), ("lamp", "Lampe", "f"), ("moon", "Mond", "m")],
    ],
)
def test_some_genders_everybody_knows(
    german: dict[str, WordClass], english: str, german_word: str, gender: str
) -> None:
    actual = {entry.source: (entry.target, entry.gender) for entry in german["concrete_noun"].entries}
    assert actual[english] == (german_word, gender)


# ------------------------------------------------------------------------------------ against a lexicon


class Lexicon:
    """The nouns of the German Wiktionary, as the package german-nouns has them (CC BY-SA; nothing of it is in here)."""

    def __init__(self) -> None:
        package = importlib.util.find_spec("german_nouns")
        if package is None or not package.submodule_search_locations:
            pytest.skip("no lexicon to check genders with: pip install --no-deps german-nouns")
        self.rows: defaultdict[str, list[dict[str, str]]] = defaultdict(list)
        path = Path(package.submodule_search_locations[0]) / "nouns.csv"
        with path.open(encoding="utf-8", newline="") as file:
            lines = csv.reader(file)
            header = next(lines)
            wanted = [k for k, name in enumerate(header) if re.match("genus|(akkusativ|dativ) singular", name)]
            lemma, kind = header.index("lemma"), header.index("pos")
            for line in lines:
                if not re.search("Nachname|Toponym|Abkürzung", line[kind]):
                    self.rows[line[lemma]].append({header[k]: line[k] for k in wanted if line[k]})

    def head(self, word: str) -> str:
        """The word or, if it is a compound that is not in the lexicon, its longest head that is."""
        heads = (word[start:].lstrip("-") for start in range(max(1, len(word) - 2)))
        return next((h for head in heads if (h := head[0].upper() + head[1:]) in self.rows), "")

    def genders(self, word: str) -> set[str]:
        return {v for row in self.rows[self.head(word)] for name, v in row.items() if name.startswith("genus")}

    def endings(self, word: str, case: str) -> set[str]:
        """What a case adds to the head of a word."""
        head = self.head(word)
        forms = {v for row in self.rows[head] for name, v in row.items() if name.startswith(case)}
        return {form.removeprefix(head) for form in forms if form.startswith(head)}


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return Lexicon()


def test_every_noun_has_the_one_gender_that_the_lexicon_gives(german: dict[str, WordClass], lexicon: Lexicon) -> None:
    entries = german["concrete_noun"].entries
    wrong = [(e.target, e.gender, genders) for e in entries if (genders := lexicon.genders(e.target)) != {e.gender}]
    assert wrong == []


def test_words_of_the_paper_have_the_gender_of_the_lexicon(german: dict[str, WordClass], lexicon: Lexicon) -> None:
    """A few have two, as Keks and Hotdog; the paper's is one of them."""
    for name in ("animal", "food", "drink", "human"):
        for entry in german[name].entries:
            assert entry.gender in lexicon.genders(entry.target), entry


@pytest.mark.parametrize(("case", "german_case"), [("accusative", "akkusativ"), ("dative", "dativ")])
def test_masculine_nouns_are_declined_as_the_lexicon_says(
    german: dict[str, WordClass], lexicon: Lexicon, case: str, german_case: str
) -> None:
    grammar = load_grammar("de")
    for name in ("animal", "food", "drink", "concrete_noun"):
        for entry in german[name].entries:
            ending = grammar.noun(entry.target, case, str(entry.gender)).removeprefix(entry.target)
            known = lexicon.endings(entry.target, german_case)
            assert ending in known, (entry.target, ending, known)
