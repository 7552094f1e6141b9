"""Its twin in MindSpore."""

import mindspore as ms
from mindspore import nn
from mindspore.experimental import optim

LR, MOMENTUM, DECAY = 0.05, 0.875, 0.02
BETAS = (0.9, 0.999)

# The second moment soon forgets, so that its largest value is another.
FORGETTING = (0.75, 0.5)


class Net(nn.Cell):
    """N,3,5,6 -> N,4 logits."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.fc1 = nn.Dense(4 * 5 * 6, 4)
        self.fc2 = nn.Dense(4, 4)
        self.sigmoid = nn.Sigmoid()
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.sigmoid(self.bn(self.conv(x)))
        return self.fc2(self.sigmoid(self.fc1(self.flatten(x))))


def groups(network, ordered=True):
    """Decay for kernels alone, and the weights stepped in their own order."""
    kernels = [p for p in network.trainable_params() if p.ndim > 1]
    others = [p for p in network.trainable_params() if p.ndim == 1]
    given = [{"params": kernels, "weight_decay": DECAY}, {"params": others, "weight_decay": 0.0}]
    return [*given, {"order_params": network.trainable_params()}] if ordered else given


def momentum(network):
    return nn.Momentum(groups(network), LR, MOMENTUM)


def scheduled(network):
    return nn.Momentum(groups(network), [LR] * 20, MOMENTUM)


def nesterov(network):
    return nn.SGD(groups(network), LR, MOMENTUM, nesterov=True)


def sgd(network):
    return nn.SGD(groups(network), LR, MOMENTUM)


def new_sgd(network):
    return optim.SGD(groups(network, ordered=False), LR, MOMENTUM)


def adam(network):
    return nn.Adam(network.trainable_params(), LR, *BETAS, eps=1e-12)


def amsgrad(network):
    return nn.Adam(network.trainable_params(), LR, *FORGETTING, eps=1e-12, use_amsgrad=True)


def new_adam(network):
    return optim.Adam(network.trainable_params(), LR, BETAS, eps=1e-12)


def new_adamw(network):
    return optim.AdamW(groups(network, ordered=False), LR, BETAS)


def new_adamw_amsgrad(network):
    return optim.AdamW(groups(network, ordered=False), LR, FORGETTING, amsgrad=True)


def new_amsgrad(network):
    return optim.Adam(network.trainable_params(), LR, FORGETTING, amsgrad=True)


def adam_weight_decay(network):
    return nn.AdamWeightDecay(network.trainable_params(), LR, *BETAS)


def load(network, optimizer, path):
    """A training checkpoint; every value of it must find its place."""
    loaded = ms.load_checkpoint(str(path), crc_check=True)
    whole = network if optimizer is None else nn.TrainOneStepCell(network, optimizer)
    return ms.load_param_into_net(whole, loaded, strict_load=True)


def save(network, optimizer, path):
    ms.save_checkpoint(nn.TrainOneStepCell(network, optimizer), str(path), crc_check=True)


def train(network, optimizer, batches):
    """A step of the mean cross entropy for each batch."""
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def forward(images, labels):
        return loss(network(images), labels)

    network.set_train(True)
    step = ms.value_and_grad(forward, None, optimizer.parameters)
    for images, labels in batches:
        _, gradients = step(ms.Tensor(images), ms.Tensor(labels))
        optimizer(gradients)


def weights(network):
    """Name -> values of every trainable parameter."""
    return {p.name: p.asnumpy().copy() for p in network.trainable_params()}
