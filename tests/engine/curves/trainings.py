"""A small training in PyTorch, its port to MindSpore, and mistakes in it."""

import mindspore as ms
import numpy as np
import torch
from mindspore import nn as ms_nn
from mindspore import ops
from torch import nn
from torch.nn import functional

WIDTH, CLASSES, BATCH = 6, 3, 8


def batches(steps, seed=0):
    draws = np.random.default_rng(seed)
    for _ in range(steps):
        x = draws.standard_normal((BATCH, WIDTH)).astype(np.float32)
        yield x, (x[:, :CLASSES].argmax(1)).astype(np.int32)


def initial():
    draws = np.random.default_rng(1)
    shapes = [(8, WIDTH), (8,), (8,), (8,), (CLASSES, 8), (CLASSES,)]
    return [(0.5 * draws.standard_normal(shape)).astype(np.float32) for shape in shapes]


def rate(step):
    return 0.1 * 0.9**step


def train(steps, momentum=0.9, late=0, decay_all=False, smoothing=0.1, seed=0, scale=1.0, after=0):
    """The reference; arguments make mistakes. after: the first step that has them."""
    net = nn.Sequential(nn.Linear(WIDTH, 8), nn.LayerNorm(8), nn.ReLU(), nn.Linear(8, CLASSES))
    for parameter, values in zip(net.parameters(), initial(), strict=True):
        parameter.data = torch.from_numpy(values)
    matrices = [p for p in net.parameters() if p.ndim > 1]
    vectors = [p for p in net.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors}]
    groups[1]["weight_decay"] = 0.1 if decay_all else 0.0
    optimizer = torch.optim.SGD(groups, lr=0.1, momentum=momentum)
    for step, (x, y) in enumerate(batches(steps, seed)):
        for group in optimizer.param_groups:
            group["lr"] = rate(max(step - late, 0) if step >= after else step)
        optimizer.zero_grad()
        labels = torch.from_numpy(y).long()
        loss = functional.cross_entropy(net(torch.from_numpy(x)), labels, label_smoothing=smoothing)
        (loss * scale).backward()
        optimizer.step()
        yield {"loss": loss.item() * scale, "rate": rate(step)}


def late(steps):
    yield from train(steps, late=1)


def early(steps):
    yield from train(steps, late=-1)


def late_from_ten(steps):
    yield from train(steps, late=1, after=10)


def without_momentum(steps):
    yield from train(steps, momentum=0.0)


def decaying_norms(steps):
    yield from train(steps, decay_all=True)


def unsmoothed(steps):
    yield from train(steps, smoothing=0.0)


def shuffled(steps):
    yield from train(steps, seed=1)


def scaled(steps):
    yield from train(steps, scale=0.5)


def unseeded(steps):
    for _ in range(steps):
        yield float(torch.rand(()))


def port(steps, mistake=False):
    """The port, right or with Nesterov's momentum."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = ms_nn.SequentialCell(
        ms_nn.Dense(WIDTH, 8),
        ms_nn.LayerNorm((8,), epsilon=1e-5),
        ms_nn.ReLU(),
        ms_nn.Dense(8, CLASSES),
    )
    parameters = net.trainable_params()
    for parameter, values in zip(parameters, initial(), strict=True):
        parameter.set_data(ms.Tensor(values))
    decays = [0.1 if p.ndim > 1 else 0.0 for p in parameters]
    velocity = [ops.zeros_like(p) for p in parameters]

    def forward(x, y):
        return ops.cross_entropy(net(x), y, label_smoothing=0.1)

    gradients_of = ms.value_and_grad(forward, None, parameters)
    for step, (x, y) in enumerate(batches(steps)):
        loss, gradients = gradients_of(ms.Tensor(x), ms.Tensor(y))
        for i, parameter in enumerate(parameters):
            gradient = gradients[i] + decays[i] * parameter
            velocity[i] = 0.9 * velocity[i] + gradient
            moved = gradient + 0.9 * velocity[i] if mistake else velocity[i]
            parameter.set_data(parameter - rate(step) * moved)
        yield {"loss": float(loss.asnumpy()), "rate": rate(step)}


def nesterov_port(steps):
    yield from port(steps, mistake=True)
