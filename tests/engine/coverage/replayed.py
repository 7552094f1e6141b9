"""Runs what coverage hints in MindSpore, with the arguments that calls of PyTorch had.

`python -m tests.engine.coverage.replayed` checks every line of the networks in `PARTS` that is
called "verified", and prints what became of them. The calls are watched in a process of their own.
Calls with the same dtypes, ranks and other arguments are made once.
"""

import argparse
import ast
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from equivalence.host import environment

environment.prepare()

import mindspore as ms  # noqa: E402
import torch  # noqa: E402

from equivalence import targets, torchvision_schemas  # noqa: E402
from equivalence.comparison import check  # noqa: E402
from equivalence.comparison import kept as kept_runs  # noqa: E402
from equivalence.coverage import known  # noqa: E402
from equivalence.coverage.torch_names import TENSOR, computes_nothing, is_class  # noqa: E402
from equivalence.coverage.usage import Follower  # noqa: E402
from equivalence.coverage.verdict import ONE_DTYPE, Danger, Judge  # noqa: E402
from equivalence.declare.draws import file  # noqa: E402
from equivalence.declare.twin import Twin, TwinCase, cases  # noqa: E402
from equivalence.errors import EquivalenceError, IllPosedError  # noqa: E402
from equivalence.report.answer import AnsweredCase, answer  # noqa: E402
from tests.engine.coverage.calls import (  # noqa: E402
    Layer,
    Made,
    MadeBeside,
    Site,
    UnplayableError,
    candidate,
    in_mindspore,
    leaves,
    of_tensors,
    places,
    reference,
    untied,
    with_elements,
)
from tests.engine.coverage.watched import Kept, position, tensors  # noqa: E402

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


def replay(site: Site, kept: Kept, judge: Judge) -> str:
    """ "" where MindSpore's call equals PyTorch's; else what differs. Raises UnplayableError."""
    calls = reference(site.call), candidate(site, judge, kept)
    if is_class(site.call.api):
        if not kept.inputs:
            raise UnplayableError("the layer was not called")
        given = kept.inputs[0]

        def theirs():
            return calls[0](*kept.arguments, **kept.named)

        def ours():
            made = calls[1](*in_mindspore(kept.arguments), **in_mindspore(kept.named))
            return made if isinstance(made, ms.nn.Cell) else Layer(made)
    else:
        if not of_tensors(site.call, kept):
            raise UnplayableError("of no tensor")
        dtypes = {each.dtype for each in tensors(kept.arguments)}
        if len(dtypes) > 1 and ONE_DTYPE in site.verdict.remarks:
            raise UnplayableError(ONE_DTYPE)
        given = (kept.arguments, kept.named)
        cast = site.verdict.counterpart.integers

        def theirs():
            return Made(calls[0], kept, cast)

        def ours():
            return MadeBeside(calls[1], kept)

    if not tensors(given) and site.verdict.counterpart.through:
        raise UnplayableError("makes a tensor through a function that takes the dtype of another")
    inputs = with_elements(given)
    if is_class(site.call.api) and 0 < len(inputs) < len(tensors(given)):
        raise UnplayableError("one of the inputs of the layer is empty")
    if inputs:
        distinct = untied(site.call, judge)
        values = [places(each) if n in distinct else each for n, each in enumerate(inputs)]
        return _judge(theirs, ours, values, TwinCase if is_class(site.call.api) else OneCall)
    return _alone(theirs, ours, given if is_class(site.call.api) else ())


def _alone(theirs: Callable, ours: Callable, given: tuple) -> str:
    """A call without values to draw: its result must be the same to the bit. given: to a layer."""
    one = [each.detach().numpy() for each in tensors(theirs()(*given))]
    two = [each.asnumpy() for each in leaves(ours()(*in_mindspore(given)))]
    same = len(one) == len(two) and all(map(_same, one, two))
    return "" if same else f"{one} is {two}"[:200]


def _same(one: np.ndarray, two: np.ndarray) -> bool:
    return one.dtype == two.dtype and np.array_equal(one, two, equal_nan=one.dtype.kind == "f")


class OneCall(TwinCase):
    """A call of a function, judged as an example of an operator is."""

    alone = True


def _judge(theirs: Callable, ours: Callable, inputs: list, kind: type[TwinCase]) -> str:
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
        (case,) = cases(twin, "cpu")
        outcome = check.check(kind(**{f.name: getattr(case, f.name) for f in fields(case)}), 0)
        if outcome.judgement is not None and outcome.judgement.ill_posed:
            raise IllPosedError(str(outcome.judgement.ill_posed))
        return "" if outcome.passed else _first(outcome)


def _first(outcome: Any) -> str:
    return answer([AnsweredCase(outcome)]).headline()[:400]


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
