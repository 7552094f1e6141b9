"""coo_concat of values that are an input gives zeros in graph mode, and a gradient of zeros."""

import sys

import mindspore as ms
import torch
from mindspore import nn

API = "mindspore.ops.coo_concat"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ("torch.sparse_coo_tensor",)

PLACES = ms.Tensor([[0, 0], [1, 1]], ms.int64)


class Concat(nn.Cell):
    def construct(self, values):
        sparse = ms.COOTensor(PLACES, values, (2, 2))
        return ms.ops.coo_concat((sparse, sparse), 0).to_dense()


ms.set_context(mode=ms.GRAPH_MODE)
sparse = torch.eye(2).mul(torch.tensor([1.0, 2.0])).to_sparse()
expected = torch.cat((sparse, sparse), 0).to_dense().tolist()
got = Concat()(ms.Tensor([1.0, 2.0])).asnumpy().tolist()
print("expected", expected)
print("got     ", got)
sys.exit(0 if got == expected else 1)
