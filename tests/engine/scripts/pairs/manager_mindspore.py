import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.amp import DynamicLossScaleManager
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(5)
rng = np.random.default_rng(4)
images = rng.normal(size=(48, 2, 8, 6)).astype("float32")
images[16:24] *= 3000
labels = rng.integers(0, 4, 48).astype("int32")
data = NumpySlicesDataset((images, labels), ["image", "label"], shuffle=False).batch(8)
net = nn.SequentialCell(
    *(nn.Conv2d(2, 6, 3, 2, pad_mode="valid", has_bias=True), nn.ReLU()),
    *(nn.Conv2d(6, 8, 2, pad_mode="valid", has_bias=True), nn.ReLU()),
    *(nn.Flatten(), nn.Dense(16, 4)),
)
optimizer = nn.SGD(net.trainable_params(), 0.05, momentum=0.9)
manager = DynamicLossScaleManager(init_loss_scale=2**12, scale_factor=2, scale_window=2)
loss = nn.CrossEntropyLoss()
model = Model(net, loss, optimizer, amp_level="O2", loss_scale_manager=manager)
model.train(1, data, dataset_sink_mode=False)
