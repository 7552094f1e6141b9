"""What a search runs is counted."""

from types import SimpleNamespace

import mindspore as ms
import pytest
from mindspore import nn, ops

from equivalence.statements.calls import Effort
from equivalence.statements.watched import Watched


def test_a_run_that_fails_is_work_too():
    def run(_feed):
        ops.exp(ops.sin(ms.Tensor([1.0, 2.0])))
        raise ValueError("refused")

    network = SimpleNamespace(cell=nn.ReLU(), run=run)
    watched = SimpleNamespace(network=network, lent={}, feed=None, effort=Effort())
    with pytest.raises(ValueError, match="refused"):
        Watched.run(watched, {}, recorded=False)
    assert watched.effort.done == 2
