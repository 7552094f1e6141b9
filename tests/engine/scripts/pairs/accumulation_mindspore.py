import mindspore as ms
import numpy as np
from mindspore import amp, nn, ops

STEPS, MICRO = 6, 3


class EMA:
    def __init__(self, model, decay):
        self.weights = model.trainable_params()
        self.shadow = [ms.Parameter(each.copy(), name=f"ema.{each.name}") for each in self.weights]
        self.decay = decay

    def update(self):
        for average, weight in zip(self.shadow, self.weights, strict=True):
            ops.assign(average, self.decay * average + (1 - self.decay) * weight)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(5, 8)
        self.second = nn.Dense(8, 3)

    def construct(self, x):
        return self.second(ops.sigmoid(self.first(x)))


def train():
    net = Net()
    ema = EMA(net, 0.9)
    optimizer = nn.SGD(net.trainable_params(), 0.2, momentum=0.8)
    scaler = amp.StaticLossScaler(1024.0)

    def forward(x, y):
        return scaler.scale(ops.cross_entropy(net(x), y) / MICRO)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()
    rng = np.random.default_rng(2)
    for step in range(STEPS):
        total = None
        for _ in range(MICRO):
            x = ms.Tensor(rng.normal(size=(4, 5)).astype("float32"))
            y = ms.Tensor(rng.integers(0, 3, 4), ms.int32)
            _, grads = grad(x, y)
            grads = scaler.unscale(grads)
            total = grads if total is None else [a + b for a, b in zip(total, grads, strict=True)]
        total = ops.clip_by_global_norm(tuple(total), 0.3)
        optimizer(total)
        ema.update()
        print("step", step)


if __name__ == "__main__":
    train()
