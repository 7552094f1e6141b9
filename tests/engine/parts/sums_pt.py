"""References with long sums."""

import torch


class Squashed(torch.nn.Linear):
    """Tanh of a linear layer; the gradient of its bias is a long sum."""

    def forward(self, x):
        return torch.tanh(super().forward(x))


class Rectified(torch.nn.Linear):
    """A linear layer and a ReLU, which has a kink; the gradient of its bias is a long sum."""

    def forward(self, x):
        return torch.relu(super().forward(x) + 8.0)
