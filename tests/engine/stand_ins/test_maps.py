"""What stands for operators on maps gives PyTorch's values and gradients."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint

from equivalence import on_cpu

MAP = np.random.default_rng(0).normal(size=(2, 4, 5, 6)).astype(np.float32)
WEIGHT = np.random.default_rng(1).normal(size=(4, 3, 3, 2)).astype(np.float32)
RESIZED = [
    {"size": (7, 4), "align_corners": False},
    {"size": (7, 4), "align_corners": True},
    {"scale_factor": 2.0, "align_corners": False},
    {"size": (2, 3), "align_corners": False},
]
TRANSPOSED = [
    {},
    {"stride": 2, "padding": 1, "output_padding": 1},
    {"stride": (2, 1), "padding": 3, "dilation": 2},
]
UNFOLDED = [
    {"kernel_size": 2},
    {"kernel_size": (3, 2), "dilation": (1, 2), "padding": (1, 0), "stride": (2, 1)},
]
PADDED = [(1, 2), (0, 1, 2, 0), (-1, 2, 3, -2)]


def resized(mode, **settings):
    return lambda nn, x, _: nn.interpolate(x, mode=mode, **settings)


CASES = {
    **{
        f"{mode}{n}": resized(mode, **RESIZED[n])
        for mode in ("bilinear", "bicubic")
        for n in range(4)
    },
    **{
        f"transposed{n}": lambda nn, x, w, each=each: nn.conv_transpose2d(x, w, **each)
        for n, each in enumerate(TRANSPOSED)
    },
    "transposed in groups": lambda nn, x, w: nn.conv_transpose2d(x, w, groups=2),
    **{
        f"unfold{n}": lambda nn, x, _, each=each: nn.unfold(x, **each)
        for n, each in enumerate(UNFOLDED)
    },
    **{
        f"padded{n}": lambda nn, x, _, each=each: nn.pad(x, each, value=0.5)
        for n, each in enumerate(PADDED)
    },
    "avg_pool1d": lambda nn, x, _: nn.avg_pool1d(x[0], 3, 2, 1),
    "adaptive_avg_pool1d": lambda nn, x, _: nn.adaptive_avg_pool1d(x[0], 3),
    "max_pool2d": lambda nn, x, _: nn.max_pool2d(x, 3, 2, 1),
}


@pytest.mark.parametrize("call", CASES.values(), ids=CASES)
def test_values_and_gradients_are_pytorchs(call):
    x, weight = torch.tensor(MAP, requires_grad=True), torch.tensor(WEIGHT)
    wanted = call(torch.nn.functional, x, weight)
    (wanted**2).sum().backward()

    def squares(x):
        return (call(mint.nn.functional, x, ms.Tensor(WEIGHT)) ** 2).sum()

    with on_cpu() as stand_ins:
        got = call(mint.nn.functional, ms.Tensor(MAP), ms.Tensor(WEIGHT))
        gradient = ms.grad(squares)(ms.Tensor(MAP))
    assert stand_ins.used
    np.testing.assert_allclose(got.asnumpy(), wanted.detach().numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(gradient.asnumpy(), x.grad.numpy(), rtol=1e-4, atol=1e-4)
