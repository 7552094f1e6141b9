"""The parsers of all commands: what each is called with, and which function runs it."""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from equivalence import __version__
from equivalence.host.devices import DEVICES
from equivalence.option_values import argument, assignment, byte_size, numbers, positive, share
from equivalence.typed_targets import target_of
from equivalence.words import nearest

USAGE_ERROR = 2
"""The exit code for what a user can correct."""

WIDTH = 78
"""Columns of what a command says of itself."""

RUNS = "names of weights: runs of segments, as in a twin's rename"
CONSTANT = "a buffer that the candidate keeps in no weight"
TARGET = "MODULE:ATTRIBUTE"
BUILDS = f"{TARGET}, or FILE.py:ATTRIBUTE, that builds it"


EXAMPLES = {
    "compare": (
        "compare nets:Net ports:Net --input 'normal(2, 3, 64, 64)'",
        "compare nets:Net ports:Net --input x.npy --weights net.pth --phase eval --html page.html",
    ),
    "convert": (
        "convert net.pth net.ckpt",
        "convert net.pth net.ckpt --network ports:Net --rename dense=fc",
    ),
    "findings": ("findings list gradient", "findings run selu_gradient"),
    "coverage": ("coverage nets.py", "coverage nets:Net --fix-hints"),
    "accept": ("accept", "accept reports/results.jsonl --device ascend"),
    "page": ("page reports/results.jsonl", "page first.jsonl second.jsonl --html both.html"),
    "trend": ("trend", "trend reports --case 'resnet*'"),
    "time": (
        "time nets:Net ports:Net --input 'normal(2, 3, 64, 64)'",
        "time nets:Net ports:Net --input x.npy --device ascend --json times.json",
    ),
    "evaluate": (
        "evaluate nets:Net ports:Net --weights net.pth --data data:loader",
        "evaluate nets:Net ports:Net --data data:loader --batches 4 --metric metrics:f1",
    ),
    "generate": (
        "generate nets:greedy ports:greedy --input 'integers(2, 4, high=100)' --arguments "
        "'net=network(nets:Net, ports:Net)'",
        "generate nets:beams ports:beams --input ids.npy --weights net.pth --arguments "
        "'net=network(nets:Net, ports:Net)' width=4",
    ),
    "quantised": (
        "quantised nets:trained nets:int8 --input 'normal(8, 3, 64, 64)'",
        "quantised nets:trained ports:int8 --input x.npy --json layers.json",
    ),
    "data": (
        "data data_torch:loader data_mindspore:dataset",
        "data data_torch:loader data_mindspore:dataset --batches 8 --arguments train=True --time",
    ),
    "curve": (
        "curve loss_torch.csv loss_mindspore.log",
        "curve nets:train ports:train --steps 300 --picture curve.svg",
    ),
    "train": (
        "train torch_train.py ms_train.py --steps 20 --mindspore-args='--lr 0.1'",
        "train 'torchrun --nproc_per_node 2 train.py' 'msrun --worker_num 2 ms_train.py'",
    ),
}
"""Command -> two commands that show how it is used."""


class Parser(argparse.ArgumentParser):
    """A parser that says in one line what is wrong with a command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As ever, but an option that is not known is an error of the command that it is given."""
        found, unknown = super().parse_known_args(args, namespace)
        for text in unknown:
            if text.startswith("-"):
                near = nearest(text, self._option_string_actions)
                self.error(f"there is no option {text}{near}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(USAGE_ERROR, f"error: {message}; {self.prog} --help tells of all options\n")


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; each command adds itself, with these defaults.

    run: "module:function", imported after the environment is prepared, and called with all options.
    writes: what the command writes; without it, its option `destination`.
    """
    whole = Parser(
        "equivalence",
        description="Is a MindSpore network the same network as its PyTorch original? "
        "`equivalence COMMAND --help` has examples of each command.",
    )
    whole.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = whole.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        *(_add_compare, _add_convert, _add_findings, _add_coverage, _add_accept, _add_page),
        *(_add_trend, _add_time, _add_evaluate, _add_generate, _add_data, _add_curve, _add_train),
        _add_quantised,
    ):
        add(commands)
    for name, command in commands.choices.items():
        command.epilog = "\n".join(
            ["examples:", *(f"  equivalence {each}" for each in EXAMPLES[name])]
        )
        command.formatter_class = argparse.RawDescriptionHelpFormatter
        command.description = textwrap.fill(command.description or "", WIDTH)
    return whole


class Command:
    """One command, to which options are added, each with what it means first.

    commands: those that it belongs to. name: what it is called by. brief: what it is for.
    run, writes: see `parser`.
    """

    def __init__(
        self,
        commands: Any,
        name: str,
        brief: str,
        description: str,
        run: str,
        writes: str | Path = "the result",
    ):
        self._parser = commands.add_parser(name, help=brief, description=description)
        self._parser.set_defaults(
            run=f"equivalence.{run}", **({"writes": writes} if writes else {})
        )

    def add(self, name: str, meaning: str | None, metavar: str | None = None, **more: Any) -> None:
        """Add an argument or an option, which has a value."""
        self._parser.add_argument(name, help=meaning, metavar=metavar, **more)

    def add_flag(self, name: str, meaning: str) -> None:
        """Add an option that is given or not."""
        self._parser.add_argument(name, action="store_true", help=meaning)

    def add_file(self, name: str, meaning: str | None, metavar: str = "FILE", **more: Any) -> None:
        """Add a path."""
        self.add(name, meaning, metavar, type=Path, **more)

    def add_target(self, name: str, meaning: str, metavar: str = TARGET, **more: Any) -> None:
        """Add what MODULE:ATTRIBUTE, or FILE.py:ATTRIBUTE, names."""
        self.add(name, meaning, metavar, type=target_of, **more)

    def add_count(self, name: str, meaning: str, default: int | None = None) -> None:
        """Add a number of at least one."""
        self.add(name, meaning, "N", type=positive, default=default)

    def add_several(self, name: str, meaning: str, metavar: str, **more: Any) -> None:
        """Add an option of several values."""
        self.add(name, meaning, metavar, nargs="+", default=[], **more)

    def add_rename(self, metavar: str, meaning: str = RUNS, **more: Any) -> None:
        """Add pairs of names."""
        self.add_several("--rename", meaning, metavar, type=assignment, **more)

    def add_arguments(self) -> None:
        """Add what targets are called with."""
        self.add_several(
            "--arguments", "what to call MODULE:ATTRIBUTE with", "KEY=VALUE", type=argument
        )

    def add_seed(self, meaning: str = "(default: 0)") -> None:
        """Add the base seed."""
        self.add("--seed", meaning, "N", type=int, default=0)

    def add_json(self, meaning: str = "write all of the result") -> None:
        """Add the file for JSON."""
        self.add_file("--json", meaning, dest="json_file")


def _add_compare(commands: Any) -> None:
    command = Command(
        commands,
        "compare",
        "whether a MindSpore network of your own equals its PyTorch original",
        "Compare two networks: the settings of all layers, how the weights pair up, "
        "then outputs, gradients and buffers, with the layer that is to blame for a difference. "
        "Exit code 1: they differ.",
        "own.command:command",
    )
    _add_input(command)
    _add_networks(command)
    command.add_target(
        "--reference",
        "the original in PyTorch by which both are judged, where TORCH and MINDSPORE are two "
        "networks of one framework",
        dest="original",
    )
    for option, meaning in (
        ("--by-layer", "one layer at a time, for networks beyond memory"),
        ("--forward", "outputs alone: neither side is asked for gradients"),
        ("--settings", "stop after settings and weights"),
        ("--reach", "list the decisions that the inputs do not reach"),
        ("--hidden-settings", "list settings, and numbers in code, that the inputs do not show"),
        ("--thorough", "try all further samples after a green verdict, however long it takes"),
    ):
        command.add_flag(option, meaning)
    meaning = "each case must reach this share of its decisions"
    command.add("--require-reach", meaning, "SHARE", type=share)
    command.add_file("--write", "write the declaration that pytest runs")
    command.add_json()
    command.add_file("--html", "write a page to look at: one file, no network")


def _add_networks(command: Command, phases: Sequence[str] = ("train", "eval")) -> None:
    """What tells two networks, their weights, and where and how they run: `own.command.Networks`.

    phases: those that are run where none is chosen.
    """
    command.add_target("reference", f"{BUILDS}; or arrays on disk: a file or folder", "TORCH")
    command.add_target("candidate", "likewise", "MINDSPORE")
    command.add_file("--weights", "a checkpoint for both (default: drawn)")
    for option, side in (("--torch-path", "TORCH"), ("--mindspore-path", "MINDSPORE")):
        meaning = f"the folder that {side} is imported from, for modules of the same names"
        command.add_file(option, meaning, "FOLDER")
    command.add_arguments()
    meaning = "how weights pair up; a FILE has lines CANDIDATE = REFERENCE (default: name)"
    command.add("--pair", meaning, "name|order|FILE", default="name")
    command.add_rename("MINDSPORE=PYTORCH", action="extend")
    command.add_several("--constant", CONSTANT, "NAME", action="extend")
    meaning = (
        "eval pins dropout; the NAME of a path or class pins that, too; replay pins nothing: both "
        "sides draw the same numbers"
    )
    command.add_several("--random", meaning, "NAME", action="extend")
    for option, values in (
        ("--phase", ("train", "eval")),
        ("--execution", ("pynative", "graph")),
        ("--dtype", ("float32", "float16", "bfloat16", "float64")),
    ):
        default = {"--dtype": values[:1], "--phase": phases}.get(option, values)
        command.add(option, f"(default: {default})", nargs="+", choices=values, default=default)
    command.add("--device", "(default: cpu)", "DEVICE", default="cpu")
    command.add_seed()


def _add_input(command: Command) -> None:
    meaning = "each input in order: x.npy, x.npz, or a draw such as 'normal(2, 3, 64, 64)'"
    command.add_several("--input", meaning, "INPUT", action="extend", dest="inputs")


def _add_convert(commands: Any) -> None:
    command = Command(
        commands,
        "convert",
        "turn a PyTorch checkpoint into a MindSpore checkpoint, or back",
        "Turn a PyTorch checkpoint (.pth, .pt, .bin, .safetensors) into a MindSpore "
        "checkpoint (.ckpt, .safetensors), or back. SOURCE may be an index.json, or its folder.",
        "convert.convert:command",
        "",
    )
    command.add_file("source", None, "SOURCE")
    command.add_file("destination", None, "DESTINATION")
    meaning = "needed where both are .safetensors"
    command.add("--to", meaning, choices=("mindspore", "pytorch"))
    meaning = "builds the network that DESTINATION is for; all names and shapes must fit it"
    command.add_target("--network", meaning)
    command.add_arguments()
    command.add_rename("MINDSPORE=PYTORCH", "runs of name segments, as in a twin's rename")
    meaning = "leave out weights, or all below NAME; optimizer: an optimiser's state"
    command.add_several("--drop", meaning, "NAME")
    command.add("--key", "where SOURCE has its state dict: ema, model.state_dict", "KEY")
    command.add_several(
        "--strip", "take PREFIX off the names in SOURCE that begin with it", "PREFIX"
    )
    meaning = "write files of at most SIZE (500MB, 5GB) and DESTINATION.index.json"
    command.add("--shard", meaning, "SIZE", type=byte_size)
    meaning = "turn TensorFlow's kernels: HWIO to OIHW, IO to OI"
    command.add("--layout", meaning, choices=("hwio",))
    meaning = "builds, called with the network, the optimiser whose state goes along"
    command.add_target("--optimizer", meaning)
    meaning = "how many steps PyTorch's SGD has taken, where a schedule of MindSpore's follows them"
    command.add("--steps", meaning, "N", type=int)
    command.add_flag("--force", "replace DESTINATION")


def _add_findings(commands: Any) -> None:
    findings = commands.add_parser(
        "findings",
        help="the known discrepancies between the frameworks: list, show or run them",
        description="What is wrong in MindSpore beside PyTorch, each in a script of findings/.",
    )
    verbs = findings.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, meaning: str, writes: str | Path = "the list") -> Command:
        run = f"findings.catalogue:{name}_command"
        return Command(verbs, name, meaning, meaning, run, writes)

    command = verb("list", "One line for each finding, the most dangerous first.")
    command.add("words", "only those that have each WORD", "WORD", nargs="*")
    command = verb("show", "All that is known of a finding, and its script.")
    command.add("names", "of a finding", "NAME", nargs="+")
    command.add_flag("--report", "run it; print a text to post")
    command = verb(
        "run",
        "Run scripts, each in a process of its own. Exit code 1: one is gone, or failed in another "
        "way than it says. A run of all writes reports/findings.txt.",
        Path("reports/findings.txt"),
    )
    command.add("names", "of a finding; all by default", "NAME", nargs="*")
    command.add_count("--jobs", "how many at a time (default 2)", 2)
    verb("index", "Write docs/findings.md, which lists them all, and docs/reports.md.")


def _add_coverage(commands: Any) -> None:
    command = Command(
        commands,
        "coverage",
        "what a PyTorch network uses, and what of that is verified here",
        "List the calls of PyTorch in a Python file, in a folder or in a module, with "
        "what they use of their package: which differ silently in MindSpore, which raise, which "
        "nobody has compared, and which are verified. Exit code 1: not all are verified.",
        "coverage.command:command",
        "the table",
    )
    meaning = "a Python file, a folder, or MODULE:ATTRIBUTE that builds a module"
    command.add_target("target", meaning, "TARGET")
    command.add_flag("--fix-hints", "print what to write in MindSpore, line by line")
    command.add_json("write all of it, too")
    command.add_file("--html", "a page, too", dest="html_file")
    command.add_arguments()


def _add_accept(commands: Any) -> None:
    command = Command(
        commands,
        "accept",
        "keep the errors of the last run of the gate as those that later runs compare with",
        "Write fixtures/measured-DEVICE.json from the results of a complete green run of the gate.",
        "coverage.command:accept",
        "what is accepted",
    )
    default = Path("reports/results.jsonl")
    command.add_file("results", None, "RESULTS", nargs="?", default=default)
    command.add("--device", "(default: cpu)", choices=DEVICES, default="cpu")


def _add_page(commands: Any) -> None:
    command = Command(
        commands,
        "page",
        "make the page of results that other runs wrote, as of a CI's artefacts",
        "Write one HTML file of what the files of results say. Each run of pytest "
        "writes its own, reports/index.html.",
        "page.write:command",
        "the page",
    )
    command.add_file("results", None, "RESULTS", nargs="+")
    command.add_file(
        "--html", "the file to write (default: index.html beside the first of RESULTS)"
    )


def _add_trend(commands: Any) -> None:
    command = Command(
        commands,
        "trend",
        "which errors have grown over the runs, since when, and by how much",
        "Tell what grew in the results that runs of pytest have kept, of several files "
        "together. A folder stands for all files in it that are called trend.sqlite.",
        "trend.command:command",
        "the trend",
    )
    command.add_file("histories", None, nargs="*", default=[Path("reports")])
    command.add("--case", "show every run of these cases", "GLOB")
    command.add_file("--write", "write all into one file")


def _add_time(commands: Any) -> None:
    command = Command(
        commands,
        "time",
        "how long a step takes on both sides, and at which layers",
        "Time a step of both networks by turns: forward and backward in training, "
        "forward alone in evaluation. Then the layers at which MindSpore loses the most. No "
        "verdict.",
        "timing.command:command",
        "the table",
    )
    _add_input(command)
    _add_networks(command)
    meaning = "loaders, as of `equivalence data`: tells whether a step waits for its data"
    command.add("--data", meaning, "MODULE:ATTRIBUTE", nargs=2)
    command.add_json("write every single time")


def _add_evaluate(commands: Any) -> None:
    command = Command(
        commands,
        "evaluate",
        "whether two networks give the same metrics over a data set, sample by sample",
        "Run both networks over a data set with the same weights: outputs, accuracies, "
        "loss, mean IoU, perplexity, and which samples rounding decides. Exit code 1: they differ.",
        "evaluation.command:command",
    )
    _add_networks(command, phases=("eval",))
    command.add_target(
        "--data",
        "batches of (inputs, labels): a DataLoader, an iterable, or a function that makes one",
        required=True,
    )
    command.add_count("--batches", "only the first N (default: all)")
    meaning = "the output that metrics are made of (default: the first)"
    command.add("--output", meaning, "NAME")
    meaning = "of your own: takes all outputs and labels as arrays, gives a number or several"
    command.add_several("--metric", meaning, "MODULE:FUNCTION", type=target_of)
    command.add_json()


def _add_generate(commands: Any) -> None:
    command = Command(
        commands,
        "generate",
        "whether two functions that generate take the same tokens, call by call",
        "Run both functions with the same weights: the tokens, the logits of each call "
        "of the network, the first token that differs, and whether rounding decides there. Exit "
        "code 1: they differ.",
        "generation.command:command",
    )
    _add_input(command)
    _add_networks(command, phases=("eval",))
    command.add_json()


def _add_data(commands: Any) -> None:
    command = Command(
        commands,
        "data",
        "whether two data pipelines give the same batches, stage by stage",
        "Compare a DataLoader or Dataset of PyTorch with a Dataset of MindSpore, as "
        "they stand: what is read, each transform, the batches; what draws, by its law. Exit code "
        "1: they differ.",
        "timing.loaders:command",
    )
    command.add_target("reference", BUILDS, "TORCH")
    command.add_target("candidate", BUILDS, "MINDSPORE")
    command.add_arguments()
    command.add_count("--batches", "how many are read, the first ones (default: 2)", 2)
    meaning = "the kinds of other pictures that are tried, or own for none (default: nearly all)"
    command.add_several("--pictures", meaning, "KIND")
    command.add_seed()
    command.add_flag("--time", "tell the rows per second of both, too, with their own workers")
    command.add_json()


def _add_curve(commands: Any) -> None:
    command = Command(
        commands,
        "curve",
        "whether a training's losses and metrics are those of the reference, step by step",
        "Compare two trainings by their curves. Each side is what a run has left (CSV, "
        "JSON lines, a log, TensorBoard's events, a file of equivalence.monitored), or "
        "MODULE:FUNCTION, which yields a loss or a dict of losses and metrics for each "
        "step. A reference that is a function is run again "
        "with noise of one rounding, for its band. Exit code 1: the candidate leaves it.",
        "curves.command:command",
    )
    command.add_target("reference", "a file, or MODULE:FUNCTION", "REFERENCE")
    command.add_target("candidate", "likewise", "CANDIDATE")
    meaning = r"for lines of a log: 'step (?P<step>\d+) loss (?P<loss>\S+)'"
    command.add("--pattern", meaning, "REGEX")
    command.add_rename("CANDIDATE=REFERENCE", "names of metrics")
    for option, default, meaning in (
        ("--steps", 300, "of a function are run at most"),
        ("--runs", 6, "with noise make the band"),
    ):
        meaning = f"{meaning} (default {default})"
        command.add(option, meaning, "N", type=int, default=default)
    command.add_seed("for functions (default 0)")
    command.add_file("--picture", "write both curves as SVG", dest="image")
    command.add_json()


def _add_train(commands: Any) -> None:
    command = Command(
        commands,
        "train",
        "whether two training scripts, as they stand, make the same steps",
        "Run both scripts up to a step, with the reference's initial weights and "
        "batches on both sides, and compare each step: data, outputs, loss, gradients, clipping, "
        "schedule, update. The first step, stage and tensor that departs is named with its line. "
        "Exit code 1: they differ.",
        "dry.command:command",
    )
    meaning = "a script; a line that launches it; or MODULE:FUNCTION that trains"
    command.add_target("reference", meaning, "TORCH")
    command.add_target("candidate", "likewise", "MINDSPORE")
    command.add_count("--steps", "updates by an optimiser (default 10)", 10)
    for option in ("--torch-args", "--mindspore-args"):
        command.add(option, f"of the script: {option}='--lr 0.1'", "ARGS", default="")
    command.add_rename("MINDSPORE=PYTORCH", action="extend")
    command.add_several("--constant", CONSTANT, "NAME", action="extend")
    meaning = "run what the port compiles in PyNative mode"
    command.add("--execution", meaning, choices=("pynative",))
    meaning = "run both on so many ranks of this host, under torchrun and msrun; 1,2: of each side"
    command.add("--ranks", meaning, "N", type=numbers)
    command.add_json()


def _add_quantised(commands: Any) -> None:
    command = Command(
        commands,
        "quantised",
        "how much a quantised network loses beside its float original, layer by layer",
        "Run both, as they are built, on the same inputs: the signal to noise of each "
        "layer, in the whole run and by itself. No verdict: exit code 0.",
        "quantised.command:command",
        "the report",
    )
    for name in ("original", "quantised"):
        command.add(name, BUILDS, name.upper())
    _add_input(command)
    command.add_arguments()
    meaning = "paths of layers: runs of segments, as in a twin's rename"
    command.add_rename("QUANTISED=ORIGINAL", meaning)
    command.add_seed()
    command.add_json()
