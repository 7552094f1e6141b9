"""Losses whose gradients are signs, or next to nothing beside their terms, on two dense layers."""

import torch
from torch import nn
from torch.nn import functional


class Layers(nn.Module):
    """N,16 -> N,8."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 8)

    def scores(self, x: torch.Tensor) -> torch.Tensor:
        """What the layers make of an input."""
        return self.down(torch.tanh(self.up(x)))


class Hinge(Layers):
    """The multi-class hinge loss of Crammer and Singer, summed over classes."""

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        scores = self.scores(x)
        margins = 1.0 + scores - scores.gather(1, labels[:, None])
        return torch.max(torch.zeros_like(margins), margins).sum(1).mean()


class GanHinge(Layers):
    """The loss of a discriminator. See Lim and Ye, "Geometric GAN", 2017."""

    def forward(self, real: torch.Tensor, fake: torch.Tensor) -> torch.Tensor:
        real, fake = self.scores(real), self.scores(fake)
        return functional.relu(1.0 - real).mean() + functional.relu(1.0 + fake).mean()


class Quantile(Layers):
    """The pinball loss of the ninth decile."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        error = y - self.scores(x)
        return torch.max(0.9 * error, -0.1 * error).mean()


class Distillation(Layers):
    """The divergence from a teacher's scores. See Hinton, Vinyals and Dean, 2015."""

    def forward(self, x: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
        student = functional.log_softmax(self.scores(x) / 4.0, 1)
        teacher = functional.softmax(teacher / 4.0, 1)
        return 16.0 * functional.kl_div(student, teacher, reduction="batchmean")
