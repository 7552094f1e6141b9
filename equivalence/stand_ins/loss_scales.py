"""Steps that skip an update whose gradients overflow: on a CPU MindSpore checks none of them."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import mindspore as ms
from mindspore import nn, ops
from mindspore.train import amp

from equivalence.stream.patches import patched

CHECKED = (
    "nn.TrainOneStepWithLossScaleCell has no check for an overflow on a CPU: all_finite of its "
    "gradients stands for it"
)
"""What is said where such a step has run."""


def get_overflow_status(self, status, gradients):  # noqa: ARG001
    """As the method of `nn.TrainOneStepWithLossScaleCell`: is any gradient NaN or infinite?"""
    return ops.logical_not(ms.amp.all_finite(gradients))


class _OfAnyDevice:
    """The context of MindSpore, which does not refuse such a step on a CPU."""

    def __getattr__(self, name: str) -> Any:
        return getattr(ms.context, name)

    def get_context(self, name: str) -> Any:
        """A setting of the context."""
        return True if name == "enable_ge" else ms.context.get_context(name)


@contextlib.contextmanager
def checking() -> Iterator[None]:
    """A context in which such steps run on a CPU; on any other device nothing is replaced."""
    if not _is_missing():
        yield
        return
    step = nn.TrainOneStepWithLossScaleCell
    with (
        patched(step, get_overflow_status=get_overflow_status),
        patched(amp, context=_OfAnyDevice()),
    ):
        yield


def _is_missing() -> bool:
    return ms.get_context("device_target") == "CPU"


def note(tell: Callable[[str], object]) -> None:
    """Say that the check of such a step is not its own, where it is not."""
    if _is_missing():
        tell(CHECKED)


def has_skipped(step: nn.Cell, outputs: Any) -> bool:
    """Whether a step that has run has skipped its update: it gives that after its loss."""
    if not isinstance(step, nn.TrainOneStepWithLossScaleCell) or not isinstance(outputs, tuple):
        return False
    told = outputs[1:2]
    return bool(told) and told[0].dtype == ms.bool_ and bool(told[0].asnumpy().all())
