"""torchvision becomes importable where its compiled operators do not load."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from equivalence import torchvision_schemas
from equivalence.torchvision_schemas import SCHEMAS, declare_missing

ROOT = Path(__file__).parents[2]


def fresh(code):
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_every_operator_is_declared_afterwards():
    declare_missing()
    for name in SCHEMAS:
        assert str(getattr(torch.ops.torchvision, name).default._schema).startswith(
            f"torchvision::{name}(Tensor dets"
        )


def test_a_second_call_declares_nothing():
    declare_missing()
    assert declare_missing() == ()


def test_a_process_that_imports_the_adapter_can_build_a_torchvision_network():
    code = (
        "import equivalence.torch_adapter, torchvision;"
        "print(type(torchvision.models.resnet18()).__name__)"
    )
    assert fresh(code) == "ResNet"


def test_nothing_is_declared_that_a_matching_extension_already_has():
    code = (
        "import torch;"
        "had = torch.library.Library('torchvision', 'DEF');"
        "had.define('nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor');"
        "from equivalence.torchvision_schemas import declare_missing;"
        "print(declare_missing())"
    )
    assert fresh(code) == "('qnms',)"


def test_without_torchvision_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(torchvision_schemas, "_library", None)
    monkeypatch.setattr(torchvision_schemas.importlib.util, "find_spec", lambda name: None)
    assert declare_missing() == ()


@pytest.mark.parametrize("error", [OSError("undefined symbol")])
def test_an_extension_that_does_not_load_is_passed_over(error, monkeypatch):
    def load(path):
        raise error

    monkeypatch.setattr(torch.ops, "load_library", load)
    torchvision_schemas._load_extension(torch)


def test_a_declared_operator_has_no_kernel_and_says_so():
    declare_missing()
    boxes = torch.zeros(1, 4)
    if torchvision_schemas._library is None:
        pytest.skip("torchvision's own operators are here")
    with pytest.raises(NotImplementedError, match="torchvision::nms"):
        torch.ops.torchvision.nms(boxes, torch.zeros(1), 0.5)
