"""A network of equal blocks, to be compared layer by layer."""

import torch
from torch import nn


class Block(nn.Module):
    """A residual block; `shift` is a switch, and `scale` an attribute that its network reads."""

    scale = 1.0

    def __init__(self, width):
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(width), nn.Linear(width, width)
        self.scale = 0.5

    def forward(self, x, mask=None, shift=False):
        y = torch.sigmoid(self.fc(self.norm(x) * mask))
        return x + y + (1.0 if shift else 0.0), y.mean(-1)


class Net(nn.Module):
    """Tokens through blocks to logits."""

    def __init__(self, depth=3, width=8, tied=False):
        super().__init__()
        self.embed = nn.Embedding(11, width)
        self.layers = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 11, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        mask = torch.ones(x.shape[1], 1).cumsum(0)
        kept = []
        for layer in self.layers:
            x, y = layer(x, mask=mask, shift=True)
            kept.append(y * layer.scale)
        return self.head(x), torch.stack(kept)
