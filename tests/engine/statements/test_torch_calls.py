import torch
from torch import nn
from torch.nn import functional as F

from equivalence.statements.torch_calls import TorchCalls


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        y[0] = 2.0
        return F.scaled_dot_product_attention(y[None], y[None], y[None])


def recorded():
    network = Net()
    watch = TorchCalls(network)
    with watch:
        out = network(torch.ones(3, 4))
        out.sum().backward()
    return watch.recording


def test_calls_have_the_statement_and_the_layer_of_the_users_code():
    run = recorded()
    call = next(call for call in run.calls if call.name == "addmm")
    assert call.statement.text == "y = self.fc(x)"
    assert call.statement.layer == ""


def test_attention_is_seen_in_its_parts():
    assert {"bmm", "_safe_softmax"} <= {call.name for call in recorded().calls}


def test_what_is_written_in_place_is_another_value():
    run = recorded()
    call = next(call for call in run.calls if call.name in ("fill_", "copy_"))
    assert call.outputs
    assert set(call.outputs) != set(call.inputs)


def test_the_backward_pass_is_not_recorded():
    assert not any("backward" in call.name for call in recorded().calls)
