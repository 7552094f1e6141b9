"""Whole networks under their training recipes, by the step and by the epoch."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

from ms_models import small
from ms_models.resnet import resnet
from ms_models.steps import TrainStep, cifar10_step, imagenet_step


def resnet_on_imagenet(depth: int, num_classes: int, **settings) -> nn.Cell:
    """A step of the ImageNet recipe."""
    return imagenet_step(resnet(depth, num_classes=num_classes), **settings)


def resnet_on_cifar10(depth: int, num_classes: int = 10, **settings) -> nn.Cell:
    """A step of the CIFAR-10 recipe."""
    return cifar10_step(resnet(depth, num_classes=num_classes), **settings)


class Epoch(nn.Cell):
    """Images B,N,C,H,W and labels B,N -> the B losses of a loop over B explicit steps."""

    def __init__(self, step: TrainStep):
        super().__init__()
        self.step, self.network = step, step.network

    def construct(self, images, labels):
        losses = ()
        for i in range(images.shape[0]):
            losses = (*losses, self.step(images[i], labels[i]))
        return ms.ops.stack(losses)


class EpochByModel(nn.Cell):
    """The same by `Model.train`, from a data set, with the losses by a callback.

    The optimiser is that of the step.
    """

    def __init__(self, step: TrainStep):
        super().__init__()
        self.network = step.network
        self.model = ms.Model(self.network, optimizer=step.optimizer)

    def __call__(self, images, labels):
        batches = ds.NumpySlicesDataset(
            (images.asnumpy(), labels.asnumpy()), ["images", "labels"], shuffle=False
        )
        losses = Losses()
        self.model.train(1, batches, callbacks=[losses], dataset_sink_mode=False)
        return ms.Tensor(np.stack(losses.seen))


class Losses(ms.Callback):
    """Keeps the loss of every step."""

    def __init__(self):
        super().__init__()
        self.seen: list[np.ndarray] = []

    def on_train_step_end(self, run_context):
        self.seen.append(run_context.original_args().net_outputs.asnumpy().copy())


def epoch(**settings) -> nn.Cell:
    """Explicit steps of the ImageNet recipe for the small network."""
    return Epoch(small.imagenet_step(**settings))


def epoch_by_model(**settings) -> nn.Cell:
    """The same by `Model.train`."""
    return EpochByModel(small.imagenet_step(**settings))
