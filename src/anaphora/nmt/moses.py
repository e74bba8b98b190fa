"""Moses' preprocessing, through sacremoses: punctuation, tokenisation, truecasing; each only where asked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

from anaphora.core.errors import AnaphoraError
from anaphora.nmt.config import VocabularyConfig


@dataclass(frozen=True)
class Moses:
    """Rules for one language. truecase: a word in lower case → as it is mostly written inside of sentences."""

    language: str = "en"
    normalise: bool = False
    tokenise: bool = False
    lowercase: bool = False
    truecase: dict[str, str] = field(default_factory=dict)

    @classmethod
    def learn(cls, config: VocabularyConfig, language: str, sentences: Iterable[str]) -> Moses:
        """The rules that a config asks for; truecasing is learned from the sentences."""
        rules = cls(language or "en", config.normalise, config.tokenise, config.lowercase)
        if not config.truecase or config.lowercase:
            return rules
        return cls(**asdict(rules) | {"truecase": _learn_case(rules.apply(sentence) for sentence in sentences)})

    def apply(self, sentence: str) -> str:
        if self.normalise:
            sentence = self._normaliser.normalize(sentence)
        if self.tokenise:
            sentence = self._tokeniser.tokenize(sentence, return_str=True, escape=False)
        if self.lowercase:
            return sentence.lower()
        if self.truecase:
            first, space, rest = sentence.partition(" ")
            return self.truecase.get(first.lower(), first) + space + rest
        return sentence

    def undo(self, text: str) -> str:
        """A text as people write it: detokenised, the first word of it with a capital."""
        if self.tokenise:
            text = self._detokeniser.detokenize(text.split())
        return text[:1].upper() + text[1:] if self.truecase else text

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Moses:
        return cls(**document)

    @cached_property
    def _normaliser(self) -> Any:
        return _sacremoses().MosesPunctNormalizer(lang=self.language)

    @cached_property
    def _tokeniser(self) -> Any:
        return _sacremoses().MosesTokenizer(lang=self.language)

    @cached_property
    def _detokeniser(self) -> Any:
        return _sacremoses().MosesDetokenizer(lang=self.language)


def _learn_case(sentences: Iterable[str]) -> dict[str, str]:
    """The most frequent form of each word inside of sentences, where its case is its own."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for word in sentence.split()[1:]:
            forms[word.lower()][word] += 1
    return {word: max(sorted(found), key=found.__getitem__) for word, found in sorted(forms.items())}


def _sacremoses() -> Any:
    try:
        return import_module("sacremoses")
    except ImportError:
        raise AnaphoraError("Moses' rules need sacremoses: pip install 'anaphora[nmt]'") from None
