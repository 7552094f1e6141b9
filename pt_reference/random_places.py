"""Networks whose dropouts and noise have their places: a block, augmented spectrograms."""

import torch
from torch import nn


class Attending(nn.Module):
    """A block with a norm in front: attention by hand and a dense layer, each with its dropouts."""

    def __init__(self, width: int = 8, p: float = 0.3):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out, self.hidden = nn.Linear(width, width), nn.Linear(width, width)
        self.drop_weights, self.drop_out, self.drop_hidden = (nn.Dropout(p) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        scores = self.query(y) @ self.key(y).transpose(1, 2) / y.shape[-1] ** 0.5
        mixed = self.drop_weights(scores.softmax(-1)) @ self.value(y)
        x = x + self.drop_out(self.out(mixed))
        return x + self.drop_hidden(torch.sigmoid(self.hidden(x)))


class Masks(nn.Module):
    """Zeroes a run of frames and a run of bands of each spectrogram, N,F,T."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return x
        n, bands, frames = x.shape
        start = torch.randint(0, frames - 3, (n, 1, 1))
        place = torch.arange(frames).reshape(1, 1, frames)
        x = x.masked_fill((place >= start) & (place < start + 3), 0.0)
        start = torch.randint(0, bands - 2, (n, 1, 1))
        place = torch.arange(bands).reshape(1, bands, 1)
        return x.masked_fill((place >= start) & (place < start + 2), 0.0)


class Noise(nn.Module):
    """Adds normal noise."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 0.1 * torch.randn_like(x) if self.training else x


class Slopes(nn.Module):
    """Negative numbers times a slope between 0.1 and 0.4 that is drawn."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        slope = torch.empty_like(x).uniform_(0.1, 0.4) if self.training else 0.25
        return torch.where(x >= 0.0, x, x * slope)


class Augmented(nn.Module):
    """A convolution of spectrograms behind masks, with noise and random slopes."""

    def __init__(self, bands: int = 7, width: int = 6):
        super().__init__()
        self.masks, self.noise, self.slopes = Masks(), Noise(), Slopes()
        self.conv, self.head = nn.Conv1d(bands, width, 3), nn.Linear(width, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.noise(self.conv(self.masks(x)))
        return self.head(self.slopes(x).mean(2))
