"""Stanza: Universal Dependencies for many languages, and coreference where asked for (`stanza:en+coref`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from anaphora.annotate import Line
from anaphora.annotate.document import Chain, Contraction, Document, Mention, Sentence, Token, contracted, head_of
from anaphora.annotate.schemes import universal
from anaphora.core.errors import AnaphoraError

stanza: Any = import_module("stanza")  # has no types

PROCESSORS = "tokenize,mwt,pos,lemma,depparse"


class StanzaAnnotator:
    """A Stanza pipeline; documents are annotated as a whole, with one sentence per line."""

    needs_all = False

    def __init__(self, what: str, language: str = "") -> None:
        self.language, _, extra = what.partition("+")
        if extra not in ("", "coref"):
            raise AnaphoraError(f"not an annotator: 'stanza:{what}'. Write stanza:LANGUAGE or stanza:LANGUAGE+coref")
        if language and language != self.language:
            raise AnaphoraError(f"stanza:{what} annotates {self.language}, not {language}")
        self._processors = PROCESSORS + (",coref" if extra else "")
        self._pipelines: dict[bool, Any] = {}  # for text, and for lines that are already tokenized
        self._pipeline(False)

    def settings(self) -> Mapping[str, Any]:
        return {"annotator": "stanza", "version": stanza.__version__, "processors": self._processors}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        for lines in documents:
            yield self._document(lines)

    def _document(self, lines: Sequence[Line]) -> Document:
        full = [number for number, line in enumerate(lines) if (line.strip() if isinstance(line, str) else line)]
        if not full:
            return Document(tuple(Sentence(()) for _ in lines))
        tokenized = not isinstance(lines[full[0]], str)
        text: Any = [list(lines[n]) for n in full]
        if not tokenized:
            text = "\n\n".join(" ".join(str(lines[n]).split()) for n in full)
        document = document_of(self._pipeline(tokenized)(text), with_chains="coref" in self._processors)
        if len(document.sentences) != len(full):
            raise AnaphoraError(f"Stanza split {len(full)} lines into {len(document.sentences)} sentences")
        sentences = [Sentence(()) for _ in lines]
        for number, sentence in zip(full, document.sentences, strict=True):
            sentences[number] = sentence
        chains = document.chains
        if chains is not None:
            chains = tuple(tuple(Mention(full[m.sentence], m.start, m.end, m.head) for m in chain) for chain in chains)
        return Document(tuple(sentences), chains)

    def _pipeline(self, tokenized: bool) -> Any:
        if tokenized not in self._pipelines:
            tokenization = {"tokenize_pretokenized": True} if tokenized else {"tokenize_no_ssplit": True}
            try:
                self._pipelines[tokenized] = stanza.Pipeline(
                    self.language, processors=self._processors, download_method=None, verbose=False, **tokenization
                )
            except Exception as error:  # the exception depends on the missing file
                remedy = f"Get the models with: python -c \"import stanza; stanza.download('{self.language}')\""
                problem = f"stanza:{self.language} cannot be loaded: {error}".rstrip(".")
                raise AnaphoraError(f"{problem}. {remedy}") from None
        return self._pipelines[tokenized]


def document_of(annotated: Any, *, with_chains: bool) -> Document:
    """A Stanza document as a `Document`, with chains if the pipeline resolves coreference."""
    sentences, tokens_of = [], []
    for sentence in annotated.sentences:
        words = [_word(word) for word in sentence.words]
        contractions = [
            Contraction(token.id[0] - 1, token.id[-1] - 1, token.text, bool(token.spaces_after))
            for token in sentence.tokens
        ]
        converted, token_of = contracted(universal(words, "ud"), contractions)
        sentences.append(converted)
        tokens_of.append(token_of)
    if not with_chains:
        return Document(tuple(sentences))
    chains = (_chain(chain, sentences, tokens_of) for chain in annotated.coref)
    return Document(tuple(sentences), tuple(chain for chain in chains if len(chain) > 1))


def _word(word: Any) -> Token:
    features = dict(part.split("=", 1) for part in (word.feats or "").split("|") if "=" in part)
    head = None if not word.head else word.head - 1
    return Token(
        word.text, word.lemma or "", word.upos or "", features, head, word.deprel or "dep", True, word.xpos or ""
    )


def _chain(chain: Any, sentences: Sequence[Sentence], tokens_of: Sequence[Sequence[int]]) -> Chain:
    mentions = []
    for mention in chain.mentions:
        if not isinstance(mention.start_word, int):  # an empty word: a dropped pronoun
            continue
        token_of = tokens_of[mention.sentence]
        start, end = token_of[mention.start_word], token_of[mention.end_word - 1] + 1
        mentions.append(Mention(mention.sentence, start, end, head_of(sentences[mention.sentence], start, end)))
    return tuple(sorted(mentions, key=lambda m: (m.sentence, m.start)))
