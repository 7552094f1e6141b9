"""The gradient of ROIAlign with roi_end_mode=0 is that of roi_end_mode=1: boxes a place larger.

The operator is linear in the map, so its gradient is what it makes of maps with a single 1.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import ops

API = "mindspore.ops.ROIAlign"
SEVERITY = "silent"
WHEN = "roi_end_mode=0"
TORCH = ("torchvision.ops.roi_align",)

boxes = ms.Tensor(np.float32([[0, 0, 0, 4, 4]]))
pool = ops.ROIAlign(2, 2, 1.0, sample_num=1, roi_end_mode=0)


def total(x):
    """The sum over the four cells of the box."""
    return pool(x, boxes).sum()


places = np.eye(25, dtype=np.float32).reshape(25, 1, 1, 5, 5)
expected = np.array([total(ms.Tensor(x)).asnumpy() for x in places]).reshape(5, 5)
got = ms.grad(total)(ms.Tensor(places[0])).asnumpy()[0, 0]
print("expected", expected.tolist())
print("got     ", got.tolist())
sys.exit(0 if np.allclose(got, expected) else 1)
