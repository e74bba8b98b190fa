"""Every preset at laptop size on the synthetic corpus, with the same budget: which models learn what from context?

    python experiments/run.py discourse-2018/synthetic [--report-only]

Two suites of held-out pairs of nouns: one that the previous source sentence answers (chance 1/3), one that only the
previous target sentence answers (chance 1/2). Models are trained by one thread each, two at a time; a model whose
config has not changed since its figures were written is not trained again. No data is needed.
--report-only writes text and chart from synthetic.json, without training.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from _synthetic_report import EVERY, LEARNED, UPDATES, report
from _synthetic_text import write_synthetic

from anaphora.nmt.config import Config, parse_config, presets, write_config
from anaphora.nmt.log import Series, training_curve

HERE = Path(__file__).resolve().parent
RESULTS, TABLE, CURVE = HERE / "synthetic.json", HERE / "SYNTHETIC.md", HERE / "synthetic.svg"
SEEDS, AT_ONCE = (1,), 2
CHANCE, NEAR = {"source": 1 / 3, "target": 1 / 2}, 0.03
START_FROM = {"transformer-antecedent-free": "transformer-concat-contracat"}  # fine-tuning: on top of another
DRAWN = {  # the models of Figure 5, and what they are called there
    "rnn-baseline": "BASELINE",
    "rnn-2-to-2": "2-TO-2",
    "rnn-2-to-1": "2-TO-1",
    "rnn-s-hier": "S-HIER",
    "rnn-t-hier": "T-HIER",
    "rnn-s-hier-to-2": "S-HIER-TO-2",
}


def main() -> int:
    if "--report-only" in sys.argv[1:]:
        write(json.loads(RESULTS.read_bytes()))
        return 0
    names = sorted((name.removesuffix("-laptop") for name in presets() if name.endswith("-laptop")), reverse=True)
    results: dict[str, Any] = json.loads(RESULTS.read_bytes()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory(prefix="anaphora-synthetic-") as place:
        write_synthetic(Path(place) / "corpus")
        for seed in SEEDS:
            train_all([name for name in names if not is_done(name, seed, results)], seed, Path(place), results)
    problems = [problem for name in names for problem in unexpected(name, results[name])]
    print("\n".join(problems) or "every model is within the expected range", file=sys.stderr)
    return 1 if problems else 0


def is_done(name: str, seed: int, results: dict[str, Any]) -> bool:
    found = results.get(name, {}).get(str(seed), {})
    return bool(found.get("config") == digest(name, seed))


def train_all(names: list[str], seed: int, folder: Path, results: dict[str, Any]) -> None:
    """Train models, each in a process of its own; what is done is written at once."""

    def figures(name: str) -> tuple[str, dict[str, Any]]:
        if name in START_FROM:
            run_one(START_FROM[name], seed, folder, "start")
        return name, run_one(name, seed, folder)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        for future in as_completed([pool.submit(figures, name) for name in names]):
            name, found = future.result()
            results.setdefault(name, {})[str(seed)] = found
            RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            write(results)
            last = found["curve"][-1]["accuracy"]
            print(f"  {name} {seed}: {last} {found['seconds']:.0f} s", file=sys.stderr, flush=True)


def run_one(name: str, seed: int, folder: Path, kind: str = "own") -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).resolve()), "--one", name, str(seed), str(folder), kind]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout))


def one(name: str, seed: int, folder: Path, kind: str) -> dict[str, Any]:
    """Train one model and say what it can do; seconds are those of the processor, validation included."""
    import torch

    from anaphora.nmt.checkpoint import open_folder
    from anaphora.nmt.data import prepare
    from anaphora.nmt.log import read_log
    from anaphora.nmt.training import Trainer
    from anaphora.suites.suite import read_native

    torch.set_num_threads(1)
    config, model = config_of(name, seed, folder), folder / f"{name}.{seed}.{kind}"
    open_folder(model, config, resume=False)
    suites = [(suite, tuple(read_native(folder / "corpus" / f"{suite}.jsonl"))) for suite in CHANCE]
    trainer = Trainer(config, prepare(config, model, suites), model)
    began = time.process_time()
    trainer.run()
    curve = [line for line in read_log(model / "log.jsonl") if line["kind"] == "validation"]
    return {
        "config": digest(name, seed),
        "curve": [{key: line[key] for key in ("update", "perplexity", "accuracy")} for line in curve],
        "parameters": sum(parameter.numel() for parameter in trainer.model.parameters()),
        "seconds": round(time.process_time() - began, 1),
    }


def config_of(name: str, seed: int, folder: Path) -> Config:
    corpus = folder / "corpus"
    data = {"source": "train.en", "target": "train.de"}
    data |= {f"validation_{side}": f"validation.{end}" for side, end in (("source", "en"), ("target", "de"))}
    training: dict[str, Any] = {"updates": UPDATES, "seed": seed}
    if name in START_FROM:
        training["start_from"] = str(folder / f"{START_FROM[name]}.{seed}.start")
    document = {
        "base": f"{name}-laptop",
        "data": {key: str(corpus / file) for key, file in data.items()},
        "training": training,
        "validation": {"every": EVERY},
    }
    return parse_config(document, Path(name))


def digest(name: str, seed: int) -> str:
    """A hash of all that decides how a model is trained, without its description and how often it is evaluated."""
    config = config_of(name, seed, Path("/folder"))
    decides = write_config(replace(config, description="", validation=Config().validation, log=Config().log))
    if name in START_FROM:
        decides += digest(START_FROM[name], seed)
    return hashlib.sha256(decides.encode()).hexdigest()[:12]


def expected(name: str) -> dict[str, bool]:
    """Which suite a model can answer: the gender is in the source, or in the target alone."""
    layout = presets()[name].model.layout
    return {"source": layout.reach > 0, "target": layout.target_reach > 0}


def unexpected(name: str, runs: dict[str, Any]) -> list[str]:
    found = []
    for kind, can in expected(name).items():
        values = [run["curve"][-1]["accuracy"][kind] for run in runs.values()]
        wrong = min(values) < LEARNED if can else max(abs(value - CHANCE[kind]) for value in values) > NEAR
        if wrong:
            wanted = f"at least {LEARNED}" if can else f"{CHANCE[kind]:.2f} ± {NEAR}"
            found.append(f"{name}: {wanted} expected on {kind}, found {', '.join(f'{v:.3f}' for v in values)}")
    return found


def write(results: dict[str, Any]) -> None:
    TABLE.write_text(report(results), encoding="utf-8")
    drawn = []
    for name, label in DRAWN.items():
        if str(SEEDS[0]) not in results.get(name, {}):
            continue
        points = results[name][str(SEEDS[0])]["curve"]
        drawn.append(Series(label, tuple((point["update"], point["accuracy"]["target"]) for point in points)))
    if drawn:
        CURVE.write_text(training_curve("Accuracy where only the target context tells", drawn), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4]), sys.argv[5])))
        sys.exit(0)
    sys.exit(main())
