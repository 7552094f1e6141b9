"""A monitor as a callback of `Model`: the loss of each step, and its scale."""

import json
from types import SimpleNamespace

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from equivalence import monitored
from equivalence.dumps.mindspore_hooks import callback


@pytest.fixture(autouse=True)
def pynative():
    before = ms.get_context("mode")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=before)


def test_each_step_of_a_model_is_a_row(tmp_path):
    net = nn.Dense(3, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    x, y = np.ones((6, 3), np.float32), np.zeros((6, 2), np.float32)
    data = ms.dataset.NumpySlicesDataset({"x": x, "y": y}, shuffle=False).batch(2)
    model = ms.train.Model(net, nn.MSELoss(), optimizer)
    with monitored(tmp_path / "a", net, optimizer) as monitor:
        model.train(1, data, callbacks=[monitor.callback], dataset_sink_mode=False)
    head, *rows, end = map(json.loads, (tmp_path / "a").read_text().splitlines())
    assert [row["step"] for row in rows] == [0, 1, 2]
    assert all(row["loss"] > 0 and row["gradients/weight"] > 0 for row in rows)
    assert rows[0]["rate"] == pytest.approx(0.1)
    assert (head["framework"], end["notes"]) == ("mindspore", [])


def test_a_step_with_a_scale_gives_it():
    told = []
    monitor = SimpleNamespace(
        loss=lambda value: told.append(float(value.asnumpy())),
        scale=told.append,
        step=lambda: told.append("step"),
    )
    outputs = ms.Tensor(2.5), ms.Tensor(False), ms.Tensor(1024.0)
    context = SimpleNamespace(original_args=lambda: SimpleNamespace(net_outputs=outputs))
    callback(monitor).on_train_step_end(context)
    assert told == [2.5, 1024.0, "step"]
