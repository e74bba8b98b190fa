"""Tokens: how long a question is, which candidates are the same, and one line where something cannot be loaded."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.systems.context import Options, ScoringInput
from anaphora.systems.encoding import (
    BASE_PROMPT,
    CHAT_PROMPT,
    LANGUAGES,
    PLACES,
    CausalInputs,
    continued,
    english_name,
    fill,
    find_code,
    read_prompt,
)

transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.runs import CandidateScores
from anaphora.scoring.encoded import EncodedExample
from anaphora.suites.example import Example
from anaphora.systems.context import Context
from anaphora.systems.encoding import (
    Seq2SeqInputs,
    answer,
    context_question,
    current,
    describe_tokenizer,
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
    actual = answer(candidates, [(-float(n), n) for n in range(len(candidates))], 3)
    size = len(candidates)
    same = {(i, j) for i in range(size) for j in range(i + 1, size) if candidates[i] == candidates[j]}
    assert len(actual.undecidable) == len(same)
    assert set(actual.undecidable) == same
    assert actual._replace(undecidable=()) == CandidateScores(
        [-float(n) for n in range(size)], list(range(size)), (), 3
    )


def test_a_too_long_text_is_shown_by_its_beginning() -> None:
    error = too_long(1234, 1024, "x\ny" * 100, can_truncate=False)
    assert str(error) == f"1,234 tokens, but the model takes 1,024: {('x' + chr(10) + 'y') * 20!r}… Use less --context"
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


def test_a_name_that_is_no_path_may_mean_the_hub(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"cannot be loaded \(there is no such folder, and .*: why$"):
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
    actual = pronoun(whole)
    assert all(len(c) == 1 for c in actual.candidates)
    for candidate, token in zip(candidates, actual.candidates, strict=True):
        assert (0, *candidate)[: len(actual.prompt) + 1] == (*actual.prompt, *token)


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
    actual: list[str] = tokens.tokenizer.convert_ids_to_tokens(list(ids))
    return actual


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


@settings(max_examples=30)
@given(
    st.lists(st.builds(ScoringInput, words, st.lists(words, min_size=1, max_size=4).map(tuple)), min_size=1, max_size=4)
)
def test_a_question_does_not_depend_on_the_others(make: Make, questions: list[ScoringInput]) -> None:
    for family in ("marian", "m2m100", "mbart"):
        tokens = make(family)
        assert tokens.encode(questions) == [one(tokens, question) for question in questions]


# Languages and prefixes


def test_a_spec_may_turn_the_languages_round(make: Make) -> None:
    tokens = make("m2m100", source="de", target="fr")
    assert names(tokens, tokens.sources(["x"])[0])[0] == "__de__"
    assert names(tokens, tokens.prompt()) == ["</s>", "__fr__"]
    assert tokens.settings() == {"source_code": "de", "target_code": "fr", "prefix": ""}


def test_an_unknown_code_is_answered_with_known_ones(make: Make) -> None:
    with pytest.raises(AnaphoraError) as caught:
        make("mbart", source="english")
    assert str(caught.value) == (
        "the model has no language code 'english' (it has ar_AR, cs_CZ, de_DE, en_XX, es_XX, et_EE, fi_FI, fr_XX, …). "
        "Name them in the spec: KIND:NAME?source=CODE&target=CODE"
    )


@pytest.mark.parametrize("family", ["marian", "madlad"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_code_that_would_say_nothing_is_an_error(make: Make, family: str, side: str) -> None:
    with pytest.raises(AnaphoraError, match=r"has no language codes, so 'de' has no effect\. .*prefix="):
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
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes 20: 'It\.'… Use less --context, or truncate"):
        one(make("marian", limit=20), question)
    assert make("marian", limit=20).sources(["It."]) == [cut.source]


def test_a_source_that_is_too_long_is_not_translated(make: Make) -> None:
    size = len(make("nllb").sources([LONG.source])[0])
    with pytest.raises(AnaphoraError, match=rf"^{size} tokens, but the model takes 20: 'It was old\. .*--truncate$"):
        make("nllb", limit=20).sources(["It.", LONG.source])


def test_library_errors_name_the_model_and_ours_are_unchanged() -> None:
    with pytest.raises(AnaphoraError, match=r"hf:x: the model cannot be used \(JSONDecodeError"), usable("hf:x"):
        json.loads("{")
    with pytest.raises(AttributeError), usable("hf:x"):
        context_question(None, Context())  # type: ignore[arg-type]
    with pytest.raises(MemoryError), usable("hf:x"):
        raise MemoryError
    with pytest.raises(KeyboardInterrupt), usable("hf:x"):
        raise KeyboardInterrupt


def test_a_panic_of_tokenizers_is_an_error_of_a_library() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    with pytest.raises(AnaphoraError, match=r"hf:x: the model cannot be used \(PanicException"), usable("hf:x"):
        tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")], continuing_subword_prefix="😀")


# Prompts of language models, and candidates after them

VALUES = {"source": "It broke.", "source_language": "English", "target_language": "German"}
# Texts with many braces, and with names of places in them
texts = st.lists(st.sampled_from(["{", "}", "{source}", "{target_language}", "\\1", r"\g<0>", "x", "\n"])).map("".join)


def test_our_own_prompts_have_every_place() -> None:
    for prompt in (BASE_PROMPT, CHAT_PROMPT):
        assert all(f"{{{name}}}" in prompt for name in PLACES)
        assert "{" not in fill(prompt, VALUES)
    assert fill(BASE_PROMPT, VALUES) == "English: It broke.\nGerman:"


def test_other_braces_stay_as_they_are() -> None:
    prompt = '{"text": "{source}", "to": {nothing}, {{target_language}}, {sources}, { source }}'
    assert fill(prompt, VALUES) == '{"text": "It broke.", "to": {nothing}, {German}, {sources}, { source }}'


@given(st.lists(st.sampled_from([*(f"{{{name}}}" for name in PLACES), "-"]), max_size=5), texts, texts)
def test_what_is_put_in_is_not_looked_at_again(parts: list[str], source: str, language: str) -> None:
    values = {"source": source, "source_language": language, "target_language": "German"}
    expected = [values.get(part[1:-1], part) for part in parts]
    assert fill("".join(parts), values) == "".join(expected)


# Files


@pytest.mark.parametrize(
    ("data", "prompt"),
    [
        ("{source} =\n", "{source} =\n"),  # a template may end in a line break
        ("{source} =", "{source} ="),
        ("\ufeff{source}\r\n\r\n{target_language}:\r\n", "{source}\n\n{target_language}:\n"),
        ("{source}\n\n", "{source}\n\n"),
        ("Über {source}? ", "Über {source}? "),
    ],
)
def test_the_prompt_of_a_file(tmp_path: Path, data: str, prompt: str) -> None:
    (tmp_path / "prompt").write_bytes(data.encode())
    assert read_prompt(str(tmp_path / "prompt")) == prompt


@pytest.mark.parametrize(
    ("prompt", "whole"),
    [
        ("German:", "German: Es regnet.\n"),
        ("German: ", "German: Es regnet.\n"),
        ("German:\n", "German:\nEs regnet.\n"),
        ("German:\t", "German:\tEs regnet.\n"),
    ],
)
def test_a_space_stands_before_the_candidate_unless_there_is_one(prompt: str, whole: str) -> None:
    assert continued(prompt, "Es regnet.") == whole


def test_no_file_is_no_prompt() -> None:
    assert read_prompt(None) is None


@pytest.mark.parametrize("data", ["", "{target_language}", "{ source }", "{source"])
def test_a_prompt_must_say_where_the_source_goes(tmp_path: Path, data: str) -> None:
    (tmp_path / "prompt").write_text(data)
    with pytest.raises(BadInput) as caught:
        read_prompt(str(tmp_path / "prompt"))
    assert str(caught.value) == (
        f"{tmp_path / 'prompt'}: the prompt has no {{source}}. "
        "It may have {source}, {source_language}, {target_language}."
    )


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_prompt(str(tmp_path / "nothing"))
    (tmp_path / "prompt").write_bytes("{source} auf Französisch".encode("latin1"))
    with pytest.raises(BadInput, match="line 1: not UTF-8"):
        read_prompt(str(tmp_path / "prompt"))


# Prompted: every candidate is predicted whole after the same beginning, whatever a tokenizer makes of the seam.

OLD = ScoringInput("It was old.", ("Er war alt.", "Sie war alt."))
ENGLISH_GERMAN = Options(languages=("en", "de"))


class Merging:
    """A tokenizer of single characters but for what it merges; it marks no beginning, or one, as it is told."""

    chat_template = None
    eos_token_id = 1

    def __init__(self, merges: Sequence[str] = (), bos: int | None = None) -> None:
        self.bos_token_id = bos
        self._pattern = re.compile("|".join([*map(re.escape, merges), "."]), re.DOTALL)
        self._numbers = count(2)
        self._ids: dict[str, int] = {}

    def __call__(self, text: str, add_special_tokens: bool) -> Any:
        pieces = self._pattern.findall(text)
        ids = [self._ids[piece] if piece in self._ids else self._new(piece) for piece in pieces]
        marks = [self.bos_token_id] if add_special_tokens and self.bos_token_id is not None else []
        return SimpleNamespace(input_ids=marks + ids)

    def _new(self, piece: str) -> int:
        return self._ids.setdefault(piece, next(self._numbers))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        names = {number: piece for piece, number in self._ids.items()}
        return "".join(names[i] for i in ids if i > 1 or not skip_special_tokens)


def base(tokenizer: Any, limit: int | None = None, **given: str) -> CausalInputs:
    return CausalInputs(tokenizer, given, ENGLISH_GERMAN, name="lm:x", limit=limit)


@pytest.fixture(scope="module")
def llama(tiny_llama: Path) -> Any:
    from anaphora.systems.encoding import load_tokenizer

    return load_tokenizer(str(tiny_llama))


# The seam


def test_a_base_model_reads_the_prompt_and_predicts_a_line() -> None:
    tokenizer = Merging()
    [encoded] = base(tokenizer).encode([OLD])
    assert encoded.source == ()
    assert tokenizer.decode(encoded.prompt, False) == "English: It was old.\nGerman:"
    assert [tokenizer.decode(c, False) for c in encoded.candidates] == [" Er war alt.\n", " Sie war alt.\n"]


def test_a_merge_across_the_seam_is_predicted_with_every_candidate() -> None:
    """Here ": E" is one token: after "German" nothing may be taken as read, for the other candidate neither."""
    tokenizer = Merging([": E"])
    [encoded] = base(tokenizer).encode([OLD])
    assert tokenizer.decode(encoded.prompt, False).endswith("\nGerman")
    assert [tokenizer.decode(c, False) for c in encoded.candidates] == [": Er war alt.\n", ": Sie war alt.\n"]


merges = st.lists(st.sampled_from([": ", ": E", "n:", "an: Er w", " S", "German: ", "\nG", "t.\n"]), max_size=4)
targets = st.lists(st.sampled_from(["Er war.", "Sie war.", "Er", "", "\n", ": E"]), min_size=1, max_size=4)


@given(merges, targets, st.sampled_from([None, 0]))
def test_reading_and_predicting_together_are_the_tokens_of_the_whole(
    merged: list[str], texts: list[str], bos: int | None
) -> None:
    tokens = base(Merging(merged, bos))
    [encoded] = tokens.encode([ScoringInput("It was.", tuple(texts))])
    prompt = tokens.tokenizer(tokens.text("It was."), True).input_ids
    assert list(encoded.prompt) == prompt[: len(encoded.prompt)]
    for candidate, text in zip(encoded.candidates, texts, strict=True):
        assert candidate
        assert [*encoded.prompt, *candidate] == tokens.tokenizer(tokens.text("It was.", text), True).input_ids


@pytest.mark.parametrize(("bos", "first"), [(None, (1,)), (0, (0,))])
def test_a_model_given_nothing_reads_its_first_token(tmp_path: Path, bos: int | None, first: tuple[int, ...]) -> None:
    (tmp_path / "prompt").write_text("{source}")
    tokens = base(Merging(bos=bos), prompt=str(tmp_path / "prompt"))
    [encoded] = tokens.encode([ScoringInput("", ("Er.", "Es."))])
    assert encoded.prompt == first
    assert [tokens.tokenizer.decode(c, False) for c in encoded.candidates] == [" Er.\n", " Es.\n"]
    assert tokens.prompts([""]) == [first]


def test_a_tokenizer_without_a_first_token_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prompt").write_text("{source}")
    monkeypatch.setattr(Merging, "eos_token_id", None)
    with pytest.raises(AnaphoraError, match=r"^lm:x: its tokenizer has no token for the beginning or end of a text$"):
        base(Merging(), prompt=str(tmp_path / "prompt")).prompts([""])


# How long


def test_there_is_room_for_the_longest_candidate() -> None:
    [whole] = base(Merging()).encode([OLD])
    assert base(Merging(), limit=whole.longest).encode([OLD]) == [whole]
    with pytest.raises(AnaphoraError) as caught:
        base(Merging(), limit=whole.longest - 1).encode([OLD])
    assert str(caught.value) == (
        f"{whole.longest} tokens, but the model takes {whole.longest - 1}: 'It was old.'… Use less --context"
    )


def test_there_is_room_for_one_token_of_an_answer() -> None:
    [prompt] = base(Merging()).prompts(["It was old."])
    size = len("English: It was old.\nGerman:")
    assert len(prompt) == size
    assert base(Merging(), limit=size + 1).prompts(["It was old."]) == [prompt]
    with pytest.raises(AnaphoraError, match=rf"^{size + 1} tokens, but the model takes {size}: 'It was old\.'"):
        base(Merging(), limit=size).prompts(["It.", "It was old."])


# Chat


def test_a_template_makes_a_chat_by_default(llama: Any) -> None:
    assert base(llama).chat
    assert not base(llama, chat="no").chat
    assert not base(Merging()).chat
    assert base(llama).settings()["prompt"] != base(llama, chat="no").settings()["prompt"]


def test_without_a_template_there_is_no_chat() -> None:
    with pytest.raises(AnaphoraError) as caught:
        base(Merging(), chat="yes")
    assert str(caught.value) == "lm:x: its tokenizer has no chat template. Score it as a base model: lm:x?chat=no"


def test_a_chat_is_read_and_predicted_turn_by_turn(llama: Any) -> None:
    [encoded] = base(llama).encode([OLD])
    read, *predicted = (llama.decode(list(ids)) for ids in (encoded.prompt, *encoded.candidates))
    assert read.startswith("<s><|user|>\nTranslate the following text from English into German.")
    assert read.endswith("It was old.</s>\n<|assistant|>\n")
    assert predicted == ["Er war alt.</s>\n", "Sie war alt.</s>\n"]
    assert encoded.prompt.count(llama.bos_token_id) == 1  # the template writes it; the tokenizer does not again
    assert base(llama).prompts(["It was old."]) == [encoded.prompt]


def test_a_template_that_begins_the_answer_leaves_a_prediction() -> None:
    """As those of models that think first do; an empty candidate is then the beginning of what asks for one."""

    class Thinking(Merging):
        chat_template = "…"

        def apply_chat_template(self, messages: Any, tokenize: bool, add_generation_prompt: bool) -> str:
            turns = "".join(f"{message['role'][0]}:{message['content']}" for message in messages)
            return turns + ("a:<think>" if add_generation_prompt else "")

    tokenizer = Thinking()
    [encoded] = base(tokenizer).encode([ScoringInput("It was.", ("", "Er."))])
    assert tokenizer.decode(encoded.prompt, False).endswith("\n\nIt was.a")
    assert [tokenizer.decode(candidate, False) for candidate in encoded.candidates] == [":", ":Er."]


def test_a_base_model_has_the_mark_of_its_tokenizer(llama: Any) -> None:
    [encoded] = base(llama, chat="no").encode([OLD])
    assert encoded.prompt[0] == llama.bos_token_id
    assert llama.decode(list(encoded.prompt)) == "<s>English: It was old.\nGerman:"


@given(st.text(max_size=20), st.lists(st.text(max_size=20), min_size=2, max_size=3))
def test_any_text_is_predicted_whole_by_a_real_tokenizer(llama: Any, source: str, texts: list[str]) -> None:
    for chat in ("yes", "no"):
        tokens = base(llama, chat=chat)
        [encoded] = tokens.encode([ScoringInput(source, tuple(texts))])
        for candidate, text in zip(encoded.candidates, texts, strict=True):
            whole = llama(tokens.text(source, text), add_special_tokens=chat == "no").input_ids
            assert [*encoded.prompt, *candidate] == whole


# Answers


def test_an_answer_is_a_line_or_a_turn(llama: Any) -> None:
    written = llama(" Er war alt.\nEnglish: And</s>", add_special_tokens=False).input_ids
    assert base(llama, chat="no").answer(written) == "Er war alt."
    assert base(llama, chat="yes").answer(written) == "Er war alt.\nEnglish: And"
    assert base(llama).answer([]) == ""


def test_unknown_languages_stay_as_they_are() -> None:
    tokens = CausalInputs(Merging(), {}, Options(languages=("tlh", "")), name="lm:x", limit=None)
    assert tokens.text("nuqneH", "Was?") == "tlh: nuqneH\n: Was?\n"


# Languages as models name them.

NLLB = ("deu_Latn", "eng_Latn", "zho_Hans", "zho_Hant", "arb_Arab", "nob_Latn")
MBART = ("en_XX", "de_DE", "fr_XX", "zh_CN", "pt_XX")
M2M = ("en", "de", "zh", "pt")


@pytest.mark.parametrize(
    ("language", "codes", "actual"),
    [
        ("de", M2M, "de"),
        ("de", NLLB, "deu_Latn"),
        ("zh", NLLB, "zho_Hans"),
        ("ar", NLLB, "arb_Arab"),
        ("no", NLLB, "nob_Latn"),
        ("de", MBART, "de_DE"),
        ("en", MBART, "en_XX"),
        ("zho_Hant", NLLB, "zho_Hant"),  # a code of the model's own is taken as it is
        ("sw", NLLB, None),
        ("d", MBART, None),  # no beginnings of codes
        ("", MBART, None),
        ("de", (), None),
    ],
)
def test_the_code_of_a_language(language: str, codes: tuple[str, ...], actual: str | None) -> None:
    assert find_code(language, codes) == actual


def test_names_for_prompts() -> None:
    assert english_name("de") == "German"
    assert english_name("tlh") == "tlh"


def test_the_table_is_sorted_and_has_no_language_twice() -> None:
    assert list(LANGUAGES) == sorted(LANGUAGES)
    assert len({three for three, _, _ in LANGUAGES.values()}) == len(LANGUAGES)
    assert len({name for _, _, name in LANGUAGES.values()}) == len(LANGUAGES)


def test_another_vocabulary_of_the_same_size_is_another_tokenizer() -> None:
    """So that a run is not resumed with it, and its header says so."""

    class Tokenizer:
        def __init__(self, *words: str) -> None:
            self.words = words

        def get_vocab(self) -> dict[str, int]:
            return {word: number for number, word in enumerate(self.words)}

    same = [describe_tokenizer(Tokenizer("a", "b")) for _ in range(2)]
    assert same[0] == same[1]
    assert same[0].startswith("Tokenizer/2@")
    assert describe_tokenizer(Tokenizer("a", "c")).startswith("Tokenizer/2@")
    assert describe_tokenizer(Tokenizer("a", "c")) != same[0] != describe_tokenizer(Tokenizer("b", "a"))
