"""Max pooling leaves out NaN: a diverged network looks as if it had not."""

import sys

import mindspore as ms
import numpy as np
import torch

API = "mindspore.ops.max_pool2d"
ALSO = {
    "mindspore.nn.MaxPool2d": "ms.nn.MaxPool2d(2, 2)(ms.Tensor(x)).ravel().asnumpy()",
    "mindspore.nn.MaxPool3d": "ms.nn.MaxPool3d((1, 2, 2), 2)(ms.Tensor(x[None])).ravel().asnumpy()",
}
SEVERITY = "silent"
WHEN = "NaN"
TORCH = (
    "torch.nn.functional.max_pool1d",
    "torch.nn.functional.max_pool2d",
    "torch.nn.functional.max_pool3d",
)

x = np.float32([1, np.nan, 2, 3]).reshape(1, 1, 2, 2)
expected = torch.nn.functional.max_pool2d(torch.tensor(x), 2).ravel().numpy()
got = ms.ops.max_pool2d(ms.Tensor(x), 2).ravel().asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected, equal_nan=True) else 1)
