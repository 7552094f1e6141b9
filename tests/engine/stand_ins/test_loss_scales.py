"""Steps that skip an update whose gradients overflow, on a CPU."""

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn
from mindspore.amp import DynamicLossScaleManager, FixedLossScaleManager
from mindspore.train import Model, amp

from equivalence.stand_ins.loss_scales import checking, get_overflow_status, has_skipped


def model(manager):
    net = nn.Dense(2, 1)
    return Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()), loss_scale_manager=manager)


@pytest.mark.parametrize("manager", [DynamicLossScaleManager(), FixedLossScaleManager()])
def test_a_model_takes_a_manager_that_drops_updates(manager):
    with pytest.raises(ValueError, match="are supported on device `CPU`"):
        model(manager)
    with checking():
        model(manager)


def test_nothing_stays_of_it():
    before = nn.TrainOneStepWithLossScaleCell.get_overflow_status, amp.context
    with checking():
        assert nn.TrainOneStepWithLossScaleCell.get_overflow_status is get_overflow_status
    assert (nn.TrainOneStepWithLossScaleCell.get_overflow_status, amp.context) == before


@pytest.mark.parametrize("value", [1.0, np.inf, np.nan])
def test_a_step_says_whether_it_has_skipped_its_update(value):
    net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
    with_loss = nn.WithLossCell(net, nn.MSELoss())
    scale = ms.Tensor(1.0, ms.float32)
    with checking():
        step = nn.TrainOneStepWithLossScaleCell(with_loss, nn.SGD(net.trainable_params()), scale)
        given = ms.Tensor([[value]], ms.float32), ms.Tensor([[0.0]], ms.float32)
        outputs = step(*given)
    assert has_skipped(step, outputs) is not bool(np.isfinite(value))
    assert (float(net.weight.asnumpy()[0, 0]) == 1.0) is has_skipped(step, outputs)
    assert not has_skipped(net, outputs)
    assert not has_skipped(step, outputs[:1])
