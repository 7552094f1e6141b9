"""Objects of this process as targets and inputs of a twin. What is run are copies of them."""

import contextlib
import copy
import keyword
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

from equivalence.errors import DeclarationError
from equivalence.targets import framework_of, offered


@contextlib.contextmanager
def target(side: Any, role: str) -> Iterator[str]:
    """A context that gives the target of a side.

    side: a target; a network; or a class or function that builds one.
    role: "reference" or "candidate", for the error's text.
    """
    if isinstance(side, str):
        yield side
        return
    factory, name = side, getattr(side, "__name__", type(side).__name__)
    if not isinstance(side, type) and framework_of(side):
        side = getattr(side, "_orig_mod", side)  # what torch.compile has wrapped
        factory, name = _copier(side), type(side).__name__
    elif not callable(side):
        raise DeclarationError(
            f"the {role} is a {type(side).__name__}; give a network, a class or function that "
            "builds one, or 'module:attribute'"
        )
    with offered(factory, identifier(name)) as given:
        yield given


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

    return build


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
    """A context that gives the inputs of a twin."""
    yield list(inputs)
