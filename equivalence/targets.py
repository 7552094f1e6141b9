"""Targets: the object that "module:attribute" names, and the network that it builds.

"module:attribute.part" names an attribute of the built network, and "folder//module:attribute" a
module that is imported from that folder. `offered` gives a target to an
object of this process that no module names.
"""

import contextlib
import functools
import importlib
import inspect
import itertools
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from equivalence import folders, torchvision_schemas
from equivalence.errors import DeclarationError, OtherFrameworkError, own_line
from equivalence.words import nearest

OFFERED = "offered"
"""Stands for the module in the target of an object of this process."""

_offered: dict[str, Callable[..., Any]] = {}
_numbers = itertools.count(1)

NETWORKS = {
    ("torch.nn.modules.module", "Module"): "PyTorch",
    ("mindspore.nn.cell", "Cell"): "MindSpore",
}
"""The class that all networks of a framework have as a base -> the framework."""

WRAPPERS = {
    ("torch._dynamo.eval_frame", "OptimizedModule"): "_orig_mod",
    ("torch.nn.parallel.data_parallel", "DataParallel"): "module",
}
"""Class of a wrapper that computes what its network does -> the attribute that holds it."""

FRAMEWORKS = frozenset({"torch", "mindspore"})
"""The packages that both sides share a process with."""


@contextlib.contextmanager
def offered(factory: Callable[..., Any], name: str) -> Iterator[str]:
    """A context that gives a target for `factory`, which builds a network of this process.

    name: how texts name it, an identifier. No two targets are the same, so that nothing that is
    kept of one is taken for another's.
    """
    attribute = f"{name}_{next(_numbers)}"
    _offered[attribute] = factory
    try:
        yield f"{OFFERED}:{attribute}"
    finally:
        del _offered[attribute]


def framework_of(network: Any) -> str | None:
    """The framework of a network, or of a class of networks; None where it is neither."""
    cls = network if isinstance(network, type) else type(network)
    bases = ((each.__module__, each.__name__) for each in cls.__mro__)
    return next((NETWORKS[base] for base in bases if base in NETWORKS), None)


def _as_imported(file: str, attribute: str) -> str:
    """How a file's module is named, as the end of a sentence; "" of what is no file's name."""
    if not file.endswith(".py"):
        return ""
    return f"; write its name, as in import: {as_target(file, attribute)}"


def as_target(file: str, attribute: str) -> str:
    """The target of an attribute in a file; with its folder, where no import finds it as it is."""
    path = os.path.normpath(os.path.expanduser(file)).removesuffix(".py")
    relative = os.path.relpath(path)
    if os.path.isabs(path) and not relative.startswith(os.pardir):
        path = relative
    if os.path.isabs(path) or path.startswith(os.pardir):
        folder, _, name = path.rpartition("/")
        return folders.joined(folder, f"{name}:{attribute}")
    return f"{path.replace('/', '.')}:{attribute}"


def resolve(target: str) -> Any:
    """The object that `target` names; its module is imported.

    Raises DeclarationError where there is no such module or attribute.
    """
    folder, rest = folders.split(target)
    if folder and not os.path.isdir(folder):
        raise DeclarationError(f"{target!r}: {folder} is no folder")
    torchvision_schemas.declare_missing()
    with folders.entered(folder), _keeping_frameworks(target):
        return _imported(target, rest)


def _demand_no_neighbour(target: str, missing: str) -> None:
    """Raise DeclarationError where a module that is not found lies beside the one of a target."""
    folder, rest = folders.split(target)
    package, _, name = rest.partition(":")[0].rpartition(".")
    beside = os.path.join(folder, package.replace(".", "/"), missing.partition(".")[0])
    if package and missing and (os.path.isdir(beside) or os.path.isfile(f"{beside}.py")):
        cure = f"{os.path.dirname(beside)}{folders.SEPARATOR}{name}:{rest.partition(':')[2]}"
        raise DeclarationError(
            f"{target!r} imports {missing!r}, which lies beside it; write {cure}"
        )


def needs(target: str, package: str) -> bool:
    """Whether the module of a target cannot be imported without a package that is not installed.

    Raises DeclarationError where there is no such module or attribute.
    """
    try:
        resolve(target)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in (package, f"{package}vision"):
            return True
        raise
    return False


@contextlib.contextmanager
def _keeping_frameworks(target: str) -> Iterator[None]:
    """A context in which a target may not put other modules in the place of a framework's.

    Raises DeclarationError where it does; the framework is put back.
    """
    before = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in FRAMEWORKS}
    yield
    replaced = [name for name, module in before.items() if sys.modules.get(name) is not module]
    if replaced:
        sys.modules.update(before)
        raise DeclarationError(
            f"{target!r} replaces sys.modules[{replaced[0]!r}], and the reference runs in the same "
            "process; import what it is replaced by under a name of its own"
        )


def _imported(target: str, rest: str) -> Any:
    """The object that `rest` names: the target without its folder, which is entered."""
    module_name, _, attribute = rest.partition(":")
    attribute = attribute.partition(".")[0]
    if module_name == OFFERED and attribute in _offered:
        return _offered[attribute]
    try:
        if module_name.startswith("."):
            raise ModuleNotFoundError(name=module_name)
        with _staying(target, f"importing {module_name}"):
            module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name + ".").startswith(error.name + "."):
            cure = _as_imported(module_name, attribute)
            raise DeclarationError(f"{target!r}: there is no module {error.name!r}{cure}") from None
        _demand_no_neighbour(target, error.name or "")
        raise
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise DeclarationError(
            f"{target!r}: module {module_name!r} has no attribute {attribute!r}"
            f"{nearest(attribute, vars(module))}"
        ) from None


@contextlib.contextmanager
def _staying(target: str, doing: str) -> Iterator[None]:
    """A context in which a module that ends the process, as argparse does, is an error.

    Raises DeclarationError with the line that does.
    """
    try:
        yield
    except SystemExit as error:
        where = own_line(error.__traceback__)
        raise DeclarationError(
            f"{target!r}: {doing} ends the process by SystemExit({error.code!r}){where}; "
            "put what reads the command line or starts a run below if __name__ == '__main__':"
        ) from None


def build(
    target: str, arguments: Mapping[str, Any], stays: bool = False, or_plain: bool = False
) -> Any:
    """The result of calling `target` with `arguments`, or the part of it that `target` names.

    An argument that is a `Building` is built.

    stays: whether the folder that the target names stays entered, see `folders.entered`.
    or_plain: whether the target may also be a function of tensors, which builds nothing; the result
    is then a `Plain` one, with these arguments.

    Raises DeclarationError where the target is no callable, or a network that is built already, and
    where it does not take these arguments, or returns None.
    """
    given = {
        name: build(each.target, each.arguments, stays) if isinstance(each, Building) else each
        for name, each in arguments.items()
    }
    factory = resolve(target)
    with folders.entered(folders.split(target)[0], stays), _keeping_frameworks(target):
        return _built(target, factory, given, or_plain)


def _built(target: str, factory: Any, arguments: Mapping[str, Any], or_plain: bool) -> Any:
    """What a factory builds, or the part of it that its target names."""
    if framework_of(factory) and not isinstance(factory, type):
        raise DeclarationError(
            f"{target!r} is {described(factory)} that is built already; name the class or a "
            "function that builds it"
        )
    if not callable(factory):
        raise DeclarationError(
            f"{target!r} is {described(factory)}, which builds nothing; name a class or a function"
        )
    may_be_plain = or_plain and not (isinstance(factory, type) or _attributes(target))
    function = getattr(factory, OWN, lambda: factory)()
    if isinstance(function, Arrays):
        return Plain(function, {}, arguments, target)
    try:
        signature = inspect.signature(factory)
        signature.bind(**arguments)
    except TypeError as error:
        found = Plain.taking(target, function, signature, arguments) if may_be_plain else None
        if found is None:
            raise DeclarationError(f"{target!r} does not take {dict(arguments)}: {error}") from None
        return found
    except ValueError:
        signature = None  # a built-in without one
    kinds = {each.kind for each in signature.parameters.values()} if signature else ()
    any_number = signature is None or inspect.Parameter.VAR_POSITIONAL in kinds
    try:
        with _staying(target, "building it"):
            built = factory(**arguments)
    except Exception:
        if any_number and may_be_plain:  # without a tensor it cannot run
            return Plain(function, {}, arguments, target)
        raise
    if not callable(built) and may_be_plain and (any_number or kinds):
        return Plain(function, {}, arguments, target)
    if built is None:
        raise DeclarationError(f"{target!r} returns None; let it return the network that it builds")
    return unwrapped(part(target, built))


def _attributes(target: str) -> list[str]:
    """The attributes of what is built that a target names, one in the other."""
    return folders.split(target)[1].partition(":")[2].split(".")[1:]


OWN = "own_function"
"""The attribute of an offered factory that gives the caller's function itself."""

COPIES = "copies"
"""The attribute of an offered factory that says whether all that it builds are copies of one
network, with the values that it has."""


def offers(target: str) -> bool:
    """Whether a target is that of an object of this process."""
    return target.partition(":")[0] == OFFERED


def copies(target: str) -> bool:
    """Whether all that a target builds are copies of one network of this process."""
    return offers(target) and getattr(_offered.get(target.partition(":")[2]), COPIES, False)


@dataclass(frozen=True)
class Building:
    """A network that is built where it is an argument. target, arguments: as of `build`."""

    target: str
    arguments: Mapping[str, Any]


class Arrays:
    """A function that takes and gives NumPy arrays, see `arrays`."""

    def __init__(self, call: Callable[..., Any]):
        self.call = call
        self.__name__ = getattr(call, "__name__", "arrays")

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        return self.call(*inputs, **keywords)


def arrays(call: Callable[..., Any]) -> Arrays:
    """A candidate that takes and gives NumPy arrays: a session of ONNX Runtime, a server.

    It only infers, in PyNative mode, and holds its weights itself; the reference gets the same by
    `weights`. It returns an array, or tuples, lists and dicts of such.

    Raises DeclarationError for what cannot be called.

    >>> import numpy as np
    >>> from equivalence import arrays
    >>> predict = arrays(lambda x: np.tanh(x))
    >>> predict(np.zeros(2)).tolist()
    [0.0, 0.0]
    """
    if not callable(call):
        raise DeclarationError(f"arrays({described(call)}): give a function of arrays")
    return Arrays(call)


@dataclass(frozen=True)
class Plain:
    """A function of tensors, or of networks and tensors: nothing is built, it is what is run.

    call: the function.
    before: name -> value of what it gets before the tensors, in order.
    given: its keyword arguments, besides the tensors.
    target: its target; "" where a factory has returned it.
    """

    call: Callable[..., Any]
    before: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""

    def __post_init__(self) -> None:
        while isinstance(self.call, functools.partial):  # what it holds is seen, too
            call = self.call
            before = {f"argument{number}": each for number, each in enumerate(call.args)}
            object.__setattr__(self, "before", before | dict(self.before))
            object.__setattr__(self, "given", call.keywords | dict(self.given))
            object.__setattr__(self, "call", call.func)

    @classmethod
    def of(cls, call: Any) -> "Plain":
        """What a target builds that is no network: itself, or a callable that a factory returns."""
        return call if isinstance(call, cls) else cls(call)

    @classmethod
    def taking(
        cls,
        target: str,
        call: Callable[..., Any],
        signature: inspect.Signature,
        arguments: Mapping[str, Any],
    ) -> "Plain | None":
        """A function that is given more than `arguments`; None where it does not take these.

        A network whose name it does not have is the first of its arguments.
        """
        parameters = signature.parameters.values()
        keywords = any(each.kind is each.VAR_KEYWORD for each in parameters)
        strange = () if keywords else [n for n in arguments if n not in signature.parameters]
        before = {n: arguments[n] for n in strange if _is_network(arguments[n])}
        # Those that come before the tensors would get the tensors, if they were given by keyword.
        names = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        leading = itertools.takewhile(lambda n: n in arguments, names[len(before) :])
        before |= {name: arguments[name] for name in leading}
        given = {name: each for name, each in arguments.items() if name not in before}
        try:
            signature.bind_partial(*before.values(), **given)
        except TypeError:
            return None
        return cls(call, before, given, target)

    def __call__(self, *inputs: Any, **keywords: Any) -> Any:
        """Call the function. Raises DeclarationError where it returns a network."""
        made = self.call(*self.before.values(), *inputs, **self.given, **keywords)
        if self.target and framework_of(made):
            raise DeclarationError(
                f"{self.target!r} was called with the inputs, since it {self.needs}, and returns "
                f"{described(made)}; {self.cure}"
            )
        return made

    @property
    def networks(self) -> dict[str, Any]:
        """Name -> network of those among the arguments, and of the one whose method it is.

        One alone is called "net": the sides may call it otherwise, each by a name of its own.
        """
        held = {"owner": getattr(self.call, "__self__", None), **self.before, **self.given}
        found = {name: each for name, each in held.items() if _is_network(each)}
        return found if len(found) != 1 else {"net": next(iter(found.values()))}

    @property
    def unseen(self) -> list[str]:
        """The names in the function's code of networks that are none of its arguments."""
        code = getattr(self.call, "__code__", None)
        if code is None:
            return []
        values = dict(zip(code.co_freevars, self.call.__closure__ or (), strict=True))
        enclosed = {}
        for name, cell in values.items():
            with contextlib.suppress(ValueError):  # not assigned yet
                enclosed[name] = cell.cell_contents
        held = {n: self.call.__globals__.get(n) for n in code.co_names} | enclosed
        return [name for name, each in held.items() if _is_network(each)]

    @property
    def _left(self) -> list[inspect.Parameter] | None:
        """The parameters that the tensors are for; None where it has no signature."""
        try:
            parameters = [*inspect.signature(self.call).parameters.values()][len(self.before) :]
        except (TypeError, ValueError):
            return None
        return [each for each in parameters if each.name not in self.given]

    @property
    def required(self) -> list[str]:
        """The names of the tensors that it must be given."""
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        left = [each for each in self._left or () if each.kind not in kinds]
        return [each.name for each in left if each.default is each.empty]

    @property
    def needs(self) -> str:
        """Why it was taken for a function of tensors, by which is said what it takes."""
        needed = self.required
        return f"needs {' and '.join(needed)}" if needed else "builds no network without them"

    cure = "if it builds the network, give by --arguments what it builds it from"

    def __str__(self) -> str:
        """What it is, in words: "a function of (x, y, scale=2.0) and the network net"."""
        if isinstance(self.call, Arrays):
            return "a function of arrays"
        left = self._left
        own = "tensors" if left is None else f"({', '.join(map(_bare, left))})"
        networks = [n for n, each in {**self.before, **self.given}.items() if _is_network(each)]
        return f"a function of {own}{''.join(f' and the network {name}' for name in networks)}"


def _bare(parameter: inspect.Parameter) -> str:
    """A parameter as it is written, without what it is annotated with."""
    return str(parameter.replace(annotation=parameter.empty))


def _is_network(value: Any) -> bool:
    return not isinstance(value, type) and framework_of(value) is not None


def unwrapped(network: Any) -> Any:
    """The network within wrappers that compute the same: `torch.compile` and `DataParallel`.

    Its layers and weights then have the names and the kinds that they are written with.
    """
    while held := WRAPPERS.get((type(network).__module__, type(network).__name__)):
        network = getattr(network, held)
    return network


def demand_network(target: str, built: Any, framework: str) -> None:
    """Demand that what a target builds is a network of a framework, or a function.

    Complex parameters are refused: float64 and what is drawn for them are real.

    framework: "PyTorch" or "MindSpore".
    """
    found = framework_of(built)
    if found not in (None, framework):
        raise OtherFrameworkError(
            f"{target!r} builds a network of {found}, where one of {framework} is wanted; the "
            "reference is PyTorch's and comes first, the candidate is MindSpore's",
            found,
        )
    if found == framework == "PyTorch" and not isinstance(built, type):
        _demand_readable(target, built)
    if not callable(built) or isinstance(built, type):
        raise DeclarationError(
            f"{target!r} returns {described(built)}, which is no network; let it return one"
        )
    parameters = built.named_parameters() if found == framework == "PyTorch" else ()
    if name := next((name for name, values in parameters if values.is_complex()), None):
        raise DeclarationError(
            f"the parameter {name} of {target!r} is complex, and complex ones cannot be compared "
            "yet; keep it as real numbers with a last axis of two, in the candidate as well, and "
            "call torch.view_as_complex where it is used"
        )


def _demand_readable(target: str, network: Any) -> None:
    """Demand that no layer is TorchScript, whose weights and code cannot be looked into."""
    for path, layer in network.named_modules():
        if any(cls.__module__.startswith("torch.jit") for cls in type(layer).__mro__):
            which = f"{path} of {target!r}" if path else f"{target!r}"
            raise DeclarationError(
                f"{which} is TorchScript, as torch.jit.script and trace make it, whose layers "
                "cannot be compared; give the network before it was scripted"
            )


def described(value: Any) -> str:
    """What a value is, in words: "an int"."""
    if inspect.ismodule(value):
        return f"the module {value.__name__}"
    if isinstance(value, type):
        return f"the class {value.__name__} itself"
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def part(target: str, built: Any) -> Any:
    """The part of `built` that `target` names, or all of `built` where `target` names no part.

    Raises DeclarationError where there is no such attribute.
    """
    for name in _attributes(target):
        if not hasattr(built, name):
            raise DeclarationError(
                f"{target!r}: what is built, a {type(built).__name__}, has no attribute {name!r}"
            )
        built = getattr(built, name)
    return built
