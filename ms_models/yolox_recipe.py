"""The training of YOLOX from files: a step that is fed by `yolox_data`, and its checklist."""

from mindspore import nn

from ms_models import yolox, yolox_data, yolox_loss
from ms_models.steps import WithLoss
from ms_models.yolox_training import training_step


def step(num_classes: int, depth: float, width: float, l1: bool, **settings) -> nn.Cell:
    """The step of a detector: pictures and their labels."""
    network = yolox.YOLOX(num_classes, depth, width)
    return training_step(WithLoss(network, yolox_loss.YOLOXLoss(l1=l1)), **settings)


def checklist(size: int, batch_size: int, learning_rate: float, l1: bool, **settings) -> dict:
    """What the training consists of, read from what is built."""
    made = step(learning_rate=learning_rate, l1=l1, **settings)
    network, loss, optimizer = made.network.backbone, made.network.loss, made.optimizer
    data = yolox_data.train("", size, batch_size=batch_size)
    told = optimizer.learning_rate.learning_rate.asnumpy().tolist()
    names = [parameter.name.rpartition(".")[2] for parameter in optimizer.parameters]
    decays = dict(zip(names, map(float, optimizer.weight_decay), strict=True))
    norm = network.backbone.backbone.stem.conv.bn
    return {
        "data": {
            "stages": data.stages,
            "stages of the last epochs": yolox_data.last_epochs("").stages,
            "shuffled": False,
            "grey": yolox_data.GREY,
        },
        "learning rate": {
            "first": told[0],
            "peak": max(told),
            "step of the peak": told.index(max(told)),
            "last": told[-1],
        },
        "optimiser": {
            "kind": type(optimizer).__name__,
            "momentum": float(optimizer.momentum),
            "nesterov": optimizer.nesterov,
            "dampening": optimizer.dampening,
            "decay of kernels": decays["weight"],
            "decay of norms": decays["gamma"],
            "decay of biases": decays["beta"],
        },
        "initial weights": {
            "biases of the scores": [float(x.bias[0]) for x in network.head.obj_preds],
        },
        "training": {"size": size, "batch": data.batch_size, "steps": len(told)},
        "network": {
            "backbone": type(network.backbone.backbone).__name__,
            "neck": type(network.backbone).__name__,
            "branches of the head": len(network.head.cls_convs) + len(network.head.reg_convs),
            "strides": yolox.STRIDES,
            "epsilon of norms": norm.eps,
            # The cell keeps one minus the momentum that it is built with.
            "share of new statistics": norm.momentum,
            "radius of an object in cells": yolox_loss.RADIUS,
            "most cells of an object": yolox_loss.CANDIDATES,
            "loss of boxes": loss.box.kind,
        },
        "tricks": {
            "share of the average": made.decay,
            "ramp of the average": made.ramp,
            "average of the statistics": any("moving" in name for name in made.ema),
            "raw boxes in the last epochs": loss.l1,
            "mixed precision": False,
        },
    }
