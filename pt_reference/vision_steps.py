"""Training steps around small networks for vision."""

from torch import nn, optim

from pt_reference import convnets, resnet_assembled, vision_transformers
from pt_reference.steps import TrainStep, WithLoss

CLASSIFIERS = {
    "vit": vision_transformers.vit,
    "swin": vision_transformers.swin,
    "convnext": convnets.convnext,
    "mobilenetv3": convnets.mobilenetv3,
    "efficientnet": convnets.efficientnet,
    "resnet": resnet_assembled.AssembledResNet,
}


def classifier_by_adamw(
    network: str,
    learning_rate: float,
    weight_decay: float,
    eps: float,
    label_smoothing: float,
    **arguments,
) -> TrainStep:
    """AdamW, which decays every weight, on the smoothed cross entropy of a classifier."""
    loss = nn.CrossEntropyLoss(label_smoothing=label_smoothing)
    trained = WithLoss(CLASSIFIERS[network](**arguments), loss)
    optimizer = optim.AdamW(trained.parameters(), learning_rate, eps=eps, weight_decay=weight_decay)
    return TrainStep(trained, optimizer)
