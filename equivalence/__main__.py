"""The command line: `equivalence COMMAND`."""

import os
import signal
import sys
from collections.abc import Sequence

from equivalence.commands import USAGE_ERROR, parser
from equivalence.errors import EquivalenceError
from equivalence.host import environment
from equivalence.targets import resolve

INTERRUPTED = 130
"""The exit code after an interruption."""

CUT_OFF = 141
"""The exit code where nobody reads on, as after `| head`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code, USAGE_ERROR for what a user can correct."""
    options = vars(parser().parse_args(arguments))
    run, writes = options.pop("run"), options.pop("writes", options.get("destination"))
    environment.prepare()
    if os.getcwd() not in sys.path:  # targets lie where the command runs, as with `python -m`
        sys.path.insert(0, os.getcwd())
    try:
        code = resolve(run)(**options)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to come
        return CUT_OFF
    except EquivalenceError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE_ERROR
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("torch", "torchvision"):
            raise
        print(f"error: this needs {error.name}: {environment.REFERENCE}", file=sys.stderr)
        return USAGE_ERROR
    except KeyboardInterrupt:
        print(f"interrupted: {writes} was not written", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    # With an interrupt at SIGTERM, an ended process removes its draft, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
