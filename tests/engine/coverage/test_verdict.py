"""What is known of a call: verified for its arguments, different, refused, or unknown."""

import ast

import numpy as np
import pytest

from equivalence import on_cpu
from equivalence.coverage import known, usage
from equivalence.coverage.known import DeclaredAPIs
from equivalence.coverage.reader import INDEX, CallSite, ToldArgument
from equivalence.coverage.text import JudgedCall, hint, hints
from equivalence.coverage.torch_names import TENSOR, computes_nothing, methods
from equivalence.coverage.verdict import ONE_DTYPE, STOOD_IN, Danger, Judge
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import unary
from tests.engine.parts import torch_lines

X = ToldArgument.TENSOR


@pytest.fixture(scope="module")
def judge():
    return Judge(known.load())


@pytest.fixture
def judged(judge, tmp_path):
    """The verdicts of the calls in a text: spelled -> verdict."""

    def read(text):
        path = tmp_path / "net.py"
        path.write_text("import torch\nimport torch.nn.functional as F\n" + text)
        calls = usage.of_path(path).calls
        return {c.spelled(): judge.judge(c) for c in calls if not computes_nothing(c.api)}

    return read


def one(verdicts, api):
    """The verdict of the call of this name."""
    (found,) = [verdict for spelled, verdict in verdicts.items() if spelled.startswith(api)]
    return found


SILENT = {
    "x[:, 0].add_(1)": ("torch.Tensor.add_", Danger.SILENT, "inplace_add"),
    "x.mul_(y)": ("torch.Tensor.mul_", Danger.SILENT, "inplace_add"),
    "x += y": ("torch.Tensor.__iadd__", Danger.SILENT, "augmented_assignment"),
    "x[m] = 0": ("torch.Tensor.__setitem__", Danger.SOMETIMES, "assignment_to_a_view"),
    "x[x > 1] = 0": ("torch.Tensor.__setitem__", Danger.SOMETIMES, "assignment_to_a_view"),
    'F.interpolate(x, (4, 4), mode="bicubic")': (
        "torch.nn.functional.interpolate",
        Danger.SILENT,
        "interpolate_bicubic",
    ),
    "torch.relu(x)": ("torch.relu", Danger.SOMETIMES, "relu_nan"),
    "x.relu()": ("torch.Tensor.relu", Danger.SOMETIMES, "relu_nan"),
}


@pytest.mark.parametrize("line", SILENT)
def test_a_line_that_differs_silently_is_told_with_its_finding(judged, line):
    api, danger, finding = SILENT[line]
    verdict = one(judged(f"def f(x: torch.Tensor, y: torch.Tensor, m):\n    {line}\n"), api)
    assert verdict.danger is danger
    assert finding in verdict.findings


REFUSED = {
    "x.zero_()": "inplace_kernels",
    "x.relu_()": "inplace_absent",
    "torch.topk(x, 0)": "topk_of_none",
}


@pytest.mark.parametrize("line", REFUSED)
def test_a_line_that_raises_is_told_with_its_finding(judged, line):
    (verdict,) = judged(f"def f(x: torch.Tensor):\n    {line}\n").values()
    assert verdict.danger is Danger.RAISES
    assert REFUSED[line] in verdict.findings


def test_no_method_that_changes_its_tensor_is_verified_by_its_function(judge):
    alone, shared = methods()
    in_place = [name for name in (*alone, *shared) if name.endswith("_")]
    assert len(in_place) > 150
    for name in in_place:
        call = CallSite(f"{TENSOR}.{name}", "1", {0: X})
        assert judge.judge(call).danger is not Danger.VERIFIED, name


ARGUMENTS = {
    'F.pad(x, (1, 2), mode="circular")': Danger.VERIFIED,
    'F.pad(x, (1, 2), mode="no_such_mode")': Danger.UNKNOWN,
    "torch.sum(x, dim=1)": Danger.VERIFIED,
    "torch.sum(x, dim=1, dtype=torch.float64)": Danger.UNKNOWN,
    "torch.cat([x, y], dim=1)": Danger.VERIFIED,
    "x + 2": Danger.VERIFIED,
    "x.permute(1, 0)": Danger.VERIFIED,
    "torch.no_such_function(x)": Danger.UNKNOWN,
    "torch._foreach_add(x, 1)": Danger.PRIVATE,
    # Examples with NaN have an axis, or both bounds: it is overlooked without them, too.
    "torch.max(x)": Danger.SOMETIMES,
    "torch.clamp(x, max=1.5)": Danger.SOMETIMES,
    # What a finding says of ops.div holds of mint.div, too: of a divisor that may be zero.
    "x / y": Danger.SOMETIMES,
    "x / 0": Danger.SOMETIMES,
    "x / 2": Danger.VERIFIED,
    "x ** y": Danger.SOMETIMES,
    "x ** 2": Danger.VERIFIED,
    "torch.nn.MaxPool2d(2)": Danger.SOMETIMES,
}


@pytest.mark.parametrize("line", ARGUMENTS)
def test_a_call_is_verified_for_the_arguments_that_are_compared(judged, line):
    (verdict,) = judged(f"def f(x: torch.Tensor, y: torch.Tensor):\n    {line}\n").values()
    assert verdict.danger is ARGUMENTS[line]


def test_an_argument_that_no_example_has_is_told(judged):
    (verdict,) = judged("torch.sum(x, dtype=torch.float64)").values()
    assert verdict.reasons == ["no comparison has dtype='torch.float64'"]


def test_a_finding_about_one_argument_is_none_about_another(judged):
    right = judged('F.interpolate(x, (4, 4), mode="nearest")')
    assert "interpolate_bicubic" not in one(right, "torch.nn.functional.interpolate").findings


def test_a_finding_may_be_meant_where_an_argument_is_not_written_out(judged):
    perhaps = one(judged("F.interpolate(x, size, mode=how)"), "torch.nn.functional.interpolate")
    assert perhaps.danger is Danger.SOMETIMES
    assert "interpolate_bicubic" in perhaps.findings


def test_of_a_function_that_is_handed_on_the_arguments_are_not_seen(judged):
    (verdict,) = judged("act = F.hardtanh").values()
    assert "called elsewhere, with arguments that are not seen here" in verdict.remarks


def test_a_refusal_that_may_not_be_meant_is_a_remark(judged):
    (verdict,) = judged("F.pad(x, (1, 1), mode=how)").values()
    assert verdict.danger is Danger.UNKNOWN
    assert any("pad_reflect_of_volumes" in words for words in verdict.remarks)


def test_writing_the_result_over_the_input_is_told(judged):
    (verdict,) = judged("torch.nn.functional.elu(x, inplace=True)").values()
    assert verdict.danger is Danger.SOMETIMES
    assert any("leaves the input as it is" in words for words in verdict.reasons)


@pytest.mark.parametrize(
    "text",
    [
        "F.elu(x, 1.0, True)",
        "torch.nn.ReLU(True)",
        "import functools\nact = functools.partial(torch.nn.ReLU, inplace=True)",
    ],
)
def test_writing_over_the_input_is_told_however_it_is_written(judged, text):
    (verdict,) = judged(text).values()
    assert verdict.danger is Danger.SOMETIMES
    assert any("leaves the input as it is" in words for words in verdict.reasons)


def test_an_axis_stays_an_axis_in_the_hint(judge):
    code = "torch.cat((x, y), 1)"
    call = CallSite("torch.cat", "1", {0: X, 1: 1}, code, node=ast.parse(code, mode="eval").body)
    assert hint(call, judge.judge(call), judge) == "ms.ops.cat((x, y), axis=1)"


def test_a_list_of_tensors_is_verified_for_one_dtype(judge):
    assert ONE_DTYPE in judge.judge(CallSite("torch.cat", "1", {0: X, 1: 1})).remarks


def test_a_layer_that_is_a_function_in_mindspore_is_hinted_with_its_input(judge):
    code = "nn.Upsample(scale_factor=2, mode='nearest')"
    given = {"scale_factor": 2, "mode": "nearest"}
    call = CallSite("torch.nn.Upsample", "1", given, code, node=ast.parse(code, mode="eval").body)
    written = hint(call, judge.judge(call), judge)
    assert written.startswith("lambda x: ms.mint.nn.functional.interpolate(x, scale_factor=2")


def test_what_a_call_leaves_to_pytorchs_defaults_is_told_for_the_function_that_builds(judge):
    code = "nn.Conv2d(8, 4, 1)"
    given = {0: 8, 1: 4, 2: 1}
    call = CallSite("torch.nn.Conv2d", "1", given, code, node=ast.parse(code, mode="eval").body)
    written = hint(call, judge.judge(call), judge)
    assert "as ms_models.conv:conv2d builds it with " in written
    assert "bias=True" in written
    assert "padding=0" in written


@pytest.mark.parametrize(("scale", "written"), [("2", "2.0"), ("(2, 3)", "(2.0, 3.0)")])
def test_a_whole_number_is_written_as_the_float_that_was_compared(judge, scale, written):
    """MindSpore refuses a scale that is an integer."""
    code = f"nn.Upsample(scale_factor={scale}, mode='nearest')"
    given = {"scale_factor": ast.literal_eval(scale), "mode": "nearest"}
    call = CallSite("torch.nn.Upsample", "1", given, code, node=ast.parse(code, mode="eval").body)
    assert f"scale_factor={written}" in hint(call, judge.judge(call), judge)


def test_what_a_cpu_runs_through_a_stand_in_alone_is_told(judge):
    """Another counterpart is hinted first, where there is one."""
    stood_in = judge.known.stood_in
    assert {"mint.nn.functional.conv2d", "mint.nn.functional.cross_entropy"} <= stood_in
    for operator in judge.known.by_torch["torch.nn.functional.gelu"]:
        assert "mint.nn.functional.gelu" in [each.api for each in operator.counterparts]
    verdict = judge.judge(CallSite("torch.nn.functional.gelu", "1", {0: X}))
    assert (verdict.apis[0] in stood_in) == (STOOD_IN in verdict.remarks)


def test_a_flag_that_writes_in_place_is_not_handed_on(judge):
    code = "nn.ReLU(True)"
    call = CallSite("torch.nn.ReLU", "1", {0: True}, code, node=ast.parse(code, mode="eval").body)
    assert hint(call, judge.judge(call), judge) == "ms.nn.ReLU()"


def test_no_mask_is_hinted_where_places_are_set(judge):
    node = ast.parse("y[:, 0] = 1").body[0].targets[0]
    given = {0: X, INDEX: "places"}
    call = CallSite("torch.Tensor.__setitem__", "1", given, "y[:, 0]", node=node)
    assert hint(call, judge.judge(call), judge) == ""


@pytest.mark.parametrize(
    ("code", "written"),
    [
        ("x.reshape(-1)", "ms.ops.reshape(x, shape=(-1,))"),
        ("x.reshape(2, *s)", "ms.ops.reshape(x, shape=(2, *s))"),
        ("x.repeat_interleave(2)", "ms.ops.repeat_interleave(x, repeats=2)"),
        ("x.sum(*s)", ""),  # an axis, or more
        ("x.new_zeros(2, 3)", "x.new_zeros((2, 3))"),
        # Nothing given by position follows what is given by name.
        ("torch.gather(x, 1, s)", "ms.ops.gather_elements(x, 1, s)"),
        ("torch.gather(x, dim=1, index=s)", "ms.ops.gather_elements(x, 1, s)"),
        ("torch.bmm(x, mat2=s)", "ms.ops.bmm(x, s)"),
        (
            "x.scatter(dim=1, index=s, src=x)",
            "ms.ops.tensor_scatter_elements(x, s, x, axis=1)",
        ),
        ("x.scatter(1, s, s)", "ms.ops.tensor_scatter_elements(x, s, s, axis=1)"),
        (
            "torch.conv2d(x, s)",
            "ms.ops.conv2d, as ms_models.functional:conv2d calls it with stride=(1, 1), "
            "padding=(0, 0), dilation=(1, 1), groups=1",
        ),
    ],
)
def test_a_hint_is_written_as_mindspore_takes_it(judge, tmp_path, code, written):
    path = tmp_path / "net.py"
    path.write_text(f"import torch\ndef f(x: torch.Tensor, s):\n    {code}\n")
    (call,) = usage.of_path(path).calls
    assert hint(call, judge.judge(call), judge) == written


def test_what_calls_a_function_without_a_kernel_is_told(judge):
    verdict = judge.judge(CallSite("torch.nn.functional.relu6", "1", {0: X}))
    for api in ("mint.nn.functional.relu6", "mint.nn.functional.hardtanh"):
        assert api in judge.known.stood_in
    assert (verdict.apis[0] in judge.known.stood_in) == (STOOD_IN in verdict.remarks)


def test_a_stand_in_is_told_where_nothing_else_is_compared(judge):
    known_ = judge.known
    gelu = Operator("torch.nn.functional.gelu", unary(), to("mint.nn.functional.gelu"))
    alone = DeclaredAPIs([gelu], [], {}, {}, known_.figures, stood_in=known_.stood_in)
    code = "F.gelu(x)"
    node = ast.parse(code, mode="eval").body
    call = CallSite("torch.nn.functional.gelu", "1", {0: X}, code, node=node)
    small = Judge(alone)
    verdict = small.judge(call)
    assert STOOD_IN in verdict.remarks
    (line,) = hints([JudgedCall(call, verdict, hint(call, verdict, small))])
    assert line.endswith(f"# {STOOD_IN}")


def test_a_layer_is_to_be_built_as_it_was_compared(judge):
    """MindSpore's momentum is another, and its padding needs a mode."""
    code = "nn.BatchNorm2d(8, momentum=0.03)"
    given = {0: 8, "momentum": 0.03}
    node = ast.parse(code, mode="eval").body
    call = CallSite("torch.nn.BatchNorm2d", "1", given, code, node=node)
    verdict = judge.judge(call)
    written = hint(call, verdict, judge)
    assert written == "ms.nn.BatchNorm2d, as ms_models.norm:batch_norm2d builds it with eps=1e-05"


def same(ours, theirs):
    """Whether what PyTorch and MindSpore computed is equal but for rounding."""
    if isinstance(ours, tuple | list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    ours, theirs = ours.detach().numpy(), theirs.asnumpy()
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_each_line_that_is_verified_is_equal_on_random_data(judge):
    """The line in PyTorch beside what the hint writes in MindSpore."""
    import mindspore as ms
    import torch

    draw = np.random.default_rng(0).standard_normal
    arrays = {name: draw(shape).astype(np.float32) for name, shape in torch_lines.SHAPES.items()}
    arrays["labels"] = np.array([0, 3, 1])
    arrays["positions"] = np.array([[0, 3, 1, 2]] * 4)
    ours = {name: torch.tensor(each) for name, each in arrays.items()}
    theirs = {name: ms.Tensor(each) for name, each in arrays.items()}
    verified, wrong = 0, []
    for call in usage.of_path(torch_lines.PATH).calls:
        verdict = judge.judge(call)
        written = hint(call, verdict, judge)
        if verdict.danger is not Danger.VERIFIED or not written or "calls it" in written:
            continue
        if not isinstance(call.node, ast.expr) or call.text not in torch_lines.LINES:
            continue
        verified += 1
        expected = eval(call.text, {"torch": torch, "F": torch.nn.functional, **ours})
        try:
            with on_cpu():  # what an Ascend alone has a kernel for
                equal = same(expected, eval(written, {"ms": ms, **theirs}))
        except Exception as error:
            equal, written = False, f"{written} raised {error}"
        if not equal:
            wrong.append(f"{call.text}: {written}")
    assert wrong == []
    assert verified >= 35


def test_a_row_tells_of_every_silent_finding_of_its_call(judge):
    """No call is verified through a MindSpore call that a silent finding stands for."""
    for finding in judge.known.findings:
        for text in finding.torch:
            if "(" in text or finding.severity != "silent" or finding.when:
                continue
            verdict = judge.judge(CallSite(text, "1"))
            if verdict.danger is Danger.VERIFIED:
                assert finding.api.removeprefix("mindspore.") not in verdict.apis, finding.name
