"""What people type to launch a training, "torchrun --nproc_per_node 2 train.py --lr 0.1", read.

The frameworks' own launchers start the ranks anew, on this host. Imports no framework.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equivalence.errors import DeclarationError
from equivalence.words import joined

LAUNCHERS = {
    "torchrun": ("nproc_per_node", "1"),
    "torch.distributed.run": ("nproc_per_node", "1"),
    "torch.distributed.launch": ("nproc_per_node", "1"),
    "msrun": ("worker_num", "8"),
    "mindspore.parallel.cluster.run": ("worker_num", "8"),
    "mpirun": ("n", "1"),
    "mpiexec": ("n", "1"),
}
"""What starts ranks -> the option with their number, and what it is by itself."""

SAME = {"np": "n", "c": "n"}
"""Options of other names."""

HOSTS = ("nnodes", "local_worker_num")
"""Options that tell of several hosts."""


@dataclass(frozen=True)
class Line:
    """A training as a line launches it.

    script: its file, or MODULE:FUNCTION. arguments: those of the script, as in a shell.
    ranks: how many processes; None where the text is a script itself, and no line.
    variables: those of the environment that are set before it.
    """

    script: str
    arguments: str = ""
    ranks: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


def read(text: str, role: str) -> Line:
    """The training that a text launches. role: "reference" or "candidate", for errors.

    Raises DeclarationError where it is a shell script, or launches nothing that can be run here.

    >>> read("OMP_NUM_THREADS=1 torchrun --nproc_per_node=2 train.py --lr 0.1", "reference")
    Line(script='train.py', arguments='--lr 0.1', ranks=2, variables={'OMP_NUM_THREADS': '1'})
    >>> read("train.py", "reference")
    Line(script='train.py', arguments='', ranks=None, variables={})
    """
    if os.path.isfile(text) and not text.endswith((".sh", ".bash")):
        return Line(text)
    if text.endswith((".sh", ".bash")) and " " not in text:
        raise DeclarationError(f"the {role} {text!r} is a shell script{_line_in(text)}")
    words = _words(text, role)
    variables = {}
    while words and re.match(r"[A-Za-z_]\w*=", words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    program = os.path.basename(words[0]) if words else ""
    if program not in LAUNCHERS and not _is_python(program):
        return Line(text)
    at = next((n for n, word in enumerate(words) if word.endswith(".py")), 0)
    if not at:
        raise DeclarationError(
            f"the {role} {text!r} names no script: a word that ends with .py; -m MODULE is not read"
        )
    options = words[1:at]
    modules = [each for each in options if each in LAUNCHERS]
    launcher = program if program in LAUNCHERS else next(iter(modules), "")
    ranks = _ranks(launcher, options, text, role) if launcher else 1
    return Line(words[at], shlex.join(words[at + 1 :]), ranks, variables)


def _words(text: str, role: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise DeclarationError(f"the {role} {text!r} is no line of a shell: {error}") from None


def _is_python(program: str) -> bool:
    return re.fullmatch(r"python[\d.]*", program) is not None


def _ranks(launcher: str, words: Sequence[str], text: str, role: str) -> int:
    """How many ranks a launcher starts on this host."""
    options: dict[str, str] = {}
    for number, word in enumerate(words):
        name, equals, value = word.lstrip("-").replace("-", "_").partition("=")
        if word.startswith("-"):
            following = words[number + 1] if number + 1 < len(words) else ""
            options[SAME.get(name, name)] = value if equals else following
    option, unless = LAUNCHERS[launcher]
    asked = options.get(option, unless)
    if not asked.isdigit() or int(asked) < 1:
        raise DeclarationError(
            f"the {role} {text!r} starts {asked!r} ranks; write their number for --{option}"
        )
    hosts = {each: options[each] for each in HOSTS if each in options}
    if hosts.get("nnodes", "1") != "1" or hosts.get("local_worker_num", asked) != asked:
        raise DeclarationError(
            f"the {role} {text!r} is for several hosts; ranks run on this one alone: write all of "
            f"them for --{option}"
        )
    return int(asked)


def _line_in(file: str) -> str:
    """What to give in the place of a shell script, as the end of a sentence."""
    cure = "; give the line in it that starts the training, such as 'torchrun --nproc_per_node 2 "
    cure += "train.py', with the values of its variables"
    if not os.path.isfile(file):
        return f", and there is no such file{cure}"
    whole = Path(file).read_text(errors="replace").replace("\\\n", " ")
    starts = rf"(?:^|[\s/])({'|'.join(map(re.escape, LAUNCHERS))}|python[\d.]*)\s.*\.py\b"
    found = [" ".join(line.split()) for line in whole.splitlines() if re.search(starts, line)]
    found = [line.rstrip("& ") for line in found if not line.startswith("#")]
    if not found:
        return cure
    values = ", with the values of its variables" if "$" in found[0] else ""
    return f"; give the line in it that starts the training{values}: {shlex.quote(found[0])}"


def demand_ranks(
    counts: Mapping[str, int | None], asked: int | tuple[int, int] | None
) -> tuple[int, int] | None:
    """How many ranks the reference and the candidate run on; None: each is one process, as it is.

    counts: side -> what its line says; None where it is no line. asked: by `ranks`.
    Raises DeclarationError where they contradict each other, or do not fit.

    >>> demand_ranks({"reference": 2, "candidate": 2}, None)
    (2, 2)
    >>> demand_ranks({"reference": None, "candidate": None}, (1, 2))
    (1, 2)
    >>> demand_ranks({"reference": 1, "candidate": None}, None)
    """
    both = (asked, asked) if isinstance(asked, int) else asked
    if both is None:
        first, second = (count or 1 for count in counts.values())
        both = first, second
        if both == (1, 1):
            return None
    elif len(both) != 2 or not all(isinstance(each, int) for each in both):
        raise DeclarationError(f"ranks is {asked!r}; write one number, or one for each side")
    elif max(both) < 2:
        raise DeclarationError(
            f"ranks is {' and '.join(map(str, dict.fromkeys(both)))}; one process is run without it"
        )
    for (side, count), wanted in zip(counts.items(), both, strict=True):
        if count not in (None, wanted):
            raise DeclarationError(
                f"ranks is {wanted}, and the line of the {side} starts {count}; leave it out"
            )
    if both[0] != both[1] and 1 not in both:
        raise DeclarationError(
            f"the ranks are {joined(both)}; as many on both sides are compared, or one process "
            "with several"
        )
    if min(both) < 1:
        raise DeclarationError(f"the ranks are {joined(both)}; write numbers above zero")
    return both
