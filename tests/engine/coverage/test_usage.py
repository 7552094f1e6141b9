"""Which APIs of PyTorch a file or a module uses is read off its code."""

import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from equivalence.coverage import torch_names, usage
from equivalence.errors import CoverageError


@pytest.fixture
def used(tmp_path):
    """What a text of Python uses: API -> lines."""

    def read(text):
        path = tmp_path / "net.py"
        path.write_text(textwrap.dedent(text))
        return usage.of_path(path)

    return read


def apis(found):
    """API -> places, of the calls of which it is sure."""
    named = {}
    for call in found.calls:
        if call.sure:
            named.setdefault(call.api, []).append(call.place)
    return named


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.nn.functional.relu(x)",
        "import torch as t\nt.nn.functional.relu(x)",
        "import torch.nn as nn\nnn.functional.relu(x)",
        "import torch.nn.functional as F\nF.relu(x)",
        "from torch import nn\nnn.functional.relu(x)",
        "from torch.nn import functional as F\nF.relu(x)",
        "from torch.nn.functional import relu\nrelu(x)",
        "from torch.nn.functional import relu as act\ny = [act]",
        "import torch.nn.functional\ntorch.nn.functional.relu(x)",
        "from torch.nn.functional import *\nrelu(x)",
    ],
)
def test_an_api_is_found_under_every_name(used, text):
    assert apis(used(text)) == {"torch.nn.functional.relu": ["2"]}


def test_an_import_within_a_function_counts(used):
    text = "def f(x):\n    import torch\n    return torch.relu(x)"
    assert apis(used(text)) == {"torch.relu": ["3"]}


def test_a_use_is_counted_each_time_an_import_never(used):
    text = "import torch\nfrom torch import exp\ntorch.exp(torch.exp(x))\nexp(y)"
    assert apis(used(text)) == {"torch.exp": ["3", "3", "4"]}


def test_what_is_imported_from_elsewhere_is_none_of_pytorch(used):
    text = "import numpy as np\nfrom timm import relu\nimport math\nnp.exp(x)\nrelu(x)\nmath.exp(1)"
    found = used(text)
    assert (apis(found), found.others) == ({}, {"numpy", "timm"})


def test_what_is_imported_from_beside_is_told(used):
    found = used("from ..layers import relu\nfrom . import boxes\nrelu(x)\nboxes.iou(x)")
    assert (apis(found), found.others) == ({}, {"..layers.relu", ".boxes.iou"})


def test_methods_that_tensors_alone_have_are_counted(used):
    text = "y = x.view(-1).permute(0)\n(x + y).unsqueeze(0)\nx.layer.weight.mul_(2)"
    assert apis(used(text)) == {
        "torch.Tensor.view": ["1"],
        "torch.Tensor.permute": ["1"],
        "torch.add": ["2"],
        "torch.Tensor.unsqueeze": ["2"],
        "torch.Tensor.mul_": ["3"],
    }


def test_methods_of_strings_and_containers_are_told_apart(used):
    found = used("x.split(2)\n'a b'.split()\n[3].sort()\nx.append(1)\nx.items()")
    assert [(call.api, call.place, call.sure) for call in found.calls] == [
        ("torch.Tensor.split", "1", False)
    ]


def test_a_layer_of_its_own_is_no_method_of_a_tensor(used):
    assert apis(used("self.relu(x)\ncls.exp(x)\nself.weight.exp()")) == {"torch.Tensor.exp": ["3"]}


def test_a_function_of_a_module_is_no_method_of_a_tensor(used):
    assert apis(used("import numpy as np\nnp.linalg.det(x)\nnp.mean(x)")) == {}


def test_an_api_without_its_name_is_not_followed_by_another(used):
    text = "import torch\ntorch.zeros(2).cumsum(0)"
    assert apis(used(text)) == {"torch.zeros": ["2"], "torch.Tensor.cumsum": ["2"]}


def test_a_product_of_matrices_is_one(used):
    assert apis(used("x @ y")) == {"torch.matmul": ["1"]}


def test_a_class_has_the_name_that_pytorch_shows_it_under(used):
    assert apis(used("from torch.nn.modules.conv import Conv2d\nConv2d(1, 1, 1)")) == {
        "torch.nn.Conv2d": ["2"]
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x = (", "no Python: '\\(' was never closed in line 1"),
        (b"x = 1\n  y = 2", "no Python: unexpected indent in line 2"),
        (b"x = '\xff'", "no Python"),
        (b"\0", "no Python"),
    ],
)
def test_what_is_no_python_is_one_sentence(tmp_path, content, words):
    (tmp_path / "net.py").write_bytes(content)
    with pytest.raises(CoverageError, match=words) as raised:
        usage.of_path(tmp_path / "net.py")
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(CoverageError, match="cannot be read: No such file"):
        usage.of_path(tmp_path / "net.py")
    with pytest.raises(CoverageError, match="has no Python files"):
        usage.of_path(tmp_path)


def scaled(x):
    return torch.sigmoid(x)


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 1, 1)
        self.extra = torch.zeros(1)

    def forward(self, x):
        return self.head(F.relu(self.conv(x)))

    def head(self, x):
        return scaled(x).flatten(1)

    def unused(self, x):
        return torch.tan(x)


class Derived(nn.Conv2d):
    @torch.no_grad()
    def forward(self, x):
        return super().forward(torch.abs(x))


def here(function):
    return f"{Path(__file__).name}:{function.__code__.co_firstlineno + 1}"


def test_of_a_module_its_layers_count_and_the_code_that_it_runs():
    assert apis(usage.of_module(nn.Sequential(Own(), Own(), nn.ReLU()))) == {
        "torch.nn.Sequential": ["itself"],
        "torch.nn.Conv2d": ["0.conv", "1.conv"],
        "torch.nn.functional.relu": [here(Own.forward)],
        "torch.Tensor.flatten": [here(Own.head)],
        "torch.sigmoid": [here(scaled)],
        "torch.nn.ReLU": ["2"],
    }


def test_a_class_derived_from_a_layer_is_that_layer_too():
    found = apis(usage.of_module(Derived(1, 1, 1)))
    assert found["torch.nn.Conv2d"] == ["itself"]
    assert "torch.abs" in found


def test_a_layer_that_pytorch_hides_is_the_one_that_it_shows():
    found = apis(usage.of_module(nn.MultiheadAttention(4, 2)))
    assert found["torch.nn.Linear"] == ["out_proj"]


def test_code_that_is_not_at_hand_is_one_sentence():
    namespace = {"nn": nn}
    exec("class Typed(nn.Module):\n    def forward(self, x):\n        return x", namespace)
    with pytest.raises(CoverageError, match=r"the source of .*Typed is not at hand"):
        usage.of_module(namespace["Typed"]())


def test_places_are_told_in_order_and_once():
    assert usage.list_uses(["10", "9", "9"]) == "9, 10"
    assert usage.list_uses([f"layer{i}.conv" for i in range(12)]) == (
        "layer0.conv, layer1.conv, layer2.conv, layer3.conv, layer4.conv and 7 more"
    )


@pytest.mark.parametrize(
    "api",
    [
        "torch.Tensor",
        "torch.float32",
        "torch.channels_last",
        "torch.pi",
        "torch.nn",
        "torch.nn.Module",
        "torch.Tensor.size",
        "torch.jit.script",
        "torch.backends.cudnn.benchmark",
    ],
)
def test_structure_computes_nothing(api):
    assert torch_names.computes_nothing(api)


@pytest.mark.parametrize("api", ["torch.exp", "torch.nn.ReLU", "torch.Tensor.float", "torch.foo"])
def test_anything_else_computes(api):
    assert not torch_names.computes_nothing(api)


@pytest.mark.parametrize("api", ["torch.nn.init.ones_", "torchvision.ops.nms", "torch.fft.fft"])
def test_a_name_is_looked_up_in_modules_that_nobody_has_imported(api):
    assert torch_names.look_up(api) is not None
    assert torch_names.look_up(f"{api}s") is None


# Names that are imported from beside, and folders.


@pytest.fixture
def package(tmp_path):
    """Writes the files of a package: name -> text; returns its folder."""

    def make(**files):
        folder = tmp_path / "mine"
        for name, text in {"__init__": "", **files}.items():
            path = folder / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return folder

    return make


def test_what_is_imported_from_beside_is_read_too(package):
    folder = package(
        net="from .parts import act\nfrom . import sums\ndef f(x): return act(sums.total(x))",
        parts="import torch\nfrom .deep import erf\ndef act(x): return erf(torch.tanh(x))",
        deep="import torch\ndef erf(x): return torch.erf(x)\ndef other(x): return torch.tan(x)",
        sums="import torch\ndef total(x): return torch.sum(x)",
    )
    found = usage.of_path(folder / "net.py")
    assert apis(found) == {
        "torch.tanh": ["parts.py:3"],
        "torch.erf": ["deep.py:2"],
        "torch.sum": ["sums.py:2"],
    }
    assert found.others == set()
    assert {path.stem for path in found.files} == {"net", "parts", "deep", "sums"}


def test_a_name_that_a_package_hands_on_is_followed_to_where_it_is_defined(package):
    folder = package(
        __init__="from .parts import act",
        net="from mine import act\ny = act(1)",
        parts="import torch\nact = torch.tanh",
    )
    assert apis(usage.of_path(folder / "net.py")) == {"torch.tanh": ["parts.py:2"]}


def test_imports_in_a_circle_end(package):
    folder = package(net="from .other import f\nf(1)", other="from .net import f")
    assert usage.of_path(folder / "net.py").others == {".other.f"}


def test_a_folder_is_read_whole_and_each_line_once(package):
    folder = package(
        net="from .parts import act\nact(1)", parts="import torch\ndef act(x): torch.tanh(x)"
    )
    assert apis(usage.of_path(folder)) == {"torch.tanh": ["parts.py:2"]}


def test_a_file_that_is_no_python_is_told_and_the_others_are_read(package):
    folder = package(net="import torch\ntorch.tanh(1)", broken="x = (")
    found = usage.of_path(folder)
    assert apis(found) == {"torch.tanh": ["net.py:2"]}
    (told,) = found.others
    assert "broken.py is no Python: '(' was never closed in line 1" in told
    (folder / "net.py").unlink()
    (folder / "__init__.py").unlink(missing_ok=True)
    with pytest.raises(CoverageError, match=r"broken\.py is no Python"):
        usage.of_path(folder)


def test_hidden_folders_and_virtual_environments_are_left_out(package):
    folder = package(net="import torch\ntorch.tanh(1)")
    for inner, mark in ((".hidden", "x"), ("env", "pyvenv.cfg")):
        (folder / inner).mkdir()
        (folder / inner / mark).touch()
        (folder / inner / "other.py").write_text("import torch\ntorch.exp(1)")
    assert apis(usage.of_path(folder)) == {"torch.tanh": ["net.py:2"]}


def test_a_notebook_is_to_be_saved_as_python(tmp_path):
    path = tmp_path / "net.ipynb"
    path.write_text('{"cells": []}')
    with pytest.raises(CoverageError, match="is a notebook; save its code as Python: jupyter"):
        usage.of_path(path)


@pytest.mark.parametrize(
    ("file", "within"),
    [
        ("detection/fcos.py", {"boxes.py", "anchor_utils.py", "transform.py"}),
        ("swin_transformer.py", {"stochastic_depth.py", "misc.py"}),
    ],
)
def test_the_relative_imports_of_torchvision_count(file, within):
    import torchvision

    path = Path(torchvision.__file__).parent / "models" / file
    found = usage.of_path(path, lambda api: api == "torchvision.ops.sigmoid_focal_loss")
    read = {each.name for each in found.files}
    assert within <= read
    assert len(found.calls) > 200
    named = {call.api for call in found.calls}
    if file.endswith("fcos.py"):
        assert {"torchvision.ops.sigmoid_focal_loss", "torch.ops.torchvision.nms"} <= named


# Values that flow.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x: torch.Tensor):\n    return x + 1", {"torch.add"}),
        ("def f(x: int):\n    return x + 1", set()),
        ("def f(x):\n    n = x.shape[0] // 2\n    return n * 2", set()),
        ("y = torch.zeros(2)\nz = 2 * y", {"torch.zeros", "torch.mul"}),
        ("y = torch.zeros(2)\ny -= 1", {"torch.zeros", "torch.Tensor.__isub__"}),
        ("y = torch.zeros(2)\ny[0] = 1", {"torch.zeros", "torch.Tensor.__setitem__"}),
        ("d = {}\nd[0] = 1", set()),
        (
            "a, b = torch.zeros(4).chunk(2)\nc = a > b",
            {"torch.zeros", "torch.Tensor.chunk", "torch.gt"},
        ),
        ("for y in torch.zeros(2):\n    -y", {"torch.zeros", "torch.neg"}),
    ],
)
def test_operators_and_items_count_where_a_value_is_a_tensor(used, text, expected):
    found = set(apis(used("import torch\n" + text))) - {"torch.Tensor"}
    assert found == expected


def test_what_may_be_a_tensor_is_told_as_perhaps(used):
    (call,) = used("def f(a, b):\n    return a + b").calls
    assert (call.api, call.sure) == ("torch.add", False)


def test_the_arguments_that_are_written_out_are_kept(used):
    (call,) = used('import torch.nn.functional as F\nF.pad(x, (1, n), mode="reflect")').calls
    assert call.spelled() == "torch.nn.functional.pad(..., ..., mode='reflect')"


def test_a_network_keeps_what_it_builds(used):
    text = """
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self, width: int, act):
                super().__init__()
                self.fc = nn.Linear(width, width)
                self.width = width
                self.register_buffer("mean", torch.zeros(1))
            def forward(self, x):
                return self.fc(x) * self.mean + self.width // 2
    """
    found = apis(used(text))
    assert {"torch.mul", "torch.add"} <= set(found)
    assert "torch.floor_divide" not in found
