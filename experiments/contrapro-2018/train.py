"""A sentence-level and a concatenation model on real text, judged on ContraPro (Müller et al. 2018, Tables 5 to 8).

    python experiments/run.py contrapro-2018/train [--report-only]

Each model is trained by one core (laptop.toml); interrupted, the command goes on where it was. Never trained on: what
ContraPro holds. WORK (default: experiments/contrapro-2018/work) keeps text, models, runs and translations.
--report-only writes TRAIN.md from train.json, without training.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from _command import anaphora, score
from _text import write_text
from _train_report import report

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
MODELS = ("baseline", "concat22")
AVERAGED = 3  # checkpoints at the end whose mean is the model
RESULTS = HERE / "train.json"


def main() -> int:
    if "--report-only" not in sys.argv[1:]:
        found = results()
        if found is None:
            return 0
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "TRAIN.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")
    return 0


def results() -> dict[str, Any] | None:
    """Train and judge; nothing where data is missing."""
    missing = [
        name for name in ("tatoeba", "multi30k", "docs-en-de", "ctxpro", "contrapro") if not (DATA / name).is_dir()
    ]
    if missing:
        print(f"skipped: no {DATA / missing[0]}; set ANAPHORA_DATA", file=sys.stderr)
        return None
    counts = text()
    suite = WORK / "contrapro.jsonl"
    if not suite.exists():
        released = DATA / "contrapro/contrapro_reconstructed.jsonl.gz"
        anaphora("suites", "convert", released, "--from", "contrapro-rebuilt", "-o", suite)
    processes = [subprocess.Popen(training(name), env=one_thread()) for name in MODELS]
    ends = [process.wait() for process in processes]
    if any(ends):
        raise SystemExit("training failed: run the command again, it goes on where it was")
    found: dict[str, Any] = {"pairs": counts, "models": {name: judged(name, suite) for name in MODELS}}
    runs = [WORK / f"{name}.run" for name in MODELS]
    found["compare"] = anaphora("compare", *runs, "--json")
    for pair in found["compare"]["pairs"]:
        del pair["gained"], pair["lost"]
    return found


def text() -> dict[str, int]:
    """The text files, written once, and their sizes."""
    done = WORK / "text" / "counts.json"
    if not done.exists():
        done.parent.mkdir(parents=True, exist_ok=True)
        done.write_text(json.dumps(write_text(DATA, WORK / "text")), encoding="utf-8")
    counts: dict[str, int] = json.loads(done.read_text("utf-8"))
    return counts


def training(name: str) -> list[str]:
    """The command that trains a model, or goes on with it."""
    texts = {
        f"data.{prefix}{side}": WORK / "text" / f"{part}.{language}"
        for prefix, part in (("", "train"), ("validation_", "validation"))
        for side, language in (("source", "en"), ("target", "de"))
    }
    config = WORK / f"{name}.toml"
    config.write_text(f'base = "transformer-{name}"\n' + (HERE / "laptop.toml").read_text("utf-8"), encoding="utf-8")
    settings = [word for key, path in texts.items() for word in ("--set", f"{key}={path}")]
    command = [
        sys.executable,
        "-m",
        "anaphora",
        "train",
        str(config),
        "-o",
        str(WORK / name),
        "--threads",
        "1",
        *settings,
    ]
    command += ["--average", str(AVERAGED)]
    return [*command, "--resume"] if (WORK / name).exists() else command


def one_thread() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def judged(name: str, suite: Path) -> dict[str, Any]:
    """Accuracy on ContraPro, and BLEU on held-out talks and captions, both without regard to case."""
    system, run = f"nmt:{WORK / name}", score(suite, WORK / name, WORK / f"{name}.run")
    bleu = {}
    for part in ("talks", "flickr"):
        output = WORK / f"{name}.{part}.de"
        if not output.exists():
            anaphora("translate", "--system", system, "-i", WORK / "text" / f"{part}.en", "-o", output, "--resume")
        both = [lowered(output), lowered(WORK / "text" / f"{part}.de")]
        answer = anaphora("metrics", "-r", both[1], "-t", both[0], "-l", "en-de", "--metric", "bleu", "--json")
        bleu[part] = next(iter(answer["systems"].values()))["bleu"]
    log = [json.loads(line) for line in (WORK / name / "log.jsonl").read_text("utf-8").splitlines()]
    perplexities = [entry["perplexity"] for entry in log if "perplexity" in entry]
    return {"contrapro": anaphora("evaluate", run, "--json"), "bleu": bleu, "perplexity": perplexities[-1]}


def lowered(path: Path) -> Path:
    """A text in small letters, without the blank lines between documents."""
    lines = [line for line in path.read_text("utf-8").lower().splitlines() if line.strip()]
    path.with_suffix(".lower").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path.with_suffix(".lower")


if __name__ == "__main__":
    sys.exit(main())
