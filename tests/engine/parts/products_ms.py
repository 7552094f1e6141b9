"""Every way to write a convolution or a matrix product in MindSpore that has a CPU kernel."""

import mindspore as ms
from mindspore import mint, nn, ops


def at():
    return lambda x, w: x @ w


def method():
    return lambda x, w: x.matmul(w)


def matmul():
    return ops.matmul


def mint_matmul():
    return mint.matmul


def linear():
    return mint.nn.functional.linear


def dense():
    return ops.dense


def bmm():
    return ops.bmm


def mint_bmm():
    return mint.bmm


def addmm():
    return lambda x, w: ops.addmm(x, x, w)


def baddbmm():
    return lambda x, w: ops.baddbmm(x, x, w)


def dot():
    return ops.dot


def tensor_dot():
    return lambda x, w: ops.tensor_dot(x, w, 1)


def conv1d():
    return ops.conv1d


def conv2d():
    return ops.conv2d


def conv3d():
    return ops.conv3d


def made_inside():
    return lambda x, w: ops.MatMul()(x, w)


def convolution(in_channels: int, out_channels: int, kernel_size: int) -> nn.Conv2d:
    return nn.Conv2d(in_channels, out_channels, kernel_size, pad_mode="valid", has_bias=True)


class Flipped(nn.Conv2d):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int):
        super().__init__(in_channels, out_channels, kernel_size, pad_mode="valid", has_bias=True)

    def construct(self, x):
        return self.bias_add(self.conv2d(x, ops.flip(self.weight, (3,))), self.bias)


class Scaled(nn.Conv2d):
    def __init__(self, in_channels: int, out_channels: int, kernel_size: int):
        super().__init__(in_channels, out_channels, kernel_size, pad_mode="valid", has_bias=True)

    def construct(self, x):
        return 1.002 * super().construct(x)


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5)

    def construct(self, x):
        return self.lstm(x)[0]


class Casting(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(6, 5).to_float(ms.float16)

    def construct(self, x):
        return ops.cast(self.layer(x), ms.float32)


def by_identity():
    """x, as a product with the matrix of ones on the diagonal."""
    return lambda x: ops.matmul(x, ops.eye(x.shape[-1], x.shape[-1], ms.float32))


def gelu_by_tanh(approximate: str) -> nn.GELU:  # noqa: ARG001
    return nn.GELU(approximate=True)
