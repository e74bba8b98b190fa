"""An unfinished run: whatever interrupts it, resuming gives the very file of an uninterrupted run."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError
from anaphora.core.finite import NotFinite
from anaphora.run_writer import RunWriter, refuse_other
from anaphora.runs import CandidateScores, RunHeader
from anaphora.suites.example import Example

HEADER_UNFINISHED = RunHeader(
    "made", "ab" * 32, "en", "de", "x:y?concurrency=4", "0.1.0", settings={"dtype": "float32"}, examples=12
)
EXAMPLES = [Example(f"é{n}", ("x",), (("er",), ("sie",)), n % 2, {"k": n}) for n in range(12)]
ORDER = [5, 3, 11, 0, 1, 2, 4, 6, 10, 9, 8, 7]  # answers come in the order of length, not of the suite


def answer(number: int) -> CandidateScores:
    same = [(0, 1)] if number == 3 else []
    return CandidateScores([-1.23456789 - number, -2.0], [3, 4], same, number == 4)


def finished(output: Path, *, resume: bool = False, header: RunHeader = HEADER_UNFINISHED) -> bytes:
    with RunWriter(output, header, EXAMPLES, resume=resume, overwrite=False) as run:
        for number in ORDER:
            if number not in run.done:
                run.add(number, answer(number))
        return run.finish().path.read_bytes()


def interrupted(output: Path, answers: int = 5) -> Path:
    with RunWriter(output, HEADER_UNFINISHED, EXAMPLES, resume=False, overwrite=False) as run:
        for number in ORDER[:answers]:
            run.add(number, answer(number))
        return run.part


@pytest.fixture
def whole(tmp_path: Path) -> bytes:
    return finished(tmp_path / "whole")


def test_a_finished_run_is_complete_and_in_suite_order(tmp_path: Path, whole: bytes) -> None:
    assert [line.partition(b'"id":"')[2][:3] for line in whole.splitlines()[1:4]] == [
        "é0".encode(),
        "é1".encode(),
        "é2".encode(),
    ]
    assert [path.name for path in (tmp_path / "whole").iterdir()] == ["run.jsonl"]
    assert b'"undecidable":[[0,1]]' in whole.splitlines()[4]
    assert b'"truncated":' in whole.splitlines()[5]
    assert b"-1.234568" in whole  # six decimals: float32 has no more


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 4000))
def test_cut_at_any_byte_it_resumes_to_the_same_file(
    tmp_path_factory: pytest.TempPathFactory, whole: bytes, cut: int
) -> None:
    output = tmp_path_factory.mktemp("cut") / "run"
    part = interrupted(output, answers=11)
    part.write_bytes(part.read_bytes()[:cut])
    assert finished(output, resume=True) == whole


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    with RunWriter(tmp_path / "run", HEADER_UNFINISHED, EXAMPLES, resume=True, overwrite=False) as run:
        assert sorted(run.done) == sorted(ORDER[:5])


def test_an_unfinished_run_is_not_thrown_away_by_accident(tmp_path: Path) -> None:
    part = interrupted(tmp_path / "run")
    with pytest.raises(AnaphoraError, match=r"--resume.*--overwrite"):
        finished(tmp_path / "run")
    assert part.exists()


def test_a_finished_run_is_kept_and_resuming_it_does_nothing(tmp_path: Path, whole: bytes) -> None:
    with pytest.raises(AnaphoraError, match="already exists"):
        finished(tmp_path / "whole")
    assert finished(tmp_path / "whole", resume=True) == whole


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (replace(HEADER_UNFINISHED, sha256="cd" * 32), "sha256: 'abab"),
        (replace(HEADER_UNFINISHED, context="1+1"), "context: None, now '1\\+1'"),
        (replace(HEADER_UNFINISHED, settings={"dtype": "bfloat16"}), "dtype: 'float32', now 'bfloat16'"),
        (replace(HEADER_UNFINISHED, system="x:z"), "system: "),
    ],
)
def test_another_run_is_never_mixed_in(tmp_path: Path, other: RunHeader, difference: str) -> None:
    interrupted(tmp_path / "run")
    with pytest.raises(AnaphoraError, match=difference):
        finished(tmp_path / "run", resume=True, header=other)


def test_request_rates_do_not_make_another_run(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    assert finished(tmp_path / "run", resume=True, header=replace(HEADER_UNFINISHED, system="x:y?concurrency=1"))


def test_a_system_that_leaves_examples_out_is_found_out(tmp_path: Path) -> None:
    run = RunWriter(tmp_path / "run", HEADER_UNFINISHED, EXAMPLES, resume=False, overwrite=False)
    with run:
        run.add(0, answer(0))
        with pytest.raises(AnaphoraError, match="no answer to 11 of 12 examples"):
            run.finish()


def test_the_records_of_another_suite_are_refused(tmp_path: Path) -> None:
    interrupted(tmp_path / "run")
    others = [replace(example, id=f"other {n}") for n, example in enumerate(EXAMPLES)]
    with pytest.raises(AnaphoraError, match="is not number"):
        RunWriter(tmp_path / "run", HEADER_UNFINISHED, others, resume=True, overwrite=False)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_not_finite_is_an_error(tmp_path: Path, score: float) -> None:
    """Whatever computes the scores: they all come here."""
    with RunWriter(tmp_path / "run", HEADER_UNFINISHED, EXAMPLES, resume=False, overwrite=False) as run:
        run.add(5, answer(5))
        with pytest.raises(
            NotFinite, match=r"^x:y\?concurrency=4: scores of example é3: 1 of 2 values .* Check the model"
        ):
            run.add(3, CandidateScores([-1.0, score], [3, 4]))
        kept = run.part.read_text()
    assert "é5" in kept
    assert "é3" not in kept


def test_a_run_that_another_program_wrote_meanwhile_is_not_claimed(tmp_path: Path, whole: bytes) -> None:
    """0.1.0 said that it had written the other one's file."""
    with RunWriter(tmp_path / "run", HEADER_UNFINISHED, EXAMPLES, resume=False, overwrite=False) as run:
        for number in ORDER:
            run.add(number, answer(number))
        run.file.write_bytes(b"of another")
        with pytest.raises(AnaphoraError, match=r"run\.jsonl was written by another program in the meantime\. Move"):
            run.finish()
    assert run.file.read_bytes() == b"of another"
    run.file.unlink()
    assert finished(tmp_path / "run", resume=True) == whole  # every answer was kept


# An earlier run is replaced when the new one is complete, and not before.

OTHER = replace(HEADER_UNFINISHED, system="x:z")


def overwriting(output: Path, answers: int, header: RunHeader = OTHER) -> RunWriter:
    """A writer that replaces a run, as a killed process leaves it after some answers."""
    with RunWriter(output, header, EXAMPLES, resume=False, overwrite=True) as run:
        for number in ORDER[:answers]:
            run.add(number, answer(number))
    return run


@pytest.mark.parametrize("answers", [0, 5, 12])
@pytest.mark.parametrize("header", [OTHER, HEADER_UNFINISHED], ids=["another", "same"])
def test_an_overwritten_run_stays_until_the_new_one_is_complete(
    tmp_path: Path, whole: bytes, answers: int, header: RunHeader
) -> None:
    overwriting(tmp_path / "whole", answers, header)
    assert (tmp_path / "whole" / "run.jsonl").read_bytes() == whole
    with RunWriter(tmp_path / "whole", header, EXAMPLES, resume=True, overwrite=False) as run:
        assert sorted(run.done) == sorted(ORDER[:answers])  # none of the earlier run
    assert finished(tmp_path / "whole", resume=True, header=header) == finished(tmp_path / "new", header=header)
    assert [path.name for path in (tmp_path / "whole").iterdir()] == ["run.jsonl"]


def test_a_system_that_fails_at_once_replaces_nothing(tmp_path: Path, whole: bytes) -> None:
    with pytest.raises(KeyboardInterrupt), overwriting(tmp_path / "whole", 0):
        raise KeyboardInterrupt
    assert [path.name for path in (tmp_path / "whole").iterdir()] == ["run.jsonl"]
    assert finished(tmp_path / "whole", resume=True) == whole


def test_only_the_run_that_was_there_is_replaced(tmp_path: Path, whole: bytes) -> None:
    with overwriting(tmp_path / "whole", 12) as run:
        run.file.write_bytes(b"of another")
        with pytest.raises(AnaphoraError, match="was written by another program in the meantime"):
            run.finish()
    assert run.file.read_bytes() == b"of another"
    run.file.unlink()
    assert finished(tmp_path / "whole", resume=True, header=OTHER)


def test_a_complete_run_leaves_what_another_system_has_kept(tmp_path: Path, whole: bytes) -> None:
    run = overwriting(tmp_path / "whole", 5)
    kept = run.part.read_bytes()
    assert finished(tmp_path / "whole", resume=True) == whole
    assert run.part.read_bytes() == kept
    assert finished(tmp_path / "whole", resume=True, header=OTHER)


def test_an_import_refuses_what_another_system_has_kept(tmp_path: Path, whole: bytes) -> None:
    """It would delete these answers."""
    refuse_other(tmp_path / "whole", HEADER_UNFINISHED)
    overwriting(tmp_path / "whole", 5)
    for output in (tmp_path / "whole", interrupted(tmp_path / "run").parent):
        with pytest.raises(AnaphoraError, match=r"an unfinished run is at .*--overwrite"):
            refuse_other(output, HEADER_UNFINISHED)
    with pytest.raises(AnaphoraError, match="created with different settings"):
        refuse_other(tmp_path / "whole", OTHER)


def test_killed_between_writing_the_run_and_removing_the_unfinished_one(tmp_path: Path, whole: bytes) -> None:
    part = interrupted(tmp_path / "run", answers=12)
    (tmp_path / "run" / "run.jsonl").write_bytes(whole)
    assert finished(tmp_path / "run", resume=True) == whole
    assert not part.exists()
