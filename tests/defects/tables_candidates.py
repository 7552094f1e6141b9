"""Networks with masks and tables, with one mistake each."""

import mindspore as ms
import numpy as np
from mindspore import ops

from ms_models import tables


class Unmasked(tables.Attention):
    """Attends to what is later, too; the mask is kept, and used nowhere."""

    def construct(self, x):
        queries = self.rotary(self.split(self.q_proj(x)))
        keys = self.rotary(self.split(self.k_proj(x)))
        scores = ops.matmul(queries, keys.swapaxes(-1, -2)) / self.size**0.5
        mixed = ops.matmul(ops.softmax(scores, -1), self.split(self.v_proj(x))).swapaxes(1, 2)
        return self.o_proj(mixed.reshape(x.shape))


class KeysUnturned(tables.Attention):
    """Turns the queries alone."""

    def construct(self, x):
        queries, keys = self.rotary(self.split(self.q_proj(x))), self.split(self.k_proj(x))
        scores = ops.matmul(queries, keys.swapaxes(-1, -2)) / self.size**0.5
        scores = scores.masked_fill(ops.logical_not(self.mask), -float("inf"))
        mixed = ops.matmul(ops.softmax(scores, -1), self.split(self.v_proj(x))).swapaxes(1, 2)
        return self.o_proj(mixed.reshape(x.shape))


class Interleaved(tables.Rotary):
    """Turns neighbouring channels, as the first paper has it, not the two halves."""

    def construct(self, x):
        cosines, sines = self.angles()
        half = self.size // 2
        cosines = cosines[:, :half].repeat_interleave(2, -1)
        sines = sines[:, :half].repeat_interleave(2, -1)
        even, odd = x[..., 0::2], x[..., 1::2]
        turned = ops.stack((-odd, even), -1).reshape(x.shape)
        return x * cosines + turned * sines


class TablesInHalf(tables.Rotary):
    """Angles in half precision, as under a mixed precision that spares no layer."""

    def angles(self):
        inverse = self.inv_freq.astype(ms.float16)
        angles = self.positions.astype(ms.float16)[:, None] * inverse[None]
        angles = ops.cat((angles, angles), -1).astype(ms.float32)
        return ops.cos(angles), ops.sin(angles)


class Reversed(tables.Timesteps):
    """Sines first, as most write it."""

    def construct(self, timesteps):
        half = self.width // 2
        inverse = ops.exp(-float(np.log(10000)) * ops.arange(half).astype(ms.float32) / half)
        angles = timesteps[:, None].astype(ms.float32) * inverse[None]
        embedding = ops.cat((ops.sin(angles), ops.cos(angles)), -1)
        hidden = self.linear_1(embedding)
        return self.linear_2(hidden * ops.sigmoid(hidden))


class LastIsBase(Reversed):
    """The last frequency is one to the base: divided by one less than half."""

    def construct(self, timesteps):
        half = self.width // 2
        steps = ops.arange(half).astype(ms.float32) / (half - 1)
        angles = timesteps[:, None].astype(ms.float32) * ops.exp(-float(np.log(10000)) * steps)
        hidden = self.linear_1(ops.cat((ops.cos(angles), ops.sin(angles)), -1))
        return self.linear_2(hidden * ops.sigmoid(hidden))


class FromZero(tables.Centred):
    """The centre starts at zero."""

    def __init__(self, features, classes):
        super().__init__(features, classes)
        self.centre.set_data(ops.zeros(classes, ms.float32))


class OfAnotherDataset(tables.Pixels):
    """The means and deviations of CIFAR-10, for those of ImageNet."""

    MEAN, STD = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
