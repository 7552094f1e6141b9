"""Whatever is wrong with a command or a call is told in one sentence, with the cure."""

import numpy as np
import pytest
import torch
from mindspore import nn as ms_nn
from torch import nn

from equivalence import EquivalenceError, compare, normal
from equivalence.__main__ import main

NET = ("nets:Net", "ports:Net")
FIT = ("--input", "normal(2, 4)")
QUICK = (*FIT, "--phase", "eval", "--execution", "pynative")

COMMANDS = [
    # What is no target, or not there.
    ("nets ports:Net", "TORCH 'nets' is not MODULE:ATTRIBUTE; write nets:Net"),
    ("nets:Net ports", "MINDSPORE 'ports' is not MODULE:ATTRIBUTE; write ports:Net"),
    ("nest.py:Net ports:Net", "there is no file nest.py; nearest: nets.py"),
    ("./nets.py ports:Net", "write ./nets.py:"),
    ("models/nest.py:Small ports:Net", "there is no file models/nest.py"),
    ("nets.Net ports:Net", "is not MODULE:ATTRIBUTE"),
    ("models//nets.py:Small ports:Net", "write models.nets:Small"),
    ("no//nets:Net ports:Net", "/no is no folder"),
    (
        "models//nets:Small ports:Net --torch-path models",
        "names its folder; leave out --torch-path",
    ),
    ("nets:Net models//ports:Net --mindspore-path a", "leave out --mindspore-path"),
    ("nets: ports:Net", "names no class or function; write nets:Net"),
    (":Net ports:Net", "reference ':Net' is not 'module:attribute'"),
    ("nets:a-b ports:Net", "is not 'module:attribute'"),
    ("nest:Net ports:Net", "there is no module 'nest'"),
    ("nets.deep:Net ports:Net", "there is no module 'nets.deep'"),
    ("nets:Net prots:Net", "there is no module 'prots'"),
    ("nets:Nett ports:Net", "has no attribute 'Nett'; nearest: Net"),
    ("nets:Net ports:Nte", "has no attribute 'Nte'; nearest: Net"),
    ("raising:Net ports:Net", "the reference raised RuntimeError: no licence", "raising.py:1"),
    ("nets:Net raising:Net", "the candidate raised RuntimeError: no licence", "raising.py:1"),
    ("needy:Net ports:Net", "No module named 'not_installed_here'", "needy.py:1"),
    ("unfinished:Net ports:Net", "the reference raised SyntaxError", "unfinished.py"),
    ("leaving:Net ports:Net", "importing leaving ends the process by SystemExit(0) (", "__main__"),
    ("nets:Net leaving:Net", "importing leaving ends the process by SystemExit(0) (", "__main__"),
    # What runs elsewhere, or gives nothing.
    ("odd:scripted ports:Net *", "'odd:scripted' is TorchScript", "before it was scripted"),
    ("odd:Partly ports:Net *", "inner of 'odd:Partly' is TorchScript", "before it was scripted"),
    (
        "odd:Counting ports:Net *",
        "another result in each call",
        "its calls is ",
        "inputs and weights",
    ),
    ("odd:Unseeded ports:Net *", "another result in each call", "what torch does not seed"),
    ("nets:Silent ports:Net *", "forward returns None", "its return may be missing"),
    ("odd:Construct ports:Net *", 'missing the required "forward"', "MindSpore's construct"),
    ("nets:Net odd_ms:Forward *", "'construct' is not defined", "give it that name"),
    ("nets:Net ports:Net * --weights nan.pth", "nan.pth: ", "is NaN in 1 of ", "first at (1, 2)"),
    ("nets:Net ports:Net --input normal(1000000,1000000)", "has 8e+03 GB in float64", "smaller"),
    ("nets:Net ports:Net --input normal(10000000000000000000000)", "GB in float64", "smaller"),
    ("nets:Net ports:Net --input bytes.npy", "got Byte and Double", "give it in float32"),
    ("nets:Net ports:Net --input None", "inputs has no draw"),
    ("nets:Net ports:Net --input {'x':3}", "is no input; write a draw"),
    ("nets:Net ports:Net --input network(a:A,b:B)", "is an argument: --arguments net='network("),
    ("/elsewhere/nets.py:Net ports:Net", "there is no file /elsewhere/nets.py"),
    ("nets:Net ../a/ports.py", "write ports:Net --mindspore-path "),
    # What builds no network.
    ("nets:model ports:Net", "a Net that is built already; name the class"),
    ("nets:Net ports:model", "a Net that is built already; name the class"),
    ("nets:number ports:Net", "is an int, which builds nothing; name a class or a function"),
    ("nets:nn ports:Net", "is the module torch.nn, which builds nothing"),
    ("nets:nothing ports:Net", "returns None; let it return the network"),
    ("nets:Net ports:nothing", "returns None; let it return the network"),
    ("nets:words ports:Net", "returns a str, which is no network; let it return one"),
    ("nets:class_itself ports:Net", "returns the class Net itself"),
    ("nets:Net.body ports:Net", "has no attribute 'body'"),
    ("nets:Wide ports:Wide", "missing a required argument: 'width'", "--arguments KEY=VALUE"),
    ("nets:Net ports:Net --arguments depth=3", "does not take {'depth': 3}", "--arguments"),
    ("nets:Net ports:Wide", "missing a required argument: 'width'"),
    ("nets:Wide ports:Wide --arguments width='a'", "the reference raised TypeError"),
    ("ports:Net nets:Net", "where one of PyTorch is wanted", "exchange ports:Net and nets:Net"),
    ("nets:Net nets:Net --by-layer", "both networks are PyTorch's, and by_layer", "leave it out"),
    ("ports:Net ports:Net --require-reach 0.5", "both networks are MindSpore's", "--reference"),
    ("nets:Odd ports:Net", "the reference raised ValueError: the width is odd", "nets.py:"),
    ("nets:Net ports:Odd", "the candidate raised ValueError: the width is odd", "ports.py:"),
    # What argparse sees.
    ("", "the following arguments are required: TORCH, MINDSPORE"),
    ("nets:Net", "the following arguments are required: MINDSPORE"),
    ("nets:Net ports:Net more:Net", "unrecognized arguments: more:Net", "--help"),
    ("nets:Net ports:Net --inputs normal(2,4)", "no option --inputs; nearest: --input;"),
    ("nets:Net ports:Net --input", "argument --input: expected at least one argument"),
    ("nets:Net ports:Net --phase trian", "invalid choice: 'trian' (choose from"),
    ("nets:Net ports:Net --execution eager", "invalid choice: 'eager'"),
    ("nets:Net ports:Net --dtype float8", "invalid choice: 'float8'"),
    ("nets:Net ports:Net --seed seven", "argument --seed: invalid int value: 'seven'"),
    ("nets:Net ports:Net --seed 1.5", "argument --seed: invalid int value: '1.5'"),
    ("nets:Net ports:Net --rename dense", "'dense' is not KEY=VALUE"),
    ("nets:Net ports:Net --rename =fc", "'=fc' is not KEY=VALUE"),
    ("nets:Net ports:Net --arguments 3", "'3' is not KEY=VALUE"),
    # Inputs.
    ("nets:Net ports:Net", "no --input: the first layer is a Linear, so 'normal(2, 4)' may do"),
    ("nets:Pair ports:Net", "no --input: forward takes x and mask; give each in order"),
    ("nets:Silence ports:Silence", "no --input: the layers tell no shape; write one"),
    ("nets:Net ports:Net --input 2,4", "write 'normal(2, 4)'"),
    ("nets:Net ports:Net --input (2,4)", "write 'normal(2, 4)'"),
    ("nets:Net ports:Net --input 2x4", "write 'normal(2, 4)'"),
    ("nets:Net ports:Net --input norml(2,4)", "write it as 'normal(2, 3, 64, 64)' is written"),
    ("nets:Net ports:Net --input normal(2,4", "write it as 'normal(2, 3, 64, 64)' is written"),
    ("nets:Net ports:Net --input normal", "write it as 'normal(2, 3, 64, 64)' is written"),
    ("nets:Net ports:Net --input torch.randn(2,4)", "write a draw, such as 'normal(2, 3, 64, 64)'"),
    ("nets:Net ports:Net --input open('made','w')", "is no input; write a draw"),
    ("nets:Net ports:Net --input integers(2)", "missing 1 required keyword-only argument: 'high'"),
    ("nets:Net ports:Net --input normal(2,4,size=3)", "unexpected keyword argument 'size'"),
    ("nets:Net ports:Net --input normal(2.5,4)", "shape has 2.5; write a size or a name"),
    ("nets:Net ports:Net --input normal(2,'C')", "an input shape names ['C']"),
    ("nets:Net ports:Net --input normal(2,4,scale=0)", "scale is 0; write a number above zero"),
    ("nets:Net ports:Net --input x.pt", "a file of inputs ends in .npy or .npz"),
    ("nets:Net ports:Net --input none.npy", "none.npy'), which does not exist"),
    ("nets:Net ports:Net --input none.npz", "none.npz'), which does not exist"),
    ("nets:Net ports:Net --input plain.npy", "no whole file of NumPy", "save it by numpy.save"),
    ("nets:Net ports:Net --input plain.npz", "no whole file of NumPy", "save it by numpy.save"),
    ("nets:Net ports:Net --input objects.npy", "holds pickled objects; save plain numbers"),
    ("nets:Net ports:Net --input folder.npy", "folder.npy'), which does not exist"),
    ("nets:Net ports:Net --input double.npy", "of float64", ".astype('float32')"),
    ("nets:Net ports:Net --input x=normal(2,4) normal(2,4)", "1 of 2 have a keyword"),
    ("nets:Net ports:Net --input y=normal(2,4)", "unexpected keyword argument 'y'", "give other"),
    ("nets:Net ports:Net --input lambda=normal(2,4)", "a word of Python's own"),
    ("nets:Net ports:Net --input x=two.npz", "it holds several arrays; give one"),
    ("nets:Net ports:Net --input normal(2,5)", "cannot be multiplied", "called with normal(2, 5)"),
    ("nets:Net ports:Net --input normal(2,4) normal(2,4)", "positional argument", "give other"),
    ("nets:Net ports:Net --input two.npz", "positional argument", "give other inputs"),
    ("nets:Pair ports:Net --input normal(2,4)", "missing 1 required positional argument: 'mask'"),
    ("nets:Net ports:Net --input integers(2,4,high=3)", "the reference raised RuntimeError"),
    # Weights.
    ("nets:Net ports:Renamed *", "all do by order", "--pair order", "'dense': 'fc'"),
    ("nets:Net ports:Bare *", "do not pair up", "fc.bias", "--rename CANDIDATE=REFERENCE"),
    ("nets:Net ports:Broad *", "do not pair up", "(5, 4)"),
    (
        "nets:Tabled ports:Renamed *",
        "constants=['index']",
        "--constant index",
        "by --constant, and say",
    ),
    ("nets:Net ports:Renamed * --rename dens=fc", "do not pair up", "rename 'dens' matches no"),
    ("nets:Net ports:Net * --rename a..b=fc", "write names with dots between"),
    ("nets:Net ports:Net * --constant mask", "constants name 'mask', which the reference does not"),
    ("nets:Net ports:Net * --constant fc.weight", "constants name 'fc.weight'", "drawn"),
    ("nets:Net ports:Net * --pair sideways", "is neither name nor order, nor a file"),
    ("nets:Net ports:Net * --pair folder", "is neither name nor order, nor a file"),
    ("nets:Net ports:Renamed * --pair no_pairs.txt", "no_pairs.txt:2", "CANDIDATE = REFERENCE"),
    ("nets:Net ports:Net * --pair bytes.txt", "cannot be read as text"),
    ("nets:Net ports:Net * --weights none.pth", "--weights none.pth is not there"),
    ("nets:Net ports:Net * --weights plain.npy", "plain.npy"),
    ("nets:Net ports:Net --settings --hidden-settings", "runs the networks; leave out --settings"),
    ("nets:Net ports:Net --settings --reach", "--reach runs the networks; leave out --settings"),
    # What is random, where it runs, and what is written.
    ("nets:Drawing ports:Net --input normal(2,4) --execution graph", "--execution pynative"),
    ("nets:Drawing ports:Net --input normal(2,4) --random DropPath", "DropPath"),
    ("nets:Net ports:Net * --device tpu", "device 'tpu' is not among cpu, gpu, ascend"),
    ("nets:Net ports:Net * --device gpu.fast", "device 'gpu.fast' is not among"),
    ("nets:Net ports:Net * --write nets.py", "--write nets.py is there already; name another file"),
    ("nets:Net ports:Net * --write folder", "--write folder is a folder; name another file"),
    ("nets:Net ports:Net * --write nets.py/twin.py", "nets.py cannot be written"),
    ("nets:Net ports:Net * --json folder", "--json folder is a folder; name another file"),
    ("nets:Net ports:Net * --json nets.py/r.json", "nets.py cannot be written"),
    ("nets:Net ports:Net * --write a.py --json a.py", "both name a.py; name two files"),
    ("nets:Net ports:Net * --json a --html a", "--json and --html both name a; name two files"),
    ("nets:Net ports:Net * --html folder", "--html folder is a folder; name another file"),
    # What goes wrong in a run.
    ("nets:Net ports:Failing *", "the candidate raised ValueError: not ported yet", "ports.py:"),
    ("nets:Net ports:Borrowing *", "it calls torch"),
]
"""A command, as words after `compare`, with * for QUICK; then words of its error."""


@pytest.mark.parametrize(("line", "words"), [(line, words) for line, *words in COMMANDS])
def test_a_wrong_command_is_told_in_one_sentence_with_the_cure(own, capsys, line, words):
    there = sorted(path.name for path in own.iterdir())
    arguments = [each for word in line.split() for each in (QUICK if word == "*" else (word,))]
    try:
        code = main(["compare", *arguments])
    except SystemExit as ended:
        code = ended.code
    told = capsys.readouterr()
    assert code == 2, told
    errors = [each for each in told.err.splitlines() if each.startswith("error: ")]
    assert len(errors) == 1, told.err
    assert "Traceback" not in told.err + told.out
    assert [word for word in words if word not in told.err] == [], told.err
    left = sorted(path.name for path in own.iterdir() if path.name != "__pycache__")
    assert left == [name for name in there if name != "__pycache__"]


def linear():
    return nn.Linear(4, 3)


def dense():
    return ms_nn.Dense(4, 3)


class Closed(nn.Module):
    """Holds a function that holds its own layers, which no copy would have."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)
        self.call = lambda x: self.fc(x)

    def forward(self, x):
        return self.call(x)


class Locked(nn.Linear):
    """Refuses to be copied."""

    def __deepcopy__(self, memo):
        raise TypeError("a lock cannot be copied")


X = normal(2, 4)

CALLS = [
    (lambda: compare(3, dense(), X), "the reference is an int; give a network"),
    (lambda: compare(linear(), None, X), "the candidate is a NoneType; give a network"),
    (lambda: compare(dense(), linear(), X), "a network of MindSpore, where one of PyTorch"),
    (lambda: compare(linear(), linear(), X, by_layer=True), "both networks are PyTorch's"),
    (lambda: compare(nn.Linear, ms_nn.Dense, X), "missing a required argument: 'in_features'"),
    (lambda: compare(Closed(), dense(), X), "Closed.call is a function that holds layers"),
    (lambda: compare(Locked(4, 3), dense(), X), "this Locked cannot be copied", "give the class"),
    (lambda: compare(linear(), dense()), "no inputs: the first layer is a Linear"),
    (lambda: compare(linear(), dense(), np.ones((2, 4))), "of float64", "float32"),
    (lambda: compare(linear(), dense(), torch.ones(2, 4, dtype=torch.bfloat16)), "in float32"),
    (lambda: compare(linear(), dense(), np.array([{}])), "an array of objects; give one of"),
    (lambda: compare(linear(), dense(), np.ones((2, 5), "f")), "cannot be multiplied"),
    (lambda: compare(linear(), dense(), X, phase="trian"), "phases", "not among train, eval"),
    (lambda: compare(linear(), dense(), X, phases=("eval",)), "write phase=('eval',)"),
    (lambda: compare(linear(), dense(), X, execution=()), "executions is empty"),
    (lambda: compare(linear(), dense(), X, dtype="float64"), "dtypes", "float32, float16"),
    (lambda: compare(linear(), dense(), X, device="tpu"), "device 'tpu' is not among"),
    (lambda: compare(linear(), dense(), X, renames={"a": "b"}), "write 'rename'"),
    (lambda: compare(linear(), ms_nn.Dense(4, 3, has_bias=False), X), "do not pair up"),
    (lambda: compare("nets", dense(), X), "'nets' is not 'module:attribute'"),
    (lambda: compare("not_there:Net", dense(), X), "there is no module 'not_there'"),
    (lambda: compare(dense, dense, X, weights="own"), "those of a network that is built"),
]
"""A wrong call, then words of its error."""


@pytest.mark.usefixtures("own")
def test_several_arguments_in_one_word_are_refused_and_a_text_with_spaces_is_not(capsys):
    line = ["compare", "nets:Net", "ports:Net", *QUICK, "--arguments"]
    with pytest.raises(SystemExit):
        main([*line, "width=4 blocks=(1, 2)"])
    assert "'width=4 blocks=(1, 2)' is several KEY=VALUE in one word" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*line, "net=network(nets:Net, ports:Net, width=4) blocks=2"])
    assert "is several KEY=VALUE in one word" in capsys.readouterr().err
    assert main([*line, "net=network(nets:Net, ports:Net, width=(4 + 1, 2), a=3)"]) == 2
    assert main([*line, "name=a b"]) == 2
    assert "KEY=VALUE in one word" not in capsys.readouterr().err


@pytest.mark.parametrize(("call", "words"), [(call, words) for call, *words in CALLS])
def test_a_wrong_call_is_told_in_one_sentence_with_the_cure(call, words):
    with pytest.raises(EquivalenceError) as caught:
        call()
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_the_tables_are_long():
    assert len(COMMANDS) >= 100
    assert len(CALLS) >= 20
