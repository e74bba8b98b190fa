"""A worker: asked by name, it answers in events that can be sent, and tells errors rather than raising them."""

from __future__ import annotations

import pickle
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import pytest

from anaphora.core.errors import AnaphoraError, BadInput, OutOfStep
from anaphora.suites.example import Example
from anaphora.systems.context import Context
from anaphora.systems.distributed import worker as module
from anaphora.systems.distributed.worker import Event, Failed, Ready, Worker
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer

EXAMPLES = [Example(str(n), ("Before.", f"It {n}."), (("Vor.", f"Er {n}"), ("Vor.", f"Sie {n}")), 0) for n in range(4)]


class Toy:
    """Fails at an example if it is told to."""

    error: BaseException | None = None

    def __init__(self, options: Options) -> None:
        self.options = options

    def settings(self) -> Mapping[str, Any]:
        return MappingProxyType({"threads": self.options.threads})

    def score(self, examples: Sequence[Example], done: Container[int] = ()) -> Iterator[tuple[int, Answer]]:
        for number, example in enumerate(examples):
            if number == 2 and self.error:
                raise self.error
            if number not in done:
                yield number, Answer([-1.0, -2.0], extra=MappingProxyType({"translation": example.candidates[0][-1]}))


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Worker:
    """One that has loaded a toy."""
    monkeypatch.setattr(module, "load_system", lambda spec, options: Toy(options))
    made = Worker()
    assert list(made.answer("load", "toy:x", Options(threads=3))) == [Ready({"threads": 3})]
    return made


def sent(worker: Worker, *request: Any) -> list[Event]:
    """What arrives at the other end."""
    return [pickle.loads(pickle.dumps(event)) for event in worker.answer(*request)]


def test_a_shard_is_answered_with_the_numbers_of_the_suite(worker: Worker) -> None:
    found = sent(worker, "score", (100, EXAMPLES, frozenset({1})))
    assert found == [(100 + n, Answer([-1.0, -2.0], extra={"translation": f"Er {n}"})) for n in (0, 2, 3)]


def test_it_is_asked_again_and_again(worker: Worker) -> None:
    one, two = (sent(worker, "score", (start, EXAMPLES[:1], frozenset())) for start in (0, 7))
    assert [event[0] for event in (*one, *two) if isinstance(event, tuple)] == [0, 7]


def test_it_says_whether_its_system_has_a_focus(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "has_focus", True, raising=False)
    assert sent(worker, "load", "toy:x", Options()) == [Ready({"threads": None}, has_focus=True)]


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (BadInput("toy.txt", "not to my taste", line=7), Failed("toy.txt: line 7: not to my taste", final=True)),
        (AnaphoraError("no"), Failed("no", final=True)),
        (OutOfStep("in doubt"), Failed("in doubt", final=True, out_of_step=True)),
    ],
)
def test_bad_input_is_final(worker: Worker, monkeypatch: pytest.MonkeyPatch, error: Exception, told: Failed) -> None:
    """What was answered before it is given."""
    monkeypatch.setattr(Toy, "error", error)
    *before, last = sent(worker, "score", (0, EXAMPLES, frozenset()))
    assert [event[0] for event in before if isinstance(event, tuple)] == [0, 1]
    assert last == told


def test_any_other_error_is_told_with_where_it_was(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "error", ZeroDivisionError("by nought"))
    *_, last = sent(worker, "score", (0, EXAMPLES, frozenset()))
    assert isinstance(last, Failed)
    assert (last.message, last.final, last.out_of_step) == ("ZeroDivisionError: by nought", False, False)
    assert "in score\n" in last.trace
    monkeypatch.setattr(Toy, "error", None)
    assert len(sent(worker, "score", (0, EXAMPLES, frozenset()))) == 4  # it can go on


def test_who_interrupts_is_not_told_but_obeyed(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toy, "error", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        sent(worker, "score", (0, EXAMPLES, frozenset()))


def test_what_cannot_be_loaded_is_told() -> None:
    [refused] = sent(Worker(), "load", "tyo:x", Options())
    assert isinstance(refused, Failed)
    assert refused.final
    assert refused.message.startswith("unknown system 'tyo'")


def test_options_are_those_it_was_loaded_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that only scores cannot produce its context, which the options ask for."""
    monkeypatch.setattr(module, "load_system", lambda spec, options: Toy(options))
    worker = Worker()
    sent(worker, "load", "toy:x", Options(Context(1, target="produced")))
    [told] = sent(worker, "score", (0, EXAMPLES, frozenset()))
    assert isinstance(told, Failed)
    assert "--target-context produced needs a system that translates" in told.message


def test_closing(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sent(worker, "close") == []  # its system does not want to know
    closed: list[Toy] = []
    monkeypatch.setattr(Toy, "close", lambda system: closed.append(system), raising=False)
    assert sent(worker, "close") == []
    assert closed == [worker.system]

    def refuse(system: Toy) -> None:
        raise OutOfStep("a line too many")

    monkeypatch.setattr(Toy, "close", refuse)
    assert sent(worker, "close") == [Failed("a line too many", final=True, out_of_step=True)]
