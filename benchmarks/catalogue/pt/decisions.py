"""Nearest codes, chosen experts, spikes, hardest pixels, nearest neighbours, buckets of distances,
and fake quantisation.

What a decision gives is constant beside it, or gets the gradient of something smooth.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from pt_reference import language


class Codebook(nn.Module):
    """N,3,H,W -> N,3,H,W and the loss of the codes. See van den Oord et al., "VQ-VAE", 2017."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Conv2d(3, 64, 4, 4)
        self.codes = nn.Parameter(torch.zeros(1024, 64))
        self.decode = nn.ConvTranspose2d(64, 3, 4, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.encode(x).permute(0, 2, 3, 1)
        rows = z.reshape(-1, 64)
        squares = (rows**2).sum(1, keepdim=True) + (self.codes**2).sum(1)
        nearest = (squares - 2 * rows @ self.codes.t()).argmin(1)
        code = self.codes[nearest].view(z.shape)
        loss = ((code - z.detach()) ** 2).mean() + 0.25 * ((code.detach() - z) ** 2).mean()
        z = z + (code - z).detach()
        return self.decode(z.permute(0, 3, 1, 2)), loss


class Experts(nn.Module):
    """tokens,64 -> tokens,32: the six best of 64 experts, weighted by their share."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(64, 64)
        self.experts = nn.Parameter(torch.zeros(64, 64, 32))

    def forward(self, x: Tensor) -> Tensor:
        values, chosen = torch.softmax(self.gate(x), -1).topk(6, -1)
        shares = values / values.sum(-1, keepdim=True)
        weights = x.new_zeros(x.shape[0], 64).scatter(1, chosen, shares)
        each = functional.gelu(torch.einsum("ni,eij->nej", x, self.experts))
        return (weights[..., None] * each).sum(1)


class Spiking(nn.Module):
    """N,T,256 -> N,10: leaky neurons that fire above 1, with a sigmoid's gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.current, self.read = nn.Linear(256, 1024), nn.Linear(1024, 10)

    def forward(self, x: Tensor) -> Tensor:
        charge = x.new_zeros(x.shape[0], 1024)
        total = x.new_zeros(x.shape[0], 10)
        for step in x.unbind(1):
            charge = 0.5 * charge + self.current(step)
            smooth = torch.sigmoid(4 * (charge - 1.0))
            fires = smooth + ((charge >= 1.0).to(x.dtype) - smooth).detach()
            charge = charge * (1.0 - fires)
            total = total + self.read(fires)
        return total


class HardestPixels(nn.Module):
    """N,3,H,W and labels N,H,W -> the mean loss of the worst quarter of all pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 6, 1)

    def forward(self, x: Tensor, labels: Tensor) -> Tensor:
        scores = self.last(functional.silu(self.first(x)))
        losses = functional.cross_entropy(scores, labels, reduction="none").flatten()
        return losses.topk(losses.numel() // 4)[0].mean()


class Neighbours(nn.Module):
    """N,points,3 -> N,32. See Wang et al., "Dynamic Graph CNN", 2019: eight neighbours each."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(6, 32), nn.Linear(64, 32)

    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.first, self.second):
            distances = ((x[:, :, None] - x[:, None]) ** 2).sum(-1)
            nearest = (-distances).topk(8, -1)[1]
            others = torch.stack([each[at] for each, at in zip(x, nearest, strict=True)])
            own = x[:, :, None].expand_as(others)
            x = torch.relu(layer(torch.cat([others - own, own], -1))).amax(2)
        return x.mean(1)


class Buckets(nn.Module):
    """N,tokens,64 -> N,tokens,64: attention with a bias by distance; T5, Raffel et al., 2020."""

    def __init__(self) -> None:
        super().__init__()
        self.buckets, self.bias = language.Buckets(32, 128, bidirectional=True), nn.Embedding(32, 4)
        self.query, self.key, self.value, self.out = (nn.Linear(64, 64, False) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        tokens = torch.arange(x.shape[1])
        bucket = self.buckets(tokens - tokens[:, None])
        query, key, value = (
            layer(x).unflatten(-1, (4, 16)).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        scores = query @ key.transpose(-1, -2) + self.bias(bucket).permute(2, 0, 1)
        return self.out((scores.softmax(-1) @ value).transpose(1, 2).flatten(2))


def quantised(x: Tensor) -> Tensor:
    """The nearest of 255 equal steps; the gradient is that of what goes in."""
    step = x.abs().max().detach() / 127
    return x + (torch.round(x / step).clamp(-127, 127) * step - x).detach()


def clamped(x: Tensor) -> Tensor:
    """The same steps; the clamp has a gradient, and the largest value is exactly at its bound."""
    step = x.abs().max().detach() / 127
    within = (x / step).clamp(-127, 127)
    return (within + (within.round() - within).detach()) * step


class EightBits(nn.Module):
    """N,3,H,W -> N,10: convolutions whose inputs and kernels have eight bits."""

    quantised = staticmethod(quantised)

    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv2d(into, 16, 3, padding=1) for into in (3, 16, 16))
        self.classifier = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        for conv in self.convs:
            kernel = self.quantised(conv.weight)
            x = torch.relu(functional.conv2d(self.quantised(x), kernel, conv.bias, padding=1))
        return self.classifier(x.mean((2, 3)))


class EightBitsClamped(EightBits):
    """The same with the gradient of a clamp."""

    quantised = staticmethod(clamped)
