"""Diagnosis: systems whose behavior is known and exactly what is said of them, sentences, conclusions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from anaphora.evaluation.diagnosis import Check, Diagnosis, Statement, conclusions, diagnose, statement
from anaphora.evaluation.diagnosis_evidence import Measured, Rule, load_rules
from anaphora.runs import Run, RunHeader, ScoredExample, open_run, write_run

GENDERS = "mfn"
PAIRS = [(a, b) for a in GENDERS for b in GENDERS if a != b]  # genders of the right and of the competing noun
CLAUSES = ("eat_drink_eat", "eat_drink_drink")
Chooses = Callable[[dict[str, Any]], str]  # from what is known of an item to a gender


def items(chooses: Chooses) -> Iterator[ScoredExample]:
    """Sixty or more items of each template, answered by a system that goes by the facts of an item."""
    for number in range(120):
        right, other = PAIRS[number % 6]
        k = number // 6 % 2
        noun = GENDERS[number % 3]
        # the entity that stands first, or is the subject, is the right one in every second item
        first, second = (right, other) if k == 0 else (other, right)
        two = {"right": right, "first": first, "second": second}
        yield from _item("markable", number, chooses, {**two}, {"step": "markable detection"})
        for template in ("overlap/verb", "overlap/object"):
            yield from _item(template, number, chooses, {**two}, {"variant": CLAUSES[k]})
        yield from _item("world-knowledge", number, chooses, {**two}, {"antecedent": ("animal", "food")[k]})
        none = {"first": first, "second": second}
        yield from _item("event", number, chooses, {**none, "right": "n"}, {})
        yield from _item("pleonastic", number, chooses, {**none, "right": "n"}, {})
        yield from _item("gender", number, chooses, {"right": noun, "noun": noun}, {})
        for template, names in (("prior/role", ("subject", "object")), ("prior/position", ("first", "second"))):
            meaning = dict(zip((first, second), names, strict=True))
            choices = [meaning.get(g, "neither") for g in GENDERS]
            yield from _item(template, number, chooses, none, {"choices": choices})
        yield from _item("prior/verb", number, chooses, {}, {"choices": ["masculine", "feminine", "neuter"]})


def _item(
    template: str, number: int, chooses: Chooses, facts: dict[str, str], tags: dict[str, Any]
) -> Iterator[ScoredExample]:
    right = facts.get("right")
    chosen = chooses({**facts, "template": template, "number": number})
    names = {"m": "masculine", "f": "feminine", "n": "neuter"}
    tags = {"template": template, "candidate_genders": list(GENDERS), **tags}
    if right:
        tags["reference_gender"] = names[right]
    gold = GENDERS.index(right) if right else None
    yield ScoredExample(f"{template}/{number}", gold, tags, [-1.0 if g == chosen else -2.0 for g in GENDERS])


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Run]:
    def make(name: str, answers: Iterator[ScoredExample] | list[ScoredExample], **about: Any) -> Run:
        sha256 = f"{sum(map(ord, name)):064x}"
        about = {"system": "hf:x", "context": "1+1", **about}
        header = RunHeader(name, sha256, "en", "de", version="1.2.3", **about)
        return open_run(write_run(tmp_path / name, header, answers))

    return make


def verdicts_of(diagnosis: Diagnosis) -> dict[str, str]:
    return {statement.rule: statement.verdict for statement in diagnosis.statements}


def text(diagnosis: Diagnosis, rule: str) -> str:
    return next(statement.text for statement in diagnosis.statements if statement.rule == rule)


def perfect(facts: dict[str, Any]) -> str:
    return facts.get("right") or GENDERS[facts["number"] // 12 % 3]


def always_es(facts: dict[str, Any]) -> str:
    return facts.get("noun", "n")  # it knows the gender of a single noun


def takes_the_first(facts: dict[str, Any]) -> str:
    return facts.get("first") or facts.get("noun") or GENDERS[facts["number"] % 3]


def by_chance() -> Chooses:
    rng = random.Random(5)
    return lambda facts: rng.choice(GENDERS)


# ------------------------------------------------------------------------------------------------ what is said


def test_a_perfect_system(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("templates", items(perfect))])
    steps = ("markable", "overlap", "world-knowledge", "event", "pleonastic", "gender")
    assert verdicts_of(diagnosis) == {
        "first-failure": "sound",
        **dict.fromkeys(steps, "known"),
        **dict.fromkeys(("prior/verb", "prior/role", "prior/position"), "none"),
    }
    assert text(diagnosis, "first-failure") == (
        "The system masters every step of the pipeline: animal or person 1.000, overlap of words 1.000, "
        "world knowledge 1.000, event it 1.000, pleonastic it 1.000 and gender of nouns 1.000."
    )
    assert text(diagnosis, "gender") == "The system knows the gender of nouns: 1.000 [0.969, 1.000], n = 120."
    assert diagnosis.advice == ()
    assert {check.shown for check in diagnosis.checks if check.step != "priors"} == {"known"}


def test_a_system_that_always_says_es(run: Callable[..., Run]) -> None:
    """The paper's model in the extreme (§6.2): it knows genders, resolves nothing, is right on events by default."""
    (diagnosis,) = diagnose([run("templates", items(always_es))])
    assert verdicts_of(diagnosis) == {
        "first-failure": "fails",
        "mistakes": "earlier",
        "by-default": "default",
        "markable": "fails",
        "overlap": "fails",
        "world-knowledge": "fails",
        "event": "known",
        "pleonastic": "known",
        "gender": "known",
        "fallback": "prefers",
        "prior/verb": "prefers",
        "prior/role": "none",
        "prior/position": "none",
    }
    assert text(diagnosis, "first-failure") == ("The first step to fail is markable detection: animal or person 0.333.")
    assert text(diagnosis, "mistakes") == (
        "The system knows genders, so its errors come from the steps before: "
        "animal or person 0.333, overlap of words 0.333 and world knowledge 0.333."
    )
    assert text(diagnosis, "by-default") == (
        "Little can be concluded from event it 1.000 and pleonastic it 1.000: "
        "always choosing neuter is right there, and this system prefers neuter."
    )
    assert text(diagnosis, "markable") == (
        'The system does not know which nouns "it" can refer to: 0.333 [0.255, 0.422], n = 120, where an animal and a '
        "person compete, not above chance (0.50)."
    )
    # of 120 items of each of four templates two thirds are not neuter
    assert text(diagnosis, "fallback") == (
        "Where two nouns compete, the system falls back to neuter: 100.0 % of the 320 items "
        "where that is wrong, [0.988, 1.000]."
    )
    assert [
        (command.partition(" -")[0].split(" ", 1)[1].split(" runs")[0], rules) for command, _, rules in diagnosis.advice
    ] == [
        ("build augment", ("markable",)),
        ("diagnose RUN…", ("overlap", "world-knowledge")),
        ("build augment", ("fallback", "prior/verb")),
    ]


def test_a_system_that_takes_the_subject_and_the_first_noun(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("templates", items(takes_the_first))])
    assert verdicts_of(diagnosis) == {
        "first-failure": "fails",
        "mistakes": "earlier",
        "markable": "fails",
        "overlap": "fails",
        "world-knowledge": "fails",
        "event": "fails",
        "pleonastic": "fails",
        "gender": "known",
        "clause": "first",
        "role": "first",
        "prior/role": "prefers",
        "prior/position": "prefers",
        "prior/verb": "none",
    }
    assert text(diagnosis, "clause") == (
        "The system prefers the first of two clauses: overlap is 1.000 if the antecedent is there, and "
        "0.000 if it is in the second (difference +1.000 [+0.956, +1.000])."
    )
    assert text(diagnosis, "role").startswith(
        "The system prefers the subject, whatever is said about it: world knowledge is 1.000"
    )
    assert text(diagnosis, "prior/role") == (
        "Where subject and object both fit, the system chooses the subject: 100.0 % of 120, [0.969, 1.000]."
    )


def test_a_system_that_guesses(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("templates", items(by_chance()))])
    verdicts = verdicts_of(diagnosis)
    steps = ("markable", "overlap", "world-knowledge", "event", "pleonastic", "gender")
    assert {verdicts[rule] for rule in steps} == {"fails"}
    assert {verdicts[rule] for rule in ("prior/verb", "prior/role", "prior/position")} == {"none"}
    assert (verdicts["first-failure"], verdicts["mistakes"]) == ("fails", "gender")
    assert set(verdicts) == {*steps, "prior/verb", "prior/role", "prior/position", "first-failure", "mistakes"}


# -------------------------------------------------------------------------------------------- attacks and test sets


def answered(outcomes: str, attack: str | None = None) -> list[ScoredExample]:
    """R and W, in ten-fold; reference pronouns er, sie, es in turn."""
    made = []
    for k, outcome in enumerate(outcomes * 10):
        tags: dict[str, Any] = {"reference_pronoun": ("er", "sie", "es")[k % 3]}
        if attack:
            tags |= {"attack": attack, "attacked": str(k)}
        scores = [-1.0, -2.0, -3.0] if outcome == "R" else [-2.0, -1.0, -3.0]
        made.append(ScoredExample(f"{attack}/{k}" if attack else str(k), 0, tags, scores))
    return made


def test_a_brittle_system(run: Callable[..., Run]) -> None:
    """300 items: 240 right; 180 after one attack, 210 after another, 240 after a third, 10 without context."""
    base = "RRRRRRRRWW" * 3
    runs = [
        run("set", answered(base)),
        run("set-phrase", answered("RRRRRRWWWW" * 3, "phrase-addition/x")),
        run("set-other", answered("RRRRRRRWWW" * 3, "phrase-addition/a")),
        run("set-owner", answered(base, "a-harmless/y")),
        run("set-alone", answered("R" + "W" * 29, "no-context")),
    ]
    (diagnosis,) = diagnose(runs)
    assert verdicts_of(diagnosis) == {"attacks": "brittle", "context": "brittle", "score": "partial"}
    assert text(diagnosis, "attacks").startswith("The score on set is brittle: −0.200 [−0.2")
    assert text(diagnosis, "attacks").endswith(
        "under phrase-addition/x (0.800 → 0.600, n = 300, p < 0.001); 2 of 3 attacks cost 0.05 or more."
    )
    assert text(diagnosis, "context").startswith("The system uses context: −0.767 [")
    (attacks,) = [statement for statement in diagnosis.statements if statement.rule == "attacks"]
    assert len(attacks.items) == 60
    assert attacks.items[:3] == ("6", "7", "16")
    shown = {check.name: check.shown for check in diagnosis.checks if check.step == "robustness"}
    assert shown == {
        "set: phrase-addition/x": "brittle",
        "set: phrase-addition/a": "brittle",
        "set: a-harmless/y": "robust",
        "set: no-context": "used",
    }
    assert [command.split()[1:3] for command, _, _ in diagnosis.advice] == [
        ["build", "augment"],
        ["build", "templates"],
    ]


def test_a_robust_system_that_ignores_context(run: Callable[..., Run]) -> None:
    base = "RRRRRRRRWW" * 3
    (diagnosis,) = diagnose(
        [
            run("set", answered(base)),
            run("set-phrase", answered(base, "phrase-addition/x")),
            run("set-alone", answered(base, "no-context")),
        ]
    )
    assert verdicts_of(diagnosis) == {"attacks": "robust", "context": "robust", "score": "partial"}
    assert text(diagnosis, "context").startswith("The system does not use context: +0.000")
    assert [command.split()[1] for command, _, _ in diagnosis.advice] == ["context-usage", "build"]


@pytest.mark.parametrize("attacked", ["W" * 30, "WWWWWWWWWR" * 3])
def test_who_is_at_chance_has_nothing_to_lose(run: Callable[..., Run], attacked: str) -> None:
    """newcomer.md B16: a score of 0.1 with three candidates is neither robust nor brittle, whatever an attack does."""
    (diagnosis,) = diagnose(
        [
            run("set", answered("WWWWWWWWWR" * 3)),
            run("set-phrase", answered(attacked, "phrase-addition/x")),
            run("set-alone", answered(attacked, "no-context")),
        ]
    )
    assert verdicts_of(diagnosis)["attacks"] == verdicts_of(diagnosis)["context"] == "at chance"
    assert "it is at chance (0.33), with nothing to lose (0.100 → 0." in text(diagnosis, "attacks")
    assert not any(command.startswith("anaphora build augment") for command, _, _ in diagnosis.advice)


def test_advice_is_for_the_language_pair(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("set", answered("RRRRRRRRWW" * 3))])
    assert "anaphora build templates -l en-de -o templates.jsonl" in [command for command, _, _ in diagnosis.advice]
    for target, known in (("fr", True), ("xx", False)):
        french = run(f"set-{target}", answered("RRRRRRRRWW" * 3))
        header = replace(french.header, target_language=target)
        (diagnosis,) = diagnose([replace(french, header=header)])
        commands = [command for command, _, _ in diagnosis.advice]
        assert (f"anaphora build templates -l en-{target} -o templates.jsonl" in commands) is known
        assert not any("augment" in command for command in commands)


def test_a_score_that_hides_a_bias(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("set", answered("WWR" * 10))])  # only es is right, a hundred of three hundred
    assert text(diagnosis, "pronouns") == (
        "The score on set hides a bias: 1.000 on es, but only 0.000 on er (difference +1.000 [+0.948, +1.000])."
    )
    assert verdicts_of(diagnosis)["score"] == "fails"
    assert ("pronouns",) in [rules for _, _, rules in diagnosis.advice]


# --------------------------------------------------------------------------------------------------- what is not said


def test_nothing_is_reported_of_few_items(run: Callable[..., Run]) -> None:
    minimum = load_rules().thresholds.minimum
    answers = [item for item in items(always_es) if int(item.id.rpartition("/")[2]) < minimum - 1]
    # what is counted together has enough: two overlap templates, and the four where nouns compete
    (diagnosis,) = diagnose([run("templates", [i for i in answers if not i.id.startswith("overlap")])])
    assert verdicts_of(diagnosis) == {"fallback": "prefers"}
    assert {c.shown for c in diagnosis.checks if c.rule not in ("fallback", "role")} == {"too few"}
    (role,) = [c for c in diagnosis.checks if c.rule == "role"]
    assert role.measured.total == minimum - 1
    assert role.shown == "too few"


def test_of_one_template_only_what_it_shows_is_reported(run: Callable[..., Run]) -> None:
    answers = [item for item in items(perfect) if item.id.startswith("gender/")]
    (diagnosis,) = diagnose([run("templates", answers)])
    assert verdicts_of(diagnosis) == {
        "gender": "known"
    }  # that the pipeline is sound is not said: two steps were not tested


def test_unseen_context_is_a_conclusion_with_advice(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("templates", items(always_es), context="0+0")])
    assert diagnosis.statements[0].rule == "first-failure"  # failures come first, then what explains them
    assert "unseen" in verdicts_of(diagnosis)
    command, _, rules = diagnosis.advice[-1]
    assert (command.split()[1], rules) == ("score", ("unseen",))


def test_several_systems(run: Callable[..., Run]) -> None:
    runs = [run("one", items(perfect)), run("two", items(always_es), system="hf:y")]
    first, second = diagnose(runs)
    assert (first.system, second.system) == ("hf:x", "hf:y")
    assert verdicts_of(first)["first-failure"] == "sound"
    assert verdicts_of(second)["first-failure"] == "fails"


def test_json(run: Callable[..., Run]) -> None:
    (diagnosis,) = diagnose([run("templates", items(always_es))])
    document = diagnosis.to_dict(items=3)
    assert set(document) == {
        *("system", "context", "languages", "suites", "statements", "checks", "advice", "thresholds", "signature")
    }
    (markable,) = [row for row in document["statements"] if row["rule"] == "markable"]
    assert set(markable) == {"rule", "verdict", "severity", "text", "figures", "item_count", "items"}
    assert (markable["item_count"], markable["items"]) == (80, ["markable/0", "markable/1", "markable/2"])
    assert markable["figures"][0]["figure"] == pytest.approx(40 / 120)
    assert document["signature"].startswith("dia|s:templates@")
    assert len(diagnosis.to_dict()["statements"][0]["items"]) == 80


# Sentences: the figures in the words of a rule.

LIMITS = load_rules().thresholds
TEXT = (
    "{figure}|{interval}|{percent}|{total}|{chance}|{signed}|{one}|{other}|{what}|{worst}|{p}|{suite}|{count}|{tried}"
)
RULE = Rule("r", "accuracy", "priors", "name", {"fails": ("failure", TEXT)})
SHARE = Measured(1234, 0.4821, (0.4, 0.5), "fails", ("a", "b"), ("es", "er"), chance=0.5)
DROP = Measured(1234, -0.12, (-0.15, 0.01), "fails", ("b", "c"), ("phrase",), (0.75, 0.63), p=0.0004)


def check(actual: Measured) -> Check:
    return Check("r", "priors", "name", "set", actual, actual.verdict)


def test_a_share() -> None:
    message = statement(RULE, [check(SHARE)], LIMITS)
    assert message is not None
    assert message.text == (
        "0.482 [0.400, 0.500], n = 1,234|[0.400, 0.500]|48.2 %|1,234|0.50|0.482 [0.400, 0.500]|||es|er||set|1|1"
    )
    assert (message.rule, message.verdict, message.severity, message.items) == ("r", "fails", "failure", ("a", "b"))


def test_a_difference_has_signs_and_p() -> None:
    message = statement(
        RULE, [check(DROP), check(replace(DROP, verdict="robust")), check(replace(SHARE, verdict="too few"))], LIMITS
    )
    assert message is not None
    assert message.text.split("|")[5:] == [
        *("−0.120 [−0.150, +0.010]", "0.750", "0.630", "phrase", "", "< 0.001", "set", "1", "2")
    ]
    message = statement(RULE, [check(replace(DROP, p=0.0312))], LIMITS)
    assert message is not None
    assert "|= 0.031|" in message.text


def test_nothing_is_reported_of_a_verdict_without_a_sentence() -> None:
    assert statement(RULE, [check(replace(SHARE, verdict="too few"))], LIMITS) is None
    assert statement(RULE, [check(replace(SHARE, verdict="known"))], LIMITS) is None
    assert statement(RULE, [], LIMITS) is None


def test_items_of_several_checks_are_listed_once() -> None:
    message = Statement("r", "fails", "failure", "text", (check(SHARE), check(DROP)))
    assert message.items == ("a", "b", "c")
    document = message.to_dict(items=2)
    assert (document["item_count"], document["items"]) == (3, ["a", "b"])
    assert message.to_dict(0)["items"] == []
    assert [figure["difference"] for figure in document["figures"]] == [False, True]
    assert document["figures"][1]["p_adjusted"] == 0.0004


# What follows from several verdicts together.

RULES = {rule.id: rule for rule in load_rules().rules}
SAYS = load_rules().conclusions
ALL_KNOWN = "markable:known overlap:known world-knowledge:known event:known pleonastic:known gender:known"


def concluded(
    verdicts: str, gold: str = "neuter", prefers: str = "neuter", context: str | None = None
) -> dict[str, tuple[str, list[str]]]:
    """From `gender:known overlap:fails` to the conclusions, their verdicts, and the rules that they rest on."""
    statements = []
    for word in verdicts.split():
        name, verdict = word.split(":")
        rule = RULES[name]
        actual = Measured(100, 0.5, (0.4, 0.6), verdict, (f"{name}/1",), (prefers,), golds=(gold,))
        check = Check(name, rule.step, rule.name, "suite", actual, verdict)
        statements.append(Statement(name, verdict, "note", "", (check,)))
    made = list(conclusions(statements, SAYS, context))
    return {message.rule: (message.verdict, [check.rule for check in message.checks]) for message in made}


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("markable:fails overlap:fails gender:known", ("fails", ["markable"])),
        ("markable:known overlap:fails world-knowledge:fails gender:fails", ("fails", ["overlap", "world-knowledge"])),
        ("markable:known overlap:partial gender:fails", ("fails", ["gender"])),
        ("markable:known overlap:partial event:unclear gender:known", ("weak", ["overlap", "event"])),
        ("overlap:fails", ("fails", ["overlap"])),
        ("markable:known overlap:known", None),  # one step was not tested
        ("gender:known score:fails", None),  # a test set is no step
    ],
)
def test_the_first_step_that_fails(verdicts: str, expected: tuple[str, list[str]] | None) -> None:
    assert concluded(verdicts).get("first-failure") == expected


def test_every_step_is_known() -> None:
    verdict, rules = concluded(ALL_KNOWN)["first-failure"]
    assert verdict == "sound"
    assert len(rules) == 6


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ("markable:fails overlap:partial event:known gender:known", ("earlier", ["markable", "overlap"])),
        ("markable:fails gender:fails", ("gender", ["markable"])),
        ("markable:fails gender:partial", None),  # it may be either
        ("markable:fails", None),
        (ALL_KNOWN, None),
    ],
)
def test_where_mistakes_come_from(verdicts: str, expected: tuple[str, list[str]] | None) -> None:
    assert concluded(verdicts).get("mistakes") == expected


def test_right_by_default() -> None:
    expected = ("default", ["event", "pleonastic"])
    assert concluded("event:known pleonastic:known fallback:prefers")["by-default"] == expected
    assert concluded("event:known pleonastic:partial prior/verb:prefers")["by-default"] == ("default", ["event"])
    assert "by-default" not in concluded("event:known pleonastic:known prior/verb:none")
    assert "by-default" not in concluded("event:known prior/verb:prefers", prefers="masculine")
    assert "by-default" in concluded("event:known prior/verb:prefers", gold="masculine", prefers="masculine")
    assert "by-default" not in concluded("event:known prior/role:prefers")  # a role is no gender


def test_a_system_that_saw_no_context() -> None:
    assert "unseen" in concluded("gender:fails", context="0+0")
    assert "unseen" in concluded("gender:fails", context="0+1")  # what "it" stands for is in the source
    assert "unseen" not in concluded("gender:fails", context="1+0")
    assert "unseen" not in concluded("gender:fails")
    assert "unseen" not in concluded("score:fails", context="0+0")  # test sets have antecedents in the sentence, too
