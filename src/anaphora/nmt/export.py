"""A Transformer that was trained here as a complete Hugging Face checkpoint: weights, configuration, tokeniser.

The tokeniser knows subwords and the separator, but not Moses' rules (`moses.py`). A model that was trained with them
reads text through `hf:` as it should only if they were applied before.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tokenizers import AddedToken
from transformers import GenerationConfig, MarianTokenizer, PreTrainedModel

from anaphora.core.files import rename_synced
from anaphora.nmt.checkpoint import WEIGHTS, save_weights, weights_of
from anaphora.nmt.text import FILES, SEPARATOR_PIECE

PADDING_PIECE = "<pad>"


def export_marian(model: PreTrainedModel, folder: Path) -> None:
    """Put the checkpoint in a folder in which the SentencePiece models are already; its weights come last."""
    part = folder / ".export.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    try:
        model.config.save_pretrained(part)
        _generation(model.config).save_pretrained(part)
        _tokenizer(model, folder, part).save_pretrained(part)
        save_weights(weights_of(model), part / WEIGHTS, folder / WEIGHTS, metadata={"format": "pt"})
        for file in sorted(part.iterdir(), key=lambda file: file.name == WEIGHTS):
            rename_synced(file, folder / file.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _generation(config: Any) -> GenerationConfig:
    return GenerationConfig(
        num_beams=4,
        max_length=config.max_position_embeddings,
        decoder_start_token_id=config.decoder_start_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
    )


def _tokenizer(model: PreTrainedModel, folder: Path, part: Path) -> Any:
    """Marian's tokeniser over our vocabulary. Where there are two of them, both have the marks in the same places."""
    import sentencepiece

    padding = model.config.pad_token_id
    sides = [sentencepiece.SentencePieceProcessor(model_file=str(folder / name)) for name in FILES]
    names = ("vocab.json", "target_vocab.json")
    for name, side in zip(names, sides, strict=True):
        ids = {side.id_to_piece(number): number for number in range(side.get_piece_size())} | {PADDING_PIECE: padding}
        (part / name).write_text(json.dumps(ids, ensure_ascii=False), encoding="utf-8")
    separate = (part / names[0]).read_bytes() != (part / names[1]).read_bytes()
    if not separate:
        (part / names[1]).unlink()
    found = MarianTokenizer(
        source_spm=str(folder / FILES[0]),
        target_spm=str(folder / FILES[1]),
        vocab=str(part / names[0]),
        target_vocab_file=str(part / names[1]) if separate else None,
        separate_vocabs=separate,
        pad_token=PADDING_PIECE,
        model_max_length=model.config.max_position_embeddings,
    )
    # Between sentences with or without spaces around it, and left in what is decoded, so that it can be cut there.
    found.add_tokens([AddedToken(SEPARATOR_PIECE, lstrip=True, rstrip=True, normalized=False, special=False)])
    return found
