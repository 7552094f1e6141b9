"""Parts of a MindSpore network whose parameters have no values until they are loaded."""

import itertools
import linecache
from collections.abc import Callable, Mapping
from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.common.initializer import initializer

from equivalence import nesting
from equivalence.bylayer import units
from equivalence.bylayer.units import BOUNDED, UnitCall, placed
from equivalence.nesting import Arguments
from equivalence.sides.mindspore_cells import array
from equivalence.sides.mindspore_network import MindSporeNetwork
from equivalence.sides.modes import PHASES

_files = itertools.count(1)

Load = Callable[[], MindSporeNetwork]
"""Gives a unit with its weights; nothing else keeps it, and they go with it."""


def around(network: MindSporeNetwork, stand_ins: Mapping[str, nn.Cell]) -> MindSporeNetwork:
    """The network, with other cells in the place of its units.

    stand_ins: path of a unit -> what takes its place.
    """
    given = {phase: network.modes.of(phase) for phase in PHASES}
    cells = dict(network.cell.cells_and_names())
    replaced = {id(cells[path]): new for path, new in stand_ins.items()}
    for cell in cells.values():
        for name, child in cell._cells.items():
            if id(child) in replaced:
                cell._cells[name] = replaced[id(child)]
        if isinstance(cell, nn.SequentialCell):
            cell.cell_list = list(cell._cells.values())
    network._take(network.cell)
    network.modes = network._modes(given.__getitem__)
    return network


class Streamed(nn.Cell):
    """A unit that has its weights only while it runs, in PyNative mode; it notes its calls.

    path: its path.
    load: gives the unit with its weights.
    plain: attributes of the unit that its network may read.
    """

    def __init__(self, path: str, load: Load, plain: Mapping[str, Any]):
        super().__init__()
        _give(self, plain)
        self.path, self.load = path, load
        self.calls: list[UnitCall] = []

    def construct(self, *args, **kwargs):
        (placed_args, placed_kwargs), tensors = placed(
            (args, kwargs), ms.Tensor, self.path, "candidate"
        )
        call = UnitCall(Arguments(placed_args, placed_kwargs), [array(each) for each in tensors])
        self.calls.append(call)
        loaded = self.load()
        outputs = loaded.cell(*args, **kwargs)
        call.returned, found = placed(outputs, ms.Tensor, self.path, "candidate")
        call.outputs = [(tuple(out.shape), str(out.dtype).lower()) for out in found]
        return outputs


def stand_in(path: str, call: UnitCall, plain: Mapping[str, Any]) -> nn.Cell:
    """A cell that takes the place of a unit, as `torch_parts.StandIn` does.

    Its code is written for the call, since the compiler understands nested arguments only where
    they are read one by one.
    """
    given = {"args": call.arguments.positional, "kwargs": dict(call.arguments.keywords)}
    places = [keys for keys, leaf in nesting.leaves(given) if isinstance(leaf, nesting.Position)]
    lines = ["def construct(self, *args, **kwargs):", "    total = 0.0"]
    for number, (first, *keys) in enumerate(places):
        bounded = BOUNDED[call.inputs[number].dtype.kind]
        value = str(first) + "".join(f"[{key!r}]" for key in keys)
        lines.append(
            f"    total = total + (ops.{bounded}(ops.cast({value}, self.taken{number}.dtype)) "
            f"* self.taken{number}).sum()"
        )
    shapes: dict[str, tuple[int, ...]] = {
        f"taken{number}": values.shape for number, values in enumerate(call.inputs)
    }
    outputs = []
    for number, (shape, dtype) in enumerate(call.outputs):
        if "float" in dtype:
            shapes |= {f"given{number}": shape, f"moved{number}": shape}
            outputs.append(f"self.given{number} + self.moved{number} * total")
        else:
            outputs.append(f"ops.zeros({shape}, ms.{dtype})")
    returned = Arguments((call.returned,)).expression
    lines.append(f"    values = ({''.join(f'{each}, ' for each in outputs)})")
    lines.append(f"    return {returned}")
    file, source = f"<a stand-in, {next(_files)}>", "\n".join(lines) + "\n"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = {"__name__": __name__, "ops": ops, "ms": ms}
    exec(compile(source, file, "exec"), module)
    cell = type("StandIn", (nn.Cell,), {"construct": module["construct"]})()
    _give(cell, plain)
    for name, shape in shapes.items():
        empty = initializer("zeros", shape, ms.float32)
        setattr(cell, name, ms.Parameter(empty, name=f"{path}.{name}"))
    return cell


def plain(cell: nn.Cell) -> dict[str, Any]:
    """See `units.plain`."""
    return units.plain(cell, nn.Cell())


def _give(cell: nn.Cell, plain: Mapping[str, Any]) -> None:
    for name, value in plain.items():
        setattr(cell, name, value)
