"""llama.cpp by its C functions: the right version or none, and log-probabilities that are torch's."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.systems import llamacpp
from anaphora.systems.llamacpp import FUNCTIONS, VERSION, Batch, ContextParams, LlamaCpp, ModelParams, library


@pytest.fixture
def fresh() -> Iterator[None]:
    """The library is looked for again."""
    library.cache_clear()
    yield
    library.cache_clear()


def test_structures_have_the_sizes_of_the_header() -> None:
    """As a C compiler lays them out for 64 bits; see `llama.h` in the source distribution of the version."""
    if ctypes.sizeof(ctypes.c_void_p) == 8:
        assert [ctypes.sizeof(one) for one in (ModelParams, ContextParams, Batch)] == [80, 168, 56]
    assert (ContextParams.n_threads.offset, ContextParams.type_k.offset, ContextParams.kv_unified.offset) == (
        28,
        104,
        141,
    )


@pytest.mark.usefixtures("fresh")
class TestLibrary:
    def test_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> str:
            raise llamacpp.PackageNotFoundError(name)

        monkeypatch.setattr(llamacpp, "version", missing)
        with pytest.raises(AnaphoraError, match=r'not installed\. Install it with: pip install "anaphora\[llamacpp\]"'):
            library()

    def test_of_another_version_is_not_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(llamacpp, "version", lambda name: "2027.1.1")
        with pytest.raises(AnaphoraError, match=f"needs xllamacpp {VERSION}, but 2027.1.1 is installed"):
            library()

    def test_without_the_functions_names_another_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(llamacpp, "version", lambda name: VERSION)
        monkeypatch.setattr(llamacpp, "find_spec", lambda name: None)
        with pytest.raises(AnaphoraError, match=r"Use lm:FILE\.gguf instead"):
            library()

    def test_has_every_function(self) -> None:
        pytest.importorskip("xllamacpp")
        assert all(getattr(library(), name) for name in FUNCTIONS)
        defaults = library().llama_context_default_params()
        assert (defaults.type_k, defaults.type_v, defaults.flash_attn_type) == (1, 1, -1)  # float16, automatic
        assert (defaults.embeddings, defaults.offload_kqv, defaults.ctx_other) == (False, True, None)


PROMPT, CANDIDATES = [1, 30, 31, 32], ([40, 41, 42, 50], [40, 41, 43, 50, 51], [44])


@pytest.fixture(scope="module")
def model(tiny_gguf: Path) -> LlamaCpp:
    return LlamaCpp(tiny_gguf, threads=1)


def test_log_probabilities_are_those_of_torch(model: LlamaCpp, tiny_llama: Path) -> None:
    import torch
    from transformers import LlamaForCausalLM

    same = LlamaForCausalLM.from_pretrained(tiny_llama).eval()
    for candidate, found in zip(CANDIDATES, model.log_probabilities(PROMPT, CANDIDATES), strict=True):
        ids = [*PROMPT, *candidate]
        with torch.inference_mode():
            every = torch.log_softmax(same(torch.tensor([ids])).logits[0].double(), -1)
        expected = [every[place - 1, ids[place]].item() for place in range(len(PROMPT), len(ids))]
        assert found == pytest.approx(expected, abs=1e-4)


def test_what_is_shared_makes_no_difference(model: LlamaCpp) -> None:
    together = list(model.log_probabilities(PROMPT, CANDIDATES))
    alone = [row for candidate in CANDIDATES for row in model.log_probabilities(PROMPT, [candidate])]
    assert [pytest.approx(row, abs=1e-5) for row in together] == alone
    assert list(model.log_probabilities(PROMPT, CANDIDATES)) == together  # to the last digit: nothing is left behind


def test_long_texts_are_read_in_parts(model: LlamaCpp, monkeypatch: pytest.MonkeyPatch) -> None:
    long = PROMPT * 20
    whole = list(model.log_probabilities(long, CANDIDATES))
    monkeypatch.setattr(model, "_at_once", 3)
    assert [pytest.approx(row, abs=1e-5) for row in model.log_probabilities(long, CANDIDATES)] == whole


def test_a_model_that_cannot_go_back_reads_again(model: LlamaCpp, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list(model.log_probabilities(PROMPT, CANDIDATES))
    monkeypatch.setattr(model._lib, "llama_memory_seq_rm", lambda *_: False)
    assert [pytest.approx(row, abs=1e-5) for row in model.log_probabilities(PROMPT, CANDIDATES)] == whole


def test_the_context_grows_as_needed(tiny_gguf: Path) -> None:
    model = LlamaCpp(tiny_gguf, threads=1)
    (short,) = model.log_probabilities(PROMPT, CANDIDATES[:1])
    list(model.log_probabilities(PROMPT * 150, CANDIDATES))
    assert model._room == 1024
    assert list(model.log_probabilities(PROMPT, CANDIDATES[:1])) == [pytest.approx(short, abs=1e-5)]
    model.close()
    with pytest.raises(AnaphoraError, match="closed"):
        list(model.log_probabilities(PROMPT, CANDIDATES))


def test_a_damaged_file_is_said_with_the_reason(tiny_gguf: Path, tmp_path: Path) -> None:
    data = tiny_gguf.read_bytes()
    for name, content in (
        ("cut", data[: len(data) // 2]),
        ("arch", data.replace(b"llama.block_count", b"llama.block_coun_")),
    ):
        path = tmp_path / f"{name}.gguf"
        path.write_bytes(content)
        with pytest.raises(BadInput, match=r"llama\.cpp cannot load the model \(.+\)\. Check the file") as caught:
            LlamaCpp(path, threads=1)
        assert "\n" not in str(caught.value)
