import mindspore as ms
import numpy as np
from mindspore import amp, nn, ops


class Norm(nn.Cell):
    def __init__(self, size):
        super().__init__()
        self.weight = ms.Parameter(ops.ones(size))
        self.bias = ms.Parameter(ops.zeros(size))

    def construct(self, x):
        x = x - x.mean(-1, True)
        variance = (x * x).mean(-1, True)
        return x / ops.sqrt(variance + 1e-5) * self.weight + self.bias


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1, has_bias=True)
        self.norm = Norm(8)
        self.mix = nn.Dense(8, 8)
        self.fc = nn.Dense(8, 5)

    def construct(self, x):
        x = self.norm(3000.0 * self.conv(x).mean((2, 3)))
        return self.fc(ops.relu(self.mix(x)))


net = amp.auto_mixed_precision(Net(), "O3")
kept = "norm"
for path, cell in net.cells_and_names():
    if path.endswith(kept):
        cell.to_float(ms.float32)
optimizer = nn.SGD(net.trainable_params(), 0.05)
scaler = amp.DynamicLossScaler(1024.0, 2, 2000)


def forward(x, y):
    return scaler.scale(ops.cross_entropy(net(x).astype(ms.float32), y))


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for number in range(6):
    rng = np.random.default_rng(number)
    x = ms.Tensor(rng.standard_normal((8, 3, 6, 6)).astype("float32"))
    y = ms.Tensor(rng.integers(0, 5, 8).astype("int32"))
    loss, grads = step(x, y)
    finite = amp.all_finite(grads)
    scaler.adjust(finite)
    if finite:
        optimizer(scaler.unscale(grads))
