"""The native CenterCrop rounds half a margin of 3, 7, 11 ... pixels down, torchvision to the even.

The crop is then shifted by a pixel; MindSpore's own crop of PIL pictures agrees with torchvision.
"""

import sys

import numpy as np
from mindspore.dataset import vision

API = "mindspore.dataset.vision.CenterCrop"
SEVERITY = "silent"
WHEN = "an odd margin"
TORCH = ("torchvision.transforms.CenterCrop",)

column = np.arange(6, dtype=np.uint8)
picture = np.broadcast_to(column[:, None, None], (6, 6, 3)).copy()
top = round((6 - 3) / 2.0)  # as torchvision.transforms.functional.center_crop
expected, got = column[top : top + 3], vision.CenterCrop(3)(picture)[:, 0, 0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected) else 1)
