"""The commands that are killed: what each needs, how it is resumed, and how much work it has kept at any moment."""

from __future__ import annotations

import functools
import json
import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests import tiny_models

EXAMPLES = 96  # of the suite that is scored
SENTENCES = 160  # that are translated
STEPS = 24  # in which a language model adapts


@dataclass(frozen=True)
class Target:
    """A command that is killed and resumed.

    arguments, resume: of the command, and what is added when it is run again
    kept: how much of its work is on disk in its folder: answers, sentences, updates, shards, states or steps
    setup: makes steps smaller in the process, so that there are more of them in little work
    trials: how many times it is killed and resumed to the end
    """

    name: str
    arguments: Sequence[str]
    kept: Callable[[Path], float]
    resume: Sequence[str] = ()
    setup: Callable[[], None] | None = None
    trials: int = 10


def records(name: str, total: int, folder: Path) -> float:
    """The lines of an unfinished run or translation, without its header; all of them if it is finished."""
    if (folder / name).is_file():
        return total
    part = folder / f"{name}.part"
    return max(0, part.read_bytes().count(b"\n") - 1) if part.is_file() else 0


def imports(*, models: bool = True) -> None:
    """Import once what all processes use; `models` too: what computes them."""
    os.environ |= {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    os.environ |= {"TRANSFORMERS_VERBOSITY": "error", "HF_HUB_DISABLE_PROGRESS_BARS": "1", "NO_COLOR": "1"}
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    import anaphora.api
    import anaphora.build.mine.pipeline
    import anaphora.cli.app

    if not models:
        return
    import ctranslate2  # noqa: F401
    import numpy  # noqa: F401
    import peft  # noqa: F401
    import sentencepiece  # noqa: F401
    import torch
    import transformers  # noqa: F401
    from transformers import (  # noqa: F401
        AutoModelForCausalLM,
        BertModel,
        LlamaForCausalLM,
        MarianMTModel,
        MarianTokenizer,
    )

    import anaphora.api
    import anaphora.cli.app
    import anaphora.evaluation.attribution
    import anaphora.evaluation.attribution_result
    import anaphora.measure.adapting
    import anaphora.measure.training
    import anaphora.nmt.marian
    import anaphora.nmt.training
    import anaphora.systems.scoring
    import anaphora.systems.translation  # noqa: F401

    torch.set_num_threads(1)


class Inputs:
    """Suites, texts and tiny models in a folder; made once, in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite, self.text = folder / "suite.jsonl", folder / "text.en"
        self.pairs, self.english = folder / "pairs.jsonl", folder / "read.en"

    def __truediv__(self, name: str) -> Path:
        return self.folder / name

    def make(self, *, models: bool = True) -> None:
        """Everything below the folder. models: those that need more than the core of this package as well"""
        import itertools

        from anaphora.demo.corpus import demo_suite
        from anaphora.suites.suite import suite_of

        suite = demo_suite()
        examples = [
            replace(example, tags={**example.tags, "source_antecedent": example.id.partition(".")[0]})
            for example in itertools.islice(iter(suite), EXAMPLES)
        ]
        suite_of(suite.header, lambda: iter(examples)).write(self.suite)
        rng = random.Random(1)
        scores = [f"{-rng.random() * 9:.4f}" for example in examples for _ in example.candidates]
        (self / "my.scores").write_text("\n".join(scores) + "\n")
        references = [f"Das ist Satz {number}." for number in range(EXAMPLES)]
        (self / "references.de").write_text("\n".join(references) + "\n", encoding="utf-8")
        (self / "program.py").write_text(PROGRAM, encoding="utf-8")
        sentences = tiny_models.demo_sentences()
        lines = [(sentences[k % len(sentences)] + ("\n" if k % 7 == 6 else "")) for k in range(SENTENCES)]
        self.text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self._corpora()
        if not models:
            return
        (self / "marian").mkdir()
        tiny_models.make_marian(self / "marian", sentences)
        (self / "llama").mkdir()
        tiny_models.make_llama(self / "llama", sentences)
        tiny_models.make_gguf(self / "llama", self / "tiny.gguf")
        tiny_models.make_nmt(self / "nmt", sentences)
        self._converted()
        self._measure()

    def _converted(self) -> None:
        import ctranslate2
        import torch
        import transformers

        model = transformers.MarianMTModel.from_pretrained(self / "marian")
        with torch.no_grad():
            model.get_input_embeddings().weight[model.config.pad_token_id] = 0
            model.final_logits_bias[:, model.config.pad_token_id] = -1e4
        model.generation_config.forced_eos_token_id = None
        model.save_pretrained(self / "for-ct2")
        transformers.AutoTokenizer.from_pretrained(self / "marian").save_pretrained(self / "for-ct2")
        ctranslate2.converters.TransformersConverter(str(self / "for-ct2")).convert(str(self / "ct2"))
        for file in (self / "for-ct2").iterdir():
            if not (self / "ct2" / file.name).exists() and file.suffix != ".safetensors":
                shutil.copy(file, self / "ct2")

    def _measure(self) -> None:
        """Pairs for the measure, text for its language model, a small encoder, and a measure that is trained."""
        import torch
        from transformers import BertConfig, BertModel, BertTokenizerFast

        from anaphora.suites.example import Example
        from anaphora.suites.suite import Header, suite_of

        nouns = {"he": ("king", "uncle", "monk"), "she": ("queen", "aunt", "nun"), "it": ("house", "table", "stone")}
        verbs = ("was old", "looked fine", "has gone", "came back", "was there")
        pairs, text = [], []
        for right, wrong, verb in ((a, b, c) for a in nouns for b in nouns for c in verbs if a != b):
            for noun in nouns[right]:
                before = f"I saw the {noun}."
                passages = tuple((before, f"{word.capitalize()} {verb}.") for word in (right, wrong))
                tags = {"kind": "noisy", "reference_pronoun": right, "pronoun_pair": f"{right}:{wrong}"}
                pairs.append(Example(f"{noun}-{wrong}-{verb}", ("", ""), passages, 0, tags))
                text.append("\n".join(passages[0]))
        suite_of(Header("pairs", "de", "en"), lambda: iter(pairs)).write(self.pairs)
        self.english.write_text("\n\n".join(text) + "\n", encoding="utf-8")
        letters = "abcdefghijklmnopqrstuvwxyz"
        pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "saw", *letters, *(f"##{x}" for x in letters)]
        (self / "bert").mkdir()
        (self / "bert" / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
        tokenizer = BertTokenizerFast(vocab=str(self / "bert" / "vocab.txt"), do_lower_case=True, model_max_length=64)
        torch.manual_seed(1)
        sizes: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = BertConfig(vocab_size=len(tokenizer), intermediate_size=32, max_position_embeddings=64, **sizes)
        BertModel(config).save_pretrained(self / "bert")
        tokenizer.save_pretrained(self / "bert")
        (self / "measure.toml").write_text(
            f'[data]\ntrain = "{self.pairs}"\ndev = "{self.pairs}"\ntrain_kind = "noisy"\n'
            f'[model]\nencoder = "hf:{self / "bert"}"\nwidth = 16\nsentences = 1\n'
            "[training]\nrate = 0.01\nbatch = 16\nepochs = 2\npatience = 25\nkeep_encoder = true\n"
        )
        (self / "static.toml").write_text(
            f'[data]\ntrain = "{self.pairs}"\ndev = "{self.pairs}"\ntrain_kind = "noisy"\n'
            "[model]\nwidth = 16\nsentences = 1\n[training]\nrate = 0.01\nbatch = 16\nepochs = 2\n"
        )
        self._run("measure", "train", self / "static.toml", "-o", self / "measure", "--threads", "1")

    def _corpora(self) -> None:
        """A corpus to mine with ready annotation, one to augment, and one to train on."""
        rng = random.Random(1)
        write_mined(self / "x", 60)
        write_augmented(self / "a", 150)
        nouns = {"lamp": ("Lampe", "Sie"), "table": ("Tisch", "Er"), "book": ("Buch", "Es"), "clock": ("Uhr", "Sie")}
        for name, documents in (("train", 60), ("held", 8)):
            source, target = [], []
            for _ in range(documents):
                noun, (german, pronoun) = rng.choice(sorted(nouns.items()))
                adjective, other = rng.choice([("old", "alt"), ("new", "neu"), ("big", "groß")])
                source += [f"I see the {noun} .", f"It is {adjective} .", ""]
                target += [f"Ich sehe {german} .", f"{pronoun} ist {other} .", ""]
            for code, lines in (("en", source), ("de", target)):
                (self / f"{name}.{code}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        sizes = {"recurrent": "hidden = 16", "transformer": "layers = 1\nheads = 2\nfeed_forward = 16"}
        for kind, of in (("recurrent", "last"), ("transformer", "best")):
            text = TRAINING.format(kind=kind, sizes=sizes[kind], of=of, folder=self.folder)
            (self / f"{kind}.toml").write_text(text)

    def _run(self, *arguments: str | Path) -> None:
        command = [sys.executable, "-m", "anaphora", *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True)


PROGRAM = """
import sys
for line in sys.stdin:
    source, target = line.rstrip("\\n").split("\\t")
    print(f"{-len(target) - len(source) / 8:.3f}", flush=True)
"""

TRAINING = """
[model]
kind = "{kind}"
source_context = 1
embedding = 16
{sizes}
dropout = 0.1
[data]
source = "{folder}/train.en"
target = "{folder}/train.de"
validation_source = "{folder}/held.en"
validation_target = "{folder}/held.de"
[vocabulary]
size = 60
[training]
updates = 24
learning_rate = 0.01
schedule = "fixed"
warmup = 0
batch_tokens = 200
report_every = 2
save_every = 4
keep = 2
average = 2
average_of = "{of}"
[validation]
every = 6
"""

# English and German sentences word by word; a word is linked to the one below it
LINES = {
    "The cup fell .": "Die Tasse fiel .",
    "It broke .": "Sie brach .",
    "We bought it today .": "Wir kauften es heute .",
    "The dog and it slept .": "Der Hund und er schliefen .",
    "Nothing happened .": "Nichts geschah .",
}


def write_mined(stem: Path, count: int) -> None:
    """Documents of one to nine sentences and their annotation: stem.en, stem.de, stem.en.conllu, stem.de.conllu."""
    sentences = list(LINES)
    documents = [[sentences[(7 * d + 3 * k) % 5] for k in range(d % 9 + 1)] for d in range(count)]
    for code, text in (("en", documents), ("de", [[LINES[line] for line in document] for document in documents])):
        stem.with_suffix(f".{code}").write_text("\n\n".join("\n".join(lines) for lines in text) + "\n")
        rows = "\n".join(_words(line) for lines in text for line in lines)
        stem.with_suffix(f".{code}.conllu").write_text(rows)


def _words(line: str) -> str:
    """A sentence whose words all depend on the first; pronouns of the third person are marked."""
    rows = []
    for k, word in enumerate(line.split(), start=1):
        pronoun = word.lower() in ("it", "sie", "er", "es")
        kind = "PRON\t_\tPerson=3" if pronoun else "PUNCT\t_\t_" if word == "." else "NOUN\t_\t_"
        rows.append(f"{k}\t{word}\t{word.lower()}\t{kind}\t{min(1, k - 1)}\t{'root' if k == 1 else 'dep'}\t_\t_")
    return "\n".join(rows) + "\n"


ANIMALS = (("dog", "Hund"), ("wolf", "Wolf"), ("bear", "Bär"), ("horse", "Esel"))
ENGLISH = (
    "A/DET/2/det/Entity=(e1-animal {0}/NOUN/3/nsubj/Entity=e1) came/VERB/0/root/_ ./PUNCT/3/punct/_",
    "I/PRON/2/nsubj/_ laughed/VERB/0/root/_ ./PUNCT/2/punct/_",
    "It/PRON/3/nsubj/Entity=(e1-animal) was/AUX/3/cop/_ hungry/ADJ/0/root/_ ./PUNCT/3/punct/_",
)
GERMAN = (
    "Ein/X/0/root/_ {1}/X/0/root/_ kam/X/0/root/_ ./X/0/root/_",
    "Ich/X/0/root/_ lachte/X/0/root/_ ./X/0/root/_",
    "Er/PRON/3/nsubj/_ war/AUX/3/cop/_ hungrig/ADJ/0/root/SpaceAfter=No ./PUNCT/3/punct/_",
)


def write_augmented(stem: Path, count: int) -> None:
    """Documents with an *it* whose antecedent is two sentences before it, and their annotation."""
    for code, templates in (("en", ENGLISH), ("de", GERMAN)):
        texts, blocks = [], []
        for number in range(count):
            for template in templates:
                words = [word.split("/") for word in template.format(*ANIMALS[number % 4]).split()]
                text = " ".join(word[0] for word in words)
                texts.append(text.replace("hungrig .", "hungrig."))
                rows = enumerate(words, start=1)
                blocks.append("".join(f"{i}\t{w}\t_\t{u}\t_\t_\t{h}\t{r}\t_\t{m}\n" for i, (w, u, h, r, m) in rows))
            texts.append("")
        stem.with_suffix(f".{code}").write_text("\n".join(texts) + "\n", encoding="utf-8")
        stem.with_suffix(f".{code}.conllu").write_text("\n".join(blocks), encoding="utf-8")


def small_chunks() -> None:
    from anaphora.systems import translation

    translation.CHUNK = 8
    translation.IN_ORDER = 1


def small_shards() -> None:
    """Shards of some sixty sentences instead of thousands, and a phenomenon that needs no more than words."""
    from anaphora.build.mine import corpus, phenomenon
    from tests.build.mine.toy_phenomenon import Toy

    corpus.Sizes = functools.partial(corpus.Sizes, piece=20, shard=40)  # type: ignore[misc,assignment]
    known = phenomenon.phenomena()
    known._targets["toy"] = f"{Toy.__module__}:Toy"


def small_steps() -> None:
    from anaphora.measure import adapting

    adapting.KEEP_EVERY = 4


def small_batches() -> None:
    from anaphora.measure import encoders

    encoders.BATCH_TOKENS = 64


def checkpointed(folder: Path) -> float:
    """The updates of the last complete checkpoint."""
    actual = sorted((folder / "model" / "checkpoints").glob("update-*/state.json"))
    return int(actual[-1].parent.name.removeprefix("update-")) if actual else 0


def mined(folder: Path) -> float:
    """The shards of all stages."""
    return len(list((folder / "mined.jsonl.work").glob("*/*.jsonl.gz")))


def states(folder: Path) -> float:
    """The texts whose states by the encoder are kept."""
    counts = [
        sqlite3.connect(path).execute("SELECT count(*) FROM arrays").fetchone()[0]
        for path in (folder / "states").glob("*.sqlite")
        if path.stat().st_size
    ]
    return sum(counts)


def adapted(folder: Path) -> float:
    """The steps that a language model has learned from."""
    from safetensors import SafetensorError, safe_open

    if (folder / "adapted" / "model.safetensors").is_file():
        return STEPS
    file = folder / "adapted.part"
    try:
        with safe_open(file, "pt") as kept:
            return len(json.loads(kept.metadata()["log"]))
    except (OSError, SafetensorError):
        return 0


def written(folder: Path) -> float:
    """The files that are finished; nothing of an unfinished one is kept."""
    return sum(1 for path in (folder / "augmented").glob("[!.]*") if path.suffix != ".part")


SMALL = ("score command:", "build mine", "augment")  # those that need the core alone


def targets(inputs: Inputs, openai: str) -> list[Target]:
    """All commands. openai: the address of a server."""
    specs = {
        "scores": f"scores:{inputs / 'my.scores'}",
        "command": f"command:{shlex.join([sys.executable, str(inputs / 'program.py')])}",
        "hf": f"hf:{inputs / 'marian'}",
        "lm": f"lm:{inputs / 'llama'}",
        "ct2": f"ct2:{inputs / 'ct2'}",
        "gguf": f"gguf:{inputs / 'tiny.gguf'}",
        "nmt": f"nmt:{inputs / 'nmt'}",
        "openai": f"openai:{openai}?model=tiny",
        "judge": f"judge:{openai}?model=tiny",
        "metric": f"metric:chrf?reference={inputs / 'references.de'}",
        "measure": f"measure:{inputs / 'measure'}",
    }
    actual = []
    for kind, spec in specs.items():
        suite, total = (inputs.pairs, 270) if kind == "measure" else (inputs.suite, EXAMPLES)
        own = ["--workers", "1", "--threads", "1"] if kind in ("hf", "lm", "ct2", "gguf", "nmt") else []
        arguments = ["score", str(suite), "--system", spec, "-o", "out/run.jsonl", *own]
        if kind == "measure":
            arguments += ["--limit", "90"]
            total = 90
        actual.append(Target(f"score {kind}:", arguments, functools.partial(records, "run.jsonl", total), ["--resume"]))
    for kind, method in (("hf", "gradient"), ("lm", "attention"), ("nmt", "occlusion")):
        arguments = ["attribute", str(inputs.suite), "--system", specs[kind], "--method", method, "-o", "out/run.jsonl"]
        arguments += ["--context", "2"] if kind != "nmt" else []
        arguments += ["--samples", "100", "--threads", "1", "--batch-tokens", "256"]
        kept = functools.partial(records, "run.jsonl", EXAMPLES)
        actual.append(Target(f"attribute {kind}:", arguments, kept, ["--resume"]))
    for kind in ("hf", "nmt"):
        arguments = ["translate", "--system", specs[kind], "-i", str(inputs.text), "-o", "out/text.de"]
        arguments += ["--beams", "1", "--max-tokens", "8", "--threads", "1"]
        kept = functools.partial(records, "text.de", SENTENCES)
        actual.append(Target(f"translate {kind}:", arguments, kept, ["--resume"], small_chunks))
    for kind in ("recurrent", "transformer"):
        arguments = ["train", str(inputs / f"{kind}.toml"), "-o", "out/model", "--threads", "1"]
        actual.append(Target(f"train {kind}", arguments, checkpointed, ["--resume"], trials=14))
    corpus = [f"--{side}={inputs / 'x'}.{code}" for side, code in (("source", "en"), ("target", "de"))]
    corpus += [
        f"--annotate-{side}=conllu:{inputs / 'x'}.{code}.conllu" for side, code in (("source", "en"), ("target", "de"))
    ]
    arguments = ["build", "mine", *corpus, "-l", "en-de", "--phenomenon", "toy", "--per-class", "all"]
    arguments += ["--to", "both", "--workers", "1", "-o", "out/mined.jsonl"]
    actual.append(Target("build mine", arguments, mined, (), small_shards, trials=20))
    corpus = [part.replace(str(inputs / "x"), str(inputs / "a")) for part in corpus]
    arguments = ["augment", *corpus, "--link", "chains", "-o", "out/augmented"]
    actual.append(Target("augment", arguments, written))
    arguments = ["measure", "train", str(inputs / "measure.toml"), "--cache", "out/states", "-o", "out/measure"]
    actual.append(Target("measure train", [*arguments, "--threads", "1"], states, (), small_batches))
    arguments = ["measure", "adapt", f"lm:{inputs / 'llama'}", str(inputs.english), "-o", "out/adapted"]
    arguments += ["--steps", str(STEPS), "--batch", "2", "--pieces", "24", "--rank", "2", "--threads", "1"]
    actual.append(Target("measure adapt", arguments, adapted, (), small_steps))
    return actual
