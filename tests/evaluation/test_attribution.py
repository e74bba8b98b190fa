"""Does a system look at the antecedent? Words, antecedents and figures by hand; planted systems that look or do not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anaphora as package
from anaphora.core.errors import AnaphoraError
from anaphora.evaluation.attribution import (
    BROKEN,
    NO_GOLD,
    NO_TAG,
    NOT_FOUND,
    NOT_OCCLUDED,
    NOTHING,
    TOO_FAR,
    UNDECIDABLE,
    AttributingSystem,
    Unit,
    antecedent_units,
    check_method,
    check_tags,
    contrast,
    figures_of,
    highlighted_units,
    record_of,
    shares,
    word_units,
)
from anaphora.runs import CandidateScores
from anaphora.suites.example import Example, Tag
from anaphora.suites.suite import Header, Suite, suite_of
from anaphora.systems import Traits
from anaphora.systems.attribution import Position, TokenAttribution
from anaphora.systems.context import Context, Options

SOURCE = ("I see a lamp.", "Yes, it is on.")
RIGHT = ("Ich sehe eine Lampe.", "Ja, sie ist an.")
WRONG = ("Ich sehe eine Lampe.", "Ja, er ist an.")


def example(**tags: Tag) -> Example:
    named: dict[str, Tag] = {"source_antecedent": "a lamp", "target_antecedent": "eine Lampe", "distance": 1}
    return Example("1", SOURCE, (RIGHT, WRONG), 0, {**named, **tags})


def attributed(values: dict[tuple[int, int, str], float], outside: float = 0.0) -> TokenAttribution:
    """Values of words, each of which is a token; what is not named has 0. The target is read up to the pronoun."""
    tokens: list[tuple[Position | None, float]] = [(None, outside)]
    for side, passage in enumerate((SOURCE, (RIGHT[0], "Ja,"))):
        for sentence, text in enumerate(passage):
            start = 0
            for word in text.replace(".", " .").replace(",", " ,").split():
                start = text.index(word, start)
                tokens.append(
                    (Position(side, sentence, start, start + len(word)), values.get((side, sentence, word), 0.0))
                )
    return TokenAttribution(CandidateScores([-1.0, -2.0]), SOURCE, RIGHT, tokens)


def test_tokens_become_words() -> None:
    tokens = [(Position(0, 0, 8, 10), 0.5), (Position(0, 0, 10, 12), -0.2), (Position(0, 0, 12, 13), 1.0), (None, -3.0)]
    units, rest = word_units(TokenAttribution(CandidateScores([0.0]), SOURCE, RIGHT, tokens))
    assert units == [Unit(0, 0, 3, "lamp", pytest.approx(0.3), 2), Unit(0, 0, 4, ".", 1.0, 1)]
    assert rest == 3.0


def test_the_antecedent_on_both_sides() -> None:
    attribution = attributed({(0, 0, "lamp"): 2.0, (1, 0, "Lampe"): -1.0, (0, 1, "it"): 1.0})
    record = record_of(example(), attribution, *word_units(attribution))
    assert record["antecedent"]["share"] == pytest.approx(3 / 4)
    assert record["antecedent"]["uniform_share"] == pytest.approx(
        4 / 18, abs=1e-5
    )  # a lamp, eine Lampe, of 18 words and signs
    assert record["antecedent"]["rank"] == 1
    assert record["antecedent"]["uniform_rank"] == pytest.approx(19 / 5)
    assert record["antecedent"]["support"] == pytest.approx(1.0)
    words = [word for side in record["words"].values() for sentence in side for word, _ in sentence]
    assert [words[at] for at in record["antecedent"]["at"]] == ["a", "lamp", "eine", "Lampe"]
    assert record["contrast"] == 1.0
    assert record["choice"] == ["sie", "er"]
    assert record["right"] is True


def test_rank_of_an_antecedent_after_other_words() -> None:
    attribution = attributed({(0, 0, "lamp"): 1.0, (0, 1, "it"): -3.0, (1, 1, "Ja"): 2.0})
    record = record_of(example(), attribution, *word_units(attribution))
    assert record["antecedent"]["rank"] == 3
    assert record["antecedent"]["share"] == pytest.approx(1 / 6, abs=1e-5)


def antecedent_words(
    example: Example, source: Sequence[str] = SOURCE, target: Sequence[str] = RIGHT
) -> list[str] | str:
    """The words of the antecedent, where every word is a token."""
    passages = tuple(source), tuple(target)
    tokens = []
    for side, passage in enumerate(passages):
        for sentence, text in enumerate(passage):
            tokens += [(Position(side, sentence, k, k + 1), 1.0) for k, sign in enumerate(text) if sign.strip()]
    units, _ = word_units(TokenAttribution(CandidateScores([0.0]), *passages, tokens))
    chosen = antecedent_units(example, passages, units)
    return chosen if isinstance(chosen, str) else [unit.text for unit in units if unit in chosen]


def test_why_there_is_no_antecedent() -> None:
    assert antecedent_words(replace(example(), tags={})) == NO_TAG
    assert antecedent_words(example(distance=2)) == TOO_FAR
    assert antecedent_words(example(), SOURCE[-1:], RIGHT[-1:]) == TOO_FAR, "a system that reads no context"
    assert antecedent_words(example(source_antecedent="a cup", target_antecedent="eine Tasse")) == NOT_FOUND
    assert antecedent_words(example(), SOURCE, RIGHT[-1:]) == ["a", "lamp"], "target context is not read"


def test_the_head_where_the_phrase_is_not_found() -> None:
    tags: dict[str, Tag] = {"source_antecedent": "the big lamp", "source_antecedent_head": "lamp"}
    assert antecedent_words(example(**tags, target_antecedent="x")) == ["lamp"]


def test_without_a_distance_the_nearest_sentence_with_the_words() -> None:
    tagged = example()
    tags = {name: value for name, value in tagged.tags.items() if name != "distance"}
    assert antecedent_words(replace(tagged, tags=tags)) == ["a", "lamp", "eine", "Lampe"]


@pytest.mark.parametrize(("position", "expected"), [(2, 1), (5, 4), (None, 4)])
def test_one_of_several_occurrences(position: int | None, expected: int) -> None:
    """The one nearest to the annotated head (counted from 1); else the last one before the pronoun."""
    sentence = "A lamp or a lamp, it or a lamp."
    tags: dict[str, Tag] = {"source_antecedent": "a lamp", "source_antecedent_head_id": position, "distance": 0}
    one = Example("1", (sentence,), (("x",),), 0, {**tags, "source_pronoun": "it"})
    passages = (sentence,), ("",)
    tokens = [(Position(0, 0, k, k + 1), 1.0) for k, sign in enumerate(sentence) if sign.strip()]
    units, _ = word_units(TokenAttribution(CandidateScores([0.0]), *passages, tokens))
    chosen = antecedent_units(one, passages, units)
    assert isinstance(chosen, set)
    assert max(unit.number for unit in chosen if unit.number is not None) == expected


def test_words_that_translators_have_highlighted() -> None:
    marks: list[Tag] = [
        {"side": "source", "sentence": 0, "start": 8, "end": 12, "text": "lamp"},
        {"side": "target", "sentence": 0, "start": 14, "end": 19, "text": "Lampe"},
    ]
    attribution = attributed({(0, 0, "lamp"): 1.0, (0, 1, "it"): 3.0})
    record = record_of(example(highlights=marks), attribution, *word_units(attribution))
    assert record["highlights"]["share"] == pytest.approx(1 / 4)
    assert record["highlights"]["rank"] == 2
    # of 2 highlighted and 16 other words: lamp beats 15 and loses to 1, Lampe ties with 15 and loses to 1
    assert record["highlights"]["auc"] == pytest.approx((15 + 15 / 2) / 32, abs=1e-5)
    units, _ = word_units(attribution)
    assert highlighted_units(example(highlights=marks, highlights_broken=True), (SOURCE, RIGHT), units) == BROKEN
    assert highlighted_units(example(highlights=marks), (SOURCE[-1:], RIGHT[-1:]), units) == TOO_FAR
    assert highlighted_units(example(), (SOURCE, RIGHT), units) == ""


def test_records_without_figures() -> None:
    attribution = attributed({})
    units, rest = word_units(attribution)
    assert record_of(example(), attribution, units, rest)["reason"] == NOTHING
    assert record_of(replace(example(), gold=None), attribution, units, rest) == {"reason": NO_GOLD}
    same = attribution._replace(answer=CandidateScores([-1.0, -1.0], undecidable=[(0, 1)]))
    assert record_of(example(), same, units, rest) == {"reason": UNDECIDABLE}
    assert record_of(example(), attribution._replace(reason="other"), units, rest) == {"reason": "other"}


def test_the_contrast_is_with_the_most_probable_wrong_candidate() -> None:
    assert contrast(CandidateScores([-1.0, -3.0, -2.0]), 0) == 1.0
    assert contrast(CandidateScores([-1.0, -1.0, -2.0], undecidable=[(0, 1)]), 0) == 1.0, "the same token is no rival"


units_strategy = st.lists(
    st.builds(
        Unit,
        st.integers(0, 1),
        st.integers(0, 1),
        st.integers(0, 99),
        st.just("w"),
        st.floats(-5, 5, allow_subnormal=False),
        st.integers(1, 3),
    ),
    min_size=2,
    max_size=12,
    unique_by=lambda unit: (unit.side, unit.sentence, unit.number),
)


@given(units_strategy, st.integers(1, 11), st.randoms())
def test_shares_sum_to_one_and_do_not_depend_on_order(units: list[Unit], size: int, rng: random.Random) -> None:
    parts = shares(units)
    assert all(part >= 0 for part in parts)
    assert sum(parts) == pytest.approx(1 if any(unit.value for unit in units) else 0)
    chosen = set(units[:size])
    figures = figures_of(units, chosen)
    shuffled = units[:]
    rng.shuffle(shuffled)
    assert figures_of(shuffled, chosen) == pytest.approx(figures)
    assert 0 <= figures["share"] <= 1 + 1e-9
    assert 1 <= figures["rank"] <= len(units)
    others = set(units) - chosen
    if others:
        rest = figures_of(units, others)
        assert figures["uniform_share"] + rest["uniform_share"] == pytest.approx(1)
        assert figures["auc"] + rest["auc"] == pytest.approx(1)


def test_equal_values_have_the_figures_of_chance() -> None:
    units = [Unit(0, 0, n, "w", 1.0) for n in range(8)]
    figures = figures_of(units, set(units[:2]))
    assert figures["share"] == figures["uniform_share"] == 0.25
    assert figures["auc"] == 0.5


# Systems


class Looking:
    """Scores the pronoun by the words of the context: +1 for the right one if "lamp" is in the source context."""

    traits = Traits(scope=True)

    def __init__(self, side: str = "source") -> None:
        self.side, self.asked = side, 0

    def settings(self) -> dict[str, Any]:
        return {}

    def score(self, examples: Sequence[Example], done: Any = ()) -> Iterator[tuple[int, CandidateScores]]:
        for number, one in enumerate(examples):
            if number not in done:
                self.asked += 1
                text = one.source[0] if self.side == "source" else one.candidates[0][0]
                yield number, CandidateScores([-1.0 if "amp" in text.lower() else -3.0, -2.0])


@pytest.mark.parametrize(("side", "effects"), [("source", [2.0, 0.0]), ("target", [0.0, 2.0]), ("none", [0.0, 2.0])])
def test_occlusion_finds_the_sentence_that_matters(side: str, effects: list[float]) -> None:
    system = AttributingSystem(Looking(side), "occlusion", Options(Context(1)))
    ((_, answer),) = system.score([example()])
    record = answer.extra["attribution"]
    assert [value for passage in record["words"].values() for s in passage for _, value in s] == effects
    assert record["antecedent"]["support"] == 2.0


def test_occlusion_of_an_antecedent_in_the_current_sentence() -> None:
    system = AttributingSystem(Looking(), "occlusion", Options(Context(1)))
    ((_, answer),) = system.score([example(distance=0, source_antecedent="it")])
    assert answer.extra["attribution"]["reason"] == NOT_OCCLUDED


def test_occlusion_leaves_out_only_what_is_read() -> None:
    looking = Looking()
    longer = replace(example(), source=("Old.", *SOURCE), candidates=tuple(("Alt.", *c) for c in (RIGHT, WRONG)))
    list(AttributingSystem(looking, "occlusion", Options(Context(1))).score([longer]))
    assert looking.asked == 3, "the example, and the example without a sentence on either side"
    looking.asked = 0
    list(AttributingSystem(looking, "occlusion", Options(Context(1))).score([longer], done={0}))
    assert looking.asked == 0


def test_methods_and_kinds() -> None:
    check_method("nmt:x", "gradient")
    check_method("ct2:x", "occlusion")
    with pytest.raises(AnaphoraError, match=r"ct2:x has no gradients .* Use --method occlusion, or hf:, lm: or nmt:"):
        check_method("ct2:x", "attention")
    with pytest.raises(AnaphoraError, match="Use hf:, lm: or nmt:"):
        check_method("openai:x", "gradient")
    with pytest.raises(AnaphoraError, match="scores whole candidates only"):
        check_method("scores:x", "occlusion")
    with pytest.raises(AnaphoraError, match="unknown method"):
        check_method("hf:x", "magic")


def test_a_suite_without_antecedents_is_an_error() -> None:
    suite = suite_of(Header("plain", "en", "de"), lambda: [replace(example(), tags={})])
    with pytest.raises(AnaphoraError, match="plain: no example has the tag 'source_antecedent'"):
        check_tags(suite, suite)


# A planted model: it reads one word of the context, or none

torch = pytest.importorskip("torch")
Make = Callable[..., Path]


class Planted(torch.nn.Module):
    """A trained model that predicts from the vectors of some tokens of its input alone."""

    def __init__(self, size: int, wanted: Sequence[int]) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.wanted = torch.tensor(wanted)
        self.words, self.target = torch.nn.Embedding(size, 8), torch.nn.Embedding(size, 8)
        self.output = torch.nn.Linear(8, size)

    def forward(self, batch: Any) -> Any:
        source = batch.inputs[0]
        seen = torch.isin(source.ids, self.wanted) & source.mask
        self.target(batch.read.ids)
        return self.output((self.words(source.ids) * seen[:, :, None]).sum(1))[:, None]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Callable[[str], Any]:
    """A concatenation model of which one word decides."""
    pytest.importorskip("sentencepiece")
    from anaphora.systems import load_system
    from tests.tiny_models import make_nmt

    folder = tmp_path_factory.mktemp("planted") / "model"
    make_nmt(folder, demo_text, source_context=1, target_context=1)

    def load(word: str) -> Any:
        system: Any = load_system(f"nmt:{folder}", Options(scope="pronoun"))
        text = system.loaded.text
        model = Planted(text.size, text.encode_source(word))
        system.loaded = replace(system.loaded, models=(model,))
        return system

    return load


def test_a_model_that_copies_the_antecedent_looks_at_it(planted: Callable[[str], Any]) -> None:
    one = replace(example(), source=("We saw a lamp.", "It broke."))
    ((_, answer),) = AttributingSystem(planted("lamp"), "gradient", Options()).score([one])
    record = answer.extra["attribution"]
    assert record["antecedent"]["share"] > 0.5  # pieces of "lamp" may be pieces of other words as well
    assert record["antecedent"]["rank"] == 1
    assert record["antecedent"]["share"] > 2 * record["antecedent"]["uniform_share"]


def test_a_model_that_ignores_the_context_does_not(planted: Callable[[str], Any]) -> None:
    one = replace(example(), source=("We saw a lamp.", "It broke."))
    ((_, answer),) = AttributingSystem(planted("broke"), "gradient", Options()).score([one])
    record = answer.extra["attribution"]
    context = list(record["words"]["source"][0]) + record["words"]["target"][0]
    current = sum(abs(value) for _, value in record["words"]["source"][1])
    assert sum(abs(value) for _, value in context) < 0.5 * current
    assert record["antecedent"]["share"] < record["antecedent"]["uniform_share"]


# The API and the command

SUITE = [
    replace(example(), id=str(k), source=(source, "Yes, it is on."), tags={**example().tags, "k": k % 2})
    for k, source in enumerate(("I see a lamp.", "There is a lamp.", "A lamp was here.", "I like a lamp or a bed.") * 3)
]


def write(path: Path, examples: Sequence[Example] = SUITE) -> Path:
    suite: Suite = suite_of(Header("lamps", "en", "de", ("distance",)), lambda: list(examples))
    suite.write(path)
    return path


@pytest.mark.parametrize("method", ["gradient", "attention", "occlusion"])
def test_the_api_is_the_command(anaphora: Any, tmp_path: Path, tiny_marian: Path, method: str) -> None:
    write(tmp_path / "s.jsonl")
    arguments = ["attribute", "s.jsonl", "--system", f"hf:{tiny_marian}", "--context", "1", "--method", method]
    printed = json.loads(anaphora(*arguments, "--by", "k", "-o", "a.jsonl", "--json", "--samples", "200").stdout)
    result = package.attribute(
        tmp_path / "s.jsonl",
        f"hf:{tiny_marian}",
        tmp_path / "b.jsonl",
        context=1,
        method=method,
        by="k",
        samples=200,  # type: ignore[arg-type]
    )
    assert result.to_dict() == printed
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert printed["total"] == printed["attributed"] == 12
    assert 0 <= printed["antecedent_share"] <= 1
    assert printed["antecedent_rank"] >= 1
    assert printed["antecedent"]["all"]["share"]["total"] == 12
    assert set(printed["breakdowns"]["k"]) == {"0", "1"}
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines[1:]] == [str(k) for k in range(12)]
    assert "antecedent" in json.loads(lines[1])["attribution"]
    table = anaphora(*arguments, "-o", "a.jsonl", "--resume").stdout
    assert f"lamps en→de · hf:{tiny_marian} · {method}" in table


def test_an_interrupted_attribution_is_resumed(anaphora: Any, tmp_path: Path, tiny_marian: Path) -> None:
    write(tmp_path / "s.jsonl")
    arguments = ["attribute", "s.jsonl", "--system", f"hf:{tiny_marian}", "--context", "1", "-o"]
    anaphora(*arguments, "whole.jsonl")
    whole = (tmp_path / "whole.jsonl").read_bytes()
    header, *records = whole.splitlines(keepends=True)
    part = [b'{"n": %d,' % n + line[1:] for n, line in enumerate(records) if n in (3, 7)]
    (tmp_path / "part.jsonl.part").write_bytes(header + b"".join(part) + b'{"n": 8, "id"')
    assert "Continue with --resume" in anaphora(*arguments, "part.jsonl", check=2).stderr
    anaphora(*arguments, "part.jsonl", "--resume")
    assert (tmp_path / "part.jsonl").read_bytes() == whole
    other = anaphora(*arguments, "part.jsonl", "--resume", "--method", "attention", check=2).stderr
    assert "attribution: 'gradient', now 'attention'" in other


def test_errors_are_one_line(anaphora: Any, tmp_path: Path, tiny_marian: Path) -> None:
    write(tmp_path / "s.jsonl")
    write(tmp_path / "untagged.jsonl", [replace(one, tags={}) for one in SUITE])
    run = ["-o", "a.jsonl"]
    for arguments, message in (
        (["untagged.jsonl", "--system", f"hf:{tiny_marian}"], "untagged.jsonl: no example has the tag"),
        (["s.jsonl", "--system", f"hf:{tiny_marian}", "--resume", "--overwrite"], "cannot be combined"),
        (["s.jsonl", "--system", "command:cat"], "command:cat has no gradients"),
        (
            ["s.jsonl", "--system", f"hf:{tiny_marian}", "--method", "occlusion", "--target-context", "produced"],
            "occlusion leaves sentences of the suite out",
        ),
    ):
        done = anaphora("attribute", *arguments, *run, check=2)
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert not (tmp_path / "a.jsonl").exists()


def test_an_antecedent_beyond_the_context_is_counted(anaphora: Any, tmp_path: Path, tiny_marian: Path) -> None:
    write(tmp_path / "s.jsonl")
    done = anaphora("attribute", "s.jsonl", "--system", f"hf:{tiny_marian}", "-o", "a.jsonl", "--json")
    result = json.loads(done.stdout)
    assert result["without_antecedent"] == {TOO_FAR: 12}
    assert result["antecedent_share"] is None
    assert result["attributed"] == 0


def test_figures_are_those_of_score_at_the_pronoun(tmp_path: Path, tiny_marian: Path) -> None:
    write(tmp_path / "s.jsonl")
    spec = f"hf:{tiny_marian}"
    result = package.attribute(tmp_path / "s.jsonl", spec, tmp_path / "a.jsonl", context=1)
    run = package.score(tmp_path / "s.jsonl", spec, context=1, scope="pronoun")
    assert result.accuracy.correct == package.evaluate(run).figure.correct
    for one, other in zip(package.load_run(tmp_path / "a.jsonl"), run, strict=True):
        assert one.scores == pytest.approx(other.scores, abs=1e-4)


def test_a_real_model_looks_at_antecedents_of_contrapro(data: Callable[[str], Path], tmp_path: Path) -> None:
    """The kept concatenation model: its rank is better than by chance, and its answers need the previous sentence."""
    from itertools import islice

    from anaphora.suites.readers.contrapro import read_rebuilt

    suite = read_rebuilt(data("contrapro"))
    examples = list(islice((one for one in suite if one.tags.get("distance") == 1), 40))
    suite_of(suite.header, lambda: examples).write(tmp_path / "s.jsonl")
    model = Path(__file__).parents[2] / "experiments" / "contrapro-2018" / "concat22"
    words = package.attribute(tmp_path / "s.jsonl", f"nmt:{model}", tmp_path / "a.jsonl", samples=500, threads=1)
    share, rank = (words.antecedent["all"][name] for name in ("share", "rank"))
    assert share.total > 36, "nearly all antecedents are found"
    assert rank.interval[1] < (rank.uniform or 0)
    assert share.mean > (share.uniform or 0)
    sentences = package.attribute(
        tmp_path / "s.jsonl", f"nmt:{model}", tmp_path / "b.jsonl", method="occlusion", samples=500, threads=1
    )
    assert sentences.antecedent["right"]["support"].interval[0] > 1, "nats that right answers lose without the sentence"


def test_highlights_of_scat_are_words_of_its_passages(data: Callable[[str], Path]) -> None:
    """All that translators have highlighted is found again, where every letter is a token."""
    from anaphora.suites.readers import scat

    actual = broken = 0
    for one in scat.read(data("scat-en-fr")):
        passages = one.source, one.candidates[0]
        tokens = [
            (Position(side, number, k, k + 1), 1.0)
            for side, passage in enumerate(passages)
            for number, sentence in enumerate(passage)
            for k in range(len(sentence))
        ]
        units, _ = word_units(TokenAttribution(CandidateScores([0.0]), *passages, tokens))
        chosen = highlighted_units(one, passages, units)
        broken += chosen == BROKEN
        if isinstance(chosen, set):
            actual += 1
            marks = one.tags["highlights"]
            assert isinstance(marks, list)
            text = "".join(unit.text for unit in units if unit in chosen)
            for mark in marks:
                assert isinstance(mark, dict)
                assert "".join(str(mark["text"]).split()) in text
    assert actual > 900
    assert actual + broken > 950
