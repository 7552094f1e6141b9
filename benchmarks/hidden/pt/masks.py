"""Networks whose masks, lengths and labels decide something."""

import torch
from torch import nn
from torch.nn import functional as F


def pooled(x, mask):
    """A mean over the tokens that count; zeros where none does."""
    weights = mask.to(x.dtype)[..., None]
    return (x * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def attended(x, mask):
    logits = x @ x.transpose(1, 2)
    logits = logits.masked_fill(mask[:, None] == 0, -1e9)
    return torch.softmax(logits, -1) @ x


def attended_safely(x, mask):
    """Attention in which a row without any token gives zeros."""
    keep = mask[:, None] != 0
    logits = (x @ x.transpose(1, 2)).masked_fill(~keep, -1e4)
    weights = torch.softmax(logits, -1)
    weights = torch.where(keep.any(-1, keepdim=True), weights, torch.zeros_like(weights))
    return weights @ x


def last_token(x, mask):
    """The last token that counts, wherever the padding is."""
    places = torch.arange(x.shape[1], device=x.device)
    last = (places * mask).max(1).values.long()
    return x[torch.arange(x.shape[0], device=x.device), last] * 2.0


def placed(x, mask):
    """Sines of positions that begin at the first token that counts."""
    places = (mask.cumsum(1) - 1).clamp(min=0).to(x.dtype)
    return x + torch.sin(places)[..., None]


def of_lengths(x, lengths):
    """A mean over the first tokens, as many as each sample has."""
    places = torch.arange(x.shape[1], device=x.device)
    keep = (places[None] < lengths[:, None]).to(x.dtype)[..., None]
    return (x * keep).sum(1) / keep.sum(1).clamp(min=1.0)


class Reversed(nn.Module):
    """A recurrence over the tokens of each sample, from its last one on."""

    def __init__(self, width=4):
        super().__init__()
        self.step = nn.Linear(width, width)

    def forward(self, x, lengths):
        state = torch.zeros_like(x[:, 0])
        for i in range(x.shape[1] - 1, -1, -1):
            new = torch.tanh(self.step(x[:, i] + state))
            state = torch.where((lengths > i)[:, None], new, state)
        return state


def classified(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100)


def smoothed(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=3, label_smoothing=0.1)


class Embedded(nn.Module):
    """Tokens of which 0 is padding: it counts for nothing, and learns nothing."""

    def __init__(self, rows=12, width=4):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def forward(self, tokens):
        found = F.embedding(tokens, self.weight, padding_idx=0)
        keep = (tokens != 0).to(found.dtype)[..., None]
        return (found * keep).sum(1) / keep.sum(1).clamp(min=1.0)


class Rows(nn.Module):
    """A table in which each row may be asked for."""

    def __init__(self, rows=40, width=3):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(rows, width))

    def forward(self, tokens):
        return F.embedding(tokens, self.weight)


def weighted(logits, targets, weights):
    """A loss over the elements that have a weight."""
    loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (loss * weights).sum() / weights.sum().clamp(min=1.0)
