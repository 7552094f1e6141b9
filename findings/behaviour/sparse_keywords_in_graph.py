"""COOTensor and CSRTensor take no keywords in graph mode."""

import sys

import mindspore as ms
import torch
from mindspore import nn

API = "mindspore.COOTensor"
SEVERITY = "raises"
ERROR = "input[0] should be Tensor, but got Keyword"
WHEN = "graph"
TORCH = ()


class Dense(nn.Cell):
    def construct(self, places, values):
        return ms.COOTensor(indices=places, values=values, shape=(2, 2)).to_dense()


ms.set_context(mode=ms.GRAPH_MODE)
places = [[0, 0], [1, 1]]
expected = torch.sparse_coo_tensor(torch.tensor(places).T, torch.ones(2)).to_dense().tolist()
try:
    got = Dense()(ms.Tensor(places, ms.int32), ms.ops.ones(2)).asnumpy().tolist()
except (RuntimeError, TypeError, ValueError) as error:
    message = str(error).replace("-", " ").partition("C++")[0]
    got = f"{type(error).__name__}: {' '.join(message.split())}"
print("expected", expected)
print("got     ", got)
sys.exit(1 if isinstance(got, str) else 0)
