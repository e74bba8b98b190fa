"""Tiny models with random weights and real tokenizers, made from a few sentences in a second."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from anaphora.demo.corpus import demo_suite

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message['role'] }}|>\n{{ message['content'] }}{{ eos_token }}\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)
POSITIONS = 128  # how long a text the tiny models take


def demo_sentences() -> list[str]:
    """Every sentence of the demo suite, English and German."""
    return sorted({s for e in demo_suite() for passage in (e.source, *e.candidates) for s in passage if s})


def make_marian(folder: Path, texts: list[str], layers: int = 2) -> Path:
    """A Marian model of two layers unless said otherwise, with SentencePiece trained on the texts."""
    from transformers import MarianConfig, MarianMTModel, MarianTokenizer

    model = train_sentencepiece(folder, texts, bos_id=-1, eos_id=0, unk_id=1, pad_id=-1)
    vocabulary = {piece: number for number, piece in enumerate([*pieces_of(model), "<pad>"])}
    pad = vocabulary["<pad>"]
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    spm = [shutil.copy(model, folder / f"{side}.spm") for side in ("source", "target")]
    tokenizer = MarianTokenizer(source_spm=str(spm[0]), target_spm=str(spm[1]), vocab=str(folder / "vocab.json"))
    tokenizer.save_pretrained(folder)
    config = MarianConfig(
        vocab_size=len(vocabulary),
        d_model=32,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=POSITIONS,
        pad_token_id=pad,
        eos_token_id=0,
        forced_eos_token_id=0,
        decoder_start_token_id=pad,
    )
    make_opinionated(MarianMTModel, config).save_pretrained(folder)
    return folder


def make_llama(folder: Path, texts: list[str], layers: int = 2) -> Path:
    """A Llama model of two layers by default, with byte-level BPE trained on the texts, and a chat template."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    special = ["<unk>", "<s>", "</s>"]
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet)
    )
    bpe.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2 * POSITIONS,
        bos_token_id=1,
        eos_token_id=2,
    )
    make_opinionated(LlamaForCausalLM, config).save_pretrained(folder)
    return folder


def make_gguf(folder: Path, path: Path) -> Path:
    """The model of `make_llama` in a GGUF file with the same weights, not quantized."""
    import gguf
    from transformers import LlamaForCausalLM

    model, tokenizer = LlamaForCausalLM.from_pretrained(folder), json.loads((folder / "tokenizer.json").read_text())
    config, vocabulary = model.config, tokenizer["model"]["vocab"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    writer.add_token_list(tokens)
    writer.add_token_types(
        [gguf.TokenType.CONTROL if token.startswith("<") and len(token) > 1 else 1 for token in tokens]
    )
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHAT_TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    for name, tensor in model.state_dict().items():
        values = tensor.float().numpy()
        for part, count in heads.items():
            if part in name:  # the two halves of each head are interleaved
                size = len(values) // count // 2
                values = values.reshape(count, 2, size, -1).swapaxes(1, 2).reshape(values.shape)
        writer.add_tensor(names.get_name(name, (".weight",)), values.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def make_opinionated(kind: Any, config: Any) -> Any:
    """A model of random weights large enough that its probabilities differ from one another."""
    import torch

    torch.manual_seed(5)
    model = kind(config).eval()
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.2)
    return model


def train_sentencepiece(folder: Path, text: list[str], **ids: int) -> Path:
    """A SentencePiece model of 150 pieces."""
    import sentencepiece

    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(text), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(folder / "sentencepiece"),
        vocab_size=150,
        character_coverage=1.0,
        minloglevel=2,
        **ids,
    )
    corpus.unlink()
    return folder / "sentencepiece.model"


def pieces_of(model: Path) -> list[str]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    return [processor.id_to_piece(number) for number in range(len(processor))]


def make_nmt(folder: Path, texts: list[str], *, seed: int = 1, **model: Any) -> Path:
    """A model of `anaphora train` with random weights: recurrent unless the settings say otherwise."""
    import torch

    from anaphora.nmt.checkpoint import begin, build_model, finish
    from anaphora.nmt.config import Config, ModelConfig, VocabularyConfig
    from anaphora.nmt.text import copy_text, learn_text

    vocabulary = folder.with_name("vocabulary")
    if not vocabulary.exists():
        learn_text(VocabularyConfig(size=150), "en-de", texts, texts, vocabulary)
    text = copy_text(vocabulary, folder)
    sizes: dict[str, Any] = {"embedding": 16, "hidden": 8, "layers": 2, "heads": 2, "feed_forward": 16}
    config = Config(model=ModelConfig(**{"kind": "recurrent", **sizes, **model}))
    begin(folder, config)
    torch.manual_seed(seed)
    made: Any = build_model(config.model, text.size, text.special)
    for parameter in made.parameters():
        if parameter.dim() > 1 and parameter.shape[0] != text.size:
            torch.nn.init.normal_(parameter, std=0.4)
    if config.model.kind == "recurrent":
        with torch.no_grad():
            made.bias[text.special.end] = 1.8  # translations come to an end
    finish(folder, made)
    return folder
