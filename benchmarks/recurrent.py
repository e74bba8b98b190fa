"""A training step of the recurrent models against the same step cell by cell, and scoring through the tree.

Cell by cell means: both directions of every encoder token by token in Python, the keys of attention computed anew at
every step of the decoder, and everything else of a step (the product of the word, deep output, the vocabulary) as well.
Both have the same weights, and their losses are compared before they are timed.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from timing import Row, side_by_side

SIZES = {"embedding": 128, "hidden": 256, "dropout": 0.0}
WORDS, TOKENS, LENGTHS = 2000, 512, (20, 32)  # subwords of a sentence of news
ROUNDS = 3


def run() -> list[Row]:
    import torch

    from anaphora.nmt.config import ModelConfig

    torch.set_num_threads(1)  # the clock of the processor counts the time of every thread
    base = ModelConfig(kind="recurrent", **SIZES)  # type: ignore[arg-type]
    rows = []
    for name, config in (("BASELINE", base), ("S-HIER", replace(base, context_encoders=("source",)))):
        model, batch = _model(config), _batch(1 + len(config.context_encoders))
        functions = {
            "ours": lambda m=model, b=batch: _step(m, m(b), b),
            "cell by cell": lambda m=model, b=batch: _step(m, cell_by_cell(m, b, keys_once=False), b),
            "keys once": lambda m=model, b=batch: _step(m, cell_by_cell(m, b, keys_once=True), b),
        }
        losses = [function() for function in functions.values()]
        assert max(losses) - min(losses) < 1e-4 * abs(losses[0]), losses
        rounds = side_by_side(functions, ROUNDS)
        rows += [
            Row(
                f"recurrent {name}: a step cell by cell takes",
                rounds.ratio("cell by cell", "ours"),
                "×",
                None,
                rounds.note,
                2.0,
            ),
            Row(f"recurrent {name}: with keys computed once", rounds.ratio("keys once", "ours"), "×"),
        ]
    return [*rows, _scoring(replace(base, context_encoders=("source",), target_context=1))]


def _model(config: Any) -> Any:
    import torch

    from anaphora.nmt.recurrent import build

    torch.manual_seed(1)
    return build(config, WORDS, _special())


def _special() -> Any:
    from anaphora.nmt.layout import SpecialTokens

    return SpecialTokens(separator=2, end=0, start=WORDS - 1, padding=WORDS - 1)


def _sentence(rng: random.Random, length: int) -> tuple[int, ...]:
    return (*(rng.randrange(3, WORDS - 1) for _ in range(length)), 0)


def _batch(encoders: int) -> Any:
    """Sentences of like length, as bucketing makes them."""
    from anaphora.nmt.data import make_batch

    rng = random.Random(3)
    length = sum(LENGTHS) // 2
    rows = range(TOKENS // length)
    inputs = [tuple(_sentence(rng, length - rng.randrange(3)) for _ in range(encoders)) for _ in rows]
    return make_batch(inputs, [_sentence(rng, length - rng.randrange(3)) for _ in rows], WORDS - 1, WORDS - 1)


def _step(model: Any, logits: Any, batch: Any) -> float:
    """The loss of a batch; gradients are computed, and thrown away."""
    import torch

    labels = batch.predict.ids.masked_fill(~batch.predict.mask, -100).flatten()
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels, ignore_index=-100)
    loss.backward()
    model.zero_grad()
    return float(loss.detach())


def cell_by_cell(model: Any, batch: Any, keys_once: bool) -> Any:
    """(b, t, vocabulary), from the weights of our model, one cell after the other."""
    import torch

    annotations = [_annotate(encoder, part) for encoder, part in zip(model.encoders, batch.inputs, strict=True)]
    masks = [part.mask for part in batch.inputs]
    mean = (annotations[0] * masks[0][:, :, None]).sum(1) / masks[0].sum(1, keepdim=True)
    state = torch.tanh(model.initial(mean))
    memory = [attention.prepare(*pair) for attention, *pair in zip(model.attentions, annotations, masks, strict=True)]
    logits = []
    for step in range(batch.read.ids.shape[1]):
        word = model.embedding(batch.read.ids[:, step])
        between = model.first(model.first.read(word), state)
        if not keys_once:
            memory = [a.prepare(*pair) for a, *pair in zip(model.attentions, annotations, masks, strict=True)]
        attended = [attention(between, part)[0] for attention, part in zip(model.attentions, memory, strict=True)]
        context = attended[0] if model.combination is None else model.combination(between, torch.stack(attended, 1))
        state = model.second(model.second.read(context), between)
        output = torch.tanh(model.deep(torch.cat([state, word, context], -1)))
        logits.append(model.project(output))
    return torch.stack(logits, 1)


def _annotate(encoder: Any, tokens: Any) -> Any:
    """(b, t, 2 hidden): a cell for each token in either direction; at padding the state stays as it is."""
    import torch

    embedded = encoder.norm_input(encoder.embedding(tokens.ids))
    length = embedded.shape[1]
    found = []
    for suffix, order in (("", range(length)), ("_reverse", range(length - 1, -1, -1))):
        weights = [
            getattr(encoder.gru, f"{name}_l0{suffix}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ]
        state = embedded.new_zeros(len(embedded), encoder.gru.hidden_size)
        states: list[Any] = [None] * length
        for place in order:
            after = torch.gru_cell(embedded[:, place], state, *weights)
            state = torch.where(tokens.mask[:, place, None], after, state)
            states[place] = state
        found.append(torch.stack(states, 1))
    return encoder.norm_output(torch.cat(found, -1))


def _scoring(config: Any) -> Row:
    """Three candidates that differ in one word, as a suite has them: through the tree, and each by itself."""
    from anaphora.nmt.candidates import padded_scores
    from anaphora.scoring.stepwise import StepwiseScorer
    from anaphora.scoring.tree import build_tree

    model, rng = _model(config).eval(), random.Random(5)
    special = _special()
    questions = []
    for _ in range(40):
        inputs = tuple(_sentence(rng, rng.randint(*LENGTHS)) for _ in range(2))
        target = [*_sentence(rng, 2 * rng.randint(*LENGTHS))]
        place = rng.randrange(len(target) // 2, len(target) - 1)
        questions.append((inputs, [(*target[:place], word, *target[place + 1 :]) for word in (3, 4, 5)]))
    targets = [(inputs, target) for inputs, several in questions for target in several]
    trees = [build_tree((special.start,), several) for _, several in questions]
    scorer = StepwiseScorer(model, special.padding)

    def through_trees() -> list[float]:
        order = sorted(range(len(trees)), key=lambda n: int(trees[n].depth.max()))
        found: dict[int, list[float]] = {}
        for start in range(0, len(order), 20):
            part = order[start : start + 20]
            scores = scorer.score([trees[n] for n in part], [questions[n][0] for n in part])
            found |= {n: [score for score, _ in values] for n, values in zip(part, scores, strict=True)}
        return [score for n in range(len(trees)) for score in found[n]]

    functions = {"tree": through_trees, "plain": lambda: padded_scores(model, targets, special, 2048)}
    far = max(abs(a - b) for a, b in zip(functions["tree"](), functions["plain"](), strict=True))
    assert far < 1e-3, far
    rounds = side_by_side(functions, ROUNDS)
    note = f"{rounds.note}, scores {far:.0e} apart"
    return Row("recurrent S-HIER-TO-2: candidates one by one take", rounds.ratio("plain", "tree"), "×", None, note, 1.3)
