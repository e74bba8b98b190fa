"""Other contexts: the current sentences stay, the context goes, is turned round, or comes from somewhere else."""

from __future__ import annotations

from anaphora.suites.contexts import no_context, random_context, shuffled_context
from anaphora.suites.example import Example
from anaphora.suites.suite import Header, Suite, suite_of


def made(n: int, size: int = 2) -> Suite:
    def examples() -> list[Example]:
        return [
            Example(
                id=str(i),
                source=(*(f"s{i}.{k}" for k in range(size)), f"now {i}"),
                candidates=tuple((*(f"t{i}.{k}" for k in range(size)), f"{word} {i}") for word in ("er", "sie")),
                gold=i % 2,
                tags={"k": i},
            )
            for i in range(n)
        ]

    return suite_of(Header("made", "en", "de", ("k",)), examples)


def current(suite: Suite) -> list[tuple[str, tuple[str, ...], int | None]]:
    return [(e.source[-1], tuple(c[-1] for c in e.candidates), e.gold) for e in suite]


def test_current_sentences_and_gold_stay_and_originals_are_named() -> None:
    suite = made(6)
    for changed in (no_context(suite), shuffled_context(suite, 1), random_context(suite, 1)):
        assert current(changed) == current(suite)
        assert [e.tags["attacked"] for e in changed] == [e.id for e in suite]
        assert [e.tags["k"] for e in changed] == list(range(6))
        assert len({e.id for e in changed}) == 6
        assert changed.header.breakdowns == ("k",)


def test_no_context_keeps_the_length_of_passages() -> None:
    first = next(iter(no_context(made(1))))
    assert first.source == ("", "", "now 0")
    assert first.candidates[0] == ("", "", "er 0")


def test_shuffled_sentences_are_the_same_in_another_order_on_both_sides() -> None:
    for example in shuffled_context(made(20, 3), 5):
        i = example.tags["k"]
        order = [int(sentence.partition(".")[2]) for sentence in example.source[:-1]]
        assert sorted(order) == [0, 1, 2]
        assert order != [0, 1, 2]
        assert example.candidates[0][:-1] == tuple(f"t{i}.{k}" for k in order)


def test_random_context_is_another_examples_own_in_both_languages() -> None:
    for example in random_context(made(20), 5):
        source, target = example.source[:-1], example.candidates[1][:-1]
        other = source[0].partition(".")[0][1:]
        assert other != str(example.tags["k"])
        assert source == (f"s{other}.0", f"s{other}.1")
        assert target == (f"t{other}.0", f"t{other}.1")


def test_the_seed_decides() -> None:
    assert list(random_context(made(30), 1)) == list(random_context(made(30), 1))
    assert list(random_context(made(30), 1)) != list(random_context(made(30), 2))


def test_a_suite_without_context_has_nothing_to_draw_from() -> None:
    suite = made(3, size=0)
    assert list(random_context(suite, 1)) == list(suite)
