"""Ports of `pt/masks.py`."""

import mindspore as ms
from mindspore import Parameter, mint, nn, ops
from mindspore.mint.nn import functional as F


def pooled(x, mask):
    weights = mask.astype(x.dtype)[..., None]
    return (x * weights).sum(1) / mint.clamp(weights.sum(1), min=1.0)


def pooled_unguarded(x, mask):
    weights = mask.astype(x.dtype)[..., None]
    return (x * weights).sum(1) / weights.sum(1)


def pooled_all(x, mask):
    return x.mean(1) + 0.0 * mask.astype(x.dtype).sum()


def pooled_by_length(x, mask):
    weights = mask.astype(x.dtype)[..., None]
    return (x * weights).sum(1) / x.shape[1]


def attended(x, mask):
    logits = x @ x.swapaxes(1, 2)
    logits = logits.masked_fill(mask[:, None] == 0, -1e9)
    return mint.softmax(logits, -1) @ x


def attended_unmasked(x, mask):
    return mint.softmax(x @ x.swapaxes(1, 2), -1) @ x + 0.0 * mask.astype(x.dtype).sum()


def attended_by_query(x, mask):
    logits = x @ x.swapaxes(1, 2)
    logits = logits.masked_fill(mask[:, :, None] == 0, -1e9)
    return mint.softmax(logits, -1) @ x


def attended_after(x, mask):
    weights = mint.softmax(x @ x.swapaxes(1, 2), -1)
    return (weights * mask[:, None].astype(x.dtype)) @ x


def attended_faintly(x, mask):
    logits = x @ x.swapaxes(1, 2)
    logits = logits + (1.0 - mask[:, None].astype(x.dtype)) * -1.0
    return mint.softmax(logits, -1) @ x


def _safely(x, mask, value):
    keep = mask[:, None] != 0
    weights = mint.softmax((x @ x.swapaxes(1, 2)).masked_fill(~keep, value), -1)
    return keep, weights


def attended_safely(x, mask):
    keep, weights = _safely(x, mask, -1e4)
    there = keep.any(-1, True)
    return mint.where(there, weights, mint.zeros_like(weights)) @ x


def attended_unsafely(x, mask):
    return _safely(x, mask, -1e4)[1] @ x


def last_token(x, mask):
    places = mint.arange(x.shape[1])
    last = mint.max(places * mask, 1)[0].astype(ms.int64)
    return x[mint.arange(x.shape[0]), last] * 2.0


def last_token_counted(x, mask):
    last = mint.clamp(mask.sum(1) - 1, min=0).astype(ms.int64)
    return x[mint.arange(x.shape[0]), last] * 2.0


def last_token_always(x, mask):
    return x[:, -1] * 2.0 + 0.0 * mask.astype(x.dtype).sum()


def placed(x, mask):
    places = mint.clamp(mint.cumsum(mask, 1) - 1, min=0).astype(x.dtype)
    return x + mint.sin(places)[..., None]


def placed_plainly(x, mask):
    places = mint.arange(x.shape[1]).astype(x.dtype)[None] + 0 * mask.astype(x.dtype)
    return x + mint.sin(places)[..., None]


def placed_unclamped(x, mask):
    places = (mint.cumsum(mask, 1) - 1).astype(x.dtype)
    return x + mint.sin(places)[..., None]


def _of_lengths(x, keep):
    keep = keep.astype(x.dtype)[..., None]
    return (x * keep).sum(1) / mint.clamp(keep.sum(1), min=1.0)


def of_lengths(x, lengths):
    return _of_lengths(x, mint.arange(x.shape[1])[None] < lengths[:, None])


def of_lengths_included(x, lengths):
    return _of_lengths(x, mint.arange(x.shape[1])[None] <= lengths[:, None])


def of_lengths_ignored(x, lengths):
    return x.mean(1) + 0.0 * lengths.astype(x.dtype).sum()


def of_lengths_from_end(x, lengths):
    places = x.shape[1] - 1 - mint.arange(x.shape[1])
    return _of_lengths(x, places[None] < lengths[:, None])


class Reversed(nn.Cell):
    def __init__(self, width=4):
        super().__init__()
        self.step = mint.nn.Linear(width, width)

    def construct(self, x, lengths):
        state = mint.zeros_like(x[:, 0])
        for i in range(x.shape[1] - 1, -1, -1):
            new = mint.tanh(self.step(x[:, i] + state))
            state = mint.where((lengths > i)[:, None], new, state)
        return state


class ReversedWhole(Reversed):
    def construct(self, x, lengths):
        state = mint.zeros_like(x[:, 0]) + 0.0 * lengths[:, None].astype(x.dtype)
        for i in range(x.shape[1] - 1, -1, -1):
            state = mint.tanh(self.step(x[:, i] + state))
        return state


def classified(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=-100)


def classified_minus_one(logits, labels):
    return F.cross_entropy(logits, mint.clamp(labels, min=0), ignore_index=-1)


def classified_over_all(logits, labels):
    each = F.cross_entropy(logits, labels, ignore_index=-100, reduction="none")
    return each.mean()


def smoothed(logits, labels):
    return F.cross_entropy(logits, labels, ignore_index=3, label_smoothing=0.1)


def smoothed_all(logits, labels):
    return F.cross_entropy(logits, labels, label_smoothing=0.1)


class Embedded(nn.Cell):
    def __init__(self, rows=12, width=4):
        super().__init__()
        self.weight = Parameter(mint.zeros((rows, width)))

    def construct(self, tokens):
        found = F.embedding(tokens, self.weight, padding_idx=0)
        keep = (tokens != 0).astype(found.dtype)[..., None]
        return (found * keep).sum(1) / mint.clamp(keep.sum(1), min=1.0)


class EmbeddedWhole(Embedded):
    def construct(self, tokens):
        found = F.embedding(tokens, self.weight, padding_idx=0)
        return found.mean(1)


class EmbeddedUnguarded(Embedded):
    def construct(self, tokens):
        found = F.embedding(tokens, self.weight, padding_idx=0)
        keep = (tokens != 0).astype(found.dtype)[..., None]
        return (found * keep).sum(1) / keep.sum(1)


class Rows(nn.Cell):
    def __init__(self, rows=40, width=3):
        super().__init__()
        self.weight = Parameter(mint.zeros((rows, width)))

    def construct(self, tokens):
        return F.embedding(tokens, self.weight)


class RowsBounded(Rows):
    def construct(self, tokens):
        return F.embedding(mint.clamp(tokens, max=38), self.weight)


class RowsOfPadding(Rows):
    def construct(self, tokens):
        return F.embedding(tokens, self.weight, padding_idx=0)


class RowsFromOne(Rows):
    def construct(self, tokens):
        return F.embedding(mint.clamp(tokens, min=1), self.weight)


def weighted(logits, targets, weights):
    loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (loss * weights).sum() / mint.clamp(weights.sum(), min=1.0)


def weighted_mean(logits, targets, weights):
    loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return (loss * weights).mean()


def weighted_not(logits, targets, weights):
    loss = F.binary_cross_entropy_with_logits(logits, targets, reduction="none")
    return loss.mean() + 0.0 * ops.ReduceSum()(weights)
