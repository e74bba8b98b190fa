"""The models that the repository keeps, and the text they were trained on."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pytest

import anaphora

torch = pytest.importorskip("torch")

from safetensors.torch import load_file, save_file

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FOLDER = EXPERIMENTS / "contrapro-2018"
STATED = json.loads((FOLDER / "train.json").read_bytes())["probe"]  # what each kept model has on a few items
LARGEST = 15_000_000  # bytes of a model


def module(name: str) -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / name))


# Text


@pytest.mark.parametrize(
    ("english", "german", "gender"),
    [
        ("It is blue.", "Er ist blau.", "masculine"),
        ("Do you see it?", "Sehen Sie ihn?", "masculine"),
        ("I feel it too.", "Ich fühle sie auch.", "feminine"),
        ("It is blue.", "Sie ist blau.", "feminine"),
        ("It is easy.", "Es ist leicht.", "neuter"),
        ("You know it.", "Sie wissen das.", None),  # Sie is you
        ("They know it.", "Sie wissen das.", None),
        ("He knows it.", "Er weiß das.", None),
        ("It is what it is.", "Es ist, was es ist.", None),
        ("A bird.", "Er ist ein Vogel.", None),
    ],
)
def test_gender_of_it(english: str, german: str, gender: str | None) -> None:
    assert module("_text.py")["gender_of_it"](english, german) == gender


def test_test_set_sentences_are_found_in_any_spelling() -> None:
    text = module("_text.py")
    known = frozenset(text["telling"]("and then? it was the end, Sir."))
    assert text["told"]("Really? It was the end sir!", known)
    assert text["told"]("And then? It was the end, Sir.", known)
    assert not text["told"]("And then?", known)  # two words tell nothing
    assert not text["told"]("It was the end, Madam.", known)


def test_a_document_is_cut_where_the_test_set_begins() -> None:
    text = module("_text.py")
    document = [("One two.", "Eins zwei."), ("This is known here.", "Das kennt man."), ("Three.", "Drei.")]
    assert list(text["cut"](document, frozenset({"this is known here"}))) == [document[:1], document[2:]]


def test_it_passages_have_their_context_and_occur_once() -> None:
    text = module("_text.py")
    document = [("A chair.", "Ein Stuhl."), ("It is old.", "Er ist alt."), ("Yes.", "Ja.")]
    actual = text["it_passages"]([document, document])
    assert actual["masculine"] == [("A chair. <SEP> It is old.", "Ein Stuhl. <SEP> Er ist alt.")]
    assert actual["feminine"] == actual["neuter"] == []


# The development set


def passage(noun: str, pronoun: str, position: str) -> list[tuple[str, str]]:
    return [
        (f"Where is the {noun} of {position}?", f"Wo ist {noun}?"),
        (f"I think that it is in {position}.", f"Ich glaube, {pronoun} ist in {position}."),
    ]


def test_held_out_text_is_missing_in_the_last_stage(tmp_path: Path) -> None:
    last, text = module("_last_stage.py"), module("_text.py")
    nouns = ("Stuhl", "er"), ("Tür", "sie"), ("Haus", "es")
    documents = [passage(*nouns[number % 3], f"town {number // 2}") for number in range(400)]  # each town twice
    text["write"](documents, tmp_path / "documents")
    text["write"]([[("A dog.", "Ein Hund.")]] * 80, tmp_path / "single")
    assert text["read"](tmp_path / "documents") == documents
    counts = last["write_last_stage"](tmp_path)
    items = [json.loads(line) for line in (tmp_path / "development.jsonl").read_text("utf-8").splitlines()[1:]]
    held = {sentence for item in items for sentence in item["source"]}
    assert counts["development"] == len(items) == 39  # as many of each gender, from 2 runs of 20 neighbors
    for name in ("masculine", "feminine", "neuter", "mixed"):
        english = (tmp_path / f"{name}.en").read_text("utf-8")
        assert counts[name]
        assert not any(sentence in english for sentence in held)


def test_a_development_item_asks_for_the_pronoun_alone() -> None:
    item = module("_last_stage.py")["swapped"]("A hat. <SEP> I see it.", "Ein Hut. <SEP> Ihn sehe ich.")
    assert [candidate[-1] for candidate in item["candidates"]] == ["Ihn sehe ich.", "Sie sehe ich.", "Es sehe ich."]
    assert {candidate[0] for candidate in item["candidates"]} == {"Ein Hut."}
    assert item["tags"] == {"reference_pronoun": "ihn"}


def test_polite_sie_is_no_pronoun_of_a_development_item() -> None:
    item = module("_last_stage.py")["swapped"]("A hat. <SEP> Do you see it?", "Ein Hut. <SEP> Sehen Sie ihn?")
    assert [candidate[-1] for candidate in item["candidates"]] == ["Sehen Sie ihn?", "Sehen Sie sie?", "Sehen Sie es?"]
    assert item["tags"] == {"reference_pronoun": "ihn"}


def test_means_of_checkpoints_end_where_they_are_tried() -> None:
    saved = [Path(f"update-{update:08d}") for update in range(50, 401, 50)]
    actual = [[int(file.parent.name[-8:]) for file in files] for files in module("_choose.py")["means"](saved, 200)]
    assert actual == [[50, 100, 150, 200], [250, 300, 350, 400], list(range(50, 401, 50))]


def test_the_mean_of_seeds_has_the_mean_of_their_weights(tmp_path: Path) -> None:
    models, folder = [FOLDER / "concat22", FOLDER / "stage2"], tmp_path / "mean"
    head = {"anaphora": 1, "name": "development", "source_language": "en", "target_language": "de"}
    item = module("_last_stage.py")["swapped"]("The hat. <SEP> I see it.", "Der Hut. <SEP> Ich sehe ihn.")
    suite = tmp_path / "development.jsonl"
    suite.write_text("".join(json.dumps(line) + "\n" for line in (head, {"id": "1", **item})), encoding="utf-8")
    actual = module("_choose.py")["mean_of_seeds"](models, folder, suite)
    assert (actual["items"], actual["models"]) == (1, ["concat22", "stage2"])
    assert actual["accuracy"] in (0.0, 1.0)
    one, other, mean = (load_file(path / "model.safetensors") for path in (*models, folder))
    name = "model.decoder.layers.0.fc1.weight"
    assert not torch.equal(one[name], other[name])
    assert torch.allclose(mean[name], (one[name].float() + other[name].float()) / 2, atol=1e-6)


def test_naive_bayes_learns_what_goes_with_a_gender() -> None:
    passages = {"masculine": ["Der Stuhl ist alt."], "feminine": ["Die Tür ist alt."], "neuter": ["Das Haus ist alt."]}
    bayes = module("_bayes.py")["Bayes"](passages)
    scores = {gender: bayes.score("Wo ist die Tür?", gender) for gender in passages}
    assert max(scores, key=lambda gender: scores[gender]) == "feminine"
    assert scores["masculine"] == pytest.approx(scores["neuter"])


# Counterfactual passages


class Word(NamedTuple):
    """A token of an analysis, as far as it is read."""

    text: str
    idx: int
    pos_: str
    morph: dict[str, list[str]]


class Tagger:
    """Knows the gender of a few words; other capitalized words are nouns without one."""

    GENDERS: ClassVar = {"Hut": "Masc", "Dieser": "Masc", "Tür": "Fem"}

    def pipe(self, texts: Iterable[str]) -> Iterator[list[Word]]:
        for text in texts:
            actual = []
            for match in re.finditer(r"\w+", text):
                gender = self.GENDERS.get(match[0])
                pos = {"Dieser": "PRON"}.get(match[0], "NOUN" if gender else "X")
                actual.append(Word(match[0], match.start(), pos, {"Gender": [gender]} if gender else {"Gender": []}))
            yield actual


@pytest.mark.parametrize(
    ("german", "actual"),
    [
        ("Er ist alt.", {"Masc": "Er ist alt.", "Fem": "Sie ist alt.", "Neut": "Es ist alt."}),
        ("Nimm ihn.", {"Masc": "Nimm ihn.", "Fem": "Nimm sie.", "Neut": "Nimm es."}),
        ("Nimm sie.", {}),
    ],
)
def test_a_pronoun_takes_every_gender_in_its_case(german: str, actual: dict[str, str]) -> None:
    assert module("_weak.py")["versions"](german) == actual


@pytest.mark.parametrize(
    ("german", "neutral"),
    [
        ("Ich glaube, er ist alt.", True),
        ("Die Tür sagt, er ist alt.", True),  # a noun of another gender is no antecedent
        ("Der Hut sagt, er ist alt.", False),  # may be the antecedent, which would forbid other genders
        ("Dieser ist neu, aber er ist klein.", False),
        ("Er hat seine Farbe verloren.", False),  # seine would have to change too
    ],
)
def test_a_sentence_is_neutral_where_nothing_agrees_with_the_pronoun(german: str, neutral: bool) -> None:
    passages = [[("Yes. <SEP> I think it is old.", f"Ja. <SEP> {german}")]]
    assert [target for _, target in module("_weak.py")["neutral"](passages, Tagger())] == [german] * neutral


# Stages


def test_the_baseline_has_the_same_stages_without_context() -> None:
    stages = module("_stages.py")
    for context, baseline in (("STAGE_2", "STAGE_2_BASELINE"), ("STAGE_3", "STAGE_3_BASELINE")):
        one, other = stages[context], stages[baseline]
        assert (one.context, other.context) == (1, 0)
        assert (one.text, one.updates, one.rate, one.warmup) == (other.text, other.updates, other.rate, other.warmup)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("no discounting of context", {"training.context_weight"}),
        ("no weight of pronouns", {"training.weighted_words", "training.word_weight"}),
        ("genders as found", {"data.repeat"}),
        ("from stage 1 instead of 2", {"training.start_from"}),
        ("with weak supervision", {"data.source", "data.target", "data.repeat"}),
        ("with weak supervision and counterfactual passages", {"data.source", "data.target", "data.repeat"}),
    ],
)
def test_an_ablation_changes_one_thing(name: str, changed: set[str]) -> None:
    ablations = module("_stages.py")["ABLATIONS"]
    everything, config = ablations["everything"].config(), ablations[name].config()
    assert {key for key in {*everything, *config} if everything.get(key) != config.get(key)} == changed


# The kept models


def test_weights_are_kept_in_half_precision(tmp_path: Path) -> None:
    model = tmp_path / "concat22-1"
    model.mkdir()
    for name in ("config.toml", "log.jsonl", "chosen.json"):
        (model / name).write_text("")
    save_file({"weight": torch.ones(2, 2), "bias": torch.tensor([0.0, -1e9])}, model / "model.safetensors")
    module("_keep.py")["keep"](model, tmp_path / "concat22")
    weights = load_file(tmp_path / "concat22" / "model.safetensors")
    assert torch.equal(weights["weight"], torch.ones(2, 2, dtype=torch.float16))
    assert torch.equal(weights["bias"], torch.tensor([0.0, -1e9]))  # half precision has no such number
    assert {path.name for path in (tmp_path / "concat22").iterdir()} == {"config.toml", "model.safetensors"}


def test_a_card_states_the_figure_and_its_items() -> None:
    figures = {"total": 12_000, "accuracy": 0.7, "interval": [0.69, 0.71]}
    card = module("_keep.py")["card"]
    assert "ContraPro**, with gold target context: 0.700 [0.690, 0.710]" in card("concat22", figures)
    assert "on a random 3,000 of its items" in card("stage2", {**figures, "total": 3000})


@pytest.mark.parametrize("name", STATED)
def test_a_kept_model_is_small_with_config_and_card(name: str) -> None:
    folder = FOLDER / name
    assert sum(path.stat().st_size for path in folder.iterdir()) < LARGEST
    assert (folder / "config.toml").is_file()
    card = (folder / "README.md").read_text("utf-8")
    assert all(part in card for part in ("Data and licenses", "Intended use", "Limits", f"contrapro-2018/{name}"))


@pytest.mark.parametrize("name", STATED)
def test_a_kept_model_has_the_stated_figure(name: str, tmp_path: Path, data: Callable[[str], Path]) -> None:
    """On the sample that train.json states; another processor may decide a close item differently."""
    suite = anaphora.load_suite(data("contrapro") / "contrapro_reconstructed.jsonl.gz", format="contrapro-rebuilt")
    stated = STATED[name]
    run = anaphora.score(suite, f"nmt:{FOLDER / name}", tmp_path / "run", sample=stated["total"])
    result = anaphora.evaluate(run)
    assert result.figure.total == stated["total"]
    assert abs(result.figure.correct - stated["correct"]) <= 1
