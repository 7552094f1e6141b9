"""The calls of a network within a function, and tokens that are put in the place of its own."""

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.errors import DeclarationError
from equivalence.generation.calls import GenerationCall, network_of, of_torch
from equivalence.sides.torch_network import Function


class Net(nn.Module):
    def forward(self, ids, scale=1.0):
        return {"logits": ids[..., None] * scale * torch.arange(4.0), "ids": ids}


def run(net, ids):
    out = net(ids)["logits"][:, -1].argmax(-1, keepdim=True)
    return {"output.0": net(out, scale=torch.tensor(2.0))["logits"].numpy()}


class Side:
    module = nn.ModuleDict({"net": Net()})


def test_each_call_has_its_tokens_and_the_first_floating_output():
    ids = torch.tensor([[1, 2]])
    found = of_torch(Side, "net", lambda: run(Side.module["net"], ids))
    assert [call.tokens.tolist() for call in found.calls] == [[[1, 2]], [[3]]]
    assert found.calls[1].last.tolist() == [[0.0, 6.0, 12.0, 18.0]]
    assert "output.0" in found.trace
    assert not Side.module["net"]._forward_hooks


def test_tokens_of_the_same_shape_take_the_place_of_its_own():
    ids, forced = torch.tensor([[1, 2]]), [None, np.array([[1]])]
    found = of_torch(Side, "net", lambda: run(Side.module["net"], ids), forced)
    assert found.calls[1].tokens.tolist() == [[1]]
    assert found.calls[1].chosen.tolist() == [[3]]
    assert found.calls[1].last.tolist() == [[0.0, 2.0, 4.0, 6.0]]


def test_a_call_without_logits_has_no_last_ones():
    assert GenerationCall(np.zeros((1, 1), int)).last is None
    assert GenerationCall(None, np.zeros(3)).last is None


def test_the_one_network_of_a_function_is_found():
    with pytest.raises(DeclarationError, match="the reference is given 0 networks"):
        network_of(Function(run), "reference")
    with pytest.raises(DeclarationError, match="the candidate is a network"):
        network_of(Net(), "candidate")
