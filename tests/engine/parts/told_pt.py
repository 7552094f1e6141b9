"""Originals whose ports are wrong in one line each, where lines are hard to watch."""

import torch
import torch.nn.functional as F
from torch import nn

from tests.engine.parts.told_edges import EDGES


class Sparse(nn.Module):
    """A layer over a sparse adjacency whose rows sum to one."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 4)
        index = torch.tensor([*EDGES, *((b, a) for a, b in EDGES), *((k, k) for k in range(4))]).T
        index = torch.unique(index, dim=1)
        degree = torch.zeros(4).scatter_add_(0, index[0], torch.ones(index.shape[1]))
        self.register_buffer("index", index)
        self.register_buffer("shares", 1 / degree[index[0]])

    def forward(self, x):
        shares = self.shares.to(x.dtype)
        table = torch.sparse_coo_tensor(self.index, shares, (4, 4), check_invariants=False)
        return torch.sparse.mm(table, F.softplus(self.a(x)))


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.sigmoid(x)
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (y + x * y * (1 - y))


class ByHand(nn.Module):
    """A gradient that is made by hand."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 3)

    def forward(self, x):
        return self.b(SwishFunction.apply(self.a(x)))


class Informed(nn.Module):
    """The loss of a physics-informed network: of its first and second derivatives."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 6), nn.Linear(6, 1)

    def forward(self, x):
        x = x if x.requires_grad else x.clone().requires_grad_()
        u = self.b(torch.sin(self.a(x)))
        first = torch.autograd.grad(u.sum(), x, create_graph=True)[0]
        second = torch.autograd.grad(first[:, 1:].sum(), x, create_graph=True)[0][:, 1:]
        rest = first[:, :1] + u * first[:, 1:] - 0.1 * second
        return (rest**2).mean()


class Spectrum(nn.Module):
    """Complex numbers between a Fourier transform and its inverse."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.zeros(4, 5, 2))

    def forward(self, x):
        f = torch.fft.rfft(x, dim=1)
        f = f * torch.view_as_complex(self.w).T
        return torch.fft.irfft(f, n=8, dim=1) + x


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 8)

    def forward(self, x):
        return self.inner(x).chunk(2, -1)


class Unused(nn.Module):
    """A layer of two results, to one of which no gradient comes back."""

    def __init__(self):
        super().__init__()
        self.halves, self.out = Halves(), nn.Linear(4, 3)

    def forward(self, x):
        left, _ = self.halves(x)
        return self.out(F.softplus(left))


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.one, self.two = nn.Linear(6, 8), nn.Linear(8, 3), nn.Linear(8, 3)

    def forward(self, x):
        h = F.softplus(self.a(x))
        return [self.one(h), self.two(h)]


class Weighted(nn.Module):
    def forward(self, outs, y):
        return F.cross_entropy(outs[0], y) + 0.4 * F.cross_entropy(outs[1], y)


class Supervised(nn.Module):
    """A list of outputs, whose loss is a layer of its own."""

    def __init__(self):
        super().__init__()
        self.net, self.loss = Heads(), Weighted()

    def forward(self, x, y):
        return self.loss(self.net(x), y)


class Temperature(nn.Module):
    """A classifier with a parameter that is a single number."""

    def __init__(self):
        super().__init__()
        self.a, self.t = nn.Linear(6, 3), nn.Parameter(torch.tensor(1.0))

    def forward(self, x, y):
        return F.cross_entropy(self.a(x) * self.t, y)


class Tempered(nn.Module):
    """A step of it."""

    def __init__(self):
        super().__init__()
        self.network = Temperature()
        self.optimizer = torch.optim.SGD(self.network.parameters(), 0.1, momentum=0.9)

    def forward(self, x, y):
        self.optimizer.zero_grad()
        loss = self.network(x, y)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Adversarial(nn.Module):
    """A step of a GAN, whose network cannot be called.

    leaks: whether the discriminator keeps what the generator's loss leaves in its gradients.
    """

    def __init__(self, leaks=False, act=F.softplus):
        super().__init__()
        self.leaks, self.act = leaks, act
        self.network = nn.ModuleDict({"g": nn.Linear(4, 6), "d": nn.Linear(6, 1)})
        self.of_g = torch.optim.SGD(self.network["g"].parameters(), 0.1)
        self.of_d = torch.optim.SGD(self.network["d"].parameters(), 0.1)

    def forward(self, z, x):
        g, d = self.network["g"], self.network["d"]
        fake = self.act(g(z))
        of_g = F.softplus(-d(fake)).mean()
        self.of_g.zero_grad()
        of_g.backward()
        self.of_g.step()
        if not self.leaks:
            self.of_d.zero_grad()
        of_d = F.softplus(-d(x)).mean() + F.softplus(d(fake.detach())).mean()
        of_d.backward()
        self.of_d.step()
        self.of_d.zero_grad()
        return (of_g + of_d).detach()


def leaking():
    return Adversarial(leaks=True)


def by_tanh():
    return Adversarial(act=torch.tanh)


class Gates(nn.Module):
    """A recurrence whose two gates are taken by different lines."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        h, out = torch.zeros_like(x[:, 0]), []
        for t in range(x.shape[1]):
            r, z = torch.sigmoid(self.a(x[:, t])), torch.sigmoid(self.b(x[:, t]))
            n = F.softplus(x[:, t] + r * h)
            h = (1 - z) * n + z * h
            out.append(h)
        return torch.stack(out, 1)


class Messages(nn.Module):
    """Two rounds of messages along edges."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 5), nn.Linear(5, 3)

    def forward(self, x, edges):
        source, target = edges[0], edges[1]
        h = F.softplus(self.a(x))
        h = h + torch.zeros_like(h).index_add(0, target, h[source])
        h = h + torch.zeros_like(h).index_add(0, target, h[source])
        return self.b(h)


def rms(x, w):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * w


class Normed(nn.Module):
    """A helper that is called twice, with a weight each."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 8), nn.Linear(8, 8)
        self.one, self.two = nn.Parameter(torch.ones(8)), nn.Parameter(torch.ones(8))

    def forward(self, x):
        h = x + self.a(rms(x, self.one))
        return h + self.b(rms(h, self.two))


class Difference(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)

    def forward(self, x, y):
        d = self.a(x) - y
        return F.softplus(-d) + F.softplus(d).mean()


def rescaled(x, weight):
    y = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
    return y * weight


class Handed(nn.Module):
    """Functions that are called once, beside another weight and another input."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 3)
        self.one, self.two = nn.Parameter(torch.ones(6)), nn.Parameter(torch.ones(6))

    def forward(self, x):
        h = self.a(x)
        y = rescaled(h, self.one)
        return self.b(F.relu(y)) + (h * self.two).sum(-1, keepdim=True)


def softened(x, factor, shift=0.5):
    return torch.tanh(x * factor) + shift


class Softened(nn.Module):
    """Functions and a layer that get numbers."""

    def __init__(self):
        super().__init__()
        self.a, self.soft = nn.Linear(6, 6), Soft()

    def forward(self, x):
        h = self.a(x)
        return self.soft(self.twice(h, 0.25), 2.0)

    def twice(self, x, factor):
        return softened(x, factor) + softened(2.0 * x, 0.125)


class Soft(nn.Module):
    def forward(self, x, scale):
        return F.softplus(x * scale)


class Rounds(nn.Module):
    """A layer in a loop. N,6 -> N,4."""

    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(6, 6), nn.Linear(6, 4)

    def forward(self, x):
        for _ in range(3):
            x = x + torch.sin(self.inner(x))
        return self.outer(x)
