"""What fits a curve, found by running the reference with a mistake of a port in it.

Each mistake is a change of PyTorch's optimisers, losses or layers while the reference trains. It
fits if the reference then gives the candidate's curve.
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from equivalence.stream.patches import patched

Changed = Callable[[], contextlib.AbstractContextManager[Any]]


@contextlib.contextmanager
def _stepping(change: Callable[[Any, int], Callable[[], None]]) -> Iterator[None]:
    """A context in which `change` gets each optimiser before each of its steps, with their number.

    What it returns is called after the step, and puts everything back.
    """
    from torch.optim import optimizer as hooks

    counts: dict[int, int] = {}
    kept: list[Any] = []
    undo: list[Callable[[], None]] = []

    def before(optimizer: Any, *_: Any) -> None:
        if id(optimizer) not in counts:
            kept.append(optimizer)  # so that no other one gets its address
        counts[id(optimizer)] = counts.get(id(optimizer), -1) + 1
        undo.append(change(optimizer, counts[id(optimizer)]))

    def after(*_: Any) -> None:
        undo.pop()()

    handles = [
        hooks.register_optimizer_step_pre_hook(before),
        hooks.register_optimizer_step_post_hook(after),
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _set(groups: list[dict[str, Any]], name: str, values: list[Any]) -> Callable[[], None]:
    """Set an option of groups; returns what puts it back."""
    before = [group[name] for group in groups]
    for group, value in zip(groups, values, strict=True):
        group[name] = value

    def back() -> None:
        for group, value in zip(groups, before, strict=True):
            group[name] = value

    return back


def _nothing() -> None:
    return None


def _shifted(by: int, rates: dict[int, list[list[float]]]) -> Changed:
    """The rate of an earlier step; of a later one where `by` is below zero.

    rates: those of each optimiser in the order of their first steps, step by step, by group; a run
    notes what is not there yet, so that one of a later step needs a run before it.
    """

    @contextlib.contextmanager
    def changed() -> Iterator[None]:
        places: dict[int, int] = {}  # `_stepping` keeps each optimiser, and so its id

        def change(optimizer: Any, number: int) -> Callable[[], None]:
            groups = optimizer.param_groups
            noted = rates.setdefault(places.setdefault(id(optimizer), len(places)), [])
            if len(noted) == number:
                noted.append([group["lr"] for group in groups])
            return _set(groups, "lr", noted[min(max(number - by, 0), len(noted) - 1)])

        with _stepping(change):
            yield

    return changed


def _optioned(option: str, value: Callable[[Any], Any]) -> Changed:
    """Another value of an optimiser's option, in the groups that have it."""

    def changed() -> contextlib.AbstractContextManager[None]:
        def change(optimizer: Any, _: int) -> Callable[[], None]:
            groups = [group for group in optimizer.param_groups if option in group]
            return _set(groups, option, [value(group[option]) for group in groups])

        return _stepping(change)

    return changed


def _decaying(on_vectors: bool) -> Changed:
    """Weight decay on weights without a matrix (norms, biases): on as on others, or off."""

    def changed() -> contextlib.AbstractContextManager[None]:
        def change(optimizer: Any, _: int) -> Callable[[], None]:
            groups = optimizer.param_groups
            decay = max((group.get("weight_decay", 0.0) for group in groups), default=0.0)
            if on_vectors:
                return _set(groups, "weight_decay", [decay for _ in groups])
            split = []
            for group in groups:
                vectors = [p for p in group["params"] if p.ndim < 2]
                if vectors and group.get("weight_decay") and len(vectors) < len(group["params"]):
                    split.append((group, [*group["params"]], vectors))
            for group, params, vectors in split:
                group["params"] = [p for p in params if p.ndim >= 2]
                groups.append({**group, "params": vectors, "weight_decay": 0.0})

            def back() -> None:
                del groups[len(groups) - len(split) :]
                for group, params, _ in split:
                    group["params"] = params

            return back

        return _stepping(change)

    return changed


def _smoothing(value: float) -> Changed:
    def changed() -> contextlib.AbstractContextManager[None]:
        from torch.nn import functional

        plain = functional.cross_entropy

        def smoothed(*args: Any, **keywords: Any) -> Any:
            return plain(*args, **{**keywords, "label_smoothing": value})

        return patched(functional, cross_entropy=smoothed)

    return changed


@contextlib.contextmanager
def _norm_momentum() -> Iterator[None]:
    """BatchNorm's momentum m read as 1 - m."""
    from equivalence.stream.torch_stream import BATCH_NORM

    plain = BATCH_NORM.forward

    def forward(layer: Any, x: Any) -> Any:
        before = layer.momentum
        layer.momentum = None if before is None else 1.0 - before
        try:
            return plain(layer, x)
        finally:
            layer.momentum = before

    with patched(BATCH_NORM, forward=forward):
        yield


@contextlib.contextmanager
def _unclipped() -> Iterator[None]:
    import torch

    utils = torch.nn.utils
    given = {"clip_grad_norm_": lambda *_, **__: torch.zeros(()), "clip_grad_value_": _unclip}
    with contextlib.ExitStack() as all_of:
        for name, value in given.items():
            all_of.enter_context(patched(utils, **{name: value}))
        yield


def _unclip(*_: Any, **__: Any) -> None:
    return None


@contextlib.contextmanager
def _accumulating() -> Iterator[None]:
    from torch.optim import Optimizer

    with patched(Optimizer, zero_grad=lambda *_, **__: None):
        yield


@contextlib.contextmanager
def _flipless() -> Iterator[None]:
    import torch

    with patched(torch, flip=lambda x, *_, **__: x):
        yield


def changes() -> Mapping[str, Changed]:
    """What a port may have done -> the change of the reference that does the same."""
    momentum = {
        "momentum lost": _optioned("momentum", lambda _: 0.0),
        "Nesterov's momentum for plain, or the reverse": _optioned("nesterov", lambda on: not on),
    }
    rates: dict[int, list[list[float]]] = {}  # which the first of these runs notes
    return {
        "the learning rate one step late": _shifted(1, rates),
        "the learning rate one step early": _shifted(-1, rates),
        "the learning rate held at that of the first step": _shifted(10**9, rates),
        **momentum,
        "weight decay not on norms and biases": _decaying(on_vectors=False),
        "weight decay on all weights, norms and biases too": _decaying(on_vectors=True),
        "no weight decay": _optioned("weight_decay", lambda _: 0.0),
        "label smoothing lost": _smoothing(0.0),
        "label smoothing of 0.1": _smoothing(0.1),
        "BatchNorm's momentum m taken for 1 - m": _norm_momentum,
        "clipping of gradients lost": _unclipped,
        "gradients not set to zero between steps": _accumulating,
        "torch.flip lost": _flipless,
        "gradients halved, as of a scaled loss": _scaled(0.5),
        "gradients doubled, as of a scaled loss or another clip": _scaled(2.0),
    }


def _scaled(factor: float) -> Changed:
    """Gradients times a factor."""

    def changed() -> contextlib.AbstractContextManager[None]:
        def change(optimizer: Any, _: int) -> Callable[[], None]:
            every = itertools.chain.from_iterable(g["params"] for g in optimizer.param_groups)
            for parameter in every:
                if parameter.grad is not None:
                    parameter.grad = parameter.grad * factor
            return _nothing

        return _stepping(change)

    return changed
