"""Rows of the result: each is computed once for its options and kept under ANAPHORA_WORK, so that a run is resumed."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _data import TESTED, WORK, test

from anaphora.languages.pronouns import pronoun_lists

PEOPLE = ("all", "at least 80 %", "fewer", "pair not in the list")


def kept(name: str, options: dict[str, Any], compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a row, from its file if it was computed with the same options; with the processor time that it took."""
    path = WORK / "rows" / f"{name.replace(' ', '-').replace('/', '-')}.json"
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if found["options"] == options:
            return found
    began = time.process_time()
    print(f"  {name} …", flush=True)
    row = {"options": options, **compute()}
    row["seconds"] = round(time.process_time() - began)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    return row


def tested(measure: Any, dev: list[Any], limit: int | None) -> dict[str, Any]:
    """Accuracy by language with interval, agreement with people, by pronoun pair over all languages, and pair by pair.

    right: for each language a character per annotated pair, 1 where the reference has the higher score
    dev: noisy development pairs: how many of them, of equivalent pronouns and of others, are right
    """
    from anaphora.measure.scoring import judge, score_examples
    from anaphora.runs import describe
    from anaphora.stats.intervals import wilson

    languages, right = {}, {}
    total, correct, people = Counter[str](), Counter[str](), Counter[tuple[str, bool]]()
    for language in TESTED:
        suite = test(language)
        items = list(score_examples(measure, list(suite)[:limit]))
        result, human = judge(items, describe(suite, sha256="", system="measure", context=None))
        languages[language] = {**result.figure.to_dict(), "human": human.to_dict() if human else None}
        right[language] = "".join(str(int(item.scores[0] > item.scores[1])) for item in items)
        people.update((sure_people(item.tags), item.scores[0] > item.scores[1]) for item in items)
        for pair, figure in result.breakdowns["pronoun_pair"].items():
            total[pair] += figure.total
            correct[pair] += figure.correct
    n, sure = (sum(found[what] for found in languages.values()) for what in ("total", "correct"))
    overall = {"total": n, "correct": sure, "accuracy": sure / n, "interval": wilson(sure, n)}
    by_pair = {pair: [correct[pair], n] for pair, n in total.most_common()}
    by_people = {group: [people[group, True], people[group, True] + people[group, False]] for group in PEOPLE}
    found = {"languages": languages, "all": overall, "pronoun_pairs": by_pair, "people": by_people, "right": right}
    return found | {"choice": on_development(measure, dev)}


def on_development(measure: Any, dev: list[Any]) -> dict[str, list[int]]:
    """How often a measure prefers the reference: on all pairs, on equivalent pronouns, and on others."""
    from anaphora.measure.scoring import score_examples

    parts: dict[str, list[bool]] = {"all": [], "equivalent": [], "others": []}
    for example, item in zip(dev, score_examples(measure, dev), strict=True):
        right = item.scores[0] > item.scores[1]
        parts["all"].append(right)
        parts["equivalent" if equivalent(example) else "others"].append(right)
    return {part: [sum(values), len(values)] for part, values in parts.items()}


def equivalent(example: Any) -> bool:
    """Whether APT's lists call the two pronouns of a pair equivalent; into English they are the same everywhere."""
    return pronoun_lists("de-en").are_equivalent(*str(example.tags["pronoun_pair"]).split(":"))


def sure_people(tags: Any) -> str:
    """How many of the answers that people gave for a pronoun pair in the study were for the reference."""
    if "human_reference" not in tags:
        return PEOPLE[3]
    answers = [int(tags[f"human_{what}"]) for what in ("reference", "system", "ties")]
    share = answers[0] / sum(answers)
    return PEOPLE[0] if share == 1 else PEOPLE[1] if share >= 0.8 else PEOPLE[2]


def size(folder: Path) -> int:
    """The bytes of the weights in a folder."""
    return sum(file.stat().st_size for file in folder.rglob("*.safetensors"))
