"""The first layer tells the shape of an input, and what is proposed really fits it."""

import ast

import numpy as np
import pytest
import torch
from torch import nn

from equivalence.declare.operator import read_draw
from equivalence.own.proposal import SHAPES, propose, required

LAYERS = (
    nn.Conv1d(3, 4, 3),
    nn.Conv2d(3, 4, 3),
    nn.Conv3d(3, 4, 3),
    nn.ConvTranspose1d(3, 4, 3),
    nn.ConvTranspose2d(3, 4, 3),
    nn.Linear(5, 4),
    nn.Embedding(7, 4),
    nn.LSTM(6, 4),
    nn.GRUCell(6, 4),
    nn.BatchNorm1d(6),
    nn.BatchNorm2d(6),
    nn.GroupNorm(2, 6),
    nn.TransformerEncoderLayer(8, 2),
)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_what_is_proposed_fits(layer):
    told = propose(nn.Sequential(layer))
    assert told.startswith(f"the first layer is a {type(layer).__name__}, so '")
    draw = read_draw(ast.parse(told.split("'")[1], mode="eval").body)
    values = draw.array(np.random.default_rng(0), draw.resolve({}))
    layer(torch.from_numpy(values.astype(np.int64 if values.dtype.kind == "i" else np.float32)))


def test_every_proposal_is_tried():
    names = {cls.__name__ for layer in LAYERS for cls in type(layer).__mro__}
    assert set(SHAPES) <= names


class Several(nn.Module):
    def forward(self, x, mask, scale=1.0):
        return x * mask * scale


def test_several_inputs_are_named():
    assert required(Several()) == ["x", "mask"]
    assert propose(Several()).startswith("forward takes x and mask; give each in order")


def test_layers_that_tell_nothing_are_asked_about():
    assert propose(nn.Sequential(nn.ReLU())).startswith("the layers tell no shape; write one")
