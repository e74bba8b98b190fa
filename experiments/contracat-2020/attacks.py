"""Attacks, templates and antecedent-free augmentation of a model trained here (Stojanovski et al. 2020).

    python experiments/run.py contrapro-2018/train contracat-2020/attacks [--report-only]

Takes the concatenation model that contrapro-2018/train keeps, and its text (WORK: where that is). Annotation for
augmentation needs the small pipelines of ANAPHORA_MODELS; the attack by synonyms, WordNet and OpenThesaurus of Debian
(left out without them).
--report-only writes ATTACKS.md from attacks.json, without training and scoring.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard
from _attacks_report import report
from _command import anaphora, score

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"
DATA = Path(os.environ.get("ANAPHORA_DATA") or SHARED / "data")
MODELS = Path(os.environ.get("ANAPHORA_MODELS") or SHARED / "models")
TRAINED = Path(os.environ.get("WORK") or HERE.parent / "contrapro-2018" / "work")
WORK = TRAINED / "contracat"
MODEL = HERE.parent / "contrapro-2018" / "concat22"
RATES = (
    "1e-3",
    "1e-4",
    "1e-5",
)  # the paper's are 1/100, 1/1,000 and 1/10,000 of the rate it began with; ours is 1.5e-3
UPDATES = 60
DOCUMENTS = 4_000  # with several sentences and an *it*, that candidates are looked for in
PRONOUNS = ("er", "sie", "es")
TEMPLATES = ("prior", "markable", "event", "pleonastic", "gender")  # overlap's are three times as many as all of these
WORDNET, MYTHES = Path("/usr/share/wordnet"), Path("/usr/share/mythes/th_de_DE_v2.dat")
RESULTS = HERE / "attacks.json"


def main() -> int:
    if "--report-only" not in sys.argv[1:]:
        found = results()
        if found is None:
            return 0
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "ATTACKS.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")
    return 0


def results() -> dict[str, Any] | None:
    """Attack, ask and tune the model; nothing where data or the model is missing."""
    needed = (DATA / "contrapro", MODELS / "de_ud_sm", MODEL / "config.json", TRAINED / "text")
    missing = [path for path in needed if not path.exists()]
    if missing:
        print(f"skipped: no {missing[0]} (ANAPHORA_DATA, ANAPHORA_MODELS; train the model first)", file=sys.stderr)
        return None
    WORK.mkdir(exist_ok=True)
    suites = {"contrapro": TRAINED / "contrapro.jsonl", **attacked(TRAINED / "contrapro.jsonl"), **templates()}
    counts = augmented()
    models = {"concat22": MODEL, "candidates only": tuned("candidates", RATES[1])}
    models |= {f"AFA, {rate}": tuned("augmented", rate) for rate in RATES}
    figures = {
        name: accuracies(score(suites["contrapro"], path, run(name, "contrapro"))) for name, path in models.items()
    }
    best = max((name for name in models if name.startswith("AFA")), key=lambda name: figures[name][0])
    found: dict[str, Any] = {"augmentation": counts, "contrapro": figures, "best": best}
    for name in ("concat22", best):
        runs = {suite: score(path, models[name], run(name, suite)) for suite, path in suites.items()}
        attacks = [path for suite, path in runs.items() if suite not in ("contrapro", "templates")]
        found.setdefault("robustness", {})[name] = anaphora("robustness", runs["contrapro"], *attacks, "--json")
        found.setdefault("diagnosis", {})[name] = anaphora("diagnose", runs["templates"], "--max-items", "0", "--json")
    for robust in found["robustness"].values():
        for attack in robust["attacks"]:
            del attack["gained"], attack["lost"]
    return found


def run(model: str, suite: str) -> Path:
    return WORK / f"{model.replace(', ', '-').replace(' ', '-')}.{suite}.run"


def accuracies(path: Path) -> list[float]:
    """In all, and of er, sie, es."""
    result = anaphora("evaluate", path, "--json")
    by_pronoun = result["breakdowns"]["reference_pronoun"]
    return [result["accuracy"], *(by_pronoun[pronoun]["accuracy"] for pronoun in PRONOUNS)]


def attacked(suite: Path) -> dict[str, Path]:
    """The three attacks of Figure 1."""
    synonym: list[str | Path] = []
    if WORDNET.is_dir() and MYTHES.is_file():
        dictionary = WORK / "de-en.txt"
        if not dictionary.exists():
            with (DATA / "ding-de-en/de-en.txt.zst").open("rb") as packed, dictionary.open("wb") as out:
                zstandard.ZstdDecompressor().copy_stream(packed, out)
        synonym = ["synonym", suite, "--dictionary", dictionary, "--wordnet", WORDNET]
    commands: dict[str, list[str | Path]] = {
        "phrase": ["phrase", suite, "--preset", "true_colon"],
        "possessive": ["possessive", suite, "--preset", "maria"],
        "synonym": synonym,
    }
    made = {}
    for name, command in commands.items():
        if command:
            made[name] = WORK / f"{name}.jsonl"
            if not made[name].exists():
                anaphora("build", "attack", *command, "-o", made[name])
    return made


def templates() -> dict[str, Path]:
    path = WORK / "templates.jsonl"
    if not path.exists():
        chosen = [word for name in TEMPLATES for word in ("--only", name)]
        anaphora("build", "templates", *chosen, "-o", path)
    return {"templates": path}


def augmented() -> dict[str, Any]:
    """Candidates and their new versions from training documents, as documents of two sentences; what was found."""
    done = WORK / "augmented" / "counts.json"
    if not done.exists():
        texts = [WORK / f"documents.{language}" for language in ("en", "de")]
        with texts[0].open("w", encoding="utf-8") as en, texts[1].open("w", encoding="utf-8") as de:
            for english, german in with_it():
                en.write(english)
                de.write(german)
        arguments: list[str | Path] = ["augment", "--source", texts[0], "--target", texts[1], "-o", WORK / "augmented"]
        for side, language in (("source", "en"), ("target", "de")):
            arguments += [f"--annotate-{side}", f"spacy:{MODELS / f'{language}_ud_sm'}"]
        counts = anaphora(*arguments, "--drop", "event", "--drop", "pleonastic", "--json")
        for name in ("candidates", "augmented"):
            for language in ("en", "de"):
                lines = (WORK / "augmented" / f"{name}.{language}").read_text("utf-8").splitlines()
                documents = "".join(line.replace(" <SEP> ", "\n") + "\n\n" for line in lines)
                (WORK / "augmented" / f"{name}.documents.{language}").write_text(documents, encoding="utf-8")
        done.write_text(json.dumps(counts), encoding="utf-8")
    counts = json.loads(done.read_text("utf-8"))
    return {
        key: counts[key] for key in ("documents", "sentences", "pronouns", "candidates", "new_examples", "outcomes")
    }


def with_it() -> Iterator[tuple[str, str]]:
    """Training documents with an *it*, the last ones first: subtitles, then the rest."""
    texts = [(TRAINED / "text" / f"documents.{language}").read_text("utf-8") for language in ("en", "de")]
    found = 0
    for english, german in zip(*(reversed(text.split("\n\n")) for text in texts), strict=True):
        if "\n" in english.strip() and " it " in f" {english.lower()} " and found < DOCUMENTS:
            found += 1
            yield f"{english.strip()}\n\n", f"{german.strip()}\n\n"


def tuned(text: str, rate: str) -> Path:
    """The model, trained on with candidates, or with candidates and their new versions."""
    model, config = WORK / f"{text}-{rate}", WORK / f"{text}.toml"
    if (model / "config.json").exists():
        return model
    settings = {
        "data.source": WORK / "augmented" / f"{text}.documents.en",
        "data.target": WORK / "augmented" / f"{text}.documents.de",
        "data.validation_source": TRAINED / "text" / "validation.en",
        "data.validation_target": TRAINED / "text" / "validation.de",
        "training.start_from": MODEL,
        "training.learning_rate": rate,
        "training.schedule": "fixed",
        "training.warmup": 0,
        "training.updates": UPDATES,
        "training.save_every": UPDATES,
        "validation.every": UPDATES,
    }
    laptop = (HERE.parent / "contrapro-2018" / "laptop.toml").read_text("utf-8")
    config.write_text('base = "transformer-concat22"\n' + laptop, encoding="utf-8")
    chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    resume = ["--resume"] if model.exists() else []
    anaphora("train", config, "-o", model, "--threads", "1", *chosen, *resume)
    return model


if __name__ == "__main__":
    sys.exit(main())
