"""What users have: the built wheel, beside the newest or the oldest packages that it allows.

    python benchmarks/installed.py newest|oldest|PACKAGE==RELEASE [--folder FOLDER]

The wheel is installed into an empty environment of the Python that runs this. The steps of STEPS
run in a folder outside the clone, with a project, networks and checkpoints of its own. Each step
must end with its exit code and say its words: a right port is equal, and a wrong one is red. The
seconds of the installation and of each step are told, and so those to the first verdict. The
oldest packages are the lower bounds of pyproject.toml; `torch==2.9.1` stands for the newest ones
but for that. What is printed is kept in `reports/`, too. Exit code 1: a step went wrong.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parents[1]

SOURCES = (
    *("pyproject.toml", "setup.py", "README.md", "LICENSE", "equivalence"),
    *("tests", "findings", "ms_models", "pt_reference", "fixtures/measured-cpu.json"),
)
"""What the wheel is built from."""

PROJECTS = ("examples/own", "benchmarks/user")
"""Folders whose files a user has in the folder where the steps run."""

NEVER = ("Traceback (most recent call last)", "nanobind: leaked", "Fatal Python error")
"""What no step may print."""

LONGEST = 900
"""Seconds after which a step is taken to hang."""


@dataclass(frozen=True)
class Step:
    """A command of a user, and what it must answer.

    name: what the step is for.
    command: the program of the environment, and its arguments.
    words: what it must print, in any order.
    code: its exit code.
    refusal: what it prints, with exit code 2, where the oldest packages cannot do it; "": they can.
    """

    name: str
    command: Sequence[str]
    words: Sequence[str]
    code: int = 0
    refusal: str = ""

    def beside(self, packages: str) -> "Step":
        """The step with what it must answer beside these packages."""
        if not self.refusal or packages != "oldest":
            return self
        return replace(self, words=(self.refusal,), code=2)

    def wrong(self, code: int, printed: str) -> list[str]:
        """What is wrong with an answer; empty where it is right."""
        found = [f"exit code {code}, not {self.code}"] if code != self.code else []
        found += [f"does not say: {words}" for words in self.words if words not in printed]
        return found + [f"says: {words}" for words in NEVER if words in printed]


def _compare(reference: str, candidate: str, *more: str) -> tuple[str, ...]:
    return ("equivalence", "compare", reference, candidate, *more)


SMALL = ("--input", "normal(4, 3, 8, 8)")
TORCHVISION = ("--input", "normal(2, 3, 64, 64)")
EVALUATED = (*SMALL, "--phase", "eval")
TRAINED = ("equivalence", "train", "train_torch.py", "train_mindspore.py")
UNSEEN = "which the steps of a training need; install 'mindspore>=2.9'"
EVALUATE = ("equivalence", "evaluate", "net_torch:Net", "net_mindspore:Net")

STEPS = (
    Step("versions", ("python", "-m", "pip", "list"), ("mindspore-torch-equivalence",)),
    Step("torchvision imports", ("python", "-c", "import equivalence, torchvision"), ()),
    Step("a project", ("pytest", "-q"), ("8 passed", "of 8 cases of 1 twin")),
    Step("a project on two workers", ("pytest", "-q", "-n", "2"), ("8 passed",)),
    Step(
        "a network of torchvision",
        _compare("vision_torch:net", "vision_mindspore:net", *TORCHVISION),
        ("settings: all", "equal in 4 cases"),
    ),
    Step(
        "a wrong port of it",
        _compare("vision_torch:net", "vision_mindspore:wrong", *TORCHVISION, "--phase", "eval"),
        ("culprit: layer1.0.bn1 (BatchNorm2d)", "different in 2 of 2 cases"),
        code=1,
    ),
    Step(
        "a mistake that tensors show",
        _compare("net_torch:Net", "wrong_mindspore:Scaled", *EVALUATED),
        ("differ by more than rounding", "different in 2 of 2 cases"),
        code=1,
    ),
    Step(
        "a mistake that a setting alone shows",
        _compare("net_torch:Net", "wrong_mindspore:Forgetful", *EVALUATED),
        ("culprit: bn1 (BatchNorm2d): momentum", "different in 2 of 2 cases"),
        code=1,
    ),
    Step(
        "a notebook",
        ("python", "notebook.py"),
        ("the right port: equal", "the wrong port: different", "1 setting differs"),
    ),
    Step("a checkpoint", ("python", "checkpoint.py", "save", "net.pth"), ("saved net.pth",)),
    Step(
        "convert",
        (*("equivalence", "convert", "net.pth", "net.ckpt"), "--network", "net_mindspore:Net"),
        ("net.ckpt",),
    ),
    Step("convert back", ("equivalence", "convert", "net.ckpt", "back.pth"), ("back.pth",)),
    Step(
        "what came back", ("python", "checkpoint.py", "same", "back.pth"), ("all 14 are the same",)
    ),
    Step(
        "a checkpoint that does not fit",
        (*("equivalence", "convert", "net.pth", "no.ckpt"), "--network", "vision_mindspore:net"),
        ("error: ",),
        code=2,
    ),
    Step(
        "coverage",
        ("equivalence", "coverage", "net_torch.py"),
        ("torch.nn.Conv2d", "torch.nn.BatchNorm2d"),
        code=1,
    ),
    Step(
        "a training script",
        (*TRAINED, "--steps", "6"),
        ("EQUAL. train_mindspore.py trains as train_torch.py does in 6 steps",),
        refusal=UNSEEN,
    ),
    Step(
        "a training script whose rates are late",
        (*TRAINED, "--steps", "3", "--mindspore-args=--late"),
        ("in step 2", "schedule: lr is", "fits: the learning rate one step late"),
        code=1,
        refusal=UNSEEN,
    ),
    Step(
        "a data pipeline",
        ("equivalence", "data", "data_torch:loader", "data_mindspore:loader"),
        ("EQUAL.",),
    ),
    Step(
        "a data pipeline with the means of BGR",
        ("equivalence", "data", "data_torch:loader", "data_mindspore:wrong"),
        ("DIFFERENT.", "Normalize: by mean 0.3 0.4 0.5"),
        code=1,
    ),
    Step(
        "metrics over a data set",
        (*EVALUATE, "--weights", "net.pth", "--data", "data_torch:loader"),
        ("EQUAL.", "top-1"),
    ),
    Step(
        "step times",
        ("equivalence", "time", "net_torch:Net", "net_mindspore:Net", *SMALL),
        ("| MindSpore graph ", "conv1 (Conv2d)"),
    ),
    Step("findings", ("equivalence", "findings", "show", "sort_nan"), ("A NaN breaks sort",)),
    Step(
        "what needs the clone",
        ("equivalence", "findings", "index"),
        ("the repository, not in the installed package: clone it",),
        code=2,
    ),
)


def build(folder: Path, *options: str) -> Path:
    """The wheel, built in a folder from a copy of its sources. options: of `pip wheel`."""
    for name in SOURCES:
        (folder / name).parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *options]
    subprocess.run([*command, "-w", "dist", "."], cwd=folder, check=True)
    (built,) = (folder / "dist").iterdir()
    return built


def oldest(wheel: Path) -> list[str]:
    """The lower bound of each package that the wheel asks for, as a line of constraints.

    Raises ValueError where one has none.
    """
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
    told = archive.read(name).decode()
    found = []
    for line in re.findall(r"(?m)^Requires-Dist: (.*)$", told):
        package, extra = re.match(r"[\w.-]+", line)[0], re.search(r"extra == .(\w+)", line)
        if extra is not None and extra[1] != "reference":
            continue
        bound = re.search(r">=\s*([\w.]+)", line)
        if bound is None:
            raise ValueError(f"pyproject.toml has no lower bound for {package}")
        found.append(f"{package}=={bound[1]}")
    return found


def install(folder: Path, packages: str) -> None:
    """Make the environment in a folder, with the wheel and what it asks for.

    packages: "newest", "oldest", or the release of one, such as "torch==2.9.1".
    Raises SystemExit, with what pip says, where there is no such set of packages.
    """
    built = Path(tempfile.mkdtemp(dir=folder))
    wheel = build(built)
    constraints = built / "constraints.txt"
    allowed = {"oldest": oldest(wheel), "newest": []}.get(packages, [packages])
    constraints.write_text("\n".join(allowed) + "\n")
    venv.create(folder / "environment", with_pip=True)
    pip = [folder / "environment/bin/python", "-m", "pip", "install", "--upgrade"]
    limits = ["--constraint", constraints, "--upgrade-strategy", "eager"]
    command = [*pip, *limits, "--progress-bar", "off", f"{wheel}[reference]"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{done.stdout}pip ended with {done.returncode}")


def bare(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what Python or pytest would take from the clone's."""
    return {k: v for k, v in environment.items() if not k.startswith(("PYTEST", "PYTHON"))}


def run(step: Step, programs: Path, folder: Path, tell: Callable[[str], None]) -> list[str]:
    """Take a step and tell what it says; returns what is wrong.

    programs: the folder of the environment's programs.
    folder: the user's.
    """
    program, *arguments = step.command
    began = time.monotonic()
    tell(f"\n== {step.name}\n$ {shlex.join(step.command)}")
    try:
        done = subprocess.run(
            [programs / program, *arguments],
            cwd=folder,
            env=bare(os.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return [f"took longer than {LONGEST} s"]
    wrong = step.wrong(done.returncode, done.stdout)
    tell(done.stdout.rstrip())
    took = time.monotonic() - began
    tell(f"-> {done.returncode} in {took:.1f} s: {'; '.join(wrong) or 'as it must be'}")
    return wrong


def _packages(text: str) -> str:
    if text in ("newest", "oldest") or re.fullmatch(r"[\w-]+==\d[\w.+]*", text):
        return text
    raise argparse.ArgumentTypeError(
        f"{text} is neither newest nor oldest, nor a release such as torch==2.9.1"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Install and take every step; returns 1 where one goes wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("packages", type=_packages, metavar="newest|oldest|PACKAGE==RELEASE")
    parser.add_argument("--folder", type=Path, help="keep the environment there")
    options = parser.parse_args(arguments)
    version = sys.version.split()[0]
    report = ROOT / f"reports/installed-{options.packages}-{version}.txt"
    report.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, report.open("w") as kept:

        def tell(text: str) -> None:
            for file in (sys.stdout, kept):
                print(text, file=file, flush=True)

        folder = (options.folder or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        tell(f"Python {version} and the {options.packages} packages")
        began = time.monotonic()
        install(folder, options.packages)
        tell(f"installed into an empty environment in {time.monotonic() - began:.0f} s")
        own = Path(tempfile.mkdtemp(dir=temporary))
        for project in PROJECTS:
            for file in (ROOT / project).glob("*.py"):
                shutil.copy(file, own)
        programs = folder / "environment/bin"
        steps = [step.beside(options.packages) for step in STEPS]
        wrong = {step.name: found for step in steps if (found := run(step, programs, own, tell))}
        tell(f"\n{len(steps) - len(wrong)} of {len(steps)} steps went as they must")
        for name, found in wrong.items():
            tell(f"wrong: {name}: {'; '.join(found)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
