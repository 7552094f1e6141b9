"""CenterCrop of a PIL picture that is smaller pads odd margins of 3, 7, 11 ... a pixel lower.

torchvision pads half the margin, rounded down, above and to the left of such a picture.
"""

import sys

import numpy as np
from mindspore.dataset import vision
from PIL import Image

API = "mindspore.dataset.vision.CenterCrop"
SEVERITY = "silent"
WHEN = "a PIL picture smaller than the crop"
TORCH = ("torchvision.transforms.CenterCrop",)

picture = Image.fromarray(np.full((4, 7, 3), 255, np.uint8))
above = (7 - 4) // 2  # as torchvision.transforms.functional.center_crop
expected = np.zeros(7, np.uint8)
expected[above : above + 4] = 255
got = np.asarray(vision.CenterCrop(7)(picture))[:, 0, 0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected) else 1)
