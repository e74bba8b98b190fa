"""Hugging Face models on packed rows: no padding but inside attention, which follows the prefix tree.

A batch is one row of tokens, the trees of all its examples behind each other. Every linear layer of the model runs on
that row as it is. Attention is the model's own, through transformers' attention interface, with our function in place
of scaled dot-product attention: it lays queries and keys out per example, applies the tree's mask, and packs the result
again. So one file serves every architecture that uses the interface; what a model does to positions (embeddings,
rotations, biases) follows from the depth of each node.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from anaphora.core.errors import AnaphoraError
from anaphora.systems.huggingface.layout import Layout, Rows, packed_rows
from anaphora.systems.huggingface.tree import Tree
from anaphora.systems.huggingface.vocabulary import Vocabulary

TREE_ATTENTION = "anaphora_tree"
Scores = list[tuple[float, int]]  # of the candidates of one tree: sum of log-probabilities, tokens


class UnsupportedModel(AnaphoraError):  # noqa: N818
    """A model whose attention cannot follow a tree."""


class _Holder:
    """Where the attention and position modules of one model find the batch at hand."""

    layout: Layout | None = None


class PackedModel:
    """A model made ready for packed rows. `attached()` switches it over and back, so that it still generates."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.encoder_decoder = bool(model.config.is_encoder_decoder)
        self._holder = _Holder()
        self._before = model.config._attn_implementation
        self._vocabulary = Vocabulary(model)
        if not getattr(model, "_supports_sdpa", False) or not model._can_set_attn_implementation():
            raise UnsupportedModel(
                f"{type(model).__name__} does not use transformers' attention interface, and its attention cannot "
                "follow a prefix tree. Score it in plain batches with --plain"
            )
        self._attention = [
            (module, _kind(name, self.encoder_decoder))
            for name, module in model.named_modules()
            if "Attention" in type(module).__name__
        ]

    @contextlib.contextmanager
    def attached(self) -> Iterator[None]:
        """Tree attention inside, the model's own outside."""
        with contextlib.ExitStack() as stack, torch.inference_mode():
            self.model.set_attn_implementation(TREE_ATTENTION)
            stack.callback(self.model.set_attn_implementation, self._before)
            for module, kind in self._attention:
                module.anaphora = (self._holder, kind)
                if hasattr(module, "has_relative_attention_bias"):
                    stack.enter_context(_without_own_bias(module))
            for side in ("encoder", "decoder") if self.encoder_decoder else ():
                part: Any = self.model.get_encoder() if side == "encoder" else self.model.get_decoder()
                if hasattr(part, "embed_positions"):
                    stack.callback(setattr, part, "embed_positions", part.embed_positions)
                    part.embed_positions = _Positions(part.embed_positions, self._holder, side == "encoder")
            yield

    def score(self, trees: Sequence[Tree], sources: Sequence[Sequence[int]] | None, margins: bool) -> list[Scores]:
        """Log-probabilities of every candidate of every tree.

        margins: leave out what all candidates of a tree share; the differences stay the same
        """
        target = packed_rows([tree.depth for tree in trees], [tree.end for tree in trees], self.device)
        layout = Layout(target)
        arguments: dict[str, Any] = {"use_cache": False}
        if sources is not None:
            lengths = [len(source) for source in sources]
            layout.source = packed_rows([np.arange(n) for n in lengths], [np.full(n, n) for n in lengths], self.device)
        tokens = self._ids(np.concatenate([tree.tokens for tree in trees]))
        self._holder.layout = layout
        try:
            if sources is not None:
                encoder = self.model.get_encoder()
                states = encoder(input_ids=self._ids(np.concatenate(sources))).last_hidden_state
                reader = self.model.get_decoder()
                arguments["encoder_hidden_states"] = states
            else:
                reader = self.model.base_model
                arguments["position_ids"] = target.positions[None]
            hidden = reader(input_ids=tokens, **arguments).last_hidden_state[0]
        finally:
            self._holder.layout = None
        return self._candidates(hidden, trees, margins)

    def _candidates(self, hidden: Tensor, trees: Sequence[Tree], margins: bool) -> list[Scores]:
        """Pick out and add up the log-probabilities of the candidates' tokens."""
        starts = np.cumsum([0, *(len(tree) for tree in trees)])
        nodes, tokens, lengths = [], [], []
        for start, tree in zip(starts, trees, strict=False):
            shared = _shared(tree) if margins else 0
            for path, found in tree.paths:
                nodes.append(path[shared:] + start)
                tokens.append(found[shared:])
                lengths.append(len(found) - shared)
        rows, inverse = np.unique(np.concatenate(nodes), return_inverse=True)
        states, picked = hidden[self._index(rows)], self._index(np.concatenate(tokens))
        values = self._vocabulary.log_probabilities(states, self._index(inverse), picked)
        ends = np.cumsum(lengths)
        totals = (
            np.concatenate([[0.0], np.cumsum(values)])[ends]
            - np.concatenate([[0.0], np.cumsum(values)])[ends - lengths]
        )
        sums = iter(totals.tolist())
        return [[(next(sums), len(found)) for _, found in tree.paths] for tree in trees]

    def _ids(self, tokens: Any) -> Tensor:
        return self._index(np.asarray(tokens, np.int64))[None]

    def _index(self, values: Any) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(self.device)


def tree_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **arguments: Any,
) -> tuple[Tensor, None]:
    """Attention over packed rows, as transformers' interface calls it.

    query: (1, heads, n, size); key, value: (1, key heads, m, size). Returns (1, n, heads, size).
    """
    holder, kind = module.anaphora  # type: ignore[misc]
    layout: Layout = holder.layout
    if arguments.get("softcap") is not None:
        raise UnsupportedModel(
            f"{type(module).__name__} caps its attention, which the tree scorer does not. Use --plain"
        )
    queries = layout.source if kind == "encoder" else layout.target
    keys = layout.target if kind == "decoder" else layout.source
    assert queries is not None
    assert keys is not None
    mask = layout.mask(kind, arguments.get("sliding_window"))
    bias = _bias(module, kind, layout)
    if bias is not None:
        mask = bias.masked_fill(~mask, float("-inf"))
    q, k, v = _padded(query, queries), _padded(key, keys), _padded(value, keys)
    if k.shape[1] != q.shape[1]:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    found = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scaling)
    heads, size = found.shape[1], found.shape[3]
    packed = found.transpose(1, 2).reshape(-1, heads * size).index_select(0, queries.unpad)
    return packed.view(1, -1, heads, size), None


ALL_ATTENTION_FUNCTIONS.register(TREE_ATTENTION, tree_attention)


def _padded(packed: Tensor, rows: Rows) -> Tensor:
    """(1, heads, n, size) → (b, heads, t, size)."""
    _, heads, _, size = packed.shape
    batch, length = rows.end.shape
    flat = packed[0].transpose(0, 1).reshape(-1, heads * size)
    return flat.index_select(0, rows.pad).view(batch, length, heads, size).transpose(1, 2)


class _Positions(nn.Module):
    """Position embeddings by depth, in place of a model's own by place in the row."""

    def __init__(self, original: Any, holder: _Holder, encoder: bool) -> None:
        super().__init__()
        self.original = original
        self._side = (holder, encoder)

    def forward(self, *_: Any, **__: Any) -> Tensor:
        """(1, n, size)."""
        holder, encoder = self._side
        assert holder.layout is not None
        rows = holder.layout.source if encoder else holder.layout.target
        assert rows is not None
        original: Any = self.original
        if isinstance(original, nn.Embedding):
            return original.weight[rows.positions + getattr(original, "offset", 0)][None]
        first = original.padding_idx + 1  # M2M-100: sinusoids in a table that grows
        needed = int(rows.positions.max()) + first + 1
        if needed > original.weights.shape[0]:
            original.make_weights(needed + original.offset, original.embedding_dim, original.padding_idx)
        table: Tensor = original.weights
        return table[rows.positions + first][None]


def _bias(module: Any, kind: str, layout: Layout) -> Tensor | None:
    """T5's relative position bias, (b, heads, queries, keys), from depths; the first layer's serves them all."""
    if kind == "cross" or not hasattr(module, "_relative_position_bucket"):
        return None
    if hasattr(module, "relative_attention_bias"):
        rows = layout.source if kind == "encoder" else layout.target
        assert rows is not None
        relative = rows.depth[:, None, :] - rows.depth[:, :, None]
        names = inspect.signature(module._relative_position_bucket).parameters
        settings = {
            "bidirectional": kind == "encoder",
            "num_buckets": module.relative_attention_num_buckets,
            "max_distance": module.relative_attention_max_distance,
        }  # UMT5 knows them itself
        buckets = module._relative_position_bucket(relative, **{k: v for k, v in settings.items() if k in names})
        layout.biases[kind] = module.relative_attention_bias(buckets).permute(0, 3, 1, 2)
    return layout.biases[kind]


@contextlib.contextmanager
def _without_own_bias(module: Any) -> Iterator[None]:
    """Keep T5 from making a bias over the whole packed row, which would be large and is not used."""
    before = module.has_relative_attention_bias
    module.has_relative_attention_bias = True
    module.compute_bias = lambda *_, **__: torch.zeros(1, 1, 1, 1)
    try:
        yield
    finally:
        module.has_relative_attention_bias = before
        del module.compute_bias


def _kind(name: str, encoder_decoder: bool) -> str:
    """Which attention a module is, by the names that transformers gives them."""
    if any(part in name for part in ("encoder_attn", "EncDecAttention", "crossattention")):
        return "cross"
    parts = name.split(".")
    return "encoder" if encoder_decoder and "encoder" in parts else "decoder"


def _shared(tree: Tree) -> int:
    """How many tokens all candidates of a tree begin with."""
    shortest = min(len(tokens) for _, tokens in tree.paths)
    first = tree.paths[0][1]
    for position in range(shortest):
        if any(tokens[position] != first[position] for _, tokens in tree.paths):
            return position
    return shortest
