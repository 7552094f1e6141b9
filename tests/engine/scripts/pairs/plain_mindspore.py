import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, pad_mode="pad", padding=1, has_bias=True)
        self.bn = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(p=0.2)
        self.fc = nn.Dense(4 * 9, 5)

    def construct(self, x):
        x = ops.gelu(self.bn(self.conv(x)), approximate="none")
        x = ops.flatten(ops.avg_pool2d(x, 2, 2))
        return self.fc(self.drop(x))


rng = np.random.default_rng(0)
images = rng.normal(size=(64, 1, 6, 6)).astype("float32")
labels = rng.integers(0, 5, 64).astype("int32")

net = Net()
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
rates = [0.05 * (1 + np.cos(np.pi * k / 16)) for k in range(16)]
groups = [{"params": net.trainable_params()}]
optimizer = nn.SGD(groups, rates, momentum=0.9, weight_decay=1e-2)


def forward(x, y):
    return criterion(net(x), y)


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for epoch in range(2):
    order = np.random.default_rng(epoch).permutation(64)
    for start in range(0, 64, 8):
        index = order[start : start + 8]
        x, y = ms.Tensor(images[index]), ms.Tensor(labels[index])
        loss, grads = step(x, y)
        grads = ops.clip_by_global_norm(grads, 0.5)
        optimizer(grads)
        print(epoch, start, loss)
