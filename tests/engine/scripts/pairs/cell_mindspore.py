import mindspore as ms
import numpy as np
from mindspore import nn, ops


class WithLoss(nn.Cell):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def construct(self, x, y):
        return ops.smooth_l1_loss(self.net(x), y, beta=0.5, reduction="mean")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(4, 10)
        self.norm = nn.BatchNorm1d(10, momentum=0.8)
        self.out = nn.Dense(10, 2)

    def construct(self, x):
        return self.out(ops.tanh(self.norm(self.hidden(x))))


def data(steps):
    rng = np.random.default_rng(11)
    for _ in range(steps):
        x = rng.uniform(-1, 1, (6, 4)).astype("float32")
        yield x, np.stack([x.sum(1), x.prod(1)], 1)


def train(steps=10):
    net = WithLoss(Net())
    optimizer = nn.SGD(net.trainable_params(), 5e-2, momentum=0.9, nesterov=True)
    step = nn.TrainOneStepCell(net, optimizer)
    step.set_train()
    for x, y in data(steps):
        yield float(step(ms.Tensor(x), ms.Tensor(y)).asnumpy())
