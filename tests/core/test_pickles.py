"""Pickles of plain data come back as they were; anything that would import, call or blow up is refused, and not run."""

from __future__ import annotations

import collections
import contextlib
import copyreg
import decimal
import gzip
import io
import os
import pickle
import pickletools
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.core.errors import BadInput
from anaphora.core.pickles import is_pickle, read_plain_pickles

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)
FIXED = settings(derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.one_of(st.booleans(), st.integers(), st.integers(-(2**200), 2**200), st.floats(allow_nan=False))
PLAIN = st.recursive(
    st.one_of(TEXTS, NUMBERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(TEXTS, NUMBERS), inner, max_size=4),
    ),
    max_leaves=15,
)


def load(folder: Path, data: bytes) -> list[Any]:
    path = folder / "data"
    path.write_bytes(data)
    return list(read_plain_pickles(path))


def refused(folder: Path, data: bytes, problem: str = "not a pickle of plain data") -> str:
    with pytest.raises(BadInput, match=problem) as raised:
        load(folder, data)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def kinds(value: Any) -> Any:
    """The types of a value, all the way down: True is not 1 and a tuple is no list."""
    if isinstance(value, list | tuple):
        return type(value), [kinds(part) for part in value]
    if isinstance(value, dict):
        return dict, [(kinds(key), kinds(part)) for key, part in value.items()]
    return type(value)


@FIXED
@given(PLAIN, st.sampled_from(PROTOCOLS))
def test_plain_data_comes_back_as_it_was(tmp_path: Path, value: Any, protocol: int) -> None:
    [actual] = load(tmp_path, pickle.dumps(value, protocol))
    assert actual == value
    assert kinds(actual) == kinds(value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_long_values_of_every_protocol(tmp_path: Path, protocol: int) -> None:
    shared = ["it"] * 3000
    value = {"many": list(range(5000)), "shared": [shared, shared], "text": "ü" * 70_000, "pairs": [(1, 2.5)] * 1100}
    assert load(tmp_path, pickle.dumps(value, protocol)) == [value]
    assert load(tmp_path, pickletools.optimize(pickle.dumps(value, protocol))) == [value]


def test_a_file_may_have_several_pickles_and_be_gzipped(tmp_path: Path) -> None:
    data = b"".join(pickle.dumps({"n": n}, n) for n in PROTOCOLS)
    assert load(tmp_path, data) == load(tmp_path, gzip.compress(data)) == [{"n": n} for n in PROTOCOLS]
    assert load(tmp_path, b"") == []


def test_strings_of_python_2_are_utf_8(tmp_path: Path) -> None:
    """Its `str` is bytes: SHORT_BINSTRING and BINSTRING of protocols 1 and 2, STRING of protocol 0."""
    assert load(tmp_path, b"\x80\x02U\x03\xc3\xbcbq\x00.") == ["üb"]
    assert load(tmp_path, b"T\x02\x00\x00\x00it.") == ["it"]
    assert load(tmp_path, b"S'it'\np0\n.") == ["it"]
    refused(tmp_path, b"U\x01\xff.")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_a_pickle(tmp_path: Path, protocol: int) -> None:
    path = tmp_path / "data"
    for value in ([{}], {"a": 1}, [("a", 2)]):
        path.write_bytes(pickle.dumps(value, protocol))
        assert is_pickle(path)
        path.write_bytes(gzip.compress(pickle.dumps(value, protocol)))
        assert is_pickle(path)


def test_what_is_not_a_pickle(tmp_path: Path) -> None:
    for text in ('{"he_it": []}', "pair\tagreement\n", "", "[1]\n", '"a"'):
        (tmp_path / "data").write_text(text)
        assert not is_pickle(tmp_path / "data")


class Runs:
    """Unpickled the usual way, it makes a file."""

    def __init__(self, proof: Path) -> None:
        self.proof = proof

    def __reduce__(self) -> Any:
        return os.system, (f"touch {self.proof}",)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_code_is_refused_and_not_run(tmp_path: Path, protocol: int) -> None:
    proof = tmp_path / "proof"
    for value in (Runs(proof), [{"reference_sentence": Runs(proof)}], {"a": (1, [Runs(proof)])}):
        data = pickle.dumps(value, protocol)
        message = refused(tmp_path, data, "names code to import")
        assert message.endswith("Only strings, numbers, lists, tuples and dicts are read from a pickle.")
        assert not proof.exists()
    pickle.loads(data)
    assert proof.exists()  # it would have worked


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        *(os.system, dict, Path("x"), collections.Counter("ab"), collections.OrderedDict(a=1), decimal.Decimal(1), 1j),
        *(None, {1, 2}, frozenset((1,)), b"bytes", bytearray(b"b"), re.compile("a"), {(1, 2): 3}, {"a": [None]}),
    ],
    ids=repr,
)
def test_nothing_but_plain_data_is_admitted(tmp_path: Path, value: Any, protocol: int) -> None:
    refused(tmp_path, pickle.dumps(value, protocol), "not a pickle of plain data")


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"(cos\nsystem\nS'true'\no.", "GLOBAL"),
        (b"(S'true'\nios\nsystem\n.", "INST"),
        (b"\x8c\x02os\x8c\x06system\x93.", "STACK_GLOBAL"),
        (b"]]R.", "REDUCE"),
        (b"]]b.", "BUILD"),
        (b"(]]o.", "OBJ"),
        (b"])\x81.", "NEWOBJ"),
        (b"])}\x92.", "NEWOBJ_EX"),
        (b"Pname\n.", "PERSID"),
        (b"]Q.", "BINPERSID"),
        (b"\x97.", "NEXT_BUFFER"),
        (b"]\x98.", "READONLY_BUFFER"),
        (b"\x8f.", "EMPTY_SET"),
        (b"(\x91.", "FROZENSET"),
        (b"N.", "NONE"),
    ],
)
def test_an_instruction_that_is_not_carried_out_is_named(tmp_path: Path, data: bytes, name: str) -> None:
    refused(tmp_path, data, rf"plain data: {name} .*\(instruction at byte \d+\)")


def test_persistent_ids_are_refused(tmp_path: Path) -> None:
    class Outside(pickle.Pickler):
        def persistent_id(self, value: Any) -> str | None:
            return "name" if value == "secret" else None

    for protocol in PROTOCOLS:
        stream = io.BytesIO()
        Outside(stream, protocol).dump(["secret"])
        refused(tmp_path, stream.getvalue(), "PERSID refers to something outside the file")


@pytest.mark.parametrize(("code", "name"), [(7, "EXT1"), (0x1234, "EXT2"), (0x123456, "EXT4")])
def test_extension_codes_are_refused_even_when_cached(tmp_path: Path, code: int, name: str) -> None:
    """An unpickler takes an extension it has seen before from a cache, without asking its `find_class`."""
    copyreg.add_extension(os.getcwd.__module__, "getcwd", code)
    try:
        data = pickle.dumps([os.getcwd], 2)
        assert pickle.loads(data) == [os.getcwd]
        refused(tmp_path, data, f"{name} names code to import")
    finally:
        copyreg.remove_extension(os.getcwd.__module__, "getcwd", code)


# What would take all memory, or all day


def test_a_value_that_grows_when_written_out_is_refused(tmp_path: Path) -> None:
    value: list[Any] = ["it"]
    for _ in range(40):
        value = [value, value]
    refused(tmp_path, pickle.dumps(value), "more than 20,000,000 values")


def test_sharing_a_list_is_not_a_crime(tmp_path: Path) -> None:
    context = ["it", "fell"] * 100
    rows = [{"context": context, "n": n} for n in range(500)]
    [actual] = load(tmp_path, pickle.dumps(rows))
    assert actual == rows
    assert actual[0]["context"] is actual[499]["context"]


@pytest.mark.parametrize("data", [b"]" * 100_000 + b"a" * 99_999 + b".", b")" + b"\x85" * 200_000 + b"."])
def test_deep_nesting_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data, "nested more than 50 deep")


def test_a_list_that_holds_itself_is_refused(tmp_path: Path) -> None:
    for value in ([], [1, 2]):
        value.append(value)
        refused(tmp_path, pickle.dumps(value), "nested more than 50 deep")


def test_tuples_are_never_hashed(tmp_path: Path) -> None:
    """The hash of a tuple that shares its parts sixty deep would take longer than there is time."""
    data = b")q\x00" + b"h\x00h\x00\x86q\x00" * 60 + b"}h\x00K\x01s."
    refused(tmp_path, data, "a key of a dict is a tuple")


def test_a_memo_number_reserves_no_memory(tmp_path: Path) -> None:
    assert load(tmp_path, b"]r\xff\xff\xff\xffj\xff\xff\xff\xff0.") == [[]]


@pytest.mark.parametrize(
    "data",
    [
        b"\x8d" + struct.pack("<Q", 1 << 40) + b"it.",
        b"X" + struct.pack("<I", 1 << 31) + b"it.",
        b"\x8b" + struct.pack("<I", (1 << 31) - 1) + b"\x01.",
        b"I" + b"9" * 100_000 + b"\n.",
        b"\x80\x04\x95" + struct.pack("<Q", 1 << 60),
    ],
)
def test_lengths_that_the_file_does_not_have_are_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data)


def test_a_file_that_is_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anaphora.core.pickles.MAX_BYTES", 1 << 20)
    refused(tmp_path, gzip.compress(pickle.dumps("a" * (1 << 20))), "larger than 1 MB")


# Damaged files


@pytest.mark.parametrize(
    "data", [b".", b"]a.", b"(]]\x86", b"0.", b"t.", b"]]", b"]].", b"(].", b"h\x00.", b"]K\x01s."]
)
def test_a_program_that_does_not_add_up_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data, "not a pickle of plain data")


@pytest.mark.parametrize("data", [b"K\x01]\x85a.", b"}K\x01K\x02\x86a.", b"(K\x01d.", b"](]K\x01u.", b"]((a."])
def test_what_goes_into_the_wrong_kind_is_refused(tmp_path: Path, data: bytes) -> None:
    refused(tmp_path, data, "not a pickle of plain data")


def test_half_a_surrogate_pair_is_not_text(tmp_path: Path) -> None:
    refused(tmp_path, pickle.dumps("\ud800", 2))


@FIXED
@given(PLAIN, st.sampled_from(PROTOCOLS), st.data())
def test_a_damaged_pickle_is_plain_data_or_refused(tmp_path: Path, value: Any, protocol: int, data: Any) -> None:
    pickled = bytearray(pickle.dumps(value, protocol))
    for _ in range(data.draw(st.integers(1, 3))):
        pickled[data.draw(st.integers(0, len(pickled) - 1))] = data.draw(st.integers(0, 255))
    try:
        actual = load(tmp_path, bytes(pickled[: data.draw(st.integers(1, len(pickled)))]))
    except BadInput:
        return
    assert all(is_plain(part) for part in actual)


@FIXED
@given(st.binary(max_size=60))
def test_any_bytes_are_plain_data_or_refused(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(BadInput):
        assert all(is_plain(part) for part in load(tmp_path, data))


def is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str | int | float) and is_plain(part) for key, part in value.items())
    return all(map(is_plain, value)) if isinstance(value, list | tuple) else isinstance(value, str | int | float)


@pytest.mark.parametrize("content", [b"(" + b"]" * 20 + b"l.", b"]." * 10], ids=["one", "many"])
def test_a_file_has_a_limit_of_instructions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    """200 million empty lists are 256 MB on the disk, 1 MB gzipped, and 12 GB in memory."""
    (tmp_path / "a.pickle").write_bytes(content)
    assert sum(map(len, read_plain_pickles(tmp_path / "a.pickle"))) in (0, 20)
    monkeypatch.setattr("anaphora.core.pickles.MAX_INSTRUCTIONS", 15)
    with pytest.raises(BadInput, match="more than 15 instructions"):
        list(read_plain_pickles(tmp_path / "a.pickle"))
