"""The settings of a run that belong to its measurement: what they change, and what must not change anything."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anaphora.measurement import COMPUTATION, IDENTITY, PLAIN, canonical, measurement_of

# what `anaphora score` writes for an hf: model
HEADER: dict[str, Any] = {
    "architecture": "MarianMTModel",
    "revision": None,
    "parameters": 7,
    "weights": "aa",
    "tokenizer": "T/1",
    "dtype": "float32",
    "source_code": None,
    "target_code": None,
    "prefix": "",
    "separator": " ",
    "margins_only": False,
    "truncate": False,
    "plain": False,
    "limit": None,
    "focus": "candidate",
}
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.lists(st.text(max_size=3)))


def test_plain_scoring_has_no_settings() -> None:
    measurement = measurement_of("1+1", HEADER)
    assert (measurement.settings, measurement.code) == ({}, None)


@pytest.mark.parametrize(
    "change",
    [
        {"separator": " <SEP> "},
        {"margins_only": True},
        {"truncate": True},
        {"focus": "pronoun"},
        {"mode": "score"},
        {"mode": "choose"},
        {"prompt": "{source}"},
        {"prompt": "{source}\n"},
        {"prompt": "{source}", "chat": True},
        {"prompt": "{source}", "chat": True, "chat_template": "ab"},
        {"max_tokens": 16},
        {"prefix": "translate: "},
        {"target_code": "deu_Latn"},
        {"kind": "measure"},
        {"plug_in": 1},
    ],
)
def test_a_setting_of_the_measurement_changes_the_code(change: dict[str, Any]) -> None:
    measurement = measurement_of("1+1", {**HEADER, **change})
    assert measurement.code is not None
    assert set(measurement.settings) == set(change)


@pytest.mark.parametrize("name", sorted(IDENTITY | COMPUTATION))
def test_system_and_machine_are_not_in_the_code(name: str) -> None:
    other = measurement_of("1+1", {**HEADER, "mode": "choose", name: "/home/someone/model"})
    assert other == measurement_of("1+1", {**HEADER, "mode": "choose"})


@given(st.dictionaries(st.text(max_size=5), VALUES), st.randoms())
def test_the_code_does_not_depend_on_order_or_file(settings: dict[str, Any], rng: Any) -> None:
    shuffled = list(settings.items())
    rng.shuffle(shuffled)
    again = json.loads(json.dumps(dict(shuffled)))
    assert measurement_of(None, settings).code == measurement_of(None, again).code


@given(st.dictionaries(st.text(max_size=5), VALUES), st.dictionaries(st.text(max_size=5), VALUES))
def test_different_settings_have_different_text(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = (measurement_of(None, settings).settings for settings in (one, other))
    assert (canonical(first) == canonical(second)) == (json.dumps(first) == json.dumps(second))
    assert "|" not in canonical(first)


def test_the_plain_values_are_those_of_the_options() -> None:
    from anaphora.systems.context import Options

    options = Options()
    for name, option in (("margins_only", "margins_only"), ("truncate", "truncate"), ("focus", "scope")):
        assert PLAIN[name] == getattr(options, option)
    assert PLAIN["separator"] == options.context.separator
