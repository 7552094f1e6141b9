"""What ranks of PyTorch do on a CPU for a script as it stands. Loads torch.

They meet once, and stay together while the script runs again. What it does itself to start ranks,
to meet or to leave them, has no effect. `SyncBatchNorm`, which PyTorch has for GPUs alone, is
computed by sums over the ranks.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import distributed, multiprocessing, nn
from torch.nn import functional as F

from equivalence.errors import DeclarationError
from equivalence.stream.patches import patched


@dataclass
class Met:
    """asked: whether the script has asked to meet other ranks."""

    asked: bool = False


@contextlib.contextmanager
def meeting(rank: int, ranks: int) -> Iterator[Met]:
    """A context in which a script may run several times as one of some ranks."""
    distributed.init_process_group("gloo")
    met = Met()

    def init_process_group(*_: Any, **__: Any) -> None:
        met.asked = True

    def spawn(function: Callable[..., Any], args: tuple = (), nprocs: int = 1, **_: Any) -> None:
        if nprocs != ranks:
            raise DeclarationError(
                f"the script spawns {nprocs} processes, and runs on {ranks} ranks"
            )
        function(rank, *args)

    with (
        patched(
            distributed,
            init_process_group=init_process_group,
            destroy_process_group=lambda *_: None,
        ),
        patched(multiprocessing, spawn=spawn),
        patched(nn.SyncBatchNorm, forward=_synchronised),
        patched(
            nn.parallel.DistributedDataParallel, _passing_sync_batchnorm_handle=lambda *_: None
        ),
    ):
        yield met
    distributed.barrier()
    distributed.destroy_process_group()


class Sum(torch.autograd.Function):
    """The sum over the ranks of a tensor, and of its gradients."""

    @staticmethod
    def forward(ctx: Any, values: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        """The sum of all ranks' values."""
        whole = values.clone()
        distributed.all_reduce(whole)
        return whole

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        """The sum of all ranks' gradients."""
        whole = gradient.clone()
        distributed.all_reduce(whole)
        return whole


def _synchronised(norm: nn.SyncBatchNorm, x: torch.Tensor) -> torch.Tensor:
    """A normalisation by the batches of all ranks; of its own statistics in evaluation."""
    if not (norm.training or norm.running_mean is None):
        return F.batch_norm(
            x, norm.running_mean, norm.running_var, norm.weight, norm.bias, False, 0.0, norm.eps
        )
    axes = [axis for axis in range(x.dim()) if axis != 1]
    shape = [1, -1, *[1] * (x.dim() - 2)]
    own = torch.tensor([float(x.numel() // x.shape[1])])
    sums = Sum.apply(torch.cat([own, x.sum(axes)]))
    count, mean = sums[0], sums[1:] / sums[0]
    centred = x - mean.reshape(shape)
    variance = Sum.apply((centred * centred).sum(axes)) / count
    if norm.training and norm.track_running_stats:
        with torch.no_grad():
            norm.num_batches_tracked += 1
            share = 1.0 / float(norm.num_batches_tracked)
            share = share if norm.momentum is None else norm.momentum
            norm.running_mean.mul_(1.0 - share).add_(mean, alpha=share)
            norm.running_var.mul_(1.0 - share).add_(variance * count / (count - 1.0), alpha=share)
    normal = centred / torch.sqrt(variance + norm.eps).reshape(shape)
    if norm.weight is None:
        return normal
    return normal * norm.weight.reshape(shape) + norm.bias.reshape(shape)
