"""The command that tells what of a network is verified, and the figures that it shows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from torch import nn

from equivalence import files
from equivalence.__main__ import main
from equivalence.coverage import command as coverage
from equivalence.coverage import defaults, known
from equivalence.coverage.known import DeclaredAPIs, VerifiedAPI
from equivalence.coverage.reader import CallSite, ToldArgument
from equivalence.coverage.text import WIDTH
from equivalence.coverage.torch_names import look_up
from equivalence.coverage.verdict import Danger, Judge
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import along, unary
from equivalence.errors import CoverageError
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
LINEAR = VerifiedAPI(
    "torch.nn.Linear", to("nn.Dense", bias="has_bias"), ("dense", "dense_transposed")
)


@pytest.fixture
def declarations():
    return DeclaredAPIs(OPERATORS, [LINEAR], {"torch.clip": "torch.clamp"}, DECLARED, FIGURES)


@pytest.fixture
def judged(declarations):
    """The verdict of a call of an API on a tensor, with these arguments."""

    def judge(api, **given):
        return Judge(declarations).judge(CallSite(api, "1", {0: ToldArgument.TENSOR, **given}))

    return judge


@pytest.mark.parametrize(
    "api", ["torch.softmax", "torch.nn.functional.softmax", "torch.Tensor.softmax"]
)
def test_one_operator_serves_every_form_of_it(judged, api):
    assert sorted(judged(api, dim=1).apis) == ["mint.softmax", "ops.softmax"]


@pytest.mark.parametrize(
    "api",
    [
        "torch.nn.Softmax2d",
        "torch.nn.init.softmax_",
        "torch.norm",
        "torch.foo",
        "torch.Tensor.softmax_",
        "torch.softmax_",
        "torch.Tensor.__ior__",
    ],
)
def test_what_is_called_otherwise_or_changes_its_tensor_is_not_verified(judged, api):
    assert judged(api, dim=1).danger is Danger.UNKNOWN


def test_another_name_is_served_where_it_is_declared(judged):
    assert judged("torch.clip").apis == ["ops.clamp"]


def test_what_differs_in_a_dtype_is_told_beside_the_verdict(judged):
    verdict = judged("torch.softmax", dim=1)
    assert verdict.danger is Danger.VERIFIED
    assert {"float16: is refused"} >= set(verdict.remarks) or verdict.apis[0] == "mint.softmax"


def test_figures_are_those_of_operators_and_right_twins(judged):
    assert judged("torch.softmax", dim=1).worst in (3.25, None)
    assert judged("torch.nn.Linear", in_features=2, out_features=2).worst == 1.5


def test_a_difference_that_one_twin_of_several_has_is_a_remark(judged):
    verdict = judged("torch.nn.Linear", in_features=2, out_features=2)
    assert (verdict.danger, verdict.remarks) == (Danger.VERIFIED, ["is transposed"])


def test_a_setting_that_no_twin_has_is_unknown(judged):
    verdict = judged("torch.nn.Linear", in_features=2, out_features=2, dtype="float64")
    assert verdict.danger is Danger.UNKNOWN
    assert verdict.reasons == ["no comparison has dtype='float64'"]


def test_a_twin_verifies_its_reference(judged):
    assert judged("torch.nn.Mish").apis == ["nn.Mish"]
    assert judged("torch.nn.SELU").apis == ["ms_models.own:selu"]


@pytest.fixture
def shown(declarations, monkeypatch, capsys):
    """Runs the command against the small table: (exit code, printed, complaints)."""
    monkeypatch.setattr(coverage, "load", lambda: declarations)

    def run(*arguments):
        code = main(["coverage", *map(str, arguments)])
        return code, *capsys.readouterr()

    return run


def write(folder, text):
    path = folder / "net.py"
    path.write_text(text)
    return path


def test_the_table_has_what_is_dangerous_first(shown, tmp_path):
    path = write(tmp_path, "import torch\ntorch.softmax(x, dim=1)\ntorch.erf(x)\ny: torch.Tensor\n")
    code, out, errors = shown(path)
    assert (code, errors) == (1, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    told, _, rest = "\n".join(lines).partition("\n\n")
    assert " ".join(told.split()) == f"{path}: 2 calls of PyTorch: 1 unknown, 1 verified"
    assert rest.splitlines()[:6] == [
        "unknown: not compared",
        "torch.erf(...) line 3",
        "nothing that is compared is such a call",
        "",
        "verified",
        "torch.softmax(..., dim=1) 3.25 line 2: ops.softmax, mint.softmax",
    ]


def test_all_verified_is_exit_code_0(shown, tmp_path):
    code, out, _ = shown(write(tmp_path, "from torch import nn\nnn.Linear(1, 1)\nnn.Linear(2, 2)"))
    assert code == 0
    assert "2 calls of PyTorch: 2 verified" in out
    assert "not compared" not in out


def test_a_name_that_pytorch_does_not_have_is_told(shown, tmp_path):
    code, out, _ = shown(write(tmp_path, "import torch\ntorch.sofmax(x)"))
    assert code == 1
    assert "line 2; no such name is known" in out


@pytest.mark.parametrize("text", ["import numpy\nnumpy.exp(1)", "from .away import f\nf(1)"])
def test_what_was_not_looked_into_is_told_and_red(shown, tmp_path, text):
    code, out, _ = shown(write(tmp_path, f"{text}\nimport torch\ntorch.clip(x)"))
    assert code == 1
    assert "not looked into: " in out


def test_a_method_with_an_argument_called_index_is_spelled_as_it_is(shown, tmp_path):
    text = (
        "import torch\n\ndef f(x, at):\n"
        "    return torch.zeros(3).scatter_add_(0, index=at, src=x)\n"
    )
    _, out, _ = shown(write(tmp_path, text))
    assert "torch.Tensor.scatter_add_(..., 0, index=..., src=...)" in out


def test_a_private_name_that_computes_nothing_is_not_red(shown, tmp_path):
    path = write(tmp_path, "import torch\ntorch._assert(ok, 'message')\ntorch.clip(x)")
    assert shown(path)[0] == 0


def test_a_private_name_is_told_apart(shown, tmp_path):
    code, out, _ = shown(write(tmp_path, "import torch\ntorch._foreach_add(x, 1)"))
    assert code == 1
    assert "private names: not compared" in out


def test_hints_tell_what_to_write_line_by_line(shown, tmp_path):
    path = write(
        tmp_path, "import torch\ndef f(x: torch.Tensor):\n    torch.softmax(x, dim=1)\n    x += 1"
    )
    _, out, _ = shown(path, "--fix-hints")
    assert "3: torch.softmax(x, dim=1)\n    ms.ops.softmax(x, axis=1)" in out
    assert "4: x += 1\n    x = x + 1    # unknown: not compared" in out


def test_an_argument_called_index_is_no_index(shown, tmp_path):
    code, out, errors = shown(
        write(tmp_path, "import torch\ntorch.clip(x, index=1)\ntorch.abs(x)[1:]")
    )
    assert (code, errors) == (1, "")
    assert "torch.clip(..., index=1)" in out
    assert "x[1, 2:]" in out


def test_all_of_it_can_be_written_as_json(shown, tmp_path):
    path = write(tmp_path, "import torch\ntorch.softmax(x, dim=1)\n")
    code, _, _ = shown(path, "--json", tmp_path / "calls.json")
    (call,) = json.loads((tmp_path / "calls.json").read_text())["calls"]
    assert code == 0
    assert (call["place"], call["verdict"]) == ("2", "verified")
    assert sorted(call["mindspore"]) == ["mint.softmax", "ops.softmax"]


def test_all_of_it_can_be_written_as_one_page_the_most_dangerous_first(shown, tmp_path):
    text = "import torch\ntorch.softmax(x < 1, dim=1)\ntorch.roll(x, 1)\n"
    page = tmp_path / "calls.html"
    shown(write(tmp_path, text), "--html", page)
    told = page.read_text()
    titles = re.findall("<h2>(.+?) \\(", told)
    assert titles[-1] == "Verified"
    assert len(titles) > 1
    assert "ms.ops.softmax(x &lt; 1" in told
    assert not re.search("src=|href=|https?:|@import", told)


def network(width, depth=1):
    return nn.Sequential(*(nn.Linear(width, width) for _ in range(depth)))


NETWORK = nn.Linear(2, 2)


def fails():
    raise RuntimeError("out of paint")


def test_a_module_is_built_with_its_arguments(shown):
    code, out, _ = shown(f"{__name__}:network", "--arguments", "width=3", "depth=2")
    assert code == 0
    assert "2 calls of PyTorch: 2 verified" in out
    assert "lines 0, 1: nn.Dense" in out
    assert shown(f"{__name__}:NETWORK")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.py"], "nowhere.py cannot be read: there is no such file or folder"),
        ([HERE / "networks.py", "--arguments", "a=1"], "is no MODULE:ATTRIBUTE, which alone takes"),
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


def test_a_name_that_is_nearly_that_of_a_file_is_told(shown, tmp_path):
    write(tmp_path, "import torch\ntorch.clip(x)")
    code, _, errors = shown(tmp_path / "nett.py")
    assert code == 2
    assert "no such file or folder; nearest: net.py; for" in errors


@pytest.mark.parametrize("text", ["", "x = (", "import torch", "from numpy import exp\nexp(1)"])
def test_a_file_that_uses_nothing_of_pytorch_is_a_mistake(shown, tmp_path, text):
    code, out, errors = shown(write(tmp_path, text))
    assert (code, out) == (2, "")
    assert errors.count("\n") == 1


@pytest.mark.parametrize("command", [lambda: known.load(), lambda: coverage.accept("", "cpu")])
def test_without_the_clone_it_is_one_sentence(monkeypatch, tmp_path, command):
    monkeypatch.setattr(files, "REPOSITORY", tmp_path)
    with pytest.raises(CoverageError, match="lies in the repository, not in the installed package"):
        command()


def test_it_runs_in_any_folder(tmp_path):
    (tmp_path / "tests").mkdir()  # of another project
    (tmp_path / "tests" / "__init__.py").write_text("")
    path = write(tmp_path, "import torch\ntorch.neg(torch.sin(y))\n")
    done = subprocess.run(
        [sys.executable, "-m", "equivalence", "coverage", path],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "torch.neg" in done.stdout


def test_the_whole_command_fits_the_terminal(capsys):
    assert main(["coverage", str(HERE.parent / "parts" / "yolox_like.py")]) in (0, 1)
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "torch.nn.BatchNorm2d" in printed


def test_every_counterpart_is_named():
    named = set(known.counterparts())
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
    plain = DeclaredAPIs(operators(), (), {}, {}, FIGURES)
    assert look_up(alias) is not None
    assert plain.operators(alias) == []
    assert plain.operators(name)
