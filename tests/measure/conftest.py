"""What the tests of the measure share: pairs that only context decides, and tiny models with real tokenizers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from anaphora.suites.example import Example

NOUNS = {"he": ("king", "uncle", "monk"), "she": ("queen", "aunt", "nun"), "it": ("house", "table", "stone")}
VERBS = ("was old", "looked fine", "has gone", "came back")


def toy_pairs(verbs: tuple[str, ...] = VERBS) -> list[Example]:
    """Every noun with every wrong pronoun: right or wrong depends on the sentence before, and on nothing else."""
    actual = []
    for right, wrong, verb in itertools.product(NOUNS, NOUNS, verbs):
        for noun in NOUNS[right]:
            if right != wrong:
                before = f"I saw the {noun}."
                passages = tuple((before, f"{word.capitalize()} {verb}.") for word in (right, wrong))
                tags = {"kind": "noisy", "reference_pronoun": right, "pronoun_pair": f"{right}:{wrong}"}
                actual.append(Example(f"{noun}-{wrong}-{verb}", ("", ""), passages, 0, tags))
    return actual


@pytest.fixture(scope="session")
def toy() -> list[Example]:
    return toy_pairs()


@pytest.fixture(scope="session")
def write_suite() -> Callable[[list[Example], Path], Path]:
    from anaphora.suites.suite import Header, suite_of

    def write(examples: list[Example], path: Path) -> Path:
        suite_of(Header("toy", "de", "en"), lambda: iter(examples)).write(path)
        return path

    return write


def toy_words() -> list[str]:
    words = {"i", "saw", "the", ".", "?", "!", *(word for verb in VERBS for word in verb.split())}
    return sorted(words | set(NOUNS) | {noun for nouns in NOUNS.values() for noun in nouns})


@pytest.fixture(scope="session")
def tiny_bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a BERT of two layers whose word pieces cut every noun in two."""
    torch = pytest.importorskip("torch")
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-bert")
    words = [word for word in toy_words() if len(word) < 5]
    letters = "abcdefghijklmnopqrstuvwxyz"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *letters, *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
    tokenizer = BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=True, model_max_length=64)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_lm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Llama of two layers, with byte-level BPE."""
    torch = pytest.importorskip("torch")
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("tiny-lm")
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer: Any = trainers.BpeTrainer(vocab_size=400, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    bpe.train_from_iterator([" ".join(p) for e in toy_pairs() for p in e.candidates], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", model_max_length=64)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(2)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.5,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
