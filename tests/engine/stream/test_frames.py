"""The code behind a call is that of who makes it."""

import torch
from torch.nn import functional as F

from equivalence.stream.frames import callers
from equivalence.stream.torch_stream import Observer


class Where(Observer):
    slot = "calls"

    def before(self, call):
        if call.name == "relu":
            self.names = [frame.f_code.co_name for frame in callers()]


class Code(Observer):
    slot = "code"


def calls(x):
    return F.relu(x)


def test_the_engines_frames_in_the_middle_of_a_call_are_left_out():
    x = torch.ones(2)
    with Where() as where, Code():
        calls(x)
    between = where.names[: where.names.index("calls")]
    assert between == ["relu", "handle_torch_function", "relu"]  # all of torch


def test_outside_of_a_call_there_are_none():
    assert [*callers()] == []
