import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.amp import DynamicLossScaler, all_finite, auto_mixed_precision

SCALE = 2**10
ms.set_seed(5)
net = nn.SequentialCell(
    *(nn.Conv2d(2, 6, 3, 2, pad_mode="valid"), nn.BatchNorm2d(6), nn.ReLU()),
    *(nn.Flatten(), nn.Dense(36, 4)),
)
net = auto_mixed_precision(net, "O2")
optimizer = nn.SGD(net.trainable_params(), 0.05, momentum=0.9)
scaler = DynamicLossScaler(SCALE, 2, 2)
rng = np.random.default_rng(1)


def forward(x, y):
    loss = ops.cross_entropy(net(x).astype(ms.float32), y)
    return scaler.scale(loss), loss


grad = ms.value_and_grad(forward, None, optimizer.parameters, has_aux=True)
net.set_train()
for step in range(8):
    x = ms.Tensor(rng.normal(size=(6, 2, 8, 6)).astype("float32"))
    y = ms.Tensor(rng.integers(0, 4, 6).astype("int32"))
    (_, loss), grads = grad(x, y)
    grads = scaler.unscale(grads)
    finite = all_finite(grads)
    if finite:
        grads = ops.clip_by_value(grads, -0.05, 0.05)
        optimizer(grads)
    scaler.adjust(finite)
    print(step, loss, scaler.scale_value)
