"""`equivalence compare TORCH MINDSPORE`."""

import ast
import contextlib
import difflib
import itertools
import re
import shlex
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np

from equivalence import folders, output
from equivalence.bylayer import spread
from equivalence.declare.declaration import shown
from equivalence.declare.distributions import KINDS
from equivalence.declare.draws import file
from equivalence.declare.network import read_network
from equivalence.declare.operator import read_draw
from equivalence.declare.twin import PAIRS, REPLAY
from equivalence.declare.written import source
from equivalence.dumps import compare as dumped
from equivalence.dumps import read
from equivalence.dumps.beside import Judgements
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.host import environment
from equivalence.host.isolation import isolated
from equivalence.output import DIFFERENT, aside, demand_writable, tell, write_json
from equivalence.own import result, terminal
from equivalence.own.notebook import twin_of
from equivalence.own.session import DROPOUT, UNKNOWN, CaseVerdict, Session, Tell, forget
from equivalence.reach.words import exactly, listing
from equivalence.targets import needs
from equivalence.typed_targets import demand_target

ENDINGS = (".npy", ".npz")
"""Endings of files of arrays."""


class Networks(NamedTuple):
    """Two networks, their weights, and where and how they run: an option each, by its name.

    reference, candidate: what builds them, "MODULE:ATTRIBUTE".
    weights: a checkpoint for both; None: they are drawn.
    arguments: what both are called with, as pairs.
    pair: "name", "order" or a file of pairs. rename: pairs of names, MindSpore's first.
    constant: buffers that the candidate keeps in no weight. random: layers that are pinned.
    phase, execution, dtype, device, seed: of the cases.
    torch_path, mindspore_path: the folders that the sides are imported from.
    """

    reference: str
    candidate: str
    weights: Path | None
    arguments: Sequence[tuple[str, Any]]
    pair: str
    rename: Sequence[tuple[str, str]]
    constant: Sequence[str]
    random: Sequence[str]
    phase: Sequence[str]
    execution: Sequence[str]
    dtype: Sequence[str]
    device: str
    seed: int
    torch_path: Path | None
    mindspore_path: Path | None

    @property
    def paths(self) -> tuple[Path | None, Path | None]:
        """The folders that the reference and the candidate are imported from."""
        return self.torch_path, self.mindspore_path


CURES = {
    "does not take": "give what both are called with by --arguments KEY=VALUE",
    "random_layers=": "here: --random, as often as needed",
    "executions='pynative'": "here: --execution pynative",
    "--constant ": "name what one side computes by --constant, and say what belongs together by "
    "--rename CANDIDATE=REFERENCE",
    "do not pair up by name": "here: --pair order",
    "do not pair up": "say which belong together by --rename CANDIDATE=REFERENCE, or --pair FILE",
    "constants name": "here: --constant",
    "rename ": "here: --rename",
}
"""Words of an error -> the option that helps."""


class Wanted(NamedTuple):
    """What is asked of a comparison of two networks: an option each, by its name.

    original: the network of PyTorch by which both are judged; None where one of them is it.
    """

    original: str | None
    inputs: Sequence[str]
    by_layer: bool
    forward: bool
    settings: bool
    hidden_settings: bool
    reach: bool
    require_reach: float | None
    thorough: bool
    write: Path | None
    json_file: Path | None
    html: Path | None


def command(**options: Any) -> int:
    """Compare two networks and print the result, the answer first; returns the exit code.

    Two files or folders of arrays are compared by themselves, see `dumps`.

    options: the fields of `Networks` and of `Wanted`.
    """
    told = Networks(*(options[name] for name in Networks._fields))
    wanted = Wanted(*(options[name] for name in Wanted._fields))

    def given(*names: str) -> str | None:
        """The first of these options that is given, as it is written."""
        names_given = (name for name in names if options[name])
        return next((f"--{WRITTEN.get(n, n).replace('_', '-')}" for n in names_given), None)

    reference, candidate, original = told.reference, told.candidate, wanted.original
    if any(map(read.is_stored, (reference, candidate))):
        others = ("inputs", "weights", *(() if original else ("arguments",)), "write", "html")
        others += ("by_layer", "settings", "reach", "require_reach", "hidden_settings", "constant")
        _demand_stored(reference, candidate, given(*others, "random", "thorough", "forward"))
        judge = None if original is None else _judging(original, told)
        return dumped.command(reference, candidate, dict(told.rename), wanted.json_file, judge)
    if original is not None:
        if option := given("write", "html", "by_layer", "settings", "hidden_settings", "reach"):
            raise DeclarationError(
                f"{option} is for one network beside its original; leave out it or --reference"
            )
        return _judged_by(original, told, wanted)
    named = {"--write": wanted.write, "--json": wanted.json_file, "--html": wanted.html}
    for name, path in named.items():
        demand_writable(path, name, replace=name != "--write")
    for (one, path), (other, same) in itertools.combinations(named.items(), 2):
        if path is not None and path == same:
            raise DeclarationError(f"{one} and {other} both name {path}; name two files")
    if option := given("hidden_settings", "reach", "thorough"):
        if wanted.by_layer:
            raise DeclarationError(f"{option} runs the whole reference; leave out --by-layer")
        if wanted.settings:
            raise DeclarationError(f"{option} runs the networks; leave out --settings")
    fields = fields_of(told, wanted.inputs) | _more(wanted)
    repeat = _repeat(told, fields, wanted.inputs)
    try:
        session = session_of(told, fields, tell)
        if not wanted.by_layer and (launcher := spread.launched()):
            raise DeclarationError(
                f"{launcher} starts several processes, and only a comparison layer by layer is "
                f"spread over them; add --by-layer, or leave {launcher} out"
            )
        _out.set(sys.stdout)
        with spread.joined(told.device), aside():
            if spread.leads():
                return _run(session, wanted, repeat)
            return _follow(session, wanted)
    except EquivalenceError as error:
        if cure := next((CURES[words] for words in CURES if words in str(error)), None):
            first, line, rest = str(error).partition("\n")
            raise type(error)(f"{first}; {cure}{line}{rest}") from error
        raise
    finally:
        forget()


WRITTEN = {"inputs": "input", "json_file": "json"}
"""Names of options that are written in another way."""


def _more(wanted: Wanted) -> dict[str, Any]:
    """The fields of a twin that say how it is compared."""
    fields: dict[str, Any] = {"by_layer": True} if wanted.by_layer else {}
    fields |= {"backward": False} if wanted.forward else {}
    return fields | ({} if wanted.require_reach is None else {"reach": wanted.require_reach})


def _judging(
    original: str, networks: Networks
) -> Callable[[read.Dump, Mapping[str, str]], Judgements]:
    """What judges a recorded run by the original, in the phase of the run."""
    environment.demand_torch(f"the reference {original}")
    demand_target(original, "TORCH")

    def judge(dump: read.Dump, rename: Mapping[str, str]) -> Judgements:
        from equivalence.dumps import judged  # torch is there
        from equivalence.sides.torch_network import TorchNetwork

        if not dump.made:
            raise DeclarationError(
                f"{dump.path} is no run that `recorded` has written, which alone holds what went "
                "in; leave out --reference"
            )
        phase = networks.phase[0] if len(networks.phase) == 1 else dump.made.get("phase")
        if phase is None:
            raise DeclarationError(
                f"{dump.path} does not say whether the network trains; add --phase train or eval"
            )
        tell(f"running {original} on what went into {dump.path}")
        target = folders.joined(networks.torch_path or "", original)
        with aside(), isolated():
            network = TorchNetwork(target, dict(networks.arguments))
            return judged.judge(dump, network, phase, rename)

    return judge


def _judged_by(original: str, networks: Networks, wanted: Wanted) -> int:
    """Judge both networks by the same original, each as ever, and print what came of it."""
    demand_writable(wanted.json_file, "--json")
    if not wanted.inputs:
        raise DeclarationError("there is no --input; give what all three networks take")
    documents, lines, right = [], [], []
    _out.set(sys.stdout)
    for each in (networks.reference, networks.candidate):
        one = networks._replace(reference=original, candidate=each)
        fields = fields_of(one, wanted.inputs) | _more(wanted)
        repeat = _repeat(one, fields, wanted.inputs)
        try:
            with aside():
                session = session_of(one, fields, tell)
                structure = session.demand_pairs()
                verdicts, further = session.all_verdicts(wanted.thorough)
        finally:
            forget()
        found = result.Result(session.twin, structure, tuple(verdicts), repeat, further)
        right += [each] if found else []
        answer = (f"  {line}" for line in result.answered(found))
        lines += ["", f"{each} beside {original}:", *answer]
        documents.append(result.document(found))
    names = [networks.reference, networks.candidate]
    wrong = [name for name in names if name not in right]
    if not wrong:
        first = f"EQUAL. {' and '.join(dict.fromkeys(names))} are both equal to {original}."
    elif right:
        first = f"DIFFERENT. {right[0]} is equal to {original}, and {wrong[0]} is not."
    else:
        first = f"DIFFERENT. Neither is equal to {original}."
    _print([first, *lines])
    write_json(wanted.json_file, {"equal": not wrong, "text": first, "networks": documents})
    return DIFFERENT if wrong else 0


def session_of(networks: Networks, fields: dict[str, Any], tell: Tell = lambda _: None) -> Session:
    """The session of two networks. fields: what `fields_of` gives, and more."""
    sides = zip(networks.paths, (networks.reference, networks.candidate), strict=True)
    theirs, ours = (folders.joined(path or "", target) for path, target in sides)
    return Session(twin_of(theirs, ours, fields), networks.device, networks.seed, tell)


def fields_of(networks: Networks, inputs: Sequence[str]) -> dict[str, Any]:
    """The fields of a twin, as the options of a command write them."""
    _demand_frameworks(networks)
    fields: dict[str, Any] = {"rename": dict(networks.rename), "constants": networks.constant}
    given = {name: _argument(each, *networks.paths) for name, each in networks.arguments}
    fields |= {"configs": (given,), "inputs": inputs_of(inputs) or UNKNOWN}
    fields |= {"phases": networks.phase, "executions": networks.execution, "dtypes": networks.dtype}
    fields |= _pairing(networks.pair, fields["rename"])
    if networks.random:
        one = networks.random[0] if len(networks.random) == 1 else None
        fields["random_layers"] = one if one in (DROPOUT, REPLAY) else tuple(networks.random)
    if networks.weights is not None:
        if not networks.weights.exists():
            raise DeclarationError(f"--weights {networks.weights} is not there; name a checkpoint")
        fields["weights"] = str(networks.weights)
    sides = networks.reference, networks.candidate
    for side, name, path in zip(sides, ("TORCH", "MINDSPORE"), networks.paths, strict=True):
        demand_target(side, name)
        option = f"--{name.lower()}-path"
        if path is not None and folders.split(side)[0]:
            raise DeclarationError(f"{name} {shown(side)} names its folder; leave out {option}")
        if path is not None and not path.is_dir():
            raise DeclarationError(f"{option} {path} is no folder; name the one to import from")
    return fields


def _demand_frameworks(networks: Networks) -> None:
    """Demand torch at once where the module of the reference, which is imported, asks for it.

    A network of MindSpore is a reference, too, of another one of MindSpore.
    """
    target = folders.joined(networks.torch_path or "", networks.reference)
    if not environment.installed("torch") and needs(target, "torch"):
        environment.demand_torch(f"the reference {networks.reference}")


def _argument(value: Any, torch_path: Path | None, mindspore_path: Path | None) -> Any:
    """The value of --arguments KEY=VALUE: a network that it writes, or itself."""
    if not (isinstance(value, str) and value.startswith("network(")):
        return value
    return read_network(value).below(torch_path, mindspore_path)


def _follow(session: Session, wanted: Wanted) -> int:
    """Compare this process's share of all cases, silently: the first process tells it."""
    session.tell = lambda _: None
    if wanted.inputs and not wanted.settings and not session.structure().problem:
        for _ in session.verdicts():
            pass
    return 0


def _run(session: Session, wanted: Wanted, repeat: result.Repeat) -> int:
    write, structure = wanted.write, session.structure()
    if structure.problem and not wanted.settings:
        _print(result.settings_lines(structure))
        raise structure.problem
    tell(result.settings_lines(structure)[0])
    verdicts: list[CaseVerdict] = []
    samples, further = {}, None
    if not wanted.settings:
        if not wanted.inputs:
            raise DeclarationError(f"there is no --input: {structure.proposal}")
        if write is not None:
            output.write(write, source(session.twin))
        verdicts, further = session.all_verdicts(wanted.thorough)
        of_given = (each.outcome for each in verdicts if wanted.hidden_settings and not each.sample)
        for outcome in of_given:
            sample = outcome.case.sample_name
            if not outcome.passed:
                continue
            if sample not in samples:
                samples[sample] = session.hidden(outcome.case)
            outcome.reach = outcome.reach and exactly(outcome.reach, samples[sample].tried)
    shown = [each.twin() for each in verdicts if each.sample is not None]
    if write is not None and (session.twin.degenerate or shown):  # which only the verdicts tell
        output.write(write, source(session.twin, *shown))
    found = result.Result(session.twin, structure, tuple(verdicts), repeat, further)
    out = _out.get() or sys.stdout
    below = [line for each in samples.values() for line in each.lines]
    below += listing(found.reach) if wanted.reach and found.reach is not None else []
    told = result.lines(found, below, result.PLAIN if wanted.reach else result.ASKED)
    colour = terminal.shows_colour(out)
    _print(terminal.for_terminal(told, colour) if out.isatty() else told)
    if write is not None and not wanted.settings:
        _print([f"{write}: the declaration; pytest {write} compares the same"])
    write_json(wanted.json_file, result.document(found))
    if wanted.html is not None:
        output.write(wanted.html, result.page_of(found))
        _print([f"{wanted.html}: the same as a page, with every layer of what differs"])
    return 0 if found else DIFFERENT


def _print(lines: Sequence[str]) -> None:
    """Print lines at once."""
    for line in lines:
        print(line, flush=True, file=_out.get())


_out: ContextVar[TextIO | None] = ContextVar("out", default=None)
"""Where the result is written: standard output as it was before networks could print."""


def _demand_stored(reference: str, candidate: str, option: str | None) -> None:
    """Demand that both sides are on disk, and that no option is given that needs a network."""
    for one, other in ((reference, candidate), (candidate, reference)):
        if not read.is_stored(other):
            raise DeclarationError(
                f"{one} holds arrays, and {shown(other)} is neither a folder nor a file of "
                f"{', '.join(read.SUFFIXES)}: name arrays for both, or MODULE:ATTRIBUTE for both"
            )
    if option:
        raise DeclarationError(
            f"{option} is for networks; for arrays on disk there are --rename, --reference "
            "and --json"
        )


def inputs_of(texts: Sequence[str]) -> Any:
    """The inputs of a twin, as --input writes them: in order, or KEYWORD=INPUT each."""
    named = {key: value for key, _, value in map(_keyword, texts) if key}
    if not named:
        return [each for text in texts for each in _input(text)]
    if len(named) < len(texts):
        raise DeclarationError(
            f"--input: {len(named)} of {len(texts)} have a keyword; give one to each, or to none"
        )
    inputs = {}
    for key, text in named.items():
        inputs[key], *more = _input(text)
        if more:
            raise DeclarationError(f"--input {key}={text}: it holds several arrays; give one")
    return inputs


def _keyword(text: str) -> tuple[str, str, str]:
    """(keyword, "=", input); the keyword is empty for an input by its place."""
    found = re.match(r"([a-zA-Z_]\w*)=(.+)", text, re.DOTALL)
    return (found[1], "=", found[2]) if found else ("", "", text)


def _input(text: str) -> list[Any]:
    """The inputs that a text writes: a draw, a structure of such, or the arrays of a file."""
    if text.endswith(ENDINGS):
        return [file(text, name) for name in _names(text)]
    try:
        return [_read(ast.parse(text.strip(), mode="eval").body)]
    except (SyntaxError, ValueError, AttributeError, TypeError, KeyError) as error:
        raise DeclarationError(f"--input {text!r} is no input; {_meant(text, error)}") from None


def _read(node: ast.expr) -> Any:
    """The input that a parsed text writes: a draw, None, True, False, or what holds such."""
    if isinstance(node, ast.Tuple | ast.List) and not all(map(_is_number, node.elts)):
        items = [*map(_read, node.elts)]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict) and node.keys:
        keys = [ast.literal_eval(key) for key in node.keys if key is not None]
        return dict(zip(keys, map(_read, node.values), strict=True))
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, bool)):
        return node.value
    return read_draw(node)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _names(path: str) -> list[str | None]:
    """The names of the arrays of a file; None where it holds one, or cannot be read."""
    if path.endswith(".npz"):
        with contextlib.suppress(OSError, ValueError, EOFError, zipfile.BadZipFile):
            return [*np.load(path, allow_pickle=False).files]
    return [None]


def _meant(text: str, error: Exception) -> str:
    """What the text of an input was probably to be.

    error: what reading it raised.
    """
    if text.startswith("network("):
        return f"a network is an argument: --arguments net={text!r}"
    if Path(text).suffix and re.search(r"[/\\]|\.\w+$", text) and "(" not in text:
        return f"a file of inputs ends in {' or '.join(ENDINGS)}; save it by numpy.save"
    if re.fullmatch(r"[\d\s,x()\[\]]+", text):
        sizes = ", ".join(re.findall(r"\d+", text))
        return f"write 'normal({sizes})'"
    word = re.split(r"\W", text, maxsplit=1)[0]
    if word in KINDS and isinstance(error, TypeError):
        return f"{error}"
    near = difflib.get_close_matches(word, KINDS, n=1)
    if word in KINDS or near:
        return f"write it as '{(near or [word])[0]}(2, 3, 64, 64)' is written"
    return f"write a draw, such as 'normal(2, 3, 64, 64)'; there are {', '.join(KINDS)}"


def _pairing(pair: str, rename: dict[str, str]) -> dict[str, Any]:
    """The fields of a twin for --pair: a way of pairing, or a file of pairs."""
    if pair in PAIRS:
        return {"pair": pair} if pair != PAIRS[0] else {}
    path = Path(pair)
    if not path.is_file():
        raise DeclarationError(f"--pair {pair!r} is neither {' nor '.join(PAIRS)}, nor a file")
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DeclarationError(f"--pair {pair!r} cannot be read as text: {error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        ours, equals, theirs = map(str.strip, line.partition("="))
        if not (ours and equals and theirs):
            raise DeclarationError(
                f"{pair}:{number}: {shown(line)} is no pair; write CANDIDATE = REFERENCE"
            )
        rename[ours] = theirs
    return {"rename": rename}


def _repeat(networks: Networks, fields: dict[str, Any], inputs: Sequence[str]) -> result.Repeat:
    """The command that repeats one case."""
    (config,) = fields["configs"]
    paths = zip(("--torch-path", "--mindspore-path"), networks.paths, strict=True)
    options: dict[str, Sequence[str]] = {o: [str(path)] for o, path in paths if path is not None}
    options |= {
        "--arguments": [f"{key}={value!r}" for key, value in config.items()],
        "--rename": [f"{ours}={theirs}" for ours, theirs in fields["rename"].items()],
        "--pair": [fields["pair"]] if "pair" in fields else [],
        "--constant": fields["constants"],
        "--random": networks.random,
        "--weights": [fields["weights"]] if "weights" in fields else [],
        "--require-reach": [f"{fields['reach']:g}"] if "reach" in fields else [],
        "--device": [networks.device] if networks.device != "cpu" else [],
    }
    words = []
    for option, values in options.items():
        words += [option, *values] if values else []
    words += ["--by-layer"] if "by_layer" in fields else []
    words += ["--forward"] if "backward" in fields else []
    begins = ["equivalence", "compare", networks.reference, networks.candidate]
    first, rest = (
        shlex.join(each).replace("{", "{{").replace("}", "}}") for each in (begins, words)
    )
    rest += " --phase {phase} --execution {execution} --dtype {dtype}"
    text = f"{first} {{inputs}} {rest} --seed {networks.seed}".replace("  ", " ")

    def write(texts: Sequence[str]) -> str:
        return shlex.join(["--input", *texts]) if texts else ""

    return result.Repeat(text, write(inputs), write)
