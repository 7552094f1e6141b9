"""Its counterparts by `mindspore.nn`, with PyTorch's settings and with others."""

from mindspore import nn

from ms_models.steps import TrainStep


class Squares(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dense(6, 3)

    def construct(self, x):
        return self.layer(x).pow(2).mean()


def rms_prop(decay=0.99):
    network = Squares()
    optimizer = nn.RMSProp(network.trainable_params(), 0.01, decay=decay, epsilon=1e-8)
    return TrainStep(network, optimizer)


def rms_prop_of_another_decay():
    return rms_prop(0.9)
