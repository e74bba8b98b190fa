"""Engines: what of a question is given to the library, what it adds by itself, and what of its answer counts.

The library is played by a model that writes down what it is asked; what it answers is told token by token.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("ctranslate2")

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.encoded import EncodedExample
from anaphora.systems.context import Options
from anaphora.systems.ctranslate2 import UNLIMITED, GeneratorEngine, ModelFile, TranslatorEngine, _limit

NAMES = ["<pad>", "</s>", "<unk>", "a", "b", "c", "de"]
PAD, END, UNKNOWN, A, B, C, DE = range(7)


class Tokenizer:
    """A letter is a token."""

    eos_token_id = bos_token_id = END
    model_max_length = 10**30
    chat_template = None

    def __call__(self, text: Any, add_special_tokens: bool = True) -> Any:
        if isinstance(text, list):
            return SimpleNamespace(input_ids=[self(one).input_ids for one in text])
        return SimpleNamespace(input_ids=[NAMES.index(letter) for letter in text if letter in "abc"] + [END])

    def get_vocab(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(NAMES)}

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        return NAMES.index(tokens) if isinstance(tokens, str) else [NAMES.index(token) for token in tokens]

    def convert_ids_to_tokens(self, ids: Sequence[int]) -> list[str]:
        return [NAMES[number] for number in ids]

    def decode(self, ids: Sequence[int], skip_special_tokens: bool) -> str:
        assert skip_special_tokens
        return " ".join(NAMES[number] for number in ids if number >= A)


class Model:
    """Every token has the log-probability of its place: −1, −2, …

    more: how many more there are than tokens in a target: a translator adds </s>; of the first token that a generator
        or a decoder is given nothing is said
    """

    def __init__(self, more: int = 1) -> None:
        self.asked: list[Any] = []
        self.more = more

    def score_batch(self, *texts: list[list[str]], **options: Any) -> list[Any]:
        self.asked.append((*texts, options))
        sizes = [len(tokens) + self.more for tokens in texts[-1]]
        return [SimpleNamespace(log_probs=[-float(n + 1) for n in range(size)]) for size in sizes]

    def translate_batch(self, sources: list[list[str]], prefixes: Any, **options: Any) -> list[Any]:
        self.asked.append((sources, prefixes, options))
        return [SimpleNamespace(hypotheses=[[*source, "</s>"], ["c"]]) for source in sources]

    def generate_batch(self, prompts: list[list[str]], **options: Any) -> list[Any]:
        self.asked.append((prompts, options))
        return [SimpleNamespace(sequences_ids=[[A, B, END], [C]]) for _ in prompts]


def file(positions: int | None = None, relative: bool = False, **config: Any) -> ModelFile:
    return ModelFile(Path("/no/such/folder"), False, positions, relative, config)


def translator(model: Any = None, positions: int | None = 9, **config: Any) -> TranslatorEngine:
    return TranslatorEngine(model or Model(), file(positions, **config), Tokenizer(), {}, Options())


def generator(model: Any = None, positions: int | None = 99) -> GeneratorEngine:
    return GeneratorEngine(model or Model(more=-1), file(positions), Tokenizer(), {}, Options())


def rows(encoded: EncodedExample) -> list[tuple[EncodedExample, tuple[int, ...]]]:
    return [(encoded, candidate) for candidate in encoded.candidates]


# Encoder–decoders


def test_a_translator_adds_first_and_last_token_itself() -> None:
    model = Model()
    engine = translator(model, decoder_start_token="<pad>")
    scores = engine.score(rows(EncodedExample((A, B, END), (PAD,), ((B, C, END), (C, END)))))
    sources, targets, options = model.asked[0]
    assert (sources, targets) == ([["a", "b", "</s>"]] * 2, [["b", "c"], ["c"]])
    assert options == {"max_input_length": 0}  # else it cuts at 1,024 without a word
    assert scores == [[-1, -2, -3], [-1, -2]]
    assert engine.tokens.start == PAD


def test_a_code_that_is_read_does_not_count() -> None:
    model = Model()
    [scores] = translator(model, decoder_start_token="</s>").score(
        rows(EncodedExample((A, END), (END, DE), ((B, C, END),)))
    )
    assert model.asked[0][1] == [["de", "b", "c"]]
    assert scores == [-2, -3, -4]


def test_without_a_start_of_its_own_the_code_is_given() -> None:
    """As for mBART, whose decoder starts from the language: </s> is added, and nothing is said of the language."""
    model = Model(more=0)
    engine = translator(model)
    [scores] = engine.score(rows(EncodedExample((A, END), (DE,), ((B, C, END),))))
    assert engine.tokens.start == END
    assert model.asked[0][1] == [["de", "b", "c"]]
    assert scores == [-1, -2, -3]


def test_a_candidate_that_was_cut_has_no_end_that_counts() -> None:
    model = Model()
    [scores] = translator(model, decoder_start_token="<pad>").score(rows(EncodedExample((A, END), (PAD,), ((B, C),))))
    assert model.asked[0][1] == [["b", "c"]]
    assert scores == [-1, -2]


@pytest.mark.parametrize(("adds", "given"), [(False, ["a", "</s>"]), (True, ["a"])])
def test_the_end_of_the_source_is_there_once(adds: bool, given: list[str]) -> None:
    model = Model()
    engine = translator(model, decoder_start_token="<pad>", add_source_eos=adds)
    engine.score(rows(EncodedExample((A, END), (PAD,), ((B, END),))))
    engine.translate([(A, END)], None, 5)
    assert [asked[0] for asked in model.asked] == [[given]] * 2


def test_a_log_probability_that_is_lost_is_noticed() -> None:
    """Else the candidate would be better for it."""
    question = rows(EncodedExample((A, END), (PAD,), ((B, C, END),)))
    with pytest.raises(AnaphoraError, match=r"^CTranslate2 gave 2 log-probabilities for 3 tokens$"):
        translator(Model(more=0), decoder_start_token="<pad>").score(question)
    with pytest.raises(AnaphoraError, match=r"^CTranslate2 gave 0 log-probabilities for 3 tokens$"):
        generator(Model(more=-4)).score(question)


def test_a_translation_is_the_best_without_its_marks() -> None:
    model = Model()
    engine = translator(model, decoder_start_token="<pad>")
    assert engine.translate(engine.inputs(["ab", "c"]), None, 7) == ["a b", "c"]
    assert engine.translate([(A, END)], 2, 3) == ["a"]
    options = [(asked[1], asked[2]["beam_size"], asked[2]["max_decoding_length"]) for asked in model.asked]
    assert options == [(None, 4, 7), (None, 2, 3)]  # nothing is read first but what the library puts there


def test_what_is_read_first_is_given_to_every_translation() -> None:
    model = Model()
    engine = translator(model)  # no start of its own
    engine.translate([(A, END), (B, END)], 1, 3)
    assert model.asked[0][1] == [["</s>"], ["</s>"]]


def test_vocabularies_of_their_own_are_refused() -> None:
    class Separate(Tokenizer):
        separate_vocabs = True

    with pytest.raises(AnaphoraError, match=r"^/no/such/folder: source and target .*Use hf:$"):
        TranslatorEngine(Model(), file(), Separate(), {}, Options())


# Language models


def test_a_generator_reads_prompt_and_candidate_in_one() -> None:
    model = Model(more=-1)
    scores = generator(model).score(rows(EncodedExample((), (A, B), ((C, A, B), (C,)))))
    assert model.asked == [([["a", "b", "c", "a", "b"], ["a", "b", "c"]], {"max_input_length": 0})]
    assert scores == [[-2, -3, -4], [-2]]  # the first says how likely b is after a, which is not asked


def test_a_generated_translation_is_a_line() -> None:
    model = Model()
    engine = generator(model)
    assert engine.translate([(A, B)], None, 4) == ["a b"]
    assert model.asked == [
        ([["a", "b"]], {"beam_size": 1, "max_length": 4, "include_prompt_in_result": False}),
    ]


# Names and limits


def test_a_token_that_the_model_does_not_know_is_refused(tmp_path: Path) -> None:
    """On the side where it is not known; the library would take it for an unknown word."""
    (tmp_path / "source_vocabulary.json").write_text('["a", "b", "c", "</s>"]')
    (tmp_path / "target_vocabulary.json").write_text('["a", "b", "</s>"]')
    known = ModelFile(tmp_path, False, 9, False, {"decoder_start_token": "<pad>"})
    engine = TranslatorEngine(Model(), known, Tokenizer(), {}, Options())
    engine.score(rows(EncodedExample((C, END), (PAD,), ((B, END),))))
    with pytest.raises(AnaphoraError) as caught:
        engine.score(rows(EncodedExample((A, END), (PAD,), ((C, END),))))
    assert str(caught.value) == (
        f"{tmp_path}: the token 'c' of the tokenizer is not in the model's vocabulary. "
        f"Name the model's tokenizer: ct2:{tmp_path}?tokenizer=NAME_OR_PATH"
    )


@pytest.mark.parametrize(
    ("positions", "relative", "tokenizer_limit", "limit"),
    [
        (512, False, 100, 512),  # the table knows best
        (None, True, 512, None),  # T5's tokenizers say 512, but there is no end
        (None, False, 100, 100),
        (None, False, UNLIMITED, None),
        (None, False, int(1e30), None),  # what tokenizers say that do not know
    ],
)
def test_how_many_tokens_a_model_takes(
    positions: int | None, relative: bool, tokenizer_limit: int, limit: int | None
) -> None:
    assert _limit(file(positions, relative), SimpleNamespace(model_max_length=tokenizer_limit)) == limit


def test_how_many_tokens_an_output_may_have() -> None:
    assert (translator(positions=9).room((A,) * 5), translator(positions=None).room((A,))) == (7, UNLIMITED)
    assert (generator(positions=9).room((A,) * 5), generator(positions=None).room((A,))) == (4, UNLIMITED)
