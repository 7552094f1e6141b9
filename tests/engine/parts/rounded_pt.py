"""Networks whose rounding is hard to know beforehand; partners in `rounded_ms.py`."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, planes, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(planes, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.shorter = nn.Conv2d(planes, out, 1, stride, bias=False)

    def forward(self, x):
        return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + self.shorter(x))


class Residual(nn.Module):
    """(N, 3, H, W) -> (N, 5): a residual network of seven convolutions."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.block1 = Block(8, 8, 1)
        self.block2 = Block(8, 16, 2)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        return self.head(self.block2(self.block1(F.relu(self.stem(x)))).mean((2, 3)))


class Autocast(nn.Module):
    """The same, under autocast in float16."""

    def __init__(self):
        super().__init__()
        self.net = Residual()

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.float16):
            return self.net(x).float()


class Lossy(nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, labels):
        return F.cross_entropy(self.network(x), labels.long())


class Trained(nn.Module):
    """One step of an optimiser for the loss of a network."""

    def __init__(self, network, optimizer):
        super().__init__()
        self.network, self.optimizer = Lossy(network), optimizer

    def forward(self, *batch):
        loss = self.network(*batch)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def residual_by_sgd():
    network = Residual()
    return Trained(network, torch.optim.SGD(network.parameters(), 0.02, momentum=0.9))


def residual_by_adamw():
    network = Residual()
    return Trained(network, torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=0.0))


class Attention(nn.Module):
    """(N, T, 8) -> (N, 8): queries, keys and values by one product, with one bias."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        weights = (q @ k.transpose(-2, -1) / math.sqrt(8.0)).softmax(-1)
        return self.out((weights @ v).mean(1))


def attention_by_adamw():
    network = Attention()
    return Trained(network, torch.optim.AdamW(network.parameters(), 1e-2, weight_decay=0.0))


class Tempered(nn.Module):
    """(N, 8) -> (N, 8): a layer and a temperature, a parameter without dimensions."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
        self.temperature = nn.Parameter(torch.ones(()))

    def forward(self, x):
        return self.layer(x) * self.temperature


def tempered_by_adamw():
    network = Tempered()
    return Trained(network, torch.optim.AdamW(network.parameters(), 1e-2, weight_decay=0.0))


class Listening(nn.Module):
    """(N, 8) -> (N, 8): a loop of sampling."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        for _ in range(3):
            x = x - 0.1 * torch.tanh(self.layer(x))
        return x


class Sampled(Listening):
    """It gives no gradients."""

    @torch.no_grad()
    def forward(self, x):
        return super().forward(x)


class Silent(Listening):
    """It detaches what it returns, which a port must do, too."""

    def forward(self, x):
        return super().forward(x).detach()


class SampledAtTimes(Listening):
    """It gives gradients for some lengths of a batch."""

    def forward(self, x):
        with torch.set_grad_enabled(len(x) > 4):
            return super().forward(x)


class Physics(nn.Module):
    """(N, 2) -> (N, 1): what is left of an equation with a derivative of the network."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(2, 8), nn.Linear(8, 1)

    def forward(self, x):
        x = x if x.requires_grad else x.requires_grad_()
        u = self.second(F.relu(self.first(x)) ** 2)
        (slope,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        return slope[:, :1] + 0.5 * slope[:, 1:] - u


class Vocabulary(nn.Module):
    """(N, 16), (N,) -> (): the cross entropy of many classes."""

    def __init__(self, classes=20_000):
        super().__init__()
        self.head = nn.Linear(16, classes)

    def forward(self, x, labels):
        return F.cross_entropy(self.head(x), labels.long())


class LogProbabilities(nn.Module):
    """(N, 16) -> (N, classes)."""

    def __init__(self, classes=20_000):
        super().__init__()
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return F.log_softmax(self.head(x), -1)


class Hinge(nn.Module):
    """(N, 6), (N, 6) -> (): the bias is added as often as it is taken away."""

    def __init__(self):
        super().__init__()
        self.critic = nn.Linear(6, 1)

    def forward(self, real, fake):
        return F.relu(1.0 - self.critic(real)).mean() + F.relu(1.0 + self.critic(fake)).mean()


class Rotary(nn.Module):
    """(N, T, 8) -> (N, T, 8), in float16, with tables in float32."""

    def forward(self, x):
        rates = 10_000.0 ** (-torch.arange(0, 8, 2).float() / 8.0)
        angles = torch.arange(x.shape[1]).float()[:, None] * rates
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        left, right = x.chunk(2, -1)
        return torch.cat([left * cos - right * sin, left * sin + right * cos], -1)


class Pooled(nn.Module):
    """Attention pooling under a mask of zeros and ones, as (1 - mask) times the lowest number."""

    def __init__(self):
        super().__init__()
        self.score, self.fc = nn.Linear(8, 1), nn.Linear(8, 8)

    def forward(self, x, mask):
        lowest = torch.finfo(torch.float32).min
        weights = torch.softmax(self.score(x).squeeze(-1) + (1.0 - mask) * lowest, -1)
        return 4 * self.fc(x + torch.einsum("bn,bnd->bd", weights, x)[:, None])


class Masked(nn.Module):
    """(N, T) -> (N, T): scores beside the lowest finite number."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, x):
        hidden = torch.arange(x.shape[-1]) == x.shape[-1] - 1
        return (x * self.scale).masked_fill(hidden, torch.finfo(torch.float32).min)


class Spectrum(nn.Module):
    """Its first and last imaginary parts are zero."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(16, 16)

    def forward(self, x):
        transformed = torch.fft.rfft(self.linear(x))
        return transformed.real, transformed.imag
