import mindspore as ms
import numpy as np
import pytest
from mindspore import mint, nn, ops

from equivalence.randomness.mindspore_replay import replaying
from equivalence.randomness.replay import Replay
from equivalence.stand_ins.context import StandIns
from equivalence.statements.mindspore_calls import MindSporeCalls


class Net(nn.Cell):
    def construct(self, x):
        y = ops.relu(x)
        z = y[:, 1]
        z[0] = 5.0
        return ops.cat((z, z))


X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def recorded(replaced=None):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    network = Net()
    watch = MindSporeCalls(network, replaced)
    with watch:
        out = network(ms.Tensor(X))
    return watch.recording, out.asnumpy()


def test_operators_and_indexing_are_recorded_in_order():
    run, out = recorded()
    texts = [call.statement.text for call in run.calls]
    assert [call.name for call in run.calls][1:3] == ["getitem", "setitem"]
    assert texts[:3] == ["y = ops.relu(x)", "z = y[:, 1]", "z[0] = 5.0"]
    assert run.value(out) == run.calls[-1].outputs[0]


def test_a_result_and_what_is_taken_can_be_replaced():
    _, out = recorded({(1, "output", 0): np.array([7.0, 8.0])})
    assert out.tolist() == [5.0, 8.0, 5.0, 8.0]
    _, out = recorded({(2, "output", 0): np.array([7.0, 8.0])})
    assert out.tolist() == [7.0, 8.0, 7.0, 8.0]
    _, out = recorded({(0, "input", 0): 10 * X})
    assert out.tolist() == [5.0, 40.0, 5.0, 40.0]


def test_the_tensors_of_the_process_are_left_as_they_were():
    before = ms.Tensor.__getitem__
    recorded()
    assert ms.Tensor.__getitem__ is before


class Tried(nn.Cell):
    """Fails once, as where a kernel is lacking, and is then called again."""

    lacking = True

    def construct(self, x):
        y = ops.relu(x)
        if self.lacking:
            self.lacking = False
            raise RuntimeError("kernel Relu unregistered")
        return ops.cat((y, y))


def test_the_recording_is_that_of_the_call_that_went_through():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    network = Tried()
    watch = MindSporeCalls(network, {(1, "output", 0): 10 * np.ones((4, 2), np.float32)})
    with watch:
        with pytest.raises(RuntimeError, match="unregistered"):
            network(ms.Tensor(X))
        out = network(ms.Tensor(X))
    assert [call.statement.text for call in watch.recording.calls] == [
        "y = ops.relu(x)",
        "return ops.cat((y, y))",
    ]
    assert out.asnumpy().tolist() == [[10.0, 10.0]] * 4


class OfMint(nn.Cell):
    def construct(self, x):
        image = x[None, None]
        return mint.nn.functional.conv2d(image, image, padding=1)


def test_what_a_stand_in_calls_is_of_the_networks_own_statement():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    network = OfMint()
    watch = MindSporeCalls(network)
    with StandIns()() as stand_ins, watch:
        network(ms.Tensor(X))
    assert stand_ins.used == {"mint.nn.functional.conv2d": 1}
    convolutions = [call for call in watch.recording.calls if call.name == "Conv2D"]
    assert convolutions
    for call in convolutions:
        assert call.statement.text == "return mint.nn.functional.conv2d(image, image, padding=1)"


class Dropped(nn.Cell):
    """Has a dropout behind an addition, which has no gradient in this run."""

    def construct(self, x):
        return ops.dropout(x + x, 0.5)


def test_a_dropout_with_replayed_draws_takes_what_is_handed_to_it():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    network = Dropped()
    watch = MindSporeCalls(network)
    with watch, replaying(Replay("sample"), network):
        network(ms.Tensor(X))
    run = watch.recording
    assert [call.name for call in run.calls[:2]] == ["AddExt", "Dropout"]
    assert run.calls[1].inputs == run.calls[0].outputs
    assert all(run.value(X) == leaf for leaf in run.leaves)
