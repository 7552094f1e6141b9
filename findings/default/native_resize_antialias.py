"""The native mindspore.dataset.vision.Resize does not antialias when it makes a picture smaller.

PIL, torchvision and MindSpore's own Resize after ToPIL do; up to 41 grey levels on photographs.
"""

import sys

import numpy as np
from mindspore.dataset import vision
from PIL import Image

API = "mindspore.dataset.vision.Resize"
SEVERITY = "silent"
TORCH = ("torchvision.transforms.Resize",)

picture = (np.indices((64, 64)).sum(0) % 2 * 255).astype(np.uint8)[..., None].repeat(3, 2)
expected = np.asarray(Image.fromarray(picture).resize((24, 24), Image.Resampling.BILINEAR))
got = vision.Resize((24, 24))(picture)
worst = np.abs(got.astype(int) - expected).max()
print(f"expected grey levels from {expected.min()} to {expected.max()} of a fine chequerboard")
print(f"got      grey levels from {got.min()} to {got.max()}, {worst} from PIL's")
sys.exit(0 if worst <= 1 else 1)
