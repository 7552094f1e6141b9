import torch
from torch import nn

from equivalence.dry.torch_dry import TorchDry


def test_what_is_answered_again_is_a_copy():
    side, value = TorchDry(), torch.ones(2, requires_grad=True) * 2
    again = side.again(value)
    again.detach().add_(1)
    assert value.tolist() == [2.0, 2.0]
    assert again.requires_grad
    with torch.no_grad():
        assert not side.again(value).requires_grad
    assert side.again("text") == "text"


def test_plain_numbers_of_layers_are_found():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.name = 3, "x"

    assert TorchDry().numbers(Counting()) == {".calls": 3}
