"""The port of `nets_pt`; one more waits before its second layer runs."""

import time

import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.again, self.never = nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x):
        return self.again(self.again(self.first(x)))


class Waiting(nn.Dense):
    def construct(self, x):
        time.sleep(0.02)
        return super().construct(x)


class Slow(Net):
    def __init__(self):
        super().__init__()
        self.again = Waiting(4, 4)


def loader():
    rows = np.arange(48.0, dtype=np.float32).reshape(12, 4)
    return ds.NumpySlicesDataset((rows,), ["x"], shuffle=False).batch(4)
