"""The parsers of all commands: what each is called with, and which function runs it."""

import argparse
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from equivalence import __version__
from equivalence.command_examples import EXAMPLES
from equivalence.host.devices import DEVICES
from equivalence.option_values import argument, assignment, byte_size, positive
from equivalence.own.networks import Networks
from equivalence.reach import shares
from equivalence.words import nearest

USAGE_ERROR = 2
"""The exit code for what a user can correct."""

WIDTH = 78
"""Columns of what a command says of itself."""


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

    run: "module:function", imported after the environment is prepared.
    given: the options that the function is called with.
    destination: the file that the command writes.
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


def _add_compare(commands: Any) -> None:
    command = commands.add_parser(
        "compare",
        help="whether a MindSpore network of your own equals its PyTorch original",
        description="Compare two networks: the settings of all layers, how the weights pair up, "
        "then outputs, gradients and buffers, with the layer that is to blame for a difference. "
        "Exit code 1: they differ.",
    )
    _add_input(command)
    _add_networks(command)
    command.add_argument(
        "--reference",
        dest="original",
        metavar="MODULE:ATTRIBUTE",
        help="the original in PyTorch by which both are judged, where TORCH and MINDSPORE are two "
        "networks of one framework",
    )
    for option, meaning in (
        ("--by-layer", "one layer at a time, for networks beyond memory"),
        ("--forward", "outputs alone: neither side is asked for gradients"),
        ("--settings", "stop after settings and weights"),
        ("--reach", "list the decisions that the inputs do not reach"),
        ("--hidden-settings", "list settings, and numbers in code, that the inputs do not show"),
        ("--thorough", "try all further samples after a green verdict, however long it takes"),
    ):
        command.add_argument(option, action="store_true", help=meaning)
    meaning = "each case must reach this share of its decisions"
    command.add_argument("--require-reach", type=shares.share, metavar="SHARE", help=meaning)
    command.add_argument(
        "--write", type=Path, metavar="FILE", help="write the declaration that pytest runs"
    )
    _add_json(command)
    command.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page to look at: one file, no network"
    )
    command.set_defaults(
        run="equivalence.own.command:command",
        given=(
            *Networks._fields,
            *("original", "inputs", "by_layer", "forward", "settings", "hidden_settings"),
            "reach",
            *("require_reach", "thorough", "write", "json_file", "html"),
        ),
        destination="the result",
    )


def _add_networks(
    command: argparse.ArgumentParser,
    phases: Sequence[str] = ("train", "eval"),
) -> None:
    """What tells two networks, their weights, and where and how they run.

    phases: those that are run where none is chosen.
    """
    meaning = "MODULE:ATTRIBUTE that builds it; or arrays on disk: a file or folder"
    command.add_argument("reference", metavar="TORCH", help=meaning)
    command.add_argument("candidate", metavar="MINDSPORE", help="likewise")

    def add_several(option: str, meaning: str, **more: Any) -> None:
        command.add_argument(option, nargs="+", action="extend", default=[], help=meaning, **more)

    command.add_argument(
        "--weights", type=Path, metavar="FILE", help="a checkpoint for both (default: drawn)"
    )
    for option, side in (("--torch-path", "TORCH"), ("--mindspore-path", "MINDSPORE")):
        meaning = f"the folder that {side} is imported from, for modules of the same names"
        command.add_argument(option, type=Path, metavar="FOLDER", help=meaning)
    _add_arguments(command)
    meaning = "how weights pair up; a FILE has lines CANDIDATE = REFERENCE (default: name)"
    command.add_argument("--pair", default="name", metavar="name|order|FILE", help=meaning)
    add_several(
        "--rename",
        "names of weights: runs of segments, as in a twin's rename",
        type=assignment,
        metavar="MINDSPORE=PYTORCH",
    )
    add_several("--constant", "a buffer that the candidate keeps in no weight", metavar="NAME")
    add_several(
        "--random", "eval pins dropout; the NAME of a path or class pins that, too", metavar="NAME"
    )
    for option, values in (
        ("--phase", ("train", "eval")),
        ("--execution", ("pynative", "graph")),
        ("--dtype", ("float32", "float16", "bfloat16", "float64")),
    ):
        default = {"--dtype": values[:1], "--phase": phases}.get(option, values)
        command.add_argument(
            option, nargs="+", choices=values, default=default, help=f"(default: {default})"
        )
    command.add_argument("--device", default="cpu", metavar="DEVICE", help="(default: cpu)")
    command.add_argument("--seed", type=int, default=0, metavar="N", help="(default: 0)")


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--input",
        nargs="+",
        action="extend",
        default=[],
        dest="inputs",
        metavar="INPUT",
        help="each input in order: x.npy, x.npz, or a draw such as 'normal(2, 3, 64, 64)'",
    )


def _add_convert(commands: Any) -> None:
    command = commands.add_parser(
        "convert",
        help="turn a PyTorch checkpoint into a MindSpore checkpoint, or back",
        description="Turn a PyTorch checkpoint (.pth, .pt, .bin, .safetensors) into a MindSpore "
        "checkpoint (.ckpt, .safetensors), or back. SOURCE may be an index.json, or its folder.",
    )
    command.add_argument("source", type=Path, metavar="SOURCE")
    command.add_argument("destination", type=Path, metavar="DESTINATION")
    command.add_argument(
        "--to", choices=("mindspore", "pytorch"), help="needed where both are .safetensors"
    )
    meaning = "builds the network that DESTINATION is for; all names and shapes must fit it"
    command.add_argument("--network", metavar="MODULE:ATTRIBUTE", help=meaning)
    _add_arguments(command)
    command.add_argument(
        "--rename",
        nargs="+",
        default=[],
        type=assignment,
        metavar="MINDSPORE=PYTORCH",
        help="runs of name segments, as in a twin's rename",
    )
    meaning = "leave out weights, or all below NAME; optimizer: an optimiser's state"
    command.add_argument("--drop", nargs="+", default=[], metavar="NAME", help=meaning)
    command.add_argument(
        "--key", metavar="KEY", help="where SOURCE has its state dict: ema, model.state_dict"
    )
    meaning = "take PREFIX off the names in SOURCE that begin with it"
    command.add_argument("--strip", nargs="+", default=[], metavar="PREFIX", help=meaning)
    meaning = "write files of at most SIZE (500MB, 5GB) and DESTINATION.index.json"
    command.add_argument("--shard", type=byte_size, metavar="SIZE", help=meaning)
    command.add_argument(
        "--layout", choices=("hwio",), help="turn TensorFlow's kernels: HWIO to OIHW, IO to OI"
    )
    command.add_argument(
        "--optimizer",
        metavar="MODULE:ATTRIBUTE",
        help="builds, called with the network, the optimiser whose state goes along",
    )
    command.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help="how many steps PyTorch's SGD has taken, where a schedule of MindSpore's follows them",
    )
    command.add_argument("--force", action="store_true", help="replace DESTINATION")
    command.set_defaults(
        run="equivalence.convert.command:command",
        given=(
            *("source", "destination", "to", "network", "arguments", "rename", "drop"),
            *("layout", "force", "optimizer", "steps", "key", "strip", "shard"),
        ),
    )


def _add_findings(commands: Any) -> None:
    findings = commands.add_parser(
        "findings",
        help="the known discrepancies between the frameworks: list, show or run them",
        description="What is wrong in MindSpore beside PyTorch, each in a script of findings/.",
    )
    verbs = findings.add_subparsers(required=True, metavar="VERB")

    def add(verb: str, meaning: str, *given: str, destination: Any = "the list") -> Any:
        command = verbs.add_parser(verb, help=meaning, description=meaning)
        run = f"equivalence.findings.catalogue:{verb}_command"
        command.set_defaults(run=run, given=given, destination=destination)
        return command

    command = add("list", "One line for each finding, the most dangerous first.", "words")
    command.add_argument("words", nargs="*", metavar="WORD", help="only those that have each WORD")
    command = add("show", "All that is known of a finding, and its script.", "names", "report")
    command.add_argument("names", nargs="+", metavar="NAME", help="of a finding")
    command.add_argument("--report", action="store_true", help="run it; print a text to post")
    command = add(
        "run",
        "Run scripts, each in a process of its own. Exit code 1: one is gone, or failed in another "
        "way than it says. A run of all writes reports/findings.txt.",
        *("names", "jobs"),
        destination=Path("reports/findings.txt"),
    )
    command.add_argument("names", nargs="*", metavar="NAME", help="of a finding; all by default")
    command.add_argument(
        "--jobs",
        type=positive,
        default=2,
        metavar="N",
        help="how many at a time (default 2)",
    )
    add("index", "Write docs/findings.md, which lists them all, and docs/reports.md.")


def _add_coverage(commands: Any) -> None:
    command = commands.add_parser(
        "coverage",
        help="what a PyTorch network uses, and what of that is verified here",
        description="List the calls of PyTorch in a Python file, in a folder or in a module, with "
        "what they use of their package: which differ silently in MindSpore, which raise, which "
        "nobody has compared, and which are verified. Exit code 1: not all are verified.",
    )
    command.add_argument(
        "target",
        metavar="TARGET",
        help="a Python file, a folder, or MODULE:ATTRIBUTE that builds a module",
    )
    command.add_argument(
        "--fix-hints", action="store_true", help="print what to write in MindSpore, line by line"
    )
    _add_json(command, "write all of it, too")
    command.add_argument("--html", type=Path, dest="html_file", metavar="FILE", help="a page, too")
    _add_arguments(command)
    command.set_defaults(
        run="equivalence.coverage.command:command",
        given=("target", "arguments", "fix_hints", "json_file", "html_file"),
        destination="the table",
    )


def _add_accept(commands: Any) -> None:
    command = commands.add_parser(
        "accept",
        help="keep the errors of the last run of the gate as those that later runs compare with",
        description="Write fixtures/measured-DEVICE.json from the results of a complete green run "
        "of the gate.",
    )
    command.add_argument(
        "results", nargs="?", type=Path, default=Path("reports/results.jsonl"), metavar="RESULTS"
    )
    command.add_argument("--device", choices=DEVICES, default="cpu", help="(default: cpu)")
    command.set_defaults(
        run="equivalence.coverage.accept:command",
        given=("results", "device"),
        destination="what is accepted",
    )


def _add_page(commands: Any) -> None:
    command = commands.add_parser(
        "page",
        help="make the page of results that other runs wrote, as of a CI's artefacts",
        description="Write one HTML file of what the files of results say. Each run of pytest "
        "writes its own, reports/index.html.",
    )
    command.add_argument("results", nargs="+", type=Path, metavar="RESULTS")
    command.add_argument(
        "--html",
        type=Path,
        metavar="FILE",
        help="the file to write (default: index.html beside the first of RESULTS)",
    )
    command.set_defaults(
        run="equivalence.page.command:command",
        given=("results", "html"),
        destination="the page",
    )


def _add_trend(commands: Any) -> None:
    command = commands.add_parser(
        "trend",
        help="which errors have grown over the runs, since when, and by how much",
        description="Tell what grew in the results that runs of pytest have kept, of several files "
        "together. A folder stands for all files in it that are called trend.sqlite.",
    )
    command.add_argument(
        "histories", nargs="*", type=Path, default=[Path("reports")], metavar="FILE"
    )
    command.add_argument("--case", metavar="GLOB", help="show every run of these cases")
    command.add_argument("--write", type=Path, metavar="FILE", help="write all into one file")
    command.set_defaults(
        run="equivalence.trend.command:command",
        given=("histories", "case", "write"),
        destination="the trend",
    )


def _add_time(commands: Any) -> None:
    command = commands.add_parser(
        "time",
        help="how long a step takes on both sides, and at which layers",
        description="Time a step of both networks by turns: forward and backward in training, "
        "forward alone in evaluation. Then the layers at which MindSpore loses the most. No "
        "verdict.",
    )
    _add_input(command)
    _add_networks(command)
    _add_json(command, "write every single time")
    command.set_defaults(
        run="equivalence.timing.command:command",
        given=(*Networks._fields, "inputs", "json_file"),
        destination="the table",
    )


def _add_evaluate(commands: Any) -> None:
    command = commands.add_parser(
        "evaluate",
        help="whether two networks give the same metrics over a data set, sample by sample",
        description="Run both networks over a data set with the same weights: outputs, accuracies, "
        "loss, mean IoU, perplexity, and which samples rounding decides. Exit code 1: they differ.",
    )
    _add_networks(command, phases=("eval",))
    command.add_argument(
        "--data",
        required=True,
        metavar="MODULE:ATTRIBUTE",
        help="batches of (inputs, labels): a DataLoader, an iterable, or a function that makes one",
    )
    command.add_argument(
        "--batches", type=positive, metavar="N", help="only the first N (default: all)"
    )
    command.add_argument(
        "--output", metavar="NAME", help="the output that metrics are made of (default: the first)"
    )
    command.add_argument(
        "--metric",
        nargs="+",
        default=[],
        metavar="MODULE:FUNCTION",
        help="of your own: takes all outputs and labels as arrays, gives a number or several",
    )
    _add_json(command)
    command.set_defaults(
        run="equivalence.evaluation.command:command",
        given=(*Networks._fields, "data", "batches", "output", "metric", "json_file"),
        destination="the result",
    )


def _add_generate(commands: Any) -> None:
    command = commands.add_parser(
        "generate",
        help="whether two functions that generate take the same tokens, call by call",
        description="Run both functions with the same weights: the tokens, the logits of each call "
        "of the network, the first token that differs, and whether rounding decides there. Exit "
        "code 1: they differ.",
    )
    _add_input(command)
    _add_networks(command, phases=("eval",))
    _add_json(command)
    command.set_defaults(
        run="equivalence.generation.command:command",
        given=(*Networks._fields, "inputs", "json_file"),
        destination="the result",
    )


def _add_data(commands: Any) -> None:
    command = commands.add_parser(
        "data",
        help="whether two data pipelines give the same batches, stage by stage",
        description="Compare a DataLoader or Dataset of PyTorch with a Dataset of MindSpore, as "
        "they stand: what is read, each transform, the batches; what draws, by its law. Exit code "
        "1: they differ.",
    )
    for name, side in (("reference", "TORCH"), ("candidate", "MINDSPORE")):
        meaning = "MODULE:ATTRIBUTE that builds it"
        command.add_argument(name, metavar=side, help=meaning)
    _add_arguments(command)
    command.add_argument(
        "--batches",
        type=positive,
        default=2,
        metavar="N",
        help="how many are read, the first ones (default: 2)",
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="(default: 0)")
    command.add_argument(
        "--time",
        action="store_true",
        help="tell the rows per second of both, too, with their own workers",
    )
    _add_json(command)
    command.set_defaults(
        run="equivalence.timing.loaders:command",
        given=("reference", "candidate", "arguments", "batches", "seed", "time", "json_file"),
        destination="the result",
    )


def _add_curve(commands: Any) -> None:
    command = commands.add_parser(
        "curve",
        help="whether a training's losses and metrics are those of the reference, step by step",
        description="Compare two trainings by their curves. Each side is what a run has left (CSV, "
        "JSON lines, a log, TensorBoard's events, a file of equivalence.monitored), or "
        "MODULE:FUNCTION, which yields a loss or a dict of losses and metrics for each "
        "step. A reference that is a function is run again "
        "with noise of one rounding, for its band. Exit code 1: the candidate leaves it.",
    )
    command.add_argument("reference", metavar="REFERENCE", help="a file, or MODULE:FUNCTION")
    command.add_argument("candidate", metavar="CANDIDATE", help="likewise")
    command.add_argument(
        "--pattern",
        metavar="REGEX",
        help=r"for lines of a log: 'step (?P<step>\d+) loss (?P<loss>\S+)'",
    )
    command.add_argument(
        "--rename",
        nargs="+",
        default=[],
        type=assignment,
        metavar="CANDIDATE=REFERENCE",
        help="names of metrics",
    )
    for option, default, meaning in (
        ("--steps", 300, "of a function are run at most"),
        ("--runs", 6, "with noise make the band"),
    ):
        command.add_argument(
            option, type=int, default=default, metavar="N", help=f"{meaning} (default {default})"
        )
    command.add_argument(
        "--seed", type=int, default=0, metavar="N", help="for functions (default 0)"
    )
    command.add_argument(
        "--picture", type=Path, dest="image", metavar="FILE", help="write both curves as SVG"
    )
    _add_json(command)
    command.set_defaults(
        run="equivalence.curves.command:command",
        given=(
            *("reference", "candidate", "pattern", "rename", "steps", "runs", "seed"),
            *("image", "json_file"),
        ),
        destination="the result",
    )


def _add_train(commands: Any) -> None:
    command = commands.add_parser(
        "train",
        help="whether two training scripts, as they stand, make the same steps",
        description="Run both scripts up to a step, with the reference's initial weights and "
        "batches on both sides, and compare each step: data, outputs, loss, gradients, clipping, "
        "schedule, update. The first step, stage and tensor that departs is named with its line. "
        "Exit code 1: they differ.",
    )
    command.add_argument(
        "reference", metavar="TORCH", help="a script, or MODULE:FUNCTION that trains"
    )
    command.add_argument("candidate", metavar="MINDSPORE", help="likewise")
    command.add_argument(
        "--steps",
        type=positive,
        default=10,
        metavar="N",
        help="updates by an optimiser (default 10)",
    )
    for option in ("--torch-args", "--mindspore-args"):
        command.add_argument(
            option, default="", metavar="ARGS", help=f"of the script: {option}='--lr 0.1'"
        )
    for option, meaning, kind in (
        (
            "--rename",
            "names of weights: runs of segments, as in a twin's rename",
            assignment,
        ),
        ("--constant", "a buffer that the candidate keeps in no weight", str),
    ):
        metavar = "NAME" if kind is str else "MINDSPORE=PYTORCH"
        command.add_argument(
            option, nargs="+", action="extend", default=[], type=kind, metavar=metavar, help=meaning
        )
    command.add_argument(
        "--execution", choices=("pynative",), help="run what the port compiles in PyNative mode"
    )
    _add_json(command)
    command.set_defaults(
        run="equivalence.scripts.command:command",
        given=(
            *("reference", "candidate", "steps", "torch_args", "mindspore_args", "rename"),
            *("constant", "execution", "json_file"),
        ),
        destination="the result",
    )


def _add_quantised(commands: Any) -> None:
    command = commands.add_parser(
        "quantised",
        help="how much a quantised network loses beside its float original, layer by layer",
        description="Run both, as they are built, on the same inputs: the signal to noise of each "
        "layer, in the whole run and by itself. No verdict: exit code 0.",
    )
    for name in ("original", "quantised"):
        command.add_argument(name, metavar=name.upper(), help="MODULE:ATTRIBUTE that builds it")
    _add_input(command)
    _add_arguments(command)
    meaning = "paths of layers: runs of segments, as in a twin's rename"
    command.add_argument(
        "--rename",
        nargs="+",
        default=[],
        type=assignment,
        metavar="QUANTISED=ORIGINAL",
        help=meaning,
    )
    command.add_argument("--seed", type=int, default=0, metavar="N", help="(default: 0)")
    _add_json(command)
    command.set_defaults(
        run="equivalence.quantised.command:command",
        given=("original", "quantised", "inputs", "arguments", "rename", "seed", "json_file"),
        destination="the report",
    )


def _add_json(command: argparse.ArgumentParser, meaning: str = "write all of the result") -> None:
    command.add_argument("--json", type=Path, dest="json_file", metavar="FILE", help=meaning)


def _add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--arguments",
        nargs="+",
        default=[],
        type=argument,
        metavar="KEY=VALUE",
        help="what to call MODULE:ATTRIBUTE with",
    )
