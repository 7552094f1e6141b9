"""`equivalence compare`: what is printed, in which order, what is written, and the exit codes."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from equivalence.__main__ import main
from equivalence.own.result import GIVEN, HINT
from equivalence.structure import mindspore_settings

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[3]
NET = ["nets:Net", "ports:Net"]
NORMED = ["nets:Normed", "ports:Normed"]
QUICK = ["--input", "normal(2, 4)", "--phase", "eval", "--execution", "pynative"]


@pytest.fixture
def run(own, capsys):  # noqa: ARG001
    """Runs the command; returns its exit code, its lines, and those of its progress."""

    def run_it(*arguments):
        code = main(["compare", *map(str, arguments)])
        told = capsys.readouterr()
        return code, told.out.splitlines(), told.err.splitlines()

    return run_it


def test_equal_networks_have_exit_code_0(run):
    code, lines, progress = run(*NET, "--input", "normal(2, 4)", "--thorough")
    assert code == 0
    assert lines[0].startswith("EQUAL. 16 tensors of 4 cases; the largest error is ")
    assert lines[0].endswith(" roundings of the 8 that rounding may cause.")
    assert re.fullmatch(
        r"\d+ further samples were tried, which reached 2 more decisions\.", lines[1]
    )
    below = lines[2:]
    assert below[:3] == [
        "details:",
        "settings: all 3 (1 layer) are the same",
        "weights: 2 parameters pair up: 2 by name",
    ]
    assert [line.partition(":")[0] for line in below[3:7]] == [
        f"Net-{phase}-float32-{execution}-cpu"
        for phase in ("train", "eval")
        for execution in ("pynative", "graph")
    ]
    assert all(": equal; all 4 tensors are within 8 roundings" in line for line in below[3:7])
    assert below[7].startswith("compared 16 tensors of 4 cases of 1 twin; the largest error is ")
    assert below[8:] == [
        "  settings  12 of 4 layers in 4 cases",
        "  reach     1 of 3 decisions of 1 twin, by the given inputs alone",
        "equal in 4 cases",
    ]
    assert progress[:3] == [
        "... building both networks",
        "... settings: all 3 (1 layer) are the same",
        "... 1 of 4: Net-train-float32-pynative-cpu",
    ]


def test_networks_that_differ_have_exit_code_1_and_a_culprit(run):
    code, lines, progress = run(*NORMED, *QUICK)
    assert code == 1
    assert lines[0].startswith("DIFFERENT. Normed (eval, PyNative, CPU): the output is off by ")
    assert lines[1:3] == [
        "the place to mend:",
        "  norm (LayerNorm): eps is 1e-07 in the port and 1e-05 in the original; "
        "write epsilon=1e-05",
    ]
    assert lines[3] == "With the original's layer, all outputs and gradients are right."
    below = lines[lines.index("details:") :]
    assert below[1].startswith("settings: 1 of ")
    assert below[2] == "  norm (LayerNorm): eps 1e-05 (reference) 1e-07 (candidate)"
    assert "culprit: norm (LayerNorm)" in below
    assert lines[-1] == "different in 1 of 1 case"
    assert "... looking for the culprit of Normed-eval-float32-pynative-cpu" in progress


def test_a_case_that_cannot_be_compared_is_red_and_the_others_go_on(run, tmp_path):
    arguments = ["--input", "normal(2, 4)", "--phase", "eval", "--json", tmp_path / "r.json"]
    code, lines, _ = run("nets:Net", "ports:Uncompiled", *arguments)
    assert code == 1
    told = "NOT COMPARED. Net (eval, graph, CPU): the port raises RuntimeError: "
    assert lines[0].startswith(told)
    assert lines[2].startswith("repeat: ")
    below = lines[lines.index("details:") :]
    assert below[3].startswith("Net-eval-float32-pynative-cpu: equal; all 4 tensors")
    assert below[4].startswith("Net-eval-float32-graph-cpu: the candidate raised RuntimeError: ")
    assert lines[-1] == "equal in 1 of 2 cases; 1 could not be compared"
    right, wrong = json.loads((tmp_path / "r.json").read_text())["cases"]
    assert (right["passed"], right["error"]) == (True, None)
    assert (wrong["passed"], wrong["tensors"]) == (False, [])
    assert "Unsupported statement" in wrong["error"]


def test_a_later_case_with_the_same_culprits_is_one_line(run):
    _, lines, _ = run(*NORMED, "--input", "normal(2, 4)", "--phase", "eval")
    (again,) = [line for line in lines if line.startswith("Normed-eval-float32-graph-cpu")]
    assert again.endswith("culprits and causes: those of Normed-eval-float32-pynative-cpu")
    assert sum(line.startswith("culprit: ") for line in lines) == 1


def test_the_answer_ends_with_what_repeats_it(run):
    _, lines, _ = run(*NORMED, *QUICK, "--rename", "fc=fc", "--seed", "3")
    repeat = lines[lines.index("details:") - 1]
    assert repeat == (
        "repeat: equivalence compare nets:Normed ports:Normed --input 'normal(2, 4)' --rename "
        "fc=fc --phase eval --execution pynative --dtype float32 --seed 3"
    )


def test_settings_alone_need_no_input_and_run_nothing(run):
    assert run(*NET, "--settings")[0] == 0
    code, lines, progress = run(*NORMED, "--settings")
    assert code == 1
    assert lines[-1].startswith("dropout keeps everything (random_layers='eval')")
    assert lines[0] == "DIFFERENT. 1 setting of 11 differs; nothing was run."
    assert progress[0] == "... building both networks"
    assert progress[1].startswith("... settings: 1 of 11")
    assert len(progress) == 2


def test_what_the_inputs_do_not_show_is_listed_once_for_each_sample(run):
    inputs = ["--input", "normal(2, 4)", "--phase", "eval", "--hidden-settings"]
    code, lines, progress = run("nets:Bounded", "ports:Bounded", *inputs)
    assert code == 0
    assert "... looking for what Bounded-eval-float32 does not show" in progress
    hidden = [line for line in lines if "not show" in line or "clamp" in line]
    assert hidden == [
        "settings that the sample does not show: 0 of 0",
        "numbers in the code that the sample does not show: 1 of 1",
        "nets.py:38 clamp max 100: 200 moves nothing",
    ]


def test_a_setting_that_cannot_be_read_has_exit_code_1(run, monkeypatch, tmp_path):
    def renamed(*_):
        raise AttributeError("no has_bias")

    monkeypatch.setattr(mindspore_settings, "_adjust", renamed)
    lost = "fc.settings (AttributeError: no has_bias)"
    told = f"1 setting could not be read: {lost}"
    code, lines, _ = run(*NET, "--settings", "--json", tmp_path / "r.json")
    assert code == 1
    assert lines[0] == f"DIFFERENT. {told}; nothing was run."
    assert lines[3] == told
    found = json.loads((tmp_path / "r.json").read_text())
    assert (found["equal"], found["settings_unread"]) == (False, [lost])
    code, lines, _ = run(*NET, *QUICK)
    assert (code, lines[-1]) == (1, "different in 1 of 1 case")
    assert lines[0].endswith(f"all tensors are equal with this input, but {told}.")
    assert any(line.endswith(f"within 8 roundings, but {told}") for line in lines)
    assert lines[-3].strip() == told


@pytest.mark.parametrize("option", ["--hidden-settings", "--reach"])
def test_what_is_hidden_is_not_looked_for_layer_by_layer(run, option):
    code, _, errors = run(*NORMED, *QUICK, option, "--by-layer")
    assert code == 2
    assert errors[-1].startswith(f"error: {option} runs the whole reference")


def test_weights_that_do_not_pair_up_are_seen_with_the_settings(run):
    code, lines, _ = run("nets:Net", "ports:Renamed", "--settings")
    assert code == 1
    assert lines[0].startswith("DIFFERENT. weights do not pair up")
    assert "  no partner: reference fc.weight (parameter (3, 4))" in lines[-1]
    assert "candidate dense.bias (parameter (3,))" in lines[-1]


@pytest.mark.parametrize("how", [["--rename", "dense=fc"], ["--pair", "pairs.txt"]])
def test_renamed_weights_pair_up_and_are_told(run, how):
    code, lines, _ = run("nets:Net", "ports:Renamed", *QUICK, *how)
    assert code == 0
    assert lines[lines.index("details:") + 2 :][:3] == [
        "weights: 2 parameters pair up: 2 by other names",
        "  dense.weight -> fc.weight",
        "  dense.bias -> fc.bias",
    ]


def test_arguments_reach_both_sides(run):
    code, lines, _ = run("nets:Wide", "ports:Wide", "--arguments", "width=5", *QUICK)
    assert (code, lines[-1]) == (0, "equal in 1 case")
    assert lines[lines.index("details:") + 3].startswith(
        "Wide-width5-eval-float32-pynative-cpu: equal"
    )


def test_an_input_can_be_a_file(run):
    code, lines, _ = run(*NET, "--input", "x.npy", *QUICK[2:])
    assert (code, lines[-1].partition(";")[0]) == (0, "equal in 1 case")


def test_inputs_can_have_keywords(run):
    inputs = ["--input", "mask=uniform(2, 3)", "x=x.npy"]
    code, lines, _ = run("nets:Pair", "ports:Pair", *inputs, *QUICK[2:])
    assert (code, lines[-1].partition(";")[0]) == (0, "equal in 1 case")


def test_outputs_of_another_structure_are_a_difference(run):
    code, lines, _ = run("nets:Net", "odd_ms:Silent", *QUICK)
    assert (code, lines[-1]) == (1, "different in 1 of 1 case")
    told = "construct returns nothing, so its return may be missing"
    assert any(told in line for line in lines)


def test_outputs_that_one_side_alone_names_are_paired_by_order_with_a_word(run):
    code, lines, _ = run("nets:Named", "ports:Named", *QUICK)
    assert (code, lines[-1].partition(";")[0]) == (0, "equal in 1 case")
    told = "the reference returns a dict (logits), the candidate one tensor; paired by order: "
    assert f"T{told[1:]}0 with logits." in lines
    assert any(line.endswith(f"; {told}0 with logits") for line in lines)


@pytest.mark.parametrize("wrapped", ["odd:compiled", "odd:parallel"])
def test_a_wrapper_that_computes_the_same_is_taken_off(run, wrapped):
    code, lines, _ = run(wrapped, "odd_ms:leaky", *QUICK)
    assert (code, lines[-1].partition(";")[0]) == (0, "equal in 1 case")
    assert "settings: all 2 (1 layer) are the same" in lines
    code, lines, _ = run(wrapped, "odd_ms:leakier", *QUICK)
    assert (code, lines[-1]) == (1, "different in 1 of 1 case")
    assert "  the network (LeakyReLU): negative_slope 0.1 (reference) 0.2 (candidate)" in lines


def test_a_reference_in_another_dtype_is_told(run):
    code, lines, _ = run("odd:in_half", "ports:Net", *QUICK)
    assert code == 0
    told = "the reference is built with its parameters in another dtype (2 of 2 in float16)"
    assert f"{told}, and is compared in float32; dtype float16 compares it so" in lines


@pytest.mark.parametrize("given", [("normal(2, 4)", "None"), ("{'x': normal(2, 4), 'y': None}",)])
def test_inputs_can_be_none_or_hold_several(run, given, tmp_path):
    nets = ("odd:Either", "odd_ms:Either", "--input", *given, *QUICK[2:])
    code, lines, _ = run(*nets, "--write", tmp_path / "declared.py")
    assert (code, lines[-2]) == (0, "equal in 1 case")
    assert "None" in (tmp_path / "declared.py").read_text()
    code, lines, _ = run(nets[0], "odd_ms:Neither", *nets[2:])
    assert (code, lines[-1]) == (1, "different in 1 of 1 case")


def test_all_of_the_result_is_written_as_json(run, tmp_path):
    run(*NORMED, *QUICK, "--json", tmp_path / "deep" / "r.json")
    found = json.loads((tmp_path / "deep" / "r.json").read_text())
    assert found["equal"] is False
    assert found["text"].splitlines()[1:3] == [
        "the place to mend:",
        "  norm (LayerNorm): eps is 1e-07 in the port and 1e-05 in the original; "
        "write epsilon=1e-05",
    ]
    assert found["settings"][0]["name"] == "eps"
    assert found["settings"][0]["write"] == "epsilon=1e-05"
    assert found["pairs"]["norm.gamma"] == "norm.weight"
    (case,) = found["cases"]
    assert [each["reference"] for each in case["culprits"]] == ["norm"]
    assert case["tensors"][0]["tensor"] == "output.0"
    assert case["diagnosis"]


def test_all_of_the_result_is_written_as_a_page(run, tmp_path):
    path = tmp_path / "deep" / "r.html"
    code, lines, _ = run(*NORMED, *QUICK, "--html", path)
    assert (code, lines[-1]) == (1, f"{path}: the same as a page, with every layer of what differs")
    made = path.read_text()
    assert f"<title>{NORMED[1]} beside {NORMED[0]}: different in 1 of 1 case</title>" in made
    assert "settings: 1 of " in made
    assert "<b>1</b> different" in made
    assert [each.name for each in path.parent.iterdir()] == ["r.html"]


def test_settings_alone_are_a_page_too(run, tmp_path):
    code, _, _ = run(*NORMED, "--settings", "--html", tmp_path / "r.html")
    assert code == 1
    assert "nothing was run</title>" in (tmp_path / "r.html").read_text()


def test_a_declaration_is_written_that_declares_the_same(run, tmp_path):
    path = tmp_path / "twin.py"
    code, _, _ = run("nets:Net", "ports:Renamed", *QUICK, "--rename", "dense=fc", "--write", path)
    assert code == 0
    declared = {}
    exec(path.read_text(), declared)
    (twin,) = declared["TWINS"]
    assert (twin.name, twin.reference, twin.candidate) == ("Net", "nets:Net", "ports:Renamed")
    assert (twin.phases, twin.executions, twin.rename) == (
        ("eval",),
        ("pynative",),
        {"dense": "fc"},
    )
    before = path.read_text()
    assert run(*NET, *QUICK, "--write", path)[0] == 2
    assert path.read_text() == before


def test_pytest_runs_the_declaration_that_is_written(pytester, run):
    written = Path(pytester.path, "twins_written.py")
    assert run(*NET, *QUICK, "--write", written)[0] == 0
    plugin = ("-p", "equivalence.plugin.door", "-p", "no:cacheprovider")
    done = pytester.runpytest_inprocess("-q", "-m", "cpu", *plugin, written)
    assert done.ret == 0, done.stdout.str() + done.stderr.str()
    done.stdout.fnmatch_lines(["EQUAL. 4 tensors of 1 case of 1 twin*"])


def test_both_sides_get_the_weights_of_a_checkpoint(run, tmp_path):
    weights = {"fc.weight": torch.ones(3, 4), "fc.bias": torch.ones(3)}
    torch.save(weights, tmp_path / "n.pth")
    code, lines, _ = run(*NET, *QUICK, "--weights", tmp_path / "n.pth")
    assert (code, lines[-1].partition(";")[0]) == (0, "equal in 1 case")


def test_a_command_in_a_folder_of_ones_own_finds_the_modules_there(own):
    script = (  # as an installed script begins: the folder is not on the path
        f"import sys; sys.path[0] = {str(ROOT)!r}; "
        "from equivalence.__main__ import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "compare", *NET, *QUICK],
        cwd=own,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("equal in 1 case")
    assert all(line.startswith("... ") for line in done.stderr.splitlines())


def test_what_a_network_prints_is_no_part_of_the_result(run, own):
    (own / "loud.py").write_text("from ports import Net\n\nprint('loading')\n")
    code, lines, progress = run(NET[0], "loud:Net", *QUICK)
    assert code == 0
    assert "loading" not in lines
    assert "loading" in progress
    sys.modules.pop("loud")


def test_a_port_without_a_bound_that_never_bites_is_found_by_a_further_sample(run, tmp_path):
    path = tmp_path / "twins_bounded.py"
    further = "--thorough", "--write", path
    code, lines, progress = run("nets:Bounded", "ports:Net", *QUICK, *further)
    assert code == 1
    assert lines[0].startswith("DIFFERENT. Bounded (eval, PyNative, CPU): the output is off by ")
    shows = "With the inputs that were given, all is equal: it shows with a further sample, inputs "
    (told,) = [line for line in lines if line.startswith(shows)]
    assert "This sample is the first to reach nets.py:38 clamp high." in lines
    assert GIVEN in lines
    (repeat,) = [line for line in lines if line.startswith("repeat: ")]
    factor = told.removeprefix(f"{shows}times ").removesuffix(".")
    assert f"--input 'normal(2, 4, scale={float(factor)})' --phase eval" in repeat
    assert "different in 1 of 2 cases" in lines
    names = {}
    exec(path.read_text(), names)
    assert [str(*each.inputs) for each in names["TWINS"]] == [
        "normal(2, 4)",
        f"normal(2, 4, scale={float(factor)})",
    ]
    assert [each.name for each in names["TWINS"]] == ["Bounded", "Bounded_further"]
    assert any(line.startswith("... further sample: a batch of 1") for line in progress)


REACHED = "tests.engine.parts.reached_"


def test_what_the_inputs_do_not_reach_is_counted_and_on_request_listed(run, tmp_path):
    net = [f"{REACHED}pt:Net", f"{REACHED}ms:Net", "--input", "uniform(6, 8, low=0.0, high=1.0)"]
    one = [*net, "--phase", "eval", "--execution", "pynative"]
    _, lines, _ = run(*one, "--thorough")
    assert re.match(r"\d+ further samples were tried, which reached 5 more decisions\.", lines[1])
    assert lines[2:4] == ["2 of 10 decisions were not reached.", HINT]
    path = tmp_path / "found.json"
    code, lines, _ = run(*one, "--reach", "--thorough", "--json", path)
    assert code == 0
    assert HINT not in lines
    at = lines.index("reached 8 of 10 decisions")
    told = [line.strip().partition(" (")[0] for line in lines[at + 1 : at + 3]]
    here = "tests/engine/parts/reached_"
    assert told == [
        f"{here}pt.py:16 if self.scale is not None: never true",
        f"candidate: {here}ms.py:14 if self.device == 'Ascend': never true",
    ]
    found = json.loads(path.read_text())
    reach, further = found["reach"], found["further"]
    assert (reach["reached"], reach["of"], len(reach["unreached"])) == (8, 10, 2)
    assert further["tried"] > 2
    assert f"{here}pt.py:31 clamp high" in further["reached"]


def test_a_share_that_must_be_reached_makes_a_case_red_with_the_list(run):
    net = [f"{REACHED}pt:Net", f"{REACHED}ms:Net", "--input", "uniform(6, 8, low=0.0, high=1.0)"]
    one = [*net, "--phase", "eval", "--execution", "pynative", "--require-reach"]
    code, lines, _ = run(*one, "0.3")
    assert code == 0
    code, lines, _ = run(*one, "0.5")
    assert code == 1
    assert lines[0] == (
        "NOT REACHED. Net (eval, PyNative, CPU): all tensors are equal, but it reached 3 of 10 "
        "decisions (0.3), and 0.5 is demanded."
    )
    assert sum("never true" in line for line in lines) == 2
    assert "--require-reach 0.5" in next(line for line in lines if line.startswith("repeat: "))
    assert lines[-1] == "equal, and too little is reached in 1 of 1 case"


def test_a_share_that_is_none_is_refused_in_a_sentence(run, capsys):
    with pytest.raises(SystemExit):
        run(*NET, "--require-reach", "90")
    assert "'90' is no share; write one above 0, at most 1" in capsys.readouterr().err


def test_a_comparison_by_layer_demands_no_share(run):
    code, _, errors = run(*NORMED, *QUICK, "--by-layer", "--require-reach", "0.5")
    assert (code, "reach and by_layer cannot be together" in errors[-1]) == (2, True)


def test_a_red_comparison_does_not_say_what_it_stands_on(run):
    wrong = [f"{REACHED}pt:Clamped", f"{REACHED}ms:Unclamped", "--arguments", "most=0.5"]
    code, lines, _ = run(*wrong, *QUICK)
    assert (code, lines[-1]) == (1, "different in 1 of 1 case")


def test_settings_and_numbers_that_were_tried_count_as_decisions(run):
    net = [f"{REACHED}pt:Net", f"{REACHED}ms:Net", "--input", "uniform(6, 8, low=0.0, high=1.0)"]
    one = [*net, "--phase", "eval", "--execution", "pynative", "--reach", "--hidden-settings"]
    code, lines, _ = run(*one)
    assert code == 0
    told = [line.strip() for line in lines if " setting " in line or " number " in line]
    hides = "another value moves no tensor beyond the budget"
    assert told == [
        f"blocks.*.body.*.max_val setting 6.0: {hides} (12.0)",
        f"tests/engine/parts/reached_pt.py:31 number clamp max 50: {hides} (100)",
    ]
