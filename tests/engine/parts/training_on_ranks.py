"""A training step that is small, and a declaration of it, for tests that launch nothing."""

import numpy as np
import torch
from torch import nn, optim

from pt_reference.steps import TrainStep, WithLoss


class Network(nn.Module):
    """Rows N,4 -> logits N,3."""

    def __init__(self, norm: bool):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(4, 5, bias=False), nn.Linear(5, 3)
        self.norm = nn.BatchNorm1d(5) if norm else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(torch.tanh(self.norm(self.fc1(x))))


def step(norm: bool = True) -> TrainStep:
    """SGD with momentum."""
    network = WithLoss(Network(norm), nn.CrossEntropyLoss())
    return TrainStep(network, optim.SGD(network.parameters(), 0.1, 0.9))


class Bare(nn.Module):
    """A step that updates by hand: neither `optimizer` nor `update`."""

    def __init__(self):
        super().__init__()
        self.network = Network(norm=False)


def whole_batch_gradients(sample, slots) -> dict[str, np.ndarray]:
    """Of the first batch of all ranks as one batch, by PyTorch in float64."""
    module = step(norm=False).network.double()
    weights = {name: torch.from_numpy(sample.weight(name, s.shape)) for name, s in slots.items()}
    module.load_state_dict(weights)
    images, labels = (torch.from_numpy(v.reshape(-1, *v.shape[2:])) for v in sample.inputs(1))
    module(images.double(), labels.long()).backward()
    return {name: parameter.grad.numpy() for name, parameter in module.named_parameters()}
