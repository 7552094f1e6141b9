"""Weights that one side joins or transposes are rearranged, there and back, bit for bit."""

import numpy as np
import pytest
import torch
from mindspore import Parameter, Tensor, nn

from equivalence.checkpoints.formats import StoredWeight
from equivalence.convert import joined
from equivalence.convert.convert import convert
from equivalence.errors import CheckpointError, WeightError
from equivalence.structure.rearranged import Rearrangement

HERE = __name__
RENAME = {"q + k": "qk", "table": "table.T"}
GROUP = Rearrangement({"qk": (4, 2)}, ((0, 1),), {"q": (2, 2), "k": (2, 2)})


class Fused(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qk = torch.nn.Linear(3, 8, bias=False)
        self.table = torch.nn.Parameter(torch.randn(2, 5))


class Split(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q, self.k = (nn.Dense(3, 4, has_bias=False) for _ in range(2))
        self.table = Parameter(Tensor(np.zeros((5, 2), np.float32)))


@pytest.fixture
def source(tmp_path):
    torch.manual_seed(0)
    torch.save(Fused().state_dict(), tmp_path / "fused.pth")
    return tmp_path / "fused.pth"


def test_weights_are_joined_and_transposed_both_ways(source, tmp_path):
    there, back = tmp_path / "split.ckpt", tmp_path / "back.pth"
    convert(source, there, network=f"{HERE}:Split", rename=RENAME)
    convert(there, back, network=f"{HERE}:Fused", rename=RENAME)
    first, last = (torch.load(path, weights_only=True) for path in (source, back))
    assert first.keys() == last.keys()
    assert all(torch.equal(first[name], last[name]) for name in first)


def test_a_rearrangement_needs_the_network(source, tmp_path):
    with pytest.raises(
        CheckpointError, match=r"q \+ k=qk rearranges weights, which needs --network"
    ):
        convert(source, tmp_path / "x.ckpt", rename=RENAME)
    assert not (tmp_path / "x.ckpt").exists()


def test_weights_of_two_dtypes_are_not_joined():
    weights = {"q": StoredWeight("float32", np.zeros((2, 2), np.float32))}
    weights["k"] = StoredWeight("float16", np.zeros((2, 2), np.float16))
    with pytest.raises(
        WeightError, match="q, k belong together and have the dtypes float32, float"
    ):
        joined.to_reference(GROUP, weights)
