"""Process settings that must stand before NumPy, PyTorch or MindSpore is first imported."""

import gc
import importlib.util
import os
import sys

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


def prepare() -> None:
    """Set what the caller's own environment leaves open."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)


def installed(package: str) -> bool:
    """Whether a package can be imported; it is not."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # kept from being imported
        return False


_frozen_modules = 0


def spare_collections() -> None:
    """Exempt what imports have left on the heap from garbage collection.

    MindSpore collects garbage before each graph compile; walking every object of both frameworks
    takes 0.1-0.3 s, as long as the compile of a small network. Only imports are worth it: to
    freeze after every case would keep its cyclic garbage for ever.
    """
    global _frozen_modules
    if len(sys.modules) > _frozen_modules:
        _frozen_modules = len(sys.modules)
        gc.collect()
        gc.freeze()
