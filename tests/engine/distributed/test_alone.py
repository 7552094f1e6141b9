"""A script of ranks without a launcher is the only rank of one; with one, nothing changes."""

import os
import subprocess
import types

import mindspore as ms
import numpy as np
import pytest
from mindspore import nn

from equivalence.distributed import alone
from equivalence.host.isolation import isolated


def joined(noted, **kwargs):
    """What a group of PyTorch is joined with; the variables that are set then."""
    given = {}
    fake = types.SimpleNamespace(
        init_process_group=lambda *_, **__: given.update(os.environ),
        is_available=lambda: True,
    )
    with alone.of_torch(fake, noted.append):
        fake.init_process_group("gloo", **kwargs)
    return given


def test_a_group_without_a_launcher_is_joined_alone(monkeypatch):
    for name in (*alone.LAUNCHED, "MASTER_PORT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    noted = []
    given = joined(noted)
    assert (given["RANK"], given["WORLD_SIZE"], noted) == ("0", "1", [alone.ALONE])
    assert int(given["MASTER_PORT"]) > 0


def test_what_a_launcher_or_the_script_says_is_kept(monkeypatch):
    for name in (*alone.LAUNCHED, "MASTER_PORT"):
        monkeypatch.setenv(name, "3")
    noted = []
    assert joined(noted)["MASTER_PORT"] == "3"
    monkeypatch.delenv("RANK")
    assert joined(noted, rank=0)["MASTER_PORT"] == "3"
    assert noted == []


@pytest.mark.parametrize("variable", alone.LAUNCHER)
def test_a_launcher_of_mindspore_is_left_to_it(monkeypatch, variable):
    monkeypatch.setenv(variable, "MS_WORKER")
    called = []
    fake = types.SimpleNamespace(init=lambda: called.append(1))
    fake.management = types.SimpleNamespace(init=None, _init_with_store=None, GlobalComm=None)
    with alone.of_mindspore(fake, called.append):
        fake.init()
    assert called == [1]


def test_a_group_of_mindspore_is_one_of_a_single_rank():
    noted = []
    with isolated(), alone.of_mindspore(ms.communication, noted.append):
        ms.communication.init()
        ms.communication.management.init()  # of a later run of the process
        assert (ms.communication.get_rank(), ms.communication.get_group_size()) == (0, 1)
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        weight = ms.Parameter(ms.Tensor(np.ones(3, np.float32)), name="w")
        (reduced,) = nn.DistributedGradReducer([weight])((ms.Tensor([1.0, 2.0, 3.0]),))
    assert reduced.asnumpy().tolist() == [1.0, 2.0, 3.0]
    assert noted == [alone.ALONE] * 2
    told = subprocess.run(["env"], capture_output=True, text=True, check=True).stdout
    assert "MS_ROLE" not in told  # a child is no rank
