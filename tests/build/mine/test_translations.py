"""Table 2 of ContraPro: which words a pronoun is aligned to, and in what share of its links."""

from __future__ import annotations

from collections import Counter

from anaphora.build.mine.annotation import Words
from anaphora.build.mine.translations import pronoun_table, translations


def words(text: str) -> Words:
    """`It/PRON3`: a pronoun of the third person; without a sign, a noun."""
    kinds = {"PRON3": ("PRON", {"Person": "3"}), "PRON1": ("PRON", {"Person": "1"})}
    kinds["POSS"] = ("PRON", {"Person": "3", "Poss": "Yes"})
    parts = [(item.partition("/")[0], item.partition("/")[2] or "NOUN") for item in text.split()]
    return Words([word for word, _ in parts], [kinds.get(kind, (kind, {})) for _, kind in parts])


def test_links_of_pronouns_of_the_third_person() -> None:
    source = [words("It/PRON3 saw/VERB its/POSS cup"), words("I/PRON1 saw/VERB it/PRON3"), words("it/PRON3 !/PUNCT")]
    target = [words("Sie/PRON3 sah/VERB ihre/DET Tasse"), words("Ich/PRON1 sah/VERB Sie/PRON3"), words("Haus")]
    links = [((0, 0), (0, 1), (2, 2)), ((0, 0), (2, 2)), ()]
    counts: Counter[tuple[str, str]] = Counter()
    translations(source, target, links, counts)
    assert counts == {("it", "sie"): 1, ("it", "sah"): 1, ("it", "Sie"): 1, ("it", ""): 1}


def test_capitals_at_the_beginning_are_those_of_nouns_only() -> None:
    counts: Counter[tuple[str, str]] = Counter()
    target = [
        words('"/PUNCT Er/PRON3'),
        words("Haus"),
        words('"/PUNCT da/ADV Er/PRON3'),
        words('Ja/X ./PUNCT "/PUNCT Es/X'),
    ]
    translations([words("it/PRON3")] * 4, target, [((0, 1),), ((0, 0),), ((0, 2),), ((0, 3),)], counts)
    assert counts == {("it", "er"): 1, ("it", "Haus"): 1, ("it", "Er"): 1, ("it", "es"): 1}


def test_the_table() -> None:
    table = pronoun_table([("it", "es", 5), ("he", "er", 2), ("it", "sie", 2), ("it", "es", 1), ("it", "", 4)])
    assert list(table) == ["it", "he"]
    assert table["it"] == {
        "links": 8,
        "without_link": 4,
        "translations": [
            {"word": "es", "frequency": 6, "probability": 0.75},
            {"word": "sie", "frequency": 2, "probability": 0.25},
        ],
    }
