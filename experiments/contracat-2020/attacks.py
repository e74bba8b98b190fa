"""Attacks, templates and antecedent-free augmentation of a model trained here (Stojanovski et al. 2020).

    python experiments/run.py contrapro-2018/train contracat-2020/attacks [--attacks-only] [--report-only]

Takes the models that contrapro-2018/train keeps; augmentation needs its text too (WORK: where that is) and the small
pipelines of ANAPHORA_MODELS. Synonyms of our own need WordNet and OpenThesaurus of Debian (WORDNET, MYTHES; left out
without them). Interrupted, the command goes on where it was.
--attacks-only leaves augmentation as it was; --report-only writes ATTACKS.md from attacks.json.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from _attacked import Suites, read
from _attacks_report import report
from _augment import CANDIDATES, DROPPED, RATES, UPDATES, Augmentation
from _command import anaphora

from anaphora import compare, evaluate, load_run, robustness, score
from anaphora.stats.paired import holm

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
DATA = Path(os.environ.get("ANAPHORA_DATA") or SHARED / "data")
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or SHARED / "models")
TRAINED = Path(os.environ.get("WORK") or HERE.parent / "contrapro-2018" / "work")
WORK = TRAINED / "contracat"
KEPT = HERE.parent / "contrapro-2018"
RESULTS = HERE / "attacks.json"
FIGURES = ("attack", "total", "before", "after", "delta", "interval", "p_adjusted")  # of an attack
PART = ("total", "accuracy", "interval")
DIFFERENCE = ("total", "first", "second", "delta", "interval", "p_value")
ARTICLES = {"m": {"der", "den"}, "f": {"die"}, "n": {"das"}}  # of a subject and an object, as templates have them


def main() -> int:
    options = sys.argv[1:]
    found: dict[str, Any] = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {}
    if "--report-only" not in options:
        missing = [path for path in (DATA / "contrapro", DATA / "contracat", KEPT / "concat22") if not path.exists()]
        if missing:
            print(f"skipped: no {missing[0]} (ANAPHORA_DATA; train the model first)", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        whole = TRAINED / "contrapro.jsonl"
        if not whole.exists():
            released = DATA / "contrapro/contrapro_reconstructed.jsonl.gz"
            anaphora("suites", "convert", released, "--from", "contrapro-rebuilt", "-o", whole)
        suites = Suites(DATA, WORK, whole)
        found = {**found, **attacks(suites)}
        save(found)
        if "--attacks-only" not in options:
            found = {**found, **augmentation(suites)}
            save(found)
    (HERE / "ATTACKS.md").write_text(report(found), encoding="utf-8")
    return 0


def save(found: Mapping[str, Any]) -> None:
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def attacks(suites: Suites) -> dict[str, Any]:
    """Every attack and every template on the concatenation model, templates on the sentence-level one too."""
    model = KEPT / "concat22"
    before, phrases = (scored(suite, model) for suite in (suites.whole, suites.phrases()))
    others = [scored(suite, model) for suite in (*suites.synonyms().values(), suites.owners())]
    names = ("concat22", "baseline")
    return {
        "contrapro": {name: accuracies(scored(suites.whole, KEPT / name)) for name in names},
        "attacks": compared(before, phrases, *others),
        "chosen": chosen(before, phrases),
        "misled": misled(suites.templates(), scored(suites.templates(), model)),
        "templates": {
            "concat22": answered(scored(suites.templates(), model)),
            "baseline": answered(scored(suites.steps(), KEPT / "baseline")),
        },
    }


def augmentation(suites: Suites) -> dict[str, Any]:
    """Models tuned on candidates and on their new versions; the rate that is best on held-out passages is attacked.

    Stage 2 is the model before genders were balanced: it has the prior for *es* that augmentation is for, and a rate
    of its own.
    """
    made = Augmentation(TRAINED / "text", MODELS, WORK)
    (linked, counts), (dropped, fewer), (free, passages) = made.linked(()), made.linked(DROPPED), made.free()
    whole, earlier = KEPT / "concat22", KEPT / "stage2"
    models = {"concat22": whole, "stage 2": earlier}
    for name, model in (("", whole), ("stage 2, ", earlier)):
        models |= {f"{name}AFA, {rate}": made.tuned(model, linked / "augmented", rate) for rate in RATES}
    held = {name: evaluate(scored(made.development, path)).accuracy for name, path in models.items()}
    rate, second = (max(RATES, key=lambda r: held[f"{name}AFA, {r}"]) for name in ("", "stage 2, "))
    more = {
        CANDIDATES: (whole, linked / "candidates"),
        f"{CANDIDATES}, none event or pleonastic": (whole, dropped / "candidates"),
        "AFA, none event or pleonastic": (whole, dropped / "augmented"),
        f"{CANDIDATES}, without a linker": (whole, free / "candidates"),
        "AFA, without a linker": (whole, free / "augmented"),
    }
    models |= {f"{name}, {rate}": made.tuned(*parts, rate) for name, parts in more.items()}
    models[f"stage 2, {CANDIDATES}, {second}"] = made.tuned(earlier, linked / "candidates", second)
    tuned: dict[str, dict[str, Any]] = {
        name: {"contrapro": accuracies(scored(suites.whole, path))} for name, path in models.items()
    }
    for name, accuracy in held.items():
        tuned[name]["development"] = accuracy
    shown = ["concat22", f"{CANDIDATES}, {rate}", *(f"AFA, {r}" for r in RATES)]
    shown += [f"{name}, {rate}" for name in more if "AFA" in name]
    shown += ["stage 2", *(f"stage 2, {kind}, {second}" for kind in (CANDIDATES, "AFA"))]
    for name in shown:
        tuned[name]["templates"] = answered(scored(suites.templates(), models[name]))
    three = (suites.phrases("true_colon"), suites.owners("maria"), suites.synonyms()["released"])
    attacked = ("concat22", f"{CANDIDATES}, {rate}", f"AFA, {rate}")
    return {
        "augmentation": {"linked": counts, "dropped": fewer, "free": passages, "updates": UPDATES},
        "rate": rate,
        "second_rate": second,
        "tuned": tuned,
        "gains": gains(models, suites.whole),
        "changes": changes(*(scored(suites.templates(), models[name]) for name in ("concat22", f"AFA, {rate}"))),
        "tuned_attacks": {
            name: compared(scored(suites.whole, models[name]), *(scored(path, models[name]) for path in three))
            for name in attacked
        },
    }


def gains(models: Mapping[str, Path], suite: Path) -> dict[str, dict[str, Any]]:
    """Each augmented model against the one tuned on the same candidates only; Holm's correction over all of these."""
    found = {}
    for name in (name for name in models if "AFA" in name and name.replace("AFA", CANDIDATES) in models):
        control = name.replace("AFA", CANDIDATES)
        (pair,) = compare(*(scored(suite, models[n]) for n in (control, name))).to_dict()["pairs"]
        found[name] = {key: pair[key] for key in DIFFERENCE}
    for difference, p in zip(found.values(), holm([d["p_value"] for d in found.values()]), strict=True):
        difference["p_adjusted"] = p
    return found


def changes(before: Path, after: Path) -> dict[str, dict[str, Any]]:
    """The difference of two models on each template."""
    (pair,) = compare(before, after, by="template").to_dict()["pairs"]
    groups = pair["breakdowns"]["template"]
    return {name: {key: group[key] for key in (*DIFFERENCE, "p_adjusted")} for name, group in groups.items()}


def scored(suite: Path, model: Path) -> Path:
    """A run, computed or continued."""
    run = WORK / "runs" / f"{model.name}.{suite.stem}"
    done = run.with_name(f"{run.name}.done")
    if not done.exists():
        run.parent.mkdir(exist_ok=True)
        score(suite, f"nmt:{model}", run, threads=1, workers=1, resume=run.exists())
        done.touch()
        print(f"{run.name} scored", file=sys.stderr, flush=True)
    return run


def accuracies(run: Path) -> dict[str, Any]:
    """In all, and by pronoun."""
    found = evaluate(run).to_dict()
    by_pronoun = found["breakdowns"]["reference_pronoun"]
    pronouns = {name: part["accuracy"] for name, part in by_pronoun.items()}
    return {**{key: found[key] for key in (*PART, "signature")}, "pronouns": pronouns}


def compared(before: Path, *after: Path) -> list[dict[str, Any]]:
    found = robustness(before, *after).to_dict()["attacks"]
    return [{key: attack[key] for key in FIGURES} for attack in found]


def chosen(*runs: Path) -> dict[str, dict[str, float]]:
    """How often each pronoun is preferred, by attack; without one: "before"."""
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        for scored_example in load_run(run):
            tags, scores = scored_example.tags, scored_example.scores
            best = max(range(len(scores)), key=scores.__getitem__)
            pronoun = cast("list[str | None]", tags["candidate_pronouns"])[best] or "other"
            counts.setdefault(str(tags.get("attack", "before")), Counter())[pronoun] += 1
    return {attack: {name: n / found.total() for name, n in found.items()} for attack, found in counts.items()}


def misled(suite: Path, run: Path) -> dict[str, int]:
    """Event and pleonastic *it*: how many are wrong, and how many of these have the gender of a noun of the context."""
    contexts = {item["id"]: item["candidates"][0][0].lower().split() for item in read(suite)}
    wrong = near = 0
    for found in load_run(run):
        if found.tags["template"] in ("event", "pleonastic"):
            best = max(range(len(found.scores)), key=found.scores.__getitem__)
            gender = cast("list[str]", found.tags["candidate_genders"])[best]
            if best != found.gold:
                wrong += 1
                near += not ARTICLES[gender].isdisjoint(contexts[found.id])
    return {"wrong": wrong, "near": near}


def answered(run: Path) -> dict[str, Any]:
    """Templates: what was right, and what was chosen where nothing is."""
    found = evaluate(run).to_dict()
    groups = {
        name: {group: {key: figures[key] for key in PART} for group, figures in found["breakdowns"][name].items()}
        for name in ("template", "template×variant")
    }
    return {**groups, "priors": found.get("priors", {}), "signature": found["signature"]}


if __name__ == "__main__":
    sys.exit(main())
