"""A team: whoever is lost and whenever, no answer is, or it is said why; and in the end everybody is dismissed.

Its members are played here: one is heard at a time, in any order, and is lost when it is told to.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anaphora.core.errors import AnaphoraError, OutOfStep
from anaphora.suites.example import Example
from anaphora.systems.distributed.team import Member, Team
from anaphora.systems.distributed.worker import Event, Failed, Ready
from anaphora.systems.options import Options
from anaphora.systems.scored import Answer
from anaphora.systems.scoring import Shard

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
