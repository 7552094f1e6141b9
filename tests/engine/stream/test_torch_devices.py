"""A network that asks for CUDA runs on a CPU where torch has none, and nowhere else."""

import inspect

import pytest
import torch
from torch import nn

from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.errors import SideError, lacks_cuda
from equivalence.stream import observer, torch_devices
from equivalence.stream.torch_devices import KEPT, AbsentCuda, OnCpu, on_cpu
from tests.engine.parts.small import case

PARTS = "tests.engine.parts.on_cuda"

pytestmark = [
    pytest.mark.skipif(torch.cuda.is_available(), reason="this torch has CUDA"),
    pytest.mark.filterwarnings("ignore:it asks for CUDA"),
]


def within(enter, device):
    """A function that makes a tensor in a context."""

    def ask(_):
        with enter(device):
            return torch.ones(2)

    return ask


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
        lambda x: x + torch.randn(2, generator=torch.Generator("cuda").manual_seed(0)),
        lambda x: x + torch.randn(2, generator=torch.Generator(device=0), device=0),
        within(torch.device, "cuda"),
        within(torch.device, torch.device("cuda", 1)),
        lambda x: nn.Linear(2, 2).cuda()(x),
        lambda x: nn.Linear(2, 2).to("cuda")(x),
        lambda x: nn.Linear(2, 2, device="cuda")(x),
    ],
    ids=lambda ask: inspect.getsource(ask).strip(),
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


def halves(dtype=None, **named):
    """The precision of a product, of its softmax, and of a product in an island."""
    x = torch.ones(2, 2)
    with torch.autocast("cuda", dtype, **named):
        product = x @ x
        soft = torch.softmax(product, 0)
        with torch.autocast("cuda", enabled=False):
            island = x @ x
    return product.dtype, soft.dtype, island.dtype


@pytest.mark.filterwarnings("ignore:User provided device_type of 'cuda'")
@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
def test_autocast_of_cuda_computes_in_half_precision_but_for_what_cuda_has_in_float32():
    single = torch.float32
    begin = torch.autocast.__init__
    assert halves() == (single, single, single)
    with OnCpu():
        assert halves() == (torch.float16, single, single)
        with OnCpu():
            assert halves() == (torch.float16, single, single)
        assert halves(torch.bfloat16) == (torch.bfloat16, single, single)
        assert halves(enabled=False) == (single, single, single)
        x = torch.ones(2, 2)
        with torch.autocast("cpu", torch.bfloat16):  # the CPU's own has other functions
            assert (x @ x).softmax(0).dtype == torch.bfloat16
        with torch.autocast("cuda"):
            assert (x @ x).sum().dtype == single
            assert nn.functional.cross_entropy(x @ x, torch.tensor([0, 1])).dtype == single
            assert nn.LayerNorm(2)(x @ x).dtype == single
    assert torch.autocast.__init__ is begin


@pytest.mark.filterwarnings("ignore:.*CUDA is not available")
@pytest.mark.filterwarnings("ignore:.*torch.cuda.amp.GradScaler")
@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.amp.GradScaler(init_scale=64.0),
        lambda: torch.amp.GradScaler("cuda", 64.0),
        lambda: torch.cuda.amp.GradScaler(64.0),
    ],
    ids=inspect.getsource,
)
def test_a_scaler_of_cuda_scales(make):
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([weight], 0.5)
    assert make().scale(weight.sum()).item() == 2.0
    with OnCpu():
        scaler = make()
        scaled = scaler.scale(weight.sum())
        scaled.backward()
        scaler.step(optimizer)
        scaler.update()
    assert scaled.item() == 128.0
    assert weight.tolist() == [0.5, 0.5]


class Doubled(torch.autograd.Function):
    """An own function that computes in float32 under autocast."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(_, x):
        return 2 * x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(_, dy):
        return 2 * dy


def test_an_own_function_is_cast_under_autocast_of_cuda_and_code_that_asks_is_told():
    x = torch.ones(2, 2, requires_grad=True)
    with OnCpu():
        asked = [torch.is_autocast_enabled()]
        with torch.autocast("cuda", torch.bfloat16):
            asked.append(torch.is_autocast_enabled())
            half, made = x @ x, Doubled.apply(x @ x)
            assert torch.get_autocast_dtype("cuda") == torch.bfloat16
        made.sum().backward()
        decorated = torch.autocast("cuda")(lambda: x @ x)
        assert decorated().dtype == torch.float16
    assert asked == [False, True]
    assert (half.dtype, made.dtype) == (torch.bfloat16, torch.float32)
    assert x.grad.tolist() == [[8.0, 8.0], [8.0, 8.0]]


def test_no_device_of_cuda_is_chosen_or_waited_for():
    x = torch.ones(2)
    with OnCpu():
        torch.cuda.set_device(0)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.current_device() == 0
        assert torch.cuda.get_device_name() == "CPU"
        stream, begin, end = torch.cuda.Stream(), torch.cuda.Event(), torch.cuda.Event()
        begin.record()
        with torch.cuda.device(0), torch.cuda.stream(stream):
            moved = x.cuda(non_blocking=True)
        torch.cuda.current_stream().wait_stream(stream)
        moved.record_stream(torch.cuda.current_stream())
        end.record()
        end.synchronize()
        assert begin.elapsed_time(end) > 0.0
        assert stream.query()
    with pytest.raises(AttributeError):
        torch.cuda.set_device(0)


def test_a_file_of_cuda_is_loaded_on_the_cpu(tmp_path, monkeypatch):
    file = tmp_path / "net.pt"
    saved = {"weight": torch.ones(2)}
    monkeypatch.setattr(torch.serialization, "location_tag", lambda _: "cuda:0")
    torch.save(saved, file)
    with pytest.raises(RuntimeError, match="on a CUDA device but") as raised:
        torch.load(file)
    assert lacks_cuda(raised.value)
    with OnCpu():
        for place in ({}, {"map_location": "cuda"}, {"map_location": "cpu"}):
            assert torch.load(file, **place)["weight"].tolist() == [1.0, 1.0]


def test_a_generator_is_one_of_torch():
    made = torch.Generator()
    with OnCpu():
        assert isinstance(made, torch.Generator)
        assert isinstance(torch.Generator("cuda"), type(made))
        assert not isinstance(3, torch.Generator)


def test_nothing_is_warned_of_where_nothing_is_asked(recwarn):
    with OnCpu():
        torch.Generator(device="cpu").manual_seed(0)
    assert not [*recwarn]


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
