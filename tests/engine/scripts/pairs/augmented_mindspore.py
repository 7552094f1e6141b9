"""The port of augmented_torch."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.dataset import vision

ms.set_seed(1)


class Photos:
    def __init__(self):
        draw = np.random.default_rng(3)
        self.images = draw.integers(0, 256, (24, 12, 12, 3), dtype=np.uint8)
        self.labels = draw.integers(0, 5, 24).astype("int32")

    def __len__(self):
        return 24

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


data = ds.GeneratorDataset(Photos(), ["image", "label"], shuffle=True)
augment = [
    vision.ToPIL(),
    vision.RandomCrop(12, padding=2),
    vision.RandomHorizontalFlip(),
    vision.RandomColorAdjust((0.6, 1.4), (0.6, 1.4), (0.6, 1.4)),
    vision.ToTensor(),
    vision.Normalize((0.49, 0.48, 0.45), (0.25, 0.24, 0.26), is_hwc=False),
]
data = data.map(augment, "image").batch(8, drop_remainder=True)
net = nn.SequentialCell(
    nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True),
    nn.BatchNorm2d(4),
    nn.ReLU(),
    nn.Flatten(),
    nn.Dense(576, 5),
)
optimizer = nn.SGD(net.trainable_params(), 0.05, momentum=0.9)


def forward(images, labels):
    return ops.cross_entropy(net(images), labels)


grad = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
rows = data.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for images, labels in rows:
        images = images * 0.5
        loss, grads = grad(images, labels)
        optimizer(grads)
