"""Hugging Face models on packed rows: no padding but inside attention, which follows the prefix tree.

A batch is one row of tokens, the trees of all its examples behind each other. Every linear layer of the model runs on
that row as it is. Attention is the model's own, through transformers' attention interface, with our function in place
of scaled dot-product attention: it lays queries and keys out per example, applies the tree's mask, and packs the result
again. So one file serves every architecture that uses the interface; what a model does to positions (embeddings,
rotations, biases) follows from the depth of each node."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from anaphora.core.errors import AnaphoraError
from anaphora.scoring.encoded import CandidateScore
from anaphora.scoring.tree import Floats, Ints, Tree, predictions


@dataclass(frozen=True)
class Rows:
    """Where the tokens of b sequences are in the packed row and in a padded (b, t) layout.

    pad: (b·t,), the packed token for each padded position (the sequence's last one beyond its end)
    unpad: (n,), the padded position of each packed token
    depth: (b, t), positions; end: (b, t), where what follows from a node ends, 0 beyond the sequence
    """

    pad: Tensor
    unpad: Tensor
    depth: Tensor
    end: Tensor
    positions: Tensor  # (n,), depth of the packed tokens


@dataclass
class Layout:
    """One batch: the sources (None for a causal model) and the trees, with the masks of each kind of attention."""

    target: Rows
    source: Rows | None = None
    masks: dict[tuple[str, int | None], Tensor] = field(default_factory=dict)
    biases: dict[Any, Tensor] = field(default_factory=dict)

    def mask(self, kind: str, window: int | None = None) -> Tensor:
        """(b, 1, queries, keys), true where a query sees a key; a window limits how far back."""
        if (kind, window) not in self.masks:
            self.masks[kind, window] = self._mask(kind, window)
        return self.masks[kind, window]

    def _mask(self, kind: str, window: int | None) -> Tensor:
        if kind != "decoder":
            assert self.source is not None
            return (self.source.end > 0)[:, None, None, :]
        rows = self.target
        here = torch.arange(rows.end.shape[1], device=rows.end.device)
        mask = (here[None, None, :] <= here[None, :, None]) & (here[None, :, None] < rows.end[:, None, :])
        mask |= here[None, None, :] == here[None, :, None]  # what is beyond the end sees itself, and nobody sees it
        if window is not None:
            mask &= rows.depth[:, :, None] - rows.depth[:, None, :] < window
        return mask[:, None]


def packed_rows(depths: Sequence[Ints], ends: Sequence[Ints], device: torch.device) -> Rows:
    """Sequences behind each other; depths and ends as in a Tree."""
    sizes = np.array([len(depth) for depth in depths])
    starts = np.cumsum(sizes) - sizes
    here = np.arange(sizes.max())
    inside = here[None, :] < sizes[:, None]
    pad = starts[:, None] + np.minimum(here[None, :], sizes[:, None] - 1)
    depth, end = np.zeros((2, len(sizes), len(here)), np.int64)
    depth[inside], end[inside] = np.concatenate(depths), np.concatenate(ends)

    def index(values: Ints) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    return Rows(
        pad=index(pad.reshape(-1)),
        unpad=index(np.flatnonzero(inside)),
        depth=index(depth),
        end=index(end),
        positions=index(np.concatenate(depths)),
    )


# From a model's last states to log-probabilities, without ever holding the logits of a whole batch.

ROWS, COLUMNS = 1024, 1024  # of the logits held at a time: a tile that stays in the processor's cache is fastest
GPU_COLUMNS = 1 << 17  # and few large products are there
LEAST = torch.finfo(torch.float32).min


def log_probabilities(model: Any, hidden: Tensor, rows: Tensor, tokens: Tensor) -> Floats:
    """Return that of each token at its row of `hidden` (n, size): one projection and one log-sum-exp per row."""
    hidden = hidden * _scale(model)
    head = model.get_output_embeddings()
    cap = getattr(model.config, "final_logit_softcapping", None)
    bias = getattr(model, "final_logits_bias", None)
    bias = bias[0] if bias is not None else head.bias
    normalizers = _log_sum_exp(hidden, head.weight, bias, cap)
    chosen = torch.linalg.vecdot(hidden[rows].float(), head.weight[tokens].float())
    if bias is not None:
        chosen = chosen + bias[tokens].float()
    values: Floats = (_capped(chosen, cap) - normalizers[rows]).double().cpu().numpy()
    return values


def _log_sum_exp(hidden: Tensor, weight: Tensor, bias: Tensor | None, cap: float | None) -> Tensor:
    """(n,) from (n, size) and (vocabulary, size), in float32, tile by tile."""
    columns = COLUMNS if hidden.device.type == "cpu" else GPU_COLUMNS
    parts = []
    space = hidden.new_empty(min(ROWS, len(hidden)) * min(columns, len(weight)))  # new memory each time takes time
    for part in hidden.split(ROWS):
        sums = []
        for start in range(0, len(weight), columns):
            words = weight[start : start + columns]
            logits = space[: len(part) * len(words)].view(len(part), len(words))
            if bias is None:
                torch.mm(part, words.T, out=logits)
            else:
                torch.addmm(bias[start : start + columns], part, words.T, out=logits)
            wide = _capped(logits.float(), cap)
            top = wide.amax(1, keepdim=True).clamp_(min=LEAST)  # a tile may be impossible as a whole
            sums.append(wide.sub_(top).exp_().sum(1).log_().add_(top[:, 0]))
        parts.append(torch.stack(sums).logsumexp(0))
    return torch.cat(parts)


def _scale(model: Any) -> float:
    """Return the factor that some models apply to their last states or, which is the same, to their logits."""
    config = model.config
    tied_umt5 = config.model_type == "umt5" and config.tie_word_embeddings
    if getattr(config, "scale_decoder_outputs", tied_umt5):  # T5, where the projection is tied to the embeddings
        return float(config.d_model**-0.5)
    return float(getattr(config, "logit_scale", None) or 1.0) / float(getattr(config, "logits_scaling", None) or 1.0)


def _capped(logits: Tensor, cap: float | None) -> Tensor:
    return logits if cap is None else torch.tanh(logits / cap) * cap


# Hugging Face models on packed rows: no padding but inside attention, which follows the prefix tree.

TREE_ATTENTION = "anaphora_tree"


class UnsupportedModel(AnaphoraError):  # noqa: N818
    """A model whose attention cannot follow a tree."""


class _LayoutRef:
    """Where the attention and position modules of one model find the batch at hand."""

    layout: Layout | None = None


class PackedModel:
    """A model made ready for packed rows. `attached()` switches it over and back, so that it still generates."""

    def __init__(self, model: PreTrainedModel) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.encoder_decoder = bool(model.config.is_encoder_decoder)
        self._holder = _LayoutRef()
        self._before = model.config._attn_implementation
        if not getattr(model, "_supports_sdpa", False) or not model._can_set_attn_implementation():
            raise UnsupportedModel(
                f"{type(model).__name__} does not use transformers' attention interface, and its attention cannot "
                "follow a prefix tree. Score it in plain batches with --no-prefix-tree"
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

    def score(
        self, trees: Sequence[Tree], sources: Sequence[Sequence[int]] | None, margins: bool
    ) -> list[list[CandidateScore]]:
        """Return the log-probability of every candidate of every tree.

        margins: leave out what all candidates of a tree share; the differences stay the same
        """
        values, lengths = self._log_probabilities(trees, sources, margins)
        ends = np.cumsum(lengths)
        sums = np.concatenate([[0.0], np.cumsum(values)])
        totals = iter((sums[ends] - sums[ends - lengths]).tolist())
        return [[(next(totals), len(tokens)) for _, tokens in tree.paths] for tree in trees]

    def token_log_probabilities(self, trees: Sequence[Tree]) -> list[list[Floats]]:
        """Return the log-probability of each token of every candidate of every tree, by a causal model."""
        values, lengths = self._log_probabilities(trees, None, margins=False)
        parts = iter(np.split(values, np.cumsum(lengths)[:-1]))
        return [[next(parts) for _ in tree.paths] for tree in trees]

    def _log_probabilities(
        self, trees: Sequence[Tree], sources: Sequence[Sequence[int]] | None, margins: bool
    ) -> tuple[Floats, Ints]:
        """Return the log-probabilities of all candidates' tokens in order, and how many each candidate has."""
        hidden = self._hidden(trees, sources)
        nodes, tokens, lengths = predictions(trees, margins)
        rows, inverse = np.unique(nodes, return_inverse=True)
        states = hidden[self._index(rows)]
        return log_probabilities(self.model, states, self._index(inverse), self._index(tokens)), lengths

    def _hidden(self, trees: Sequence[Tree], sources: Sequence[Sequence[int]] | None) -> Tensor:
        """Return the last states of all nodes: (n, size)."""
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
            hidden: Tensor = reader(input_ids=tokens, **arguments).last_hidden_state[0]
        finally:
            self._holder.layout = None
        return hidden

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
            f"{type(module).__name__} caps its attention, which the tree scorer does not. Use --no-prefix-tree"
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
    mixed = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scaling)
    heads, size = mixed.shape[1], mixed.shape[3]
    packed = mixed.transpose(1, 2).reshape(-1, heads * size).index_select(0, queries.unpad)
    return packed.view(1, -1, heads, size), None


ALL_ATTENTION_FUNCTIONS.register(TREE_ATTENTION, tree_attention)


def _padded(packed: Tensor, rows: Rows) -> Tensor:
    """(1, heads, n, size) → (b, heads, t, size)."""
    _, heads, _, size = packed.shape
    batch, length = rows.end.shape
    flat = packed[0].transpose(0, 1).reshape(-1, heads * size)
    return flat.index_select(0, rows.pad).view(batch, length, heads, size).transpose(1, 2)


class _Positions(nn.Module):
    """Position embeddings by depth, instead of a model's own by position in the row."""

    def __init__(self, original: Any, holder: _LayoutRef, encoder: bool) -> None:
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
    """Return which attention a module is, by the names that transformers gives them."""
    if any(part in name for part in ("encoder_attn", "EncDecAttention", "crossattention")):
        return "cross"
    parts = name.split(".")
    return "encoder" if encoder_decoder and "encoder" in parts else "decoder"
