"""The command that tells what of a network is verified, and the figures that it shows."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn

from equivalence.__main__ import main
from equivalence.coverage import accept, defaults
from equivalence.coverage import command as coverage
from equivalence.coverage.command import Declarations, Layer
from equivalence.coverage.torch_names import look_up
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import along, unary
from equivalence.errors import CoverageError
from tests.engine.test_main import python
from tests.twins import apis
from tests.twins.operators import operators

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[3]


class Declared:
    """A twin as far as the table sees it."""

    def __init__(self, reference, candidate, differs=None):
        self.reference, self.candidate, self.differs = reference, candidate, differs


OPERATORS = (
    Operator(
        "torch.softmax",
        along(),
        to("ops.softmax", dim="axis", without={"float16": "is refused"}),
        to("mint.softmax", defaults={"dim": (None, -1)}, integers="int32"),
    ),
    Operator("torch.flatten", unary(), to("nn.Flatten", defaults={"start_dim": (0, 1)})),
    Operator("torch.clamp", unary(), to("ops.clamp")),
    Operator("torch.linalg.norm", unary(), to("ops.norm", through="ms_models.operators:norm")),
    Operator("torch.pad", unary(), to("ops.pad", without={"empty": "wrong"}), name="by_zero"),
    Operator(
        "torch.pad",
        unary(),
        to("ops.pad", without={"empty": "wrong", "scalar": "refused"}),
        name="by_copies",
    ),
)
DECLARED = {
    "dense": Declared("torch.nn:Linear", "mindspore.nn:Dense"),
    "dense_transposed": Declared("torch.nn:Linear", "mindspore.nn:Dense", "is transposed"),
    "mish": Declared("torch.nn:Mish", "mindspore.nn:Mish"),
    "own": Declared("torch.nn:SELU", "ms_models.own:selu"),
}
FIGURES = {
    "versions": {"mindspore": "2.10.0", "torch": "2.13.0"},
    "operators": {"torch.softmax": {"ops.softmax": {"examples": 6, "tensors": 9, "worst": 3.25}}},
    "twins": {
        "dense": {"dense-train": {"output": 0.5, "gradient": 1.5}, "dense-eval": {"output": 1.0}},
        "mish": {"mish-train": {}},
    },
}
LINEAR = Layer("torch.nn.Linear", to("nn.Dense", bias="has_bias"), ("dense", "dense_transposed"))


@pytest.fixture
def known():
    return Declarations(OPERATORS, [LINEAR], {"torch.clip": "torch.clamp"}, DECLARED, FIGURES)


@pytest.mark.parametrize(
    "api",
    [
        "torch.softmax",
        "torch.nn.functional.softmax",
        "torch.nn.Softmax",
        "torch.Tensor.softmax",
        "torch.Tensor.softmax_",
    ],
)
def test_one_operator_serves_every_form_of_it(known, api):
    assert [each.api for each in known.of(api)] == ["ops.softmax", "mint.softmax"]


@pytest.mark.parametrize(
    "api", ["torch.nn.Softmax2d", "torch.nn.init.softmax_", "torch.norm", "torch.foo"]
)
def test_what_is_called_otherwise_or_elsewhere_is_not_verified(known, api):
    assert known.of(api) == []


def test_another_name_is_served_where_it_is_declared(known):
    assert [each.api for each in known.of("torch.clip")] == ["ops.clamp"]


def test_words_of_the_table_tell_what_differs(known):
    ops, mint = known.of("torch.softmax")
    assert ops.words() == "yes: float16: is refused (dim is axis)"
    assert mint.words() == "yes: dim is -1 unless told, not None; integers are int32"
    (norm,) = known.of("torch.linalg.norm")
    assert norm.words() == "no (as ms_models.operators:norm calls it)"


def test_a_default_of_the_function_is_no_difference_of_a_class_that_has_it(known):
    assert known.of("torch.flatten")[0].words() == "yes: start_dim is 1 unless told, not 0"
    assert known.of("torch.nn.Flatten")[0].words() == "no"


def test_what_some_of_the_operators_of_a_function_do_is_told_of_those(known):
    (pad,) = known.of("torch.pad")
    assert pad.differences == ["empty: wrong", "scalar: refused [by_copies]"]


def test_figures_are_those_of_operators_and_right_twins(known):
    assert [each.worst for each in known.of("torch.nn.Softmax")] == [3.25, None]
    (dense,) = known.of("torch.nn.Linear")
    assert dense.worst == 1.5
    assert dense.words() == "yes: is transposed (bias is has_bias)"


def test_a_twin_verifies_its_reference(known):
    assert [(each.api, each.worst) for each in known.of("torch.nn.Mish")] == [("nn.Mish", None)]
    assert [each.api for each in known.of("torch.nn.SELU")] == ["ms_models.own:selu"]


@pytest.fixture
def shown(known, monkeypatch, capsys):
    """Runs the command against the small table: (exit code, printed, complaints)."""
    monkeypatch.setattr(coverage, "load", lambda: known)

    def run(*arguments):
        code = main(["coverage", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def write(folder, text):
    path = folder / "net.py"
    path.write_text(text)
    return path


def test_what_is_not_verified_comes_first(shown, tmp_path):
    path = write(tmp_path, "import torch\ntorch.softmax(x)\ntorch.erf(x)\ny: torch.Tensor\n")
    code, out, errors = shown(path)
    assert (code, errors) == (1, "")
    assert [" ".join(line.split()) for line in out.splitlines()] == [
        f"{path}: 2 APIs of PyTorch in 2 places, 1 verified, 1 not",
        "",
        "not verified",
        "PyTorch uses",
        "torch.erf 1 line 3",
        "",
        "verified",
        "PyTorch, MindSpore uses worst differs from PyTorch",
        "torch.softmax 1 line 2",
        "ops.softmax 3.25 yes: float16: is refused (dim is axis)",
        "mint.softmax - yes: dim is -1 unless told, not None; integers are int32",
        "",
        "computes nothing: torch.Tensor (1)",
        "worst: the largest error measured, in roundings, of which 16 are allowed (MindSpore "
        "2.10.0, PyTorch 2.13.0, CPU)",
    ]


def test_all_verified_is_exit_code_0(shown, tmp_path):
    code, out, _ = shown(write(tmp_path, "from torch import nn\nnn.Linear(1, 1)\nnn.Linear(2, 2)"))
    assert code == 0
    assert "1 APIs of PyTorch in 2 places, 1 verified, 0 not" in out
    assert "lines 2, 3" in out
    assert "not verified" not in out


def test_a_name_that_pytorch_does_not_have_is_told(shown, tmp_path):
    code, out, _ = shown(write(tmp_path, "import torch\ntorch.sofmax(x)"))
    assert code == 1
    assert "no such name is known; line 2" in out


def test_what_was_not_counted_is_told(shown, tmp_path):
    text = "import numpy\nimport torch\nx.split(numpy.pi)\ntorch.clip(x)"
    _, out, _ = shown(write(tmp_path, text))
    assert "methods of tensors or of something else, not counted: split (3)\n" in out
    assert "not looked into: numpy\n" in out


def network(width, depth=1):
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))


NETWORK = nn.Linear(2, 2)


def fails():
    raise RuntimeError("out of paint")


def test_a_module_is_built_with_its_arguments(shown):
    code, out, _ = shown(f"{__name__}:network", "--arguments", "width=3", "depth=2")
    assert code == 0
    assert "1 APIs of PyTorch in 2 places" in out
    assert "0, 1\n" in out
    assert shown(f"{__name__}:NETWORK")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py"], "nowhere.py cannot be read: No such file or directory"),
        ([HERE], "cannot be read: Is a directory"),
        ([HERE / "small.py", "--arguments", "a=1"], "is a file, which takes no --arguments"),
        (["nowhere:net"], "there is no module 'nowhere'"),
        (["torch.nn:Linaer"], "has no attribute 'Linaer'"),
        (["torch.nn:Linear"], "does not take {}"),
        ([f"{__name__}:fails"], "does not build: RuntimeError: out of paint"),
        (["torch:zeros", "--arguments", "size=(1,)"], "builds a Tensor, not a torch.nn.Module"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_2(shown, arguments, words):
    code, out, errors = shown(*arguments)
    assert (code, out) == (2, "")
    assert words in errors
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("text", ["", "x = (", "import torch", "from numpy import exp\nexp(1)"])
def test_a_file_that_uses_nothing_of_pytorch_is_a_mistake(shown, tmp_path, text):
    code, out, errors = shown(write(tmp_path, text))
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("command", [lambda: coverage.load(), lambda: accept.command("", "cpu")])
def test_without_the_clone_it_is_one_sentence(monkeypatch, tmp_path, command):
    monkeypatch.setattr(coverage, "ROOT", tmp_path)
    with pytest.raises(CoverageError, match="lies in the repository, not in the installed package"):
        command()


def test_it_runs_in_any_folder(tmp_path):
    (tmp_path / "tests").mkdir()  # of another project
    (tmp_path / "tests" / "__init__.py").write_text("")
    path = write(tmp_path, "import torch\ntorch.relu(torch.ones(2))\n")
    done = subprocess.run(
        [sys.executable, "-m", "equivalence", "coverage", path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "torch.relu" in done.stdout


def test_the_whole_command_fits_the_terminal():
    done = python("coverage", "tests/engine/parts/yolox_like.py")
    assert done.returncode in (0, 1), done.stderr
    assert max(map(len, done.stdout.splitlines())) <= coverage.WIDTH
    assert "torch.nn.BatchNorm2d" in done.stdout


def test_every_counterpart_is_named():
    named = set(coverage.counterparts())
    assert {(each.torch, c.api) for each in operators() for c in each.counterparts} == named


def named(layer):
    return f"{layer.torch}-{layer.counterpart.api}"


@pytest.mark.parametrize("layer", apis.LAYERS, ids=named)
def test_what_is_said_to_verify_a_layer_is_declared(layer):
    assert look_up(layer.torch) is not None
    assert layer.verified
    assert set(layer.verified) <= apis.declared().keys()


# Of functions of this project the signature is its own.
OF_FRAMEWORKS = [
    layer
    for layer in apis.LAYERS
    if layer.torch.startswith(("torch.nn.", "torch.optim.")) and ":" not in layer.counterpart.api
]


@pytest.mark.parametrize("layer", OF_FRAMEWORKS, ids=named)
def test_defaults_of_layers_are_declared(layer):
    assert dict(layer.counterpart.defaults) == defaults.differences(layer.torch, layer.counterpart)


@pytest.mark.parametrize(("alias", "name"), apis.ALIASES.items())
def test_an_alias_is_needed_and_leads_somewhere(alias, name):
    plain = Declarations(operators(), (), {}, {}, FIGURES)
    assert look_up(alias) is not None
    assert plain.operators(alias) == []
    assert plain.operators(name)
