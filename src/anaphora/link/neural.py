"""Neural resolvers where they are installed: fastcoref, Maverick, coreferee. Each finds chains; chains make links.

They bring models of hundreds of megabytes and versions of torch, transformers or spaCy of their own, and so are no
extra of this project: install them yourself (`pip install fastcoref`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from anaphora.annotate.document import Chain, Document, Mention, head_of
from anaphora.core.errors import AnaphoraError
from anaphora.link import Link
from anaphora.link.chains import links_of
from anaphora.link.phrases import span

Span = tuple[int, int]  # tokens of the document from start to end, the end not included


class _NeuralLinker:
    """What the resolvers share: clusters of spans over the tokens of a whole document."""

    name = ""
    module = ""
    install = ""

    def __init__(self, what: str, language: str) -> None:
        self.what, self.language = what, language
        try:
            self.library = import_module(self.module)
        except ImportError as error:
            missing = error.name or self.module
            raise AnaphoraError(f"--link {self.name} needs {missing}. Install it with: {self.install}") from None
        self.start()

    def settings(self) -> Mapping[str, Any]:
        return {"linker": self.name, "model": self.what, "version": getattr(self.library, "__version__", "")}

    def links(self, document: Document) -> list[Link]:
        return links_of(document, chains_of(document, self.clusters(document)), self.language)

    def start(self) -> None:
        """Load the model."""
        raise NotImplementedError

    def clusters(self, document: Document) -> Iterable[Sequence[Span]]:
        """The spans that name the same, in tokens of the document."""
        raise NotImplementedError


class FastCorefLinker(_NeuralLinker):
    """fastcoref (Otmazgin et al. 2022), English: fastcoref or fastcoref:MODEL (a name or path of its own)."""

    name, module, install = "fastcoref", "fastcoref", "pip install fastcoref"

    def start(self) -> None:
        chosen = {"model_name_or_path": self.what} if self.what else {}
        # words are given as they are: it needs no spaCy pipeline of its own
        self.model: Any = self.library.FCoref(device="cpu", nlp=None, enable_progress_bar=False, **chosen)

    def clusters(self, document: Document) -> Iterable[Sequence[Span]]:
        words = [token.text for sentence in document.sentences for token in sentence]
        (answer,) = self.model.predict(texts=[words], is_split_into_words=True)
        found: Iterable[Sequence[Span]] = answer.get_clusters(as_strings=False)
        return found


class MaverickLinker(_NeuralLinker):
    """Maverick (Martinelli et al. 2024), English: maverick or maverick:MODEL."""

    name, module, install = "maverick", "maverick", "pip install maverick-coref"

    def start(self) -> None:
        chosen = {"hf_name_or_path": self.what} if self.what else {}
        self.model: Any = self.library.Maverick(device="cpu", **chosen)

    def clusters(self, document: Document) -> Iterable[Sequence[Span]]:
        sentences = [[token.text for token in sentence] for sentence in document.sentences if len(sentence)]
        answer = self.model.predict(sentences)
        return [[(first, last + 1) for first, last in cluster] for cluster in answer["clusters_token_offsets"]]


class CorefereeLinker(_NeuralLinker):
    """coreferee in a spaCy pipeline of its own, English, German, French: coreferee:PIPELINE."""

    name, module, install = "coreferee", "coreferee", "pip install coreferee"

    def start(self) -> None:
        if not self.what:
            raise AnaphoraError("--link coreferee needs a spaCy pipeline. Write: coreferee:en_core_web_lg")
        self.nlp: Any = import_module("spacy").load(self.what)
        self.nlp.add_pipe("coreferee")

    def clusters(self, document: Document) -> Iterable[Sequence[Span]]:
        words = [token.text for sentence in document.sentences for token in sentence]
        doc = self.nlp(import_module("spacy.tokens").Doc(self.nlp.vocab, words=words))
        return [[_around(document, mention.token_indexes) for mention in chain] for chain in doc._.coref_chains]


def _around(document: Document, tokens: Sequence[int]) -> Span:
    """coreferee names heads: of one head the words of its phrase, of several what is between them."""
    if len(tokens) == 1:
        start = 0
        for sentence in document.sentences:
            if tokens[0] < start + len(sentence):
                first, end = span(sentence, tokens[0] - start)
                return start + first, start + end
            start += len(sentence)
    return min(tokens), max(tokens) + 1


def chains_of(document: Document, clusters: Iterable[Sequence[Span]]) -> list[Chain]:
    """Clusters over the tokens of a document as chains of mentions; spans that cross sentences are left out."""
    starts, total = [], 0
    place: list[int] = []  # for each token its sentence
    for number, sentence in enumerate(document.sentences):
        starts.append(total)
        total += len(sentence)
        place += [number] * len(sentence)
    chains = []
    for cluster in clusters:
        mentions = []
        for first, end in sorted(cluster):
            if not 0 <= first < end <= total or place[first] != place[end - 1]:
                continue
            number = place[first]
            start, stop = first - starts[number], end - starts[number]
            mentions.append(Mention(number, start, stop, head_of(document.sentences[number], start, stop)))
        if len(mentions) > 1:
            chains.append(tuple(mentions))
    return chains
