"""Mistakes of conversions: what the command refuses, and what only a run of the network shows.

Where names and shapes fit, a file cannot tell that its values are others: then the evaluation of
the converted checkpoint must.
"""

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import nn

from equivalence.convert.convert import convert
from equivalence.errors import CheckpointError, WeightError
from equivalence.host.isolation import isolated
from ms_models.inference import evaluate
from tests import evaluations
from tests.engine.parts.conversions import refused, saved

HERE = "tests.engine.convert.test_convert_defects:"
NETWORK = {"network": f"{HERE}Square"}
NAME = "conversion-square"


class TorchSquare(torch.nn.Module):
    """N,3,H,W -> N,3 logits; every kernel keeps its shape when its axes change places."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 3, 3)
        self.bn = torch.nn.BatchNorm2d(3)
        self.fc1 = torch.nn.Linear(3, 3)
        self.fc2 = torch.nn.Linear(3, 3)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv(x))).mean((2, 3))
        return self.fc2(torch.relu(self.fc1(x)))


class Square(nn.Cell):
    """Its twin."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 3, pad_mode="valid", has_bias=True)
        self.bn = nn.BatchNorm2d(3)
        self.fc1 = nn.Dense(3, 3)
        self.fc2 = nn.Dense(3, 3)
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.relu(self.bn(self.conv(x))).mean((2, 3))
        return self.fc2(self.relu(self.fc1(x)))


def shortcut():
    """What the guides' map is about: a convolution and a BatchNorm below `downsample`."""
    from ms_models.resnet import Bottleneck

    return Bottleneck(8, 4, 2)


def shortcut_in_torch():
    from pt_reference.resnet import bottleneck

    return bottleneck(8, 4, 2)


@pytest.fixture(autouse=True)
def alone():
    with isolated():
        yield


# --- Refused by the command ----------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
def test_the_map_of_the_guides_is_refused(tmp_path, known):
    """It sends the convolution of a shortcut to the scale of the BatchNorm behind it."""
    source = saved(tmp_path / "n.pth", shortcut_in_torch())
    cell = {"network": f"{HERE}shortcut"} if known else {}
    module = {"network": f"{HERE}shortcut_in_torch"} if known else {}
    convert(source, tmp_path / "right.ckpt", **cell)
    rename = {"rename": {"downsample.0.weight": "downsample.1.weight"}}
    if known:
        text = refused(source, tmp_path / "n.ckpt", error=WeightError, **rename, **cell)
        assert (
            "candidate downsample.1.gamma and downsample.0.weight both map to downsample.1" in text
        )
    else:
        text = refused(source, tmp_path / "n.ckpt", **rename)
        both = "downsample.0.weight (16, 8, 1, 1) and downsample.1.weight (16,)"
        assert f"{both} would both be downsample.0.weight: a --rename is wrong" in text
    text = refused(
        tmp_path / "right.ckpt", tmp_path / "back.pth", error=WeightError, **rename, **module
    )
    assert "both map to downsample.1.weight" in text


REFUSED = {
    "two names to one": ({}, {"rename": {"fc2": "fc1"}}, WeightError, "both map to fc1.weight"),
    "half of a swap": (
        *({}, {"rename": {"gamma": "bias"}}, WeightError),
        "both map to bn.bias",
    ),
    "a layer left out": (
        *({"fc2.weight": None}, {}, WeightError),
        "candidate fc2.weight (weight (3, 3)) maps to fc2.weight, which the reference does not",
    ),
    "one more": (
        *({"fc3.weight": lambda _: torch.ones(3, 3)}, {}, WeightError),
        "reference fc3.weight (weight (3, 3)) has no partner in the candidate",
    ),
    "a kernel of a larger window": (
        *({"conv.weight": lambda _: torch.ones(3, 3, 5, 5)}, {}, WeightError),
        "candidate conv.weight is a weight (3, 3, 3, 3), its partner conv.weight a weight (3, 3, 5",
    ),
    "integers": (
        {"fc1.bias": lambda b: b.int()},
        {},
        CheckpointError,
        "fc1.bias is int32, and the",
    ),
    "complex numbers": (
        *({"fc1.bias": lambda b: b + 1j}, {}, CheckpointError),
        "fc1.bias is complex64, which cannot be converted",
    ),
}


def weights(changes=None):
    """The weights of the network, some changed, added or left out."""
    state = evaluations.weights(TorchSquare(), NAME)
    for name, change in (changes or {}).items():
        state[name] = change(state.get(name)) if change else None
    return {name: tensor for name, tensor in state.items() if tensor is not None}


@pytest.mark.parametrize("defect", REFUSED)
def test_it_is_refused(tmp_path, defect):
    changes, options, error, words = REFUSED[defect]
    source = saved(tmp_path / "n.pth", weights(changes))
    assert words in refused(source, tmp_path / "n.ckpt", error=error, **options, **NETWORK)


def test_a_file_that_was_cut_off_is_refused(tmp_path):
    source = saved(tmp_path / "n.pth", weights())
    source.write_bytes(source.read_bytes()[:-200])
    assert "is damaged, cut off" in refused(source, tmp_path / "n.ckpt", **NETWORK)


# --- Seen by running the network alone -----------------------------------------------------------

FITTING = {
    "moving mean and variance exchanged": (
        *({}, {"rename": {"moving_mean": "running_var", "moving_variance": "running_mean"}}),
    ),
    "gamma and beta exchanged": ({}, {"rename": {"gamma": "bias", "beta": "weight"}}),
    "two layers exchanged": ({}, {"rename": {"fc1": "fc2", "fc2": "fc1"}}),
    "a dense layer transposed": ({"fc1.weight": lambda w: w.T.contiguous()}, {}),
    "a kernel as TensorFlow has it": (
        *({"conv.weight": lambda w: w.permute(2, 3, 1, 0).contiguous()}, {}),
    ),
    "a kernel turned that was not TensorFlow's": ({}, {"layout": "hwio"}),
    "a kernel flipped": ({"conv.weight": lambda w: w.flip(2, 3)}, {}),
    "channels BGR": ({"conv.weight": lambda w: w.flip(1)}, {}),
    "one layer of an older file": ({"fc2.weight": lambda w: w * 0.999}, {}),
    "half precision": (
        *({n: torch.Tensor.half for n, t in TorchSquare().state_dict().items() if t.ndim}, {}),
    ),
}


@pytest.fixture(scope="module")
def known():
    return evaluations.truth(TorchSquare, weights(), NAME, (8, 8, 3), 3, 9, 8)


def evaluated(path, known):
    network = Square()
    loaded = ms.load_checkpoint(str(path), crc_check=True)
    assert ms.load_param_into_net(network, loaded) == ([], [])
    return known.judged(evaluate(network, known.batches))


def test_the_right_file_passes(tmp_path, known):
    convert(saved(tmp_path / "n.pth", weights()), tmp_path / "n.ckpt", **NETWORK)
    judgement, counts = evaluated(tmp_path / "n.ckpt", known)
    assert judgement.equal, judgement.differing or judgement.ill_posed
    assert all(count.equal for count in counts)


@pytest.mark.parametrize("defect", FITTING)
def test_it_is_written_and_the_evaluation_sees_it(tmp_path, known, defect):
    changes, options = FITTING[defect]
    made = convert(
        saved(tmp_path / "n.pth", weights(changes)), tmp_path / "n.ckpt", **NETWORK, **options
    )
    assert defect != "half precision" or any("stays float16" in note for note in made.notes)
    judgement, _ = evaluated(tmp_path / "n.ckpt", known)
    assert "losses" in {verdict.name for verdict in judgement.differing}
    assert not judgement.ill_posed


def test_an_older_file_is_seen_as_well(tmp_path, known):
    """All weights of a step before: names, shapes and dtypes are right."""
    rng = np.random.default_rng(0)
    state = {
        name: (tensor + 1e-4 * torch.from_numpy(rng.normal(size=tuple(tensor.shape)))).to(tensor)
        for name, tensor in weights().items()
    }
    convert(saved(tmp_path / "n.pth", state), tmp_path / "n.ckpt", **NETWORK)
    judgement, _ = evaluated(tmp_path / "n.ckpt", known)
    assert judgement.differing
