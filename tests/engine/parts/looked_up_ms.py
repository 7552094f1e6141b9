"""Networks in MindSpore whose code looks up tables in globals and lists, right and wrong."""

import numpy as np
from mindspore import nn

from tests.engine.parts import looked_up_wrong

ALPHAS = [0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.3, 0.1]
ALPHAS_OF_ANOTHER = [0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.03, 0.1]
NOISE_LEVELS = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0], np.float32)
LAST_LEVEL_DOUBLED = np.array([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 8.0], np.float32)
GUIDANCE = (1.0, 1.5, 2.0, 3.0, 4.5)
WIDTHS = {"small": [4, 4, 4], "large": [8, 8, 16]}
"""A constructor alone reads it: the wrong width of the large network is no matter of this one."""


def guidance(step):
    """How strong the guidance of a step is."""
    return GUIDANCE[step]


class Schedule:
    """A schedule that is no layer. last: of its betas."""

    def __init__(self, last: float = 0.1):
        self.betas = [*(0.01 * (1 + step) for step in range(9)), last]


class Sampler(nn.Cell):
    """A step of a sampler, right in another way of writing: other names, another order of axes."""

    def __init__(self, last: float = 0.1, anchor: int = 62):
        super().__init__()
        self.fc = nn.Dense(WIDTHS["small"][0], 4)
        self.anchors = [[10, 13, 16], [30, 33, 23], [30, 61, anchor]]
        self.order = (0, 1, 2)
        self.schedule = Schedule(last)

    def alpha(self, step):
        """How much of the signal is left."""
        return ALPHAS[step]

    def level(self, step):
        """How much noise there is."""
        return float(NOISE_LEVELS[step])

    def strength(self, step):
        """How strong the guidance is."""
        return guidance(step)

    def construct(self, x):
        scale = 0.0
        for step in range(x.shape[0] - 1):
            strength = self.strength(step) * self.schedule.betas[step]
            scale = scale + self.alpha(step) * self.level(step) * strength
        return self.fc(x) * scale + sum(self.anchors[0]) + self.order[0]


class OfAnother(Sampler):
    """A point that slipped in a table of another name."""

    def alpha(self, step):
        return ALPHAS_OF_ANOTHER[step]


class LastDoubled(Sampler):
    """The last number of an array is another one."""

    def level(self, step):
        return float(LAST_LEVEL_DOUBLED[step])


class GuidedLess(Sampler):
    """The table of a module, of the same name, has another last number."""

    def strength(self, step):
        return looked_up_wrong.GUIDANCE[step]


def last_beta() -> Sampler:
    """The last beta of a schedule, which no layer holds, is another one."""
    return Sampler(last=0.2)


def last_anchor() -> Sampler:
    """The last anchor, in a list of lists, is another one."""
    return Sampler(anchor=26)


class OfTensors(nn.Cell):
    """A list of the module for what the original has as a tensor."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 4)

    def look(self):
        """The first number."""
        return ALPHAS[0]

    def construct(self, x):
        return self.fc(x) * self.look()


class OfTensorsWrong(OfTensors):
    """The seventh is another one."""

    def look(self):
        return ALPHAS_OF_ANOTHER[0]
