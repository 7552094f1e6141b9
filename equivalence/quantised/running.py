"""A network of either framework with the weights that it is built with, in evaluation.

The framework is found by building; the other one is not loaded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equivalence import dtypes, nesting
from equivalence.errors import DeclarationError
from equivalence.stream.observer import attached
from equivalence.targets import build, described, framework_of


@dataclass
class LayersRun:
    """What goes through the layers in one run; of a layer that is called again, the first call.

    given: path -> its arguments, as nested arrays; of layers that take tensors alone.
    results: path -> its first floating output.
    output: that of the network.
    """

    given: dict[str, tuple] = field(default_factory=dict)
    results: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def output(self) -> np.ndarray:
        """What the network gives. Raises DeclarationError where that is nothing floating."""
        if "" not in self.results:
            raise DeclarationError("the network gives no floating output, which alone has a signal")
        return self.results[""]


class RunnableNetwork:
    """A network of either framework, ready to run.

    framework: "PyTorch" or "MindSpore". layers: path -> layer; the network's own path is "".
    """

    def __init__(self, target: str, arguments: Mapping[str, Any]):
        built = build(target, arguments)
        found = framework_of(built)
        if found is None or isinstance(built, type):
            raise DeclarationError(
                f"{target!r} builds {described(built)}; name what builds a network, with the "
                "weights that it has"
            )
        self.framework, self.target = found, target
        self._net: Any = built
        if found == "PyTorch":
            import torch

            self._net.eval()
            self._kind, self._made = torch.Tensor, torch.from_numpy
            self.layers = dict(built.named_modules())
            self._without = torch.no_grad
        else:
            import contextlib

            import mindspore as ms

            ms.set_context(mode=ms.PYNATIVE_MODE)
            self._net.set_train(False)
            self._kind, self._made = ms.Tensor, ms.Tensor
            self.layers = dict(built.cells_and_names())
            self._without = contextlib.nullcontext

    def kinds(self) -> dict[str, str]:
        """Path -> class of each layer."""
        return {path: type(layer).__name__ for path, layer in self.layers.items()}

    def weights(self) -> dict[str, np.ndarray]:
        """Name -> values of the floating weights."""
        torch = self.framework == "PyTorch"
        every = self._net.named_parameters() if torch else self._net.parameters_and_names()
        found = {name: self._array(each) for name, each in every}
        return {name: values for name, values in found.items() if values.dtype.kind == "f"}

    def run(self, inputs: Sequence[np.ndarray]) -> LayersRun:
        """Run forward, and see what goes through all layers."""
        found = LayersRun()
        hooks = []
        for path, layer in self.layers.items():
            hooks.append(layer.register_forward_pre_hook(self._before(path, found)))
            hooks.append(layer.register_forward_hook(self._after(path, found)))
        with attached(hooks), self._without():
            self._net(*map(self._made, inputs))
        return found

    def alone(self, path: str, given: tuple) -> np.ndarray | None:
        """What a layer gives by itself of these arguments: its first floating output."""
        with self._without():
            values = nesting.transform(given, lambda x: self._made(x.copy()))
            return self._floating(self.layers[path](*values))

    def _before(self, path: str, run: LayersRun) -> Callable[[Any, tuple], None]:
        def hook(_: Any, args: tuple) -> None:
            plain = all(isinstance(leaf, self._kind) for _, leaf in nesting.leaves(args))
            if plain and args and path not in run.given:
                run.given[path] = nesting.transform(args, self._array)

        return hook

    def _after(self, path: str, run: LayersRun) -> Callable[[Any, tuple, Any], None]:
        def hook(_: Any, __: tuple, outputs: Any) -> None:
            values = self._floating(outputs)
            if values is not None:
                run.results.setdefault(path, values)

        return hook

    def _floating(self, outputs: Any) -> np.ndarray | None:
        leaves = [v for v in nesting.named(outputs).values() if isinstance(v, self._kind)]
        arrays = map(self._array, leaves)
        return next((values for values in arrays if values.dtype.kind == "f"), None)

    def _array(self, value: Any) -> np.ndarray:
        if self.framework == "PyTorch":
            value = value.detach().cpu()
            value = value.dequantize() if value.is_quantized else value
            return np.array((value.float() if value.dtype.itemsize < 4 else value).numpy())
        from equivalence.sides.mindspore_cells import array

        return dtypes.plain(array(value))
