"""The language model of `generating_pt` in MindSpore; right functions, and mistakes."""

import mindspore as ms
from mindspore import nn, ops


class Lm(nn.Cell):
    def __init__(self, vocabulary=40, width=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(32, width)
        self.q, self.k, self.v = (nn.Dense(width, width) for _ in range(3))
        self.head = nn.Dense(width, vocabulary)
        self.late = 0

    def construct(self, ids, cache=None):
        past = 0 if cache is None else cache[0].shape[1]
        places = ops.arange(past, past + ids.shape[1])
        x = self.embed(ids) + self.place(places if past == 0 else places - self.late)
        q, k, v = self.q(x), self.k(x), self.v(x)
        if cache is not None:
            k, v = ops.cat([cache[0], k], 1), ops.cat([cache[1], v], 1)
        scores = ops.bmm(q, k.swapaxes(1, 2)) / 4.0
        causal = ops.tril(ops.ones(scores.shape[-2:], ms.float32), past)
        weights = ops.softmax(scores.masked_fill(causal == 0, -1e9), -1)
        return self.head(x + ops.bmm(weights, v)), (k, v)


class Shifted(Lm):
    """Positions are one too small behind a cache."""

    def __init__(self):
        super().__init__()
        self.late = 1


class Tied(Lm):
    def construct(self, ids, cache=None):
        logits, cache = super().construct(ids, cache)
        parts = logits[..., None] * ms.Tensor([0.1, 0.7, 0.2])
        ends = parts[..., 0] + parts[..., 1] + parts[..., 2], parts[..., 2] + parts[..., 0]
        return ops.cat([ends[0], ends[1] + parts[..., 1]], -1), cache


class TiedLm(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lm = Tied()

    def construct(self, ids, cache=None):
        return self.lm(ids % 40, cache)


def greedy(net, ids, steps=6, stale=None, second=None, bump=None):
    cache, token = None, ids
    for step in range(steps):
        logits, new = net(token, cache)
        cache = cache if step == stale else new
        token = logits[:, -1].argmax(-1, keepdims=True)
        if step == second:
            token = ops.topk(logits[:, -1], 2)[1][:, 1:]
        ids = ops.cat([ids, token.astype(ids.dtype)], 1)
    return ids if bump is None else ids + bump


def stale(net, ids):
    return greedy(net, ids, stale=3)


def second_best(net, ids):
    return greedy(net, ids, second=2)


def second_best_at_the_end(net, ids):
    return greedy(net, ids, second=5)


def short(net, ids):
    return greedy(net, ids, steps=4)


def other_ids(net, ids):
    return greedy(net, ids, bump=1)


def beams(net, ids, steps=5, width=3, reorders=True, penalty=0.0):
    logits, cache = net(ops.tile(ids, (width, 1)))
    scores, token = ops.topk(ops.log_softmax(logits[:1, -1], -1), width)
    ids, scores, token = ops.tile(ids, (width, 1)), scores[0], token[0]
    ids = ops.cat([ids, token[:, None].astype(ids.dtype)], 1)
    for _ in range(steps):
        logits, cache = net(ids[:, -1:], cache)
        total = (scores[:, None] + ops.log_softmax(logits[:, -1], -1)).flatten()
        scores, at = ops.topk(total, width)
        scores = scores - penalty * ops.arange(width)
        beam, token = at // logits.shape[-1], at % logits.shape[-1]
        if reorders:
            cache = tuple(each[beam] for each in cache)
        ids = ops.cat([ids[beam], token[:, None].astype(ids.dtype)], 1)
    return ids


def unordered(net, ids):
    return beams(net, ids, reorders=False)


def penalised(net, ids):
    return beams(net, ids, penalty=2.0)


def whole(net, ids, steps=4, second=None):
    for step in range(steps):
        logits, _ = net(ids)
        token = ops.topk(logits[:, -1], 2)[1]
        token = token[:, 1:] if step == second else token[:, :1]
        ids = ops.cat([ids, token.astype(ids.dtype)], 1)
    return ids


def whole_second(net, ids):
    return whole(net, ids, second=1)
