"""Training steps around small networks for vision."""

from mindspore import nn
from mindspore.experimental import optim

from ms_models import convnets, resnet_assembled, vision_transformers
from ms_models.steps import TrainStep, WithLoss

CLASSIFIERS = {
    "vit": vision_transformers.VisionTransformer,
    "swin": vision_transformers.Swin,
    "convnext": convnets.ConvNeXt,
    "mobilenetv3": convnets.MobileNetV3,
    "efficientnet": convnets.EfficientNet,
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
    """AdamW, which decays every weight, on the smoothed cross entropy of a classifier.

    `nn.AdamWeightDecay` would correct no bias of the moments.
    """
    loss = nn.CrossEntropyLoss(label_smoothing=label_smoothing)
    trained = WithLoss(CLASSIFIERS[network](**arguments), loss)
    optimizer = optim.AdamW(
        trained.trainable_params(), learning_rate, eps=eps, weight_decay=weight_decay
    )
    return TrainStep(trained, optimizer)
