"""Whole networks under their training recipes, by the step and by the epoch."""

import torch
from torch import nn

from pt_reference import small
from pt_reference.resnet import resnet
from pt_reference.steps import TrainStep, cifar10_step, imagenet_step


def resnet_on_imagenet(depth: int, num_classes: int, **settings) -> nn.Module:
    """A step of the ImageNet recipe."""
    return imagenet_step(resnet(depth, num_classes=num_classes), **settings)


def resnet_on_cifar10(depth: int, num_classes: int = 10, **settings) -> nn.Module:
    """A step of the CIFAR-10 recipe."""
    return cifar10_step(resnet(depth, num_classes=num_classes), **settings)


class Epoch(nn.Module):
    """Images B,N,C,H,W and labels B,N -> the B losses of a loop over B steps."""

    def __init__(self, step: TrainStep):
        super().__init__()
        self.step, self.network = step, step.network

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return torch.stack([self.step(*batch) for batch in zip(images, labels, strict=True)])


def epoch(**settings) -> nn.Module:
    """Steps of the ImageNet recipe for the small network."""
    return Epoch(small.imagenet_step(**settings))
