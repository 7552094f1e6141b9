"""In graph mode a cell called before its first set_train keeps the graph of evaluation."""

import sys

import mindspore as ms
import numpy as np
import torch
from mindspore import nn

API = "mindspore.nn.SequentialCell"
SEVERITY = "silent"
WHEN = "graph"
TORCH = ()

ms.set_context(mode=ms.GRAPH_MODE)
x = np.random.default_rng(0).normal(3, 2, (8, 2)).astype(np.float32)
reference = torch.nn.Sequential(torch.nn.BatchNorm1d(2)).eval()
reference(torch.tensor(x))
reference.train()
expected = reference(torch.tensor(x)).detach().numpy()[0]
net = nn.SequentialCell(nn.BatchNorm1d(2))
net(ms.Tensor(x))
net.set_train()
got = net(ms.Tensor(x)).asnumpy()[0]
print("expected", expected)
print("got     ", got)
sys.exit(0 if np.allclose(got, expected, atol=1e-4) else 1)
