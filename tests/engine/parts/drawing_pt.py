"""References that draw: the ways in which a right port draws otherwise, and a draw not replayed."""

import torch
from torch import nn


class Drawing(nn.Module):
    """A dense layer and a layer that draws."""

    def __init__(self, draw):
        super().__init__()
        self.dense, self.draw = nn.Linear(6, 6), draw

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.draw(self.dense(x))


class Path(nn.Module):
    """Keeps a sample where the sum of its share and a number is above one."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x
        return x / 0.7 * (0.7 + torch.rand(x.shape[0], 1, 1)).floor()


class Together(nn.Module):
    """Two noises of one draw."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x
        scale, shift = torch.randn(2, *x.shape)
        return x * (1.0 + 0.1 * scale) + shift


class Elements(nn.Module):
    """Drops elements, of batch, sequence and width in this order."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.4, self.training)


class Rates(nn.Module):
    """Numbers of Poisson's law, which no run can replay."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.poisson(torch.ones_like(x)) if self.training else x


class Crossed(nn.Module):
    """Drops what one layer gives, then what another does."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Dropout(0.4), nn.Dropout(0.4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first = self.one(x)
        return first + 2.0 * self.two(x)


class Latent(nn.Module):
    """Draws by itself, in evaluation, too, as an autoencoder that is variational does."""

    def __init__(self):
        super().__init__()
        self.mean, self.spread = nn.Linear(6, 3), nn.Linear(6, 3)
        self.dropout, self.back = nn.Dropout(0.3), nn.Linear(3, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mean, spread = self.mean(x), torch.exp(0.5 * self.spread(x))
        return self.back(self.dropout(mean + spread * torch.randn_like(spread)))


class Counted(nn.Module):
    """Draws by itself what no run can replay."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.poisson(torch.ones_like(x))


def path():
    return Drawing(Path())


def together():
    return Drawing(Together())


def elements():
    return Drawing(Elements())


def rates():
    return Drawing(Rates())


def crossed():
    return Drawing(Crossed())
