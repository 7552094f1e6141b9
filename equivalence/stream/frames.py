"""The code that makes a call which an observer is told of."""

import os
import sys
from collections.abc import Iterator
from types import FrameType

_HERE = os.path.dirname(__file__) + os.sep


def callers() -> Iterator[FrameType]:
    """The frames behind the call that an observer is told of, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not in_stream(frame):
        frame = frame.f_back
    while frame is not None:
        if not in_stream(frame):
            yield frame
        frame = frame.f_back


def in_stream(frame: FrameType) -> bool:
    """Whether a frame hands on a call, between a network and a framework, in the middle of it."""
    return frame.f_code.co_filename.startswith(_HERE)
