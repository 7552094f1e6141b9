"""Nearest codes, chosen experts, spikes, hardest pixels, nearest neighbours, buckets of distances,
and fake quantisation.

What a decision gives is constant beside it, or gets the gradient of something smooth.
"""

import math

import mindspore as ms
from mindspore import Parameter, mint, nn, ops

from ms_models.conv import conv2d


class Codebook(nn.Cell):
    """N,3,H,W -> N,3,H,W and the loss of the codes."""

    def __init__(self):
        super().__init__()
        self.encode = nn.Conv2d(3, 64, 4, 4, pad_mode="valid", has_bias=True)
        self.codes = Parameter(ops.zeros((1024, 64)))
        self.decode = nn.Conv2dTranspose(64, 3, 4, 4, pad_mode="valid", has_bias=True)

    def construct(self, x):
        z = self.encode(x).permute(0, 2, 3, 1)
        rows = z.reshape(-1, 64)
        squares = (rows**2).sum(1, keepdims=True) + (self.codes**2).sum(1)
        nearest = (squares - 2 * ops.matmul(rows, self.codes.t())).argmin(1)
        code = self.codes[nearest].reshape(z.shape)
        away = code - ops.stop_gradient(z)
        loss = (away**2).mean() + 0.25 * ((ops.stop_gradient(code) - z) ** 2).mean()
        z = z + ops.stop_gradient(code - z)
        return self.decode(z.permute(0, 3, 1, 2)), loss


class Experts(nn.Cell):
    """tokens,64 -> tokens,32: the six best of 64 experts, weighted by their share."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Dense(64, 64)
        self.experts = Parameter(ops.zeros((64, 64, 32)))

    def construct(self, x):
        values, chosen = ops.topk(ops.softmax(self.gate(x), -1), 6, -1)
        shares = values / values.sum(-1, keepdims=True)
        weights = ops.scatter(ops.zeros((x.shape[0], 64), x.dtype), 1, chosen, shares)
        each = ops.gelu(mint.einsum("ni,eij->nej", x, self.experts), approximate="none")
        return (weights.expand_dims(-1) * each).sum(1)


class Spiking(nn.Cell):
    """N,T,256 -> N,10: leaky neurons that fire above 1, with a sigmoid's gradient."""

    def __init__(self):
        super().__init__()
        self.current, self.read = nn.Dense(256, 1024), nn.Dense(1024, 10)

    def construct(self, x):
        charge = ops.zeros((x.shape[0], 1024), x.dtype)
        total = ops.zeros((x.shape[0], 10), x.dtype)
        for step in ops.unbind(x, 1):
            charge = 0.5 * charge + self.current(step)
            smooth = ops.sigmoid(4 * (charge - 1.0))
            fires = smooth + ops.stop_gradient((charge >= 1.0).astype(x.dtype) - smooth)
            charge = charge * (1.0 - fires)
            total = total + self.read(fires)
        return total


class HardestPixels(nn.Cell):
    """N,3,H,W and labels N,H,W -> the mean loss of the worst quarter of all pixels."""

    def __init__(self):
        super().__init__()
        self.first = conv2d(3, 16, 3, padding=1, bias=True)
        self.last = conv2d(16, 6, 1, bias=True)

    def construct(self, x, labels):
        scores = self.last(ops.silu(self.first(x)))
        losses = ops.cross_entropy(scores, labels, reduction="none").reshape(-1)
        return ops.topk(losses, losses.size // 4)[0].mean()


class Neighbours(nn.Cell):
    """N,points,3 -> N,32: eight neighbours each."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(6, 32), nn.Dense(64, 32)

    def construct(self, x):
        for layer in (self.first, self.second):
            distances = ((x.expand_dims(2) - x.expand_dims(1)) ** 2).sum(-1)
            nearest = ops.topk(-distances, 8, -1)[1]
            others = ops.stack([x[each][nearest[each]] for each in range(x.shape[0])])
            own = x.expand_dims(2).broadcast_to(others.shape)
            x = ops.amax(ops.relu(layer(ops.cat([others - own, own], -1))), 2)
        return x.mean(1)


class Buckets(nn.Cell):
    """N,tokens,64 -> N,tokens,64: attention with a bias by distance."""

    def __init__(self):
        super().__init__()
        self.bias = nn.Embedding(32, 4)
        self.query, self.key, self.value, self.out = (
            nn.Dense(64, 64, has_bias=False) for _ in range(4)
        )

    def construct(self, x):
        batch, length, width = x.shape
        tokens = ops.arange(length)
        apart = tokens - tokens[:, None]
        distance = ops.abs(apart)
        far = 8 + (ops.log(distance.astype(ms.float32) / 8) / math.log(16) * 8).astype(ms.int64)
        bucket = ops.where(distance < 8, distance, far.clamp(max=15)) + 16 * (apart > 0)
        query, key, value = (
            layer(x).reshape(batch, length, 4, width // 4).swapaxes(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        scores = ops.matmul(query, key.swapaxes(-1, -2)) + self.bias(bucket).permute(2, 0, 1)
        mixed = ops.matmul(ops.softmax(scores, -1), value)
        return self.out(mixed.swapaxes(1, 2).reshape(x.shape))


class EightBits(nn.Cell):
    """N,3,H,W -> N,10: convolutions whose inputs and kernels have eight bits."""

    def __init__(self):
        super().__init__()
        convs = [conv2d(into, 16, 3, padding=1, bias=True) for into in (3, 16, 16)]
        self.convs = nn.CellList(convs)
        self.classifier = nn.Dense(16, 10)

    def construct(self, x):
        for conv in self.convs:
            kernel = self.quantised(conv.weight)
            image = self.quantised(x)
            x = ops.conv2d(image, kernel, pad_mode="same") + conv.bias[:, None, None]
            x = ops.relu(x)
        return self.classifier(x.mean((2, 3)))

    def quantised(self, x):
        """The nearest of 255 equal steps; the gradient is that of what goes in."""
        step = ops.stop_gradient(x.abs().max()) / 127
        whole = ops.round(x / step)
        whole = whole.clamp(-127, 127)
        return x + ops.stop_gradient(whole * step - x)


class EightBitsClamped(EightBits):
    """The same with the gradient of a clamp."""

    def quantised(self, x):
        """The same steps; the largest value is exactly at the bound."""
        step = ops.stop_gradient(x.abs().max()) / 127
        within = (x / step).clamp(-127, 127)
        whole = within + ops.stop_gradient(ops.round(within) - within)
        return whole * step
