"""Training checkpoints of both sides, for the tests of their conversion."""

import numpy as np
import torch

from tests.engine.parts import training_ms, training_pt

MS, PT = "tests.engine.parts.training_ms:", "tests.engine.parts.training_pt:"
FOR_MINDSPORE = {"network": f"{MS}Net"}
FOR_PYTORCH = {"network": f"{PT}Net"}


def batches(count):
    rng = np.random.default_rng(3)
    draw = rng.normal(size=(count, 6, 3, 5, 6)).astype(np.float32)
    return [(images, rng.integers(0, 4, 6).astype(np.int32)) for images in draw]


def saved(path, optimizer, steps=2, network=None, **more):
    """A training checkpoint of PyTorch; `optimizer` is built from the network."""
    torch.manual_seed(1)
    network = network or training_pt.Net()
    optimizer = optimizer(network)
    training_pt.train(network, optimizer, batches(steps))
    whole = {"model": network.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(whole | more, path)
    return path


def stored(path, optimizer, steps=2):
    """A training checkpoint of MindSpore."""
    network = training_ms.Net()
    optimizer = optimizer(network)
    if steps:
        training_ms.train(network, optimizer, batches(steps))
    training_ms.save(network, optimizer, path)
    return path


def optimizer_of(path):
    """The state dict of the optimiser in PyTorch's file."""
    return torch.load(path, weights_only=True)["optimizer"]
