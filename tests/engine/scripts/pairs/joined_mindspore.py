"""The port of `joined_torch` as one process, which has the batches of all ranks."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_context(mode=ms.PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Dense(6, 8), nn.Dense(8, 3)
        self.norm = nn.LayerNorm((8,), epsilon=1e-5)

    def construct(self, x):
        return self.fc2(ops.tanh(self.norm(self.fc1(x))))


generator = np.random.default_rng(0)
x = generator.normal(size=(24, 6)).astype("float32")
y = generator.integers(0, 3, 24).astype("int32")
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(8)
net = Net()
net.set_train()
criterion = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.2, momentum=0.9)
step = nn.TrainOneStepCell(nn.WithLossCell(net, criterion), optimizer)
for images, labels in data.create_tuple_iterator(num_epochs=2):
    step(images, labels)
