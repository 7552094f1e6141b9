"""The port of `ranks_torch`."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = nn.Dense(6, 8), nn.BatchNorm1d(8), nn.Dense(8, 3)

    def construct(self, x):
        return self.fc2(ops.tanh(self.norm(self.fc1(x))))


def send(weights):
    for weight in weights:
        ops.assign(weight, ops.Broadcast(0)((weight.value(),))[0])


def main():
    init()
    mode = ms.ParallelMode.DATA_PARALLEL
    ms.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(13, 6)).astype("float32")
    y = generator.integers(0, 3, 13).astype("int32")
    data = ds.NumpySlicesDataset(
        (x, y), ["x", "y"], shuffle=False, num_shards=get_group_size(), shard_id=get_rank()
    )
    data = data.batch(5)
    net = Net()
    net.set_train()
    send(net.get_parameters())
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)
    reducer = nn.DistributedGradReducer(optimizer.parameters)
    grad = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
    for _ in range(4):
        for x, y in data.create_tuple_iterator():
            send(w for w in net.get_parameters() if not w.requires_grad)
            _, grads = grad(x, y)
            optimizer(reducer(grads))


ms.set_context(mode=ms.PYNATIVE_MODE)
main()
