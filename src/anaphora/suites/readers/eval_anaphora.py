"""The annotated pairs of Jwalapuram et al. 2019: a reference and the same with one pronoun of a system's output."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anaphora.core.errors import BadInput
from anaphora.core.files import open_binary, text_lines
from anaphora.core.parsing import expecting, json_record
from anaphora.core.pickles import read_plain_pickles
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Tag
from anaphora.suites.readers.text import differing_words
from anaphora.suites.suite import Header, Suite, suite_of

LANGUAGES = {"german": "de", "french": "fr", "russian": "ru", "chinese": "zh"}
END_OF_SENTENCE = (".", "?", "!")


def read(path: Path) -> Suite:
    """`test_data_{german,french,russian,chinese}`: English only, so the source sentences of an Example are empty.

    The pickle as released (read as plain data, nothing in it is run), or JSON Lines with the same keys. The text is
    tokenized and lowercased, without punctuation but for sentence ends. A context holds the previous sentences and, at
    its end, the current one.
    """
    language = next((code for name, code in LANGUAGES.items() if name in path.name), None)
    if language is None:
        remedy = "Names are such as test_data_german or test_data_german.jsonl."
        raise BadInput(path, "the file name does not contain the language", remedy=remedy)

    def examples() -> Iterator[Example]:
        with open_binary(path) as stream:  # no pickle begins like this
            begins = stream.read(64).removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
        lines = ".jsonl" in path.suffixes or begins
        for number, row in enumerate(_rows_of_lines(path) if lines else _rows_of_pickle(path), start=1):
            position = {"line": number} if lines else {"item": f"pair {number:,}"}
            with expecting(path, "an annotated pair", **position):
                yield _example(row, language)

    header = Header(
        f"eval-anaphora-{language}",
        language,
        "en",
        ("reference_pronoun",),
        citation=citation("eval-anaphora"),
        licence="not stated",
    )
    return suite_of(header, examples, path)


def _rows_of_lines(path: Path) -> Iterator[Any]:
    for number, line in enumerate(text_lines(path), start=1):
        yield json_record(line, path, number, "an annotated pair")


def _rows_of_pickle(path: Path) -> Iterator[Any]:
    """A list of pairs, or a pickle for each pair after the other, as the released program writes and reads them."""
    for value in read_plain_pickles(path):
        yield from value if isinstance(value, list | tuple) else [value]


def _example(row: dict[str, Any], language: str) -> Example:
    reference, noisy = row["reference_sentence"], row["noisy_sentence"]
    before = row["reference_context"][: -len(reference)]
    if before + reference != row["reference_context"] or before + noisy != row["noisy_context"]:
        raise ValueError("the context does not end with the current sentence")
    context = _sentences(before)
    right, wrong = " ".join(reference), " ".join(noisy)
    # newstest2017.KIT.4951.de-en.sgm.clean_2499: the test set, the system, and the line in its output
    origin = row["origin"].rsplit("/", 1)[-1]
    tags: dict[str, Tag] = {"origin": origin}
    if parts := re.fullmatch(r"([^.]+)\.(.+)\.\w\w-\w\w\.sgm.*_(\d{1,18})", origin):
        tags |= {"testset": parts[1], "system": parts[2], "sentence": int(parts[3])}
    differences = differing_words(right, wrong)
    if len(differences) == 1:  # in about one item in a hundred the noisy pronoun changes the number of words
        tags["reference_pronoun"], tags["system_pronoun"] = differences[0]
        tags["pronoun_pair"] = ":".join(differences[0])
    return Example(
        id=f"{language}/{row['sample_id']}",
        source=("",) * (len(context) + 1),
        candidates=((*context, right), (*context, wrong)),
        gold=0,
        tags=tags,
    )


def _sentences(tokens: list[str]) -> list[str]:
    """Tokens as sentences; a headline without an end mark runs into the sentence after it, as it does in the data."""
    sentences: list[list[str]] = []
    open_sentence = False
    for token in tokens:
        if token in END_OF_SENTENCE and sentences:
            sentences[-1].append(token)  # also a second mark, as in ". . ."
            open_sentence = False
        elif open_sentence:
            sentences[-1].append(token)
        else:
            sentences.append([token])
            open_sentence = True
    return [" ".join(sentence) for sentence in sentences]
