"""Networks that keep in attributes what they do not return."""

import torch
from torch import nn
from torch.nn import functional as F


class Experts(nn.Module):
    """A router whose losses a training adds, and that counts what each expert gets."""

    def __init__(self, width=8, experts=4):
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.parts = nn.ModuleList(nn.Linear(width, width) for _ in range(experts))
        self.aux, self.calls, self.losses = 0.0, 0, {}

    def forward(self, x):
        logits = self.gate(x)
        share = torch.softmax(logits, -1)
        chosen = share.argmax(-1)
        taken = F.one_hot(chosen, share.shape[-1]).to(x.dtype)
        self.aux = share.shape[-1] * (share.mean(0) * taken.mean(0)).sum()
        self.losses["router"] = torch.logsumexp(logits, -1).square().mean()
        self.load = taken.sum(0).long()
        self.calls += 1
        outputs = torch.stack([part(x) for part in self.parts], 1)
        return (share[..., None] * outputs).sum(1)


class Routed(nn.Module):
    """A network with a router in it."""

    def __init__(self, width=8):
        super().__init__()
        self.moe, self.head = Experts(width), nn.Linear(width, 3)

    def forward(self, x):
        return self.head(x + self.moe(x))


class Attention(nn.Module):
    """Keeps its last map, and the smallest and largest logit."""

    def __init__(self, width=8):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.map, self.range = None, []

    def forward(self, x):
        logits = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        self.map = torch.softmax(logits, -1)
        self.range = [logits.amin(), logits.amax()]
        return self.map @ self.value(x)


class Reversed(nn.Module):
    """Keeps the mean and the spread that it takes out, and puts them back in."""

    def __init__(self, width=8):
        super().__init__()
        self.mix, self.steps = nn.Linear(width, width), 0

    def forward(self, x):
        self.mean = x.mean(1, keepdim=True).detach()
        self.spread = torch.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5).detach()
        self.steps, self.seen = x.shape[1], x.shape[0] * x.shape[1]
        return self.mix((x - self.mean) / self.spread) * self.spread + self.mean
