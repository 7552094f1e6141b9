"""PIL transforms in two maps are not those of one map: the second map runs the native operator.

A picture leaves a map as an array, so that Resize after ToPIL is PIL's within one map, and
MindSpore's own, without antialiasing, in a map of its own.
"""

import sys

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import vision

API = "mindspore.dataset.Dataset.map"
SEVERITY = "silent"
TORCH = ()

picture = (np.indices((64, 64)).sum(0) % 2 * 255).astype(np.uint8)[..., None].repeat(3, 2)
results = []
for apart in (False, True):
    to_pil, resize = vision.ToPIL(), vision.Resize((24, 24))
    data = ds.NumpySlicesDataset([picture], ["image"], shuffle=False)
    for operations in [[to_pil], [resize]] if apart else [[to_pil, resize]]:
        data = data.map(operations, ["image"])
    results.append(next(data.create_tuple_iterator(num_epochs=1, output_numpy=True))[0])
one, two = results
print(f"expected grey levels from {one.min()} to {one.max()}, as of one map")
print(f"got      grey levels from {two.min()} to {two.max()} of two maps")
sys.exit(0 if np.array_equal(one, two) else 1)
