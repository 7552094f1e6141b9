"""What tests of conversions share: networks on both sides, their files, how they compare."""

from collections import OrderedDict

import mindspore as ms
import pytest
import torch
from mindspore import mint

from equivalence.checkpoints import files as checkpoints
from equivalence.convert.convert import convert
from equivalence.errors import CheckpointError, EquivalenceError

HERE = "tests.engine.parts.conversions"


class TorchNet(torch.nn.Module):
    """Every kind of layer whose names differ."""

    def __init__(self, width=4, affine=True, tied=False, frozen=False):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, width, 3)
        self.bn = torch.nn.BatchNorm2d(width, affine=affine)
        self.ln = torch.nn.LayerNorm(width)
        self.tokens = torch.nn.Embedding(4, width)
        self.head = torch.nn.Linear(width, 4, bias=False)
        if tied:
            self.head.weight = self.tokens.weight
        self.conv.weight.requires_grad_(not frozen)


class Net(ms.nn.Cell):
    """Its twin."""

    def __init__(self, width=4, affine=True, tied=False, frozen=False):
        super().__init__()
        self.conv = ms.nn.Conv2d(3, width, 3, has_bias=True)
        self.bn = ms.nn.BatchNorm2d(width, affine=affine)
        self.ln = ms.nn.LayerNorm((width,))
        self.tokens = ms.nn.Embedding(4, width)
        self.head = ms.nn.Dense(width, 4, has_bias=False)
        if tied:
            self.head.weight = self.tokens.embedding_table
        if frozen:
            for parameter in self.get_parameters():
                parameter.requires_grad = False


def same_block_twice():
    block = ms.nn.Dense(2, 2)
    return ms.nn.CellList([block, block])


def same_module_twice():
    block = torch.nn.Linear(2, 2)
    return torch.nn.ModuleList([block, block])


class Unnamed(ms.nn.Cell):
    """Two weights of one name."""

    def __init__(self):
        super().__init__()
        self.a = ms.nn.Dense(2, 2)
        self.b = ms.nn.Dense(2, 2)
        self.b.weight.name = self.a.weight.name


def broken():
    raise ValueError("no such\nluck")


def randomised(module):
    """The module with random weights and statistics."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for tensor in module.state_dict().values():
            if tensor.ndim > 1:
                drawn = torch.randn(tensor.shape, generator=generator)
                tensor.copy_(drawn * (2 / tensor[0].numel()) ** 0.5)
            elif tensor.is_floating_point():
                tensor.copy_(torch.rand(tensor.shape, generator=generator) + 0.5)
    return module


def saved(path, weights):
    """The file with a PyTorch module's or a dictionary's weights."""
    state = weights.state_dict() if isinstance(weights, torch.nn.Module) else weights
    torch.save(OrderedDict(state), path)
    return path


def stored(path, **shapes):
    """A .pth with weights of those shapes; `__` is a dot."""
    return saved(path, {n.replace("__", "."): torch.rand(s) for n, s in shapes.items()})


def names(path, framework):
    return set(checkpoints.read(path, framework).weights)


def bits(tensor):
    return tensor.dtype, tensor.shape, tensor.contiguous().reshape(-1).view(torch.uint8).tolist()


def equal(found, expected):
    """Two state dicts, bit for bit; a count of batches starts anew."""
    return found.keys() == expected.keys() and all(
        bits(found[n]) == bits(expected[n] * 0 if n.endswith("tracked") else expected[n])
        for n in expected
    )


def refused(*arguments, error=CheckpointError, **options):
    """The text of the refusal; nothing is written."""
    target = arguments[1]
    before = target.read_bytes() if target.is_file() else None
    with pytest.raises(error) as caught:
        convert(*arguments, **options)
    assert isinstance(caught.value, EquivalenceError)
    assert (target.read_bytes() if target.is_file() else None) == before
    assert not [p for p in target.parent.glob(".*") if p != target]
    return str(caught.value)


def grouped():
    layers = {"a": ms.nn.Conv2d(3, 4, 1), "b": ms.nn.GroupNorm(2, 4, affine=False)}
    return ms.nn.SequentialCell(OrderedDict(layers))


def one_dense():
    return ms.nn.SequentialCell(ms.nn.Dense(2, 2))


def minted():
    return ms.nn.SequentialCell(mint.nn.BatchNorm2d(3))


class Extra(torch.nn.Linear):
    def __init__(self):
        super().__init__(2, 2)

    def get_extra_state(self):
        return {"steps": 3}
