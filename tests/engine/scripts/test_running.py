"""Scripts are run as they stand, end after their last step, and leave nothing behind."""

import contextlib
import os
import subprocess
import sys
import warnings

import pytest

from equivalence.errors import DeclarationError, SideError
from equivalence.scripts.running import UNSEEDED, ScriptTraining
from equivalence.scripts.steps import StoppedError


class Recorder:
    """Takes note of how a script has ended."""

    def __init__(self, steps=0):
        self.names, self.ended, self.run = {}, None, self
        self.steps = [None] * steps

    def finish(self, names, ended):
        self.names, self.ended = names, ended


def run(folder, text, arguments="", steps=0):
    (folder / "train.py").write_text(text)
    recorder = Recorder(steps)
    ScriptTraining("reference", "train.py", arguments).run(recorder, contextlib.nullcontext())
    return recorder


def test_a_script_is_main_and_has_its_arguments_and_folder(folder):
    (folder / "helper_of_it.py").write_text("VALUE = 3\n")
    text = "import sys\nimport helper_of_it\nfound = __name__, sys.argv, helper_of_it.VALUE\n"
    recorder = run(folder, text, "--lr '0.1 2'")
    assert recorder.names["found"] == ("__main__", ["train.py", "--lr", "0.1 2"], 3)
    assert recorder.ended
    assert "helper_of_it" not in sys.modules


def test_what_a_script_changes_of_the_process_is_put_back(folder):
    before = sys.argv, [*sys.path], dict(os.environ), [*warnings.filters]
    text = (
        "import os, sys, warnings\n"
        "sys.path.append('there')\nsys.argv.append('x')\nos.environ['OWN'] = '1'\n"
        "warnings.simplefilter('ignore')\n"
    )
    run(folder, text)
    assert (sys.argv, [*sys.path], dict(os.environ), [*warnings.filters]) == before


def test_what_no_script_seeds_is_the_same_each_time(folder):
    text = "import random, numpy\nfound = random.random(), numpy.random.rand()\n"
    assert run(folder, text).names["found"] == run(folder, text).names["found"]


def test_pipelines_have_no_seed_where_the_script_sets_none(folder):
    text = "import mindspore as ms\nfound = ms.dataset.config.get_seed()\n"
    assert run(folder, text).names["found"] == UNSEEDED
    seeded = text.replace("found", "ms.set_seed(3)\nfound")
    assert run(folder, seeded).names["found"] == 3
    # It is what a new process has.
    new = "import mindspore; print(mindspore.dataset.config.get_seed())"
    command = [sys.executable, "-c", new]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert int(printed.split()[-1]) == UNSEEDED


def test_no_except_of_a_script_keeps_the_end(folder):
    text = (
        "from equivalence.scripts.steps import StoppedError\n"
        "try:\n    raise StoppedError\nexcept Exception:\n    pass\nafter = 1\n"
    )
    recorder = run(folder, text)
    assert recorder.ended is False
    assert recorder.names == {}
    assert not issubclass(StoppedError, Exception)


def test_an_error_is_told_with_its_line(folder):
    with pytest.raises(
        SideError, match=r"ZeroDivisionError.*after 0 steps .*train.py:2 in .*1 / 0"
    ):
        run(folder, "x = 1\n1 / 0\n")


def test_an_error_whose_cause_is_known_is_told_with_its_cure(folder):
    told = "The parameter 'group' must be isinstance of <class 'str'>, but got None."
    with pytest.raises(SideError, match=r"got None after 0 steps .*; MindSpore has nn.SyncBatch"):
        run(folder, f'raise ValueError("{told}")\n')


def test_the_variables_of_a_script_are_set_and_put_back(folder, monkeypatch):
    monkeypatch.delenv("SHARDS", raising=False)
    (folder / "train.py").write_text("import os\nfound = os.environ['SHARDS']\n")
    recorder = Recorder()
    training = ScriptTraining("reference", str(folder / "train.py"), variables={"SHARDS": "4"})
    training.run(recorder, contextlib.nullcontext())
    assert recorder.names["found"] == "4"
    assert "SHARDS" not in os.environ


def test_an_exit_before_a_step_is_told_with_its_line(folder):
    with pytest.raises(SideError, match=r"ends by SystemExit\(3\).*train.py:2"):
        run(folder, "import sys\nsys.exit(3)\n")


def test_arguments_that_argparse_refuses_are_told(folder):
    text = "import argparse\nargparse.ArgumentParser().parse_args()\n"
    with pytest.raises(SideError, match="its arguments are '--no'"):
        run(folder, text, "--no")


def test_an_exit_after_the_last_line_is_an_end(folder):
    assert run(folder, "import sys\nsys.exit(0)\n", steps=2).ended


def test_a_script_that_is_not_there_is_an_error():
    with pytest.raises(DeclarationError, match="neither a script nor MODULE:FUNCTION"):
        ScriptTraining("candidate", "nowhere.py")


def test_a_function_in_a_file_is_imported_from_its_folder(folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "helper_of_it.py").write_text("SEEN = []\n")
    text = "import helper_of_it\ndef train(steps):\n    helper_of_it.SEEN.append(steps)\n"
    (folder / "sub" / "train_of_it.py").write_text(text)
    recorder = Recorder()
    training = ScriptTraining("candidate", "sub/train_of_it.py:train", steps=3)
    training.run(recorder, contextlib.nullcontext())
    assert recorder.ended


def test_a_file_of_a_function_that_is_not_there_is_an_error():
    with pytest.raises(DeclarationError, match=r"there is no file sub/train\.py"):
        ScriptTraining("candidate", "sub/train.py:train")


def test_a_function_takes_no_arguments():
    with pytest.raises(DeclarationError, match="are for a script"):
        ScriptTraining("candidate", "nets:train", "--lr 1")


def test_a_function_is_called_with_steps_and_its_generator_is_run(folder):
    (folder / "mine.py").write_text(
        "seen = []\ndef train(steps):\n    for each in range(steps):\n        seen.append(each)\n"
        "        yield each\n"
    )
    recorder = Recorder()
    ScriptTraining("reference", "mine:train", steps=4).run(recorder, contextlib.nullcontext())
    assert recorder.ended


def test_a_function_that_needs_more_is_an_error(folder):
    (folder / "needy.py").write_text("def train(steps, data):\n    pass\n")
    with pytest.raises(DeclarationError, match="with steps and seed alone"):
        ScriptTraining("reference", "needy:train").run(Recorder(), contextlib.nullcontext())
