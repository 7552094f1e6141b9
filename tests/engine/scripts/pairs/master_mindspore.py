"""The port of `master_torch`."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

net = nn.SequentialCell(nn.Dense(12, 16), nn.Tanh(), nn.Dense(16, 5)).set_train()
for weight in net.get_parameters():
    weight.set_dtype(ms.float16)
weights = net.trainable_params()
master = [ms.Parameter(w.value().astype(ms.float32), name=f"master.{w.name}") for w in weights]
optimizer = nn.SGD(master, 0.1, momentum=0.9)


def forward(x, y):
    return ops.cross_entropy(net(x).astype(ms.float32), y) * 128.0


grad = ms.value_and_grad(forward, None, weights)
rng = np.random.default_rng(7)
for _ in range(4):
    x = ms.Tensor(rng.normal(size=(16, 12)).astype("float16"))
    y = ms.Tensor(rng.integers(0, 5, 16), ms.int32)
    loss, grads = grad(x, y)
    optimizer(tuple(g.astype(ms.float32) / 128.0 for g in grads))
    for copy, weight in zip(master, weights, strict=True):
        weight.set_data(copy.value().astype(weight.dtype))
