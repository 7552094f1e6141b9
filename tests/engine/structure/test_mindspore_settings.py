"""What is told of MindSpore cells: nothing of a right pair, and each wrong setting."""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint
from mindspore import nn as msnn
from torch import nn

from equivalence.judge.settings import Unread
from equivalence.structure import settings as configuration
from equivalence.structure.layers import common, differences
from equivalence.structure.mindspore_settings import settings
from equivalence.structure.settings import ALL, OWN
from equivalence.structure.torch_settings import settings as torch_settings


def told(reference, candidate):
    return [str(x) for x in differences(torch_settings(reference), settings(candidate))]


def conv(reference=(), **changed):
    """A convolution on either side; a key changes the candidate's."""
    keywords = {"kernel_size": 3, "pad_mode": "pad", "padding": 1, "has_bias": True}
    layer = nn.Conv2d(4, 4, **{"kernel_size": 3, "padding": 1, **dict(reference)})
    return layer, msnn.Conv2d(4, 4, **{**keywords, **changed})


def max_pool(**changed):
    keywords = {"kernel_size": 3, "stride": 2, "pad_mode": "pad", "padding": 1}
    return nn.MaxPool2d(3, 2, 1), msnn.MaxPool2d(**{**keywords, **changed})


def avg_pool(**changed):
    keywords = {"kernel_size": 3, "stride": 2, "pad_mode": "pad", "padding": 1}
    return nn.AvgPool2d(3, 2, 1), msnn.AvgPool2d(**{**keywords, **changed})


def norm(**changed):
    return nn.BatchNorm2d(3), msnn.BatchNorm2d(3, **changed)


def layer_norm(**changed):
    keywords = {"normalized_shape": (4, 5), "begin_norm_axis": -2, "epsilon": 1e-5}
    return nn.LayerNorm((4, 5)), msnn.LayerNorm(**{**keywords, **changed})


def cross_entropy(reference=(), **changed):
    return nn.CrossEntropyLoss(**dict(reference)), msnn.CrossEntropyLoss(**changed)


def with_constant(layer, *names):
    for name in names:
        getattr(layer, name).requires_grad = False
    return layer


RIGHT_PAIRS = {
    "conv": lambda: conv(),
    "conv of four sides": lambda: conv(padding=(1, 1, 1, 1)),
    "conv padded by rule at stride 1": lambda: conv(pad_mode="same", padding=0),
    "conv valid": lambda: conv({"padding": 0}, pad_mode="valid", padding=0),
    "conv1x1 padded by rule": lambda: conv(
        {"kernel_size": 1, "stride": 2, "padding": 0},
        kernel_size=1,
        stride=2,
        pad_mode="same",
        padding=0,
    ),
    "even conv padded by rule": lambda: conv(
        {"kernel_size": 2, "padding": "same"}, kernel_size=2, pad_mode="same", padding=0
    ),
    "conv padded in front": lambda: (
        nn.Conv2d(4, 4, 3, 2, padding=1),
        msnn.SequentialCell(
            msnn.ZeroPad2d(1), msnn.Conv2d(4, 4, 3, 2, pad_mode="valid", has_bias=True)
        ),
    ),
    "conv1d": lambda: (
        nn.Conv1d(3, 4, 3, padding=2),
        msnn.Conv1d(3, 4, 3, pad_mode="pad", padding=2, has_bias=True),
    ),
    "conv3d": lambda: (
        nn.Conv3d(3, 4, 3, padding=1),
        msnn.Conv3d(3, 4, 3, pad_mode="pad", padding=1, has_bias=True),
    ),
    "transposed conv": lambda: (
        nn.ConvTranspose2d(3, 4, 3, 2, 1, 1, bias=False),
        msnn.Conv2dTranspose(3, 4, 3, 2, pad_mode="pad", padding=1, output_padding=1),
    ),
    "transposed conv of less padding at the end": lambda: (
        nn.ConvTranspose2d(3, 4, 3, 2, 1, 1, bias=False),
        msnn.Conv2dTranspose(3, 4, 3, 2, pad_mode="pad", padding=(1, 0, 1, 0)),
    ),
    "transposed conv whose windows lie side by side": lambda: (
        nn.ConvTranspose2d(3, 4, 2, 2),
        msnn.Conv2dTranspose(3, 4, 2, 2, pad_mode="same", has_bias=True),
    ),
    "max pool": lambda: max_pool(),
    "max pool by rule": lambda: (
        nn.MaxPool2d(2, ceil_mode=True),
        msnn.MaxPool2d(2, 2, pad_mode="same"),
    ),
    "max pool1d": lambda: (nn.MaxPool1d(3, 2, 1), msnn.MaxPool1d(3, 2, pad_mode="pad", padding=1)),
    "max pool3d": lambda: (nn.MaxPool3d(3, 2, 1), msnn.MaxPool3d(3, 2, pad_mode="pad", padding=1)),
    "avg pool": lambda: avg_pool(),
    "avg pool without padding": lambda: (nn.AvgPool2d(2), msnn.AvgPool2d(2, 2)),
    "avg pool1d": lambda: (nn.AvgPool1d(3, 2, 1), msnn.AvgPool1d(3, 2, pad_mode="pad", padding=1)),
    "avg pool3d": lambda: (nn.AvgPool3d(3, 2, 1), msnn.AvgPool3d(3, 2, pad_mode="pad", padding=1)),
    "adaptive pool": lambda: (nn.AdaptiveAvgPool2d(1), msnn.AdaptiveAvgPool2d(1)),
    "norm": lambda: norm(),
    "norm of small momentum": lambda: (
        nn.BatchNorm2d(3, momentum=1e-3),
        msnn.BatchNorm2d(3, momentum=0.999),
    ),
    "norm of odd momentum": lambda: (
        nn.BatchNorm2d(3, momentum=1 / 3),
        msnn.BatchNorm2d(3, momentum=1 - 1 / 3),
    ),
    "norm without scale": lambda: (
        nn.BatchNorm2d(3, affine=False),
        msnn.BatchNorm2d(3, affine=False),
    ),
    "norm3d": lambda: (nn.BatchNorm3d(3), msnn.BatchNorm3d(3)),
    "layer norm": lambda: layer_norm(),
    "group norm": lambda: (nn.GroupNorm(2, 4), msnn.GroupNorm(2, 4)),
    "linear": lambda: (nn.Linear(3, 4), msnn.Dense(3, 4)),
    "embedding": lambda: (nn.Embedding(5, 3, padding_idx=2), msnn.Embedding(5, 3, padding_idx=2)),
    "dropout": lambda: (nn.Dropout(0.3), msnn.Dropout(p=0.3)),
    "dropout by what is kept": lambda: (nn.Dropout(0.3), msnn.Dropout(0.7)),
    "dropout1d": lambda: (nn.Dropout1d(0.3), msnn.Dropout1d(0.3)),
    "dropout2d": lambda: (nn.Dropout2d(0.3), msnn.Dropout2d(0.3)),
    "leaky relu": lambda: (nn.LeakyReLU(0.2), msnn.LeakyReLU()),
    "gelu": lambda: (nn.GELU("tanh"), msnn.GELU()),
    "elu": lambda: (nn.ELU(2.0), msnn.ELU(2.0)),
    "softmax": lambda: (nn.Softmax(-1), msnn.Softmax()),
    "hard swish": lambda: (nn.Hardswish(), msnn.HSwish()),
    "prelu": lambda: (nn.PReLU(3), msnn.PReLU(3)),
    "flatten": lambda: (nn.Flatten(), msnn.Flatten()),
    "reflection": lambda: (nn.ReflectionPad2d((1, 2, 3, 4)), msnn.ReflectionPad2d((1, 2, 3, 4))),
    "zero padding": lambda: (
        nn.ZeroPad2d((1, 2, 3, 4)),
        msnn.Pad(((0, 0), (0, 0), (3, 4), (1, 2))),
    ),
    "upsample": lambda: (
        nn.Upsample(scale_factor=2.0, mode="bilinear"),
        msnn.Upsample(scale_factor=2.0, mode="bilinear"),
    ),
    "lstm": lambda: (nn.LSTM(3, 4, 2), msnn.LSTM(3, 4, 2)),
    "cross entropy": lambda: cross_entropy(),
    "sparse cross entropy": lambda: (
        nn.CrossEntropyLoss(),
        msnn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
    ),
    "mean squares": lambda: (nn.MSELoss(reduction="sum"), msnn.MSELoss("sum")),
    "frozen norm": lambda: (
        with_constant(nn.BatchNorm2d(3), "weight"),
        with_constant(msnn.BatchNorm2d(3), "gamma"),
    ),
    "mint conv": lambda: (nn.Conv2d(3, 4, 3, padding=1), mint.nn.Conv2d(3, 4, 3, padding=1)),
    "mint max pool": lambda: (nn.MaxPool2d(3, 2, 1), mint.nn.MaxPool2d(3, 2, 1)),
    "mint norm": lambda: (nn.BatchNorm2d(3), mint.nn.BatchNorm2d(3)),
    "mint linear": lambda: (nn.Linear(3, 4), mint.nn.Linear(3, 4)),
    "mint zero padding": lambda: (nn.ZeroPad2d(1), mint.nn.ZeroPad2d(1)),
}


@pytest.mark.parametrize("name", RIGHT_PAIRS)
def test_right_pairs_do_not_differ(name):
    reference, candidate = RIGHT_PAIRS[name]()
    known = torch_settings(reference).keys() & settings(candidate).keys()
    assert known > {"kind"} or name == "hard swish"
    assert told(reference, candidate) == []


WRONG_PAIRS = {
    "kernel_size (3, 3) (reference) (5, 5) (candidate)": lambda: conv(kernel_size=5),
    "stride (1, 1) (reference) (2, 2) (candidate)": lambda: conv(stride=2),
    "dilation (1, 1) (reference) (2, 2) (candidate)": lambda: conv(dilation=2),
    "groups 1 (reference) 2 (candidate)": lambda: conv(group=2),
    "bias True (reference) False (candidate)": lambda: conv(has_bias=False),
    "padding ((1, 1), (1, 1)) (reference) ((0, 0), (0, 0)) (candidate)": lambda: conv(
        pad_mode="valid", padding=0
    ),
    "padding ((1, 1), (1, 1)) (reference) ((0, 2), (1, 1)) (candidate)": lambda: conv(
        padding=(0, 2, 1, 1)
    ),
    "padding ((1, 1), (1, 1)) (reference) same (candidate)": lambda: conv(
        {"stride": 2}, stride=2, pad_mode="same", padding=0
    ),
    "padding_mode reflect (reference) zeros (candidate)": lambda: conv({"padding_mode": "reflect"}),
    "output_padding (1, 1) (reference) (0, 0) (candidate)": lambda: (
        nn.ConvTranspose2d(3, 4, 3, 2, 1, 1, bias=False),
        msnn.Conv2dTranspose(3, 4, 3, 2, pad_mode="pad", padding=1),
    ),
    "output_padding (1, 1) (reference) (1, 0) (candidate)": lambda: (
        nn.ConvTranspose2d(3, 4, 3, 2, 1, 1, bias=False),
        msnn.Conv2dTranspose(3, 4, 3, 2, pad_mode="pad", padding=(1, 0, 1, 1)),
    ),
    "kind MaxPool2d (reference) AvgPool2d (candidate)": lambda: (
        nn.MaxPool2d(2),
        msnn.AvgPool2d(2, 2),
    ),
    "stride (2, 2) (reference) (1, 1) (candidate)": lambda: (nn.MaxPool2d(2), msnn.MaxPool2d(2)),
    "ceil_mode False (reference) True (candidate)": lambda: max_pool(ceil_mode=True),
    "padding_value -inf (reference) 0 (candidate)": lambda: (
        nn.MaxPool2d(3, 2, 1),
        msnn.SequentialCell(msnn.Pad(((0, 0), (0, 0), (1, 1), (1, 1))), msnn.MaxPool2d(3, 2)),
    ),
    "count_include_pad True (reference) False (candidate)": lambda: avg_pool(
        count_include_pad=False
    ),
    "divisor_override None (reference) 4 (candidate)": lambda: avg_pool(divisor_override=4),
    "output_size (2, 2) (reference) (1, 1) (candidate)": lambda: (
        nn.AdaptiveAvgPool2d(2),
        msnn.AdaptiveAvgPool2d(1),
    ),
    "eps 1e-05 (reference) 0.0001 (candidate)": lambda: norm(eps=1e-4),
    "momentum 0.1 (reference) 0.9 (candidate)": lambda: norm(momentum=0.1),
    "affine True (reference) False (candidate)": lambda: norm(affine=False),
    "batch_statistics in training (reference) never (candidate)": lambda: norm(
        use_batch_statistics=False
    ),
    "batch_statistics in training (reference) always (candidate)": lambda: norm(
        use_batch_statistics=True
    ),
    "eps 1e-05 (reference) 1e-07 (candidate)": lambda: layer_norm(epsilon=1e-7),
    "normalized_dims (-2, -1) (reference) (-1,) (candidate)": lambda: layer_norm(
        begin_norm_axis=-1
    ),
    "num_groups 2 (reference) 4 (candidate)": lambda: (nn.GroupNorm(2, 4), msnn.GroupNorm(4, 4)),
    "activation none (reference) ReLU (candidate)": lambda: (
        nn.Linear(3, 4),
        msnn.Dense(3, 4, activation="relu"),
    ),
    "padding_idx None (reference) 2 (candidate)": lambda: (
        nn.Embedding(5, 3),
        msnn.Embedding(5, 3, padding_idx=2),
    ),
    "p 0.3 (reference) 0.7 (candidate)": lambda: (nn.Dropout(0.3), msnn.Dropout(0.3)),
    "negative_slope 0.01 (reference) 0.2 (candidate)": lambda: (nn.LeakyReLU(), msnn.LeakyReLU()),
    "approximate none (reference) tanh (candidate)": lambda: (nn.GELU(), msnn.GELU()),
    "alpha 1 (reference) 2 (candidate)": lambda: (nn.ELU(), msnn.ELU(2.0)),
    "dim 1 (reference) -1 (candidate)": lambda: (nn.Softmax(1), msnn.Softmax()),
    "num_parameters 1 (reference) 3 (candidate)": lambda: (nn.PReLU(), msnn.PReLU(3)),
    "start_dim 1 (reference) 2 (candidate)": lambda: (nn.Flatten(), msnn.Flatten(2)),
    "align_corners False (reference) True (candidate)": lambda: (
        nn.Upsample(scale_factor=2.0, mode="bilinear"),
        msnn.Upsample(scale_factor=2.0, mode="bilinear", align_corners=True),
    ),
    "batch_first True (reference) False (candidate)": lambda: (
        nn.LSTM(3, 4, batch_first=True),
        msnn.LSTM(3, 4),
    ),
    "reduction mean (reference) none (candidate)": lambda: (
        nn.CrossEntropyLoss(),
        msnn.SoftmaxCrossEntropyWithLogits(sparse=True),
    ),
    "reduction sum (reference) mean (candidate)": lambda: (
        nn.MSELoss(reduction="sum"),
        msnn.MSELoss(),
    ),
    "label_smoothing 0.1 (reference) 0 (candidate)": lambda: cross_entropy(
        {"label_smoothing": 0.1}
    ),
    "ignore_index 2 (reference) -100 (candidate)": lambda: cross_entropy({"ignore_index": 2}),
    "weight given (reference) none (candidate)": lambda: cross_entropy({"weight": torch.ones(3)}),
    "kind CrossEntropyLoss (reference) NLLLoss (candidate)": lambda: (
        nn.CrossEntropyLoss(),
        msnn.NLLLoss(),
    ),
}


@pytest.mark.parametrize("phrase", WRONG_PAIRS)
def test_each_wrong_setting_is_told_and_nothing_else(phrase):
    assert told(*WRONG_PAIRS[phrase]()) == [phrase]


def test_an_average_by_rule_leaves_its_padding_out():
    assert told(nn.AvgPool2d(3, 1, 1), msnn.AvgPool2d(3, 1, pad_mode="same")) == [
        "count_include_pad True (reference) False (candidate)"
    ]


def test_a_momentum_is_converted_without_its_noise():
    assert settings(msnn.BatchNorm2d(3, momentum=0.9))["momentum"] == 0.1


def test_axes_counted_from_the_front_depend_on_the_rank():
    _, candidate = layer_norm(begin_norm_axis=1)
    assert "normalized_dims" not in settings(candidate)


@pytest.mark.parametrize("size", [6, 7])
@pytest.mark.parametrize(("kernel", "stride"), [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (5, 1)])
def test_padding_told_for_a_rule_is_what_the_rule_does(kernel, stride, size):
    """The settings of a max pooling by rule, carried out by PyTorch, give MindSpore's result."""
    pooling = msnn.MaxPool2d((1, kernel), (1, stride), pad_mode="same")
    told = settings(pooling)
    x = np.random.default_rng(0).standard_normal((1, 1, 1, size)).astype(np.float32)
    (_, sides) = told["padding"]
    padded = nn.functional.pad(torch.from_numpy(x), sides, value=told.get("padding_value", 0.0))
    pooled = nn.MaxPool2d((1, kernel), (1, stride), ceil_mode=told["ceil_mode"])(padded)
    np.testing.assert_array_equal(pooling(ms.Tensor(x)).asnumpy(), pooled.numpy())


def test_a_padding_that_is_more_than_spatial_stays_a_padding():
    assert settings(msnn.Pad(((0, 0), (1, 1), (1, 1), (1, 1))))["kind"] == "Pad"
    assert settings(msnn.Pad(((0, 0), (0, 0), (1, 1), (1, 1)), "REFLECT"))["kind"] == "Pad"


class Odd(msnn.Cell):
    def __init__(self, depth, keep_dims=False, table=None):  # noqa: ARG002
        super().__init__()
        self.depth, self.table = depth, ms.Tensor([1.0])
        self.max = ms.ops.ReduceMax(keep_dims=True)

    def construct(self, x):
        return self.max(x)


def test_an_unknown_cell_is_told_by_the_arguments_it_kept():
    assert settings(Odd(7)) == {"kind": "Odd", "depth": 7, OWN: True}


class Twice(msnn.Cell):
    """As a layer of MindSpore's own, which hides arguments in its primitives."""

    __module__ = "mindspore.nn"

    def __init__(self, keep_dims=False):
        super().__init__()
        self.max, self.sum = ms.ops.ReduceMax(keep_dims=True), ms.ops.ReduceSum(keep_dims)


def test_an_argument_on_which_primitives_disagree_is_unread():
    assert settings(Twice(keep_dims=True)) == {"kind": "Twice", "keep_dims": True}
    disagree = Unread("ValueError: its primitives have [True, False]")
    assert settings(Twice(keep_dims=False)) == {"kind": "Twice", "keep_dims": disagree}


class OwnConv(msnn.Conv2d):
    def construct(self, x):
        return super().construct(x)


def test_a_construct_of_its_own_may_pad_by_itself():
    told = settings(OwnConv(4, 4, 3))
    assert told["kind"] == "Conv2d"
    assert not {"padding", "padding_value"} & told.keys()


def test_an_odd_attribute_is_unread():
    layer = msnn.Conv2d(1, 1, 3, pad_mode="pad", padding=1)
    layer.padding = "wide"
    layer.stride = 1.5
    told = settings(layer)
    assert told["kernel_size"] == (3, 3)
    assert isinstance(told["padding"], Unread)
    assert isinstance(told["stride"], Unread)


def test_an_unknown_mode_of_padding_is_unread():
    layer = msnn.Conv2d(1, 1, 3)
    layer.pad_mode = "circular"
    assert settings(layer)["padding"] == Unread("ValueError: pad_mode is circular")


def test_what_a_release_renames_is_unread():
    layer = msnn.MaxPool2d(3, 2, "pad", 1)
    layer.pooling = vars(layer).pop("max_pool", None) or layer._cells.pop("max_pool")
    assert "max_pool" in settings(layer)["padding"].raised
    layer = msnn.PReLU()
    del layer._params["w"]
    assert "weight" in settings(layer)[ALL].raised


def places_of(cell):
    """Where a cell holds what its reader may read: (mapping, name), private ones left out."""
    base = vars(msnn.Cell())
    yield from ((vars(cell), name) for name in vars(cell) if name not in base and name[0] != "_")
    yield from ((kept, name) for kept in (cell._params, cell._cells) for name in kept)
    for primitive in vars(cell).values():
        attributes = getattr(primitive, "init_attrs", None)
        yield from ((attributes, name) for name in attributes or ())
    for inner in cell.cells():
        yield from places_of(inner)


def silent(make):
    """The settings that are neither told as before nor as unread, each place renamed in turn."""
    count = len([*places_of(make()[1])])
    found, lost = [], 0
    for number in range(count):
        module, cell = make()
        before = settings(cell)
        names = common(torch_settings(module), before)
        kept, name = [*places_of(cell)][number]
        kept[f"renamed_{name}"] = kept.pop(name)
        after = settings(cell)
        unread = {n for n, value in after.items() if isinstance(value, Unread)}
        lost += bool(unread)
        unread |= {"padding_value"} if unread & {"padding", "padding_mode"} else set()
        if ALL not in unread:
            found += [
                f"{name}: {n}" for n in names if n not in unread and after.get(n) != before[n]
            ]
    return found, lost


ODD_PAIRS = {
    "conv": lambda: conv({"stride": 2, "dilation": 2}, stride=2, dilation=2),
    "conv1d": RIGHT_PAIRS["conv1d"],
    "conv3d": RIGHT_PAIRS["conv3d"],
    "transposed conv": RIGHT_PAIRS["transposed conv"],
    "max pool": lambda: (
        nn.MaxPool2d(3, 2, 1, 2, ceil_mode=True),
        msnn.MaxPool2d(3, 2, "pad", 1, 2, ceil_mode=True),
    ),
    "max pool1d": RIGHT_PAIRS["max pool1d"],
    "max pool3d": lambda: (
        nn.MaxPool3d(3, 2, 1, 2, ceil_mode=True),
        msnn.MaxPool3d(3, 2, "pad", 1, 2, ceil_mode=True),
    ),
    "avg pool": lambda: (
        nn.AvgPool2d(3, 2, 1, True, False, 5),
        msnn.AvgPool2d(3, 2, "pad", 1, True, False, 5),
    ),
    "avg pool1d": lambda: (
        nn.AvgPool1d(3, 2, 1, True, False),
        msnn.AvgPool1d(3, 2, "pad", 1, True, False),
    ),
    "avg pool3d": lambda: (
        nn.AvgPool3d(3, 2, 1, True, False, 5),
        msnn.AvgPool3d(3, 2, "pad", 1, True, False, 5),
    ),
    "adaptive pool": lambda: (nn.AdaptiveAvgPool2d(3), msnn.AdaptiveAvgPool2d(3)),
    "batch norm": lambda: (nn.BatchNorm2d(3, 1e-3, 0.25), msnn.BatchNorm2d(3, 1e-3, 0.75)),
    "batch norm1d": lambda: (nn.BatchNorm1d(3, 1e-3, 0.25), msnn.BatchNorm1d(3, 1e-3, 0.75)),
    "batch norm3d": lambda: (nn.BatchNorm3d(3, 1e-3, 0.25), msnn.BatchNorm3d(3, 1e-3, 0.75)),
    "layer norm": lambda: (
        nn.LayerNorm((4, 5), 1e-3),
        msnn.LayerNorm((4, 5), -2, -2, epsilon=1e-3),
    ),
    "group norm": lambda: (nn.GroupNorm(2, 4, 1e-3), msnn.GroupNorm(2, 4, 1e-3)),
    "instance norm": lambda: (
        nn.InstanceNorm2d(3, 1e-3, affine=True),
        msnn.InstanceNorm2d(3, 1e-3),
    ),
    "local norm": lambda: (
        nn.LocalResponseNorm(5, 2.5, 0.25, 2.0),
        msnn.LRN(2, 2.0, 0.5, 0.25),
    ),
    "dense": lambda: (nn.Linear(3, 4, bias=False), msnn.Dense(3, 4, has_bias=False)),
    "embedding": lambda: (nn.Embedding(9, 4, 2), msnn.Embedding(9, 4, padding_idx=2)),
    "dropout": lambda: (nn.Dropout(0.25), msnn.Dropout(p=0.25)),
    "dropout1d": lambda: (nn.Dropout1d(0.25), msnn.Dropout1d(0.25)),
    "dropout2d": lambda: (nn.Dropout2d(0.25), msnn.Dropout2d(0.25)),
    "prelu": lambda: (nn.PReLU(3), msnn.PReLU(3)),
    "leaky relu": lambda: (nn.LeakyReLU(0.3), msnn.LeakyReLU(0.3)),
    "softshrink": lambda: (nn.Softshrink(0.3), msnn.SoftShrink(0.3)),
    "softmax": lambda: (nn.Softmax(1), msnn.Softmax(1)),
    "padding": lambda: (nn.ConstantPad2d((1, 2, 3, 4), 5.0), msnn.ConstantPad2d((1, 2, 3, 4), 5.0)),
    "squares": lambda: (nn.MSELoss(reduction="sum"), msnn.MSELoss("sum")),
    "entropy": lambda: (
        nn.CrossEntropyLoss(ignore_index=3, label_smoothing=0.25, reduction="sum"),
        msnn.CrossEntropyLoss(ignore_index=3, label_smoothing=0.25, reduction="sum"),
    ),
    "binary entropy of mint": lambda: (
        nn.BCELoss(reduction="sum"),
        mint.nn.BCELoss(reduction="sum"),
    ),
    "lstm": lambda: (
        nn.LSTM(3, 4, 2, batch_first=True, dropout=0.25, bidirectional=True),
        msnn.LSTM(3, 4, 2, batch_first=True, dropout=0.25, bidirectional=True),
    ),
    "linear of mint": lambda: (nn.Linear(3, 4), mint.nn.Linear(3, 4)),
    "conv of mint": lambda: (nn.Conv2d(3, 4, 3, 2, 1), mint.nn.Conv2d(3, 4, 3, 2, 1)),
}
"""Pairs whose settings are no defaults, of more than twenty classes of MindSpore."""


@pytest.mark.parametrize("pair", ODD_PAIRS)
def test_no_setting_is_lost_without_a_word_where_a_release_renames_an_attribute(pair):
    assert told(*ODD_PAIRS[pair]()) == []
    found, lost = silent(ODD_PAIRS[pair])
    assert found == []
    assert lost


def test_what_is_silent_would_be_seen(monkeypatch):
    monkeypatch.setattr(configuration, "UNHELD", {"BatchNorm2d": ("use_batch_statistics", "eps")})
    found, _ = silent(ODD_PAIRS["batch norm"])
    assert sorted(found) == ["eps: eps", "use_batch_statistics: batch_statistics"]


def test_a_local_norm_of_these_settings_computes_the_same():
    x = np.random.default_rng(0).normal(size=(2, 7, 3, 3)).astype(np.float32)
    theirs, ours = ODD_PAIRS["local norm"]()
    assert ours(ms.Tensor(x)).asnumpy() == pytest.approx(theirs(torch.tensor(x)).numpy(), rel=1e-5)


def test_what_level_o2_puts_around_a_norm_has_the_settings_of_the_norm():
    net = ms.amp.auto_mixed_precision(msnn.SequentialCell(msnn.BatchNorm2d(3, eps=1e-3)), "O2")
    (around,) = (each for _, each in net.cells_and_names() if type(each).__name__ == "_OutputTo16")
    assert settings(around) == settings(msnn.BatchNorm2d(3, eps=1e-3).to_float(ms.float32))
