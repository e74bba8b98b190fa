"""ContraCAT's attacks on ContraPro as released: the attacked text, for all items or for a subset with its records."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anaphora.core.documents import parallel_lines
from anaphora.core.errors import BadInput
from anaphora.core.files import existing, require, text_lines
from anaphora.core.parsing import expecting, read_json_list, whole_number
from anaphora.suites.catalog import citation
from anaphora.suites.example import Example, Passage, Tag
from anaphora.suites.readers.contracat import split_passage
from anaphora.suites.readers.contrapro import BREAKDOWNS, record_tags
from anaphora.suites.readers.text import differing_words
from anaphora.suites.suite import Header, Suite, suite_of

Group = list[tuple[Passage, Passage]]  # source and target passage of each candidate


def read(path: Path) -> Suite:
    """The folder of one attack, below the folder with ContraPro's own en.txt, de.txt and sentence_groups.txt.

    Each item has the tag `attacked`: the id of the original in ContraPro. A released subset does not say it; it is
    found by the text of the record, and among equal texts by the words of the context.
    """
    english = require(path, "en.txt", "Name the folder of one attack, for example phrase_addition/he_said.")
    files = [english, require(path, "de.txt", "The release has no German text for this attack.")]
    base = next((f for f in path.resolve().parents[:3] if existing(f, "sentence_groups.txt")), None)
    if base is None:
        problem = "no folder above has sentence_groups.txt"
        raise BadInput(path, problem, remedy="Keep the attack in the release's tree.")
    records = existing(path, "modified_contrapro_subset.json")
    attack = f"{path.resolve().parent.name}/{path.resolve().name}".replace("_", "-", 1).removeprefix("attacks/")

    def examples() -> Iterator[Example]:
        # sentence_groups.txt holds the first line of each group, counted from 0, and the end
        lines = enumerate(text_lines(index := require(base, "sentence_groups.txt")), start=1)
        starts = [whole_number(line, index, number, "a line number") for number, line in lines if line.strip()]
        sizes = [end - start for start, end in itertools.pairwise(starts)]
        if records is None:
            for number, group in enumerate(_groups(files, sizes)):
                yield _example(str(number), group, attack, {})
            return
        subset = read_json_list(records)
        with expecting(records, "a list of ContraPro's records"):
            groups = list(_groups(files, (1 + len(record["errors"]) for record in subset)))
            originals = _originals(subset, groups, _texts(base, sizes), records)
            tags = [record_tags(record) for record in subset]
        for known, group, original in zip(tags, groups, originals, strict=True):
            yield _example(str(original), group, attack, known)

    header = Header(
        f"contracat-{attack.replace('/', '-')}", "en", "de", BREAKDOWNS, None, citation("contracat"), "not stated"
    )
    return suite_of(header, examples, path)


def _example(original: str, group: Group, attack: str, tags: dict[str, Tag]) -> Example:
    if not tags:
        pronoun = reference_pronoun([target[-1] for _, target in group])
        tags = {"source_pronoun": "it", "reference_pronoun": pronoun, "pronoun_pair": f"it:{pronoun}"}
    return Example(
        id=f"{attack}/{original}",
        source=group[0][0],
        candidates=tuple(target for _, target in group),
        gold=0,
        tags={**tags, "attack": attack, "attacked": original},
    )


def reference_pronoun(candidates: list[str]) -> str | None:
    """The pronoun of the first candidate, from what the others have in its place (possessives may differ, too)."""
    words = [word for other in candidates[1:] for word, _ in differing_words(candidates[0], other)]
    return next((w for w in words if w in ("er", "sie", "es")), None) or ("er" if "ihn" in words else None)


def _groups(files: list[Path], sizes: Iterable[int]) -> Iterator[Group]:
    rows = ((split_passage(en), split_passage(de)) for en, de in parallel_lines(*files))
    for size in sizes:
        group = [row for _, row in zip(range(size), rows, strict=False)]
        if len(group) < size:
            raise BadInput(files[0], "has fewer lines than the groups need")
        if not group:
            raise BadInput(files[0], "a group without a line")
        yield group
    if next(rows, None) is not None:
        raise BadInput(files[0], "has more lines than the groups need")


Texts = dict[tuple[str, str], list[tuple[int, set[str]]]]


def _texts(base: Path, sizes: Iterable[int]) -> Texts:
    """The items of ContraPro by their text (source, reference), with the words of their context."""
    known: Texts = defaultdict(list)
    groups = _groups([require(base, "en.txt"), require(base, "de.txt")], sizes)
    for number, group in enumerate(groups):
        source, target = group[0]
        known[_key(source[-1]), _key(target[-1])].append((number, _words(source[0], target[0])))
    return known


def _originals(subset: list[dict[str, Any]], groups: list[Group], texts: Texts, path: Path) -> list[int]:
    """The item of ContraPro that each record of a subset was made from; both are in the same order.

    304 texts occur in more than one item: among those that leave room for the records before and after, the one
    whose words of context are most those of the attacked text.
    """
    candidates = [_candidates(record, texts, path) for record in subset]
    latest, bound = [], sum(map(len, texts.values()))
    for items in reversed(candidates):
        bound = max((number for number, _ in items if number < bound), default=-1)
        latest.append(bound)
    originals, last = [], -1
    for items, bound, group in zip(candidates, reversed(latest), groups, strict=True):
        words = _words(group[0][0][0], group[0][1][0])
        possible = [item for item in items if last < item[0] <= bound]
        if not possible:
            raise BadInput(path, "the records are not in the order of ContraPro")
        last = max(possible, key=lambda item: (len(words & item[1]) / (len(words | item[1]) or 1), -item[0]))[0]
        originals.append(last)
    return originals


def _candidates(record: dict[str, Any], texts: Texts, path: Path) -> list[tuple[int, set[str]]]:
    # in the synonym attack `ref segment` has the new pronoun, and the old reference is among the errors
    targets = [record["ref segment"], *(error["contrastive"] for error in record["errors"])]
    source = _key(record["src segment"])
    items = [item for target in targets for item in texts.get((source, _key(target)), ())]
    if not items:
        problem = f"segment {record['segment id']} of {record['document id']} is not in ContraPro's text"
        raise BadInput(path, problem, remedy="Is en.txt in the folder above the one it was released with?")
    return items


def _key(sentence: str) -> str:
    return re.sub(r"\W+", "", sentence.lower())  # the text files are truecased, the records are not


def _words(*sentences: str) -> set[str]:
    return {word for sentence in sentences for word in re.findall(r"\w+", sentence.lower())}
