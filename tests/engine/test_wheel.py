"""The built package: installed beside the frameworks, it serves a project of one's own."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from benchmarks.installed import build
from equivalence import __version__
from equivalence.judge.precision import BUDGET

ROOT = Path(__file__).parents[2]
NAME = "mindspore_torch_equivalence"
EXAMPLE = ROOT / "examples" / "own"
PADDED = ', pad_mode="pad", padding=1'
MISTAKES = [
    ("bn2", "momentum=0.9", "momentum=0.1", "momentum=0.1"),
    ("conv1", PADDED, "", PADDED),
]
"""Those that the example's text promises a failure for: layer, right and wrong, what is written."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built from what git has, without a download."""
    folder = tmp_path_factory.mktemp("wheel")
    return build(folder, "--no-build-isolation", "--no-index")


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs a program of an environment that has the wheel, and all else from this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    Path(paths["purelib"], "beside.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    bare = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "PYTHON"))}

    def run(program, *arguments, cwd):
        command = [Path(paths["scripts"], program), *map(str, arguments)]
        return subprocess.run(command, cwd=cwd, env=bare, capture_output=True, text=True)

    options = ("--quiet", "--no-deps", "--no-index")
    done = run("python", "-m", "pip", "install", *options, wheel, cwd=folder)
    assert done.returncode == 0, done.stderr
    return run


def test_it_holds_the_engine_alone(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "equivalence",
        f"{NAME}-{__version__}.dist-info",
    }
    assert {"equivalence/py.typed", "equivalence/__init__.pyi"} <= {*names}
    page = ("page.html.j2", "page.css", "page.js", "vendor/d3.min.js", "vendor/LICENSE")
    assert {f"equivalence/page/{name}" for name in page} <= {*names}
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only git tells what is in the repository")
def test_the_sdist_is_the_repository(tmp_path):
    written = "from setuptools import build_meta; build_meta.build_sdist(input())"
    done = subprocess.run(
        [sys.executable, "-c", written],
        cwd=ROOT,
        input=str(tmp_path),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (built,) = tmp_path.iterdir()
    with tarfile.open(built) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {*tracked} - names == {".ci/run", ".gitattributes", ".gitignore"}


def test_it_asks_for_the_numpy_that_mindspore_is_built_for(wheel):
    archive = zipfile.ZipFile(wheel)
    told = archive.read(f"{NAME}-{__version__}.dist-info/METADATA").decode()
    needs = map(Requirement, re.findall(r"(?m)^Requires-Dist: (.*)$", told))
    (numpy,) = (need for need in needs if need.name == "numpy")
    assert numpy.specifier.contains("1.26.4")
    assert not numpy.specifier.contains("2.0.0")


@pytest.fixture
def example(tmp_path):
    """The example of a project, without its text."""
    for file in EXAMPLE.glob("*.py"):
        shutil.copy(file, tmp_path)
    return tmp_path


def test_the_example_is_compared_from_an_empty_folder_and_clearly_right(installed, example):
    done = installed("python", "-m", "pytest", "-rA", "-m", "cpu", cwd=example)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED twins_net.py::test_twin[net-channels8-H8-train-float32-pynative-cpu]" in (
        done.stdout
    )
    (largest,) = re.findall(r"of 8 cases of 1 twin; the largest error is (\S+) rou", done.stdout)
    assert float(largest) < BUDGET / 2
    assert "excused" not in done.stdout
    assert "tensors of 8 cases of 1 twin" in (example / "reports/index.html").read_text()


@pytest.mark.parametrize(
    ("layer", "right", "wrong", "written"),
    [
        pytest.param(*MISTAKES[0], id=MISTAKES[0][0], marks=pytest.mark.nightly),
        pytest.param(*MISTAKES[1], id=MISTAKES[1][0]),
    ],
)
def test_the_example_fails_as_its_text_says(installed, example, layer, right, wrong, written):
    text = (EXAMPLE / "README.md").read_text()
    assert f"`{written}`" in text
    port = example / "net_mindspore.py"
    before = port.read_text()
    (line,) = (line for line in before.splitlines() if f"self.{layer} = " in line)
    assert right in line
    port.write_text(before.replace(line, line.replace(right, wrong)))
    chosen = ("-m", "cpu", "-k", "H8 and train and pynative")
    done = installed("python", "-m", "pytest", *chosen, cwd=example)
    assert done.returncode == 1
    (told,) = re.findall(rf"(?m)^culprit: {layer} .*\n  .*\n", done.stdout)
    assert f"```text\n{told}```" in text


def test_what_was_verified_and_what_was_found_is_in_the_wheel(installed, tmp_path):
    (tmp_path / "net.py").write_text("import torch\ntorch.sort(torch.sin(y))\n")
    done = installed("equivalence", "coverage", "net.py", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "A NaN breaks sort" in done.stdout
    assert re.search(r"verified\n  torch\.sin\(\.\.\.\) +\d\.\d\d  line 2", done.stdout)
    done = installed("equivalence", "findings", "show", "sort_nan", cwd=tmp_path)
    assert (done.returncode, done.stdout.partition(":")[0]) == (0, "sort_nan")
    done = installed("equivalence", "findings", "run", "sort_nan", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_command_tells_its_version_and_what_needs_the_repository(installed, tmp_path):
    done = installed("equivalence", "--version", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, f"equivalence {__version__}\n")
    (tmp_path / "net.py").touch()
    for command in (["findings", "index"], ["accept"]):
        done = installed("equivalence", *command, cwd=tmp_path)
        assert done.returncode == 2
        assert "the repository, not in the installed package: clone it" in done.stderr
        assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [tmp_path / "net.py"]
