"""What only experiments/eval-anaphora-2019 uses: the settings of Table 4, tuning a language model on pairs,
and sampling pairs."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
if importlib.util.find_spec("peft") is None:  # not imported here: it takes seconds, and few workers need it
    pytest.skip("PEFT is not installed: pip install 'anaphora[measure]'", allow_module_level=True)


from anaphora.core.errors import AnaphoraError
from anaphora.languages.pronouns import load_readings
from anaphora.measure.config import Config
from anaphora.measure.texts import Line
from anaphora.suites.example import Example, Tag


def load(name: str) -> Any:
    """A module of the experiment."""
    file = Path(__file__).parents[2] / "experiments" / "eval-anaphora-2019" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"eval_anaphora_2019{name}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sampling, table4 = load("_sampling"), load("_table4")
ENGLISH = load_readings("en")


def test_the_presets_are_the_experiments_of_table_4() -> None:
    actual = [(c.model.context, c.model.kind, c.data.dev_kind, c.data.train_kind) for c in table4.presets().values()]
    assert actual == [
        ("NC", "average", "noisy", "system"),
        ("NC", "attention", "noisy", "system"),
        ("NC", "attention", "system", "system"),
        ("RC", "average", "noisy", "system"),
        ("RC", "attention", "noisy", "system"),
        ("CRC", "average", "noisy", "system"),
        ("CRC", "attention", "noisy", "system"),
        ("CRC", "attention", "system", "system"),
    ]
    assert list(table4.presets()) == [f"table4-{n}" for n in range(1, 9)]
    assert Config().training.margin == 0.1


def test_eight_experiments_of_six_models(toy: list[Example]) -> None:
    systems = [replace(e, id=f"s/{e.id}", tags={"kind": "system"}) for e in toy]
    messages: list[str] = []
    overrides = {"training.epochs": "2", "model.width": "8", "model.sentences": "1"}
    rows = table4.run_table(systems, [*toy[:30], *systems[:20]], overrides, report=messages.append)
    assert [(row.context, row.test, row.pairs) for row in rows] == [
        ("NC-Baseline", "R vs. R′", 30),
        ("NC", "R vs. R′", 30),
        ("NC", "R vs. S", 20),
        ("RC-Baseline", "R vs. R′", 30),
        ("RC", "R vs. R′", 30),
        ("CRC-Baseline", "R vs. R′", 30),
        ("CRC", "R vs. R′", 30),
        ("CRC", "R vs. S", 20),
    ]
    assert len(messages) == 6
    table = table4.table4(rows)
    assert table.rows[0].cells[-2:] == ("69.12", "85.80")
    assert rows[7].to_dict()["paper"] == {"glove": 0.7787, "elmo": 0.9069}


# Noisy pairs that are sampled by the confusion of pronouns in other pairs.


def noisy(reference: str, system: str, systems: list[Tag], kind: str = "noisy") -> Example:
    tags: dict[str, Tag] = {"kind": kind, "reference_pronoun": reference, "system_pronoun": system, "systems": systems}
    return Example("x", ("",), (("a",), ("b",)), 0, tags)


def test_confusion_is_counted_by_system() -> None:
    actual = sampling.count_confusion(
        [noisy("he", "it", ["a", "b"]), noisy("he", "she", ["a"]), noisy("he", "they", ["a"], "system")]
    )
    assert actual == {"he": {"it": 2, "she": 1}}
    with pytest.raises(AnaphoraError, match="no noisy pairs"):
        sampling.count_confusion([noisy("he", "it", ["a"], "system")])


def test_pairs_follow_the_confusion() -> None:
    lines = [Line(n, "1", ("Before.", "He saw them, I say."), (), None) for n in range(1, 2001)]
    confusion = {"he": {"it": 3, "she": 1}, "them": {"it": 4}, "whom": {"who": 50}}
    examples = list(sampling.sampled_pairs(lines, ENGLISH, confusion, seed=3))
    assert len(examples) == 2000
    pairs = Counter(str(example.tags["pronoun_pair"]) for example in examples)
    assert set(pairs) == {"he:it", "he:she", "them:it"}
    assert pairs["he:it"] / 2000 == pytest.approx(3 / 8, abs=0.04)
    assert pairs["them:it"] / 2000 == pytest.approx(4 / 8, abs=0.04)
    first = next(example for example in examples if example.tags["pronoun_pair"] == "he:it")
    assert first.candidates == (("Before.", "He saw them, I say."), ("Before.", "It saw them, I say."))
    assert first.tags["error"] == "gender"
    again = list(sampling.sampled_pairs(lines, ENGLISH, confusion, seed=3))
    assert again == examples
    assert list(sampling.sampled_pairs(lines, ENGLISH, confusion, seed=4)) != examples


def test_a_share_of_the_sentences() -> None:
    lines = [Line(n, "1", ("He left.",), (), None) for n in range(1000)]
    confusion = {"he": {"it": 1}}
    assert len(list(sampling.sampled_pairs(lines, ENGLISH, confusion, share=0.25))) == pytest.approx(250, abs=60)
    assert list(sampling.sampled_pairs([Line(1, "1", ("Nobody.",), (), None)], ENGLISH, confusion)) == []


def test_both_directions_are_as_frequent() -> None:
    pairs = [("he", "it")] * 3 + [("it", "he")] * 2 + [("who", "which")] * 4
    actual = sampling.balanced([noisy(one, other, ["a"]) for one, other in pairs])
    directions = [(example.tags["reference_pronoun"], example.tags["system_pronoun"]) for example in actual]
    assert directions == [("he", "it")] * 2 + [("it", "he")] * 2
