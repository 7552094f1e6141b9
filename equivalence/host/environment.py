"""Settings of a process, made before NumPy, PyTorch or MindSpore is first imported."""

import atexit
import gc
import importlib.util
import os
import sys

from equivalence.errors import TorchMissingError

SETTINGS = {
    # MindSpore's CPU convolutions with k > 1 fall back to oneDNN's reference kernel on AVX-512
    # hosts; AVX2 code is 7-31 times faster at equal or better accuracy. Read once, at the first
    # convolution of the process, and shared with torch's oneDNN.
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    # Two OpenMP runtimes in one process spin against each other: with two threads each on two
    # cores a step took 16 times as long as with one.
    "OMP_NUM_THREADS": "1",
    # MindSpore logs every warning to stderr; errors reach the caller as exceptions.
    "GLOG_v": "4",
}
"""Environment variable -> its value, where the user has not set it."""


def prepare() -> None:
    """Set each variable of SETTINGS that the environment does not have."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)


def installed(package: str) -> bool:
    """Whether a package can be imported. The package is not imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # something blocks the import
        return False


REFERENCE = "pip install 'mindspore-torch-equivalence[reference]'"
"""What brings torch and torchvision."""


PORT = "mindspore, which is not installed: pip install mindspore"
"""What a network of MindSpore needs, and what brings it."""


def demand_torch(what: str) -> None:
    """Raise TorchMissingError, with the cure, where torch is not installed.

    what: what needs it, as the beginning of a sentence.
    """
    if not installed("torch"):
        raise TorchMissingError(f"{what} needs torch, which is not installed: {REFERENCE}")


def launch_synchronously() -> None:
    """Let MindSpore run each operator where it is called, if it computes on a CPU.

    A single asynchronous call starts MindSpore's queues. From then on every call of the process
    passes through them, synchronous ones, too, and takes several times as long.
    """
    ms = sys.modules.get("mindspore")
    if ms is not None and ms.get_context("device_target") == "CPU":
        ms.set_context(pynative_synchronize=True)


_frozen_modules = 0


def spare_collections() -> None:
    """Exempt the objects of imported modules from garbage collection.

    MindSpore collects garbage before each graph compile. A collection that visits all objects of
    both frameworks takes 0.1-0.3 s, as long as the compile of a small network. The objects are
    frozen only after new imports; after each case, its cyclic garbage would never be freed. The
    end of the process frees them as ever; what is bound to Python by nanobind, as Triton is, would
    else list there all that it has.
    """
    global _frozen_modules
    if len(sys.modules) > _frozen_modules:
        if not _frozen_modules:
            atexit.register(gc.unfreeze)
        _frozen_modules = len(sys.modules)
        gc.collect()
        gc.freeze()
