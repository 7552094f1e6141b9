"""The layers of a network that run now, of either framework."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

Entered = Callable[[str, Any, tuple], None]
"""Is told the path of a layer, the layer and its positional arguments, when its call begins."""

Left = Callable[[str, Any, tuple], None]
"""Is told the same when the call has ended."""


@contextlib.contextmanager
def running(
    layers: Iterable[tuple[str, Any]],
    entered: Entered | None = None,
    left: Left | None = None,
    **always: bool,
) -> Iterator[list[str]]:
    """A context in which the list has the paths of the layers that run now, the innermost last.

    layers: paths and layers.
    entered: is told of a layer before the list has it. left: when it has it no more.
    always: options of a hook that is called after an exception, too.
    """
    paths: list[str] = []

    def before(path: str) -> Callable[..., None]:
        def hook(layer: Any, inputs: tuple) -> None:
            if entered:
                entered(path, layer, inputs)
            paths.append(path)

        return hook

    def after(layer: Any, inputs: tuple, _: Any) -> None:
        path = paths.pop()
        if left:
            left(path, layer, inputs)

    with contextlib.ExitStack() as handles:
        for path, layer in layers:
            handles.callback(layer.register_forward_pre_hook(before(path)).remove)
            handles.callback(layer.register_forward_hook(after, **always).remove)
        yield paths
