"""The port of `parts_torch`, whose layers are cut over the ranks: the first by columns."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.PYNATIVE_MODE)
init()
RANK, SIZE = get_rank(), get_group_size()
WHOLE = np.random.default_rng(1)


def drawn(*shape):
    return WHOLE.normal(0.0, 0.3, size=shape).astype("float32")


class Sum(nn.Cell):
    """A sum over the ranks, whose gradient each rank has."""

    def __init__(self):
        super().__init__()
        self.sum = ops.AllReduce()

    def construct(self, x):
        return self.sum(x)

    def bprop(self, x, out, dout):  # noqa: ARG002
        return (dout,)


class Column(nn.Cell):
    def __init__(self, wide, features):
        super().__init__()
        self.weight = Parameter(Tensor(np.split(drawn(features, wide), SIZE, 0)[RANK]))
        self.bias = Parameter(Tensor(np.split(drawn(features), SIZE)[RANK]))

    def construct(self, x):
        return ops.matmul(x, self.weight.T) + self.bias


class Row(nn.Cell):
    def __init__(self, wide, features):
        super().__init__()
        self.weight = Parameter(Tensor(np.split(drawn(features, wide), SIZE, 1)[RANK]))
        self.bias = Parameter(Tensor(drawn(features)))
        self.sum = Sum()

    def construct(self, x):
        return self.sum(ops.matmul(x, self.weight.T)) + self.bias


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.up, self.down = Column(6, 8), Row(8, 3)

    def construct(self, x):
        return self.down(ops.tanh(self.up(x)))


net = Net()
net.set_train()
criterion = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)
grad = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
generator = np.random.default_rng(0)
for _ in range(4):
    x = Tensor(generator.normal(size=(8, 6)).astype("float32"))
    y = Tensor(generator.integers(0, 3, 8).astype("int32"))
    _, grads = grad(x, y)
    optimizer(grads)
