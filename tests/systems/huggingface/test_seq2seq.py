"""`hf:` from text to scores: what is scored is what the model's own loss is computed on, code and all."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

from anaphora.core.errors import AnaphoraError
from anaphora.demo.stand_ins import demo_suite
from anaphora.suites.example import Example
from anaphora.systems import load_system
from anaphora.systems.context import Context
from anaphora.systems.huggingface.seq2seq import HuggingFaceSeq2Seq
from anaphora.systems.options import Options

EXAMPLES = list(demo_suite())[::29]
GERMAN = Options(languages=("en", "de"), context=Context(1))
SIZES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 128,
}
FAIRSEQ = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2}


# Tiny models of each kind, with tokenisers trained on the demo's text


@pytest.fixture(scope="module")
def sentencepiece(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Path:
    """A model of SentencePiece in the order of fairseq: <s>, <pad>, </s>, <unk>."""
    import sentencepiece

    folder = tmp_path_factory.mktemp("sentencepiece")
    (folder / "text").write_text("\n".join(demo_text), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text"),
        model_prefix=str(folder / "spm"),
        vocab_size=150,
        character_coverage=1.0,
        minloglevel=2,
        bos_id=0,
        pad_id=1,
        eos_id=2,
        unk_id=3,
    )
    return folder / "spm.model"


def pieces(model: Path) -> list[tuple[str, float]]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    return [(processor.id_to_piece(n), processor.get_score(n)) for n in range(len(processor))]


def m2m100(folder: Path, model: Path) -> tuple[Any, Any]:
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({piece: n for n, (piece, _) in enumerate(pieces(model))}), encoding="utf-8")
    shutil.copy(model, folder / "spm.model")
    tokenizer = transformers.M2M100Tokenizer(str(vocabulary), str(folder / "spm.model"))
    config = transformers.M2M100Config(vocab_size=400, decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.M2M100ForConditionalGeneration, config)


def nllb(folder: Path, model: Path) -> tuple[Any, Any]:
    """As M2M-100, but with other codes, and byte-pair encoding here."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    text = [s for e in demo_suite() for passage in (e.source, *e.candidates) for s in passage]
    bpe.train_from_iterator(text, trainers.BpeTrainer(vocab_size=150, special_tokens=special, show_progress=False))
    made = json.loads(bpe.to_str())["model"]
    merges = [tuple(pair) for pair in made["merges"]]
    codes = ["deu_Latn", "eng_Latn", "fra_Latn"]
    tokenizer = transformers.NllbTokenizer(vocab=made["vocab"], merges=merges, extra_special_tokens=codes)
    config = transformers.M2M100Config(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.M2M100ForConditionalGeneration, config)


def mbart(folder: Path, model: Path) -> tuple[Any, Any]:
    codes = [(code, 0.0) for code in transformers.models.mbart.tokenization_mbart.FAIRSEQ_LANGUAGE_CODES]
    tokenizer = transformers.MBartTokenizer(vocab=[*pieces(model), *codes, ("<mask>", 0.0)])
    config = transformers.MBartConfig(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.MBartForConditionalGeneration, config)


def mbart50(folder: Path, model: Path) -> tuple[Any, Any]:
    codes = [(code, 0.0) for code in transformers.models.mbart50.tokenization_mbart50.FAIRSEQ_LANGUAGE_CODES]
    tokenizer = transformers.MBart50Tokenizer(
        vocab=[*pieces(model), *codes, ("<mask>", 0.0)], src_lang="en_XX", tgt_lang="de_DE"
    )
    config = transformers.MBartConfig(vocab_size=len(tokenizer), decoder_start_token_id=2, **SIZES, **FAIRSEQ)
    return tokenizer, (transformers.MBartForConditionalGeneration, config)


def madlad(folder: Path, model: Path) -> tuple[Any, Any]:
    """T5 with <2de> before the source."""
    own = [(piece, score) for piece, score in pieces(model) if piece not in ("<s>", "<pad>", "</s>", "<unk>")]
    vocabulary = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *own]
    tokenizer = transformers.T5Tokenizer(vocab=vocabulary, extra_ids=0, additional_special_tokens=["<2de>", "<2fr>"])
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=1,
        tie_word_embeddings=False,
    )
    return tokenizer, (transformers.T5ForConditionalGeneration, config)


KINDS = {"m2m100": m2m100, "nllb": nllb, "mbart": mbart, "mbart50": mbart50, "madlad": madlad}


@pytest.fixture(scope="module")
def models(
    tmp_path_factory: pytest.TempPathFactory,
    sentencepiece: Path,
    opinionated: Callable[[Any, Any], Any],
    tiny_marian: Path,
) -> Callable[[str], Path]:
    """The folder of a model of each kind, made when it is first asked for."""
    made = {"marian": tiny_marian}

    def folder(kind: str) -> Path:
        if kind not in made:
            path = tmp_path_factory.mktemp(kind)
            tokenizer, (model, config) = KINDS[kind](path, sentencepiece)
            tokenizer.save_pretrained(path)
            opinionated(model, config).save_pretrained(path)
            made[kind] = path
        return made[kind]

    return folder


@torch.inference_mode()
def own_loss(system: HuggingFaceSeq2Seq, example: Example, forced: int) -> list[float]:
    """−loss × tokens of the model's own forward with labels, from which it makes what its decoder reads.

    forced: how many labels at the beginning are forced in translation, and so are no part of a score
    """
    question = system.options.context.question(example)
    source = system.tokenizer(system.tokens.prefix + question.source, return_tensors="pt").input_ids
    scores = []
    for target in question.targets:
        labels = system.tokenizer(text_target=target, return_tensors="pt").input_ids
        output = system.model(input_ids=source, labels=labels)
        given = output.logits[0].log_softmax(-1).gather(1, labels.T)[:forced].sum()
        scores.append(-float(output.loss) * labels.shape[1] - float(given))
    return scores


# Scores


@pytest.mark.parametrize(
    ("kind", "codes", "forced"),
    [
        ("marian", (None, None), 0),
        ("m2m100", ("en", "de"), 1),
        ("nllb", ("eng_Latn", "deu_Latn"), 1),
        ("mbart50", ("en_XX", "de_DE"), 1),
        ("madlad", (None, None), 0),
    ],
)
def test_scores_are_those_of_the_model_s_own_loss(
    kind: str, codes: tuple[str, str], forced: int, models: Callable[[str], Path]
) -> None:
    system = load_system(f"hf:{models(kind)}", GERMAN)
    assert isinstance(system, HuggingFaceSeq2Seq)
    assert (system.settings()["source_code"], system.settings()["target_code"]) == codes
    answers = dict(system.score(EXAMPLES))
    for number, example in enumerate(EXAMPLES):
        assert answers[number].scores == pytest.approx(own_loss(system, example, forced), rel=0, abs=1e-4)


def test_mbart_starts_from_the_language_and_does_not_predict_it(models: Callable[[str], Path]) -> None:
    """Its labels end with the code, which translation never reaches: the loss without that label."""
    system = load_system(f"hf:{models('mbart')}", GERMAN)
    assert isinstance(system, HuggingFaceSeq2Seq)
    code = system.tokenizer.convert_tokens_to_ids("de_DE")
    question = GERMAN.context.question(EXAMPLES[0])
    source = torch.tensor([system.tokenizer(question.source).input_ids])
    assert source[0, -2:].tolist() == [2, system.tokenizer.convert_tokens_to_ids("en_XX")]
    expected = []
    for target in question.targets:
        labels = torch.tensor([system.tokenizer(text_target=target).input_ids])
        assert labels[0, -1] == code
        labels[0, -1] = -100
        read = torch.cat([torch.tensor([[code]]), labels[:, :-1]], 1)
        with torch.inference_mode():
            loss = system.model(input_ids=source, decoder_input_ids=read, labels=labels).loss
        expected.append(-float(loss) * (labels.shape[1] - 1))
    [(_, answer)] = system.score(EXAMPLES[:1])
    assert answer.scores == pytest.approx(expected, rel=0, abs=1e-4)


@pytest.mark.parametrize("kind", ["marian", *KINDS])
def test_the_tree_and_plain_batches_agree(kind: str, models: Callable[[str], Path]) -> None:
    tree, plain = (
        dict(
            load_system(f"hf:{models(kind)}", Options(context=Context(1), languages=("en", "de"), plain=p)).score(
                EXAMPLES
            )
        )
        for p in (False, True)
    )
    for number in range(len(EXAMPLES)):
        assert tree[number].scores == pytest.approx(plain[number].scores, rel=0, abs=1e-4)
        assert tree[number].tokens == plain[number].tokens


def test_the_prefix_of_madlad_is_found_and_can_be_given(models: Callable[[str], Path]) -> None:
    found = load_system(f"hf:{models('madlad')}", GERMAN)
    given = load_system(f"hf:{models('madlad')}?prefix=%3C2fr%3E+", GERMAN)
    assert (found.settings()["prefix"], given.settings()["prefix"]) == ("<2de> ", "<2fr> ")
    one, other = (dict(system.score(EXAMPLES[:1]))[0].scores for system in (found, given))
    assert one != pytest.approx(other, abs=1e-3)


def test_the_context_changes_the_scores(tiny_marian: Path) -> None:
    settings = [Context(), Context(1), Context(1, target="none"), Context(1, separator=" . ")]
    found = [
        dict(load_system(f"hf:{tiny_marian}", Options(context=context)).score(EXAMPLES[:1]))[0].scores
        for context in settings
    ]
    assert len({tuple(scores) for scores in found}) == len(settings)


def test_candidates_with_the_same_tokens_are_undecidable(tiny_marian: Path) -> None:
    """To SentencePiece one space is as good as two."""
    example = Example(
        "a", ("It was very old.",), (("Er war sehr alt.",), ("Sie war sehr alt.",), ("Er  war sehr alt.",)), 0
    )
    [(_, answer)] = load_system(f"hf:{tiny_marian}").score([example])
    assert list(answer.undecidable) == [(0, 2)]
    assert answer.scores[0] == answer.scores[2]


# Languages


def test_codes_can_be_named(models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models('nllb')}?source=deu_Latn&target=fra_Latn", GERMAN)
    assert (system.settings()["source_code"], system.settings()["target_code"]) == ("deu_Latn", "fra_Latn")


@pytest.mark.parametrize(
    ("kind", "query", "languages", "missing"),
    [
        ("nllb", "", ("en", "sw"), "'sw'"),
        ("nllb", "?target=swh_Latn", ("en", "de"), "'swh_Latn'"),
        ("m2m100", "", ("en", "tlh"), "'tlh'"),
        ("mbart", "", ("", ""), "''"),
    ],
)
def test_a_language_that_the_model_does_not_have(
    kind: str, query: str, languages: tuple[str, str], missing: str, models: Callable[[str], Path]
) -> None:
    with pytest.raises(AnaphoraError, match=f"no language code {missing} .it has .*Name them in the spec") as caught:
        load_system(f"hf:{models(kind)}{query}", Options(languages=languages))
    assert "\n" not in str(caught.value)


# Long texts


def long_example(words: int) -> Example:
    return Example("long", ("the " * words,), (("die " * words,), ("das",)), 0)


def test_a_text_that_is_too_long_is_refused(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}")
    with pytest.raises(AnaphoraError, match=r"\d+ tokens, but the model takes 128: 'the the .*--truncate"):
        list(system.score([EXAMPLES[0], long_example(200)]))


def test_or_cut_and_counted(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}", Options(truncate=True))
    answers = dict(system.score([EXAMPLES[0], long_example(200)]))
    assert (answers[0].truncated, answers[1].truncated) == (0, 2)  # the source and one candidate
    assert answers[1].tokens is not None
    assert answers[1].tokens[0] <= 128
    assert answers[0] == dict(load_system(f"hf:{tiny_marian}").score([EXAMPLES[0], EXAMPLES[1]]))[0]._replace(
        scores=answers[0].scores
    )


def test_relative_positions_have_no_end(models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models('madlad')}", GERMAN)
    [(_, answer)] = system.score([long_example(300)])
    assert answer.tokens is not None
    assert answer.tokens[0] > 200


# Translation


@pytest.mark.parametrize("kind", ["marian", *KINDS])
def test_translations_are_those_of_the_model_s_own_search(kind: str, models: Callable[[str], Path]) -> None:
    system = load_system(f"hf:{models(kind)}", Options(languages=("en", "de"), batch_tokens=128))
    assert isinstance(system, HuggingFaceSeq2Seq)
    texts = ["It was very old.", "I found the lamp in the kitchen.", "It broke."]
    found = system.translate(texts, beams=2, max_tokens=8)
    assert found == [expected_translation(system, text, kind) for text in texts]
    assert system.translate([]) == []


def expected_translation(system: HuggingFaceSeq2Seq, text: str, kind: str) -> str:
    """As the model's page says to do it."""
    inputs = system.tokenizer(system.tokens.prefix + text, return_tensors="pt")
    extra = {}
    if kind in ("m2m100", "nllb", "mbart50"):
        extra["forced_bos_token_id"] = system.tokens.target_id
    elif kind == "mbart":
        extra["decoder_start_token_id"] = system.tokens.target_id
    with torch.inference_mode():
        output = system.model.generate(**inputs, num_beams=2, max_new_tokens=8, **extra)
    return str(system.tokenizer.decode(output[0], skip_special_tokens=True))


def test_it_translates_while_somebody_waits_for_the_next_score(tiny_marian: Path) -> None:
    """Scores come as they are computed; between two of them the model is its own."""
    system = load_system(f"hf:{tiny_marian}", Options(batch_tokens=1))
    assert isinstance(system, HuggingFaceSeq2Seq)
    expected = system.translate(["It broke."], max_tokens=5)
    whole = dict(system.score(EXAMPLES))
    answers = {}
    for number, answer in system.score(EXAMPLES):
        answers[number] = answer
        assert not torch.is_inference_mode_enabled()
        if number < 2:
            assert system.translate(["It broke."], max_tokens=5) == expected
    assert answers == whole


def test_a_text_to_translate_that_is_too_long_is_refused(tiny_marian: Path) -> None:
    system = load_system(f"hf:{tiny_marian}")
    assert isinstance(system, HuggingFaceSeq2Seq)
    with pytest.raises(AnaphoraError, match="the model takes 128"):
        system.translate(["the " * 200])
