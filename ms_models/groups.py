"""Training steps of which one group of parameters has settings of its own, or a common clip."""

from mindspore import nn, ops

from ms_models.given import GivenGradients
from ms_models.optim import one_group
from ms_models.steps import TrainStep


def head_apart(
    learning_rate: float, weight_decay: float, head_rate: float, head_decay: float
) -> nn.Cell:
    """Momentum; the head `fc` has a learning rate and a weight decay of its own."""
    network = GivenGradients()
    trained = network.trainable_params()
    head = [p for p in trained if p.name.startswith("fc.")]
    groups = [
        {"params": [p for p in trained if not p.name.startswith("fc.")]},
        {"params": head, "lr": head_rate, "weight_decay": head_decay},
        {"order_params": trained},
    ]
    groups[0] |= {"lr": learning_rate, "weight_decay": weight_decay}
    return TrainStep(network, nn.Momentum(groups, learning_rate, 0.875))


def clipped_together(learning_rate: float, limit: float) -> nn.Cell:
    """Momentum by gradients that are scaled until their common norm is `limit`."""
    network = GivenGradients()

    def clip(gradients):
        return ops.clip_by_global_norm(gradients, limit)

    return TrainStep(network, nn.Momentum(one_group(network, 0.0), learning_rate, 0.875), clip)
