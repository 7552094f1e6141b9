"""The native Decode divides 16-bit grey by 256; PIL's conversion to RGB cuts off above 255."""

import io
import sys

import numpy as np
from mindspore.dataset import vision
from PIL import Image

API = "mindspore.dataset.vision.Decode"
SEVERITY = "silent"
WHEN = "16 bits of grey"
TORCH = ("torchvision.io.read_image",)

picture = np.arange(0, 2560, 10, dtype=np.uint16).reshape(16, 16)
file = io.BytesIO()
Image.fromarray(picture).save(file, "PNG")
expected = np.asarray(Image.open(file).convert("RGB"))[..., 0]
got = vision.Decode()(np.frombuffer(file.getvalue(), np.uint8))[..., 0]
print("expected", expected[0])
print("got     ", got[0])
sys.exit(0 if np.array_equal(got, expected) else 1)
