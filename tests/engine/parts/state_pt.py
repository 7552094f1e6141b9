"""Training steps in PyTorch that keep more than their network; partners in `state_ms.py`."""

import copy

import torch
from torch.optim.swa_utils import AveragedModel

from pt_reference.state import ScaledStep
from tests.engine.parts.steps_pt import Classifier, Given, Step


class Averaging(Step):
    """Keeps a copy of the classifier, with its statistics, that follows it."""

    def __init__(self):
        super().__init__(Classifier(), fall=1.0, weight_decay=0.0)
        self.teacher = copy.deepcopy(self.network)

    def forward(self, *batch):
        loss = super().forward(*batch)
        with torch.no_grad():
            pairs = zip(self.teacher.parameters(), self.network.parameters(), strict=True)
            for mean, parameter in pairs:
                mean.lerp_(parameter, 0.125)
            for mean, buffer in zip(self.teacher.buffers(), self.network.buffers(), strict=True):
                mean.copy_(buffer)
        return loss


class Swa(Step):
    """Keeps PyTorch's own average."""

    def __init__(self):
        super().__init__(Given())
        self.average = AveragedModel(self.network)
        self.untouched = torch.ones(3)  # of which the candidate knows nothing

    def forward(self, *batch):
        loss = super().forward(*batch)
        self.average.update_parameters(self.network)
        return loss


class Overflowing(ScaledStep):
    """A loss that overflows single precision at the first scale, and not at half of it."""

    def __init__(self):
        network = Given()
        super().__init__(network, torch.optim.SGD(network.parameters(), 0.1), 2.0**127, 2)
