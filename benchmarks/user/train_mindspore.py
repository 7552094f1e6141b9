"""The port of `train_torch.py`. With `--late` its rates are those of one step before, and with
`--still` its network stays in evaluation mode."""

import math
import sys

import mindspore as ms
import numpy as np
from mindspore import nn
from net_mindspore import Net

net = Net()
net.set_train("--still" not in sys.argv)
photos = np.random.default_rng(0).normal(size=(48, 3, 8, 8)).astype(np.float32)
labels = (np.arange(48) % 5).astype(np.int32)
late = "--late" in sys.argv
rates = [0.05 * (1 + math.cos(math.pi * max(step - late, 0) / 12)) / 2 for step in range(12)]
weights = [{"params": net.trainable_params()}]
optimizer = nn.SGD(weights, rates, momentum=0.9, weight_decay=1e-4)
criterion = nn.CrossEntropyLoss()


def forward(images, targets):
    return criterion(net(images), targets)


step = ms.value_and_grad(forward, None, optimizer.parameters)
for epoch in range(2):
    for start in range(0, 48, 8):
        images = ms.Tensor(photos[start : start + 8])
        targets = ms.Tensor(labels[start : start + 8])
        loss, gradients = step(images, targets)
        optimizer(gradients)
        print(f"epoch {epoch} loss {float(loss):.6f}")
