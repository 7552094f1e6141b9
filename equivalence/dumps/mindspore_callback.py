"""A monitor as a callback of MindSpore's `Model`. Loads MindSpore."""

from typing import Any, Protocol

import mindspore as ms
from mindspore.train import Callback


class Monitor(Protocol):
    """What is told of each step."""

    def loss(self, value: Any) -> None:
        """Keep the loss of the step."""

    def scale(self, value: float) -> None:
        """Keep the scale of the loss."""

    def step(self) -> None:
        """End the step."""


class _Ending(Callback):
    """Hands a monitor the loss of each step of a `Model`, and ends the step."""

    def __init__(self, monitor: Monitor):
        super().__init__()
        self.monitor = monitor

    def on_train_step_end(self, run_context: Any) -> None:
        """End a step. A step with a loss scale gives the loss, the overflow and the scale."""
        outputs = run_context.original_args().net_outputs
        several = isinstance(outputs, tuple | list)
        loss = outputs[0] if several else outputs
        if isinstance(loss, ms.Tensor) and loss.size == 1:
            self.monitor.loss(loss)
        if several and len(outputs) == 3:
            self.monitor.scale(float(outputs[2].asnumpy().reshape(-1)[0]))
        self.monitor.step()


def callback(monitor: Monitor) -> Callback:
    """A callback that ends each step of a `Model`."""
    return _Ending(monitor)
