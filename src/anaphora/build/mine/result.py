"""The result of mining: a balanced sample of what was found, written as a suite, with statistics of the corpus."""

from __future__ import annotations

import hashlib
import heapq
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anaphora.align.alignment import Alignment
from anaphora.align.tokenize import sign_name
from anaphora.build.mine.corpus import Index
from anaphora.build.mine.shards import Stage, Words, unpack, unpack_pieces
from anaphora.core.columns import tsv_line
from anaphora.core.errors import AnaphoraError
from anaphora.core.files import atomic_writer, write_atomic
from anaphora.core.parsing import is_count
from anaphora.suites.example import Example
from anaphora.suites.readers.contrapro import KEYS
from anaphora.suites.suite import Header, example_line, header_line

if TYPE_CHECKING:
    from anaphora.build.mine.pipeline import Output, Settings

# A balanced sample (ContraPro §3.1). The random number of a find depends on the seed and the find alone, and the
# smallest are taken: the sample is independent of shards and workers, and a larger sample contains a smaller one.

Find = Mapping[str, Any]  # a row of the stage `extract`
FindKey = tuple[int, int]  # the shard of a find, and its number there


def parse_size(text: str, classes: Mapping[str, int]) -> int | None:
    """Return the largest size of a class by `--per-class`: a number, `all` (None), or `even` (the smallest class)."""
    if text == "all":
        return None
    if text == "even":
        return min(classes.values(), default=0)
    if is_count(text) and int(text):
        return int(text)
    raise AnaphoraError(
        f"--per-class {text}: write a number, all, or even (as many of each as there are of the rarest)"
    )


def choose(finds: Iterable[tuple[FindKey, Find]], size: int | None, seed: int) -> set[FindKey] | None:
    """Return the keys of the sampled finds, at most `size` of each class; None stands for all finds."""
    if size is None:
        return None
    heaps: dict[str, list[tuple[int, int, int]]] = {}  # the smallest of each class, negated: heapq has only min-heaps
    for (shard, number), find in finds:
        heap = heaps.setdefault(find["label"], [])
        entry = (-draw(find, seed), -shard, -number)
        if len(heap) < size:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    return {(-shard, -number) for heap in heaps.values() for _, shard, number in heap}


def draw(find: Find, seed: int) -> int:
    """Return the random number of a find."""
    tags = find["tags"]
    parts = (str(seed), str(tags["document"]), str(tags["sentence"]), find["label"], find["right"], *find["wrong"])
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big")


# Translations of pronouns in the corpus (ContraPro 2018, Table 2).


NOTHING = ""  # the translation of an unaligned pronoun
CASED = ("NOUN", "PROPN")
ENDS = frozenset(".!?:…")


def translations(
    source: Sequence[Words], target: Sequence[Words], links: Sequence[Alignment], counts: Counter[tuple[str, str]]
) -> None:
    """Count the words that third-person pronouns are aligned to."""
    for sentence, other, points in zip(source, target, links, strict=True):
        pronouns = {
            index
            for index, (upos, features) in enumerate(sentence.kinds)
            if upos == "PRON" and features.get("Person") == "3" and features.get("Poss") != "Yes"
        }
        linked = set()
        for i, j in points:
            if i in pronouns:
                linked.add(i)
                counts[sentence.texts[i].lower(), _written(other, j)] += 1
        for i in pronouns - linked:
            counts[sentence.texts[i].lower(), NOTHING] += 1


def pronoun_table(counts: Iterable[tuple[str, str, int]]) -> dict[str, dict[str, Any]]:
    """Return the translations of each pronoun with frequency and probability, the most frequent pronoun first."""
    counters: dict[str, Counter[str]] = {}
    for pronoun, word, number in counts:
        counters.setdefault(pronoun, Counter())[word] += number
    table = {}
    for pronoun, words in sorted(counters.items(), key=lambda item: (-item[1].total(), item[0])):
        links = words.total() - words[NOTHING]
        rows = sorted(
            ((word, number) for word, number in words.items() if word != NOTHING), key=lambda r: (-r[1], r[0])
        )
        table[pronoun] = {
            "links": links,
            "without_link": words[NOTHING],
            "translations": [
                {"word": word, "frequency": number, "probability": round(number / links, 4)} for word, number in rows
            ],
        }
    return table


def _written(sentence: Words, index: int) -> str:
    """Return a word as it is written within a sentence: sentence-initial words are lowercased, except nouns.

    A line may contain several sentences: the next one begins after final punctuation, and possibly quotes.
    """
    before = index
    while before and sentence.kinds[before - 1][0] == "PUNCT" and sentence.texts[before - 1] not in ENDS:
        before -= 1
    begins = not before or sentence.texts[before - 1] in ENDS
    text = sentence.texts[index]
    return text.lower() if begins and sentence.kinds[index][0] not in CASED else text


# The suite, and ContraPro's JSON.


def examples(finds: Iterable[tuple[FindKey, Find]], text: Stage, context: int) -> Iterator[tuple[str, Example]]:
    """Yield the finds as examples with their classes; context is shorter at the beginning of a document."""
    shard, pieces = -1, []
    used: Counter[str] = Counter()  # ids: two documents may have the same name
    for (number, _), find in finds:
        if number != shard:
            shard, pieces = number, list(unpack_pieces(text.read(number)))
        piece, index, label, tags = pieces[find["piece"]], find["sentence"], find["label"], find["tags"]
        before = slice(max(0, index - context), index)
        name = f"{tags['document']}:{tags['sentence']}:{label}"
        name = name if find["number"] == 1 else f"{name}:{find['number']}"
        used[name] += 1
        yield (
            label,
            Example(
                id=name if used[name] == 1 else f"{name}#{used[name]}",
                source=(*piece.source[before], piece.source[index]),
                candidates=tuple((*piece.target[before], target) for target in (find["right"], *find["wrong"])),
                gold=0,
                tags=tags,
            ),
        )


def write_suite(
    path: Path | None, contrapro: Path | None, header: Header, examples: Iterable[Example], made: Mapping[str, Any]
) -> str:
    """Write a suite, ContraPro's JSON (which has no context), or both, and return the hash of the suite.

    made: the settings, which are written to the header
    """
    digest = hashlib.sha256()
    with ExitStack() as stack:
        out = stack.enter_context(atomic_writer(path)) if path is not None else None
        records = stack.enter_context(atomic_writer(contrapro)) if contrapro is not None else None
        before = b"[\n"
        if out is not None:
            first = json.loads(header_line(header)) | {"mined": dict(made)}
            out.write(json.dumps(first, ensure_ascii=False).encode() + b"\n")
        for example in examples:
            line = example_line(example)
            digest.update(line)
            if out is not None:
                out.write(line)
            if records is not None:
                fields = json.dumps(record(example), ensure_ascii=False, indent=1, sort_keys=True)
                records.write(before + fields.encode())
                before = b",\n"
        if records is not None:
            records.write(b"\n]\n" if before == b",\n" else b"[]\n")
    return digest.hexdigest()


def record(example: Example) -> dict[str, Any]:
    """Return an example as a record of ContraPro: `errors` are the contrastive translations."""
    tags: Any = example.tags
    assert example.gold is not None
    try:
        pronouns = tags["candidate_pronouns"]
        fields = {
            "src segment": example.source[-1],
            "ref segment": example.candidates[example.gold][-1],
            "src pronoun": tags["source_pronoun"],
            "ref pronoun": tags["reference_pronoun"],
            "intrasegmental": None if "location" not in tags else tags["location"] == "intrasegmental",
            "errors": [
                {"contrastive": passage[-1], "replacement": pronoun, "type": "pronominal coreference"}
                for passage, pronoun in zip(example.candidates[1:], pronouns[1:], strict=True)
            ],
        }
    except KeyError as error:
        raise AnaphoraError(f"ContraPro's format is for pronouns: example {example.id!r} has no tag {error}") from None
    return fields | {key: tags[tag] for key, tag in KEYS.items() if tag in tags}


# Statistics of the suite: classes by the distance of the antecedent (ContraPro 2018, Table 4).

FAR = 3  # sentences; larger distances share a row


@dataclass(slots=True)
class Statistics:
    """Counts of examples: by class and distance, and by source pronoun and class."""

    distances: dict[str, Counter[str]] = field(default_factory=dict)
    classes: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)

    def add(self, label: str, example: Example) -> None:
        self.classes[label] += 1
        if isinstance(source := example.tags.get("source_pronoun"), str):
            self.sources[source] += 1
        distance = example.tags.get("distance")
        if isinstance(distance, int):
            row = str(distance) if distance <= FAR else f">{FAR}"
            self.distances.setdefault(row, Counter())[label] += 1

    def rows(self) -> list[tuple[str, dict[str, int]]]:
        """Return the number of examples of each class by distance, the nearest first."""
        order = [*map(str, range(FAR + 1)), f">{FAR}"]
        return [
            (name, {label: self.distances[name][label] for label in sorted(self.classes)})
            for name in order
            if name in self.distances
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"classes": dict(sorted(self.classes.items())), "distances": dict(self.rows())}


# The last steps, which are fast and always repeated: balance, write the suite, and sum up the counts of the shards.

TOP = 12  # translations of a pronoun that are shown; all are in the work folder
TABLE = "pronouns.tsv"


@dataclass(frozen=True, slots=True)
class StageReport:
    """The work of a stage: reused shards, and the sentence pairs and time of the others."""

    name: str
    shards: int
    reused: int
    pairs: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"seconds": round(self.seconds, 2)}


@dataclass(slots=True)
class MiningResult:
    """The result of mining: counts of the corpus, finds, rejections and examples, and reports of the stages."""

    index: Index
    cleaned: dict[str, Counter[str]] = field(default_factory=dict)  # side → rule → sentences it has changed
    found: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    statistics: Statistics = field(default_factory=Statistics)
    table: dict[str, dict[str, Any]] = field(default_factory=dict)
    stages: list[StageReport] = field(default_factory=list)
    made: dict[str, Any] = field(default_factory=dict)
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        top = {
            pronoun: row | {"translations": row["translations"][:TOP], "words": len(row["translations"])}
            for pronoun, row in self.table.items()
        }
        return {
            "documents": self.index.documents,
            "pairs": self.index.pairs,
            "normalized": {
                side: {sign_name(sign): count for sign, count in counts.items()}
                for side, counts in self.index.normalized.items()
            },
            "cleaned": {side: dict(counts) for side, counts in self.cleaned.items()},
            "candidates": dict(self.counts.most_common()),
            "found": dict(sorted(self.found.items())),
            "examples": self.statistics.classes.total(),
            **self.statistics.to_dict(),
            "pronoun_table": top,
            "stages": [stage.to_dict() for stage in self.stages],
            "settings": self.made,
            "sha256": self.sha256,
        }


def finish(
    result: MiningResult,
    settings: Settings,
    output: Output,
    breakdowns: tuple[str, ...],
    text: Stage,
    links: Stage,
    finds: Stage,
) -> MiningResult:
    """Balance the finds, write the suite, and complete the result."""
    shards = len(result.index.shards)
    for number in range(shards):
        counts, *rows = unpack(finds.read(number))
        result.counts.update(counts)
        result.found.update(row["label"] for row in rows)
    size = parse_size(settings.per_class, result.found)
    chosen_keys = choose(_finds(finds, shards), size, settings.seed)
    chosen = (find for find in _finds(finds, shards) if chosen_keys is None or find[0] in chosen_keys)
    header = Header(output.name, *settings.languages, breakdowns, citation=output.citation, licence=output.licence)
    result.made |= {"per_class": settings.per_class, "seed": settings.seed, "context": settings.context}

    def counted() -> Iterator[Example]:
        for label, example in examples(chosen, text, settings.context):
            result.statistics.add(label, example)
            yield example

    result.sha256 = write_suite(output.suite, output.contrapro, header, counted(), result.made)
    result.table = pronoun_table(row for number in range(shards) for row in links.first_row(number))
    lines = ["pronoun\tword\tfrequency\tprobability"]
    for pronoun, row in result.table.items():
        for t in row["translations"]:
            lines.append(tsv_line([pronoun, t["word"], str(t["frequency"]), str(t["probability"])]))
    write_atomic(output.work / TABLE, "".join(f"{line}\n" for line in lines).encode())
    return result


def _finds(stage: Stage, shards: int) -> Iterator[tuple[FindKey, Find]]:
    for number in range(shards):
        rows = unpack(stage.read(number))
        next(rows)  # the counts
        yield from (((number, k), row) for k, row in enumerate(rows))
