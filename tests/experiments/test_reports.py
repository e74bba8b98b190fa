"""What experiments say of themselves: the committed text is what the committed figures give, and claims no more."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from anaphora.stats.paired import holm

EXPERIMENTS = Path(__file__).parents[2] / "experiments"


@pytest.fixture(autouse=True)
def shared_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXPERIMENTS / "own-antecedent"))
    monkeypatch.syspath_prepend(str(EXPERIMENTS))  # as run.py has it


def report_of(module: str) -> Callable[..., str]:
    actual: Callable[..., str] = runpy.run_path(str(EXPERIMENTS / module))["report"]
    return actual


def figures(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((EXPERIMENTS / name).read_bytes())
    return document


def text_of(name: str) -> str:
    """A text without its line breaks."""
    return " ".join((EXPERIMENTS / name).read_text(encoding="utf-8").split())


@pytest.mark.parametrize(
    ("module", "json_file", "written"),
    [
        ("apt-2017/wmt.py", "apt-2017/wmt.json", "apt-2017/WMT.md"),
        ("apt-2017/apertium.py", "apt-2017/apertium.json", "apt-2017/APERTIUM.md"),
        ("apt-2017/_diabla_report.py", "apt-2017/diabla.json", "apt-2017/DIABLA.md"),
        ("own-antecedent/deepl.py", "own-antecedent/deepl.json", "own-antecedent/DEEPL.md"),
        ("own-antecedent/_page.py", "own-antecedent/spanish.json", "own-antecedent/SPANISH.md"),
        ("own-antecedent/_page.py", "own-antecedent/french.json", "own-antecedent/FRENCH.md"),
        ("attribution/_scat_report.py", "attribution/scat.json", "attribution/SCAT.md"),
        ("contrapro-2018/mine.py", "contrapro-2018/mine.json", "contrapro-2018/MINE.md"),
        ("contrapro-2018/subtitles.py", "contrapro-2018/subtitles.json", "contrapro-2018/SUBTITLES.md"),
        ("contrapro-2018/_train_report.py", "contrapro-2018/train.json", "contrapro-2018/TRAIN.md"),
        ("contracat-2020/_attacks_report.py", "contracat-2020/attacks.json", "contracat-2020/ATTACKS.md"),
        ("engines/_opus_report.py", "engines/opus.json", "engines/OPUS.md"),
        ("engines/_bergamot_report.py", "engines/bergamot.json", "engines/BERGAMOT.md"),
        ("discourse-2018/_real_report.py", "discourse-2018/real.json", "discourse-2018/REAL.md"),
        ("language-models/_context_report.py", "language-models/context.json", "language-models/CONTEXT.md"),
        ("discourse-2018/_synthetic_report.py", "discourse-2018/synthetic.json", "discourse-2018/SYNTHETIC.md"),
    ],
)
def test_the_text_is_what_the_figures_give(
    module: str, json_file: str, written: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str((EXPERIMENTS / module).parent))  # as run.py has it
    assert (EXPERIMENTS / written).read_text(encoding="utf-8") == report_of(module)(figures(json_file))


@pytest.mark.parametrize(("language", "short"), [("spanish", "es"), ("french", "fr")])
def test_own_antecedents_count_what_was_read(language: str, short: str) -> None:
    """The figures of the page are those of the table of answers, which has no text, and add up."""
    actual, text = figures(f"own-antecedent/{language}.json"), text_of(f"own-antecedent/{language.upper()}.md")
    header, *rows = (EXPERIMENTS / f"own-antecedent/read-{short}.tsv").read_text(encoding="utf-8").splitlines()
    columns = header.split("\t")
    answers = [dict(zip(columns, row.split("\t"), strict=True)) for row in rows]
    allowed = {
        "agreement": {"agrees", "disagrees", "none", "unclear"},
        "pronoun": {"right", "wrong", "unclear"},
        "antecedent": {"right", "wrong"},
        "cause": {"", "antecedent", "pronoun", "noun"},
    }
    assert all(answer[name] in allowed[name] for answer in answers for name in columns[1:])
    assert len(answers) == actual["read"] == actual["decided"]["items"] >= 50
    assert sum(actual["verdicts"].values()) == actual["items"]
    assert actual["decided"]["right"] == actual["agrees"]["right"] + actual["disagrees"]["right"]
    different = actual["decided"]["items"] - actual["decided"]["right"]
    assert sum(actual["causes"].values()) == sum(bool(answer["cause"]) for answer in answers) == different
    assert f"The reader does not share {different} of the verdicts:" in text
    control = actual["control"].values()
    decided, right = (sum(row[key] for row in control) for key in ("decided", "right"))
    assert f"judged again. {right} of the {decided} that are still decided do." in text


def test_train_claims_context_only_beyond_chance() -> None:
    """Right against random context at distance 1, on the same items, decides; the paper's figures are next to ours."""
    actual, text = figures("contrapro-2018/train.json"), text_of("contrapro-2018/TRAIN.md")
    stages = {"concat22": "concat22", "counterfactual": "concat22 with counterfactual passages"}
    seeds = [name for name in actual["models"] if name.partition("-")[0] in stages]
    endings = {"mean": "mean of the seeds' weights"}
    near = {name: actual["models"][name]["difference"]["distance"]["1"] for name in ("stage2", *seeds)}
    certain = dict(zip(near, (p < 0.05 for p in holm([part["p_adjusted"] for part in near.values()])), strict=True))
    assert seeds
    for name in seeds:
        delta = near[name]["delta"]
        right, random = (actual["models"][name][c]["breakdowns"]["distance"]["1"] for c in ("right", "random"))
        assert delta == pytest.approx(random["accuracy"] - right["accuracy"])
        stage, _, seed = name.partition("-")
        message = f"{stages[stage]}, {endings.get(seed, f'seed {seed}')}"
        table = text.partition("| right minus random context")[2]
        cells = table.partition(f"| {message} | ")[2].split(" | ")
        assert cells[2].startswith(f"{-100 * delta:+.1f} [")
        assert cells[4] == ("beyond chance" if certain[name] and delta < 0 else "not beyond chance")
    kept = actual["kept"]["concat22"]
    every = [figures for name, figures in actual["models"].items() if name.startswith("counterfactual-")]
    if len(every) > 1:  # the mean of the seeds is the headline
        items = "all" if all("all" in figures for figures in every) else "right"
        scores = [figures[items]["accuracy"] for figures in every]
        assert f"{mean(scores):.3f} ± {stdev(scores):.3f}** on {every[0][items]['total']:,} items (mean of" in text
    assert f"The goal of 0.70 in total is {'reached' if kept['accuracy'] >= 0.7 else 'not reached'} (" in text
    assert kept == actual["models"][actual["detailed"]]["all"]
    assert "| *paper: Transformer concat22* | *12,000* | *0.49* | *0.91* | *0.20* | *0.36* |" in text  # Table 6
    assert "| *paper: Transformer baseline* | *0.70* | *0.41* | *0.38* |" in text  # Tables 7 and 8
    assert "| *paper: Transformer concat22* | *0.56* | *0.47* | *0.44* |" in text


def test_attacks_claim_what_the_figures_show() -> None:
    """ATTACKS.md interprets: each of its sentences is held against attacks.json."""
    actual, text = figures("contracat-2020/attacks.json"), text_of("contracat-2020/ATTACKS.md")
    of = {attack["attack"]: attack for attack in actual["attacks"]}
    assert len([name for name in of if name.startswith("phrase-addition/")]) == 15  # Table 4
    assert len([name for name in of if name.startswith("possessive-extension/")]) == 17  # Table 5
    for before, after in (("75.4", "63.5"), ("72.9", "58.3"), ("69.8", "64.1")):  # appendix B
        assert f"| *{before}* | *{after}* |" in text
    maria = of["possessive-extension/maria"]
    brittle = maria["delta"] < 0 and maria["p_adjusted"] < 0.05
    assert ("brittle under attack" in text) == brittle
    assert f"each owner to the {maria['total']:,} whose antecedent takes one" in text
    assert ("Not run on this model." in text) == ("tuned" not in actual)
    readme = " ".join((EXPERIMENTS.parent / "README.md").read_text(encoding="utf-8").split())
    assert f"takes it from {100 * maria['before']:.1f} to {100 * maria['after']:.1f} % on the same items" in readme


def test_augmentation_is_chosen_on_held_out_passages_and_compared() -> None:
    actual, text = figures("contracat-2020/attacks.json"), text_of("contracat-2020/ATTACKS.md")
    tuned = actual["tuned"]
    for stage, rate in (("", actual["rate"]), ("stage 2, ", actual["second_rate"])):
        tried = {r: tuned[f"{stage}AFA, {r}"]["development"] for r in ("1e-3", "1e-4", "1e-5")}
        assert tried[rate] == max(tried.values())
    assert len(actual["gains"]) == 4
    for name, gain in actual["gains"].items():
        control = tuned[name.replace("AFA", "candidates only")]["contrapro"]["accuracy"]
        assert gain["delta"] == pytest.approx(tuned[name]["contrapro"]["accuracy"] - control)
        _, _, claim = text.partition(f"{name}: {100 * gain['delta']:+.1f} [")
        verdict = "beyond chance" if gain["p_adjusted"] < 0.05 else "not beyond chance"
        assert claim.split("; ")[0].split(". ")[0].endswith(f", {verdict}")
    assert "| *paper: AFA, 2e-7* | | *85.3* | *88.2* | *90.6* | *77.2* |" in text  # Table 13


def test_synthetic_is_a_check_not_evidence() -> None:
    text = text_of("discourse-2018/SYNTHETIC.md")
    assert "a check of the implementations" in text
    assert "no evidence about real text" in text
    assert "one seed" in text


def test_missing_pronouns_on_news_are_no_apostrophes() -> None:
    """papers.md (a): case 4 of Microsoft was 188 because its apostrophes are typographic."""
    actual = figures("apt-2017/wmt.json")["en-fr"]
    missing = {name: system["cases"][3] for name, system in actual["apt"].items()}
    assert actual["normalized"]["microsoft"]["’"] > 5_000
    assert max(missing.values()) < 2 * min(missing.values())
    for system in actual["apt"].values():
        assert "|norm:signs|" in system["signature"]
    for name, scores in actual["surface_normalized"].items():
        assert scores["bleu"]["signature"] == actual["surface"][name]["bleu"]["signature"] + "|norm:signs"


def test_language_models_claim_context_only_over_random() -> None:
    """Right against random on the same items decides; what the script has and was not run is named."""
    models, text = figures("language-models/context.json")["models"], text_of("language-models/CONTEXT.md")
    for model in models.values():
        for actual in model["document"].values():
            delta = actual["right"]["accuracy"] - actual["random"]["accuracy"]
            assert -actual["difference"]["delta"] == pytest.approx(delta)
            assert actual["right"]["total"] == actual["none"]["total"] == actual["random"]["total"]
    certain = sum(
        actual["difference"]["p_adjusted"] < 0.05 and actual["difference"]["delta"] < 0
        for model in models.values()
        for actual in model["document"].values()
    )
    assert text.count(" uses the context (") == certain
    for key, name in (("gemma", "Gemma 3 270M"), ("qwen", "Qwen2.5-Coder-1.5B-Instruct")):
        assert (key in models) is (f"{name} was not run." not in text)


def test_half_precision_of_language_models_is_reported_and_compared() -> None:
    models, text = figures("language-models/context.json")["models"], text_of("language-models/CONTEXT.md")
    half = [m for m in models.values() if any(actual.get("dtype") == "bfloat16" for actual in m["document"].values())]
    assert text.count("| bfloat16 |") >= len(half)
    for actual in (each for model in models.values() for each in model.get("precision", {}).values()):
        apart = abs(actual["right"]["float32"] - actual["right"]["bfloat16"])
        assert apart <= actual["total"] - actual["same"]
