"""Watches one run of the reference: the decisions of its operators and of its code. Loads torch."""

import contextlib
import functools
import sys
from types import FrameType
from typing import Any

import torch
from torch import nn

from equivalence.nesting import leaves
from equivalence.reach import branches
from equivalence.reach.branches import Branches, Extremes, Own, packages
from equivalence.reach.decision import REFERENCE, Decision, Key, Reach, numberless
from equivalence.reach.operators import Make, Splits, guards, splits
from equivalence.stream import torch_stream
from equivalence.stream.torch_stream import Call, in_backward, unseen

BRANCHES = "reference's branches"
"""What is unknown where another tool traces the code."""

_LAYERS = f"{torch.__name__}.nn.modules"


def own_code(module: nn.Module) -> Own:
    """Which source files are a network's own."""
    parts = [each for _, each in module.named_modules()]
    calls = [each.call for each in parts if hasattr(each, "call")]
    return Own(packages([*map(type, parts), *calls]))


class ReachObserver(contextlib.AbstractContextManager):
    """A context that keeps the decisions of a run; `reach` has them after it.

    module: the network.
    missed: how large a relative change the judge may miss.
    """

    def __init__(self, module: nn.Module, missed: float):
        own = own_code(module)
        self._extremes = Extremes(REFERENCE, branches.module_file)
        self._branches = Branches(own, REFERENCE, self._extremes)
        self._operators = OperatorDecisions(module, own, missed)
        self._open = contextlib.ExitStack()

    def __enter__(self) -> "ReachObserver":
        self._operators.root = sys._getframe(1)  # the run
        self._open.enter_context(self._operators)
        self._open.enter_context(self._branches)
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()
        self._operators.root = None

    @property
    def empty(self) -> bool:
        """Whether an operator computed with a tensor without elements."""
        return self._operators.empty

    @property
    def reach(self) -> Reach:
        """What was reached, and what was not."""
        unknown = self._branches.unknown
        decisions = [
            *self._operators.decisions.values(),
            *self._branches.decisions,
            *self._extremes.decisions,
        ]
        return Reach.of(decisions, **({BRANCHES: unknown} if unknown else {}))


class OperatorDecisions(torch_stream.Observer):
    """The decisions of the operators of a forward pass, by their keys.

    root: the frame above the run; None where the network's code is the outermost.
    empty: whether an operator computed with a tensor without elements.
    """

    slot = "reach"

    def __init__(self, module: nn.Module, own: Own, missed: float):
        self._own, self._missed = own, missed
        self._paths = {id(each): path for path, each in module.named_modules()}
        self.decisions: dict[Key, Decision] = {}
        self.root: FrameType | None = None
        self.empty = False

    def before(self, call: Call) -> None:
        """See which side of an operator's own decision each element takes."""
        if not in_backward():
            self._note(splits(call.function, call.args, call.kwargs))

    def after(self, call: Call, result: Any) -> Any:
        """See what the result decides."""
        if not in_backward():
            self.empty = self.empty or _of_nothing(call, result)
            self._note(guards(call.function, call.args, result, self._missed))
        return result

    def _note(self, found: Splits) -> None:
        place = None
        for kind, make in found:
            place = place or self._place(sys._getframe(1))
            self.meet(Key(REFERENCE, kind, *place), make)

    def meet(self, key: Key, make: Make) -> None:
        """Count what a call takes of a decision. make: makes its split."""
        known = self.decisions.get(key)
        if known is not None and known.reached:
            return
        with unseen():  # outer modes count what runs
            decision = make().measured(key)
        self.decisions[key] = known + decision if known is not None else decision

    def _place(self, frame: FrameType | None) -> tuple[str, int, str]:
        """(file, line, layer) of the network's own code that calls."""
        layer: str | None = None
        while frame is not None and frame is not self.root:
            code = frame.f_code
            if self._own(code.co_filename):
                above = self._paths.get(id(frame.f_locals.get("self")))
                return branches.module_file(frame), frame.f_lineno, _below(layer, above)
            if layer is None and frame.f_globals.get("__name__", "").startswith(_LAYERS):
                layer = self._paths.get(id(frame.f_locals.get("self")))
            frame = frame.f_back
        return "", 0, layer or ""


def _of_nothing(call: Call, result: Any) -> bool:
    """Whether a call takes or gives a tensor without elements.

    A part of a tensor that is taken, or written to, is none: nothing comes of `x[5:] = 1` where
    nothing is behind 5.
    """
    first = call.function._schema.arguments[:1]
    if torch.is_tensor(result) and not result.numel() and first and first[0].alias_info is not None:
        return False
    every = [each for _, each in leaves((call.args, result)) if torch.is_tensor(each)]
    return not all(each.numel() for each in every)


@functools.cache
def _below(layer: str | None, above: str | None) -> str:
    """The path of a layer below another one, with a `*` for each number."""
    if layer is None or layer == above:
        return ""
    prefix = f"{above}." if above else ""
    return numberless(layer.removeprefix(prefix))
