"""to_dense keeps the last of repeated elements in graph mode; in PyNative mode it adds them.

The gradient is that of the sum in both modes.
"""

import sys

import mindspore as ms
import torch
from mindspore import nn

API = "mindspore.COOTensor.to_dense"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ("torch.Tensor.to_dense",)


class Dense(nn.Cell):
    def construct(self, places, values):
        return ms.COOTensor(places, values, (2, 2)).to_dense()


ms.set_context(mode=ms.GRAPH_MODE)
places, values = [[0, 0], [0, 0], [1, 1]], [1.0, 2.0, 4.0]
sparse = torch.sparse_coo_tensor(torch.tensor(places).T, torch.tensor(values), (2, 2))
expected = sparse.to_dense().tolist()
got = Dense()(ms.Tensor(places, ms.int32), ms.Tensor(values, ms.float32)).asnumpy().tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
