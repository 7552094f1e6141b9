"""Networks with keywords, caches and masks among their inputs, and mappings for outputs."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Attended:
    """What a block returns."""

    hidden_states: torch.Tensor
    cache: tuple | None = None
    weights: torch.Tensor | None = None


class Block(nn.Module):
    """Attention to cached keys and values and to its own input.

    outputs: "dict" or "dataclass".
    """

    def __init__(self, size: int, outputs: str = "dict"):
        super().__init__()
        self.size, self.outputs = size, outputs
        self.norm = nn.LayerNorm(size)
        self.q_proj = nn.Linear(size, size, bias=False)
        self.k_proj = nn.Linear(size, size, bias=False)
        self.v_proj = nn.Linear(size, size, bias=False)
        self.o_proj = nn.Linear(size, size, bias=False)

    def attend(self, x, mask=None, past=None):
        queries, keys, values = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if past is not None:
            keys, values = torch.cat([past[0], keys], 1), torch.cat([past[1], values], 1)
        scores = queries @ keys.transpose(1, 2) / self.size**0.5
        if mask is not None:
            scores = scores + mask
        return torch.softmax(scores, -1) @ values, (keys, values)

    def forward(self, hidden_states, attention_mask=None, past=None, use_cache=True):
        mixed, cache = self.attend(self.norm(hidden_states), attention_mask, past)
        hidden_states = hidden_states + self.o_proj(mixed)
        found = Attended(hidden_states, cache if use_cache else None)
        return vars(found) if self.outputs == "dict" else found


class Stack(nn.Module):
    """Blocks with a cache each; gives all hidden states and how many there are."""

    def __init__(self, size: int, blocks: int):
        super().__init__()
        self.blocks = nn.ModuleList(Block(size) for _ in range(blocks))
        self.head = nn.Linear(size, 3)

    def forward(self, batch, cache):
        hidden, kept, x = (), (), batch["features"] * batch["scales"]
        for block, past in zip(self.blocks, cache, strict=True):
            found = block(x, past=past)
            x = found["hidden_states"]
            hidden, kept = (*hidden, x), (*kept, found["cache"])
        return {
            "logits": self.head(x),
            "hidden_states": hidden,
            "cache": kept,
            "blocks": len(hidden),
        }
