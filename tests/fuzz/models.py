"""What models, stores and lexicons leave on disk: checkpoints, descriptions, indexes, tables of words."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.fuzz.targets import add, files, write

CONFIG = """[lang]
source: es
target: en
# a comment
source_word_separator:
target_word_separator: -
[files]
source: ./s
reference: ./r
target: ./t
alignment_source_reference: ./ra
alignment_source_target: ./ta
list_source_pronouns: pronouns
input_type: word
list_target_pronouns:
[dictionary]
equal: equal
similar:
source_pronouns:
target_pronouns: pronouns
[cases]
cases_to_use: 1,3,4
weigths_per_case: 1, 0.5,0
count_OTHER_as_equal: True
[output]
output_file: out/put
counting_multiword_in_matrix: no
max_length_matrix = 12
"""
CONFIG_FILES = {
    **{"s": "ella es\n", "r": "she is\n", "t": "he is\n", "ra": "0-0 1-1\n", "ta": "0-0 1-1\n"},
    **{"pronouns": "Él\n\n ella \n", "equal": "Ce, c'\n"},
}


def _checkpoint_seed(folder: Path) -> None:
    import torch

    from anaphora.nmt.checkpoint import State, save_checkpoint

    torch.manual_seed(1)
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    save_checkpoint(folder, model, optimizer, State(update=1, perplexity=2.5), keep=0)


def _checkpoint(folder: Path) -> None:
    import torch

    from anaphora.nmt.checkpoint import best_checkpoints, load_checkpoint

    model = torch.nn.Linear(2, 2)
    (path,) = best_checkpoints(folder)
    load_checkpoint(path, model, torch.optim.Adam(model.parameters()))


add("model.checkpoint", _checkpoint_seed, _checkpoint, "*.json", "*.safetensors", torch=True)


def _about(folder: Path) -> None:
    from anaphora.measure.training import _divisor, read_about

    _divisor(read_about(folder), folder / "measure.json")


ABOUT = {"anaphora_measure": 2, "attention_divisor": 1.0, "encoder_kept": False, "config": {"model": {"encoder": "x"}}}
add("model.measure", files(measure__json=json.dumps(ABOUT)), _about, torch=True)


def _states_seed(folder: Path) -> None:
    import numpy as np

    from anaphora.measure.encoders import StateCache

    cache = StateCache(folder / "states", 2, {"model": "a"})
    cache.put({"one": np.ones((3, 2)), "two": np.zeros((1, 2)), "none": np.zeros((0, 2))})


def _states(folder: Path) -> None:
    from anaphora.measure.encoders import StateCache

    cache = StateCache(folder / "states", 2, {"model": "a"})
    for key, length in (("one", 3), ("two", 1), ("none", 0)):
        if key in cache:
            cache.get(key, length)


add("model.states", _states_seed, _states, "states/*.sqlite", torch=True, writes=True)


def _idiap_seed(folder: Path) -> None:
    write(folder / "config", CONFIG)
    for name, text in CONFIG_FILES.items():
        write(folder / name, text)


def _idiap(folder: Path) -> None:
    from anaphora.metrics.apt.idiap_output import read_config

    here = Path.cwd()
    os.chdir(folder)
    try:
        read_config(Path("config"))
    finally:
        os.chdir(here)


add("apt.idiap-config", _idiap_seed, _idiap, "config", "pronouns", "equal")


WORDNET = {
    "index.noun": "  1 license\ncar n 2 3 @ ~ + 2 1 02958343 02959942\nchild n 1 0 1 1 09917593\n",
    "index.verb": "buy v 1 1 @ 1 0 02207206\n",
    "index.adj": "fast a 1 0 1 0 00976508\n",
    "index.adv": "fast r 1 0 1 0 00085811\n",
    **{"noun.exc": "children child\n", "verb.exc": "bought buy\n", "adj.exc": "", "adv.exc": "best well\n"},
}


def _wordnet_seed(folder: Path) -> None:
    for name, text in WORDNET.items():
        write(folder / name, text)


def _wordnet(folder: Path) -> None:
    from anaphora.languages.thesaurus import read_wordnet

    read_wordnet(folder)


add("thesaurus.wordnet", _wordnet_seed, _wordnet)


def _nouns_seed(folder: Path) -> None:
    from tests.languages.test_german import COLUMNS, ROWS

    write(folder / "nouns.csv", f"{COLUMNS}\n{ROWS}")


def _nouns(folder: Path) -> None:
    from anaphora.languages.german import GermanNouns, NounTable

    NounTable(folder / "nouns.csv")
    GermanNouns(folder / "nouns.csv")


add("lexicon.nouns", _nouns_seed, _nouns)


def _stage_seed(folder: Path) -> None:
    from anaphora.build.mine.corpus import Corpus, Sizes, read_stage
    from anaphora.build.mine.shards import open_stage

    write(folder / "a.en", "A.\nB.\n\nC.\n")
    write(folder / "a.de", "X.\nY.\n\nZ.\n")
    read_stage(open_stage(folder / "work", "read", {}), Corpus(folder / "a.en", folder / "a.de"), Sizes())


def _stage(folder: Path) -> None:
    from anaphora.build.mine.corpus import Corpus, Sizes, read_stage
    from anaphora.build.mine.shards import open_stage, unpack

    stage = open_stage(folder / "work", "read", {})
    index = read_stage(stage, Corpus(folder / "a.en", folder / "a.de"), Sizes())
    for shard in range(min(len(index.shards), 3)):
        list(unpack(stage.read(shard)))
        stage.first_row(shard)


add("mine.work", _stage_seed, _stage, "work/*", writes=True)
