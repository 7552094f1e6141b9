"""Ports of networks that keep what they do not return: right ones, and others with a mistake.

What they return is right.
"""

import mindspore as ms
from mindspore import mint, nn, ops


class Experts(nn.Cell):
    def __init__(self, width=8, experts=4):
        super().__init__()
        self.gate = nn.Dense(width, experts)
        self.parts = nn.CellList([nn.Dense(width, width) for _ in range(experts)])
        self.aux, self.calls, self.losses = 0.0, 0, {}

    def construct(self, x):
        logits = self.gate(x)
        share = ops.softmax(logits, -1)
        chosen = share.argmax(-1)
        taken = ops.one_hot(chosen, share.shape[-1], ms.Tensor(1.0), ms.Tensor(0.0))
        self.keep(logits, share, taken.astype(x.dtype))
        outputs = ops.stack([part(x) for part in self.parts], 1)
        return (share.expand_dims(-1) * outputs).sum(1)

    def keep(self, logits, share, taken):
        self.aux = self.balance(share, taken)
        self.losses["router"] = self.router(logits)
        self.load = taken.sum(0).astype(ms.int32)
        self.calls = self.count()

    def balance(self, share, taken):
        return share.shape[-1] * (share.mean(0) * taken.mean(0)).sum()

    def router(self, logits):
        return ops.square(ops.logsumexp(logits, -1)).mean()

    def count(self):
        return self.calls + 1


class Unscaled(Experts):
    def balance(self, share, taken):
        return (share.mean(0) * taken.mean(0)).sum()


class OfShares(Experts):
    def balance(self, share, taken):  # noqa: ARG002
        return share.shape[-1] * ops.square(share.mean(0)).sum()


class AddedUp(Experts):
    """The loss of earlier calls stays in it."""

    def balance(self, share, taken):
        return self.aux + super().balance(share, taken)


class Unsummed(Experts):
    def balance(self, share, taken):
        return share.shape[-1] * (share.mean(0) * taken.mean(0))


class NotSquared(Experts):
    def router(self, logits):
        return ops.logsumexp(logits, -1).mean()


class CountedTwice(Experts):
    def count(self):
        return self.calls + 2


class OtherLoad(Experts):
    def keep(self, logits, share, taken):
        super().keep(logits, share, taken)
        self.load = ops.flip(self.load, (0,))


class Kept(Experts):
    """Keeps the loss in a parameter, which a graph can write."""

    def __init__(self, width=8, experts=4):
        super().__init__(width, experts)
        del self.aux
        self.aux = ms.Parameter(ms.Tensor(0.0), name="aux", requires_grad=False)

    def keep(self, logits, share, taken):  # noqa: ARG002
        ops.assign(self.aux, self.balance(share, taken))


class KeptUnscaled(Kept):
    balance = Unscaled.balance


class ByItself(Experts):
    """A right port that calls some of it otherwise, and keeps a number and an axis more."""

    def keep(self, logits, share, taken):
        super().keep(logits, share, taken)
        self.losses["router"] = self.losses["router"].reshape(1)
        self.router_share = share
        self.load = self.load.astype(ms.float32)


class Routed(nn.Cell):
    def __init__(self, width=8, kind=Experts):
        super().__init__()
        self.moe, self.head = kind(width), nn.Dense(width, 3)

    def construct(self, x):
        return self.head(x + self.moe(x))


def routed_by(kind):
    """A builder of a network with another router."""

    def build(width=8):
        return Routed(width, kind)

    return build


unscaled, of_shares, added_up = map(routed_by, (Unscaled, OfShares, AddedUp))
unsummed, not_squared, counted_twice = map(routed_by, (Unsummed, NotSquared, CountedTwice))
other_load, by_itself = map(routed_by, (OtherLoad, ByItself))
kept, kept_unscaled = map(routed_by, (Kept, KeptUnscaled))


class Attention(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.query, self.key, self.value = (nn.Dense(width, width) for _ in range(3))
        self.map, self.range = None, []

    def construct(self, x):
        logits = ops.bmm(self.query(x), self.key(x).swapaxes(1, 2)) / x.shape[-1] ** 0.5
        share = ops.softmax(logits, -1)
        self.map = self.mapped(logits, share)
        self.range = self.ranged(logits)
        return ops.bmm(share, self.value(x))

    def mapped(self, logits, share):  # noqa: ARG002
        return share

    def ranged(self, logits):
        return [mint.min(logits), mint.max(logits)]


class MapOfLogits(Attention):
    def mapped(self, logits, share):  # noqa: ARG002
        return logits


class MapTransposed(Attention):
    def mapped(self, logits, share):  # noqa: ARG002
        return share.swapaxes(1, 2)


class RangeExchanged(Attention):
    def ranged(self, logits):
        return super().ranged(logits)[::-1]


class MapInRows(Attention):
    """A right port: the same numbers in another shape."""

    def mapped(self, logits, share):  # noqa: ARG002
        return share.reshape(-1, share.shape[-1])


class Reversed(nn.Cell):
    unbiased = False

    def __init__(self, width=8):
        super().__init__()
        self.mix, self.steps = nn.Dense(width, width), 0

    def construct(self, x):
        mean, spread = self.moments(x)
        self.keep(x, mean, spread)
        return self.mix((x - mean) / spread) * spread + mean

    def moments(self, x):
        mean = x.mean(1, keep_dims=True)
        spread = ops.sqrt(ops.square(x - mean).mean(1, keep_dims=True) + 1e-5)
        return ops.stop_gradient(mean), ops.stop_gradient(spread)

    def keep(self, x, mean, spread):
        self.mean, self.spread = mean, spread
        self.steps, self.seen = x.shape[1], x.shape[0] * x.shape[1]


class VarianceForSpread(Reversed):
    def keep(self, x, mean, spread):
        super().keep(x, mean, ops.square(spread))


class StepsOfTheBatch(Reversed):
    def keep(self, x, mean, spread):
        super().keep(x, mean, spread)
        self.steps = x.shape[0]


class Table(Reversed):
    """A right port that keeps the largest number of steps that it has met."""

    def keep(self, x, mean, spread):
        self.mean, self.spread, self.seen = mean, spread, x.shape[0] * x.shape[1]
        self.steps = max(self.steps, x.shape[1])
