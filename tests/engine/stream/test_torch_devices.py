"""A network that asks for CUDA runs on a CPU where torch has none, and nowhere else."""

import inspect

import pytest
import torch
from torch import nn

from equivalence.declare.draws import normal
from equivalence.errors import SideError, lacks_cuda
from equivalence.stream import observer, torch_devices
from equivalence.stream.torch_devices import KEPT, AbsentCuda, OnCpu, on_cpu
from equivalence.twins.check import check
from tests.engine.parts.small import case

PARTS = "tests.engine.parts.on_cuda"

pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="this torch has CUDA"),
    pytest.mark.filterwarnings("ignore:it asks for CUDA"),
]


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: x.cuda(),
        lambda x: x.cuda(0, non_blocking=True),
        lambda x: x.to("cuda:1"),
        lambda x: x.to(0),
        lambda x: x.to(torch.device("cuda"), torch.float64),
        lambda x: x.to(device="cuda", dtype=torch.float64),
        lambda x: torch.ones(2, device="cuda") + x,
        lambda x: torch.arange(2, device=0) + x,
        lambda x: x.new_zeros(2, device=torch.device("cuda", 1)) + x,
        lambda x: x.pin_memory(),
        lambda x: nn.Linear(2, 2).cuda()(x),
        lambda x: nn.Linear(2, 2).to("cuda")(x),
        lambda x: nn.Linear(2, 2, device="cuda")(x),
    ],
    ids=inspect.getsource,
)
def test_what_is_asked_of_cuda_is_on_the_cpu(ask):
    x = torch.ones(2)
    with pytest.raises((AssertionError, RuntimeError)):
        ask(x)
    with OnCpu():
        assert ask(x).device.type == "cpu"


def test_the_rest_of_a_call_is_as_it_was():
    x = torch.ones(2)
    with OnCpu():
        assert x.to(torch.float64).dtype == torch.float64
        assert x.to("cuda", torch.float64).dtype == torch.float64
        assert x.to(torch.zeros(1, dtype=torch.int32)).dtype == torch.int32
        assert x.to("meta").device.type == "meta"
        assert torch.ones(2, device="meta").device.type == "meta"


def test_each_file_is_warned_once_with_its_line(monkeypatch):
    monkeypatch.setattr(observer, "_warned", set())
    with pytest.warns(UserWarning, match="asks for CUDA") as warned, OnCpu():
        torch.ones(2).cuda().to("cuda")
    assert [str(each.message) for each in warned] == [KEPT]
    assert warned[0].filename == __file__


@pytest.mark.parametrize("kind", ["Built", "Moved"])
def test_a_port_of_a_network_on_cuda_is_compared(kind):
    right = case(f"{PARTS}_pt:{kind}", f"{PARTS}_ms:Halved", normal(3, 4))
    assert check(right, 0).passed
    wrong = case(f"{PARTS}_pt:{kind}", "mindspore.nn:ReLU", normal(3, 4))
    assert not check(wrong, 0).passed


def test_what_is_not_seen_to_ask_is_an_error_with_the_cure(monkeypatch):
    monkeypatch.setattr(torch_devices, "_names_cuda", lambda _: False)
    with pytest.raises(
        SideError,
        match=r"Torch not compiled with CUDA.* \(.*on_cuda_pt\.py:\d+ .*as in \.to\(x\.device\)",
    ):
        check(case(f"{PARTS}_pt:Moved", f"{PARTS}_ms:Halved", normal(5, 4)), 0)


def test_another_error_of_a_constructor_stays(monkeypatch):
    def broken():
        raise ValueError("no such depth")

    cuda = AbsentCuda()
    with pytest.raises(ValueError, match="no such depth"):
        cuda.building(broken)
    assert not cuda.asked
    assert cuda.observers() == []
    assert not lacks_cuda(ValueError("no such depth"))
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert on_cpu() == []
