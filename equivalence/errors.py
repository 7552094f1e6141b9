"""The errors of the suite. A numerical difference is no error: it is a verdict."""

import contextlib
import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType

from equivalence.words import thrown


class EquivalenceError(Exception):
    """The base of all errors of this suite. The text says what is wrong, where, and what to do.

    >>> from equivalence import EquivalenceError, normal
    >>> try:
    ...     normal("planes", 4).resolve({"stride": 2})
    ... except EquivalenceError as error:
    ...     print(error)
    an input names 'planes', not in {'stride': 2}
    """


class DeclarationError(EquivalenceError):
    """A declaration is wrong.

    >>> from equivalence import DeclarationError, normal
    >>> try:
    ...     normal(2, 3, scale=0.0)
    ... except DeclarationError as error:
    ...     print(error)
    draw 'normal': scale is 0.0; write a number above zero
    """


class FreeDrawsError(DeclarationError):
    """Random numbers are drawn that nothing pins.

    drawn: the sentence that says which, without a cure.
    """

    def __init__(self, drawn: str, cure: str):
        super().__init__(f"{drawn}; {cure}")
        self.drawn = drawn


class OtherFrameworkError(DeclarationError):
    """A target builds a network of the other framework.

    found: the framework that its network is of, "PyTorch" or "MindSpore".
    """

    def __init__(self, text: str, found: str):
        super().__init__(text)
        self.found = found


class WeightError(EquivalenceError):
    """The weights of the two sides do not pair up, or the candidate does not hold its values."""


class IllPosedError(EquivalenceError):
    """The case cannot tell a right candidate from a wrong one."""


class SideError(EquivalenceError):
    """One side raised an exception while it was built or run; that exception is the cause.

    side: "reference" or "candidate"; "" where no network of a case raised.
    in_gradients: whether MindSpore refused a gradient, in no line of the models'.
    did: what a script did, the end of the text; "" where it is no script's.
    """

    def __init__(self, text: str, side: str = "", in_gradients: bool = False, did: str = ""):
        super().__init__(text)
        self.side, self.in_gradients, self.did = side, in_gradients, did


class LeavingError(Exception):
    """A side tried to end or to skip the test, or to end the process."""


class BorrowingError(Exception):
    """The candidate used torch."""


class CheckpointError(EquivalenceError):
    """A checkpoint cannot be read, converted or written."""


class FindingError(EquivalenceError):
    """A finding is declared wrongly, or no finding has this name."""


class SignatureError(EquivalenceError):
    """The arguments of a framework's function cannot be read."""


class CoverageError(EquivalenceError):
    """The operators that a network uses, or those that this suite verifies, cannot be listed."""


class RecordError(EquivalenceError):
    """A recorded truth or run is missing, out of date or damaged, or belongs to another case."""


class HistoryError(EquivalenceError):
    """The file of the results of earlier runs is locked, damaged, or another."""


class TorchMissingError(EquivalenceError):
    """The reference must be run, and torch is not installed."""


@contextlib.contextmanager
def writing(path: object, kind: type[EquivalenceError], cure: str = "") -> Iterator[None]:
    """A context in which an error of the file system is one sentence, an error of this kind.

    cure: what to do, as the end of the sentence.
    """
    try:
        yield
    except OSError as error:
        raise kind(f"{path} cannot be written: {error.strerror or error}{cure}") from error


Tell = Callable[[Exception], str]
"""Describes an exception in words."""


@contextlib.contextmanager
def blaming(side: str, case: str, tell: "Tell | None" = None) -> Iterator[None]:
    """Turn an exception of a side into a SideError.

    side: "reference" or "candidate".
    case: the case's name.
    tell: describes the exception; None: `words` does.

    An EquivalenceError passes unchanged. The block can neither skip the test nor end the process
    in peace.
    """
    try:
        with staying():
            yield
    except EquivalenceError:
        raise
    except Exception as error:
        text = (tell or words)(error)
        told = f"{case}: the {side} raised {type(error).__name__}: {text}"
        raise SideError(told, side, _in_gradients(error)) from error


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """A context in which a skip of pytest, `sys.exit` and `os._exit(0)` are LeavingErrors.

    `os._exit` with another code ends the process as ever, and the run is red.
    """
    leave, process = os._exit, os.getpid()

    def stay(code: int) -> None:
        if code or os.getpid() != process:  # a child of this process may end
            leave(code)
        raise LeavingError("os._exit(0) would end the run")

    os._exit = stay  # type: ignore[assignment]  # it raises for 0 alone
    try:
        yield
    except (KeyboardInterrupt, GeneratorExit, Exception):
        raise
    except BaseException as error:  # such as SystemExit, and what pytest.skip raises
        raise LeavingError(f"{type(error).__name__} would end the test: {error}") from error
    finally:
        os._exit = leave


def words(error: BaseException) -> str:
    """The message of an exception, the line of the models' own code, and the likely cause."""
    cause, file, number = thrown(str(error))
    if cause:
        where = f" ({file}:{number}: {linecache.getline(file, number).strip()})" if file else ""
        return f"{cause}{where}, in a function of the data set"
    # MindSpore appends its C++ call stack after an empty line.
    lines = str(error).strip().split("\n\n")[0].splitlines()
    message = "\n".join(line for line in lines if not _ADVICE.match(line))
    trace = error.__traceback__
    where = own_line(trace) or _compiled_line(str(error)) or _stage(trace)
    return f"{message}{where}{likely(message)}"


def own_line(trace: TracebackType | None) -> str:
    """The innermost line of the models' own code in a traceback; "" where it has none.

    A model may be installed: its package is then one that a layer in the traceback comes from.
    """
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    packages = {_package(frame) for frame in frames if _runs_layer(frame)} - FRAMEWORKS
    own = [
        told
        for told, frame in zip(traceback.extract_tb(trace), frames, strict=True)
        if of_models(told.filename)
        or (_package(frame) in packages and not of_engine(told.filename))
    ]
    if not own:
        return ""
    code = f": {own[-1].line}" if own[-1].line else ""
    return f" ({own[-1].filename}:{own[-1].lineno} in {own[-1].name}{code})"


def _package(frame: FrameType) -> str:
    return frame.f_globals.get("__name__", "").partition(".")[0]


def _runs_layer(frame: FrameType) -> bool:
    """Whether a frame runs a method of a layer of either framework.

    The locals are not looked at: to read them would keep what they hold, such as compiled graphs.
    """
    # By their types: some of a module warn where they are asked for their class.
    kinds = [each for each in frame.f_globals.values() if issubclass(type(each), type)]
    layers = [
        kind
        for kind in kinds
        if any(hasattr(kind, each) for each in ("cells_and_names", "named_modules"))
    ]
    return any(
        getattr(method, "__code__", None) is frame.f_code
        for kind in layers
        for method in vars(kind).values()
    )


def _stage(trace: TracebackType | None) -> str:
    """That gradients were computed, which calls no line of the models'; "" if it was not so."""
    frames = traceback.extract_tb(trace)
    within = {frame.name for frame in frames if frame.filename.endswith("mindspore_pullback.py")}
    return " (while its gradients were computed)" if within == {"__call__", "construct"} else ""


def _in_gradients(error: Exception) -> bool:
    """Whether MindSpore refuses a gradient: interpreted, or where it compiles one."""
    trace, refused = error.__traceback__, str(error).startswith(_NO_GRADIENT)
    return refused or (not own_line(trace) and bool(_stage(trace)))


_NO_GRADIENT = 'Bprop "'
"""The beginning of what a compiler of MindSpore says of an operator without a gradient."""


def likely(message: str) -> str:
    """What is likely to be wrong, and what to do, as the end of a sentence; "" if not known."""
    for found, cure in _LIKELY:
        if (match := found.search(message)) and (told := cure(match)):
            return f"; {told}"
    return ""


def _other_kernel(match: re.Match) -> str:
    """What to use where MindSpore has no kernel on the device."""
    # The frameworks are loaded if one of them has raised; this module imports none.
    known = dir(sys.modules.get("mindspore.ops"))
    plain = match[1].removesuffix("Ext").removesuffix("V2").lower()
    name = next((n for n in known if n.islower() and n.replace("_", "") == plain), None)
    there = f"mindspore.ops.{name}" if name else "what mindspore.ops has for it"
    return f"this device has no kernel for it: use {there} there, not mindspore.mint's"


def _no_bfloat16(match: re.Match) -> str:
    """What to do where a kernel of the CPU does not know bfloat16."""
    kernel = next((name for name in match.groups() if name), "this operator")
    return (
        f"MindSpore has no bfloat16 kernel of {kernel} on a CPU: round to bfloat16, compute in "
        "float32 and round again, or compare it where the device is"
    )


def _numpy_2(_: re.Match) -> str:
    """What to do where MindSpore cannot use the NumPy that is installed; "" if it can."""
    version = getattr(sys.modules.get("numpy"), "__version__", "1.")
    if version.startswith("1."):
        return ""
    return f"MindSpore is built for NumPy 1, and {version} is installed: pip install 'numpy<2'"


_NO_CUDA = re.compile(
    r"Torch not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs|without ATen_cuda|"
    r"on a CUDA device but|requires CUDA support|without CUDA support|dummy base class"
)
"""How torch says that it has no CUDA."""


def lacks_cuda(error: BaseException | None) -> bool:
    """Whether torch has raised because it has no CUDA.

    error: what it raised, or what was raised from that.
    """
    return any(_NO_CUDA.search(str(each)) for each in causes(error))


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and each that the one before was raised from."""
    while error is not None:
        yield error
        error = error.__cause__


_LIKELY: tuple[tuple[re.Pattern, Callable[[re.Match], str]], ...] = (
    (
        re.compile(r"no attribute '_auto_prefix'|before Module\.__init__\(\) call"),
        lambda _: "call super().__init__() first in its __init__",
    ),
    (
        _NO_CUDA,
        lambda _: (
            "the reference runs on the CPU here: take the device from what is there, as in "
            ".to(x.device), or keep the tensor as a buffer, in the place of .cuda()"
        ),
    ),
    (
        re.compile(r"the method 'construct' is not defined"),
        lambda _: (
            "a cell of MindSpore computes in construct: give it that name where it has "
            "another, such as PyTorch's forward"
        ),
    ),
    (
        re.compile(r'is missing the required "forward" function'),
        lambda _: (
            "a module of PyTorch computes in forward: give it that name where it has another, "
            "such as MindSpore's construct"
        ),
    ),
    (
        re.compile(r"(?:the same dtype|Input type \(|expected scalar type).*\bHalf\b"),
        lambda _: (
            "all weights have the dtype of the case, those of a .half() in a constructor, too: cast"
            " to that of the weight, as in x.to(self.fc.weight.dtype), in the place of .half(); an "
            "input of float16 keeps its dtype: cast it in both networks, or give it in float32"
        ),
    ),
    (
        re.compile(
            r"(?:the same dtype|Input type \(|expected scalar type).*"
            r"\b(?:Byte|Char|Short|Int|Long|Bool|char|short|int|long|bool)\b"
        ),
        lambda _: (
            "an input of integers or booleans keeps its dtype: cast it in both networks, or give "
            "it in float32"
        ),
    ),
    (re.compile(r"pyboost_\w+ of .* returned a result with an exception set"), _numpy_2),
    (re.compile(r"kernel (\w+) unregistered"), _other_kernel),
    (
        re.compile(r"Cannot access data pointer of Tensor that doesn't have storage"),
        lambda _: (
            "a transform of torch.func (grad, vmap) calls the network there, and its tensors have "
            "no values that could be compared: call loss.backward() in a copy of the original"
        ),
    ),
    (
        re.compile(r"Try to backward the graph twice"),
        lambda _: (
            "it keeps a tensor that an earlier call has computed: compute it in each call, or keep "
            "ops.stop_gradient of it"
        ),
    ),
    (
        re.compile(r"StridedSliceGrad, [1-9]\d* input memory out of bounds"),
        lambda _: (
            "a CPU has no gradient of a slice with a step along an axis with others before and "
            "after it, such as x[:, ::2]: write x.swapaxes(0, 1)[::2].swapaxes(0, 1) there, or "
            "ops.gather(x, ops.arange(0, x.shape[1], 2), 1)"
        ),
    ),
    (re.compile(r"CPU operator\[(\w+)\] fail.*bfloat16", re.I | re.S), _no_bfloat16),
    (
        re.compile(r"parameter 'group' must be isinstance of <class 'str'>, but got None"),
        lambda _: (
            "MindSpore has nn.SyncBatchNorm over ranks on an Ascend alone: on a CPU compare it as "
            "one process, without --ranks, where it is a BatchNorm"
        ),
    ),
)
"""What a message says -> the likely cause."""


def _compiled_line(message: str) -> str:
    """The innermost line of the models' own code of which MindSpore's compiler tells; or ""."""
    told = [(line, line.rpartition(":")[0]) for line in _COMPILED.findall(message)]
    own = [line for line, file in told if of_models(file) or _of_port(file)]
    return f" ({own[-1]})" if own else ""


def _of_port(file: str) -> bool:
    """Whether a compiled source is that of an installed package, but not of a framework."""
    return installed_in(file) not in {"", *FRAMEWORKS} and not of_engine(file)


def installed_in(file: str) -> str:
    """The installed package or framework that a source file belongs to; "" where it is of none.

    >>> installed_in("/usr/lib/python3.11/site-packages/timm/models/vgg.py")
    'timm'
    """
    package = _INSTALLED.search(file)
    return package[1] if package else _framework_of(file)


def _framework_of(file: str) -> str:
    """The framework that a source file belongs to; it may be built where it is not installed."""
    for name in FRAMEWORKS:
        lies = getattr(sys.modules.get(name), "__file__", None)
        if lies and file.startswith(os.path.dirname(lies) + os.sep):
            return name
    return ""


IN_THE_CLONE = (
    "in the repository, not in the installed package: clone it, and install it from there with "
    "`pip install --editable .`"
)
"""Where something lies that a wheel does not hold, for the end of an error."""


def of_models(file: str) -> bool:
    """Whether a source file is the models' own: neither the engine's nor a library's."""
    return not (of_engine(file) or _FOREIGN.search(file) or _framework_of(file))


def of_engine(file: str) -> bool:
    """Whether a source file is the engine's."""
    return file.startswith(_ENGINE)


def of_stand_in(file: str) -> bool:
    """Whether a source file is that of a stand-in for functions of MindSpore."""
    return file.startswith(_STAND_INS)


_ADVICE = re.compile(r"(?:More|For more) details,? please refer to |The supported data types are ")
"""Begins the lines with which MindSpore points to its web pages, and lists what a kernel takes."""

_COMPILED = re.compile(r"^(?:# \d+ )?In file (.+?:\d+)\b", re.MULTILINE)
"""A line of which MindSpore's compiler tells, the innermost last."""

FRAMEWORKS = frozenset(("mindspore", "torch"))
"""Packages whose code is no network's."""

_INSTALLED = re.compile(r"(?:site|dist)-packages[\\/]([^\\/.]+)")
"""The package of an installed source file."""

_ENGINE = os.path.dirname(__file__) + os.sep
_STAND_INS = os.path.join(_ENGINE, "stand_ins", "")
_FOREIGN = re.compile(r"site-packages|<frozen|<string>|lib[\\/]python")
