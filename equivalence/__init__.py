"""Numerical equivalence of MindSpore networks with their PyTorch twins.

A declaration says what is compared: `Twin`, `Operator`, `Pipeline`, `Initial`, `DataParallel`. Each
gives cases, and a case is checked by its kind:

    declare/ -> kinds -> sample -> sides/ -> truth/ -> judge/ -> diagnosis/ -> report/

A public name is imported when it is first used. `import equivalence` alone therefore loads neither
NumPy nor a framework, and the process can still be prepared for them (see `host/environment.py`).
"""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Batches": "equivalence.declare.batches",
    "DataParallel": "equivalence.declare.data_parallel",
    "DeclarationError": "equivalence.errors",
    "Difference": "equivalence.declare.difference",
    "Draw": "equivalence.declare.draws",
    "EquivalenceError": "equivalence.errors",
    "Initial": "equivalence.declare.initial",
    "Limit": "equivalence.declare.difference",
    "Operator": "equivalence.declare.operator",
    "Outcome": "equivalence.judge.outcome",
    "Pipeline": "equivalence.declare.pipeline",
    "Raised": "equivalence.declare.difference",
    "Result": "equivalence.own.result",
    "Twin": "equivalence.declare.twin",
    "arrays": "equivalence.targets",
    "binary": "equivalence.declare.draws",
    "booleans": "equivalence.declare.draws",
    "cases": "equivalence.declare.twin",
    "check": "equivalence.kinds",
    "compare": "equivalence.own.notebook",
    "curve": "equivalence.curves.compare",
    "definite": "equivalence.declare.draws",
    "diagnose": "equivalence.kinds",
    "distinct": "equivalence.declare.draws",
    "distribution": "equivalence.declare.draws",
    "file": "equivalence.declare.draws",
    "gaps": "equivalence.declare.draws",
    "given": "equivalence.declare.draws",
    "grid": "equivalence.declare.twin",
    "half": "equivalence.declare.draws",
    "infinite": "equivalence.declare.draws",
    "integers": "equivalence.declare.draws",
    "logits": "equivalence.declare.draws",
    "masked": "equivalence.declare.draws",
    "monitored": "equivalence.dumps.monitor",
    "network": "equivalence.declare.network",
    "nonfinite": "equivalence.declare.draws",
    "normal": "equivalence.declare.draws",
    "on_cpu": "equivalence.stand_ins.context",
    "recorded": "equivalence.dumps.recorder",
    "settings": "equivalence.own.notebook",
    "ties": "equivalence.declare.draws",
    "to": "equivalence.declare.operator",
    "train": "equivalence.dry.command",
    "triangular": "equivalence.declare.draws",
    "uniform": "equivalence.declare.draws",
    "whole": "equivalence.declare.draws",
}
"""Public name -> the module that defines it."""

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
