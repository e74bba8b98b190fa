"""A worker: asked by name, it answers in events that can be sent, and tells errors rather than raising them."""

from __future__ import annotations

import gc
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora import api
from anaphora.core.errors import AnaphoraError, BadInput, OutOfStep
from anaphora.demo.stand_ins import demo_suite
from anaphora.runs import Answer
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import load_system, scoring, systems
from anaphora.systems.context import Context, Options
from anaphora.systems.distributed import team as module
from anaphora.systems.distributed.team import Event, Failed, Member, Ready, Team, Worker, local_workers
from anaphora.systems.scoring import Shard

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


# A team: whoever is lost and whenever, no answer is, or it is said why; and in the end everybody is dismissed.

LOST = Failed("ended by SIGKILL")
SILENCE = "silence"  # nothing is heard this time

Said = Event | str
Play = Callable[["Actor", str, Any], Iterator[Said]]


def faithful(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
    """Does what it is asked."""
    if request == "load":
        yield Ready({"name": "x"}, has_focus=True)
    if request == "score":
        start, examples, done = shard
        yield from ((start + n, Answer([-1.0])) for n in range(len(examples)) if n not in done)


class Actor(Member):
    def __init__(self, name: str, play: Play) -> None:
        super().__init__(name)
        self.play, self.dismissed, self.requests = play, False, list[str]()
        self.ask("load")

    def ask(self, request: str, *arguments: Any) -> None:
        self.requests.append(request)
        self.events = self.play(self, request, *(arguments or (None,)))

    def dismiss(self) -> None:
        self.dismissed = True


class Company(Team):
    """Members are hired as there is room.

    plays: of one after the other who is hired; choose: which of the busy ones is heard next
    replaced: whether there is room for another when one is lost
    """

    retries = 3

    def __init__(
        self, *plays: Play, room: int = 2, choose: Callable[[int], int] = lambda size: 0, replaced: bool = True
    ) -> None:
        self.plays, self.size, self.choose, self.replaced = iter(plays), room, choose, replaced
        self.hired: list[Actor] = []
        super().__init__("play:x", Options())

    def room(self) -> int:
        return self.size if self.replaced else self.size - self.losses

    def hire(self) -> Member:
        self.hired.append(Actor(f"worker {len(self.hired) + 1}", next(self.plays, faithful)))
        return self.hired[-1]

    def listen(self) -> Iterator[tuple[Member, Event]]:
        busy = [member for member in self.members if member.busy]
        member = busy[self.choose(len(busy))]
        assert isinstance(member, Actor)
        event = next(member.events, None)
        if not isinstance(event, str):
            yield member, event


def in_turn() -> Callable[[int], int]:
    turns = count()
    return lambda size: next(turns) % size


def shards(*sizes: int) -> list[Shard]:
    """Shards of so many examples, of which nothing is done."""
    return [(100 * n, [EXAMPLE] * size, frozenset()) for n, size in enumerate(sizes)]


EXAMPLE = Example("1", ("It.",), (("Er.",), ("Sie.",)), 0)


def numbers(work: list[Shard]) -> list[int]:
    return [start + n for start, examples, done in work for n in range(len(examples)) if n not in done]


# Losses

works = st.lists(st.integers(1, 5), max_size=5).flatmap(
    lambda sizes: st.tuples(
        *[
            st.frozensets(st.integers(0, size - 1), max_size=size - 1).map(
                lambda done, n=n, size=size: (100 * n, [EXAMPLE] * size, done)
            )
            for n, size in enumerate(sizes)
        ]
    ).map(list)
)


@settings(deadline=None)
@given(works, st.integers(1, 3), st.data())
def test_whoever_is_lost_every_answer_is_given_once_or_it_is_said_why(
    work: list[Shard], room: int, data: st.DataObject
) -> None:
    """Given up is what was lost more than three times in a row without anything new."""
    in_vain: Counter[int | None] = Counter()
    worst = 0

    def mortal(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        nonlocal worst
        key = shard[0] if shard else None
        for event in [*faithful(actor, request, shard), None]:
            if data.draw(st.sampled_from([False] * 3 + [True]), label=f"{actor.name} is lost") and request != "close":
                in_vain[key] += 1
                worst = max(worst, in_vain[key])
                yield LOST
                raise AssertionError("one who is lost is not heard any more")
            if event is not None:
                in_vain[key] = 0
                yield event

    def choose(size: int) -> int:
        return data.draw(st.integers(0, size - 1), label="who is heard")

    team, found, said = None, list[int](), ""
    try:
        team = Company(*[mortal] * 1000, room=room, choose=choose)
        for number, _ in team.compute(iter(work)):
            found.append(number)
    except AnaphoraError as error:
        said = str(error)
    assert said.endswith(" failed: ended by SIGKILL") == (worst > 3)
    assert sorted(found) == numbers(work) or worst > 3
    assert len(found) == len(set(found))
    assert team is None or all(actor.dismissed for actor in team.hired)


def dying(*events: Said) -> Play:
    """Loads, says this when it is to score, and then is lost."""

    def play(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield from faithful(actor, request, None) if request == "load" else (*events, LOST)

    return play


def test_one_who_takes_over_is_told_what_is_done() -> None:
    given: list[Shard] = []

    def heir(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        given.extend([shard] if shard else [])
        return faithful(actor, request, shard)

    team = Company(dying((101, Answer([-1.0])), (103, Answer([-1.0]))), heir, room=1)
    found = [number for number, _ in team.compute([(100, [EXAMPLE] * 5, frozenset({0}))])]
    assert found == [101, 103, 102, 104]
    assert given == [(100, [EXAMPLE] * 5, frozenset({0, 1, 3}))]
    assert team.losses == 1


def test_one_who_is_lost_with_everything_answered_leaves_nothing_to_do() -> None:
    team = Company(dying((0, Answer([-1.0]))), room=1)
    assert [number for number, _ in team.compute(shards(1))] == [0]
    assert [actor.requests for actor in team.hired] == [["load", "score"], ["load", "score", "close"]]


def test_losses_with_new_answers_are_not_counted_against_a_shard() -> None:
    """However many there are: it goes on."""
    team = Company(*[dying((n, Answer([-1.0]))) for n in range(9)], room=1)
    assert [number for number, _ in team.compute(shards(10))] == list(range(10))
    assert team.losses == 9


def test_where_nobody_can_be_hired_for_one_who_is_lost() -> None:
    with pytest.raises(AnaphoraError, match=r"^worker 1 failed: ended by SIGKILL$"):
        list(Company(dying((0, Answer([-1.0]))), room=1, replaced=False).compute(shards(2)))
    team = Company(dying(), room=2, replaced=False)
    assert sorted(number for number, _ in team.compute(shards(2, 2))) == [0, 1, 100, 101]


def test_where_there_is_no_room_any_more() -> None:
    team = Company()
    team.size = 0
    with pytest.raises(AnaphoraError, match=r"^there is no room for a worker any more\. Go on later with --resume$"):
        list(team.compute(shards(1)))


# Failures


def failing(failure: Failed, at: str = "score") -> Play:
    def play(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield from [failure] if request == at else faithful(actor, request, shard)

    return play


@pytest.mark.parametrize("at", ["load", "score", "close"])
def test_what_is_final_is_not_tried_again(at: str) -> None:
    plays = [failing(Failed("not to my taste", final=True), at)]
    with pytest.raises(AnaphoraError, match=r"^not to my taste$") as caught:
        list(Company(*plays).compute(shards(1)))
    assert type(caught.value) is AnaphoraError


@pytest.mark.parametrize("at", ["score", "close"])
def test_what_is_out_of_step_is_raised_as_that(at: str) -> None:
    with pytest.raises(OutOfStep, match=r"^a line too many$"):
        list(Company(failing(Failed("a line too many", final=True, out_of_step=True), at)).compute(shards(1)))


def test_where_it_went_wrong_is_a_note() -> None:
    play = failing(Failed("ZeroDivisionError: x", trace="Traceback …"))
    with pytest.raises(AnaphoraError, match=r"^worker 4 failed: ZeroDivisionError: x") as caught:
        list(Company(*[play] * 4, room=1).compute(shards(1)))
    assert caught.value.__notes__ == ["Traceback …"]


def test_what_cannot_be_loaded_is_tried_again_a_few_times() -> None:
    team = Company(*[failing(LOST, "load")] * 3)
    assert team.settings() == {"name": "x"}
    with pytest.raises(AnaphoraError, match=r"^worker 4 failed: ended by SIGKILL$"):
        Company(*[failing(LOST, "load")] * 4)


def test_another_system_is_refused_with_what_differs() -> None:
    def odd(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield Ready({"name": "y", "threads": 2}, has_focus=True)

    def slow(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield from [SILENCE] * 9 * (request == "score")
        yield from faithful(actor, request, shard)

    team = Company(slow, odd, choose=lambda size: size - 1)
    with pytest.raises(AnaphoraError) as caught:
        list(team.compute(shards(1, 1)))
    assert str(caught.value) == "worker 2 has another system: name is 'y', not 'x'; threads is 2, not None"
    assert all(actor.dismissed for actor in team.hired)


# Beginning and end


def test_nobody_is_hired_without_work_for_them() -> None:
    team = Company(room=9)
    assert (len(team.hired), team.settings(), team.has_focus) == (1, {"name": "x"}, True)
    assert list(team.compute([])) == []
    assert len(team.hired) == 1
    team = Company(room=3)
    list(team.compute(shards(1, 1)))
    assert len(team.hired) == 2
    team = Company(room=3)
    list(team.compute(shards(*[1] * 9)))
    assert len(team.hired) == 3


def test_all_of_them_are_closed_and_then_dismissed() -> None:
    team = Company(room=3, choose=in_turn())
    list(team.compute(shards(*[2] * 9)))
    assert [actor.requests[-1] for actor in team.hired] == ["close"] * 3
    assert all(actor.dismissed for actor in team.hired)


def test_one_who_is_lost_while_it_is_closed_does_not_matter() -> None:
    assert len(list(Company(failing(LOST, "close")).compute(shards(1)))) == 1


@pytest.mark.parametrize("failure", [Failed("ZeroDivisionError: x", trace="Traceback …"), Failed("no", final=True)])
def test_one_who_still_loads_when_all_is_done_does_not_matter(failure: Failed) -> None:
    """Whatever becomes of it: no answer was to come from it."""

    def late(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield from [SILENCE] * 6
        yield failure

    def thorough(actor: Actor, request: str, shard: Any) -> Iterator[Said]:
        yield from [SILENCE] * 9 * (request == "close")
        yield from faithful(actor, request, shard)

    team = Company(thorough, late, choose=in_turn())
    assert [number for number, _ in team.compute(shards(1, 1))] == [0, 100]
    assert next(team.hired[1].events, None) is None  # it has failed meanwhile
    assert team.hired[1].dismissed


def test_who_has_enough_dismisses_everybody() -> None:
    team = Company(room=2)
    answers = team.compute(shards(3, 3))
    next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert [actor.dismissed for actor in team.hired] == [True, True]


def test_a_team_that_nobody_holds_is_dismissed() -> None:
    team = Company()
    [actor] = team.hired
    assert not actor.dismissed
    del team
    gc.collect()
    assert actor.dismissed


def test_examples_alone_are_one_shard() -> None:
    found = list(Company().score([EXAMPLE] * 4, done=[2]))
    assert [number for number, _ in found] == [0, 1, 3]


# Processes side by side give the run that one process gives; losing one of them, or all, loses no answer.

EXAMPLES_WORKERS, SHARD = 330, 60  # six shards
LONG = 7 * EXAMPLES_WORKERS  # for the program, whose shards are longer


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`toy:…` is a system that an installed package brings; here, and in every process that is started."""
    install_toy(tmp_path / "packages", monkeypatch)
    monkeypatch.setattr(scoring, "SHARD", SHARD)
    yield
    systems.cache_clear()


def install_toy(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = packages / "toy_system-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-system\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[anaphora.systems]\ntoy = toy_system:Toy\n")
    code = (Path(__file__).parents[1] / "toy_system.py").read_text(encoding="utf-8")
    (packages / "toy_system.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(packages)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [packages, *filter(None, sys.path)])))
    systems.cache_clear()


@pytest.fixture
def suite() -> Suite:
    """Examples in an order that is not that of their lengths."""
    examples = [
        Example(
            f"e{i}", ("Before.", f"It {'was ' * (i * 7 % 23)}so."), (("Vor.", f"Er {i}"), ("Vor.", f"Sie {i}")), i % 2
        )
        for i in range(EXAMPLES_WORKERS)
    ]
    return suite_of(Header("numbers", "en", "de"), lambda: examples)


Score = Callable[..., bytes]


@pytest.fixture
def score(suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Score:
    """The bytes of the run that a spec and options give. The toy pauses in workers only, so that each gets work."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)

    def run(spec: str, name: str, **options: Any) -> bytes:
        return api.score(suite, spec, tmp_path / name, threads=1, **options).path.read_bytes()

    return run


def processes(log: Path) -> list[int]:
    """Who has loaded the system, this process left out."""
    return [pid for pid in map(int, log.read_text().split()) if pid != os.getpid()]


def alive(pid: int) -> bool:
    """Whether a process runs (one that has ended and is not waited for does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it takes too long"
        select.select([], [], [], 0.02)


def test_two_workers_give_the_run_of_one_process(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    progress: list[tuple[int, int]] = []
    spec = f"toy:x?log={log}&pause=0.1"
    alone = score(spec, "alone", context=1, separator=" | ")
    together = score(
        spec, "together", context=1, separator=" | ", workers=2, progress=lambda *step: progress.append(step)
    )
    assert together == alone
    assert b'"undecidable"' in alone
    assert progress == [(n, EXAMPLES_WORKERS) for n in range(EXAMPLES_WORKERS + 1)]
    assert len(set(processes(log))) == 2
    assert not any(map(alive, processes(log)))


def test_the_same_with_a_model(tiny_marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "SHARD", 40)
    runs = [
        api.score(
            demo_suite(),
            f"hf:{tiny_marian}",
            tmp_path / str(n),
            workers=n,
            threads=1,
            context=1,
            batch_tokens=400,
            limit=150,
        )
        for n in (1, 2)
    ]
    assert runs[0].path.read_bytes() == runs[1].path.read_bytes()


def test_no_more_workers_than_shards_are_started(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    score(f"toy:x?log={log}", "run", workers=5, limit=SHARD)
    assert len(processes(log)) == 1
    again = score(f"toy:x?log={log}", "run", workers=5, limit=SHARD, resume=True)
    assert again.count(b"\n") == 1 + SHARD
    assert len(processes(log)) == 2  # one that says what the header is


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_a_worker_that_is_lost_is_made_up_for_by_another(score: Score, tmp_path: Path, how: str) -> None:
    flag, log = tmp_path / "flag", tmp_path / "log"
    spec = f"toy:x?at=e100&do={how}&flag={flag}&once=&log={log}&pause=0.1"
    alone = score(spec, "alone")
    flag.touch()
    assert score(spec, "together", workers=2) == alone
    assert not flag.exists()
    assert len(set(processes(log))) == 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("kill", "ended by SIGKILL. Perhaps memory does not suffice for so many workers"),
        ("raise", "ZeroDivisionError: the toy is broken"),
    ],
)
def test_what_ends_every_worker_is_reported(score: Score, tmp_path: Path, how: str, said: str) -> None:
    (flag := tmp_path / "flag").touch()
    log = tmp_path / "log"
    spec = f"toy:x?at=e100&do={how}&flag={flag}&log={log}"
    with pytest.raises(AnaphoraError, match=rf"^worker \d failed: {said}") as caught:
        score(spec, "run", workers=3)
    assert ("in _fail" in "".join(getattr(caught.value, "__notes__", []))) == (how == "raise")
    assert len(processes(log)) in (2, 3)  # two were lost with the same shard; the third may still have been loading
    assert not any(map(alive, processes(log)))
    flag.unlink()
    assert score(spec, "run", resume=True) == score(spec, "alone")  # what was found before is kept


@pytest.mark.parametrize("when", ["at=e100&do=refuse", "load=refuse", "close=refuse"])
def test_bad_input_is_not_tried_again(score: Score, tmp_path: Path, when: str) -> None:
    log = tmp_path / "log"
    with pytest.raises(AnaphoraError, match=r"^toy.txt: line 7: not to my taste. Give me another.$"):
        score(f"toy:x?{when}&log={log}", "run", workers=2)
    assert len(processes(log)) <= 2
    assert not any(map(alive, processes(log)))


def test_a_system_that_cannot_be_loaded(score: Score) -> None:
    with pytest.raises(AnaphoraError, match=r"^worker 2 failed: exit code 3$"):
        score("toy:x?load=exit", "run", workers=2)
    with pytest.raises(AnaphoraError, match="unknown system 'tyo'"):
        score("tyo:x", "run", workers=2)


def test_workers_with_different_systems_are_refused(score: Score) -> None:
    with pytest.raises(AnaphoraError, match=r"^worker 2 has another system: process is \d+, not \d+$"):
        score("toy:x?differ=&pause=0.2", "run", workers=2)


def test_a_refused_header_ends_the_worker(score: Score, tmp_path: Path) -> None:
    log = tmp_path / "log"
    score(f"toy:x?log={log}", "run", workers=2)
    with pytest.raises(AnaphoraError, match="is there already"):
        score(f"toy:x?log={log}", "run", workers=2)
    wait_until(lambda: not any(map(alive, processes(log))))


def test_the_team_is_a_system(suite: Suite) -> None:
    examples = list(suite)[:40]
    options = Options(Context(1), ("en", "de"), threads=1)
    team, _ = local_workers(2, 1)("toy:x", options)
    alone = load_system("toy:x", options)
    assert team.settings() == alone.settings()
    expected = dict(alone.score(examples))
    assert dict(team.score(examples, done={3})) == expected
    assert not getattr(team, "has_focus", False)


def test_threads_are_a_fair_share_of_the_machine() -> None:
    team, compute = local_workers(2 * len(os.sched_getaffinity(0)))("toy:x", Options())
    assert team.settings()["threads"] == 1
    assert list(compute([])) == []


@pytest.fixture
def start(suite: Suite, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `anaphora score` on a suite of three shards."""
    examples = [
        Example(f"{k}.{e.id}", e.source, e.candidates, e.gold) for k in range(LONG // EXAMPLES_WORKERS) for e in suite
    ]
    suite_of(suite.header, lambda: examples).write(tmp_path / "suite.jsonl")
    started: list[subprocess.Popen[str]] = []

    def popen(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "anaphora", "score", "suite.jsonl", "--threads", "1", *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=tmp_path, text=True, stdout=pipe, stderr=pipe))
        return started[-1]

    yield popen
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=lambda how: how.name)
def test_ending_the_driver_loses_nothing(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    log, part = tmp_path / "log", tmp_path / "run" / "run.jsonl.part"
    command = ("--system", f"toy:x?log={log}&pause=0.03", "-o", "run", "--workers", "2")
    first = start(*command)
    wait_until(lambda: log.exists() and len(processes(log)) == 2)
    wait_until(lambda: part.exists() and part.read_bytes().count(b"\n") > 100)
    if how == signal.SIGINT:  # on a terminal it goes to all of them; only the driver says something
        for pid in processes(log):
            os.kill(pid, how)
    first.send_signal(how)
    out, err = first.communicate(timeout=20)
    assert (out, err.partition("\n")[0]) == ("", f"numbers en-de · {LONG:,} examples · {2 * LONG:,} candidates")
    if how == signal.SIGINT:
        assert first.returncode == 130
        _, hint, told = err.splitlines()
        assert hint.endswith("see --context")
        assert told.startswith("stopped; ")
        assert told.endswith(" --workers 2 --resume")
    wait_until(lambda: not any(map(alive, processes(log))), 5)
    assert 100 <= part.read_bytes().count(b"\n") - 1 < LONG
    second = start(*command, "--resume", "--json")
    out, err = second.communicate(timeout=60)
    assert (second.returncode, json.loads(out)["examples"]) == (0, LONG), err
    monkeypatch.setattr(scoring, "SHARD", 1024)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    alone = api.score(tmp_path / "suite.jsonl", command[1], tmp_path / "alone", threads=1)
    assert (tmp_path / "run" / "run.jsonl").read_bytes() == alone.path.read_bytes()
    assert not part.exists()
