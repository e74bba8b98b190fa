"""Scoring a suite: shards, interruption by kill −9, context that the system produces itself."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of
from anaphora.systems import scoring
from anaphora.systems.context import Context, Options
from anaphora.systems.scoring import produced_context, score_suite, shards

PROGRAM = """
import sys
from pathlib import Path
from anaphora.demo.corpus import demo_suite
from anaphora.systems import KINDS, Kind
from anaphora.systems.scoring import score_suite
KINDS["toy"] = Kind("toy", "toy_system:Toy", "a toy")
score_suite(demo_suite(), "toy:x?pause=0.02", Path(sys.argv[1]), resume=True)
"""


class Counting:
    """Scores by the length of a candidate; translates by turning words round."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def settings(self) -> Mapping[str, Any]:
        return {}

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, CandidateScores]]:
        for number, example in enumerate(examples):
            self.seen.append(example.id)
            yield number, CandidateScores([-float(len(" ".join(candidate))) for candidate in example.candidates])

    def translate(self, texts: Sequence[str], *, beams: int = 4, max_tokens: int = 256) -> list[str]:
        return [" ".join(reversed(text.split())) for text in texts]


def scorer(system: Any) -> Any:
    def start(_: str, options: Options) -> Any:
        return system, lambda work: (a for shard in work for a in scoring.score_shard(system, options, shard))

    return start


def test_shards_cover_everything_once_and_know_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 4)
    examples = list(demo_suite())[:10]
    actual = list(shards(examples, {0, 4, 5, 6, 7, 9}))
    assert [(start, len(part), sorted(done)) for start, part, done in actual] == [(0, 4, [0]), (8, 2, [1])]


def test_numbers_are_those_of_the_suite_whatever_the_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 7)
    system = Counting()
    run = score_suite(demo_suite(), "x:y", tmp_path / "run", limit=20, scorer=scorer(system))
    items = list(run)
    assert [item.id for item in items] == [example.id for example in demo_suite()][:20] == system.seen
    for item, example in zip(items, demo_suite(), strict=False):
        assert list(item.scores) == [-len(" ".join(candidate)) for candidate in example.candidates]
    assert run.header.examples == 20


def test_a_limited_run_is_of_another_suite(tmp_path: Path) -> None:
    whole = score_suite(demo_suite(), "x:y", tmp_path / "whole", scorer=scorer(Counting()))
    part = score_suite(demo_suite(), "x:y", tmp_path / "part", limit=20, scorer=scorer(Counting()))
    assert whole.header.sha256 == demo_suite().sha256() != part.header.sha256


def test_a_suite_without_examples_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="no examples"):
        score_suite(suite_of(Header("empty", "en", "de"), list), "x:y", tmp_path / "run", scorer=scorer(Counting()))


def test_a_part_of_candidates_needs_a_system_that_can(tmp_path: Path) -> None:
    with pytest.raises(AnaphoraError, match="whole candidates only"):
        score_suite(demo_suite(), "x:y", tmp_path / "r", options=Options(scope="pronoun"), scorer=scorer(Counting()))
    with pytest.raises(AnaphoraError, match="unknown scope"):
        score_suite(demo_suite(), "x:y", tmp_path / "r", options=Options(scope="word"), scorer=scorer(Counting()))


def test_a_system_that_is_kept_is_closed_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    class Kept(Counting):
        options = Options()

        def close(self) -> None:
            events.append("closed")

    def load(spec: str, options: Options) -> Kept:
        events.append(f"loaded {spec}")
        return Kept()

    monkeypatch.setattr(scoring, "load_system", load)
    reloaded = scoring.SystemCache()
    reloaded.close()  # nothing yet
    for spec in ("a", "a", "b"):
        chosen = Options(Context(2))
        kept, _ = reloaded(spec, chosen)
        assert kept.options is chosen  # type: ignore[attr-defined]
    reloaded.close()
    assert events == ["loaded a", "closed", "loaded b", "closed"]
    events.clear()
    for languages in (("en", "de"), ("en", "fr")):  # a prompt names them
        reloaded("a", Options(languages=languages))
    reloaded.close()
    assert events == ["loaded a", "closed", "loaded a", "closed"]


def test_produced_context_is_the_systems_own_translation() -> None:
    example = Example("1", ("a b", "", "c d", "now"), (("W", "X", "Y", "er"), ("W", "X", "Y", "sie")), 0)
    options = Options(Context(2, " | ", "produced"))
    (changed,) = produced_context(Counting(), options, [example])
    assert changed.candidates == (("", "d c", "er"), ("", "d c", "sie"))
    assert options.context.scoring_input(changed).targets == ("d c | er", "d c | sie")
    first = Example("2", ("now",), (("er",), ("sie",)), 0)
    assert produced_context(Counting(), options, [first]) == [first]


def test_produced_context_needs_a_translator() -> None:
    class Deaf:
        def settings(self) -> Mapping[str, Any]:
            return {}

        def score(
            self, examples: Sequence[Example], done: Container[int] = ()
        ) -> Iterator[tuple[int, CandidateScores]]:
            raise NotImplementedError

    with pytest.raises(AnaphoraError, match="only scores"):
        produced_context(Deaf(), Options(Context(1, target="produced")), [])


def test_killed_at_random_it_resumes_to_the_same_file(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
    }

    def start(output: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", PROGRAM, str(output)], env=environment)

    assert start(tmp_path / "whole").wait() == 0
    rng = random.Random(4)
    output = tmp_path / "killed"
    part = output / "run.jsonl.part"
    for _ in range(4):
        process = start(output)
        before = part.stat().st_size if part.exists() else 0
        while process.poll() is None and (not part.exists() or part.stat().st_size <= before):
            time.sleep(0.002)  # until it has written something
        time.sleep(rng.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert not (output / "run.jsonl").exists()
    assert start(output).wait() == 0
    assert (output / "run.jsonl").read_bytes() == (tmp_path / "whole" / "run.jsonl").read_bytes()
    assert not part.exists()


def passages(*sizes: int, **tags: Any) -> Any:
    """A suite of examples with N sentences of context."""

    def examples() -> list[Example]:
        sides = [tuple(f"c{k}" for k in range(size)) for size in sizes]
        return [
            Example(str(n), (*before, "s"), ((*before, "a"), (*before, "bb")), 0, tags)
            for n, before in enumerate(sides)
        ]

    return suite_of(Header("made", "en", "de"), examples)


def scored(suite: Any, output: Path, sentences: int, **how: Any) -> Any:
    return score_suite(suite, "x:y", output, options=Options(Context(sentences)), scorer=scorer(Counting()), **how)


@pytest.mark.parametrize(
    ("most", "remedy"), [(1, "at most 1 sentence of context.* Use --context 1"), (0, "no context")]
)
def test_context_beyond_the_suite_is_an_error(tmp_path: Path, most: int, remedy: str) -> None:
    """newcomer.md B5: five sentences were signed where the suite has one."""
    with pytest.raises(AnaphoraError, match=f"made has {remedy}"):
        scored(passages(0, most), tmp_path / "run", 5)
    assert not (tmp_path / "run").exists()


def test_examples_may_have_less_context_than_is_asked_for(tmp_path: Path) -> None:
    suite = passages(0, 1, 3)
    assert scored(suite, tmp_path / "all", 3).header.context == "3+3"
    assert scored(suite, tmp_path / "two", 3, limit=2).header.context == "1+1"  # as much as they were given
    with pytest.raises(AnaphoraError, match="at most 3 sentences"):
        scored(suite, tmp_path / "more", 4, limit=2)


def test_attacked_examples_are_scored_at_the_context_of_their_originals(tmp_path: Path) -> None:
    assert scored(passages(1, 1, attacked="0"), tmp_path / "run", 3).header.context == "3+3"


def test_a_model_with_own_context_gets_all_context(tmp_path: Path) -> None:
    class Own(Counting):
        own_context = True

        def settings(self) -> Mapping[str, Any]:
            return {"context": "2+2"}

    run = score_suite(passages(1, 1), "x:y", tmp_path / "run", scorer=scorer(Own()))
    assert run.header.context == "1+1"


def test_a_sample_is_in_the_header_and_resumed(tmp_path: Path) -> None:
    how: dict[str, Any] = {"sample": 20, "seed": 3}
    run = score_suite(demo_suite(), "x:y", tmp_path / "run", scorer=scorer(Counting()), **how)
    assert run.header.settings["sample"] == "20@3"
    assert "sample" in run.header.measurement.settings
    assert len(list(run)) == 20
    score_suite(demo_suite(), "x:y", tmp_path / "run", scorer=scorer(Counting()), resume=True, **how)
    with pytest.raises(AnaphoraError, match="'20@3', now '20@4'"):
        score_suite(demo_suite(), "x:y", tmp_path / "run", scorer=scorer(Counting()), resume=True, sample=20, seed=4)
    whole = score_suite(demo_suite(), "x:y", tmp_path / "whole", scorer=scorer(Counting()), sample=10_000)
    assert (whole.header.settings["sample"], whole.header.sha256) == (None, demo_suite().sha256())
