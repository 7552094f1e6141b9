"""The port of `whole_torch` on ranks, each of which has its part of each batch."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_context(mode=ms.PYNATIVE_MODE)
init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.norm, self.fc2 = (
            nn.Dense(6, 8),
            nn.LayerNorm((8,), epsilon=1e-5),
            nn.Dense(8, 3),
        )

    def construct(self, x):
        return self.fc2(ops.tanh(self.norm(self.fc1(x))))


generator = np.random.default_rng(0)
x = generator.normal(size=(24, 6)).astype("float32")
y = generator.integers(0, 3, 24).astype("int32")
ranks, rank = get_group_size(), get_rank()
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=ranks, shard_id=rank)
data = data.batch(8 // ranks)
net = Net()
net.set_train()
for weight in net.get_parameters():
    ops.assign(weight, ops.Broadcast(0)((weight.value(),))[0])
criterion = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)
reducer = nn.DistributedGradReducer(optimizer.parameters)
grad = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
for images, labels in data.create_tuple_iterator(num_epochs=2):
    _, grads = grad(images, labels)
    optimizer(reducer(grads))
