"""RandomAffine of a PIL picture turns and scales about a centre half a pixel off.

torchvision's, and MindSpore's own native Affine, turn about the middle of the picture. With ranges
that hold one number alone, both sides have no choice.
"""

import sys

import numpy as np
from mindspore.dataset import vision
from mindspore.dataset.vision import Inter
from PIL import Image

API = "mindspore.dataset.vision.RandomAffine"
SEVERITY = "silent"
WHEN = "a PIL picture"
TORCH = ("torchvision.transforms.RandomAffine",)

# A square in the middle of a picture that is turned by half a turn: it stays where it is.
picture = np.zeros((8, 8, 3), np.uint8)
picture[3:5, 3:5] = 255
turned = vision.RandomAffine((180, 180), resample=Inter.NEAREST)(Image.fromarray(picture))
rows = np.flatnonzero(np.array(turned)[..., 0].any(1))
print("expected the square in rows 3 and 4")
print("got     ", "the square in rows", *rows)
sys.exit(0 if rows.tolist() == [3, 4] else 1)
