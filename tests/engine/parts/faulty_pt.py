"""Networks that meet silent faults of MindSpore; partners in `faulty_ms.py`."""

import torch
from torch import nn
from torch.nn import functional


class Shifted(nn.Module):
    """Scores by distance, each row shifted by one more, as in Transformer-XL."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        scores = self.far(x)
        b, rows, columns = scores.shape
        wide = functional.pad(scores, (1, 0), value=0.5)
        return wide.view(b, columns + 1, rows)[:, 1:].reshape(b, rows, columns)


class Scaled(nn.Module):
    """A SELU between two layers."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(6, 5), nn.Linear(5, 4)

    def forward(self, x):
        return self.two(functional.selu(self.one(x)))


class Both(nn.Module):
    """One behind the other."""

    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def forward(self, x):
        return functional.selu(self.shifted(x))


class Squashed(nn.Module):
    """A tanh of which MindSpore's kernel is inaccurate, behind the other fault."""

    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def forward(self, x):
        return torch.tanh(3.0 * self.shifted(x))


class Step(nn.Module):
    """One update by plain gradient descent."""

    def __init__(self):
        super().__init__()
        self.network = Loss()
        self.optimizer = torch.optim.SGD(self.network.parameters(), 0.1)

    def forward(self, x):
        loss = self.network(x)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.shifted = Shifted()

    def forward(self, x):
        return self.shifted(x).square().mean()


class Mished(nn.Module):
    """A Mish of large numbers."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        return functional.mish(100.0 * self.far(x))


class Distilled(nn.Module):
    """A divergence from a target that is trained, too."""

    def __init__(self, reduction="batchmean"):
        super().__init__()
        self.one, self.two, self.reduction = nn.Linear(6, 5), nn.Linear(6, 5), reduction

    def forward(self, x):
        target = functional.softplus(self.two(x))
        return functional.kl_div(self.one(x), target, reduction=self.reduction)


class Averaged(Distilled):
    """The mean over all elements."""

    def __init__(self):
        super().__init__("none")

    def forward(self, x):
        return super().forward(x).mean()


class Single(nn.Module):
    """A loss of a single probability."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        share = functional.softplus(self.far(x)).mean().reshape(1)
        return functional.binary_cross_entropy(share / (1.0 + share), share.detach() / 9.0)


class Upscaled(nn.Module):
    """A picture made larger by a cubic kernel."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        y = self.far(x).unsqueeze(1)
        return functional.interpolate(y, size=(6, 8), mode="bicubic", align_corners=False)


class Cornered(Upscaled):
    """The same, with its corners at those of the picture."""

    def forward(self, x):
        y = self.far(x).unsqueeze(1)
        return functional.interpolate(y, size=(6, 8), mode="bicubic", align_corners=True)


class Padded(nn.Module):
    """An embedding with a row of padding, which half of the ids are."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(3, 5, padding_idx=0)

    def forward(self, x):
        return self.rows((x > 0).long()) * x.unsqueeze(-1)


class Decoded(nn.Module):
    """A transposed convolution with a row and a column more."""

    def __init__(self):
        super().__init__()
        self.up = nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        return self.up(x.reshape(2, 4, 2, 3))


class Blended(nn.Module):
    """An interpolation from a weight with fewer axes."""

    def __init__(self):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(4, 1))

    def forward(self, x):
        return torch.lerp(self.start, x[:1, :1], 0.25)


class Flipped(nn.Module):
    """Parts that are joined again the other way round, as of a timestep's sines and cosines."""

    def __init__(self):
        super().__init__()
        self.far = nn.Linear(6, 5)

    def forward(self, x):
        one, two = torch.split(self.far(x), [2, 3], -1)
        return torch.cat([two, one], -1)


class Beside(Decoded):
    """Beside it, something that has nothing to do with it."""

    def forward(self, x):
        return super().forward(x), torch.tanh(x)


class Enlarged(Upscaled):
    """A fault before something else."""

    def forward(self, x):
        return torch.tanh(super().forward(x))


class Normed(Upscaled):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(8)

    def forward(self, x):
        return self.norm(super().forward(x))


class Looked(Padded):
    def forward(self, x):
        return torch.sigmoid(self.rows((x > 0).long()))
