"""Recurrent MindSpore layers for the tests of inaccurate kernels."""

import mindspore as ms
from mindspore import nn, ops


class Recurrent(nn.Cell):
    """`mindspore.nn.RNN`, of which the cells below make something else."""

    def __init__(self, **arguments):
        super().__init__()
        self.layer = nn.RNN(**arguments)


class Stretched(Recurrent):
    """`mindspore.nn.RNN` with outputs that are one part in a hundred thousand too large."""

    def construct(self, x):
        outputs, last = self.layer(x)
        return outputs * (1.0 + 1e-5), last


class StretchedInGraph(Recurrent):
    """The same in graph mode alone; in PyNative mode it is right."""

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.factor = 1.0 + 1e-5 * (ms.get_context("mode") == ms.GRAPH_MODE)

    def construct(self, x):
        outputs, last = self.layer(x)
        return outputs * self.factor, last


class Stateless(Recurrent):
    """`mindspore.nn.RNN` that keeps its last state to itself."""

    def construct(self, x):
        return (self.layer(x)[0],)


class Shortened(Recurrent):
    """`mindspore.nn.RNN` without its last step."""

    def construct(self, x):
        outputs, last = self.layer(x)
        return outputs[:-1], last


class GraphOnly(Recurrent):
    """`mindspore.nn.RNN` that cannot be built in PyNative mode."""

    def __init__(self, **arguments):
        if ms.get_context("mode") != ms.GRAPH_MODE:
            raise RuntimeError("only compiled")
        super().__init__(**arguments)

    def construct(self, x):
        return self.layer(x)


class Softened(nn.Cell):
    """tanh(x) e^0, with one accurate and two inaccurate kernels of which one matters."""

    def construct(self, x):
        return ops.tanh(x) * ops.exp(x - x) + 0.0 * ops.sin(x)
