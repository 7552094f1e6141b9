"""A language model of PyTorch, and functions that generate with it."""

import torch
from torch import nn


class Lm(nn.Module):
    def __init__(self, vocabulary=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(32, width)
        self.q, self.k, self.v = (nn.Linear(width, width) for _ in range(3))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, ids, cache=None):
        past = 0 if cache is None else cache[0].shape[1]
        x = self.embed(ids) + self.place(torch.arange(past, past + ids.shape[1]))
        q, k, v = self.q(x), self.k(x), self.v(x)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 1), torch.cat([cache[1], v], 1)
        scores = q @ k.mT / 4.0
        causal = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(past)
        weights = scores.masked_fill(~causal, -1e9).softmax(-1)
        return self.head(x + weights @ v), (k, v)


class Tied(Lm):
    """Each logit twice, summed in another order: rounding decides which is the larger."""

    def forward(self, ids, cache=None):
        logits, cache = super().forward(ids, cache)
        parts = logits[..., None] * torch.tensor([0.1, 0.7, 0.2])
        return torch.cat([parts.sum(-1), parts[..., 2] + parts[..., 1] + parts[..., 0]], -1), cache


class TiedLm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lm = Tied()

    def forward(self, ids, cache=None):
        logits, cache = self.lm(ids % 40, cache)
        return logits, cache


def greedy(net, ids, steps=6):
    cache, token = None, ids
    for _ in range(steps):
        logits, cache = net(token, cache)
        token = logits[:, -1].argmax(-1, keepdim=True)
        ids = torch.cat([ids, token], 1)
    return ids


def beams(net, ids, steps=5, width=3):
    """The best of `width` beams for one prompt, (1, length)."""
    logits, cache = net(ids.repeat(width, 1))
    scores, token = logits[:1, -1].log_softmax(-1).topk(width)
    ids, scores, token = ids.repeat(width, 1), scores[0], token[0]
    ids = torch.cat([ids, token[:, None]], 1)
    for _ in range(steps):
        logits, cache = net(ids[:, -1:], cache)
        total = (scores[:, None] + logits[:, -1].log_softmax(-1)).flatten()
        scores, at = total.topk(width)
        beam, token = at // logits.shape[-1], at % logits.shape[-1]
        cache = tuple(each[beam] for each in cache)
        ids = torch.cat([ids[beam], token[:, None]], 1)
    return ids


def whole(net, ids, steps=4):
    """Greedy, without a cache: the network is given all tokens each time."""
    for _ in range(steps):
        logits, _ = net(ids)
        ids = torch.cat([ids, logits[:, -1].argmax(-1, keepdim=True)], 1)
    return ids
