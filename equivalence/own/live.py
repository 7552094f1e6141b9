"""Objects of this process as targets and inputs of a twin. What is run are copies of them."""

import contextlib
import copy
import functools
import inspect
import itertools
import keyword
import re
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from equivalence import files, nesting
from equivalence.declare.draws import file
from equivalence.declare.network import Network
from equivalence.errors import DeclarationError
from equivalence.targets import COPIES, OWN, described, framework_of, offered, unwrapped


@contextlib.contextmanager
def target(side: Any, role: str) -> Iterator[str]:
    """A context that gives the target of a side.

    side: a target; a network; a class or function that builds one; or a function of tensors.
    role: "reference" or "candidate", for the error's text.
    """
    if isinstance(side, str):
        yield side
        return
    name = getattr(side, "__name__", type(side).__name__)
    factory: Callable[..., Any]
    if isinstance(side, type):
        factory = side
    elif framework_of(side):
        side = unwrapped(side)
        factory, name = _copier(side), type(side).__name__
    elif not callable(side):
        raise DeclarationError(
            f"the {role} is {described(side)}; give a network, a class or function that builds "
            "one, a function of tensors, or 'module:attribute'"
        )
    else:
        factory = _copying(side)
    with offered(factory, identifier(name)) as given:
        yield given


def named(value: Any, enter: Callable[[Any], Any]) -> Any:
    """A `Network` of live sides with targets in their place; any other value as it is.

    enter: enters a context.
    """
    if not isinstance(value, Network):
        return value
    theirs, ours = (enter(target(getattr(value, r), r)) for r in ("reference", "candidate"))
    return Network(theirs, ours, value.arguments)


def identifier(name: str) -> str:
    """A name as an identifier; "network" for one that has no letters, and for a lambda."""
    name = re.sub(r"\W+", "_", name).strip("_")
    return name if name.isidentifier() and not keyword.iskeyword(name) else "network"


def _copier(network: Any) -> Callable[[], Any]:
    """A function that copies a network, with its values and without compiled graphs."""
    _demand_whole(network)

    def build() -> Any:
        try:
            made = copy.deepcopy(network)
        except Exception as error:
            first = str(error).strip().partition("\n")[0]
            raise DeclarationError(
                f"this {type(network).__name__} cannot be copied ({type(error).__name__}: "
                f"{first}); give the class or a function that builds it"
            ) from error
        if framework_of(network) == "MindSpore":
            for _, cell in made.cells_and_names():
                # A copy that goes would take the graphs with it that it shares with the original.
                cell.compile_cache.clear()
        return made

    setattr(build, COPIES, True)
    return build


def _copying(factory: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of whose result a copy is run: it may be an object of the caller's."""

    last: list[Any] = [None]

    def build(*values: Any, **arguments: Any) -> Any:
        made = factory(*values, **arguments)
        again = made is last[0] and framework_of(made) is not None
        setattr(build, COPIES, again or getattr(build, COPIES, False))
        last[0] = made
        return _copied(made)

    # Not all callables have what `functools.wraps` takes, or a signature.
    with contextlib.suppress(ValueError, TypeError):
        build.__signature__ = inspect.signature(factory)  # type: ignore[attr-defined]  # as `wraps`
    setattr(build, OWN, lambda: _copied(factory))  # anew for each side that is built
    return build


def _copied(made: Any) -> Any:
    """A copy of what a function has made, or of the networks that it holds as a function."""
    if isinstance(made, functools.partial):
        keywords = {name: _copied(each) for name, each in made.keywords.items()}
        return functools.partial(_copied(made.func), *map(_copied, made.args), **keywords)
    owner = getattr(made, "__self__", None)
    if inspect.ismethod(made) and framework_of(owner) and not isinstance(owner, type):
        return getattr(_copied(owner), made.__name__)
    if not framework_of(made) or isinstance(made, type):
        return made
    try:
        return _copier(made)()
    except DeclarationError:
        return made


def _demand_whole(network: Any) -> None:
    """Demand that a copy shares nothing with the network: no function in it holds its layers."""
    torch = framework_of(network) == "PyTorch"
    layers = dict(network.named_modules() if torch else network.cells_and_names())
    own = {id(layer) for layer in layers.values()}
    for path, layer in layers.items():
        for name, value in vars(layer).items():
            if isinstance(value, types.FunctionType) and own & set(map(id, _enclosed(value))):
                raise DeclarationError(
                    f"{path or type(layer).__name__}.{name} is a function that holds layers of "
                    "this very object, so that a copy would share them; give the class or a "
                    "function that builds the network"
                )


def _enclosed(function: types.FunctionType) -> list[Any]:
    """What a function holds of the scope where it was written."""
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # not assigned yet
            values.append(cell.cell_contents)
    return values


@contextlib.contextmanager
def given(inputs: tuple[Any, ...]) -> Iterator[Any]:
    """A context that gives the inputs of a twin.

    inputs: draws, arrays, tensors, and what else a twin takes; or one mapping from keywords.
    """
    numbers = itertools.count()
    with files.temporary() as folder:

        def one(value: Any) -> Any:
            array = array_of(value)
            if array is None:
                return value
            path = Path(folder, f"array_{next(numbers)}.npy")
            np.save(path, array, allow_pickle=False)
            return file(path)

        by_keyword = len(inputs) == 1 and isinstance(inputs[0], Mapping)
        yield nesting.transform(dict(inputs[0]) if by_keyword else [*inputs], one)


def array_of(value: Any) -> np.ndarray | None:
    """The values of an array or a tensor; None for anything else."""
    kind = type(value).__module__.partition(".")[0]
    try:
        if isinstance(value, np.ndarray | np.generic):
            array = np.asarray(value)
        elif kind == "torch" and hasattr(value, "detach"):
            array = value.detach().cpu().numpy()
        elif kind == "mindspore" and hasattr(value, "asnumpy"):
            array = value.asnumpy()
        else:
            return None
    except TypeError as error:
        raise DeclarationError(f"an input cannot be read: {error}; give it in float32") from None
    if array.dtype.hasobject:
        raise DeclarationError("an input is an array of objects; give one of numbers")
    return array


@contextlib.contextmanager
def own_weights(reference: Any) -> Iterator[str]:
    """A context that gives a checkpoint with the values that a live reference has."""
    if framework_of(reference) != "PyTorch" or isinstance(reference, type):
        raise DeclarationError(
            "weights='own' are those of a network that is built; give one as the reference, or "
            "the path of a checkpoint"
        )
    import torch

    with files.temporary() as folder:
        path = Path(folder, "own.pth")
        torch.save(unwrapped(reference).state_dict(), path)
        yield str(path)
