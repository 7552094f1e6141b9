"""What sees every operator of a run costs no import of torch's compiler."""

import ast
import subprocess
import sys
from pathlib import Path

import torch

from equivalence.uncompiled import Uncompiled

PACKAGE = Path(__file__).parents[2] / "equivalence"

RUN = """
import sys
import torch
from equivalence.uncompiled import Uncompiled

class Seen(Uncompiled):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

before = set(sys.modules)
with Seen():
    torch.relu(torch.randn(3, requires_grad=True)).sum().backward()
print(*(name for name in set(sys.modules) - before if name.startswith("torch._dynamo")))
"""


def test_a_run_does_not_import_the_compiler():
    ran = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_it_sees_every_operator_forward_and_backward():
    seen = []

    class Seen(Uncompiled):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Seen():
        torch.relu(torch.randn(3, requires_grad=True)).sum().backward()
    assert {torch.ops.aten.relu.default, torch.ops.aten.threshold_backward.default} < set(seen)


def test_every_mode_of_the_engine_is_one():
    modes = [
        f"{file.name}: {node.name}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef)
        and any(getattr(base, "id", "") == "TorchDispatchMode" for base in node.bases)
    ]
    assert modes == ["uncompiled.py: Uncompiled"]
