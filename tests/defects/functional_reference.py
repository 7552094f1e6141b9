"""Networks of functional code in PyTorch, as people write them today."""

import math

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, TOKENS = 24, 4, 6


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x).view(b, t, 3, HEADS, c // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        scores = q @ k.transpose(-2, -1) / math.sqrt(c // HEADS)
        later = torch.triu(torch.ones(t, t, dtype=torch.bool), 1)
        scores = scores.masked_fill(later, float("-inf"))
        y = scores.softmax(-1) @ v
        y = y.transpose(1, 2).reshape(b, t, c)
        return self.out(y)


class GroupedQueries(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, WIDTH // 2, bias=False)
        self.v = nn.Linear(WIDTH, WIDTH // 2, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x, past):
        b, t, c = x.shape
        d = c // HEADS
        q = self.q(x).view(b, t, HEADS, d).transpose(1, 2)
        k = self.k(x).view(b, t, HEADS // 2, d).transpose(1, 2)
        v = self.v(x).view(b, t, HEADS // 2, d).transpose(1, 2)
        k = torch.cat((past[0], k), dim=2).repeat_interleave(2, dim=1)
        v = torch.cat((past[1], v), dim=2).repeat_interleave(2, dim=1)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.o(y.transpose(1, 2).flatten(2))


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH)
        self.k = nn.Linear(WIDTH, WIDTH)

    def rotate(self, x):
        half = torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), dim=-1)
        t, d = x.shape[-2:]
        inverse = 1.0 / 10000.0 ** (torch.arange(0, d, 2).float() / d)
        angles = torch.outer(torch.arange(t).float(), inverse)
        angles = torch.cat((angles, angles), dim=-1)
        return x * angles.cos() + half * angles.sin()

    def forward(self, x):
        q = self.q(x).unflatten(-1, (2, -1)).transpose(1, 2)
        k = self.k(x).unflatten(-1, (2, -1)).transpose(1, 2)
        q, k = self.rotate(q), self.rotate(k)
        return (q @ k.mT).softmax(-1), q


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.Parameter(torch.ones(WIDTH))
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(2 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        mean = x.pow(2).mean(-1, keepdim=True)
        h = x * torch.rsqrt(mean + 1e-6) * self.norm
        gate, value = self.up(h).chunk(2, dim=-1)
        h = F.silu(gate) * value
        return x + self.down(h)


class Modulated(nn.Module):
    def __init__(self):
        super().__init__()
        self.modulation = nn.Linear(WIDTH, 6 * WIDTH)
        self.mix = nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, c):
        shift, scale, gate, shift2, scale2, gate2 = (
            self.modulation(F.silu(c)).unsqueeze(1).chunk(6, dim=-1)
        )
        h = F.layer_norm(x, (WIDTH,), eps=1e-6)
        x = x + gate * self.mix(h * (1 + scale) + shift)
        h = F.layer_norm(x, (WIDTH,), eps=1e-6)
        h = F.gelu(self.mlp(h * (1 + scale2) + shift2), approximate="tanh")
        return x + gate2 * h


class Unpatched(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, 3 * 2 * 4)

    def forward(self, x):
        x = self.linear(x).view(-1, 3, 2, 2, 4, 3)
        x = torch.einsum("nhwpqc->nchpwq", x)
        return x.reshape(-1, 3, 6, 8)


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(8, 8)

    def forward(self, x):
        b, h, w, c = x.shape
        x = torch.roll(x, (-2, -1), dims=(1, 2))
        x = x.view(b, h // 4, 4, w // 3, 3, c).transpose(2, 3).reshape(-1, 12, c)
        x = self.mix(x) * x.softmax(dim=1)
        x = x.view(b, h // 4, w // 3, 4, 3, c).transpose(2, 3).reshape(b, h, w, c)
        return torch.roll(x, (2, 1), dims=(1, 2))


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(WIDTH, 4, bias=False)
        self.experts = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        probabilities = F.softmax(self.router(x), dim=-1)
        weight, index = torch.topk(probabilities, 2, dim=-1)
        weight = weight / weight.sum(-1, keepdim=True)
        y = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            share = (weight * (index == number)).sum(-1, keepdim=True)
            y = y + share * expert(x)
        return y


class Boxes(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, x, anchors):
        dx, dy, dw, dh = self.head(x).unbind(-1)
        width = anchors[..., 2] - anchors[..., 0]
        height = anchors[..., 3] - anchors[..., 1]
        cx = anchors[..., 0] + 0.5 * width + dx / 10 * width
        cy = anchors[..., 1] + 0.5 * height + dy / 10 * height
        w = torch.exp(torch.clamp(dw / 5, max=0.05)) * width
        h = torch.exp(torch.clamp(dh / 5, max=0.05)) * height
        return torch.stack((cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2), dim=-1)


class Overlap(nn.Module):
    """The loss of generalised intersection over union."""

    def forward(self, one, two):
        one = torch.cat((one[:, :2], one[:, :2] + one[:, 2:]), dim=1)
        two = torch.cat((two[:, :2], two[:, :2] + two[:, 2:]), dim=1)
        corner = torch.maximum(one[:, :2], two[:, :2])
        other = torch.minimum(one[:, 2:], two[:, 2:])
        size = (other - corner).clamp(min=0)
        inner = size[:, 0] * size[:, 1]
        area1 = (one[:, 2] - one[:, 0]) * (one[:, 3] - one[:, 1])
        area2 = (two[:, 2] - two[:, 0]) * (two[:, 3] - two[:, 1])
        union = area1 + area2 - inner
        hull = torch.maximum(one[:, 2:], two[:, 2:]) - torch.minimum(one[:, :2], two[:, :2])
        around = hull[:, 0] * hull[:, 1]
        overlap = inner / union - (around - union) / around
        return (1 - overlap).mean()


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(32, WIDTH)
        self.place = nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.head = nn.Linear(WIDTH, 32, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        x = F.layer_norm(x, (WIDTH,))
        logits = self.head(x)
        logs = F.log_softmax(logits[:, :-1], dim=-1)
        targets = tokens[:, 1:]
        losses = -logs.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        counted = (targets != 0).to(losses.dtype)
        return (losses * counted).sum() / counted.sum()


class Skipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, padding=1)
        self.deep = nn.Conv2d(8, 8, 3, padding=1)
        self.last = nn.Conv2d(16, 3, 1)

    def forward(self, x):
        first = F.relu(self.down(x))
        deep = F.relu(self.deep(F.avg_pool2d(first, 2)))
        up = F.interpolate(deep, scale_factor=2, mode="bilinear", align_corners=False)
        x = torch.cat((up, first), dim=1)
        return torch.sigmoid(self.last(x))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.mix = nn.Linear(TOKENS, TOKENS)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.fc1 = nn.Linear(WIDTH, WIDTH)
        self.fc2 = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        h = self.norm1(x)
        x = x + self.mix(h.transpose(1, 2)).transpose(1, 2)
        h = self.norm2(x)
        h = self.fc2(F.gelu(self.fc1(h)))
        return x + h


class Timed(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(16, 8)
        self.conv = nn.Conv2d(8, 8, 3, padding=1)

    def forward(self, x, t):
        frequencies = torch.exp(-math.log(10000.0) * torch.arange(8) / 8)
        angles = t[:, None].float() * frequencies[None]
        e = torch.cat((torch.cos(angles), torch.sin(angles)), dim=-1)
        e = self.embed(e)[:, :, None, None]
        h = F.group_norm(x, 2)
        h = F.silu(h + e)
        return x + self.conv(h)


class Biased(nn.Module):
    """Attention with linear biases and a cosine similarity."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH)
        self.k = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        b, t, _ = x.shape
        q = F.normalize(self.q(x).view(b, t, HEADS, -1).transpose(1, 2), dim=-1)
        k = F.normalize(self.k(x).view(b, t, HEADS, -1).transpose(1, 2), dim=-1)
        slopes = 2.0 ** -torch.arange(1, HEADS + 1).float()
        distance = (torch.arange(t)[:, None] - torch.arange(t)[None]).abs()
        bias = -slopes[:, None, None] * distance
        scores = 10.0 * (q @ k.mT) + bias
        values = x.view(b, t, HEADS, -1).transpose(1, 2)
        return (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)


class Pooled(nn.Module):
    """Squeeze and excitation, then attentive pooling under a padding mask."""

    def __init__(self):
        super().__init__()
        self.squeeze = nn.Linear(WIDTH, 6)
        self.excite = nn.Linear(6, WIDTH)
        self.score = nn.Linear(WIDTH, 1)

    def forward(self, x, lengths):
        kept = torch.arange(x.shape[1])[None] < lengths[:, None]
        mean = (x * kept[..., None]).sum(1) / lengths[:, None]
        gate = torch.sigmoid(self.excite(F.relu(self.squeeze(mean))))
        x = x * gate[:, None]
        scores = self.score(x).squeeze(-1).masked_fill(~kept, -1e9)
        weights = scores.softmax(dim=1)
        return (x * weights[..., None]).sum(1)


class InPlace(nn.Module):
    """A branch whose first ReLU writes to what it is added to, as in published VQ-VAEs."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(WIDTH, WIDTH)
        self.branch = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(WIDTH, WIDTH))

    def forward(self, x):
        x = self.stem(x)
        return x + self.branch(x)
