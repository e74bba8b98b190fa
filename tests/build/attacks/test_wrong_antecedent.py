"""Wrong antecedents: a noun of a competing gender that no pronoun can take up, and only where that is sure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.build.attacks.wrong_antecedent import Distractors, distractors_for, wrong_antecedent
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.suites.example import Example
from anaphora.suites.suite import Suite

Make = Callable[..., Example]
MakeSuite = Callable[..., Suite]
GERMAN = distractors_for("en", "de")
ARTICLES = {"masculine": "kein", "feminine": "keine", "neuter": "kein"}


def test_the_noun_is_of_another_gender_and_negated(example: Make, suite: MakeSuite) -> None:
    originals = [example(str(k)) for k in range(60)]
    attacked = list(wrong_antecedent(suite(*originals), GERMAN))
    for original, new in zip(originals, attacked, strict=True):
        noun, gender = str(new.tags["distractor"]), str(new.tags["distractor_gender"])
        source, target = new.source[0], {c[0] for c in new.candidates}
        assert gender in ("feminine", "neuter")
        assert re.fullmatch(r"he wears the hat\. there was no [a-z]+\.", source)
        assert target == {f"er trägt den Hut. da war {ARTICLES[gender]} {noun}."}
        assert (new.source[1], [c[1] for c in new.candidates]) == (
            original.source[1],
            [c[1] for c in original.candidates],
        )
        assert (new.id, new.tags["attack"], new.gold) == (f"wrong-antecedent/{original.id}", "wrong-antecedent", 0)
    drawn = Counter(str(e.tags["distractor_gender"]) for e in attacked)
    assert min(drawn.values()) > 15
    assert len({e.tags["distractor"] for e in attacked}) == 8  # all four of either gender


def test_the_same_seed_draws_the_same_nouns(example: Make, suite: MakeSuite) -> None:
    examples = suite(*(example(str(k)) for k in range(20)))
    assert list(wrong_antecedent(examples, GERMAN, seed=1)) == list(wrong_antecedent(examples, GERMAN, seed=1))
    assert list(wrong_antecedent(examples, GERMAN, seed=1)) != list(wrong_antecedent(examples, GERMAN, seed=2))


def test_cased_text(example: Make, suite: MakeSuite) -> None:
    cased = example(source=("He wears the hat.", "It is old."), contexts=("Er trägt den Hut.",) * 3)
    (new,) = wrong_antecedent(suite(cased), GERMAN)
    assert " There was no " in new.source[0]
    assert " Da war kein" in new.candidates[2][0]


def test_a_noun_of_the_example_is_not_used(example: Make, suite: MakeSuite) -> None:
    """Neither the antecedent itself nor another noun that is there, in either language, also within a compound."""
    rich = example(
        source=("the lamp, the bag and the clock are there.", "it is old."),
        contexts=("da sind Taschen, Uhren, ein Bilderbuch und ein Fensterbrett.",) * 3,
    )
    nouns = set()
    for seed in range(40):
        (new,) = wrong_antecedent(suite(rich), GERMAN, seed=seed)
        nouns.add(new.tags["distractor"])
    assert nouns == {"Zeitung", "Hemd"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"distance": None}, "no antecedent known"),
        ({"distance": 2}, "the antecedent is before the context"),
        ({"reference_pronoun": None}, "the gender of the right answer is not known"),
        ({"reference_pronoun": "dessen"}, "the gender of the right answer is not known"),
        ({"source": ("he wears", "it is old.")}, "the sentence before does not end"),
        ({"source": ("he wears...", "it is old.")}, "the sentence before does not end"),
        ({"contexts": ("er trägt", "er trägt.", "er trägt.")}, "the sentence before does not end"),
        ({"source": ("", "it is old."), "distance": 0}, "the sentence before does not end"),
    ],
)
def test_what_is_left_alone_and_why(example: Make, suite: MakeSuite, changes: dict[str, Any], why: str) -> None:
    heard: list[str] = []
    attacked = list(wrong_antecedent(suite(example("1", **changes), example("2")), GERMAN, on_skip=heard.append))
    assert ([e.tags["attacked"] for e in attacked], heard) == (["2"], [why])


def test_when_every_noun_is_taken(example: Make, suite: MakeSuite) -> None:
    nouns = " ".join(distractor.noun for distractor in GERMAN.all)
    heard: list[str] = []
    full = example(contexts=(f"{nouns}.",) * 3)
    assert list(wrong_antecedent(suite(full), GERMAN, on_skip=heard.append)) == []
    assert heard == ["every distractor occurs in it"]


def test_the_gender_of_the_gold(example: Make) -> None:
    assert [GERMAN.gold_gender(example(reference_pronoun=p)) for p in ("er", "Sie", "es", "ihn", "mich")] == [
        "masculine",
        "feminine",
        "neuter",
        "masculine",
        None,
    ]
    assert GERMAN.gold_gender(example(reference_pronoun=None, reference_gender="neuter")) == "neuter"


def test_french_has_two_genders(suite: MakeSuite) -> None:
    tags = {"source_antecedent": "a hat", "target_antecedent": "un chapeau", "distance": 1, "reference_pronoun": "il"}
    source, targets = ("I saw a hat.", "It is old."), (("J'ai vu un chapeau.", "Il est vieux."),)
    french = distractors_for("en", "fr")
    assert french.genders == ("masculine", "feminine")
    for k in range(10):
        (new,) = wrong_antecedent(suite(Example(str(k), source, targets * 2, 0, tags), languages=("en", "fr")), french)
        assert new.tags["distractor_gender"] == "feminine"
        assert re.search(r" Aucune [a-zéê]+ n'était là\.$", new.candidates[0][0])


@pytest.mark.parametrize("actual", [GERMAN, distractors_for("en", "fr")])
def test_the_data(actual: Distractors) -> None:
    """Every gender has several nouns, and no frame has a pronoun in it that could itself be meant."""
    assert min(Counter(d.gender for d in actual.all).values()) >= 4
    assert {d.gender for d in actual.all} == set(actual.genders)
    for d in actual.all:
        assert not set(re.findall(r"\w+", f"{d.source} {d.target}".lower())) & {"it", "es", "er", "sie", "il", "elle"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the lexicon leaves its file open
def test_the_genders_of_german_nouns() -> None:
    nouns = pytest.importorskip("german_nouns.lookup", reason="the lexicon german-nouns is not installed").Nouns()
    letters = {"m": "masculine", "f": "feminine", "n": "neuter"}
    for d in GERMAN.all:
        entries = [e for e in nouns[d.noun] if e["lemma"] == d.noun and "genus" in e]
        assert {letters[e["genus"]] for e in entries} == {d.gender}, d.noun


# bad input


def test_a_suite_without_antecedents(example: Make, suite: MakeSuite) -> None:
    with pytest.raises(BadInput, match=r"small\.jsonl: no example has the tags .*Mine a suite"):
        wrong_antecedent(suite(example(distance=None)), GERMAN)


def test_languages_without_frames() -> None:
    with pytest.raises(AnaphoraError, match=r"no frame for 'cs', only for en, de, fr\. .*--distractors FILE"):
        distractors_for("en", "cs")
    with pytest.raises(AnaphoraError, match=r"the target language needs genders, the source one frame"):
        distractors_for("de", "en")


def test_distractors_of_the_users(tmp_path: Path, example: Make, suite: MakeSuite) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[frames]\nen = "no {} here."\nde.feminine = "hier ist keine {}."\n'
        '[pronouns.de]\nmasculine = ["er"]\n[genders]\nde = ["masculine", "feminine"]\n'
        '[nouns]\nbank = { de = ["Bank", "feminine"] }\n',
        encoding="utf-8",
    )
    (new,) = wrong_antecedent(suite(example()), distractors_for("en", "de", file))
    assert (new.source[0], new.candidates[0][0]) == (
        "he wears the hat. no bank here.",
        "er trägt den Hut. hier ist keine Bank.",
    )


@pytest.mark.parametrize(
    "text", ["x = 1", '[frames]\nen = "a {}"\nde = "b"\n[genders]\nde = ["m"]\n[nouns]\nx = { de = ["X", "m"] }']
)
def test_a_file_that_holds_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"mine\.toml: not a file of distractors .*docs/attacks\.md"):
        distractors_for("en", "de", file)


@pytest.mark.parametrize("frame", ["no {} and no {}.", "nothing.", "no {:>999999999999}."])
def test_a_frame_holds_its_noun_once(tmp_path: Path, frame: str) -> None:
    nouns = '[frames.de]\nm = "kein {}."\n[genders]\nde = ["m"]\n[nouns]\nx = { de = ["X", "m"] }'
    file = tmp_path / "mine.toml"
    file.write_text(f'[frames]\nen = "{frame}"\n{nouns}', encoding="utf-8")
    with pytest.raises(
        BadInput, match=r"mine\.toml: not a file of distractors \(ValueError.*not one \{\} in the frame"
    ):
        distractors_for("en", "de", file)


# the real suite


def test_contrapro(contrapro: Suite) -> None:
    """Items with a known antecedent (4,272) whose previous sentence ends; none has the noun already."""
    originals = {example.id: example for example in contrapro}
    attacked = list(wrong_antecedent(contrapro, GERMAN))
    assert len(attacked) == 4_114
    for new in attacked:
        before = originals[str(new.tags["attacked"])]
        assert str(new.tags["distractor"]).lower() not in " ".join([*before.source, *before.candidates[0]]).lower()
        assert (new.tags["reference_pronoun"], new.tags["distractor_gender"]) in {
            ("er", "feminine"),
            ("er", "neuter"),
            ("sie", "masculine"),
            ("sie", "neuter"),
        }
