"""The command line: `python -m equivalence convert SOURCE DESTINATION`."""

import argparse
import ast
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equivalence import environment
from equivalence.errors import EquivalenceError

USAGE_ERROR, INTERRUPTED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code: 0, or 2 for what a user can put right."""
    options = _parser().parse_args(arguments)
    environment.prepare()
    from equivalence.convert import convert

    try:
        made = convert(
            options.source,
            options.destination,
            to=options.to,
            network=options.network,
            arguments={key: _value(value) for key, value in options.arguments},
            rename=dict(options.rename),
            drop=options.drop,
            layout=options.layout,
            force=options.force,
            optimizer=options.optimizer,
            steps=options.steps,
        )
    except EquivalenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print(f"interrupted: {options.destination} was not written", file=sys.stderr)
        return INTERRUPTED
    print(f"{options.source} -> {options.destination}", *made.lines(), sep="\n")
    print(f"{options.destination}: {made.count()}, verified by reading back")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m equivalence", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "convert",
        help="turn a PyTorch checkpoint into a MindSpore checkpoint, or back",
        description="Turn a PyTorch checkpoint (.pth, .pt, .safetensors) into a MindSpore "
        "checkpoint (.ckpt, .safetensors), or back.",
    )
    command.add_argument("source", type=Path, metavar="SOURCE")
    command.add_argument("destination", type=Path, metavar="DESTINATION")
    command.add_argument(
        "--to", choices=("mindspore", "pytorch"), help="needed where both are .safetensors"
    )
    command.add_argument(
        "--network",
        metavar="MODULE:ATTRIBUTE",
        help="builds the network that DESTINATION is for; all names and shapes must fit it",
    )
    command.add_argument(
        "--arguments",
        nargs="+",
        default=[],
        type=_assignment,
        metavar="KEY=VALUE",
        help="what to call it with",
    )
    command.add_argument(
        "--rename",
        nargs="+",
        default=[],
        type=_assignment,
        metavar="MINDSPORE=PYTORCH",
        help="runs of name segments, as in a twin's rename",
    )
    command.add_argument(
        "--drop",
        nargs="+",
        default=[],
        metavar="NAME",
        help="leave out weights, or all below NAME; optimizer: an optimiser's state",
    )
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
    return parser


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals and value):
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return key, value


def _value(text: str) -> Any:
    """A Python literal, or else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


if __name__ == "__main__":
    # An ended process leaves no draft behind, either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
