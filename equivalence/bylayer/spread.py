"""Spreads the parts of a network over the processes that torchrun or msrun has started.

All processes run the same command, each with a card of its own. Each compares its share of the
parts, and all of them get what all have found, by the launcher's own process group. The first
process tells it.
"""

import contextlib
import functools
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.host import devices

PartT = TypeVar("PartT")
FoundT = TypeVar("FoundT")


@dataclass(frozen=True)
class ProcessGroup:
    """The processes of a launcher.

    rank: the number of this one.
    size: how many there are.
    gather: what this one gives -> what each gives, in the order of ranks.
    """

    rank: int
    size: int
    gather: Callable[[Any], list[Any]]


_group = ProcessGroup(0, 1, lambda own: [own])


def launched() -> str:
    """The launcher that has started this process, torchrun or msrun; "" where none has."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return "torchrun"
    return "msrun" if os.environ.get("MS_ROLE", "").startswith("MS_") else ""


def leads() -> bool:
    """Whether this process tells what is found: it is the first, or the only one."""
    return _group.rank == 0


@contextlib.contextmanager
def joined(device: str) -> Iterator[None]:
    """A context in which this process is one of its launcher's.

    device: the name of the place where the candidate runs.
    """
    global _group
    launcher = launched()
    if not launcher:
        yield
        return
    before = _group
    with _of_torchrun(device) if launcher == "torchrun" else _of_msrun(device) as _group:
        try:
            yield
        finally:
            _group = before


@contextlib.contextmanager
def _of_torchrun(device: str) -> Iterator[ProcessGroup]:
    runs_on = devices.place(device).runs_on
    if variable := devices.DEVICES[runs_on].visible:
        cards = devices.cards(runs_on)
        number = int(os.environ["LOCAL_RANK"])
        if number >= len(cards):
            raise DeclarationError(
                f"torchrun starts a process for card {number + 1}, and the host has {len(cards)}; "
                f"write --nproc-per-node {len(cards)}"
            )
        os.environ[variable] = cards[number]

    from torch import distributed

    distributed.init_process_group("gloo")
    rank, size = distributed.get_rank(), distributed.get_world_size()

    def gather(own: Any) -> list[Any]:
        every = [None] * size
        distributed.all_gather_object(every, own)
        return every

    try:
        yield ProcessGroup(rank, size, gather)
    finally:
        distributed.destroy_process_group()


@contextlib.contextmanager
def _of_msrun(device: str) -> Iterator[ProcessGroup]:
    import mindspore as ms
    from mindspore import communication, ops

    ms.set_device(devices.DEVICES[devices.place(device).runs_on].target)
    communication.init()  # the scheduler serves the others here until they leave
    if os.environ["MS_ROLE"] == "MS_SCHED":
        raise SystemExit(0)
    join = functools.partial(ops.AllGather, communication.GlobalComm.WORLD_COMM_GROUP)

    def gather(own: Any) -> list[Any]:
        # Groups of MindSpore gather tensors of one size.
        content = pickle.dumps(own)
        sizes = join()(ms.Tensor([len(content)], ms.int32)).asnumpy().tolist()
        padded = np.zeros(-(-max(sizes) // 4), np.int32)
        padded.view(np.uint8)[: len(content)] = np.frombuffer(content, np.uint8)
        every = join()(ms.Tensor(padded)).asnumpy().reshape(len(sizes), -1)
        return [pickle.loads(row.tobytes()[:size]) for row, size in zip(every, sizes, strict=True)]

    try:
        yield ProcessGroup(communication.get_rank(), communication.get_group_size(), gather)
    finally:
        communication.release()


def share(parts: Sequence[PartT]) -> Sequence[PartT]:
    """The parts that this process compares."""
    return parts[_group.rank :: _group.size]


def spread(parts: Sequence[PartT], compare: Callable[[PartT], FoundT]) -> list[FoundT]:
    """What `compare` gives for each part; each process calls it for its share.

    Raises the EquivalenceError of the first process that raises one, in all processes.
    """
    found: list[FoundT] = []
    failed = None
    try:
        found += map(compare, share(parts))
    except EquivalenceError as error:
        if _group.size == 1:
            raise
        failed = error
    every = _group.gather((found, failed))
    for _, raised in every:
        if raised is not None:
            raise raised
    return [every[number % _group.size][0][number // _group.size] for number in range(len(parts))]
