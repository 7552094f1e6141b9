"""Networks with keywords, caches and masks among their inputs, and mappings for outputs."""

from dataclasses import dataclass

import mindspore as ms
from mindspore import nn, ops


@dataclass
class Attended:
    """What a block returns."""

    hidden_states: ms.Tensor
    cache: tuple | None = None
    weights: ms.Tensor | None = None


class Block(nn.Cell):
    """Attention to cached keys and values and to its own input.

    outputs: "dict" or "dataclass"; the latter has no gradient in graph mode.
    """

    def __init__(self, size: int, outputs: str = "dict"):
        super().__init__()
        self.size, self.outputs = size, outputs
        self.norm = nn.LayerNorm((size,), epsilon=1e-5)
        self.q_proj = nn.Dense(size, size, has_bias=False)
        self.k_proj = nn.Dense(size, size, has_bias=False)
        self.v_proj = nn.Dense(size, size, has_bias=False)
        self.o_proj = nn.Dense(size, size, has_bias=False)

    def attend(self, x, mask=None, past=None):
        queries, keys, values = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        if past is not None:
            keys, values = ops.cat((past[0], keys), 1), ops.cat((past[1], values), 1)
        scores = ops.matmul(queries, keys.swapaxes(1, 2)) / self.size**0.5
        if mask is not None:
            scores = scores + mask
        return ops.matmul(ops.softmax(scores, -1), values), (keys, values)

    def construct(self, hidden_states, attention_mask=None, past=None, use_cache=True):
        mixed, cache = self.attend(self.norm(hidden_states), attention_mask, past)
        hidden_states = hidden_states + self.o_proj(mixed)
        if not use_cache:
            cache = None
        if self.outputs == "dict":
            return {"hidden_states": hidden_states, "cache": cache, "weights": None}
        return Attended(hidden_states, cache)


class Stack(nn.Cell):
    """Blocks with a cache each; gives all hidden states and how many there are."""

    def __init__(self, size: int, blocks: int):
        super().__init__()
        self.blocks = nn.CellList([Block(size) for _ in range(blocks)])
        self.head = nn.Dense(size, 3)

    def construct(self, batch, cache):
        hidden, kept, x = (), (), batch["features"] * batch["scales"]
        for number, block in enumerate(self.blocks):
            found = block(x, past=cache[number])
            x = found["hidden_states"]
            hidden, kept = (*hidden, x), (*kept, found["cache"])
        return {
            "logits": self.head(x),
            "hidden_states": hidden,
            "cache": kept,
            "blocks": len(hidden),
        }
