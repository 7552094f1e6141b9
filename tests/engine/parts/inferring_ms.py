"""Networks that only infer: ports, of which some give no gradients."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

from equivalence import arrays


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn, self.fc = nn.BatchNorm2d(4), nn.Dense(4, 2)

    def construct(self, x):
        return self.fc(ops.relu(self.bn(self.conv(x))).mean((2, 3)))


class Scored(nn.Cell):
    """It sorts by NumPy, through which no gradient flows."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(4, 3)

    def construct(self, x):
        return ms.Tensor(self.ordered(self.fc(x).asnumpy()))

    def ordered(self, scores):
        return np.sort(scores, -1)


class Descending(Scored):
    def ordered(self, scores):
        return -np.sort(-scores, -1)


HELD = {
    "weight": np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(3, 4),
    "bias": np.linspace(0.0, 0.5, 3, dtype=np.float32),
}
"""The weights that a server holds."""


def served(x):
    return {"scores": [np.sort(x @ HELD["weight"].T + HELD["bias"], -1)], "count": len(x)}


@arrays
def predict(x):
    return served(x)["scores"][0]


@arrays
def predict_scaled(x):
    return 1.001 * served(x)["scores"][0]


@arrays
def predict_nested(x):
    return served(x)
