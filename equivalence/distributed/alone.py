"""A script of ranks that no launcher has started is the only rank of its group.

torchrun and msrun tell each process its rank by variables of the environment, and MindSpore needs a
scheduler process besides. Where a script asks for its group without them, it gets one of itself.
Imports no framework.
"""

import contextlib
import datetime
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from equivalence.stream.patches import patched

ALONE = "the script is the only rank of one, since no launcher has started it"

LAUNCHED = {
    **{"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1"},
    **{"GROUP_RANK": "0", "MASTER_ADDR": "127.0.0.1"},
}
"""What torchrun sets for the only rank of one; the port besides."""

LAUNCHER = ("MS_ROLE", "OMPI_COMM_WORLD_RANK", "RANK_TABLE_FILE")
"""Variables that the launchers of MindSpore set."""


TOLD_TO_CHILDREN = (
    *("MS_ROLE", "MS_NODE_ID", "MS_WORKER_NUM", "MS_WORKER_IP"),
    *("MS_SCHED_HOST", "MS_SCHED_PORT"),
)
"""Variables that MindSpore sets beside `os.environ` where it joins a group."""


def asked_for(error: BaseException) -> bool:
    """Whether a script was ended by a variable that torchrun would have set.

    >>> asked_for(KeyError("LOCAL_RANK")), asked_for(KeyError("image"))
    (True, False)
    """
    return isinstance(error, KeyError) and error.args[:1] in {(name,) for name in LAUNCHED}


def launched() -> Mapping[str, str]:
    """The variables of the only rank of one, with a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return {**LAUNCHED, "MASTER_PORT": str(probe.getsockname()[1])}


@contextlib.contextmanager
def of_torch(distributed: Any, note: Callable[[str], None]) -> Iterator[None]:
    """A context in which a script of PyTorch joins a group of one where it has no launcher.

    distributed: `torch.distributed`. note: is called with what is to be told.
    """
    join = distributed.init_process_group

    def init_process_group(*args: Any, **kwargs: Any) -> Any:
        if "RANK" not in os.environ and not {"rank", "store"} & {*kwargs}:
            os.environ.update(launched())  # the run puts them back
        if distributed.is_available() and os.environ.get("WORLD_SIZE") == "1":
            note(ALONE)
        return join(*args, **kwargs)

    with patched(distributed, init_process_group=init_process_group):
        yield


@contextlib.contextmanager
def of_mindspore(communication: Any, note: Callable[[str], None]) -> Iterator[None]:
    """A context in which a script of MindSpore joins a group of one where it has no launcher.

    communication: `mindspore.communication`. note: is called with what is to be told.
    MindSpore leaves no group, so that later runs of the process find the same one.
    """
    join, management = communication.init, communication.management

    def init(*args: Any, **kwargs: Any) -> Any:
        alone = getattr(management, "_init_with_store", None)
        if alone is None or any(name in os.environ for name in LAUNCHER):
            return join(*args, **kwargs)
        note(ALONE)
        if management.GlobalComm.INITED:
            return None
        from mindspore.mint.distributed import TCPStore

        variables = launched()
        store = TCPStore(variables["MASTER_ADDR"], int(variables["MASTER_PORT"]), 1, True)
        limit = datetime.timedelta(minutes=1)
        try:
            return alone(*args, **kwargs, timeout=limit, world_size=1, rank=0, store=store)
        finally:  # a child process is none of a launcher's
            for name in TOLD_TO_CHILDREN:
                if name not in os.environ:
                    os.unsetenv(name)

    with patched(communication, init=init), patched(management, init=init):
        yield
