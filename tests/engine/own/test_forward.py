"""Outputs alone: ports that only infer, exported graphs, and functions of arrays."""

import shutil

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence import DeclarationError, Twin, arrays, compare, normal, recorded
from equivalence.__main__ import main
from equivalence.errors import EquivalenceError
from equivalence.record import fingerprint
from tests.engine.parts import inferring_ms, inferring_pt, small

PT, MS = "tests.engine.parts.inferring_pt:", "tests.engine.parts.inferring_ms:"
IMAGES, ROWS = normal(2, 3, 6, 5), normal(5, 4)
ONCE = {"phase": "eval", "execution": "pynative"}
SEEN = "whose layers and code cannot be seen: compare the network that it was made from"


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A MindIR file of the port."""
    file = tmp_path_factory.mktemp("exported") / "net"
    net = inferring_ms.Net()
    net.set_train(False)
    ms.export(
        net, ms.Tensor(np.ones((2, 3, 6, 5), np.float32)), file_name=str(file), file_format="MINDIR"
    )
    return f"{file}.mindir"


def weights(network):
    with torch.no_grad():
        network.fc.weight.copy_(torch.tensor(inferring_ms.HELD["weight"]))
        network.fc.bias.copy_(torch.tensor(inferring_ms.HELD["bias"]))
    return network


def test_an_exported_graph_gets_the_same_weights_in_both_modes(exported):
    result = compare(PT + "Net", exported, IMAGES)
    assert result
    assert [outcome.case.phase for outcome in result.outcomes] == ["eval", "eval"]
    assert {outcome.case.execution for outcome in result.outcomes} == {"pynative", "graph"}
    assert "no gradient is compared" in str(result)
    assert "weights: 6 parameters, 2 buffers pair up" in str(result)


def test_a_wrong_one_differs_and_it_is_said_that_it_cannot_be_looked_into(exported):
    result = compare(PT + "Leaky", exported, IMAGES, **ONCE)
    assert not result
    assert f"the candidate is an exported graph, {SEEN}" in str(result)


def test_an_exported_graph_only_infers(exported):
    with pytest.raises(DeclarationError, match="which only infers; phases must be"):
        compare(PT + "Net", exported, IMAGES, phase="train")
    with pytest.raises(DeclarationError, match="in the dtype that it has"):
        compare(PT + "Net", exported, IMAGES, dtype="float16")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.mindir", "is not there; name the file"),
        ("bad.mindir", "cannot be read as a MindIR: "),
    ],
)
def test_a_file_without_a_graph_is_one_sentence(tmp_path, capsys, name, words):
    (tmp_path / "bad.mindir").write_text("nothing")
    given = ["compare", PT + "Net", str(tmp_path / name), "--input", "normal(2, 3, 6, 5)"]
    assert main(given) == 2
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert words in last


@pytest.mark.usefixtures("undiagnosed")
def test_outputs_alone_are_compared_where_that_is_asked_for(capsys):
    assert not compare(PT + "Scored", MS + "Scored", ROWS, **ONCE)
    assert compare(PT + "Scored", MS + "Scored", ROWS, backward=False, **ONCE)
    assert not compare(PT + "Scored", MS + "Descending", ROWS, backward=False, **ONCE)
    once = ["--phase", "eval", "--execution", "pynative", "--input", "normal(5, 4)"]
    assert main(["compare", PT + "Scored", MS + "Scored", "--forward", *once]) == 0
    assert main(["compare", PT + "Scored", MS + "Scored", *once]) == 1
    told = capsys.readouterr().out
    assert (
        "No gradient is compared: the original runs without, by torch.no_grad or as asked." in told
    )
    assert "--forward --phase eval" not in told.partition("DIFFERENT")[2]


def test_a_training_is_never_without_its_gradients():
    with pytest.raises(DeclarationError, match="backward=False and steps cannot be together"):
        Twin("a", PT + "Net", MS + "Net", [IMAGES], steps=2, phases=("train",), backward=False)


def test_a_function_of_arrays_is_a_candidate_by_the_weights_that_it_holds():
    theirs, given = weights(inferring_pt.Scored()), {"backward": False, "weights": "own", **ONCE}
    result = compare(theirs, MS + "predict", ROWS, **given)
    assert result
    assert "weights: the candidate holds its own" in str(result)
    assert "the candidate is a function of arrays" in str(result)
    wrong = compare(theirs, MS + "predict_scaled", ROWS, **given)
    assert not wrong
    assert "output.0: a constant factor of 1.001" in str(wrong)
    assert f"the candidate is a function of arrays, {SEEN}" in str(wrong)
    assert not compare(inferring_pt.Scored(), MS + "predict", ROWS, **given)


def test_it_may_be_handed_over_and_return_any_structure():
    def theirs(x):
        held = {name: torch.tensor(each).to(x) for name, each in inferring_ms.HELD.items()}
        return {
            "scores": [torch.sort(x @ held["weight"].T + held["bias"], -1).values],
            "count": len(x),
        }

    given = {"backward": False, **ONCE}
    assert compare(theirs, arrays(inferring_ms.served), ROWS, **given)
    assert not compare(theirs, arrays(lambda x: inferring_ms.served(-x)), ROWS, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "gives no gradients and is not compiled; add --forward --execution pynative"),
        (
            {"backward": False, "phase": "eval", "weights": "own"},
            "add --forward --execution pynative",
        ),
        ({"backward": False, **ONCE}, "holds its weights itself, and those of the reference would"),
    ],
)
def test_what_a_function_of_arrays_lacks_is_told_with_the_cure(given, words):
    with pytest.raises(EquivalenceError, match=words):
        compare(inferring_pt.Scored(), MS + "predict", ROWS, **given)


def test_only_what_can_be_called_is_a_function_of_arrays():
    with pytest.raises(DeclarationError, match="give a function of arrays"):
        arrays(3)


def test_two_networks_of_one_framework_are_compared_as_such_and_by_their_records(tmp_path):
    assert compare(MS + "Scored", MS + "Scored", ROWS, backward=False, **ONCE)
    assert not compare(MS + "Scored", MS + "Descending", ROWS, backward=False, **ONCE)
    x = ms.Tensor(np.linspace(-2.0, 2.0, 20, dtype=np.float32).reshape(5, 4))
    held = {name: ms.Tensor(each) for name, each in inferring_ms.HELD.items()}
    for name, port in (("one", "Scored"), ("same", "Scored"), ("other", "Descending")):
        net = getattr(inferring_ms, port)()
        net.fc.weight.set_data(held["weight"])
        net.fc.bias.set_data(held["bias"])
        with recorded(tmp_path / name, net):
            net(x)
    one, same, other = (str(tmp_path / name) for name in ("one", "same", "other"))
    assert main(["compare", one, same]) == 0
    assert main(["compare", one, other]) == 1


def test_records_know_the_graph_and_that_no_gradient_is_asked_for(exported, tmp_path):
    file = shutil.copy(exported, tmp_path)
    case = small.case(PT + "Net", file, IMAGES, phase="eval", phases=("eval",))
    graph = fingerprint.candidate_fingerprint(case, 0, 2.0**-24)
    with open(file, "ab") as written:
        written.write(b"\n")
    assert fingerprint.candidate_fingerprint(case, 0, 2.0**-24) != graph
    asked = small.case(PT + "Scored", MS + "Scored", ROWS)
    unasked = small.case(PT + "Scored", MS + "Scored", ROWS, backward=False)
    sums = {fingerprint.fingerprint(each, 0, 2.0**-24) for each in (asked, unasked)}
    assert len(sums) == 2
