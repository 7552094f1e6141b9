"""nn.LayerNorm refuses to normalise from the last but one axis by a negative number.

-1 works, and is the default, also where normalized_shape has two axes.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.LayerNorm"
SEVERITY = "raises"
ERROR = "For primitive[LayerNorm], input_x's rank is"
TORCH = ()

x = np.ones((4, 2, 3), np.float32)
layer = nn.LayerNorm((2, 3), begin_norm_axis=-2, begin_params_axis=-2)
expected = torch.nn.LayerNorm((2, 3))(torch.tensor(x)).shape
try:
    got = layer(ms.Tensor(x)).asnumpy().shape
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
