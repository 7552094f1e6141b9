"""Runs what coverage hints in MindSpore, with the arguments that calls of PyTorch had.

`python -m tests.engine.coverage.replayed` checks every line of the networks in `PARTS` that is
called "verified", and prints what became of them. The calls are watched in a process of their own.
Calls with the same dtypes, ranks and other arguments are made once.
"""

import argparse
import ast
import contextlib
import copy
import dataclasses
import functools
import json
import operator
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.host import environment

environment.prepare()

import mindspore as ms  # noqa: E402
import torch  # noqa: E402

from equivalence import targets, torchvision_schemas  # noqa: E402
from equivalence.coverage import known  # noqa: E402
from equivalence.coverage.compared import PLACES, signatures  # noqa: E402
from equivalence.coverage.reader import Call, Told, literal  # noqa: E402
from equivalence.coverage.text import hint  # noqa: E402
from equivalence.coverage.torch_names import TENSOR, computes_nothing, is_class, look_up  # noqa: E402
from equivalence.coverage.usage import Follower  # noqa: E402
from equivalence.coverage.verdict import ONE_DTYPE, Danger, Judge, Verdict  # noqa: E402
from equivalence.declare.draws import file  # noqa: E402
from equivalence.declare.twin import Twin, cases  # noqa: E402
from equivalence.errors import EquivalenceError, IllPosedError  # noqa: E402
from equivalence.report import text as report  # noqa: E402
from equivalence.runs import kept as kept_runs  # noqa: E402
from equivalence.twins import check  # noqa: E402
from tests.engine.coverage.watched import OPERATORS, Kept, position, tensors  # noqa: E402

ROOT = Path(__file__).parents[3]
HERE = "tests.engine.coverage"

PARTS = {
    "detection": ("torchvision/models/detection", f"{HERE}.networks:detection"),
    "swin": ("torchvision/models/swin_transformer.py", f"{HERE}.networks:swin"),
    "llama": ("pt_reference/llama.py", f"{HERE}.networks:llama"),
    "yolox": ("pt_reference/yolox*.py", f"{HERE}.networks:yolox"),
}
"""Name -> the code, below torchvision's folder or the repository, and what runs it."""

RANDOM = ("torch.nn.init.", "torch.rand", "dropout", "Dropout", "stochastic_depth", "multinomial")
"""Words in the names of calls that draw: their law is compared elsewhere, not their numbers."""


class UnplayableError(Exception):
    """A call that cannot be made again, with the reason."""


@dataclasses.dataclass
class Site:
    """One judged call in one file."""

    path: Path
    call: Call
    verdict: Verdict

    @property
    def told(self) -> str:
        """Where the call is, and its code."""
        return f"{self.call.place}: {self.call.text}"


def judged(paths: Iterable[Path], judge: Judge) -> list[Site]:
    """The calls of PyTorch in files and in what they use of their package, with verdicts."""
    follower = Follower(judge.known.knows)
    follower.read_files(*paths)
    nodes = {
        id(node): path
        for path, each in follower.project._files.items()
        for node in ast.walk(each.tree)
    }
    sites = []
    for call in follower.usage.calls:
        if not computes_nothing(call.api) and id(call.node) in nodes:
            sites.append(Site(nodes[id(call.node)], call, judge.judge(call)))
    return sites


def watch(sites: list[Site], run: str) -> tuple[dict[int, list[Kept]], set[int]]:
    """What was kept of each call by its number, and which calls ran. run: "module:function"."""
    table: dict[str, dict] = {}
    functions = set()
    for number, site in enumerate(sites):
        node = site.call.node
        # What is no instance of an expression that is loaded has nothing to wrap.
        if site.call.given is not None and not _stored(node):
            table.setdefault(str(site.path), {})[position(node)] = number
            if not site.call.api.startswith(f"{TENSOR}."):
                functions.add(number)
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "sites"), Path(folder, "kept")
        torch.save((table, frozenset(functions)), given)
        command = [sys.executable, "-m", f"{HERE}.watched", str(given), str(found), run]
        # torchvision compiles some functions; compiled code does not go through the recorder.
        plain = {**os.environ, "TORCHDYNAMO_DISABLE": "1"}
        subprocess.run(command, cwd=ROOT, check=True, env=plain)
        return torch.load(found, weights_only=False)


def _stored(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) or isinstance(getattr(node, "ctx", None), ast.Store)


# The same call on both sides.


def reference(call: Call) -> Callable[..., Any]:
    """What a call calls in PyTorch, with the arguments in the order of the code."""
    node = call.node
    kinds = {ast.BinOp: "op", ast.UnaryOp: "op"}
    if type(node) in kinds:
        return OPERATORS[type(node.op)]
    if isinstance(node, ast.Compare):
        return OPERATORS[type(node.ops[0])]
    if isinstance(node, ast.Subscript):
        return operator.getitem
    if call.api.startswith(f"{TENSOR}."):
        name = call.api.rpartition(".")[2]
        return lambda x, *rest, **named: getattr(x, name)(*rest, **named)
    return look_up(call.api)


def candidate(site: Site, judge: Judge, kept: Kept) -> Callable[..., Any]:
    """What coverage hints for a call, as a function of the same arguments.

    A function of the arguments of a layer returns the layer. Raises UnplayableError.
    """
    call, counterpart = site.call, site.verdict.counterpart
    if counterpart is None:
        raise UnplayableError("no counterpart to call")
    if isinstance(call.node, ast.Call) and (
        counterpart.through or (site.verdict.built and _own(site.verdict.built))
    ):
        return _by_name(site, kept)
    node, names, keywords = _with_names(call.node, kept)
    own = dataclasses.replace(call, node=node, text=ast.unparse(node))
    written = hint(own, site.verdict, judge)
    if not written:
        raise UnplayableError("no hint")
    if written.endswith(", a layer"):
        return _by_name(site, kept)
    code = compile(written, written, "eval")

    def made(*arguments: Any, **named: Any) -> Any:
        space = {"ms": ms, **dict(zip(names, arguments, strict=True))}
        return eval(code, space | {f"_{key}": named[key] for key in keywords})

    return made


def _own(built: str) -> bool:
    return not built.startswith("mindspore.")


def _with_names(node: ast.AST, kept: Kept) -> tuple[ast.AST, list[str], list[str]]:
    """(a call with a name for each argument, the names of positions, the keywords)."""
    node = copy.deepcopy(node)
    names = [f"_{number}" for number in range(len(kept.arguments))]
    given = [ast.Name(name, ast.Load()) for name in names]
    if isinstance(node, ast.BinOp):
        node.left, node.right = given
    elif isinstance(node, ast.UnaryOp):
        node.operand = given[0]
    elif isinstance(node, ast.Compare):
        node.left, node.comparators = given[0], [given[1]]
    elif isinstance(node, ast.Subscript):
        node.value, node.slice = given
    else:
        if any(each.arg is None for each in node.keywords):
            raise UnplayableError("its keywords are gathered in a dictionary")
        stars = sum(isinstance(each, ast.Starred) for each in node.args)
        if stars:
            raise UnplayableError("its arguments are unpacked")
        if len(given) > len(node.args):  # a method: the first is what it is called on
            node.func.value = given.pop(0)
        # What the code writes out stays as it is: the hint may write it in another way.
        node.args = [
            old if literal(old) is not Told.UNKNOWN else new
            for old, new in zip(node.args, given, strict=True)
        ]
        for each in (each for each in node.keywords if literal(each.value) is Told.UNKNOWN):
            each.value = ast.Name(f"_{each.arg}", ast.Load())
    return node, names, [each.arg for each in getattr(node, "keywords", [])]


def _by_name(site: Site, kept: Kept) -> Callable[..., Any]:
    """A function of the project that makes the call: inputs in order, all else by name."""
    call, verdict = site.call, site.verdict
    counterpart = verdict.counterpart
    count = len(kept.arguments)
    signature = max(
        (list(each) for each in signatures(call.api)),
        key=lambda names: len(verdict.named & set(names[:count])),
        default=[],
    )
    of_class = is_class(call.api)

    def bound(arguments: tuple, named: Mapping[str, Any]) -> tuple[list, dict]:
        told = dict(zip(signature, arguments, strict=False)) | dict(named)
        told = {name: value for name, value in told.items() if name not in PLACES}
        if of_class:
            return [], told
        inputs = [value for name, value in told.items() if name not in verdict.named]
        return inputs, {name: told[name] for name in told if name in verdict.named}

    def made(*arguments: Any, **named: Any) -> Any:
        inputs, told = bound(arguments, named)
        if verdict.built and of_class and not counterpart.through:
            return targets.resolve(verdict.built)(**verdict.left, **told)
        if counterpart.through:
            through = targets.resolve(counterpart.through)
            told = {key: _word(value) for key, value in told.items()}
            if of_class and isinstance(through, type):
                return through(**told)
            if of_class:
                return _Layer(functools.partial(through, **told))
            return through(*inputs, **told)
        told = {counterpart.names.get(name, name): value for name, value in told.items()}
        for name, (ours, _) in counterpart.defaults.items():
            told.setdefault(counterpart.names.get(name, name), ours)
        return operator.attrgetter(counterpart.api)(ms)(**told)(*inputs)

    return made


def _word(value: Any) -> Any:
    """A dtype by its name, as the functions of the project take it."""
    return str(value).lower() if isinstance(value, ms.Type) else value


class _Layer(ms.nn.Cell):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


class Made(torch.nn.Module):
    """A call of PyTorch as a module of its tensors. cast: the dtype that integers get."""

    def __init__(self, function: Callable, kept: Kept, cast: str | None):
        super().__init__()
        self.function, self.kept, self.cast = function, kept, cast

    def forward(self, *inputs):
        arguments, named = _filled((self.kept.arguments, self.kept.named), iter(inputs))
        found = tensors(self.function(*arguments, **named))
        whole = [not (each.is_floating_point() or each.dtype == torch.bool) for each in found]
        dtype = getattr(torch, self.cast or "int64")
        return tuple(
            each.to(dtype) if counts and self.cast else each
            for each, counts in zip(found, whole, strict=True)
        )


class MadeBeside(ms.nn.Cell):
    """The call of MindSpore."""

    def __init__(self, function: Callable, kept: Kept):
        super().__init__()
        self.function, self.kept = function, kept

    def construct(self, *inputs):
        arguments, named = _filled((self.kept.arguments, self.kept.named), iter(inputs))
        return tuple(_leaves(self.function(*map(_ours, arguments), **_ours(named))))


def _leaves(value: Any) -> list:
    if isinstance(value, list | tuple):
        return [leaf for each in value for leaf in _leaves(each)]
    return [value] if isinstance(value, ms.Tensor) else []


def _filled(value: Any, inputs: Any) -> Any:
    """Nested arguments with the next inputs in the place of tensors."""
    if isinstance(value, torch.Tensor):
        return next(inputs)
    if isinstance(value, slice):
        return slice(*(_filled(each, inputs) for each in (value.start, value.stop, value.step)))
    if isinstance(value, dict):
        return {key: _filled(each, inputs) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_filled(each, inputs) for each in value)
    return value


def _ours(value: Any) -> Any:
    """Arguments of PyTorch as MindSpore has them."""
    if isinstance(value, torch.dtype):
        word = str(value).removeprefix("torch.")
        return getattr(ms, {"bool": "bool_"}.get(word, word))
    if isinstance(value, dict):
        return {key: _ours(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_ours, value))
    return value


def _of_tensors(call: Call, kept: Kept) -> bool:
    """Whether what may be an operator or a method of a tensor was called on one."""
    first = kept.arguments[:1]
    if isinstance(call.node, ast.BinOp | ast.UnaryOp | ast.Compare):
        first = kept.arguments
    elif isinstance(call.node, ast.Call) and not call.api.startswith(f"{TENSOR}."):
        return True
    return any(isinstance(each, torch.Tensor) for each in first)


def replay(site: Site, kept: Kept, judge: Judge) -> str:
    """ "" where MindSpore's call equals PyTorch's; else what differs. Raises UnplayableError."""
    calls = reference(site.call), candidate(site, judge, kept)
    if is_class(site.call.api):
        if not kept.inputs:
            raise UnplayableError("the layer was not called")
        inputs = tensors(kept.inputs[0])

        def theirs():
            return calls[0](*kept.arguments, **kept.named)

        def ours():
            made = calls[1](*_ours(kept.arguments), **_ours(kept.named))
            return made if isinstance(made, ms.nn.Cell) else _Layer(made)
    else:
        if not _of_tensors(site.call, kept):
            raise UnplayableError("of no tensor")
        dtypes = {each.dtype for each in tensors(kept.arguments)}
        if len(dtypes) > 1 and ONE_DTYPE in site.verdict.remarks:
            raise UnplayableError(ONE_DTYPE)
        inputs = tensors((kept.arguments, kept.named))
        cast = site.verdict.counterpart.integers

        def theirs():
            return Made(calls[0], kept, cast)

        def ours():
            return MadeBeside(calls[1], kept)

    if not inputs and site.verdict.counterpart.through:
        raise UnplayableError("makes a tensor through a function that takes the dtype of another")
    if not inputs:
        return _alone(theirs, ours)
    return _judge(theirs, ours, inputs)


def _alone(theirs: Callable, ours: Callable) -> str:
    """A call without tensors: its result must be the same to the bit."""
    one = [each.numpy() for each in theirs()()]
    two = [each.asnumpy() for each in ours()()]
    same = len(one) == len(two) and all(
        a.dtype == b.dtype and np.array_equal(a, b) for a, b in zip(one, two, strict=True)
    )
    return "" if same else f"{one} is {two}"[:200]


def _judge(theirs: Callable, ours: Callable, inputs: list) -> str:
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as during:
        draws = []
        for number, each in enumerate(inputs):
            path = Path(folder, f"{number}.npy")
            np.save(path, each.numpy())
            draws.append(file(path))
        twin = Twin(
            "call",
            reference=during.enter_context(targets.offered(theirs, "theirs")),
            candidate=during.enter_context(targets.offered(ours, "ours")),
            inputs=draws,
            phases=("train",),
            executions=("pynative",),
            pair="order",
        )
        during.callback(kept_runs.forget)
        outcome = check.check(next(cases(twin, "cpu")), 0)
        if outcome.judgement is not None and outcome.judgement.ill_posed:
            raise IllPosedError(str(outcome.judgement.ill_posed))
        return "" if outcome.passed else _first(outcome)


def _first(outcome: Any) -> str:
    return report.headline(report.failure(outcome, ""))[:400]


def look(site: Site, kept: list[Kept], judge: Judge) -> tuple[str, str]:
    """(what came of a call, in one word; why). The word: equal, differs, open."""
    if not kept:
        return "open", "no tensors, or too large to keep"
    if any(word in site.call.api for word in RANDOM):
        return "open", "draws random numbers"
    why = ""
    for each in kept:
        try:
            told = replay(site, each, judge)
        except UnplayableError as error:
            return "open", str(error)
        except IllPosedError as error:
            why = f"ill-posed: {error}"
            continue
        except EquivalenceError as error:
            if "the reference raised" in str(error):
                return "open", "PyTorch refuses inputs that are moved by a rounding"
            return "differs", f"{type(error).__name__}: {error}"[:300]
        except Exception as error:
            return "differs", f"raises {type(error).__name__}: {error}"[:300]
        if told:
            return "differs", told
    return ("open", why) if why else ("equal", "")


def files_of(code: str) -> list[Path]:
    """The files of a part."""
    import torchvision

    root = Path(torchvision.__file__).parents[1] if code.startswith("torchvision/") else ROOT
    found = sorted(root.glob(f"{code}/*.py") if (root / code).is_dir() else root.glob(code))
    return [path.resolve() for path in found]


def main() -> int:
    """Check all parts that are named, and print the table; 1 where a verified call differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=[*PARTS])
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    torchvision_schemas.declare_missing()
    judge, rows, wrong = Judge(known.load()), {}, []
    done: dict[tuple, tuple[str, str]] = {}
    for name in asked.parts:
        code, run = PARTS[name]
        sites = judged(files_of(code), judge)
        dangers = Counter(each.verdict.danger.name for each in sites)
        right = [each for each in sites if each.verdict.danger is Danger.VERIFIED]
        kept, reached = watch(right, run)
        found = Counter()
        for number, site in enumerate(right):
            if number not in reached:
                found["not reached"] += 1
                continue
            key = _alike(site, kept.get(number, []))
            if key not in done:
                done[key] = look(site, kept.get(number, []), judge)
                if done[key][0] != "equal":
                    print(name, *done[key], site.told, flush=True)
            found[done[key][0]] += 1
            wrong += [site.told] if done[key][0] == "differs" else []
        rows[name] = {**dangers, **found}
        print(name, json.dumps(rows[name]), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if wrong else 0


def _alike(site: Site, kept: list[Kept]) -> tuple:
    """What calls have in common of which one is run: dtypes, ranks, and all that is no tensor."""
    told = [_kind((each.arguments, each.named, tuple(each.inputs))) for each in kept]
    return type(site.call.node), site.call.api, repr(site.call.given), str(told)


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype} of {value.ndim} axes"
    if isinstance(value, slice):
        return f"slice {_kind((value.start, value.stop, value.step))}"
    if isinstance(value, dict):
        return str({key: _kind(each) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return str([*map(_kind, value)])
    return repr(value)


if __name__ == "__main__":
    sys.exit(main())
