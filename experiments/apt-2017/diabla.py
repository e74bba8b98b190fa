"""APT, BLEU, chrF and METEOR against the human judgments of DiaBLa (Bawden et al. 2021), in both directions.

    python experiments/run.py apt-2017/diabla

DiaBLa holds 144 dialogues between an English and a French speaker through one of two systems of Bawden et al. 2018
(BASELINE, 2-TO-2). The reader of each translation judged it: perfect, medium or poor. A dialogue was held with one
system, so that the two systems have no sentence in common, and dialogues are what is resampled.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from _archive import extract
from _diabla_report import report
from _metrics import DATA, anaphora, write
from sacrebleu.metrics.bleu import BLEU

from anaphora.metrics.apt.task import Weighting, count_cases
from anaphora.metrics.corpus import METRICS, Measured, Texts
from anaphora.stats.correlation import COEFFICIENTS, coefficients
from anaphora.stats.intervals import Floats, generator, percentile_interval

HERE = Path(__file__).resolve().parent
CORPUS = DATA / "diabla-en-fr" / "diabla_dialogues.tar.zst"
ALIGNER = "builtin"  # the fastest; see docs/alignment.md for what others add
SAMPLES, SEED = 1_000, 12345
LANGUAGES = {"english": "en", "french": "fr"}
DIRECTIONS = {"en-fr": "it,they", "fr-en": "il,elle,ils,elles,ce,c',ça,cela"}  # and the pronouns that are looked at
SYSTEMS = {"baseline": "BASELINE", "2to2": "2-TO-2"}
JUDGMENTS = {"perfect": "correct", "medium": "incorrect", "poor": "bad"}  # in the words of `meta cases`
POINTS = {"perfect": 2.0, "medium": 1.0, "poor": 0.0}
SURFACE = ("bleu", "chrf", "meteor")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A judged translation. problems: the kinds of problem that the judge ticked."""

    dialogue: str
    system: str
    direction: str
    source: str
    output: str
    reference: str
    judgment: str
    problems: tuple[str, ...]


def main() -> int:
    if not CORPUS.exists():
        print(f"skipped: no {CORPUS} (set ANAPHORA_DATA)", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        sentences = read(extract(CORPUS, Path(folder)) / "DiaBLa-corpus" / "dialogues")
        found = {
            direction: evaluate(Path(folder) / direction, direction, sentences, pronouns)
            for direction, pronouns in DIRECTIONS.items()
        }
    (HERE / "diabla.json").write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (HERE / "DIABLA.md").write_text(report(found), encoding="utf-8")
    return 0


def read(dialogues: Path) -> list[Sentence]:
    """The judged sentences; ten of the 5,748 have no judgment."""
    found = []
    for path in sorted(dialogues.glob("*.json")):
        dialogue = json.loads(path.read_bytes())
        for one in dialogue["utterances"].values():
            source = LANGUAGES[one["language"]]
            direction = next(name for name in DIRECTIONS if name.startswith(source))
            texts = (one[key] for key in ("original_text", "postprocessed_text", "reference_translation"))
            original, output, reference = (" ".join(text.split()) for text in texts)
            judgment = one["eval"].get("judgment")
            if judgment in POINTS:
                system, problems = SYSTEMS[dialogue["translation_model"]], tuple(one["eval"]["problems"])
                found.append(Sentence(path.stem, system, direction, original, output, reference, judgment, problems))
    return found


def evaluate(folder: Path, direction: str, sentences: list[Sentence], pronouns: str) -> dict[str, Any]:
    print(f"  {direction}", file=sys.stderr, flush=True)
    folder.mkdir()
    judged = [sentence for sentence in sentences if sentence.direction == direction]
    rows = apt_details(folder, direction, sentences, pronouns)
    by_sentence: dict[int, list[int]] = {}
    for row in rows:
        by_sentence.setdefault(int(row["sentence"]), []).append(int(row["case"]))
    measured = surface(direction, judged)
    segments = segment_scores(judged, measured, by_sentence)
    return {
        "pronouns": pronouns,
        "sentences": len(judged),
        "dialogues": len({sentence.dialogue for sentence in judged}),
        "judgments": {name: sum(sentence.judgment == name for sentence in judged) for name in POINTS},
        "with_pronoun": len(by_sentence),
        "cases": cases(folder, rows, judged),
        "segments": correlations(judged, segments, sorted(by_sentence)),
        "dialogue_level": dialogue_level(folder, judged, measured, by_sentence),
        "systems": systems(judged, measured, by_sentence),
    }


def apt_details(folder: Path, direction: str, sentences: list[Sentence], pronouns: str) -> list[dict[str, str]]:
    """A row per pronoun, with its case. The aligner also learns from the references of the other direction."""
    judged = [sentence for sentence in sentences if sentence.direction == direction]
    other = [sentence for sentence in sentences if sentence.direction != direction]
    write(folder / "source", [sentence.source for sentence in judged])
    write(folder / "reference", [sentence.reference for sentence in judged])
    write(folder / "output", [sentence.output for sentence in judged])
    write(folder / "more.source", [sentence.reference for sentence in other])
    write(folder / "more.target", [sentence.source for sentence in other])
    texts = [str(folder / name) for name in ("source", "reference", "output", "more.source", "more.target", "details")]
    options = ["-s", texts[0], "-r", texts[1], "-t", texts[2], "--corpus", texts[3], texts[4], "--details", texts[5]]
    anaphora(
        "apt",
        *options,
        "-l",
        direction,
        "--name",
        "DiaBLa",
        "--pronouns",
        pronouns,
        "--samples",
        "100",
        "--aligner",
        ALIGNER,
    )
    header, *rows = (folder / "details").read_text(encoding="utf-8").splitlines()
    return [dict(zip(header.split("\t"), row.split("\t"), strict=True)) for row in rows]


def cases(folder: Path, rows: list[dict[str, str]], judged: list[Sentence]) -> dict[str, Any]:
    """Table 5 by `meta cases`, and the shares of *perfect* with intervals over dialogues."""
    lines = ["system\tsentence\tposition\tjudgment"]
    for row in rows:
        word = JUDGMENTS[judged[int(row["sentence"])].judgment]
        lines.append("\t".join((row["system"], row["sentence"], row["position"], word)))
    write(folder / "judgments.tsv", lines)
    found: dict[str, Any] = anaphora("meta", "cases", str(folder / "details"), str(folder / "judgments.tsv"))
    wanted = {f"c{case}": [row for row in rows if row["case"] == str(case)] for case in range(1, 7)}
    shares = {}
    for name, kept in {**wanted, "total": rows}.items():
        own = [judged[int(row["sentence"])] for row in kept]
        perfect = [float(sentence.judgment == "perfect") for sentence in own]
        marked = [float(bool({"grammar", "coherence"} & set(sentence.problems))) for sentence in own]
        units = [sentence.dialogue for sentence in own]
        shares[name] = {
            "perfect": mean_by_dialogue(perfect, units),
            "grammar_or_coherence": mean_by_dialogue(marked, units),
        }
    right = np.array([row["case"] == "1" for row in rows])
    own = [judged[int(row["sentence"])] for row in rows]
    return {"table": found, "shares": shares, "same_less_other": same_less_other(own, right)}


def same_less_other(own: list[Sentence], right: Any) -> dict[str, Any]:
    """Share of *perfect* in case 1 less that in the other cases: as it is, and within fifths by length of source.

    Long sentences have more of everything that can go wrong; within a fifth sentences are about as long.
    """
    perfect = np.array([float(sentence.judgment == "perfect") for sentence in own])
    lengths = np.array([len(sentence.source.split()) for sentence in own])
    fifth = np.searchsorted(np.quantile(lengths, [0.2, 0.4, 0.6, 0.8]), lengths)
    drawn = draws([sentence.dialogue for sentence in own])

    def difference(weights: Floats, inside: Any) -> Floats:
        one, other = weights * (right & inside), weights * (~right & inside)
        with np.errstate(invalid="ignore"):
            return np.asarray((one @ perfect) / one.sum(1) - (other @ perfect) / other.sum(1))

    def adjusted(weights: Floats) -> Floats:
        parts = np.stack([difference(weights, fifth == k) for k in range(5)])
        sizes = np.stack([(weights * (fifth == k)).sum(1) for k in range(5)]) * np.isfinite(parts)
        return np.asarray((np.nan_to_num(parts) * sizes).sum(0) / sizes.sum(0))

    everything = np.full(len(own), True)
    one = np.ones((1, len(own)))
    return {
        "plain": with_interval(difference(one, everything)[0], difference(drawn, everything)),
        "same_length": with_interval(adjusted(one)[0], adjusted(drawn)),
    }


def surface(direction: str, judged: list[Sentence]) -> dict[str, Measured]:
    """BLEU, chrF and METEOR as `anaphora metrics --normalize-text` has them, by what each sentence adds."""
    source, target = direction.split("-")
    texts = Texts(
        [sentence.reference for sentence in judged],
        {"DiaBLa": [sentence.output for sentence in judged]},
        languages=(source, target),
        normalize=True,
    )
    return {name: METRICS.load(name)(texts) for name in SURFACE}


def segment_scores(
    judged: list[Sentence], measured: dict[str, Measured], by_sentence: dict[int, list[int]]
) -> dict[str, Floats]:
    """A score per sentence; BLEU is sacreBLEU's sentence BLEU (smoothed), APT nan where there is no pronoun."""
    weighting = Weighting()
    apt = [
        score if (score := weighting.score(count_cases(by_sentence.get(number, [])))) is not None else np.nan
        for number in range(len(judged))
    ]
    scores = {"apt": np.array(apt)}
    for name in SURFACE:
        sums = measured[name].sums["DiaBLa"]
        scores[name] = np.asarray(sums.figures(sums.rows)["score"], dtype=float)
    bleu = BLEU(effective_order=True)
    pairs = [(sentence.output, [sentence.reference]) for sentence in judged]
    scores["bleu"] = np.array([bleu.sentence_score(output, reference).score for output, reference in pairs])
    return scores


def correlations(judged: list[Sentence], scores: dict[str, Floats], chosen: Sequence[int]) -> dict[str, Any]:
    """Pearson, Spearman and Kendall of each metric with the judgments of sentences; dialogues are resampled whole."""
    human = np.array([POINTS[judged[number].judgment] for number in chosen])
    drawn = draws([judged[number].dialogue for number in chosen])
    once = np.ones((1, len(human)))
    found: dict[str, Any] = {"sentences": len(human)}
    values = {}
    for name, all_scores in scores.items():
        own = all_scores[list(chosen)]
        exact = coefficients(own, human, once)[0]
        values[name] = np.concatenate([coefficients(own, human, part) for part in np.array_split(drawn, 20)])
        found[name] = {kind: with_interval(float(exact[k]), values[name][:, k]) for k, kind in enumerate(COEFFICIENTS)}
    if "apt" in scores:
        for name in SURFACE:
            delta = found["apt"]["kendall"]["value"] - found[name]["kendall"]["value"]
            found[name]["apt_less_this"] = with_interval(delta, values["apt"][:, 2] - values[name][:, 2])
    return found


def dialogue_level(
    folder: Path, judged: list[Sentence], measured: dict[str, Measured], by_sentence: dict[int, list[int]]
) -> dict[str, Any]:
    """`meta correlate` over dialogues: the share of perfect sentences against each metric of the dialogue."""
    lines = ["dialogue\thuman\tapt\t" + "\t".join(SURFACE)]
    for dialogue in sorted({sentence.dialogue for sentence in judged}):
        own = [number for number, sentence in enumerate(judged) if sentence.dialogue == dialogue]
        apt = Weighting().score(count_cases(case for number in own for case in by_sentence.get(number, [])))
        if apt is None:
            continue
        figures = [np.mean([judged[number].judgment == "perfect" for number in own]), apt]
        for name in SURFACE:
            sums = measured[name].sums["DiaBLa"]
            figures.append(float(sums.figures(sums.rows[own].sum(axis=0, keepdims=True))["score"][0]))
        lines.append("\t".join((dialogue, *(f"{figure:.6f}" for figure in figures))))
    write(folder / "dialogues.tsv", lines)
    found: dict[str, Any] = anaphora("meta", "correlate", str(folder / "dialogues.tsv"), "--samples", str(SAMPLES))
    return found | {"systems": len(found["systems"])}


def systems(judged: list[Sentence], measured: dict[str, Measured], by_sentence: dict[int, list[int]]) -> dict[str, Any]:
    """Each figure of the two systems and their difference; dialogues are resampled within each system."""
    weighting = Weighting()
    columns: dict[str, Floats] = {
        "apt": np.array(
            [
                [sum(weighting.credit(case) or 0 for case in by_sentence.get(n, [])), len(by_sentence.get(n, []))]
                for n in range(len(judged))
            ]
        ),
        "human": np.array([[100 * (sentence.judgment == "perfect"), 1] for sentence in judged], dtype=float),
        "human_with_pronoun": np.array(
            [[100 * (s.judgment == "perfect") * (n in by_sentence), n in by_sentence] for n, s in enumerate(judged)],
            dtype=float,
        ),
    }
    figures = dict.fromkeys(columns, lambda totals: totals[:, 0] / totals[:, 1])
    for name in SURFACE:
        sums = measured[name].sums["DiaBLa"]
        columns[name] = sums.rows
        figures[name] = lambda totals, sums=sums: np.asarray(sums.figures(totals)["score"])
    own = {name: [n for n, s in enumerate(judged) if s.system == name] for name in SYSTEMS.values()}
    seeds = {name: SEED + k for k, name in enumerate(own)}  # the systems have dialogues of their own
    drawn = {name: draws([judged[n].dialogue for n in chosen], seeds[name]) for name, chosen in own.items()}
    found: dict[str, Any] = {"sentences": {name: len(chosen) for name, chosen in own.items()}}
    for metric, rows in columns.items():
        exact = {
            name: float(figures[metric](rows[chosen].sum(axis=0, keepdims=True))[0]) for name, chosen in own.items()
        }
        many = {name: figures[metric](drawn[name] @ rows[chosen]) for name, chosen in own.items()}
        delta = many["2-TO-2"] - many["BASELINE"]
        found[metric] = {name: with_interval(exact[name], many[name]) for name in own}
        found[metric]["difference"] = with_interval(exact["2-TO-2"] - exact["BASELINE"], delta)
        found[metric]["share_of_samples_above_0"] = float((delta > 0).mean())
    return found


def draws(dialogues: Sequence[str], seed: int = SEED) -> Floats:
    """How often each sentence is in each bootstrap sample of dialogues. (samples, sentences)."""
    names, which = np.unique(np.array(dialogues), return_inverse=True)
    drawn = generator(seed).multinomial(len(names), np.full(len(names), 1 / len(names)), size=SAMPLES)
    return drawn[:, which].astype(float)


def mean_by_dialogue(values: list[float], dialogues: list[str]) -> dict[str, Any] | None:
    """A mean with its interval over dialogues; none where there is nothing."""
    if not values:
        return None
    drawn = draws(dialogues)
    with np.errstate(invalid="ignore"):
        return with_interval(float(np.mean(values)), (drawn @ np.array(values)) / drawn.sum(axis=1))


def with_interval(value: float, resampled: Floats) -> dict[str, Any]:
    """A value and the 95 % percentile interval; samples in which it is undefined are left out."""
    return {"value": float(value), "interval": list(percentile_interval(resampled[np.isfinite(resampled)]))}


if __name__ == "__main__":
    sys.exit(main())
