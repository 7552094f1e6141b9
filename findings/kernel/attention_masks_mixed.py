"""MultiheadAttention lets padded keys through where a boolean padding mask meets a float mask.

So do the Transformer layers: a causal mask is made of floats, a padding mask of booleans.

Cause: `ops.multi_head_attention_forward` adds the two masks (`attn_mask + key_padding_mask`) where
`attn_mask` is floating. A boolean True counts as 1 there: padded keys get a score that is higher by
1, not minus infinity.
"""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.MultiheadAttention"
SEVERITY = "silent"
WHEN = "a boolean mask beside a float mask"
TORCH = ("torch.nn.MultiheadAttention",)

x = np.float32([[[1, 2], [3, 4], [50, 60]]])
causal, padded = np.zeros((3, 3), np.float32), np.array([[False, False, True]])
reference = torch.nn.MultiheadAttention(2, 1, batch_first=True)
candidate = nn.MultiheadAttention(2, 1, batch_first=True)
parameters = candidate.parameters_dict()
for name, value in reference.state_dict().items():
    weight = torch.eye(2).repeat(value.shape[0] // 2, 1) if value.ndim == 2 else value * 0
    value.copy_(weight)
    parameters[name].set_data(ms.Tensor(weight.numpy()))
with torch.no_grad():
    masks = {"attn_mask": torch.tensor(causal), "key_padding_mask": torch.tensor(padded)}
    expected = reference(*[torch.tensor(x)] * 3, **masks)[0][0, 0].numpy()
masks = {"attn_mask": ms.Tensor(causal), "key_padding_mask": ms.Tensor(padded)}
got = candidate(*[ms.Tensor(x)] * 3, **masks)[0][0, 0].asnumpy()
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, rtol=1e-4) else 1)
