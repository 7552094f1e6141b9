"""The native Decode of a CMYK JPEG is off by a level where there is black ink."""

import io
import sys

import numpy as np
from mindspore.dataset import vision
from PIL import Image

API = "mindspore.dataset.vision.Decode"
SEVERITY = "silent"
WHEN = "CMYK"
TORCH = ("torchvision.io.read_image",)

inks = np.random.default_rng(0).integers(256, size=(16, 16, 4), dtype=np.uint8)
file = io.BytesIO()
Image.fromarray(inks, "CMYK").save(file, "JPEG")
expected = np.asarray(Image.open(file).convert("RGB"))[0, :, 0]
got = vision.Decode()(np.frombuffer(file.getvalue(), np.uint8))[0, :, 0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.array_equal(got, expected) else 1)
