"""From sentences to ids and back: Moses' preprocessing where asked, then subwords by SentencePiece.

Ids: 0 is the end of a sequence, 1 what is unknown, 2 the separator of sentences; padding stands behind all pieces,
where Marian has it (the decoder starts from it). These are the same on both sides.
"""

from __future__ import annotations

import io
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.core.files import write_atomic
from anaphora.core.parsing import expecting, read_json_object
from anaphora.nmt.config import VocabularyConfig
from anaphora.nmt.layout import SpecialTokens

END, UNKNOWN, SEPARATOR = 0, 1, 2
SEPARATOR_PIECE = "<SEP>"
FILES = ("source.spm", "target.spm")
TEXT_FILES = (*FILES, "text.json")


class Text:
    """Converts the text of one model to token ids and back."""

    def __init__(self, source: Any, target: Any, source_rules: Moses, target_rules: Moses) -> None:
        self._sides = (source, target)
        self._rules = (source_rules, target_rules)
        padding = max(side.get_piece_size() for side in self._sides)
        self.special = SpecialTokens(separator=SEPARATOR, end=END, start=padding, padding=padding)

    @property
    def size(self) -> int:
        """The number of ids on either side, which is the number of rows of an embedding matrix."""
        return self.special.padding + 1

    def encode_source(self, sentence: str) -> list[int]:
        return self._encode(0, sentence)

    def encode_target(self, sentence: str) -> list[int]:
        return self._encode(1, sentence)

    def decode(self, ids: Sequence[int]) -> str:
        """Return the target text of ids up to the end token; separators are kept."""
        ids = list(ids)
        if END in ids:
            ids = ids[: ids.index(END)]
        text: str = self._sides[1].decode([i for i in ids if i < self._sides[1].get_piece_size()])
        return self._rules[1].undo(text)

    def target_pieces(self) -> list[str]:
        """Return the text of every target piece by its id; `▁` (U+2581) marks the beginning of a word."""
        side = self._sides[1]
        return [side.id_to_piece(number) for number in range(side.get_piece_size())]

    def pieces(self, side: int, sentence: str) -> list[str]:
        """Return the pieces of a sentence, one for each of its ids. side: 0 for the source, 1 for the target"""
        pieces: list[str] = self._sides[side].encode(self._rules[side].apply(sentence), out_type=str)
        return pieces

    def _encode(self, side: int, sentence: str) -> list[int]:
        ids: list[int] = self._sides[side].encode(self._rules[side].apply(sentence))
        return ids


def learn_text(
    config: VocabularyConfig, languages: str, source: Sequence[str], target: Sequence[str], folder: Path
) -> Text:
    """Learn rules and subwords from sentences and write them to a folder."""
    source_language, _, target_language = languages.partition("-")
    folder.mkdir(parents=True, exist_ok=True)
    rules = [
        Moses.learn(config, language, _sample(side, config.sentences))
        for language, side in ((source_language, source), (target_language, target))
    ]
    texts = [
        [rule.apply(sentence) for sentence in _sample(side, config.sentences) if sentence.strip()]
        for rule, side in zip(rules, (source, target), strict=True)
    ]
    if config.joint:
        both = texts[0] + texts[1]
        models = [_learn(config, both)] * 2
    else:
        models = [_learn(config, text) for text in texts]
    for name, model in zip(FILES, models, strict=True):
        write_atomic(folder / name, model)
    write_atomic(
        folder / "text.json", json.dumps({"source": rules[0].to_dict(), "target": rules[1].to_dict()}).encode()
    )
    return load_text(folder)


def load_pieces(path: Path) -> Any:
    """Load a SentencePiece model. The library is given its bytes: it takes no path that is not UTF-8."""
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(path.read_bytes())
    except (RuntimeError, OSError) as error:
        raise BadInput(path, f"not a SentencePiece model: {error}") from None
    return processor


def load_text(folder: Path) -> Text:
    """Load what `learn_text` wrote to a folder."""
    sides = []
    for name in FILES:
        if not (folder / name).is_file():
            raise BadInput(folder, f"{name} is missing", remedy="Pass a folder written by `anaphora train`.")
        sides.append(load_pieces(folder / name))
        if sides[-1].piece_to_id(SEPARATOR_PIECE) != SEPARATOR:
            raise BadInput(folder / name, f"has no {SEPARATOR_PIECE} where it is expected (id {SEPARATOR})")
    rules = read_json_object(folder / "text.json")
    with expecting(folder / "text.json", "the rules of a tokenizer"):
        return Text(sides[0], sides[1], Moses.from_dict(rules["source"]), Moses.from_dict(rules["target"]))


def copy_text(source: Path, folder: Path) -> Text:
    """Copy the vocabulary of another model, from which training starts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TEXT_FILES:
        if not (source / name).is_file():
            raise BadInput(source, f"{name} is missing", remedy="Pass a folder written by `anaphora train`.")
        write_atomic(folder / name, (source / name).read_bytes())
    return load_text(folder)


def _learn(config: VocabularyConfig, sentences: Iterable[str]) -> bytes:
    """Return a SentencePiece model; the same sentences give the same bytes."""
    import sentencepiece

    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=config.kind,
            vocab_size=config.size,
            eos_id=END,
            unk_id=UNKNOWN,
            bos_id=-1,
            pad_id=-1,
            user_defined_symbols=[SEPARATOR_PIECE],
            character_coverage=1.0,
            hard_vocab_limit=False,
            normalization_rule_name="identity" if config.tokenize or config.normalize else "nmt_nfkc",
            num_threads=1,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        problem = " ".join(str(error).split())[-200:]
        raise AnaphoraError(f"A vocabulary of {config.size:,} pieces cannot be learned: {problem}") from None
    return model.getvalue()


def _sample(sentences: Sequence[str], most: int) -> Sequence[str]:
    if len(sentences) <= most:
        return sentences
    return [sentences[i] for i in sorted(random.Random(0).sample(range(len(sentences)), most))]


# Moses' preprocessing, through sacremoses: punctuation, tokenization, truecasing; each only where asked.


IN_FILES = {"normalize": "normalise", "tokenize": "tokenise"}  # the names of version 0.1.0


@dataclass(frozen=True)
class Moses:
    """Preprocessing rules for one language. truecase: lowercased word → its most frequent form within sentences"""

    language: str = "en"
    normalize: bool = False
    tokenize: bool = False
    lowercase: bool = False
    truecase: dict[str, str] = field(default_factory=dict)

    @classmethod
    def learn(cls, config: VocabularyConfig, language: str, sentences: Iterable[str]) -> Moses:
        """Return the rules of a config; truecasing is learned from the sentences."""
        rules = cls(language or "en", config.normalize, config.tokenize, config.lowercase)
        if not config.truecase or config.lowercase:
            return rules
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)  # within sentences: first words are capitalized
        for sentence in sentences:
            for word in rules.apply(sentence).split()[1:]:
                forms[word.lower()][word] += 1
        case = {word: max(sorted(counts), key=counts.__getitem__) for word, counts in sorted(forms.items())}
        return replace(rules, truecase=case)

    def apply(self, sentence: str) -> str:
        if self.normalize:
            sentence = _moses("MosesPunctNormalizer", self.language).normalize(sentence)
        if self.tokenize:
            sentence = _moses("MosesTokenizer", self.language).tokenize(sentence, return_str=True, escape=False)
        if self.lowercase:
            return sentence.lower()
        if self.truecase:
            first, space, rest = sentence.partition(" ")
            return self.truecase.get(first.lower(), first) + space + rest
        return sentence

    def undo(self, text: str) -> str:
        """Return a text detokenized and, if truecased, with a capital letter at its beginning."""
        if self.tokenize:
            text = _moses("MosesDetokenizer", self.language).detokenize(text.split())
        return text[:1].upper() + text[1:] if self.truecase else text

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as text.json holds them, whose keys are those of version 0.1.0."""
        return {IN_FILES.get(key, key): value for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Moses:
        names = {written: name for name, written in IN_FILES.items()}
        rules = cls(**{names.get(key, key): value for key, value in document.items()})
        if not all(isinstance(text, str) for text in (rules.language, *rules.truecase.values())):
            raise TypeError("language and the words of truecase must be texts")
        return rules


@cache
def _moses(kind: str, language: str) -> Any:
    try:
        return getattr(import_module("sacremoses"), kind)(lang=language)
    except ImportError:
        raise AnaphoraError("Moses' rules need sacremoses: pip install 'anaphora[nmt]'") from None
