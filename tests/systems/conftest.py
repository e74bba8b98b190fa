"""What the tests of the systems share: two tiny models with random weights and real tokenizers, made once a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tiny_models import demo_sentences, make_llama, make_marian, make_opinionated


@pytest.fixture(scope="session")
def demo_text() -> list[str]:
    """Every sentence of the demo suite, English and German."""
    return demo_sentences()


@pytest.fixture(scope="session")
def tiny_marian(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Path:
    """The folder of a Marian model of two layers, with SentencePiece trained on the demo suite."""
    pytest.importorskip("torch")
    pytest.importorskip("sentencepiece")
    return make_marian(tmp_path_factory.mktemp("tiny-marian"), demo_text)


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Path:
    """The folder of a Llama model of two layers, with byte-level BPE trained on the demo suite, and a chat template."""
    pytest.importorskip("torch")
    return make_llama(tmp_path_factory.mktemp("tiny-llama"), demo_text)


@pytest.fixture(scope="session")
def opinionated() -> Callable[[Any, Any], Any]:
    """Makes a model of a class and a configuration; see `make_opinionated`."""
    pytest.importorskip("torch")
    return make_opinionated
