"""Tokens: how long a question is, which candidates are the same, and one line where something cannot be loaded."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.core.errors import AnaphoraError
from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.suites.example import Example
from anaphora.systems.context import Context, Options, ScoringInput
from anaphora.systems.encoding import (
    Seq2SeqInputs,
    answer,
    context_question,
    current,
    encode_examples,
    load_tokenizer,
    loaded,
    pronoun,
    too_long,
    usable,
)

# Few different tokens and short sequences, so that candidates are often the same.
ids = st.lists(st.integers(0, 2), max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("encoded", "longest"),
    [
        (EncodedExample((5, 6, 7, 2), (0,), ((8, 2), (9, 2))), 4),  # the source
        (EncodedExample((5, 2), (0, 1), ((8, 2), (8, 9, 2))), 5),  # what is read first and the longest candidate
        (EncodedExample((), (0,), ()), 1),
        (EncodedExample((), (), ()), 0),
    ],
)
def test_how_many_positions_a_question_needs(encoded: EncodedExample, longest: int) -> None:
    assert encoded.longest == longest


@given(st.lists(ids, min_size=1, max_size=6))
def test_pairs_of_candidates_that_are_the_same_are_undecidable(candidates: list[tuple[int, ...]]) -> None:
    found = answer(candidates, [(-float(n), n) for n in range(len(candidates))], 3)
    size = len(candidates)
    same = {(i, j) for i in range(size) for j in range(i + 1, size) if candidates[i] == candidates[j]}
    assert len(found.undecidable) == len(same)
    assert set(found.undecidable) == same
    assert found._replace(undecidable=()) == CandidateScores([-float(n) for n in range(size)], list(range(size)), (), 3)


def test_a_text_that_is_too_long_is_shown_by_its_beginning() -> None:
    error = too_long(1234, 1024, "x\ny" * 100, "Use less")
    assert str(error) == f"1,234 tokens, but the model takes 1,024: {('x' + chr(10) + 'y') * 20!r}… Use less"
    assert "\n" not in str(error)


# What cannot be loaded


def failing(error: BaseException) -> Any:
    raise error


def test_what_is_loaded_is_given() -> None:
    assert loaded("any", "model", lambda: [1, 2]) == [1, 2]


def test_an_error_of_any_class_is_one_line(tmp_path: Path) -> None:
    class OwnError(Exception):
        pass

    with pytest.raises(AnaphoraError) as caught:
        loaded(str(tmp_path), "model", lambda: failing(OwnError("first\n\n  second\tline " + "x" * 999)))
    text = str(caught.value)
    assert text.startswith(f"{tmp_path}: the model cannot be loaded: first second line xxx")
    assert text.endswith("x" * 9)
    assert len(text) == len(f"{tmp_path}: the model cannot be loaded: ") + 300
    assert caught.value.__suppress_context__


def test_a_name_that_is_no_path_may_have_been_meant_for_the_hub(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"cannot be loaded \(no such path here, and it could not be had .*: why$"):
        loaded(str(tmp_path / "nothing"), "model", lambda: failing(ValueError("why")))


def test_who_interrupts_is_not_held_up() -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded("any", "model", lambda: failing(KeyboardInterrupt()))


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(AnaphoraError, match="the tokenizer cannot be loaded: ") as caught:
        load_tokenizer(str(tmp_path))
    assert "\n" not in str(caught.value)


def test_without_transformers_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(AnaphoraError, match=r'transformers, which is not installed: pip install "anaphora\[ct2\]"$'):
        load_tokenizer("any")


# Focus: which tokens of a candidate are predicted, and which are only read.

SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), min_size=2, max_size=4)


def test_the_context_is_read_and_the_current_sentence_predicted() -> None:
    whole = EncodedExample((9,), (0,), ((5, 6, 7, 1), (5, 6, 8, 1)))
    before = EncodedExample((9,), (0,), ((5, 6, 1),))  # 1 ends a sentence
    assert current(whole, before) == EncodedExample((9,), (0, 5, 6), ((7, 1), (8, 1)))


def test_without_context_everything_is_predicted() -> None:
    whole = EncodedExample((9,), (0,), ((7, 1), (8, 1)))
    assert current(whole, EncodedExample((9,), (0,), ((1,),))) == whole


def test_candidates_that_differ_in_their_context_are_predicted_from_there() -> None:
    whole = EncodedExample((), (0,), ((5, 6, 7, 1), (5, 4, 7, 1)))
    assert current(whole, EncodedExample((), (0,), ((5, 6, 1),))).candidates == ((6, 7, 1), (4, 7, 1))


def test_the_pronoun_is_the_first_token_that_differs() -> None:
    whole = EncodedExample((), (0,), ((5, 6, 7, 1), (5, 8, 7, 1), (5, 9, 1)))
    assert pronoun(whole) == EncodedExample((), (0, 5), ((6,), (8,), (9,)))


@given(SEQUENCES)
def test_reading_and_predicting_together_are_the_candidate(candidates: list[tuple[int, ...]]) -> None:
    whole = EncodedExample((), (0,), tuple(candidates))
    found = pronoun(whole)
    assert all(len(c) == 1 for c in found.candidates)
    for candidate, token in zip(candidates, found.candidates, strict=True):
        assert (0, *candidate)[: len(found.prompt) + 1] == (*found.prompt, *token)


def test_the_context_alone_is_that_of_the_gold() -> None:
    example = Example("x", ("a", "b"), (("C", "d"), ("E", "f")), 1)
    assert context_question(example, Context(1)).targets == ("E",)
    assert context_question(example, Context(0)).targets == ("",)
    assert context_question(example, Context(1, target="none")).targets == ("",)


def test_nothing_changes_without_a_scope() -> None:
    whole = EncodedExample((), (0,), ((5, 1), (6, 1)))
    example = Example("x", ("a",), (("b",), ("c",)), 0)
    assert encode_examples([example], Options(), lambda questions: [whole]) == [whole]


# Pairs: where each family of encoder–decoders has its language codes, what is read first, what is cut and what not.

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
# What stands before and behind the text of a source, and what the decoder reads first
FAMILIES = {
    "marian": ([], ["</s>"], ["<pad>"]),
    "m2m100": (["__en__"], ["</s>"], ["</s>", "__de__"]),
    "nllb": (["eng_Latn"], ["</s>"], ["</s>", "deu_Latn"]),
    "mbart50": (["en_XX"], ["</s>"], ["</s>", "de_DE"]),
    "mbart": ([], ["</s>", "en_XX"], ["de_DE"]),
    "madlad": (["<2de>"], ["</s>"], ["<pad>"]),
}
QUESTION = ScoringInput("It was very old.", ("Er war sehr alt.", "Sie war alt."))

Make = Callable[..., Seq2SeqInputs]
words = st.lists(st.sampled_from(["It", "was", "old.", "the", "lamp", "Er", "ß", "🙂"]), max_size=30).map(" ".join)


@pytest.fixture(scope="module")
def make(tiny_marian: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Tokens of a family, as its real models have them; the pieces are those of the tiny Marian model."""
    pieces = [piece for piece in json.loads((tiny_marian / "vocab.json").read_text("utf-8")) if piece not in SPECIAL]
    scored = [(piece, -float(number)) for number, piece in enumerate([*SPECIAL, *pieces])]

    def m2m100() -> Any:
        vocabulary = tmp_path_factory.mktemp("m2m100") / "vocab.json"
        vocabulary.write_text(json.dumps({piece: number for number, (piece, _) in enumerate(scored)}))
        return transformers.M2M100Tokenizer(str(vocabulary), str(tiny_marian / "source.spm"))

    def nllb() -> Any:
        vocabulary = {piece: number for number, (piece, _) in enumerate(scored)}
        return transformers.NllbTokenizer(vocab=vocabulary, merges=[], extra_special_tokens=["eng_Latn", "deu_Latn"])

    def mbart() -> Any:
        return transformers.MBartTokenizer(vocab=scored)

    def mbart50() -> Any:
        return transformers.MBart50Tokenizer(vocab=scored, src_lang="de_DE", tgt_lang="en_XX")

    def madlad() -> Any:
        vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *scored[len(SPECIAL) :]]
        return transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0, additional_special_tokens=["<2de>", "<2fr>"])

    makers = {
        "marian": lambda: load_tokenizer(str(tiny_marian)),
        "m2m100": m2m100,
        "nllb": nllb,
        "mbart": mbart,
        "mbart50": mbart50,
        "madlad": madlad,
    }
    made: dict[str, Any] = {}

    def tokens(family: str, *, limit: int | None = None, truncate: bool = False, **settings: str) -> Seq2SeqInputs:
        tokenizer = made.setdefault(family, makers[family]())
        start = tokenizer.pad_token_id if family in ("marian", "madlad") else tokenizer.eos_token_id
        options = Options(languages=("en", "de"), truncate=truncate)
        return Seq2SeqInputs(tokenizer, settings, options, start=start, limit=limit)

    return tokens


def names(tokens: Seq2SeqInputs, ids: Sequence[int]) -> list[str]:
    found: list[str] = tokens.tokenizer.convert_ids_to_tokens(list(ids))
    return found


def spelled(pieces: Sequence[str]) -> str:
    return "".join(pieces).replace("▁", " ").strip()


def one(tokens: Seq2SeqInputs, question: ScoringInput) -> EncodedExample:
    [encoded] = tokens.encode([question])
    return encoded


# Where everything stands


@pytest.mark.parametrize("family", FAMILIES)
def test_the_layout_of_a_family(make: Make, family: str) -> None:
    before, behind, prompt = FAMILIES[family]
    tokens = make(family)
    encoded = one(tokens, QUESTION)
    source = names(tokens, encoded.source)
    assert source[: len(before)] == before
    assert source[-len(behind) :] == behind
    assert spelled(source[len(before) : -len(behind)]) == QUESTION.source
    assert names(tokens, encoded.prompt) == prompt
    for candidate, text in zip(encoded.candidates, QUESTION.targets, strict=True):
        *pieces, end = names(tokens, candidate)
        assert (spelled(pieces), end) == (text, "</s>")
    assert encoded.truncated == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_translation_begins_where_scoring_does(make: Make, family: str) -> None:
    tokens = make(family)
    encoded = one(tokens, QUESTION)
    assert tokens.prompt() == encoded.prompt
    assert tokens.sources([QUESTION.source]) == [encoded.source]
    assert tokens.sources([]) == []


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.builds(ScoringInput, words, st.lists(words, min_size=1, max_size=4).map(tuple)), min_size=1, max_size=4)
)
def test_a_question_is_the_same_whatever_is_asked_beside_it(make: Make, questions: list[ScoringInput]) -> None:
    for family in ("marian", "m2m100", "mbart"):
        tokens = make(family)
        assert tokens.encode(questions) == [one(tokens, question) for question in questions]


# Languages and prefixes


def test_a_spec_may_turn_the_languages_round(make: Make) -> None:
    tokens = make("m2m100", source="de", target="fr")
    assert names(tokens, tokens.sources(["x"])[0])[0] == "__de__"
    assert names(tokens, tokens.prompt()) == ["</s>", "__fr__"]
    assert tokens.settings() == {"source_code": "de", "target_code": "fr", "prefix": ""}


def test_a_code_that_is_not_there_is_answered_with_some_that_are(make: Make) -> None:
    with pytest.raises(AnaphoraError) as caught:
        make("mbart", source="english")
    assert str(caught.value) == (
        "the model has no language code 'english' (it has ar_AR, cs_CZ, de_DE, en_XX, es_XX, et_EE, fi_FI, fr_XX, …). "
        "Name them in the spec: KIND:NAME?source=CODE&target=CODE"
    )


@pytest.mark.parametrize("family", ["marian", "madlad"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_code_that_would_say_nothing_is_an_error(make: Make, family: str, side: str) -> None:
    with pytest.raises(AnaphoraError, match=r"has no language codes, so 'de' would say nothing to it\. .*prefix="):
        make(family, **{side: "de"})


@pytest.mark.parametrize(
    ("family", "settings", "prefix"),
    [
        ("marian", {}, ""),
        ("marian", {"prefix": ">>deu<< "}, ">>deu<< "),
        ("madlad", {}, "<2de> "),
        ("madlad", {"prefix": "<2fr> "}, "<2fr> "),
        ("madlad", {"prefix": ""}, ""),
    ],
)
def test_the_prefix_is_before_the_source_alone(make: Make, family: str, settings: dict[str, str], prefix: str) -> None:
    tokens = make(family, **settings)
    assert tokens.settings()["prefix"] == prefix
    assert list(one(tokens, QUESTION).source) == tokens.tokenizer(prefix + QUESTION.source).input_ids
    assert one(tokens, QUESTION).candidates == one(make(family), QUESTION).candidates


# Long texts

LONG = ScoringInput("It was old. " * 9, ("Er war alt. " * 9, "Er."))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_fits_exactly_is_whole(make: Make, family: str) -> None:
    whole = one(make(family), LONG)
    assert one(make(family, limit=whole.longest, truncate=True), LONG) == whole
    assert one(make(family, limit=whole.longest), LONG) == whole
    with pytest.raises(AnaphoraError, match=rf"^{whole.longest} tokens, but the model takes {whole.longest - 1}: 'It "):
        one(make(family, limit=whole.longest - 1), LONG)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_cut_loses_text_and_no_marks(make: Make, family: str) -> None:
    before, behind, prompt = FAMILIES[family]
    whole, tokens = one(make(family), LONG), make(family, limit=12, truncate=True)
    cut = one(tokens, LONG)
    assert (len(cut.source), cut.longest, cut.truncated) == (12, 12, 2)  # the source and one candidate
    assert names(tokens, cut.source)[: len(before)] == before
    assert names(tokens, cut.source)[-len(behind) :] == behind
    assert cut.source[: -len(behind)] == whole.source[: 12 - len(behind)]
    assert names(tokens, cut.prompt) == prompt
    assert cut.candidates == (whole.candidates[0][: 12 - len(prompt)], whole.candidates[1])
    assert tokens.sources([LONG.source]) == [cut.source]


def test_only_a_candidate_may_be_too_long(make: Make) -> None:
    question = ScoringInput("It.", LONG.targets)
    cut = one(make("marian", limit=20, truncate=True), question)
    assert (cut.source, cut.truncated) == (one(make("marian"), question).source, 1)
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes 20: 'It\.'… Use less --context, or cut"):
        one(make("marian", limit=20), question)
    assert make("marian", limit=20).sources(["It."]) == [cut.source]


def test_a_source_that_is_too_long_is_not_translated(make: Make) -> None:
    size = len(make("nllb").sources([LONG.source])[0])
    with pytest.raises(AnaphoraError, match=rf"^{size} tokens, but the model takes 20: 'It was old\. .*--truncate$"):
        make("nllb", limit=20).sources(["It.", LONG.source])


def test_errors_of_a_library_name_the_model_and_ours_stay_what_they_are() -> None:
    with pytest.raises(AnaphoraError, match=r"hf:x: the model cannot be used \(JSONDecodeError"), usable("hf:x"):
        json.loads("{")
    with pytest.raises(AttributeError), usable("hf:x"):
        context_question(None, Context())  # type: ignore[arg-type]
    with pytest.raises(MemoryError), usable("hf:x"):
        raise MemoryError
