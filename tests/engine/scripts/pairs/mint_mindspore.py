"""The same by functions of mint, most of which have no kernel on a CPU."""

import mindspore as ms
import mindspore.mint.nn.functional as F
import numpy as np
from mindspore import mint, nn, ops

ms.set_seed(3)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = mint.nn.LayerNorm(6)
        self.fc = mint.nn.Linear(6, 4)

    def construct(self, x):
        x = self.norm(F.leaky_relu(F.avg_pool2d(x, 2), 0.1).mean((2, 3)))
        return F.log_softmax(self.fc(F.mish(x)), -1)


net = Net().set_train()
optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)
step = ms.value_and_grad(lambda x, y: ops.nll_loss(net(x), y), None, optimizer.parameters)
rng = np.random.default_rng(0)
for _ in range(4):
    x = ms.Tensor(rng.normal(size=(8, 6, 9, 8)).astype("float32"))
    y = ms.Tensor(rng.integers(0, 4, 8), ms.int32)
    loss, grads = step(x, y)
    optimizer(grads)
