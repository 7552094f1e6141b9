"""What stands for meeting other ranks, and a SyncBatchNorm on a CPU, with one rank and with two."""

import pytest
import torch
from torch import distributed, multiprocessing, nn

from equivalence.distributed import launch
from equivalence.distributed.torch_meeting import meeting
from equivalence.errors import DeclarationError


@pytest.fixture
def alone(monkeypatch):
    """A context in which this process is the only rank."""
    with launch._reserve_port() as port:
        for name, value in {"RANK": 0, "WORLD_SIZE": 1, "MASTER_PORT": port}.items():
            monkeypatch.setenv(name, str(value))
        monkeypatch.setenv("MASTER_ADDR", "127.0.0.1")
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", "lo")
        with meeting(0, 1) as met:
            yield met
    assert not distributed.is_initialized()


def test_a_script_meets_and_leaves_without_effect_and_that_is_known(alone):
    assert not alone.asked
    distributed.init_process_group("nccl", rank=7, world_size=8)
    distributed.destroy_process_group()
    assert alone.asked
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)


def test_a_script_that_spawns_its_ranks_runs_as_this_one(alone):
    seen = []
    multiprocessing.spawn(lambda *given: seen.append(given), args=("data",), nprocs=1)
    assert seen == [(0, "data")]
    with pytest.raises(DeclarationError, match="spawns 4 processes, and runs on 1 ranks"):
        multiprocessing.spawn(print, nprocs=4)
    assert not alone.asked


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.usefixtures("alone")
def test_of_one_rank_a_synchronised_norm_is_a_batch_norm(training):
    x = torch.randn(6, 4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float32)
    results = []
    for kind in (nn.BatchNorm1d, nn.SyncBatchNorm):
        norm = kind(4, momentum=0.3).train(training)
        norm.weight.data = torch.tensor([1.5, -0.5, 0.25, 2.0])
        norm.running_mean += 0.5
        given = x.clone().requires_grad_()
        given_out = norm(given)
        (given_out**3).sum().backward()
        results.append([given_out, given.grad, norm.weight.grad, *norm.buffers()])
    for one, two in zip(*results, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-5)
