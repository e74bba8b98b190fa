"""CoNLL-U files of any tool or treebank: documents at `# newdoc`, coreference chains in `Entity=` (CorefUD, GUM)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anaphora.annotate import Line
from anaphora.annotate.document import Contraction, Document, Entities, Sentence, Token, contracted
from anaphora.annotate.schemes import universal
from anaphora.core.errors import BadInput
from anaphora.core.files import text_lines
from anaphora.core.parsing import is_count, shown

COLUMNS = 10


@dataclass(frozen=True, slots=True)
class Parsed:
    """One sentence of a file: its first line, its tokens, its `Entity=` values, whether it begins a document."""

    line: int
    sentence: Sentence
    entities: tuple[tuple[int, str], ...]  # token and value
    new_document: bool


class ConlluAnnotator:
    """Annotation from a file, whose sentences must be those of the corpus in the same order."""

    needs_all = True

    def __init__(self, path: str, language: str = "") -> None:
        self.path = Path(path)
        self.language = language

    def settings(self) -> Mapping[str, Any]:
        return {"annotator": "conllu", "file": self.path.name}

    def annotate(self, documents: Iterable[Sequence[Line]]) -> Iterator[Document]:
        """The documents of a corpus. A line may hold several sentences of the file; spaces are ignored."""
        parsed = read_sentences(self.path)
        for number, lines in enumerate(documents, start=1):
            entities = Entities()
            yield Document(
                tuple(self._line(parsed, line, k, number, entities) for k, line in enumerate(lines)),
                entities.chains(),
            )
        if (rest := next(parsed, None)) is not None:
            raise BadInput(self.path, "more sentences than the corpus has", line=rest.line)

    def _line(self, parsed: Iterator[Parsed], line: Line, k: int, document: int, entities: Entities) -> Sentence:
        """The sentence or sentences of the file that make a line of the corpus."""
        wanted = "".join(line.split() if isinstance(line, str) else line).replace(" ", "")
        tokens: list[Token] = []
        while wanted:
            part = next(parsed, None)
            if part is None:
                raise BadInput(self.path, f"it ends before sentence {k + 1:,} of document {document:,} of the corpus")
            text = "".join(t.text for t in part.sentence).replace(" ", "")
            if not text or not wanted.startswith(text):
                problem = f"not sentence {k + 1:,} of document {document:,} of the corpus: {part.sentence.text[:40]!r}"
                remedy = "The file must hold the corpus, sentence by sentence, in its order."
                raise BadInput(self.path, problem, line=part.line, remedy=remedy)
            wanted = wanted[len(text) :]
            tokens = _appended(tokens, part, entities)
        sentence = Sentence(tuple(tokens))
        entities.end_of_sentence(k, sentence)
        return sentence


def read_conllu(path: Path) -> Iterator[Document]:
    """The documents of a file."""
    sentences: list[Sentence] = []
    entities = Entities()
    for parsed in read_sentences(path):
        if parsed.new_document and sentences:
            yield Document(tuple(sentences), entities.chains())
            sentences, entities = [], Entities()
        _appended([], parsed, entities)
        entities.end_of_sentence(len(sentences), parsed.sentence)
        sentences.append(parsed.sentence)
    if sentences:
        yield Document(tuple(sentences), entities.chains())


def read_sentences(path: Path) -> Iterator[Parsed]:
    """The sentences of a file; comments other than `# newdoc` are ignored."""
    rows: list[tuple[int, list[str]]] = []
    begins = True
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("#"):
            begins |= line[1:].strip().startswith("newdoc")
        elif line.strip():
            columns = line.split("\t")
            if len(columns) != COLUMNS:
                problem = f"{len(columns)} columns, {COLUMNS} expected"
                raise BadInput(path, problem, line=number, remedy="CoNLL-U has tabs between its columns.")
            rows.append((number, columns))
        elif rows:
            yield _sentence(rows, path, begins)
            rows, begins = [], False
    if rows:
        yield _sentence(rows, path, begins)


def _sentence(rows: list[tuple[int, list[str]]], path: Path, begins: bool) -> Parsed:
    words: list[Token] = []
    contractions, notes = [], []
    for number, columns in rows:
        identifier, misc = columns[0], columns[9]
        if "." in identifier:  # empty nodes of enhanced dependencies are not words of the text
            continue
        spaced = "SpaceAfter=No" not in misc
        if "-" in identifier:
            first, _, last = identifier.partition("-")
            between = _number(first, path, number) - 1, _number(last, path, number) - 1
            contractions.append(Contraction(*between, columns[1], spaced))
            continue
        if _number(identifier, path, number) != len(words) + 1:
            raise BadInput(path, f"word {identifier} where {len(words) + 1} is expected", line=number)
        words.append(_word(columns, spaced, path, number))
        if entity := next((part[7:] for part in misc.split("|") if part.startswith("Entity=")), ""):
            notes.append((len(words) - 1, entity))
    _check(words, contractions, path, rows[0][0])
    sentence, token_of = contracted(universal(words, "ud"), contractions)
    return Parsed(rows[0][0], sentence, tuple((token_of[i], entity) for i, entity in notes), begins)


def _check(words: Sequence[Token], contractions: Sequence[Contraction], path: Path, line: int) -> None:
    """Raise BadInput unless heads and contractions are inside the sentence and every word leads to a root."""
    if any(c.last >= len(words) or c.first > c.last for c in contractions):
        raise BadInput(path, "a contraction is outside its sentence", line=line)
    rooted: set[int] = set()
    for index in range(len(words)):
        path_to_root: list[int] = []
        word: int | None = index
        while word is not None and word not in rooted:
            if not 0 <= word < len(words):
                problem = f"head {word + 1} is outside the sentence of {len(words)} words"
                raise BadInput(path, problem, line=line)
            if word in path_to_root:
                raise BadInput(path, f"word {word + 1} depends on itself", line=line)
            path_to_root.append(word)
            word = words[word].head
        rooted.update(path_to_root)


def _word(columns: Sequence[str], spaced: bool, path: Path, number: int) -> Token:
    _, text, lemma, upos, xpos, features, head, relation, *_ = columns
    return Token(
        text,
        "" if lemma == "_" and text != "_" else lemma,
        "" if upos == "_" else upos,
        {} if features == "_" else dict(part.split("=", 1) for part in features.split("|") if "=" in part),
        (_number(head, path, number) - 1 if head != "0" else None) if head != "_" else None,
        "dep" if relation == "_" else relation,
        spaced,
        "" if xpos == "_" else xpos,
    )


def _number(text: str, path: Path, number: int) -> int:
    if not is_count(text):
        raise BadInput(path, f"not a word number: {shown(text)}", line=number)
    return int(text)


def _appended(tokens: list[Token], parsed: Parsed, entities: Entities) -> list[Token]:
    """Append the tokens of another sentence of the file to those of a line, and note its entities."""
    start = len(tokens)
    for index, note in parsed.entities:
        entities.note(start + index, note)
    if not start:
        return list(parsed.sentence.tokens)
    return [*tokens, *(t if t.head is None else replace(t, head=t.head + start) for t in parsed.sentence)]
