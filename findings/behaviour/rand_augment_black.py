"""RandAugment gives a black picture in about a quarter of its draws.

torchvision's, of the same `num_ops` and `magnitude`, gives none. Each of the two operations that it
draws blackens with a probability of about one in seven.
"""

import sys

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision

API = "mindspore.dataset.vision.RandAugment"
SEVERITY = "silent"
TORCH = ("torchvision.transforms.RandAugment",)

ds.config.set_seed(1)
picture = np.random.default_rng(0).integers(60, 200, (32, 32, 3)).astype(np.uint8)
data = ds.NumpySlicesDataset(np.stack([picture] * 200), ["image"], shuffle=False)
data = data.map(vision.RandAugment(), ["image"], num_parallel_workers=1)
rows = data.create_dict_iterator(num_epochs=1, output_numpy=True)
black = sum(not row["image"].any() for row in rows)
print("expected 0 of 200 pictures are black")
print(f"got      {black} of 200 pictures are black")
sys.exit(0 if black == 0 else 1)
