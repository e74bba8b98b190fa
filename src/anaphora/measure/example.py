"""Made-up files to try the measure with: a reference, two systems, what people said, and a config."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from anaphora.core.files import atomic_writer

NOUNS = {
    "he": ("king", "uncle", "baker", "monk", "waiter"),
    "she": ("queen", "aunt", "nun", "actress", "waitress"),
    "it": ("house", "table", "stone", "bridge", "kettle"),
}
ENDS = ("was old", "looked fine", "has gone", "came back", "fell down", "was never seen again")
# how often each system is wrong, and with which pronoun
SYSTEMS = {
    "first.en": (0.5, {"he": "it", "she": "he", "it": "she"}),
    "second.en": (0.1, {"he": "it", "she": "it", "it": "he"}),
}
LIST = {"he_it": (0.95, 60, 2, 1), "she_he": (0.93, 50, 1, 2), "it_she": (0.97, 40, 0, 1), "she_it": (0.9, 30, 2, 2)}
CONFIG = """description = "A small measure for made-up pairs"

[data]
train = "{folder}/pairs.jsonl"
dev = "{folder}/pairs.jsonl"

[model]
encoder = "static"    # or hf:NAME_OR_PATH
context = "CRC"       # NC: none, RC: each its own, CRC: the reference's for both
sentences = 1
width = 16

[training]
rate = 0.01
batch = 16
epochs = 20
"""


def write_example(folder: Path, documents: int = 120, seed: int = 1) -> list[Path]:
    """Write the files into a folder; the same every time."""
    random = np.random.default_rng(seed)
    pronouns = list(NOUNS)
    texts: dict[str, list[str]] = {"reference.en": [], **{name: [] for name in SYSTEMS}}
    for _ in range(documents):
        right = pronouns[int(random.integers(3))]
        noun = NOUNS[right][int(random.integers(len(NOUNS[right])))]
        end = ENDS[int(random.integers(len(ENDS)))]
        for name, lines in texts.items():
            chance, wrong = SYSTEMS.get(name, (0.0, {}))
            word = wrong[right] if random.random() < chance else right
            lines += [f"I saw the {noun}.", f"{word.capitalize()} {end}.", ""]
    people = {pair: [[a, {"REF": ref, "SYS": sys, "Tie": tie}]] for pair, (a, ref, sys, tie) in LIST.items()}
    contents = {name: "\n".join(lines) for name, lines in texts.items()}
    contents |= {"people.json": json.dumps(people, indent=1) + "\n", "measure.toml": CONFIG.format(folder=folder)}
    for name, content in contents.items():
        with atomic_writer(folder / name) as out:
            out.write(content.encode())
    return [folder / name for name in contents]
