"""Networks in PyTorch whose gradients are made by hand: detached, passed straight, changed."""

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, CODES = 24, 5


class Distilled(nn.Module):
    def __init__(self):
        super().__init__()
        self.student = nn.Linear(WIDTH, WIDTH)
        self.teacher = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        with torch.no_grad():
            taught = torch.tanh(self.teacher(x))
            target = F.softmax(taught / 0.5, dim=-1)
        logs = F.log_softmax(torch.tanh(self.student(x)) / 0.8, dim=-1)
        return -(target * logs).sum(-1).mean()


class Quantised(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH, WIDTH))

    def forward(self, x):
        scale = self.weight.abs().mean().detach()
        whole = torch.round(self.weight / scale * 4) / 4 * scale
        weight = self.weight + (whole - self.weight).detach()
        return torch.tanh(x @ weight.t())


class Codebook(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(WIDTH, 8)
        self.codes = nn.Parameter(torch.ones(CODES, 8))
        self.decode = nn.Linear(8, WIDTH)

    def forward(self, x):
        z = self.encode(x)
        distances = (z[:, :, None] - self.codes).pow(2).sum(-1)
        chosen = self.codes[distances.argmin(-1)]
        learnt = (chosen - z.detach()).pow(2).mean()
        committed = (chosen.detach() - z).pow(2).mean()
        straight = z + (chosen - z).detach()
        return self.decode(straight), learnt + 0.25 * committed


class _Reverse(torch.autograd.Function):
    @staticmethod
    def forward(_ctx, x):
        return x.clone()

    @staticmethod
    def backward(_ctx, cotangent):
        return -0.3 * cotangent


class Reversed(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Linear(WIDTH, WIDTH)
        self.label = nn.Linear(WIDTH, 4)
        self.domain = nn.Linear(WIDTH, 2)

    def forward(self, x):
        h = torch.tanh(self.features(x))
        return self.label(h), self.domain(_Reverse.apply(h))


class Guarded(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        h = self.linear(x)
        positive = h > 0.1
        safe = torch.where(positive, h, 1.0)
        y = torch.where(positive, safe.sqrt(), 0.0)
        return y * 2.0 + h


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, WIDTH)

    def forward(self, x):
        return self.linear(x.amax(-1))


class Limited(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, WIDTH)
        self.down = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        h = torch.tanh(self.up(x))
        if h.requires_grad:
            h.register_hook(lambda cotangent: cotangent.clamp(-0.05, 0.05))
        return self.down(h)


class Contrast(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Linear(WIDTH, WIDTH)
        self.k = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, y):
        q = F.normalize(self.q(x), dim=-1)
        k = F.normalize(self.k(y), dim=-1).detach()
        logits = q @ k.t() / 0.2
        labels = torch.arange(len(x))
        return F.cross_entropy(logits, labels)


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        size = x.pow(2).mean(-1, keepdim=True).sqrt()
        h = self.mix(x / size.detach())
        return x + h * size
