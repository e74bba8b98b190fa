"""Antecedent-free augmentation (§7), and models tuned on it.

Candidates are found in two ways. `linked`: `anaphora build augment` with its linker, as the paper does, with and
without dropping event and pleonastic *it*. `free`: passages whose only *it* is *er* or *sie* in German where no noun of
that gender is near, so that the antecedent is elsewhere; that needs a tagger and no linker, and neither event nor
pleonastic *it* is ever *er* or *sie*.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _attacked import read
from _command import anaphora

RATES = ("1e-3", "1e-4", "1e-5")  # the paper's are 1/100, 1/1,000 and 1/10,000 of the rate it began with, ours 1.2e-3
UPDATES = 60
# As in the last stage of the model, so that only the text differs: pronouns weigh more, the context half less
OBJECTIVE = {"weighted_words": '["er", "sie", "es", "ihn"]', "word_weight": 8.0, "context_weight": 0.1}
DOCUMENTS = 2000  # with several sentences and an *it*, in which linked candidates are looked for
CANDIDATES = "candidates only"  # in the names of models
DROPPED = ("event", "pleonastic")
SEPARATOR = " <SEP> "
PRONOUN = re.compile(r"\b(er|ihn|sie)\b", re.IGNORECASE)
FORMS = {"Masc": ("er", "ihn"), "Fem": ("sie", "sie"), "Neut": ("es", "es")}  # nominative, accusative
GENDER = {"er": "Masc", "ihn": "Masc", "sie": "Fem"}
COUNTS = ("documents", "sentences", "pronouns", "candidates", "new_examples", "outcomes")
LAPTOP = Path(__file__).resolve().parents[1] / "contrapro-2018" / "laptop.toml"


class Augmentation:
    """Text and tuned models.

    text: of contrapro-2018/train; models: the folder with the pipelines of spaCy; folder: where everything is written
    """

    def __init__(self, text: Path, models: Path, folder: Path) -> None:
        self.text, self.models, self.folder = text, models, folder
        self.development = text / "development.jsonl"

    def linked(self, dropped: tuple[str, ...]) -> tuple[Path, dict[str, Any]]:
        """The folder with candidates.* and augmented.*, and what was found."""
        folder = self.folder / ("linked-dropped" if dropped else "linked")
        done = folder / "counts.json"
        if not done.exists():
            stem = self.folder / "documents"
            with stem.with_suffix(".en").open("w", encoding="utf-8") as en, stem.with_suffix(".de").open("w") as de:
                for english, german in self.with_it():
                    en.write(english)
                    de.write(german)
            arguments: list[str | Path] = ["--source", stem.with_suffix(".en"), "--target", stem.with_suffix(".de")]
            for side, language in (("source", "en"), ("target", "de")):
                arguments += [f"--annotate-{side}", f"spacy:{self.models / f'{language}_ud_sm'}"]
            arguments += [word for kind in dropped for word in ("--drop", kind)]
            counts = anaphora("build", "augment", *arguments, "-o", folder, "--json")
            done.write_text(json.dumps({key: counts[key] for key in COUNTS}), encoding="utf-8")
        return folder, json.loads(done.read_text("utf-8"))

    def with_it(self) -> Iterator[tuple[str, str]]:
        """Training documents with an *it*, the last ones first: subtitles, then the rest.

        None has a passage of the development set, which tells the rate.
        """
        texts = [(self.text / f"documents.{language}").read_text("utf-8") for language in ("en", "de")]
        held = frozenset("\n".join(item["source"]) for item in read(self.development))
        found = 0
        for english, german in zip(*(reversed(text.split("\n\n")) for text in texts), strict=True):
            asked = "\n" in english.strip() and " it " in f" {english.lower()} "
            if asked and found < DOCUMENTS and not any(passage in english for passage in held):
                found += 1
                yield f"{english.strip()}\n\n", f"{german.strip()}\n\n"

    def free(self) -> tuple[Path, dict[str, Any]]:
        """The same from the passages of the last stage, without a linker."""
        folder = self.folder / "free"
        done = folder / "counts.json"
        if not done.exists():
            import spacy

            folder.mkdir(exist_ok=True)
            tagger = spacy.load(self.models / "de_ud_sm")
            passages = [pair for gender in ("masculine", "feminine") for pair in self.passages(gender)]
            analyses = tagger.pipe(german.replace(SEPARATOR, " ") for _, german in passages)
            candidates, new = [], []
            for (english, german), analysis in zip(passages, analyses, strict=True):
                if versions := other_genders(german, analysis):
                    candidates.append((english, german))
                    new += [(english, german), *((english, version) for version in versions)]
            for name, pairs in (("candidates", candidates), ("augmented", new)):
                for language, side in (("en", 0), ("de", 1)):
                    lines = "".join(f"{pair[side]}\n" for pair in pairs)
                    (folder / f"{name}.{language}").write_text(lines, encoding="utf-8")
            counts = {
                "passages": len(passages),
                "candidates": len(candidates),
                "new_examples": len(new) - len(candidates),
            }
            done.write_text(json.dumps(counts), encoding="utf-8")
        return folder, json.loads(done.read_text("utf-8"))

    def passages(self, gender: str) -> Iterator[tuple[str, str]]:
        sides = [(self.text / f"{gender}.{language}").read_text("utf-8").split("\n\n") for language in ("en", "de")]
        for english, german in zip(*sides, strict=True):
            if german.strip():
                yield english.strip(), german.strip()

    def tuned(self, model: Path, text: Path, rate: str) -> Path:
        """A model, trained on with the text of a pair of files."""
        folder = self.folder / f"{model.name}-{text.parent.name}-{text.name}-{rate}"
        if (folder / "config.json").exists():
            return folder
        config = self.folder / f"{folder.name}.toml"
        config.write_text('base = "transformer-concat22"\n' + LAPTOP.read_text("utf-8"), encoding="utf-8")
        settings = {
            "data.source": f"{text}.en",
            "data.target": f"{text}.de",
            "training.start_from": model,
            "training.learning_rate": rate,
            "training.schedule": "fixed",
            "training.warmup": 0,
            "training.updates": UPDATES,
            "training.save_every": UPDATES,
            **{f"training.{key}": value for key, value in OBJECTIVE.items()},
        }
        chosen = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        resume = ["--resume"] if folder.exists() else []
        anaphora("train", config, "-o", folder, "--threads", "1", *chosen, *resume)
        return folder


def other_genders(german: str, analysis: Any) -> list[str]:
    """A passage with the pronoun of each other gender; none if a noun near it has the pronoun's gender, or may have."""
    context, current = german.split(SEPARATOR)
    found = PRONOUN.search(current)
    if found is None:
        return []
    gender = GENDER[found[0].lower()]
    near = {g for token in analysis if token.pos_ in ("NOUN", "PROPN") for g in token.morph.get("Gender") or [gender]}
    place = len(context) + 1 + found.start()
    pronoun = next((token for token in analysis if token.idx == place), None)
    cases = {"Nom": 0, "Acc": 1}
    case = cases.get("".join(pronoun.morph.get("Case"))) if pronoun is not None else None
    if gender in near or case is None:
        return []
    forms = [pair[case] for other, pair in FORMS.items() if other != gender]
    forms = [form.capitalize() if found[0][0].isupper() else form for form in forms]
    return [context + SEPARATOR + current[: found.start()] + form + current[found.end() :] for form in forms]
