"""What an answer says to write in MindSpore makes the setting the original's."""

import pytest
from mindspore import mint, nn
from torch import nn as torch_nn

from equivalence.structure.layers import Layer, compare_settings
from equivalence.structure.mindspore_settings import made_by
from equivalence.structure.mindspore_settings import settings as of_cell
from equivalence.structure.torch_settings import settings as of_module
from equivalence.structure.write import to_write

LAYERS = (
    (torch_nn.LayerNorm(4), nn.LayerNorm, {"normalized_shape": (4,)}),
    (torch_nn.LayerNorm(4, eps=1e-3), mint.nn.LayerNorm, {"normalized_shape": (4,)}),
    (torch_nn.BatchNorm2d(4, momentum=0.3), nn.BatchNorm2d, {"num_features": 4}),
    (torch_nn.BatchNorm2d(4, momentum=0.3), mint.nn.BatchNorm2d, {"num_features": 4}),
    (torch_nn.BatchNorm2d(4, track_running_stats=False), nn.BatchNorm2d, {"num_features": 4}),
    (torch_nn.GroupNorm(2, 4, eps=1e-3), nn.GroupNorm, {"num_groups": 2, "num_channels": 4}),
    (torch_nn.GELU(), nn.GELU, {}),
    (torch_nn.GELU("tanh"), mint.nn.GELU, {}),
    (torch_nn.LeakyReLU(0.01), nn.LeakyReLU, {}),
    (torch_nn.ELU(0.5), nn.ELU, {}),
    (torch_nn.Dropout(0.1), nn.Dropout, {"p": 0.5}),
    (torch_nn.Softmax(1), nn.Softmax, {}),
    (torch_nn.Conv2d(3, 4, 3, padding=1, stride=2), nn.Conv2d, {"has_bias": True, "stride": 2}),
    (torch_nn.Conv2d(3, 4, 3), nn.Conv2d, {"has_bias": True}),
    (torch_nn.Conv2d(3, 4, (3, 5), padding=(1, 2)), nn.Conv2d, {"has_bias": True, "stride": 2}),
    (torch_nn.Conv2d(3, 4, 3, dilation=2), nn.Conv2d, {"has_bias": True, "pad_mode": "valid"}),
    (torch_nn.Conv2d(4, 4, 3, groups=2), nn.Conv2d, {"has_bias": True, "pad_mode": "valid"}),
    (torch_nn.Conv2d(3, 4, 3, padding=1), mint.nn.Conv2d, {}),
    (torch_nn.Conv1d(3, 4, 3, padding=1), nn.Conv1d, {"has_bias": True, "pad_mode": "valid"}),
    (torch_nn.Linear(3, 4, bias=False), nn.Dense, {}),
    (torch_nn.MaxPool2d(3, 2, 1), nn.MaxPool2d, {"kernel_size": 3}),
    (torch_nn.MaxPool2d(3, 2, ceil_mode=True), nn.MaxPool2d, {"kernel_size": 3, "stride": 2}),
    (
        torch_nn.AvgPool2d(3, 2, 1),
        nn.AvgPool2d,
        {"kernel_size": 3, "stride": 2, "pad_mode": "same"},
    ),
)


def built(cls, theirs, arguments):
    """A cell of the class; a convolution or a dense layer of the original's sizes."""
    for ours, names in (
        ("in_channels", ("in_channels", "in_features")),
        ("out_channels", ("out_channels", "out_features")),
        ("kernel_size", ("kernel_size",)),
    ):
        value = next((getattr(theirs, n) for n in names if hasattr(theirs, n)), None)
        if value is not None and ("Conv" in cls.__name__ or cls is nn.Dense):
            one = isinstance(value, tuple) and len(value) == 1
            arguments = {ours: value[0] if one else value, **arguments}
    return cls(**arguments)


def differing(theirs, cell):
    sides = (
        Layer.of("", of_module(theirs), frozenset()),
        Layer.of("", of_cell(cell), frozenset(), made_by(cell)),
    )
    return compare_settings([sides[0]], [sides[1]], {}).differing


@pytest.mark.parametrize(("theirs", "cls", "arguments"), LAYERS)
def test_what_is_written_as_told_differs_no_more(theirs, cls, arguments):
    found = differing(theirs, built(cls, theirs, arguments))
    assert found
    assert all(each.write for each in found if each.name != "padding_value")
    for each in found:
        told = eval(f"dict({each.write})")
        again = {key: value for key, value in arguments.items() if key not in told}
        if "pad_mode" in told:
            again.pop("padding", None)
        arguments = again | told
    assert differing(theirs, built(cls, theirs, arguments)) == ()


@pytest.mark.parametrize(
    ("made", "name", "value"),
    [
        (("nn.Conv2d", ("pad_mode", "padding", "has_bias")), "padding", "same"),
        (("nn.MaxPool2d", ("pad_mode", "padding")), "padding", ((0, 1), (0, 1))),
        (("", ()), "eps", 1e-5),
        (("nn.LayerNorm", ("epsilon",)), "elementwise_affine", False),
        (("nn.ReLU6", ()), "kind", "ReLU"),
    ],
)
def test_where_no_argument_is_known_none_is_told(made, name, value):
    assert to_write(*made, name, value) == ""


def test_what_a_port_gives_is_told_where_mindspore_takes_another_value():
    epsilon, momentum = differing(
        torch_nn.BatchNorm2d(3), nn.BatchNorm2d(3, momentum=0.1, eps=1e-3)
    )
    assert momentum.told == (
        "momentum is 0.9 in the port (momentum=0.1) and 0.1 in the original; write momentum=0.9"
    )
    assert epsilon.told == "eps is 0.001 in the port and 1e-05 in the original; write eps=1e-05"
    (gelu,) = differing(torch_nn.GELU(), nn.GELU())
    assert gelu.given == "approximate=True"
    assert not any(
        each.given
        for each in differing(torch_nn.BatchNorm2d(3), mint.nn.BatchNorm2d(3, momentum=0.5))
    )


def test_a_layer_of_ones_own_is_told_without_an_argument():
    class Own(nn.LayerNorm):
        pass

    assert made_by(Own((4,))) == ("", ())
