"""Model files: read as the converters write them, in every version; what is none, or cut short, is one line."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.systems.ctranslate2 import ModelFile, read_model_file

SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

Weights = Sequence[tuple[str, tuple[int, ...]]]
TABLE = "decoder/position_encodings/encodings"


def text(words: str) -> bytes:
    data = words.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def model(kind: str = "TransformerSpec", weights: Weights = (), version: int = 6, behind: bytes = b"") -> bytes:
    """A file of weights, two bytes each, by the description of the format in CTranslate2's model_spec.py."""
    data = struct.pack("<I", version) + text(kind) + struct.pack("<II", 7, len(weights))
    for name, shape in weights:
        items = 1
        for size in shape:
            items *= size
        data += text(name) + struct.pack(f"<B{len(shape)}I", len(shape), *shape)
        data += struct.pack("<BI", 5, 2 * items) if version >= 4 else struct.pack("<BI", 2, items)
        data += b"\1\2" * items
    return data + behind


def read(folder: Path, data: bytes) -> ModelFile:
    (folder / "model.bin").write_bytes(data)
    return read_model_file(folder)


@pytest.mark.parametrize(
    ("kind", "generator"),
    [("TransformerSpec", False), ("TransformerDecoderModelSpec", True), ("TransformerDecoderSpec", True)],
)
def test_a_decoder_alone_is_a_generator(tmp_path: Path, kind: str, generator: bool) -> None:
    assert read(tmp_path, model(kind)) == ModelFile(tmp_path, generator, None, False, {})


names = st.text("abc/_0", min_size=1, max_size=9)
shapes = st.lists(st.integers(0, 4), max_size=3).map(tuple)


@SHARED
@given(st.lists(st.tuples(names, shapes), max_size=5), st.integers(1, 99), st.integers(2, 7), st.binary(max_size=9))
def test_the_table_is_found_wherever_it_stands(
    tmp_path: Path, others: list[tuple[str, tuple[int, ...]]], positions: int, version: int, behind: bytes
) -> None:
    """Whatever stands before it has to be passed over exactly, in old versions, too; what stands behind is aliases."""
    weights = [*others, (TABLE, (positions, 3)), ("decoder/scale", ())]
    assert read(tmp_path, model("TransformerSpec", weights, version, behind)).positions == positions


def test_the_smaller_of_two_tables_is_the_limit(tmp_path: Path) -> None:
    weights = [(f"encoder/{TABLE.partition('/')[2]}", (9, 2)), (TABLE, (7, 2))]
    assert read(tmp_path, model(weights=weights)).positions == 7


@pytest.mark.parametrize("name", ["encoder/layer_0/self_attention/relative_attention_bias", "x/relative_position_keys"])
def test_relative_positions_are_detected_by_their_weights(tmp_path: Path, name: str) -> None:
    content = read(tmp_path, model(weights=[("encoder/scale", ()), (name, (4, 2))]))
    assert (content.positions, content.relative) == (None, True)


@SHARED
@given(st.integers(0, 10_000))
def test_a_file_cut_before_its_last_weights_is_refused(tmp_path: Path, position: int) -> None:
    data = model(weights=[("encoder/scale", (3,)), (TABLE, (5, 2))])
    last = len(data) - 2 * 10
    with pytest.raises(BadInput) as caught:
        read(tmp_path, data[: position % last])
    assert str(caught.value) == f"{tmp_path / 'model.bin'}: not the weights of a CTranslate2 model, or truncated"


@SHARED
@given(st.binary(max_size=200))
def test_any_other_file_is_refused_or_has_no_table(tmp_path: Path, data: bytes) -> None:
    with contextlib.suppress(BadInput):
        assert read(tmp_path, data).positions is None


def test_no_model(tmp_path: Path) -> None:
    (tmp_path / "model.bin").mkdir()
    for folder in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(
            AnaphoraError, match=r"not a CTranslate2 model: model\.bin is missing\. Convert one with: ct2-"
        ):
            read_model_file(folder)


# What lies next to it


def test_the_configuration_is_that_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"decoder_start_token": "<pad>"}')
    assert read(tmp_path, model()).config == {"decoder_start_token": "<pad>"}
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(BadInput, match=r"config\.json: line 1: not JSON"):
        read_model_file(tmp_path)


def test_the_checksum_is_of_all_weights(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"abc")
    checksum = ModelFile(tmp_path, False, None, False, {}).checksum()
    assert checksum == "ba7816bf8f01cfea"  # the example of FIPS 180-2: ba7816bf 8f01cfea …


@pytest.mark.parametrize(
    ("files", "source", "target"),
    [
        ({"shared_vocabulary.json": '["a", "b"]'}, "ab", "ab"),
        ({"source_vocabulary.json": '["a"]', "target_vocabulary.json": '["b"]'}, "a", "b"),
        ({"source_vocabulary.txt": "a\nß\n", "target_vocabulary.txt": "b\n"}, "aß", "b"),
        ({"vocabulary.json": '["a"]'}, "a", "a"),  # a generator has but one
        ({"shared_vocabulary.json": '["a"]', "vocabulary.txt": "b\n", "source_vocabulary.txt": "c\n"}, "a", "a"),
        ({"source_vocabulary.json": '["a"]', "source_vocabulary.txt": "b\n"}, "a", None),
        ({"shared_vocabulary.json": "[]"}, "", ""),
        ({}, None, None),
    ],
)
def test_the_vocabulary_of_a_side(
    tmp_path: Path, files: dict[str, str], source: str | None, target: str | None
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    actual = read(tmp_path, model())
    for side, tokens in (("source", source), ("target", target)):
        assert actual.vocabulary(side) == (None if tokens is None else frozenset(tokens))
