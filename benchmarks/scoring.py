"""The prefix-tree scorer against what people use, on ContraPro's text, with models of random weights, on one thread.

An encoder–decoder (Transformer-base, 32,000 tokens) against Hugging Face in batches of 32 in file order, Hugging Face
in length-sorted batches of a tuned size, and CTranslate2; a causal model with a prompt of 150 tokens against plain
batches of prompt and candidate. All score the same token ids, and must give the same scores.

    python benchmarks/scoring.py [--rounds N] [--examples N] [--only translation|language-model] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import scorers
from scorers import Question, Scorer
from timing import Row, Times, clock

DATA = Path(os.environ.get("ANAPHORA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
DISTURBED = 0.1  # wall and processor time further apart than this: the round is rejected
TRIES = 4  # of a round
APART = 1e-3  # that scores of different programs may be (sums over some thirty tokens of float32)
BUDGETS = (1024, 2048, 4096, 8192)  # tokens in a batch, to tune the others over
PROMPT = 150  # tokens before the candidates of the causal model
VOCABULARY = 32_000
EOS, PAD = 0, VOCABULARY - 1  # CTranslate2 expects Marian's padding behind everything else
PARTS = ("translation", "language-model")
TREE = "tree"


def run(rounds: int = 4, examples: int = 150, parts: Sequence[str] = PARTS) -> list[Row]:
    """rounds × examples: each round has examples of its own."""
    if missing := unavailable():
        print(f"scoring: skipped, {missing}", file=sys.stderr)
        return []
    import torch
    import transformers

    torch.set_num_threads(1)
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    tokenizer, questions = prepare(rounds * examples)
    rows = []
    if "translation" in parts:
        rows += translation(tokenizer, questions, examples)
    if "language-model" in parts:
        few = examples // 3  # it takes ten times as long
        rows += language_model(questions[: rounds * few], few)
    return rows


def unavailable() -> str | None:
    """What keeps this from being run, if anything does."""
    if not (DATA / "contrapro").is_dir():
        return f"as ContraPro is not under {DATA}: set ANAPHORA_DATA"
    for module in ("torch", "transformers", "tokenizers", "ctranslate2"):
        try:
            __import__(module)
        except ImportError:
            return f"as {module} is not installed"
    return None


def prepare(examples: int) -> tuple[Any, list[Question]]:
    """A tokenizer trained on ContraPro, and some of its examples, with one sentence of context, in token ids."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from anaphora.scoring.encoded import EncodedExample
    from anaphora.suites.formats import read_suite
    from anaphora.systems.context import Context

    suite = list(read_suite(DATA / "contrapro", "contrapro-rebuilt"))
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    text = (sentence for e in suite for passage in (e.source, e.candidates[0]) for sentence in passage[-2:])
    special = {"eos_token": "</s>", "unk_token": "<unk>"}
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY - 1, special_tokens=[*special.values()], show_progress=False)
    bpe.train_from_iterator(text, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, pad_token="<pad>", **special)
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id, len(tokenizer)) == (EOS, PAD, VOCABULARY)
    questions = []
    for example in random.Random(0).sample(suite, examples):
        question = Context(1).question(example)
        source, *targets = ((*bpe.encode(t).ids, EOS) for t in (question.source, *question.targets))
        questions.append(EncodedExample(source, (PAD,), tuple(targets)))
    return tokenizer, questions


def transformer_base() -> Any:
    """The encoder–decoder of Vaswani et al. 2017, as Marian trains it, with random weights."""
    from transformers import MarianConfig, MarianMTModel

    size, ffn, layers, heads = 512, 2048, 6, 8
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=size,
        encoder_layers=layers,
        decoder_layers=layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=ffn,
        decoder_ffn_dim=ffn,
        max_position_embeddings=512,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PAD,
        eos_token_id=EOS,
        forced_eos_token_id=EOS,
        decoder_start_token_id=PAD,
    )
    model = MarianMTModel(config).eval()
    model.final_logits_bias[0, PAD] = -1e9  # padding is never predicted, and CTranslate2 does without it
    return model


def translation(tokenizer: Any, questions: Sequence[Question], examples: int) -> list[Row]:
    """Transformer-base."""
    model = transformer_base()
    size, ffn, layers = model.config.d_model, model.config.encoder_ffn_dim, model.config.encoder_layers

    def work(question: Question, nodes: int) -> float:
        source = len(question.source)
        encoder = source * (4 * size * size + 2 * size * ffn + 2 * source * size)
        decoder = nodes * (6 * size * size + 2 * size * ffn + 2 * (nodes + source) * size) + source * 2 * size * size
        return layers * (encoder + decoder) + nodes * size * VOCABULARY

    with tempfile.TemporaryDirectory() as folder:
        converted = scorers.ctranslate2(model, tokenizer, Path(folder))
        some = questions[: examples // 3]
        hf_name, hf = tuned(lambda tokens: scorers.huggingface(model, scorers.by_length(tokens)), some)
        ct2_name, ct2 = tuned(converted, some)
        contenders = {
            TREE: scorers.tree(model),
            "HF, batches of 32 in file order": scorers.huggingface(model, scorers.in_file_order(32)),
            f"HF, sorted, {hf_name}": hf,
            f"CTranslate2, {ct2_name}": ct2,
        }
        measured = measure(contenders, questions, examples)
    return measured.rows("Transformer-base", (4.0, 2.4, 2.0), work)


def language_model(questions: Sequence[Question], examples: int) -> list[Row]:
    """A causal model in the manner of Llama, 54 million parameters; other examples fill the prompt up."""
    from transformers import LlamaConfig, LlamaForCausalLM

    size, ffn, layers, heads, key_heads = 512, 1536, 12, 8, 4
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=size,
        intermediate_size=ffn,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=PAD,
        eos_token_id=EOS,
    )
    model = LlamaForCausalLM(config).eval()
    prompted = []
    for n, question in enumerate(questions):
        shots = [token for k in (1, 2, 3, 4, 5) for token in questions[n - k].source]
        prompt = (*shots, *question.source)[-PROMPT:]
        prompted.append(question._replace(source=(), prompt=prompt))

    def work(question: Question, nodes: int) -> float:
        predicting = nodes - len(question.prompt) + 1
        projections = 2 * size * size * (1 + key_heads / heads) + 3 * size * ffn
        return layers * nodes * (projections + 2 * nodes * size) + predicting * size * VOCABULARY

    some = prompted[: examples // 3]
    name, plain = tuned(lambda tokens: scorers.huggingface(model, scorers.by_length(tokens)), some)
    frugal_name, frugal = tuned(lambda tokens: scorers.huggingface(model, scorers.by_length(tokens), False), some)
    contenders = {
        TREE: scorers.tree(model),
        f"plain, {name}": plain,
        f"plain, without the prompt's logits, {frugal_name}": frugal,
    }
    measured = measure(contenders, prompted, examples)
    return measured.rows("causal model", (2.5, None), work)


def tuned(scorer: Callable[[int], Scorer], questions: Sequence[Question]) -> tuple[str, Scorer]:
    """The fastest of a few sizes of batches."""
    scorer(BUDGETS[0])(questions[:8])
    seconds = {tokens: clock(partial(scorer(tokens), questions))[1] for tokens in BUDGETS}
    best = min(BUDGETS, key=lambda tokens: seconds[tokens])
    return f"{best:,} tokens", scorer(best)


def measure(contenders: Mapping[str, Scorer], questions: Sequence[Question], examples: int) -> Measured:
    """One round after the other, each on examples of its own; one that was disturbed is rejected and repeated."""
    for scorer in contenders.values():
        scorer(questions[:8])
    measured = Measured(list(contenders))
    for start in range(0, len(questions), examples):
        part = questions[start : start + examples]
        for _ in range(TRIES):
            scores, times = one_round(contenders, part)
            peak = peak_flops()
            calm = all(abs(wall - processor) <= DISTURBED * wall for wall, processor in times.values())
            told = [f"{name} {processor:.2f} s" for name, (_, processor) in times.items()]
            told += [f"peak {peak / 1e9:.0f} GFLOP/s", *([] if calm else ["disturbed"])]
            print(f"  {' · '.join(told)}", file=sys.stderr, flush=True)
            if calm:
                measured.add(times, peak, scores, part)
                break
            measured.rejected += 1
    return measured


def one_round(contenders: Mapping[str, Scorer], part: Sequence[Question]) -> tuple[dict[str, list[float]], Times]:
    scores: dict[str, list[float]] = {}

    def compute(name: str) -> None:
        scores[name] = contenders[name](part)

    times = {name: clock(partial(compute, name)) for name in contenders}
    return scores, times


def peak_flops() -> float:
    """Floating-point operations per second of matrix products of the model's shapes: what the machine has to give."""
    import torch

    rows, weights = torch.randn(2048, 512), torch.randn(2048, 512)
    times = 20
    _, seconds = clock(lambda: [torch.nn.functional.linear(rows, weights) for _ in range(times)])
    return times * 2.0 * 2048 * 512 * 2048 / seconds


@dataclass
class Measured:
    """Wall and processor seconds of every contender and the machine's peak in every round, and how scores differ."""

    names: list[str]
    times: list[Times] = field(default_factory=list)
    peaks: list[float] = field(default_factory=list)
    apart: float = 0.0
    candidates: int = 0
    rejected: int = 0
    questions: list[Question] = field(default_factory=list)

    def add(
        self, times: Times, peak: float, scores: Mapping[str, Sequence[float]], questions: Sequence[Question]
    ) -> None:
        self.times.append(times)
        self.peaks.append(peak)
        self.questions += questions
        ours = scores[TREE]
        self.candidates += len(ours)
        for theirs in scores.values():
            self.apart = max(self.apart, *(abs(a - b) for a, b in zip(ours, theirs, strict=True)))

    def rows(
        self,
        model: str,
        targets: Sequence[float | None],
        work: Callable[[Question, int], float],
    ) -> list[Row]:
        """work: multiplications that a question's tree of N nodes needs."""
        from anaphora.scoring.tree import build_tree

        if not self.times:
            raise SystemExit(f"{model}: all {self.rejected} rounds were disturbed. Run it when the machine is quiet")
        note = f"{len(self.times)} rounds"
        note += f", {self.rejected} rejected" if self.rejected else ""
        rows = [
            Row(f"{model}: tree / {name}", self.ratio(name), "×", at_least=target, note=note)
            for name, target in zip(self.names[1:], targets, strict=True)
        ]
        operations = 2 * sum(work(q, len(build_tree(q.prompt, q.candidates))) for q in self.questions)
        seconds = sum(times[TREE][1] for times in self.times)
        share = operations / seconds / median(self.peaks)
        rows.append(Row(f"{model}: share of the machine's matrix-product peak", 100 * share, "%"))
        rows.append(Row(f"{model}: examples per second", len(self.questions) / seconds, "/s"))
        note = f"{self.candidates:,} candidates"
        rows.append(Row(f"{model}: largest difference of scores", self.apart, "", APART, note))
        return rows

    def ratio(self, name: str) -> float:
        return median(times[name][1] / times[TREE][1] for times in self.times)


def main(arguments: Sequence[str] | None = None) -> int:
    from run import table

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--examples", type=int, default=150, help="in each round")
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    chosen = parser.parse_args(arguments)
    rows = run(chosen.rounds, chosen.examples, [chosen.only] if chosen.only else PARTS)
    print(json.dumps([row.to_dict() for row in rows], indent=2, ensure_ascii=False) if chosen.json else table(rows))
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
