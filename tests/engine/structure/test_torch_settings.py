"""What is told of PyTorch modules."""

import math

import pytest
import torch
from torch import nn

import pt_reference.conv
import pt_reference.resnet
from equivalence.judge.settings import Unread
from equivalence.structure.settings import ALL, OWN
from equivalence.structure.torch_settings import settings


def test_a_convolution_is_told_whole():
    assert settings(nn.Conv2d(8, 4, 3, 2, padding=(1, 0), groups=4, bias=False)) == {
        "kind": "Conv2d",
        "in_channels": 8,
        "out_channels": 4,
        "kernel_size": (3, 3),
        "stride": (2, 2),
        "padding": ((1, 1), (0, 0)),
        "padding_value": 0.0,
        "padding_mode": "zeros",
        "dilation": (1, 1),
        "groups": 4,
        "bias": False,
    }


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (nn.Conv2d(1, 1, (3, 2), padding="same"), "padding", ((1, 1), (0, 1))),
        (nn.Conv1d(1, 1, 3, padding="valid"), "padding", ((0, 0),)),
        (nn.ConvTranspose2d(1, 1, 3, 2, output_padding=1), "output_padding", (1, 1)),
        (nn.MaxPool2d(3), "stride", (3, 3)),
        (nn.MaxPool2d(3, padding=1), "padding_value", -math.inf),
        (nn.AvgPool2d(3, padding=1), "count_include_pad", True),
        (nn.AdaptiveAvgPool2d(1), "output_size", (1, 1)),
        (nn.BatchNorm2d(3, momentum=0.2), "momentum", 0.2),
        (nn.BatchNorm2d(3), "batch_statistics", "in training"),
        (nn.BatchNorm2d(3, track_running_stats=False), "batch_statistics", "always"),
        (nn.LayerNorm((4, 5)), "normalized_dims", (-2, -1)),
        (nn.LayerNorm(4, elementwise_affine=False), "elementwise_affine", False),
        (nn.Softmax(1), "dim", 1),
        (nn.CrossEntropyLoss(torch.ones(3)), "weight", "given"),
        (nn.CrossEntropyLoss(), "weight", "none"),
        (nn.Upsample(scale_factor=2.0), "align_corners", False),
        (nn.ZeroPad2d((1, 2, 3, 4)), "padding", ((3, 4), (1, 2))),
        (nn.ZeroPad2d(1), "kind", "ConstantPad2d"),
        (nn.LSTM(3, 4, 2), "num_layers", 2),
        (pt_reference.resnet.bottleneck(4, 2), "kind", "Bottleneck"),
    ],
)
def test_settings_are_told_in_common_words(module, name, value):
    assert settings(module)[name] == value


def test_a_padding_in_front_is_folded_into_its_pooling():
    told = settings(nn.Sequential(nn.ConstantPad2d(1, 2.0), nn.MaxPool2d(3, 2)))
    assert told["kind"] == "MaxPool2d"
    assert told["padding"] == ((1, 1), (1, 1))
    assert told["padding_value"] == 2.0


def test_a_norm_whose_scale_and_shift_are_constant_has_none():
    norm = nn.BatchNorm2d(3).requires_grad_(False)
    assert settings(norm)["affine"] is False


def test_a_forward_pass_of_its_own_may_pad_by_itself():
    told = settings(pt_reference.conv.SameConv2d(4, 4, 3))
    assert told["kind"] == "Conv2d"
    assert not {"padding", "padding_value"} & told.keys()


class Odd(nn.Module):
    def __init__(self, depth, table=None, *rest, broken=1):  # noqa: ARG002
        super().__init__()
        self.depth, self.table = depth, torch.zeros(3)

    @property
    def broken(self):
        raise RuntimeError


def test_an_unknown_module_is_told_by_the_arguments_it_kept():
    broken = Unread("RuntimeError: ")
    assert settings(Odd(7)) == {"kind": "Odd", "depth": 7, "broken": broken, OWN: True}


def test_an_odd_attribute_is_unread():
    layer = nn.Conv2d(1, 1, 3)
    layer.padding = 1.5
    del layer.stride
    told = settings(layer)
    assert told["kernel_size"] == (3, 3)
    assert isinstance(told["padding"], Unread)
    assert told["stride"] == Unread("AttributeError: Conv2d holds no stride")


def test_a_class_whose_reader_raises_is_unread():
    layer = nn.BatchNorm2d(3)
    del layer.track_running_stats
    told = settings(layer)
    assert told["batch_statistics"].raised.endswith("BatchNorm2d holds no track_running_stats")
    layer = nn.LayerNorm(3)
    del layer.normalized_shape
    told = settings(layer)
    assert told["kind"] == "LayerNorm"
    assert told[ALL].raised.startswith("AttributeError: 'LayerNorm' object has no attribute")
