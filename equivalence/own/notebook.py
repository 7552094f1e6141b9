"""`compare` and `settings`: two networks of one's own, as objects, in a notebook or a test."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equivalence import nesting
from equivalence.declare.draws import Draw
from equivalence.declare.twin import DTYPES, EXECUTIONS, PHASES, Twin
from equivalence.errors import DeclarationError
from equivalence.judge.settings import SettingDifference, Unread
from equivalence.own import live
from equivalence.own.result import Repeat, Result
from equivalence.own.session import UNKNOWN, Session, forget
from equivalence.targets import OFFERED

OWN = "own"
"""The value of `weights` that stands for those that the live reference has."""

CALL = "compare(..., {inputs}phase={phase!r}, execution={execution!r}, dtype={dtype!r}, seed=%d)"
"""The call that repeats one case."""


def compare(
    reference: Any,
    candidate: Any,
    *inputs: Any,
    phase: str | tuple[str, ...] = PHASES,
    execution: str | tuple[str, ...] = EXECUTIONS,
    dtype: str | tuple[str, ...] = DTYPES[:1],
    weights: str | Path | None = None,
    device: str = "cpu",
    seed: int = 0,
    thorough: bool = False,
    **fields: Any,
) -> Result:
    """Compare a MindSpore network with the PyTorch network that it must equal, as a twin does.

    Each side is a network, which is copied and stays as it is; a class or a function that builds
    one; a function of tensors, or of networks and tensors; or a target, "module:attribute". Weights
    are drawn for both sides alike.

    inputs: draws, arrays and tensors, in order; or one mapping from keywords to such.
    phase: "train", "eval" or both.
    execution: "pynative", "graph" or both.
    dtype: the dtypes of inputs and weights.
    weights: a checkpoint that both sides are given; "own": the values that the reference has.
    device: the name of a place, such as "cpu".
    seed: the base seed of what is drawn.
    thorough: whether all further samples are tried after a green verdict, however long it takes.
    fields: further fields of `Twin`, such as rename, constants or random_layers.

    Raises EquivalenceError, with the cure, where the sides cannot be compared.

    >>> import torch, mindspore
    >>> from equivalence import compare, normal
    >>> theirs, ours = torch.nn.LeakyReLU(0.1), mindspore.nn.LeakyReLU(0.2)
    >>> result = compare(theirs, ours, normal(4, 8), phase="eval", execution="pynative")
    >>> result
    <Result LeakyReLU: different in 1 of 1 case>
    >>> [str(each) for each in result.settings]
    ['negative_slope 0.1 (reference) 0.2 (candidate)']
    """
    fields |= {"phase": phase, "execution": execution, "dtype": dtype}
    with contextlib.ExitStack() as during:
        during.callback(forget)
        if weights == OWN:
            weights = during.enter_context(live.own_weights(reference))
        if weights is not None:
            fields["weights"] = str(weights)
        fields["inputs"] = during.enter_context(live.given(inputs)) if inputs else UNKNOWN
        twin = during.enter_context(_twin(reference, candidate, fields))
        session = Session(twin, device, seed)
        structure = session.structure()
        if not inputs:
            raise DeclarationError(f"compare has no inputs: {structure.proposal}")
        if structure.problem:
            raise structure.problem
        verdicts, further = session.all_verdicts(thorough)
        repeat = Repeat(CALL % seed, write=lambda inputs: f"{', '.join(inputs)}, ")
        return Result(session.twin, structure, tuple(verdicts), repeat, further)


def settings(
    reference: Any, candidate: Any, **fields: Any
) -> tuple[SettingDifference | Unread, ...]:
    """The settings of all aligned layers that differ, or could not be read. Nothing is run.

    reference, candidate, fields: as for `compare`.

    >>> import torch, mindspore
    >>> from equivalence import settings
    >>> theirs, ours = torch.nn.LayerNorm(8), mindspore.nn.LayerNorm((8,), epsilon=1e-7)
    >>> [str(each) for each in settings(theirs, ours)]
    ['eps 1e-05 (reference) 1e-07 (candidate)']
    """
    with _twin(reference, candidate, {"inputs": UNKNOWN, **fields}) as twin:
        return Session(twin).structure().settings.wrong


@contextlib.contextmanager
def _twin(reference: Any, candidate: Any, fields: dict[str, Any]) -> Iterator[Twin]:
    """A context that gives the twin of two sides.

    fields: fields of `Twin`, some of them by their names in `compare`.
    """
    for one in ("phase", "execution", "dtype"):
        if f"{one}s" in fields:
            raise DeclarationError(f"compare has no {one}s; write {one}={fields[f'{one}s']!r}")
        if (value := fields.pop(one, None)) is not None:
            fields[f"{one}s"] = (value,) if isinstance(value, str) else value
    with contextlib.ExitStack() as during:
        offer = during.enter_context
        theirs = offer(live.target(reference, "reference"))
        ours = offer(live.target(candidate, "candidate"))
        if "configs" in fields:
            fields["configs"] = nesting.transform(fields["configs"], lambda x: live.named(x, offer))
        yield twin_of(theirs, ours, fields)


def twin_of(reference: str, candidate: str, fields: Mapping[str, Any]) -> Twin:
    """The twin of two targets, named after the reference."""
    module, _, attribute = reference.partition(":")
    if module == OFFERED:
        attribute = attribute.rpartition("_")[0]  # without its number
    name = live.identifier(attribute)
    sides = {"name": name, "reference": reference, "candidate": candidate}
    return Twin(**{**sides, "degenerate": _empty(fields["inputs"]), **fields})


def _empty(inputs: Any) -> bool:
    """Whether an input has no element, which is then meant."""
    draws = [leaf for _, leaf in nesting.leaves(inputs) if isinstance(leaf, Draw)]
    try:
        return any(0 in (draw.stored or draw).shape for draw in draws)
    except DeclarationError:  # of a file, which the twin tells
        return False
