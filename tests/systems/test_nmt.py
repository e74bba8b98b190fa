"""`nmt:MODEL`: trained models as systems. Contexts are theirs; scores are those of every candidate by itself."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sentencepiece")

from anaphora.cli import main
from anaphora.core.errors import AnaphoraError
from anaphora.demo.corpus import demo_suite
from anaphora.evaluation.context_usage import context_usage
from anaphora.runs import open_run
from anaphora.suites.example import Example
from anaphora.suites.suite import example_line, header_line
from anaphora.systems import DocumentTranslator, Translator, load_system
from anaphora.systems.context import Context, Options
from anaphora.systems.nmt import TrainedSystem
from anaphora.systems.scoring import SystemCache, score_suite
from anaphora.systems.translation import Sentence, read_documents, translate_file
from tests.tiny_models import make_nmt

Make = Callable[..., Path]
EXAMPLES = list(demo_suite())[:12]
SHORT = 10
TO_2: dict[str, Any] = {"source_context": 1, "target_context": 1}


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory, demo_text: list[str]) -> Make:
    """The folder of a model with random weights that have opinions, made once for each name."""
    root = tmp_path_factory.mktemp("models")

    def folder(name: str, seed: int = 1, **settings: Any) -> Path:
        path = root / name
        return path if path.exists() else make_nmt(path, demo_text, seed=seed, **settings)

    return folder


def load(path: Path | str, **options: Any) -> TrainedSystem:
    system = load_system(f"nmt:{path}", Options(**options))
    assert isinstance(system, TrainedSystem)
    return system


def scores(path: Path | str, examples: list[Example] = EXAMPLES, **options: Any) -> list[list[float]]:
    answers = dict(load(path, **options).score(examples))
    return [list(answers[number].scores) for number in range(len(examples))]


def test_a_model_of_another_language_pair_is_refused(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(make("baseline"), folder)
    config = folder / "config.toml"
    config.write_text(config.read_text().replace('languages = ""', 'languages = "en-de"'))
    with pytest.raises(AnaphoraError, match=r"model: a model for en-de, but the text is en-fr\. Choose a model or"):
        load(folder, languages=("en", "fr"))
    for languages in (("en", "de"), ("en", "de-AT"), ("EN_us", "de"), ("", "")):
        load(folder, languages=languages)
    load(make("baseline"), languages=("en", "fr"))  # its config does not say the pair


KINDS: dict[str, dict[str, Any]] = {
    "baseline": {},
    "2-to-2": TO_2,
    "s-t-hier": {"context_encoders": ("source", "target")},
    "s-gate": {"context_encoders": ("source",), "combination": "gate"},
    "t-concat": {"context_encoders": ("target",), "combination": "concatenation"},
    "s-hier-to-2": {"context_encoders": ("source",), "target_context": 1, "tie_context_embeddings": True},
    "transformer": {"kind": "transformer", "max_length": 64, **TO_2},
    "voita": {"kind": "context-transformer", "context_encoders": ("source",), "max_length": 64},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scope", ["candidate", "current", "pronoun"])
def test_trees_are_as_good_as_one_by_one(make: Make, kind: str, scope: str) -> None:
    """Every architecture, and every part of a candidate that may be scored."""
    path = make(kind, **KINDS[kind])
    for one, other in zip(scores(path, scope=scope), scores(path, scope=scope, plain=True), strict=True):
        assert one == pytest.approx(other, abs=1e-4)
        assert len(set(one)) > 1


@pytest.mark.parametrize(
    ("kind", "options", "label"),
    [
        ("baseline", {}, "0+0"),
        ("2-to-2", {}, "1+1"),
        ("s-gate", {}, "1+0"),
        ("t-concat", {}, "0+1"),
        ("2-to-2", {"context": Context(1)}, "1+1"),
        ("2-to-2", {"context": Context(3)}, "1+1"),  # it reads no more than it was trained with
        ("2-to-2", {"context": Context(0), "own_context": False}, "0+0"),
        ("2-to-2", {"context": Context(1, " ", "none")}, "1+0"),
        ("2-to-2", {"context": Context(0, " ", "produced")}, "1+1p"),
        ("s-gate", {"context": Context(0, " ", "produced")}, "1+0"),
        ("baseline", {"context": Context(2)}, "0+0"),
    ],
)
def test_context_is_what_the_model_reads(make: Make, kind: str, options: dict[str, Any], label: str) -> None:
    system = load(make(kind, **KINDS[kind]), **options)
    assert system.settings()["context"] == label


def changed(examples: list[Example], **parts: Callable[[Example], Any]) -> list[Example]:
    return [replace(e, **{name: change(e) for name, change in parts.items()}) for e in examples]


def without_source_context(example: Example) -> Any:
    return ("",) * example.context_size + example.source[-1:]


def without_target_context(example: Example) -> Any:
    return tuple(("",) * example.context_size + candidate[-1:] for candidate in example.candidates)


def test_models_see_the_context_they_read_and_no_other(make: Make) -> None:
    source, target = (
        changed(EXAMPLES, source=without_source_context),
        changed(EXAMPLES, candidates=without_target_context),
    )
    for kind, (sees_source, sees_target) in {
        "baseline": (False, False),
        "s-gate": (True, False),
        "t-concat": (False, True),
        "s-t-hier": (True, True),
        "2-to-2": (True, True),
    }.items():
        path = make(kind, **KINDS[kind])
        given = scores(path)
        assert (scores(path, source) != given) is sees_source, kind
        assert (scores(path, target) != given) is sees_target, kind


def test_no_context_where_it_is_asked_for(make: Make) -> None:
    path = make("2-to-2", **TO_2)
    none = changed(EXAMPLES, source=without_source_context, candidates=without_target_context)
    assert scores(path, own_context=False) == scores(path, none)
    assert scores(path, context=Context(1, " ", "none")) == scores(
        path, changed(EXAMPLES, candidates=without_target_context)
    )


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that have not learned to come to an end do not go on for long."""
    monkeypatch.setattr(TrainedSystem._translator, "__defaults__", (None, SHORT))


@pytest.mark.parametrize("kind", ["2-to-2", "t-concat", "s-hier-to-2"])
def test_its_own_translation_as_target_context(make: Make, kind: str, short: None) -> None:
    path = make(kind, **KINDS[kind])
    system = load(path)

    def produced(example: Example) -> Any:
        """Translated sentence by sentence, before the current sentence of every candidate."""
        texts = [text for text in example.source[:-1] if text]
        sentences = [Sentence(text, tuple(texts[:n])) for n, text in enumerate(texts)]
        actual = [translation.text for translation in system.translate_sentences(sentences, max_tokens=SHORT)]
        return tuple(("", *actual, candidate[-1])[-3:] for candidate in example.candidates)

    some = EXAMPLES[:4]
    actual, expected = scores(path, some, context=Context(0, " ", "produced")), changed(some, candidates=produced)
    assert all(one == pytest.approx(other, abs=1e-4) for one, other in zip(actual, scores(path, expected), strict=True))
    assert actual != scores(path, some)
    assert actual != scores(path, changed(some, candidates=without_target_context))


def test_longer_passages_are_translated_from_their_beginning(make: Make, short: None) -> None:
    """A model that reads its own translation: that of the sentence before depends on the one before that."""
    system = load(make("t-concat", **KINDS["t-concat"]), context=Context(0, " ", "produced"))
    passage = ("The lamp is old.", "", "It is here.")
    produced = system._produced([passage], 1)
    two = system.translate_sentences([Sentence(passage[0], ()), Sentence(passage[2], (passage[0],))], max_tokens=SHORT)
    assert produced == {passage: (two[0].text, "", two[1].text)}
    joined = load(make("2-to-2", **TO_2), context=Context(0, " ", "produced"))
    assert joined._produced([passage], 1)[passage][:2] == ("", "")  # what nobody reads is not translated


def test_an_answer(make: Make) -> None:
    path = make("baseline")
    twice = replace(EXAMPLES[0], candidates=(*EXAMPLES[0].candidates, EXAMPLES[0].candidates[0]))
    ((number, answer),) = load(path).score([twice])
    assert number == 0
    last = len(twice.candidates) - 1
    assert list(answer.undecidable) == [(0, last)]
    assert answer.scores[0] == pytest.approx(answer.scores[last], abs=1e-6)
    text = load(path).loaded.text
    assert answer.tokens is not None
    assert list(answer.tokens) == [len(text.encode_target(c[-1])) + 1 for c in twice.candidates]


def test_margins_keep_the_differences(make: Make) -> None:
    path = make("2-to-2", **TO_2)
    for whole, margins in zip(scores(path), scores(path, margins_only=True), strict=True):
        assert margins[0] - margins[1] == pytest.approx(whole[0] - whole[1], abs=1e-4)
        assert margins[0] > whole[0]


def test_an_ensemble_is_the_mean_of_its_models(make: Make) -> None:
    one, two = make("baseline"), make("another", seed=2, hidden=12)
    both = scores(f"{one},{two}")
    for mean, a, b in zip(both, scores(one), scores(two), strict=True):
        assert mean == pytest.approx([(x + y) / 2 for x, y in zip(a, b, strict=True)], abs=1e-5)
    system = load(f"{one},{two}")
    assert len(system.settings()["weights"].split(",")) == 2
    (translations,) = system.translate_sentences([Sentence(EXAMPLES[0].source[-1], ())], beams=3, max_tokens=8)
    assert len(translations.nbest) == 3
    assert translations.text == translations.nbest[0][0]


def test_a_transformer_takes_so_many_tokens(make: Make) -> None:
    path = make("short", kind="transformer", max_length=6)
    with pytest.raises(AnaphoraError, match=r"tokens, but the model takes 6.*--truncate"):
        scores(path)
    answers = dict(load(path, truncate=True).score(EXAMPLES))
    assert any(answer.truncated for answer in answers.values())
    assert len(load(path, truncate=True).translate(["The lamp is old and very big."])) == 1


def test_a_run_says_what_was_read(make: Make, tmp_path: Path) -> None:
    path = make("2-to-2", **TO_2)
    run = score_suite(demo_suite(), f"nmt:{path}", tmp_path / "run", limit=8)
    assert run.header.context == "1+1"
    assert "context" not in run.header.settings
    assert run.header.settings["arrangement"]["joined_target"] == 1
    with pytest.raises(AnaphoraError, match="context"):
        score_suite(
            demo_suite(), f"nmt:{path}", tmp_path / "run", limit=8, resume=True, options=Options(own_context=False)
        )


def test_produced_context_is_not_made_twice(
    make: Make, tmp_path: Path, short: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether or not --context is given with it: nobody else has the context translated."""
    monkeypatch.setattr(TrainedSystem, "translate", None)
    path = make("2-to-2", **TO_2)
    runs = [
        score_suite(
            demo_suite(),
            f"nmt:{path}",
            tmp_path / str(sentences),
            limit=6,
            options=Options(Context(sentences, " ", "produced")),
        )
        for sentences in (0, 1)
    ]
    assert [list(item.scores) for item in runs[0]] == [list(item.scores) for item in runs[1]]
    assert runs[1].header.context == "1+1p"


def test_context_usage_takes_context_away(make: Make, tmp_path: Path) -> None:
    path = make("2-to-2", **TO_2)
    scorer = SystemCache()

    def score(suite: Any, options: Options, folder: Path) -> Any:
        return score_suite(suite, f"nmt:{path}", folder, options=options, limit=10, scorer=scorer)

    usage = context_usage(demo_suite(), f"nmt:{path}", Options(Context(1)), tmp_path, score)
    labels = {
        c.name: open_run(tmp_path / f"{c.name.replace(' ', '-')}-current").header.context for c in usage.conditions
    }
    assert labels == {"none": "0+0", "1 sentence": "1+1", "random": "1+1"}
    assert usage.conditions[1].cxmi["current"].mean != 0


def test_it_translates(make: Make) -> None:
    system = load(make("baseline"))
    assert isinstance(system, Translator)
    assert isinstance(system, DocumentTranslator)
    texts = ["The lamp is old.", "I see a table.", "It is here."]
    translations = system.translate(texts, beams=3, max_tokens=12)
    assert [system.translate([text], beams=3, max_tokens=12)[0] for text in texts] == translations
    assert system.translate([]) == []


def document(tmp_path: Path, *sentences: str) -> list[Sentence]:
    file = tmp_path / "document"
    file.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    return list(read_documents(file))


TALK = ("The lamp is old.", "It is here.", "I see it.", "", "I see a table.", "It is big.")


@pytest.mark.parametrize("kind", ["baseline", "2-to-2", "t-concat", "s-t-hier"])
def test_a_document_is_the_same_in_parts(make: Make, tmp_path: Path, kind: str) -> None:
    """Translated at once, or sentence by sentence with what is known already."""
    system = load(make(kind, **KINDS[kind]))
    sentences = document(tmp_path, *TALK)
    whole = system.translate_sentences(sentences, max_tokens=15)
    known: list[str] = []
    for position, sentence in enumerate(sentences):
        if not sentence.before:
            known = []
        (one,) = system.translate_sentences([sentence], known=tuple(known), max_tokens=15)
        assert one.text == whole[position].text
        known.append(one.text)


def test_translations_of_another_system_as_context(make: Make, tmp_path: Path) -> None:
    system = load(make("t-concat", **KINDS["t-concat"]))
    sentences = document(tmp_path, *TALK)
    given = document(
        tmp_path, "Die Lampe ist alt.", "Sie ist hier.", "Ich sehe sie.", "", "Ich sehe den Tisch.", "Groß."
    )
    translations = system.translate_sentences(sentences, given=given, max_tokens=15)
    (third,) = system.translate_sentences(sentences[2:3], known=("Die Lampe ist alt.", "Sie ist hier."), max_tokens=15)
    assert translations[2].text == third.text


def test_a_file_is_translated_resumed_and_has_n_best_lists(make: Make, tmp_path: Path) -> None:
    from anaphora.systems import translation

    path = make("t-concat", **KINDS["t-concat"])
    source = tmp_path / "talk.en"
    source.write_text("\n".join(TALK) + "\n", encoding="utf-8")
    system: Any = load(path)
    how: dict[str, Any] = {"context": Context(), "max_tokens": 12, "n_best": 2}
    whole = translate_file(system, f"nmt:{path}", source, tmp_path / "whole", **how)
    assert whole.sentences == 5
    nbest = [line.split(" ||| ") for line in (tmp_path / "whole.nbest").read_text(encoding="utf-8").splitlines()]
    assert [number for number, *_ in nbest] == [str(n) for n in range(5) for _ in range(2)]
    texts = [line for line in (tmp_path / "whole").read_text(encoding="utf-8").splitlines() if line]
    assert [text for _, text, _ in nbest[::2] if text] == texts
    asked = system.translate_sentences

    def stops(sentences: Any, **settings: Any) -> Any:
        if settings["known"]:
            raise KeyboardInterrupt
        return asked(sentences, **settings)

    system.translate_sentences = stops
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translation, "CHUNK", 1)
        patch.setattr(translation, "IN_ORDER", 2)
        with pytest.raises(KeyboardInterrupt):
            translate_file(system, f"nmt:{path}", source, tmp_path / "parts", **how)
        system.translate_sentences = asked
        translate_file(system, f"nmt:{path}", source, tmp_path / "parts", resume=True, **how)
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    again = [line.split(" ||| ") for line in (tmp_path / "parts.nbest").read_text(encoding="utf-8").splitlines()]
    assert [line[:2] for line in again] == [line[:2] for line in nbest]
    assert [float(line[2]) for line in again] == pytest.approx([float(line[2]) for line in nbest], abs=1e-4)


def test_a_file_of_translations_as_context(make: Make, tmp_path: Path) -> None:
    path = make("t-concat", **KINDS["t-concat"])
    source, given, short = tmp_path / "talk.en", tmp_path / "baseline.de", tmp_path / "short.de"
    source.write_text("\n".join(TALK) + "\n", encoding="utf-8")
    given.write_text("Alt.\nHier.\nSehe.\n\nTisch.\nGroß.\n", encoding="utf-8")
    short.write_text("Alt.\nHier.\n", encoding="utf-8")
    system: Any = load(path)
    how: dict[str, Any] = {"context": Context(), "max_tokens": 12}
    translate_file(system, f"nmt:{path}", source, tmp_path / "out", context_from=given, **how)
    sentences, others = list(read_documents(source)), list(read_documents(given))
    expected = [actual.text for actual in system.translate_sentences(sentences, given=others, max_tokens=12)]
    lines = (tmp_path / "out").read_text(encoding="utf-8").split("\n")
    assert [*lines[:3], *lines[4:6]] == expected
    with pytest.raises(AnaphoraError, match=r"short\.de: 2 translations, whose documents are not those of the input"):
        translate_file(system, f"nmt:{path}", source, tmp_path / "bad", context_from=short, **how)


def test_other_systems_have_no_n_best_lists(tmp_path: Path) -> None:
    class Text:
        def translate(self, texts: list[str], *, beams: int | None = None, max_tokens: int = 256) -> list[str]:
            return texts

    source = tmp_path / "talk.en"
    source.write_text("One.\n", encoding="utf-8")
    system: Any = Text()
    for more in ({"n_best": 2}, {"context_from": source}):
        with pytest.raises(AnaphoraError, match="x:y supports neither --n-best nor --target-context-from"):
            translate_file(system, "x:y", source, tmp_path / "out", context=Context(), **more)  # type: ignore[arg-type]
    assert not (tmp_path / "out.part").exists()


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("?normalize=x", "normalize=x: a number"),
        ("?normalise=x", "normalize=x: a number"),  # the name of version 0.1.0
        ("?beam=3", "unknown setting 'beam'"),
        ("?device=moon", "device 'moon'"),
    ],
)
def test_bad_settings(make: Make, setting: str, problem: str) -> None:
    with pytest.raises(AnaphoraError, match=problem):
        load(f"{make('baseline')}{setting}")


def test_through_the_command_line(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    def anaphora(*arguments: str, code: int = 0) -> tuple[str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        printed = capsys.readouterr()
        assert stop.value.code == code, printed.err
        return printed.out, printed.err

    system = f"nmt:{make('s-hier-to-2', **KINDS['s-hier-to-2'])}"
    Path("talk.en").write_text("\n".join(TALK) + "\n", encoding="utf-8")
    demo = demo_suite()
    Path("suite.jsonl").write_bytes(header_line(demo.header) + b"".join(map(example_line, demo)))
    how = ("--limit", "9", "--threads", "1")
    _, printed = anaphora("score", "suite.jsonl", "--system", system, "-o", "more", "--context", "2", *how)
    assert "context 1+1, not 2+2: the model was trained with it" in printed
    for run, more, context in (("own", (), "1+1"), ("none", ("--context", "0"), "0+0")):
        _, printed = anaphora("score", "suite.jsonl", "--system", system, "-o", run, *more, *how)
        assert "was trained with it" not in printed
        result = json.loads(anaphora("evaluate", run, "--json")[0])
        assert result["total"] == 9
        assert f"ctx:{context}|" in result["signature"]
    actual, _ = anaphora(
        "translate",
        "--system",
        system,
        "-i",
        "talk.en",
        "-o",
        "talk.de",
        "--max-tokens",
        "9",
        "--n-best",
        "2",
        "--json",
    )
    assert json.loads(actual)["sentences"] == 5
    assert len(Path("talk.de").read_text(encoding="utf-8").split("\n")) == 7
    assert len(Path("talk.de.nbest").read_text(encoding="utf-8").splitlines()) == 10
    _, wrong = anaphora("score", "suite.jsonl", "--system", "nmt:nowhere", "-o", "other", code=2)
    assert "nowhere" in wrong
    scored = ("translate", "--system", "scores:x", "-i", "talk.en", "-o", "x", "--n-best", "2")
    assert "only scores" in anaphora(*scored, code=2)[1]
