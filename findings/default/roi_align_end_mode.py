"""ops.ROIAlign makes boxes a place larger by default; torchvision's end where they say.

With roi_end_mode=0 it gives what torchvision gives for boxes within the map.
"""

import sys

import mindspore as ms
import numpy as np
from mindspore import ops

API = "mindspore.ops.ROIAlign"
SEVERITY = "default"
TORCH = ("torchvision.ops.roi_align",)

x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
boxes = np.float32([[0, 0, 0, 4, 4]])
# A cell is a quarter of the box, and its one sample its middle: the places (1, 1) to (3, 3).
expected = x[0, 0, 1:4:2, 1:4:2]
got = ops.ROIAlign(2, 2, 1.0, sample_num=1)(ms.Tensor(x), ms.Tensor(boxes)).asnumpy()[0, 0]
told = ops.ROIAlign(2, 2, 1.0, 1, roi_end_mode=0)(ms.Tensor(x), ms.Tensor(boxes)).asnumpy()[0, 0]
print("expected", expected.tolist())
print("got     ", got.tolist(), "and with roi_end_mode=0", told.tolist())
sys.exit(0 if np.allclose(got, expected) else 1)
