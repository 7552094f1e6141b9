"""Candidates of declared differences, each with one mistake that the declaration leaves out."""

import numpy as np
from mindspore import Tensor, nn, ops

import ms_models.given
from ms_models.losses import CrossEntropySmooth
from ms_models.norm import batch_norm2d_eps_1e4, batch_norm2d_momentum_as_given
from ms_models.pooling import zero_padded_max_pool2d
from ms_models.reductions import NaiveReduceLogSumExp


def _scaled(cell: nn.Cell, factor: float) -> nn.Cell:
    """A cell whose output is multiplied; its weights keep their names."""
    right = cell.construct
    cell.construct = lambda *inputs: right(*inputs) * factor
    return cell


def _shifted(cell: nn.Cell) -> nn.Cell:
    """A cell of 100 x - 7; its weights keep their names."""
    right = cell.construct
    cell.construct = lambda x: right(x * 100.0 - 7.0)
    return cell


def shifted_norm(**arguments) -> nn.Cell:
    return _shifted(batch_norm2d_eps_1e4(**arguments))


def shifted_pool(**arguments) -> nn.Cell:
    return _shifted(zero_padded_max_pool2d(**arguments))


def output_scaled(**arguments) -> nn.Cell:
    return _scaled(batch_norm2d_momentum_as_given(**arguments), 1.001)


def loss_eight_times(**arguments) -> nn.Cell:
    return _scaled(CrossEntropySmooth(**arguments), 8.0)


def smoothed_twice(label_smoothing: float, **arguments) -> nn.Cell:
    return CrossEntropySmooth(label_smoothing=4 * label_smoothing, **arguments)


class Finite(nn.Cell):
    """The naive sum, kept below a large number: wrong, and finite."""

    def __init__(self, **arguments):
        super().__init__()
        self.naive = NaiveReduceLogSumExp(**arguments)

    def construct(self, x):
        return self.naive(ops.clamp(x, -80.0, 80.0))


def decay_left_out(weight_decay: float, **arguments) -> nn.Cell:  # noqa: ARG001
    return ms_models.given.ungrouped_adam(weight_decay=0.0, **arguments)


def decay_left_out_of_nesterov(weight_decay: float, **arguments) -> nn.Cell:  # noqa: ARG001
    return ms_models.given.momentum(weight_decay=0.0, **arguments)


def rate_ten_times(learning_rate: float, **arguments) -> nn.Cell:
    return ms_models.given.bert_adam(learning_rate=10 * learning_rate, **arguments)


class FirstRate(nn.Cell):
    """Schedules: the same rate in each step."""

    def __init__(self, **shape):  # noqa: ARG002
        super().__init__()

    def construct(self, steps, peak):
        return peak * ops.ones_like(steps * peak)


def tiny_embedding(num_embeddings: int, embedding_dim: int) -> nn.Cell:
    cell = nn.Embedding(num_embeddings, embedding_dim)
    values = np.random.normal(0.0, 1e-9, (num_embeddings, embedding_dim))
    cell.embedding_table.set_data(Tensor(values.astype(np.float32)))
    return cell
