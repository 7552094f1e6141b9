"""What "module:attribute" names is found and called, or the text says why it is not."""

import sys

import pytest
import torch
from torch import nn

from equivalence.errors import DeclarationError
from equivalence.targets import build, demand_network, offered, resolve

MODULE = """
import collections

def pair(first, second=2):
    return (first, second)

def anything(**options):
    return pair(**options)

def broken(size):
    return "size: " + size

number = 5
"""


@pytest.fixture(autouse=True)
def models(tmp_path, monkeypatch):
    """A package `twin_models` with a module `good` and one that needs what is not installed."""
    package = tmp_path / "twin_models"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "good.py").write_text(MODULE)
    (package / "needy.py").write_text("import not_installed_here\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.startswith("twin_models")]:
        del sys.modules[name]


def test_a_target_is_the_attribute_of_its_module():
    assert resolve("twin_models.good:number") == 5


def test_a_target_is_called_with_the_configuration():
    assert build("twin_models.good:pair", {"first": 1}) == (1, 2)
    assert build("twin_models.good:pair", {"first": 1, "second": 3}) == (1, 3)


@pytest.mark.parametrize("missing", ["twin_modles.good", "twin_models.bad", "twin_models.good.er"])
def test_a_missing_module_is_named(missing):
    with pytest.raises(DeclarationError, match=f"'{missing}:pair': there is no module 'twin_mod"):
        resolve(f"{missing}:pair")


@pytest.mark.parametrize("file", ["net.py", "./net.py", "parts/net.py"])
def test_a_file_in_the_place_of_a_module_is_told(file):
    name = "parts.net" if "parts" in file else "net"
    with pytest.raises(DeclarationError, match=f"write its name, as in import: {name}:pair"):
        resolve(f"{file}:pair")


def test_a_target_that_replaces_a_framework_is_told_and_the_framework_is_back(tmp_path):
    shim = "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nmade = list\n"
    (tmp_path / "twin_models" / "shim.py").write_text(shim)
    with pytest.raises(DeclarationError, match="replaces sys"):
        resolve("twin_models.shim:made")
    assert sys.modules["torch"] is torch


def test_a_missing_attribute_is_named_with_its_module():
    complaint = "'twin_models.good:pear': module 'twin_models.good' has no attribute 'pear'"
    with pytest.raises(DeclarationError, match=complaint):
        resolve("twin_models.good:pear")


def test_a_module_that_itself_misses_a_module_is_not_called_missing():
    with pytest.raises(ModuleNotFoundError, match="not_installed_here"):
        resolve("twin_models.needy:pair")


def test_a_module_that_lies_beside_the_one_that_imports_it_is_told_with_the_cure(
    tmp_path, monkeypatch
):
    (tmp_path / "twin_models" / "sided.py").write_text("import layers_of_it\nmade = list\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="layers_of_it"):
        resolve("twin_models.sided:made")
    (tmp_path / "twin_models" / "layers_of_it.py").touch()
    complaint = "imports 'layers_of_it', which lies beside it; write twin_models//sided:made"
    with pytest.raises(DeclarationError, match=complaint):
        resolve("twin_models.sided:made")
    assert resolve("twin_models//sided:made") is list


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"first": 1, "third": 3}, "got an unexpected keyword argument 'third'"),
        ({"first": 1, "second": 2, "third": 3}, "got an unexpected keyword argument 'third'"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, reason):
    with pytest.raises(DeclarationError) as caught:
        build("twin_models.good:pair", arguments)
    assert str(caught.value) == f"'twin_models.good:pair' does not take {arguments}: {reason}"


def test_what_cannot_be_called_is_named():
    with pytest.raises(DeclarationError, match="number' is an int, which builds"):
        build("twin_models.good:number", {})


@pytest.mark.parametrize(
    ("target", "arguments", "message"),
    [
        ("twin_models.good:broken", {"size": 3}, "can only concatenate str"),
        ("twin_models.good:anything", {"third": 3}, r"pair\(\) got an unexpected keyword"),
    ],
)
def test_a_mistake_inside_a_model_is_not_blamed_on_its_declaration(target, arguments, message):
    with pytest.raises(TypeError, match=message):
        build(target, arguments)


def test_a_builtin_that_tells_no_signature_is_called():
    assert build("builtins:dict", {"size": 3}) == {"size": 3}


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("nothing = lambda: None", "returns None; let it return the network"),
        ("import collections\nnothing = collections", "the module collections, which builds"),
        ("from torch import nn\nnothing = nn.ReLU()", "is a ReLU that is built already"),
    ],
)
def test_what_builds_no_network_is_named(tmp_path, code, complaint):
    (tmp_path / "twin_models" / "other.py").write_text(f"{code}\n")
    with pytest.raises(DeclarationError, match=complaint):
        build("twin_models.other:nothing", {})


@pytest.mark.parametrize(
    ("built", "framework", "complaint"),
    [
        (nn.ReLU(), "MindSpore", "a network of PyTorch, where one of MindSpore is wanted"),
        ("text", "PyTorch", "returns a str, which is no network"),
        (nn.ReLU, "PyTorch", "returns the class ReLU itself"),
        (
            nn.ParameterList([torch.zeros(2, dtype=torch.complex64)]),
            "PyTorch",
            "the parameter 0 of 'm:a' is complex",
        ),
    ],
)
def test_what_is_no_network_of_the_framework_is_refused(built, framework, complaint):
    demand_network("m:a", nn.ReLU(), "PyTorch")
    demand_network("m:a", len, framework)
    with pytest.raises(DeclarationError, match=complaint):
        demand_network("m:a", built, framework)


def test_an_offered_object_has_a_target_for_a_while():
    with offered(dict, "Net") as one, offered(list, "Net") as two:
        assert one != two
        assert resolve(one) is dict
        assert build(two, {}) == []
    with pytest.raises(DeclarationError, match="there is no module 'offered'"):
        resolve(one)


def test_a_file_elsewhere_is_named_with_its_folder():
    with pytest.raises(DeclarationError, match="as in import: /elsewhere//net:pair"):
        resolve("/elsewhere/net.py:pair")
