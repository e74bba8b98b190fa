"""Creating studies: items, assignment, gaps, the example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.languages.highlight import find_word
from anaphora.study.analysis import current_answers, study_agreement
from anaphora.study.create import (
    Design,
    assign,
    gap_forms,
    gap_items,
    gap_options,
    make_study,
    write_example,
)
from anaphora.study.details import plain_text, suite_of_details
from anaphora.study.model import Item, Study, read_study
from anaphora.study.store import read_answers
from anaphora.suites.example import Example
from anaphora.suites.formats import read_suite
from anaphora.suites.suite import Header, suite_of

# A study from a suite: what is shown of an example, which pairs are known, what is refused.

Make = Callable[..., Study]
HEADER = Header("made-up", "de", "en")


def study_of(*examples: Example, **design: Any) -> Study:
    design.setdefault("annotators", ("anna",))
    return make_study(suite_of(HEADER, lambda: examples), Design(**design))


def example(identifier: str, *sentences: str, gold: int | None = 0, **tags: Any) -> Example:
    return Example(identifier, ("", "Quelle."), tuple(("Before.", s) for s in sentences), gold, tags)


def test_a_pair(make: Make) -> None:
    study = make()
    item = study.by_id["p0"]
    assert item.pair == ("he", "it")
    assert item.candidates[0] == ("", "Sentence 0 comes before.", "Then he saw 0.")
    assert item.marks == (((5, 7),), ((5, 7),))
    assert (study.overlap, len(study.items), study.source_language) == (3, 6, "de")
    assert study.suite.startswith("small@")


def test_the_reference_need_not_be_the_first() -> None:
    item = study_of(example("x", "It was old.", "He was old.", gold=1)).items[0]
    assert (item.gold, item.pair) == (1, ("he", "it"))


def test_tags_name_the_pronouns() -> None:
    tags = {"reference_pronoun": "His", "system_pronoun": "its"}
    assert study_of(example("x", "his own house", "its house", **tags)).items[0].pair == ("his", "its")
    assert study_of(example("x", "his own house", "its house")).items[0].pair is None


def test_of_several_candidates_the_reference_and_another_are_shown() -> None:
    examples = [example(f"x{k}", "He is.", "She is.", "It is.", gold=1) for k in range(40)]
    study = study_of(*examples)
    shown = {item.candidates[1 - item.gold][-1] for item in study.items}
    assert shown == {"He is.", "It is."}
    assert all(item.candidates[item.gold][-1] == "She is." for item in study.items)


def test_the_context_is_cut_and_the_sample_is_drawn(make: Make) -> None:
    assert len(make(context=0).items[0].candidates[0]) == 1
    assert len(make(context=1).items[0].source) == 2
    sample = make(30, sample=10)
    assert len(sample.items) == 10
    assert [item.id for item in sample.items] == [item.id for item in make(30, sample=10).items]
    assert [item.id for item in sample.items] != [item.id for item in make(30, sample=10, seed=2).items]


def test_studies_differ_in_their_ids_only(make: Make) -> None:
    first, second = make(), make()
    assert first.id != second.id
    assert first.items == second.items
    assert first.annotators == second.annotators


def test_secret_orders_differ(make: Make) -> None:
    first, second = make(secret_orders=True), make(secret_orders=True)
    assert first.annotators != second.annotators
    asked = [{a.name: {one.item for one in a.assignments} for a in study.annotators} for study in (first, second)]
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("the cat it saw the cat .", "it saw it , the cat"),
        ("he saw it , and he was it", "he was it and it saw"),
        ("He saw it.", "It saw it."),
    ],
)
def test_marks_do_not_depend_on_which_is_the_reference(right: str, wrong: str) -> None:
    """Annotators could otherwise find the words that differ by themselves and see in which order they were compared."""
    one, other = (study_of(example("x", *pair)).items[0] for pair in ((right, wrong), (wrong, right)))
    assert one.marks == other.marks[::-1]


def test_what_is_refused(make: Make) -> None:
    with pytest.raises(BadInput, match=r"example 'x' does not have two distinct candidates"):
        study_of(example("x", "He is.", "He is."))
    with pytest.raises(BadInput, match=r"example 'x' does not have two distinct candidates"):  # on a page
        study_of(example("x", "He  is.", "He is. "))
    with pytest.raises(BadInput, match=r"the id 'x' occurs twice"):
        study_of(example("x", "He is.", "It is."), example("x", "He was.", "It was."))
    with pytest.raises(BadInput, match="no examples"):
        study_of()
    with pytest.raises(AnaphoraError, match="an overlap of 4 is not possible with 3 annotator"):
        make(overlap=4)
    with pytest.raises(AnaphoraError, match="1,001 annotators: at most 1,000 are possible"):
        make(annotators=tuple(str(k) for k in range(1001)))
    with pytest.raises(AnaphoraError, match="names must differ"):
        make(annotators=("anna", "anna"))
    with pytest.raises(AnaphoraError, match="annotator names must be non-empty, printable"):
        make(annotators=("anna", "be\nn"))


def test_the_published_pairs(data: Callable[[str], Path]) -> None:
    path = data("eval-anaphora") / "test_data_german.jsonl.gz"
    study = make_study(read_suite(path, "eval-anaphora"), Design(annotators=("a", "b")))
    assert len(study.items) == 500  # as each participant of the published study annotated
    assert sum(item.pair is not None for item in study.items) > 480
    assert all(item.marks[0] and item.marks[1] for item in study.items)
    assert all(len(candidate) <= 3 for item in study.items for candidate in item.candidates)


# Who is asked what: every item as often as designed, equal loads, mixed pairs, balanced orders, the same by seed.


@given(st.integers(1, 40), st.integers(1, 7), st.data())
def test_the_design_is_kept(items: int, people: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(1, people))
    names = [f"p{k}" for k in range(people)]
    assignment = assign([f"i{k}" for k in range(items)], names, overlap, 2, data.draw(st.integers(0, 5)))
    assert [annotator.name for annotator in assignment] == names
    asked = Counter(one.item for annotator in assignment for one in annotator.assignments)
    assert asked == {f"i{k}": overlap for k in range(items)}
    loads = [len(annotator.assignments) for annotator in assignment]
    assert max(loads) - min(loads) <= 1
    for annotator in assignment:
        items_of_one = [one.item for one in annotator.assignments]
        assert len(set(items_of_one)) == len(items_of_one)
        swapped = sum(one.order == (1, 0) for one in annotator.assignments)
        assert abs(2 * swapped - len(items_of_one)) <= 1


def test_pairs_of_people_are_mixed() -> None:
    assignment = assign([str(k) for k in range(120)], list("abcd"), 2, 2, seed=3)
    items = {annotator.name: {one.item for one in annotator.assignments} for annotator in assignment}
    shared = [len(items[a] & items[b]) for a, b in combinations("abcd", 2)]
    assert sum(shared) == 120
    assert min(shared) >= 15  # 20 each would be even


def test_each_annotator_has_an_order_that_the_seed_decides() -> None:
    items = [str(k) for k in range(50)]
    first, second = assign(items, ["a", "b"], 2, 2, seed=1)
    assert [one.item for one in first.assignments] != items
    assert [one.item for one in first.assignments] != [one.item for one in second.assignments]
    orders = {one.item: one.order for one in first.assignments}
    assert any(orders[one.item] != one.order for one in second.assignments)
    assert assign(items, ["a", "b"], 2, 2, seed=1) == [first, second]
    assert assign(items, ["a", "b"], 2, 2, seed=2) != [first, second]


def test_nobody_can_compute_secret_orders() -> None:
    """This program and its default seed are public: who runs it again must not learn where the reference is."""
    items = [str(k) for k in range(2000)]
    (real,), (guess,) = (assign(items, ["a"], 1, 2, seed=1, secret_orders=True) for _ in range(2))
    hits = sum(one.order == other.order for one, other in zip(real.assignments, guess.assignments, strict=True))
    assert 800 < hits < 1200  # 9 standard deviations from half of them
    assert sum(one.item == other.item for one, other in zip(real.assignments, guess.assignments, strict=True)) < 20


def test_secret_orders_have_no_say_in_who_is_asked_what() -> None:
    items = [str(k) for k in range(50)]

    def asked(seed: int, **secret: bool) -> list[set[str]]:
        return [
            {one.item for one in annotator.assignments} for annotator in assign(items, ["a", "b"], 1, 2, seed, **secret)
        ]

    assert asked(1, secret_orders=True) == asked(1)
    assert asked(1) != asked(2)


@pytest.mark.parametrize("candidates", [1])
def test_a_gap_has_one_order(candidates: int) -> None:
    (assignment,) = assign(["x", "y"], ["a"], 1, candidates, seed=1)
    assert {one.order for one in assignment.assignments} == {(0,)}


# Gap filling: which word is hidden, which options a language has, and gaps from the details of APT.

PLACE = Path("gaps.jsonl")


def item(text: str, **tags: Any) -> Any:
    (actual,) = gap_items([Example("x", ("It.",), ((text,),), 0, tags)], PLACE)
    return actual


def test_options_of_the_shared_task() -> None:
    # APT §3.1: il, elle, ils, elles, ce, on, ça/cela; other and bad translation are always there
    assert gap_options("fr", "en-fr") == ("il", "elle", "ils", "elles", "ce", "on", "cela")
    assert gap_options("es", "en-es")[0] == "él"
    assert gap_options("fr", "en-fr", ("Il", " elle ", "il")) == ("il", "elle")
    with pytest.raises(AnaphoraError, match="'other' is always an option"):
        gap_options("fr", "en-fr", ("il", "other"))
    with pytest.raises(AnaphoraError, match=r"'il\|elle' contains \| or a comma, which separate options"):
        gap_options("fr", "en-fr", ("il|elle", "on"))
    with pytest.raises(AnaphoraError, match="no option was given"):
        gap_options("fr", "en-fr", (" ", ""))
    with pytest.raises(AnaphoraError, match="no pronoun lists for en-zz"):
        gap_options("zz", "en-zz")


def test_forms_of_an_option() -> None:
    forms = gap_forms("fr", "en-fr", gap_options("fr", "en-fr"))
    assert (forms["ça"], forms["c'"]) == ("cela", "ce")
    assert "il" not in forms
    assert gap_forms("fr", "en-fr", ("il", "ça"))["cela"] == "ça"


def test_the_gap() -> None:
    assert item("Elle est là.", pronoun="elle").marks == (((0, 4),),)
    actual = item("Il dit qu'il dort.", pronoun="il", pronoun_start=10, system="a", sentence=3, position=1)
    assert actual.marks == (((10, 12),),)
    assert (actual.system, actual.sentence, actual.position) == ("a", "3", "1")


def test_what_is_refused_gaps() -> None:
    with pytest.raises(BadInput, match=r"'x' has no tag pronoun"):
        item("Elle est là.")
    with pytest.raises(BadInput, match=r"'il' is not in the translation"):
        item("Elle est là.", pronoun="il")
    with pytest.raises(BadInput, match=r"'il' is 2 times in the translation. Say where it begins"):
        item("Il dit qu'il dort.", pronoun="il")
    with pytest.raises(BadInput, match=r"'il' is not at character 4"):
        item("Il dit qu'il dort.", pronoun="il", pronoun_start=4)


def test_several_translations_of_one_pronoun() -> None:
    tags = {"pronoun": ["Elle", "Il"], "systems": ["a", "b"], "sentence": 7}
    example = Example("x", ("It.",), (("Elle dort.",), ("Il dort.",)), 0, tags)
    first, second = gap_items([example], PLACE)
    assert (first.id, first.system, first.pronoun) == ("x#0", "a", "Elle")
    assert (second.id, second.system, second.pronoun) == ("x#1", "b", "Il")


def test_a_study_of_gaps(make_gaps: Callable[..., Study]) -> None:
    study = make_gaps()
    assert study.mode == "gaps"
    assert study.choices == ("il", "elle", "ils", "elles", "ce", "on", "cela", "other", "bad")
    assert len(study.items) == 6


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    texts = {
        "src": "I had a key .\nIt was here .\nThey left .\n",
        "a": "J'avais une clé .\nElle était ici .\nPartis .\n",
        "b": "J'avais une clé .\nC' était ici , dit-il .\nIls sont partis .\n",
        "details": "system\tsentence\tposition\tcandidate_position\tcandidate\n"
        "a\t1\t0\t0\telle\na\t2\t0\t\t\nb\t1\t0\t4\til\nb\t2\t0\t0\tils\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in texts}


def test_gaps_of_apt(files: dict[str, Path]) -> None:
    suite = suite_of_details(files["details"], files["src"], [files["a"], files["b"]], ["a", "b"], "en-fr")
    study = make_study(suite, Design(annotators=("anna",), mode="gaps"))
    assert [one.id for one in study.items] == ["a/1.0", "b/1.0", "b/2.0"]  # a has no word for the other pronoun
    first, second, third = study.items
    assert first.candidates == (("", "J'avais une clé.", "Elle était ici."),)  # as people write it
    assert hidden(second) == "il"  # a part of dit-il
    assert second.candidates[0][-1] == "C'était ici, dit-il."
    assert third.source == ("I had a key.", "It was here.", "They left.")
    assert (third.system, third.sentence, third.position, third.pronoun) == ("b", "2", "0", "Ils")


def test_gaps_of_apt_with_other_texts_are_refused(files: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match=r"line 2: 'elle' is not word 0 of line 1"):
        list(suite_of_details(files["details"], files["src"], [files["b"], files["a"]], ["a", "b"], "en-fr"))
    with pytest.raises(BadInput, match=r"no translation of the system 'b'"):
        list(suite_of_details(files["details"], files["src"], [files["a"]], ["a"], "en-fr"))


def hidden(actual: Item) -> str:
    ((span,),) = actual.marks
    return actual.candidates[0][-1][slice(*span)]


SENTENCES = {
    # English, and French as it is written and as it is tokenized; the pronoun and its place among the words
    "J’ai dit qu’il dort, et il dort.": ("J’ ai dit qu’ il dort , et il dort .", 8, "il", 24),
    "J'ai dit qu'il dort, et il dort.": ("J' ai dit qu' il dort , et il dort .", 4, "il", 12),
    "Oui, c'est vrai.": ("Oui , c&apos; est vrai .", 2, "c'", 5),
    "« C'est vrai ? » dit-elle.": ("« C' est vrai ? » dit-elle .", 1, "c'", 2),
}


@pytest.mark.parametrize("plain", SENTENCES)
@pytest.mark.parametrize("texts", ["plain", "tokenized"])
def test_gaps_are_shown_as_people_write(tmp_path: Path, plain: str, texts: str) -> None:
    """Whether the texts are plain, and apt tokenized them, or were tokenized before: the gap is on the right word."""
    tokenized, position, pronoun, start = SENTENCES[plain]
    files = {
        "src": ["He sleeps, isn't it?" if texts == "plain" else "He sleeps , is n't it ?"],
        "fr": [plain if texts == "plain" else tokenized],
        "details": [
            "system\tsentence\tposition\tcandidate_position\tcandidate",
            f"a\t0\t0\t{position}\t{pronoun}",
        ],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    suite = suite_of_details(tmp_path / "details", tmp_path / "src", [tmp_path / "fr"], ["a"], "en-fr")
    (actual,) = make_study(suite, Design(annotators=("anna",), mode="gaps")).items
    assert actual.candidates[0][-1] == plain
    assert actual.source[-1] == "He sleeps, isn't it?"
    assert actual.marks == (((start, start + len(pronoun)),),)
    assert hidden(actual).lower() == pronoun


WORDS = st.lists(
    st.sampled_from(["il", "Il", "dit", ",", ".", "(", ")", "qu'", "l'", '"', "?", "elle", "a-t-il", "3", "%"])
)


@settings(derandomize=True)
@given(before=WORDS, after=WORDS)
def test_the_gap_stays_on_its_word(before: list[str], after: list[str]) -> None:
    """However a sentence is put together again, what is hidden is the word that was to be hidden, and that very one."""
    words = [*before, "ELLE", *after]
    shown = plain_text([" ".join(words)], "fr", tokenized=True)[0]
    start, end = find_word(shown, words, len(before), 0, 4)
    assert shown[start:end] == "ELLE"


def test_gaps_of_plain_text_count_moses_words(tmp_path: Path) -> None:
    """`apt` tokenizes plain text; annotators see the text itself."""
    pytest.importorskip("sacremoses")
    texts = {
        "s.en": "It broke, I think.\n",
        "a.fr": "Oui, je crois qu’il s&apos;est cassé.\n",
        "details": "system\tsentence\tposition\tcandidate_position\tcandidate\na\t0\t0\t5\til\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    suite = suite_of_details(tmp_path / "details", tmp_path / "s.en", [tmp_path / "a.fr"], ["a"], "en-fr")
    (item,) = make_study(suite, Design(annotators=("anna",), mode="gaps")).items
    assert item.candidates[0][-1] == "Oui, je crois qu’il s'est cassé."
    assert item.candidates[0][-1][slice(*item.marks[0][0])] == "il"


# The made-up study: complete, the same each time, and nothing in it that a page or a table could not show.


def test_the_example(tmp_path: Path) -> None:
    studies = [write_example(tmp_path / name) for name in ("one", "two")]
    actual = []
    for name, study in zip(("one", "two"), studies, strict=True):
        assert read_study(tmp_path / name) == study
        current = current_answers(study, read_answers(study, tmp_path / name), "log")
        assert len(current) == len(study.orders) - 6
        actual.append(study_agreement(study, current).to_dict())
    assert actual[0] == actual[1]
    assert set(actual[0]["pairs"]) == {"it:he", "she:they", "them:her", "that:it"}


def test_the_sentences_of_the_example(tmp_path: Path) -> None:
    study = write_example(tmp_path / "example")
    passages = {candidate for item in study.items for candidate in item.candidates}
    assert ("Something happened today.", "I like the book.", "I have said it before.") in passages
    assert ("Something happened yesterday.", "The key was gone.", "He was under the table.") in passages
    assert all(sentence[0].isupper() for passage in passages for sentence in passage)
