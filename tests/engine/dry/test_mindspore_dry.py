import mindspore as ms
import numpy as np
from mindspore import nn

from equivalence.dry.mindspore_dry import MindSporeDry
from equivalence.stream.mindspore_stream import undifferentiated


def test_what_is_answered_again_is_a_copy():
    value = ms.Tensor(np.ones(2, np.float32))
    again = MindSporeDry().again(value)
    assert again is not value
    assert again.asnumpy().tolist() == [1.0, 1.0]


def test_plain_numbers_of_cells_are_found():
    class Counting(nn.Cell):
        def __init__(self):
            super().__init__()
            self.calls = 3

    assert MindSporeDry().numbers(Counting())[".calls"] == 3


def test_gradients_are_those_that_are_handed_in():
    weight = ms.Parameter(np.ones(3, np.float32), name="w")

    def loss(x):
        return (x * weight).sum()

    def gradients(weights, cotangent):
        return tuple(ms.Tensor(np.full(each.shape, cotangent, np.float32)) for each in weights)

    with undifferentiated(lambda run: run(), gradients):
        step = ms.value_and_grad(loss, 0, [weight])
        value, (of_input, of_weights) = step(ms.Tensor(np.full(3, 2.0, np.float32)))
    assert float(value) == 6.0
    assert of_input.asnumpy().tolist() == [0.0] * 3
    assert of_weights[0].asnumpy().tolist() == [1.0] * 3
