"""The training of YOLOX from files: a step that is fed by `yolox_data`, and its checklist."""

from pt_reference import yolox, yolox_data, yolox_loss
from pt_reference.schedules import rates
from pt_reference.steps import TrainStep, WithLoss
from pt_reference.yolox_training import training_step, warm_cosine


def step(num_classes: int, depth: float, width: float, l1: bool, **settings) -> TrainStep:
    """The step of a detector: pictures and their labels."""
    network = yolox.YOLOX(num_classes, depth, width)
    return training_step(WithLoss(network, yolox_loss.YOLOXLoss(l1=l1)), **settings)


def checklist(size: int, batch_size: int, learning_rate: float, l1: bool, **settings) -> dict:
    """What the training consists of, read from what is built."""
    made = step(learning_rate=learning_rate, l1=l1, **settings)
    network, loss = made.network.backbone, made.network.loss
    norms, kernels, biases = made.optimizer.param_groups
    data = yolox_data.train("", size, batch_size=batch_size)
    schedule = {name: settings[name] for name in ("warmup_steps", "total_steps", "last_steps")}
    told = rates(warm_cosine(**schedule), learning_rate, settings["total_steps"])
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
            "kind": type(made.optimizer).__name__,
            "momentum": kernels["momentum"],
            "nesterov": kernels["nesterov"],
            "dampening": kernels["dampening"],
            "decay of kernels": kernels["weight_decay"],
            "decay of norms": norms["weight_decay"],
            "decay of biases": biases["weight_decay"],
        },
        "initial weights": {
            "biases of the scores": [x.bias[0].item() for x in network.head.obj_preds],
        },
        "training": {"size": size, "batch": data.batch_size, "steps": len(told)},
        "network": {
            "backbone": type(network.backbone.backbone).__name__,
            "neck": type(network.backbone).__name__,
            "branches of the head": len(network.head.cls_convs) + len(network.head.reg_convs),
            "strides": yolox.STRIDES,
            "epsilon of norms": norm.eps,
            "share of new statistics": norm.momentum,
            "radius of an object in cells": yolox_loss.RADIUS,
            "most cells of an object": yolox_loss.CANDIDATES,
            "loss of boxes": loss.box.kind,
        },
        "tricks": {
            "share of the average": made.decay,
            "ramp of the average": made.ramp,
            "average of the statistics": any("running" in name for name in made.ema.state_dict()),
            "raw boxes in the last epochs": loss.l1,
            "mixed precision": False,
        },
    }
