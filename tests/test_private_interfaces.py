"""Interfaces of other libraries that are not public and that this project uses: each is named here, and still exists.

Such an interface may go with any release, so the library has an upper bound in pyproject.toml. When a test here fails
after an upgrade, the place named in `used_by` is to be changed before the bound is raised.
"""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Interface:
    """library: as pip knows it; name: dotted, the module before the colon; parameters: those that we pass."""

    library: str
    name: str
    used_by: str
    parameters: tuple[str, ...] = ()


INTERFACES = (
    Interface("sacrebleu", "sacrebleu.metrics.bleu:BLEU._compute_score_from_stats", "metrics/external.py", ("stats",)),
    Interface("sacrebleu", "sacrebleu.metrics.chrf:CHRF._compute_score_from_stats", "metrics/external.py", ("stats",)),
    Interface("sacrebleu", "sacrebleu.metrics.ter:TER._compute_score_from_stats", "metrics/external.py", ("stats",)),
    Interface(
        *("sacrebleu", "sacrebleu.metrics.base:Metric._extract_corpus_statistics", "metrics/external.py"),
        ("hypotheses", "references"),
    ),
    Interface("ray", "ray._private:worker", "core/ray_workers.py"),
    Interface("transformers", "transformers:PreTrainedModel._supports_sdpa", "scoring/packed.py"),
    Interface("transformers", "transformers:PreTrainedModel._can_set_attn_implementation", "scoring/packed.py"),
    Interface("transformers", "transformers:PreTrainedModel._keys_to_ignore_on_save", "scoring/weights.py"),
    Interface("transformers", "transformers:PretrainedConfig._attn_implementation", "scoring/packed.py"),
    Interface(
        *("transformers", "transformers.models.t5.modeling_t5:T5Attention._relative_position_bucket"),
        *("scoring/packed.py", ("relative_position", "bidirectional", "num_buckets", "max_distance")),
    ),
    *(
        Interface("transformers", f"transformers:MarianTokenizer.{name}", "systems/attribution.py")
        for name in ("_switch_to_target_mode", "_switch_to_input_mode")
    ),
    Interface("transformers", "transformers.modeling_utils:ALL_ATTENTION_FUNCTIONS", "scoring/packed.py"),
    Interface("transformers", "transformers.masking_utils:create_bidirectional_mask", "nmt/context_transformer.py"),
    Interface("transformers", "transformers.cache_utils:DynamicLayer", "nmt/marian.py"),
    Interface("transformers", "transformers.cache_utils:EncoderDecoderCache", "nmt/marian.py"),
    Interface(
        "transformers", "transformers.models.marian.modeling_marian:MarianEncoderLayer", "nmt/context_transformer.py"
    ),
    Interface(
        "transformers", "transformers.models.marian.modeling_marian:MarianAttention", "nmt/context_transformer.py"
    ),
    *(
        Interface("uvicorn", f"uvicorn.protocols.http.h11_impl:{name}", "study/middleware.py")
        for name in (
            *("H11Protocol.connection_made", "H11Protocol.data_received", "H11Protocol.connection_lost"),
            *("H11Protocol.shutdown", "H11Protocol.send_400_response", "H11Protocol.pause_writing"),
            "RequestResponseCycle",
        )
    ),
)
# attributes that only objects have, by the source that sets them
SET_BY = {
    "uvicorn.protocols.http.h11_impl:H11Protocol": (
        *("self.cycle", "self.flow", "self.transport", "self.loop", "self.conn", "self.connections"),
    ),
    "uvicorn.protocols.http.h11_impl:RequestResponseCycle": (
        *("self.more_body", "self.response_complete", "self.disconnected"),
    ),
    "uvicorn.protocols.http.flow_control:FlowControl": ("self.write_paused",),
    "uvicorn.server:ServerState": ("self.connections",),
    "uvicorn.server:Server": ("self.server_state",),
}


def look_up(name: str) -> Any:
    module, _, path = name.partition(":")
    value: Any = importlib.import_module(module)
    for part in path.split("."):
        value = inspect.getattr_static(value, part) if inspect.isclass(value) else getattr(value, part)
    return value


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda one: one.name)
def test_it_is_still_there(interface: Interface) -> None:
    if find_spec(interface.library) is None:
        pytest.skip(f"{interface.library} is not installed")
    value = look_up(interface.name)
    if interface.parameters:
        function = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        assert set(interface.parameters) <= set(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", SET_BY)
def test_objects_still_have_their_attributes(name: str) -> None:
    pytest.importorskip(name.split(":")[0].split(".")[0])
    source = inspect.getsource(look_up(name))
    for attribute in SET_BY[name]:
        assert re.search(rf"{re.escape(attribute)}\b(: [^=\n]+)? = ", source), attribute


def test_an_interface_that_is_gone_is_noticed() -> None:
    with pytest.raises(AttributeError):
        look_up("click:Context._never_there")
    with pytest.raises(ImportError):
        look_up("click._never_there:anything")


def test_every_library_has_an_upper_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = [*project["dependencies"], *(one for some in project["optional-dependencies"].values() for one in some)]
    for library in {"click", *(interface.library for interface in INTERFACES)}:
        entries = [entry for entry in required if re.match(rf"{library}\b(?!-)", entry)]
        assert entries, library
        assert all("<" in entry.split(";")[0] for entry in entries), entries


def test_each_is_used_where_it_is_listed() -> None:
    for interface in INTERFACES:
        text = (ROOT / "src" / "anaphora" / interface.used_by).read_text(encoding="utf-8")
        assert interface.name.replace(":", ".").rsplit(".", 1)[-1] in text, interface


def test_no_private_name_of_these_libraries_is_missing_here() -> None:
    """Every private attribute in the source that is not this project's own is in the list above."""
    sources = sorted((ROOT / "src" / "anaphora").rglob("*.py"))
    own = {"_replace", "_fields", "_exit", "_private"}  # of named tuples and of Python; ray._private.worker is listed
    for path in sources:
        text = path.read_text(encoding="utf-8")
        own |= set(re.findall(r"(?:def |class |self\.|cls\.|^ {4})(_[a-z]\w*)", text, re.MULTILINE))
    listed = {interface.name.replace(":", ".").rsplit(".", 1)[-1] for interface in INTERFACES} | {"_protected_args"}
    used = {
        (name, path.name)
        for path in sources
        for name in re.findall(r"(?<!self)(?<!cls)\.(_[a-z]\w*)", path.read_text(encoding="utf-8"))
    }
    assert {(name, position) for name, position in used if name not in own | listed} == set()


def test_the_c_functions_of_llama_cpp_belong_to_one_version() -> None:
    """`systems/gguf.py` has the structures of its `llama.h`: they are to be compared before the pin is changed."""
    from anaphora.systems.gguf import FUNCTIONS, VERSION, library

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"xllamacpp=={VERSION}" in project["optional-dependencies"]["llamacpp"]
    pytest.importorskip("xllamacpp")
    assert all(hasattr(library(), name) for name in FUNCTIONS)
