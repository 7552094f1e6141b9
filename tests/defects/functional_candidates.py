"""The networks of `functional_reference` in MindSpore; `functional` puts mistakes in this text."""

import math

import mindspore as ms
from mindspore import nn, ops

WIDTH, HEADS, TOKENS = 24, 4, 6


def dense(inputs, outputs, bias=True):
    return nn.Dense(inputs, outputs, has_bias=bias)


def roll(x, down, right):
    """An image moved along its axes 1 and 2; the kernel of ops.roll is missing on a CPU."""
    x = ops.cat((x[:, -down:], x[:, :-down]), axis=1)
    return ops.cat((x[:, :, -right:], x[:, :, :-right]), axis=2)


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.qkv = dense(WIDTH, 3 * WIDTH)
        self.out = dense(WIDTH, WIDTH)

    def construct(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x).reshape(b, t, 3, HEADS, c // HEADS).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = ops.matmul(q, k.swapaxes(-2, -1))
        scores = scores / math.sqrt(c // HEADS)
        later = ops.triu(ops.ones((t, t), ms.float32), 1)
        scores = scores + later * -1e9
        weights = ops.softmax(scores, -1)
        y = ops.matmul(weights, v)
        y = y.swapaxes(1, 2).reshape(b, t, c)
        return self.out(y)


class GroupedQueries(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q = dense(WIDTH, WIDTH, False)
        self.k = dense(WIDTH, WIDTH // 2, False)
        self.v = dense(WIDTH, WIDTH // 2, False)
        self.o = dense(WIDTH, WIDTH, False)

    def construct(self, x, past):
        b, t, c = x.shape
        d = c // HEADS
        q = self.q(x).reshape(b, t, HEADS, d).swapaxes(1, 2)
        k = self.k(x).reshape(b, t, HEADS // 2, d).swapaxes(1, 2)
        v = self.v(x).reshape(b, t, HEADS // 2, d).swapaxes(1, 2)
        k = ops.cat((past[0], k), axis=2)
        v = ops.cat((past[1], v), axis=2)
        k = ops.repeat_interleave(k, 2, axis=1)
        v = ops.repeat_interleave(v, 2, axis=1)
        scores = ops.matmul(q * d**-0.5, k.swapaxes(2, 3))
        y = ops.matmul(ops.softmax(scores, axis=-1), v)
        y = y.swapaxes(1, 2)
        return self.o(y.reshape(b, t, c))


class Rotary(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q = dense(WIDTH, WIDTH)
        self.k = dense(WIDTH, WIDTH)

    def rotate(self, x):
        t, d = x.shape[-2:]
        one, two = x[..., : d // 2], x[..., d // 2 :]
        frequencies = ops.arange(0, d, 2).astype(ms.float32) / d
        inverse = 1.0 / ops.pow(10000.0, frequencies)
        positions = ops.arange(t).astype(ms.float32)
        angles = positions[:, None] * inverse[None]
        cos, sin = ops.cos(angles), ops.sin(angles)
        first = one * cos - two * sin
        second = two * cos + one * sin
        return ops.cat((first, second), axis=-1)

    def construct(self, x):
        b, t, c = x.shape
        q = self.q(x).reshape(b, t, 2, c // 2).swapaxes(1, 2)
        k = self.k(x).reshape(b, t, 2, c // 2).swapaxes(1, 2)
        q = self.rotate(q)
        k = self.rotate(k)
        scores = ops.matmul(q, k.swapaxes(2, 3))
        return ops.softmax(scores, -1), q


class Gated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = ms.Parameter(ops.ones((WIDTH,), ms.float32))
        self.up = dense(WIDTH, 4 * WIDTH, False)
        self.down = dense(2 * WIDTH, WIDTH, False)

    def construct(self, x):
        mean = ops.square(x).mean(-1, keep_dims=True)
        h = x * ops.rsqrt(mean + 1e-6)
        h = h * self.norm
        gate, value = ops.chunk(self.up(h), 2, axis=-1)
        h = ops.silu(gate) * value
        h = self.down(h)
        return x + h


class Modulated(nn.Cell):
    def __init__(self):
        super().__init__()
        self.modulation = dense(WIDTH, 6 * WIDTH)
        self.mix = dense(WIDTH, WIDTH)
        self.mlp = dense(WIDTH, WIDTH)

    def norm(self, x):
        centred = x - x.mean(-1, keep_dims=True)
        variance = ops.square(centred).mean(-1, keep_dims=True)
        return centred / ops.sqrt(variance + 1e-6)

    def construct(self, x, c):
        m = self.modulation(ops.silu(c)).expand_dims(1)
        shift, scale, gate, shift2, scale2, gate2 = ops.chunk(m, 6, axis=-1)
        h = self.norm(x) * (1 + scale) + shift
        x = x + gate * self.mix(h)
        h = self.norm(x) * (1 + scale2) + shift2
        h = ops.gelu(self.mlp(h), approximate="tanh")
        return x + gate2 * h


class Unpatched(nn.Cell):
    def __init__(self):
        super().__init__()
        self.linear = dense(WIDTH, 3 * 2 * 4)

    def construct(self, x):
        x = self.linear(x)
        x = x.reshape(-1, 3, 2, 2, 4, 3)
        x = x.transpose(0, 5, 1, 3, 2, 4)
        return x.reshape(-1, 3, 6, 8)


class Windows(nn.Cell):
    def __init__(self):
        super().__init__()
        self.mix = dense(8, 8)

    def construct(self, x):
        b, h, w, c = x.shape
        x = roll(x, -2, -1)
        x = x.reshape(b, h // 4, 4, w // 3, 3, c)
        x = x.transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(-1, 12, c)
        x = self.mix(x) * ops.softmax(x, axis=1)
        x = x.reshape(b, h // 4, w // 3, 4, 3, c).transpose(0, 1, 3, 2, 4, 5)
        x = x.reshape(b, h, w, c)
        return roll(x, 2, 1)


class Experts(nn.Cell):
    def __init__(self):
        super().__init__()
        self.router = dense(WIDTH, 4, False)
        self.experts = nn.CellList([dense(WIDTH, WIDTH) for _ in range(4)])

    def construct(self, x):
        probabilities = ops.softmax(self.router(x), axis=-1)
        weight, index = ops.topk(probabilities, 2, dim=-1)
        weight = weight / weight.sum(-1, keepdims=True)
        y = ops.zeros_like(x)
        for number, expert in enumerate(self.experts):
            chosen = (index == number).astype(x.dtype)
            share = (weight * chosen).sum(-1, keepdims=True)
            y = y + share * expert(x)
        return y


class Boxes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.head = dense(WIDTH, 4)

    def construct(self, x, anchors):
        d = self.head(x)
        x1, y1, x2, y2 = anchors[..., 0], anchors[..., 1], anchors[..., 2], anchors[..., 3]
        width = x2 - x1
        height = y2 - y1
        cx = x1 + 0.5 * width
        cy = y1 + 0.5 * height
        cx = cx + d[..., 0] / 10 * width
        cy = cy + d[..., 1] / 10 * height
        w = ops.exp(ops.clamp(d[..., 2] / 5, max=0.05)) * width
        h = ops.exp(ops.clamp(d[..., 3] / 5, max=0.05)) * height
        return ops.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), axis=-1)


class Overlap(nn.Cell):
    def construct(self, one, two):
        one = ops.cat((one[:, :2], one[:, :2] + one[:, 2:]), axis=1)
        two = ops.cat((two[:, :2], two[:, :2] + two[:, 2:]), axis=1)
        corner = ops.maximum(one[:, :2], two[:, :2])
        other = ops.minimum(one[:, 2:], two[:, 2:])
        size = ops.clamp(other - corner, min=0)
        inner = size[:, 0] * size[:, 1]
        area1 = (one[:, 2] - one[:, 0]) * (one[:, 3] - one[:, 1])
        area2 = (two[:, 2] - two[:, 0]) * (two[:, 3] - two[:, 1])
        union = area1 + area2 - inner
        least = ops.minimum(one[:, :2], two[:, :2])
        hull = ops.maximum(one[:, 2:], two[:, 2:]) - least
        around = hull[:, 0] * hull[:, 1]
        penalty = (around - union) / around
        overlap = inner / union - penalty
        return (1 - overlap).mean()


class Language(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(32, WIDTH)
        self.place = ms.Parameter(ops.zeros((TOKENS, WIDTH), ms.float32))
        self.head = dense(WIDTH, 32, False)

    def construct(self, tokens):
        x = self.embed(tokens) + self.place
        centred = x - x.mean(-1, keep_dims=True)
        x = centred / ops.sqrt(ops.square(centred).mean(-1, keep_dims=True) + 1e-5)
        logits = self.head(x)
        logits = logits[:, :-1]
        targets = tokens[:, 1:]
        logs = ops.log_softmax(logits, axis=-1)
        losses = -ops.gather_elements(logs, 2, targets.expand_dims(-1)).squeeze(-1)
        counted = (targets != 0).astype(losses.dtype)
        return (losses * counted).sum() / counted.sum()


class Skipped(nn.Cell):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.deep = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.last = nn.Conv2d(16, 3, 1, has_bias=True)

    def construct(self, x):
        first = ops.relu(self.down(x))
        pooled = ops.avg_pool2d(first, 2, 2)
        deep = ops.relu(self.deep(pooled))
        size = first.shape[-2:]
        up = ops.interpolate(deep, size=size, mode="bilinear", align_corners=False)
        x = ops.cat((up, first), axis=1)
        return ops.sigmoid(self.last(x))


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.mix = dense(TOKENS, TOKENS)
        self.norm2 = nn.LayerNorm((WIDTH,), epsilon=1e-5)
        self.fc1 = dense(WIDTH, WIDTH)
        self.fc2 = dense(WIDTH, WIDTH)

    def construct(self, x):
        h = self.norm1(x)
        h = self.mix(h.swapaxes(1, 2)).swapaxes(1, 2)
        x = x + h
        h = self.norm2(x)
        h = ops.gelu(self.fc1(h))
        h = self.fc2(h)
        return x + h


class Timed(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = dense(16, 8)
        self.conv = nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x, t):
        steps = ops.arange(8).astype(ms.float32) / 8
        frequencies = ops.exp(-math.log(10000.0) * steps)
        angles = t[:, None].astype(ms.float32) * frequencies[None]
        e = ops.cat((ops.cos(angles), ops.sin(angles)), axis=-1)
        e = self.embed(e)[:, :, None, None]
        h = ops.group_norm(x, 2)
        h = ops.silu(h + e)
        return x + self.conv(h)


class Biased(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q = dense(WIDTH, WIDTH)
        self.k = dense(WIDTH, WIDTH)

    def construct(self, x):
        b, t, c = x.shape
        q = self.q(x).reshape(b, t, HEADS, c // HEADS).swapaxes(1, 2)
        k = self.k(x).reshape(b, t, HEADS, c // HEADS).swapaxes(1, 2)
        q = q / ops.sqrt(ops.square(q).sum(-1, keepdims=True))
        k = k / ops.sqrt(ops.square(k).sum(-1, keepdims=True))
        slopes = ops.pow(2.0, -ops.arange(1, HEADS + 1).astype(ms.float32))
        places = ops.arange(t).astype(ms.float32)
        distance = ops.abs(places[:, None] - places[None])
        scores = 10.0 * ops.matmul(q, k.swapaxes(2, 3))
        scores = scores - slopes[:, None, None] * distance
        values = x.reshape(b, t, HEADS, c // HEADS).swapaxes(1, 2)
        y = ops.matmul(ops.softmax(scores, -1), values)
        return y.swapaxes(1, 2).reshape(b, t, c)


class Pooled(nn.Cell):
    def __init__(self):
        super().__init__()
        self.squeeze = dense(WIDTH, 6)
        self.excite = dense(6, WIDTH)
        self.score = dense(WIDTH, 1)

    def construct(self, x, lengths):
        kept = (ops.arange(x.shape[1])[None] < lengths[:, None]).astype(x.dtype)
        mean = (x * kept[..., None]).sum(1) / lengths[:, None]
        gate = ops.sigmoid(self.excite(ops.relu(self.squeeze(mean))))
        x = x * gate[:, None]
        scores = self.score(x).squeeze(-1)
        scores = scores + (1 - kept) * -1e9
        weights = ops.softmax(scores, axis=1)
        return (x * weights[..., None]).sum(1)


class InPlace(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = dense(WIDTH, WIDTH)
        self.branch = nn.SequentialCell(nn.ReLU(), dense(WIDTH, WIDTH))

    def construct(self, x):
        x = ops.relu(self.stem(x))
        return x + self.branch(x)
