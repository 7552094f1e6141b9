"""torchvision becomes importable where its compiled operators do not load."""

from types import SimpleNamespace

import pytest
import torch

from equivalence import torchvision_schemas
from equivalence.sides.torch_network import TorchNetwork
from equivalence.torchvision_schemas import SCHEMAS, declare_missing


def test_every_operator_is_declared_afterwards():
    declare_missing()
    for name in SCHEMAS:
        assert str(getattr(torch.ops.torchvision, name).default._schema).startswith(
            f"torchvision::{name}(Tensor dets"
        )


def test_a_second_call_declares_nothing():
    declare_missing()
    assert declare_missing() == ()


def test_a_torchvision_network_can_be_built():
    network = TorchNetwork("torchvision.models:resnet18", {"num_classes": 3})
    assert network.slots()["fc.weight"].shape == (3, 512)


def test_only_what_the_extension_lacks_is_declared(monkeypatch):
    defined = []

    class Library:
        def __init__(self, namespace, kind):
            assert (namespace, kind) == ("torchvision", "FRAGMENT")

        def define(self, schema):
            defined.append(schema)

    monkeypatch.setattr(torchvision_schemas, "_library", None)
    monkeypatch.setattr(torchvision_schemas, "_declared", lambda _, name: name == "nms")
    monkeypatch.setattr(torch.library, "Library", Library)
    assert declare_missing() == ("qnms",)
    assert defined == [SCHEMAS["qnms"]]


def test_the_extension_is_asked_before_anything_is_declared(monkeypatch):
    asked = []
    monkeypatch.setattr(torchvision_schemas, "_library", None)
    monkeypatch.setattr(torchvision_schemas, "_load_extension", lambda _: asked.append("load"))
    monkeypatch.setattr(torchvision_schemas, "_declared", lambda _, name: asked.append(name) or 1)
    assert declare_missing() == ()
    assert asked == ["load", "nms", "qnms"]


def test_a_declared_operator_is_told_from_one_that_is_not():
    declare_missing()
    assert torchvision_schemas._declared(torch, "nms")
    assert not torchvision_schemas._declared(torch, "no_such_operator")


def test_without_torchvision_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(torchvision_schemas, "_library", None)
    monkeypatch.setattr(torchvision_schemas.importlib.util, "find_spec", lambda _: None)
    assert declare_missing() == ()


def test_an_extension_that_does_not_load_is_passed_over(monkeypatch):
    asked = []

    def load(path):
        asked.append(path)
        raise OSError("undefined symbol")

    extension = SimpleNamespace(origin="_C.so")
    finder = torchvision_schemas.importlib.machinery.PathFinder
    monkeypatch.setattr(finder, "find_spec", lambda *_: extension)
    monkeypatch.setattr(torch.ops, "load_library", load)
    torchvision_schemas._load_extension(torch)
    assert asked == ["_C.so"]


def test_a_declared_operator_has_no_kernel_and_says_so():
    declare_missing()
    boxes = torch.zeros(1, 4)
    if torchvision_schemas._library is None:
        pytest.skip("torchvision's own operators are here")
    with pytest.raises(NotImplementedError, match="torchvision::nms"):
        torch.ops.torchvision.nms(boxes, torch.zeros(1), 0.5)
