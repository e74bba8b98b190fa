"""Correct, wrong, not found: what a translation makes of the pronoun."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sacremoses")
pytest.importorskip("anaphora.align.thot")

from anaphora.align import Aligner, Settings
from anaphora.align.aligner import align_systems
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.evaluation.generative import (
    CORRECT,
    NOT_FOUND,
    WRONG,
    Outcome,
    alignment_label,
    contrast,
    count,
    evaluate_translations,
    gap_to,
    judge,
    judge_texts,
    read_texts,
    read_translations,
)
from anaphora.languages.pronouns import pronoun_forms
from anaphora.runs import ScoredExample, describe, open_run, write_run
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, suite_of

GERMAN, FRENCH = pronoun_forms("de"), pronoun_forms("fr")
SOURCE = ["The", "cup", "fell", "and", "it", "broke", "."]
CANDIDATES = [f"Die Tasse fiel und {p} zerbrach .".split() for p in ("sie", "er", "es")]
DIAGONAL = [[i] for i in range(7)]


def outcome(translation: str, links: list[list[int]] | None = None, gold: int = 0) -> Outcome:
    """The outcome for a translation of SOURCE, aligned word by word by default."""
    words = translation.split()
    example = Example("1", (" ".join(SOURCE),), tuple((" ".join(c),) for c in CANDIDATES), gold)
    given = [[j for j in row if j < len(words)] for row in (links or DIAGONAL)]
    return judge(
        example,
        SOURCE,
        CANDIDATES,
        words,
        gold_links=[[0], [1], [2], [3], [4], [5], [6]],
        links=given,
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
        pronouns=frozenset({"das"}),
    )


def test_by_a_link() -> None:
    assert outcome("Die Tasse fiel und sie zerbrach .") == Outcome("1", CORRECT, "link", "sie", 4, 4)
    assert outcome("Die Tasse fiel und er zerbrach .").outcome == WRONG
    assert outcome("Die Tasse fiel und das zerbrach .") == Outcome("1", NOT_FOUND, "link", "das", 4, 4)


def test_any_case_of_the_right_gender_is_correct() -> None:
    assert outcome("Die Tasse fiel und ihr geschah nichts").outcome == CORRECT
    assert outcome("Die Tasse fiel und ihm geschah nichts").outcome == WRONG  # of er and es
    assert outcome("Die Tasse fiel und ihm geschah nichts", gold=1).outcome == CORRECT


def judged(tags: dict[str, Tag], candidates: list[str], translation: str, gold: int | None) -> str:
    """The outcome of an example whose tags say how it is judged; nothing is aligned."""
    example = Example("1", ("He is it.",), tuple((candidate,) for candidate in candidates), gold, tags)
    words = [candidate.split() for candidate in candidates]
    apart: list[list[int]] = [[], [], []]
    how = {"gold_links": apart, "links": apart, "forms": FRENCH, "is_source": lambda _, word: word == "it"}
    return judge(example, ["He", "is", "it"], words, translation.split(), **how).outcome  # type: ignore[arg-type]


def test_an_expected_word_is_found_in_any_case() -> None:
    for translation, outcome in (("Das sagen Sie .", CORRECT), ("Das sagst du .", NOT_FOUND), ("", NOT_FOUND)):
        assert judged({"expected": "sie"}, ["Sie sagen es ."], translation, None) == outcome
    assert judged({"expected": "la leur"}, ["C'est la leur"], "Voici la lettre", None) == NOT_FOUND  # all its words


def test_all_words_that_differ_decide_where_the_suite_says_so() -> None:
    """Articles look like pronouns: le, la alone would decide here, and are anywhere in a French sentence."""
    candidates = ["Il voit le vieil auteur", "Il voit la vieille autrice"]
    translation = "Le train amène la voisine du vieil auteur"
    assert judged({"compare": "words"}, candidates, translation, 0) == CORRECT
    assert judged({"compare": "words"}, candidates, "La vieille autrice le regarde", 0) == WRONG
    assert judged({"compare": "words"}, candidates, "Il voit cela", 0) == NOT_FOUND


def test_the_polite_address_is_not_a_pronoun() -> None:
    example = Example("1", ("",), (("",), ("",)), 0)
    candidates = [["Nehmen", "Sie", "es"], ["Nehmen", "Sie", "sie"]]
    verdict = judge(
        example,
        ["take", "it"],
        candidates,
        ["Nehmen", "Sie", "es"],
        gold_links=[[0], [1, 2]],
        links=[[0], [1, 2]],
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
        polite=frozenset({"Sie"}),
    )
    assert (verdict.outcome, verdict.word, verdict.position) == (CORRECT, "es", 2)


def test_a_lost_link_is_rescued() -> None:
    links = [[0], [1], [2], [3], [], [5], [6]]
    assert outcome("Die Tasse fiel und SIE zerbrach .", links) == Outcome("1", CORRECT, "rescue", "sie", 4, 4)
    assert outcome("Die Tasse fiel und die zerbrach .", links).outcome == NOT_FOUND
    assert outcome("Kaputt .", [[], [], [], [], [], [0], [1]]).outcome == NOT_FOUND


def test_an_empty_translation_is_not_found() -> None:
    assert outcome("", [[]] * 7) == Outcome("1", NOT_FOUND, "rescue", source=4)


def test_of_two_source_pronouns_the_one_aligned_to_the_reference() -> None:
    source = ["it", "said", "that", "it", "broke"]
    example = Example("1", ("",), (("",), ("",)), 0)
    candidates = [["es", "hieß", "dass", "sie", "brach"], ["es", "hieß", "dass", "er", "brach"]]
    links = [[0], [1], [2], [3], [4]]
    for gold_links, expected in ((links, 3), ([[]] * 5, 3)):
        verdict = judge(
            example,
            source,
            candidates,
            ["es", "hieß", "dass", "sie", "brach"],
            gold_links=gold_links,
            links=links,
            forms=GERMAN,
            is_source=lambda _, word: word == "it",
        )
        assert (verdict.source, verdict.outcome) == (expected, CORRECT)


def test_what_distinguishes_candidates() -> None:
    differing = contrast(CANDIDATES, 0, GERMAN)
    assert (differing.position, differing.pronouns) == (4, True)
    assert differing.gold == {"sie", "ihr"}
    assert differing.others == {"er", "ihn", "ihm", "es", "'s"}
    capital = contrast([["Er", "brach"], ["Sie", "brach"]], 0, GERMAN)
    assert capital.gold == {"er", "ihn", "ihm"}
    french = contrast([["je", "la", "tuerai"], ["je", "le", "tuerai"]], 0, FRENCH)
    assert "l'" in french.gold
    assert "l'" not in french.others


def test_lexical_choice_is_judged_by_words() -> None:
    example = Example("1", ("Is this crazy ?",), (("C'est dingue ?",), ("C'est fou ?",)), 0)
    candidates = [["C'est", "dingue", "?"], ["C'est", "fou", "?"]]

    def outcome_of(translation: str) -> tuple[str, str]:
        words = translation.split()
        judged = judge(
            example,
            ["Is", "this", "crazy", "?"],
            candidates,
            words,
            gold_links=[[]] * 4,
            links=[[]] * 4,
            forms=FRENCH,
            is_source=lambda _, word: word == "it",
        )
        assert judged.how == "words"
        return judged.outcome, judged.word

    assert outcome_of("Est-ce dingue ?") == (CORRECT, "dingue")
    assert outcome_of("Est-ce fou ?") == (WRONG, "fou")
    assert outcome_of("Est-ce dingue ou fou ?") == (NOT_FOUND, "")
    assert outcome_of("Quoi ?") == (NOT_FOUND, "")


def test_counts_keep_what_is_not_found_in_the_denominator() -> None:
    kinds = [CORRECT, CORRECT, WRONG, NOT_FOUND, NOT_FOUND]
    tags = ["er", "sie", "er", "er", None]
    outcomes = [
        (Example(str(n), ("",), (("",),), 0, {"pronoun": tag} if tag else {}), Outcome(str(n), kind, "link"))
        for n, (kind, tag) in enumerate(zip(kinds, tags, strict=True))
    ]
    overall, groups = count(outcomes, ["pronoun"])
    assert (overall.correct, overall.wrong, overall.not_found, overall.total) == (2, 1, 2, 5)
    assert overall.accuracy == pytest.approx(0.4)
    assert overall.among_found == pytest.approx(2 / 3)
    assert {group: figure.total for group, figure in groups["pronoun"].items()} == {"er": 3, "sie": 1}
    assert count([], ["pronoun"])[0].accuracy is None


words = st.lists(st.sampled_from(["er", "sie", "es", "ihm", "Haus", "das", "."]), min_size=1, max_size=6)


@given(words, words, words, st.data())
def test_never_correct_without_a_word_that_speaks_for_gold(
    gold: list[str], other: list[str], translation: list[str], data: st.DataObject
) -> None:
    source = ["it", "was", "it"]
    link = st.lists(st.integers(0, len(translation) - 1), max_size=2)
    links = data.draw(st.lists(link, min_size=3, max_size=3))
    example = Example("1", ("",), (("",), ("",)), 0)
    verdict = judge(
        example,
        source,
        [gold, other],
        translation,
        gold_links=[[]] * 3,
        links=links,
        forms=GERMAN,
        is_source=lambda _, word: word == "it",
    )
    differing = contrast([gold, other], 0, GERMAN)
    speaking = {word.lower() for word in translation}
    if verdict.outcome == CORRECT:
        assert differing.gold & speaking
    if verdict.outcome == WRONG:
        assert differing.others & speaking


# A suite's translations, aligned and judged.

SUITE = suite_of(demo_suite().header, lambda: list(demo_suite())[:120])
TOTAL = 120
QUICK = Settings(model="fast_align")


def words_translated(choice: int | None) -> list[list[str]]:
    """The right candidates, the ones N positions after them, or nothing, as a system's translations."""
    texts = read_texts(SUITE)
    if choice is None:
        return [[] for _ in texts.examples]
    gold = [example.gold or 0 for example in texts.examples]
    return [c[(g + choice) % len(c)] for c, g in zip(texts.candidates, gold, strict=True)]


def test_right_wrong_and_empty_translations_are_distinguished() -> None:
    texts = read_texts(SUITE)
    systems = {"right": words_translated(0), "wrong": words_translated(1), "empty": words_translated(None)}
    alignments = align_systems(texts.source, texts.gold, systems, settings=QUICK)
    results = {}
    references = judge_texts(texts, texts.gold, alignments.reference, alignments.reference)
    for name, translation in systems.items():
        outcomes = judge_texts(texts, translation, alignments.reference, alignments.systems[name])
        results[name] = evaluate_translations(texts, name, outcomes, "thot", references=references)
    assert results["right"].counts.accuracy == pytest.approx(1.0, abs=0.05)
    assert results["wrong"].counts.accuracy == 0.0
    assert results["wrong"].counts.wrong > 0.9 * TOTAL
    assert results["empty"].counts.not_found == results["empty"].counts.total == TOTAL
    assert results["right"].ceiling == results["right"].counts.accuracy
    assert results["right"].breakdowns
    document = results["wrong"].to_dict()
    assert document["correct"] + document["wrong"] + document["not_found"] == document["total"]
    start = f"gen|s:demo@{SUITE.sha256()[:6]}|tok:moses|norm:signs|align:thot|notfound:wrong|v:"
    assert document["signature"].startswith(start)


def test_corpus_and_saved_aligner_are_named_by_their_content(tmp_path: Path) -> None:
    one, other = [(["a"], ["b"])], [(["a"], ["c"])]
    labels = {alignment_label(QUICK, corpus) for corpus in ((), one, other)}
    assert "thot-fast_align-grow-diag-final" in labels
    assert len(labels) == 3
    for name, word in (("x", "haus"), ("y", "haus"), ("z", "buch")):
        aligner = Aligner(Settings(backend="builtin"))
        aligner.train([["the", "house"], ["a", "dog"]], [["das", word], ["ein", "hund"]])
        aligner.save(tmp_path / name)
    codes = [alignment_label(aligner.settings, (), tmp_path / name) for name in "xyz"]
    assert "@" in codes[0]
    assert codes[0] == codes[1] != codes[2]


def test_the_signature_of_a_gap_has_the_run_settings(tmp_path: Path) -> None:
    texts = read_texts(SUITE)
    alignments = align_systems(texts.source, texts.gold, {"x": words_translated(0)}, settings=QUICK)
    outcomes = judge_texts(texts, words_translated(0), alignments.reference, alignments.systems["x"])
    items = [ScoredExample(e.id, e.gold, e.tags, [0.0, -1.0, -1.0]) for e in texts.examples]
    header = describe(SUITE, sha256="0" * 64, system="x", context="1+1", mode="choose")
    run = open_run(write_run(tmp_path / "run", header, items))
    signature = evaluate_translations(texts, "x", outcomes, "thot", run=run).signature
    assert f"|ctx:1+1|set:{run.header.measurement.code}|" in signature


def test_the_gap_to_contrastive_accuracy(tmp_path: Path) -> None:
    """A system that prefers the right candidate and writes another one."""
    texts = read_texts(SUITE)
    alignments = align_systems(texts.source, texts.gold, {"x": words_translated(1)}, settings=QUICK)
    outcomes = judge_texts(texts, words_translated(1), alignments.reference, alignments.systems["x"])
    items = [
        ScoredExample(e.id, e.gold, e.tags, [0.0 if n == e.gold else -1.0 for n in range(len(e.candidates))])
        for e in texts.examples
    ]
    header = describe(SUITE, sha256="0" * 64, system="x", examples=len(items))
    run = open_run(write_run(tmp_path / "run", header, items))
    gap = gap_to(run, list(zip(texts.examples, outcomes, strict=True)))
    assert (gap.contrastive, gap.difference) == (1.0, 1.0)
    fewer = describe(SUITE, sha256="0" * 64, system="x", examples=60)
    half = open_run(write_run(tmp_path / "half", fewer, items[:60]))
    with pytest.raises(AnaphoraError, match="is not in the run"):
        gap_to(half, list(zip(texts.examples, outcomes, strict=True)))


def test_a_line_per_example(tmp_path: Path) -> None:
    texts = read_texts(SUITE)
    path = tmp_path / "short.de"
    path.write_text("eins\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"short\.de: 1 lines, but .* has 120 examples"):
        read_translations(path, texts, SUITE)


def test_examples_without_a_right_answer_are_left_out(tmp_path: Path) -> None:
    prior = Example("p", ("It was old.",), (("Er war alt.",), ("Sie war alt.",)), None)
    known = Example("k", ("It was big.",), (("Er war groß.",), ("Sie war groß.",)), 1)
    suite = suite_of(Header("s", "en", "de"), lambda: [prior, known])
    texts = read_texts(suite)
    assert texts.numbers == (1,)
    path = tmp_path / "t.de"
    path.write_text("Er war alt.\nSie war groß.\n", encoding="utf-8")
    assert read_translations(path, texts, suite).sentences == [["Sie", "war", "groß", "."]]
    with pytest.raises(AnaphoraError, match="no example has a gold candidate"):
        read_texts(suite_of(Header("s", "en", "de"), lambda: [prior]))


def test_an_unknown_language_is_reported() -> None:
    example = Example("k", ("It was big.",), (("a",), ("b",)), 1)
    texts = read_texts(suite_of(Header("s", "en", "xx"), lambda: [example]), "none")
    with pytest.raises(AnaphoraError, match=r"pronouns of 'xx' are not known\. Known: de, en, es, fr"):
        judge_texts(texts, [["a"]], [()], [()])


def test_the_three_outcomes_by_given_alignments() -> None:
    example = Example("k", ("It broke.",), (("Er brach.",), ("Sie brach.",)), 1, {"source_pronoun": "It"})
    texts = read_texts(suite_of(Header("s", "en", "de"), lambda: [example]))
    diagonal = [((0, 0), (1, 1), (2, 2))]
    for sentence, expected in (("Sie brach .", CORRECT), ("Er brach .", WRONG), ("Das brach .", NOT_FOUND)):
        (outcome,) = judge_texts(texts, [sentence.split()], diagonal, diagonal)
        assert outcome.outcome == expected
