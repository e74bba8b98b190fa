"""Where tokens are: pieces of normalized text, joined passages, prompts; each token is found in its sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.demo.corpus import demo_suite
from anaphora.suites.example import Example
from anaphora.systems import Attributor, kind_traits, load_system
from anaphora.systems.attribution import (
    OTHER_CONTEXTS,
    Position,
    TokenAttribution,
    joined_sentences,
    piece_spans,
    sentence_positions,
)
from anaphora.systems.context import Context, Options


def test_pieces_are_found_in_text_of_another_case() -> None:
    assert piece_spans(["▁i", "▁he", "ar", "!"], "I hear!") == [(0, 1), (2, 4), (4, 6), (6, 7)]


def test_an_unknown_word_is_what_is_left_between_its_neighbors() -> None:
    assert piece_spans(["▁a", "<unk>", "▁b"], "a ☃☃ b") == [(0, 1), (2, 4), (5, 6)]


def test_special_tokens_are_nowhere() -> None:
    assert piece_spans(["▁a", "", "▁b", ""], "a b") == [(0, 1), None, (2, 3), None]


def test_full_width_letters_and_ligatures() -> None:
    assert piece_spans(["▁off", "ice"], "oﬀice") == [(0, 2), (2, 5)]


@settings(max_examples=100)
@given(st.lists(st.text("abcß.!", min_size=1, max_size=4), min_size=1, max_size=8), st.randoms())
def test_pieces_of_a_text_cover_it(words: list[str], random: Any) -> None:
    text = " ".join(words)
    pieces = []
    for word in words:
        cut = random.randint(0, len(word))
        pieces += [piece for piece in ("▁" + word[:cut], word[cut:]) if piece]
    spans = piece_spans(pieces, text)
    for piece, span in zip(pieces, spans, strict=True):
        letters = piece.strip("▁")
        assert span is None if not letters else span is not None and text[slice(*span)] == letters


def test_sentences_that_do_not_exist_leave_no_separator() -> None:
    assert joined_sentences(("", "ab", "c"), Context(2, " | "), 5) == [(1, 5, 7), (2, 10, 11)]


def test_a_token_over_a_separator_belongs_to_the_first_sentence() -> None:
    assert sentence_positions([(1, 4), (4, 6), None], 1, [(0, 0, 2), (1, 3, 6)]) == [
        Position(1, 0, 1, 2),
        Position(1, 1, 1, 3),
        None,
    ]


# Systems

EXAMPLES = [
    Example(
        example.id,
        ("I bought a lamp.", *example.source[-1:]),
        tuple(("Ich kaufte eine Lampe.", f"Hier. {candidate[-1]}") for candidate in example.candidates),
        example.gold,
    )
    for example in list(demo_suite())[:5]
]


def read(attribution: TokenAttribution) -> list[str]:
    """The letters that the tokens have, joined by sentence."""
    passages = (attribution.source, attribution.target)
    texts: dict[tuple[int, int], str] = {}
    for position, _ in attribution.tokens:
        if position is not None:
            text = passages[position.side][position.sentence][position.start : position.end]
            texts[position.side, position.sentence] = texts.get((position.side, position.sentence), "") + text
    return ["".join(text.split()) for _, text in sorted(texts.items())]


def check(system: Any, method: str = "gradient", context: int = 1) -> None:
    """Every letter that the system reads is in a token, and scores are those of the pronoun."""
    assert isinstance(system, Attributor)
    attributions = dict(system.attribute(EXAMPLES, method))
    assert sorted(attributions) == list(range(len(EXAMPLES)))
    expected = dict(system.score(EXAMPLES))
    for number, attribution in attributions.items():
        example = EXAMPLES[number]
        letters = ["".join(sentence.split()) for sentence in example.source[-1 - context :]]
        *others, last = read(attribution)
        assert others[: len(letters)] == letters
        if context:
            assert others[len(letters) :] == ["IchkaufteeineLampe."]
        gold = "".join(example.candidates[example.gold or 0][-1].split())
        assert gold.startswith(last), "only what is before the pronoun is read"
        assert last != gold
        assert attribution.answer.scores == pytest.approx(expected[number].scores, abs=1e-3)


@pytest.mark.parametrize("method", ["gradient", "attention"])
@pytest.mark.parametrize("separator", [" ", " <SEP> "])
def test_encoder_decoders(tiny_marian: Path, method: str, separator: str) -> None:
    check(load_system(f"hf:{tiny_marian}", Options(Context(1, separator), scope="pronoun")), method)


def test_without_context(tiny_marian: Path) -> None:
    system: Any = load_system(f"hf:{tiny_marian}", Options(scope="pronoun"))
    for _, attribution in system.attribute(EXAMPLES, "gradient"):
        assert len(attribution.source) == len(attribution.target) == 1


@pytest.mark.parametrize("chat", ["yes", "no"])
@pytest.mark.parametrize("method", ["gradient", "attention"])
def test_language_models(tiny_llama: Path, chat: str, method: str) -> None:
    check(load_system(f"lm:{tiny_llama}?chat={chat}", Options(Context(1), scope="pronoun")), method)


def test_a_prompt_is_no_part_of_the_passage(tiny_llama: Path) -> None:
    system: Any = load_system(f"lm:{tiny_llama}?chat=no", Options(Context(1), ("en", "de"), scope="pronoun"))
    for _, attribution in system.attribute(EXAMPLES, "gradient"):
        assert attribution.tokens[0][0] is None  # <s>
        assert sum(position is None for position, _ in attribution.tokens) > 3  # English: … German:


def test_target_context_that_is_not_read(tiny_marian: Path) -> None:
    system: Any = load_system(f"hf:{tiny_marian}", Options(Context(1, target="none"), scope="pronoun"))
    for _, attribution in system.attribute(EXAMPLES, "gradient"):
        assert len(attribution.source) == 2
        assert len(attribution.target) == 1


def test_candidates_with_different_contexts_have_no_values(tiny_marian: Path) -> None:
    example = Example("1", ("A lamp.", "It is here."), (("Eine Lampe.", "Sie ist da."), ("Ein Bett.", "Es ist da.")), 0)
    system: Any = load_system(f"hf:{tiny_marian}", Options(Context(1), scope="pronoun"))
    ((_, attribution),) = system.attribute([example], "gradient")
    assert attribution.reason == OTHER_CONTEXTS
    assert not attribution.tokens
    assert len(attribution.answer.scores) == 2


@pytest.mark.parametrize("limit", ["source", "none"])
def test_truncated_sources_keep_their_places(tiny_marian: Path, limit: str) -> None:
    long = "a lamp and a bed and a cup " * 30
    example = Example("1", (long, "It is here."), (("Ja.", "Sie ist da."), ("Ja.", "Es ist da.")), 0)
    system: Any = load_system(f"hf:{tiny_marian}", Options(Context(1), truncate=True, scope="pronoun"))
    ((_, attribution),) = system.attribute([example], "gradient")
    assert attribution.answer.truncated == 1
    assert "".join(long.split()).startswith(read(attribution)[0])


def test_kinds_that_have_gradients() -> None:
    assert [kind for kind in ("hf", "lm", "nmt", "ct2", "openai", "scores") if kind_traits(f"{kind}:x").gradients] == [
        "hf",
        "lm",
        "nmt",
    ]


# Trained models: see also tests/nmt/test_attribution.py

Make = Callable[..., Path]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Make:
    from tests.tiny_models import make_nmt

    root = tmp_path_factory.mktemp("models")
    return lambda name, **model: make_nmt(root / name, demo_text, **model)


KINDS: dict[str, dict[str, Any]] = {
    "2-to-2": {"source_context": 1, "target_context": 1},
    "s-t-hier": {"context_encoders": ("source", "target")},
    "transformer": {"kind": "transformer", "max_length": 64, "source_context": 1, "target_context": 1},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["gradient", "attention"])
def test_trained_models(make: Make, kind: str, method: str) -> None:
    check(load_system(f"nmt:{make(f'{kind}-{method}', **KINDS[kind])}", Options(scope="pronoun")), method)


def test_a_model_that_reads_no_target_context(make: Make) -> None:
    path = make("voita", kind="context-transformer", context_encoders=("source",), max_length=64)
    system: Any = load_system(f"nmt:{path}", Options(scope="pronoun"))
    for _, attribution in system.attribute(EXAMPLES, "gradient"):
        assert len(attribution.source) == 2
        assert len(attribution.target) == 1


def test_an_ensemble_is_the_mean_of_its_models(make: Make) -> None:
    one, other = make("one", seed=1, **KINDS["2-to-2"]), make("other", seed=2, **KINDS["2-to-2"])
    values = []
    for names in (f"{one}", f"{other}", f"{one},{other}"):
        system: Any = load_system(f"nmt:{names}", Options(scope="pronoun"))
        values.append([value for _, value in dict(system.attribute(EXAMPLES[:1], "gradient"))[0].tokens])
    assert values[2] == pytest.approx([(a + b) / 2 for a, b in zip(values[0], values[1], strict=True)], abs=1e-6)
