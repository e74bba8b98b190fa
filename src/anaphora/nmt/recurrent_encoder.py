"""The encoder of the recurrent models: a GRU in either direction over embedded tokens."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from anaphora.nmt.layers import SequenceDropout
from anaphora.scoring.padded import Padded


class Encoder(nn.Module):
    """Tokens → annotations, each the states of both directions (Bahdanau et al. 2015 §3.2).

    The GRU is the library's own, which cuDNN computes in one call. Layer normalisation inside of it, as Nematus has it,
    would mean a step of ours for every token; so what enters the GRU and what leaves it is normalised instead. The
    decoder, which goes step by step anyway, is normalised inside (`gru.py`).
    """

    def __init__(self, embedding: nn.Embedding, hidden: int, layer_norm: bool, dropout: float) -> None:
        super().__init__()
        size = embedding.embedding_dim
        self.embedding = embedding
        self.dropout = SequenceDropout(dropout)
        self.norm_input = nn.LayerNorm(size) if layer_norm else nn.Identity()
        self.gru = nn.GRU(size, hidden, batch_first=True, bidirectional=True)
        self.norm_output = nn.LayerNorm(2 * hidden) if layer_norm else nn.Identity()
        for name, parameter in self.gru.named_parameters():
            if name.startswith("bias"):
                nn.init.zeros_(parameter)
            for part in parameter.data.split(hidden) if name.startswith("weight") else ():
                nn.init.orthogonal_(part) if "_hh_" in name else nn.init.xavier_uniform_(part)

    def forward(self, tokens: Padded) -> Tensor:
        """(b, t) → (b, t, 2 hidden); zero, or the bias of the normalisation, where there is no token."""
        embedded = self.dropout(self.norm_input(self.embedding(tokens.ids)))
        packed = pack_padded_sequence(embedded, tokens.lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = self.gru(packed)
        annotations, _ = pad_packed_sequence(states, batch_first=True, total_length=tokens.ids.shape[1])
        found: Tensor = self.dropout(self.norm_output(annotations))
        return found
